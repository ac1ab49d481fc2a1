"""Soul, protocol and orientation: which of each kind is served, and why another is not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from msgspec import field
from msgspec.structs import replace

from vault_tool.errors import GitError
from vault_tool.files import frontmatter
from vault_tool.files.layout import VAULT
from vault_tool.index.authorship import brought_to, owners_texts
from vault_tool.index.catalog import UNREADABLE
from vault_tool.index.refresh.reading import Seen, understand
from vault_tool.index.visibility import Request, visible
from vault_tool.model.authority import Effect, authority, by_origin, replacing
from vault_tool.model.problems import Severity
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import KEPT_TYPES, RecordClass
from vault_tool.util.structs import Struct
from vault_tool.util.text import with_article
from vault_tool.vault import another_address, resolve
from vault_tool.vault.answers import body_of
from vault_tool.vault.context import Context

# Where `init` and `new` put them: anywhere else a file counts while its head says what it is.
_USUAL = f"{VAULT}/understandings/*.md"


class CoreKind(Struct):
    """The understandings of one such type: `good` ones that nothing good replaces, the newest last; and what is not served.

    `refused` says of the files of the others why not: somebody else's commit brought them, or they have faults. In place
    of such a file its owner's last good text is among the good ones; its body is in `texts`, by path.
    """

    good: tuple[Entry, ...]
    refused: Mapping[str, str]
    texts: Mapping[str, str] = field(default_factory=dict)

    def live(self, moment: datetime) -> tuple[Entry, ...]:
        """The good ones whose time is not over; the last is the one that is served."""
        return tuple(entry for entry in self.good if visible(entry, Request(now=moment), "observed") is None)

    def body(self, vault: Context, entry: Entry) -> str:
        """The text of a good one."""
        return self.texts[entry.path] if entry.path in self.texts else body_of(vault, entry)


def core_kinds(vault: Context) -> dict[str, CoreKind]:
    """Each of the types with what is served of it; a replacement counts only where it can itself be served."""
    catalog = vault.index.catalog
    by_kind = {kind: catalog.of_class(RecordClass.UNDERSTANDING, kind) for kind in KEPT_TYPES}
    faults = {entry.path: fault for entries in by_kind.values() for entry in entries if (fault := _fault(vault, entry))}
    if not all(any(entry.path not in faults for entry in entries) for entries in by_kind.values()):
        # Others may have made something else of the one that there was.
        faults |= _made_over(vault)
    instead = _last_good(vault, faults)
    for kind, entries in by_kind.items():
        faults |= _given_way(vault, [entry for entry in entries if entry.path not in faults], kind, instead)
    return {kind: _kind(kind, entries, faults, instead) for kind, entries in by_kind.items()}


def _given_way(
    vault: Context, entries: Sequence[Entry], kind: str, instead: Mapping[str, tuple[Entry, str]]
) -> dict[str, str]:  # fmt: skip
    """Those of trusted people that are not served, for there is one of this vault's own."""
    theirs = [entry for entry in entries if entry.pulled]
    seen = vault.index.catalog.reviewed_at(theirs) if theirs else {}
    waiting = {entry.path: f"because its origin is {entry.origin}" for entry in theirs if entry.path not in seen}
    own = len(waiting) < len(entries) or any(entry.type == kind for entry, _ in instead.values())
    return waiting if own else {}


def warnings(vault: Context, kinds: Mapping[str, CoreKind], moment: datetime) -> tuple[str, ...]:
    """Matters for the owner to settle: more than one of a kind, and pages that are not served.

    In a vault that is all by one other person, as after a clone, the pages of theirs are one matter and not three.
    """
    warned = []
    author = another_address.author(vault) if not kinds["soul"].good else ""
    theirs: list[str] = []
    for kind, entries in kinds.items():
        live = entries.live(moment)
        if len(live) > 1:
            ids = ", ".join(resolve.short(vault, entry.id) for entry in live)
            warned.append(
                f"there are {len(live)} of {kind} ({ids}), and the newest is served: write one that supersedes them all"
            )
        for path, reason in entries.refused.items():
            if author and path not in entries.texts and reason.endswith(f"<{author}>)"):
                theirs += [kind] if kind not in theirs else []
                continue
            last = "; its owner's last good text of it is" if path in entries.texts else ""
            warned.append(f"{with_article(kind)} is not served, {reason}{last}: look at {path}")
    if author:
        kinds_of_theirs = " or ".join(filter(None, [", ".join(theirs[:-1]), *theirs[-1:]]))
        left = f"; until then no {kinds_of_theirs} of theirs is served" if theirs else ""
        warned.insert(0, f"{another_address.question(vault)}{left}")
    return tuple(warned)


def _kind(kind: str, entries: Sequence[Entry], faults: Mapping[str, str], instead: Mapping[str, tuple[Entry, str]]) -> CoreKind:
    earlier = [entry for entry, _ in instead.values() if entry.type == kind]
    good = [*(entry for entry in entries if entry.path not in faults), *earlier]
    replaces = {entry.id: entry.texts("supersedes") for entry in (*entries, *earlier)}
    replaced = set[str]().union(*(_all_replaced(entry.id, replaces) for entry in good))
    heads = sorted((entry for entry in good if entry.id not in replaced), key=lambda entry: entry.created_sort_key)
    # What a good one replaced is settled, and what another bad one replaced need not be named as well.
    bad = [entry for entry in entries if entry.path in faults]
    settled = replaced.union(*(_all_replaced(entry.id, replaces) for entry in bad))
    refused = {entry.path: faults[entry.path] for entry in (*bad, *earlier) if entry.id not in settled}
    return CoreKind(tuple(heads), refused, {path: body for path, (entry, body) in instead.items() if entry.type == kind})


def _all_replaced(identity: str, replaces: Mapping[str, Sequence[str]]) -> set[str]:
    """All that one replaces, also by way of others; itself never, though they name each other in a circle."""
    replaced: set[str] = set()
    waiting = [*replaces.get(identity, ())]
    while waiting:
        other = waiting.pop()
        if other != identity and other not in replaced:
            replaced.add(other)
            waiting.extend(replaces.get(other, ()))
    return replaced


def _made_over(vault: Context) -> dict[str, str]:
    """The files that may have held such a page before another person's commit, and the fault of each now."""
    catalog = vault.index.catalog
    reasons = {path: "because its head cannot be read" for path in catalog.of_kind(UNREADABLE) if catalog.by_path(path) is None}
    for path, author in brought_to(catalog, _USUAL):
        entry = catalog.by_path(path)
        if entry is None or entry.pulled:
            reasons.setdefault(path, f"because its origin is {author}")
    return reasons


def _last_good(vault: Context, paths: Collection[str]) -> dict[str, tuple[Entry, str]]:
    """The owner's last text without faults of each file that had one of these types in it, with its body."""
    last_good: dict[str, tuple[Entry, str]] = {}
    if vault.repo is None or not paths:
        return last_good
    forgotten = vault.forgotten()
    with suppress(GitError):
        for path, texts in owners_texts(vault.repo, vault.index.catalog, vault.owners(), paths).items():
            read = (understand(path, data, (len(data), 0, 0, 0), vault.settings.types) for data in texts)
            good = ((parsed, data) for parsed, data in zip(read, texts, strict=False) if not _has_errors(parsed))
            parsed_file, data = next(good, (None, b""))
            # What its owner made something else of is not that any more.
            entry = parsed_file.entry if parsed_file is not None else None
            is_kept = entry is not None and entry.record_class is RecordClass.UNDERSTANDING and entry.type in KEPT_TYPES
            if entry is not None and is_kept and entry.id not in forgotten and not _waits(entry):
                last_good[path] = replace(entry, stale=True), frontmatter.read_body(data).strip("\r\n")
    return last_good


def _has_errors(parsed: Seen) -> bool:
    return any(problem.severity is Severity.ERROR for problem in parsed.problems)


def _waits(entry: Entry) -> bool:
    """Whether its writer may not write one of its type before the owner has seen it."""
    return authority(replacing(entry.type), by_origin(entry.origin)) is not Effect.ALLOWED


def _fault(vault: Context, entry: Entry) -> str:
    """Why it is not served; empty when it is."""
    if _waits(entry) and not vault.index.catalog.reviewed_at([entry]):
        return f"because its origin is {entry.origin}{'' if entry.pulled else ' and its owner did not review it'}"
    if sum(not twin.pulled for twin in vault.index.catalog.get(entry.id)) > 1:
        return "because another file has its id"
    # What stands in the file now is not what is served: that is the last text that was committed.
    if not entry.stale and (problems := vault.index.catalog.problems_of(entry.path, Severity.ERROR)):
        return f"because it has faults ({problems[0].message})"
    return ""
