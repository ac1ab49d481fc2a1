"""A call of a tool, from arguments that anybody may have sent to an answer as plain values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import orjson
from msgspec.structs import replace

from vault_tool.errors import Exit, UsageError, VaultError
from vault_tool.features.contracts.schemas import faults_of
from vault_tool.mcp import wording
from vault_tool.mcp.lean_table import LIMIT, NAMES, VERBS
from vault_tool.mcp.table import RENAMED, TOOLS
from vault_tool.mcp.tools import Caller, Tool, named, plain_names
from vault_tool.mcp.without_query import reset_seen_after_gap, start_page, without_query
from vault_tool.util.deferred import deferred
from vault_tool.util.hints import MARK, worded
from vault_tool.util.json_text import flaw_in, json_fields
from vault_tool.util.text import one_line
from vault_tool.util.vault_names import ASKING, PARAMETER
from vault_tool.vault import shortened
from vault_tool.vault.checked import asked_as_checked
from vault_tool.vault.context import Progress
from vault_tool.vault.folder_project import client_project
from vault_tool.vault.lean_values import lean_values
from vault_tool.vault.leniency import as_meant
from vault_tool.vault.request import without_settings
from vault_tool.vault.request_faults import InvalidRequest, RequestFault, pointer
from vault_tool.vault.resolve import Shortened
from vault_tool.vault.seen import note_seen
from vault_tool.verbs.vault import Vault

if TYPE_CHECKING:
    import jsonschema
else:
    jsonschema = deferred("jsonschema")  # 0.1 s

# Most bytes of an answer, less than 10,000 tokens: clients cut longer ones in the middle of a word, which leaves no JSON.
LONGEST = 38_000

# Most bytes of a call's arguments.
LONGEST_CALL = 4 * 2**20

# Characters of a text that stay whole, whatever else has to go.
_PASSAGE = 4000

# What a person does not see, or what turns and breaks the line that they see.
_UNSEEN = re.compile(
    "[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def asked_by(caller: Caller, vault: Vault, session: str = "") -> Vault:
    """An open vault as a caller asks it; what is warm in it stays so."""
    vault.embedding.refresh()
    vault.embedding.open()
    # What a copy made first would be lost with it.
    _ = vault.standings, vault.global_vault
    project = caller.project or (client_project(vault, caller.folder) if caller.folder else "")
    return vault.as_(
        origin="agent", session=session or caller.session, project=project, user=caller.user, model=caller.model,
        author=caller.author,
    )  # fmt: skip


def answer(
    vault: Vault, tool: str, arguments: Mapping[str, Any], caller: Caller, progress: Progress | None = None
) -> dict[str, Any]:
    """The answer of a tool, in the lean form. Raises VaultError, with all faults of the arguments at once."""
    return text_and_values(vault, tool, arguments, caller, progress)[1]


def text_and_values(
    vault: Vault, tool: str, arguments: Mapping[str, Any], caller: Caller, progress: Progress | None = None
) -> tuple[str, dict[str, Any]]:
    """The answer of a tool as text and as values. Raises VaultError, as `answer` does."""
    return in_words(tool, *asked(vault, tool, arguments, caller, progress), caller.preset)


def asked(
    vault: Vault, tool: str, arguments: Mapping[str, Any], caller: Caller, progress: Progress | None = None
) -> tuple[Vault, object]:
    """The vault as the caller asks it, and what the verb of a tool returned. Raises VaultError, as `answer` does."""
    called = _Called(tool, arguments, caller.preset)
    vaults = called.vaults()
    verb = without_query(called.arguments) if tool == "recall" else _verb(tool, caller.preset)
    if tool == "recall" != verb:
        called.arguments.pop("query", None)
    parameters = called.checked(named("full")[verb])
    names = RENAMED.get(verb, {})
    with_names = {names.get(name, name): value for name, value in parameters.items() if name != "session"}
    if vaults:
        if verb not in ASKING:
            raise InvalidRequest([RequestFault(PARAMETER, "is for a question", "say in `query` what is asked")])
        with_names[PARAMETER] = vaults
    asking = asked_by(caller, vault, parameters.get("session") or "")
    asking.progress = progress
    if tool == "recall" and caller.preset == "lean":
        with_names.setdefault("limit", LIMIT)
        reset_seen_after_gap(asking)
    if verb == "orient" != tool:
        return asking, start_page(asking)
    result = asked_as_checked(asking, verb, with_names)
    if verb == "list" and tool == "recall":
        note_seen(asking, [memory.id for memory in result.results], tool)
    return asking, result


def _verb(tool: str, preset: str) -> str:
    """The verb that a tool of a preset is."""
    return VERBS.get(tool, tool) if preset == "lean" else tool


def in_words(tool: str, asking: Vault, result: Any, preset: str = "") -> tuple[str, dict[str, Any]]:
    """A verb's result in the lean form, as text and as values."""
    if hasattr(result, "lean"):
        lean = _plain(result.lean(Shortened(asking, _ids_in(result))))
        lean = without_settings(lean, asking.settings_fault)
    else:
        values = lean_values(_plain(result), asking, TOOLS[_verb(tool, preset)].omit)
        lean = values if isinstance(values, dict) else {}
        if "freshness" not in lean:
            lean = without_settings(lean, asking.settings_fault)
    query = getattr(result, "query", "")
    if MARK in (text := bounded(lean, query)):
        lean = wording.in_words(lean, wording.ForClient(preset, tool))
        text = bounded(lean, query)
    return text, lean


def _ids_in(result: object) -> Iterator[str]:
    """The ids of the memories that an answer lists."""
    for memory in (*getattr(result, "results", ()), *getattr(result, "recent_observations", ())):
        if isinstance(identity := getattr(memory, "id", None), str):
            yield identity


def _as_text(values: Mapping[str, Any]) -> str:
    """An answer as one line of JSON, in which whatever a note's text holds stays within its quotation marks and is seen."""
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    # Most of a text is plain, of which one look at it says so.
    if text.isascii() and "\x7f" not in text:
        return text
    return _UNSEEN.sub(lambda match: json.dumps(match[0])[1:-1], text)


def bounded(values: dict[str, Any], query: str = "") -> str:
    """An answer as text that clients take whole: long texts are cut, then long lists; `cut` says so.

    Of a memory's text what is left is the passage that the query asks for.
    """
    while (over := len((text := _as_text(values)).encode()) - LONGEST) > 0:
        longest = max((len(text) for _, _, text in _texts_in(values)), default=0)
        lists = max(_lists_in(values), key=len, default=[])
        if longest > _PASSAGE:
            most = max(_PASSAGE, longest - over) - 1
            for where, name, text in list(_texts_in(values)):
                if len(text) > most and name == "content" and query:
                    where[name], where["cut"] = shortened.cut_text(text, query, most + 1)
                elif len(text) > most:
                    where[name] = f"{text[:most]}…"
        elif len(lists) > 1:
            del lists[len(lists) // 2 :]
        else:
            break
        parts = values.get("parts")
        instead = f"ask for its {parts} parts, each as `part`" if parts else "ask for less, or read the file"
        values["cut"] = f"too long for one answer: {instead}"
    return text


def _texts_in(value: Any) -> Iterator[tuple[Any, Any, str]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in pairs:
        if isinstance(part, str):
            yield value, name, part
        yield from _texts_in(part)


def _lists_in(value: Any) -> Iterator[list[Any]]:
    if isinstance(value, list):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _lists_in(part)


def in_a_line(fault: VaultError, tool: str = "", preset: str = "") -> str:
    """An error as text for the caller: a line for each fault, with what to do instead."""
    client = wording.ForClient(preset, tool)
    if isinstance(fault, InvalidRequest):
        lines = (_line(f"{flaw.pointer.lstrip('/')} " if flaw.pointer else "", flaw) for flaw in fault.faults)
        return worded("\n".join(lines), client)
    notice = "; nothing was changed, try again" if fault.exit_code is Exit.BUSY and not fault.hint else ""
    return worded(_line("", RequestFault("", fault.message, fault.hint)), client) + notice


def _line(place: str, fault: RequestFault) -> str:
    return f"{place}{fault.message}{f' (hint: {fault.hint})' if fault.hint else ''}"


class _Called:
    """The arguments of a call by the names that the full preset has for them, whichever they were given by.

    null is what was not said.
    """

    def __init__(self, tool: str, arguments: Mapping[str, Any], preset: str) -> None:
        names = NAMES.get(tool, {})
        self.arguments: dict[str, Any] = {}
        # What each is called by whoever asked; what is missing, as the caller's preset has it.
        self._said = dict(plain_names(preset, tool)) if preset and tool in named(preset) else {}
        self._takes = named(preset)[tool] if preset and tool in named(preset) else None
        for name, value in arguments.items():
            ours = names.get(name, name)
            if value is None:
                continue
            if ours in self.arguments:
                fault = f"is said already by `{self._said[ours]}`"
                raise InvalidRequest([RequestFault(one_line(name, 60), fault, "give it once")])
            self.arguments[ours] = value
            self._said[ours] = name

    def vaults(self) -> list[str]:
        """The other vaults that are named, which no kept list of tools has; InvalidRequest for what names none."""
        named = self.arguments.pop(PARAMETER, [])
        names = as_meant(named, {"type": "array", "items": {"type": "string"}}, (PARAMETER,))
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise InvalidRequest([RequestFault(f"/{PARAMETER}", "must be a list of names", "leave it away")])
        return names

    def checked(self, tool: Tool) -> dict[str, Any]:
        """The arguments as the verb of a tool takes them; InvalidRequest with every fault."""
        try:
            return _checked(tool, self.arguments, self._takes or tool)
        except InvalidRequest as fault:
            raise InvalidRequest(map(self._as_said, fault.faults)) from None

    def _as_said(self, fault: RequestFault) -> RequestFault:
        slash, name, rest = re.match("(/?)([^/]*)(.*)", fault.pointer, re.DOTALL).groups()  # type: ignore[union-attr]
        return replace(fault, pointer=f"{slash}{self._said.get(name, name)}{rest}")


def _checked(tool: Tool, arguments: Mapping[str, Any], listed: Tool) -> dict[str, Any]:
    """The arguments as the verb takes them; InvalidRequest with every fault.

    One text where a list of texts belongs is the list that it reads as. `listed` is the tool as its client has it.
    """
    known = tool["inputSchema"]["properties"]
    parameters = dict(arguments)
    if (flaw := flaw_in(parameters)) is not None:
        raise InvalidRequest([RequestFault(one_line(pointer(*flaw.place), 120), flaw.message, flaw.hint)])
    if len(json.dumps(parameters)) > LONGEST_CALL:
        raise UsageError(f"the arguments take more than {LONGEST_CALL // 2**20} MiB", "a note is one thought: split it")
    takes = f"it takes {', '.join(listed['inputSchema']['properties'])}"
    faults = [RequestFault(one_line(name, 60), "is no argument of this tool", takes) for name in parameters if name not in known]
    checked = {name: as_meant(value, known[name], (name,)) for name, value in parameters.items() if name in known}
    faults += [fault for error in _validator(tool["name"]).iter_errors(checked) for fault in faults_of(error)]
    if faults:
        raise InvalidRequest(faults)
    return checked


@cache
def _validator(tool: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(named("full")[tool]["inputSchema"])


def _plain(value: object) -> Any:
    """A result as JSON values."""
    options = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_NON_STR_KEYS
    return orjson.loads(
        orjson.dumps(value, default=lambda part: str(part) if (named := json_fields(part)) is None else named, option=options)
    )
