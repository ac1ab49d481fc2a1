"""`embed`: make the vectors that are missing, fetching a model where that was asked; and how the vault stands to its embedder."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from vault_tool.errors import EmbeddingUnavailable, UsageError
from vault_tool.index.embedding import choose, int8, ollama, onnx
from vault_tool.index.embedding import download as model_download
from vault_tool.index.embedding.local_model import MULTILINGUAL, LocalModel
from vault_tool.machine import PROVIDERS, Machine
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.util.text import counted
from vault_tool.vault.context import Context, Progress
from vault_tool.vault.embedding_in_force import machine_settings
from vault_tool.vault.request import Answer, of_the_whole, verb
from vault_tool.vault.vector_upkeep import mirrored

if TYPE_CHECKING:
    from vault_tool.index.embedding.choose import Choice  # only what compares meanings needs it
    from vault_tool.index.embedding.embedder import Embedder
    from vault_tool.index.embedding.ollama import Ollama
    from vault_tool.index.vectors.backfill import CaughtUp
    from vault_tool.index.vectors.status import VectorStatus

_SHOWN_REASONS = 3
_PROBE = 5.0


class Embedding(Answer, kw_only=True):
    """The outcome of a run of `embed`: texts embedded and refused in it, and notes that are behind after it.

    `complete` says that no note is; what was `refused` is told with its reasons. `fetched` is the model that was
    brought to this machine first. `mirrored` counts the notes written to Chroma, where that is to answer, and
    `mirror_fault` says why it could not be brought up to date.
    """

    provider: str
    model: str
    dimensions: int | None
    remote: bool
    embedded: int
    refused: int
    reasons: Mapping[str, int]
    behind: int
    complete: bool
    stopped: str
    fetched: str
    mirrored: int
    mirror_fault: str
    seconds: float
    warnings: tuple[str, ...]

    @property
    def attention(self) -> bool:
        """Whether less came of it than all: the exit code must not say otherwise."""
        return not self.complete or self.refused > 0 or bool(self.mirror_fault)


class EmbedderStatus(Struct, kw_only=True):
    """The embedder of this machine, why it was chosen, and how many notes it has embedded (None: there is no embedder).

    `lacks` is what that provider needs before it can embed anything.
    """

    provider: str
    model: str
    why: str
    tried: tuple[str, ...]
    lacks: str
    remote: bool
    vectors: VectorStatus | None


@verb
@of_the_whole
def embed(
    vault: Context,
    *,
    provider: str = "",
    model: str = "",
    limit: int | None = None,
    download: bool = False,
    make_int8: bool = False,
    progress: Progress | None = None,
    fetching: Progress | None = None,
) -> Embedding:
    """Embed what has no vector yet, at most `limit` texts; what was done before is kept, whenever it ends.

    `provider` and `model` are for this run alone. A model that Ollama lacks is pulled by it; the local one is fetched
    only with `download`, and its form of eight bits is made, and used in this run, with `make_int8`. `fetching` is told
    how far that is. Raises EmbeddingUnavailable where nothing embeds.
    """
    begun = time.monotonic()
    if make_int8:
        provider, model = _int8(provider, model)
    settings = overridden(machine_settings(vault), provider, model)
    if make_int8:
        int8.make(vault.embedding.models)
        choose.choose_anew()
    embedder, fetched = _ready(vault, settings, download, fetching or _unheard)
    vault.fresh()
    done = vault.embedding.vectors.catch_up(embedder, limit=limit, progress=progress, again=True)
    refusals = [refusal.reason for refusal in vault.embedding.vectors.refusals()]
    reasons = {reason: refusals.count(reason) for reason in dict.fromkeys(refusals)}
    complete = not done.behind and not done.stopped
    written, mirror_fault = mirrored(vault)
    return Embedding(
        provider=embedder.provider,
        model=embedder.model,
        dimensions=embedder.dimensions,
        remote=embedder.remote,
        embedded=done.embedded,
        refused=done.refused,
        reasons=reasons,
        behind=done.behind,
        complete=complete,
        stopped=done.stopped,
        fetched=fetched,
        mirrored=written,
        mirror_fault=mirror_fault,
        seconds=round(time.monotonic() - begun, 3),
        warnings=tuple(_warnings(vault, embedder, done, reasons, mirror_fault)),
    )


def status_of(vault: Context) -> EmbedderStatus:
    """The embedder in use and its progress; loads nothing heavy and asks a server for less than a second."""
    choice = vault.embedding.choice
    embedder = choice.embedder
    return EmbedderStatus(
        provider=choice.provider,
        model=embedder.model if embedder else "",
        why=choice.why,
        tried=choice.tried,
        lacks=choice.lacks,
        remote=bool(embedder and embedder.remote),
        vectors=vault.embedding.vectors.status() if embedder or vault.embedding.vectors.stored else None,
    )


def embedding_advice(now: EmbedderStatus) -> Iterator[str]:
    """Hints for better embeddings."""
    if now.lacks:
        yield now.lacks
    elif now.vectors is not None and now.vectors.outdated:
        anew = f"{step('embed')} makes them anew: {counted(now.vectors.behind, 'note')}"
        yield f"{now.vectors.outdated}: its files are others than those that made the vectors; {anew}"
    elif now.vectors is not None and now.vectors.behind and now.provider != "none":
        yield f"{step('embed')} embeds what is behind: {counted(now.vectors.behind, 'note')}"
    elif now.vectors is not None and now.vectors.mirror_behind:
        yield f"{step('embed')} brings Chroma up to date: {counted(now.vectors.mirror_behind, 'note')}"


def lacking(vault: Context, provider: str = "", model: str = "") -> str:
    """The download that `embed` needs first for the local model, in words; empty where there is none."""
    settings = overridden(machine_settings(vault), provider, model)
    embedder = _choice(vault, settings).embedder
    return "" if isinstance(embedder, LocalModel) and embedder.there else _fetchable(vault, settings)


def _fetchable(vault: Context, settings: Machine) -> str:
    """The local model where it can be fetched: also where a package has brought its smaller form."""
    if settings.model in (onnx.INT8, MULTILINGUAL):
        return ""  # the one is made and the other comes in a package
    folder = onnx.folder_in(vault.embedding.models)
    uses_local = settings.provider == "local" or (
        settings.provider == "auto" and isinstance(_choice(vault, settings).embedder, onnx.Local | None)
    )
    return "" if not uses_local or onnx.present(folder) else f"{onnx.MODEL} ({model_download.MEGABYTES} MB) into {folder}"


def overridden(settings: Machine, provider: str, model: str) -> Machine:
    """The settings with another provider or model for this run; a model belongs to its provider."""
    if provider and provider not in PROVIDERS:
        raise UsageError(f"there is no provider `{provider}`", f"one of {', '.join(PROVIDERS)}")
    if provider and provider != settings.provider:
        sources = {**settings.sources, "provider": "--provider"}
        settings = replace(settings, provider=provider, model="", sources=sources)
    return replace(settings, model=model) if model else settings


def _int8(provider: str, model: str) -> tuple[str, str]:
    """The provider and the model of a run that makes the form of eight bits; UsageError where others are named with it."""
    if provider not in ("", "local") or model not in ("", onnx.INT8):
        raise UsageError("`make_int8` makes a form of the local model, and no other", "leave provider and model out")
    return "local", onnx.INT8


def _choice(vault: Context, settings: Machine) -> Choice:
    return choose.choose(settings, vault.embedding.models)


def _ready(vault: Context, settings: Machine, download: bool, fetching: Progress) -> tuple[Embedder, str]:
    """The embedder, with its model at hand, and what was fetched for that."""
    if settings.fault:
        raise UsageError(settings.fault, "mend it first: nothing is embedded until then")
    if settings.provider == "none":
        raise UsageError(
            "the provider is `none`: nothing is embedded", f"{step('embed', provider=...)}, or {step('config', provider='auto')}"
        )
    fetched = _downloaded(vault, settings, fetching) if download else ""
    choice = _choice(vault, settings)
    embedder = choice.embedder
    if embedder is None:
        hint = f"{step('embed', download=True)} fetches the local model; {step('status')} says what was tried"
        raise EmbeddingUnavailable("nothing is at hand to embed with", hint)
    if isinstance(embedder, LocalModel) and not embedder.there:
        raise EmbeddingUnavailable(
            f"the local model is not in {embedder.folder}",
            embedder.get_it if embedder.model != onnx.MODEL else f"{step('embed', provider='local', download=True)} fetches it",
        )
    if isinstance(embedder, ollama.Ollama) and _pulled(embedder, fetching):
        fetched = embedder.model
    return embedder, fetched


def _downloaded(vault: Context, settings: Machine, fetching: Progress) -> str:
    """The folder that the local model was fetched into; empty where it was not needed."""
    if not _fetchable(vault, settings):
        return ""
    folder = model_download.fetch(vault.embedding.models, fetching)
    choose.choose_anew()
    vault.embedding.reload()
    return str(folder)


def _pulled(embedder: Ollama, fetching: Progress) -> bool:
    """Whether the server had to fetch its model first."""
    if embedder.model in ollama.models_at(embedder.host, _PROBE):
        return False
    embedder.pull(fetching)
    return True


def _warnings(vault: Context, embedder: Embedder, done: CaughtUp, reasons: Mapping[str, int], mirror_fault: str) -> Iterator[str]:
    if done.stopped:
        yield f"embedding ended early: {done.stopped}; behind: {counted(done.behind, 'note')}, {step('embed')} goes on"
    elif done.behind:
        yield f"still behind: {counted(done.behind, 'note')}; {step('embed')} goes on"
    if mirror_fault:
        yield f"Chroma is not up to date, search is exact meanwhile: {mirror_fault}"
    for reason, count in list(reasons.items())[:_SHOWN_REASONS]:
        yield f"not embedded, {counted(count, 'text')}: {reason}"
    usual = vault.embedding.choice.embedder
    if usual is None or usual.name != embedder.name:
        asked = usual.name if usual else "nobody"
        named = {"model": embedder.model} if embedder.model in (onnx.INT8, MULTILINGUAL) else {}
        choosing = f"{step('config', provider=embedder.provider, **named)} changes that"
        yield f"questions are embedded by {asked}, not {embedder.name}; {choosing}"


def _unheard(done: int, total: int) -> None:
    """A progress callback that does nothing."""
