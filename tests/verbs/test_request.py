"""One call of a verb: its look at the files, its one check of arguments, and its envelope."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from types import FrameType

import pytest

import vault_tool
from vault_tool import Vault
from vault_tool.errors import VaultError
from vault_tool.mcp.answering import answer
from vault_tool.mcp.tools import Caller

pytestmark = pytest.mark.without_git

PACKAGE = Path(vault_tool.__file__).parent


def _fields(name: str) -> list[str]:
    """The classes of the package that have a field of this name of their own."""
    return [
        f"{path.relative_to(PACKAGE).as_posix()}:{node.name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        and any(isinstance(one, ast.AnnAssign) and ast.unparse(one.target) == name for one in node.body)
    ]


def test_how_the_indexes_stood_is_a_field_of_one_class() -> None:
    assert _fields("freshness") == ["vault/request.py:Answer"]


def test_each_verb_of_an_open_vault_is_run_as_a_request() -> None:
    for name in vars(Vault):
        method = getattr(Vault, name)
        if name.startswith("_") or name == "init" or not callable(method):
            continue
        decorated = method.__wrapped__
        assert decorated.__code__.co_name == "asked", name


def test_an_answer_tells_what_its_own_call_took_in(vault: Vault) -> None:
    made = vault.remember("The cache is Redis.", ["Redis"])
    path = vault.root / made.path
    for number, ask in enumerate((vault.get_stats, lambda: vault.search("cache"), vault.status)):
        path.write_text(f"{path.read_text()}More of it: {number}.\n")
        assert (ask().freshness.changed, ask().freshness.changed) == (1, 0)


def test_a_verb_that_asks_another_tells_of_one_look(vault: Vault) -> None:
    made = vault.remember("The cache is Redis.", ["Redis"])
    path = vault.root / made.path
    path.write_text(path.read_text().replace("Redis.", "Redis 7."))
    assert vault.get(made.id).freshness.changed == 1


def test_what_is_refused_leaves_the_next_answer_as_it_is(vault: Vault) -> None:
    vault.remember("The cache is Redis.", ["Redis"])
    with pytest.raises(VaultError, match="nothing in this vault"):
        vault.get("nothing at all")
    assert vault.get_stats().freshness.changed == 0


def test_the_arguments_of_a_tool_are_checked_by_its_schema_alone(vault: Vault) -> None:
    entered: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name in ("_check", "require_limit"):
            entered.append(frame.f_code.co_name)

    vault.remember("The cache is Redis.", ["Redis"])
    sys.setprofile(note)
    try:
        answer(vault, "tags", {"limit": 2}, Caller(session="s"))
        by_tool = entered.copy()
        vault.tags(limit=2)
    finally:
        sys.setprofile(None)
    assert (by_tool, entered) == ([], ["_check", "require_limit"])
