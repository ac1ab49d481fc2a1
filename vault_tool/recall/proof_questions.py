"""Questions made of memories, to prove that a memory is found again by some of its words and that unrelated words find nothing.

No model makes them: the two rarest words of a memory are left out, and the others are asked. Such a question is fair only if no
other memory has all of its words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from vault_tool.util.structs import Struct

Words: TypeAlias = tuple[str, ...]

MASKED = 2
LEAST_LEFT = 3
_LETTERS = 3
# A question of a person is a sentence: a longer note is asked by its beginning.
_MOST_WORDS = 24
_WORD = re.compile(r"\w+")


class ProofQuestion(Struct):
    """A question made of one memory: the words that are asked, in the memory's order, and the words that were left out."""

    identity: str
    words: Words
    masked: Words

    @property
    def text(self) -> str:
        """The question as it is asked."""
        return " ".join(self.words)

    def fits(self, words: Collection[str]) -> bool:
        """Whether a text with these words has all that is asked."""
        return all(word in words for word in self.words)


def words_of(text: str) -> Words:
    """The different words of a text in their order, in small letters; words of one or two letters are left out."""
    return tuple(dict.fromkeys(word for word in _WORD.findall(text.casefold()) if len(word) >= _LETTERS or not word.isascii()))


def question_of(identity: str, words: Sequence[str], count_of: Mapping[str, int]) -> ProofQuestion | None:
    """The question of a memory, None if too few words are left; `count_of` says in how many memories each word stands."""
    beginning = tuple(words[:_MOST_WORDS])
    masked = tuple(sorted(beginning, key=lambda word: (count_of.get(word, 0), -len(word), word))[:MASKED])
    left = tuple(word for word in beginning if word not in masked)
    return ProofQuestion(identity, left, masked) if len(left) >= LEAST_LEFT else None


def unrelated_question(first: ProofQuestion, second: ProofQuestion, count_of: Mapping[str, int]) -> ProofQuestion:
    """A question of two words of each of two memories: the rarest that were not left out."""
    halves = (sorted(question.words, key=lambda word: (count_of.get(word, 0), word))[:2] for question in (first, second))
    return ProofQuestion("", tuple(word for half in halves for word in half), ())


def stand_together(question: ProofQuestion, words: Collection[str]) -> bool:
    """Whether a text holds words of both memories that an unrelated question was made of."""
    return any(word in words for word in question.words[:2]) and any(word in words for word in question.words[2:])
