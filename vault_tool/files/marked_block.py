"""The part of another tool's file that stands between two lines of markers: found in its bytes, and put anew."""

from __future__ import annotations

import re
from collections.abc import Sequence

from vault_tool.errors import Refused
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line

BEGIN = "<!-- vault:begin -->"
END = "<!-- vault:end -->"
_BOM = b"\xef\xbb\xbf"
_MARKER = re.compile(rb"[ \t]*<!--[ \t]*vault:(begin|end)[ \t]*-->[ \t]*\r?\n?")


class MarkedBlock(Struct):
    """A file parted at its markers: the bytes before the block (the first marker is their last line), in it, and after it."""

    before: bytes
    inside: bytes
    after: bytes

    @property
    def text(self) -> str:
        """The text of the block, with plain line ends."""
        return self.inside.decode("utf-8", "replace").replace("\r\n", "\n")

    def with_text(self, text: str) -> bytes:
        """The file with another text in the block, in the line ends of its first marker."""
        ends = "\r\n" if self.before.endswith(b"\r\n") else "\n"
        return self.before + text.replace("\n", ends).encode("utf-8", "replace") + self.after


def new_file(text: str) -> bytes:
    """A file that holds a block and nothing else."""
    return f"{BEGIN}\n{text}{END}\n".encode("utf-8", "replace")


def marked_block(name: str, data: bytes) -> MarkedBlock:
    """The block of a file. Refused, with their lines, where its markers are missing, doubled or crossed."""
    *whole, last = data.split(b"\n")
    lines = [*(line + b"\n" for line in whole), last]
    markers = [(number, match[1]) for number, line in enumerate(lines) if (match := _MARKER.fullmatch(line.removeprefix(_BOM)))]
    begins, ends = ([number for number, kind in markers if kind == which] for which in (b"begin", b"end"))
    if len(begins) != 1 or len(ends) != 1 or ends[0] < begins[0]:
        raise Refused(f"{one_line(name, 200)} {_fault(begins, ends)}", _hint(begins, ends))
    start = sum(map(len, lines[: begins[0] + 1]))
    stop = start + sum(map(len, lines[begins[0] + 1 : ends[0]]))
    return MarkedBlock(data[:start], data[start:stop], data[stop:])


def _fault(begins: Sequence[int], ends: Sequence[int]) -> str:
    if not begins and not ends:
        return f"has no line `{BEGIN}` and no line `{END}`"
    if not begins or not ends:
        present, missing, numbers = (BEGIN, END, begins) if begins else (END, BEGIN, ends)
        return f"has `{present}` in {_lines(numbers)} and no line `{missing}`"
    if len(begins) > 1 or len(ends) > 1:
        return f"has `{BEGIN}` in {_lines(begins)} and `{END}` in {_lines(ends)}: one of each is wanted"
    return f"has `{END}` in {_lines(ends)}, before `{BEGIN}` in {_lines(begins)}"


def _hint(begins: Sequence[int], ends: Sequence[int]) -> str:
    if not begins and not ends:
        return f"put `{BEGIN}` and, below it, `{END}` where the memory is to stand, each on a line of its own"
    return f"leave one `{BEGIN}` and, below it, one `{END}`; what is between them is replaced"


def _lines(numbers: Sequence[int]) -> str:
    shown = [str(number + 1) for number in numbers]
    return f"line {shown[0]}" if len(shown) == 1 else f"lines {', '.join(shown[:-1])} and {shown[-1]}"
