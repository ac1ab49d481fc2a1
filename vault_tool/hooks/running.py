"""A hook as a process: it says something or nothing, in time, never a word of trouble, and never holds its client up."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence

from vault_tool.hooks.clients import EVENTS, NATIVE, SECONDS, event_of, folder_of, session_of, shaped

_LONGEST = 10 * 2**20
"""Most bytes that a client may say of an event."""


def main(arguments: Sequence[str]) -> int:
    """Answer one event (`EVENT --client NAME [--vault DIR]`) from standard input; always 0, or a client stops."""
    printed = _silenced()
    event, client, vault = _asked(arguments)
    if event:
        # What hangs (a disk, a lock) ends with the process: the next one finishes what it began.
        limit = threading.Timer(_patience(event), os._exit, (0,))
        limit.daemon = True
        limit.start()
        said = answered(event, client, _input(), os.environ, vault)
        limit.cancel()
        _print(printed, said)
    os._exit(0)  # nothing that a library does at the end may take time, speak, or change the code


def answered(event: str, client: str, data: bytes, environ: Mapping[str, str], vault: str = "") -> bytes:
    """What the client is given for an event, in its own shape; nothing where there is nothing to say, or anything is wrong."""
    try:
        told = json.loads(data.decode("utf-8-sig"))
        if not isinstance(told, dict):
            return b""
        session, folder = session_of(told), folder_of(told, environ)
        if event == EVENTS[-1]:
            from vault_tool.hooks.ended import hand_over  # next to nothing, and all that an end has time for

            hand_over(session, folder, vault, environ)
            return b""
        from vault_tool.hooks.answers import answer  # opens the whole package

        text = answer(event, told, session, folder, vault, environ)
        return shaped(client, event, text) if text else b""
    except BaseException:  # noqa: BLE001  (the boundary, panics of libraries too: a client obeys whatever a hook complains of)
        return b""


def _patience(event: str) -> float:
    """The seconds after which nothing is said; `$VAULT_HOOK_SECONDS` is for a machine that needs more."""
    try:
        return float(os.environ["VAULT_HOOK_SECONDS"])
    except (KeyError, ValueError):
        return SECONDS[event]


def _asked(arguments: Sequence[str]) -> tuple[str, str, str]:
    """The event, the client and the vault that are named; no event where one of the first two is none."""
    given, named = [], {"--client": "", "--vault": ""}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        option, equals, value = word.partition("=")
        if option in named:
            named[option] = value if equals else rest.pop(0) if rest else ""
        else:
            given.append(word)
    client = named["--client"]
    event = event_of(given[0], client) if len(given) == 1 and client in NATIVE else ""
    return event, client, named["--vault"]


def _silenced() -> int:
    """Send all that is printed or complained nowhere; returns where the answer goes."""
    try:
        printed = os.dup(1)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
    except OSError:
        return -1
    return printed


def _input() -> bytes:
    data = bytearray()
    try:
        while len(data) <= _LONGEST and (chunk := os.read(0, 2**16)):
            data += chunk
    except OSError:
        return b""
    return bytes(data)


def _print(stream: int, data: bytes) -> None:
    try:
        while data:
            data = data[os.write(stream, data) :]
    except OSError:
        pass
