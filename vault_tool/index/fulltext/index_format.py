"""The contents of the full-text index: its schema, its tokens, a document's names; and the making of a new one.

This module and `inverted_index` are the only importers of tantivy.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import tantivy
from tantivy import Filter, Tokenizer

from vault_tool.errors import StorageError
from vault_tool.index.fulltext.documents import SearchDocument, first_passage, searchable
from vault_tool.index.fulltext.identifiers import extra_words, spellings
from vault_tool.index.seals import MORE_ROOM, is_full, make_folder
from vault_tool.util.note_links import with_paths_decoded
from vault_tool.util.text import one_line

# How often a word counts besides in the body, by where it stands: in the title, among the names, in a heading, in the first
# passage. All count together, with one length and one rarity (BM25F, Robertson 2004): summed field by field, one word of a
# short title would outweigh the rest of a question.
TITLE, NAMES, HEADING, FIRST = 2, 2, 1, 1

NO_STEMMING = "none"

_LONGEST_TOKEN = 255
FIELD = "text"
# What is found lightly: the properties of a head, and the identifiers of a text in their other spellings. Each is a field of
# its own, so that no text is longer for them, and no word of it more common.
PROPERTIES, SPELLINGS = "properties", "spellings"
_MOST_NAMES = 4_096
_GROUPS = "\x1e"
_ANALYZER = "vault"
# Two threads for a rebuild: 260 ms for 10,000 notes, one takes 410, which is still less than reading the notes. On two
# processors the second thread would only take turns with who reads them.
_REBUILD_WRITER = 100_000_000
_REBUILD_THREADS = 2 if (os.cpu_count() or 1) > 2 else 1


class DocumentNames(NamedTuple):
    """The names of a file, each as the set of its words."""

    handles: tuple[frozenset[str], ...]
    headings: tuple[frozenset[str], ...]
    tags: tuple[frozenset[str], ...]


class Analyzer:
    """Text to tokens: lower case, accents off Latin letters, word endings off by language."""

    def __init__(self, language: str) -> None:
        self.built = _analyzer(language)
        self._telling = _analyzer(language, telling=True)
        # The same few tags and headings stand in many notes.
        self.name = lru_cache(_MOST_NAMES)(self._name)

    def _name(self, name: str) -> str:
        names = dict.fromkeys(" ".join(self.built.analyze(searchable(spelling))) for spelling in (name, *spellings(name)))
        return "\n".join(names)

    def __call__(self, text: str) -> tuple[str, ...]:
        return tuple(self.built.analyze(text))

    def tells(self, text: str) -> bool:
        """Whether a text has more than the function words of its language."""
        return bool(self._telling.analyze(text))


def knows(language: str, of: Callable[[str], Filter] = Filter.stemmer) -> bool:
    """Whether word endings of this language can be taken off (or another filter of it made)."""
    try:
        tantivy.TextAnalyzerBuilder(Tokenizer.simple()).filter(of(language))
    except ValueError:
        return False
    return True


class Builder:
    """A new index in an empty folder: documents are taken one by one while other work goes on, then finished once.

    Each step raises StorageError where the disk is full or refuses.
    """

    def __init__(self, folder: Path, language: str) -> None:
        with WRITING:
            make_folder(folder)
            self._writer = open_index(folder, language).writer(_REBUILD_WRITER, _REBUILD_THREADS)
        self._analyze = Analyzer(language)

    def add(self, text: SearchDocument) -> None:
        """Take one document."""
        with WRITING:
            self._writer.add_document(document_of(text, self._analyze))

    def finish(self) -> None:
        """Put everything on disk."""
        with WRITING:
            self._writer.commit()
            self._writer.wait_merging_threads()


class Writing(AbstractContextManager[None]):
    """Within it, what fails is a StorageError; entered for each document of a build, so it is no generator."""

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        if isinstance(fault, (OSError, ValueError)):
            hint = MORE_ROOM if is_full(fault) else "look at the free space and the permissions of `_cache`"
            raise StorageError(f"the full-text index cannot be written: {one_line(str(fault), 90)}", hint) from fault


WRITING = Writing()


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("path", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_bytes_field("called", stored=True)
    builder.add_text_field(FIELD, tokenizer_name=_ANALYZER)
    for field in (PROPERTIES, SPELLINGS):
        builder.add_text_field(field, tokenizer_name=_ANALYZER)
    for field in ("class", "type"):
        builder.add_text_field(field, tokenizer_name="raw", index_option="basic")
    return builder.build()


SCHEMA = _schema()


def open_index(folder: Path, language: str, new: bool = True) -> tantivy.Index:
    """The index in a folder, made there where it is `new`. Raises OSError or ValueError for a folder that holds none."""
    index = tantivy.Index(SCHEMA, path=str(folder)) if new else tantivy.Index.open(str(folder))
    index.register_tokenizer(_ANALYZER, _analyzer(language))
    # Reloading is ours to time: an answer must be of one state, and the seal is looked at first.
    index.config_reader("manual")
    return index


def _analyzer(language: str, telling: bool = False) -> tantivy.TextAnalyzer:
    """The analyzer that makes tokens of text; `telling` leaves the function words of the language out."""
    builder = tantivy.TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.remove_long(_LONGEST_TOKEN))
    builder = builder.filter(Filter.lowercase())
    if telling and knows(language, Filter.stopword):
        builder = builder.filter(Filter.stopword(language))
    builder = builder.filter(Filter.ascii_fold())
    if language != NO_STEMMING and knows(language):
        builder = builder.filter(Filter.stemmer(language))
    return builder.build()


def document_of(text: SearchDocument, analyze: Analyzer) -> tantivy.Document:
    """A document as the index takes it."""
    document = tantivy.Document()
    document.add_text("path", text.path)
    document.add_bytes("called", names_of_document(text, analyze).encode())
    for part, times in parts_of(text):
        for _ in range(times):
            document.add_text(FIELD, part)
    for field, part in light_parts(text):
        document.add_text(field, part)
    document.add_text("class", text.record_class)
    document.add_text("type", text.type)
    return document


def parts_of(text: SearchDocument) -> Iterable[tuple[str, int]]:
    """All that is searched of a document, and how often it counts."""
    body = with_paths_decoded(text.body)
    weighed = (
        (_named(text.title), TITLE),
        (_named(text.names), NAMES),
        (text.headings, HEADING),
        (first_passage(body), FIRST),
        (body if body and not body.isspace() else text.properties, 1),
    )
    return ((searchable(part), times) for part, times in weighed if part)


def light_parts(text: SearchDocument) -> Iterable[tuple[str, str]]:
    """The parts of a document that are searched lightly, by the field that each stands in."""
    parts = (PROPERTIES, searchable(text.properties)), (SPELLINGS, extra_words(text.body))
    return (part for part in parts if part[1])


def _named(text: str) -> str:
    """A name with the other spellings of its identifiers."""
    extra = extra_words(text)
    return f"{text} {extra}" if extra else text


def names_of_document(text: SearchDocument, analyze: Analyzer) -> str:
    """The names of a file, as tokens: names by lines, in three groups; an identifier in each of its ways."""
    if not (text.handles or text.headings or text.tags):
        return ""
    groups = (text.handles, text.headings, text.tags)
    return _GROUPS.join(["\n".join(map(analyze.name, group.split("\n"))) if group else "" for group in groups])


def names_with(groups: str, words: frozenset[str]) -> DocumentNames:
    """The names, of those that `names_of_document` wrote, that have one of these words."""
    lines = (group.split("\n") for group in groups.split(_GROUPS))
    return DocumentNames(
        *(tuple([name for line in group if not words.isdisjoint(name := frozenset(line.split()))]) for group in lines)
    )
