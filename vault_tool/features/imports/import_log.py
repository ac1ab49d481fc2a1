"""This machine's log of its imports: a later import of the same folder knows its own pages and its earlier problems."""

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
    """The log of one import: its folder, and its pages with place and hash, for pages hold no marks."""

    def __init__(self, vault: Context, name: str, source: str) -> None:
        self._vault = vault
        self._name = name
        self._source = source
        self._all = self._read()
        stored = _object(self._all.get(name))
        self.before = str(stored.get("source", ""))
        pages = _object(stored.get("pages")).items()
        self.pages = {
            path: (str(place_and_hash[0]), str(place_and_hash[1]))
            for path, place_and_hash in pages
            if isinstance(place_and_hash, list) and len(place_and_hash) == 2
        }
        digests = stored.get("told")
        self._told = {str(digest) for digest in digests} if isinstance(digests, list) else set[str]()
        self._kept = (self.before, dict(self.pages), set(self._told))

    def new_problems(self, problems: Iterable[Problem]) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
        """The problems that no import of this folder told yet, and those that one did; all of them count as told from now on."""
        digests = {problem: _digest(problem) for problem in problems}
        known = tuple(problem for problem, digest in digests.items() if digest in self._told)
        new = tuple(problem for problem, digest in digests.items() if digest not in self._told)
        self._told = set(digests.values())
        return new, known

    def keep(self) -> None:
        """Write the log, if there is anything new."""
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
    text = "\0".join((problem.path, str(problem.line), problem.code, problem.message))
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
