"""The command that makes vectors, with what it takes to have a model."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click
from msgspec.structs import replace

from vault_tool.cli import output
from vault_tool.cli.blocks import Block, fields
from vault_tool.cli.options import Call, Short, command
from vault_tool.errors import Exit, VaultError
from vault_tool.features.embedding import embedding
from vault_tool.index.embedding import calling
from vault_tool.machine import PROVIDERS
from vault_tool.util.text import counted
from vault_tool.vault.context import Context

_EMBEDDING = tuple(provider for provider in PROVIDERS if provider != "none")


@command("embed", "vt embed", "vt embed --provider local --download")
@click.option("--provider", type=click.Choice(_EMBEDDING), metavar="WHO", help="auto, ollama, openai or local.")
@click.option("--model", default="", metavar="NAME", help="A model of it other than the usual one.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Most texts to embed now.")
@click.option("--make-int8", is_flag=True, help="Make the local model's int8 form, and use it in this run.")
@click.option("--download/--no-download", default=None, help="Fetch the local model if need be; else a terminal asks.")
def embed(call: Call, provider: str | None, model: str, limit: int | None, make_int8: bool, download: bool | None) -> Exit:
    """Make the vectors that are missing.

    Work that is done is kept whenever it ends: run it again for the rest. The exit code is 4 while notes are behind.
    """
    with call.open_vault() as vault:
        who = provider or ""
        wants_download = offered(vault, call, who, model) if download is None else download
        with _told_of_waiting(), call.progress("embedding") as progress, call.progress("fetching the model") as fetching:
            done = embedding.embed(
                vault,
                provider=who,
                model=model,
                limit=limit,
                download=wants_download,
                make_int8=make_int8,
                progress=progress,
                fetching=fetching,
            )
        return call.emit(done, _embedded, vault)


def offered(vault: Context, call: Call, provider: str = "", model: str = "") -> bool:
    """Ask, where a person can answer, whether a missing local model is to be fetched."""
    if call.json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    missing = embedding.lacking(vault, provider, model)
    return bool(missing) and click.confirm(f"Fetch {missing}?", default=True, err=True)


def offer_model(call: Call, root: str) -> None:
    """Ask on a terminal whether a new vault is to have a model, and fetch it; the vault is there whatever comes of that."""
    with replace(call, vault=root).open_vault() as vault:
        try:
            if offered(vault, call):
                with _told_of_waiting(), call.progress("fetching the model") as fetching:
                    embedding.embed(vault, download=True, fetching=fetching)
        except (VaultError, click.Abort) as fault:
            why = fault.marked if isinstance(fault, VaultError) else "interrupted"
            output.warn(f"there is no model yet: {why}; `vt embed` asks again")


@contextmanager
def _told_of_waiting() -> Iterator[None]:
    """Say on standard error that a server has not answered yet, as long as that lasts."""
    before = calling.TOLD.set(_say_that_it_waits)
    try:
        yield
    finally:
        calling.TOLD.reset(before)


def _say_that_it_waits(who: str, seconds: float, most: float) -> None:
    output.say(
        f"waiting for {who}: no answer for {seconds:g} s, given up after {most:.0f} s; Ctrl-C ends it, what was done is kept"
    )


def _embedded(done: embedding.Embedding, short: Short) -> Iterator[Block]:
    none = "nothing was left to embed" if done.complete else "nothing was embedded"
    yield f"{counted(done.embedded, 'text')} embedded in {done.seconds:.1f} s" if done.embedded else none
    yield fields(
        ("by", f"{done.provider} {done.model}"),
        ("dimensions", done.dimensions),
        ("sent to", "another machine" if done.remote else ""),
        ("fetched", done.fetched),
        ("refused", done.refused or ""),
        ("notes behind", done.behind or ""),
        ("written to Chroma", counted(done.mirrored, "note") if done.mirrored else ""),
    )
