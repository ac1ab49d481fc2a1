"""A memory for AI agents and the people they work with: markdown files in git, everything else derived.

`from vault_tool import Vault; vault = Vault.open("notes")` gives every verb to a program.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` takes 5 ms, which a command that the owner answers does not have
if TYPE_CHECKING:
    from typing import Any

    from vault_tool.errors import VaultError
    from vault_tool.model.problems import Problem, Severity
    from vault_tool.model.records import Consolidation, Edge, Observation, Record, Subject, Understanding, Workspace
    from vault_tool.model.snapshot import Entry, Snapshot
    from vault_tool.verbs.vault import Vault

__version__ = "0.1.0"

_RECORDS = ("Consolidation", "Edge", "Observation", "Record", "Subject", "Understanding", "Workspace")
_HOMES = {
    "Vault": "vault_tool.verbs.vault",
    "VaultError": "vault_tool.errors",
    "Problem": "vault_tool.model.problems",
    "Severity": "vault_tool.model.problems",
    "Entry": "vault_tool.model.snapshot",
    "Snapshot": "vault_tool.model.snapshot",
    **dict.fromkeys(_RECORDS, "vault_tool.model.records"),
}

__all__ = [
    "Consolidation",
    "Edge",
    "Entry",
    "Observation",
    "Problem",
    "Record",
    "Severity",
    "Snapshot",
    "Subject",
    "Understanding",
    "Vault",
    "VaultError",
    "Workspace",
]


def __getattr__(name: str) -> Any:
    """Load a public name where it is first used: `vt --help` must not pay for the indexes."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # as above

    return getattr(import_module(_HOMES[name]), name)
