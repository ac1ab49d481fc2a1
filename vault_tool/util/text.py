"""Text as the vault compares, names and shortens it."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

TITLE_LENGTH = 160
SLUG_LENGTH = 60
SLUG_BYTES = 80

# What is said of a text that `is_unicode` refuses, after the name of the field, and what to do about it.
HALF_A_CHARACTER = "is not UTF-8 text: it holds half a character", "pass it whole, as UTF-8"

BYTES_A_TOKEN = 4
_SEPARATORS = re.compile(r"[\s_\-]+")
# Words that deny, in the languages that sentences are read in.
NEGATIONS = frozenset({"not", "no", "never", "cannot", "without", "none", "nicht", "kein", "keine", "keinen", "nie", "nunca"})
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s|[。！？]")
_NOT_SLUG = re.compile(r"[^\w]+")
_WIKILINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_TICKS = re.compile(r"`+")
_MARKS_BEFORE = re.compile(r"\s*(?:#{1,6}\s+|>\s?|[-*+]\s+(?:\[[ xX]\]\s+)?|\d+[.)]\s+)*")
# Nothing in it reaches over the next `[`, so that a line of them is read once and not once for each.
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^)\s\[]*(?:\s[^)\[]*)?\)")
# What a text may begin with that is no prose: a head, a rule, code, a table.
_NO_PROSE = ("-", "`", "~", "|", "*", "_", "=")
_HEAD = re.compile(r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*\r?$\n?", re.MULTILINE | re.DOTALL)
_HEAD_TITLE = re.compile(r"^title:[ \t]*([\"']?)(\S.*?)\1[ \t]*\r?$", re.MULTILINE)
_RULE = re.compile(r"[ \t]*([-*_=])(?:[ \t]*\1){2,}[ \t\r]*")
# Characters of a text, blank lines at its beginning aside, in which its title is looked for.
_TITLE_WITHIN = 20_000
_RESERVED = frozenset(
    {"con", "prn", "aux", "nul", *(f"com{n}" for n in range(10)), *(f"lpt{n}" for n in range(10))}
)  # fmt: skip


# Most characters of a part of a long text: about two thousand tokens.
PART = 8_000


def normal_name(text: str) -> str:
    """The form in which names and aliases are compared: NFKC, case folded; runs of space, `-` and `_` are one space."""
    return _kept_name(text) if len(text) <= _KEPT_NAME else _normal_name(text)


def _normal_name(text: str) -> str:
    if text.isascii():
        # The same in a third of the time, and what nearly every name is.
        return " ".join(text.replace("-", " ").replace("_", " ").lower().split())
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return _SEPARATORS.sub(" ", folded).strip()


_KEPT_NAME = 80
# One question compares the same few hundred names several times.
_kept_name = lru_cache(4096)(_normal_name)


def tag_name(tag: str) -> str:
    """The form in which tags are compared: that of names, with or without the `#` before it."""
    return normal_name(tag.strip().removeprefix("#"))


# Beginnings that are spoken otherwise than they are written.
_SILENT = ("hour", "honest", "honour", "honor", "heir")
_AS_CONSONANTS = ("uni", "use", "usu", "util", "eu", "one", "once", "url")


def counted(count: int, what: str, many: str = "") -> str:
    """`1 error`, `2 errors`: a number with its noun; `many` is the plural of one that does not form it with an s."""
    return f"{count:,} {what if count == 1 else many or f'{what}s'}"


def with_article(noun: str) -> str:
    """A noun of the tool or of a vault with its article: `a soul`, `an orientation`."""
    word = noun.lstrip("`").casefold()
    vowel = word.startswith(_SILENT) or (word[:1] in ("a", "e", "i", "o", "u") and not word.startswith(_AS_CONSONANTS))
    return f"{'an' if vowel else 'a'} {noun}"


def tokens(text: str) -> int:
    """About how many tokens of a model a text is: four bytes each, which is near for prose and other scripts alike."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_A_TOKEN)


def first_tokens(text: str, count: int) -> str:
    """The longest beginning of `text` that is at most `count` tokens."""
    if tokens(text) <= count:
        return text
    # What cannot be encoded became one `?` each: the two have as many characters.
    data = text.encode("utf-8", "replace")[: max(0, count) * BYTES_A_TOKEN]
    return text[: len(data.decode("utf-8", "ignore"))]


def is_unicode(text: str) -> bool:
    """Whether a text can be written as UTF-8: half a surrogate pair, as of a cut emoji or of foreign bytes, cannot."""
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def normal_body(text: str) -> str:
    """The form in which bodies are compared for being the same: NFC, white space folded, ends trimmed."""
    return " ".join((text if text.isascii() else unicodedata.normalize("NFC", text)).split())


def body_hash(text: str) -> str:
    """The hash under which exact duplicates meet (of the normalised body; empty for an empty one)."""
    body = normal_body(text)
    return hashlib.blake2b(body.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest() if body else ""


def content_hash(data: bytes) -> str:
    """The hash of a file's bytes by which a change is noticed."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def one_line(text: str, limit: int | None = None) -> str:
    """`text` on one line without control or direction-changing characters, cut at a word with an ellipsis past `limit`."""
    # Of a long text the beginning is mostly enough: each note of a rebuild is asked for a line of its own.
    flat = " ".join((text if limit is None else text[: 2 * limit]).split())
    if limit is not None and len(text) > 2 * limit and (len(flat) <= limit or not flat.isprintable()):
        flat = " ".join(text.split())
    if not flat.isprintable():
        flat = " ".join("".join(c if c.isprintable() else " " for c in flat).split())
    if limit is None or len(flat) <= limit:
        return flat
    cut = flat[: limit - 1]
    word_end = cut.rfind(" ")
    return (cut[:word_end] if word_end > limit // 2 else cut).rstrip(" ,;:.-") + "…"


def beginning(text: str, limit: int) -> str:
    """The beginning of a text within `limit` characters, its lines as they are, cut at a word with an ellipsis."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = max(cut.rfind(" "), cut.rfind("\n")) if not text[limit - 1].isspace() else len(cut)
    return (cut[:space] if space > limit // 2 else cut).rstrip() + "…"


def first_sentence(body: str, limit: int = TITLE_LENGTH) -> str:
    """The title of a text that has none: its first line's first sentence, without marks and comments, of at most `limit`."""
    text = body.lstrip()[:_TITLE_WITHIN]
    if text[:1] in _NO_PROSE:
        text = _first_prose(text)
    for line in text.split("\n"):
        plain = plain_line(line)
        if plain and not (plain.startswith("<!--") and plain.endswith("-->")):
            return one_line(_SENTENCE_END.split(plain, maxsplit=1)[0].rstrip(".。"), limit) or one_line(plain, limit)
    return ""


def _first_prose(text: str) -> str:
    """A text that begins with a head, a rule, code or a table, from its first words on; those of the code or table where no
    others follow. A head with a title is that title.
    """
    if head := _HEAD.match(text):
        if titled := _HEAD_TITLE.search(head[1]):
            return titled[2].strip()
        text = text[head.end() :]
    instead = ""
    lines = text.split("\n")
    for number, line in prose_lines(text):
        if not line.strip() or _RULE.fullmatch(line):
            continue
        if not line.lstrip().startswith("|"):
            return "\n".join(lines[number - 1 :])
        instead = instead or ", ".join(filter(None, (cell.strip() for cell in line.strip(" \t\r|").split("|"))))
    code = (line for line in lines if line.strip() and not _RULE.fullmatch(line) and not _FENCE.match(line))
    return instead or next(code, "")


def plain_line(line: str) -> str:
    """One markdown line without its heading, list and quote marks and with links as their text."""
    marks = _MARKS_BEFORE.match(line)
    plain = line[marks.end() if marks else 0 :]
    # Each line of each note of a rebuild comes by here, and few have any of these.
    if "[" in plain:
        plain = _LINK.sub(r"\1", _WIKILINK.sub(lambda m: link_label(m.group(1)), plain))
    if "*" in plain or "`" in plain:
        plain = re.sub(r"[*`]+", "", plain)
    return " ".join(plain.split())


def slug(text: str, fallback: str = "untitled") -> str:
    """A file name's stem for `text`: lower case, words joined by `-`, ASCII where that loses nothing, else Unicode letters.

    At most 60 characters and 80 UTF-8 bytes; never empty, hidden, reserved on Windows, or able to leave its folder.
    """
    lowered = unicodedata.normalize("NFKC", text).casefold()
    plain = "".join(c for c in unicodedata.normalize("NFD", lowered) if not unicodedata.combining(c))
    # Dropping accents is lossless enough for Latin letters; other scripts keep theirs (й is not и).
    letters = plain if plain.isascii() else unicodedata.normalize("NFC", lowered)
    words = _NOT_SLUG.sub("-", letters.replace("_", "-")).strip("-")
    cut = words[:SLUG_LENGTH]
    while len(cut.encode("utf-8", "ignore")) > SLUG_BYTES:
        cut = cut[:-1]
    cut = cut.encode("utf-8", "ignore").decode("utf-8").strip("-")
    if not cut:
        return fallback
    return f"{cut}-note" if cut in _RESERVED else cut


def link_label(inner: str) -> str:
    """The visible text of a wikilink."""
    target, _, label = inner.replace("\\|", "|").partition("|")
    return (label or target).strip()


def unwrap_link(text: str) -> str:
    """A subject's name from a list item that may be a wikilink: the label names it, the target is its file."""
    match = _WIKILINK.fullmatch(text.strip())
    return link_label(match.group(1)) if match else text.strip()


def without_code(line: str, instead: str = "") -> str:
    """The line with something instead of its inline code, which stands between two runs of as many backticks."""
    if "`" not in line:
        return line
    runs = [run.span() for run in _TICKS.finditer(line)]
    closing: dict[int, int] = {}
    ends = [0] * len(runs)
    for n in range(len(runs) - 1, -1, -1):
        length = runs[n][1] - runs[n][0]
        ends[n] = closing.get(length, 0)
        closing[length] = n
    lines: list[str] = []
    at = n = 0
    while n < len(runs):
        if ends[n]:
            lines += [line[at : runs[n][0]], instead]
            at, n = runs[ends[n]][1], ends[n]
        n += 1
    return "".join([*lines, line[at:]])


def prose_lines(body: str) -> Iterator[tuple[int, str]]:
    """The lines of a markdown body outside fenced code, with their number from 1; line ends are `\\n` alone."""
    if "```" not in body and "~~~" not in body:
        yield from enumerate(body.split("\n"), 1)
        return
    fence = ""
    for number, line in enumerate(body.split("\n"), 1):
        opened = _FENCE.match(line)
        if fence:
            if opened and opened.group(1)[0] == fence[0] and len(opened.group(1)) >= len(fence) and not line.strip(" \t\r`~"):
                fence = ""
            continue
        if opened:
            fence = opened.group(1)
            continue
        yield number, line
