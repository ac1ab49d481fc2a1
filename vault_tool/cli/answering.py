"""An open vault that the owner shares: whole command lines and requests by contract, answered one after the other."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from msgspec.structs import replace

from vault_tool.cli import forwarded, output
from vault_tool.cli.conversation import Conversation, Standing
from vault_tool.cli.gathering import GATHERED, Gathering
from vault_tool.cli.main import main
from vault_tool.cli.options import LENT
from vault_tool.cli.options import Call as Asked
from vault_tool.cli.readers import Readers
from vault_tool.errors import Busy, StorageError, UsageError, VaultGone
from vault_tool.features.contracts.op import op
from vault_tool.files import watcher_presence
from vault_tool.files.watcher_presence import Owner
from vault_tool.hooks.answers import answer
from vault_tool.mcp import server as mcp_server
from vault_tool.mcp.backends import Call
from vault_tool.owner.front import option
from vault_tool.owner.protocol import PROTOCOL
from vault_tool.owner.server import OwnerServer
from vault_tool.util.deferred import load
from vault_tool.util.gc_paused import no_collection
from vault_tool.util.heap import share_one_heap
from vault_tool.vault.context import Context, Who
from vault_tool.vault.finding import find
from vault_tool.vault.person import Presence, of_command
from vault_tool.vault.settings_stamps import stamps_of
from vault_tool.verbs.vault import Vault

if TYPE_CHECKING:
    from vault_tool.watch.watcher import Watcher

T = TypeVar("T")

# Calls that load all that an answer needs, and count as no use of a memory.
_WARMING = ("search", "warm", "--limit", "1", "--json")

# Seconds that a hook waits for the vault.
_HOOK_WAIT = 0.5
# Seconds that a hook waits for the watcher to say that it is caught up.
_HOOK_LOOK = 0.2


class SharedVault:
    """One vault kept open for whoever asks, one after the other.

    `fresh` spares the comparison before an answer, `soon` that before a hook's; `leave` is called, with the reason, when the
    vault turns out not to be at its place, or this machine's settings to allow no owner any more.
    """

    def __init__(
        self,
        vault: Vault,
        fresh: Callable[[], bool],
        leave: Callable[[str], None],
        soon: Callable[[], bool] | None = None,
    ) -> None:
        self._vault = vault
        self._leave = leave
        self._fresh = fresh
        self._soon = soon
        self._proven_at = -1.0
        self._asked = threading.local()
        self._vault.is_current = self._is_current
        self._seen = stamps_of(vault)
        self._vault_lock = threading.RLock()
        self._gathering = Gathering(self._exclusive, self._vault_lock)

    def close(self) -> None:
        """Let go of the vault."""
        with self._vault_lock:
            self._vault.close()

    def run(self, use: Callable[[Vault], T], identity: str = "") -> T:
        """Call `use` with the vault, one caller at a time; VaultGone where another than `identity` is meant."""
        writes = isinstance(use, Call) and use.writes
        # What writes is compared anew: a thread may do it for others, who asked later than it did.
        self._asked.at = None if writes else time.monotonic()
        if isinstance(use, Call) and use.tool in GATHERED:
            return cast("T", self._gathering.use(use, identity))
        with self._gathering.alone() if writes else nullcontext(), self._exclusive(identity) as vault:
            return use(vault)

    def _is_current(self) -> bool:
        """Whether the indexes hold what was changed before this thread's use was asked for; what a use that waited longer for
        the vault had proven since then counts.
        """
        asked, now = getattr(self._asked, "at", None), time.monotonic()
        if asked is not None and self._proven_at > asked:
            return True
        if not self._fresh():
            return False
        self._proven_at = now
        return True

    @contextmanager
    def _exclusive(self, identity: str) -> Iterator[Vault]:
        """The vault, this thread's alone until the end; VaultGone where another than `identity` is meant."""
        with self._vault_lock:
            vault = self._current()
            vault.location.require_identity(identity)
            yield vault

    def _current(self) -> Vault:
        """The vault with its settings as they are now; raises VaultGone where it is not at its place."""
        try:
            self._vault.require_present()
        except VaultGone:
            self._leave("the vault is gone")
            raise
        now = stamps_of(self._vault)
        if now != self._seen and not self._gathering.is_under_way:
            self._seen, old = now, self._vault
            self._vault = old.reopened()
            old.close()
            if self._vault.machine.owner == "off":
                self._leave("owners were switched off")
        return self._vault

    def warm(self) -> tuple[str, ...]:
        """Load all that an answer needs, so that the first one does not wait for it; what that is, in words."""
        from vault_tool.cli import ambient, recalling, sessions  # noqa: F401  (the renderers that are asked for most)

        with self._vault_lock:
            self.command({"arguments": _WARMING})
            embedder = self._vault.embedding.choice.embedder
            return ("catalogue", "full text", *((f"vectors of {embedder.name}",) if embedder is not None else ()))

    def command(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Run a command line: its output on both streams, and its exit code; `environ` is the caller's."""
        arguments, environ = request["arguments"], _environ(request)
        if not isinstance(arguments, (list, tuple)) or not all(isinstance(argument, str) for argument in arguments):
            raise UsageError("`arguments` must be a list of texts")

        mistaken = False

        def borrow(call: Asked) -> Context:
            nonlocal mistaken
            mistaken = call.vault != request.get("vault", call.vault)
            if mistaken:
                raise UsageError("another vault is meant")
            lent = self._current().lent(_who(environ, call))
            # Where a person stands at a command, it is answered there: from here it is a command like any other.
            origin = option("--origin", arguments) or environ.get("VAULT_ORIGIN", "")
            if of_command(origin) is not Presence.NOBODY:
                lent.presence = Presence.COMMAND
            return lent

        with self._vault_lock, output.caught() as (out, err):
            token = LENT.set(borrow)
            try:
                # Said for the group, which else takes it from this process's environment.
                code = main(["--origin", environ.get("VAULT_ORIGIN") or "agent", *arguments])
            finally:
                LENT.reset(token)
            if mistaken:
                raise UsageError("another vault is meant")
            return {"out": out.getvalue(), "err": err.getvalue(), "code": code}

    def op(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer to a request by contract, as `vt op` gives it."""
        with self._gathering.alone(), self._vault_lock:
            return {"answer": op(self._current().lent(_who(_environ(request))), request.get("request"))}

    def hook(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer an event of an agent's client: the text to add to its conversation, as `vt hook` gives it."""
        names = ("event", "prompt", "source", "session", "user", "folder", "vault", "caller")
        asked = {name: str(request[name]) for name in names}
        beside = {name: str(request.get(name, "")) for name in ("client", "transcript")}
        # What is at work for others is not waited for: whoever asks has a few seconds, and answers by itself.
        if not self._vault_lock.acquire(timeout=_HOOK_WAIT):
            raise Busy("the owner is at work", "ask again in a moment")
        try:
            vault = self._current()
            if find(asked["vault"] or None, vault.environ, Path(asked["folder"])).resolve() != vault.root:
                raise UsageError("another vault is meant")
            lent = vault.lent(Who("agent", asked["session"], user=asked["user"]))
            lent.is_current = self._soon or lent.is_current
            event, prompt, source, caller = (asked[name] for name in ("event", "prompt", "source", "caller"))
            return {"text": answer(lent, event, prompt, source, caller, asked["folder"], **beside)}
        finally:
            self._vault_lock.release()


@contextmanager
def serving(
    vault: Context, me: Owner, watcher: Watcher, leave: Callable[[str], None], welcomed: threading.Event
) -> Iterator[OwnerServer]:
    """Answer for others, on threads, as long as it lasts. Raises OSError where no socket can be made.

    `welcomed` is set as soon as an agent's client is served.
    """
    share_one_heap()

    def leave_unless_watching(reason: str) -> None:
        # Nobody started it by hand, and whoever needs one starts the next, in the folder that is there then.
        if me.background:
            leave(reason)

    def soon() -> bool:
        # What was written by us is taken in before it is acknowledged, and what is heard of within moments: whoever has seconds
        # is not kept waiting for a walk over a large vault.
        return watcher.fresh_and_quiet(_HOOK_LOOK) or watcher.hears

    opened = Vault.open(vault.root, environ=vault.environ)
    answers = SharedVault(opened, watcher.fresh_and_quiet, leave_unless_watching, soon)
    requests = {"command": answers.command, "op": answers.op, "hook": answers.hook}

    readers = Readers(vault.root, watcher.fresh_and_quiet, leave_unless_watching)

    def used(use: Callable[[Any], Any], identity: str) -> Any:
        with readers.counted():
            return answers.run(use, identity)

    def mcp(line: socket.socket, unread: bytes, request: Mapping[str, Any]) -> None:
        with no_collection():  # 40 ms of the 420 that the protocol's library takes the first time
            load(mcp_server)
        standing: Standing | None = Standing(unread=unread)
        with suppress(OSError):
            while standing is not None:
                standing = asyncio.run(Conversation(line, request, standing, used, readers.are_wanted).serve())
                if standing is not None:
                    standing = readers.serve(line, request, standing)

    streams = {"mcp": mcp, **forwarded.streams(answers.run)}
    server = OwnerServer(vault.root, me.nonce, requests, streams, leave, vault.environ, welcomed)

    def warm() -> None:
        presence = replace(me, protocol=PROTOCOL)
        # What cannot be said, or is gone meanwhile, is noticed by whoever asks next.
        with suppress(StorageError):
            watcher_presence.say(vault.root, presence)
            watcher_presence.say(vault.root, replace(presence, warm=answers.warm()))

    server.start()
    warming = threading.Thread(target=warm, name="warming", daemon=True)
    warming.start()
    try:
        yield server
    finally:
        server.close()
        readers.close()
        warming.join()
        answers.close()


def _environ(request: Mapping[str, Any]) -> Mapping[str, str]:
    environ = request.get("environ", {})
    if not isinstance(environ, dict) or not all(isinstance(text, str) for text in environ.values()):
        raise UsageError("`environ` must be texts by name")
    return environ


def _who(environ: Mapping[str, str], call: Asked | None = None) -> Who:
    """The identity of a caller: from the options, and else from the caller's environment."""
    asked = call or Asked()
    origin = asked.origin or environ.get("VAULT_ORIGIN") or "agent"
    session, model = asked.session or environ.get("VAULT_SESSION", ""), asked.model or environ.get("VAULT_MODEL", "")
    return Who(origin, session, model, asked.user, asked.project)
