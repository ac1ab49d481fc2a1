"""How the results of writes look: what was saved, under which id, in which commit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from vault_tool.cli.blocks import Block, fields, table
from vault_tool.cli.options import Short
from vault_tool.model.problems import Problem

if TYPE_CHECKING:
    from vault_tool.features.people.about_people import Naming
    from vault_tool.model.consent import ConsentRecord
    from vault_tool.vault.operation import Saved  # what writes loads slowly, and looking shares this module

SHOWN_COMMIT = 10


def saved_as(identity: str, title: str, path: str, short: Short, saved: Saved, *more: tuple[str, object]) -> Iterator[Block]:
    """One line that names the memory, then where it is and what else there is to say of it."""
    yield f"{short(identity)}  {title}" if identity else title
    yield fields(*more, ("path", path), ("commit", commit_of(saved)))


def commit_of(saved: Saved) -> str:
    """The commit that holds the write, as short as people type it."""
    return (saved.commit or "")[:SHOWN_COMMIT]


def short_ids(identities: Sequence[str], short: Short) -> str:
    """Several ids on one line."""
    return ", ".join(map(short, identities))


def problem_table(problems: Sequence[Problem], empty: str) -> Block:
    """Problems by file and line, each with what to do about it."""
    rows = [(p.severity.value, f"{p.path}:{p.line}" if p.line else p.path, p.message, p.hint) for p in problems]
    return table(("severity", "where", "what", "what to do"), rows, empty=empty)


def consent_table(records: Sequence[ConsentRecord]) -> Block:
    """The consents that were asked for and their answers, oldest first."""
    rows = [
        (consent.state, consent.by, consent.at[:16], consent.turn, consent.reason, "" if consent.counts else "no")
        for consent in records
    ]
    return table(("consent", "by", "at", "turn", "reason", "counts"), rows)


def named_elsewhere(namings: Sequence[Naming], count: int, short: Short) -> Iterator[Block]:
    """The notes that name a person and are not filed under them."""
    if not count:
        return
    more = f" (the first {len(namings)})" if count > len(namings) else ""
    subject = "1 more note names them but is" if count == 1 else f"{count} more notes name them but are"
    yield f"{subject} not filed under them{more}:"
    rows = [(short(naming.id) if naming.id else "", naming.type, naming.title, naming.path) for naming in namings]
    yield table(("id", "type", "title", "path"), rows)
