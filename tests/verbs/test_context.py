from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.verbs.looking import fails, found
from vault_tool import Vault
from vault_tool.errors import NotFound, Refused, UsageError
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""


@pytest.fixture
def other(tmp_path: Path, clock: FixedClock) -> Path:
    """Another vault beside the test's own."""
    Vault.init(tmp_path / "other", name="Other", clock=clock)
    return tmp_path / "other"


def opened(path: Path | str | None = None, **environ: str) -> str:
    """The root that is found."""
    with Vault.open(path, environ={"HOME": os.environ["HOME"], **environ}) as vault:
        return str(vault.root)


def test_a_path_wins_then_the_environment_then_the_nearest_above(
    root: Path, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "vault/deep/er").mkdir(parents=True)
    monkeypatch.chdir(root / "vault/deep/er")
    assert opened() == str(root)
    assert opened(VAULT_ROOT=str(other)) == str(other)
    assert opened(root, VAULT_ROOT=str(other)) == str(root)
    assert opened(str(other)) == str(other)
    monkeypatch.chdir(tmp_path)
    assert opened("other") == str(other)


def test_the_nearest_of_two_above_is_meant(root: Path, other: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = other.rename(root / "inner")  # by hand: the tool makes no vault in a vault
    monkeypatch.chdir(inner / "vault")
    assert opened() == str(inner)


def test_the_global_vault_is_the_last_resort(root: Path, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert opened(VAULT_GLOBAL=str(other)) == str(other)
    monkeypatch.chdir(root)
    assert opened(VAULT_GLOBAL=str(other)) == str(root)


def test_the_global_vault_has_a_place_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Vault.init(Path(os.environ["XDG_DATA_HOME"]) / "vault")
    monkeypatch.chdir(tmp_path)
    assert opened() == str(Path(os.environ["XDG_DATA_HOME"]) / "vault")


def test_a_home_may_be_written_with_a_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    Vault.init("~/notes")
    assert opened("~/notes") == str(Path(os.environ["HOME"]) / "notes")
    assert opened(VAULT_ROOT="~/notes") == str(Path(os.environ["HOME"]) / "notes")


def test_where_there_is_none_the_way_to_one_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with fails(NotFound, "no vault in", "vt init", "VAULT_ROOT"):
        opened()
    with fails(NotFound, "no vault at", f"vt init {tmp_path / 'x'}"):
        opened(tmp_path / "x")
    (tmp_path / "old/vault").mkdir(parents=True)
    with fails(NotFound, "has notes but no vault.toml", f"vt init {tmp_path / 'old'}"):
        opened(tmp_path / "old")


def test_the_notes_folder_may_not_lead_out(root: Path, tmp_path: Path) -> None:
    (root / "vault").rename(tmp_path / "elsewhere")
    (root / "vault").symlink_to(tmp_path / "elsewhere")
    with fails(Refused, "a link that leads out of the vault"):
        opened(root)


@pytest.mark.in_git
def test_a_vault_may_be_reached_through_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    with Vault.open(tmp_path / "link") as vault:
        made = vault.remember("Quartz.")
        assert made.committed
        assert (vault.root, found(vault, "quartz")) == (root, ["Quartz"])


@pytest.mark.parametrize(
    ("given", "environ", "origin"),
    [
        (None, {}, "agent"),
        (None, {"VAULT_ORIGIN": "owner"}, "owner"),
        ("import", {"VAULT_ORIGIN": "owner"}, "import"),
    ],
)
def test_who_is_asking_is_said_or_taken_from_the_environment(
    root: Path, given: str | None, environ: dict[str, str], origin: str
) -> None:
    with Vault.open(root, origin=given, environ=environ) as vault:
        assert vault.who.origin == origin
        assert vault.show(vault.remember("Text.").id).origin == origin


def test_session_and_model_come_the_same_way(root: Path) -> None:
    environ = {"VAULT_SESSION": "s1", "VAULT_MODEL": "m1"}
    with Vault.open(root, environ=environ) as vault:
        assert (vault.who.session, vault.who.model) == ("s1", "m1")
    with Vault.open(root, session="s2", model="m2", environ=environ) as vault:
        assert (vault.who.session, vault.who.model) == ("s2", "m2")


def test_an_origin_that_is_none_is_refused(root: Path) -> None:
    with fails(UsageError, "origin `robot` is none of owner, agent, import", "VAULT_ORIGIN"):
        Vault.open(root, origin="robot")
    with fails(UsageError, "origin `robot`"):
        Vault.open(root, environ={"VAULT_ORIGIN": "robot"})


def test_one_vault_serves_several_askers(vault: Vault) -> None:
    other = vault.as_(session="s2", origin="owner")
    made = other.remember("Text.")
    assert vault.show(made.id).head["session"] == "s2"
    assert vault.who.session == ""
    assert other.index is vault.index


def test_opening_reads_nothing_but_the_place(root: Path) -> None:
    before = sorted(path.name for path in root.iterdir())
    with Vault.open(root):
        pass
    assert sorted(path.name for path in root.iterdir()) == before


def test_closing_twice_and_using_it_again_are_no_fault(root: Path) -> None:
    vault = Vault.open(root)
    vault.remember("Quartz.")
    vault.close()
    vault.close()


def test_settings_of_this_machine_that_change_are_obeyed_by_a_vault_that_is_open(root: Path) -> None:
    with Vault.open(root) as early, Vault.open(root, person=True) as other:
        assert early.recall("anything").freshness
        before = early.embedding.choice.provider
        other.config(machine={"provider": "openai"})
        assert early.recall("anything").freshness
        assert (before, early.embedding.choice.provider) == ("none", "openai")
        other.config(machine={"provider": "none"})
        assert early.recall("anything").freshness
        assert early.embedding.choice.provider == "none"
