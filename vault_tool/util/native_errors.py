"""What a library written in Rust raises when it finds itself where it must not be."""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import TracebackType

# Told by its name: it is of no module that could be imported, and no Exception.
_PANIC = "PanicException"


class NoPanics(AbstractContextManager[None]):
    """Within it, a panic comes out as a ValueError that says the same; everything else comes out as it is."""

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        """Raise ValueError where there was a panic."""
        if kind is not None and kind.__name__ == _PANIC:
            raise ValueError(str(fault)) from fault
