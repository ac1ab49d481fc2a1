"""A client's settings as text: a server and hooks put in or taken out, as JSON with comments or TOML."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault_tool.errors import ConfigError, UsageError
from vault_tool.install import jsonc
from vault_tool.util.deferred import deferred, tomlkit

if TYPE_CHECKING:
    import tomllib

else:
    tomllib = deferred("tomllib")  # 5 ms

_OURS = re.compile(r'(?:\bvt(?:\.exe)?|"vault_tool)".*"mcp"')
_HOOK = re.compile(r"\bhook (?:session-start|prompt|pre-compact|session-end) --client\b")
_BOM = "\ufeff"
TAG = "by `vt install`, which also takes it away: --uninstall"


class SettingsFile:
    """The text of one file of settings, and what it becomes; raises ConfigError, naming the file, for what cannot be read."""

    def __init__(self, path: Path, data: bytes | None) -> None:
        self.path = path
        self.before = data
        self._back: tuple[bytes | None, ...] = ()
        try:
            text = (data or b"").decode("utf-8")
        except UnicodeDecodeError as fault:
            raise self._unusable(f"is not UTF-8 text (byte {fault.start})") from fault
        self._mark = _BOM if text.startswith(_BOM) else ""
        self.text = text.removeprefix(_BOM)
        self._toml = path.suffix == ".toml"
        self._checked(lambda text: text)

    @property
    def after(self) -> bytes | None:
        """The bytes as they are to be; None where there is to be no file."""
        if self._back:
            return self._back[0]
        data = (self._mark + self.text).encode()
        return data if data or self.before is not None else None

    def back_to(self, data: bytes | None) -> None:
        """Let the file be as it was, whatever that is; None for no file."""
        self._back = (data,)

    def unread(self) -> str:
        """Why a program that knows plain JSON alone reads none of the file, in words; empty where it does."""
        if self._toml or not self.text.strip():
            return ""
        try:
            json.loads(self.text)
        except json.JSONDecodeError as fault:
            return f"{self.path}:{fault.lineno} has a comment or a trailing comma"
        return ""

    @property
    def changed(self) -> bool:
        """Whether the file is to be written."""
        return self.after != self.before

    def value(self, path: Sequence[str]) -> Any:
        """The value at a path of names, or None."""
        if self._toml:
            value: Any = tomllib.loads(self.text)
            for name in path:
                value = value.get(name) if isinstance(value, dict) else None
            return value
        node = jsonc.parse(self.text).at(path) if self.text.strip() else None
        return node.value if node else None

    def put_server(self, path: Sequence[str], entry: Mapping[str, Any]) -> None:
        """Put a server in; UsageError if a server of that name belongs to another program."""
        present = self.value(path)
        if present == entry:
            return
        if present is not None and not is_ours(present):
            name = path[-1]
            raise UsageError(f"{self.path} has a server `{name}` that is another's", "`--name NAME` gives this one another name")
        if self._toml:
            if not isinstance(self.value(path[:1]) or {}, dict):
                raise self._unusable(f"has a `{path[0]}` that is no table")
            self._checked(lambda text: _with_table(text, path, entry))
        else:
            self._checked(lambda text: jsonc.put(text, path, dict(entry)))

    def drop_server(self, path: Sequence[str]) -> None:
        """Take our server out, if it is there."""
        if not is_ours(self.value(path)):
            return
        if self._toml:
            document = tomlkit.parse(self.text)
            table: Any = document[path[0]]
            table.remove(path[1])
            if not table:
                document.remove(path[0])
            self.text = tomlkit.dumps(document)
        else:
            self._checked(lambda text: jsonc.drop(text, path))

    def put_hooks(self, items: Mapping[str, Mapping[str, Any]], version: int | None) -> None:
        """Put our hooks in, in place of ones of ours that differ; `version` is what a new file begins with."""
        if version is not None and self.value(["version"]) is None:
            self._checked(lambda text: jsonc.put(text, ["version"], version))
        for event, own_hook in items.items():
            hooks = [hook for hook in self.value(["hooks", event]) or [] if _is_hook(hook)]
            if hooks == [own_hook]:
                continue
            self._drop_hooks(event)
            self._checked(lambda text, event=event, own_hook=own_hook: jsonc.append(text, ["hooks", event], dict(own_hook)))

    def drop_hooks(self) -> None:
        """Take all hooks of ours out, and the lists that are empty without them."""
        hooks = self.value(["hooks"])
        for event in hooks if isinstance(hooks, dict) else ():
            before = self.text
            self._drop_hooks(event)
            if self.text != before and self.value(["hooks", event]) == []:
                self._checked(lambda text, event=event: jsonc.drop(text, ["hooks", event]))

    def _drop_hooks(self, event: str) -> None:
        places = [n for n, hook in jsonc.items(self._node(["hooks", event])) if _is_hook(hook)]
        for place in places:
            self._checked(lambda text, place=place: jsonc.drop(text, ["hooks", event, place]))

    def _node(self, path: Sequence[str]) -> jsonc.Node | None:
        return jsonc.parse(self.text).at(path) if self.text.strip() else None

    def _checked(self, change: Any) -> None:
        """Change the text; what it cannot be changed to or from is a ConfigError."""
        try:
            if self._toml:
                tomllib.loads(self.text)
            elif self.text.strip():
                jsonc.parse(self.text)
            self.text = change(self.text)
        except ValueError as fault:
            raise self._unusable(f"cannot be read: {fault}") from fault

    def _unusable(self, why: str) -> ConfigError:
        return ConfigError(f"{self.path} {why}", "nothing was changed; `--print` shows what to put there by hand")


def _with_table(text: str, path: Sequence[str], entry: Mapping[str, Any]) -> str:
    document = tomlkit.parse(text)
    if path[0] not in document:
        document[path[0]] = tomlkit.table(is_super_table=True)
    table = tomlkit.table()
    table.comment(TAG)
    table.update(dict(entry))
    group: Any = document[path[0]]
    group[path[1]] = table
    return tomlkit.dumps(document)


def is_ours(entry: Any) -> bool:
    """Whether a server is this tool."""
    return isinstance(entry, dict) and bool(_OURS.search(json.dumps(entry)))


def _is_hook(hook: Any) -> bool:
    return bool(_HOOK.search(json.dumps(hook)))
