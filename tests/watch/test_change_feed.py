from __future__ import annotations

from pathlib import Path

from tests.index.vaults import make, note, opened, path_of
from vault_tool.watch.change_feed import ChangeFeed, NoteChange


def test_what_is_told_of_every_kind_of_change(tmp_path: Path) -> None:
    index = opened(make(tmp_path))
    index.refresh()
    news = ChangeFeed(index.catalog)
    assert news.of(index.catalog) == []
    (tmp_path / path_of(1)).rename(tmp_path / "vault/moved.md")
    (tmp_path / path_of(2)).unlink()
    (tmp_path / path_of(3)).write_text(note(3, "Other words."))
    (tmp_path / path_of(4)).write_text(note(4, title='"open'))
    (tmp_path / "vault/page.md").write_text("# A title\n\nText.\n")
    index.refresh()
    told = news.of(index.catalog)
    assert [(one.change, one.path, one.title, one.was) for one in told] == sorted(
        [
            ("added", "vault/page.md", "A title", ""),
            ("moved", "vault/moved.md", "Note 1", path_of(1)),
            ("removed", path_of(2), "", ""),
            ("modified", path_of(3), "Note 3", ""),
            ("problem", path_of(4), "", ""),
        ],
        key=lambda row: row[1],
    )
    assert news.of(index.catalog) == []
    index.close()


def test_copies_that_go_are_each_told(tmp_path: Path) -> None:
    index = opened(make(tmp_path))
    for name in "abc":
        (tmp_path / f"vault/{name}.md").write_text("# Same\n")
    index.refresh()
    news = ChangeFeed(index.catalog)
    for name in "abc":
        (tmp_path / f"vault/{name}.md").unlink()
    (tmp_path / "vault/d.md").write_text("# Same\n")
    index.refresh()
    told = news.of(index.catalog, ["vault/a.md", "vault/b.md", "vault/c.md", "vault/d.md"])
    moved = [one for one in told if one.change == "moved"]
    assert [(one.path, one.was in {"vault/a.md", "vault/b.md", "vault/c.md"}) for one in moved] == [("vault/d.md", True)]
    assert len([one for one in told if one.change == "removed"]) == 2
    assert NoteChange("moved", "vault/d.md", "Same", moved[0].was) in told
    index.close()
