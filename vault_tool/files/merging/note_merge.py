"""The merge of one note: two texts that came of one become a third that has what each side changed."""

from __future__ import annotations

import itertools
from typing import NamedTuple, TypeVar

from vault_tool.files.frontmatter import split
from vault_tool.files.merging.head_merge import NO_HEAD, MergedHead, merge_heads, taken_apart
from vault_tool.files.merging.line_merge import merge_lines
from vault_tool.files.merging.word_merge import in_words
from vault_tool.files.parse import parse
from vault_tool.model.types import RecordClass, Registry
from vault_tool.util.structs import Struct
from vault_tool.util.text import normal_name

_BOM = b"\xef\xbb\xbf"
_MIXED = "mixed"
_REGISTRY = Registry()

_T = TypeVar("_T", bool, str)


class Left(NamedTuple):
    """A conflict that a person settles: a field, or nothing for a place of the text, and the two texts of it in their order."""

    field: str
    this: str
    that: str


class Merged(NamedTuple):
    """A merged note, what is left to a person, and what a rule decided that a person may want to know."""

    data: bytes
    left: tuple[Left, ...] = ()
    told: tuple[str, ...] = ()


def merge(base: bytes | None, ours: bytes, theirs: bytes) -> Merged | None:
    """Both sides' changes to a note in one text, the same whichever side is named first.

    Nothing that either side added is missing from it, and what one removed and the other left is gone. Where both changed
    one place of the body both texts stand there between comments, but for words that stand apart in a line, which are both
    taken; of a field that both changed one stays and the other is an item of `unsettled`. Where one side alone changed
    anything that side is the result, bytes and all. None stands for texts that cannot be read or are not of one note: other
    ids, other types. `base` is None where none is known.
    """
    if ours == theirs or base == theirs:
        return Merged(ours)
    if base == ours:
        return Merged(theirs)
    first, other = (_Side.read(data) for data in sorted((ours, theirs)))
    if first is None or other is None:
        return None
    known = _Side.read(base) if base is not None else None
    if known is not None and known.identity and known.identity not in (first.identity, other.identity):
        known = None
    if not _are_one(known, first, other):
        return None
    return _put_together(known, first, other)


class _Side(Struct):
    """A text taken apart: what stands apart from its lines, its head and its body."""

    bom: bool
    line_end: str
    ended: bool | None
    has_head: bool
    opening: str
    head: str
    closing: str
    body: list[str]
    with_returns: frozenset[str]
    identity: str
    type: str
    name: str | None

    @classmethod
    def read(cls, data: bytes) -> _Side | None:
        """None for what cannot be read, git's markers among it."""
        parsed = parse("note.md", data, _REGISTRY)
        if not parsed.readable:
            return None
        text = data.removeprefix(_BOM).decode("utf-8")
        returns, ends = text.count("\r\n"), text.count("\n")
        line_end = "" if not ends else "\n" if not returns else "\r\n" if returns == ends else _MIXED
        mixed = text.split("\n") if line_end == _MIXED else []
        text = text.replace("\r\n", "\n")
        ended = text.endswith("\n") if text else None
        plain = (text if ended or not text else f"{text}\n").encode("utf-8")
        parts = split(plain)
        cuts = (0, parts.start, parts.end, parts.body_start, len(plain))
        opening, head, closing, body = (plain[a:b].decode("utf-8") for a, b in itertools.pairwise(cuts))
        return cls(
            bom=data.startswith(_BOM),
            line_end=line_end,
            ended=ended,
            has_head=parts.has_head,
            opening=opening,
            head=head,
            closing=closing,
            body=body.split("\n")[:-1],
            with_returns=frozenset(line[:-1] for line in mixed if line.endswith("\r")),
            identity=str(parsed.head.get("id") or ""),
            type=str(parsed.head.get("type") or ""),
            name=normal_name(str(parsed.head.get("name"))) if parsed.record_class is RecordClass.SUBJECT else None,
        )


def _are_one(base: _Side | None, first: _Side, other: _Side) -> bool:
    """Whether two texts are of one note; a page that one side alone adopted is."""
    if first.name is not None and first.name == other.name:
        return True
    for key in ("identity", "type"):
        values = getattr(first, key), getattr(other, key)
        if values[0] != values[1] and (all(values) or base is None or getattr(base, key)):
            return False
    return True


def _put_together(base: _Side | None, first: _Side, other: _Side) -> Merged | None:
    head = _head(base, first, other)
    if head is None:
        return None
    texts = [side.body for side in (base, first, other) if side]
    body = merge_lines(base.body if base else None, first.body, other.body, words=in_words(*texts))
    has_head = bool(head.text) or _picked(base.has_head if base else None, first.has_head, other.has_head)
    with_heads = [side for side in (first, other) if side.has_head]
    text = "\n".join([*body.lines, ""])
    if has_head:
        known = base if base and base.has_head else None
        first, last = with_heads[0], with_heads[-1]
        opening = _picked(known.opening if known else None, first.opening, last.opening)
        closing = _picked(known.closing if known else None, first.closing, last.closing)
        text = f"{opening}{head.text}{closing}{text}"
    ended = first.ended if other.ended is None else other.ended
    if first.ended is not None and other.ended is not None:
        ended = _picked(base.ended if base else None, first.ended, other.ended, otherwise=True)
    # A blank line at the end needs its own.
    if not ended and not text.endswith("\n\n"):
        text = text.removesuffix("\n")
    bom = _picked(base.bom if base else None, first.bom, other.bom)
    data = (_BOM if bom else b"") + _with_ends(text, base, first, other).encode("utf-8")
    # Read rather than reasoned about: a page whose text begins with a rule may have become one with a head.
    if split(data).has_head != has_head:
        return None
    left = [Left(*row) for row in head.twice] + [Left("", "\n".join(this), "\n".join(that)) for this, that in body.twice]
    remarks = [
        *head.told,
        *(f"removed by one side and changed by the other, the change stays: {line}" for line in body.kept),
        *(f"changed by both sides at different words, both are in it: {line}" for line in body.in_words),
    ]
    return Merged(data, tuple(left), tuple(remarks))


def _head(base: _Side | None, first: _Side, other: _Side) -> MergedHead | None:
    if first.head == other.head:
        return MergedHead(first.head)
    for same, changed in ((first, other), (other, first)):
        if base and base.has_head and same.has_head and changed.has_head and same.head == base.head:
            return MergedHead(changed.head)
    texts = [taken_apart(side.head) if side and side.has_head else NO_HEAD for side in (base, first, other)]
    if texts[1] is None or texts[2] is None:
        return None
    return merge_heads(texts[0] if base else None, texts[1], texts[2])


def _with_ends(text: str, base: _Side | None, first: _Side, other: _Side) -> str:
    """The text with the line ends of the side that changed them."""
    ends = [end for end in (first.line_end, other.line_end) if end] or ["\n"]
    end = _picked(base.line_end if base else None, ends[0], ends[-1])
    if end == "\r\n":
        return text.replace("\n", "\r\n")
    if end == _MIXED:
        with_returns = first.with_returns | other.with_returns
        return "\n".join(f"{line}\r" if line in with_returns else line for line in text.split("\n"))
    return text


def _picked(base: _T | None, first: _T, other: _T, otherwise: _T | None = None) -> _T:
    """The value of the side that changed it; if both did, `otherwise` or the lesser."""
    if first == other:
        return first
    if base is not None and base in (first, other):
        return other if first == base else first
    return min(first, other) if otherwise is None else otherwise
