"""What full-text search reads: a note as a document, and a person's query as words, phrases and prefixes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from vault_tool.model.snapshot import Entry

MOST_CLAUSES = 64
"""A pasted page is searched by its first words: the rest would cost time and add noise."""

_SEAMLESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"  # Chinese, Japanese, Korean
)
_RUN = re.compile(f"[{_SEAMLESS}々ー]+")
_PART = re.compile(r'"([^"]*)"|(\S+)')
_MARKS = "#>*-_` "
_NAMES = ("subjects", "tags", "aliases", "key")
_PROSE = (
    "summary", "description", "rationale", "failure_mode", "reason", "steps", "preconditions", "postconditions",
    "from_title", "to_title",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Text:
    """A document: what is searched for one file. `names` are its subjects, tags and aliases."""

    path: str
    title: str
    names: str
    body: str
    record_class: str = ""
    type: str = ""


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing to look for: tokens that follow each other. `needed`: nothing without it is found (a quoted phrase).

    `prefix`: the last token may go on. `together`: the tokens are also good one by one.
    """

    tokens: tuple[str, ...]
    prefix: bool = False
    needed: bool = False
    together: bool = False


def document(entry: Entry, body: str) -> Text:
    """The document of a record. A title that is the body's own beginning is no title: its words would count twice."""
    head = entry.head
    names = [text for field in _NAMES if field in head for text in _texts(head[field])]
    prose = [text for field in _PROSE if field in head for text in _texts(head[field])]
    whole = "\n".join([*prose, body]) if prose else body
    title = "" if _begins(body, entry.title) else entry.title
    return Text(entry.path, title, " . ".join(names), whole, entry.record_class.value, entry.type)


def _begins(body: str, title: str) -> bool:
    """Whether a title was cut from the body's first words, markdown marks aside."""
    cut = title.rstrip("….")
    return bool(cut) and " ".join(body[: 2 * len(cut) + 40].split()).lstrip(_MARKS).startswith(cut)


def page(path: str, title: str, body: str) -> Text:
    """The document of a page."""
    return Text(path, title, "", body, "page", "")


def searchable(text: str) -> str:
    """`text` as the tokenizer takes it: composed, and runs of scripts without spaces cut into overlapping pairs."""
    if text.isascii():
        return text
    return _RUN.sub(_pairs, unicodedata.normalize("NFKC", text))


def _pairs(match: re.Match[str]) -> str:
    run = match.group()
    # The last letter stands alone, so that every letter begins a token and can be found by itself.
    return " " + " ".join([*(run[i : i + 2] for i in range(len(run) - 1)), run[-1]]) + " "


def read_query(text: str, analyze: Callable[[str], Sequence[str]]) -> tuple[Clause, ...]:
    """A person's query: bare words (any may match), "exact phrases" (all must), prefix*. Nothing in it is an operator."""
    clauses: dict[Clause, None] = {}
    for clause in _clauses(text, analyze):
        clauses.setdefault(clause)
        if len(clauses) >= MOST_CLAUSES:
            break
    return tuple(clauses)


def _clauses(text: str, analyze: Callable[[str], Sequence[str]]) -> Iterator[Clause]:
    # What a shell passes that is not UTF-8 reaches us as half a character, which no index takes.
    whole = text.encode("utf-8", "replace").decode("utf-8")
    for quoted, word in _PART.findall(unicodedata.normalize("NFKC", whole)):
        if quoted:
            tokens = tuple(_unpaired(quoted, analyze))
            if tokens:
                yield Clause(tokens, prefix=_open_ended(quoted), needed=True)
            continue
        prefix = word.endswith("*") and len(word) > 1
        tokens = tuple(_unpaired(word, analyze))[:MOST_CLAUSES]
        if not tokens:
            continue
        yield Clause(tokens, prefix=prefix or _open_ended(word), together=len(tokens) > 1)


def _unpaired(text: str, analyze: Callable[[str], Sequence[str]]) -> Iterable[str]:
    """The tokens of a query: as of a document, without the lone last letter of a run that its pairs already hold."""
    return analyze(_RUN.sub(_query_pairs, text))


def _query_pairs(match: re.Match[str]) -> str:
    run = match.group()
    return " " + " ".join(run[i : i + 2] for i in range(max(1, len(run) - 1))) + " "


def _open_ended(text: str) -> bool:
    """Whether a query is one letter of a script without spaces: it is a beginning of pairs."""
    stripped = text.strip()
    return len(stripped) == 1 and bool(_RUN.fullmatch(stripped))


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [str(item) for item in value] if isinstance(value, (list, tuple)) else []
