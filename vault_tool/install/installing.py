"""`vt install`: a client is told of the vault, after it was shown what changes; and told off again, to the byte."""

from __future__ import annotations

import base64
import difflib
import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from vault_tool.errors import ConfigError, StorageError, UsageError
from vault_tool.install.clients import CLIENTS, Client, UserMachine, hook_items
from vault_tool.install.settings import SettingsFile
from vault_tool.util import atomic
from vault_tool.util.structs import Struct

_PRIVATE = 0o600
_SECONDS = 60
_LARGEST = 2**24


class Edit(Struct, kw_only=True):
    """One file that is changed: its path, and the difference as text."""

    path: str
    diff: str


class Installation(Struct, kw_only=True):
    """The work that `install` did, or would do (`dry_run`): commands of the client's own, and files; both empty if all was so."""

    client: str
    server: str
    commands: tuple[str, ...]
    edits: tuple[Edit, ...]
    done: bool
    backup: str = ""
    notes: tuple[str, ...] = ()


class _InstallPlan(Struct):
    commands: tuple[tuple[str, ...], ...]
    files: tuple[SettingsFile, ...]


def install(
    client: str,
    program: Sequence[str],
    place: UserMachine,
    *,
    name: str = "vault",
    hooks: bool = True,
    uninstall: bool = False,
    dry_run: bool = False,
    agreed: Callable[[Installation], bool] = lambda shown: True,
) -> Installation:
    """Tell a client of the vault that `program` (the words that start `vt`, with `--vault DIR`) serves; or take that back.

    `agreed` is shown what is about to change and may refuse it. Nothing is written where a file cannot be read or is not
    understood: then it raises ConfigError or StorageError. What the files held before is kept, and put back by `uninstall`
    byte for byte where nobody changed them since; otherwise only what is ours is taken out.
    """
    known = CLIENTS.get(client)
    if known is None:
        raise UsageError(f"there is no client `{client}`", f"choose from {', '.join(CLIENTS)}")
    saved = _Backup(place, client)
    plan = _without(known, place, name, saved) if uninstall else _with(client, known, place, program, name, hooks)
    edits = tuple(_edit(file) for file in plan.files if file.changed)
    notes = (known.after,) if known.after and not uninstall else ()
    commands = tuple(" ".join(words) for words in plan.commands)
    shown = Installation(client=client, server=name, commands=commands, edits=edits, done=False, notes=notes)
    if dry_run or not (commands or edits) or not agreed(shown):
        return shown
    watched = {known.file(place): _read(known.file(place))} if plan.commands else {}
    for words in plan.commands:
        _run(words, place)
    for file in plan.files:
        if file.changed:
            _write(file)
    if uninstall:
        saved.discard()
    else:
        before = watched | {file.path: file.before for file in plan.files if file.changed}
        saved.keep(before)
    backup = "" if uninstall else str(saved.path)
    return Installation(client=client, server=name, commands=commands, edits=edits, done=True, backup=backup, notes=notes)


def snippet(client: str, program: Sequence[str], place: UserMachine, *, name: str = "vault") -> str:
    """The text to put into a file by hand, and the file."""
    known = CLIENTS[client]
    path = known.file(place)
    fresh = SettingsFile(path, None)
    fresh.put_server([*known.under, name], known.entry([*program, "mcp"]))
    snippet_text = f"# {path}\n{fresh.text.strip()}\n"
    if known.hooks:
        hooks = SettingsFile(known.hooks(place), None)
        hooks.put_hooks(hook_items(client, program, place.platform), 1 if client == "cursor" else None)
        snippet_text += f"\n# {hooks.path}\n{hooks.text.strip()}\n"
    return snippet_text


def _with(client: str, known: Client, place: UserMachine, program: Sequence[str], name: str, hooks: bool) -> _InstallPlan:
    """The steps so that the client knows the server, and calls our hooks."""
    files = _Files()
    settings = files.of(known.file(place))
    hooked = [files.of(known.hooks(place))] if hooks and known.hooks else []
    for file in (settings, *hooked):
        if not known.comments and (why := file.unread()):
            hint = f"{known.title} reads nothing of such a file: take it out and run this again; nothing was changed"
            raise ConfigError(why, hint)
    path, command = [*known.under, name], [*program, "mcp"]
    entry = known.entry(command)
    present = settings.value(path)
    same = present is not None and {key: present.get(key) for key in ("command", "args")} == {
        key: entry.get(key) for key in ("command", "args")
    }
    commands: list[tuple[str, ...]] = []
    if not same:
        settings.put_server(path, entry)  # raises where the entry is not ours
        if known.add and shutil.which(known.add[0], path=place.environ.get("PATH")):
            commands = [_filled(known.remove, name, command)] if present is not None else []
            commands.append(_filled(known.add, name, command))
            files.leave(known.file(place))
    if hooks and known.hooks:
        items = hook_items(client, program, place.platform)
        files.of(known.hooks(place)).put_hooks(items, 1 if client == "cursor" else None)
    return _InstallPlan(tuple(commands), files.all())


def _without(known: Client, place: UserMachine, name: str, backup: _Backup) -> _InstallPlan:
    """The steps so that nothing of ours is left."""
    files = _Files()
    path = [*known.under, name]
    server = known.file(place)
    commands: list[tuple[str, ...]] = []
    for file in dict.fromkeys([server, *([known.hooks(place)] if known.hooks else [])]):
        settings = files.of(file)
        if backup.restore(settings):
            continue
        before = settings.text
        if file == server:
            settings.drop_server(path)
            if settings.text != before and known.remove and shutil.which(known.remove[0], path=place.environ.get("PATH")):
                commands.append(_filled(known.remove, name, []))
                files.leave(file)
        if known.hooks and file == known.hooks(place):
            settings.drop_hooks()
    return _InstallPlan(tuple(commands), files.all())


class _Files:
    """The files of a plan, each read once."""

    def __init__(self) -> None:
        self._known: dict[Path, SettingsFile] = {}

    def of(self, path: Path) -> SettingsFile:
        """The settings at a path, as they are to be so far."""
        if path not in self._known:
            self._known[path] = SettingsFile(path, _read(path))
        return self._known[path]

    def leave(self, path: Path) -> None:
        """A file that the client's own command changes."""
        del self._known[path]

    def all(self) -> tuple[SettingsFile, ...]:
        """All of them."""
        return tuple(self._known.values())


class _Backup:
    """The contents of a client's files before they were changed, and the hash of the text that was written."""

    def __init__(self, place: UserMachine, client: str) -> None:
        self.path = place.state / "installed" / f"{client}.json"

    def keep(self, before: dict[Path, bytes | None]) -> None:
        """Keep what these held; what an earlier call kept stays, where the file was as that left it."""
        known = self._read()
        for path, data in before.items():
            held = known.get(str(path))
            first = held["before"] if held and held["after"] == _hash(data) else _text(data)
            known[str(path)] = {"before": first, "after": _hash(_read(path))}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(self.path, json.dumps(known, indent=1).encode(), mode=_PRIVATE)

    def restore(self, settings: SettingsFile) -> bool:
        """Give a file's settings their former contents, unless the file was changed since."""
        held = self._read().get(str(settings.path))
        if not held or held["after"] != _hash(settings.before):
            return False
        settings.back_to(None if held["before"] is None else base64.b64decode(held["before"]))
        return True

    def discard(self) -> None:
        """There is nothing of ours left to take back."""
        with suppress(OSError):
            self.path.unlink()

    def _read(self) -> dict[str, Any]:
        try:
            backup = json.loads(self.path.read_bytes())
        except (OSError, ValueError):
            return {}
        return backup if isinstance(backup, dict) else {}


def _text(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _hash(data: bytes | None) -> str:
    return "" if data is None else sha256(data).hexdigest()


def _edit(file: SettingsFile) -> Edit:
    before = (file.before or b"").decode("utf-8", "replace").splitlines(keepends=True)
    after = (file.after or b"").decode("utf-8", "replace").splitlines(keepends=True)
    lines = difflib.unified_diff(before, after, str(file.path), str(file.path), n=2)
    return Edit(path=str(file.path), diff="".join(line if line.endswith("\n") else f"{line}\n" for line in lines))


def _read(path: Path) -> bytes | None:
    with atomic.storage(str(path), doing="read"):
        try:
            with open(path, "rb") as file:
                data = file.read(_LARGEST + 1)
        except FileNotFoundError:
            return None
    if len(data) > _LARGEST:
        raise StorageError(f"{path} has more than {_LARGEST // 2**20} MiB", "nothing was changed")
    return data


def _write(file: SettingsFile) -> None:
    """Write one file where it really is: a link to it, as those who keep their settings in git have, stays a link."""
    path = file.path.resolve()
    if file.after is None:
        with atomic.storage(str(path)), suppress(FileNotFoundError):
            path.unlink()
        return
    with atomic.storage(str(path)):
        path.parent.mkdir(parents=True, exist_ok=True)
    atomic.write(path, file.after)


def _filled(words: Sequence[str], name: str, command: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        argument for word in words for argument in (command if word == "COMMAND" else (name,) if word == "NAME" else (word,))
    )


def _run(words: Sequence[str], place: UserMachine) -> None:
    """Run a client's own command; StorageError with its last line where it fails."""
    program = shutil.which(words[0], path=place.environ.get("PATH")) or words[0]
    try:
        done = subprocess.run(
            [program, *words[1:]], env=dict(place.environ), stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS,
            check=False, text=True, errors="replace",
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise StorageError(f"`{' '.join(words)}` does not run: {fault}", "`--print` shows what to put where by hand") from fault
    if done.returncode:
        reason = (done.stderr.strip() or done.stdout.strip() or "it says nothing").splitlines()[-1]
        raise StorageError(f"`{' '.join(words)}` failed: {reason}", "`--print` shows what to put where by hand")
