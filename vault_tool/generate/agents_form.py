"""CORE's prompt form as a part of a file that agents' clients read: AGENTS.md, CLAUDE.md, GEMINI.md."""

from __future__ import annotations

import re
from datetime import date

from msgspec.structs import replace

from vault_tool.generate.core_forms import CoreItem, CoreText, PromptForm

# Such a client takes `@path` for a file to read in; in an address (`ann@example.org`) it stands behind a word.
_INCLUDED = re.compile(r"(?<![\w.+\\-])@(?=\S)")
# Code is fenced by three or more of one of them, behind whatever marks of quotes and lists.
_FENCE = re.compile(r"`{3,}|~{3,}")


class AgentsForm(PromptForm):
    """The prompt form without what a client acts on: no file is read in, and no fence hides what follows."""

    def line(self, item: CoreItem, common: str, as_of: date, *, dated: bool = False) -> str:
        """One memory as the prompt form has it."""
        return inert(super().line(item, common, as_of, dated=dated))


def inert(text: str) -> str:
    """A text in which `@path` names no file to read in, and in which nothing fences code."""
    return _INCLUDED.sub(r"\\@", _FENCE.sub(lambda mark: "".join(f"\\{char}" for char in mark.group()), text))


def inert_text(text: CoreText) -> CoreText:
    """Soul, protocol or orientation with its text made inert."""
    return replace(text, text=inert(text.text))
