"""What is said after a refusal or an erasing: as many secrets as there are, and an id that the next command takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.typed import vt
from tests.founding import found_at
from tests.wording import typed
from vault_tool import Vault
from vault_tool.errors import Refused

ONE = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
OTHER = "AKIA" + "Q3EGWMZTR5XNLP7D"


def test_one_secret_is_one_wherever_it_would_stand(tmp_path: Path) -> None:
    found_at(tmp_path / "v", git=False)
    with Vault.open(tmp_path / "v") as vault:
        with pytest.raises(Refused) as refused:
            vault.remember(f"The token is {ONE} for now.", tags=["token"])
        assert "more)" not in refused.value.message
        with pytest.raises(Refused, match=r"\(and 1 more\)"):
            vault.remember(f"The token is {ONE} for now.\n\nThe other is {OTHER} then.")


def test_the_advice_after_a_forget_names_an_id_that_the_purge_takes(tmp_path: Path) -> None:
    root = tmp_path / "v"
    found_at(root, git=True)
    with Vault.open(root) as vault:
        made = vault.remember("The spare key lies under the pot.")
    (root / "_config.json").write_text('{"unattended": true}')
    said = vt("--vault", str(root), "--origin", "owner", "forget", made.id[:6], "--yes").stdout
    assert f"`vt forget {made.id} --purge`" in typed(said)
    done = vt("--vault", str(root), "--origin", "owner", "forget", made.id, "--purge", "--yes")
    assert done.returncode == 0, done.stderr
