"""The icon and the colour of each type of memory, the same in lists, pictures and bars; and what a status looks like."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_GROUPS: Mapping[str, tuple[int, tuple[str, ...]]] = MappingProxyType(
    {
        "fact": (0, ("fact", "configuration", "world_discovery")),
        "problem": (1, ("problem", "error")),
        "failed": (1, ("failed_tactic",)),
        "solution": (2, ("solution", "fix")),
        "decision": (3, ("decision",)),
        "change": (3, ("change",)),
        "understanding": (
            4,
            ("single_subject", "relationship", "structural", "insight", "reflection", "inference", "understanding"),
        ),
        "procedure": (5, ("procedure", "workflow", "pattern", "code_pattern", "protocol")),
        "preference": (6, ("preference", "instruction", "soul", "relationship_beat")),
        "task": (7, ("ongoing_task", "thread", "task_state", "orientation")),
    }
)
_BY_TYPE = {name: (icon, colour) for icon, (colour, names) in _GROUPS.items() for name in names}
_OTHER = ("other", 7)

# What types and classes are called where a name of the files reads badly.
_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "single_subject": "summary of a subject",
        "relationship": "relation of two subjects",
        "structural": "structure",
        "failed_tactic": "failed attempt",
        "in_world_answer": "answer in the story",
        "safe_redirect": "redirected",
    }
)


def icon_of(type_name: str) -> str:
    """The name of a type's icon, without its prefix."""
    return "subjects" if type_name == "subject" else f"t-{_BY_TYPE.get(type_name, _OTHER)[0]}"


def colour_of(type_name: str) -> int:
    """The number of a type's colour, 0 to 7."""
    return _BY_TYPE.get(type_name, _OTHER)[1]


def type_words(type_name: str) -> str:
    """A type, a relation or a field of a head as it is read: `failed attempt`, `change targets`."""
    return _WORDS.get(type_name, type_name.lower().replace("_", " "))
