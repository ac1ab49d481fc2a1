"""The vault that is found where no folder above is one: how it is chosen, and that every door finds it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.typed import vt, vt_process
from tests.terminal import called_at_terminal
from vault_tool import Vault
from vault_tool.errors import Exit, NotFound, Refused
from vault_tool.owner import front
from vault_tool.util.user_folder import choice_file


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project's folder, far from any vault, in a home of its own; two vaults elsewhere, one with a memory."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("memory", "other"):
        Vault.init(tmp_path / name, no_git=True)
    with Vault.open(tmp_path / "memory") as vault:
        vault.remember("Our builds need git 2.31.", ["Build"], kind="fact")
    project = tmp_path / "src" / "project"
    project.mkdir(parents=True)
    monkeypatch.chdir(project)
    return project


def _found(folder: Path) -> str:
    done = vt("status", "--json", cwd=folder)
    return str(json.loads(done.stdout)["root"]) if done.returncode in (Exit.DONE, Exit.FINDINGS) else done.stderr


def test_what_was_chosen_is_found_from_a_project_by_every_door(here: Path, tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    assert "vt config global" in _found(here)
    done = vt("config", "global", "../../memory", "--json", cwd=here)
    assert done.returncode == Exit.DONE, done.stderr
    assert [one["value"] for one in json.loads(done.stdout)["machine"]] == [str(memory)]
    assert _found(here) == str(memory)
    with Vault.open() as vault:
        assert vault.root == memory.resolve()
    assert front.find("") == str(memory.resolve())
    event = json.dumps({"session_id": "s1", "cwd": str(here), "source": "startup"})
    assert "git 2.31" in vt_process("hook", "session-start", "--client", "claude-code", cwd=here, input=event).stdout


def test_a_vault_of_its_own_goes_before_it_and_reads_it_beside(here: Path, tmp_path: Path) -> None:
    assert vt("config", "global", str(tmp_path / "memory"), cwd=here).returncode == Exit.DONE
    assert _found(tmp_path / "other") == str(tmp_path / "other")
    found = json.loads(vt("search", "git builds", "--json", cwd=tmp_path / "other").stdout)["results"]
    assert [one["scope"] for one in found if one["title"].startswith("Our builds")] == ["global"]


def test_the_variable_goes_before_the_choice_and_says_so(here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_GLOBAL", str(tmp_path / "other"))
    done = vt("config", "global", str(tmp_path / "other"), cwd=here)
    assert done.returncode == Exit.DONE and "VAULT_GLOBAL is set to" in done.stderr
    assert _found(here) == str(tmp_path / "other")


def test_another_one_in_its_place_is_for_a_person(here: Path, tmp_path: Path) -> None:
    """A program may say which where there is none; it leads nobody away from the one that there is, nor takes it away."""
    assert vt("config", "global", str(tmp_path / "memory"), cwd=here).returncode == Exit.DONE
    for value in (str(tmp_path / "other"), ""):
        done = vt("config", "global", value, "--origin", "owner", cwd=here)
        assert done.returncode == Exit.REFUSED and "only a person" in done.stderr
    with Vault.open(tmp_path / "other") as vault, pytest.raises(Refused):
        vault.config("global", str(tmp_path / "other"))
    assert _found(here) == str(tmp_path / "memory")
    assert called_at_terminal("config", "global", str(tmp_path / "other"), cwd=here).returncode == Exit.DONE
    assert _found(here) == str(tmp_path / "other")
    assert called_at_terminal("config", "global", "", cwd=here).returncode == Exit.DONE
    assert not Path(choice_file()).exists()


def test_one_that_is_gone_may_be_replaced_by_anybody(here: Path, tmp_path: Path) -> None:
    assert vt("config", "global", str(tmp_path / "memory"), cwd=here).returncode == Exit.DONE
    (tmp_path / "memory").rename(tmp_path / "moved")
    assert "no vault in" in _found(here)
    assert vt("config", "global", str(tmp_path / "moved"), cwd=here).returncode == Exit.DONE
    assert _found(here) == str(tmp_path / "moved")


@pytest.mark.parametrize("value", ["nowhere", "src", "memory/vault/workspace.md"])
def test_what_is_no_vault_is_not_chosen(value: str, here: Path, tmp_path: Path) -> None:
    done = vt("config", "global", str(tmp_path / value), cwd=here)
    assert done.returncode == Exit.USAGE and value in done.stderr and not Path(choice_file()).exists()


@pytest.mark.parametrize("said", ["", "memory", "/a\n/b", "\0", "/" + "x" * 9000])
def test_a_choice_that_is_no_whole_path_is_none(said: str, here: Path) -> None:
    Path(choice_file()).parent.mkdir(parents=True, exist_ok=True)
    Path(choice_file()).write_text(said)
    with pytest.raises(NotFound):
        Vault.open()


def test_a_new_vault_offers_to_be_it_once(here: Path, tmp_path: Path) -> None:
    shown = called_at_terminal("init", str(tmp_path / "first"), cwd=here, keys=["y\n", "n\n"], env={"CI": "true"})
    assert "in every folder that has no vault of its own?" in shown.stdout and _found(here) == str(tmp_path / "first")
    again = called_at_terminal("init", str(tmp_path / "second"), cwd=here, keys=["n\n", "n\n"], env={"CI": "true"})
    assert "has no vault of its own" not in again.stdout and _found(here) == str(tmp_path / "first")


def test_one_that_is_refused_is_not_it(here: Path, tmp_path: Path) -> None:
    called_at_terminal("init", str(tmp_path / "first"), cwd=here, keys=["n\n", "n\n"], env={"CI": "true"})
    assert not Path(choice_file()).exists()


def test_without_a_terminal_it_says_what_to_type(here: Path, tmp_path: Path) -> None:
    told = vt("init", str(tmp_path / "first"), cwd=here).stdout
    assert "vt config global ." in " ".join(told.split()) and not Path(choice_file()).exists()
    assert vt("config", "global", str(tmp_path / "first"), cwd=here).returncode == Exit.DONE
    assert "vt config global" not in vt("init", str(tmp_path / "second"), cwd=here).stdout


def test_the_choice_is_for_its_user_alone(here: Path, tmp_path: Path) -> None:
    assert vt("config", "global", str(tmp_path / "memory"), cwd=here).returncode == Exit.DONE
    assert Path(choice_file()).stat().st_mode & 0o777 == 0o600
