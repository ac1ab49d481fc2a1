"""How many problems the files have: one count, which Home, Health and the bar of places tell alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from vault_tool.features.doctor.uncommitted_files import uncommitted_files
from vault_tool.features.doctor.vault_problems import vault_problems
from vault_tool.web.asking import AnswerCache, compared

if TYPE_CHECKING:
    from starlette.requests import Request

    from vault_tool.verbs.vault import Vault

_NAME = "problems"


def counted_now(request: Request, vault: Vault, by_severity: Mapping[str, int]) -> int:
    """The count by what `status` has just told; the other pages tell it from here on."""
    count = sum(by_severity.values())
    _answers(request).note(_NAME, _state(request, vault), count)
    return count


def counted_lately(request: Request, vault: Vault) -> int:
    """The same count beside another page: counted anew where a file with a fault came or went, and after a minute."""

    def count() -> int:
        return len(vault_problems(vault, uncommitted_files(vault)))

    return _answers(request).lately(_NAME, _state(request, vault), count)


def _state(request: Request, vault: Vault) -> tuple[object, ...]:
    """The part of the count that is known without a look between the notes."""
    freshness = compared(request, vault)
    return freshness.problems, freshness.settings, freshness.stale, freshness.unreadable


def _answers(request: Request) -> AnswerCache:
    answers: AnswerCache = request.app.state.answers
    return answers
