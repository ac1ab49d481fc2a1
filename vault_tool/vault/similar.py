"""Similar memories, looked for before a new memory makes a twin."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import TypeAlias

from vault_tool.errors import Busy, StorageError, VaultError
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util.structs import Struct
from vault_tool.util.text import body_hash
from vault_tool.vault.answers import body_of
from vault_tool.vault.context import Context

# From this share of common words on a memory counts as nearly the same.
NEAR = 0.5

# From this cosine on: paraphrases by the local model are at 0.88 to 0.94, the same said of another thing at 0.7.
NEAR_IN_MEANING = 0.85

_LOOKED_AT = 8
_QUERY_WORDS = 32
_WORD = re.compile(r"[^\W_]+")
_SEAMLESS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]")


_GENERAL = "general"
_IN_THIS_PROCESS = "local"
_Alike: TypeAlias = tuple[Entry, float, str]


class Similar(Struct):
    """A memory that says nearly the same; `likeness` is 0..1, `same_type` false where it says so as another type.

    `by` says what is alike: `words` (the share in common) or `meaning` (the cosine of the texts).
    """

    id: str
    type: str
    title: str
    likeness: float
    same_type: bool
    path: str
    by: str = "words"


def near(vault: Context, text: str, type: str = "", limit: int = 3) -> tuple[Similar, ...]:
    """The memories that say nearly what `text` says, the likest first; an exact twin of this type is not among them.

    Likeness is the share of words and neighbouring pairs of words that both texts have (Dice's coefficient), over what
    full text finds best. Where this process compares meanings already, by a model of its own, paraphrases are found too.
    Indexes must be fresh.
    """
    text_features = features(text)
    if not text_features or limit < 1:
        return ()
    body_key = body_hash(text)
    by_id: dict[str, Similar] = {}
    for entry, likeness, by in (*_in_words(vault, text, text_features), *_in_meaning(vault, text)):
        same = entry.type == type or not type
        # The same text as the same type is a twin, which the caller has looked for already; as another type it is news.
        if (entry.body_hash != body_key or not same) and entry.id not in by_id:
            by_id[entry.id] = Similar(entry.id, entry.type, entry.title, round(likeness, 3), same, entry.path, by)
    return tuple(sorted(by_id.values(), key=lambda memory: (-memory.likeness, memory.id))[:limit])


def dice(first: frozenset[str], other: frozenset[str]) -> float:
    """The share that two sets have in common, 0..1 (Dice 1945)."""
    return 2 * len(first & other) / (len(first) + len(other)) if first or other else 0.0


def features(text: str) -> frozenset[str]:
    """The words of a text and the pairs of words that follow each other; runs without spaces count by letter."""
    words = list(_words(text))
    return frozenset(words) | frozenset(f"{word} {other}" for word, other in pairwise(words))


def _words(text: str) -> Iterator[str]:
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        if _SEAMLESS.search(word):
            yield from word
        else:
            yield word


def sharing_words(vault: Context, text: str) -> tuple[Entry, ...]:
    """The observations that full text finds best for a text, looked up once in a state of the vault."""
    return vault.index.catalog.derived(("sharing words", text), partial(_sharing_words, vault, text))


def _sharing_words(vault: Context, text: str) -> tuple[Entry, ...]:
    # Words alone: quotes and stars of the text must not be read as a query's.
    words = " ".join(list(dict.fromkeys(_WORD.findall(text)))[:_QUERY_WORDS])
    try:
        hits = vault.index.search(words, _LOOKED_AT, [RecordClass.OBSERVATION.value], waiting=True)
    except (Busy, StorageError):
        # Advice is not worth failing a write for.
        return ()
    return tuple(vault.index.catalog.by_paths([hit.path for hit in hits]).values())


def _in_words(vault: Context, text: str, text_features: frozenset[str]) -> Iterator[_Alike]:
    for entry in sharing_words(vault, text):
        likeness = _likeness(vault, text_features, entry)
        if likeness >= NEAR:
            yield entry, likeness, "words"


def _in_meaning(vault: Context, text: str) -> Iterator[_Alike]:
    vectors = vault.embedding.opened
    # Whoever writes holds the lock now: a server, even one on this machine, may take minutes to load its model.
    if vectors is None or vectors.embedder is None or not vectors.ready or vectors.embedder.provider != _IN_THIS_PROCESS:
        return
    from vault_tool.index.embedding.embedder import Role  # whoever has vectors has loaded it

    try:
        done = vectors.embedder.embed([text], Role.DOCUMENT)
        hits = [] if done.refused else vectors.similarities({_GENERAL: done.vectors[0]}).top(_LOOKED_AT)
    except VaultError:
        return
    entries = vault.index.catalog.by_paths([hit.path for hit in hits if hit.cosine >= NEAR_IN_MEANING])
    for hit in hits:
        if hit.path in entries and entries[hit.path].record_class is RecordClass.OBSERVATION:
            yield entries[hit.path], hit.cosine, "meaning"


def _likeness(vault: Context, text_features: frozenset[str], entry: Entry) -> float:
    try:
        return dice(text_features, features(body_of(vault, entry)))
    except VaultError:
        return 0.0
