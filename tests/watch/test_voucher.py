"""What is vouched for was compared: each kind of change is on the next answer, and nothing is compared where nothing changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.founding import found_at
from tests.git_repos import commit_all, git, write
from vault_tool import Vault
from vault_tool.watch.voucher import Voucher

TEXT = "The quay is closed in winter."


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault in a repository."""
    return found_at(tmp_path / "lab", git=True)


def _path(vault: Vault, identity: str) -> Path:
    return vault.root / vault.show(identity).path


def test_it_walks_once_and_again_after_each_kind_of_change(root: Path) -> None:
    with Vault.open(root, person=True) as vault:
        identity = vault.remember(TEXT, ["Quay"]).id
        path = _path(vault, identity)
        text = path.read_text("utf-8")
        head = text.partition("\n---\n")[0]
        voucher = Voucher()
        try:
            for _ in range(3):
                voucher.fresh(vault)
            before = voucher.comparisons
            for _ in range(5):
                voucher.fresh(vault)
            assert voucher.comparisons == before, "nothing changed"

            def found(words: str) -> bool:
                voucher.fresh(vault)
                vault.is_current = lambda: True  # as a page asks: at one moment
                try:
                    return any(one.id == identity for one in vault.search(words, mode="text").results)
                finally:
                    vault.is_current = None

            path.write_text(f"{head}\n---\nThe pier opens.\n", "utf-8")
            assert found("pier"), "an edit in its place"
            other = path.with_name("spare.tmp")
            other.write_text(f"{head}\n---\nThe crane opens.\n", "utf-8")
            other.replace(path)
            assert found("crane") and not found("pier"), "an editor that writes beside it and renames"
            moved = path.parent.parent / "else" / path.name
            moved.parent.mkdir()
            path.rename(moved)
            assert found("crane") and vault.show(identity).path.endswith(f"else/{path.name}"), "a move into a folder that is new"
            moved.write_text(f"{head}\n---\nThe ferry sails.\n", "utf-8")
            assert found("ferry"), "an edit in a folder that is new"
            moved.unlink()
            assert not found("ferry"), "a removal"
        finally:
            voucher.close()


def test_a_commit_by_another_program_is_a_change(root: Path) -> None:
    with Vault.open(root, person=True) as vault:
        path = _path(vault, vault.remember(TEXT, ["Quay"]).id)
        path.write_text(path.read_text("utf-8").replace("winter", "May"), "utf-8")
        voucher = Voucher()
        try:
            for _ in range(3):
                voucher.fresh(vault)
            before = voucher.comparisons
            commit_all(root, "by hand")
            assert git(root, "log", "-1", "--format=%s") == "by hand"
            voucher.fresh(vault)
            assert voucher.comparisons == before + 1
        finally:
            voucher.close()


def test_where_not_all_can_be_heard_everything_is_compared(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    write(notes, "quay.md", f"# Quay\n\n{TEXT}\n")
    home = Path(Vault.init(notes, notes="here", no_git=True).root)
    with Vault.open(home, person=True) as vault:
        voucher = Voucher()
        for _ in range(3):
            voucher.fresh(vault)
        assert vault.notes_folder is not None and voucher.comparisons == 3
