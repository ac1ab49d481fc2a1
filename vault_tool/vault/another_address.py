"""Another address of the owner: what is said where all of a vault is by one, and it may be theirs at another machine."""

from __future__ import annotations

import re

from vault_tool.model.snapshot import is_trusted
from vault_tool.model.types import RecordClass
from vault_tool.util.hints import step
from vault_tool.vault.context import Context

# What others wrote into their commits is offered as part of a command only where a shell takes it as it stands.
_ADDRESS = re.compile(r"<([A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+)>\)$")


def author(vault: Context) -> str:
    """The one address that all of a vault is by, and not its owner here; empty where the owner wrote, or the soul is by several.

    Of somebody whom the owner trusts it is known already that they are another person.
    """
    catalog = vault.index.catalog
    souls = catalog.of_class(RecordClass.UNDERSTANDING, "soul")
    if vault.repo is None or not souls or not all(soul.pulled and not is_trusted(soul.origin) for soul in souls):
        return ""
    addresses = {match[1] if (match := _ADDRESS.search(soul.origin)) else "" for soul in souls}
    return "" if len(addresses) != 1 or catalog.owners_own() else addresses.pop()


def question(vault: Context) -> str:
    """`is n@example.org you?` with what to type then, and where they are another person; empty without such an author."""
    address = author(vault)
    if not address:
        return ""
    owners = ",".join([*sorted(known for known in vault.owners().addresses if _ADDRESS.search(f"<{known}>)")), address])
    return f"is {address} you? {step('config', owners=owners)}; if you trust them: {step('config', trusted=address)}"
