"""Heads of Claude Code's memory files, by each door that takes notes of others in."""

from __future__ import annotations

from pathlib import Path

import pytest

from vault_tool import Vault
from vault_tool.files.parse import parse
from vault_tool.importing import claude_heads
from vault_tool.importing.notes import ImportOptions, record_from_note
from vault_tool.model.types import Registry

FEEDBACK = """---
name: use-pnpm
description: this repo uses pnpm
metadata:
  type: feedback
  modified: 2026-03-04T05:06:07Z
---
Use pnpm, never npm. [[build-setup]]
"""
INDEX = "# Memory index\n\n- [use-pnpm](use-pnpm.md) — this repo uses pnpm\n- [build](build-setup.md) - how it is built\n"
IDENTITY = "0b5a9e1c-6d1f-4f6e-9f1e-0c1d2e3f4a5b"


def _head(text: str, path: str = "use-pnpm.md") -> dict[str, object]:
    made = record_from_note(path, text.encode(), ImportOptions(), Registry(), identity=IDENTITY, fallback="2026-01-01T00:00:00Z")
    assert made.data is not None and made.identity
    return dict(parse(path, made.data, Registry()).head)


def test_name_description_kind_and_date_are_those_of_the_memory() -> None:
    head = _head(FEEDBACK)
    assert (head["title"], head["summary"], head["type"]) == ("use-pnpm", "this repo uses pnpm", "preference")
    assert str(head["created"]).startswith("2026-03-04T05:06:07")
    assert head["metadata"] == {"type": "feedback", "modified": "2026-03-04T05:06:07Z"}, "what it said is kept"


@pytest.mark.parametrize(
    ("kind", "type"), [("user", "preference"), ("feedback", "preference"), ("project", "fact"), ("reference", "fact")]
)
def test_each_kind_has_a_type(kind: str, type: str) -> None:
    older = f"---\nname: Ann\ndescription: a baker\ntype: {kind}\n---\nShe bakes.\n"
    flow = f"---\nname: Ann\ndescription: a baker\nmetadata: {{node_type: memory, type: {kind}}}\n---\nShe bakes.\n"
    assert _head(older)["type"] == _head(flow)["type"] == type


@pytest.mark.parametrize(
    "head", ["name: pdf\ndescription: reads PDFs\n", "name: x\nmetadata:\n  type: chapter\n", "metadata:\n  type: user\n"]
)
def test_a_head_of_something_else_is_read_as_before(head: str) -> None:
    assert _head(f"---\n{head}---\nText.\n")["type"] == "general"
    assert "summary" not in _head(f"---\n{head}---\nText.\n")


def test_the_index_is_no_memory_and_a_memory_of_bullets_is() -> None:
    assert claude_heads.is_index("shop/memory/MEMORY.md", {}, INDEX)
    assert not claude_heads.is_index("notes/LIST.md", {}, INDEX)
    assert not claude_heads.is_index("MEMORY.md", {}, "- Prefers window seats (observed 2026-02-01)\n- Lives in Kiel\n")


@pytest.mark.without_git
def test_a_folder_of_them_is_imported_as_what_they_say(vault: Vault, tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    folder.mkdir()
    (folder / "use-pnpm.md").write_text(FEEDBACK)
    (folder / "MEMORY.md").write_text(INDEX)
    done = vault.import_markdown(folder)
    assert (done.imported, done.skipped) == (1, {"index": 1})
    found = vault.index.catalog.by_path("vault/imported/memory/use-pnpm.md")
    assert found is not None
    assert (found.title, found.type) == ("use-pnpm", "preference")
    assert vault.import_markdown(folder).imported == 0
