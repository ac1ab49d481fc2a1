from __future__ import annotations

import json
from pathlib import Path

from tests.git_repos import write
from tests.index.vaults import note
from tests.watch.watched import eventually, identity, path_of, vault
from vault_tool.verbs.context import Context
from vault_tool.watch.chores import EXPORT_QUIET, Chores


def test_a_large_vault_is_exported_after_a_quiet_time(tmp_path: Path) -> None:
    root = vault(tmp_path, 2100)
    said: list[str] = []
    with Context.open(root) as opened:
        opened.fresh()
        write(root, path_of(3), note(3, title="Exported"))
        opened.fresh()
        chores = Chores(said.append)
        chores.when_quiet(opened, EXPORT_QUIET - 9)
        assert _title(root) == "Note 3"
        chores.when_quiet(opened, EXPORT_QUIET)
        eventually(lambda: _title(root) == "Exported")
        eventually(lambda: identity(3) in json.loads((root / "_state.json").read_text())["entries"])
    assert said == []


def _title(root: Path) -> str:
    return str(json.loads((root / "_index.json").read_text())["entries"][identity(3)]["title"])
