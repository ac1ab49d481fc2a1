"""Signs that a soul or a protocol has drifted: lists of rules where there should be a shape, lessons of single sessions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line

# Fewer rules are still a way of speaking; from here on, and from LEAST_SHARE of the text, it has grown procedural.
FEWEST_RULES = 4

LEAST_SHARE = 0.25

# So many traces of single occasions (days, sessions, versions, files) are lessons that have gathered.
FEWEST_TRACES = 3

_SHOWN = 80
_ITEM = re.compile(r"\s*(?:[-*+•]|\d+[.)]|\[[ xX]\])\s+(.*)")
_HEADING = re.compile(r"\s*#{1,6}\s")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_SENTENCE = re.compile(r"(?<=[.!?。！？])[\s*_]+")
_RULE = re.compile(
    r"\W*(?:always|never|do not|don['’]t|make sure|ensure|be sure|remember to|avoid|use|run|call|check|write|read|follow"
    r"|when(?:ever)?\b[^,]*,\s*(?:always|never|do|don['’]t|use|run|call|check))\b(?!\s*(?:all|i|we)\b)"
    r"|.*\b(?:must|(?:you|i|we) should|should (?:always|never)|is (?:required|forbidden)|are not allowed)\b",
    re.IGNORECASE,
)
_TRACE = re.compile(
    r"\b\d{4}-\d\d-\d\d\b"
    r"|\b(?:yesterday|last (?:session|time|week|month|night|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
    r"|(?:this|previous|that) (?:morning|session|week)|session (?=[\w-]*\d)[\w-]+)\b"
    r"|(?<!\w)#\d{2,}\b|\b(?:issue|ticket|pull request|bug) #?\d+\b"
    r"|\bcommit [0-9a-f]{7,40}\b|\bv?\d+\.\d+\.\d+\b"
    r"|(?<![\w./-])[\w./-]+\.(?:py|js|ts|rs|go|java|c|cpp|h|rb|sh|sql|toml|yaml|yml|json)\b"
    r"|\bhttps?://\S+",
    re.IGNORECASE,
)


class Finding(Struct):
    """One sign: `sign` is procedural or tactical, `why` a line for the person."""

    sign: str
    why: str


def soul_findings(text: str) -> list[Finding]:
    """Objections to a soul: it has grown procedural, or gathered lessons from single sessions."""
    findings = []
    if rules := procedural(text):
        why = (
            f"the soul has grown procedural ({len(rules)} rules, e.g. {_quoted(rules[0])}): it is a shape to inhabit, not a list"
        )
        findings.append(Finding("procedural", why))
    return [*findings, *_lessons(text, "soul")]


def protocol_findings(text: str) -> list[Finding]:
    """Objections to a protocol: tactical lessons, which belong in observations until they have proven durable."""
    return _lessons(text, "protocol")


def procedural(text: str) -> tuple[str, ...]:
    """The rules that make `text` a list of instructions, each cut to a line; nothing while it is a shape to inhabit.

    Items of lists count as rules in any language, sentences that command in English.
    """
    statements = list(_statements(text))
    rules = [statement for statement, listed in statements if listed or _RULE.match(statement)]
    many = len(rules) >= FEWEST_RULES and len(rules) >= LEAST_SHARE * len(statements)
    return tuple(one_line(rule, _SHOWN) for rule in rules) if many else ()


def tactical(text: str) -> tuple[str, ...]:
    """The sentences of `text` that speak of single occasions, each cut to a line; nothing while there are few.

    What one session taught is an observation; a soul and a protocol hold what has proven durable.
    """
    traced = [(statement, len(_TRACE.findall(statement))) for statement, _ in _statements(text)]
    if sum(traces for _, traces in traced) < FEWEST_TRACES:
        return ()
    return tuple(one_line(statement, _SHOWN) for statement, traces in traced if traces)


def _lessons(text: str, kind: str) -> list[Finding]:
    lessons = tactical(text)
    if not lessons:
        return []
    why = f"the {kind} has gathered lessons of single sessions (e.g. {_quoted(lessons[0])}): make observations of them"
    return [Finding("tactical", why)]


def _quoted(text: str) -> str:
    return f'"{one_line(text, 60)}"'


def _statements(text: str) -> Iterator[tuple[str, bool]]:
    """The sentences of a text, and whether each is an item of a list; headings aside, a block of code is one item."""
    prose: list[str] = []
    fenced = False
    for line in [*text.splitlines(), ""]:
        fence, bullet = _FENCE.match(line), None if fenced else _ITEM.match(line)
        if not (fence or bullet or fenced or _HEADING.match(line)) and line.strip():
            prose.append(line.strip())
            continue
        yield from ((sentence.strip(), False) for sentence in _SENTENCE.split(" ".join(prose)) if sentence.strip(" *_"))
        prose.clear()
        if bullet:
            yield bullet[1].strip(), True
        elif fence:
            fenced = not fenced
            if fenced:
                yield "a block of code", True
