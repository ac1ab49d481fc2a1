"""Which vault is a person's global one, as `config` shows and chooses it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from vault_tool.features.setup.machine_settings import MachineOption
from vault_tool.util.user_folder import VARIABLE, choose, chosen, global_vault_at
from vault_tool.vault.context import Context
from vault_tool.vault.finding import find
from vault_tool.vault.person import require_person

NAME = "global"
_SENTENCE = "The vault that is found where no folder above is one, and read beside each other one."


def option(environ: Mapping[str, str]) -> MachineOption:
    """The global vault as a setting of this machine; empty where there is none."""
    folder = present(environ)
    source = (f"${VARIABLE}" if environ.get(VARIABLE) else "chosen" if chosen() else "default") if folder else ""
    return MachineOption(
        name=NAME, value=str(folder or ""), default="", source=source, variable=VARIABLE, sentence=_SENTENCE
    )  # fmt: skip


def present(environ: Mapping[str, str]) -> Path | None:
    """The global vault that there is."""
    folder = global_vault_at(environ)
    return Path(folder) if folder else None


def make_global(vault: Context, folder: str) -> tuple[str, ...]:
    """Have the vault in a folder be the global one, or none with an empty text; returns what a person should know of it.

    Raises NotFound where no vault is there, and Refused where another one is it already and no person asks.
    """
    root = find(folder, {}).resolve() if folder.strip() else None
    before = present(vault.environ)
    if before is not None and (root is None or before.resolve() != root):
        require_person(vault, "have another vault be the global one")
    choose(str(root or ""))
    named = vault.environ.get(VARIABLE)
    return (f"{VARIABLE} is set to {named}, which goes before it",) if named else ()
