"""What is said of a type that a vault does not know: which types there are, by every door, and no slip that was none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.typed import vt
from tests.verbs.looking import fails
from vault_tool import Vault
from vault_tool.errors import Exit, UsageError
from vault_tool.mcp.answering import answer
from vault_tool.mcp.tools import Caller
from vault_tool.model.types import Registry, near_type

TYPES = Registry().observations()
STRANGE = ("banana", "person", "place", "meeting")
"""Words that people have for what they keep; none is nearly a type of ours."""


def _says_all(said: str) -> bool:
    return f"(the types are {', '.join(TYPES)}; vault.toml may name more)" in said and "did you mean" not in said


@pytest.mark.parametrize("kind", STRANGE)
def test_every_door_lists_the_types(kind: str, tmp_path: Path) -> None:
    Vault.init(tmp_path / "lab", name="Lab", no_git=True)
    with Vault.open(tmp_path / "lab") as vault:
        (said,) = vault.remember("A text of the library.", kind=kind).warnings
        assert _says_all(said)
        (said,) = vault.add_observations([{"content": "One of several.", "kind": kind}]).warnings
        assert _says_all(said)
        (said,) = answer(vault, "remember", {"content": "A text of a tool.", "kind": kind}, Caller())["warnings"]
        assert _says_all(said)
    done = vt("remember", "A text of a command.", "-k", kind, cwd=tmp_path / "lab")
    assert done.returncode == Exit.DONE and _says_all(done.stderr)
    page = tmp_path / "lab" / "vault" / "page.md"
    page.write_text("A page.\n")
    assert _says_all(vt("adopt", "vault/page.md", "--type", kind, cwd=tmp_path / "lab").stderr)
    request = {"op": "write", "repo_id": "Lab", "memory": {"scope": "repo", "kind": kind, "text": "By op.", "confidence": 0.9}}
    refused = json.loads(vt("op", cwd=tmp_path / "lab", input=json.dumps(request)).stdout)
    assert "problem, solution, failed_tactic, fact, preference, change" in refused["errors"][0]["hint"]


@pytest.mark.parametrize("command", ["remember", "new", "adopt"])
def test_the_help_lists_the_types(command: str) -> None:
    shown = " ".join(vt(command, "--help").stdout.split())
    assert [one for one in TYPES if one not in shown] == []


@pytest.mark.parametrize(
    ("said", "meant"),
    [("decison", "decision"), ("Facts", "fact"), ("fcat", "fact"), ("problems", "problem"), ("person", ""), ("banana", ""),
     ("recipe", ""), ("session", ""), ("rule", ""), ("note", ""), ("idea", "")],
)  # fmt: skip
def test_a_slip_is_told_from_a_word_of_ones_own(said: str, meant: str) -> None:
    assert near_type(said, TYPES) == meant


def test_a_filter_and_the_doctor_take_no_person_for_a_pattern(tmp_path: Path) -> None:
    Vault.init(tmp_path / "lab", no_git=True)
    with Vault.open(tmp_path / "lab") as vault:
        with fails(UsageError, "nothing here is of type `person`"):
            vault.search("Ann", kinds=["person"])
        with fails(UsageError, "nothing here is of type `patern`", "did you mean pattern?"):
            vault.search("Ann", kinds=["patern"])
        vault.remember("Ann is the plumber.", kind="person")
        (found,) = [one for one in vault.doctor().problems if one.code == "unknown-type"]
        assert "may be meant" not in found.hint
