"""The person's other vaults, as `config` shows and names them: which may be asked beside this one."""

from __future__ import annotations

import os

from vault_tool import machine
from vault_tool.errors import Refused, UsageError
from vault_tool.features.setup.machine_settings import MachineOption
from vault_tool.files import layout
from vault_tool.util.hints import step
from vault_tool.util.text import one_line
from vault_tool.vault import beside
from vault_tool.vault.context import Context
from vault_tool.vault.embedding_in_force import machine_settings
from vault_tool.vault.finding import find
from vault_tool.vault.person import require_person

NAME = "vault"
_SENTENCE = "Other vaults that may be asked beside this one, and whether they can be now."


def option(vault: Context) -> MachineOption:
    """The other vaults as a setting of this machine: each with its folder, and with what is wrong there."""
    named = vault.machine.vaults
    folders = beside.told_folders(vault) if named else {}
    shown = [f"{name} = {folders[name]}" for name in named]
    source = layout.CONFIG_FILE if named else ""
    return MachineOption(name=machine.VAULTS, value=", ".join(shown), default="", source=source, variable="", sentence=_SENTENCE)


def name_vault(vault: Context, name: str, folder: str) -> tuple[str, ...]:
    """Call the vault in a folder by a name; returns what a person should know of it.

    Raises Refused where no person asks, UsageError for no name, and NotFound where no vault is.
    """
    if fault := machine.vault_name_fault(name):
        raise UsageError(fault, f"for example {step('config', name=NAME, value='team')}")
    if not folder.strip():
        raise UsageError(f"no folder is named for the vault {name}", "name the folder that it is in")
    require_person(vault, "name another vault that is read here")
    named = machine_vaults(vault)
    root = find(folder, {}).resolve()
    if root == vault.root:
        raise UsageError(f"{root} is this vault", "it answers without a name")
    same = next((other for other, place in named.items() if os.path.realpath(place) == str(root) and other != name), None)
    if same is not None:
        raise UsageError(f"{root} is called `{same}` already", "take that name away first")
    if fault := beside.fault_of(str(root)):
        raise Refused(f"the vault {name} cannot be asked: {fault}", "mend that first")
    machine.name_vault(vault.local.place / layout.CONFIG_FILE, name, str(root))
    vault.embedding.reload()
    return (f"{name} was {named[name]} before",) if named.get(name, str(root)) != str(root) else ()


def take_away(vault: Context, name: str) -> None:
    """Have no vault called so. Raises Refused where no person asks, and UsageError with those that there are."""
    require_person(vault, "take another vault away")
    named = machine_vaults(vault)
    if name not in named:
        raise unknown(vault, name)
    machine.name_vault(vault.local.place / layout.CONFIG_FILE, name, "")
    vault.embedding.reload()


def unknown(vault: Context, name: str) -> UsageError:
    """The error for a name that no other vault has."""
    hint = beside.which(vault.machine.vaults)
    return UsageError(f"no vault is called `{one_line(name, 40)}`", hint)


def machine_vaults(vault: Context) -> dict[str, str]:
    """The names as the file has them now; raises ConfigError where it cannot be used."""
    return dict(machine_settings(vault).vaults)
