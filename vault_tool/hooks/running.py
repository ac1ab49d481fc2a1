"""A hook as a process: it says something or nothing, in time, never a word of trouble, and never holds its client up."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from vault_tool.hooks.clients import (
    COMPACTION,
    END,
    NATIVE,
    PROMPT,
    SECONDS,
    START,
    event_of,
    folder_of,
    prompt_of,
    session_of,
    shaped,
    user_of,
)

T = TypeVar("T")

_SETTINGS, _RECORD = "vault.toml", "_local/owner.json"
# Most bytes that a client may say of an event.
_LONGEST = 10 * 2**20
_LONGEST_PATH = 4096
# Whoever asks a model about a session sets this: a client that is started for that has no memory, and its end is no end.
_CAPTURING = "VAULT_CAPTURING"

# What a session's start is told where its page is not made in time.
LATE = (
    "Memory: the page of this vault was not ready in time, since the machine or the vault is at work. "
    "It is there all the same: `orient` gives it, `recall` answers a question.\n"
)
GONE = (
    "Memory: no vault is at {vault} any more (moved, deleted or not mounted), so that nothing is recalled and nothing kept. "
    "Tell the person you work with: `vt doctor --client {client}` says what to do.\n"
)
# The vault that this process asks, once one was found.
_ASKED: list[Path] = []
# The vault that this process answers for by itself, until an owner was started for the next event.
_OWNERLESS: list[Path] = []
# Seconds that are left for that once the client was answered.
_LAST = 1.0
# Held by the thread that says something, so that no other says something more.
_PRINTING = threading.Lock()


def main(arguments: Sequence[str]) -> int:
    """Answer one event (`EVENT --client NAME [--vault DIR] [--user ID]`) from standard input; always 0, or a client stops."""
    printed = _silenced()
    event, client, vault, user = _asked(arguments)
    if event and not os.environ.get(_CAPTURING):
        # What hangs (a disk, a lock) ends with the process: the next one finishes what it began.
        limit = threading.Timer(_patience(event), _given_up, (printed, event, client))
        # Beside much other work this process may never come to its answer: then at least the next event's is ready.
        half = threading.Timer(_patience(event) / 2, _leave_owner)
        for timer in (limit, half):
            timer.daemon = True
            timer.start()
        reply = answered(event, client, _input(), os.environ, vault, user)
        with _PRINTING:
            limit.cancel()
            _print(printed, reply)
        last = threading.Timer(_LAST, os._exit, (0,))
        last.daemon = True
        last.start()
        _leave_owner()
    os._exit(0)  # nothing that a library does at the end may take time, speak, or change the code


def _given_up(printed: int, event: str, client: str) -> None:
    """End this process; a session that starts is told that it has a memory all the same, and how to ask it."""
    with _PRINTING:
        if event == START and _ASKED:
            _print(printed, shaped(client, event, LATE))
        os._exit(0)


def _leave_owner() -> None:
    """Start an owner for the next event of the session, where this process had to answer by itself and one may be there."""

    def leave() -> None:
        root = _OWNERLESS.pop()
        from vault_tool.owner.next_command import start_at  # 1 ms, and only here

        start_at(str(root.resolve()))

    # An owner is a help, and no duty.
    _without_fault(leave, None)


def _without_fault(call: Callable[[], T], otherwise: T) -> T:
    """The value of a call, `otherwise` if anything is wrong, for a client obeys whatever a hook complains of."""
    try:
        return call()
    except BaseException:  # noqa: BLE001  (the boundary, panics of libraries too)
        return otherwise


def answered(event: str, client: str, data: bytes, environ: Mapping[str, str], vault: str = "", user: str = "") -> bytes:
    """The reply to a client's event, in the client's own shape; nothing if there is nothing to say, or anything is wrong."""
    return _without_fault(lambda: _answered(event, client, data, environ, vault, user), b"")


def _answered(event: str, client: str, data: bytes, environ: Mapping[str, str], vault: str, user: str) -> bytes:
    fields = json.loads(data.decode("utf-8-sig"))
    if not isinstance(fields, dict):
        return b""
    session, folder = session_of(fields), folder_of(fields, environ)
    vault = vault or environ.get("VAULT_ROOT", "")
    if event in (END, COMPACTION):
        from vault_tool.hooks.ended import hand_over  # next to nothing, and all that an end has time for

        known = {"client": client, "user": user or user_of(fields, environ), "transcript": _transcript(fields)}
        with suppress(OSError):
            hand_over(session, folder, vault, environ, goes_on=event == COMPACTION, **known)
    if event == END:
        return b""
    prompt, source = prompt_of(fields) if event == PROMPT else "", str(fields.get("source") or "startup")
    # The client replays what it was given before.
    if (event == PROMPT and not prompt) or (event == START and source == "resume"):
        return b""
    where = {"folder": _absolute(folder or "."), "vault": _absolute(vault)}
    if event == START and vault and not _is_there(where["vault"], environ):
        return shaped(client, event, GONE.format(vault=where["vault"], client=client))
    who = {"session": session, "user": user or user_of(fields, environ)}
    asked = {"event": event, "prompt": prompt, "source": source, "caller": os.urandom(8).hex(), **who, **where}
    if event == START:
        asked |= {"client": client, "transcript": _transcript(fields)}
    text = _text(asked, environ)
    return shaped(client, event, text) if text else b""


def _transcript(fields: Mapping[str, Any]) -> str:
    """The file in which the client keeps the session; empty where it names none."""
    path = fields.get("transcript_path")
    return path if isinstance(path, str) and len(path) < _LONGEST_PATH else ""


def _absolute(path: str) -> str:
    return str(Path(path).expanduser().absolute()) if path else ""


def _text(asked: Mapping[str, str], environ: Mapping[str, str]) -> str:
    """The text for an event as the vault's owner has it, where there is one that is warm; else as this process finds it."""
    from vault_tool.hooks.ended import roots

    root_folder = next((root for root in roots(asked["folder"], asked["vault"], environ) if (root / _SETTINGS).is_file()), None)
    _ASKED.extend([root_folder] if root_folder is not None else [])
    if root_folder is not None and _is_warm(root_folder):
        from vault_tool.owner.client import ask
        from vault_tool.owner.starting import allowed

        answer = ask(str(root_folder.resolve()), {"do": "hook", **asked}) if allowed() else None
        if answer is not None:
            return str(answer["text"])
    _OWNERLESS.extend([root_folder] if root_folder is not None else [])
    from vault_tool.errors import Busy
    from vault_tool.hooks.answers import answer_here  # loads the whole package

    try:
        return answer_here(asked, environ)
    except Busy:
        return LATE if asked["event"] == START else ""


def _is_there(vault: str, environ: Mapping[str, str]) -> bool:
    """Whether the vault that is named is where it is said to be; who named none is told nothing where there is none."""
    from vault_tool.hooks.ended import roots

    return any((root / _SETTINGS).is_file() for root in roots("", vault, environ))


def _is_warm(root: Path) -> bool:
    """Whether an owner says that it has loaded what it answers with: before, a process of its own is sooner."""
    try:
        return bool(json.loads((root / _RECORD).read_bytes()).get("warm"))
    except (OSError, ValueError, AttributeError):
        return False


def _patience(event: str) -> float:
    """The seconds after which nothing is said; `$VAULT_HOOK_SECONDS` is for a machine that needs more."""
    try:
        return float(os.environ["VAULT_HOOK_SECONDS"])
    except (KeyError, ValueError):
        return SECONDS[event]


def _asked(arguments: Sequence[str]) -> tuple[str, str, str, str]:
    """The event, the client, the vault and the user that are named; no event where one of the first two is none."""
    positional, named = [], {"--client": "", "--vault": "", "--user": ""}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        option, equals, value = word.partition("=")
        if option in named:
            named[option] = value if equals else rest.pop(0) if rest else ""
        else:
            positional.append(word)
    client = named["--client"]
    event = event_of(positional[0], client) if len(positional) == 1 and client in NATIVE else ""
    return event, client, named["--vault"], named["--user"]


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
