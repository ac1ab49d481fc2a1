"""What an import and a served folder pass over, and which files are notes: alike by both, and told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git_repos import git, write
from vault_tool import Vault
from vault_tool.util.clock import FixedClock

RULES = "drafts/\n*.private.md\n/build\n"
FILES = {
    "One.md": "# One\nKept.\n",
    "Two.markdown": "# Two\nKept too.\n",
    "deep/Three.mdx": "# Three\nKept as well.\n",
    "drafts/Four.md": "# Four\nIgnored.\n",
    "drafts/more/Five.md": "# Five\nIgnored.\n",
    "deep/Six.private.md": "# Six\nIgnored.\n",
    "build/plan.txt": "Ignored.\n",
    "Archive/Seven.md": "# Seven\nExcluded.\n",
    "Old note.md": "# Eight\nExcluded.\n",
    ".obsidian/app.json": '{"userIgnoreFilters": ["Archive/", "Old note.md", "/.*secret.*/"]}',
    ".gitignore": RULES,
}


def folder(tmp_path: Path, *, repository: bool) -> Path:
    """A folder of notes, some of which are not to be taken."""
    found = tmp_path / "Notes"
    for path, text in FILES.items():
        write(found, path, text)
    if repository:
        git(found, "init", "-q")
    return found


@pytest.mark.parametrize("repository", [True, False])
def test_an_import_passes_over_what_git_ignores_and_says_so(tmp_path: Path, clock: FixedClock, repository: bool) -> None:
    notes = folder(tmp_path, repository=repository)
    made = Vault.init(tmp_path / "v", no_git=True, clock=clock)
    with Vault.open(made.root, clock=clock, origin="owner") as vault:
        done = vault.import_markdown(notes, attachments=True)
        told = {one.path: one.message for one in done.problems if one.code in ("git-ignored", "excluded")}
        assert told.keys() == {"drafts", "deep/Six.private.md", "build", "Archive", "Old note.md"}
        assert "(2)" in told["drafts"] and done.skipped["git-ignored"] == 4 and done.skipped["excluded"] == 2
        assert vault.import_markdown(notes).unchanged == 3
    copies = sorted(path.name for path in Path(made.root, "vault/imported/notes").rglob("*") if path.is_file())
    assert copies == ["One.md", "Three.md", "Two.md"]


def test_a_served_folder_has_the_same_notes_under_their_own_names(tmp_path: Path, clock: FixedClock) -> None:
    notes = folder(tmp_path, repository=True)
    made = Vault.init(notes, notes="here", no_git=True, clock=clock)
    with Vault.open(made.root, clock=clock, origin="owner") as vault:
        found = {one.path: one.title for one in vault.list(folder="..").results} or {}
        assert set(found) == {"../One.md", "../Two.markdown", "../deep/Three.mdx"}
        for named in ("../Two.markdown", "Two"):
            assert vault.show(named).path == "../Two.markdown"
        assert vault.search("kept as well").results[0].path == "../deep/Three.mdx"
        write(notes, "Two.markdown", "# Two\nIt has the word zephyr now.\n")
        assert vault.search("zephyr").results[0].path == "../Two.markdown"


def test_a_file_below_the_vault_with_another_ending_is_told(tmp_path: Path, clock: FixedClock) -> None:
    made = Vault.init(tmp_path / "v", no_git=True, clock=clock)
    write(Path(made.root), "vault/own/Two.markdown", "# Two\nText.\n")
    write(Path(made.root), "vault/own/One.md", "# One\nText.\n")
    with Vault.open(made.root, clock=clock, origin="owner") as vault:
        done = vault.import_markdown(Path(made.root) / "vault/own", in_place=True)
        assert done.imported == 1 and [one.path for one in done.problems if one.code == "other-ending"] == ["Two.markdown"]
