"""How text from notes is put on a page so that it can neither leave its line or block nor pass for the page itself."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_LINE_ENDS = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_JOINERS = "\u200c\u200d"
# Letters and marks without a shape: fillers, the grapheme joiner, and the variation selectors that can carry bytes.
_SHAPELESS = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0d\uffa0\U000e0100-\U000e01ef]")

_MARKS = re.compile(r"[\\`*\[\]|]|~(?=~)|(?<=~)~|(?<![^\W_])_|_(?![^\W_])|(?:^|(?<=\s))#|&(?=#|\w+;)|!(?=\[)")
_ESCAPED = re.compile(r"\\([\\`*\[\]|~_#&!])|&(lt|gt);")
_TAG = re.compile(r"<|(?<=--)>|^>")

# What a client, or the model behind it, may take for its own frame: a tag, a special token, a turn's brackets.
_FRAME_TAG = re.compile(r"<(?![\s\d=-]|$)", re.M)
_FRAME_BRACKET = re.compile(r"\[(\s*/?\s*(?:INST|SYS\w*|USER|ASSISTANT|AVAILABLE_TOOLS|TOOL_\w+)\s*)\]", re.I)

_HEADING = re.compile(r" *#{1,6}(?: +(.*?))?(?: +#+)? *")
_INNER_HEADING = re.compile(r"^( *(?:(?:[-*+>]|\d{1,9}[.)]) *)+)(?=#{1,6}(?: |$))")
_UNDERLINE = re.compile(r"^([ >]*)(?==+ *$|-+ *$)")
_DEFINITION = re.compile(r"^([ >]*(?:(?:[-*+]|\d{1,9}[.)]) +)*)(?=\[[^\]]+\]:)")
_IN_PATH = frozenset("/-_.~+,=@")


def readable(text: str) -> str:
    """`text` without what cannot be seen: controls, direction marks, tag characters, shapeless letters.

    Newlines and tabs stay. A joiner stays where it joins two letters or signs that are not ASCII (Persian words,
    joined emoji), because there it can be seen.
    """
    if text.isascii() and text.isprintable():
        return text
    shaped = _SHAPELESS.sub("", text)
    return shaped if shaped.isprintable() else "".join(_seen(shaped))


def _seen(text: str) -> Iterator[str]:
    last = len(text) - 1
    for place, char in enumerate(text):
        if char in "\n\t" or char == " " or char.isprintable():
            yield char
        elif char in _JOINERS:
            if 0 < place < last and _joinable(text[place - 1]) and _joinable(text[place + 1]):
                yield char
        elif unicodedata.category(char) == "Zs":
            yield " "


def _joinable(char: str) -> bool:
    return not char.isascii() and char.isprintable()


def unframed(text: str) -> str:
    """`text` in which nothing can pass for the frame that a client puts around what it sends its model.

    It is for all that a conversation is given unasked, whichever way. `<` before a letter, a slash or a sign, `<|` and
    `[INST]` are spelt so that they read the same and do nothing; a lone `<` of arithmetic or an arrow stays.
    """
    return _FRAME_BRACKET.sub(r"\\[\1\\]", _FRAME_TAG.sub("&lt;", readable(text)))


def inline(text: str, limit: int) -> str:
    """`text` on one line of at most `limit` characters, each mark of markdown and HTML in it made harmless.

    Escaping comes after cutting and may make it up to four times as long.
    """
    flat = _flat(_LINE_ENDS.sub(" ", text[: 8 * limit]), limit)
    return _TAG.sub(_entity, _MARKS.sub(lambda mark: "\\" + mark.group(), flat))


def as_written(escaped: str) -> str:
    """The line of which `inline` made this, for a reader whose marks mean nothing."""
    return _ESCAPED.sub(lambda mark: mark[1] or ("<" if mark[2] == "lt" else ">"), escaped)


def words(text: str, limit: int) -> str:
    """Like `inline`, for lists in brackets and provenance: brackets, commas and dashes that part a line are dropped too."""
    return inline(" ".join(re.sub(r"[(),—–]", " ", text[: 8 * limit]).split()), limit)


def _flat(text: str, limit: int) -> str:
    seen = " ".join(readable(text).split())
    if len(seen) <= limit:
        return seen
    word_end = seen.rfind(" ", limit // 2, limit)
    return seen[: word_end if word_end > 0 else limit - 1].rstrip(" ,;:.-") + "…"


def _entity(mark: re.Match[str]) -> str:
    return "&lt;" if mark.group() == "<" else "&gt;"


def link_path(path: str) -> str:
    """A vault's path as the target of a markdown link: letters stay readable, everything else is percent-encoded."""
    return "".join(c if c in _IN_PATH or (c.isalnum() and c.isprintable()) else _percent(c) for c in path)


def _percent(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))


def block(text: str) -> str:
    """A text of several lines with its own headings, rules and comments demoted; what `quote` puts behind `> `.

    Headings become bold lines, so that none looks like a section of the page; HTML, images and link definitions are
    shown as they are written and do nothing. Code is not spared: what opens a fence for one reader does not for another.
    """
    # Tabs first: behind `> ` a tab is two columns, and what was code would become a heading.
    lines = (_line(readable(line).expandtabs(4)) for line in _LINE_ENDS.split(text))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines)).strip("\n")


def quote(escaped: str) -> str:
    """A text made by `block` as a block quote: no line of it begins where the page's own lines begin."""
    return "\n".join(f"> {line}" if line else ">" for line in escaped.split("\n"))


def _line(line: str) -> str:
    heading = _HEADING.fullmatch(line)
    if heading:
        heading_text = (heading.group(1) or "").strip("*_ ")
        line = f"**{heading_text}**" if heading_text and "*" not in heading_text else heading_text
    for start in (_INNER_HEADING, _UNDERLINE, _DEFINITION):
        line = start.sub(r"\1\\", line, count=1)
    return unframed(line.replace("<", "&lt;").replace("-->", "--&gt;").replace("![", "!\\["))
