"""The title of a memory that was given none: the first sentence of its text."""

from __future__ import annotations

from vault_tool.model.types import RecordClass
from vault_tool.util.text import first_sentence, one_line

# How titles that were cut end, by us and by hand.
_CUTS = ("…", "...")
# So far into a text its first letter is looked for.
_MARGIN = 32


def made_title(record_class: RecordClass, summary: str, body: str) -> str:
    """The title that a memory has by itself, empty for no text: an understanding's by its summary, which says it in a line."""
    sentence = first_sentence(one_line(summary)) if summary and record_class is RecordClass.UNDERSTANDING else ""
    return sentence or first_sentence(body)


def is_made(title: str, text: str) -> bool:
    """Whether a title is the first sentence of a text, whole or as any cut of it: then it was derived, not given."""
    line = one_line(title)
    if _begin_apart(line, text):
        return False
    cut = next((line.removesuffix(end) for end in _CUTS if line.endswith(end)), "")
    # Of a longer sentence no more is needed to see that it is another, or that it begins so.
    sentence = first_sentence(text, 2 * len(line) + 2)
    if cut:
        return sentence.startswith(cut.rstrip())
    return bool(line) and line.rstrip(".。") == sentence.rstrip(".。")


def _begin_apart(line: str, text: str) -> bool:
    """Whether a title and a text begin with letters that differ: most notes of a rebuild, told without their first sentence."""
    begins = text[:_MARGIN].lstrip()[:1]
    return begins.isalpha() and line[:1].isalpha() and line[:1] != begins


def is_made_of(title: str, record_class: RecordClass, summary: str, body: str) -> bool:
    """Whether a title is made of what a memory says: its text, or an understanding's summary."""
    return _is_summed_up(title, record_class, summary) or is_made(title, body)


def _is_summed_up(title: str, record_class: RecordClass, summary: str) -> bool:
    return bool(summary) and record_class is RecordClass.UNDERSTANDING and is_made(title, one_line(summary))


def title_now(record_class: RecordClass, title: str, summary: str, body: str) -> str:
    """The title of a memory: the given one, else one from its text; a stored title that was derived follows the text."""
    stored = one_line(title)
    if stored and is_made(stored, body):
        return first_sentence(body)
    return made_title(record_class, summary, body) if not stored or _is_summed_up(stored, record_class, summary) else stored


def given_title(title: str, text: str) -> str:
    """The title that is stored with a text: nothing where the text makes it."""
    line = one_line(title)
    return "" if is_made(line, text) else line
