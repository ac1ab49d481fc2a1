"""What must hold of a vault whatever happened to it: git sound, nothing derived tracked, indexes equal to a fresh build."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tests.git_repos import git
from vault_tool import Vault
from vault_tool.files.layout import DERIVED, UNTRACKED
from vault_tool.index.export import StateFile
from vault_tool.util.atomic import temporary_hashes
from vault_tool.util.clock import Clock
from vault_tool.vault.standing import SMALL

NOTES = "vault"


def leftovers(root: Path) -> list[Path]:
    """Temporary files of ours under the notes."""
    return [path for path in (root / NOTES).rglob(".*") if temporary_hashes(path.name) is not None]


def fingerprints(root: Path, below: str = NOTES) -> dict[str, str]:
    """The hash of every file below a folder of the root, links unfollowed."""
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((root / below).rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def history(root: Path) -> bytes:
    """Every object of the repository, as one run of bytes to look for texts in."""
    command = ["git", "cat-file", "--batch-all-objects", "--batch", "--unordered"]
    return subprocess.run(command, cwd=root, capture_output=True, check=True).stdout


def lost(root: Path, texts: Iterable[str]) -> set[str]:
    """The texts that are neither in a file under the notes (conflict copies too) nor in an object of git's."""
    files = b"\0".join(path.read_bytes() for path in (root / NOTES).rglob("*") if path.is_file() and not path.is_symlink())
    missing = {text for text in texts if text.encode() not in files}
    if not missing:
        return missing
    objects = history(root)
    return {text for text in missing if text.encode() not in objects}


def assert_git_is_sound(root: Path) -> None:
    """`git fsck` finds nothing, and nothing derived or local is tracked."""
    done = subprocess.run(["git", "fsck", "--strict", "--no-dangling"], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert git(root, "ls-files", "--", *UNTRACKED) == ""


def content(vault: Vault, words: Collection[str] = ()) -> dict[str, Any]:
    """All that the indexes say, in a form that two builds of the same files share."""
    catalog = vault.index.catalog
    entries = catalog.snapshot().entries
    return {
        "files": catalog.all_files(),
        "entries": entries,
        "pages": catalog.pages(),
        "names": catalog.subject_names(),
        "tags": dict(catalog.rows("SELECT normal, count(*) FROM memberships GROUP BY normal")),
        "pointing": {entry.id: catalog.pointing_at(entry.id) for entry in entries},
        "problems": catalog.problems(),
        "signals": catalog.signals(),
        "stale": catalog.stale_paths(),
        "counts": catalog.counts(),
        "search": {word: sorted(hit.path for hit in vault.index.search(word, 500)) for word in words},
    }


def assert_as_built_anew(root: Path, words: Collection[str] = (), clock: Clock | None = None) -> None:
    """What incremental updates made of the indexes is what a build from nothing makes of the files."""
    with Vault.open(root, clock=clock) as vault:
        vault.fresh()
        before = content(vault, words)
        _save_state_of_many(vault)
    state = StateFile(root).read()
    drop_derived(root)
    with Vault.open(root, clock=clock) as vault:
        vault.fresh()
        after = content(vault, words)
        for part, said in before.items():
            assert said == after[part], part
        _save_state_of_many(vault)
    now = StateFile(root).read()
    assert state is not None and now is not None and state.keys() == now.keys()
    for identity, row in state.items():
        # The score alone depends on when it was computed.
        assert replace(row, decay_score=0.0) == replace(now[identity], decay_score=0.0)
        assert abs(row.decay_score - now[identity].decay_score) < 0.01


def _save_state_of_many(vault: Vault) -> None:
    """A large vault's `_state.json` is written at rest, and not at the end of a process."""
    if vault.index.catalog.counts().entries > SMALL:
        vault.whole_standings.save()


def drop_derived(root: Path) -> None:
    """Delete everything that is derived."""
    for name in DERIVED:
        path = root / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def errors_of(vault: Vault) -> Iterator[str]:
    """What `doctor` calls an error, a line each."""
    yield from (f"{one.path}:{one.line} {one.code} {one.message}" for one in vault.doctor().problems if one.severity == "error")
