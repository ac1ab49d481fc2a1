"""A list of links stands behind the notes that it lists, whichever links it is made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git_repos import write
from vault_tool import Vault
from vault_tool.util.clock import FixedClock
from vault_tool.verbs.recall.recall import Bundle

TITLES = ("Copper kettle descaling", "Copper roof gutters", "Kettle corn", "Descaling the shower", "Brass kettle", "Copper wire")


@pytest.mark.parametrize("link", ["- [[{0}]]", "- [{0}]({1}.md)", "* [[{0}|{0}]]"])
def test_a_list_is_behind_what_it_lists(tmp_path: Path, clock: FixedClock, link: str) -> None:
    notes = tmp_path / "Notes"
    for number, title in enumerate(TITLES):
        write(
            notes, f"{title}.md", f"Vinegar and patience. Entry {number}.\n\n" + "It takes an hour or so, and much water. " * 12
        )
    lines = [link.format(title, title.replace(" ", "%20")) for title in TITLES]
    write(notes, "Copper.md", "Copper kettle descaling and more:\n\n" + "\n".join(lines))
    made = Vault.init(notes, notes="here", no_git=True, clock=clock)
    with Vault.open(made.root, clock=clock, origin="owner") as vault:
        for asked in ("how is a copper kettle descaled", "descaling kettle copper vinegar"):
            answer = vault.recall(asked)
            assert isinstance(answer, Bundle)
            assert answer.results[0].path == "../Copper kettle descaling.md", (asked, [one.path for one in answer.results])
        assert vault.search("copper").results[0].path == "../Copper.md"
