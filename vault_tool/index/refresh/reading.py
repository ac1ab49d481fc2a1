"""From a file to what the indexes hold of it: entry or page, document, signals, problems."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from msgspec.structs import replace

from vault_tool.errors import GitError, Refused
from vault_tool.files import conflict_copies, git, page_titles
from vault_tool.files.episode_text import episode_problems
from vault_tool.files.frontmatter import lists, loose
from vault_tool.files.frontmatter import read_body as readable_body
from vault_tool.files.layout import AROUND, VAULT, FileKind, file_kind, is_around, may_be_copy, path_fault
from vault_tool.files.parse import PREVIEW_LENGTH, entry, parse
from vault_tool.files.reader import Reader, Stat
from vault_tool.files.signal_lines import read_signals
from vault_tool.files.tombstones import words_left
from vault_tool.importing import forms, notes
from vault_tool.index.catalog import CONFLICT, FORGOTTEN, PAGE, RECORD, UNREADABLE, Known, Page
from vault_tool.index.fulltext.documents import SearchDocument, document, page
from vault_tool.model.ids import derived_id
from vault_tool.model.own_properties import own_properties
from vault_tool.model.problems import Problem, Severity, error, warning
from vault_tool.model.signals import Signal
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import KEPT_TYPES, RecordClass, Registry
from vault_tool.util.clock import stamp
from vault_tool.util.hints import step
from vault_tool.util.note_links import links_in
from vault_tool.util.structs import Struct
from vault_tool.util.text import body_hash, content_hash, one_line

if TYPE_CHECKING:
    from vault_tool.index.graves import Graves

_EPISODES = f"{VAULT}/episodes/"
_MARKDOWN = (".md", ".MD", ".Md")

# What is no text, and of two texts that a merge left nobody knows which counts.
_WORDLESS = frozenset({"not-text", "conflict-markers"})

EVIDENCE = frozenset({RecordClass.OBSERVATION, RecordClass.UNDERSTANDING})


class Seen(Struct):
    """One file as it was read. `stat` is how it stood when it was found, `size` and `hash` are of the bytes that were read then.

    `hash` is empty for a file that could not be read at all; `text` is what search reads.
    """

    path: str
    kind: str
    stat: Stat
    size: int
    hash: str
    entry: Entry | None = None
    page: Page | None = None
    text: SearchDocument | None = None
    signals: tuple[Signal, ...] = ()
    problems: tuple[Problem, ...] = ()
    grown_from: str = ""
    """Of a journal that only grew the hash that it had: signals and problems come beside those known of that content."""


class Vanished(Exception):
    """A file that the walk saw is not there any more: the next walk will say what became of it."""


def see(reader: Reader, path: str, stat: Stat, registry: Registry, known: Known | None = None) -> Seen | None:
    """Read and parse one file; whatever is wrong with it is in its problems. None: its content is the `known` one.

    Raises Vanished alone.
    """
    try:
        data = reader.read(path, stat[0])
    except FileNotFoundError as fault:
        raise Vanished(path) from fault
    except Refused as fault:
        return Seen(path, UNREADABLE, stat, stat[0], "", problems=(error(path, 0, "not-read", fault.message, fault.hint),))
    except OSError as fault:
        reason = os.strerror(fault.errno or 0).lower()
        problem = error(path, 0, "not-read", f"the file cannot be read: {reason}", "check its permissions")
        return Seen(path, UNREADABLE, stat, stat[0], "", problems=(problem,))
    if known is not None:
        if known.hash == content_hash(data):
            return None
        grown = _grown(path, data, stat, known) if known.kind in ("signals", "episode") else None
        if grown is not None:
            return grown
    if path.endswith(_MARKDOWN) and not path.startswith(_EPISODES) and may_be_copy(path):
        judged, original = conflict_copies.judged(path, data, reader.read)
        if judged is conflict_copies.Judgement.COPY:
            return copy_of(path, stat, len(data), content_hash(data), original)
        if judged is conflict_copies.Judgement.NOTE:
            return (_around if is_around(path) else _note)(path, data, stat, registry)
    return understand(path, data, stat, registry)


def ignored_around(root: Path, paths: Iterable[str]) -> frozenset[str]:
    """Those of the paths, of the folder around the vault, that are no notes: forms for new ones, what Obsidian is told to
    leave out, and what its repository's ignore rules name.
    """
    named = {path.removeprefix(AROUND): path for path in paths if is_around(path)}
    if not named:
        return frozenset()

    def read(path: str) -> bytes:
        return (root.parent / path).read_bytes()

    templates = (*forms.folders(read), *forms.filtered(read))
    covered = {path for path in named for folder in templates if forms.is_within(path, folder)}
    repo = git.find(root.parent)
    if repo is not None:
        with suppress(GitError):
            covered |= git.ignored(repo, [path for path in named if not path_fault(path)])
    return frozenset(named[path] for path in covered)


def passed_over(path: str, stat: Stat) -> Seen:
    """A file that is known and not read."""
    return Seen(path, "other", stat, stat[0], "")


def understand(path: str, data: bytes, stat: Stat, registry: Registry) -> Seen:
    """Read a file's bytes by the kind of file that it is."""
    kind = FileKind.NOTE if _is_plainly_a_note(path) else file_kind(path)
    if kind is FileKind.NOTE:
        return (_around if is_around(path) else _note)(path, data, stat, registry)
    size, digest = len(data), content_hash(data)
    if kind is FileKind.SIGNALS:
        signals, problems = read_signals(path, data)
        return Seen(path, "signals", stat, size, digest, signals=tuple(signals), problems=tuple(problems))
    if kind is FileKind.EPISODE:
        return Seen(path, "episode", stat, size, digest, problems=tuple(episode_problems(path, data)))
    if kind is FileKind.CONFLICT:
        return copy_of(path, stat, len(data), content_hash(data), "")
    return Seen(path, "other", stat, size, digest)


def copy_of(path: str, stat: Stat, size: int, digest: str, original: str) -> Seen:
    """A copy that a sync tool, or we, put beside a note: no memory of its own."""
    name = original.rpartition("/")[2]
    message = f"a copy of {name}, kept because two machines wrote it" if name else "a text that was kept because two writers met"
    # The folder around the vault is read and never written.
    hint = "keep what you want of the two in your editor" if is_around(path) else f"{step('review')} puts the two together"
    problem = warning(path, 0, "conflict-copy", f"{message}; it is not read", hint)
    return Seen(path, CONFLICT, stat, size, digest, problems=(problem,))


def with_head(seen: Iterable[Seen], repo: git.Repo | None, commit: str | None, registry: Registry) -> Iterator[Seen]:
    """The same, where each note that cannot be used now is served as HEAD has it and marked stale.

    Where only its head cannot be read, HEAD's stays in force over the text that the file has now.
    """
    files = list(seen)
    broken = [file.path for file in files if file.kind == UNREADABLE and not is_around(file.path)]
    committed: Mapping[str, bytes] = git.show_many(repo, commit, broken) if broken and repo and commit else {}
    for file in files:
        yield _stale(file, committed[file.path], registry) if file.kind == UNREADABLE and file.path in committed else file


def without(seen: Iterable[Seen], forgotten: Graves | None) -> Iterator[Seen]:
    """The same, where a note that what was forgotten refuses is a problem and nothing else: whatever brought it back.

    Whose each note is must be known by now: others' tombstones count for what they brought themselves.
    """
    if not forgotten:
        yield from seen
        return
    for file in seen:
        if file.signals:
            yield _without_words(file, forgotten.counting)
        else:
            yield _refused(file, forgotten) if file.entry is not None and forgotten.refuses(file.entry) else file


def _without_words(file: Seen, forgotten: Collection[str]) -> Seen:
    """A journal without what was said of forgotten memories: that they were judged, and how, stays."""
    targets = {signal.target for signal in file.signals if signal.target in forgotten and (signal.rationale or signal.evidence)}
    if not targets:
        return file
    signals = (replace(signal, rationale="", evidence=()) if signal.target in targets else signal for signal in file.signals)
    problems = (words_left(file.path, identity) for identity in sorted(targets))
    return replace(file, signals=tuple(signals), problems=tuple(dict.fromkeys((*file.problems, *problems))))


def _refused(file: Seen, forgotten: Graves) -> Seen:
    assert file.entry is not None
    ends = [file.entry.text(name) for name in ("from_id", "to_id")] if file.entry.record_class is RecordClass.EDGE else []
    if (end := next((end for end in ends if end in forgotten.counting), "")) and file.entry.id not in forgotten.counting:
        return Seen(file.path, FORGOTTEN, file.stat, file.size, file.hash, problems=(words_left(file.path, end),))
    message = "it has the id of a memory that was forgotten, or is a link to one, so it is not read"
    hint = "delete the file; or give it an `id` of its own, if it is something else"
    return Seen(
        file.path, FORGOTTEN, file.stat, file.size, file.hash, problems=(error(file.path, 1, "forgotten", message, hint),)
    )


def _is_plainly_a_note(path: str) -> bool:
    """The result of `file_kind` for most of the files of a walk, at a tenth of the cost."""
    return path.endswith(".md") and not path.startswith(_EPISODES) and ".conflict-" not in path


def _grown(path: str, data: bytes, stat: Stat, known: Known) -> Seen | None:
    """The lines added to a journal, with its signals and problems; None when it did more than grow, and must be read anew."""
    old = data[: known.size]
    if not known.size or len(data) <= known.size or not old.endswith(b"\n") or content_hash(old) != known.hash:
        return None
    added = data[known.size :]
    signals, problems = read_signals(path, added) if known.kind == "signals" else ([], episode_problems(path, added))
    lines = old.count(b"\n")
    moved = tuple(replace(problem, line=problem.line + lines) for problem in problems)
    return Seen(
        path, known.kind, stat, len(data), content_hash(data), signals=tuple(signals), problems=moved, grown_from=known.hash
    )


def _stale(now: Seen, data: bytes, registry: Registry) -> Seen:
    before = _note(now.path, data, now.stat, registry)
    if before.kind == UNREADABLE:
        return now
    if before.entry is None:
        # A page then, and a page now: what it says now is there already.
        return now if now.page is not None else replace(now, page=before.page, text=before.text)
    served = replace(before.entry, stale=True, mtime_ns=now.stat[1])
    # What speaks for the vault itself is never pieced together of two texts.
    if now.text is None or not now.text.body.strip() or served.type in KEPT_TYPES or served.record_class not in EVIDENCE:
        return replace(now, entry=served, page=None, text=before.text)
    body = now.text.body
    served = replace(
        served,
        preview=one_line(body[: 4 * PREVIEW_LENGTH], PREVIEW_LENGTH),
        body_hash=body_hash(body),
        links=tuple(dict.fromkeys(links_in(body))),
    )
    return replace(now, entry=served, page=None, text=document(served, body))


def _around(path: str, data: bytes, stat: Stat, registry: Registry) -> Seen:
    """A note of the folder around: the observation that an import would make of it, with an id by its path.

    Whatever its head says of ids, types and origins, it is nobody's memory but a text that came with the folder.
    """
    size, digest = len(data), content_hash(data)
    identity = derived_id("around", path)
    moment = stamp(datetime.fromtimestamp(stat[1] / 1_000_000_000, UTC))
    taken = notes.record_from_note(
        path.removeprefix(AROUND), data, notes.ImportOptions(), registry, identity=identity, fallback=moment
    )
    problems = tuple(replace(problem, path=path) for problem in taken.problems)
    if taken.data is None or not taken.identity:
        readable = b"" if _WORDLESS.intersection(problem.code for problem in problems) else notes.loosely(data)
        taken = notes.record_from_note(
            path.removeprefix(AROUND), readable, notes.ImportOptions(), registry, identity=identity, fallback=moment
        )
    seen = _note(path, taken.data, stat, registry) if taken.data and taken.identity else None
    if seen is None or seen.entry is None:
        kind = UNREADABLE if any(problem.severity is Severity.ERROR for problem in problems) else "other"
        return Seen(path, kind, stat, size, digest, problems=problems)
    head = {key: value for key, value in seen.entry.head.items() if key not in _NOT_OURS}
    entry = replace(seen.entry, head=head, size=size, hash=digest)
    return replace(seen, size=size, hash=digest, entry=entry, problems=problems)


# What a head of the folder around cannot claim: whose it is, what it replaces and that it never fades.
_NOT_OURS = frozenset({"pinned", "user", "session", "turn", "model", "supersedes", "problem", "related_to", "change_targets"})


def _note(path: str, data: bytes, stat: Stat, registry: Registry) -> Seen:
    parsed = parse(path, data, registry)
    if not parsed.readable:
        unread = Seen(path, UNREADABLE, stat, len(data), content_hash(data), problems=parsed.problems)
        return (
            unread
            if any(problem.code in ("not-text", "conflict-markers") for problem in parsed.problems)
            else _by_its_words(unread, data)
        )
    # A quoted head value can spell half a surrogate pair, which is no text that could be stored or sent.
    if (b"\\u" in data or b"\\U" in data) and not _storable((parsed.head, parsed.title)):
        hint = "take the \\ud800 to \\udfff out of the head"
        problem = error(path, 1, "not-text", "a value in the head is not Unicode text", hint)
        return Seen(path, UNREADABLE, stat, len(data), content_hash(data), problems=(*parsed.problems, problem))
    if parsed.record_class is None:
        properties, aliases = own_properties(None, parsed.head), _aliases(parsed.head)
        shown = one_line((parsed.body.strip() or properties)[: 4 * PREVIEW_LENGTH], PREVIEW_LENGTH)
        loose_page = Page(path, parsed.title, shown)
        text = page(path, parsed.title, parsed.body, aliases, properties)
        return Seen(path, PAGE, stat, len(data), content_hash(data), page=loose_page, text=text, problems=parsed.problems)
    note = entry(path, data, parsed, stat[1])
    return Seen(path, RECORD, stat, len(data), note.hash, note, text=document(note, parsed.body), problems=parsed.problems)


def _by_its_words(unread: Seen, data: bytes) -> Seen:
    """A note whose head cannot be read, searched as a page is: by its text, and by what the head's lines say all the same."""
    body, head = readable_body(data), loose.read_loosely(data)
    properties = own_properties(None, head)
    if not body.strip() and not head:
        return unread
    title = page_titles.title_of(unread.path, head, body)
    shown = one_line((body.strip() or properties)[: 4 * PREVIEW_LENGTH], PREVIEW_LENGTH)
    text = page(unread.path, title, body, _aliases(head), properties)
    return replace(unread, page=Page(unread.path, title, shown), text=text)


def _aliases(head: Mapping[str, Any]) -> tuple[str, ...]:
    """The other names of a page, under whichever key its head gives them."""
    aliases = (lists.texts(head[key], lists.form_of("aliases")) for key in lists.spelled(head, "aliases"))
    return tuple(dict.fromkeys(name for names in aliases for name in names or ()))


def _storable(value: object) -> bool:
    try:
        orjson.dumps(value)
    except TypeError:
        return False
    return True
