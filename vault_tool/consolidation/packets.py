"""What a pass of consolidation consists of: a packet for each subject with new content, then one for each changed pair."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from vault_tool.util.text import first_tokens, tokens

# Up to so many shared observations an intersection may be incidental: it is listed, and flagged.
TRIVIAL = 2

# Of a memory with more subjects than this only so many make pairs: a list of everything is no claim of a relation.
MOST_TAGS = 12

_ELLIPSIS = "…"
_UNSYNTHESISED = 1.5
_PAIR = 0.8
_TRIVIAL_WORTH = 0.1


@dataclass(frozen=True, slots=True)
class Item:
    """One memory that no pass has read yet: its id, what it weighs (0..1), and the keys of its subjects."""

    id: str
    importance: float
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Due:
    """A subject, or a pair of them, with the new items that make it due and what each weighs."""

    keys: tuple[str, ...]
    weights: Mapping[str, float]

    @property
    def new(self) -> tuple[str, ...]:
        """The ids of the new items."""
        return tuple(self.weights)

    @property
    def importance(self) -> float:
        """What the new items weigh together."""
        return sum(self.weights.values())

    def without(self, known: Container[str]) -> Due:
        """The same but for what is `known` already."""
        return Due(self.keys, {identity: weight for identity, weight in self.weights.items() if identity not in known})

    @property
    def kind(self) -> str:
        """The type of the understanding that would settle it."""
        return "single_subject" if len(self.keys) == 1 else "relationship"


@dataclass(frozen=True, slots=True)
class Cut:
    """A text as it fits a budget; `whole` is false where its end was left out."""

    text: str
    whole: bool


def due(items: Iterable[Item]) -> list[Due]:
    """The subjects and pairs that new items touch; the cost grows with the items alone."""
    touched: dict[tuple[str, ...], dict[str, float]] = defaultdict(dict)
    for item in items:
        for keys in keys_of(item.keys):
            touched[keys][item.id] = item.importance
    return [Due(keys, weights) for keys, weights in touched.items()]


def keys_of(keys: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The packets that a memory of these subjects is in: one for each, and for each pair of the first of them."""
    yield from ((key,) for key in keys)
    yield from combinations(sorted(keys[:MOST_TAGS]), 2)


def is_trivial(pair: Due, observations: int) -> bool:
    """Whether a pair shares so little that it may be chance; a subject never is."""
    return len(pair.keys) > 1 and observations <= TRIVIAL


def worth(one: Due, observations: int, understood: bool) -> float:
    """The estimated value of settling a packet: the importance of what is new, more where nothing says it yet.

    A pair counts a little less than a subject, and a trivial one hardly.
    """
    value = one.importance * (1.0 if understood else _UNSYNTHESISED)
    if len(one.keys) > 1:
        value *= _TRIVIAL_WORTH if is_trivial(one, observations) else _PAIR
    return round(value, 3)


def fitted(texts: Sequence[str], room: int, cost: Callable[[int, Cut], int]) -> list[Cut]:
    """As many of `texts`, in their order, as fit `room` tokens; one that would take over a third of it is cut at a word.

    `cost` is how many tokens the one at a place takes, as it was cut.
    """
    longest = max(1, room // 3)
    found: list[Cut] = []
    for place, text in enumerate(texts):
        cut = shortened(text, longest)
        room -= cost(place, cut)
        if room < 0:
            break
        found.append(cut)
    return found


def shortened(text: str, room: int) -> Cut:
    """The beginning of `text` in at most `room` tokens, ending at a word."""
    if tokens(text) <= room:
        return Cut(text, True)
    if room <= 0:
        return Cut("", False)
    head = first_tokens(text, room - tokens(_ELLIPSIS))
    if text[len(head)].isspace():
        return Cut(head.rstrip() + _ELLIPSIS, False)
    at = max(head.rfind(" "), head.rfind("\n"))
    return Cut((head[:at] if at > len(head) // 2 else head).rstrip() + _ELLIPSIS, False)


def best_first(worths: Mapping[tuple[str, ...], float], names: Mapping[tuple[str, ...], str]) -> list[tuple[str, ...]]:
    """The keys of packets as a pass takes them: subjects, then pairs, each by worth and then by name."""
    return sorted(worths, key=lambda keys: (len(keys), -worths[keys], names[keys]))
