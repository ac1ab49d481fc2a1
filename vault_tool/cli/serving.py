"""The commands that serve agents' clients."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from subprocess import DEVNULL
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from msgspec.structs import replace

from vault_tool.cli.blocks import Block, fields, table
from vault_tool.cli.options import Call, Decorated, Short, command
from vault_tool.errors import Exit, UsageError
from vault_tool.features.setup import served_people
from vault_tool.mcp import backends
from vault_tool.mcp import http as mcp_http
from vault_tool.mcp import listening as http_listening
from vault_tool.mcp import server as server_of_mcp
from vault_tool.mcp.tools import PRESETS, Caller, Offered, offered
from vault_tool.model.served_person import READ, SCOPES, WRITE
from vault_tool.owner import front
from vault_tool.owner.relay import folder_of, session_of
from vault_tool.util.deferred import deferred
from vault_tool.util.location import Location
from vault_tool.util.structs import Struct
from vault_tool.util.vault_names import names_at
from vault_tool.vault import one_thread
from vault_tool.vault.person import require_person
from vault_tool.verbs import vault as verbs

if TYPE_CHECKING:
    from socket import socket

    import anyio

    from vault_tool.features.setup.served_people import MadeToken, Person, RemovedPerson, ServedPeople
    from vault_tool.mcp.listening import Door
    from vault_tool.owner import upstream
else:
    upstream = deferred("vault_tool.owner.upstream")  # only a server needs it
    anyio = deferred("anyio")  # 40 ms


def served(function: Decorated) -> Decorated:
    """The options of commands that serve: which tools, and who asks where a call does not say."""
    for option in (
        click.option(
            "--model", metavar="NAME", default="", envvar="VAULT_MODEL", help="The model that writes; else VAULT_MODEL."
        ),
        click.option(
            "--project", metavar="NAME", default="", help="The memories written are about it; else CLAUDE_PROJECT_DIR's name."
        ),
        click.option("--preset", type=click.Choice(PRESETS), default="lean", show_default=True, help="Which tools."),
    ):
        function = option(function)
    return function


@command("mcp", "vt mcp", "vt mcp --preset full", "vt mcp --tools")
@served
@click.option("--tools", "only_tools", is_flag=True, help="Show the tools of both presets, with what they cost, and end.")
@click.option("--identity", hidden=True, default="", help="The id of the vault that a relay's client began with.")
def mcp(call: Call, preset: str, only_tools: bool, identity: str, project: str, model: str) -> Exit:
    """Serve an agent's client over stdio (MCP).

    It speaks the Model Context Protocol, in the revisions of today and of old. A client starts it; what is written
    by way of it is an agent's.
    """
    if only_tools:
        return call.emit(offered(), _offered)
    _require_agent(call)

    caller = caller_of(call, project, model)
    # A relay's client began with a vault, which may have gone meanwhile.
    root = front.find(call.vault) or (call.vault if identity else None)
    caller = replace(caller, vaults=",".join(names_at(root or "")))
    location = None if root is None else Location(root, identity)
    anyio.run(lambda: server_of_mcp.serve_stdio(opening(call, caller, location), preset=preset, caller=caller))
    return Exit.DONE


@command("serve", "vt serve", "vt serve --port 0 --preset full --json")
@served
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where to listen.")
@click.option("--port", type=click.IntRange(0, 65535), default=8377, show_default=True, help="0 takes any that is free.")
@click.option("--name", "names", multiple=True, metavar="HOST[:PORT]", help="A name that clients ask for it by, exactly.")
@click.option("--allow-origin", "origins", multiple=True, metavar="URL", help="A page that may ask, exactly.")
@click.option("--tls-cert", type=click.Path(exists=True, dir_okay=False), help="A certificate, in PEM.")
@click.option("--tls-key", type=click.Path(exists=True, dir_okay=False), help="Its key.")
@click.option("--without-tls", is_flag=True, help="Beyond loopback: something in front encrypts.")
@click.option("--no-token", is_flag=True, help="On loopback: serve every user of this machine.")
@click.option("--new-token", is_flag=True, help="Make another token first; the old one is refused from then on.")
@click.option("--every", type=click.IntRange(10, 86_400), metavar="SECONDS", help="Sync at once, and then so often.")
@click.option("--person", default="", metavar="NAME", help="With --new-token: one for a person alone, shown once.")
@click.option("--scope", type=click.Choice(SCOPES), help="The scope of their token; else write, which is both.")
@click.option("--until", default="", metavar="TIME", help="Until when their token is good; else till it is taken away.")
@click.option("--people", "list_people", is_flag=True, help="List who has a token of their own.")
@click.option("--remove", is_flag=False, flag_value="", default=None, metavar="[NAME]", help="Take a person's token away.")
def serve(call: Call, preset: str, project: str, model: str, **options: Any) -> Exit:
    """Serve agents' clients over HTTP.

    On this machine alone unless --host says otherwise. A client shows the token that is in a file for you alone;
    beyond loopback there is no way around it, nor around TLS unless --without-tls says that a proxy encrypts.
    People and agents of a team get tokens of their own: what one of these writes is by its name.
    """
    if (done := _about_people(call, options)) is not None:
        return done
    _require_agent(call)
    cert, key = _safe(options)
    caller = replace(caller_of(call, project, model), preset=preset)
    with call.open_vault() as vault:
        if options["new_token"]:
            require_person(vault, "make another token")
        caller = replace(caller, vaults=",".join(names_at(str(vault.root))))
        local, location = vault.local, vault.location
        token = "" if options["no_token"] else local.http_token(anew=options["new_token"])
    listener = http_listening.listening(options["host"], options["port"])
    door = http_listening.Door(
        options["host"], listener.getsockname()[1], token, options["names"], options["origins"], bool(cert)
    )
    at = Serving(door.url + mcp_http.PATH, str(local.http_token_path) if token else None)
    call.emit(at, _serving)
    anyio.run(lambda: _serve(call, caller, location, preset, door, listener, cert, key, options["every"] or 0))
    return Exit.DONE


def _about_people(call: Call, options: Mapping[str, Any]) -> Exit | None:
    """The outcome of what is asked of people's tokens; None where it is asked to serve."""
    person, removed = options["person"], options["remove"]
    makes = bool(person) and options["new_token"]
    if not (makes or removed is not None or options["list_people"]):
        if person or options["scope"] or options["until"]:
            raise UsageError("--person, --scope and --until are for a token of theirs", "add --new-token, or --remove")
        return None
    if makes + (removed is not None) + options["list_people"] > 1:
        raise UsageError("one thing at a time", "--new-token, --people or --remove")
    with call.open_vault() as vault:
        if options["list_people"]:
            return call.emit(served_people.people(vault), _listed_people)
        if makes:
            token = served_people.new_token(vault, person, options["scope"] or WRITE, options["until"])
            return call.emit(token, _made_token)
        if bool(removed) == bool(person):
            raise UsageError("whose token is taken away?", "--remove NAME")
        return call.emit(served_people.remove(vault, removed or person), _removed_person)


def _made_token(token: MadeToken, short: Short) -> Iterator[Block]:
    person = token.person
    yield fields(
        ("token", token.token), ("of", person.name), ("for", _scope_in_words(person.scope)), ("user", person.user),
        ("writes as", person.author), ("until", person.until),
    )  # fmt: skip
    if token.replaced:
        yield "the token they had is refused from now on"
    yield "it is shown this once: their client sends it as Authorization: Bearer TOKEN"


def _listed_people(listed: ServedPeople, short: Short) -> Iterator[Block]:
    if not listed.people:
        yield "nobody has a token of their own"
        return
    rows = [(person.name, person.scope, person.user, person.author, _end_in_words(person)) for person in listed.people]
    yield table(("name", "scope", "user", "writes as", "until"), rows)


def _removed_person(removed: RemovedPerson, short: Short) -> Iterator[Block]:
    yield f"{removed.name} has no token any more; what they wrote stays under their name"


def _end_in_words(person: Person) -> str:
    return f"{person.until}, over" if person.over else person.until


def _scope_in_words(scope: str) -> str:
    return "reading" if scope == READ else "reading and writing"


def _safe(options: Mapping[str, Any]) -> tuple[str, str]:
    """The certificate and its key, or two empty names; UsageError where what is asked for would let anybody in, or read along."""
    cert, key = options["tls_cert"] or "", options["tls_key"] or ""
    if bool(cert) != bool(key):
        raise UsageError("TLS needs both a certificate and its key", "--tls-cert FILE --tls-key FILE")
    http_listening.require_safe(
        options["host"], names=options["names"], token=not options["no_token"], tls=bool(cert), without_tls=options["without_tls"]
    )
    return cert, key


class Serving(Struct):
    """Where a server is found, and which file holds what a client must show."""

    url: str
    token_file: str | None


async def _serve(
    call: Call, caller: Caller, location: Location, preset: str, door: Door, listener: socket, cert: str, key: str, every: int
) -> None:
    run = one_thread.OneThread(opening(call, caller, location))
    backend = upstream.RelayBackend(location, caller, backends.VaultBackend(run, caller))
    try:
        async with server_of_mcp.noticing(backend, preset=preset) as notices:
            server = server_of_mcp.connection(
                backend, preset=preset, caller=caller, notices=notices, standing=False, caller_in=mcp_http.caller_in
            )
            people = served_people.KnownPeople(location.root)
            app = mcp_http.application(server, backend, door, caller, people)
            async with anyio.create_task_group() as tasks:
                if every:
                    tasks.start_soon(_sync_each, location.root, every)
                await http_listening.serve_http(app, listener, cert=cert, key=key)
                tasks.cancel_scope.cancel()
    finally:
        backend.close()
        await run.close()


async def _sync_each(root: str, seconds: int) -> None:
    """Sync the vault again and again, each time by a process of its own: what it needs is not kept by one that serves.

    It refuses by itself where a person is in the middle of a merge, and where there is no remote.
    """
    command = [sys.executable, "-m", "vault_tool", "--vault", root, "sync"]
    while True:
        with suppress(OSError):
            await anyio.run_process(command, check=False, stdin=DEVNULL, stdout=DEVNULL, stderr=None)
        await anyio.sleep(seconds)


def _serving(at: Serving, short: Short) -> Iterator[Block]:
    yield fields(
        ("serving", at.url), ("token in", at.token_file), ("no token", "any user of this machine" if not at.token_file else "")
    )
    yield "Ctrl-C ends it"


def caller_of(call: Call, project: str, model: str) -> Caller:
    """The caller for calls that name none, from the options and from the client's own description."""
    session = call.session or session_of(os.environ)
    return Caller(session=session, project=project, user=call.user, model=model, folder=folder_of(os.environ))


def _require_agent(call: Call) -> None:
    """Raise UsageError where an option says that a writer through this server is not an agent."""
    context: click.Context | None = click.get_current_context()
    while context is not None:
        # VAULT_ORIGIN is for the commands of a whole shell, and refuses no server that is started in it.
        if call.origin != "agent" and context.get_parameter_source("origin") is ParameterSource.COMMANDLINE:
            raise UsageError(f"what clients write is an agent's: `--origin {call.origin}` cannot be", "leave --origin away")
        context = context.parent


def opening(call: Call, caller: Caller, location: Location | None) -> Callable[[], verbs.Vault]:
    """An opener of the vault of `location`, as an agent; it raises VaultGone where another vault stands there now."""

    def opened() -> verbs.Vault:
        if location is None:
            return verbs.Vault.open(call.vault or None, origin="agent", session=caller.session, user=caller.user)
        location.require()
        vault = verbs.Vault.open(location.root, origin="agent", session=caller.session, user=caller.user)
        vault.location = location
        return vault

    return opened


def _offered(offered: Offered, short: Short) -> Iterator[Block]:
    rows = [(tool.name, "lean, full" if tool.lean else "full", str(tool.tokens), tool.title) for tool in offered.tools]
    yield table(("tool", "preset", "tokens", "what it is"), rows, right=["tokens"])
    yield fields(*((f"{preset.preset}", f"{preset.tools} tools, about {preset.tokens} tokens") for preset in offered.presets))
    yield offered.notice
