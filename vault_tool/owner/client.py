"""Asking the owner of a vault: what can be asked of it is answered at once; None means that the asker does it by itself.

Nobody asks while holding the vault's write lock: the owner may need it.
"""

from __future__ import annotations

import os
import time

from vault_tool import __version__
from vault_tool.owner import address
from vault_tool.owner.protocol import AT_WORK, GRACE, PROTOCOL, Lines, ProtocolError, age_of, settings_print

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def reach(root: str, grace: float = GRACE) -> tuple[Lines, dict[str, Any]] | None:
    """A connection to the owner of the vault at `root` (resolved) and what it says of itself; None without one that answers.

    It may be of another version: see `fits`. `grace` is how many seconds it may be silent, here and on the connection.
    """
    line = address.connect(root, grace)
    if line is None:
        return None
    lines = Lines(line)
    try:
        greeting = lines.receive(time.monotonic() + grace)
    except ProtocolError:
        line.close()
        return None
    if greeting.get("root") != root or not isinstance(greeting.get("nonce"), str) or not isinstance(greeting.get("version"), str):
        line.close()
        return None
    return lines, greeting


def fits(greeting: Mapping[str, Any]) -> bool:
    """Whether an owner would answer as this process does: the same protocol, version and deciding environment."""
    if greeting.get("protocol") != PROTOCOL or greeting["version"] != __version__:
        return False
    return bool(greeting.get("settings") == settings_print(greeting["nonce"], os.environ))


def fitting(root: str, grace: float) -> Lines | None:
    """A connection to an owner that would answer as this process does; None without one."""
    reached = reach(root, grace)
    if reached is None:
        return None
    lines, greeting = reached
    if fits(greeting):
        return lines
    lines.socket.close()
    return None


def is_older(greeting: Mapping[str, Any]) -> bool:
    """Whether an owner is of an older version than this process, and so is to leave."""
    return age_of(greeting["version"]) < age_of(__version__)


def ask(root: str, request: Mapping[str, Any]) -> dict[str, Any] | None:
    """The owner's answer to a request; None after a moment of silence, or a second once it spoke.

    An older one is asked to leave.
    """
    reached = reach(root)
    if reached is None:
        return None
    lines, greeting = reached
    try:
        if not fits(greeting):
            if is_older(greeting):
                lines.send({"do": "drain", "version": __version__})
            return None
        lines.socket.settimeout(AT_WORK)
        lines.send(request)
        answer = lines.receive()
    except ProtocolError:
        return None
    finally:
        lines.socket.close()
    return None if "declined" in answer else answer


def drain(root: str, grace: float = GRACE) -> bool:
    """Ask the owner to finish what it is at and leave, with so many seconds to answer; whether there was one to hear it."""
    reached = reach(root, grace)
    if reached is None:
        return False
    lines, _ = reached
    try:
        lines.send({"do": "drain", "version": __version__})
        return bool(lines.receive().get("leaving"))
    except ProtocolError:
        return False
    finally:
        lines.socket.close()
