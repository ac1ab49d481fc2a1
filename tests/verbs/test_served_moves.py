"""A note of the folder around keeps its marks and links under another name; where that is a guess nothing is guessed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.typed import vt
from tests.git_repos import commit_all, git, make_repo, write
from tests.verbs.looking import text
from tests.wording import typed
from vault_tool import Vault
from vault_tool.model.ids import derived_id
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git

LINES = "".join(f"Pelicans number {number} eat fish.\n" for number in range(9))
NOTES = {"Pelican.md": f"# Pelican\n{LINES}", "Quokka.md": "# Quokka\nIt sleeps at noon.\nIt smiles.\nIt hops.\n"}


def served(path: str) -> str:
    """The id of a note by its path in the folder around."""
    return derived_id("around", f"../{path}")


@pytest.fixture(params=["plain", "git"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Somebody's notes, in a repository of their own or in none."""
    notes = make_repo(tmp_path / "Notes") if request.param == "git" else tmp_path / "Notes"
    for path, said in NOTES.items():
        write(notes, path, said)
    if request.param == "git":
        commit_all(notes, "notes")
    return notes


@pytest.fixture
def vault(folder: Path, clock: FixedClock) -> Iterator[Vault]:
    """A vault that serves them, in which one has a mark and a link."""
    made = Vault.init(folder, notes="here", no_git=True, clock=clock)
    with Vault.open(made.root, clock=clock, origin="owner") as vault:
        vault.mark_useful(served("Pelican.md"), "It helped.")
        fact = vault.remember("Fish are eaten by birds.")
        vault.link(fact.id, "RELATED_TO", served("Pelican.md"), "both on fish")
        yield vault


def marked(vault: Vault) -> str:
    """Where the note with the mark and the link stands, by asking anew."""
    shown = vault.show(served("Pelican.md"))
    assert shown.utility > 0.5, shown
    assert [one for one in vault.doctor().problems if one.code == "dangling-reference"] == []
    assert vault.related(served("Pelican.md")).results
    return shown.path


def lost(vault: Vault) -> list[str]:
    """What doctor says of notes that are gone: each finding's hint."""
    return [one.hint for one in vault.doctor().problems if one.code == "served-note-gone"]


class TestFollowed:
    def test_another_name(self, vault: Vault, folder: Path) -> None:
        (folder / "Pelican.md").rename(folder / "Bird.md")
        assert marked(vault) == "../Bird.md"
        vault.reindex(full=True)
        assert marked(vault) == "../Bird.md"
        shutil.rmtree(vault.root / "_cache")
        vault.close()
        with Vault.open(vault.root, clock=vault.clock, origin="owner") as again:
            assert marked(again) == "../Bird.md"

    def test_renamed_and_edited(self, vault: Vault, folder: Path) -> None:
        write(folder, "Birds/Bird.md", text(folder, "Pelican.md").replace("# Pelican", "# Bird") + "And frogs.\n")
        (folder / "Pelican.md").unlink()
        assert marked(vault) == "../Birds/Bird.md"
        (folder / "Birds/Bird.md").rename(folder / "Third.md")
        assert marked(vault) == "../Third.md"

    def test_case_only_and_into_a_folder(self, vault: Vault, folder: Path) -> None:
        (folder / "Pelican.md").rename(folder / "pelican.md")
        assert marked(vault) == "../pelican.md"
        (folder / "Sea").mkdir()
        (folder / "pelican.md").rename(folder / "Sea/pelican.md")
        assert marked(vault) == "../Sea/pelican.md"

    def test_one_of_two_that_are_equal(self, vault: Vault, folder: Path) -> None:
        shutil.copy(folder / "Pelican.md", folder / "Twin.md")
        assert marked(vault) == "../Pelican.md"
        (folder / "Pelican.md").rename(folder / "Bird.md")
        assert marked(vault) == "../Bird.md"
        (folder / "Twin.md").rename(folder / "Other twin.md")
        assert marked(vault) == "../Bird.md"

    def test_two_that_swapped_their_names(self, vault: Vault, folder: Path) -> None:
        vault.search("fish")
        one, other = text(folder, "Pelican.md"), text(folder, "Quokka.md")
        write(folder, "Pelican.md", other)
        write(folder, "Quokka.md", one)
        assert marked(vault) == "../Quokka.md"
        [quokka] = [one for one in vault.search("smiles").results if one.path == "../Pelican.md"]
        assert quokka.id not in (served("Pelican.md"), served("Quokka.md"))
        vault.reindex(full=True)
        assert marked(vault) == "../Quokka.md"

    def test_a_new_note_under_the_old_name_is_another(self, vault: Vault, folder: Path) -> None:
        (folder / "Pelican.md").rename(folder / "Bird.md")
        write(folder, "Pelican.md", "# Pelican\nA kind of pastry.\n")
        assert marked(vault) == "../Bird.md"
        [pastry] = [str(one.id) for one in vault.search("pastry").results]
        assert pastry != served("Pelican.md")
        vault.mark_useful(pastry, "It tasted.")
        (folder / "Pelican.md").rename(folder / "Pastry.md")
        assert vault.show(pastry).path == "../Pastry.md"
        assert marked(vault) == "../Bird.md"

    def test_taken_out_in_one_look_and_back_in_another(self, vault: Vault, folder: Path) -> None:
        kept = (folder / "Pelican.md").read_bytes()
        (folder / "Pelican.md").unlink()
        vault.search("fish")
        write(folder, "Bird.md", kept.decode())
        assert marked(vault) == "../Bird.md"

    def test_by_the_id_in_its_head(self, vault: Vault, folder: Path) -> None:
        head = "---\nid: 00000001-0000-4000-8000-000000000001\n---\n"
        write(folder, "Pelican.md", f"{head}# Pelican\nOne.\n")
        assert marked(vault) == "../Pelican.md"
        write(folder, "Bird.md", f"{head}# Something else\nTwo.\n")
        (folder / "Pelican.md").unlink()
        assert marked(vault) == "../Bird.md"

    @pytest.mark.in_git
    def test_while_the_tool_was_off(self, vault: Vault, folder: Path) -> None:
        vault.close()
        if (folder / ".git").is_dir():
            git(folder, "mv", "Pelican.md", "Bird.md")
            commit_all(folder, "renamed")
        else:
            (folder / "Pelican.md").rename(folder / "Bird.md")
        shutil.rmtree(vault.root / "_cache")
        with Vault.open(vault.root, clock=vault.clock, origin="owner") as again:
            assert marked(again) == "../Bird.md"

    @pytest.mark.in_git
    def test_in_a_new_clone_by_the_history_of_the_folder(self, tmp_path: Path, clock: FixedClock) -> None:
        folder = make_repo(tmp_path / "Ours")
        for path, said in NOTES.items():
            write(folder, path, said)
        commit_all(folder, "notes")
        made = Vault.init(folder, notes="here", commit=True, clock=clock)
        with Vault.open(made.root, clock=clock, origin="owner") as vault:
            fact = vault.remember("Fish are eaten by birds.")
            vault.link(fact.id, "RELATED_TO", served("Pelican.md"), "both on fish")
            vault.mark_useful(served("Pelican.md"), "It helped.")
        for old, new in (("Pelican.md", "Bird.md"), ("Bird.md", "Third.md")):
            git(folder, "mv", old, new)
            commit_all(folder, f"{new} it is")
        git(tmp_path, "clone", "--quiet", str(folder), "clone")
        with Vault.open(tmp_path / "clone" / Path(made.root).relative_to(folder), clock=clock, origin="owner") as again:
            assert marked(again) == "../Third.md"


class TestNotGuessed:
    def test_several_candidates(self, vault: Vault, folder: Path) -> None:
        shutil.copy(folder / "Pelican.md", folder / "A.md")
        (folder / "Pelican.md").rename(folder / "B.md")
        [hint] = lost(vault)
        assert "../A.md" in hint and "../B.md" in hint and "--moved" in typed(hint)
        vault.moved("../Pelican.md", "../B.md")
        assert marked(vault) == "../B.md"
        assert lost(vault) == []

    def test_several_that_are_nearly_it(self, vault: Vault, folder: Path) -> None:
        for name in ("A.md", "B.md"):
            write(folder, name, text(folder, "Pelican.md") + f"Note {name}.\n")
        (folder / "Pelican.md").unlink()
        [hint] = lost(vault)
        assert "../A.md or ../B.md" in hint
        assert vault.search("Note A", limit=1).results[0].id == served("A.md")

    def test_a_copy_and_an_edit_are_no_move(self, vault: Vault, folder: Path) -> None:
        shutil.copy(folder / "Pelican.md", folder / "Copy.md")
        write(folder, "Pelican.md", text(folder, "Pelican.md") + "And frogs.\n")
        assert marked(vault) == "../Pelican.md"

    def test_little_that_is_alike(self, vault: Vault, folder: Path) -> None:
        (folder / "Pelican.md").unlink()
        write(folder, "Bird.md", "# Bird\n" + "".join(f"Other {n}.\n" for n in range(9)))
        assert len(lost(vault)) == 1
        [found] = [one for one in vault.search("Other").results if one.path == "../Bird.md"]
        assert found.id == served("Bird.md")
        ran = vt("doctor", "--moved", served("Pelican.md"), "../Bird.md", cwd=vault.root)
        assert ran.returncode == 0, ran.stderr
        assert marked(vault) == "../Bird.md"
