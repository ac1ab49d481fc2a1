"""Settings and derived files nested without end, without measure or of wrong kinds: one line, or made anew."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.verbs.looking import fails
from vault_tool import Vault
from vault_tool.cli.main import main
from vault_tool.config import load
from vault_tool.errors import ConfigError, Exit
from vault_tool.importing.toml_head import toml_head
from vault_tool.vault.embedding_in_force import machine_settings

pytestmark = pytest.mark.without_git

DEEP = 100_000
SETTINGS = {
    "arrays": f"repo_ids = {'[' * DEEP}",
    "whole arrays": f"repo_ids = {'[' * DEEP}{']' * DEEP}",
    "tables": f"types = {'{a=' * DEEP}",
    "a key of many parts": f"types.{'.'.join('a' * DEEP)} = 1",
    "a table of many parts": f"[types.{'.'.join('a' * DEEP)}]",
    "quoted parts": '"=".' + '"a".' * 20_000 + "a = 1",
    "within bounds": f"[types.{'.'.join('a' * 90)}]\n" + "".join(f"a{n}=1\n" for n in range(8_000)),
    "10 MB": "# " + "x" * 10_000_000,
    "10 MB of keys": "".join(f"a{n} = 1\n" for n in range(800_000)),
    "many unknown": "".join(f"a{n} = 1\n" for n in range(4_000)),
    "a long value": f'links = "{"x" * 60_000}"',
    "numbers": f"core_budget = 1{'0' * 4_000}\nlock_wait = inf\n",
    "not a number": "lock_wait = nan",
    "wrong kinds": "\n".join(f"{name} = [[{{}}]]" for name in ("links", "language", "core_budget", "share_use", "repo_ids")),
    "tables of wrong kinds": "types = 7\nperspectives = [1]\nrecall = true\n",
    "types of wrong kinds": "[types.a]\nclass = {}\nweight = -inf\nimportance = [1]\nsection = 7\n[types.'a b']\n[types]\nb = 1",
    "half a character": 'language = "\\ud83d"',
    "NUL": "links = \x00",
}


@pytest.mark.parametrize("name", SETTINGS)
def test_hostile_settings_are_one_line(name: str) -> None:
    with fails(ConfigError, "vault.toml"):
        load(SETTINGS[name])


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("search", "x"), Exit.DONE),
        (("doctor",), Exit.FINDINGS),
        (("remember", "Text."), Exit.DONE),
        (("config",), Exit.DONE),
        (("config", "links", "plain"), Exit.USAGE),
    ],
)
def test_every_command_says_so_in_one_line(
    root: Path, command: tuple[str, ...], code: Exit, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("arrays", "a key of many parts", "10 MB", "wrong kinds"):
        (root / "vault.toml").write_text(SETTINGS[name])
        assert main(["--vault", str(root), *command]) == code
        said = [line for line in capfd.readouterr().err.splitlines() if "vault.toml: " in line and "are in force" in line]
        assert said and said[0].startswith("warning: vault.toml: ") and len(said[0]) < 600, name


MACHINE = (
    "[" * DEEP, '{"a":' * DEEP, '{"model": "' + "x" * 10_000_000 + '"}', '{"provider": [[]]}', '{"model": "\\ud83d"}', "7", "NaN",
    '{"model": "\ud83d"}', '{"model": 1e999}', '{"unknown": 1}',
)  # fmt: skip


@pytest.mark.parametrize("number", range(len(MACHINE)))
def test_hostile_settings_of_the_machine_stop_no_answer(vault: Vault, root: Path, number: int) -> None:
    (root / "_config.json").write_bytes(MACHINE[number].encode("utf-8", "surrogatepass"))
    vault.remember("Keepalive was off.")
    assert [one.title for one in vault.search("keepalive").results] == ["Keepalive was off"]
    with fails(ConfigError, "_config.json"):
        machine_settings(vault)
    assert "_config.json" in vault.machine.fault


def test_derived_files_without_end_are_made_anew(vault: Vault, root: Path) -> None:
    made = vault.remember("Keepalive was off.")
    vault.decay()
    vault.close()
    for data in (
        b"[" * DEEP,
        b'{"entries":' * DEEP,
        b'"' + b"x" * 10_000_000 + b'"',
        b'{"version": 1e308, "entries": "\xed\xa0\x80"}',
    ):
        for name in ("_index.json", "_state.json", "_embeddings.json"):
            (root / name).write_bytes(data)
        with Vault.open(root) as again:
            assert [one.id for one in again.search("keepalive").results] == [made.id]
            again.decay()
            assert [one.severity for one in again.doctor().problems if one.severity == "error"] == []
        assert made.id in json.loads((root / "_index.json").read_bytes())["entries"]
        assert made.id in json.loads((root / "_state.json").read_bytes())["entries"]


@pytest.mark.parametrize("head", [f"a = {'[' * DEEP}", f"{'a.' * DEEP}a = 1", "x" * 10_000_000], ids=["deep", "long key", "long"])
def test_a_hostile_head_of_an_imported_page_is_none(head: str) -> None:
    assert toml_head(f"+++\n{head}\n+++\nProse.\n") == ({}, "\nProse.\n")
