"""Values of full-text search: a note as a document, a person's query as words and phrases, and hits."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from msgspec.structs import replace

from vault_tool.index.fulltext.identifiers import compounds, with_pictures
from vault_tool.model.fields import searched
from vault_tool.model.own_properties import own_properties
from vault_tool.model.snapshot import PUT, Entry
from vault_tool.util.deferred import deferred_pattern
from vault_tool.util.note_links import without_ending
from vault_tool.util.seamless import RUN, asked_pairs
from vault_tool.util.structs import Struct
from vault_tool.util.text import TITLE_LENGTH, first_sentence, normal_name

# Stands for a dot within a word: a letter to the tokenizer, and none that anybody types.
_DOT = "\u02d0"

_MOST_HEADINGS = 100
_FIRST_PARTS = 6

# A pasted page is searched by its first words: the rest would cost time and add noise.
MOST_CLAUSES = 64

_PART = deferred_pattern(r'"([^"]*)"|(\S+)')
# From the first dot of what is joined by dots. It begins with the dot, so that text without any costs nothing.
_JOINED = deferred_pattern(r"\.(?<=\w\.)\w++(?:\.\w++)*")

_HEADING = deferred_pattern(r"^ {0,3}#{1,6}[ \t]+([^ \t\n].*)$", re.MULTILINE)  # what closes it is cut off by `headings`
_FENCED = deferred_pattern(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_PARAGRAPH = deferred_pattern(r"\n[ \t]*\n")
_MARKS = "#>*-_` "
_NAMES = ("subjects", "tags", "aliases", "key", *searched("name"))
_LISTS = frozenset({"subjects", "tags"})
_PROSE = ("summary", "description", *searched("text"), "reason", "from_title", "to_title")


class SearchDocument(Struct):
    """A document: what is searched for one file. `names` are its subjects, tags and aliases.

    By its `handles` (title, file name, aliases), `headings` and `tags`, one a line, a question may call it. `properties` are
    what its head says of its own, keys and all.
    """

    path: str
    title: str
    names: str
    body: str
    record_class: str = ""
    type: str = ""
    handles: str = ""
    headings: str = ""
    tags: str = ""
    properties: str = ""


class Clause(Struct):
    """One thing to look for: tokens that follow each other. `needed`: nothing without it is found (a quoted phrase).

    `prefix`: the last token may go on. `together`: the tokens are also good one by one. `instead`: they are another way
    to write what these say (`plugin` for `plug-in`), so that a text without them lacks nothing.

    `pairs`: the tokens are overlapping pairs of letters, of which some may lie across two words. `optional`: they count only if
    some text has them.
    """

    tokens: tuple[str, ...]
    prefix: bool = False
    needed: bool = False
    together: bool = False
    instead: tuple[str, ...] = ()
    optional: bool = False
    pairs: bool = False


class TextHit(NamedTuple):
    """One file that a query found; `score` is BM25, comparable within one answer only."""

    path: str
    score: float


class NameMatch(NamedTuple):
    """How nearly a question is what a file may be called: a title, file name or alias (0..1), a heading (0..1); and whether it
    names one of its tags.
    """

    handle: float = 0.0
    heading: float = 0.0
    tag: bool = False


NO_NAME_MATCH = NameMatch()


def document(entry: Entry, body: str) -> SearchDocument:
    """The document of a record. A title that was made of the body's first sentence is no title: its words would count twice."""
    head = entry.head
    names = _named(entry)
    prose = [text for field in _PROSE if field in head for text in _texts(head[field])]
    whole = "\n".join([*prose, body]) if prose else body
    title = "" if _is_made(entry.title, body) else entry.title
    called = (name for name in handles(entry) if title or name != entry.title)
    return SearchDocument(
        entry.path, title, names, whole, entry.record_class.value, entry.type,
        handles=_lines(called), headings=_lines(headings(body)), tags=_lines(entry.own("tags")),
        properties=own_properties(entry.record_class, head),
    )  # fmt: skip


def body_in(document: SearchDocument, entry: Entry) -> str:
    """The body that a record's document was made of, without what of its head is searched as prose before it."""
    prose = [text for field in _PROSE if field in entry.head for text in _texts(entry.head[field])]
    return document.body[len("\n".join(prose)) + 1 :] if prose else document.body


def named_anew(document: SearchDocument, entry: Entry) -> SearchDocument:
    """The same document, of an entry of which is known by now who put what to its lists."""
    return replace(document, names=_named(entry), tags=_lines(entry.own("tags")))


def _named(entry: Entry) -> str:
    head, put = entry.head, PUT in entry.head
    texts = (entry.own(field) if put and field in _LISTS else _texts(head.get(field)) for field in _NAMES if field in head or put)
    return " . ".join(text for group in texts for text in group)


def handles(entry: Entry) -> tuple[str, ...]:
    """The names of a record: its title, its aliases, and its file's name if a person or another tool gave that one.

    An alias that is a path, as of a note that was moved, is a name by its last part too.
    """
    return _handles(entry.path, entry.id, entry.title, entry.texts("aliases"))


@lru_cache(maxsize=16)  # asked for twice while a note is taken in
def _handles(path: str, identity: str, title: str, aliases: tuple[str, ...]) -> tuple[str, ...]:
    stem = without_ending(path.rpartition("/")[2])
    ours = stem.endswith(f"-{identity[:6]}")
    if not aliases:
        return (title,) if ours or stem == title else (title, stem)
    # Of more than one word: half of `TCP/IP` is no name of it.
    last = (name for alias in aliases if " " in (name := alias.rpartition("/")[2].strip()))
    return tuple(dict.fromkeys([title, *([] if ours else [stem]), *aliases, *last]))


@lru_cache(maxsize=8192)
def _handle_names(path: str, identity: str, title: str, aliases: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(normal_name, _handles(path, identity, title, aliases))) - {""}


def handle_names(entry: Entry) -> frozenset[str]:
    """The names of a record, as names are compared."""
    return _handle_names(entry.path, entry.id, entry.title, entry.texts("aliases"))


def headings(body: str) -> tuple[str, ...]:
    """The headings of a text; what is code has none."""
    if "#" not in body:
        return ()
    titles = (text.rstrip(" \t#") for text in _HEADING.findall(_FENCED.sub("", body)))
    return tuple(dict.fromkeys(filter(None, titles)))[:_MOST_HEADINGS]


def first_passage(body: str) -> str:
    """The first paragraph that is no heading, where more follows: it says what a text is about."""
    if _PARAGRAPH.search(body) is None:
        return ""
    parts = (part for part in _PARAGRAPH.split(body, maxsplit=_FIRST_PARTS) if part.strip() and part.lstrip()[0] != "#")
    first = next(parts, "")
    return first if next(parts, "") else ""


def _is_made(title: str, body: str) -> bool:
    """Whether a title was made of the body's first sentence, for a text without a given one; a heading is a given one."""
    cut = title.rstrip("….")
    if not cut or body.lstrip()[:1] == "#":
        return False
    plain = " ".join(body[: 2 * len(cut) + 40].split()).lstrip(_MARKS)
    return plain.startswith(cut) and (
        title.endswith("…") or first_sentence(body, max(len(title), TITLE_LENGTH)).rstrip("….") == cut
    )


def _lines(texts: Iterable[str]) -> str:
    return "\n".join([" ".join(text.split()) for text in texts])


def page(path: str, title: str, body: str, aliases: Iterable[str] = (), properties: str = "") -> SearchDocument:
    """The document of a page."""
    also = tuple(aliases)
    names = _lines(dict.fromkeys([title, path.rpartition("/")[2].removesuffix(".md"), *also]))
    other_names = " . ".join(also)
    return SearchDocument(path, title, other_names, body, "page", "", names, _lines(headings(body)), properties=properties)


def searchable(text: str) -> str:
    """`text` as the tokenizer takes it: composed, runs of scripts without spaces cut into overlapping pairs, and what is joined
    by dots (`v1.7`, `node.js`) as one word beside its parts.
    """
    return words_alone(with_joined(text) if "." in text else text)


def with_joined(text: str) -> str:
    """A text in which what is joined by dots stands as one word before itself; a quoted phrase is looked for in the same form."""
    if _JOINED.search(text) is None:
        return text
    parts: list[str] = []
    done = 0
    for start, end in _dotted(text):
        parts += text[done:start], one_word(text[start:end]), " ", text[start:end]
        done = end
    return "".join((*parts, text[done:]))


def words_alone(text: str) -> str:
    """`text` as the tokenizer takes it, without other spellings of what stands in it."""
    return _in_pairs(text, _pairs)


def said_alone(text: str) -> str:
    """`text` as the tokenizer takes it, with only those pairs of a run without spaces that say something."""
    return _in_pairs(text, _said_pairs)


def _in_pairs(text: str, pairs: Callable[[re.Match[str]], str]) -> str:
    return text if text.isascii() else RUN.sub(pairs, with_pictures(unicodedata.normalize("NFKC", text)))


def _said_pairs(match: re.Match[str]) -> str:
    asked = asked_pairs(match[0]) if len(match[0]) > 1 else None
    return " " + " ".join([match[0]] if asked is None else [*chain.from_iterable(asked.words), *asked.bending]) + " "


def _dotted(text: str) -> Iterator[tuple[int, int]]:
    """Where what is joined by dots begins and ends."""
    done = 0
    for match in _JOINED.finditer(text):
        start = match.start()
        while start > done and (text[start - 1].isalnum() or text[start - 1] == "_"):
            start -= 1
        done = match.end()
        yield start, done


def one_word(dotted: str) -> str:
    """Parts joined by dots as one word, which the tokenizer leaves whole."""
    return dotted.replace(".", _DOT)


def _pairs(match: re.Match[str]) -> str:
    run = match.group()
    # The last letter stands alone, so that every letter begins a token and can be found by itself.
    return " " + " ".join([*(run[i : i + 2] for i in range(len(run) - 1)), run[-1]]) + " "


def read_query(text: str, analyze: Callable[[str], Sequence[str]], tells: Callable[[str], bool] = bool) -> tuple[Clause, ...]:
    """A person's query: bare words (any may match), "exact phrases" (all must), prefix*. Nothing in it is an operator.

    Bare words that tell nothing (`tells`) are left out, unless nothing else is there.
    """
    clauses: dict[Clause, None] = {}
    for clause in _clauses(text, analyze, tells):
        clauses.setdefault(clause)
        if len(clauses) >= MOST_CLAUSES:
            break
    return tuple(clauses) if clauses or tells is bool else read_query(text, analyze)


def _clauses(text: str, analyze: Callable[[str], Sequence[str]], tells: Callable[[str], bool]) -> Iterator[Clause]:
    # What a shell passes that is not UTF-8 reaches us as half a character, which no index takes.
    whole = text.encode("utf-8", "replace").decode("utf-8")
    for quoted, word in _PART.findall(with_pictures(unicodedata.normalize("NFKC", whole))):
        if quoted:
            tokens = tuple(_unpaired(with_joined(quoted), analyze))
            if tokens:
                yield Clause(tokens, prefix=_open_ended(quoted), needed=True)
            continue
        if not word.isascii() and not word.endswith("*") and len(max(RUN.findall(word), key=len, default="")) > 1:
            yield from _seamless_clauses(word, analyze)
            continue
        prefix = word.endswith("*") and len(word) > 1
        tokens = tuple(_unpaired(word, analyze))[:MOST_CLAUSES]
        if not tokens or not (prefix or tells(word)):
            continue
        for start, end in _dotted(word):
            yield Clause(tuple(analyze(one_word(word[start:end]))))
        yield Clause(tokens, prefix=prefix or _open_ended(word), together=len(tokens) > 1)
        for whole, parts in compounds(word):
            # In their order alone: who looks for `mark12` does not look for every mark.
            spelled = (whole, *(" ".join(words) for words in parts))
            yield from (Clause(tuple(analyze(spelling)), instead=tokens) for spelling in spelled if spelling)


def _seamless_clauses(word: str, analyze: Callable[[str], Sequence[str]]) -> Iterator[Clause]:
    """The clauses of a word in which letters run on without spaces: what else is in it is searched by itself."""
    for part in _parts_of_runs(word):
        tokens = tuple(analyze(" ".join(part.tokens)))
        # Marks that are no letters, as vowels of Thai are, leave no token.
        if tokens:
            yield replace(part, tokens=tokens, together=part.together and len(tokens) > 1)


def _parts_of_runs(word: str) -> Iterator[Clause]:
    done = 0
    for match in RUN.finditer(word):
        yield Clause((word[done : match.start()],), together=True)
        done = match.end()
        if len(match[0]) == 1:
            yield Clause((match[0],), prefix=True)
            continue
        asked = asked_pairs(match[0])
        yield from (Clause(pairs, together=True, pairs=True) for pairs in asked.words)
        yield from (Clause((letter,), prefix=True) for letter in asked.alone)
        yield from (Clause((pair,), optional=True) for pair in asked.bending)
    yield Clause((word[done:],), together=True)


def _unpaired(text: str, analyze: Callable[[str], Sequence[str]]) -> Iterable[str]:
    """The tokens of a query: as of a document, without the lone last letter of a run that its pairs already hold."""
    return analyze(RUN.sub(_query_pairs, text))


def _query_pairs(match: re.Match[str]) -> str:
    run = match.group()
    return " " + " ".join(run[i : i + 2] for i in range(max(1, len(run) - 1))) + " "


def _open_ended(text: str) -> bool:
    """Whether a query is one letter of a script without spaces: it is a beginning of pairs."""
    stripped = text.strip()
    return len(stripped) == 1 and bool(RUN.fullmatch(stripped))


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [str(item) for item in value] if isinstance(value, (list, tuple)) else []
