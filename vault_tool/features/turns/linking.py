"""The linking pass: what followed what, shared a scene, happened where, was discovered by whom and goes on with which thread."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence

from vault_tool.features.turns.candidates import LOCATION
from vault_tool.features.turns.turn_recall import beat_order
from vault_tool.features.turns.turn_writer import THREAD
from vault_tool.index.timeline import written_of
from vault_tool.model.records import Edge
from vault_tool.model.signals import EpisodeEntry
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util.structs import Struct
from vault_tool.util.text import normal_name, one_line
from vault_tool.vault.context import Context
from vault_tool.vault.operation import Operation, Saved, writing
from vault_tool.vault.request import looks, of_the_whole, verb
from vault_tool.vault.standing import confidence_of

# The types that the pass links.
BEATS = ("relationship_beat", "world_discovery", "thread")

_FINDERS = ("player", "character")
_SHOWN = 80
_SPACE = uuid.UUID("b3c1f5a0-6a57-5b69-8c2d-3f2b8b8c9e77")


class LinkedBeats(Saved, kw_only=True):
    """How many beats were looked at, and how many links were made that were not there."""

    beats: int
    linked: int


class _Link(Struct):
    """One link that follows from the beats."""

    type: str
    start: Entry
    end: Entry
    why: str
    beat: Entry

    @property
    def id(self) -> str:
        """The same in every pass and on every machine, so that no link is made twice."""
        return str(uuid.uuid5(_SPACE, f"{self.type}\n{self.start.id}\n{self.end.id}"))


@verb
@looks
@of_the_whole
def link_beats(vault: Context, *, written: Sequence[str] = ()) -> LinkedBeats:
    """Write the links between beats that are not there yet, as one commit; a second pass with nothing new writes nothing.

    With the ids that were `written` just now, only the beats of their users (or sessions) and worlds are looked at.
    """
    beats = _beats(vault, written)
    if not _missing(vault, beats):
        return LinkedBeats(beats=len(beats), linked=0)
    with writing(vault, "link-beats") as op:
        beats = _beats(vault, written)
        links = _missing(vault, beats)
        for link in links:
            _create(op, link)
        title = f"{len(links)} links between beats" if len(links) != 1 else f"{links[0].start.title} {links[0].type}"
        if links:
            op.log_entry(EpisodeEntry(at=vault.now(), title=title, type="link"))
        saved = op.carry_out(title, [link.id for link in links])
    return LinkedBeats(**saved.fields(), beats=len(beats), linked=len(links))


def _beats(vault: Context, written: Sequence[str]) -> Sequence[Entry]:
    """All beats, or those of the lives that something was just added to."""
    catalog = vault.index.catalog
    if not written:
        return catalog.of_class(RecordClass.OBSERVATION, *BEATS)
    new = [entry for identity in written for entry in catalog.get(identity)]
    lives = dict.fromkeys(
        (beat.text("user"), "" if beat.text("user") else beat.text("session"), beat.text("project")) for beat in new
    )
    memories = (memory for user, session, world in lives for memory in written_of(catalog, user, session, world, most=-1))
    return [memory for memory in memories if memory.type in BEATS]


def _missing(vault: Context, beats: Sequence[Entry]) -> list[_Link]:
    """The links that follow from the beats and that no record is, each once."""
    missing: dict[tuple[str, str, str], _Link] = {}
    for link in _links(vault, beats):
        if link.start.id != link.end.id:
            missing.setdefault((link.type, link.start.id, link.end.id), link)
    catalog = vault.index.catalog
    for start in {link.start.id for link in missing.values()}:
        for _, edge in catalog.pointing_at(start, ("from_id",)):
            missing.pop((edge.type, start, edge.text("to_id")), None)
    return list(missing.values())


def _links(vault: Context, beats: Sequence[Entry]) -> Iterator[_Link]:
    lives: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for beat in sorted(beats, key=beat_order):
        # A user's beats are one life through all sessions; without a user a session is all that is known.
        whose = f"user {beat.text('user')}" if beat.text("user") else f"session {beat.text('session')}"
        if whose != "session ":
            lives[whose, beat.text("project")].append(beat)
    places = _Subjects(vault)
    for life in lives.values():
        yield from _order(life)
        yield from _scenes(life, places)
        yield from _threads(life)
    for beat in beats:
        yield from _anchors(beat, places)


class _Subjects:
    """The subjects of beats by their role, each looked up once."""

    def __init__(self, vault: Context) -> None:
        self._catalog = vault.index.catalog
        self._known: dict[str, Entry | None] = {}

    def of(self, beat: Entry, *roles: str) -> list[Entry]:
        """The subjects of a beat that have one of these roles."""
        subjects = (self._named(normal_name(name)) for name in beat.subjects)
        return [subject for subject in subjects if subject is not None and subject.text("role") in roles]

    def _named(self, normal: str) -> Entry | None:
        if normal not in self._known:
            subjects = self._catalog.subject_named(normal)
            self._known[normal] = subjects[0] if len(subjects) == 1 else None
        return self._known[normal]


def _order(life: Sequence[Entry]) -> Iterator[_Link]:
    """Each beat follows the turn before it in its session; a session's first follows the last that was said elsewhere.

    Beats of one turn are of one moment, and follow the same.
    """
    followed: dict[str, Entry | None] = {}
    last: dict[str, Entry] = {}
    latest: Entry | None = None
    for beat in life:
        session = beat.text("session")
        before = last.get(session)
        if before is None:
            followed[session] = latest
        elif not _one_turn(before, beat):
            followed[session] = before
        earlier = followed[session]
        if earlier is not None:
            same = earlier.text("session") == session
            where = "in the same session" if same else "in another session"
            yield _Link("TEMPORAL_FOLLOWS", beat, earlier, f"{_quoted(beat)} came after {_quoted(earlier)}, {where}.", beat)
        last[session] = latest = beat


def _scenes(life: Sequence[Entry], places: _Subjects) -> Iterator[_Link]:
    """A beat shares its scene with the one that opened it: of one turn, or of one place without having left it."""
    opening: dict[str, Entry] = {}
    before: dict[str, Entry] = {}
    for beat in life:
        session = beat.text("session")
        previous = before.get(session)
        if previous is not None and _one_scene(previous, beat, places):
            first = opening[session]
            why = "one turn" if _one_turn(previous, beat) else "one place"
            yield _Link("SHARED_SCENE_WITH", beat, first, f"{_quoted(beat)} is of {why} with {_quoted(first)}.", beat)
        else:
            opening[session] = beat
        before[session] = beat


def _one_scene(beat: Entry, other: Entry, places: _Subjects) -> bool:
    if _one_turn(beat, other):
        return True
    return bool({place.id for place in places.of(beat, LOCATION)} & {place.id for place in places.of(other, LOCATION)})


def _one_turn(beat: Entry, other: Entry) -> bool:
    return bool(beat.text("turn")) and beat.text("turn") == other.text("turn")


def _threads(life: Sequence[Entry]) -> Iterator[_Link]:
    """A beat that names a thread goes on from the one before it that did, or from the thread itself."""
    last: dict[str, Entry] = {}
    for beat in life:
        named = str(beat.head.get(THREAD) or (beat.title if beat.type == "thread" else ""))
        key = normal_name(named)
        if not key:
            continue
        if key in last:
            yield _Link("CONTINUES_THREAD", beat, last[key], f"{_quoted(beat)} goes on with {one_line(named, _SHOWN)}.", beat)
        last[key] = beat


def _anchors(beat: Entry, places: _Subjects) -> Iterator[_Link]:
    for place in places.of(beat, LOCATION):
        yield _Link("AT_LOCATION", beat, place, f"{_quoted(beat)} happened at {one_line(place.title, _SHOWN)}.", beat)
    if beat.type == "world_discovery":
        finders = places.of(beat, _FINDERS[0]) or places.of(beat, _FINDERS[1])
        for finder in finders:
            yield _Link("DISCOVERED", finder, beat, f"{one_line(finder.title, _SHOWN)} found out: {_quoted(beat)}.", beat)


def _quoted(beat: Entry) -> str:
    return f"“{one_line(beat.title, _SHOWN).rstrip('.')}”"


def _create(op: Operation, link: _Link) -> None:
    """Plan a link, as sure as the less sure of the beats that it was read from, and resting on them and their turn."""
    text_of, turn = link.beat.text, link.beat.text("turn")
    beats = [end for end in (link.start, link.end) if end.record_class is RecordClass.OBSERVATION]
    evidence = (*([f"session:{turn}"] if turn else []), *(f"memory:{beat.id}" for beat in beats))
    op.create(
        Edge(
            id=link.id, type=link.type, body=f"{link.why}\n", from_id=link.start.id, from_title=link.start.title,
            to_id=link.end.id, to_title=link.end.title, created=op.vault.now(), session=text_of("session"), user=text_of("user"),
            project=text_of("project"), origin=text_of("origin"), turn=turn, model=text_of("model"), evidence=evidence,
            confidence=min(confidence_of(beat) for beat in beats),
        )
    )  # fmt: skip
