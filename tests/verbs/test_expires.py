"""How long a memory is an answer: a day alone is through its last instant, and none is over before it began."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

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


# The fields that say an end, and the one that says when to look again: all are read alike.
FIELDS = ("expires", "until", "review_by")
PAST = (("2020-01-01", None, "2026-11-25T12:00:00"), ("2026-11-24", None, "2026-11-25"),
        ("2026-11-25T11:59:59+00:00", None, "2026-11-25T12:00:00"), ("2024-03-01", "2024-03-02", "2024-03-02"))  # fmt: skip


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(("end", "observed", "own"), PAST)
def test_what_is_over_before_it_begins_is_refused_with_both_dates(
    vault: Vault, field: str, end: str, observed: str | None, own: str
) -> None:
    said: dict[str, Any] = {field: end, "observed_at": observed}
    with pytest.raises(UsageError) as refused:
        vault.remember("The lift is broken.", **said)
    assert end in refused.value.message and own in refused.value.message and field in refused.value.message
    with pytest.raises(UsageError) as refused:
        answer(vault, "remember", {"content": "The lift is broken.", **said}, Caller())
    assert end in str(refused.value) and own in str(refused.value)
    with pytest.raises(UsageError, match=re.escape(end)):
        vault.add_observations([{"content": "The lift is broken.", **said}])
    assert vault.search("lift").results == ()


@pytest.mark.parametrize("field", FIELDS)
def test_a_day_at_every_other_door(vault: Vault, field: str) -> None:
    done = vt("--vault", str(vault.root), "remember", "The lift is broken.", f"--{field.replace('_', '-')}", "2020-01-01")
    assert (done.returncode, "2020-01-01" in done.stderr, done.stdout) == (2, True, "")


@pytest.mark.parametrize("field", FIELDS)
def test_an_edit_that_ends_it_before_its_time_stays_out_of_history(vault: Vault, field: str) -> None:
    made = vault.remember("The lift is broken.")

    def end(path: Path) -> None:
        path.write_text(path.read_text().replace("\n---\n", f"\n{field}: 2020-01-01\n---\n", 1))

    edited = vault.edit(made.id, end)
    assert edited.attention and "2020-01-01" in edited.problems[0].message and "2026-11-25" in edited.problems[0].message
    text = vault.show(made.id, source=True).source
    assert text is not None
    told = [problem for problem in vault.doctor().problems if problem.code == "ends-before-its-time"]
    assert ["2020-01-01" in problem.message for problem in told] == [True]


def test_the_first_of_two_ends_counts(vault: Vault, clock: FixedClock) -> None:
    vault.remember("The ferry is cancelled.", expires="2026-12-31", until="2026-11-25")
    clock.advance(timedelta(days=1))
    assert vault.search("ferry").results == ()
    assert vault.list(status="expired").total == 1


@pytest.mark.parametrize("end", ["9999-12-31", "9999-12-31T23:59:59+00:00"])
@pytest.mark.parametrize("name", ["expires", "until", "review_by"])
def test_an_end_at_the_end_of_all_time_is_no_end(vault: Vault, name: str, end: str) -> None:
    """Other tools write the last day that there is for what never ends."""
    kept = vault.remember("The kiosk opens at nine.", kind="fact")
    path = vault.root / kept.path
    path.write_text(path.read_text().replace("type: fact", f"type: fact\n{name}: {end}"))
    vault.fresh()
    assert vault.show(kept.id).status == "current"
    assert kept.id in [result.id for result in vault.search("kiosk opens").results]
    assert not [problem for problem in vault.doctor().problems if problem.path == kept.path and "hand" not in problem.code]
    assert vault.upcoming("14d").total == 0
    vault.export_as("okf", vault.root.parent / "bundle")


def test_an_end_of_no_time_is_refused(vault: Vault) -> None:
    for field in FIELDS:
        with pytest.raises(UsageError, match=f"{field} `soon` is not a time"):
            vault.remember("The lift is broken.", **{field: "soon"})  # type: ignore[arg-type]


def _rewrite(path: Path, old: str, new: str) -> None:
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_a_look_on_its_day_or_later_renews_it_and_a_use_does_not(vault: Vault, clock: FixedClock) -> None:
    made = vault.remember("The key is under the mat.", review_by="2026-11-27").id
    owner = Vault.open(vault.root, person=True, clock=clock)

    def told() -> list[str]:
        return [mark.why for mark in owner.show(made).marks if mark.mark == "review_due"]

    assert told() == []
    clock.advance(timedelta(days=3))
    assert told() == ["nobody looked since 2026-11-25"]
    owner.get(made)
    owner.mark_useful(made, "It was there.")
    assert told() == ["nobody looked since 2026-11-25"]
    owner.edit(made, lambda path: _rewrite(path, "the mat.", "the blue mat."))
    assert told() == []
    owner.edit(made, lambda path: _rewrite(path, "2026-11-27", "2026-12-01"))
    clock.advance(timedelta(days=10))
    assert told() == ["nobody looked since 2026-11-28"]


def test_what_was_so_for_a_while_long_ago_may_be_told(vault: Vault) -> None:
    made = vault.remember("The old office was in Lyon.", observed_at="2019-01-01", expires="2019-12-31")
    assert "expires: 2019-12-31T23:59:59" in (vault.root / made.path).read_text()
    assert vault.search("office").results == ()
