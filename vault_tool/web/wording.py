"""Hints in the words of the page: the names of its pages and buttons; what it has none for, as what is to be done."""

from __future__ import annotations

from collections.abc import Mapping

from vault_tool.util.hints import Step, Value
from vault_tool.vault.plain_words import PlainWords

# Pages and buttons by the verbs that they are for.
_NAMED: Mapping[str, str] = {
    "adopt": "Health",
    "consent": "People",
    "consolidate": "Consolidate",
    "diff": "Time",
    "doctor": "Health",
    "drain": "Today",
    "edit": "Edit",
    "forget": "Forget",
    "get_subjects": "Subjects",
    "get_turn": "Time",
    "list_turns": "Time",
    "log": "Time",
    "history": "Time",
    "merge_subjects": "Merge",
    "people": "People",
    "purge": "Purge",
    "recall": "Ask",
    "review": "Review",
    "search": "Ask",
    "status": "Health",
    "undo": "Undo",
}


class ForPage(PlainWords):
    """Hints in the words of the page, where a person presses and does not type."""

    def step(self, step: Step) -> str | None:
        """The name of a page or button; None where there is none."""
        return _NAMED.get(step.verb)

    def option(self, name: str, value: Value) -> str | None:
        """None: a form has fields, which have names of their own."""
