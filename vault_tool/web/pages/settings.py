"""Settings: what a person changes here, what is set at a terminal alone with its command, and all data as a download."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from vault_tool.errors import UsageError
from vault_tool.features.exports.exporting import exported_lines, hidden_count
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line
from vault_tool.web.asking import UndoForm, act, ask, cached, done_with, form_of
from vault_tool.web.editors import EDITORS, editor_name, own_address
from vault_tool.web.rendering import render

if TYPE_CHECKING:
    from vault_tool.features.setup.setup import ShownSettings
    from vault_tool.vault.one_thread import OneThread
    from vault_tool.verbs.vault import Vault

# What of `vault.toml` is changed here, by what it is called here, with its unit.
_HERE = {
    "core_budget": ("Budget of CORE.md", "characters"),
    "skipped_turns_days": ("Turns that wrote nothing are kept", "days"),
    "turn_log": ("A log of turns is kept on this machine", ""),
    "turn_log_turns": ("At most in that log", "turns"),
    "turn_log_bytes": ("Of the log at most", "bytes"),
}
# What is set at a terminal alone: each setting of this machine with what it is called; the template has the commands.
_AT_TERMINAL = {
    "owners": "Your addresses in commits",
    "owners_sign": "Only signed commits are yours",
    "trusted": "Trusted people",
    "provider": "Embedder",
    "model": "Its model",
    "ollama_host": "Ollama's address",
    "openai_url": "OpenAI's address",
    "openai_key": "Key for OpenAI",
    "vectors": "Vectors",
    "global": "Vault beside every other",
}
# Lines of an export that are made at once, between other questions.
_LINES = 500


class Field(Struct):
    """A setting of the vault that is changed here; `switch` is one that is on or off."""

    name: str
    label: str
    unit: str
    sentence: str
    value: Any

    @property
    def switch(self) -> bool:
        """Whether it is on or off."""
        return isinstance(self.value, bool)

    @property
    def shown(self) -> str:
        """The value as the form has it."""
        return str(self.value).lower()


class TerminalSetting(Struct):
    """A setting that is set at a terminal alone: what it is now, and where that was set."""

    name: str
    label: str
    value: str
    source: str = ""


async def settings(request: Request) -> Response:
    """The page."""
    hidden = await ask(request, cached(request, "hidden", hidden_count))
    return await render(
        request, "settings.html", title="Settings", editors=tuple(EDITORS), editor_name=editor_name(request),
        editor_address=own_address(request), **await ask(request, _found), hidden=hidden,
    )  # fmt: skip


async def change(request: Request) -> Response:
    """Set what was changed in the form, each setting by a commit of its own; one press sets all as they were."""
    form = await form_of(request)
    was: dict[str, str] = {}

    def use(vault: Vault) -> Any:
        changed = [field for field in _fields(vault.config()) if form.get(field.name, field.shown).strip() != field.shown]
        for field in changed:
            if not field.switch and not form[field.name].strip().isdecimal():
                raise UsageError(f"{field.label}: `{one_line(form[field.name], 40)}` is no number", "nothing was changed")
        done = None
        for field in changed:
            done = vault.config(field.name, form[field.name].strip())
            was[field.name] = field.shown
        return done

    done = await act(request, use)
    if not was:
        return done_with(request, "Nothing was changed", back="/settings")
    changed = ", ".join(f"{_HERE[name][0]}: {form[name].strip()}, before {before}" for name, before in was.items())
    return done_with(request, changed, back="/settings", result=done, form=UndoForm("/settings", tuple(was.items())))


async def export(request: Request) -> Response:
    """All of the vault that readers are shown, as lines of JSON, a part at a time."""
    run: OneThread[Vault] = request.app.state.run
    hidden = cached(request, "hidden", hidden_count)
    lines, day, left_out = await ask(request, lambda vault: (exported_lines(vault), vault.now()[:10], hidden(vault)))

    async def parts() -> AsyncIterator[bytes]:
        while part := await run(lambda vault: b"".join(islice(lines, _LINES))):
            yield part

    headers = {"content-disposition": f'attachment; filename="memories-{day}.jsonl"', "x-left-out": str(left_out)}
    return StreamingResponse(parts(), media_type="application/x-ndjson", headers=headers)


def _found(vault: Vault) -> dict[str, Any]:
    settings = vault.config()
    return {
        "fields": tuple(_fields(settings)), "at_terminal": tuple(_at_terminal(vault, settings)),
        "machine_fault": vault.machine.fault, "quoted_root": shlex.quote(str(vault.root)),
    }  # fmt: skip


def _fields(settings: ShownSettings) -> Iterator[Field]:
    shown = {option.name: option for option in settings.results}
    for name, (label, unit) in _HERE.items():
        yield Field(name, label, unit, shown[name].sentence, shown[name].value)


def _at_terminal(vault: Vault, settings: ShownSettings) -> Iterator[TerminalSetting]:
    shown = {option.name: option for option in settings.machine}
    for name, label in _AT_TERMINAL.items():
        option = shown[name]
        value = "is set" if option.value and name == "openai_key" else option.value
        yield TerminalSetting(name, label, value or "none", option.source)
    capture, remotes = vault.capture(), ", ".join(vault.status().git.remotes)
    how = filter(None, [capture.mode, capture.by and f"by {capture.by}", ", ".join(capture.folders)])
    yield TerminalSetting("capture", "Sessions that are read", "; ".join(how))
    yield TerminalSetting("remotes", "Remotes", remotes or "none")
    every = shown["sync_every"]
    how_often = f"every {every.value} s" if every.value != "0" else "never"
    yield TerminalSetting("sync_every", "Synced in the background", how_often, every.source)


ROUTES = [
    Route("/settings", settings),
    Route("/settings", change, methods=["POST"]),
    Route("/export.jsonl", export),
]
