"""`recall` without a question: a list by what narrows it, and with nothing at all the page for the start of a session."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from vault_tool.features.pages import pages
from vault_tool.model.parameter_table import NARROWS
from vault_tool.util.clock import parse_time
from vault_tool.util.structs import Struct
from vault_tool.util.text import BYTES_A_TOKEN
from vault_tool.vault import core_making, page_at_start, seen, work_left
from vault_tool.vault.lean import Short, without_empty

if TYPE_CHECKING:
    from vault_tool.verbs.vault import Vault

_LISTS_BY = frozenset({"kinds", *NARROWS, "of_session", "limit"})


class StartPage(Struct):
    """The page of a session's start, in the lean form alone."""

    text: str

    def lean(self, short: Short) -> dict[str, Any]:
        """The page as one text."""
        return without_empty({"page": self.text})


def without_query(arguments: Mapping[str, Any]) -> str:
    """The verb that a call of `recall` means: itself, `list`, or `orient`, whose form is then the page of a session's start."""
    query = arguments.get("query", "")
    asked = set(arguments) - {"query", "session"}
    if not isinstance(query, str) or query.strip() or asked - _LISTS_BY:
        return "recall"
    return "list" if asked else "orient"


def start_page(vault: Vault) -> StartPage:
    """The page for the project that is worked on. The seen log of the session is emptied: a context begins."""
    if vault.who.session:
        with suppress(*seen.UNKEPT):
            seen.reset_seen(vault)
    vault.fresh()
    page = page_at_start.page_at_start(vault, vault.who.project, pages.rest_of_page)(core_making.PAGE_TOKENS * BYTES_A_TOKEN)
    work_left.note_shown(vault, page)
    return StartPage(page)


def reset_seen_after_gap(vault: Vault) -> None:
    """Empty the seen log of a session that was away so long that its context may have been cut short."""
    state = seen.current(vault)
    if state is None or not state.seen:
        return
    last = parse_time(max(state.seen.values()))
    gap = timedelta(minutes=vault.settings.session_gap_minutes)
    if last is not None and vault.clock.now() - last > gap:
        with suppress(*seen.UNKEPT):
            seen.reset_seen(vault)
