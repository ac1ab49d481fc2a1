"""Which files are suspected, which are gone, and when a stat is not to be believed."""

from __future__ import annotations

import pytest

from vault_tool.files.reader import Scan
from vault_tool.index.refresh.diff import DOUBT, compare, is_bulk_loss, trusted_stat

ONE, OTHER = (1, 2, 3, 4), (1, 2, 5, 4)


def test_what_differs_is_suspected_and_what_is_missing_is_gone() -> None:
    known = {"vault": {"a.md": ONE, "b.md": ONE, "c.md": DOUBT}, "vault/old": {"d.md": ONE}}
    scan = Scan({"vault": {"a.md": ONE, "b.md": OTHER, "c.md": ONE}, "vault/new": {"e.md": ONE}})
    changes = compare(known, scan)
    assert dict(changes.suspects) == {"vault/b.md": OTHER, "vault/c.md": ONE, "vault/new/e.md": ONE}
    assert changes.gone == ("vault/old/d.md",)
    assert changes


def test_nothing_differs() -> None:
    assert not compare({"vault": {"a.md": ONE}}, Scan({"vault": {"a.md": ONE}}))


@pytest.mark.parametrize(
    ("mtime", "ctime", "believed"),
    [
        (5_000_000_001, 5_000_000_001, True),
        (9_999_999_999, 5_000_000_001, False),
        (5_000_000_001, 9_999_999_999, False),
        (99_000_000_001, 5_000_000_001, False),
        (9_000_000_000, 9_000_000_000, False),
        (7_000_000_000, 7_000_000_000, True),
    ],
)
def test_a_stat_of_the_moment_of_reading_is_not_believed(mtime: int, ctime: int, believed: bool) -> None:
    stat = (1, mtime, ctime, 1)
    assert trusted_stat(stat, 10_000_000_000) == (stat if believed else DOUBT)


@pytest.mark.parametrize(
    ("gone", "notes", "bulk"),
    [
        (51, 254, True),
        (51, 255, False),
        (50, 60, False),
        (5, 5, True),
        (4, 4, False),
        (4, 5, False),
        (0, 0, False),
        (1000, 1001, True),
    ],
)
def test_losses_in_bulk(gone: int, notes: int, bulk: bool) -> None:
    assert is_bulk_loss(gone, notes) is bulk
