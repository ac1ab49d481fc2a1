from __future__ import annotations

import pytest

from vault_tool.features.imports.copy_paths import CopyPaths
from vault_tool.files.layout import FileKind, file_kind, path_fault


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("a/B c.md", "a/B c.md"),
        ("a/x.mdx", "a/x.md"),
        ("🌱 garden/🍅.md", "🌱 garden/🍅.md"),
        ("#inbox.md", "inbox.md"),
        ("con.md", "con-note.md"),
        ("aux/x.md", "aux-note/x.md"),
        ("a\\b.md", "a-b.md"),
        ("tab\there.md", "tab-here.md"),
        ("x.conflict-20261120T100000Z-me.md", "x-conflict-20261120T100000Z-me.md"),
        ("cache.tmp/x.md", "cache.tmp-/x.md"),
    ],
)
def test_a_copy_keeps_its_tree_and_gets_a_name_that_a_vault_can_hold(path: str, place: str) -> None:
    found = CopyPaths("My Notes").of(path)
    assert found == f"vault/imported/my-notes/{place}"
    assert path_fault(found) == "" and file_kind(found) is FileKind.NOTE


def test_folders_that_differ_in_case_only_are_kept_apart() -> None:
    places = CopyPaths("n")
    assert [places.of(path) for path in ("Docs/a.md", "docs/a.md", "Docs/b.md")] == [
        "vault/imported/n/Docs/a.md",
        "vault/imported/n/docs-2/a.md",
        "vault/imported/n/Docs/b.md",
    ]
