"""What perspectives would be worth to a model that heeds no instruction: each is put before the texts all the same."""

from __future__ import annotations

from collections.abc import Sequence

from vault_tool import Vault
from vault_tool.index.embedding.embedder import Embedded, Embedder, Role
from vault_tool.index.vectors.service import Vectors


class Told:
    """A model that is told the instruction before each text, under a name of its own so that its vectors are kept apart."""

    provider = "local"
    follows_instructions: bool | None = True
    remote = False

    def __init__(self, of: Embedder) -> None:
        self._of = of
        self.model = f"{of.model}-told"
        self.name = f"{of.provider}:{self.model}"
        self.dimensions = of.dimensions
        self.window = of.window

    def embed(
        self, texts: Sequence[str], role: Role, instruction: str | Sequence[str] = "", seconds: float | None = None
    ) -> Embedded:
        """See the port."""
        each = [instruction] * len(texts) if isinstance(instruction, str) else instruction
        return self._of.embed([f"{told} {text}" if told else text for text, told in zip(texts, each, strict=True)], role)


def tell(vault: Vault) -> None:
    """Have an open vault keep and ask vectors of every perspective from now on."""
    model = vault.embedding.choice.embedder
    if model is None:
        return
    told = Told(model)
    other = {told.name: told}.get
    vault.embedding.opened = Vectors(vault.root, lambda: vault.index, vault.settings, vault.repo, vault.clock, told, other)
