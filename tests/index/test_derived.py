"""What is kept of a state is of that state, whoever asks and whatever changes meanwhile."""

from __future__ import annotations

from pathlib import Path

from tests.git_repos import write
from tests.index.vaults import make, note, opened
from vault_tool.index.derived import Derived


def test_a_value_is_made_once_a_state() -> None:
    derived, made = Derived(), []

    def make_it() -> int:
        made.append(1)
        return len(made)

    assert [derived.of("1", "a", make_it), derived.of("1", "a", make_it), derived.of("1", "b", make_it)] == [1, 1, 2]
    assert derived.of("2", "a", make_it) == 3
    assert derived.of("1", "a", make_it) == 4, "of a state that came back nothing is known"


def test_a_value_of_nothing_is_kept_as_well() -> None:
    derived = Derived()
    assert derived.of("1", "a", lambda: None) is None
    assert derived.of("1", "a", lambda: "made again") is None


def test_what_changed_is_dropped_whoever_asks_first() -> None:
    derived = Derived()
    derived.of("1", "large", lambda: [0] * 1000)
    derived.of("2", "small", lambda: 0)
    assert "large" not in derived._values


def test_a_value_that_follows_is_brought_up_to_date_from_the_state_it_was_of() -> None:
    derived, steps = Derived(), []

    def follow(value: list[str], before: str) -> list[str]:
        steps.append(before)
        return value

    kept = derived.of("1", "list", lambda: ["a"], follow)
    derived.of("2", "other", lambda: 0)
    assert derived.of("3", "list", lambda: ["b"], follow) is kept
    assert derived.of("3", "list", lambda: ["b"], follow) is kept
    assert steps == ["1"]


def test_what_was_made_while_the_state_moved_is_made_again() -> None:
    derived = Derived()

    def moved() -> str:
        derived.of("2", "inner", lambda: 0)
        return "of the first state"

    assert derived.of("1", "outer", moved) == "of the first state"
    assert derived.of("2", "outer", lambda: "of the second") == "of the second"


def test_what_was_stored_need_not_be_made() -> None:
    derived = Derived()
    derived.of("1", "known", lambda: "old")
    derived.adopt("2", "known", "new")
    assert derived.of("2", "known", lambda: "made again") == "new"


def test_catalogues_of_two_vaults_keep_nothing_of_each_other(tmp_path: Path) -> None:
    counts = []
    for name, notes in (("one", 3), ("two", 5)):
        root = make(tmp_path / name, notes)
        index = opened(root)
        index.refresh()
        counts.append((index.catalog, index.catalog.counts().notes))
    assert [catalog.counts().notes for catalog, _ in counts] == [count for _, count in counts]
    assert counts[0][1] != counts[1][1]


def test_another_process_changing_the_vault_is_noticed(tmp_path: Path) -> None:
    root = make(tmp_path / "v", 4)
    asking, other = opened(root), opened(root)
    asking.refresh()
    before = asking.catalog.counts().notes
    write(root, "vault/new/note-77.md", note(77))
    other.refresh()
    assert asking.catalog.counts().notes == before + 1
