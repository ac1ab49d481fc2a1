"""The values of a head before any schema has typed them, and their possible faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from vault_tool.util.structs import Struct

MAX_HEAD_BYTES = 1 << 20
MAX_DEPTH = 32
MAX_VALUES = 50_000


class Plain(str):
    """The source text of a scalar written without quotes; a quoted or block scalar is an ordinary `str`."""

    __slots__ = ()


class Quoted(str):
    """A text that is to be written in double quotes even where it could do without."""

    __slots__ = ()


# A value as read: nothing is resolved, `None` is an empty value (`key:` and nothing after it).
Raw: TypeAlias = "Plain | str | list[Raw] | dict[str, Raw] | None"

# A value to be written. A whole ISO 8601 time goes plain; a text that another reader would take for no text goes quoted.
Value: TypeAlias = "str | int | float | bool | Sequence[Value] | Mapping[str, Value] | None"


class HeadFault(Struct):
    """One thing wrong in a head; `line` counts from 1 in the file, and a fatal fault leaves the head unusable."""

    line: int
    code: str
    message: str
    hint: str = ""
    fatal: bool = True


class Head(Struct):
    """A head as written: values by key in their order, the line of each key in the file, and what is wrong.

    With a fatal fault `values` may be incomplete and must not be used. A head that is not `editable` is changed by hand.
    """

    values: dict[str, Raw]
    lines: dict[str, int]
    faults: tuple[HeadFault, ...] = ()
    editable: bool = True

    @property
    def usable(self) -> bool:
        """Whether no fault is fatal."""
        return not any(fault.fatal for fault in self.faults)
