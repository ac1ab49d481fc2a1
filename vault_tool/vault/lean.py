"""The lean form of answers, which agents are given: what they need of each memory, no value twice and nothing that is empty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from vault_tool.files.layout import AROUND, VAULT
from vault_tool.model.details import IDS, Details
from vault_tool.model.ids import SHOWN_PREFIX
from vault_tool.model.snapshot import from_trusted, is_from_others, is_trusted
from vault_tool.util.deferred import orjson
from vault_tool.util.text import tokens

NOTICE = "check against what you see now"

# Where notes of other tools lie.
_OTHERS = (AROUND, f"{VAULT}/imported/")

# From a whole id to a prefix that means it alone.
Short = Callable[[str], str]


class Leans(Protocol):
    """Values that have a lean form."""

    def lean(self, short: Short) -> dict[str, Any]:
        """The form that agents are given."""


def lean_tokens(answer: Leans) -> int:
    """The tokens that an answer, or a part of it, takes in the lean form: what budgets count, for it is what is sent."""
    return tokens(orjson.dumps(answer.lean(lambda identity: identity[:SHOWN_PREFIX])).decode())


def without_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    """`values` without those that say nothing: None, False, and empty texts and lists."""
    return {
        name: value for name, value in values.items() if value is not None and value is not False and value not in ("", (), [])
    }


class Found(Leans, Protocol):
    """A result of an answer."""

    @property
    def title(self) -> str:
        """Its title."""

    @property
    def path(self) -> str:
        """Where it lies."""


def leaned(results: Sequence[Found], short: Short) -> list[dict[str, Any]]:
    """The results of an answer in their lean form. Notes of other tools that are called alike have their paths: by these their
    writer tells them apart, where a memory is told by its text.
    """
    called = Counter(result.title.casefold() for result in results)
    return [
        {**result.lean(short), "path": result.path}
        if called[result.title.casefold()] > 1 and result.path.startswith(_OTHERS)
        else result.lean(short)
        for result in results
    ]


def title_if_new(title: str, text: str) -> dict[str, str]:
    """A memory's title and text; no title where the text begins with it, for it was made of that beginning."""
    beginning = title.removesuffix("…").rstrip(" .:").casefold()
    return without_empty({"title": "" if text.casefold().startswith(beginning) else title, "content": text})


def lean_details(details: Details, short: Short, caution: str = "") -> dict[str, Any]:
    """The details of a memory beside its text, without those that its caution tells."""
    return {
        name: value if name not in IDS else short(value) if isinstance(value, str) else [short(identity) for identity in value]
        for name, value in details.items()
        if not (isinstance(value, str) and value in caution)
    }


def provenance_note(origin: str, reviewed: bool) -> dict[str, Any]:
    """The writer, if that is not the owner, and whether a person vouches for it."""
    if reviewed or origin in ("", "owner"):
        return {}
    if is_trusted(origin):
        return {"from": from_trusted(origin).removeprefix("from ")}
    return {"not_reviewed": origin} if is_from_others(origin) else {"not_reviewed": True}


def answer(results: list[dict[str, Any]], degraded: tuple[str, ...], **more: Any) -> dict[str, Any]:
    """An answer: its results, what it had to do without, and where there is something to check, that it is to be checked."""
    return listed(results, **more, degraded=degraded, notice=NOTICE if results else "")


def listed(results: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """Results beside other values; that no person vouches for any of them is said once, before them all."""
    trust = [result.get("not_reviewed") for result in results]
    if len(results) > 1 and trust[0] is not None and all(value == trust[0] for value in trust):
        more["not_reviewed"] = trust[0]
        results = [{name: value for name, value in result.items() if name != "not_reviewed"} for result in results]
    return {**without_empty(more), "results": results}
