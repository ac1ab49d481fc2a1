"""A script that was written for the second document's `_index.json`, `_state.json` and `_embeddings.json` reads ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from vault_tool import Vault

CLIENT = Path(__file__).with_name("client.py")


@pytest.mark.skipif(
    "VAULT_TEST_MODELS" not in os.environ, reason="the vectors need a model: set VAULT_TEST_MODELS to a folder of models"
)
def test_a_script_of_the_documents_format_reads_our_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_MODELS", os.environ["VAULT_TEST_MODELS"])
    root = tmp_path / "lab"
    Vault.init(root, name="Lab", no_git=True)
    with Vault.open(root) as vault:
        problem = vault.remember("Redis drops idle connections.", kind="problem", tags=["redis", "homelab"], importance=0.8)
        fixed = vault.remember("Keepalive every minute fixed Redis.", kind="solution", tags=["redis"])
        vault.link(fixed.id, "SOLVES", problem.id, "Keepalive prevents idle disconnections.", strength=0.8)
        vault.embed()
        vault.reindex()
    lines = subprocess.run(
        [sys.executable, str(CLIENT), str(root)], capture_output=True, text=True, check=True, timeout=120
    ).stdout
    year = str(vault.now())[:4]
    assert f"Redis drops idle connections | problem | ['redis', 'homelab'] | 0.8 | {year} | {year}" in lines
    assert "outgoing | SOLVES | Redis drops idle connections | 0.8 | Keepalive prevents idle disconnections." in lines
    assert "incoming | SOLVES | Keepalive every minute fixed Redis | 0.8 | Keepalive prevents idle disconnections." in lines
    assert "Keepalive every minute fixed Redis | solution | ['redis'] | 0.7 |" in lines, "its head says nothing of importance"
    assert "  sure" in lines and "unsure" not in lines
    assert "0 | None | True" in lines
    assert lines.count("length 1.0") >= 2
