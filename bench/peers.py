"""Ours beside other memories and plain tools, over the same notes: as far as they are installed in the folder that is named."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.bed import Bed
from bench.doors import OPENING, client, exchange, first_list, owner_of, stop_owner
from bench.figure import Figure
from bench.machine import in_turn, run
from vault_tool.files.layout import VAULT

_FOUND_NOTHING = 1
_OPTIONS = {"ripgrep": ("-i", "-l"), "grep": ("-r", "-i", "-l")}
_TEXT = "Measured memory {}. It is of the usual length."


@dataclass(frozen=True, slots=True)
class Server:
    """Another memory that speaks the same protocol: how it is started on a folder of notes, and its two calls."""

    name: str
    program: str
    arguments: tuple[str, ...]
    environment: Callable[[Path], Mapping[str, str]]
    search: Callable[[str], tuple[str, Mapping[str, Any]]]
    write: Callable[[str], tuple[str, Mapping[str, Any]]]
    prepare: Callable[[Sequence[str], Path, Path], None]
    """Is given the command, the notes and the server's own folder, before anything is measured."""


def _as_graph(_command: Sequence[str], notes: Path, home: Path) -> None:
    """The notes as the one file of a graph: an entity a note."""
    lines = (
        json.dumps({"type": "entity", "name": path.stem, "entityType": "note", "observations": [_body(path)]})
        for path in sorted(notes.rglob("*.md"))
    )
    (home / "memory.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _as_files(_command: Sequence[str], notes: Path, home: Path) -> None:
    shutil.copytree(notes, home / "notes")


def _as_project(command: Sequence[str], notes: Path, home: Path) -> None:
    _as_files(command, notes, home)
    run([*command, "reindex", "--search"], env=_own_home(home), accept=(0, 1, 2))


def _own_home(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "BASIC_MEMORY_HOME": str(home / "notes"), "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false"}


SERVERS = (
    Server(
        "server-memory",
        "mcp-server-memory",
        (),
        lambda home: {"MEMORY_FILE_PATH": str(home / "memory.jsonl")},
        lambda words: ("search_nodes", {"query": words}),
        lambda text: ("create_entities", {"entities": [{"name": text, "entityType": "fact", "observations": [text]}]}),
        _as_graph,
    ),
    Server(
        "markdown-vault-mcp",
        "markdown-vault-mcp",
        ("serve",),
        lambda home: {
            "HOME": str(home),
            "MARKDOWN_VAULT_MCP_SOURCE_DIR": str(home / "notes"),
            "MARKDOWN_VAULT_MCP_READ_ONLY": "false",
        },
        lambda words: ("search", {"query": words}),
        lambda text: ("write", {"path": f"measured/{uuid.uuid4()}.md", "content": text}),
        _as_files,
    ),
    Server(
        "basic-memory",
        "basic-memory",
        ("mcp",),
        _own_home,
        lambda words: ("search_notes", {"query": words}),
        lambda text: ("write_note", {"title": text, "content": text, "folder": "measured", "directory": "measured"}),
        _as_project,
    ),
)


def servers(bed: Bed) -> Iterator[Figure]:
    """Our server (its owner there, every write committed) beside each other one that is installed, call by call."""
    for server in SERVERS:
        command = _installed(bed, server.program)
        if command is None:
            _skipped(server.name)
            continue
        home = bed.beds.folder / f"peer-{server.name}"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        server.prepare(command, bed.root / VAULT, home)
        yield from _beside(bed, server, [*command, *server.arguments], server.environment(home))
        shutil.rmtree(home)


def _beside(bed: Bed, server: Server, command: Sequence[str], env: Mapping[str, str]) -> Iterator[Figure]:
    stop_owner(bed.root)
    theirs, ours, _ = in_turn(
        bed.rebuilds,
        lambda: first_list(bed.root, env, command),
        lambda: first_list(bed.root),
        lambda: stop_owner(bed.root),
        warm=True,
    )
    more: dict[str, Any] = {"floor_is": server.name}
    name = "mcp-list" if server is SERVERS[0] else f"list {server.name}"
    yield bed.figure(name, "first list of tools, no owner there", ours, floor=tuple(theirs), **more)
    numbers = itertools.count(10)
    with owner_of(bed.root), ExitStack() as stack:
        all_tools = bed.command("mcp", "--preset", "full")
        us, them = (stack.enter_context(client(bed.root, *how)) for how in ((None, all_tools), (env, command)))
        for served in (us, them):
            exchange(served, OPENING)

        def call(served: subprocess.Popen[bytes], tool: str, arguments: Mapping[str, Any]) -> None:
            params = {"name": tool, "arguments": arguments}
            answer = exchange(served, ({"id": next(numbers), "method": "tools/call", "params": params},))
            if answer.get("result", {"isError": True}).get("isError"):
                print(f"{server.name if served is them else 'ours'}: {str(answer)[:300]}", file=sys.stderr, flush=True)

        theirs, ours, they_wrote, we_wrote = in_turn(
            bed.runs,
            lambda: call(them, *server.search(bed.query)),
            lambda: call(us, "search", {"query": bed.query}),
            lambda: call(them, *server.write(_TEXT.format(uuid.uuid4()))),
            lambda: call(us, "remember", {"content": _TEXT.format(uuid.uuid4()), "kind": "fact"}),
            warm=True,
        )
    yield bed.figure(f"search {server.name}", "search of two words by a tool", ours, floor=tuple(theirs), **more)
    yield bed.figure(
        f"write {server.name}", "a memory written by a tool; ours is a commit", we_wrote, floor=tuple(they_wrote), **more
    )


def plain(bed: Bed) -> Iterator[Figure]:
    """Our command, answered by an owner, beside ripgrep over the same files and a query of SQLite's FTS5, each as a command."""
    programs = {"ripgrep": _installed(bed, "rg"), "grep": _installed(bed, "grep")}
    words = bed.query.split()
    with owner_of(bed.root), _full_text(bed) as database:
        ask = "import sqlite3, sys\nfor row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2], sys.argv[3:]): print(row)"
        query = "SELECT path FROM notes WHERE notes MATCH ? ORDER BY rank LIMIT 10"
        others: dict[str, list[str]] = {"FTS5": [sys.executable, "-c", ask, str(database), query, " ".join(words)]}
        for name, command in programs.items():
            if command is None:
                _skipped(name)
                continue
            others[name] = [*command, *_OPTIONS[name], words[0], str(bed.root / VAULT)]
        ours, *theirs = in_turn(
            bed.runs,
            lambda: bed.vt("search", bed.query, owner=True),
            *(lambda other=other: run(other, accept=(0, _FOUND_NOTHING)) for other in others.values()),
            warm=True,
        )
    for name, seconds in zip(others, theirs, strict=True):
        yield bed.figure(f"search {name}", "vt search WORDS, answered by the owner", ours, floor_is=name, floor=tuple(seconds))


@contextmanager
def _full_text(bed: Bed) -> Iterator[Path]:
    """The notes in a table of SQLite's own full text."""
    database = bed.beds.folder / "full-text.db"
    database.unlink(missing_ok=True)
    connection = sqlite3.connect(database)
    connection.execute("CREATE VIRTUAL TABLE notes USING fts5(path UNINDEXED, body)")
    files = sorted((bed.root / VAULT).rglob("*.md"))
    connection.executemany("INSERT INTO notes VALUES (?, ?)", ((str(path), _body(path)) for path in files))
    connection.commit()
    connection.close()
    try:
        yield database
    finally:
        database.unlink()


def _body(path: Path) -> str:
    return path.read_text(encoding="utf-8").split("---\n", 2)[-1].strip()


def _installed(bed: Bed, program: str) -> list[str] | None:
    """A program in the folder of the others (a virtual environment, or what npm filled), or on the PATH."""
    there = bed.extent.peers
    if there is None:
        return None
    path = os.pathsep.join([str(there / "bin"), str(there / "node_modules" / ".bin"), os.environ.get("PATH", os.defpath)])
    found = shutil.which(program, path=path)
    return [found] if found else None


def _skipped(name: str) -> None:
    print(f"skipped, {name} is not installed here", file=sys.stderr, flush=True)


MEASURES: Mapping[Callable[[Bed], Iterator[Figure]], tuple[str, ...]] = {
    servers: (
        "mcp-list",
        *(f"list {server.name}" for server in SERVERS[1:]),
        *(f"{what} {server.name}" for server in SERVERS for what in ("search", "write")),
    ),
    plain: ("search FTS5", "search ripgrep", "search grep"),
}
