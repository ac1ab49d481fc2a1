"""One of many processes in one vault: it checks each answer against what it wrote itself, and says what was wrong with it."""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from pathlib import Path

from vault_tool import Vault
from vault_tool.errors import VaultError
from vault_tool.vault.retrieval.engine import Query, gather


def write(vault: Vault, name: str, turn: int) -> str:
    """Remember something, and find it by search, by recall and by its id."""
    word = f"zq{name}x{turn}q"
    made = vault.remember(f"The word {word} was written by {name}.", ["Redis"])
    if made.id not in [one.id for one in vault.search(word).results]:
        return f"search misses {word}"
    if made.id not in [one.id for one in gather(vault, Query(query=f"what about {word}?")).results]:
        return f"recall misses {word}"
    return "" if word in vault.get(made.id).content else f"get has another text for {word}"


def edit(vault: Vault, name: str, turn: int) -> str:
    """Change a note in place, as scripts do, or by another file under its name, as editors do, and find it."""
    path = random.choice(sorted((vault.root / "vault/observations").rglob("*.md")))
    line = f"By hand {name}e{turn}z."
    text = path.read_text(encoding="utf-8").rstrip("\n") + f"\n{line}\n"
    if turn % 2:
        path.write_text(text, encoding="utf-8")
    else:
        beside = path.with_name(f"{path.name}.swp~")
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    time.sleep(0.1)
    there = path.relative_to(vault.root).as_posix() in [one.path for one in vault.search(f'"{line}"').results]
    return "" if there or line not in path.read_text(encoding="utf-8") else f"search misses {line}"


def rebuild(vault: Vault, name: str, turn: int) -> str:
    """Build everything anew."""
    vault.reindex(full=True)
    time.sleep(0.3)
    return ""


def _await_the_end(over: threading.Event) -> None:
    sys.stdin.read()
    over.set()


def main() -> None:
    """Do one thing so many times, or (0) until standard input ends; print a line of JSON at the end."""
    root, what, turns = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    over = threading.Event()
    if not turns:
        threading.Thread(target=_await_the_end, args=(over,), daemon=True).start()
    random.seed(what)
    turn, wrong = 0, []
    with Vault.open(root, session=what) as vault:
        work = {"w": write, "e": edit, "r": rebuild}[what[0]]
        while turn < turns or not (turns or (turn and over.is_set())):
            try:
                fault = work(vault, what, turn)
            except VaultError as error:
                fault = f"{type(error).__name__}: {error}"
            wrong += [fault] if fault else []
            turn += 1
    sys.stdout.write(json.dumps({"turns": turn, "wrong": wrong}))


if __name__ == "__main__":
    main()
