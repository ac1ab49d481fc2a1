"""One connection of an agent's client: the SDK's low-level server over the verbs.

Nothing of a vault is opened before the first call that asks something of it; until then this imports the SDK and nothing else.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

import anyio
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from msgspec.structs import replace

import vault_tool
from vault_tool.errors import VaultError
from vault_tool.mcp.backends import Answer, Backend, Cancelled, Run, VaultBackend
from vault_tool.mcp.lean_table import FORMER
from vault_tool.mcp.notices import EVERY, Notices
from vault_tool.mcp.texts import INSTRUCTIONS, offered
from vault_tool.mcp.tools import Caller, listed_for, named
from vault_tool.mcp.unreadable import refusal
from vault_tool.mcp.wording import ForClient
from vault_tool.util.hints import worded
from vault_tool.util.text import one_line
from vault_tool.vault.one_thread import OneThread

if TYPE_CHECKING:
    from vault_tool.verbs.vault import Vault

NAME = "vault"

# Seconds that what is under way gets when the process is told to end.
PATIENCE = 5.0

# Lists are the same for a version and a preset, whoever asks.
_LISTS = CacheHint(ttl_ms=3600 * 1000, scope="public")

Context = ServerRequestContext[Any, Any]


def _tool_handlers(
    who: Callable[[Context], Caller], asked: Callable[[Context], Backend], notices: Notices, preset: str
) -> tuple[Callable[..., Awaitable[types.ListToolsResult]], Callable[..., Awaitable[types.CallToolResult]]]:
    """The functions that list the tools and call one."""
    tools = named(preset)
    # What is called and not listed answers all the same: a client was given leave for it.
    called = frozenset({*tools, *FORMER})

    async def list_tools(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in listed_for(preset, who(ctx))])

    async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in called:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool `{one_line(params.name, 60)}`; there are {', '.join(tools)}")
        try:
            answer = await _called(asked(ctx), ctx, params.name, params.arguments or {})
        finally:
            notices.look()
        text = types.TextContent(text=answer.text)
        return types.CallToolResult(content=[text], structured_content=answer.values, is_error=answer.values is None)

    return list_tools, call_tool


def _resource_handlers(
    who: Callable[[Context], Caller], asked: Callable[[Context], Backend], preset: str
) -> tuple[Callable[..., Awaitable[types.ListResourcesResult]], Callable[..., Awaitable[types.ReadResourceResult]]]:
    """The functions that list the resources and read one."""

    async def list_resources(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        pages = () if who(ctx).user else (("core", "What is remembered first of all"), ("reflection", "Themes and patterns"))
        resources = [
            types.Resource(uri=f"vault://{name}", name=name, title=f"{name.upper()}.md", description=about, mime_type=_MARKDOWN)
            for name, about in pages
        ]
        return types.ListResourcesResult(resources=resources)

    async def read_resource(ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        try:
            text, kind = await asked(ctx).read(params.uri)
        except VaultError as fault:
            raise MCPError(types.INVALID_PARAMS, worded(fault.marked, ForClient(preset))) from fault
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=params.uri, mime_type=kind, text=text)])

    return list_resources, read_resource


async def _list_templates(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
    kinds = (("subject", "name", "A subject: what is understood of it, and what was seen last"), ("memory", "id", "A memory"))
    templates = [
        types.ResourceTemplate(uri_template=f"vault://{kind}/{{{by}}}", name=kind, description=about, mime_type=_JSON)
        for kind, by, about in kinds
    ]
    return types.ListResourceTemplatesResult(resource_templates=templates)


def _prompt_handlers(
    preset: str,
) -> tuple[Callable[..., Awaitable[types.ListPromptsResult]], Callable[..., Awaitable[types.GetPromptResult]]]:
    """The functions that list the prompts and fill one."""
    prompts = offered(named(preset))

    async def list_prompts(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=name,
                    title=prompt.title,
                    description=prompt.about,
                    arguments=[types.PromptArgument(name=taken, description=about) for taken, about in prompt.takes],
                )
                for name, prompt in prompts.items()
            ]
        )

    async def get_prompt(ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        prompt = prompts.get(params.name)
        if prompt is None:
            what = f"there is no prompt `{one_line(params.name, 60)}`; there are {', '.join(prompts)}"
            raise MCPError(types.INVALID_PARAMS, what)
        text = types.TextContent(text=prompt.filled(params.arguments or {}))
        return types.GetPromptResult(description=prompt.about, messages=[types.PromptMessage(role="user", content=text)])

    return list_prompts, get_prompt


def connection(
    backend: Backend,
    *,
    preset: str,
    caller: Caller,
    notices: Notices,
    standing: bool = True,
    caller_in: Callable[[Context], Caller] | None = None,
) -> Server[Any]:
    """The server of one connection, or of all HTTP requests; `standing` is whether it can speak first to a client of old.

    `caller_in` says whose a request is, where several callers share the server.
    """

    def who(ctx: Context) -> Caller:
        return caller if caller_in is None else caller_in(ctx)

    def asked(ctx: Context) -> Backend:
        return backend if caller_in is None else backend.asked_by(caller_in(ctx))

    async def listen(ctx: Context, params: types.SubscriptionsListenRequestParams) -> types.SubscriptionsListenResult:
        if params.notifications.resource_subscriptions and who(ctx).user != caller.user:
            raise MCPError(types.INVALID_PARAMS, "resources are not watched for one user")
        return await notices.listen(ctx, params)

    list_tools, call_tool = _tool_handlers(who, asked, notices, preset)
    list_resources, read_resource = _resource_handlers(who, asked, preset)
    list_prompts, get_prompt = _prompt_handlers(preset)

    return Server(
        NAME,
        version=vault_tool.__version__,
        title="The vault",
        instructions=INSTRUCTIONS,
        cache_hints={
            "tools/list": _LISTS, "prompts/list": _LISTS, "resources/templates/list": _LISTS, "server/discover": _LISTS,
        },
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=_list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_subscriptions_listen=listen,
        on_subscribe_resource=notices.subscribe if standing else None,
        on_unsubscribe_resource=notices.unsubscribe if standing else None,
    )  # fmt: skip


_MARKDOWN, _JSON = "text/markdown", "application/json"


async def serve(
    lines: AsyncIterable[bytes],
    write: Callable[[bytes], Awaitable[None]],
    run: Run,
    *,
    preset: str = "lean",
    caller: Caller | None = None,
    asked: Asked | None = None,
) -> None:
    """Serve one client until its lines end: a JSON-RPC message each, in and out; of either era, as its first request says.

    `lines` may be an `asyncio.StreamReader`; `write` puts bytes on the way, in the order of the calls. What was asked before
    the lines ended is answered, if it takes no longer than `PATIENCE`. `asked` keeps what is open meanwhile.
    """
    incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    sent, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    asked = asked or Asked()

    async def hear() -> None:
        async with incoming:
            async for line in lines:
                if line.strip():
                    message = _message(line)
                    asked.hear(message)
                    await incoming.send(message)
            # The protocol's library answers what it is still at with an error as soon as nothing more comes.
            with anyio.move_on_after(PATIENCE):
                await asked.answered()

    async def tell() -> None:
        async with outgoing:
            async for message in outgoing:
                await write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                asked.tell(message)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hear)
        tasks.start_soon(tell)
        await _serve(received, sent, run, preset, caller or Caller())
        tasks.cancel_scope.cancel()


async def serve_stdio(opening: Callable[[], Vault], *, preset: str = "lean", caller: Caller | None = None) -> None:
    """Serve the client at this process's standard input and output, until it closes them; nothing else is ever written there."""
    async with stdio_server(_own_input()) as (received, sent):
        run = OneThread(opening)
        with suppress(NotImplementedError):  # Windows has no such handlers
            for number in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(number, lambda: asyncio.ensure_future(_leave(run)))
        try:
            await _serve(received, sent, run, preset, caller or Caller())
        finally:
            await run.close()


def _own_input() -> anyio.AsyncFile[str] | None:
    """Standard input, out of reach of all else that this process does; the library would replace bytes that are no UTF-8, and
    what was meant by them would be kept as if it had been said. None where the library is to take it.
    """
    if os.name == "nt" or sys.stdin is None or not _is_file(sys.stdin, 0):
        return None
    taken = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    # Never closed: the thread that waits for a line outlives the loop.
    return anyio.wrap_file(open(taken, encoding="utf-8", errors="surrogateescape", closefd=False))


def _is_file(stream: TextIO, descriptor: int) -> bool:
    with suppress(OSError, ValueError):
        return stream.fileno() == descriptor
    return False


async def _leave(run: OneThread[Vault]) -> None:
    """End this process once what is under way is done, or has had its time; the thread that reads would wait for its client."""
    with suppress(TimeoutError):
        await asyncio.wait_for(run.close(), PATIENCE)
    os._exit(0)


async def _serve(received: Any, sent: Any, run: Run, preset: str, caller: Caller) -> None:
    backend = VaultBackend(run, replace(caller, preset=preset))
    messages, readable = anyio.create_memory_object_stream[SessionMessage | Exception](0)

    async def sort() -> None:
        """Answer what is no message, which the protocol's library would leave without an answer, and pass on the rest."""
        async with messages:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # the client is gone
                async for message in received:
                    refused = refusal(message if isinstance(message, Exception) else message.message)
                    if refused is not None:
                        await sent.send(SessionMessage(refused))
                    else:
                        await messages.send(message)

    async with noticing(backend, preset=preset) as notices, anyio.create_task_group() as tasks:
        tasks.start_soon(sort)
        server = connection(backend, preset=preset, caller=caller, notices=notices)
        await server.run(readable, sent, server.create_initialization_options())
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def noticing(backend: Backend, every: float = EVERY, *, preset: str = "") -> AsyncIterator[Notices]:
    """Notices of changes, told for as long as this lasts; `every` is seconds between looks for what others changed."""
    notices = Notices(backend.versions, every, preset)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(notices.run)
        yield notices
        tasks.cancel_scope.cancel()


async def _called(backend: Backend, ctx: Context, tool: str, arguments: Mapping[str, Any]) -> Answer:
    """The answer of a tool; its progress is reported meanwhile to whoever asked for that."""
    loop = asyncio.get_running_loop()
    steps: asyncio.Queue[tuple[int, int]] = asyncio.Queue()
    given_up = threading.Event()

    def progress(done: int, of: int) -> None:
        if given_up.is_set():
            raise Cancelled
        loop.call_soon_threadsafe(steps.put_nowait, (done, of))

    async def report() -> None:
        while True:
            done, of = await steps.get()
            await ctx.session.report_progress(done, of)

    reporter = asyncio.create_task(report())
    try:
        return await backend.call(tool, arguments, progress)
    finally:
        given_up.set()
        reporter.cancel()


class Asked:
    """The requests of a client that have no answer yet, but for those that stay open until one side ends them."""

    def __init__(self) -> None:
        self._open: set[int | str] = set()
        self._none_left = anyio.Event()

    def hear(self, arrived: SessionMessage | Exception) -> None:
        """Note what a client asked, or gave up."""
        message = arrived.message if isinstance(arrived, SessionMessage) else None
        if isinstance(message, types.JSONRPCRequest) and message.method != "subscriptions/listen":
            self._open.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._done((message.params or {}).get("requestId"))

    def tell(self, message: SessionMessage) -> None:
        """Note what is on its way to the client."""
        if isinstance(message.message, types.JSONRPCResponse | types.JSONRPCError):
            self._done(message.message.id)

    @property
    def none_open(self) -> bool:
        """Whether all is answered."""
        return not self._open

    async def answered(self) -> None:
        """Wait until none is open."""
        while self._open:
            self._none_left = anyio.Event()
            await self._none_left.wait()

    def _done(self, identity: object) -> None:
        self._open.discard(identity)
        if not self._open:
            self._none_left.set()


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as fault:
        return fault
