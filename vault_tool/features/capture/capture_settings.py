"""Whether the sessions of clients are read on this machine, and which: set by a person, kept where nothing is tracked."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import field, to_builtins

from vault_tool.errors import VaultError
from vault_tool.files import layout
from vault_tool.files.local_trust import place, repositories
from vault_tool.util.atomic import PrivateFolder
from vault_tool.util.structs import Struct

OFF, POINT, DRAFT = "off", "point", "draft"
MODES = (OFF, POINT, DRAFT)

CALLS_A_DAY = 6
TOKENS_A_DAY = 40_000

_FILE = "capture.json"
_LAST = "capture-last.json"
_UNASKED = "capture-unasked"
_LONGEST = 2**20
_NAMED = ("by", "host", "program")


class CaptureSettings(Struct):
    """How sessions are read: not at all (`off`), for turns that the next session is shown (`point`), or by a model that
    proposes memories (`draft`).

    It is read for sessions in the `folders`, without any for those in the repository that holds the vault; never in the `but`.
    `by` is the model that is asked of a session (`ollama:MODEL`, `claude`), `host` where an Ollama of another machine is, and
    `program` the whole path of a client, started with the `environ` that stood at the terminal when it was set. So many calls
    and tokens a day are spent at most.
    """

    mode: str = OFF
    folders: tuple[str, ...] = ()
    but: tuple[str, ...] = ()
    by: str = ""
    host: str = ""
    program: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)
    calls: int = CALLS_A_DAY
    tokens: int = TOKENS_A_DAY

    def reads(self, root: Path, folder: str) -> bool:
        """Whether sessions in a folder are read, for the vault at `root`."""
        real = os.path.realpath(folder) if folder else ""
        if self.mode == OFF or not real or any(_holds(excluded, real) for excluded in self.but):
            return False
        return any(_holds(included, real) for included in self.folders or own_folders(root))


class LastReading(Struct):
    """The last time that a session's file was read: when, how many turns were pointed at, and why none could be read."""

    at: str
    turns: int = 0
    fault: str = ""


def own_folders(root: Path) -> tuple[str, ...]:
    """The folder of the repository that holds a vault which is part of it; none for a vault by itself."""
    real = os.path.realpath(root)
    above = next(repositories(Path(real)), None)
    return () if above is None or os.path.realpath(above.work_tree) == real else (os.path.realpath(above.work_tree),)


def settings_of(root: Path) -> CaptureSettings:
    """The capture settings of a vault on this machine; `off` where none were set or they cannot be read."""
    with suppress(VaultError, ValueError, RecursionError):
        settings = json.loads(_read(root, _FILE))
        if isinstance(settings, dict) and settings.get("mode") in MODES:
            environ = settings.get("environ")
            by, host, program = (value if isinstance(value := settings.get(name), str) else "" for name in _NAMED)
            return CaptureSettings(
                mode=settings["mode"], folders=_texts(settings.get("folders")), but=_texts(settings.get("but")),
                by=by, host=host, program=program,
                environ={str(name): str(value) for name, value in environ.items()} if isinstance(environ, dict) else {},
                calls=_count(settings.get("calls"), CALLS_A_DAY), tokens=_count(settings.get("tokens"), TOKENS_A_DAY),
            )  # fmt: skip
    return CaptureSettings()


def keep_settings(root: Path, settings: CaptureSettings) -> None:
    """Set it."""
    fields: Mapping[str, Any] = to_builtins(settings)
    _kept(root).write(_FILE, json.dumps(fields, indent=1, ensure_ascii=False).encode() + b"\n")


def keep_unasked(root: Path) -> None:
    """Note that a client was told of the vault without a person to be asked, so that it is told once that nothing is read."""
    if not is_set(root):
        with suppress(VaultError):
            _kept(root).write(_UNASKED, b"")


def is_unasked(root: Path) -> bool:
    """Whether that is still to be told; it is told once."""
    with suppress(VaultError):
        if _kept(root).read(_UNASKED) is not None:
            with _kept(root).writing() as folder:
                folder.remove(_UNASKED)
            return not is_set(root)
    return False


def is_set(root: Path) -> bool:
    """Whether a person said whether sessions are read."""
    with suppress(VaultError):
        return _FILE in _kept(root).names()
    return False


def last_reading(root: Path) -> LastReading | None:
    """The last reading on this machine; None where there was none, or where it cannot be told."""
    with suppress(VaultError, ValueError, RecursionError):
        fields = json.loads(_read(root, _LAST))
        if isinstance(fields, dict) and isinstance(at := fields.get("at"), str) and isinstance(count := fields.get("turns"), int):
            return LastReading(at, count, fault if isinstance(fault := fields.get("fault"), str) else "")
    return None


def keep_reading(root: Path, reading: LastReading) -> None:
    """Keep when a session was read last; where it cannot be written, what was read is shown all the same."""
    fields = {"at": reading.at, "turns": reading.turns, "fault": reading.fault}
    with suppress(VaultError):
        _kept(root).write(_LAST, json.dumps(fields, ensure_ascii=False).encode() + b"\n")


def _count(value: object, otherwise: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else otherwise


def _read(root: Path, name: str) -> bytes:
    return (_kept(root).read(name) or b"")[:_LONGEST]


def _kept(root: Path) -> PrivateFolder:
    return PrivateFolder(partial(place, root), layout.LOCAL)


def _texts(value: object) -> tuple[str, ...]:
    return (
        tuple(text for text in value if isinstance(text, str))
        if isinstance(value, Sequence) and not isinstance(value, str)
        else ()
    )


def _holds(above: str, folder: str) -> bool:
    return f"{folder.rstrip(os.sep)}{os.sep}".startswith(f"{above.rstrip(os.sep)}{os.sep}")
