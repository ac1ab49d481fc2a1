"""The packets of a consolidation pass: one for each subject with enough that is new, then one for a few pairs."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from itertools import combinations

from vault_tool.util.structs import Struct
from vault_tool.util.text import first_tokens, tokens

# So many current observations a subject has before it is worth a first understanding, and a pair before it is a relation.
ENOUGH = 3

# So many new ones a subject needs that is understood already; one is enough where it is about that understanding itself.
MORE = 2

# Of a pair that shares so much of its smaller side, one is a part of the other: no relation between two.
CONTAINED = 0.8

# So many pairs are in one pass, after all subjects.
MOST_PAIRS = 3

# A pass with fewer packets than this takes up what an earlier one left, for its memories were mostly told in other packets.
FEW = 4

# Of a memory with more subjects than this only so many make pairs: a list of everything is no claim of a relation.
MOST_TAGS = 12

# The weight of a new memory by its type; of other types from `_LEAST` to one, by the importance of the type.
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
    """A subject, or a pair of them, with the new memories that make it due and what each weighs.

    `tokens` is about how long their texts are, `shaken` says that a source of the present understanding is overtaken or
    questioned, or one of the new memories questioned, and `shown` how often that understanding was shown since it was written.
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
        """The ids of the new memories that nothing overtook since: so many are told to be new."""
        return tuple(identity for identity, weight in self.weights.items() if weight)

    @property
    def kind(self) -> str:
        """The type of the understanding that would settle it."""
        return "single_subject" if len(self.keys) == 1 else "relationship"

    def worth(self, known: Container[str] = ()) -> float:
        """The value of settling it, by how long it takes to read; what is `known` from an earlier packet counts little."""
        value = sum(weight * (_SHOWN_ALREADY if identity in known else 1.0) for identity, weight in self.weights.items())
        value += _SHAKEN * self.shaken + _PER_SHOWN * math.log1p(self.shown)
        value /= math.sqrt(max(1, self.tokens) / _A_HUNDRED)
        return round(value * (_PAIR if len(self.keys) > 1 else 1.0), 3)

    def says_enough(self, known: Collection[str]) -> bool:
        """Whether so much of what is current in it is not `known` from an earlier packet that it is no repetition."""
        current = self.current or self.new
        unknown = sum(identity not in known for identity in current)
        return unknown >= ENOUGH or 2 * unknown >= len(current)


class Cut(Struct):
    """A text as it fits a budget; `whole` is false where its end was left out."""

    text: str
    whole: bool


def keys_of(keys: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The packets that a memory of these subjects is in: one for each, and for each pair of the first of them."""
    yield from ((key,) for key in keys)
    yield from combinations(sorted(keys[:MOST_TAGS]), 2)


def weight(type: str, importance: float, related: bool) -> float:
    """The weight of a new memory: by its type, whose `importance` is in 0..1, and twice where it is about the understanding."""
    value = _WEIGHTS.get(type, _LEAST + (1 - _LEAST) * importance)
    return value * _RELATED if related else value


def is_contained(shared: int, first: int, other: int) -> bool:
    """Whether of two subjects with so many observations one is a part of the other."""
    return shared >= CONTAINED * min(first, other)


def in_order(
    due_packets: Mapping[tuple[str, ...], Due], names: Mapping[tuple[str, ...], str], known: Collection[str]
) -> list[tuple[Due, float]]:
    """Those that one pass takes, best first, by worth and then by name: what an earlier one of them shows counts little, and
    what would be mostly repetition is left for the next pass. Each with its worth when it comes.
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
        # The worth of the others only falls by what is taken: whichever is the best still at its turn comes next.
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
    """Those that say what is not `understood` elsewhere; then, while a pass has fewer than `few`, those that say it again.

    What shakes a present text waits for no other pass.
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
    """As many of `texts`, in their order, as fit `room` tokens; one that would take over a third of it is cut at a word.

    `cost` is how many tokens the one at a place takes, as it was cut.
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
