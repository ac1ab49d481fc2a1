"""This machine's settings of a vault, the embedder that they choose, and the vectors: each read or loaded by its first use."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from vault_tool import machine
from vault_tool.errors import ConfigError, VaultError
from vault_tool.files import layout
from vault_tool.index.embedding import choose, onnx
from vault_tool.index.vectors import service
from vault_tool.machine import Machine

if TYPE_CHECKING:
    from vault_tool.config import Config
    from vault_tool.files import git
    from vault_tool.files.local import LocalFolder
    from vault_tool.index.embedding.choose import Choice  # only what compares meanings needs it
    from vault_tool.index.embedding.embedder import Embedder
    from vault_tool.index.vault_index import Index
    from vault_tool.index.vectors.service import Vectors
    from vault_tool.util.clock import Clock


class OpenVault(Protocol):
    """The parts of an open vault that its embedding rests on."""

    root: Path
    clock: Clock
    local: LocalFolder
    environ: Mapping[str, str]

    @property
    def settings(self) -> Config:
        """The vault's own settings."""

    @property
    def repo(self) -> git.Repo | None:
        """The git repository that it is in."""

    @property
    def whole_index(self) -> Index:
        """Its indexes, whoever asks."""


def machine_settings(vault: OpenVault) -> Machine:
    """The settings of this machine, read now; raises ConfigError, naming all faults, where they cannot be used.

    A `_config.json` that came with the vault is not this machine's, and is passed over.
    """
    path = vault.local.place / layout.CONFIG_FILE
    if path.is_symlink():
        raise ConfigError(f"{layout.CONFIG_FILE} is a link: it may be someone else's and is not used", "put the file there")
    return machine.read(path, vault.environ)


class Embedding:
    """One for an open vault, shared by all who ask it."""

    def __init__(self, vault: OpenVault) -> None:
        self._vault = vault
        self._machine: Machine | None = None
        self._machine_file: tuple[int, ...] = ()
        self._choice: Choice | None = None
        self.opened: Vectors | None = None
        """The vectors where this process asked for them before; None where nothing of them is loaded."""

    @property
    def machine(self) -> Machine:
        """The settings of this machine; where they cannot be read, ones that send nothing anywhere and say why."""
        if self._machine is None:
            self._machine_file = self._stamp_of_machine()
            try:
                self._machine = machine_settings(self._vault)
            except VaultError as fault:
                self._machine = machine.unusable(fault.marked)
        return self._machine

    def _stamp_of_machine(self) -> tuple[int, ...]:
        """A value that changes with this machine's settings."""
        try:
            status = os.lstat(self._vault.local.place / layout.CONFIG_FILE)
        except OSError:
            return ()
        return status.st_size, status.st_mtime_ns, status.st_ino

    @property
    def choice(self) -> Choice:
        """The embedder of this vault, and why; chosen once for the process, loaded by its first use."""
        if self._choice is None:
            self._choice = choose.choose(self.machine, self.models)
        return self._choice

    @property
    def vectors(self) -> Vectors:
        """The vectors of the notes' texts; nothing is read before something is asked of them."""
        if self.opened is None:
            vault, store = self._vault, self.machine.vectors
            self.opened = service.Vectors(
                vault.root, lambda: vault.whole_index, vault.settings, vault.repo, vault.clock, self.choice.embedder,
                self._embedder_of, store, self.machine.vectors_token,
            )  # fmt: skip
        return self.opened

    def open(self) -> None:
        """Open the vectors before anything is asked of them: from then on what is written is compared by them, too."""
        _ = self.vectors

    @contextmanager
    def consistent_read(self) -> Iterator[None]:
        """Take the vectors for what they are until the end; nothing is loaded where there are none."""
        with self.vectors.consistent_read() if self.has_vectors else nullcontext():
            yield

    def export_if_due(self) -> None:
        """Write the vectors' export where it waits and is small."""
        if self.opened is not None and self.opened.export_waits:
            self.opened.export_if_small()

    @property
    def has_vectors(self) -> bool:
        """Whether there is any vector, or an embedder to make one; if not, nothing need be loaded to find that out."""
        embeds = self.machine.provider != "none" and self.choice.embedder is not None
        return embeds or (self._vault.local.place / layout.CACHE / layout.VECTORS).is_dir()

    def _embedder_of(self, name: str) -> Embedder | None:
        """The embedder whose vectors are called `name`, unless texts would leave this machine for it."""
        provider, _, model = name.partition(":")
        embedder = choose.named(replace(self.machine, model=model), provider, self.models)
        return embedder if embedder is not None and embedder.name == name and not embedder.remote else None

    @property
    def models(self) -> Path:
        """The folder of local models."""
        environ = self._vault.environ
        home = environ.get("HOME") or environ.get("USERPROFILE") or str(Path.home())
        return Path(self.machine.models) if self.machine.models else onnx.usual_models(Path(home))

    def reload(self) -> None:
        """Choose the embedder again where it is next needed: settings or files changed."""
        vectors, self._machine, self._choice, self.opened = self.opened, None, None, None
        if vectors is not None:
            vectors.close()

    def refresh(self) -> None:
        """Choose anew who embeds, where this machine's settings changed since they were read."""
        if self._machine is not None and self._machine_file != self._stamp_of_machine():
            self.reload()

    def close(self) -> None:
        """Let go of the vectors' files."""
        if self.opened is not None:
            self.opened.close()
