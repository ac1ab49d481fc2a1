"""The command that opens the page for people."""

from __future__ import annotations

import json
import os
import secrets
import webbrowser
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vault_tool.cli.blocks import Block, fields
from vault_tool.cli.options import Call, Short, command
from vault_tool.errors import Busy, Exit, UsageError
from vault_tool.files.layout import LOCAL
from vault_tool.files.local_trust import place
from vault_tool.mcp import listening
from vault_tool.util.deferred import deferred
from vault_tool.util.structs import Struct
from vault_tool.util.text import with_article
from vault_tool.vault.person import require_person
from vault_tool.verbs import vault
from vault_tool.web import app as web_app
from vault_tool.web import door as web_door

if TYPE_CHECKING:
    from socket import socket

    import anyio

    from vault_tool.files.local import LocalFolder
    from vault_tool.verbs.vault import Vault
else:
    anyio = deferred("anyio")  # 40 ms

_PORT = 8378
_HOST = "127.0.0.1"
# Seconds that another `vt web` gets to answer.
_PATIENCE = 3.0

_OPENING = "page-start.html"


class WebPage(Struct):
    """Where the page is: the link opens it once, within an hour. `running` says that another process serves it already."""

    url: str
    running: bool


@command("web", "vt web", "vt web --no-open --json", "vt web --port 9000")
@click.option("--port", type=click.IntRange(0, 65535), help=f"Where to listen; else {_PORT}, or any that is free.")
@click.option("--no-open", is_flag=True, help="Only show the link; do not open a browser.")
def web(call: Call, port: int | None, no_open: bool) -> Exit:
    """Open the page for people in a browser.

    It shows the memory, answers questions of it, and does what the commands do, as its owner. It listens on this
    machine alone; the link opens it once, and is told to a person alone. Where it runs already, this shows a new link.
    """
    _require_owner(call)
    with call.open_vault() as vault:
        # The link is a person's key: no stream and no browser shows it to others.
        require_person(vault, "open the page")
        local, root = vault.local, vault.root
    if code := _code_of_running(local, port):
        at = WebPage(_link(*code), running=True)
        call.emit(at, _shown)
        _open(local, root, at.url, no_open)
    else:
        _serve(call, local, root, _listener(port), no_open)
    return Exit.DONE


def _require_owner(call: Call) -> None:
    if call.user:
        raise UsageError("the page is for whoever keeps the whole vault", "leave --user away; `People` is a page of it")
    if call.origin not in ("", "owner"):
        raise UsageError(f"the page is its owner's, and not for {with_article(call.origin)}", "leave --origin away")


def _listener(port: int | None) -> socket:
    """A socket at the port, or without one at the usual port or any that is free."""
    try:
        return listening.listening(_HOST, _PORT if port is None else port)
    except Busy:
        if port is not None:
            raise
        return listening.listening(_HOST, 0)


def _serve(call: Call, local: LocalFolder, root: Path, listener: socket, no_open: bool) -> None:
    """Show the pages until this process is stopped."""
    door = listening.Door(_HOST, listener.getsockname()[1], "")
    entrance, secret = web_door.Entrance(), secrets.token_urlsafe(32)
    app = web_app.application(root, lambda: _opened(call, root), door, entrance, secret)
    local.serve_pages({"port": door.port, "pid": os.getpid(), "secret": secret})
    try:
        at = WebPage(_link(door.port, entrance.new_code()), running=False)
        call.emit(at, _shown)
        _open(local, root, at.url, no_open)
        anyio.run(web_app.serve, app, listener)
    finally:
        local.serve_pages(None)
        with suppress(OSError):
            _opening_file(root).unlink()


def _opened(call: Call, root: Path) -> Vault:
    return vault.Vault.open(root, person=True, session=call.session or None)


def _link(port: int, code: str) -> str:
    return f"http://{_HOST}:{port}/#t={code}"


def _code_of_running(local: LocalFolder, port: int | None) -> tuple[int, str] | None:
    """Port and code of the process that serves this vault's pages already; None where there is none, or at another port."""
    running = local.page_server()
    at, secret = running.get("port"), running.get("secret")
    if not isinstance(at, int) or not isinstance(secret, str) or port not in (None, 0, at):
        return None
    line = HTTPConnection(_HOST, at, timeout=_PATIENCE)
    try:
        line.request("POST", "/start/new", headers={"Authorization": f"Bearer {secret}", "Content-Length": "0"})
        answer = line.getresponse()
        fields = json.loads(answer.read(10_000)) if answer.status == 200 else {}
    except (OSError, HTTPException, ValueError):
        return None  # it ended without saying so, and something else may listen there
    finally:
        line.close()
    code = fields.get("code") if isinstance(fields, dict) else None
    return (at, code) if isinstance(code, str) else None


def _open(local: LocalFolder, root: Path, url: str, no_open: bool) -> None:
    """Open a browser by way of a file for this user alone: an address in a command line can be read by everybody here."""
    if no_open:
        return
    local.keep_private(_OPENING, _redirect(url).encode())
    with suppress(webbrowser.Error, OSError):
        webbrowser.open(_opening_file(root).as_uri())


def _opening_file(root: Path) -> Path:
    return place(root) / LOCAL / _OPENING


def _redirect(url: str) -> str:
    return f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={url}"><a href="{url}">Go on</a>\n'


def _shown(at: WebPage, short: Short) -> Iterator[Block]:
    yield fields(("page", at.url), ("opens", "once, within an hour; `vt web` shows a new link"))
    yield "it is served already" if at.running else "Ctrl-C ends it"
