"""A stored title that an earlier committed text made counts as made: by the history alone, and the same by a build anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git_repos import git, write
from tests.verbs.looking import identity, note
from vault_tool import Vault

ONE = "Noise is 1.4 % above the limit"


def _titled(body: str, title: str, number: int = 1) -> str:
    return note(number, body, title=f'"{title}"', created="2026-11-20T09:00:00+00:00")


def _commit(root: Path, path: str, said: str) -> None:
    write(root, path, said)
    git(root, "add", "-A")
    git(root, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-qm", "by hand")


def _titles(vault: Vault, number: int = 1) -> tuple[str, str]:
    """What a memory is called by the index as it is, and by one that is built anew."""
    now = vault.get(identity(number)).title
    vault.reindex(full=True)
    return now, vault.get(identity(number)).title


@pytest.mark.parametrize("title", [ONE, "Noise is 1.4 % …", "Noise is 1.4 % above..."])
def test_a_title_of_an_earlier_committed_text_follows_the_text(vault: Vault, root: Path, title: str) -> None:
    _commit(root, "vault/a.md", _titled(f"{ONE}. Measured twice.", title))
    vault.search("noise")
    _commit(root, "vault/a.md", _titled("Noise is 1.5 % above it. Measured thrice.", title))
    assert _titles(vault) == ("Noise is 1.5 % above it",) * 2
    write(root, "vault/a.md", _titled("The noise has gone. Nobody knows why.", title))
    assert _titles(vault) == ("The noise has gone",) * 2
    found = vault.search("noise gone", mode="text").results
    assert [one.title for one in found if one.id == identity(1)] == ["The noise has gone"]


def test_also_where_the_texts_came_together_or_are_not_committed(vault: Vault, root: Path) -> None:
    _commit(root, "vault/a.md", _titled("Rust never sleeps. It waits.", "Iron stays dry"))
    _commit(root, "vault/b.md", _titled("Salt keeps the meat. Always.", "Salt keeps the meat", 2))
    vault.search("rust")
    for body in ("Iron stays dry. In oil.", "Iron is gone. By ship."):
        _commit(root, "vault/a.md", _titled(body, "Iron stays dry"))
    write(root, "vault/b.md", _titled("Sugar does it too. In jars.", "Salt keeps the meat", 2))
    assert _titles(vault) == ("Iron is gone",) * 2
    assert _titles(vault, 2) == ("Sugar does it too",) * 2


def test_a_title_that_somebody_gave_stays(vault: Vault, root: Path) -> None:
    _commit(root, "vault/a.md", _titled("Copper is soft. It bends.", "On metals"))
    vault.search("copper")
    _commit(root, "vault/a.md", _titled("Tin is softer. It bends too.", "On metals"))
    assert _titles(vault) == ("On metals",) * 2
    # And one that was given by the very edit, though an earlier text began so.
    _commit(root, "vault/b.md", _titled("Lead is heavy. It sinks.", "Weights", 2))
    write(root, "vault/b.md", _titled("Gold is heavier. It sinks too.", "Weights of metals", 2))
    assert _titles(vault, 2) == ("Weights of metals",) * 2


def test_what_was_never_committed_makes_none(vault: Vault, root: Path) -> None:
    write(root, "vault/a.md", _titled("Zinc is dull. It keeps.", "Zinc is dull"))
    vault.search("zinc")
    write(root, "vault/a.md", _titled("Chrome shines. It keeps too.", "Zinc is dull"))
    assert _titles(vault) == ("Zinc is dull",) * 2
