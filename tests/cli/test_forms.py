"""The forms that every command has: tables for people, `--json` for programs, `--lean` for agents."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.cli.typed import VT, on_terminal, vt
from vault_tool import Vault
from vault_tool.cli.main import group
from vault_tool.errors import Exit
from vault_tool.util.hints import MARK


def _commands(made: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    if isinstance(made, click.Group):
        for member in made.list_commands(click.Context(made)):
            found = made.get_command(click.Context(made), member)
            assert found is not None
            yield from _commands(found, f"{name} {member}")
    else:
        yield name, made


COMMANDS = dict(_commands(group, "vt"))


def test_every_command_takes_json_and_lean() -> None:
    """What the README says of every command is so of each that is registered."""
    takes = {name: {opt for param in made.params for opt in param.opts} for name, made in COMMANDS.items()}
    assert len(takes) > 80 and [name for name, opts in takes.items() if not {"--json", "--lean"} <= opts] == []


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    root = tmp_path / "lab"
    Vault.init(root, name="Lab", no_git=True)
    with Vault.open(root) as vault:
        vault.remember("Redis drops idle connections after 300 s.", ["Redis", "Homelab"], kind="problem")
        vault.create_understanding(["Redis"], "Redis is the cache, never the store.", "The cache")
    return root


LOOKS = (
    "tags", "status", "doctor", "decay", "get-stats", "get-subjects Redis", "list-observations Redis", "log", "activity",
    "orient", "config", "core --print", "reflection --print", "open-around Redis", "snapshot", "history Redis", "list-passes",
    "related Redis", "review --list", "people", "search redis", "recall redis", "list", "get Redis", "show Redis",
    "remember again --subject Redis", "episode did something",
)  # fmt: skip


@pytest.mark.parametrize("line", LOOKS)
def test_the_lean_form_is_one_line_with_nothing_empty(line: str, lab: Path) -> None:
    """Also of those that have no form of their own: the same fields as `--json`, as far as they say anything."""
    whole, lean = (vt(*line.split(), flag, cwd=lab) for flag in ("--json", "--lean"))
    assert lean.returncode in (Exit.DONE, Exit.FINDINGS, Exit.ATTENTION), lean.stderr
    assert lean.returncode == whole.returncode and lean.stdout.count("\n") == 1
    assert list(_empty(json.loads(lean.stdout))) == []
    assert len(lean.stdout) < len(whole.stdout)


def _empty(value: object, place: str = "") -> Iterator[str]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inside:
        # A list of results is an answer also where it is empty, and so is a count of none.
        if one is None or (one in ("", [], {}) and name != "results"):
            yield f"{place}/{name}"
        yield from _empty(one, f"{place}/{name}")


def test_ids_are_short_in_the_lean_form_of_a_write(lab: Path) -> None:
    made = json.loads(vt("remember", "A build needs git 2.31.", "--lean", cwd=lab).stdout)
    assert len(made["id"]) == 6
    assert json.loads(vt("show", made["id"], "--json", cwd=lab).stdout)["content"] == "A build needs git 2.31."


@pytest.mark.parametrize("line", ["show nothing-of-this-name", "remember", "tags --no-such-option", "update a1b2 --truth 2"])
def test_an_error_in_the_lean_form_is_one_line_of_json(line: str, lab: Path) -> None:
    done = vt(*line.split(), "--lean", cwd=lab)
    assert done.returncode == Exit.USAGE and done.stdout.count("\n") == 1
    assert json.loads(done.stdout)["error"]["message"]


def test_the_lean_form_may_be_asked_for_before_the_command(lab: Path) -> None:
    assert json.loads(vt("--lean", "tags", cwd=lab).stdout) is not None


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_a_next_step_is_said_as_it_is_typed_at_every_terminal(term: str, lab: Path) -> None:
    """With colours, too, where the values beside names are drawn by another hand."""
    shown = on_terminal([*VT, "status"], lab, {**os.environ, "TERM": term})
    assert MARK not in shown and "Vault.embed" not in shown
    assert "`vt embed --download` fetches the local model" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("line", "last"), [("link a NOPE b why", "CONTINUES_THREAD"), ("list --status nope", "'all'"), ("list --class x", "edge")]
)
def test_all_that_there_is_to_choose_from_is_told(line: str, last: str, lab: Path) -> None:
    said = vt(*line.split(), cwd=lab).stderr
    assert "…" not in said and last in said and said.count("\n") == 1, said
