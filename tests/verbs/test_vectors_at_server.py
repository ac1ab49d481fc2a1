"""What a vault's verbs do where its vectors lie at a server: forgetting, consent, and what doctor says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.ollama_server import FakeOllama
from tests.index.vectors.test_chroma_server import Fake, fake  # noqa: F401  (a fixture)
from vault_tool import Vault

pytestmark = pytest.mark.in_git


@pytest.fixture
def opened(root: Path, fake: Fake) -> Iterator[Vault]:  # noqa: F811
    """A vault of three notes whose vectors are at the server."""
    with FakeOllama() as ollama:
        (root / "_config.json").write_text(json.dumps({"unattended": True}))
        (root / "_config.json").chmod(0o600)
        environ = {"OLLAMA_HOST": ollama.url, "VAULT_PROVIDER": "ollama", "VAULT_VECTORS": fake.url, "HOME": str(root.parent)}
        with Vault.open(root, person=True, environ=environ) as vault:
            for text in ("The pump is of gneiss.", "The lamp is red.", "The safe opens with brass."):
                vault.remember(text, ["House"])
            vault.embed()
            yield vault


def _codes(vault: Vault) -> list[str]:
    return [problem.code for problem in vault.doctor().problems]


@pytest.mark.parametrize("how", ["forgotten", "withdrawn"])
def test_a_server_deletes_at_once_or_as_soon_as_it_answers(opened: Vault, fake: Fake, how: str) -> None:  # noqa: F811
    first, second = (str(one.id) for one in opened.search("pump lamp", mode="text").results[:2])
    count = len(fake.ids)
    done = opened.forget(first) if how == "forgotten" else opened.consent(first, "withdrawn")
    assert len(fake.ids) < count and not any("vectors" in said for said in done.warnings)
    fake.spoil = lambda path, status, data: (500, b"oops")
    count = len(fake.ids)
    done = opened.forget(second) if how == "forgotten" else opened.consent(second, "withdrawn")
    assert any("still has the vectors of 1 note" in said for said in done.warnings), done.warnings
    assert "vectors-not-deleted" in _codes(opened)
    fake.spoil = lambda path, status, data: (status, data)
    opened.embed()
    assert len(fake.ids) < count and "vectors-not-deleted" not in _codes(opened)
