"""The registry of types: which class a type belongs to, how it decays, where CORE.md shows it. Data, not code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from msgspec import field

from vault_tool.util.deferred import difflib
from vault_tool.util.structs import Struct


class RecordClass(StrEnum):
    """The class of a record, whatever its type; results call this its `class`."""

    SUBJECT = "subject"
    OBSERVATION = "observation"
    UNDERSTANDING = "understanding"
    EDGE = "edge"
    CONSOLIDATION = "consolidation"
    WORKSPACE = "workspace"


# What is remembered; the rest says what it is about, how it is linked, and how it was gone over.
MEMORIES = (RecordClass.OBSERVATION, RecordClass.UNDERSTANDING)


class CoreSection(StrEnum):
    """The sections of CORE.md below the kept texts, in the order in which they are printed: by what a session needs first."""

    PREFERENCES = "Preferences"
    WHERE_LEFT = "Where It Was Left"
    OPEN_PROBLEMS = "Open Problems"
    UNDERSTANDINGS = "Current Understandings"
    ACTIVE_DECISIONS = "Active Decisions"
    CONFIGURATIONS = "Configurations"
    PATTERNS = "Patterns & Workflows"
    WORTH_KNOWING = "Worth Knowing"
    CRITICAL_SOLUTIONS = "Critical Solutions"
    KEY_FIXES = "Key Fixes"
    DID_NOT_WORK = "What Did Not Work"


# Names that sections had before.
FORMER_SECTIONS: Mapping[str, CoreSection] = {"In Motion": CoreSection.WHERE_LEFT}


class TypeSpec(Struct):
    """One type: `weight` multiplies its decay score, `importance` (0..1) is its default, `known` is false for a guess."""

    name: str
    record_class: RecordClass
    weight: float = 1.0
    importance: float = 0.5
    section: CoreSection | None = None
    always_kept: bool = False
    known: bool = True


_O, _U = RecordClass.OBSERVATION, RecordClass.UNDERSTANDING

BUILT_IN: tuple[TypeSpec, ...] = (
    TypeSpec("subject", RecordClass.SUBJECT),
    TypeSpec("workspace", RecordClass.WORKSPACE),
    TypeSpec("consolidation", RecordClass.CONSOLIDATION),
    TypeSpec("single_subject", _U, 1.25, 0.8, CoreSection.UNDERSTANDINGS),
    TypeSpec("relationship", _U, 1.25, 0.8, CoreSection.UNDERSTANDINGS),
    TypeSpec("structural", _U, 1.0, 0.6, CoreSection.WORTH_KNOWING),
    TypeSpec("soul", _U, 1.0, 1.0, None, always_kept=True),
    TypeSpec("protocol", _U, 1.0, 1.0, None, always_kept=True),
    TypeSpec("orientation", _U, 1.0, 1.0, None, always_kept=True),
    TypeSpec("procedure", _O, 1.4, 0.8, CoreSection.PATTERNS),
    TypeSpec("decision", _O, 1.3, 0.8, CoreSection.ACTIVE_DECISIONS),
    TypeSpec("insight", _O, 1.25, 0.8, CoreSection.UNDERSTANDINGS),
    TypeSpec("solution", _O, 1.2, 0.7, CoreSection.CRITICAL_SOLUTIONS),
    TypeSpec("preference", _O, 1.2, 0.8, CoreSection.PREFERENCES),
    TypeSpec("instruction", _O, 1.2, 0.8, CoreSection.PREFERENCES),
    TypeSpec("code_pattern", _O, 1.1, 0.6, CoreSection.PATTERNS),
    TypeSpec("configuration", _O, 1.1, 0.6, CoreSection.CONFIGURATIONS),
    TypeSpec("pattern", _O, 1.1, 0.6, CoreSection.PATTERNS),
    TypeSpec("fix", _O, 1.0, 0.6, CoreSection.KEY_FIXES),
    TypeSpec("workflow", _O, 1.0, 0.6, CoreSection.PATTERNS),
    TypeSpec("fact", _O, 1.0, 0.5, CoreSection.WORTH_KNOWING),
    TypeSpec("failed_tactic", _O, 1.0, 0.7, CoreSection.DID_NOT_WORK),
    TypeSpec("change", _O, 1.0, 0.7, CoreSection.ACTIVE_DECISIONS),
    TypeSpec("relationship_beat", _O, 1.0, 0.6, CoreSection.WORTH_KNOWING),
    TypeSpec("world_discovery", _O, 1.0, 0.6, CoreSection.WORTH_KNOWING),
    TypeSpec("problem", _O, 0.9, 0.6, CoreSection.OPEN_PROBLEMS),
    TypeSpec("inference", _O, 0.9, 0.5, CoreSection.WORTH_KNOWING),
    TypeSpec("reflection", _O, 0.9, 0.5, CoreSection.WORTH_KNOWING),
    TypeSpec("ongoing_task", _O, 0.9, 0.6, CoreSection.WHERE_LEFT),
    TypeSpec("thread", _O, 0.9, 0.6, CoreSection.WHERE_LEFT),
    TypeSpec("error", _O, 0.8, 0.5, CoreSection.KEY_FIXES),
    TypeSpec("task_state", _O, 0.8, 0.4, CoreSection.WHERE_LEFT),
    TypeSpec("general", _O, 0.8, 0.5, CoreSection.WORTH_KNOWING),
    *(
        TypeSpec(name, RecordClass.EDGE)
        for name in (
            "SOLVES", "CAUSES", "BUILDS_ON", "ALTERNATIVE_TO", "REQUIRES", "FOLLOWS", "RELATED_TO", "ATTEMPTED",
            "CHANGES", "CONTRADICTS", "EVIDENCE_FOR",
            "SHARED_SCENE_WITH", "TEMPORAL_FOLLOWS", "DISCOVERED", "AT_LOCATION", "CONTINUES_THREAD",
        )
    ),
)  # fmt: skip

# The edge by which a memory says that another is no longer so.
CHANGES = "CHANGES"

# The type of what was kept as it was said, for no kind was named.
GENERAL = "general"

# Edge types of which an end may be a subject: the anchor that a beat hangs on.
STORY_EDGES = frozenset({"SHARED_SCENE_WITH", "TEMPORAL_FOLLOWS", "DISCOVERED", "AT_LOCATION", "CONTINUES_THREAD"})

# The understandings that `orient` and CORE.md give whole, in their order.
KEPT_TYPES = ("soul", "protocol", "orientation")

UNKNOWN_WEIGHT = 0.8

# How sure a memory is whose head does not say.
DEFAULT_CONFIDENCE = 0.8

_TYPE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)


def is_type_name(text: str) -> bool:
    """Whether `text` can be a type: a word of letters, digits and `_`."""
    return bool(_TYPE_NAME.fullmatch(text))


# How alike two words are of which one is taken for a slip: `desicion`, `fcat`, but no `session` for `decision`.
_SLIP = 0.75


def near_type(name: str, types: Iterable[str]) -> str:
    """The one of some types that a word is nearly, so that it may be a slip of it; empty where there is none."""
    alike = [candidate for candidate in types if candidate[:1].casefold() == name[:1].casefold()]
    return next(iter(difflib.get_close_matches(name.casefold(), alike, 1, _SLIP)), "")


_MEANT = {
    "insight": "learning lesson finding discovery gotcha pitfall idea takeaway",
    "preference": "wish like dislike feedback style",
    "instruction": "rule policy guideline convention requirement",
    "task_state": "todo task next next_step status progress handoff left_to_do",
    "problem": "bug issue defect failure incident",
    "procedure": "howto how_to step runbook playbook",
    "decision": "choice ruling agreement",
    "fact": "note information info context knowledge observation event",
    "failed_tactic": "failed_attempt dead_end attempt tried",
    "change": "update correction migration",
    "configuration": "setting config environment",
}
_OTHER_WORDS = {word: name for name, words in _MEANT.items() for word in words.split()}
"""What people and models call the types that there are."""


def meant_type(name: str) -> str:
    """The type that another word for it means, whatever it is written like; empty where none is known."""
    return _OTHER_WORDS.get(name.casefold(), "") or _OTHER_WORDS.get(name.casefold().removesuffix("s"), "")


class Registry(Struct):
    """All types of a vault: the built-in ones, extended and overridden by `[types.<name>]` in `vault.toml`."""

    specs: Mapping[str, TypeSpec] = field(default_factory=lambda: {spec.name: spec for spec in BUILT_IN})

    def spec(self, name: str) -> TypeSpec:
        """The type called `name`; an unknown one is guessed (`known` is false): upper-case is an edge, else an observation."""
        spec = self.specs.get(name)
        if spec is not None:
            return spec
        guess = RecordClass.EDGE if name.isupper() else RecordClass.OBSERVATION
        return TypeSpec(name, guess, UNKNOWN_WEIGHT, 0.5, CoreSection.WORTH_KNOWING, known=False)

    def of_class(self, record_class: RecordClass) -> Iterator[TypeSpec]:
        """The known types of one class, in the registry's order."""
        return (spec for spec in self.specs.values() if spec.record_class is record_class)

    def observations(self) -> tuple[str, ...]:
        """The names of the types of observations: what a memory that is kept may be."""
        return tuple(spec.name for spec in self.of_class(RecordClass.OBSERVATION))

    def extended(self, more: Iterable[TypeSpec]) -> Registry:
        """This registry with `more` types; one of the same name is replaced."""
        return Registry({**self.specs, **{spec.name: spec for spec in more}})
