"""A file syncer's copy of a note that one machine committed, and what another machine did with the note meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git_repos import commit_all
from tests.sync.machines import clone_of, founded_with_hub, in_step, sync
from vault_tool import Vault
from vault_tool.model.problems import Severity

NAMES = (
    "{stem}.sync-conflict-20261129-101010-ABCDEFG.md",
    "{stem} (Conflicted copy laptop 202611291010).md",
    "{stem} (ann's conflicted copy 2026-11-29).md",
    "{stem} 2.md",
    "{stem}-LAPTOP.md",
)
"""The names that Syncthing, Obsidian Sync, Dropbox, iCloud and OneDrive give."""


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """Two machines in step, with one memory."""
    root, hub = founded_with_hub(tmp_path)
    with Vault.open(root, person=True) as vault:
        vault.remember("The boiler is serviced in May.\n\nBy Ann.", ["House"], title="Boiler")
        vault.sync()
    return root, clone_of(hub, "b")


def the_note(root: Path) -> Path:
    [path] = [
        path for path in root.rglob("*.md") if "serviced" in path.read_text() and path.stem.startswith(("boiler", "kettle"))
    ]
    return path


def with_copy(root: Path, name: str) -> None:
    """The copy of a file syncer, with a text of its own, and an edit of the note; both committed by hand."""
    note = the_note(root)
    text = note.read_text()
    note.write_text(text.replace("By Ann.", "By Ann and Kim."))
    note.with_name(name.format(stem=note.stem)).write_text(text.replace("May", "June"))
    commit_all(root, "by hand")


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_a_note_that_was_renamed_elsewhere_is_one_beside_its_copy(two: tuple[Path, Path], name: str, first: int) -> None:
    a, b = two
    with_copy(a, name)
    the_note(b).rename(the_note(b).with_name("kettle.md"))
    for root in (two[first], two[1 - first]):
        sync(root)
    in_step(a, b)
    for root in two:
        with Vault.open(root, person=True) as vault:
            assert not [problem for problem in vault.doctor().problems if problem.severity is Severity.ERROR]
            texts = [path.read_text() for path in (root / "vault/observations").rglob("*.md")]
            assert len(texts) == 2 and sum("Ann and Kim" in text for text in texts) == 1
            [hit] = [str(hit.id) for hit in vault.search("boiler serviced").results if hit.type == "general"]
            told = vault.get(hit).content
            assert "May" in told and "Ann and Kim" in told and vault.tag(hit, ["heating"]).committed
            [copy] = [conflict for conflict in vault.unsettled().results if conflict.what == "copy"]
            assert "June" in copy.that and "May" in copy.this
