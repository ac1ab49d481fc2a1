from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.cli.typed import vt
from tests.verbs.looking import START, fails
from vault_tool import Vault
from vault_tool.errors import UsageError
from vault_tool.util.clock import FixedClock


@pytest.fixture
def vault(founded_without_git: Path, tmp_path: Path) -> Iterator[Vault]:
    """A vault without git."""
    shutil.copytree(founded_without_git, tmp_path / "lab")
    with Vault.open(tmp_path / "lab", clock=FixedClock(START)) as opened:
        yield opened


def _counts(vault: Vault, prefix: str = "", limit: int = 50) -> list[tuple[str, int, list[tuple[str, int]]]]:
    return [(one.tag, one.count, [(two.tag, two.count) for two in one.beside]) for one in vault.tags(prefix, limit).results]


def test_tags_are_counted_with_what_stands_beside_them(vault: Vault) -> None:
    vault.remember("One.", tags=["redis", "work/lab"])
    vault.remember("Two.", tags=["Redis", "#cache", "Redis"])
    vault.remember("Three.", tags=["redis", "cache"])
    vault.remember("Four.")
    found = vault.tags()
    assert (found.total, found.tagged) == (3, 3)
    assert _counts(vault) == [
        ("redis", 3, [("cache", 2), ("work/lab", 1)]), ("cache", 2, [("redis", 2)]), ("work/lab", 1, [("redis", 1)]),
    ]  # fmt: skip
    assert [one[0] for one in _counts(vault, "WORK")] == ["work/lab"]
    assert _counts(vault, "nothing") == []


def test_only_what_is_still_told_counts(vault: Vault) -> None:
    clock = vault.clock
    assert isinstance(clock, FixedClock)
    vault.remember("Soon over.", tags=["short"], expires="2026-11-21")
    old = vault.create_understanding(["Redis"], "It is a cache.", "A cache.", tags=["cache"])
    vault.update_understanding(old.id, "It is a store.", "A store.")
    assert _counts(vault) == [("cache", 1, []), ("short", 1, [])]
    clock.advance(timedelta(days=2))
    assert _counts(vault) == [("cache", 1, [])]


def test_a_limit_says_how_many_there_are(vault: Vault) -> None:
    for number in range(12):
        vault.remember(f"Note {number}.", tags=[f"t{number:02}", "all"])
    assert [one[0] for one in _counts(vault, limit=2)] == ["all", "t00"]
    assert vault.tags(limit=2).total == 13
    shown = vt("--vault", str(vault.root), "tags", "t", "--limit", "2").stdout
    lines = ["tag  memories  beside it", "t00         1  all 1", "t01         1  all 1"]
    assert shown.splitlines() == [*lines, "2 of 12 tags: --limit shows more, a beginning fewer"]
    with fails(UsageError, "limit must be 1 or more"):
        vault.tags(limit=0)


def test_what_tags_lists_the_filters_take(vault: Vault) -> None:
    made = vault.remember("Quartz.", tags=["Größe/Ü-Wert", "日本 語"])
    for one in vault.tags().results:
        assert [hit.id for hit in vault.search("quartz", tags=[one.tag]).results] == [made.id]


def test_without_tags_it_says_how_to_make_one(vault: Vault) -> None:
    assert "vt remember" in vt("--vault", str(vault.root), "tags").stdout
