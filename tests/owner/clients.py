"""Agents' clients that write and read by `vt mcp` all at once, each of their answers checked against what was acknowledged."""

from __future__ import annotations

import os
import random
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bounds import eventually
from tests.mcp.served import Lines
from tests.mcp.test_streams import INITIALIZE
from vault_tool import Vault
from vault_tool.owner.relay import LOST
from vault_tool.owner.spawning import make_way

# What a crowd's processes are told: that an owner may be there.
ALLOWED = {"VAULT_OWNER": "on"}

_READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


@dataclass
class Record:
    """What all clients were answered: the word of each acknowledged note with the note's id, and whatever was wrong."""

    acknowledged: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Writes that were refused because their turn did not come in time: nothing was acknowledged, and it was said."""

    answers: list[tuple[float, float]] = field(default_factory=list)
    """When each question was asked and answered, by the monotonic clock."""

    guard: threading.Lock = field(default_factory=threading.Lock)

    def some(self, chance: random.Random) -> tuple[str, str]:
        """A note that is acknowledged by now."""
        with self.guard:
            return chance.choice([*self.acknowledged.items()])


class Client(threading.Thread):
    """One relay and who speaks to it: a write, that note by its id, any client's note by its id and by its word, and again."""

    def __init__(self, root: Path, number: int, record: Record, goes_on: Callable[[int], bool], env: Mapping[str, str]) -> None:
        super().__init__(daemon=True)
        self.lines = Lines("mcp", "--preset", "full", "--session", f"s-{number}", cwd=root, env=env)
        self.turns = 0
        self._record = record
        self._goes_on = goes_on
        self._chance = random.Random(number)
        self._asked = 10

    def run(self) -> None:
        """Go on until it is told to stop; what fails is noted with the rest that was wrong."""
        try:
            self.lines.send(INITIALIZE)
            assert self.lines.receive()["id"] == 1
            self.lines.send(_READY)
            while self._goes_on(self.turns):
                self._take_turn()
                self.turns += 1
        except Exception as fault:  # noqa: BLE001  (a thread's fault would be lost, and the test pass)
            self._record.wrong.append(f"{type(fault).__name__}: {fault}")

    def close(self) -> bytes:
        """End the relay as a client does, by closing its input; what it wrote on standard error."""
        self.join()
        return self.lines.end()[1]

    def _take_turn(self) -> None:
        word = f"w{secrets.token_hex(6)}"
        made = self._call("remember", content=f"The {word} was seen by one of many.", subject_names=["Crowd"])
        if made is not None:
            with self._record.guard:
                self._record.acknowledged[word] = made["id"]
            self._check("get", word, memory_id=made["id"])
        word, identity = self._record.some(self._chance)
        self._check("get", word, memory_id=identity)
        self._check("search", word, query=word, mode="text")

    def _check(self, tool: str, word: str, **arguments: object) -> None:
        found = self._call(tool, **arguments)
        if word not in str(found):
            self._record.wrong.append(f"{tool} {arguments} without {word}: {str(found)[:300]}")

    def _call(self, tool: str, **arguments: object) -> dict[str, Any] | None:
        """What a tool answers; None where nobody knows whether it was done, which is an honest answer to a call cut short."""
        self._asked += 1
        began = time.monotonic()
        params = {"name": tool, "arguments": arguments}
        self.lines.send({"jsonrpc": "2.0", "id": self._asked, "method": "tools/call", "params": params})
        said = self.lines.receive()
        self._record.answers.append((began, time.monotonic()))
        if said.get("id") != self._asked or "result" not in said:
            self._record.wrong.append(f"{tool}: {str(said)[:300]}")
            return None
        if said["result"].get("isError"):
            text = said["result"]["content"][0]["text"]
            if tool == "remember" and "nothing was changed; try again" in text:
                self._record.refused.append(text)
            elif text != LOST:
                self._record.wrong.append(f"{tool}: {text[:300]}")
            return None
        found: dict[str, Any] = said["result"]["structuredContent"]
        return found


def at_work_on(root: Path) -> dict[int, str]:
    """The processes that were started for a vault or work in its folder, but not this one: their ids and command lines."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                folder = str((entry / "cwd").readlink())
            except OSError:
                continue
            # What is dead and not yet waited for has no command line.
            if line and (str(root) in line or f"{folder}/".startswith(f"{root}/")):
                found[int(entry.name)] = line.strip()
    return found


def owners_of(root: Path) -> list[int]:
    """Who holds the vault's owner lock now, as the kernel has it.

    The kernel gives its list a page at a time, and it changes between two pages: a row may be there twice or not at all.
    So it is read until it says the same twice.
    """
    inode = (root / "_local" / "owner.lock").stat().st_ino
    before, now = None, _holders(inode)
    while now != before:
        before, now = now, _holders(inode)
    return sorted(now)


def _holders(inode: int) -> set[int]:
    rows = (line.split() for line in Path("/proc/locks").read_text().splitlines())
    return {int(row[4]) for row in rows if row[1] == "FLOCK" and row[5].endswith(f":{inode}")}


def memory_of(pid: int) -> int:
    """The share of memory that is a process's own, in KB (PSS)."""
    rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(row.split()[1]) for row in rows if row.startswith("Pss:"))


@contextmanager
def crowded(tmp_path: Path) -> Iterator[Path]:
    """A vault in git, without any process left when the test is over."""
    os.environ.update(ALLOWED)  # the environment is the test's own, and an owner's must be like it
    found = tmp_path / "v"
    Vault.init(found, name="Crowd")
    yield found
    while make_way(found):
        pass
    eventually(lambda: not at_work_on(found))
