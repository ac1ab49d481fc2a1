"""Vaults for tests of the indexes, and what an index says, as plain values to compare."""

from __future__ import annotations

import os
import random
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.git_repos import write
from vault_tool.config import Config
from vault_tool.files import git
from vault_tool.index.vault_index import Index
from vault_tool.util.clock import FixedClock

WORDS = ("amber", "basalt", "cedar", "delta", "ember", "fjord", "garnet", "harbor", "iris", "juniper", "kelp", "lichen")
NOW = datetime(2027, 1, 1, tzinfo=UTC)
SESSIONS = ("s1", "s2", "s3")
TYPES = ("fact", "decision", "solution", "insight")


def identity(number: int) -> str:
    """A UUID that a test can name by a number."""
    return f"{number:08x}-0000-4000-8000-{number:012x}"


def note(number: int, body: str = "", **fields: str) -> str:
    """The text of an observation."""
    head = {"id": identity(number), "type": TYPES[number % 4], "title": f"Note {number}", "subjects": "[Stone, Wood]"}
    lines = "".join(f"{key}: {value}\n" for key, value in {**head, **fields}.items() if value)
    return f"---\n{lines}created: 2026-11-20T10:00:00+00:00\n---\n{body or f'Of {WORDS[number % 12]} and nothing else.'}\n"


def subject(number: int, name: str, aliases: str = "") -> str:
    """The text of a subject."""
    extra = f"aliases: [{aliases}]\n" if aliases else ""
    return f"---\nid: {identity(number)}\ntype: subject\nname: {name}\n{extra}---\n"


def path_of(number: int) -> str:
    """Where `make` puts a note."""
    return f"vault/observations/2026/{1 + number % 3:02}/note-{number}.md"


def make(root: Path, count: int = 12) -> Path:
    """A vault of `count` notes, two subjects, an understanding, an edge, a page and a journal."""
    for number in range(count):
        write(root, path_of(number), note(number))
    write(root, "vault/subjects/stone.md", subject(900, "Stone", "rock"))
    write(root, "vault/subjects/wood.md", subject(901, "Wood"))
    understanding = (
        f"id: {identity(910)}\ntype: single_subject\nsummary: On stone.\nsubjects: [Stone]\nsources: [{identity(1)}]\n"
    )
    write(root, "vault/understandings/stone.md", f"---\n{understanding}---\nStone lasts.\n")
    edge = f"id: {identity(920)}\ntype: BUILDS_ON\nfrom_id: {identity(1)}\nto_id: {identity(2)}\n"
    write(root, "vault/edges/one.md", f"---\n{edge}---\nBecause.\n")
    write(root, "vault/readme.md", "# A page\n\nWith quartz in it.\n")
    line = f'{{"id": "{identity(930)}", "at": "2026-11-20T10:00:00+00:00", "target": "{identity(1)}", "kind": "useful"}}\n'
    write(root, "vault/signals/2026-11.abc.jsonl", line)
    return root


def change(root: Path, chance: random.Random) -> None:
    """One thing that happens to a vault."""
    one = chance.choice(sorted((root / "vault").rglob("note-*.md")))
    new = chance.randrange(1000, 10**5)
    match chance.randrange(7):
        case 0:
            one.unlink()
        case 1:
            one.rename(one.with_name(f"{one.stem}-moved.md"))
        case 2:
            words = " ".join(chance.choice(WORDS) for _ in range(chance.randrange(3, 150)))
            one.write_text(note(new, words, session=chance.choice(SESSIONS), turn=str(chance.randrange(20))))
        case 3:
            shutil.copy(one, one.with_name(f"{one.stem}-copy.md"))
        case 4:
            one.write_text("No record any more.\n")
        case 5:
            os.utime(one, (1_700_000_000 + new, 1_700_000_000 + new))
        case 6:
            write(root, f"vault/new/note-{new}.md", note(new, session=chance.choice(SESSIONS), turn=str(chance.randrange(20))))


def opened(root: Path, **settings: Any) -> Index:
    """The index of a vault, with git where it is in a repository."""
    return Index(root, Config(**settings), git.find(root), FixedClock(NOW))


def said(index: Index) -> dict[str, Any]:
    """Everything that an index holds, without the numbers of its build."""
    catalog = index.catalog
    numbers = dict(catalog.rows("SELECT n, path FROM entries"))
    tables = {
        name: sorted((key, numbers[n]) for key, n in catalog.rows(f"SELECT * FROM {name}")) for name in ("names", "memberships")
    }
    relations = sorted((target, field, numbers[n]) for target, field, n in catalog.rows("SELECT * FROM relations"))
    return {
        "entries": catalog.snapshot().entries,
        "pages": catalog.pages(),
        "problems": catalog.problems(),
        "files": sorted(catalog.all_files().items()),
        "listed": sorted((folder, sorted(names)) for folder, names in catalog.known().items()),
        "signals": sorted(catalog.rows("SELECT path, at, id, target, data FROM signals")),
        "relations": relations,
        **tables,
        "found": {word: found(index, word) for word in (*WORDS, "quartz", "note", "stone")},
    }


def found(index: Index, text: str, **limits: Any) -> set[str]:
    """The paths that a query finds."""
    return {hit.path for hit in index.search(text, 1000, **limits)}


def from_nothing(root: Path) -> dict[str, Any]:
    """What an index that is built from nothing says of the same files: the present one is put away meanwhile."""
    away = root / "_cache.away"
    (root / "_cache").rename(away)
    index = opened(root)
    try:
        assert index.refresh().rebuilt
        return said(index)
    finally:
        index.close()
        shutil.rmtree(root / "_cache")
        away.rename(root / "_cache")
