"""A memory that a person hides is on no page of a session's start, and everywhere else as before; one press takes it back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git_repos import git
from vault_tool import Vault
from vault_tool.errors import Refused, UsageError
from vault_tool.features.editing.hiding import hide_from_page

TEXT = "The quay is closed in winter."


def test_it_is_hidden_from_the_page_alone_and_comes_back(root: Path) -> None:
    with Vault.open(root, person=True) as vault:
        hidden = vault.remember(TEXT, ["Quay"], kind="decision").id
        pinned = vault.remember("Always greet the harbour master first.", ["Quay"], kind="preference").id
        vault.remember("The crane is painted in May.", ["Crane"], kind="decision")
        vault.pin(pinned)
        before = (root / vault.show(pinned).path).read_bytes()
        assert TEXT.rstrip(".") in vault.core(preview=True).text
        done = hide_from_page(vault, [hidden, pinned])
        page = vault.core(preview=True).text
        assert "quay is closed" not in page and "greet" not in page and "The crane is painted" in page
        assert vault.search("quay closed winter").results[0].id == hidden and vault.show(hidden).status == "current"
        assert {hidden, pinned} <= {one.id for one in vault.list().results}
        # Undo restores the pin too.
        assert done.commit is not None
        vault.undo(done.commit)
        assert (root / vault.show(pinned).path).read_bytes() == before and "quay is closed" in vault.core(preview=True).text
        # A pin is the way back of its own.
        hide_from_page(vault, [hidden])
        vault.pin(hidden)
        assert "quay is closed" in vault.core(preview=True).text


def test_only_a_person_hides(root: Path) -> None:
    with Vault.open(root, origin="agent") as vault:
        one = vault.remember(TEXT, ["Quay"]).id
        head = git(root, "rev-parse", "HEAD")
        with pytest.raises(Refused):
            hide_from_page(vault, [one])
        assert git(root, "rev-parse", "HEAD") == head
    with Vault.open(root, person=True) as vault, pytest.raises(UsageError):
        hide_from_page(vault, [])
