"""What a process keeps of a catalogue in memory is what the catalogue says, whatever changes and whoever changes it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.git_repos import write
from tests.index.vaults import SESSIONS, change, identity, make, note, opened
from vault_tool.index import entry_cache
from vault_tool.index.catalog import Catalog
from vault_tool.index.timeline import sessions


def _ask_often(catalog: Catalog) -> None:
    """Ask for what is not there until it pays to keep everything."""
    for number in range(entry_cache._OFTEN):
        catalog.cached_by_paths([f"vault/nothing-{number}.md"])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("often", [False, True])
def test_kept_entries_are_as_the_catalogue_has_them_after_anychange(tmp_path: Path, seed: int, often: bool) -> None:
    chance = random.Random(seed)
    root = make(tmp_path / "v", 24)
    asking, other = opened(root), opened(root)
    seen: set[str] = set()
    ids: set[str] = set()
    asking.refresh()
    if often:
        _ask_often(asking.catalog)
    for _ in range(12):
        for _ in range(chance.randrange(1, 4)):
            change(root, chance)
        (asking if chance.random() < 0.5 else other).refresh()
        catalog = asking.catalog
        seen.update(path for path, _ in catalog.rows("SELECT path, 1 FROM entries"))
        some = chance.sample(sorted(seen), chance.randrange(1, len(seen)))
        assert catalog.cached_by_paths(some) == catalog.by_paths(some)
        ids.update(found for found, _ in catalog.rows("SELECT id, 1 FROM entries"))
        assert all(catalog.cached_by_id(one) == catalog.get(one) for one in ids)
        assert catalog.cached_of_sessions(SESSIONS) is not None or not often
        assert sessions(catalog, SESSIONS) == sessions(opened(root).catalog, SESSIONS)


def test_who_asks_again_keeps_all_of_a_small_vault_and_what_changes_is_read_alone(tmp_path: Path) -> None:
    root = make(tmp_path / "v", 12)
    index = opened(root)
    index.refresh()
    catalog = index.catalog
    _ask_often(catalog)
    assert catalog.cached_of_sessions(()) == {}
    before = catalog.cached_by_paths(["vault/readme.md", "vault/edges/one.md"])
    assert [entry.id for entry in before.values()] == [identity(920)]
    write(root, "vault/new/note-77.md", note(77, session="s9"))
    index.refresh()
    after = catalog.cached_by_paths(["vault/edges/one.md", "vault/new/note-77.md"])
    assert after["vault/edges/one.md"] is before["vault/edges/one.md"]
    assert after["vault/new/note-77.md"].id == identity(77)
    assert [entry.path for entry in (catalog.cached_of_sessions(["s9", "none"]) or {})["s9"]] == ["vault/new/note-77.md"]


def test_of_a_large_vault_those_are_kept_that_were_asked_for_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry_cache, "_MOST", 8)
    root = make(tmp_path / "v", 24)
    index = opened(root)
    index.refresh()
    catalog = index.catalog
    _ask_often(catalog)
    paths = sorted(path for path, _ in catalog.rows("SELECT path, 1 FROM entries"))
    for at in range(len(paths) - 5):
        some = paths[at : at + 5]
        assert catalog.cached_by_paths(some) == catalog.by_paths(some)
        assert len(catalog._entries_in_memory()._entries) <= 8
    assert catalog.cached_by_paths(paths) == catalog.by_paths(paths)
    assert catalog.cached_of_sessions(SESSIONS) is None


def test_a_session_longer_than_may_be_looked_up_at_once_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make(tmp_path / "v", 2)
    for number in range(100, 112):
        write(root, f"vault/new/note-{number}.md", note(number, session="long" if number < 110 else "short", turn=str(number)))
    monkeypatch.setattr("vault_tool.index.timeline._MOST", 5)
    index = opened(root)
    index.refresh()
    found = sessions(index.catalog, ["long", "short"])
    assert len(found["long"].order) == 5
    assert found["short"].order == ("vault/new/note-110.md", "vault/new/note-111.md")
    assert found["short"].around("vault/new/note-110.md", 2) == ("vault/new/note-111.md",)
    assert found["short"].around("vault/new/note-100.md", 2) == ()
