"""The names of vaults, as answers have them and as agents' clients are told them. Standard library alone."""

from __future__ import annotations

import json
import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

# The tools that ask other vaults, too.
ASKING = frozenset({"recall", "search", "bring_to_mind", "read"})
PARAMETER = "vaults"
ALL = "all"
# The name of the vault itself that was asked, in an answer of several.
HERE = "repo"

_SETTINGS = "_config.json"
_LONGEST = 2**16
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}", re.ASCII)
_ABOUT = "Also from these other vaults of the user's."


def names_at(root: str) -> tuple[str, ...]:
    """The names in the settings of the vault at `root`, the global one first; none where none is named there."""
    path = os.path.join(root, _SETTINGS)
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > _LONGEST:
            return ()
        with open(path, "rb") as file:
            vaults = json.load(file).get("vaults", {})
    except (OSError, ValueError, AttributeError, RecursionError):
        return ()
    names = [name for name in vaults if _NAME.fullmatch(name)] if isinstance(vaults, dict) else []
    return ("global", *names) if names else ()


def vaults_in_words(names: Iterable[str]) -> str:
    """Vaults by their names, for a person: `this vault and team`."""
    return " and ".join("this vault" if name == HERE else name for name in names)


def with_vaults(tools: Iterable[Mapping[str, Any]], vaults: str) -> list[Mapping[str, Any]]:
    """Tools as they are listed where there are other vaults, named with commas between: those that may ask them say the names."""
    names = vaults.split(",") if vaults else []
    return [_with(tool, names) if names and tool["name"] in ASKING else tool for tool in tools]


def _with(tool: Mapping[str, Any], names: Sequence[str]) -> Mapping[str, Any]:
    vaults = {"type": "array", "items": {"type": "string", "enum": [ALL, *names]}, "description": _ABOUT}
    takes = tool["inputSchema"]
    return {**tool, "inputSchema": {**takes, "properties": {**takes["properties"], PARAMETER: vaults}}}
