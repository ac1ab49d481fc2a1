"""What one command touches: modules entered, calls, processes of git, and how often it computes what is worth computing once."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType, MappingProxyType
from typing import Any

from vault_tool import Vault

PACKAGE = "vault_tool"
LOOKS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "comparisons": ("vault_tool.files.reader:scan", ""),
        "passes": ("vault_tool.vault.open_pass:_read", ""),
        "plans": ("vault_tool.features.consolidation.passes:plans", ""),
        "intersections": ("vault_tool.index.relations:Regions.__init__", ""),
        "weighings": ("vault_tool.vault.standing:Standings.score_of", "entry"),
        "parses": ("vault_tool.files.parse:parse", "path"),
        "resolved": ("vault_tool.vault.resolve:find", "named"),
    }
)
"""What is counted: a function, and the argument by whose value its calls are told apart (then the most calls with one value
count: a memory that is weighed twice counts as 2, two memories that are weighed once each as 1)."""

COMMANDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "remember": ("remember", "The radiator in the hall knocks in the morning.", "--subject", "Heating", "--subject", "Hall"),
        "recall": ("recall", "why does the pump stop"),
        "search": ("search", "pump"),
        "get": ("get", "{memory}"),
        "bring-to-mind": ("bring-to-mind", "the pump stopped again"),
        "consolidate": ("consolidate",),
        "mark-useful": ("mark-useful", "{memory}", "it ran all winter"),
        "create-understanding": ("create-understanding", "The hall is warm since May.", "--summary", "Warm", "--subject", "Hall"),
        "reflect": ("reflect",),
        "status": ("status",),
    }
)
"""Ten commands of every day; `{memory}` is a memory's id."""

_BY_CHANCE = {"--refresh", "maintenance"}
"""What only one commit in sixteen or in 256 does, as its id begins: git's own housekeeping, which would be counted at random."""

_FUNCTION = 1
"""The flag of a code that is a function's (CO_OPTIMIZED), and no module's or class's body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One command in a fresh process: `looks` as in `LOOKS`, each as often as it was computed."""

    command: str
    modules: int
    calls: int
    git: int
    looks: Mapping[str, int]


class Recorder:
    """Counts the calls of functions of the package that are not made by an import, and the processes of git."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.calls = 0
        self.git = 0
        self._values: dict[str, Counter[str]] = {name: Counter() for name in LOOKS}
        self._wanted = {code: (name, argument) for name, (code, argument) in LOOKS.items()}
        self._names: dict[CodeType, str] = {}
        self._importing = 0

    def start(self) -> None:
        """Count from now on, to the end of the process."""
        sys.addaudithook(self._event)
        sys.setprofile(self._step)

    def result(self, command: str) -> Profile:
        """What was counted."""
        looks = {name: max(values.values(), default=0) for name, values in self._values.items()}
        return Profile(command=command, modules=len(self.modules), calls=self.calls, git=self.git, looks=looks)

    def _event(self, event: str, given: tuple[Any, ...]) -> None:
        if event == "subprocess.Popen" and Path(os.fsdecode(given[1][0])).name.startswith("git"):
            self.git += not _BY_CHANCE & set(map(os.fsdecode, given[1]))

    def _step(self, frame: FrameType, event: str, _: object) -> None:
        if event not in ("call", "return"):
            return
        code = frame.f_code
        name = self._names.get(code)
        if name is None:
            name = self._names[code] = self._named(frame)
        if name == "<import>":
            self._importing += 1 if event == "call" else -1
        elif name and event == "call" and not self._importing:
            self._count(name, frame)

    def _named(self, frame: FrameType) -> str:
        """`module:function` of a function of the package, `<import>` for the body of any module, else nothing."""
        module, code = str(frame.f_globals.get("__name__", "")), frame.f_code
        if code.co_name == "<module>":
            return "<import>"
        ours = module == PACKAGE or module.startswith(f"{PACKAGE}.")
        return f"{module}:{code.co_qualname}" if ours and code.co_flags & _FUNCTION else ""

    def _count(self, name: str, frame: FrameType) -> None:
        self.calls += 1
        self.modules.add(name.partition(":")[0])
        if name in self._wanted:
            look, argument = self._wanted[name]
            value = frame.f_locals.get(argument)
            self._values[look][str(getattr(value, "path", value)) if argument else ""] += 1


WARM = "warm recall"
"""What is asked in a process that asked it twice before."""


def measured(root: Path, memory: str, command: str, checkout: Path | None = None) -> Profile:
    """What a command of `COMMANDS` touches on the vault at `root`, which it may change, by a process of its own.

    `command` may be `WARM`; the code is this one's, or that of another `checkout`.
    """
    if command == WARM:
        return _asked("warm", checkout, str(root))
    line = [part.format(memory=memory) for part in COMMANDS[command]]
    return _asked(command, checkout, "--vault", str(root), *line)


def made(root: Path, checkout: Path) -> str:
    """The vault of `told` as the code of another checkout makes it; a memory's id."""
    environ = {**os.environ, "PYTHONPATH": str(checkout), "VAULT_OWNER": "off", "VAULT_PROVIDER": "none"}
    run = [sys.executable, "-P", __file__, "vault", str(root)]
    return subprocess.run(run, env=environ, capture_output=True, text=True, check=True).stdout.split()[-1]


def _asked(command: str, checkout: Path | None, *line: str) -> Profile:
    with TemporaryDirectory() as folder:
        out = Path(folder) / "profile.json"
        environ = {**os.environ, "VAULT_OWNER": "off", "VAULT_PROVIDER": "none", "VAULT_SESSION": "profile"}
        if checkout is not None:
            environ["PYTHONPATH"] = str(checkout)
        run = [sys.executable, "-P", __file__, str(out), command, *line]
        done = subprocess.run(run, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if not out.exists() or done.returncode not in (0, 4):
            raise RuntimeError(f"`vt {' '.join(line)}` ended with {done.returncode}: {done.stderr[-2000:]}")
        return Profile(**json.loads(out.read_text()))


def told(root: Path) -> str:
    """Make a vault in a repository in which a pump, a hall and what is understood of them are remembered; a memory's id."""
    Vault.init(root, name="House")
    with Vault.open(root, origin="agent", session="monday", model="m1") as vault:
        problem = vault.remember("The heat pump stops at -10 degrees.", ["Heating"], kind="problem").id
        vault.remember("Turning the fan up did not help.", ["Heating"], kind="failed_tactic", problem=problem)
        found = vault.remember("A heater in the drain keeps the pump running.", ["Heating"], kind="solution", problem=problem).id
        for number in range(12):
            vault.remember(f"Room {number} was at {15 + number} degrees in May.", ["Heating", "Hall" if number % 2 else "Attic"])
        first = vault.create_understanding(["Heating"], "The heat pump is frail in the cold.", "Frail")
        vault.update_understanding(first.id, "Since its drain is heated the pump runs in the cold.", "Steady")
        vault.mark_useful(found, "it helped")
        vault.commit()
    return found


def profiles(commands: Sequence[str]) -> list[Profile]:
    """What each command touches, one after another on one vault whose indexes are there."""
    with TemporaryDirectory() as folder:
        root = Path(folder) / "house"
        memory = told(root)
        return [measured(root, memory, command) for command in commands]


def as_table(found: Sequence[Profile]) -> str:
    """The profiles as a table of markdown."""
    heads = ("command", "modules", "calls", "git", *LOOKS)
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for one in found:
        cells = (one.command, one.modules, one.calls, one.git, *(one.looks[name] for name in LOOKS))
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def add_parser(whats: Any) -> None:
    """The command line of `python -m bench profile`."""
    what: argparse.ArgumentParser = whats.add_parser("profile", help="what single commands touch, and how often they look")
    what.add_argument("--only", choices=COMMANDS, action="append", default=[], metavar="NAME", help=", ".join(COMMANDS))
    what.set_defaults(run=_run)


def _run(asked: argparse.Namespace) -> int:
    print(as_table(profiles(asked.only or list(COMMANDS))))
    return 0


def _record(out: Path, command: str, line: Sequence[str]) -> int:
    """Run a command line in this process and write what it touched."""
    from vault_tool.cli.main import main  # here, so that nothing of the package is loaded before it is counted

    recorder = Recorder()
    recorder.start()
    try:
        code = main(list(line))
    finally:
        sys.setprofile(None)
        one = recorder.result(command)
        out.write_text(json.dumps({name: getattr(one, name) for name in Profile.__slots__}))
    return int(code or 0)


def _record_warm(out: Path, root: Path) -> int:
    """Recall three times in this process and write what the last one touched."""
    recorder = Recorder()
    with Vault.open(root) as vault:
        question = COMMANDS["recall"][1]
        for _ in range(2):
            vault.recall(question)
        recorder.start()
        vault.recall(question)
        sys.setprofile(None)
    found = recorder.result(WARM)
    out.write_text(json.dumps({name: getattr(found, name) for name in Profile.__slots__}))
    return 0


def _child(first: str, command: str, *line: str) -> int:
    if first == "vault":
        print(told(Path(command)))
        return 0
    if command == "warm":
        return _record_warm(Path(first), Path(line[0]))
    return _record(Path(first), command, line)


if __name__ == "__main__":
    sys.exit(_child(*sys.argv[1:]))
