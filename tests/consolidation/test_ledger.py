from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from vault_tool.consolidation import ledger
from vault_tool.consolidation.ledger import TITLED, Ledger, LedgerLine, SettledPacket

LINES = st.lists(
    st.builds(LedgerLine, st.uuids().map(str), st.text(max_size=40)), unique_by=lambda line: line.id, max_size=5
).map(tuple)

OPEN = Ledger(
    number=3,
    begun="2026-11-20T10:00:00+00:00",
    new=(LedgerLine("a1b2c3d4-e5f6-4890-abcd-ef1234567890", "Fixed `it` | [[here]]\n## Skipped"),),
    packets=("Redis: 1 new of 4",),
    before={"subjects": 2, "observations": 9},
)


def test_an_open_ledger_says_what_is_new_and_counts_before() -> None:
    text = ledger.body(OPEN)
    assert text.startswith("Pass 3, begun 2026-11-20T10:00:00+00:00: 1 new, 1 packet.\n")
    assert "- `a1b2c3d4-e5f6` Fixed 'it' / [ [here]] ## Skipped\n" in text
    assert ledger.read(text) == ledger.ReadLedger(frozenset({"a1b2c3d4-e5f6"}), ended=False, by_packet=False)
    assert ledger.before(text) == {"subjects": 2, "observations": 9}
    assert ledger.packets(text) == ("Redis: 1 new of 4",)


IDS = LINES.map(lambda lines: tuple(line.id for line in lines))
PACKETS = st.lists(st.builds(SettledPacket, label=st.text(max_size=20), ids=IDS), max_size=3).map(tuple)


@given(new=LINES, written=LINES, skipped=PACKETS, data=st.data())
def test_whatever_titles_say_the_ids_are_read_back(
    new: tuple[LedgerLine, ...], written: tuple[LedgerLine, ...], skipped: tuple[SettledPacket, ...], data: st.DataObject
) -> None:
    unread = tuple(data.draw(st.sets(st.sampled_from(new)))) if new else ()
    ended = replace(OPEN, new=new, written=written, skipped=skipped, unread=unread, ended="2026-11-20T11:00:00+00:00")
    kept = ledger.read(ledger.body(ended))
    assert kept.new == {ledger.known(line.id) for line in new} - {ledger.known(line.id) for line in unread}
    assert kept.ended and kept.by_packet
    for one in skipped:
        assert {ledger.known(identity) for identity in one.ids} <= kept.skipped[ledger.packet_name(one.label)]
    assert kept.listed is bool(new)


def test_a_long_list_is_ids_alone_and_read_back_the_same() -> None:
    many = tuple(LedgerLine(f"{number:08x}-0000-4000-8000-{number:012x}", f"Title {number}") for number in range(TITLED + 1))
    text = ledger.body(replace(OPEN, new=many))
    assert "Title 1" not in text
    assert len(ledger.read(text).new) == len(many)
    assert list(ledger.lines(text)) == [ledger.known(line.id) for line in many]


def test_what_was_new_is_kept_to_the_letter_when_the_ledger_is_completed() -> None:
    text = ledger.body(OPEN)
    completed = replace(OPEN, new=(), new_as_written=ledger.new_as_written(text), ended="2026-11-20T11:00:00+00:00")
    assert ledger.new_as_written(ledger.body(completed)) == ledger.new_as_written(text)


def test_a_body_that_a_person_emptied_is_an_ended_pass_without_a_list() -> None:
    assert ledger.read("We talked it over.") == ledger.ReadLedger(frozenset(), ended=True, listed=False, by_packet=False)
