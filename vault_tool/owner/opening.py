"""The opening of a conversation, answered while an owner comes up: it depends on version and preset alone.

The answers are the protocol's library's own, kept in `vault_tool/mcp/opening.json` and `tools.json`. Whatever is asked in
another way waits for the owner. Standard library alone.
"""

from __future__ import annotations

import json
import os

from vault_tool.owner.front import is_text
from vault_tool.util.vault_names import with_vaults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_KEPT = os.path.join(os.path.dirname(os.path.dirname(__file__)), "mcp")
_REQUEST = {"jsonrpc", "id", "method", "params"}
_ABILITIES = ("sampling", "elicitation", "experimental")


class Opening:
    """The beginning of one conversation, as far as it can be answered without anybody who serves it."""

    def __init__(self, preset: str, vaults: str = "") -> None:
        self._preset = preset
        self._vaults = vaults
        self._kept: Mapping[str, Any] = {}
        self._is_ready = False
        self.is_open = False
        """Whether what opens it was answered here, so that whoever serves later has to hear it too."""

    def answer(self, message: Mapping[str, Any]) -> bytes | None:
        """The answer to a message; nothing where it has none, or waits for the owner's."""
        method, asked = message.get("method"), message.get("id")
        if self.is_settled(message):
            self._is_ready = True
        if isinstance(asked, bool) or not isinstance(asked, (int, str)) or not is_text(str(asked)):
            return None
        if message.get("jsonrpc") != "2.0" or set(message) - _REQUEST:
            return None
        result = None
        if method == "initialize" and not self.is_open:
            result = self._initialized(message.get("params"))
        elif method == "tools/list" and self._is_ready and message.get("params") in (None, {}):
            result = self._tools()
        if result is None:
            return None
        return json.dumps({"jsonrpc": "2.0", "id": asked, "result": result}, separators=(",", ":")).encode() + b"\n"

    def is_settled(self, message: Mapping[str, Any]) -> bool:
        """Whether a message that has no answer belongs to what was opened here."""
        is_plain = "id" not in message and message.get("jsonrpc") == "2.0"
        return self.is_open and is_plain and message.get("method") == "notifications/initialized"

    def _initialized(self, params: object) -> Mapping[str, Any] | None:
        if not isinstance(params, dict) or set(params) - {"protocolVersion", "capabilities", "clientInfo"}:
            return None
        client, abilities = params.get("clientInfo"), params.get("capabilities")
        if not isinstance(client, dict) or not isinstance(abilities, dict) or set(client) - {"name", "version", "title"}:
            return None
        if not {"name", "version"} <= set(client) or not all(isinstance(value, str) for value in client.values()):
            return None
        if not _is_plain(abilities) or not is_text(json.dumps(params, ensure_ascii=False)):
            return None
        try:
            with open(os.path.join(_KEPT, "opening.json"), "rb") as file:
                self._kept = json.load(file)
        except (OSError, ValueError):
            return None
        if params.get("protocolVersion") not in self._kept["versions"]:
            return None
        self.is_open = True
        return {**self._kept["result"], "protocolVersion": params["protocolVersion"]}

    def _tools(self) -> Mapping[str, Any] | None:
        try:
            with open(os.path.join(_KEPT, "tools.json"), "rb") as file:
                tools = json.load(file)
        except (OSError, ValueError):
            return None
        lean = self._kept["lean"]
        marked = [{**tool, "_meta": self._kept["meta"]} if tool["name"] in lean else tool for tool in tools[self._preset]]
        return {"tools": with_vaults(marked, self._vaults)}


def _is_plain(abilities: Mapping[str, Any]) -> bool:
    """Whether the protocol's library takes these abilities of a client as they are: it looks closer at what else there may be."""
    roots, others = abilities.get("roots", {}), [abilities.get(name, {}) for name in _ABILITIES]
    if set(abilities) - {"roots", *_ABILITIES} or not all(isinstance(ability, dict) for ability in (roots, *others)):
        return False
    details = [what for ability in others for what in ability.values()]
    # It refuses what is nested deeply.
    shallow = all(
        isinstance(what, dict) and not any(isinstance(detail, (dict, list)) for detail in what.values()) for what in details
    )
    return shallow and all(name == "listChanged" and isinstance(on, bool) for name, on in roots.items())
