"""A child for the killer: makes and edits notes and appends to journals for ever, and says what is safe."""

from __future__ import annotations

import hashlib
import random
import sys
import uuid
from pathlib import Path

from vault_tool.files import writer
from vault_tool.files.journals import append_episode, append_signals
from vault_tool.files.local import LocalFolder
from vault_tool.model.signals import EpisodeEntry, Signal, SignalKind

AT = "2026-11-20T10:00:00+00:00"
SHARED = ("vault/one.md", "vault/two.md")


def sealed(lines: list[str]) -> bytes:
    """A note whose last line proves that it is whole."""
    text = "\n".join(lines)
    return f"{text}\nsum {hashlib.sha256(text.encode()).hexdigest()}\n".encode()


def unsealed(data: bytes) -> list[str]:
    """The lines of a note; ValueError where it is torn."""
    *lines, last, end = data.decode().split("\n")
    text = "\n".join(lines)
    if end or last != f"sum {hashlib.sha256(text.encode()).hexdigest()}":
        raise ValueError(f"torn: {data[-100:]!r}")
    return lines


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(root: Path, seed: int) -> None:
    chance = random.Random(seed)
    local = LocalFolder(root)
    for path in SHARED:
        if not (root / path).exists():
            writer.create(root, path, sealed(["begin"]))
    say("ready")
    number = 0
    while True:
        number += 1
        word = f"{seed}-{number}"
        act = chance.choice(("create", "edit", "edit", "episode", "signal", "remove"))
        if act == "create":
            path = f"vault/notes/{chance.randrange(4)}/{word}.md"
            writer.create(root, path, sealed([word, "x" * chance.randrange(20_000)]))
        elif act == "edit":
            path = chance.choice(SHARED)
            writer.edit(root, path, lambda old: sealed([*unsealed(old), word]))  # noqa: B023
        elif act == "episode":
            append_episode(root, local, EpisodeEntry(at=AT, title=word))
        elif act == "signal":
            identity = str(uuid.uuid5(uuid.NAMESPACE_OID, word))
            append_signals(root, local, [Signal(id=identity, at=AT, target=identity, kind=SignalKind.USE, rationale=word)])
        else:
            path = f"vault/gone/{word}.md"
            removed = writer.create(root, path, sealed([word]))
            writer.remove(root, path, removed.after or b"")
        say(f"{act} {word}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
