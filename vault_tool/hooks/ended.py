"""Sessions that ended, handed to the next one: written by the standard library alone, for a client gives an end no time."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

_LOCAL, _SESSIONS, _ENDED = "_local", "sessions", "ended"
# As `files.layout` has them, which takes longer to load than all this.
_HOMES = ("", "memory", "vt-memory")

_LONGEST = 2**16


# Ends the name of a note that the next session was told of.
_TOLD = ".told"


def hand_over(session: str, folder: str, vault: str, environ: Mapping[str, str], *, goes_on: bool = False, **beside: str) -> None:
    """Note that a session ended, in the vault that knows it: the one that was shown to it. Raises OSError.

    `beside` are its client, its user and the file in which its client keeps it, which is named here and not looked at. One
    that `goes_on` compacts: the next session is not told of it, and what it said until now may be read.
    """
    if not session:
        return
    name = f"{sha256(session.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.json"
    note = {"session": session, "at": time.time(), "cwd": folder, **beside, **({"goes_on": True} if goes_on else {})}
    for root in roots(folder, vault, environ):
        if (root / _LOCAL / _SESSIONS / name).is_file():
            ended = root / _LOCAL / _ENDED
            ended.mkdir(mode=0o700, exist_ok=True)
            temporary = ended / f".{name}.{os.getpid()}"
            with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                json.dump(note, file)
            temporary.replace(ended / (name if not goes_on else f"{name.removesuffix('.json')}{_TOLD}"))
            return


def taken(root: Path, *, keep: bool = False) -> list[str]:
    """The sessions that ended since the last call, the newest first; each is told of once.

    With `keep` their notes stay, for whoever reads what was said in them.
    """
    from vault_tool.files.local_trust import place  # asked by whoever has loaded it anyway, and an end has no time for it

    ended: list[tuple[float, str]] = []
    for path in _files(place(root) / _LOCAL / _ENDED):
        event = {} if path.suffix == _TOLD else _note(path)
        with suppress(ValueError, TypeError, KeyError):
            ended.append((float(event["at"]), str(event["session"])))
        with suppress(OSError):
            if keep and event.get("transcript"):
                path.replace(path.with_suffix(_TOLD))
            elif not keep or path.suffix != _TOLD:
                path.unlink()
    return [session for _, session in sorted(ended, reverse=True)]


def _note(path: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError, RecursionError), open(path, encoding="utf-8") as file:
        note = json.loads(file.read(_LONGEST))
        return note if isinstance(note, dict) else {}
    return {}


def _files(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def roots(folder: str, vault: str, environ: Mapping[str, str]) -> Iterator[Path]:
    """Where a vault may be, in the order in which one is looked for."""
    named = vault or environ.get("VAULT_ROOT", "")
    here = Path(named or folder or ".").expanduser().absolute()
    for above in (here,) if named else (here, *here.parents):
        yield from (above / home for home in _HOMES)
    if not named:
        from vault_tool.util.user_folder import global_place  # only where no folder above is the vault

        yield Path(global_place(environ))
