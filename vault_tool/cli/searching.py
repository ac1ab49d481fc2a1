"""`vt search`: find by words and meaning."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import click

from vault_tool.cli.blocks import Block, degraded, named, source, sourced, status_lines, where, with_status
from vault_tool.cli.names import takes
from vault_tool.cli.options import Call, Short, command
from vault_tool.errors import Exit
from vault_tool.features.recall.search import MODES, SearchResult, SearchResults
from vault_tool.features.recall.search import search as search_verb
from vault_tool.model.parameter_table import NARROWS
from vault_tool.recall.passage import with_passage


@command("search", "vt search redis timeout", """vt search '"socket keepalive"' --kind solution --limit 5""")
@click.argument("words", nargs=-1, required=True, help='Words; "a phrase" in quotes and begin* are understood.')
@takes(search_verb, "limit", "kinds", *NARROWS)
@click.option("--of-session", metavar="ID", help="Only what this conversation wrote.")
@click.option("--mode", type=click.Choice(MODES), default="auto", show_default=True, help="`text` for words alone.")
@takes(search_verb, "everything", "include_global", "vaults", "as_of")
def search(call: Call, words: tuple[str, ...], of_session: str | None, **options: Any) -> Exit:
    """Find memories, subjects and pages.

    Memories by meaning and words, subjects and pages by their words; superseded and expired ones only with --everything.
    `--kind page` finds pages alone; any other filter leaves them out, for a page has no tags, project or date.
    """
    with call.open_vault() as vault:
        return call.emit(search_verb(vault, " ".join(words), session=of_session, **options), _found, vault)


def _found(results: SearchResults, short: Short) -> Iterator[Block]:
    rows = [_hit(hit, short, results.query) for hit in results.results]
    yield from sourced(("id", "type", "title", "subjects", "from", "score"), rows, right=["score"], empty="nothing found")
    for hit in results.results:
        yield from status_lines(named(hit, short, hit.id or ""), hit, partial(named, hit, short))
    yield from degraded(results.degraded)
    if results.results:
        yield results.notice


def _hit(hit: SearchResult, short: Short, question: str) -> tuple[str, ...]:
    title = with_passage(with_status(hit.title, hit), hit.matched_content, question)
    title = f"{title} ({'as last committed' if hit.id else 'head unread'})" if hit.stale else title
    title = f"{title} ({where(hit)})" if hit.vaults else title
    return (
        named(hit, short, hit.id) if hit.id else hit.path,
        hit.type,
        title,
        ", ".join(hit.subjects),
        source(hit.origin, reviewed=hit.reviewed),
        f"{hit.score:.2f}",
    )
