"""A child for the killer: turns whose candidates are accepted, and the writing of them, for ever; each acknowledged by a line."""

from __future__ import annotations

import random
import sys
from pathlib import Path

from vault_tool import Vault


def main(root: Path, seed: int) -> None:
    chance = random.Random(seed)
    vault = Vault.open(root)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    number = 0
    while True:
        number += 1
        words = [f"w{seed}x{number}y{one}" for one in range(chance.choice((1, 1, 2)))]
        candidates = [{"content": f"Word {word} was said.", "anchors": [f"Person {chance.randrange(5)}"]} for word in words]
        mode = chance.choice(("in_world_answer", "in_world_answer", "memory_consent"))
        turn = str(number) if chance.random() < 0.5 else ""
        vault.turn(
            f"s{seed}",
            "u1",
            "w",
            f"turn {number}",
            mode=mode,
            extractMemory=True,
            candidates=candidates,
            turn=turn,
            write="later",
        )
        sys.stdout.write("".join(f"{mode} {word}\n" for word in words))
        sys.stdout.flush()
        if chance.random() < 0.5:
            vault.drain()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
