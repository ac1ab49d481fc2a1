"""The schema of heads: which fields a class has and what kind of value each holds, in the order they are written.

Of an observation a row says all that is known of a field, for every door: how it is told, searched, given and repeated.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypedDict

from vault_tool.model.types import RecordClass


class FieldKind(Enum):
    """How the source text of a field is typed."""

    TEXT = "text"
    TEXTS = "a list of texts"
    SUBJECTS = "a list of subject names"
    UNIT = "a number from 0 to 1"
    COUNT = "a whole number"
    FLAG = "true or false"
    TIME = "a time (ISO 8601)"
    END = "a time (ISO 8601) or a day, to its end"
    ID = "an id"
    IDS = "a list of ids"


class Parameter(NamedTuple):
    """How a writer gives a field: the help of its option and of the tool's argument, and where it is called otherwise.

    `name` is the parameter's, by default the field's; `flags` are the option's, by default made of it; `contract` is its name
    in a request to write, where it may be said there. `optional` is a text for which none is no text.
    """

    help: str
    name: str = ""
    flags: str = ""
    metavar: str = ""
    contract: str = ""
    optional: bool = False


class Field(NamedTuple):
    """One field of a head.

    `told` is its place among the details of a memory and what stands before it there; `searched` says as what its words are
    found; `words` are the usual ones of a field that is one word, and `narrows` is the help of the filter by that word, where
    there is one. `repeat` is what becomes of it where the text is known: it keeps the two apart, is added to what is there,
    or dropped. `prompted` is in what `vt new` starts from.
    """

    name: str
    kind: FieldKind
    required: bool = False
    given: Parameter | None = None
    told: tuple[int, str] | None = None
    searched: Literal["", "name", "text"] = ""
    words: tuple[str, ...] = ()
    narrows: str = ""
    repeat: Literal["", "apart", "added", "dropped"] = ""
    prompted: bool = False

    @property
    def parameter(self) -> str:
        """Its name among a verb's parameters."""
        return (self.given.name if self.given else "") or self.name

    @property
    def contract(self) -> str:
        """Its name in a request to write; empty where it cannot be given there."""
        return self.given.contract if self.given else ""


class SharedParameters(TypedDict, total=False):
    """The fields of an observation that a writer may give, by the parameters of `remember` and of the contract's `write`."""

    title: str
    tags: Sequence[str]
    importance: float | None
    rationale: str
    failure_mode: str
    change_targets: Sequence[str]
    mood: str


class ObservationParameters(SharedParameters, total=False):
    """All that a writer may say of an observation beside its text and subjects, each a row of its fields."""

    kind: str | None
    confidence: float | None
    observed_at: str | None
    turn: str
    evidence: Sequence[str]
    related_to: Sequence[str]
    problem: str
    steps: Sequence[str]
    preconditions: Sequence[str]
    postconditions: Sequence[str]
    expires: str | None
    until: str | None
    review_by: str | None
    pinned: bool


class Narrowing(TypedDict, total=False):
    """The filters of every verb that answers, lists or reminds, by their parameters."""

    kinds: Sequence[str]
    subject_names: Sequence[str]
    tags: Sequence[str]
    not_tags: Sequence[str]
    project: str | None
    mood: str
    since: str | None
    until: str | None


_K = FieldKind
_P = Parameter
_ID = Field("id", _K.ID, required=True)
_TYPE = Field("type", _K.TEXT, required=True)
_TITLE = Field("title", _K.TEXT)
_SUBJECTS = Field("subjects", _K.SUBJECTS)
_TAGS = Field("tags", _K.TEXTS)
_CREATED = Field("created", _K.TIME)
_PINNED = Field("pinned", _K.FLAG)
_NOT_AT_START = Field("not_at_start", _K.FLAG)
_PROVENANCE = (Field("session", _K.TEXT), Field("turn", _K.TEXT), Field("model", _K.TEXT), Field("origin", _K.TEXT),
               Field("user", _K.TEXT), Field("project", _K.TEXT))  # fmt: skip
_WEIGHING = (Field("importance", _K.UNIT), Field("confidence", _K.UNIT), Field("generation", _K.COUNT))

OBSERVATION: tuple[Field, ...] = (
    _ID,
    Field("type", _K.TEXT, required=True, given=_P("Its type.", "kind", optional=True, contract="kind")),
    Field("title", _K.TEXT, given=_P("A short title; else made from the text.", contract="title"), repeat="apart"),
    _SUBJECTS,
    Field("tags", _K.TEXTS, given=_P("Tags.", flags="--tag -t", contract="tags"), repeat="added"),
    Field("importance", _K.UNIT, given=_P("0 to 1; else by type.", contract="importance"), repeat="dropped"),
    Field("confidence", _K.UNIT, given=_P("How sure, 0 to 1.", contract="confidence"), repeat="dropped"),
    Field("generation", _K.COUNT),
    Field("observed", _K.TIME, given=_P("When it was so, if not now.", "observed_at"), repeat="dropped"),
    _CREATED,
    Field("session", _K.TEXT),
    Field("turn", _K.TEXT, given=_P("The turn of the conversation.")),
    *_PROVENANCE[2:],
    Field("rationale", _K.TEXT, given=_P("Why it is worth keeping.", contract="rationale"), told=(8, "why"), searched="text",
          repeat="dropped"),
    Field("evidence", _K.TEXTS, repeat="dropped",
          given=_P("Evidence for it: file:PATH#L1-L9, commit:SHA, test:NAME, url:ADDRESS, memory:ID.", metavar="REF",
                   contract="evidence_refs")),
    Field("related_to", _K.IDS, given=_P("Understandings that it is direct evidence for."), repeat="added"),
    Field("problem", _K.ID, given=_P("The problem that it is for: id or title.", contract="problem_id"), told=(1, "problem"),
          repeat="apart"),
    Field("failure_mode", _K.TEXT, given=_P("How the tactic failed.", contract="failure_mode"), told=(2, "failed"),
          searched="text", repeat="dropped"),
    Field("commit", _K.TEXT, told=(3, "at commit")),
    Field("change_targets", _K.IDS, told=(7, "changes"), repeat="added",
          given=_P("Memories that the change makes untrue.", flags="--changes", contract="change_targets")),
    Field("steps", _K.TEXTS, given=_P("The steps of a procedure.", flags="--step"), told=(5, "step"), searched="text",
          repeat="apart"),
    Field("preconditions", _K.TEXTS, given=_P("A condition that must hold before.", flags="--precondition"), told=(4, "before"),
          searched="text", repeat="apart"),
    Field("postconditions", _K.TEXTS, given=_P("A condition that holds after.", flags="--postcondition"), told=(6, "after"),
          searched="text", repeat="apart"),
    Field("mood", _K.TEXT, words=("curious", "precise", "understanding-check"), told=(9, "mood"), searched="name",
          repeat="dropped", prompted=True, narrows="Only what was written in this mood.",
          given=_P("curious, precise, understanding-check, or a word of your own.", metavar="WORD", contract="mood")),
    Field("as_of", _K.TIME, told=(10, "as of")),
    Field("expires", _K.END, given=_P("When it stops being so."), told=(11, "expires"), repeat="dropped"),
    Field("until", _K.END, given=_P("Until when it was so, for what is known to have an end."), told=(12, "until"),
          repeat="dropped"),
    Field("review_by", _K.END, given=_P("By when a person is to look at it again."), told=(13, "review by"), repeat="dropped"),
    Field("pinned", _K.FLAG, given=_P("It never fades.", flags="--pin"), repeat="dropped"),
    _NOT_AT_START,
)  # fmt: skip

# The fields that a writer gives, in the order in which they are asked for.
GIVEN: tuple[Field, ...] = tuple(field for field in OBSERVATION if field.given is not None)

# Those that the contract calls as `remember` does.
SHARED: tuple[Field, ...] = tuple(field for field in GIVEN if field.parameter in SharedParameters.__annotations__)

# The fields by which an answer can be narrowed, each to one word.
FILTERED: tuple[Field, ...] = tuple(field for field in OBSERVATION if field.narrows)

# All that narrows an answer, in the order in which it is asked for.
NARROWING: tuple[Field, ...] = (
    Field("kinds", _K.TEXTS), Field("subject_names", _K.TEXTS), Field("tags", _K.TEXTS), Field("not_tags", _K.TEXTS),
    Field("project", _K.TEXT, given=_P("", optional=True)),
    *(field._replace(given=_P(field.narrows, metavar=field.given.metavar if field.given else "")) for field in FILTERED),
    Field("since", _K.TIME), Field("until", _K.TIME),
)  # fmt: skip

# The parameters that a verb's `**rest` stands for, by its annotation.
PARAMETERS: Mapping[str, tuple[Field, ...]] = {
    "Unpack[ObservationParameters]": GIVEN, "Unpack[SharedParameters]": SHARED, "Unpack[Narrowing]": NARROWING,
}  # fmt: skip

# The fields that hold one word, of which some are usual.
OF_WORDS: tuple[Field, ...] = tuple(field for field in OBSERVATION if field.words)

# The fields that say until when something is so, or by when it is to be looked at.
OF_ENDS: tuple[str, ...] = tuple(field.name for field in OBSERVATION if field.kind is FieldKind.END)

_FIELDS: dict[RecordClass, tuple[Field, ...]] = {
    RecordClass.WORKSPACE: (
        _ID, _TYPE, Field("name", _K.TEXT), Field("description", _K.TEXT), _CREATED,
    ),
    RecordClass.SUBJECT: (
        _ID, _TYPE, Field("name", _K.TEXT, required=True), Field("aliases", _K.TEXTS), Field("summary", _K.TEXT),
        _TAGS, Field("key", _K.TEXT), Field("role", _K.TEXT), _CREATED, Field("session", _K.TEXT), Field("model", _K.TEXT),
        Field("origin", _K.TEXT), _PINNED,
    ),
    RecordClass.OBSERVATION: OBSERVATION,
    RecordClass.UNDERSTANDING: (
        _ID, _TYPE, _TITLE, Field("summary", _K.TEXT, required=True), _SUBJECTS, _TAGS, *_WEIGHING,
        Field("supersedes", _K.IDS), Field("sources", _K.IDS), Field("reason", _K.TEXT), Field("pass", _K.ID),
        _CREATED, *_PROVENANCE, Field("expires", _K.END), Field("until", _K.END), Field("review_by", _K.END), _PINNED,
        _NOT_AT_START,
    ),
    RecordClass.EDGE: (
        _ID, _TYPE, Field("from_id", _K.ID, required=True), Field("from_title", _K.TEXT),
        Field("to_id", _K.ID, required=True), Field("to_title", _K.TEXT), Field("strength", _K.UNIT),
        Field("evidence", _K.TEXTS), Field("confidence", _K.UNIT), _CREATED, Field("updated", _K.TIME), *_PROVENANCE,
    ),
    RecordClass.CONSOLIDATION: (
        _ID, _TYPE, Field("generation", _K.COUNT), Field("parents", _K.IDS), _CREATED, Field("session", _K.TEXT),
        Field("model", _K.TEXT), Field("origin", _K.TEXT),
    ),
}  # fmt: skip

SCHEMA: Mapping[RecordClass, Mapping[str, Field]] = MappingProxyType(
    {record_class: MappingProxyType({field.name: field for field in fields}) for record_class, fields in _FIELDS.items()}
)

BODY_REQUIRED = frozenset({RecordClass.OBSERVATION, RecordClass.UNDERSTANDING})

# Whether the value of a kind is a list.
LISTS = frozenset({_K.TEXTS, _K.SUBJECTS, _K.IDS})

_TYPED = {_K.TEXT: "str", _K.ID: "str", _K.FLAG: "bool", _K.UNIT: "float | None", _K.COUNT: "int | None"}
_UNSAID: dict[FieldKind, object] = {_K.TEXT: "", _K.ID: "", _K.FLAG: False}


def repeated(what: str) -> tuple[str, ...]:
    """The fields of an observation with which a repeat does this."""
    return tuple(field.name for field in OBSERVATION if field.repeat == what)


def searched(what: str) -> tuple[str, ...]:
    """The fields of an observation whose words are found as this."""
    return tuple(field.name for field in OBSERVATION if field.searched == what)


def annotation(field: Field) -> str:
    """The type of the parameter that gives a field, as annotations write it."""
    if field.kind in LISTS:
        return "Sequence[str]"
    typed = _TYPED.get(field.kind, "str | None")
    return f"{typed} | None" if field.given and field.given.optional else typed


def unsaid(field: Field) -> Any:
    """The default of the parameter that gives a field."""
    if field.kind in LISTS:
        return ()
    return None if field.given and field.given.optional else _UNSAID.get(field.kind)


def by_parameter(arguments: Mapping[str, Any], fields: Iterable[Field] = GIVEN) -> dict[str, Any]:
    """Values given by parameters, by the names of their fields; TypeError, as Python has it, for an unknown parameter."""
    names = {field.parameter: field for field in fields}
    for name in arguments:
        if name not in names:
            raise TypeError(f"got an unexpected keyword argument {name!r}")
    return {field.name: arguments.get(name, unsaid(field)) for name, field in names.items()}
