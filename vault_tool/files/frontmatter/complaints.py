"""The complaints of the YAML parser, in the words of people who write notes."""

from __future__ import annotations

import re

import yaml

from vault_tool.files.conflict_markers import what_to_do
from vault_tool.files.frontmatter.values import HeadFault

IN_QUOTES = "put the value in double quotes"

_CONFLICT = re.compile(r"^(?:<{7} |={7}\r?$|>{7} |\|{7} )", re.MULTILINE)

# (context, problem, at the context's line?, message, hint): the first row whose two texts occur in the error decides.
_ROWS = (
    ("", "tab character", False, "a tab where YAML wants spaces", "indent with spaces"),
    ("", "mapping values are not allowed", False, "a second `: ` in one value", IN_QUOTES),
    ("quoted scalar", "unexpected end of stream", True, "a quote is opened here and never closed", "close the quote"),
    ("quoted scalar", "document indicator", True, "a quote is opened here and never closed", "close the quote"),
    ("scalar", "escape character", False, "a backslash escape that YAML does not know", r"write `\\` for a backslash"),
    ("scalar", "hexdecimal", False, "a backslash escape that YAML does not know", r"write `\\` for a backslash"),
    ("scalar", "hexadecimal", False, "a backslash escape that YAML does not know", r"write `\\` for a backslash"),
    ("an alias", "", False, "`*` at the start of a value means something else in YAML", IN_QUOTES),
    ("an anchor", "", False, "`&` at the start of a value means something else in YAML", IN_QUOTES),
    ("a tag", "", False, "`!` at the start of a value means something else in YAML", IN_QUOTES),
    ("block scalar", "", False, "text after `|` or `>`", "begin the text on the next line, indented"),
    ("simple key", "", True, "this line is neither `key: value` nor part of the value above it", "indent it, or add the colon"),
    ("flow sequence", "", True, "a `[` is opened here and not closed as a list", f"close it, or {IN_QUOTES}"),
    ("flow mapping", "", True, "a `{` is opened here and not closed as a map", f"close it, or {IN_QUOTES}"),
    ("", "block sequence entries are not allowed", False, "a list begins on the line of its key", "begin it on the next line"),
    ("flow node", "", False, "a list or map in brackets that is not complete", f"close it, or {IN_QUOTES}"),
    ("block node", "", False, "a value cannot begin like this", IN_QUOTES),
    ("block mapping", "", False, "this does not fit what stands before it", f"mend the indentation, or {IN_QUOTES}"),
    ("block collection", "", False, "this does not fit the list before it", "begin each item with `- `, equally indented"),
    ("", "document start", False, "a line that begins with `%` or `---`", "delete it"),
)  # fmt: skip


def explain(error: Exception, text: str, first_line: int) -> HeadFault:
    """The fault that a parser's error stands for, with its line in the file; never empty, whatever the error."""
    at = _line_of(getattr(error, "problem_mark", None))
    context_at = _line_of(getattr(error, "context_mark", None))
    lines = text.split("\n")
    context, problem = str(getattr(error, "context", None) or ""), str(getattr(error, "problem", None) or "")
    if "cannot start any token" in problem:
        return _bad_start(error, lines, first_line)
    if isinstance(error, yaml.MarkedYAMLError):
        for in_context, in_problem, at_context, message, hint in _ROWS:
            if in_context in context and in_problem in problem:
                index = context_at if at_context and context_at is not None else at
                return HeadFault(first_line + (index or 0), "bad-yaml", message, hint)
    return HeadFault(first_line + (at or 0), "bad-yaml", f"this is not YAML: {problem or error}".split("\n")[0], "")


def conflict(text: str, first_line: int) -> HeadFault | None:
    """The fault of a head that holds the markers of a merge conflict, which explain whatever else is wrong with it."""
    marker = _CONFLICT.search(text)
    if marker is None:
        return None
    line = first_line + text.count("\n", 0, marker.start())
    return HeadFault(line, "conflict-markers", "a merge conflict is not resolved", what_to_do())


def _line_of(mark: object) -> int | None:
    line = getattr(mark, "line", None)
    return line if isinstance(line, int) else None


def _bad_start(error: Exception, lines: list[str], first_line: int) -> HeadFault:
    mark = getattr(error, "problem_mark", None)
    index, column = getattr(mark, "line", 0), getattr(mark, "column", 0)
    char = lines[index][column : column + 1] if index < len(lines) else ""
    if char == "\t":
        return HeadFault(first_line + index, "bad-yaml", "a tab where YAML wants spaces", "indent with spaces")
    return HeadFault(first_line + index, "bad-yaml", f"a value cannot begin with `{char}`", IN_QUOTES)
