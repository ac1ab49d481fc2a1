"""A vault to measure on: made, committed and packed, with a clone for git's own figures and things to look up."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.figure import Figure
from bench.floors import truth
from bench.machine import Failed, git, run, vt
from bench.vault_maker import VaultMaker
from vault_tool.files.layout import VAULT
from vault_tool.files.parse import parse
from vault_tool.model.types import Registry

_IDENTITY = (("user.name", "bench"), ("user.email", "bench@example.org"))


@dataclass(frozen=True, slots=True)
class Bed:
    """The vault at `root` and its `clone`; `path` is one of its observations, `identity` its id, `query` two of its words."""

    root: Path
    clone: Path
    notes: int
    runs: int
    path: str
    identity: str
    query: str

    def vt(self, *arguments: str, accept: tuple[int, ...] = (0,), env: Mapping[str, str] | None = None) -> str:
        """What a command about this vault prints, typed as people type it."""
        return run([*vt(), "--vault", str(self.root), *arguments], accept=accept, env=env)

    def figure(self, name: str, what: str, values: Sequence[float], **more: Any) -> Figure:
        """What was measured on this vault."""
        return Figure(name=name, what=what, notes=self.notes, values=tuple(values), **more)

    @property
    def rebuilds(self) -> int:
        """How often the long figures are run."""
        return max(1, min(3, self.runs))


def prepare(folder: Path, notes: int, runs: int, seed: int = 1) -> Bed:
    """The vault of `notes` notes below `folder`, made unless it is there from an earlier run."""
    root = folder / f"vault-{notes}-{seed}"
    clone = folder / f"clone-{notes}-{seed}"
    if not (root / ".git" / "made").exists():
        shutil.rmtree(root, ignore_errors=True)
        shutil.rmtree(clone, ignore_errors=True)
        VaultMaker(root, notes, seed).make()
        _commit(root)
        (root / ".git" / "made").touch()
    if not clone.exists():
        git(folder, "clone", "-q", str(root), str(clone))
        _introduce(clone)
    path, identity, query = _sample(root)
    return Bed(root, clone, notes, runs, path, identity, query)


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


def _sample(root: Path) -> tuple[str, str, str]:
    """An observation from the middle of the vault: its path, its id, and words of its title."""
    found = sorted(path for path in truth(root) if f"{VAULT}/observations/" in Path(path).as_posix())
    if not found:
        raise Failed(f"there is no observation in {root.name}")
    chosen = Path(found[len(found) // 2])
    path = chosen.relative_to(root).as_posix()
    head = parse(path, chosen.read_bytes(), Registry()).head
    return path, str(head["id"]), " ".join(str(head["title"]).split()[:2])
