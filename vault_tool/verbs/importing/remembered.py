"""What this machine keeps of its imports, so that the next one of the same folder knows its own pages."""

from __future__ import annotations

import json
from typing import Any

from vault_tool.errors import NotFound, Refused
from vault_tool.files import layout, writer
from vault_tool.util import atomic
from vault_tool.util.json_text import read_own
from vault_tool.verbs.context import Context

_FILE = f"{layout.LOCAL}/imports.json"


class Remembered:
    """What this machine remembers of an import: its folder, and its pages with place and hash, for pages hold no marks."""

    def __init__(self, vault: Context, name: str, source: str) -> None:
        self._vault = vault
        self._name = name
        self._source = source
        self._all = self._read()
        kept = _object(self._all.get(name))
        self.before = str(kept.get("source", ""))
        pages = _object(kept.get("pages")).items()
        self.pages = {path: (str(one[0]), str(one[1])) for path, one in pages if isinstance(one, list) and len(one) == 2}
        self._kept = (self.before, dict(self.pages))

    def keep(self) -> None:
        """Write it down, if there is anything new."""
        if (self._source, self.pages) == self._kept:
            return
        self._all[self._name] = {"source": self._source, "pages": self.pages}
        data = json.dumps(self._all, ensure_ascii=False).encode("utf-8")
        atomic.write(self._vault.root / _FILE, data, durable=False, mode=0o600)
        self._kept = (self._source, dict(self.pages))

    def _read(self) -> dict[str, Any]:
        try:
            return _object(read_own(writer.read(self._vault.root, _FILE)))
        except (NotFound, Refused, ValueError):
            return {}


def _object(found: object) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}
