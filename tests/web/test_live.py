"""An open page hears of changes: in the vault, and in the folder that it serves."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from tests.web.conftest import serving_pages
from vault_tool import Vault


def test_a_page_hears_of_a_note_that_is_written_in_the_folder_that_a_vault_serves(tmp_path: Path) -> None:
    folder = tmp_path / "garden"
    folder.mkdir()
    (folder / "Plum.md").write_text("# Plum\n\nIt flowers in April.\n", encoding="utf-8")
    root = Vault.init(folder, name="Garden", notes="here").root
    with (
        serving_pages(Path(root)) as served,
        closing(served.come_in()) as client,
        client.stream("GET", "/live") as stream,
    ):
        numbers = (line for line in stream.iter_lines() if line.startswith(("data:", ": here")))
        # The number now, and once more by the first look of what watches from here on.
        assert (number := next(numbers)) == next(numbers)
        (folder / "Pear.md").write_text("# Pear\n\nIt flowers in May.\n", encoding="utf-8")
        # A line without news comes after some fifteen seconds: by then the note was looked for several times.
        heard = next(numbers)
    assert heard.startswith("data:") and heard != number
