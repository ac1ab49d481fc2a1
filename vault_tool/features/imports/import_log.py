"""What this machine keeps of its imports: the next one of a folder knows its own pages, and what it has told already."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from vault_tool.errors import NotFound, Refused
from vault_tool.files import layout, writer
from vault_tool.files.local_trust import place
from vault_tool.model.problems import Problem
from vault_tool.util import atomic
from vault_tool.util.json_text import read_own
from vault_tool.vault.context import Context

_FILE = f"{layout.LOCAL}/imports.json"


class ImportLog:
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
        told = kept.get("told")
        self._told = {str(one) for one in told} if isinstance(told, list) else set[str]()
        self._kept = (self.before, dict(self.pages), set(self._told))

    def new_problems(self, problems: Iterable[Problem]) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
        """The problems that no import of this folder told yet, and those that one did; all of them count as told from now on."""
        digests = {problem: _digest(problem) for problem in problems}
        known = tuple(problem for problem, digest in digests.items() if digest in self._told)
        new = tuple(problem for problem, digest in digests.items() if digest not in self._told)
        self._told = set(digests.values())
        return new, known

    def keep(self) -> None:
        """Write it down, if there is anything new."""
        if (self._source, self.pages, self._told) == self._kept:
            return
        self._all[self._name] = {"source": self._source, "pages": self.pages, "told": sorted(self._told)}
        data = json.dumps(self._all, ensure_ascii=False).encode("utf-8")
        atomic.write(place(self._vault.root) / _FILE, data, durable=False, mode=0o600)
        self._kept = (self._source, dict(self.pages), set(self._told))

    def _read(self) -> dict[str, Any]:
        try:
            return _object(read_own(writer.read(place(self._vault.root), _FILE)))
        except (NotFound, Refused, ValueError):
            return {}


def _digest(problem: Problem) -> str:
    said = "\0".join((problem.path, str(problem.line), problem.code, problem.message))
    return hashlib.blake2b(said.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _object(found: object) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}
