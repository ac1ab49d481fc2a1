"""One call of a verb: its look at the files, its one check of arguments, and its envelope."""

from __future__ import annotations

import ast
import errno
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import FrameType

import pytest

import vault_tool
from vault_tool import Vault
from vault_tool.cli import output
from vault_tool.cli.main import main
from vault_tool.cli.verb_table import of_the_whole
from vault_tool.errors import StorageError, UsageError, VaultError
from vault_tool.mcp.answering import answer
from vault_tool.mcp.tools import Caller
from vault_tool.vault.operation import Saved
from vault_tool.vault.request import Answer, Envelope, remarks, verb, without_settings

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
    # An answer that extends another value declares the field itself: two bases with fields have no common layout.
    answers = [name for name in _fields("freshness") if name != "vault/request.py:Answer"]
    for place, _, name in (extended.partition(":") for extended in answers):
        declared = getattr(import_module(f"vault_tool.{place.removesuffix('.py').replace('/', '.')}"), name)
        assert issubclass(declared, Envelope) and not issubclass(declared, Answer), name
        assert any(base.__struct_fields__ for base in declared.__bases__ if base is not Envelope), name
    assert len(answers) <= 4


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


WHOLE = sorted(of_the_whole())


@pytest.mark.parametrize("name", WHOLE)
def test_a_verb_about_the_whole_vault_is_refused_to_one_user_whoever_calls_it(vault: Vault, name: str) -> None:
    # As the command line calls it, and not as a method.
    asked = getattr(Vault, name).__wrapped__
    with pytest.raises(UsageError, match=f"^{name} is about the whole vault"):
        asked(vault.as_(user="ann"))


@pytest.mark.parametrize("words", [("import", "markdown", "."), ("turn", "--drain"), ("review", "--list"), ("core",)])
def test_a_command_is_refused_to_one_user_as_its_verb_is(
    vault: Vault, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--vault", str(vault.root), "--user", "ann", *words]) == 2
    assert "about the whole vault, and so not asked for one user" in capsys.readouterr().err


def test_a_verb_that_another_asks_is_part_of_it(vault: Vault) -> None:
    @verb
    def both(vault: Vault) -> object:
        return vault.status()

    assert isinstance(both(vault.as_(user="ann")), Answer)
    with pytest.raises(UsageError, match="whole vault"):
        vault.as_(user="ann").status()


def test_what_the_system_does_not_do_is_said_in_a_line_whoever_calls(vault: Vault) -> None:
    @verb
    def inner(vault: Vault) -> None:
        raise PermissionError(errno.EACCES, "not this one", "attic/box")

    @verb
    def outer(vault: Vault) -> str:
        with suppress(PermissionError):
            inner(vault)
        return "left out"

    assert outer(vault) == "left out", "a verb that asks another hears of the fault itself"
    with pytest.raises(StorageError, match="cannot use attic/box: permission denied"):
        inner(vault)


def test_what_is_told_beside_an_answer_is_told_once() -> None:
    saved = Saved(committed=False, reason="git is not here", conflicts=("a (2).md",), warnings=("it waits",))
    told = list(remarks(saved))
    assert told == list(output.remarks(saved))
    assert told[:2] == ["it waits", "saved, but not committed: git is not here"]
    assert "a (2).md" in told[2]
    assert list(remarks(Saved(committed=True))) == list(remarks(None)) == []
    assert without_settings({"degraded": ["no model"]}, "line 2") == {"degraded": ["no model", "line 2"]}
    assert without_settings({"a": 1}, "") == {"a": 1}
