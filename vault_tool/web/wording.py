"""Hints in the words of the page: the names of its pages and buttons; what it has none for, as what is to be done."""

from __future__ import annotations

from collections.abc import Mapping

from vault_tool.util.hints import Step, Value
from vault_tool.vault.plain_words import PlainWords

# Pages and buttons by the verbs that they are for.
_NAMED: Mapping[str, str] = {
    "adopt": "Health",
    "config": "Settings",
    "consent": "People",
    "consolidate": "Consolidate",
    "diff": "Home",
    "doctor": "Health",
    "drain": "Home",
    "edit": "Edit",
    "forget": "Delete permanently",
    "get_subjects": "Subjects",
    "get_turn": "Sessions",
    "list_turns": "Sessions",
    "log": "Home",
    "history": "History",
    "merge_subjects": "Merge",
    "people": "People",
    "purge": "Purge",
    "recall": "Memories",
    "review": "Review",
    "search": "Memories",
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
