"""Which embedder answers on this machine: the one that was chosen, or what `auto` finds at hand."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from vault_tool.errors import EmbeddingUnavailable
from vault_tool.index.embedding import multilingual, openai, packaged
from vault_tool.index.embedding.embedder import Embedder
from vault_tool.index.embedding.local_model import MULTILINGUAL, MULTILINGUAL_PACKAGE, LocalModel
from vault_tool.index.embedding.ollama import MODEL as OLLAMA_MODEL
from vault_tool.index.embedding.ollama import Ollama, models_at, short_name
from vault_tool.index.embedding.onnx import GET_IT, INT8, MODEL, MODELS, PACKAGE, Local, folder_in
from vault_tool.machine import Machine, is_loopback
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct

_LOCAL_MODELS = (*MODELS, MULTILINGUAL)


class Choice(Struct):
    """The embedder, or None; `why` says in a few words how it came to that, `tried` what was passed over and why.

    `lacks` says what this provider needs before it can embed anything, with the command that gives it; empty where nothing.
    """

    embedder: Embedder | None
    provider: str
    why: str
    tried: tuple[str, ...] = ()
    lacks: str = ""


@lru_cache(maxsize=16)
def choose(machine: Machine, models: Path) -> Choice:
    """The embedder of these settings; `models` is the folder that holds local models. Remembered for the process.

    Never fetches anything. What was chosen by name is taken unasked, for its own calls say what is wrong with it;
    `auto` asks a local Ollama what it has (under a second; where nobody listens, a millisecond), then looks for files.
    """
    if machine.fault:
        return Choice(None, "none", machine.fault)
    if machine.provider == "auto":
        return _at_hand(machine, models)
    chosen = f"{machine.sources.get('provider', 'you')} says {machine.provider}"
    embedder = named(machine, machine.provider, models)
    return Choice(embedder, machine.provider, chosen, lacks=_lacking(machine.provider, embedder))


def named(machine: Machine, provider: str, models: Path) -> Embedder | None:
    """The embedder of a provider, be it there or not; None for `none`."""
    match provider:
        case "ollama":
            return Ollama(machine.ollama_host, machine.model)
        case "openai":
            return openai.OpenAI(machine.openai_key, machine.openai_url, machine.model)
        case "local":
            return local(machine.model, models) if machine.model in ("", *_LOCAL_MODELS) else None
    return None


def local(model: str, models: Path) -> LocalModel:
    """The local embedder of a model's name; where it is no name of a local model, the usual one's, or what a package brings."""
    if model == MULTILINGUAL:
        return multilingual.installed() or multilingual.Multilingual(models / MULTILINGUAL)
    name = INT8 if model == INT8 else MODEL
    model_here = Local(folder_in(models, name), name)
    if model_here.there:
        return model_here
    # Packages are looked for before what reads them is loaded: most have the one or neither.
    brought: LocalModel | None = packaged.installed() if find_spec(PACKAGE) is not None else None
    if brought is None and model not in MODELS and find_spec(MULTILINGUAL_PACKAGE) is not None:
        brought = multilingual.installed()
    return brought or model_here


def _lacking(provider: str, embedder: Embedder | None) -> str:
    if provider == "openai" and isinstance(embedder, openai.OpenAI) and not embedder.has_key:
        return f"there is no key for OpenAI: {openai.KEY_HINT}"
    if isinstance(embedder, LocalModel) and not embedder.there:
        return f"the local model is not in {embedder.folder}: {embedder.get_it}"
    if provider == "local" and embedder is None:
        return f"there is no such local model; known are {', '.join(_LOCAL_MODELS)}"
    return ""


def choose_anew() -> None:
    """Look again at the next choice: something was fetched."""
    choose.cache_clear()


def _at_hand(machine: Machine, models: Path) -> Choice:
    absent = _why_no_ollama(machine)
    if not absent:
        return Choice(Ollama(machine.ollama_host, machine.model), "ollama", f"auto: {machine.ollama_host} has the model")
    embedder = local(machine.model, models)
    if embedder.there:
        how = "its files are on this machine" if embedder.model == MODEL else "it came with an installed package"
        return Choice(embedder, "local", f"auto: {how}", (absent,))
    missing = f"local model: not in {embedder.folder}; {embedder.get_it}"
    return Choice(None, "none", "auto: nothing is at hand", (absent, missing), f"search is by words alone: {GET_IT}")


def _why_no_ollama(machine: Machine) -> str:
    """Why `auto` does not take Ollama; empty when it does."""
    if not is_loopback(machine.ollama_host):
        # Texts leave this machine only by a choice that says so.
        return f"Ollama at {machine.ollama_host}: another machine; {step('config', provider='ollama')} chooses it"
    model = short_name(machine.model or OLLAMA_MODEL)
    try:
        models = models_at(machine.ollama_host)
    except EmbeddingUnavailable as fault:
        return fault.message
    return (
        "" if model in models else f"Ollama at {machine.ollama_host}: has no {model}; {step('embed', provider='ollama')} pulls it"
    )
