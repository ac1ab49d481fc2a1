"""Settings of a vault (`vault.toml`) and of this machine (`_config.json`): each option beside its sentence."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import field

from vault_tool.errors import ConfigError
from vault_tool.model.types import FORMER_SECTIONS, CoreSection, RecordClass, Registry, TypeSpec, is_type_name
from vault_tool.util.hints import step
from vault_tool.util.json_text import flaw_in, shown_place
from vault_tool.util.structs import Struct, defaults
from vault_tool.util.text import one_line

PERSPECTIVES: Mapping[str, str] = {
    "general": "",
    "technical": "Represent for retrieval about technical design and implementation:",
    "relational": "Represent for retrieval about relationships, collaboration, and personal context:",
    "temporal": "Represent for retrieval about decisions made, things that changed, and open questions:",
    "project": "Represent for retrieval about project state and progress:",
}


# Languages whose word endings the full-text index can ignore.
LANGUAGES = (
    "arabic", "danish", "dutch", "english", "finnish", "french", "german", "greek", "hungarian", "italian", "norwegian",
    "portuguese", "romanian", "russian", "spanish", "swedish", "tamil", "turkish",
)  # fmt: skip

# Words in the names of the models that are strong today. They change faster than the tool, so a vault may name its own.
STRONG_MODELS = ("opus", "gpt-5", "o3", "fable", "mythos", "ultra")


# What the tables know.
_RECALL = frozenset({"strong_models"})
_TYPE = frozenset({"class", "weight", "importance", "section"})

# Most characters of a file of settings.
LONGEST = 2**16

_MOST_PARTS = 100
_MOST_TOLD = 10


class RecallSettings(Struct):
    """`[recall]` of `vault.toml`; `strong_models` are words in the names of models, in any case."""

    strong_models: tuple[str, ...] = STRONG_MODELS


class Option(Struct):
    """An option for its reader: its sentence, and the values that it may have (any, where there are none)."""

    sentence: str
    choices: tuple[str, ...] = ()


class Config(Struct):
    """Settings of `vault.toml`. Never a secret, an address or a provider: a pulled vault must not send text anywhere."""

    links: str = "plain"
    language: str = "english"
    core_budget: int = 12000
    core_section_limit: int = 15
    share_use: bool = True
    lock_wait: float = 10.0
    embedding_wait: float = 2.0
    session_gap_minutes: float = 30.0
    notes: str = ""
    write_policy: str = "auto"
    understanding_policy: str = "auto"
    review: tuple[str, ...] = ()
    turn_writes: str = "child"
    skipped_turns_days: int = 14
    turn_log: bool = True
    turn_log_turns: int = 1000
    turn_log_bytes: int = 4_000_000
    repo_ids: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    types: Registry = Registry()
    recall: RecallSettings = RecallSettings()
    perspectives: Mapping[str, str] = field(default_factory=lambda: dict(PERSPECTIVES))
    active_perspectives: tuple[str, ...] = ()


_OPTIONS: Mapping[str, Option] = {
    "links": Option("How the tool writes subjects into heads.", ("plain", "wikilink")),
    "language": Option("The language whose word endings full text search ignores; `none` for none.", ("none", *LANGUAGES)),
    "core_budget": Option("Most characters that CORE.md may take."),
    "core_section_limit": Option("Has no effect any more: CORE.md has a budget and no limit of lines."),
    "share_use": Option("Whether commits carry each day's use of memories, so that a clone knows it."),
    "lock_wait": Option("Most seconds to wait for another process's lock."),
    "embedding_wait": Option("Most seconds in all that an answer waits for an embedder."),
    "session_gap_minutes": Option("Minutes without bring_to_mind after which a session is taken to have lost its context."),
    "notes": Option(
        "`..`: the notes of the folder that this vault's own lies in are served too, where they are, and never written.",
        ("", ".."),
    ),
    "write_policy": Option("Whether agents' observations wait for a person's review.", ("auto", "review")),
    "understanding_policy": Option("Whether agents' understandings wait for a person's review.", ("auto", "review")),
    "review": Option("Types or classes of which agents' memories wait for a person's review, beside what the two policies say."),
    "turn_writes": Option(
        "Who writes what turns accept: the owner or a process of its own, or the next write.", ("child", "later")
    ),
    "skipped_turns_days": Option("Days that a turn which wrote nothing is kept on this machine, for a second look."),
    "turn_log": Option("Whether this machine keeps a log of turns: what was said, judged and recalled in each."),
    "turn_log_turns": Option("Most turns in that log; the oldest leave."),
    "turn_log_bytes": Option("Most bytes of that log; the oldest leave."),
    "repo_ids": Option("More names under which requests may mean this vault, beside its own id and name."),
    "projects": Option("Tags that are projects, for what spans several in REFLECTION.md."),
    "types": Option("Types of this vault: `[types.<name>]` with class, weight, importance, section."),
    "recall": Option(
        "What recall weighs: `[recall]` with strong_models, words in the names of models whose conclusions sink less with age."
    ),
    "perspectives": Option("Embedding angles: `[perspectives]` with name = instruction."),
    "active_perspectives": Option(
        "Those of the perspectives that are embedded and asked; none named: all, for a model that is known to heed instructions."
    ),
}


def sentences() -> dict[str, str]:
    """Each option of `vault.toml` with its sentence, for documents and `vt config`."""
    return {name: option.sentence for name, option in _OPTIONS.items()}


def toml_table(text: str) -> dict[str, Any]:
    """The values of a TOML text; ValueError for what is none, and for what would cost more than any settings are worth."""
    if len(text) > LONGEST:
        raise ValueError(f"it has more than {LONGEST // 2**10} KiB")
    # The parser takes the square of a key's parts, in time and in memory.
    if any(line.count(".") > _MOST_PARTS for line in text.split("\n")):
        raise ValueError("a key of it has too many parts")
    try:
        table = tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if (flaw := flaw_in(table)) is not None:
        raise ValueError(f"`{shown_place(flaw.place).removeprefix('.')}` {flaw.message}")
    return table


class Unknown(Struct):
    """An option that this version does not know: `place` is its name in the file, `message` says so."""

    place: str
    message: str


def load(text: str, where: str = "vault.toml") -> Config:
    """The settings that `text` (TOML) gives; raises ConfigError naming all faults at once, unknown options too."""
    return _loaded(text, where, [])


def load_known(text: str, where: str = "vault.toml") -> tuple[Config, tuple[Unknown, ...]]:
    """The same, with the unknown options beside the settings, which another version may know; raises ConfigError for the rest."""
    unknown: list[Unknown] = []
    return _loaded(text, where, unknown, stops=False), tuple(unknown)


def _loaded(text: str, where: str, unknown: list[Unknown], *, stops: bool = True) -> Config:
    try:
        table = toml_table(text)
    except ValueError as fault:
        raise ConfigError(f"{where}: {fault}", f"mend {where} in an editor") from fault
    faults: list[str] = []
    usual = defaults(Config)
    values: dict[str, Any] = {}
    for name, value in table.items():
        option = _OPTIONS.get(name)
        if option is None:
            unknown.append(Unknown(name, f"unknown option `{one_line(name, 40)}`"))
            continue
        reader = _READERS.get(name) or _SCALARS[type(usual[name])]
        choices = option.choices
        read = reader(name, _without_unknown(name, value, unknown), faults)
        if choices and read is not None and read not in choices:
            faults.append(f"`{name}` must be one of {', '.join(choices)}, not {_shown(value)}")
        elif read is not None:
            values[name] = read
    _know_reviewed(values, unknown)
    if stops:
        faults = [*(fault.message for fault in unknown), *faults]
    if faults:
        more = f" (and {len(faults) - _MOST_TOLD} more)" if len(faults) > _MOST_TOLD else ""
        raise ConfigError(f"{where}: {'; '.join(faults[:_MOST_TOLD])}{more}", f"mend {where}; {step('config')} lists the options")
    return Config(**values)


def review_words(types: Registry) -> frozenset[str]:
    """The words that `review` may have: types, and the classes of what agents write."""
    memories = (RecordClass.OBSERVATION, RecordClass.UNDERSTANDING)
    names = (name for name, spec in types.specs.items() if spec.record_class in memories)
    return frozenset(names) | {record_class.value for record_class in memories}


def _know_reviewed(values: dict[str, Any], unknown: list[Unknown]) -> None:
    """Take out of `review` the words that are no types or classes: each asks for nothing."""
    asked = values.get("review")
    if not asked:
        return
    words = review_words(values.get("types") or Registry())
    for name in asked:
        if name not in words:
            listed = ", ".join(sorted(words))
            unknown.append(
                Unknown("review", f"`review` knows no `{one_line(name, 40)}`, which asks for nothing: its words are {listed}")
            )
    values["review"] = tuple(name for name in asked if name in words)


def _without_unknown(name: str, value: Any, unknown: list[Unknown]) -> Any:
    """The value of an option that is a table, without the options in it that are not known."""
    if name == "recall" and isinstance(value, dict):
        unknown += [
            Unknown(key, f"[recall] knows strong_models, not `{one_line(key, 40)}`") for key in sorted(value.keys() - _RECALL)
        ]
        return {key: option for key, option in value.items() if key in _RECALL}
    if name == "types" and isinstance(value, dict):
        return {kind: _type_table(kind, table, unknown) for kind, table in value.items()}
    return value


def _type_table(kind: str, table: Any, unknown: list[Unknown]) -> Any:
    if not isinstance(table, dict):
        return table
    for key in sorted(table.keys() - _TYPE):
        message = f"[types.{one_line(kind, 40)}] knows class, weight, importance and section, not `{one_line(key, 40)}`"
        unknown.append(Unknown(key, message))
    return {key: value for key, value in table.items() if key in _TYPE}


def _shown(value: object) -> str:
    return one_line(repr(value), 60)


_Reader = Callable[[str, Any, list[str]], Any]


def _text(name: str, value: Any, faults: list[str]) -> str | None:
    if isinstance(value, str):
        return value
    faults.append(f"`{name}` must be a text, not {_shown(value)}")
    return None


def _flag(name: str, value: Any, faults: list[str]) -> bool | None:
    if isinstance(value, bool):
        return value
    faults.append(f"`{name}` must be true or false, not {_shown(value)}")
    return None


def _number(name: str, value: Any, faults: list[str]) -> float | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0:
        return float(value)
    faults.append(f"`{name}` must be a number of 0 or more, not {_shown(value)}")
    return None


def _whole(name: str, value: Any, faults: list[str]) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    faults.append(f"`{name}` must be a whole number above 0, not {_shown(value)}")
    return None


def _texts(name: str, value: Any, faults: list[str]) -> tuple[str, ...] | None:
    if isinstance(value, list) and all(isinstance(text, str) for text in value):
        return tuple(value)
    faults.append(f"`{name}` must be a list of texts, not {_shown(value)}")
    return None


def _sets(name: str, value: Any) -> bool:
    """Whether this is a setting with one of its values, and no name of an instruction."""
    return name in _OPTIONS and (not isinstance(value, str) or value in (_OPTIONS[name].choices or ()))


def _perspectives(name: str, value: Any, faults: list[str]) -> dict[str, str] | None:
    # The file ends with this table: a setting that is added at the end falls into it, and would be in force nowhere.
    if misplaced := [setting for setting, text in value.items() if _sets(setting, text)] if isinstance(value, dict) else []:
        settings = ", ".join(f"`{setting}`" for setting in misplaced)
        stands = "is a setting and stands" if len(misplaced) == 1 else "are settings and stand"
        faults.append(f"{settings} {stands} below `[perspectives]`: move it above the first line in brackets")
        return None
    if isinstance(value, dict) and all(isinstance(text, str) for text in value.values()):
        return {**PERSPECTIVES, **value}
    faults.append('`[perspectives]` must be lines of name = "instruction"')
    return None


def _recall(name: str, value: Any, faults: list[str]) -> RecallSettings | None:
    if not isinstance(value, dict):
        faults.append('`recall` must be a table: [recall] with strong_models = ["..."]')
        return None
    words = _texts("[recall] strong_models", value.get("strong_models", list(STRONG_MODELS)), faults)
    # An empty word is in every name: all models would be strong.
    if words is not None and not all(word.strip() for word in words):
        faults.append("`[recall] strong_models` must not hold an empty text")
        return None
    return None if words is None else RecallSettings(tuple(word.strip() for word in words))


def _types(name: str, value: Any, faults: list[str]) -> Registry | None:
    if not isinstance(value, dict):
        faults.append("`types` must be tables: [types.<name>]")
        return None
    registry = Registry()
    specs = [_type_spec(registry, type_name, table, faults) for type_name, table in value.items()]
    return registry.extended(spec for spec in specs if spec is not None)


def _type_spec(registry: Registry, name: str, table: Any, faults: list[str]) -> TypeSpec | None:
    where = f"[types.{name}]"
    if not is_type_name(name) or not isinstance(table, dict):
        faults.append(f"{where} must be a table named by a word of letters, digits and _")
        return None
    base = registry.spec(name)
    before = len(faults)
    record_class = _member(RecordClass, table.get("class", base.record_class), f"{where} class", faults)
    section_name = table.get("section", base.section or CoreSection.WORTH_KNOWING)
    section = _member(
        CoreSection,
        FORMER_SECTIONS.get(section_name, section_name) if isinstance(section_name, str) else section_name,
        f"{where} section",
        faults,
    )
    weight = _number(f"{where} weight", table.get("weight", base.weight), faults)
    importance = _number(f"{where} importance", table.get("importance", base.importance), faults)
    if base.known and record_class not in (None, base.record_class):
        faults.append(f"{where} cannot leave its class, {base.record_class}")
    if importance is not None and importance > 1:
        faults.append(f"{where} importance must be from 0 to 1, not {importance:g}")
    if len(faults) > before or record_class is None or weight is None or importance is None:
        return None
    return TypeSpec(name, record_class, weight, importance, section, base.always_kept)


def _member(kind: Any, value: Any, where: str, faults: list[str]) -> Any:
    try:
        return kind(value)
    except ValueError:
        faults.append(f"{where} must be one of {', '.join(member.value for member in kind)}, not {_shown(value)}")
        return None


_SCALARS: Mapping[type, _Reader] = {str: _text, bool: _flag, int: _whole, float: _number, tuple: _texts}
_READERS: Mapping[str, _Reader] = {"types": _types, "recall": _recall, "perspectives": _perspectives}
# The options that are tables, and are set in an editor.
TABLES = tuple(_READERS)
