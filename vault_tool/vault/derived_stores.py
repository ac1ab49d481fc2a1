"""The stores derived from the notes: made anew after an erasing, for deleted rows may keep a text's bytes for long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from vault_tool.files.layout import CACHE, CORE_FILE, EMBEDDINGS_FILE, INDEX_FILE, STATE_FILE, VECTORS
from vault_tool.generate import escape
from vault_tool.index import seals
from vault_tool.index.vectors import chroma_client, maintenance
from vault_tool.vault import core_age, generated_pages, past, vector_upkeep
from vault_tool.vault.store_interface import Cleaned, Phase, Store, Traces

if TYPE_CHECKING:
    from vault_tool.model.problems import Problem


class UseCounts(Store):
    """The catalogue's counts of uses on this machine."""

    phase = Phase.DERIVED

    def erase(self, traces: Traces) -> Iterable[Cleaned]:
        """Let it know none."""
        self.vault.uses.clear()
        return [Cleaned(STATE_FILE)]


class Indexes(Store):
    """The catalogue and the full text."""

    phase = Phase.DERIVED

    def erase(self, traces: Traces) -> Iterable[Cleaned]:
        """Build them anew."""
        self.vault.index.refresh(full=True, confirm=True)
        return [Cleaned(CACHE)]


class PastStates(Store):
    """The states of the past that were asked for, each with files and a catalogue."""

    phase = Phase.DERIVED

    def erase(self, traces: Traces) -> Iterable[Cleaned]:
        """Remove them all: the next question makes what it needs, without what is forgotten."""
        return [Cleaned(f"{CACHE}/{past.FOLDER}")] if past.erase(self.vault) else []


class StoredVectors(Store):
    """The vectors of all models, and Chroma's copy of them."""

    phase = Phase.DERIVED

    def erase(self, traces: Traces) -> Iterable[Cleaned]:
        """Drop those of the memories' files, and of all texts that no note has."""
        cache = self.vault.local.place / CACHE
        if not (cache / VECTORS).is_dir():
            return []
        is_remote = "://" in self.vault.machine.vectors or vector_upkeep.is_mirrored_elsewhere(self.vault)
        code = chroma_client.coder(self.vault.root) if is_remote else None
        maintenance.erase(cache, traces.paths, self.vault.settings.lock_wait, code)
        seals.discard(self.vault.root / EMBEDDINGS_FILE)
        remark = vector_upkeep.delete_at_server(self.vault) if is_remote else ""
        return [Cleaned(f"{CACHE}/{VECTORS}", 1, remark)]

    def health(self, *, thorough: bool) -> Iterator[Problem]:
        """The texts that were refused, a model that became another one, and vectors that a server has not deleted yet."""
        if thorough:
            yield from vector_upkeep.not_deleted(self.vault)
            yield from vector_upkeep.not_embedded(self.vault)


class Exports(Store):
    """`_index.json`, `_state.json` and `_embeddings.json`."""

    phase = Phase.DERIVED

    def erase(self, traces: Traces) -> Iterable[Cleaned]:
        """Write them now, and not at rest: they hold what is to be gone."""
        self.vault.export_if_due()
        return [Cleaned(INDEX_FILE)]


class Pages(Store):
    """The pages that are made of memories."""

    phase = Phase.DERIVED

    def erase(self, traces: Traces) -> Iterator[Cleaned]:
        """Make those anew that show one of the memories; each that cannot be is a remark."""
        for remark in generated_pages.make_anew(self.vault, partial(_shown_by, traces)):
            yield Cleaned(CORE_FILE, 0, remark)

    def health(self, *, thorough: bool) -> Iterator[Problem]:
        """Whether CORE.md is behind."""
        if thorough:
            yield from core_age.found_behind(self.vault)


def _shown_by(traces: Traces, page: str) -> bool:
    """Whether a generated page shows one of the memories.

    It cuts and escapes what it quotes, but it links to the file of all that it shows. Of what is gone already the words are
    not known any more: then it may.
    """
    return not traces.paths or traces.repeated_in(page) or any(escape.link_path(path) in page for path in traces.paths)
