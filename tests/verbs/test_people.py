"""Whom memories are about, and what there is of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from vault_tool import Vault
from vault_tool.errors import NotFound, UsageError

pytestmark = pytest.mark.without_git


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    Vault.init(tmp_path / "lab", name="Lab", no_git=True)
    return Vault.open(tmp_path / "lab", person=True)


def test_users_are_listed_with_what_there_is_of_each(vault: Vault) -> None:
    assert vault.people().results == ()
    vault.remember("The lab has two pumps.")
    vault.as_(user="ada").remember("Ada likes tea.")
    last = vault.as_(user="ada").remember("Ada left for Turin.")
    vault.as_(user="bo").remember("Bo likes coffee.")
    assert [(one.user, one.memories) for one in vault.people().results] == [("ada", 2), ("bo", 1)]
    vault.consent(last.id, "withdrawn")
    found = vault.people("ada", limit=1)
    assert (found.total, [one.user for one in found.results]) == (2, ["ada"])
    both = {one.id: (one.consent, one.withheld) for one in vault.people("ada").memories}
    assert both[last.id] == ("withdrawn", True) and (None, False) in both.values()


def test_nobody_and_one_user_alone_are_said(vault: Vault) -> None:
    with pytest.raises(NotFound, match="nothing is about `zoe`"):
        vault.people("zoe")
    with pytest.raises(UsageError, match="whole vault"):
        vault.as_(user="ada").people()
