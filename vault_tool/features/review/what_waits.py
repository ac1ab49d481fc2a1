"""The memories that wait for a person and those that were accepted, as they are told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import field

from vault_tool.model.details import Details
from vault_tool.model.problems import Problem
from vault_tool.util.structs import Struct


class Waiting(Struct, kw_only=True):
    """One memory that waits, with what helps to judge it; `problems` keep it from being accepted as it stands.

    `refused_at` is said of one that lies in the bin: it waits no longer, and can wait again.
    """

    id: str
    record_class: str
    type: str
    title: str
    content: str
    details: Details
    subjects: tuple[str, ...]
    path: str
    since: str
    reason: str
    context: Mapping[str, str] = field(default_factory=dict)
    supersedes: tuple[str, ...] = ()
    origin: str = ""
    model: str = ""
    session: str = ""
    user: str = ""
    project: str = ""
    refused_at: str = ""
    problems: tuple[Problem, ...] = ()
    what: Literal["memory", "tombstone", "settings"] = "memory"


class Accepted(Struct, kw_only=True):
    """A memory that left the inbox for the vault."""

    id: str
    title: str
    path: str
    subjects_created: tuple[str, ...] = ()
    superseded: tuple[str, ...] = ()
