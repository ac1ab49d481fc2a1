"""A list of links stands behind the notes that it lists, whichever links it is made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git_repos import write
from vault_tool import Vault
from vault_tool.features.recall.recall import Bundle
from vault_tool.util.clock import FixedClock

TITLES = ("Copper kettle descaling", "Copper roof gutters", "Kettle corn", "Descaling the shower", "Brass kettle", "Copper wire")


@pytest.mark.parametrize("link", ["- [[{0}]]", "- [{0}]({1}.md)", "* [[{0}|{0}]]"])
def test_a_list_is_behind_what_it_lists(tmp_path: Path, clock: FixedClock, link: str) -> None:
    notes = tmp_path / "Notes"
    for number, title in enumerate(TITLES):
        text = f"Vinegar and patience. Entry {number}.\n\n" + "It takes an hour or so, and much water. " * 40
        write(notes, f"{title}.md", f"# {title}\n\n{text}")
    for number in range(30):
        write(notes, f"other{number}.md", f"# Other {number}\n\nThe garden needs rain {number}.\n")
    lines = [link.format(title, title.replace(" ", "%20")) for title in TITLES]
    write(notes, "Index.md", "# Everything of metal\n\n" + "\n".join(lines))
    made = Vault.init(notes, notes="here", no_git=True, clock=clock)
    with Vault.open(made.root, clock=clock, origin="owner") as vault:
        for asked in ("metal kettle descaling", "descaling of metal things like a kettle"):
            answer = vault.recall(asked)
            assert isinstance(answer, Bundle)
            found = [one.path for one in answer.results]
            assert found[0] == "../Copper kettle descaling.md" and "../Index.md" in found, (asked, found)
            assert vault.search(asked).results[0].path == found[0]
        # Asked for by its name, or for what no note of it has, the list comes first.
        for asked in ("everything of metal", "which notes are of metal"):
            assert vault.search(asked).results[0].path == "../Index.md", asked
