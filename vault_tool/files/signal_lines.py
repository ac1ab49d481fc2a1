"""Signals as text: one JSON object a line, and back with every bad line named."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from typing import Any

from vault_tool.model.ids import canonical
from vault_tool.model.problems import Problem, warning
from vault_tool.model.signals import MOST_USES, ConsentState, Signal, SignalKind
from vault_tool.model.snapshot import is_from_others
from vault_tool.util.clock import parse_time, stamp
from vault_tool.util.json_text import read_own
from vault_tool.util.text import one_line

_TEXTS = ("rationale", "problem", "session", "model", "origin", "user", "consent", "answered_by", "turn", "withdraws")
_WORDS = ("rationale", "evidence")
_KINDS = {kind.value: kind for kind in SignalKind}
_CONSENTS = frozenset(state.value for state in ConsentState)
# Most bytes of a line: no sentence about a memory is longer.
LONGEST_LINE = 2**20

_BAD_HINT = "mend or delete the line in an editor"


def signal_line(signal: Signal) -> str:
    """The line of one signal, without its newline; what is empty is left out."""
    line: dict[str, Any] = {"id": signal.id, "at": signal.at, "target": signal.target, "kind": signal.kind.value}
    line["value"] = signal.value
    if signal.confidence is not None:
        line["confidence"] = signal.confidence
    if signal.evidence:
        line["evidence"] = list(signal.evidence)
    line.update({name: getattr(signal, name) for name in _TEXTS if getattr(signal, name)})
    # ASCII escapes keep U+2028 and lone surrogates from breaking a line or the encoding, but make CJK unreadable.
    text = json.dumps(line, ensure_ascii=False, allow_nan=False)
    return text if text.isprintable() else json.dumps(line, allow_nan=False)


def read_signals(path: str, data: bytes) -> tuple[list[Signal], list[Problem]]:
    """The signals of one journal in the order of its lines, and a problem for each line that cannot be read.

    Keys that are not ours are passed over; a last line without its newline is torn (a write was cut short), and
    counts only if it is whole JSON.
    """
    signals: list[Signal] = []
    problems: list[Problem] = []
    lines = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        torn = number == len(lines)
        try:
            signals.append(_signal(line))
        except ValueError as fault:
            code = "torn-line" if torn else "bad-signal"
            reason = "its end is missing" if torn else _reason(fault)
            problems.append(warning(path, number, code, f"not a signal: {reason}", _BAD_HINT))
            continue
        if torn:
            problems.append(warning(path, number, "torn-line", "the last line has no newline", "the next append mends it"))
    return signals, problems


def redacted_signals(
    data: bytes, targets: Collection[str], is_told: Callable[[str], bool], others: Collection[str] = ()
) -> bytes:
    """A journal without the words of what was said of some memories, and without any words that are `told` of them.

    What was judged stays: who, when, which id, how much; and what was said of the `others`, which say the same themselves. A
    bad line that tells of it is dropped.
    """
    return b"\n".join(
        redacted for line in data.split(b"\n") if (redacted := _redacted(line, targets, is_told, others)) is not None
    )


def _redacted(line: bytes, targets: Collection[str], is_told: Callable[[str], bool], others: Collection[str]) -> bytes | None:
    try:
        values = read_own(line)
    except ValueError:
        return None if is_told(line.decode("utf-8", "replace")) else line
    if not isinstance(values, dict):
        return line
    words = json.dumps([values.get("rationale"), values.get("evidence")], ensure_ascii=False)
    if not any(name in values for name in _WORDS) or not (
        values.get("target") in targets or (values.get("target") not in others and is_told(words))
    ):
        return line
    return json.dumps({name: value for name, value in values.items() if name not in _WORDS}, ensure_ascii=False).encode()


def merge(signals: Iterable[Signal]) -> list[Signal]:
    """All signals sorted by `(at, id)`, each id once: the first of those that share one, a pulled one only without another."""
    seen: dict[str, Signal] = {}
    for signal in sorted(signals, key=lambda signal: (is_from_others(signal.origin), signal.at, signal.id)):
        seen.setdefault(signal.id, signal)
    return sorted(seen.values(), key=lambda signal: (signal.at, signal.id))


def _signal(line: bytes) -> Signal:
    """The signal of a line; ValueError says what is wrong with it."""
    if len(line) > LONGEST_LINE:
        raise ValueError(f"it is longer than {LONGEST_LINE // 2**20} MiB")
    values = read_own(line)
    if not isinstance(values, dict):
        raise ValueError("it is no JSON object")
    kind = _KINDS.get(str(values.get("kind")))
    if kind is None:
        raise ValueError(f"its kind `{one_line(str(values.get('kind')), 40)}` is unknown")
    if kind is SignalKind.CONSENT and str(values.get("consent")) not in _CONSENTS:
        raise ValueError(f"its consent `{one_line(str(values.get('consent')), 40)}` is none of {', '.join(ConsentState)}")
    at = _utc(_text(values, "at", required=True))
    evidence = values.get("evidence") or []
    if not isinstance(evidence, list) or not all(isinstance(text, str) for text in evidence):
        raise ValueError("its evidence is no list of texts")
    return Signal(
        id=_identity(values, "id", required=True),
        at=at,
        target=_identity(values, "target", required=True),
        kind=kind,
        value=_number(values.get("value", 1.0), "value", MOST_USES if kind is SignalKind.USE else 1.0),
        confidence=None if values.get("confidence") is None else _number(values["confidence"], "confidence", 1.0),
        evidence=tuple(evidence),
        **{
            **{name: _text(values, name) for name in _TEXTS},
            "problem": _identity(values, "problem"),
            # A key of this name in any other line is not ours.
            "withdraws": _identity(values, "withdraws", required=True) if kind is SignalKind.WITHDRAWN else "",
        },
    )


@lru_cache(maxsize=4096)
def _utc(text: str) -> str:
    moment = parse_time(text)
    if moment is None:
        raise ValueError(f"its time `{one_line(text, 40)}` is no time")
    return stamp(moment)


def _text(values: dict[str, Any], name: str, required: bool = False) -> str:
    value = values.get(name)
    if value is None and not required:
        return ""
    if not isinstance(value, str) or (required and not value):
        raise ValueError(f"its {name} is {'missing' if value in (None, '') else 'no text'}")
    return value


def _identity(values: dict[str, Any], name: str, required: bool = False) -> str:
    text = _text(values, name, required)
    identity = canonical(text)
    if text and identity is None:
        raise ValueError(f"its {name} `{one_line(text, 40)}` is no id")
    return identity or ""


def _number(value: Any, name: str, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"its {name} is no number")
    if not 0 <= value <= most:
        raise ValueError(f"its {name} {value} is out of range")
    return float(value)


def _reason(fault: Exception) -> str:
    return f"it is no JSON ({one_line(fault.msg, 80)})" if isinstance(fault, json.JSONDecodeError) else str(fault)
