"""Details beside a memory's text: the steps of a procedure, the problem of a solution, how a tactic failed, and why."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from vault_tool.model.fields import LISTS, OBSERVATION, OF_ENDS, FieldKind
from vault_tool.util.clock import by_day
from vault_tool.util.text import one_line

# Fields of a head by name, those alone that say something.
Details: TypeAlias = Mapping[str, str | tuple[str, ...]]

# The fields in the order in which they are told, each with what stands before it.
LABELS: Mapping[str, str] = {
    name: label for _, label, name in sorted((*field.told, field.name) for field in OBSERVATION if field.told)
}

# Those that name other memories.
IDS = frozenset(field.name for field in OBSERVATION if field.told and field.kind in (FieldKind.ID, FieldKind.IDS))

# Those that hold several texts.
SEVERAL = frozenset(field.name for field in OBSERVATION if field.told and field.kind in LISTS)

_WORD = re.compile(r"[^\W_](?:[\w-]{0,38}[^\W_])?")


def is_word(text: str) -> bool:
    """Whether a text can be the value of a field of one word: empty, or a word."""
    return not text or _WORD.fullmatch(text) is not None


def details_of(head: Mapping[str, Any]) -> Details:
    """The values of these fields in a head."""
    values = ((name, head[name]) for name in LABELS if head.get(name))
    return {name: tuple(map(str, value)) if isinstance(value, (list, tuple)) else str(value) for name, value in values}


def in_lines(details: Details, short: Callable[[str], str], *, but: str = "") -> Iterator[tuple[str, str]]:
    """Each of them in a line with its label, steps by number; the field `but` was told elsewhere."""
    for name, value in details.items():
        texts = (value,) if isinstance(value, str) else value
        for number, text in enumerate(texts if name != but else (), 1):
            label = LABELS[name] if name != "steps" else f"{LABELS[name]} {number}"
            yield label, short(text) if name in IDS else one_line(by_day(text) if name in OF_ENDS else text)


def in_words(details: Details, short: Callable[[str], str]) -> str:
    """The same on one line, without full stops; empty where there are none."""
    return "; ".join(f"{label}: {text.rstrip('.!;。 ')}" for label, text in in_lines(details, short))
