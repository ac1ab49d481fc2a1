"""How long a memory is an answer: a day alone is through its last instant, and none is over before it began."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.typed import vt
from vault_tool import Vault
from vault_tool.errors import UsageError
from vault_tool.features.recall.recall import Bundle
from vault_tool.mcp.answering import answer
from vault_tool.mcp.tools import Caller
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def vault(tmp_path: Path, clock: FixedClock) -> Vault:
    Vault.init(tmp_path / "v", no_git=True, clock=clock)
    return Vault.open(tmp_path / "v", clock=clock)


def _found(vault: Vault, words: str) -> tuple[int, int, bool]:
    listed = words in vault.core().text
    recalled = vault.recall(words)
    assert isinstance(recalled, Bundle)
    return len(vault.search(words).results), len(recalled.results), listed


@pytest.mark.parametrize("said", ["2026-11-25", " 2026-11-25 "])
def test_a_day_lasts_to_its_end(vault: Vault, clock: FixedClock, said: str) -> None:
    made = vault.remember("The bridge is closed.", kind="decision", title="The bridge is closed", expires=said, importance=0.9)
    assert made.id
    assert _found(vault, "bridge is closed") == (1, 1, True)
    clock.advance(timedelta(hours=11, minutes=59, seconds=59, milliseconds=900))
    assert _found(vault, "bridge is closed") == (1, 1, True)
    clock.advance(timedelta(milliseconds=100))
    assert _found(vault, "bridge is closed") == (0, 0, False)


def test_a_day_in_a_head_that_a_person_wrote(vault: Vault, clock: FixedClock) -> None:
    made = vault.remember("The ferry is cancelled.")
    path = vault.root / made.path
    path.write_text(path.read_text().replace("\n---\n", "\nexpires: 2026-11-26\n---\n", 1))
    clock.advance(timedelta(hours=35, minutes=59))
    assert len(vault.search("ferry").results) == 1
    clock.advance(timedelta(minutes=1))
    assert vault.search("ferry").results == ()
    assert "expires: 2026-11-26\n" in path.read_text()


PAST = (("2020-01-01", None, "2026-11-25T12:00:00"), ("2026-11-24", None, "2026-11-25"),
        ("2026-11-25T11:59:59+00:00", None, "2026-11-25T12:00:00"), ("2024-03-01", "2024-03-02", "2024-03-02"))  # fmt: skip


@pytest.mark.parametrize(("expires", "observed", "own"), PAST)
def test_what_is_over_before_it_begins_is_refused_with_both_dates(
    vault: Vault, expires: str, observed: str | None, own: str
) -> None:
    with pytest.raises(UsageError) as refused:
        vault.remember("The lift is broken.", expires=expires, observed_at=observed)
    assert expires in refused.value.message and own in refused.value.message
    with pytest.raises(UsageError) as refused:
        answer(vault, "remember", {"content": "The lift is broken.", "expires": expires, "observed_at": observed}, Caller())
    assert expires in str(refused.value) and own in str(refused.value)
    with pytest.raises(UsageError, match=re.escape(expires)):
        vault.add_observations([{"content": "The lift is broken.", "expires": expires, "observed_at": observed}])
    assert vault.search("lift").results == ()


def test_a_day_at_every_other_door(vault: Vault) -> None:
    done = vt("--vault", str(vault.root), "remember", "The lift is broken.", "--expires", "2020-01-01")
    assert (done.returncode, "2020-01-01" in done.stderr, done.stdout) == (2, True, "")


def test_what_was_so_for_a_while_long_ago_may_be_told(vault: Vault) -> None:
    made = vault.remember("The old office was in Lyon.", observed_at="2019-01-01", expires="2019-12-31")
    assert "expires: 2019-12-31T23:59:59" in (vault.root / made.path).read_text()
    assert vault.search("office").results == ()
