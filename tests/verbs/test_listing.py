"""Memories without a question: filters that are those of recall, orders, and a cursor that stays right."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.cli.typed import vt
from tests.verbs.looking import START
from vault_tool import Vault
from vault_tool.errors import UsageError
from vault_tool.features.reading.listing import MemoryList
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git

DAY = timedelta(days=1)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(START)


@pytest.fixture
def vault(tmp_path: Path, clock: FixedClock) -> Vault:
    Vault.init(tmp_path / "v", name="lab", no_git=True, clock=clock)
    return Vault.open(tmp_path / "v", person=True, clock=clock)


def _many(vault: Vault, clock: FixedClock, count: int) -> list[str]:
    """The ids of so many memories, a day apart, the newest first."""
    made = []
    for number in range(count):
        made.append(vault.remember(f"Reading number {number} of the gauge.", ["Gauge"], kind="fact").id)
        clock.advance(DAY)
    return made[::-1]


OBSERVED = "observation"


def _ids(found: MemoryList) -> list[str]:
    return [one.id for one in found.results]


def test_the_newest_come_first_and_the_count_is_of_all(vault: Vault, clock: FixedClock) -> None:
    made = _many(vault, clock, 7)
    found = vault.list(record_class=OBSERVED, limit=3)
    assert (_ids(found), found.total) == (made[:3], 7)


def test_parts_meet_though_notes_are_added_and_forgotten_meanwhile(vault: Vault, clock: FixedClock) -> None:
    made = _many(vault, clock, 9)
    first = vault.list(record_class=OBSERVED, limit=4)
    late = vault.remember("A late reading of the gauge.", ["Gauge"], kind="fact").id
    vault.forget(made[5])
    second = vault.list(record_class=OBSERVED, limit=4, after=first.next or "")
    assert _ids(first) + _ids(second) == [one for one in made if one != made[5]]
    assert second.next is None
    assert late not in _ids(second) and _ids(vault.list(limit=1)) == [late]


@pytest.mark.parametrize("sort", ["decay", "utility", "observed"])
def test_every_order_can_be_taken_up_again(vault: Vault, clock: FixedClock, sort: str) -> None:
    made = _many(vault, clock, 6)
    vault.mark_useful(made[4], "It was right.")
    whole = vault.list(record_class=OBSERVED, sort=sort)
    parts, cursor = [], ""
    while True:
        part = vault.list(record_class=OBSERVED, sort=sort, limit=2, after=cursor)
        parts += _ids(part)
        clock.advance(DAY)  # what fades meanwhile changes no place
        if not part.next:
            break
        cursor = part.next
    assert sorted(parts) == sorted(made) and len(parts) == 6
    assert parts[:2] == _ids(whole)[:2]
    if sort == "utility":
        assert parts[0] == made[4]


@pytest.mark.in_git
def test_what_is_history_is_listed_where_it_is_asked_for(vault: Vault, clock: FixedClock) -> None:
    fact = vault.remember("The gauge is read at noon.", ["Gauge"], kind="fact").id
    over = vault.remember("The gauge is broken.", ["Gauge"], kind="fact", expires="2026-11-21").id
    old = vault.create_understanding(["Gauge"], "It is read at noon.", "Noon.").id
    clock.advance(3 * DAY)
    change = vault.remember("It is read at one.", ["Gauge"], kind="change", change_targets=[fact]).id
    new = vault.update_understanding(old, "It is read at one.", "One.").new_understanding_id
    assert set(_ids(vault.list(record_class="observation"))) == {fact, change}
    listed = {one.id: (one.status, one.status_by) for one in vault.list(status="all").results}
    assert (listed[fact], listed[over][0], listed[old]) == (("overtaken", (change,)), "expired", ("superseded", (new,)))
    assert _ids(vault.list(status="overtaken")) == [fact]
    assert _ids(vault.list(status="expired")) == [over]
    assert _ids(vault.list(status="superseded")) == [old]
    assert change in _ids(vault.list(status="current"))


def test_the_filters_of_recall_narrow_a_list_too(vault: Vault, clock: FixedClock) -> None:
    one = vault.remember("Tea, never coffee.", ["Ann"], kind="preference", tags=["kitchen/tea"]).id
    clock.advance(8 * DAY)
    agent = vault.as_(origin="agent", session="s1", model="m-1", project="ferry")
    other = agent.remember("The ferry leaves at nine.", ["Ferry"], kind="fact").id
    assert _ids(vault.list(kinds=["preference"])) == _ids(vault.list(tags=["kitchen"])) == [one]
    assert _ids(vault.list(subject_names=["ferry"])) == _ids(vault.list(project="Ferry")) == [other]
    for who in ("agent", "m-1"):
        assert _ids(vault.list(by=who)) == [other]
    assert _ids(vault.list(session="s1")) == _ids(vault.list(since="this week")) == [other]
    assert _ids(vault.list(record_class=OBSERVED, until="last week")) == [one]
    path = vault.show(one).path
    assert one in _ids(vault.list(folder=path.rpartition("/")[0])) and vault.list(folder="nowhere").total == 0
    assert {found.title for found in vault.list(record_class="subject").results} == {"Ferry", "Ann"}


def test_a_word_of_no_closed_set_is_refused_and_an_unknown_name_says_the_nearest(vault: Vault, clock: FixedClock) -> None:
    _many(vault, clock, 1)
    for given, known in (
        ({"status": "stale"}, "overtaken"),
        ({"sort": "size"}, "decay"),
        ({"record_class": "note"}, "understanding"),
    ):
        with pytest.raises(UsageError) as fault:
            vault.list(**given)  # type: ignore[arg-type]
        assert known in fault.value.hint
    with pytest.raises(UsageError, match="is of type"):
        vault.list(kinds=["fcat"])
    for cursor in ("nonsense", "W10", "é"):
        with pytest.raises(UsageError, match="no cursor"):
            vault.list(after=cursor)
    _many(vault, clock, 2)
    with pytest.raises(UsageError, match="by created"):
        vault.list(sort="decay", after=vault.list(limit=1).next or "")
    found = vault.list(subject_names=["Gague"])
    assert (found.results, found.warnings) == ((), ("no memory has the subject `Gague`: the nearest is `Gauge`",))


def test_the_command_prints_it_and_how_to_go_on(vault: Vault, clock: FixedClock) -> None:
    made = _many(vault, clock, 3)
    printed = vt("--vault", str(vault.root), "list", "--class", "observation", "--limit", "2").stdout
    assert made[0][:6] in printed and made[2][:6] not in printed
    cursor = printed.rpartition("--after ")[2].strip()
    rest = vt("--vault", str(vault.root), "list", "--class", "observation", "--limit", "2", "--after", cursor).stdout
    assert made[2][:6] in rest and "--after" not in rest
