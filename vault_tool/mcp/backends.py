"""The backends that answer the calls of a server for agents' clients: an open vault, or a stand-in with the same answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from vault_tool.errors import VaultError
from vault_tool.mcp import answering, resources
from vault_tool.mcp.table import TOOLS
from vault_tool.mcp.tools import Caller
from vault_tool.model import served_person
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line

if TYPE_CHECKING:
    from vault_tool.verbs.vault import Vault

T = TypeVar("T")

# How far a call is: so many done, of so many. It may raise Cancelled.
Progress = Callable[[int, int], None]


class Cancelled(BaseException):
    """The client no longer waits for a call: raised within it where it reports its progress, past all that handles faults."""


class Answer(Struct):
    """The answer to a call: as text, and as values unless the text is an error that a model can mend."""

    text: str
    values: dict[str, Any] | None


class Backend(Protocol):
    """Where a server gets its answers from."""

    def asked_by(self, caller: Caller) -> Backend:
        """The same for another caller."""

    def may(self, tool: str) -> bool:
        """Whether its caller may call a tool; a call of another is answered by an error."""

    async def call(self, tool: str, arguments: Mapping[str, Any], progress: Progress) -> Answer:
        """The answer of a tool; `progress` may be called from any thread."""

    async def read(self, uri: str) -> tuple[str, str]:
        """The text of a resource and its media type. Raises VaultError."""

    async def versions(self, uris: frozenset[str], since: str, /) -> tuple[str, Mapping[str, str]]:
        """A mark that moves with every change of the vault and, where it is not `since`, each resource's text.

        Raises VaultError.
        """

    async def ready(self) -> None:
        """Return once the vault is open with its indexes up to date. Raises VaultError."""


class Run(Protocol):
    """How a vault is used: `await run(use)` is `use(vault)`, done in the one thread that owns the open vault."""

    def __call__(self, use: Callable[[Vault], T], /) -> Awaitable[T]:
        """Return the value of `use`, or raise its error; VaultError where there is no vault to open."""


class VaultBackend:
    """Answers by an open vault of this process."""

    def __init__(self, run: Run, caller: Caller) -> None:
        self._run = run
        self._caller = caller

    def asked_by(self, caller: Caller) -> VaultBackend:
        """See `Backend.asked_by`."""
        return VaultBackend(self._run, caller)

    def may(self, tool: str) -> bool:
        """See `Backend.may`."""
        return self._caller.may(tool)

    async def call(self, tool: str, arguments: Mapping[str, Any], progress: Progress) -> Answer:
        """See `Backend.call`."""
        if not self.may(tool):
            return Answer(scope_missing(tool), None)
        try:
            return await self._run(Call(tool, arguments, self._caller, progress))
        except VaultError as fault:
            return failed(fault, tool, self._caller.preset)

    async def read(self, uri: str) -> tuple[str, str]:
        """See `Backend.read`."""
        return await self._run(partial(resource, self._caller, uri))

    async def versions(self, uris: frozenset[str], since: str, /) -> tuple[str, Mapping[str, str]]:
        """See `Backend.versions`."""
        return await self._run(partial(versions, self._caller, uris, since))

    async def ready(self) -> None:
        """See `Backend.ready`."""
        await self._run(lambda vault: vault.fresh())


def scope_missing(tool: str) -> str:
    """Said where a token is not for what is called."""
    return f"this token is for `{served_person.READ}`: to call {one_line(tool, 60)} it needs the scope `{served_person.WRITE}`"


def _unneeded() -> None:
    """Whether a call is still waited for, where that is not looked after."""


class Call(Struct):
    """A call of a tool as a use of an open vault; `require_wanted` raises Cancelled once the caller gave up."""

    tool: str
    arguments: Mapping[str, Any]
    caller: Caller
    progress: Progress
    require_wanted: Callable[[], None] = _unneeded

    @property
    def writes(self) -> bool:
        """Whether its tool changes anything."""
        return TOOLS[self.tool].writes

    def __call__(self, vault: Vault) -> Answer:
        """The answer. Raises VaultError."""
        return self.answer(*self.asked(vault))

    def asked(self, vault: Vault) -> tuple[Vault, object]:
        """The vault as it is asked, and what the tool's verb returned: the first half of a call. Raises VaultError."""
        self.require_wanted()
        return answering.asked(vault, self.tool, self.arguments, self.caller, self.progress)

    def answer(self, asking: Vault, result: object) -> Answer:
        """The second half: the answer in words."""
        return Answer(*answering.in_words(self.tool, asking, result, self.caller.preset))


def failed(fault: VaultError, tool: str = "", preset: str = "") -> Answer:
    """A failure as the answer to a call."""
    return Answer(answering.in_a_line(fault, tool, preset), None)


def resource(caller: Caller, uri: str, vault: Vault) -> tuple[str, str]:
    """The text of a resource of an open vault and its media type. Raises VaultError."""
    contents = resources.read(answering.asked_by(caller, vault), uri)
    return contents.text, contents.kind


def versions(caller: Caller, uris: frozenset[str], since: str, vault: Vault) -> tuple[str, Mapping[str, str]]:
    """The catalogue's present number and, where it is another than `since`, each resource's text."""
    now = vault.whole_index.catalog.seq()
    if now == since:
        return now, {}
    texts = {}
    for uri in uris:
        try:
            texts[uri] = resource(caller, uri, vault)[0]
        except VaultError:
            texts[uri] = ""  # it is gone, or not there yet
    return now, texts
