"""The ledger of a pass, which is its file's body: the new memories, those written, those skipped, and counts before and after."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import field

from vault_tool.util.structs import Struct
from vault_tool.util.text import counted, normal_name, one_line

# Characters of an id in a ledger: 48 bits, enough to tell all notes of one vault apart.
SHOWN_ID = 13

# A list of at most so many lines shows titles; a longer list shows ids alone.
TITLED = 200

_PER_LINE = 8

# The normalised names of a packet's subjects, in their order.
PacketName = tuple[str, ...]

_NEW, _UNREAD = "## New", "## Not read"
_SETTLED, _SKIPPED = "## Settled", "## Skipped"
_ENDED = "Ended "
_ENTRY = re.compile(r"(- `([0-9a-f]{8}-[0-9a-f]{4})`) (.*?)(\r?)", re.ASCII)
_IDS_AT_END = re.compile(r":(?: `[0-9a-f]{8}-[0-9a-f]{4}`)*\r?$", re.ASCII)
_ID = re.compile(r"`([0-9a-f]{8}-[0-9a-f]{4})`", re.ASCII)


class LedgerLine(Struct):
    """One memory in a ledger: its id and title."""

    id: str
    title: str


class SettledPacket(Struct):
    """A packet that was settled: its label, and the ids of the memories that it showed."""

    label: str
    ids: tuple[str, ...]


class Ledger(Struct, kw_only=True):
    """The record of a pass; while the pass is open it has only the new memories, the packets and the counts before.

    `packets` and `left` are lines for people. An understanding was written for each packet of `settled`; those of `skipped`
    gave no reason for one. `superseded` lists the understandings that the pass replaced. `unread` are the new memories of
    packets neither settled nor skipped: they stay new. `new_as_written` are the lines about new memories from an earlier state
    of the ledger, to be copied unchanged.
    """

    number: int
    begun: str
    new: tuple[LedgerLine, ...]
    packets: tuple[str, ...]
    before: Mapping[str, int]
    ended: str = ""
    written: tuple[LedgerLine, ...] = ()
    superseded: tuple[LedgerLine, ...] = ()
    settled: tuple[SettledPacket, ...] = ()
    skipped: tuple[SettledPacket, ...] = ()
    left: tuple[str, ...] = ()
    unread: tuple[LedgerLine, ...] = ()
    after: Mapping[str, int] = field(default_factory=dict)
    new_as_written: tuple[str, ...] = ()


class ReadLedger(Struct):
    """The part of a ledger that the tool reads back: the prefixes of the ids that the pass took in, and whether it is ended.

    `listed` is false for a ledger without a list of new memories, as another program may write it. `unread` are the memories
    that stayed new. `settled` and `skipped` have the memories that each packet showed; `by_packet` is false for a ledger
    without packets.
    """

    new: frozenset[str]
    ended: bool
    listed: bool = True
    unread: frozenset[str] = frozenset()
    settled: Mapping[PacketName, frozenset[str]] = field(default_factory=dict)
    skipped: Mapping[PacketName, frozenset[str]] = field(default_factory=dict)
    by_packet: bool = True


def body(ledger: Ledger) -> str:
    """The ledger as markdown."""
    return "\n".join(_lines(ledger)) + "\n"


def read(text: str) -> ReadLedger:
    """Read a ledger's body. If a person emptied it, the result is empty and the pass counts as ended."""
    lines = text.split("\n")
    begun = any(line.startswith("Pass ") for line in lines)
    ended = any(line.startswith(_ENDED) for line in lines) or not begun
    unread = _ids(lines, _UNREAD)
    return ReadLedger(
        _ids(lines, _NEW) - unread,
        ended,
        _NEW in lines,
        unread,
        _by_packet(lines, _SETTLED),
        _by_packet(lines, _SKIPPED),
        _SETTLED in lines,
    )


def packet_name(label: str) -> PacketName:
    """The normalised names of a packet's subjects, read from its label in a ledger."""
    return tuple(sorted(normal_name(part) for part in _safe(label).split("×")))


def known(identity: str) -> str:
    """The prefix of an id that a ledger keeps."""
    return identity[:SHOWN_ID]


def before(text: str) -> dict[str, int]:
    """The counts that a ledger began with."""
    rows = (line.strip("| ").split("|") for line in _section(text.split("\n"), "## Counts"))
    return {row[0].strip(): int(row[1]) for row in rows if len(row) >= 2 and row[1].strip().isdecimal()}


def packets(text: str) -> tuple[str, ...]:
    """The labels of a ledger's packets."""
    return tuple(line.removeprefix("- ") for line in _section(text.split("\n"), "## Packets") if line.startswith("- "))


def lines(text: str) -> tuple[str, ...]:
    """The prefixes of the ids of new memories, in the ledger's order."""
    return tuple(match for line in _section(text.split("\n"), _NEW) for match in _ID.findall(line))


def new_as_written(text: str) -> tuple[str, ...]:
    """The lines of a ledger about new memories."""
    return tuple(line for line in _section(text.split("\n"), _NEW) if line.strip())


def redacted(data: bytes, ids: Collection[str], is_forgotten_title: Callable[[str], bool]) -> bytes:
    """A ledger without the titles of forgotten memories: lines with one of `ids` or a forgotten title keep only the id."""
    gone_ids = frozenset(map(known, ids))
    lines = []
    # Decoding and encoding keep the bytes of a name that is not UTF-8.
    for line in data.decode("utf-8", "surrogateescape").split("\n"):
        entry = _ENTRY.fullmatch(line)
        gone = entry is not None and (entry[2] in gone_ids or is_forgotten_title(entry[3]))
        lines.append(f"{entry[1]} forgotten{entry[4]}" if entry is not None and gone else line)
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def _ids(lines: Sequence[str], heading: str) -> frozenset[str]:
    return frozenset(match for line in _section(lines, heading) for match in _ID.findall(line))


def _lines(ledger: Ledger) -> Iterator[str]:
    yield f"Pass {ledger.number}, begun {ledger.begun}: {len(ledger.new)} new, {counted(len(ledger.packets), 'packet')}."
    if ledger.ended:
        yield ""
        yield f"{_ENDED}{ledger.ended}: {len(ledger.written)} written, {len(ledger.superseded)} superseded."
    yield from ("", "## Counts", "", "| | before | after |", "|---|---|---|")
    yield from (f"| {name} | {count} | {ledger.after.get(name, '')} |" for name, count in ledger.before.items())
    yield from ("", _NEW, "", *ledger.new_as_written) if ledger.new_as_written else _listed(_NEW, ledger.new)
    yield from _bullets("## Packets", ledger.packets)
    yield from _listed("## Written", ledger.written)
    yield from _listed("## Superseded", ledger.superseded)
    if ledger.ended:
        yield from ("", _SETTLED)
    yield from _packets(ledger.settled)
    if ledger.skipped:
        yield from ("", _SKIPPED)
    yield from _packets(ledger.skipped)
    yield from _bullets("## Left", ledger.left)
    yield from _listed(_UNREAD, ledger.unread)


def _listed(heading: str, entries: Sequence[LedgerLine]) -> Iterator[str]:
    if not entries:
        return
    yield from ("", heading, "")
    if len(entries) <= TITLED:
        yield from (f"- `{known(entry.id)}` {_safe(entry.title)}" for entry in entries)
        return
    for start in range(0, len(entries), _PER_LINE):
        yield " ".join(f"`{known(entry.id)}`" for entry in entries[start : start + _PER_LINE])


def _packets(packets: Sequence[SettledPacket]) -> Iterator[str]:
    if packets:
        yield ""
    for packet in packets:
        ids = [f"`{known(identity)}`" for identity in packet.ids]
        yield f"- {_safe(packet.label)}: {' '.join(ids[:_PER_LINE])}".rstrip()
        for start in range(_PER_LINE, len(ids), _PER_LINE):
            yield f"  {' '.join(ids[start : start + _PER_LINE])}"


def _by_packet(lines: Sequence[str], heading: str) -> dict[PacketName, frozenset[str]]:
    """The ids of each packet below a heading. A line of an older ledger has a label without ids: an empty set."""
    ids_by_packet: dict[PacketName, set[str]] = {}
    name: PacketName = ()
    for line in _section(lines, heading):
        if line.startswith("- "):
            name = packet_name(_IDS_AT_END.sub("", line[2:]))
            ids_by_packet.setdefault(name, set())
        if name:
            ids_by_packet[name].update(_ID.findall(line))
    return {name: frozenset(ids) for name, ids in ids_by_packet.items()}


def _bullets(heading: str, texts: Iterable[str]) -> Iterator[str]:
    bullets = [f"- {_safe(text)}" for text in texts]
    if bullets:
        yield from ("", heading, "", *bullets)


def _section(lines: Sequence[str], heading: str) -> Sequence[str]:
    if heading not in lines:
        return ()
    start = lines.index(heading) + 1
    end = next((at for at in range(start, len(lines)) if lines[at].startswith("## ")), len(lines))
    return lines[start:end]


def _safe(text: str) -> str:
    """A title on one line, without the characters that mark an id, a link or a table cell in a ledger."""
    return one_line(text, 120).replace("`", "'").replace("[[", "[ [").replace("|", "/")
