"""Errors of a library written in Rust that reached a state it must not be in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType

from vault_tool.errors import VaultError
from vault_tool.util.text import one_line

# Told by its name: it is of no module that could be imported, and no Exception.
_PANIC = "PanicException"


class NoPanics(AbstractContextManager[None]):
    """Within it, a panic comes out as a ValueError that says the same; everything else comes out as it is."""

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        """Raise ValueError where there was a panic."""
        if kind is not None and kind.__name__ == _PANIC:
            raise ValueError(str(fault)) from fault


@contextmanager
def translated(to: Callable[[str], VaultError], most: int = 120) -> Iterator[None]:
    """Within it, what a library with an engine of its own raises comes out as our fault, which `to` makes of its first words.

    Chroma, onnxruntime and tokenizers raise faults of SQLite, of Rust and of their own, and nothing that they have in common.
    """
    try:
        with NoPanics():
            yield
    except VaultError:
        raise
    except Exception as fault:  # see above: nothing narrower is common to them
        raise to(one_line(str(fault), most) or type(fault).__name__) from fault
