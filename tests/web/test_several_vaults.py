"""The page and other vaults: a question may be put to them too, each answer says its vault, and one vault's alone are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bounds import PATIENCE
from tests.web.conftest import Served
from vault_tool import Vault
from vault_tool.vault import beside


def test_a_question_is_put_to_others_and_narrowed_to_one(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "LIMIT", PATIENCE)
    Vault.init(tmp_path / "team", no_git=True)
    with Vault.open(tmp_path / "team") as team:
        team.remember("Quartz is deployed by Jenkins.", ["Deploy"], kind="fact")
    with Vault.open(served.root, person=True) as vault:
        vault.remember("Quartz is deployed on Fridays.", ["Deploy"], kind="fact")
        vault.config("vault", "team", folder=str(tmp_path / "team"))
    client = served.client
    page = client.get("/memories?q=quartz+deployed").text
    assert "also team" in page and "Jenkins" not in page
    page = client.get("/memories?q=quartz+deployed&with=team").text
    assert "in team" in page and "in this vault" in page and "Jenkins" in page and "Fridays" in page
    page = client.get("/memories?q=quartz+deployed&with=team&in=team").text
    assert "Jenkins" in page and "on Fridays" not in page
    assert "no vault is called" in client.get("/memories?q=quartz&with=tema").text
    assert client.get("/memories?with=team").status_code == 200


def test_a_vault_is_called_by_its_whole_name(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "LIMIT", PATIENCE)
    Vault.init(tmp_path / "monorepo", no_git=True)
    with Vault.open(tmp_path / "monorepo") as other:
        other.remember("Quartz is deployed by Jenkins.", ["Deploy"], kind="fact")
    with Vault.open(served.root, person=True) as vault:
        vault.config("vault", "monorepo", folder=str(tmp_path / "monorepo"))
    page = served.client.get("/memories?q=quartz+deployed&with=monorepo").text
    assert '<span class="tag">in monorepo</span>' in page
