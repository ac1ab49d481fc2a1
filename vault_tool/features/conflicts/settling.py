"""`review`, the other half: of what two machines wrote a person keeps one text, or both, or writes another."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from shlex import quote

from vault_tool.errors import NotFound, Refused, StaleEdit, UsageError
from vault_tool.features.history.history import commit
from vault_tool.files import conflict_markers, frontmatter, git, reader, two_versions, writer
from vault_tool.files.frontmatter import Change, Plain, RemoveItems, Set, Value
from vault_tool.files.frontmatter.head_reader import read_head
from vault_tool.files.layout import MADE_PAGES
from vault_tool.files.merging.note_merge import Merged, merge
from vault_tool.files.merging.other_files import merge_file
from vault_tool.files.parse import parse
from vault_tool.importing.notes import own_id
from vault_tool.model.problems import Severity
from vault_tool.util.hints import if_there, shell, step
from vault_tool.util.text import counted, one_line
from vault_tool.vault import no_return, person, resolve, screening
from vault_tool.vault.context import Context
from vault_tool.vault.drafts import undecided
from vault_tool.vault.generated_pages import resolve_page_conflicts
from vault_tool.vault.operation import Saved, put, writing
from vault_tool.vault.pending import caught_up, index_written, take_in_authors
from vault_tool.vault.request import Answer, looks, of_the_whole, verb
from vault_tool.vault.two_texts import (
    COPY,
    FIELD,
    MERGE,
    TwoTexts,
    common_base,
    marked_sides,
    original,
    two_texts,
    unmerged_files,
)

_ACT = "settle what two machines wrote"

KEEP = ("this", "that", "both")

_MARKED = {"conflict-markers": "take the markers out, and what does not stay between them"}

_VERSIONS = 50
"""How many committed versions of a note are looked at for the one that a copy came of."""


class Unsettled(Answer, kw_only=True):
    """The conflicts between machines that wait for a person, and how many memories wait in the inbox beside them."""

    results: tuple[TwoTexts, ...] = ()
    waiting: int = 0


class Settled(Saved, kw_only=True):
    """The conflict settled just now, and those left; `told` is what the merge decided by a rule."""

    id: str
    path: str
    title: str
    kept: str
    told: tuple[str, ...] = ()
    results: tuple[TwoTexts, ...] = ()


@verb
@looks
@of_the_whole
def unsettled(vault: Context) -> Unsettled:
    """List the conflict copies that sync tools left, what git left unmerged, and what keeps two texts; it only reads."""
    waiting = len(undecided(vault)) if person.is_person(vault) else 0
    seen = vault.with_withheld() if person.is_owner(vault) else vault
    return Unsettled(results=two_texts(seen), waiting=waiting)


@verb
@looks
@of_the_whole
def settle_texts(vault: Context, key: str, keep: str = "", *, text: str = "") -> Settled:
    """Keep `this`, `that` or `both` of two texts, or write another `text`; `key` is one that `unsettled` gives, or its beginning.

    `both` of a conflict copy is the merge of the two: where both changed one place, both texts of it stay to be settled. What
    goes is in a commit before it goes, and the rest is one commit. Files that git left unmerged, or with its markers, are
    settled the same way; the last of a merge makes the pages anew that are in conflict and commits the merge. Raises Refused
    where no person asks, UsageError for what cannot be kept so, NotFound for a key that stands for nothing (more).
    """
    vault = resolve.for_act(vault, _ACT)
    if bool(text) == bool(keep) or (keep and keep not in KEEP):
        raise UsageError(
            "one thing is to be kept: this, that, both, or a text", f"say one of {', '.join(KEEP)}, or give the text"
        )
    meant = _find(two_texts(vault), key)
    if meant.what == MERGE and vault.repo is not None and _is_of_an_operation(vault, vault.repo, meant.path):
        return _settle_unmerged(vault, vault.repo, meant, keep, text)
    if meant.what == COPY:
        _commit_both(vault, meant)
    with writing(vault, "review") as op:
        conflict = _find(two_texts(vault), meant.key)
        before = _read(vault, conflict.path)
        remarks: tuple[str, ...] = ()
        if conflict.what == COPY:
            after, remarks = _whole(vault, conflict, keep, text, before)
            op.remove(conflict.place)
        elif conflict.what == MERGE:
            after, remarks = _between_markers(vault, conflict, keep, text)
            _require_keepable(vault, conflict, after)
        else:
            after = _field(conflict, keep, text, before) if conflict.what == FIELD else _place(conflict, keep, text, before)
        _require_note(vault, conflict.path, after)
        if not before and after:
            op.restore(conflict.path, after)
        elif after != before:
            op.rewrite(conflict.path, before, after)
        saved = op.carry_out(one_line(conflict.title, 60), [conflict.id] if conflict.id else [])
        return _answer(vault, saved, conflict, keep, remarks)


@verb
@looks
def find_conflict(vault: Context, key: str) -> TwoTexts | None:
    """The conflict a key stands for; None where the key names something else, such as a memory that waits."""
    vault = resolve.for_act(vault, _ACT)
    return next(
        (
            conflict
            for conflict in two_texts(vault)
            if conflict.key.startswith(key.strip()) or key in (conflict.path, conflict.place)
        ),
        None,
    )


def text_to_edit(conflict: TwoTexts) -> str:
    """The text offered to a person who writes another: both versions, where that can be."""
    if conflict.what in (COPY, MERGE):
        return conflict.by_hand or conflict.this or conflict.that
    return "\n".join(filter(None, (conflict.this, conflict.that)))


def _is_of_an_operation(vault: Context, repo: git.Repo, path: str) -> bool:
    """Whether git is to be told that a file is settled: it holds it for unmerged, or an operation of git waits for it."""
    return git.obstacle(repo) is not None or path in unmerged_files(vault)


def _settle_unmerged(vault: Context, repo: git.Repo, meant: TwoTexts, keep: str, text: str) -> Settled:
    """Write the text that stays of a file in conflict and enter it in git's index by its content; the last one ends the merge."""
    with caught_up(vault, "review"):
        conflict = _find(two_texts(vault), meant.key)
        sides = unmerged_files(vault).get(conflict.path)
        remarks: tuple[str, ...] = ()
        if conflict.path not in MADE_PAGES:
            after, remarks = (
                _between_markers(vault, conflict, keep, text)
                if sides is None
                else _chosen(vault, repo, conflict, sides, keep, text)
            )
            _require_keepable(vault, conflict, after)
            if text:
                screening.refuse_secrets(vault, [screening.new_text(conflict.path, text.encode("utf-8"))])
            index_written(vault, [_written(vault, conflict.path, after)])
            executable = [conflict.path] if sides is not None and sides.executable else []
            git.resolve_conflicts(repo, {conflict.path: after}, vault.settings.lock_wait, executable)
        saved = _finished(vault, repo)
        return _answer(vault, saved, conflict, keep, remarks)


def _chosen(
    vault: Context, repo: git.Repo, conflict: TwoTexts, sides: git.Unmerged, keep: str, text: str
) -> tuple[bytes | None, tuple[str, ...]]:
    """The text that stays of a file in conflict, None where it goes, and what a rule of the merge decided."""
    if text:
        return text.encode("utf-8"), ()
    if conflict.by_hand:
        anew = if_there(f", or have the conflict anew: {shell(f'git checkout -m -- {quote(conflict.path)}')}")
        raise UsageError(
            f"{conflict.path} was edited by hand in this conflict, and that is in no history yet",
            f"keep it as another text{anew}",
        )
    present = {stage: entry for stage, entry in (("base", sides.base), ("this", sides.this), ("that", sides.that)) if entry}
    blobs = git.blobs(repo, [entry.oid for entry in present.values()])
    texts = {stage: blobs[entry.oid] for stage, entry in present.items()}
    if keep != "both":
        return texts.get(keep), ()
    if "this" not in texts or "that" not in texts:
        return texts.get("this", texts.get("that")), ()
    return _merged(merge_file(conflict.path, texts.get("base"), texts["this"], texts["that"]))


def _between_markers(vault: Context, conflict: TwoTexts, keep: str, text: str) -> tuple[bytes, tuple[str, ...]]:
    """The text that stays of a file with git's markers whose two texts git does not have, and what a rule decided."""
    sides = marked_sides(vault, conflict.path, _read(vault, conflict.path))
    if text:
        return text.encode("utf-8"), ()
    if sides is None:
        raise UsageError(f"a marker of the conflict in {conflict.path} is missing", "keep it as another text, without markers")
    if keep == "both":
        return _merged(merge_file(conflict.path, sides.base, sides.this, sides.that))
    return sides.this if keep == "this" else sides.that, ()


def _merged(merged: Merged | None) -> tuple[bytes, tuple[str, ...]]:
    if merged is None:
        raise UsageError("the two cannot be merged: one cannot be read, or they are of two types", "keep one, or write the text")
    return merged.data, merged.told


def _require_keepable(vault: Context, conflict: TwoTexts, after: bytes | None) -> None:
    if after is None:
        return
    no_return.refuse_id(vault, own_id(after), conflict.title, "keep the side on which it is gone")
    _require_note(vault, conflict.path, after)
    # A line of equals signs alone is also what stands below a heading.
    if any(conflict_markers.is_marker(line) and not line.startswith(b"=") for line in after.splitlines()):
        raise UsageError("that text holds the markers of a conflict", _MARKED["conflict-markers"])


def _written(vault: Context, path: str, after: bytes | None) -> writer.Written:
    if after is not None:
        return put(vault, path, after)
    if not (vault.root / path).is_file():
        return writer.Written(path, None, None)
    return writer.remove(vault.root, path, reader.read(vault.root, path))


def _finished(vault: Context, repo: git.Repo) -> Saved:
    """The end of a merge of which nothing is left in conflict: pages made anew, and its commit."""
    resolve_page_conflicts(vault)
    if left := sorted(git.unmerged(repo)):
        count = counted(len(left), "file is", "files are")
        return Saved(reason=f"entered in git's index; {count} still in conflict, and the last one ends the merge", attention=True)
    before = git.head(repo).commit
    reason = git.finish_merge(repo) or git.obstacle(repo) or ""
    take_in_authors(vault)
    tip = git.head(repo).commit
    merge_commit = tip if tip != before else None
    return Saved(committed=merge_commit is not None, commit=merge_commit, reason=reason, attention=bool(reason))


def is_made_anew(path: str) -> bool:
    """Whether neither text stays, whatever is kept, because the file is a page that is made of the notes."""
    return path in MADE_PAGES


def _answer(vault: Context, saved: Saved, conflict: TwoTexts, keep: str, remarks: tuple[str, ...]) -> Settled:
    return Settled(
        **saved.fields(),
        id=conflict.id,
        path=conflict.path,
        title=conflict.title,
        kept=keep or "text",
        told=remarks,
        results=two_texts(vault),
    )


def _find(conflicts: Sequence[TwoTexts], key: str) -> TwoTexts:
    start = key.strip()
    meant = [
        conflict
        for conflict in conflicts
        if start and (conflict.key.startswith(start) or start in (conflict.path, conflict.place, conflict.id))
    ]
    if len(meant) == 1:
        return meant[0]
    if not meant:
        raise NotFound(
            f"nothing that is to be settled answers to `{one_line(key, 60)}`", f"{step('review', listed=True)} lists what does"
        )
    raise UsageError(f"`{one_line(key, 60)}` could be {', '.join(conflict.key for conflict in meant[:5])}", "type one of them")


def _read(vault: Context, path: str) -> bytes:
    try:
        return reader.read(vault.root, path)
    except FileNotFoundError:
        return b""


def _commit_both(vault: Context, conflict: TwoTexts) -> None:
    """See that both texts are in history before one of them goes; where there is no history there is none to lose."""
    if vault.repo is None:
        return
    paths = [path for path in (conflict.path, conflict.place) if (vault.root / path).is_file()]
    pending = [p for p in git.uncommitted(vault.repo, paths) if p.path in paths]
    if not pending:
        return
    done = commit(vault, [p.path for p in pending], message=f"edit: {one_line(conflict.title, 60)}, as two machines wrote it")
    if done.left:
        raise Refused(f"{done.left[0].path}: {done.left[0].message}", done.left[0].hint or "mend it, then settle it")
    if not done.committed:
        raise Refused(f"what would go cannot be committed now: {done.reason}", "settle that first")


def _whole(vault: Context, conflict: TwoTexts, keep: str, text: str, note: bytes) -> tuple[bytes, tuple[str, ...]]:
    """The text of a note once its copy is settled, and what a rule decided."""
    copy = _read(vault, conflict.place)
    if not text and any(other.what == MERGE and other.path == conflict.path for other in two_texts(vault)):
        raise UsageError(f"{conflict.path} has git's markers itself", "settle these first, then its copy")
    if (conflict.path, note) != original(vault, conflict.place, copy):
        raise StaleEdit(f"{conflict.path} was changed meanwhile", f"look at it again: {step('review')}")
    if text:
        return text.encode("utf-8"), ()
    if keep == "this" and note:
        return note, ()
    if keep == "that" or (keep == "both" and not note):
        return copy, ()
    if keep == "this":
        return b"", ()
    return _merged(merge(_base(vault, conflict, note, copy), note, copy))


def _base(vault: Context, conflict: TwoTexts, note: bytes, copy: bytes) -> bytes | None:
    if vault.repo is None:
        return None
    commits = git.note_log(vault.repo, conflict.path, own_id(note), own_id).commits[:_VERSIONS]
    places = [(entry.commit, path) for entry in commits for path in entry.paths]
    versions = git.show_at(vault.repo, places)
    return common_base([versions[place] for place in places if place in versions], note, copy)


def _field(conflict: TwoTexts, keep: str, text: str, note: bytes) -> bytes:
    head, _, _ = frontmatter.read(note)
    unsettled = head.values.get("unsettled") if head is not None else None
    mark = f"{conflict.place}: {conflict.that}"
    changes: list[Change] = [RemoveItems("unsettled", [mark])]
    if keep != "this":
        present = head.values.get(conflict.place) if head is not None else None
        changes.append(Set(conflict.place, _value(conflict, keep, text, present)))
    after = frontmatter.edit(note, changes)
    if isinstance(unsettled, list) and all(str(other) == mark for other in unsettled):
        after = frontmatter.edit(after, [frontmatter.Remove("unsettled")])
    return after


def _value(conflict: TwoTexts, keep: str, text: str, present: object) -> Value:
    """The value that a field gets, of the kind that the present one is."""
    plain = isinstance(present, Plain)
    if keep == "both":
        if isinstance(present, list):
            other = _parsed(conflict.that)
            more = [str(text) for text in other] if isinstance(other, list) else [conflict.that]
            return [*map(str, present), *(text for text in more if text not in present)]
        if not isinstance(present, str) or (plain and isinstance(_parsed(conflict.this), bool | int | float)):
            raise UsageError(f"`{conflict.place}` can have one value only", "keep this or that, or write another")
        return f"{conflict.this.rstrip()}{chr(10) if chr(10) in conflict.this + conflict.that else '; '}{conflict.that}"
    written = text or conflict.that
    return written if isinstance(present, str) and not plain else _parsed(written)


def _parsed(text: str) -> Value:
    """A text read as a YAML value on one line; the text itself where it is not YAML."""
    head = read_head(f"value: {text}\n")
    value = head.values.get("value") if head.usable and "\n" not in text else text
    if isinstance(value, Plain):
        for kind in _KINDS:
            try:
                return kind(value)
            except ValueError:
                continue
        return {"true": True, "false": False}.get(value, str(value))
    return text if value is None else value


_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
_KINDS: tuple[Callable[[str], int | float], ...] = (int, float)


def _place(conflict: TwoTexts, keep: str, text: str, note: bytes) -> bytes:
    parts = frontmatter.split(note)
    lines = note[parts.body_start :].decode("utf-8").split("\n")
    for place in two_versions.places(lines):
        this, that = ("\n".join(line.removesuffix("\r") for line in side) for side in (place.this, place.that))
        if (this, that) == (conflict.this, conflict.that):
            break
    else:
        raise StaleEdit(f"{conflict.path} was changed meanwhile", f"look at it again: {step('review')}")
    # Two paragraphs stay two, two items of a list one list.
    between = [] if all(_ITEM.match(line) for line in (*place.this, *place.that) if line.strip()) else [""]
    ended = lines[place.last][-1:] if lines[place.last].endswith("\r") else ""
    kept = {"this": place.this, "that": place.that, "both": (*place.this, *(line + ended for line in between), *place.that)}
    new = kept[keep] if keep else [line + ended for line in text.rstrip("\n").split("\n")]
    return note[: parts.body_start] + "\n".join([*lines[: place.first], *new, *lines[place.last + 1 :]]).encode("utf-8")


def _require_note(vault: Context, path: str, data: bytes) -> None:
    """Refuse a text that would be no note, or another one."""
    if not data:
        return
    parsed = parse(path, data, vault.settings.types)
    wrong = [problem for problem in parsed.problems if problem.severity is Severity.ERROR]
    if wrong:
        hint = _MARKED.get(wrong[0].code, wrong[0].hint) or "write it anew"
        raise UsageError(f"that text cannot be kept: {wrong[0].message}", hint)
