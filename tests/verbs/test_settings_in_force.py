"""A `vault.toml` that cannot be used: the last one that was committed is in force, every answer says so, and no command stops."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.git_repos import commit_all, git
from tests.terminal import let_commands_answer
from tests.verbs.looking import fails
from vault_tool import Vault
from vault_tool.cli.main import main
from vault_tool.errors import Exit, UsageError
from vault_tool.mcp.answering import answer
from vault_tool.mcp.tools import Caller
from vault_tool.model.problems import Problem, Severity
from vault_tool.model.types import CoreSection

pytestmark = pytest.mark.without_git

TYPE = '[types.recipe]\nclass = "observation"\nweight = 1.5\n'


def problem(root: Path) -> Problem:
    """What doctor says of the settings."""
    with Vault.open(root) as vault:
        found = [one for one in vault.doctor().problems if one.path == "vault.toml" and one.code != "merge-conflict"]
    assert len(found) == 1, found
    return found[0]


def in_conflict(root: Path) -> None:
    """A merge of two branches that set one option to two values, as git leaves it."""
    (root / "vault.toml").write_text(f"core_budget = 9000\n{TYPE}")
    commit_all(root, "base")
    git(root, "checkout", "--quiet", "-b", "side")
    (root / "vault.toml").write_text(f"core_budget = 5000\n{TYPE}")
    commit_all(root, "side")
    git(root, "checkout", "--quiet", "-")
    (root / "vault.toml").write_text(f"core_budget = 7000\n{TYPE}")
    commit_all(root, "ours")
    git(root, "merge", "side", ok=False)
    assert "<<<<<<<" in (root / "vault.toml").read_text()


@pytest.mark.in_git
def test_a_merge_that_nobody_settled_leaves_ours_in_force(root: Path) -> None:
    in_conflict(root)
    with Vault.open(root) as vault:
        assert vault.settings.core_budget == 7000
        assert vault.settings.types.spec("recipe").section is CoreSection.WORTH_KNOWING
        made = vault.remember("The kettle is descaled in May.")
        found = vault.search("kettle")
        assert [one.id for one in found.results] == [made.id]
        with_settings = git(root, "log", "-1", "--format=%h", "--abbrev=7", "--", "vault.toml")
        assert f"commit {with_settings} are in force" in found.freshness.settings
    told = problem(root)
    assert (told.severity, told.code, told.line) == (Severity.ERROR, "settings-unusable", 1)
    assert "merge" in told.message and "review" in told.hint


@pytest.mark.in_git
@pytest.mark.parametrize(
    "spoilt", ["links = \n", 'links = "wiki"\n', "core_budget = 0\n", "[types.Bad-Name]\nweight = 1.0\n", "\xff"]
)
def test_a_broken_file_leaves_the_last_committed_one_in_force(root: Path, spoilt: str) -> None:
    (root / "vault.toml").write_text("core_budget = 7000\n")
    commit_all(root, "settings")
    (root / "vault.toml").write_bytes(f"# mine\n{spoilt}".encode("latin-1"))
    with Vault.open(root) as vault:
        assert vault.settings.core_budget == 7000
    assert problem(root).line == 2
    # Committed as it is: the commit before it is in force.
    commit_all(root, "spoilt")
    with Vault.open(root) as vault:
        assert vault.settings.core_budget == 7000
    (root / "vault.toml").write_text("core_budget = 8000\n")
    with Vault.open(root) as vault:
        assert vault.settings.core_budget == 8000
        assert not vault.settings_fault


def test_every_fault_is_named_with_unknown_options(root: Path) -> None:
    (root / "vault.toml").write_text('links = "wiki"\ncolor = 1\n')
    said = problem(root).message
    assert "unknown option `color`" in said and "`links` must be one of plain, wikilink" in said


@pytest.mark.in_git
def test_without_history_the_usual_settings_are_in_force(tmp_path: Path) -> None:
    Vault.init(tmp_path / "v", no_git=True)
    (tmp_path / "v" / "vault.toml").write_text("core_budget = 7000\nlinks = \n")
    with Vault.open(tmp_path / "v") as vault:
        assert vault.settings.core_budget == 12000
        assert "the usual settings are in force" in vault.settings_fault
        vault.remember("Text.")


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        ("core_budget = 7000\nfuture = true\n", "unknown option `future`", 2),
        ("core_budget = 7000\n[future]\na = 1\n", "unknown option `future`", 2),
        ("core_budget = 7000\n[recall]\nweak_models = []\n", "`weak_models`", 3),
        ('core_budget = 7000\n[types.recipe]\nclass = "observation"\ncolour = 1\n', "`colour`", 4),
    ],
)
def test_an_unknown_option_is_a_warning_and_the_others_count(root: Path, text: str, said: str, line: int) -> None:
    (root / "vault.toml").write_text(text)
    with Vault.open(root) as vault:
        assert vault.settings.core_budget == 7000
        assert not vault.settings_fault
        assert vault.settings.types.spec("recipe").known == ("types" in text)
        vault.config("core_budget", "8000")
    found = problem(root)
    assert (found.severity, found.code, found.line) == (Severity.WARNING, "unknown-option", line)
    assert said in found.message
    assert "core_budget = 8000" in (root / "vault.toml").read_text()


def test_a_file_that_cannot_be_used_is_not_written_to(root: Path) -> None:
    (root / "vault.toml").write_text("links = \n")
    with Vault.open(root) as vault, fails(UsageError, "nothing was set", "editor"):
        vault.config("core_budget", "8000")
    assert (root / "vault.toml").read_text() == "links = \n"


@pytest.mark.in_git
@pytest.mark.parametrize(
    "command",
    [
        ("recall", "kettle"), ("search", "kettle"), ("remember", "Tea."), ("status",), ("orient",), ("core", "--print"),
        ("get-subjects",), ("log",), ("tag", "kettle", "+tea"), ("forget", "kettle", "--dry-run"), ("commit",),
    ],
)  # fmt: skip
def test_no_command_stops_and_each_says_so(root: Path, command: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> None:
    with Vault.open(root) as vault:
        vault.remember("The kettle is descaled in May.", title="kettle")
    (root / "vault.toml").write_text("<<<<<<< ours\n=======\n>>>>>>> theirs\n")
    let_commands_answer(root)
    call = ["--vault", str(root), "--origin", "owner", *command]
    assert main(call) == Exit.DONE
    assert "warning: vault.toml has the marks of a merge" in capfd.readouterr().err
    if command != ("core", "--print"):
        assert main([*call, "--json"]) == Exit.DONE
        said = json.loads(capfd.readouterr().out)
        assert any("vault.toml has the marks" in one for one in said["degraded"])


def test_agents_clients_are_told_too(root: Path) -> None:
    with Vault.open(root) as vault:
        vault.remember("The kettle is descaled in May.")
    (root / "vault.toml").write_text("links = \n")
    with Vault.open(root) as vault:
        for tool, arguments in (("recall", {"query": "kettle"}), ("remember", {"content": "Tea."}), ("orient", {})):
            made = answer(vault, tool, arguments, Caller())
            assert "are in force" in json.dumps(made), tool
        told = vault.op({"op": "read", "repo_id": "Lab", "mode": "targeted", "query": "kettle"})
        assert told["ok"] and any("are in force" in one for one in told["warnings"])


def test_a_process_of_its_own_says_so_and_ends_well(root: Path) -> None:
    (root / "vault.toml").write_text("links = \n")
    done = subprocess.run(
        [sys.executable, "-m", "vault_tool", "--vault", str(root), "recall", "tea", "--lean"],
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done
    assert any("are in force" in one for one in json.loads(done.stdout)["degraded"])
    assert done.stderr.count("are in force") == 1
