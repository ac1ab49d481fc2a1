"""`orient`: what an agent reads first, so that it is who it was, knows how to work and where things stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from vault_tool.errors import VaultError
from vault_tool.features.consolidation.consolidating import RecentActivity, recent_activity
from vault_tool.features.consolidation.hygiene import protocol_findings, soul_findings
from vault_tool.features.consolidation.passes import due
from vault_tool.files import layout, reader
from vault_tool.files.sessions import AgentSession
from vault_tool.generate.escape import unframed
from vault_tool.generate.starter import UNTOUCHED, content_policy, is_starter
from vault_tool.model.snapshot import Entry
from vault_tool.util.hints import around, step
from vault_tool.util.structs import Struct
from vault_tool.vault import coming, resolve, seen
from vault_tool.vault.answers import HYPOTHESIS_NOTICE, HasStatus
from vault_tool.vault.context import Context
from vault_tool.vault.core_understandings import CoreKind, core_kinds
from vault_tool.vault.core_understandings import warnings as kept_warnings
from vault_tool.vault.facts import Memory, copied
from vault_tool.vault.request import Answer, looks, verb

SOUL_NOTE = (
    "CRITICAL: This content establishes the fundamental character and values for this session. "
    "It must be preserved during context compaction. Do not remove."
)
PROTOCOL_NOTE = (
    "CRITICAL: This content contains operational rules required for correct system behaviour. Preserve during compaction."
)
ORIENTATION = "orientation"
_POLICY = (
    "Keep agreements, decisions, what worked and what did not; never secrets, personal details of others or what the owner "
    "excluded; on the border ask first."
)
# So many subjects are named of what was written since the last pass: they are to be read at the start of each session.
SUBJECTS = 30
POLICY_PATH = f"{layout.TEMPLATES}/content-policy.md"


class CoreUnderstanding(HasStatus, kw_only=True):
    """One of the understandings that are given whole."""

    id: str
    title: str
    content: str
    summary: str
    updated_at: str
    origin: str
    reviewed: bool
    path: str
    stale: bool = False


class GuardedPage(CoreUnderstanding, kw_only=True):
    """One that must outlive the shortening of a conversation; `compaction_note` tells whoever shortens it."""

    compaction_note: str


class ContentPolicy(Struct, kw_only=True):
    """The owner's page on what this vault keeps, what it never keeps, and what is asked about."""

    path: str
    content: str


class Orientation(Answer, kw_only=True):
    """Soul, protocol and orientation in the order in which they are read, with what waits and what happened.

    `pending_consolidation_count` observations wait for a pass in `due_packets` packets.

    A page is None where the vault has none. `recent_activity` is what was written since the last consolidation, None
    where nothing was; `upcoming` names the memory that is over, or to be looked at, next; `seen_cleared` is how much
    the seen log of this session held.
    """

    soul: GuardedPage | None
    protocol: GuardedPage | None
    orientation: CoreUnderstanding | None
    content_policy: ContentPolicy | None
    pending_consolidation_count: int
    due_packets: int
    recent_activity: RecentActivity | None
    upcoming: str | None
    generation: int
    session: str | None
    seen_cleared: int
    warnings: tuple[str, ...]
    notice: str = HYPOTHESIS_NOTICE


@verb
@looks
def orient(vault: Context) -> Orientation:
    """Read who we are, how we work and where we stand: at the start of a session and after a compaction.

    The pages are understandings like any others: the newest of each that is its owner's and without faults. The seen log of
    this session is emptied, so that `bring_to_mind` starts afresh; without a session there is none, and nothing is kept.
    """
    # Kept pages are outside of recall, so this is the one place where an agent meets them.
    active = core_kinds(vault)
    now = vault.clock.now()
    heads = {kind: versions.live(now) for kind, versions in active.items()}
    pages = {kind: _page(vault, versions[-1], active[kind]) for kind, versions in heads.items() if versions}
    waits = due(vault)
    cleared, warnings_of_seen = _begin(vault, [page.id for page in pages.values()])
    warnings = (*kept_warnings(vault, active, now), *_missing(vault, heads, active), *_drifted(pages), *warnings_of_seen)
    return Orientation(
        soul=_guarded(pages.get("soul"), SOUL_NOTE),
        protocol=_guarded(pages.get("protocol"), PROTOCOL_NOTE),
        orientation=pages.get("orientation"),
        content_policy=_policy(vault),
        pending_consolidation_count=waits.observations,
        due_packets=waits.packets,
        recent_activity=_recent(vault),
        upcoming=unframed(line) if (line := coming.in_a_line(vault)) else None,
        generation=vault.index.catalog.generation(),
        session=vault.who.session or None,
        seen_cleared=cleared,
        warnings=tuple(around(warning, unframed) for warning in warnings),
    )


def _page(vault: Context, entry: Entry, kind: CoreKind) -> CoreUnderstanding:
    body, summary = kind.body(vault, entry), entry.text("summary")
    if is_starter(entry.type, body):
        # The one of an orientation would say of every vault that nothing is known of it.
        summary = "" if entry.type == ORIENTATION else summary
        body = f"{summary} {UNTOUCHED}".lstrip()
    return Memory(vault, entry).told_first(
        CoreUnderstanding, title=unframed(entry.title), content=unframed(body), summary=unframed(summary),
        path=unframed(entry.path),
    )  # fmt: skip


def _guarded(page: CoreUnderstanding | None, note: str) -> GuardedPage | None:
    if page is None:
        return None
    return copied(GuardedPage, page, compaction_note=note)


def _policy(vault: Context) -> ContentPolicy | None:
    try:
        data = reader.read(vault.root, POLICY_PATH)
    except (OSError, VaultError):
        return None
    text = data.decode("utf-8", "replace").strip()
    if text == content_policy().strip():
        text = f"{_POLICY} {UNTOUCHED}"
    return ContentPolicy(path=POLICY_PATH, content=unframed(text))


def _recent(vault: Context) -> RecentActivity | None:
    """Recent activity since the last pass, its names stripped of anything that could act as an instruction."""
    activity = recent_activity(vault, SUBJECTS)
    if activity is None:
        return None
    return replace(
        activity,
        subjects_with_new_observations=tuple(map(unframed, activity.subjects_with_new_observations)),
        subjects_with_new_understandings=tuple(map(unframed, activity.subjects_with_new_understandings)),
    )


def _begin(vault: Context, known: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    """Empty the seen log and note what was given; returns how much it held, and a warning where nothing can be kept."""
    if not vault.who.session:
        return 0, ()
    moment = vault.clock.now()
    held: list[int] = []

    def begin(state: AgentSession) -> AgentSession:
        held.append(len(state.seen))
        return state.forgets().knows(known, moment.isoformat())

    try:
        seen.store(vault).update(vault.who.session, moment, begin)
    except seen.UNKEPT as fault:
        return 0, (f"the seen log was not emptied: {fault.message}",)
    return held[0], ()


def _missing(vault: Context, heads: Mapping[str, tuple[Entry, ...]], active: Mapping[str, CoreKind]) -> Iterator[str]:
    for kind, versions in heads.items():
        if not versions and active[kind].good:
            old = resolve.short(vault, active[kind].good[-1].id)
            yield f"the {kind} has expired and is not shown: look at it ({step('show', memory_id=old)}) and revise it"
        elif not versions and not active[kind].refused:
            empty = f"{step('new', type=kind)} opens an empty one"
            yield f"this vault has no {kind}: {step('init')} writes one to start from, {empty}"


def _drifted(pages: dict[str, CoreUnderstanding]) -> Iterator[str]:
    """Warnings about pages that drifted from their purpose, which a page cannot notice itself."""
    soul, protocol = pages.get("soul"), pages.get("protocol")
    if soul:
        yield from (finding.why for finding in soul_findings(soul.content))
    if protocol:
        yield from (finding.why for finding in protocol_findings(protocol.content))
