"""The faults of a request, each by the JSON pointer of the place that it is about."""

from __future__ import annotations

from collections.abc import Iterable

from vault_tool.errors import UsageError
from vault_tool.util.structs import Struct


class RequestFault(Struct, order=True):
    """One fault: `pointer` (RFC 6901; "" is the whole request), what is wrong there, and what would be right."""

    pointer: str
    message: str
    hint: str = ""


class InvalidRequest(UsageError):
    """A request that cannot be meant as it stands; `faults` has every fault that its layer of checks found."""

    def __init__(self, faults: Iterable[RequestFault]) -> None:
        self.faults = tuple(sorted(set(faults)))
        first = self.faults[0]
        more = f" (and {len(self.faults) - 1} more)" if len(self.faults) > 1 else ""
        super().__init__(f"{first.pointer or 'the request'}: {first.message}{more}", first.hint)


def pointer(*parts: str | int) -> str:
    """The JSON pointer of a place, from its keys and indexes."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts)
