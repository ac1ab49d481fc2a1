"""Decisions on what waits and is no memory: others' tombstones, and a change of the settings by others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime

from vault_tool.errors import Ambiguous
from vault_tool.features.erasing import waiting_tombstones
from vault_tool.features.review.what_waits import Accepted, Waiting
from vault_tool.files import frontmatter, layout, tombstones
from vault_tool.util.clock import stamp
from vault_tool.util.text import one_line
from vault_tool.vault import asked_reviews
from vault_tool.vault.context import Context

# So many letters of an id at least name one.
_FEWEST_LETTERS = 4


def others_waiting(vault: Context) -> Iterator[Waiting]:
    """Tombstones of others and changes of the settings that wait for the owner."""
    for tombstone in waiting_tombstones.waiting(vault):
        yield _shown_tombstone(vault, tombstone)
    yield from _changed_settings(vault)


def decided_tombstones(
    vault: Context, accept: Sequence[str], refuse: Sequence[str], drafts: Callable[[], Iterable[str]]
) -> tuple[tuple[Accepted | str, ...], Sequence[str], Sequence[str]]:
    """Decide on others' tombstones that are named by their ids; what became of each, and the names that mean something else.

    `drafts` gives the ids of the memories that wait, which a name may mean too.
    """
    waits = waiting_tombstones.waiting(vault) if accept or refuse else ()
    if not waits:
        return (), accept, refuse
    ids = list(drafts())

    def means(named: str) -> waiting_tombstones.WaitingTombstone | None:
        matches = list(waiting_tombstones.named(waits, named))
        if matches and any(identity.startswith(named.strip().lower()) for identity in ids):
            raise Ambiguous(f"`{one_line(named, 60)}` could be a tombstone and a memory that waits", "type more of it")
        if len(matches) > 1:
            raise Ambiguous(
                f"`{one_line(named, 60)}` could be {', '.join(tombstone.id for tombstone in matches[:5])}", "type more of it"
            )
        return matches[0] if matches else None

    accepting, refusing = {named: means(named) for named in accept}, {named: means(named) for named in refuse}
    done: list[Accepted | str] = []
    for tombstone in dict.fromkeys(filter(None, accepting.values())):
        waiting_tombstones.accept(vault, tombstone)
        done.append(Accepted(id=tombstone.id, title=f"forgotten: {tombstone.title}", path=tombstones.tombstone(tombstone.id)))
    for tombstone in dict.fromkeys(filter(None, refusing.values())):
        waiting_tombstones.refuse(vault, tombstone)
        done.append(tombstone.id)
    left = [[named for named, match in decisions.items() if match is None] for decisions in (accepting, refusing)]
    return tuple(done), left[0], left[1]


def decided_settings(
    vault: Context, accept: Sequence[str], refuse: Sequence[str]
) -> tuple[list[Accepted | str], Sequence[str], Sequence[str]]:
    """Decide on the change of the settings that waits, where its id is named; what became of it, and the other names."""
    change = asked_reviews.waiting(vault) if accept or refuse else None
    if change is None:
        return [], accept, refuse

    def is_meant(named: str) -> bool:
        return len(named.strip()) >= _FEWEST_LETTERS and change.id.startswith(named.strip().lower())

    done: list[Accepted | str] = []
    if any(map(is_meant, accept)):
        asked_reviews.decide(vault, change, accepted=True)
        done.append(Accepted(id=change.id, title=_loosened(change), path=layout.SETTINGS_FILE))
    elif any(map(is_meant, refuse)):
        asked_reviews.decide(vault, change, accepted=False)
        done.append(change.id)
    return done, [named for named in accept if not is_meant(named)], [named for named in refuse if not is_meant(named)]


def _loosened(change: asked_reviews.Held) -> str:
    return f"no review of {', '.join(change.words)} any more"


def _changed_settings(vault: Context) -> Iterator[Waiting]:
    """The change of the settings that waits, if any: to accept it puts it in force, to refuse it lets the words count on."""
    change = asked_reviews.waiting(vault)
    if change is not None:
        yield Waiting(
            id=change.id, what="settings", record_class="page", type="settings", title=_loosened(change),
            content=f"{layout.SETTINGS_FILE} asked for it, and a commit of {change.author} took it out.", details={}, subjects=(),
            path=layout.SETTINGS_FILE, since=stamp(datetime.fromtimestamp(change.at, UTC)),
            reason="a change by others that asks for less waits for the owner",
            context={"accept": "puts it in force", "refuse": "asks for the review still", "commit": change.commit},
            origin=change.author,
        )  # fmt: skip


def _shown_tombstone(vault: Context, tombstone: waiting_tombstones.WaitingTombstone) -> Waiting:
    """A tombstone as what waits: to accept it forgets the memory, to refuse it keeps the memory."""
    body = frontmatter.read_body(tombstone.text.encode("utf-8", "surrogateescape")).strip("\r\n")
    return Waiting(
        id=tombstone.id,
        what="tombstone",
        record_class=vault.settings.types.spec(tombstone.type).record_class.value if tombstone.type else "page",
        type=tombstone.type,
        title=tombstone.title,
        content=body,
        details={},
        subjects=(),
        path=tombstones.tombstone(tombstone.id),
        since=stamp(datetime.fromtimestamp(tombstone.at, UTC)),
        reason=tombstone.said,
        context={"accept": "forgets it", "refuse": "keeps it", "commit": tombstone.commit},
        origin=tombstone.who,
    )
