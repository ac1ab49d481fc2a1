"""People whom the owner trusts, by a sync of real repositories: each row of whose word does what."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.typed import vt
from tests.sync.machines import as_person, clone_of, founded_with_hub, sync
from vault_tool import Vault
from vault_tool.errors import ConfigError, Exit, Refused
from vault_tool.features.erasing import waiting_tombstones
from vault_tool.model.authority import Writer, by_origin

BOB = "bob@example.org"


@pytest.fixture(params=["by address", "by domain"])
def team(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Path, Path]:
    """The owner's machine, which trusts Bob, and Bob's clone."""
    root, hub = founded_with_hub(tmp_path)
    with Vault.open(root, person=True) as vault:
        vault.remember("Deploys are on Tuesdays.", ["Deploys"], kind="decision")
        said = vault.config(machine={"trusted": BOB if request.param == "by address" else "*@example.org"})
        assert any("whoever can push" in warning for warning in said.warnings)
        vault.sync()
    return root, clone_of(hub, "b")


def by_bob(root: Path) -> Vault:
    return Vault.open(root, person=True)


def test_his_text_is_told_under_his_name_without_a_warning(team: tuple[Path, Path]) -> None:
    owner, bob = team
    with as_person(BOB), by_bob(bob) as vault:
        note = vault.remember("The staging server is in Oslo.", ["Servers"], pinned=True).id
        vault.sync()
    sync(owner)
    with Vault.open(owner, person=True) as vault:
        shown = vault.show(note)
        assert by_origin(shown.origin).writer is Writer.TRUSTED
        assert [(mark.mark, mark.by) for mark in shown.marks] == [("trusted", ("Bob <bob@example.org>",))]
    text = vt("show", note, cwd=owner).stdout
    assert "from bob@example.org" in text and "not reviewed" not in text


def test_his_deletions_take_what_is_his_and_wait_for_the_owners(team: tuple[Path, Path]) -> None:
    owner, bob = team
    with as_person(BOB), by_bob(bob) as vault:
        his = vault.remember("To be forgotten again.", ["Servers"]).id
        vault.sync()
    sync(owner)
    owners = next((bob / "vault" / "observations").rglob("deploys*.md")).stem.rpartition("-")[2]
    with as_person(BOB), by_bob(bob) as vault:
        vault.forget(his)
        vault.forget(owners)
        vault.sync()
    done = sync(owner)
    assert [path for path in done.stayed if "deploys" in path]
    assert not list((owner / "vault").rglob("to-be-forgotten*.md"))
    with Vault.open(owner, person=True) as vault:
        vault.show(owners)
        assert [waiting.who for waiting in waiting_tombstones.waiting(vault)] == ["Bob <bob@example.org>"]


def test_his_soul_is_served_where_the_owner_has_none_and_gives_way(team: tuple[Path, Path]) -> None:
    owner, bob = team
    with as_person(BOB), by_bob(bob) as vault:
        vault.create_understanding([], "Bob's soul speaks of harbours.", "Bob's soul.", kind="soul")
        vault.sync()
    sync(owner)
    said = vt("orient", cwd=owner).stdout
    assert "speaks of harbours" not in said, "the owner's stands"
    for path in (owner / "vault" / "understandings").glob("*.md"):
        text = path.read_text()
        if "\ntype: soul\n" in text and "harbours" not in text:
            path.unlink()
    with Vault.open(owner, person=True) as vault:
        vault.commit()
    assert "speaks of harbours" in vt("orient", cwd=owner).stdout


def test_nobody_else_is_trusted_and_no_tracked_file_says_who_is(team: tuple[Path, Path]) -> None:
    owner, bob = team
    with as_person("mallory@example.net"), by_bob(bob) as vault:
        note = vault.remember("Said by somebody else.", ["Servers"]).id
        vault.sync()
    sync(owner)
    with Vault.open(owner, person=True) as vault:
        assert by_origin(vault.show(note).origin).writer is Writer.OTHERS
    assert BOB not in "".join(path.read_text() for path in owner.glob("*.toml"))


@pytest.mark.parametrize("text", ["bob", "*", "*@", "a b@example.org", "<bob@example.org>", "bob@", "@example.org", "*@*"])
def test_an_address_that_is_none_is_refused_and_nothing_written(tmp_path: Path, text: str) -> None:
    root, _ = founded_with_hub(tmp_path)
    with Vault.open(root, person=True) as vault, pytest.raises(ConfigError):
        vault.config(machine={"trusted": text})
    assert not (root / "_config.json").exists() or "trusted" not in json.loads((root / "_config.json").read_text())


def test_an_agent_trusts_nobody(tmp_path: Path) -> None:
    root, _ = founded_with_hub(tmp_path)
    with Vault.open(root) as vault, pytest.raises(Refused):
        vault.config(machine={"trusted": BOB})
    assert vt("config", "--trusted", BOB, cwd=root).returncode == Exit.REFUSED
