"""Vaults to measure on: made, committed and packed, with a clone for git's own figures and things to look up."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.figure import Figure
from bench.floors import truth
from bench.machine import ALONE, Failed, git, run, vt
from bench.vault_maker import BEGINNING, DAYS, VaultMaker
from vault_tool.files.layout import VAULT
from vault_tool.files.parse import parse
from vault_tool.model.types import Registry

_IDENTITY = (("user.name", "bench"), ("user.email", "bench@example.org"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How far the long figures go: less of each for a test."""

    beside: int = 10_000
    """The notes of the vault that small ones are held against."""
    day: int = 5000
    """The memories of a busy day."""
    month: int = 20_000
    """The notes of a full month."""
    starts: int = 100
    """The sessions that start under trouble."""
    seconds: float = 10.0
    """How long a crowd asks."""
    clients: tuple[int, ...] = (1, 5, 20)
    """How many clients a crowd has, by turns; the first is the floor of the others."""
    peers: Path | None = None
    """The folder in which other tools are installed that ours is to be measured beside."""


@dataclass(frozen=True, slots=True)
class Bed:
    """The vault at `root`, and its `clone`; `path` is an observation of it, with `identity`, words (`query`) and a `subject`."""

    root: Path
    clone: Path
    notes: int
    runs: int
    path: str
    identity: str
    query: str
    subject: str
    beds: Beds

    def vt(
        self,
        *arguments: str,
        accept: tuple[int, ...] = (0,),
        env: Mapping[str, str] | None = None,
        owner: bool = False,
        given: bytes = b"",
    ) -> str:
        """What a command about this vault prints, typed as people type it; with `owner` one may answer, or be started."""
        return run(self.command(*arguments), accept=accept, env={**({} if owner else ALONE), **(env or {})}, given=given)

    def command(self, *arguments: str) -> list[str]:
        """The words of that command."""
        return [*vt(), "--vault", str(self.root), *arguments]

    def figure(self, name: str, what: str, values: Sequence[float], **more: Any) -> Figure:
        """What was measured on this vault."""
        return Figure(name=name, what=what, notes=self.notes, values=tuple(values), **more)

    @property
    def extent(self) -> Extent:
        """How far the long figures go."""
        return self.beds.extent

    @property
    def rebuilds(self) -> int:
        """How often the long figures are run."""
        return max(1, min(3, self.runs))


class Beds:
    """The vaults of one run below `folder`; those of an earlier run that were kept are taken up again."""

    def __init__(self, folder: Path, runs: int, seed: int = 1, extent: Extent | None = None) -> None:
        self.folder = folder
        self.extent = extent or Extent()
        self._runs = runs
        self._seed = seed
        self._made: dict[Path, None] = {}

    def of(self, notes: int) -> Bed:
        """The vault of `notes` notes, with its clone."""
        root = self.vault(f"vault-{notes}", notes)
        clone = self.folder / f"clone-{notes}-{self._seed}"
        self._made[clone] = None
        if not clone.exists():
            git(self.folder, "clone", "-q", str(root), str(clone))
            _introduce(clone)
        return Bed(root, clone, notes, self._runs, *_sample(root), self)

    def vault(self, name: str, notes: int, beginning: datetime = BEGINNING, days: int = DAYS) -> Path:
        """A vault of `notes` notes that are of so many days, made unless it is there."""
        root = self.folder / f"{name}-{self._seed}"
        self._made[root] = None
        if not (root / ".git" / "made").exists():
            shutil.rmtree(root, ignore_errors=True)
            VaultMaker(root, notes, self._seed, beginning, days).make()
            _commit(root)
            (root / ".git" / "made").touch()
        return root

    def discard(self, *roots: Path) -> None:
        """Remove vaults that were made: these, or all."""
        for made in roots or [*self._made]:
            shutil.rmtree(made, ignore_errors=True)
            self._made.pop(made, None)


def _commit(root: Path) -> None:
    git(root, "init", "-q", "-b", "main")
    _introduce(root)
    git(root, "add", "-A")
    # Packed as a vault that grew would be, and now: else git would do it in the background of what is measured.
    git(root, "-c", "gc.auto=0", "commit", "-q", "-m", "import: a vault to measure on")
    git(root, "gc", "--quiet")


def _introduce(root: Path) -> None:
    for name, value in _IDENTITY:
        git(root, "config", name, value)


def _sample(root: Path) -> tuple[str, str, str, str]:
    """An observation from the middle of the vault: its path, its id, words of its title, and a subject."""
    found = sorted(path for path in truth(root) if f"{VAULT}/observations/" in Path(path).as_posix())
    # What an earlier run wrote into a vault that was kept has no title of its own.
    for chosen in map(Path, found[len(found) // 2 :] + found[: len(found) // 2]):
        path = chosen.relative_to(root).as_posix()
        head = parse(path, chosen.read_bytes(), Registry()).head
        if head.get("title") and head.get("subjects"):
            return path, str(head["id"]), " ".join(str(head["title"]).split()[:2]), str(head["subjects"][0])
    raise Failed(f"there is no observation in {root.name}")
