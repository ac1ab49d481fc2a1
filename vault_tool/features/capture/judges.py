"""The model that a person chose to ask what of a session is worth keeping."""

from __future__ import annotations

import re

from vault_tool.errors import UsageError
from vault_tool.features.capture.capture_settings import CaptureSettings
from vault_tool.features.capture.headless import ClaudeJudge
from vault_tool.features.capture.judge import CLAUDE, CLIENTS, OLLAMA, Judge
from vault_tool.features.capture.ollama_judge import OllamaJudge
from vault_tool.machine import Machine, is_loopback, readable_host
from vault_tool.util.text import one_line

_MODEL = re.compile(r"[\w][\w./:-]{0,99}")


def judge_of(settings: CaptureSettings, machine: Machine, lock: int | None = None) -> Judge:
    """The model that a person chose; it is not asked by this. Raises UsageError where none was.

    A program that is started keeps the `lock` open, so that no other is while it lives.
    """
    provider, _, model = settings.by.partition(":")
    if provider == OLLAMA and model:
        return OllamaJudge(settings.host or _on_this_machine(machine, model), model)
    if settings.by == CLAUDE and settings.program:
        return ClaudeJudge(settings.program, settings.environ, lock)
    raise UsageError("no model was chosen that could be asked", f"choose one of {OLLAMA}:MODEL, {', '.join(CLIENTS)}")


def chosen(by: str, machine: Machine) -> tuple[str, str]:
    """A model as it is named and, where one is named with it, its host (`ollama:MODEL@HOST`). Raises UsageError."""
    named, _, host = by.strip().partition("@")
    provider, _, model = named.partition(":")
    if provider in CLIENTS and not model and not host:
        return provider, ""
    if provider != OLLAMA or not _MODEL.fullmatch(model):
        raise UsageError(f"`{one_line(by, 60)}` is no model that can be asked", f"one of {OLLAMA}:MODEL, {', '.join(CLIENTS)}")
    if host:
        try:
            return named, readable_host(host)
        except ValueError as fault:
            raise UsageError(
                f"the host of `{one_line(by, 60)}` {fault}", "for example ollama:MODEL@http://localhost:11434"
            ) from None
    _on_this_machine(machine, model)
    return named, ""


def _on_this_machine(machine: Machine, model: str) -> str:
    """Where Ollama answers on this machine. UsageError where it is set to another one."""
    if is_loopback(machine.ollama_host):
        return machine.ollama_host
    raise UsageError(
        f"Ollama is set to {machine.ollama_host}, which is another machine",
        f"name it with the model where sessions may be sent there: {OLLAMA}:{model}@{machine.ollama_host}",
    )


def where_of(settings: CaptureSettings, machine: Machine) -> str:
    """The program or address that a question would go to, as far as it can be told."""
    return settings.program or settings.host or (machine.ollama_host if settings.by.startswith(f"{OLLAMA}:") else "")
