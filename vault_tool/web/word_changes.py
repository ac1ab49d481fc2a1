"""The history of a note as a person reads it: the words that were struck and those that were added, version by version."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from vault_tool.generate.escape import readable
from vault_tool.util.structs import Struct
from vault_tool.util.text import beginning

if TYPE_CHECKING:
    from vault_tool.features.history.versions import Version

_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
# Texts of more parts than this are compared by lines; so much of what is equal stands beside a change.
_MOST_PARTS, _BESIDE, _MOST_SHOWN = 3000, 9, 1500
_ALIKE = 0.5
# Fields that every write sets: no change that a person made.
_QUIET = frozenset({"id", "created", "updated", "origin", "session", "model", "client", "generation", "title", "previous_id"})


# What an operation is called where a person reads it.
_DONE = {
    "remember": "Written", "add-observations": "Written", "write": "Written", "import": "Imported", "edit": "Edited",
    "amend": "Edited", "commit": "Edited by hand", "tag": "Tags changed", "pin": "Pinned", "unpin": "Unpinned",
    "hide": "Hidden at start", "unhide": "Given at start again",
    "undo": "Taken back", "delete": "Deleted", "review": "Accepted",
    "update": "Corrected", "correct": "Corrected", "merge-subjects": "Subjects merged",
    "create-understanding": "Written", "update-understanding": "Superseded", "doctor": "Fixed",
}  # fmt: skip


class Change(Struct):
    """One version in the history: when, by whom and by what, with what became different."""

    at: str
    author: str
    what: str
    commit: str
    words: Markup
    fields: tuple[Markup, ...]


def changes(past: Sequence[Version], *, more: bool) -> list[Change]:
    """The versions of a note, newest first, each with its difference to the one before it."""
    history = []
    for number, version in enumerate(past):
        older = next((earlier for earlier in past[number + 1 :] if earlier.known), None)
        words = Markup("")
        fields: tuple[Markup, ...] = ()
        if version.known and older is not None:
            words, fields = between(older.text, version.text), tuple(_fields(older, version))
        elif version.known and not more and number == len(past) - 1:
            words = Markup("<ins>{}</ins>").format(readable(beginning(version.text.strip(), 300)))
        history.append(
            Change(
                version.at,
                version.author,
                _DONE.get(version.op, version.op.replace("-", " ").capitalize() or "Changed"),
                version.commit,
                words,
                fields,
            )
        )
    return history


def between(old: str, new: str) -> Markup:
    """Two texts as one, with what was struck and what was added; nothing where they say the same."""
    if old.strip() == new.strip():
        return Markup("")
    before, after = _parts(old.strip()), _parts(new.strip())
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < _ALIKE:  # another text: single words that both have would only make it hard to read
        return Markup("<del>{}</del> <ins>{}</ins>").format(_cut(old.strip()), _cut(new.strip()))
    out: list[Markup] = []
    codes = matcher.get_opcodes()
    for number, (what, left, left_end, right, right_end) in enumerate(codes):
        if what == "equal":
            out.append(_beside(before[left:left_end], first=number == 0, last=number == len(codes) - 1))
            continue
        if left < left_end:
            out.append(Markup("<del>{}</del>").format(_cut("".join(before[left:left_end]))))
        if right < right_end:
            out.append(Markup("<ins>{}</ins>").format(_cut("".join(after[right:right_end]))))
    return Markup("").join(out)


def _parts(text: str) -> list[str]:
    parts = _TOKEN.findall(text)
    return parts if len(parts) <= _MOST_PARTS else text.splitlines(keepends=True)


def _cut(text: str) -> str:
    return readable(beginning(text, _MOST_SHOWN))


def _beside(parts: Sequence[str], *, first: bool, last: bool) -> Markup:
    """The equal parts, cut to what helps to read the change beside them."""
    if len(parts) <= 2 * _BESIDE:
        shown = "".join(parts)
    elif first:
        shown = "… " + "".join(parts[-_BESIDE:])
    elif last:
        shown = "".join(parts[:_BESIDE]) + " …"
    else:
        shown = "".join(parts[:_BESIDE]) + " … " + "".join(parts[-_BESIDE:])
    return escape(readable(shown))


def _fields(older: Version, newer: Version) -> Iterator[Markup]:
    """The fields of a head that changed, a line each."""
    if older.title != newer.title and older.head.get("title") != newer.head.get("title"):
        yield Markup("title: {}").format(between(older.title, newer.title))
    for name in dict.fromkeys((*older.head, *newer.head)):
        if name in _QUIET or older.head.get(name) == newer.head.get(name):
            continue
        yield Markup("{}: {}").format(name.replace("_", " "), _items_changed(older.head, newer.head, name))


def _items_changed(older: Mapping[str, Any], newer: Mapping[str, Any], name: str) -> Markup:
    before, after = _items(older.get(name)), _items(newer.get(name))
    gone = [Markup("<del>{}</del>").format(readable(value)) for value in before if value not in after]
    new = [Markup("<ins>{}</ins>").format(readable(value)) for value in after if value not in before]
    return Markup(" ").join([*gone, *new])


def _items(value: Any) -> list[str]:
    if value in (None, ""):
        return []
    return [str(part) for part in value] if isinstance(value, (list, tuple)) else [str(value)]
