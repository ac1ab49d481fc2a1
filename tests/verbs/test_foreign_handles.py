"""Names and paths by which people's notes are asked for, dates in digits, and a vault in the folder that is imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git_repos import write
from vault_tool import Vault
from vault_tool.importing.dates import created
from vault_tool.util.clock import FixedClock, parse_time, stamp


@pytest.mark.parametrize(
    ("digits", "moment"),
    [
        ("1652122742329", "2022-05-09T18:59:02+00:00"),
        ("1652122742", "2022-05-09T18:59:02+00:00"),
        ("946684800", "2000-01-01T00:00:00+00:00"),
        ("20211105", "2021-11-05T00:00:00+00:00"),
        ("202111051230", "2021-11-05T12:30:00+00:00"),
        ("1652", ""),
        ("169869919842", ""),
        ("99999999999999", ""),
    ],
)
def test_a_bare_number_is_a_time_where_it_can_be(digits: str, moment: str) -> None:
    named = parse_time(digits)
    assert (stamp(named) if named else "") == moment
    told = created({"created": digits}, "note")
    assert (stamp(told) if told else "") == moment


@pytest.mark.parametrize(
    ("name", "moment"),
    [
        ("20211105.md", "2021-11-05T00:00:00+00:00"),
        ("202111051230 Boats.md", "2021-11-05T12:30:00+00:00"),
        ("2021-11-05 Boats.md", "2021-11-05T00:00:00+00:00"),
        ("2021_11_05.md", "2021-11-05T00:00:00+00:00"),
        ("20219905.md", ""),
        ("123456789.md", ""),
    ],
)
def test_a_file_name_begins_with_a_day(name: str, moment: str) -> None:
    named = created({}, name)
    assert (stamp(named) if named else "") == moment


def test_a_memory_answers_to_its_own_file_name(tmp_path: Path, clock: FixedClock) -> None:
    made = Vault.init(tmp_path / "v", no_git=True, clock=clock)
    with Vault.open(made.root, clock=clock, origin="owner") as vault:
        alpha = vault.remember("The harbour freezes in January.", title="Note alpha")
        stem = Path(vault.show(alpha.id).path).stem
        beta = vault.remember(f"Skating begins then: [[{stem}]].", title="Note beta")
        assert vault.show(stem).id == vault.show(f"{stem}.md").id == alpha.id
        assert [one.id for one in vault.related(beta.id).results] == [alpha.id]
        assert [one.id for one in vault.related(alpha.id).results] == [beta.id]


def test_a_served_note_answers_to_the_path_that_search_prints(
    tmp_path: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "Notes"
    write(folder, "a/b/file1.md", "# Pelican\nIt eats fish.\n")
    made = Vault.init(folder, notes="here", no_git=True, clock=clock)
    with Vault.open(made.root, clock=clock, origin="owner") as vault:
        printed = vault.search("pelican").results[0].path
        for here, name in (
            (tmp_path, printed),
            (folder / "a", printed),
            (Path(made.root), printed),
            (folder / "a", "b/file1.md"),
        ):
            monkeypatch.chdir(here)
            assert vault.show(name).title == "Pelican"
            assert vault.related(name).title == "Pelican"


def test_a_vault_in_an_imported_folder_is_passed_over(tmp_path: Path, clock: FixedClock) -> None:
    folder = tmp_path / "Notes"
    write(folder, "One.md", "# One\nText.\n")
    inner = Vault.init(folder / "memory", no_git=True, clock=clock)
    write(Path(inner.root), "vault/two.md", "# Two\nInner.\n")
    made = Vault.init(tmp_path / "v", no_git=True, clock=clock)
    with Vault.open(made.root, clock=clock, origin="owner") as vault:
        done = vault.import_markdown(folder, attachments=True)
        assert [one.path for one in done.problems if one.code == "vault"] == ["memory"]
        found = sorted(p.name for p in (Path(made.root) / "vault/imported/notes").rglob("*") if p.is_file())
        assert found == ["One.md"]


@pytest.mark.parametrize("served", [True, False])
def test_notes_of_one_name_are_told_apart_in_a_lean_answer(tmp_path: Path, clock: FixedClock, served: bool) -> None:
    folder = tmp_path / "Notes"
    write(folder, "boats/Log.md", "The mast of the boat is new.\n")
    write(folder, "cars/Log.md", "The mast of the car park is old.\n")
    write(folder, "cars/Wheel.md", "No mast.\n")
    made = (
        Vault.init(folder, notes="here", no_git=True, clock=clock)
        if served
        else Vault.init(tmp_path / "v", no_git=True, clock=clock)
    )
    with Vault.open(made.root, clock=clock, origin="owner") as vault:
        if not served:
            vault.import_markdown(folder)
        top = "../" if served else "vault/imported/notes/"
        for found in (vault.recall("mast"), vault.search("mast"), vault.list()):
            said = found.lean(lambda identity: identity[:6])["results"]
            paths = {one.get("path") for one in said}
            assert paths == {f"{top}boats/Log.md", f"{top}cars/Log.md", None}


@pytest.mark.parametrize(
    "head",
    [
        '{\n  "title": "Loom notes",\n  "aliases": ["Warp book"],\n  "tags": ["wool"],\n  "date": "2021-11-05"\n}\n',
        '+++\ntitle = "Loom notes"\naliases = ["Warp book"]\ntags = ["wool"]\ndate = 2021-11-05\n+++\n',
    ],
)
def test_a_head_in_json_or_toml_says_what_a_note_is_called(tmp_path: Path, clock: FixedClock, head: str) -> None:
    folder = tmp_path / "Notes"
    write(folder, "loom.md", f"{head}\nThe weft is linen.\n")
    write(folder, "other.md", '{"a": 1} is an object.\n')
    made = Vault.init(folder, notes="here", no_git=True, clock=clock)
    with Vault.open(made.root, clock=clock, origin="owner") as vault:
        found = vault.show("Warp book")
        assert (found.title, found.observed[:10]) == ("Loom notes", "2021-11-05") and found.content.startswith(head[:3])
        assert vault.list(tags=["wool"]).results[0].id == found.id
        assert vault.show("other").title == "other"
