"""The only printer: answers on standard output, warnings, errors and progress on standard error."""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import TYPE_CHECKING, Any, TextIO

from vault_tool.cli import wording
from vault_tool.cli.blocks import (
    BAR,
    PATHS,
    Block,
    Body,
    Diff,
    Fields,
    Heading,
    Printed,
    Table,
    aligned,
    plain,
    plain_block,
    printable,
    worded,
)
from vault_tool.errors import Exit, StorageError
from vault_tool.util.deferred import deferred, orjson
from vault_tool.util.hints import MARK
from vault_tool.util.text import one_line
from vault_tool.vault import request

if TYPE_CHECKING:
    import rich.console
    import rich.progress
    import rich.table
    import rich.text

    from vault_tool.util import json_text
else:
    json_text = deferred("vault_tool.util.json_text")  # it loads orjson
    rich = deferred("rich")  # 30 ms, which a pipe or a program need not pay

# Most characters of an error's line; `--json` and `--debug` give the whole.
ERROR_LENGTH = 200

_DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}

# The mark of a step where JSON is ASCII.
_MARK_IN_ASCII = "\\ufe00"

# Seconds after which a log is told how far something is.
FIRST_LINE = 5.0

# So many lines, and items of JSON, are printed at a time of an answer as long as the vault.
_LINES = 5000
_ITEMS = 200

# Seconds after which something is slow enough for a progress bar.
SLOW = 1.0


_CAUGHT: ContextVar[tuple[io.StringIO, io.StringIO] | None] = ContextVar("what is caught", default=None)


@contextmanager
def caught() -> Iterator[tuple[io.StringIO, io.StringIO]]:
    """Collect this thread's output on both streams: a process that answers others has streams of its own."""
    streams = io.StringIO(), io.StringIO()
    token = _CAUGHT.set(streams)
    try:
        yield streams
    finally:
        _CAUGHT.reset(token)


def _out() -> TextIO | None:
    streams = _CAUGHT.get()
    return sys.stdout if streams is None else streams[0]


def _err() -> TextIO | None:
    streams = _CAUGHT.get()
    return sys.stderr if streams is None else streams[1]


def use_utf8() -> None:
    """Make both streams UTF-8 whatever the locale says: notes are, and a pipe must not depend on a terminal's past."""
    for stream, errors in ((sys.stdout, "replace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors)


def emit(result: object, as_json: bool, blocks: Callable[[], Iterable[Block]], settings_fault: str = "") -> Exit:
    """Print a verb's result, its warnings after it, and return the exit code that its outcome means.

    `settings_fault` says what is wrong with the vault's settings; JSON lists it under `degraded`.
    """
    if as_json:
        write(to_json(_lacking(orjson.loads(to_json(result)), settings_fault) if settings_fault else result))
    elif _is_terminal(_out()):
        _write_rich(blocks())
    else:
        write("".join(f"{line}\n" for line in plain(blocks())))
    for remark in remarks(result):
        warn(remark)
    return Exit.ATTENTION if getattr(result, "attention", False) else Exit.DONE


def emit_with(
    result: object, name: str, items: Iterable[object], blocks: Iterable[Block], *, as_json: bool, settings_fault: str = ""
) -> Exit:
    """The same of a result as long as the vault: the list called `name` is empty in it and given as `items`, which are printed
    as they come.
    """
    if as_json:
        frame = to_json(_lacking(orjson.loads(to_json(result)), settings_fault) if settings_fault else result)
        for text in _long_json(frame, name, items):
            write(text)
    elif _is_terminal(_out()):
        _write_rich(blocks)
    else:
        lines = plain(blocks)
        while part := "".join(f"{line}\n" for line in islice(lines, _LINES)):
            write(part)
    for remark in remarks(result):
        warn(remark)
    return Exit.DONE


def _long_json(frame: str, name: str, items: Iterable[object]) -> Iterator[str]:
    """The JSON of an object with these items in the list called `name`, some at a time, to the byte as it would be whole."""
    before, _, after = frame.partition(f'"{name}": []')
    waiting = iter(items)
    opening, closing = f'{before}"{name}": [', "]"
    while batch := list(islice(waiting, _ITEMS)):
        listed = to_json(batch).removeprefix("[\n").removesuffix("\n]\n").replace("\n", "\n  ")
        yield f"{opening}\n  {listed}"
        opening, closing = ",", "\n  ]"
    yield ("" if opening == "," else opening) + closing + after


def emit_lean(lean: Any, result: object, settings_fault: str = "") -> Exit:
    """Print what was made of a verb's result, its lean form, on one line; see `emit`."""
    write(f"{to_line(_lacking(lean, settings_fault))}\n")
    for remark in remarks(result):
        warn(remark)
    return Exit.ATTENTION if getattr(result, "attention", False) else Exit.DONE


def to_line(value: object) -> str:
    """The same JSON as `to_json`, on one line."""
    try:
        line = orjson.dumps(
            value, default=_plain_value, option=orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_NON_STR_KEYS
        ).decode("utf-8")
    except TypeError:
        line = json.dumps(json.loads(_to_json_slowly(value)), separators=(",", ":"))
    return _in_words(line)


def _in_words(line: str) -> str:
    return wording.in_json(line) if MARK in line or _MARK_IN_ASCII in line else line


def _lacking(answer: Any, settings_fault: str) -> Any:
    return request.without_settings(answer, settings_fault) if settings_fault and isinstance(answer, dict) else answer


def remarks(result: object) -> Iterator[str]:
    """Remarks for a person beside the answer: what every door tells of it, and stale indexes."""
    yield from request.remarks(result)
    freshness = getattr(result, "freshness", None)
    if freshness is not None:
        yield from _stale(freshness)
        if not isinstance(getattr(result, "problems", None), tuple):  # what lists problems names these among them
            yield from _unread(freshness)


def to_json(value: object) -> str:
    """JSON with an indent of 2 and a final newline; structs are objects, paths are text."""
    options = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS | orjson.OPT_APPEND_NEWLINE
    try:
        text = orjson.dumps(value, default=_plain_value, option=options).decode("utf-8")
    except TypeError:
        text = _to_json_slowly(value)
    return _in_words(text)


def write(text: str) -> None:
    """Put text on standard output at once; a reader that left (`| head`) is no fault, a full disk is.

    Raises StorageError when the answer cannot be written; what the command did stays done.
    """
    stream = _out()
    if stream is None:
        return
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        _hush(stream)
    except OSError as fault:
        _hush(stream)
        reason = fault.strerror or str(fault)
        raise StorageError(
            f"the answer could not be written to standard output: {reason}", "the command itself was done"
        ) from fault


def warn(text: str) -> None:
    """One warning line on standard error."""
    say(f"warning: {one_line(worded(text))}")


def say(line: str) -> None:
    """Write one line to standard error; a closed stream is no fault."""
    stream = _err()
    if stream is None:
        return
    try:
        stream.write(f"{printable(line)}\n")
        stream.flush()
    except OSError:
        _hush(stream)


def flush_streams() -> None:
    """Flush what is left; a stream that is gone stays quiet, so that the exit code is the command's own."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except OSError:
            _hush(stream)


def error_line(message: str, hint: str = "", limit: int | None = ERROR_LENGTH) -> str:
    """`vt: what, which item; what to type next` on one line; too long a message loses its middle before its hint its end."""
    flat, whole = one_line(worded(message)), (limit or sys.maxsize) - len("vt: ; ")
    # Half is the hint's where both are long, and else all that the message leaves: half a command is nothing to type.
    advice = one_line(worded(hint), max(ERROR_LENGTH // 2, whole - len(flat)) if limit else None)
    room = whole - len(advice)
    if len(flat) > room:
        head = room * 3 // 5
        flat = f"{flat[:head].rstrip()}…{flat[len(flat) - (room - head - 1) :].lstrip()}"
    return f"vt: {flat}; {advice}" if advice else f"vt: {flat}"


@contextmanager
def progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """How far something is that takes long, on standard error; call it with (done, all).

    Where a person watches, a bar; else a line now and then, so that a log says that it goes on and for how long.
    """
    if not _is_terminal(_err()):
        yield _Lines(title).show
        return
    bar = _Bar(title)
    try:
        yield bar.show
    finally:
        bar.close()


def indexing() -> Callable[[int, int], None]:
    """A bar for a comparison of the files that happens to take long; it takes itself away when all are done.

    No line: what stands before every answer must not put words beside it.
    """
    return _Bar("indexing", closes=True).show if _is_terminal(_err()) else _unseen


class _Lines:
    """A line when something has taken long, and each time that a tenth more is done or it has taken twice as long: some
    twenty in all, however long it takes.
    """

    def __init__(self, title: str, now: Callable[[], float] = time.monotonic) -> None:
        self._title = title
        self._now = now
        self._done: int | None = None

    def show(self, done: int, total: int) -> None:
        # A process that stays has many such works, one after the other; each begins when it is first told of.
        if self._done is None or done < self._done:
            self._begun, self._said_at, self._said_of = self._now(), FIRST_LINE / 2, 0.0
        self._done = done if done < total else None
        taken = self._now() - self._begun
        share = done / total if total else 1.0
        often = taken >= 2 * self._said_at or (share >= self._said_of + 0.1 and self._said_at >= FIRST_LINE)
        if done >= total or not often or taken < self._said_at + FIRST_LINE / 2:
            return
        self._said_at, self._said_of = taken, share
        left = f", {_span(taken / share - taken)} left" if share > 0.01 else ""
        say(f"{self._title}: {done:,} of {total:,} ({share:.0%}){left}")


def _span(seconds: float) -> str:
    """A time to wait, roughly."""
    minutes = seconds / 60
    return f"{seconds:.0f} s" if minutes < 2 else f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.0f} h"


class _Bar:
    """A progress bar that is not drawn before it is worth it."""

    def __init__(self, title: str, *, closes: bool = False) -> None:
        self._title = title
        self._closes = closes
        self._since = time.monotonic()
        self._bar: rich.progress.Progress | None = None

    def show(self, done: int, total: int) -> None:
        if self._bar is None:
            if time.monotonic() - self._since < SLOW:
                return
            self._bar = _started_bar(self._title)
        self._bar.update(self._bar.task_ids[0], completed=done, total=total)
        if self._closes and done >= total:
            self.close()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def _started_bar(title: str) -> rich.progress.Progress:
    console = rich.console.Console(file=sys.stderr)
    of = rich.progress
    columns = (
        of.TextColumn("{task.description}", markup=False),
        of.BarColumn(),
        of.MofNCompleteColumn(),
        of.TimeRemainingColumn(),
    )
    bar = of.Progress(*columns, console=console, transient=True)
    bar.add_task(title, total=None)
    bar.start()
    return bar


def _unseen(done: int, total: int) -> None:
    """Progress that is not shown."""


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()


def _stale(freshness: Any) -> Iterator[str]:
    if freshness.held_back:
        yield freshness.held_back
    if freshness.behind:
        yield f"{freshness.behind} changed notes are not in the index yet: `vt reindex`"
    if freshness.stale:
        shown = ", ".join(freshness.stale[:3]) + (" and others" if len(freshness.stale) > 3 else "")
        yield f"answered as last committed, because the file cannot be read now: {shown}; see `vt doctor`"


def _unread(freshness: Any) -> Iterator[str]:
    lost = freshness.unreadable - len(freshness.stale)
    if lost > 0:
        files = "1 file cannot be read and is" if lost == 1 else f"{lost} files cannot be read and are"
        yield f"{files} in no answer: see `vt doctor`"


def _write_rich(blocks: Iterable[Block]) -> None:
    """The same answer for a terminal, in colour unless NO_COLOR or TERM=dumb say otherwise."""
    buffer = io.StringIO()
    screen = rich.console.Console()
    console = rich.console.Console(
        file=buffer,
        width=screen.width,
        force_terminal=True,
        color_system=screen.color_system,  # type: ignore[arg-type]
        no_color=screen.no_color,
        markup=False,
        highlight=False,
        emoji=False,
    )
    if screen.is_dumb_terminal or screen.legacy_windows or screen.color_system is None:
        write("".join(f"{line}\n" for line in plain(blocks)))
        return
    for block in blocks:
        _draw(console, block)
    write(buffer.getvalue())


def _draw(console: rich.console.Console, block: Block) -> None:
    match block:
        case Table(columns=columns, rows=rows) if rows and not PATHS.isdisjoint(columns[1:]):
            for number, line in enumerate(aligned(block, console.width)):
                console.print(rich.text.Text(line, style="" if number else "dim"), soft_wrap=True)
        case Table(rows=rows) if rows:
            console.print(_rich_table(block))
        case Heading():
            console.print(rich.text.Text("\n".join(plain_block(block)), style="bold"))
        case Diff(text):
            for line in printable(text).split("\n"):
                console.print(rich.text.Text(line, style=_DIFF_STYLES.get(line[:1], "")), soft_wrap=True)
        case Body():
            for line in plain_block(block):
                console.print(rich.text.Text.assemble((BAR, "dim"), line.removeprefix(BAR)), soft_wrap=True)
        case Printed(text):
            console.print(rich.text.Text(printable(text)), soft_wrap=True)
        case Fields(pairs):
            broad = max((len(name) for name, _ in pairs), default=0) + 1
            for name, value in pairs:
                console.print(rich.text.Text.assemble((f"{name}:".ljust(broad), "dim"), "  ", printable(value)), soft_wrap=True)
        case _:
            console.print(rich.text.Text("\n".join(plain_block(block))), soft_wrap=True)


def _rich_table(block: Table) -> Any:
    drawn = rich.table.Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for index, name in enumerate(block.columns):
        drawn.add_column(
            rich.text.Text(name),
            justify="right" if name in block.right else "left",
            style="cyan" if name == "id" else "",
            no_wrap=index == 0 or name in block.right,
            overflow="fold",
        )
    for row in block.rows:
        drawn.add_row(*map(rich.text.Text, row))
    return drawn


def _plain_value(value: object) -> object:
    """A value that JSON has no type for: results and mappings as objects, sets in order, the rest (paths) as text."""
    if (named := json_text.json_fields(value)) is not None:
        return named
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if hasattr(value, "keys") and hasattr(value, "__getitem__"):
        return {str(key): value[key] for key in value.keys()}  # noqa: SIM118  (any mapping, not only a dict)
    return str(value)


def _to_json_slowly(value: object) -> str:
    """JSON of what orjson declines: file names that are not text, and whole numbers past 64 bits."""
    return json.dumps(value, default=_plain_value, indent=2) + "\n"


def _hush(stream: TextIO) -> None:
    """Send the rest of a broken stream nowhere, so that the interpreter's last flush stays quiet."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    except (OSError, io.UnsupportedOperation):
        stream.close()
