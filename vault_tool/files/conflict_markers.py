"""The markers that git writes around a conflict: the text of either side between them, and what is to be done about them."""

from __future__ import annotations

import re
from collections.abc import Collection

from vault_tool.util.hints import step
from vault_tool.util.structs import Struct

_MARKER = re.compile(rb"(<{7,}|={7,}|>{7,}|\|{7,})(?: .*)?")


class Sides(Struct):
    """A file with markers as each side has it; `base` is what both came of, where git wrote that between the two."""

    base: bytes | None
    this: bytes
    that: bytes


def what_to_do(*, ends_merge: bool = False) -> str:
    """The advice about a file that git left in conflict, the same at whichever door meets the file."""
    end = ", and the last such file ends the merge" if ends_merge else ""
    return f"{step('review')} settles it: this text, that, or both{end}"


def is_marker(line: bytes) -> bool:
    """Whether a line is one that git writes around the sides of a conflict, or between them."""
    return _MARKER.fullmatch(line) is not None


def is_opening(line: bytes) -> bool:
    """Whether a conflict begins with this line."""
    return line.startswith(b"<<<<<<< ")


def sides(data: bytes, opened: Collection[int]) -> Sides | None:
    """The text of either side, of a file in which conflicts begin at these lines; None where a marker is missing.

    Counted from 1, as problems count them: a conflict that is shown within a fence of code is none.
    """
    texts: dict[str, list[bytes]] = {"base": [], "this": [], "that": []}
    within, has_base = "", False
    for number, line in enumerate(data.split(b"\n"), 1):
        bare = line.removesuffix(b"\r")
        if not within and number in opened:
            within = "this"
        elif within == "this" and bare.startswith(b"||||||| "):
            within, has_base = "base", True
        elif within in ("this", "base") and bare == b"=======":
            within = "that"
        elif within and bare.startswith((b">>>>>>> ", b"<<<<<<< ")):
            if within != "that" or not bare.startswith(b">"):
                return None
            within = ""
        else:
            for name in [within] if within else texts:
                texts[name].append(line)
    if within:
        return None
    base, this, that = (b"\n".join(texts[name]) for name in ("base", "this", "that"))
    return Sides(base if has_base else None, this, that)
