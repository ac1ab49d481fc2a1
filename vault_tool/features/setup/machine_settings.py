"""The settings of this machine as `config` shows and sets them; a key is taken, and never given back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vault_tool import machine
from vault_tool.errors import UsageError
from vault_tool.files import layout
from vault_tool.machine import Machine
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.vault.context import Context
from vault_tool.vault.embedding_in_force import machine_settings
from vault_tool.vault.person import require_person

_OF_A_PERSON = frozenset(
    {"owners", "owners_sign", "trusted", "sync_every", "unattended", "openai_key", "vectors_token", "openai_url", "ollama_host"}
)


class MachineOption(Struct, kw_only=True):
    """One setting of this machine: its value (a key as `***`), where that was set (empty: nowhere), the variable over it."""

    name: str
    value: str
    default: str
    source: str
    variable: str
    sentence: str


def options(settings: Machine) -> tuple[MachineOption, ...]:
    """All settings of this machine."""
    usual = Machine()
    return tuple(
        MachineOption(
            name=name,
            value=_shown(getattr(settings, name)),
            default=_shown(getattr(usual, name)),
            source=settings.sources.get(name, ""),
            variable=machine.variable_of(name),
            sentence=sentence,
        )
        for name, sentence in machine.sentences().items()
    )


def _shown(value: object) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def of_a_person(changes: Mapping[str, str]) -> tuple[str, ...]:
    """Which settings among some only a person may set: who is believed, and where texts and keys go."""
    remote = {"provider": changes.get("provider") == "openai", "vectors": "://" in changes.get("vectors", "")}
    return tuple(name for name in changes if name in _OF_A_PERSON or remote.get(name))


def change(vault: Context, changes: Mapping[str, str]) -> tuple[str, ...]:
    """Write settings of this machine into `_config.json`; returns what a person should know of it.

    Raises Refused for what only a person may set, where no person asks.
    """
    if named := of_a_person(changes):
        require_person(vault, f"set {', '.join(named)}")
    before = machine_settings(vault)
    remaining = dict(changes)
    if remaining.get("provider", before.provider) != before.provider:
        # A model belongs to its provider.
        remaining.setdefault("model", "")
    machine.write(vault.local.place / layout.CONFIG_FILE, remaining)
    vault.embedding.reload()
    return tuple(_remarks(machine_settings(vault), changes))


def known(name: str) -> bool:
    """Whether a setting is this machine's."""
    return name in machine.sentences()


def not_here(name: str) -> UsageError:
    """The error for a setting of this machine that was given as one of the vault's."""
    return UsageError(f"`{name}` is no setting of the vault but of this machine", step("config", **{name: ...}))


def _remarks(now: Machine, changes: Mapping[str, str]) -> Iterator[str]:
    for name in changes:
        if machine.variable_of(name) and now.sources.get(name) == machine.variable_of(name):
            yield f"{name} was saved, but the variable {machine.variable_of(name)} overrides it here"
    if changes.get("trusted") and now.owners_sign == "off":
        yield "an address is what a commit claims: whoever can push to the remote can write as them, while owners_sign is off"
    if now.provider == "openai" and not now.openai_key:
        yield f"there is no key for OpenAI yet: set OPENAI_API_KEY, or {step('config', openai_key=...)} and paste it"
    if "://" in now.vectors and not machine.is_loopback(now.vectors):
        yield f"the vectors of this vault's notes will be sent to {now.vectors}; their texts and names are not"
    address = {"openai": now.openai_url, "ollama": now.ollama_host}.get(now.provider, "")
    if address and not machine.is_loopback(address):
        yield f"the texts of this vault's notes will be sent to {address}"
