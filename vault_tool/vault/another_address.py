"""Another address of the owner: what is said where all of a vault is by one, and it may be theirs at another machine."""

from __future__ import annotations

import re

from vault_tool.model.types import RecordClass
from vault_tool.util.hints import step
from vault_tool.vault.context import Context

# What others wrote into their commits is offered as part of a command only where a shell takes it as it stands.
_ADDRESS = re.compile(r"<([A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+)>\)$")


def question(vault: Context) -> str:
    """`is n@example.org you?` with what to type then; empty where something is by its owner here, or the soul by several."""
    catalog = vault.index.catalog
    souls = catalog.of_class(RecordClass.UNDERSTANDING, "soul")
    if vault.repo is None or not souls or not all(soul.pulled for soul in souls):
        return ""
    addresses = {match[1] if (match := _ADDRESS.search(soul.origin)) else "" for soul in souls}
    if len(addresses) != 1 or not (address := addresses.pop()) or catalog.owners_own():
        return ""
    owners = ",".join([*sorted(known for known in vault.owners().addresses if _ADDRESS.search(f"<{known}>)")), address])
    return f"is {address} you? {step('config', owners=owners)}"
