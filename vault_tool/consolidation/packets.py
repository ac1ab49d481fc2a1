"""The packets of a consolidation pass: one for each subject with enough new memories, then one for each of a few pairs."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from itertools import combinations

from vault_tool.util.structs import Struct
from vault_tool.util.text import first_tokens, tokens

# The least current observations for the first understanding of a subject, and for a relation between a pair.
ENOUGH = 3

# The least new observations for another understanding of a subject; one is enough if it is about the present understanding.
MORE = 2

# If a pair shares at least this part of its smaller subject, that subject is a part of the other, and no relation is proposed.
CONTAINED = 0.8

# The most pairs in one pass; they come after all subjects.
MOST_PAIRS = 3

# A pass with fewer packets than this also takes packets whose memories were mostly shown in other packets.
FEW = 4

# Only the first so many subjects of a memory make pairs: a long list of subjects claims no relation between any two.
MOST_TAGS = 12

# The weight of a new memory by its type. Other types weigh from `_LEAST` to one, by their importance.
_WEIGHTS = {"change": 1.5, "solution": 1.2, "failed_tactic": 1.2, "problem": 1.1, "decision": 1.1}
_LEAST = 0.8

_ELLIPSIS = "…"
_RELATED = 2.0
_SHAKEN = 2.0
_PER_SHOWN = 0.5
_SHOWN_ALREADY = 0.25
_PAIR = 0.5
_A_HUNDRED = 100


class Due(Struct, kw_only=True):
    """A subject or pair of subjects that is due, with its new memories and their weights.

    `tokens` is the approximate length of their texts. `shaken` says that a source of the present understanding was overtaken
    or questioned, or that a new memory was questioned. `shown` counts how often the understanding was shown since it was
    written.
    """

    keys: tuple[str, ...]
    weights: Mapping[str, float]
    tokens: int = 0
    shaken: bool = False
    shown: int = 0

    @property
    def new(self) -> tuple[str, ...]:
        """The ids of the new memories."""
        return tuple(self.weights)

    @property
    def current(self) -> tuple[str, ...]:
        """The ids of the new memories that no later one overtook; their number is reported as new."""
        return tuple(identity for identity, weight in self.weights.items() if weight)

    @property
    def kind(self) -> str:
        """The type of the understanding that would settle it."""
        return "single_subject" if len(self.keys) == 1 else "relationship"

    def worth(self, known: Container[str] = ()) -> float:
        """The value of settling this packet for its length; memories that are `known` from an earlier packet count little."""
        value = sum(weight * (_SHOWN_ALREADY if identity in known else 1.0) for identity, weight in self.weights.items())
        value += _SHAKEN * self.shaken + _PER_SHOWN * math.log1p(self.shown)
        value /= math.sqrt(max(1, self.tokens) / _A_HUNDRED)
        return round(value * (_PAIR if len(self.keys) > 1 else 1.0), 3)

    def says_enough(self, known: Collection[str]) -> bool:
        """Whether enough of its current memories are not `known` from an earlier packet, so that it is not a repetition."""
        current = self.current or self.new
        unknown = sum(identity not in known for identity in current)
        return unknown >= ENOUGH or 2 * unknown >= len(current)


class Cut(Struct):
    """A text shortened to a budget; `whole` is false if its end was cut off."""

    text: str
    whole: bool


def keys_of(keys: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The keys of the packets that a memory with these subjects is in: each subject, and each pair of the first ones."""
    yield from ((key,) for key in keys)
    yield from combinations(sorted(keys[:MOST_TAGS]), 2)


def weight(type: str, importance: float, related: bool) -> float:
    """The weight of a new memory by its type, whose `importance` is in 0..1; doubled if the memory is about the understanding."""
    value = _WEIGHTS.get(type, _LEAST + (1 - _LEAST) * importance)
    return value * _RELATED if related else value


def is_contained(shared: int, first: int, other: int) -> bool:
    """Whether one subject is a part of another, by the observations of each and those they share."""
    return shared >= CONTAINED * min(first, other)


def in_order(
    due_packets: Mapping[tuple[str, ...], Due], names: Mapping[tuple[str, ...], str], known: Collection[str]
) -> list[tuple[Due, float]]:
    """The packets that one pass takes, by worth (best first) and then by name, each with its worth at its turn.

    A memory that an earlier packet shows counts little, and a packet that would mostly repeat is left for the next pass.
    """
    shown = set(known)
    waiting = [(-packet.worth(shown), names[keys], keys) for keys, packet in due_packets.items()]
    heapq.heapify(waiting)
    taken: list[tuple[Due, float]] = []
    while waiting:
        value, name, keys = heapq.heappop(waiting)
        packet = due_packets[keys]
        if not packet.says_enough(shown):
            continue
        # Each packet taken can only lower the worth of the others, so a packet that is still the best at its turn comes next.
        now = -packet.worth(shown)
        if now > value and waiting and (now, name, keys) > waiting[0]:
            heapq.heappush(waiting, (now, name, keys))
            continue
        taken.append((packet, -now))
        shown.update(packet.weights)
    return taken


def news_first(
    due_packets: Mapping[tuple[str, ...], Due],
    names: Mapping[tuple[str, ...], str],
    shown: Collection[str],
    understood: Collection[str],
    few: int,
) -> list[tuple[Due, float]]:
    """The packets with memories that are not `understood` elsewhere; then, up to `few` in all, packets that repeat.

    A packet that shakes a present understanding is taken in any case.
    """
    taken = in_order(due_packets, names, {*shown, *understood})
    keys_taken = {packet.keys for packet, _ in taken}
    also_shown = {*shown, *(identity for packet, _ in taken for identity in packet.weights)}
    left = {keys: packet for keys, packet in due_packets.items() if keys not in keys_taken}
    for packet, worth in in_order(left, names, also_shown):
        if packet.shaken or len(taken) < few:
            taken.append((packet, worth))
    return taken


def fitted(texts: Sequence[str], room: int, cost: Callable[[int, Cut], int]) -> list[Cut]:
    """As many of `texts`, in their order, as fit `room` tokens; a text longer than a third of that is cut at a word.

    `cost` gives the tokens of a cut text, by its place.
    """
    longest = max(1, room // 3)
    cuts: list[Cut] = []
    for place, text in enumerate(texts):
        cut = shortened(text, longest)
        room -= cost(place, cut)
        if room < 0:
            break
        cuts.append(cut)
    return cuts


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
