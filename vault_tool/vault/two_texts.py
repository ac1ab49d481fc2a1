"""Conflicts that two machines left to a person: conflict copies, places that keep both texts, and what git left unmerged."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime

from msgspec.structs import replace

from vault_tool.errors import GitError, Refused
from vault_tool.files import conflict_copies, conflict_markers, frontmatter, git, reader, two_versions
from vault_tool.files.conflict_copies import Judgement
from vault_tool.files.frontmatter.head_writer import inline
from vault_tool.files.git.survey import TreeEntry
from vault_tool.files.layout import MADE_PAGES, SETTINGS_FILE, is_around, path_fault
from vault_tool.files.parse import parse
from vault_tool.index.catalog import CONFLICT
from vault_tool.model.problems import Problem, warning
from vault_tool.util.clock import stamp
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.vault.context import Context

COPY, FIELD, PLACE, MERGE = "copy", "field", "place", "merge"

_FILES = ("100644", "100755")


class TwoTexts(Struct, kw_only=True):
    """Two texts of one thing, of which a person keeps one, or both: of a whole note, of a field, or of a place of the body.

    `this` is what stands in the note now, or first, and `that` the other: a copy's text, a field's kept one, or the second. Of
    a file that git left unmerged they are this branch's and what came, empty where it is gone on that side, and of one that has
    git's markers without git knowing of it, what stands before and after the line between. `by_hand` is the file itself, where
    a person began to settle it with words or a choice of their own, or a marker is missing. `who` and `when` say who committed
    the note last, and `that_when` when the other text was written, where that is known.
    """

    key: str
    path: str
    id: str = ""
    title: str = ""
    what: str = PLACE
    place: str = ""
    this: str = ""
    that: str = ""
    by_hand: str = ""
    who: str = ""
    when: str = ""
    that_when: str = ""


def two_texts(vault: Context) -> tuple[TwoTexts, ...]:
    """All that is to be settled, as of the last comparison with the files, by path; of what the asker may see."""
    catalog = vault.whole_index.catalog
    conflicts = [conflict for path in catalog.of_kind(CONFLICT) if not is_around(path) for conflict in _copies(vault, path)]
    marked = marked_paths(vault)
    files = unmerged_files(vault) if vault.repo is not None and (marked or git.obstacle(vault.repo)) else {}
    if vault.repo is not None and files:
        conflicts += _unmerged(vault, vault.repo, files)
    conflicts += [conflict for path in marked if path not in files for conflict in _marked(vault, path)]
    conflicts += [
        conflict for path in catalog.with_problem("unsettled") if not is_around(path) for conflict in _kept(vault, path)
    ]
    # A file's markers come first: what else stands in it cannot be settled before.
    to_settle = sorted(
        (conflict for conflict in conflicts if _may_be_told(vault, conflict)),
        key=lambda conflict: (conflict.path, conflict.what != MERGE, conflict.what),
    )
    last = {path: _last_commit(vault, path) for path in {conflict.path for conflict in to_settle}}
    return tuple(replace(conflict, who=last[conflict.path][0], when=last[conflict.path][1]) for conflict in to_settle)


def original(vault: Context, copy: str, data: bytes) -> tuple[str, bytes]:
    """The note that a copy is of and its bytes; where that is gone, the name that it had and nothing."""
    judged, beside = conflict_copies.judged(copy, data, lambda path: reader.read(vault.root, path))
    if judged is Judgement.COPY and beside:
        return beside, reader.read(vault.root, beside)
    identity = str(parse(copy, data, vault.settings.types).head.get("id") or "")
    for entry in vault.whole_index.catalog.get(identity) if identity else ():
        # It was moved since.
        return entry.path, reader.read(vault.root, entry.path)
    return next((path for path, _ in conflict_copies.originals(copy)), copy), b""


def _copies(vault: Context, path: str) -> Iterator[TwoTexts]:
    with suppress(OSError, Refused):
        data = reader.read(vault.root, path)
        beside, text = original(vault, path, data)
        wrote = stamp(datetime.fromtimestamp((vault.root / path).stat().st_mtime, UTC))
        texts = (text_bytes.decode("utf-8", "replace") for text_bytes in (text, data))
        yield replace(_named(vault, beside, COPY, path, *texts), that_when=wrote)


def _kept(vault: Context, path: str) -> Iterator[TwoTexts]:
    with suppress(OSError, Refused):
        data = reader.read(vault.root, path)
        head, body, _ = frontmatter.read(data)
        unsettled = head.values.get("unsettled") if head is not None else None
        for item in unsettled if isinstance(unsettled, list) else [unsettled] if unsettled else []:
            name, _, text = str(item).partition(": ")
            value = head.values.get(name) if head is not None else None
            this = "" if value is None else value if isinstance(value, str) else inline(value)
            yield _named(vault, path, FIELD, name, str(this), text)
        above = data[: frontmatter.split(data).body_start].count(b"\n")
        for place in two_versions.places(body.split("\n")):
            this, that = ("\n".join(line.removesuffix("\r") for line in lines) for lines in (place.this, place.that))
            yield _named(vault, path, PLACE, f"line {above + place.first + 1}", this, that)


def unmerged_files(vault: Context) -> dict[str, git.Unmerged]:
    """The files that git left unmerged and that can be settled here, by path, as of now; none where git is not used.

    Pages that are made of notes are among them only where nothing else is: they are made anew with the last of the others.
    """
    if vault.repo is None:
        return {}
    files = {path: sides for path, sides in git.unmerged(vault.repo).items() if not path_fault(path) and _is_plain(sides)}
    return {path: sides for path, sides in files.items() if path not in MADE_PAGES} or files


def _is_plain(sides: git.Unmerged) -> bool:
    """Whether at least one side has the file, and as a plain one."""
    plain = [entry for entry in (sides.this, sides.that) if entry is not None]
    return bool(plain) and all(entry.mode in _FILES for entry in plain)


def _unmerged(vault: Context, repo: git.Repo, files: Mapping[str, git.Unmerged]) -> Iterator[TwoTexts]:
    blobs = git.blobs(repo, {entry.oid for side in files.values() for entry in (side.base, side.this, side.that) if entry})

    def text(entry: TreeEntry | None) -> bytes:
        return blobs.get(entry.oid, b"") if entry else b""

    other_tip = next(iter(git.merging(repo)), "")
    for path, sides in files.items():
        this, that = (text(entry).decode("utf-8", "replace") for entry in (sides.this, sides.that))
        by_hand = _by_hand(vault, path, [text(entry) for entry in (sides.base, sides.this, sides.that)])
        written = _last_commit(vault, path, other_tip)[1] if other_tip else ""
        yield replace(_named(vault, path, MERGE, by_hand, this, that), place="", by_hand=by_hand, that_when=written)


def left_by_git(vault: Context, path: str) -> Problem:
    """The problem of a file that git holds for unmerged, with what is to be done about it."""
    ends = bool(vault.repo and git.merging(vault.repo))
    anew = f"{step('review')} makes it anew, with the last file in conflict"
    hint = anew if path in MADE_PAGES else conflict_markers.what_to_do(ends_merge=ends)
    return warning(path, 0, "merge-conflict", "git has not settled a merge of this file", hint)


def marked_sides(vault: Context, path: str, data: bytes) -> conflict_markers.Sides | None:
    """The two texts of a file with git's markers, by the markers alone; None where one is missing."""
    if path == SETTINGS_FILE:
        opened = [number for number, line in enumerate(data.split(b"\n"), 1) if conflict_markers.is_opening(line)]
    else:
        problems = parse(path, data, vault.settings.types).problems
        opened = [problem.line for problem in problems if problem.code == "conflict-markers"]
    return conflict_markers.sides(data, opened)


def marked_paths(vault: Context) -> list[str]:
    """The files that have git's markers, whether git knows of it or not: notes and settings."""
    paths = [path for path in vault.whole_index.catalog.with_problem("conflict-markers") if not is_around(path)]
    with suppress(OSError, Refused):
        if any(map(conflict_markers.is_opening, reader.read(vault.root, SETTINGS_FILE).split(b"\n"))):
            paths.append(SETTINGS_FILE)
    return paths


def _marked(vault: Context, path: str) -> Iterator[TwoTexts]:
    with suppress(OSError, Refused):
        data = reader.read(vault.root, path)
        sides = marked_sides(vault, path, data)
        if sides is None:
            whole = data.decode("utf-8", "replace")
            yield replace(_named(vault, path, MERGE, whole, "", ""), place="", by_hand=whole)
        else:
            yield _named(vault, path, MERGE, "", *(text.decode("utf-8", "replace") for text in (sides.this, sides.that)))


def _by_hand(vault: Context, path: str, texts: Sequence[bytes]) -> str:
    """The file of a conflict where a person has begun to settle it: with lines that no side has, or without a marker left."""
    if path in MADE_PAGES:
        return ""
    try:
        data = reader.read(vault.root, path)
    except (OSError, Refused):
        return ""
    lines = data.splitlines()
    unmarked = [line for line in lines if not conflict_markers.is_marker(line)]
    known = {line for text in texts for line in text.splitlines()}
    if data in texts or (len(unmarked) < len(lines) and known.issuperset(unmarked)):
        return ""
    return data.decode("utf-8", "replace")


def _named(vault: Context, path: str, kind: str, place: str, this: str, that: str) -> TwoTexts:
    # The same as long as the same is to be settled: the number of a line is no part of it.
    parts = (path, kind, "" if kind == PLACE else place, this, that)
    key = hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=4).hexdigest()
    entry = vault.whole_index.catalog.by_path(path)
    title = entry.title if entry else path.rpartition("/")[2]
    identity = entry.id if entry else ""
    return TwoTexts(key=key, path=path, id=identity, title=title, what=kind, place=place, this=this, that=that)


def _may_be_told(vault: Context, conflict: TwoTexts) -> bool:
    """Whether whoever asks may see the note; what a copy of a note that is gone says is told to who may see everything."""
    if vault.sees_withheld:
        return True
    return bool(vault.index.catalog.by_path(conflict.path)) if conflict.id else bool(conflict.this) and vault.sees_everyone


def _last_commit(vault: Context, path: str, tip: str = "HEAD") -> tuple[str, str]:
    if vault.repo is not None:
        with suppress(GitError):
            for entry in git.log(vault.repo, paths=[path], limit=1, tip=tip):
                return entry.author, entry.at
    return "", ""


def common_base(versions: Sequence[bytes], note: bytes, copy: bytes) -> bytes | None:
    """The committed version, newest first, that both texts came of; None if that is not known.

    It is the one that the copy is nearest to, and of equally near ones the oldest: what came later is then what the note
    has more. What the note says now is not it, for then all that the copy says would take its place.
    """
    lines = copy.splitlines()
    nearest: tuple[int, bytes] | None = None
    for version in versions:
        away = _away(version.splitlines(), lines)
        if version != note and (nearest is None or away <= nearest[0]):
            nearest = away, version
    return nearest[1] if nearest else None


def _away(first: Sequence[bytes], other: Sequence[bytes]) -> int:
    counts: dict[bytes, int] = {}
    for line in first:
        counts[line] = counts.get(line, 0) + 1
    for line in other:
        counts[line] = counts.get(line, 0) - 1
    return sum(map(abs, counts.values()))
