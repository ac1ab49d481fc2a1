"""Rules about what memories rest on: references that nothing can follow."""

from __future__ import annotations

from collections.abc import Iterable

from vault_tool.check.scope import Scope
from vault_tool.model.evidence import FORMS, fault_in
from vault_tool.model.problems import Problem, note
from vault_tool.util.text import one_line


def malformed_evidence(scope: Scope) -> Iterable[Problem]:
    """Malformed references: people can read them, but no check tells whether they still hold."""
    for entry in scope.snapshot.entries:
        for text in entry.texts("evidence"):
            wrong = fault_in(text)
            if wrong:
                message = f"`evidence` has `{one_line(text, 60)}`, which is no reference: {wrong}"
                yield note(entry.path, 0, "malformed-evidence", message, f"write it as one of {FORMS}")
