"""Copies that sync tools leave beside a note: no memory of their own, wherever they lie and whatever they are called."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.git_repos import write
from tests.oracles import assert_as_built_anew
from tests.wording import typed
from vault_tool import Vault
from vault_tool.features.recall.recall import Bundle
from vault_tool.files.layout import may_be_copy
from vault_tool.files.two_versions import END, OPEN, OR
from vault_tool.util.clock import FixedClock
from vault_tool.util.text import first_sentence
from vault_tool.vault.retrieval.query import Recalled

NAMES = (
    "{}.sync-conflict-20261125-101010-ABCDEFG.md",
    "{}.sync-conflict-20240102-030405-Z7YX2QA.md",
    "{} (Conflicted copy laptop 202611251010).md",
    "{} (conflicted copy 2026-11-25 101010).md",
    "{} (ann's conflicted copy 2026-11-25).md",
    "{} (Bob Miller's conflicted copy 2026-11-25 (1)).md",
    "{} 2.md",
    "{} 9.md",
    "{} (1).md",
    "{}(3).md",
    "{}-LAPTOP.md",
    "{}-anns-mac-book.md",
    "{}-DESKTOP-4F7KQ2.md",
    "{}.conflict-20261125T101010Z-ann.md",
    "{}_conflict-20261125-101010.md",
    "{} (SFConflict ann@example.org 2026-11-25-10-10-10).md",
    "{}_LAPTOP_Nov-25-101010-2026_Conflict.md",
    "{}.Conflict.md",
    "{} (copy: conflict #1 on 2026-11-25).md",
)
"""Of Syncthing, Obsidian Sync, Dropbox, iCloud, browsers, OneDrive and ourselves, of each another one as well; of ownCloud,
Seafile, Synology, Resilio and Unison."""

BY_ID = (
    "{} (In Konflikt stehende Kopie von ann 2026-11-25).md",
    "{} (copie en conflit de ann 2026-11-25).md",
    "{} [conflicted].md",
    "{} 10.md",
    "{} copy.md",
    "{} copy 2.md",
    "{} - Copy.md",
    "{} - Copy (2).md",
)
"""Of syncers in other languages and of desktops: an equal id alone makes copies of these."""

LONGER = ("{}_v2.md", "{}~old.md", "{}.backup.2026.md", "{} von ann.md")
"""Anything after a name of ours, which ends with the beginning of its id."""


def recalled(vault: Vault, question: str) -> tuple[Recalled, ...]:
    found = vault.recall(question)
    assert isinstance(found, Bundle)
    return found.results


def copied(vault: Vault, path: str, name: str, old: str, new: str) -> str:
    """A copy beside a note in which another word stands."""
    file = vault.root / path
    copy = file.with_name(name.format(file.stem))
    copy.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    return str(copy.relative_to(vault.root))


def named(vault: Vault) -> list[tuple[str, str, str]]:
    return [(one.code, one.path, one.hint) for one in vault.doctor().problems if one.severity != "note"]


@pytest.mark.parametrize("name", (*NAMES, *BY_ID, *LONGER))
def test_a_copy_of_a_memory_is_named_and_stops_nothing(vault: Vault, clock: FixedClock, name: str) -> None:
    made = vault.remember("The boiler is serviced in May.", ["House"])
    copy = copied(vault, made.path, name, "May", "June")
    best = recalled(vault, "when is the boiler serviced")
    assert ["May" in one.content for one in best] == [True]
    assert not vault.search("June").results
    assert vault.tag(made.id, add=["warm"]).tags == ("warm",)
    assert vault.get(made.id).id == made.id
    vault.mark_useful(made.id, "It was so.")
    assert [(*row[:2], typed(row[2])) for row in named(vault) if row[0] != "duplicate-body"] == [
        ("conflict-copy", copy, "`vt review` puts the two together")
    ]
    assert vault.status().conflict_copies == 1
    assert_as_built_anew(vault.root, clock=clock)


@pytest.mark.parametrize("name", (*NAMES, *BY_ID))
def test_a_copy_of_a_subject_doubles_no_name(vault: Vault, name: str) -> None:
    vault.remember("The boiler is serviced in May.", ["House"])
    path = vault.index.catalog.subject_named("house")[0].path
    copied(vault, path, name, "name: House", "name: House\nsummary: Where we live.")
    assert vault.remember("The roof is new.", ["House"]).id
    assert [row[0] for row in named(vault)] == ["conflict-copy"]


@pytest.mark.parametrize("name", (*NAMES, *BY_ID))
def test_a_name_alone_is_a_note_as_any(vault: Vault, name: str) -> None:
    made = vault.remember("The boiler is serviced in May.", ["House"])
    path = copied(vault, made.path, name, made.id, "33333333-3333-4333-8333-333333333333")
    write(vault.root, path, (vault.root / path).read_text(encoding="utf-8").replace("boiler", "chimney"))
    assert vault.get("33333333").path == path
    assert named(vault) == []


@pytest.mark.parametrize("name", (*NAMES, *BY_ID))
def test_what_is_beside_nothing_is_a_note_until_the_note_comes(vault: Vault, clock: FixedClock, name: str) -> None:
    made = vault.remember("The boiler is serviced in May.", ["House"])
    copy = copied(vault, made.path, name, "May", "June")
    assert vault.status().conflict_copies == 1
    kept = (vault.root / made.path).read_bytes()
    (vault.root / made.path).unlink()
    ours = ".conflict-" in name
    assert [one.path for one in vault.search("June").results] == ([] if ours else [copy])
    (vault.root / made.path).write_bytes(kept)
    assert [one.path for one in vault.search("boiler").results] == [made.path]
    (vault.root / made.path).write_bytes(kept.replace(made.id.encode(), b"33333333-3333-4333-8333-333333333333"))
    assert sorted(one.path for one in vault.search("boiler").results) == sorted([made.path, copy])
    assert_as_built_anew(vault.root, clock=clock)


@pytest.mark.parametrize("name", (*NAMES, *BY_ID))
def test_a_copy_is_judged_anew_beside_its_note_though_it_was_touched_itself(vault: Vault, clock: FixedClock, name: str) -> None:
    made = vault.remember("The boiler is serviced in May.", ["House"])
    copy = copied(vault, made.path, name, "May", "June")
    kept = (vault.root / made.path).read_bytes()
    (vault.root / made.path).unlink()
    vault.search("boiler")
    (vault.root / made.path).write_bytes(kept)
    os.utime(vault.root / copy)
    assert [one.path for one in vault.search("boiler").results] == [made.path]
    other = kept.replace(made.id.encode(), b"33333333-3333-4333-8333-333333333333")
    (vault.root / made.path).write_bytes(other)
    os.utime(vault.root / copy)
    assert len(vault.search("boiler").results) == 2
    assert_as_built_anew(vault.root, clock=clock)


@pytest.mark.parametrize("first", ["the copy", "the new name"])
@pytest.mark.parametrize("name", NAMES[:3])
def test_a_copy_of_a_note_that_was_renamed_is_one_still(vault: Vault, clock: FixedClock, name: str, first: str) -> None:
    made = vault.remember("The boiler is serviced in May.", ["House"])
    file = vault.root / made.path
    text = file.read_text().replace("May", "June")
    copy, moved = file.with_name(name.format(file.stem)), vault.root / "vault/far/Boiler.md"
    moved.parent.mkdir()
    if first == "the copy":
        copy.write_text(text)
        assert len(recalled(vault, "when is the boiler serviced")) == 1
        file.rename(moved)
    else:
        file.rename(moved)
        assert len(recalled(vault, "when is the boiler serviced")) == 1
        copy.write_text(text)
    for _ in range(2):
        assert ["May" in one.content for one in recalled(vault, "when is the boiler serviced")] == [True]
        assert_as_built_anew(vault.root, clock=clock)
    assert [row[:2] for row in named(vault)] == [("conflict-copy", str(copy.relative_to(vault.root)))]
    assert vault.tag(made.id, add=["warm"]).tags == ("warm",)
    # Where its note is gone it is all that is left of it.
    moved.rename(vault.root / "away.md")
    vault.commit()
    assert ["June" in one.content for one in recalled(vault, "when is the boiler serviced")] == [True]
    (vault.root / "away.md").rename(vault.root / "vault/Heating.md")
    assert ["May" in one.content for one in recalled(vault, "when is the boiler serviced")] == [True]
    assert_as_built_anew(vault.root, clock=clock)
    with Vault.open(vault.root, person=True) as person:
        [conflict] = person.unsettled().results
        person.settle_texts(conflict.key, "both")
        assert not copy.exists() and person.status().conflict_copies == 0


def test_a_page_without_an_id_has_a_copy_where_name_and_text_say_so(vault: Vault) -> None:
    text = "# Trip\n\n" + "".join(f"Day {number} by the river, and on.\n" for number in range(9))
    write(vault.root, "vault/Trip.md", text)
    write(vault.root, "vault/Trip.sync-conflict-20261125-101010-ABCDEFG.md", text.replace("Day 3", "Day three"))
    write(vault.root, "vault/Trip 2.md", text)
    write(vault.root, "vault/Trip (1).md", text.replace("Day 3", "Day three"))
    write(vault.root, "vault/Trip (ann's conflicted copy 2026-11-25).md", "# Packing\n\nBoots and socks.\n")
    write(vault.root, "vault/Chapter.md", "It beginneth.\n")
    write(vault.root, "vault/Chapter 2.md", "It endeth.\n")
    assert sorted(one.path for one in vault.search("river").results) == ["vault/Trip (1).md", "vault/Trip.md"]
    assert [one.path for one in vault.search("beginneth").results] == ["vault/Chapter.md"]
    assert [one.path for one in vault.search("endeth").results] == ["vault/Chapter 2.md"]
    assert [one.path for one in vault.search("socks").results] == ["vault/Trip (ann's conflicted copy 2026-11-25).md"]
    assert vault.status().conflict_copies == 2


def test_a_served_folder_gives_one_answer_for_a_note_and_its_copies(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    text = "# Boiler\n\nThe boiler is serviced in May.\n"
    for name in ("Boiler.md", *(name.format("Boiler") for name in NAMES)):
        write(folder, name, text)
    Vault.init(folder, notes="here", no_git=True)
    with Vault.open(folder / "memory") as vault:
        found = recalled(vault, "when is the boiler serviced")
    assert [one.path for one in found] == ["../Boiler.md"]


def test_most_names_are_not_looked_at() -> None:
    assert not may_be_copy("vault/observations/2026/11/the-boiler-is-serviced-1a2b3c.md")
    assert not may_be_copy("vault/Boiler.md") and may_be_copy("vault/Boiler 2.md")


def test_both_texts_of_an_unsettled_note_are_read_and_it_is_no_error(vault: Vault) -> None:
    made = vault.remember("The boiler is serviced in May.", ["House"])
    file = vault.root / made.path
    text = file.read_text(encoding="utf-8").replace("The boiler is serviced in May.",
        f"{OPEN}\nThe boiler is serviced in July.\n{OR}\nThe boiler is serviced in June.\n{END}")  # fmt: skip
    file.write_text(text.replace("\n---\n", '\nunsettled: ["title: The boiler"]\n---\n', 1), encoding="utf-8")
    for month in ("June", "July"):
        found = recalled(vault, f"is the boiler serviced in {month}")
        assert [one.id for one in found] == [made.id]
    whole = vault.get(made.id).content
    assert "June" in whole and "July" in whole
    assert vault.commit().paths == (made.path,)
    assert first_sentence(f"{OPEN}\nIt hums.\n{OR}\nNot.\n{END}\n") == "It hums"
    assert [(one.code, one.severity) for one in vault.doctor().problems] == [("unsettled", "note")] * 2
    assert vault.status().unsettled == 1 and not vault.doctor().findings


def test_a_copied_folder_keeps_the_copies_apart(vault: Vault, tmp_path: Path) -> None:
    made = vault.remember("The boiler is serviced in May.", ["House"])
    copied(vault, made.path, NAMES[0], "May", "June")
    shutil.copytree(vault.root, tmp_path / "again", symlinks=True)
    with Vault.open(tmp_path / "again") as vault:
        assert len(vault.search("boiler").results) == 1
