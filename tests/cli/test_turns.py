from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.bounds import eventually
from tests.cli.typed import vt
from tests.founding import found_at
from tests.git_repos import git
from tests.owner.owned import Owned
from vault_tool.errors import Exit, NotFound
from vault_tool.features.turns.turns import Turns

TURN = ("turn", "My sister is called Mara.", "--session", "s1", "--user", "u1", "--world", "saltmarsh")
FOUND = ("--extract-memory", "--candidates", '[{"content": "The player has a sister, Mara."}]')


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    found_at(root, git=True)
    return root


def test_a_process_of_its_own_writes_what_a_turn_accepted(root: Path) -> None:
    done = json.loads(vt(*TURN, *FOUND, "--json", cwd=root).stdout)
    assert (done["accepted"], done["waiting"], done["writer"]) == (1, 1, "child")
    assert done["gate"]["safetyStatus"] == "clear" and done["gate"]["reviewRequired"] is False
    eventually(lambda: not Turns(root).count())
    assert git(root, "log", "-1", "--format=%s") == "turn: The player has a sister, Mara"
    again = json.loads(vt(*TURN, "--json", cwd=root).stdout)
    assert [beat["content"] for beat in again["recalled"]] == ["The player has a sister, Mara."]
    assert again["prompt"].endswith("The player has a sister, Mara.")


def test_the_vault_may_say_that_no_process_is_started(root: Path) -> None:
    (root / "vault.toml").write_text('turn_writes = "later"\n')
    assert json.loads(vt(*TURN, *FOUND, "--json", cwd=root).stdout)["writer"] == "later"
    assert json.loads(vt("turn", "--drain", "--json", cwd=root).stdout)["written"]
    assert json.loads(vt("turn", "--link", "--json", cwd=root).stdout)["linked"] == 0


def test_the_machine_may_say_that_nothing_runs_in_the_background(root: Path) -> None:
    vt("config", "--owner", "off", cwd=root)
    assert json.loads(vt(*TURN, *FOUND, "--json", cwd=root).stdout)["writer"] == "later"
    vt("config", "--owner", "on", cwd=root)
    assert json.loads(vt(*TURN, *FOUND, "--json", cwd=root).stdout)["writer"] == "child"
    eventually(lambda: not Turns(root).count())


def test_an_owner_writes_where_one_is_at_work(root: Path) -> None:
    with Owned(root):
        assert json.loads(vt(*TURN, *FOUND, "--json", cwd=root).stdout)["writer"] == "owner"
        eventually(lambda: not Turns(root).count())
        assert git(root, "log", "-1", "--format=%s") == "turn: The player has a sister, Mara"


@pytest.mark.parametrize(
    "arguments",
    [
        ("turn", "A text."),
        ("turn", "--session", "s1"),
        (*TURN, "--candidates", "{}"),
        (*TURN, "--candidates", '[{"content": ""}]'),
        (*TURN, "--mode", "other"),
    ],
)
def test_what_cannot_be_meant_is_said_in_one_line(arguments: tuple[str, ...], root: Path) -> None:
    done = vt(*arguments, cwd=root)
    assert done.returncode == Exit.USAGE and done.stdout == ""
    assert "Traceback" not in done.stderr


def test_skipped_turns_are_listed_for_a_second_look(root: Path) -> None:
    vt("turn", "I promise to bring Mara the lantern tomorrow.", *TURN[2:], cwd=root)
    found = json.loads(vt("backstop", "--for-user", "u1", "--json", cwd=root).stdout)["results"]
    assert [one["text"] for one in found] == ["I promise to bring Mara the lantern tomorrow."]
    shown = vt("backstop", "--settled", found[0]["id"], cwd=root)
    assert shown.stdout == "none of 0 skipped turns is worth it\n"


def test_a_turn_is_listed_shown_and_replayed(root: Path) -> None:
    (root / "vault.toml").write_text('turn_writes = "later"\n')
    turn = json.loads(vt(*TURN, *FOUND, "--json", cwd=root).stdout)["turn_id"]
    vt("turn", "--drain", cwd=root)
    asked = json.loads(vt("turn", "Do you know my sister?", *TURN[2:], "--json", cwd=root).stdout)["turn_id"]
    listed = json.loads(vt("list-turns", "--for-user", "u1", "--since", "7d", "--json", cwd=root).stdout)
    assert {one["id"]: one["gate"]["destination"] for one in listed["results"]} == {turn: "vault", asked: "nowhere"}
    assert "My sister is called Mara." in vt("list-turns", "--of-session", "s1", cwd=root).stdout
    assert vt("list-turns", "--user", "u2", cwd=root).stdout == "no turn is kept\n"
    shown = vt("get-turn", turn[:8], cwd=root).stdout
    assert "My sister is called Mara." in shown and "written" in shown and "The player has a sister, Mara." in shown
    replayed = json.loads(vt("get-turn", asked, "--replay", "--json", cwd=root).stdout)["replay"]
    assert [one["change"] for one in replayed["differences"]] == ["same"]
    assert "factor" in vt("get-turn", asked, "--replay", cwd=root).stdout
    [made] = json.loads(vt("get-turn", turn, "--json", cwd=root).stdout)["candidates"]
    assert re.search(rf"^turn: +{turn}$", vt("show", made["id"], cwd=root).stdout, re.M)
    assert re.search(r"^turn log: +2 turns, [\d,]+ bytes$", vt("status", cwd=root).stdout, re.M)
    missing = vt("get-turn", "ffff", cwd=root)
    assert missing.returncode == NotFound.exit_code and "vt list-turns" in missing.stderr
