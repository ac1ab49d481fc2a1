"""Whether what a memory rests on still stands: references checked against git, the work tree and the vault; nothing is run."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from msgspec.structs import replace

from vault_tool.errors import GitError, VaultError
from vault_tool.files import git, layout, reader
from vault_tool.files.episode_text import read_episode
from vault_tool.index.relations import successors
from vault_tool.model.evidence import EvidenceKind, Reference, read_reference
from vault_tool.model.signals import EpisodeEntry
from vault_tool.model.snapshot import Entry
from vault_tool.util.structs import Struct
from vault_tool.util.text import counted, one_line
from vault_tool.vault import resolve
from vault_tool.vault.context import Context

# The most references of one memory that are looked at: whoever wrote more wrote a list, not evidence.
MOST_CHECKED = 50

# The most commits of which it is found out whether they are known here, each by one short call of git.
MOST_UNKNOWN = 5

# How many digits of a commit a reference is pinned with: enough for any repository's lifetime.
PINNED_DIGITS = 12

# The most bytes of a file that are compared; a larger one stays unchecked.
LONGEST_FILE = 8 * 2**20

_ELSEWHERE = "no such file in this work tree"


class EvidenceState(StrEnum):
    """How a reference stands now."""

    HOLDS = "holds"
    MOVED = "moved"
    MISSING = "missing"
    UNCHECKED = "unchecked"
    MALFORMED = "malformed"


class EvidenceCheck(Struct):
    """One reference as it was written, how it stands, and why (or "")."""

    reference: str
    state: EvidenceState
    detail: str = ""


def evidence_of(vault: Context, entry: Entry) -> tuple[EvidenceCheck, ...]:
    """The evidence of a memory, in the order of its head, each as it stands now. Indexes must be fresh."""
    return check_references(vault, entry.texts("evidence"))


def evidence_moved(evidence: Iterable[EvidenceCheck]) -> bool:
    """Whether a file that a memory rests on is not any more as it was when the memory was written."""
    return any(check.state is EvidenceState.MOVED for check in evidence)


def moved_among(vault: Context, evidence: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """The keys (ids) whose references include a file that changed; only files at a commit are looked at, all at once."""
    read = {text: _read(text) for references in evidence.values() for text in references[:MOST_CHECKED]}
    anchored = {text: ref for text, ref in read.items() if isinstance(ref, Reference) and _is_anchored(ref)}
    then = _as_committed(vault, list(anchored.values()))
    moved = {text for text, ref in anchored.items() if _file(vault, ref, then)[0] is EvidenceState.MOVED}
    return frozenset(key for key, references in evidence.items() if not moved.isdisjoint(references))


def check_references(vault: Context, references: Sequence[str]) -> tuple[EvidenceCheck, ...]:
    """Each reference with its state. Costs one call of git for all files that are anchored at a commit."""
    read = {text: _read(text) for text in references[:MOST_CHECKED]}
    then = _as_committed(vault, [ref for ref in read.values() if isinstance(ref, Reference) and _is_anchored(ref)])
    checks = [ref if isinstance(ref, EvidenceCheck) else _checked(vault, text, ref, then) for text, ref in read.items()]
    return (*checks, *(EvidenceCheck(text, EvidenceState.UNCHECKED, "one of too many") for text in references[MOST_CHECKED:]))


def pinned_to_head(vault: Context, references: Sequence[str]) -> tuple[str, ...]:
    """References to be written: a file that names no commit gets HEAD, so that its changes can be told from then on.

    One that HEAD holds otherwise than the work tree, or not at all, stays as it is: no commit says what was seen.
    """
    read = {text: _read(text) for text in references}
    bare = {
        text: ref for text, ref in read.items() if isinstance(ref, Reference) and ref.kind is EvidenceKind.FILE and not ref.commit
    }
    commit = git.head(vault.repo).commit if bare and vault.repo else None
    if not commit:
        return tuple(references)
    anchored = {text: replace(ref, commit=commit[:PINNED_DIGITS]) for text, ref in bare.items()}
    then = _as_committed(vault, list(anchored.values()))
    holds = {text for text, ref in anchored.items() if _file(vault, ref, then)[0] is EvidenceState.HOLDS}
    return tuple(f"{text}@{commit[:PINNED_DIGITS]}" if text in holds else text for text in references)


# What a file held at a commit, by commit and path, or in words why that is not known.
_Then = Mapping[tuple[str, str], bytes | str]


def _read(text: str) -> Reference | EvidenceCheck:
    try:
        return read_reference(text)
    except ValueError as fault:
        return EvidenceCheck(text, EvidenceState.MALFORMED, str(fault))


def _is_anchored(ref: Reference) -> bool:
    return ref.kind is EvidenceKind.FILE and bool(ref.commit)


def _checked(vault: Context, text: str, ref: Reference, then: _Then) -> EvidenceCheck:
    match ref.kind:
        case EvidenceKind.FILE:
            state, detail = _file(vault, ref, then)
        case EvidenceKind.COMMIT:
            state, detail = _commit(vault, ref.target)
        case EvidenceKind.MEMORY:
            state, detail = _memory(vault, ref.target)
        case EvidenceKind.EPISODE:
            state, detail = _episode(vault, ref)
        case _:
            state, detail = EvidenceState.UNCHECKED, ""
    return EvidenceCheck(text, state, detail)


def _as_committed(vault: Context, anchored: Sequence[Reference]) -> _Then:
    """The anchored files as their commits hold them, from one process of git."""
    places = list(dict.fromkeys((ref.commit, ref.target) for ref in anchored))
    if not places:
        return {}
    if vault.repo is None:
        return dict.fromkeys(places, "no git here")
    # Evidence is named from the top of the work tree: the vault may be a folder of the code that it speaks of.
    whole = replace(vault.repo, root=vault.repo.work_tree, prefix="")
    try:
        held: dict[tuple[str, str], bytes | str] = dict(git.show_at(whole, places))
        absent = list(dict.fromkeys(commit for commit, path in places if (commit, path) not in held))
        strange = {commit for commit in absent[:MOST_UNKNOWN] if not git.resolve(whole, commit)}
    except (GitError, VaultError) as fault:
        return dict.fromkeys(places, one_line(fault.message, 120))
    for commit, path in places:
        reason = f"{commit[:10]} is not a commit of this repository" if commit in strange else f"{commit[:10]} has no such file"
        held.setdefault((commit, path), reason)
    return held


def _file(vault: Context, ref: Reference, then: _Then) -> tuple[EvidenceState, str]:
    now = _on_disk(vault, ref.target)
    if not ref.commit:
        return (EvidenceState.UNCHECKED, "no commit says how it was") if isinstance(now, bytes) else (_absent(now), now)
    was = then[ref.commit, ref.target]
    if isinstance(was, str):
        return EvidenceState.UNCHECKED, was
    if isinstance(now, str):
        return (EvidenceState.MOVED, "the file is gone") if now == _ELSEWHERE else (EvidenceState.UNCHECKED, now)
    return _compared(_lines(was), _lines(now), ref)


def _absent(why: str) -> EvidenceState:
    return EvidenceState.MISSING if why == _ELSEWHERE else EvidenceState.UNCHECKED


def _compared(was: list[bytes], now: list[bytes], ref: Reference) -> tuple[EvidenceState, str]:
    """A whole file must be the same; of lines it is enough that the same passage still stands somewhere."""
    since = f"since {ref.commit[:10]}"
    if ref.lines is None:
        return (EvidenceState.HOLDS, "") if was == now else (EvidenceState.MOVED, f"the file changed {since}")
    first, last = ref.lines
    passage = was[first - 1 : last]
    if len(passage) < last - first + 1:
        return EvidenceState.UNCHECKED, f"the file had {counted(len(was), 'line')} at {ref.commit[:10]}"
    place = _place_of(passage, now, first - 1)
    if place is None:
        return EvidenceState.MOVED, f"these lines changed {since}"
    return EvidenceState.HOLDS, "" if place == first - 1 else f"now L{place + 1}-L{place + len(passage)}"


def _place_of(passage: list[bytes], lines: list[bytes], expected: int) -> int | None:
    """Where a passage stands: where it was, else the first place that has it."""
    size = len(passage)
    if lines[expected : expected + size] == passage:
        return expected
    starts = (at for at, line in enumerate(lines[: len(lines) - size + 1]) if line == passage[0])
    return next((at for at in starts if lines[at : at + size] == passage), None)


def _lines(data: bytes) -> list[bytes]:
    """The lines of a file, however its line ends are checked out."""
    return data.replace(b"\r\n", b"\n").removesuffix(b"\n").split(b"\n")


def _on_disk(vault: Context, path: str) -> bytes | str:
    """A file of the work tree, or in words why it cannot be compared. Nothing outside of the work tree is opened."""
    top = vault.repo.work_tree if vault.repo else vault.root
    try:
        file = (top / path).resolve(strict=True)
        if not file.is_relative_to(top.resolve()) or ".git" in Path(path).parts:
            return "it leads out of the work tree"
        info = file.stat()
        if not stat.S_ISREG(info.st_mode) or info.st_size > LONGEST_FILE:
            return "it is no file that can be compared"
        return file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return _ELSEWHERE
    except (OSError, ValueError, RuntimeError):
        return "it cannot be read"


def _commit(vault: Context, commit: str) -> tuple[EvidenceState, str]:
    if vault.repo is None:
        return EvidenceState.UNCHECKED, "no git here"
    try:
        known = git.resolve(vault.repo, commit)
    except (GitError, VaultError) as fault:
        return EvidenceState.UNCHECKED, one_line(fault.message, 120)
    return (EvidenceState.HOLDS, "") if known else (EvidenceState.UNCHECKED, "not a commit of this repository")


def _memory(vault: Context, prefix: str) -> tuple[EvidenceState, str]:
    by_id = {entry.id: entry for entry in resolve.candidates(vault, prefix)}
    if len(by_id) != 1:
        return EvidenceState.MISSING, "several memories begin so" if by_id else "no memory has that id"
    newer = successors(vault.index.catalog, next(iter(by_id)))
    return EvidenceState.HOLDS, f"superseded by {', '.join(resolve.short(vault, entry) for entry in newer)}" if newer else ""


def _episode(vault: Context, ref: Reference) -> tuple[EvidenceState, str]:
    logged = log_of(vault, ref.target)
    numbers = [number for number, (_, entry) in enumerate(logged, 1) if ref.time in ("", entry.at[11:16])]
    if not (ref.number in numbers if ref.number else numbers):
        return EvidenceState.MISSING, "the log has no such entry"
    if ref.time and len(numbers) > 1:
        return (
            EvidenceState.UNCHECKED,
            f"{len(numbers)} entries are of that minute: {', '.join(f'#{number}' for number in numbers)}",
        )
    return EvidenceState.HOLDS, ""


def log_of(vault: Context, day: str) -> list[tuple[str, EpisodeEntry]]:
    """The entries of a day's log, of all writers, each with its file: by time, then by file and place in it.

    Their numbers in this order, from 1, are what evidence cites.
    """
    entries_by_file: list[tuple[str, EpisodeEntry]] = []
    for path in sorted(vault.whole_index.catalog.of_kind("episode")):
        if layout.journal_date(path) == day:
            try:
                data = reader.read(vault.root, path)
            except (OSError, VaultError):
                continue
            entries, _ = read_episode(path, data)
            entries_by_file.extend((path, entry) for entry in entries)
    return sorted(entries_by_file, key=lambda pair: (pair[1].at, pair[0]))
