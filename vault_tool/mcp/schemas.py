"""tools.json, made from the verbs and their table: `python -m vault_tool.mcp.schemas > vault_tool/mcp/tools.json`.

It is kept, for to list the tools is what clients do first, and must not wait until every verb is loaded.
"""

from __future__ import annotations

import inspect
import json
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from vault_tool.index.vectors.status import VectorStatus
from vault_tool.mcp.lean_table import LEAN, LEAN_TOOLS, NAMES, VERBS, LeanTool
from vault_tool.mcp.table import LEFT_OUT, RENAMED, SESSION, TOOLS, Described
from vault_tool.mcp.tools import cost
from vault_tool.model.consent import ConsentRecord
from vault_tool.model.details import LABELS, SEVERAL, Details
from vault_tool.model.fields import OF_ENDS
from vault_tool.model.parameter_table import MEANINGS, MEANINGS_OF
from vault_tool.util.json_text import json_name, told_fields
from vault_tool.vault.answers import Mark
from vault_tool.vault.context import Freshness
from vault_tool.verbs.vault import Vault

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
TEXTS: Schema = {"type": "array", "items": TEXT}
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
_SCALARS: Mapping[str, Schema] = {
    "str": TEXT, "int": {"type": "integer"}, "float": {"type": "number"}, "bool": {"type": "boolean"},
    "Sequence[str]": TEXTS, "ProfileName": TEXT,
}  # fmt: skip

_JUDGED: Schema = {
    "type": "object",
    "properties": {"target": SHARE, "confidence": SHARE, "rationale": TEXT, "evidence_refs": TEXTS},
    "required": ["target", "confidence", "rationale"],
    "additionalProperties": False,
}

# What a verb takes that its annotations do not say.
_OF: Mapping[tuple[str, str], Schema] = {
    ("recall", "profile"): {"enum": ["targeted", "ambient", "core"]},
    ("recall", "hops"): {"minimum": 0, "maximum": 2},
    ("search", "mode"): {"enum": ["auto", "text"]},
    ("search_observations", "mode"): {"enum": ["text", "embedding"]},
    ("understand", "subjects"): {"items": TEXT},
    ("read", "limit"): {"maximum": 100},
    ("read", "mode"): {"enum": ["targeted", "ambient"]},
    ("update", "mode"): {"enum": ["commit", "dry_run"]},
    ("update", "truth"): {**_JUDGED, "required": [*_JUDGED["required"], "evidence_refs"]},
    ("update", "utility"): {**_JUDGED, "properties": {**_JUDGED["properties"], "context_problem_id": TEXT}},
    ("write", "scope"): {"enum": ["repo", "global"]},
    ("write", "kind"): {"enum": ["problem", "solution", "failed_tactic", "fact", "preference", "change"]},
}

_DETAILS: Schema = {
    **{name: TEXT for name in LABELS if name not in SEVERAL},
    **{name: TEXTS for name in LABELS if name in SEVERAL},
}

# What some modules import for annotations alone.
_UNLOADED = {
    "ConsentRecord": ConsentRecord, "Details": Details, "Freshness": Freshness, "Mark": Mark, "VectorStatus": VectorStatus,
}  # fmt: skip


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


_TRUE: Schema = {"type": "boolean"}
_NUMBER: Schema = {"type": "number"}
_COUNT: Schema = {"type": "integer"}
_NOT_REVIEWED: Schema = {"type": ["boolean", "string"]}
_MARKS = _list(_object(mark=TEXT, by=TEXTS, why=TEXT))
_STATUS: Mapping[str, Schema] = {"status": TEXT, "status_by": TEXTS, "status_why": TEXT, "marks": _MARKS}
_LINK = _object(relation=TEXT, direction=TEXT, id=TEXT, title=TEXT, why=TEXT, **_STATUS)
_MEMORY = _object(
    id=TEXT, path=TEXT, vaults=TEXTS, **{"class": TEXT}, type=TEXT, title=TEXT, content=TEXT, cut=TEXT, **_DETAILS,
    subjects=TEXTS, match=_NUMBER, weak=_TRUE, weak_why=TEXT, why=TEXT, observed=TEXT, caution=TEXT, **_STATUS,
    solved_by=TEXT, stale=_TRUE, like_it=TEXTS, not_reviewed=_NOT_REVIEWED,
)  # fmt: skip
_UNDERSTOOD = _object(id=TEXT, content=TEXT, cut=TEXT, updated=TEXT, **_STATUS)
_CURRENT = _object(id=TEXT, type=TEXT, summary=TEXT, content=TEXT, subjects=TEXTS, updated=TEXT, cut=_TRUE)
_EVIDENCE = _object(
    id=TEXT, type=TEXT, content=TEXT, **_DETAILS, subjects=TEXTS, observed=TEXT, new=_TRUE, cut=_TRUE, **_STATUS,
)  # fmt: skip
_ANSWER = {"results": _list(_MEMORY), "degraded": TEXTS, "notice": TEXT, "not_reviewed": _NOT_REVIEWED}
# One where its verb takes several.
_LEAN_SHAPES: Mapping[str, Schema] = dict.fromkeys(("kind", "subject", "replaces"), TEXT)
# The lean forms of answers that have one.
_LEAN: Mapping[str, Schema] = {
    "bring_to_mind": _object(
        **{**_ANSWER, "results": _list(_object(**_MEMORY["properties"], generation=_COUNT))},
        compaction_note=TEXT, heartbeat_token=_COUNT, compaction_detected=_TRUE,
    ),
    "recall": _object(
        **_ANSWER, subject=_object(name=TEXT, summary=TEXT, tags=TEXTS), understanding=_UNDERSTOOD, structural=_UNDERSTOOD,
        total=_COUNT, next=TEXT, warnings=TEXTS, page=TEXT,
    ),
    "search": _object(**_ANSWER),
    "list": _object(**_ANSWER, total=_COUNT, next=TEXT, warnings=TEXTS),
    "upcoming": _object(
        results=_list(_object(**{**_MEMORY["properties"], **dict.fromkeys(OF_ENDS, TEXT)}, days=_COUNT)),
        total=_COUNT, notice=TEXT, not_reviewed=_NOT_REVIEWED,
    ),
    "get": _object(
        **_MEMORY["properties"], vault=TEXT, links=_list(_LINK), evidence_moved=_TRUE, not_at_start=_TRUE, put_by_others=TEXTS,
        part=_COUNT, parts=_COUNT,
    ),
    "consolidate_next": _object(
        written=_object(id=TEXT, replaced=TEXTS, waits=_TRUE), left=_COUNT, spent=_COUNT, budget=_COUNT, said=TEXT,
        warnings=TEXTS, packet={**_object(id=TEXT, subject=TEXT, tokens=_COUNT, text=TEXT), "type": ["object", "null"]},
    ),
    "consolidate": _object(
        pass_id=TEXT, remaining=_COUNT, trivial=_COUNT, next=TEXTS, notice=TEXT,
        packet=_object(
            label=TEXT, type=TEXT, trivial=_TRUE, new=_COUNT, of=_COUNT, current=_CURRENT, sides=_list(_CURRENT),
            new_understandings=_list(_CURRENT), observations=_list(_EVIDENCE), left_out=_COUNT, next_step=TEXT,
        ),
    ),
}  # fmt: skip


def tools() -> Iterator[Schema]:
    """Every tool as it is listed, in the order of the table."""
    for name, described in TOOLS.items():
        verb = getattr(Vault, name)
        title = name.replace("_", " ").capitalize()
        yield {
            "name": name,
            "title": title,
            "description": described.about,
            "inputSchema": _arguments(name, verb),
            "outputSchema": _cut(
                _LEAN.get(name) or _result(verb, described), in_time="as_of" in inspect.signature(verb).parameters
            ),
            "annotations": {
                "title": title,
                "readOnlyHint": not described.writes,
                "destructiveHint": described.removes,
                "idempotentHint": described.again or not described.writes,
                "openWorldHint": False,
            },
        }


def lean_tools() -> Iterator[Schema]:
    """Every tool of the small preset as it is listed, in the order of its table."""
    full = {tool["name"]: tool for tool in tools()}
    for name, lean in LEAN_TOOLS.items():
        verb = full[VERBS.get(name, name)]
        about = {"name": name, "description": lean.about, "title": full[name]["title"], "annotations": full[name]["annotations"]}
        yield {**verb, **about, "inputSchema": _lean_arguments(verb, lean)}


def written() -> str:
    """The whole file: both presets, a tool a line."""
    presets = {"lean": lean_tools(), "full": tools()}
    parts = (f'"{preset}":[\n' + ",\n".join(map(_as_line, offered)) + "\n]" for preset, offered in presets.items())
    return "{" + ",\n".join(parts) + "}\n"


def _as_line(tool: Schema) -> str:
    return json.dumps(tool, ensure_ascii=False, separators=(",", ":"))


def table() -> str:
    """The tools as the table of docs/mcp.md."""

    def cells(tool: Schema) -> Iterator[str]:
        yield f"`{tool['name']}`"
        yield "yes" if tool["name"] in LEAN else ""
        yield "" if tool["annotations"]["readOnlyHint"] else "writes"
        yield str(cost([tool]))
        yield tool["description"]
        yield f"`{json.dumps(TOOLS[tool['name']].example, ensure_ascii=False)}`"

    rows = (f"| {' | '.join(cells(tool))} |\n" for tool in tools())
    return "| tool | lean | | tokens | what a model is told | an example |\n|---|---|---|---|---|---|\n" + "".join(rows)


def _arguments(tool: str, verb: Callable[..., Any]) -> Schema:
    """The input schema of a tool: what the verb takes, by the tool's names, and whose conversation it is."""
    names = {theirs: ours for ours, theirs in RENAMED.get(tool, {}).items()}
    properties: dict[str, Schema] = {}
    required = []
    for parameter in inspect.signature(verb).parameters.values():
        if parameter.name in LEFT_OUT:
            continue
        name = names.get(parameter.name, parameter.name)
        properties[name] = _argument(tool, name, parameter)
        if parameter.default is parameter.empty:
            required.append(name)
    properties["session"] = {**TEXT, "description": SESSION}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _lean_arguments(full: Schema, lean: LeanTool) -> Schema:
    """The input schema of a tool of the small preset: some of what its verb takes, by the small preset's names."""
    takes = full["inputSchema"]["properties"]
    names = NAMES.get(full["name"], {})
    properties = {
        name: {**(_LEAN_SHAPES.get(name) or _kind(takes[names.get(name, name)])), "description": about}
        for name, about in lean.parameters.items()
    }
    return {"type": "object", "properties": properties, "required": list(lean.needed), "additionalProperties": False}


def _kind(schema: Schema) -> Schema:
    """The type of a value without its bounds: those are told to a caller who passes them."""
    if schema["type"] == "array":
        return _list({"type": schema["items"]["type"]})
    return {"type": schema["type"]}


def _argument(tool: str, name: str, parameter: inspect.Parameter) -> Schema:
    meaning = MEANINGS.get(name)
    about = MEANINGS_OF.get(tool, {}).get(name) or (meaning.help if meaning and name != "kind" else "")
    schema = {**_value(str(parameter.annotation).removesuffix(" | None"), name), **_OF.get((tool, name), {})}
    if isinstance(parameter.default, (int, str)) and parameter.default not in (False, ""):
        schema["default"] = parameter.default
    return {**schema, **({"description": about} if about else {})}


def _value(annotation: str, name: str) -> Schema:
    match name:
        case "observations":
            return _list(_observation())
        case "subjects":
            element = _object(name=TEXT, summary=TEXT, tags=TEXTS, aliases=TEXTS, key=TEXT, role=TEXT)
            return _list({**element, "required": ["name"]})
        case "memories":
            return _list({"type": "object"})
        case "votes":
            value = {**TEXT, "enum": ["useful", "questionable"]}
            element = _object(id=TEXT, value=value, reason=TEXT, problem=TEXT, evidence=TEXTS)
            return _list({**element, "required": ["id", "value"]})
        case "attempts":
            outcome = {**TEXT, "enum": ["worked", "failed"]}
            element = _object(
                key=TEXT, outcome=outcome, problem=TEXT, content=TEXT, title=TEXT, subject_names=TEXTS,
                failure_mode=TEXT, rationale=TEXT, confidence=SHARE, evidence=TEXTS,
            )  # fmt: skip
            return _list({**element, "required": ["outcome"]})
        case "limit" | "budget" | "tokens" | "part" | "semantic_hops":
            return {"type": "integer", "minimum": 0 if name == "semantic_hops" else 1}
        case "importance" | "confidence" | "strength":
            return SHARE
        case "truth" | "utility":
            return {}
    return _SCALARS[annotation]


def _observation() -> Schema:
    """One of several observations: what `remember` takes."""
    whole = _arguments("remember", Vault.remember)
    bare = {
        name: {key: value for key, value in property_schema.items() if key != "description"}
        for name, property_schema in whole["properties"].items()
    }
    del bare["session"]
    return {"type": "object", "properties": bare, "required": whole["required"], "additionalProperties": False}


def _result(verb: Callable[..., Any], described: Described) -> Schema:
    """The output schema of a result that has no lean form: its fields, those that say nothing left out."""
    schema = _of(get_type_hints(verb, vars(sys.modules[verb.__module__]))["return"])
    properties = {name: property_schema for name, property_schema in schema["properties"].items() if name not in described.omit}
    return {**schema, "properties": properties}


def _cut(schema: Schema, *, in_time: bool = False) -> Schema:
    """With what an answer says that was too long to be sent whole, of settings that are not in force, and as of when it is."""
    past = {"past": TEXT} if in_time else {}
    return {**schema, "properties": {**schema["properties"], **past, "degraded": _list(TEXT), "cut": TEXT}}


def _of(kind: Any) -> Schema:
    origin, inner = get_origin(kind), get_args(kind)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        hints = get_type_hints(kind, {**_UNLOADED, **vars(sys.modules[kind.__module__])})
        return _object(**{json_name(name): _of(hints[name]) for name in told_fields(kind)})
    if origin in (Union, types.UnionType):
        return _any([_of(member) for member in inner if member is not types.NoneType])
    if origin is Literal:
        return {"enum": list(inner)}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _of(inner[1])}
    if origin is not None and issubclass(origin, Sequence | frozenset | set):
        if origin is tuple and len(inner) > 1 and inner[1] is not Ellipsis:
            return _list(_any([_of(member) for member in inner]))
        return _list(_of(inner[0]))
    if issubclass(kind, Enum):
        return {"enum": [member.value for member in kind]}
    return {} if not issubclass(kind, (str, int, float, Path)) else _SCALARS["str" if issubclass(kind, Path) else kind.__name__]


def _any(schemas: list[Schema]) -> Schema:
    different = [schema for number, schema in enumerate(schemas) if schema not in schemas[:number]]
    return different[0] if len(different) == 1 else {"anyOf": different}


if __name__ == "__main__":
    sys.stdout.write(table() if "--table" in sys.argv else written())
