"""A store is added to a copy of the package in two files by hand: what forgets, exports, erases and checks reaches it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.added_code import copied_package, run_copy
from tests.founding import found_at

pytestmark = pytest.mark.without_git

STORE = '''\
"""Postcards: a file a card, with its user in the first line."""

import json

from vault_tool.model.problems import warning
from vault_tool.vault.store_interface import Cleaned, Store


class Postcards(Store):
    """The cards below `_local/postcards`."""

    sections = ("postcards",)

    def erase(self, traces):
        for card in self.cards():
            text = card.read_text()
            if text.startswith(f"{traces.user}\\n") if traces.user else traces.mentioned_in(text):
                card.unlink()
                yield Cleaned(f"_local/postcards/{card.name}")

    def of_person(self, user):
        for card in self.cards():
            if card.read_text().startswith(f"{user}\\n"):
                yield "postcards", json.dumps({"card": card.name})

    def people(self):
        return {card.read_text().split("\\n")[0]: [card.name] for card in self.cards()}

    def health(self, *, thorough):
        return [warning(card.name, 0, "torn-card", "it is torn", "delete it") for card in self.cards() if not card.read_text()]

    def cards(self):
        return sorted((self.vault.root / "_local/postcards").glob("*.txt"))
'''

BY_HAND = {
    "vault/postcards.py": [("", STORE)],
    "features/stores.py": [('    "state": (', '    "postcards": ("vault_tool.vault.postcards", "Postcards"),\n')],
}

ASKED = """
import json, sys
from pathlib import Path
from vault_tool import Vault, __file__ as package
root = Path(sys.argv[1])
vault = Vault.open(root, person=True)
cards = root / "_local/postcards"
cards.mkdir(parents=True)
made = vault.remember("The keeper of the lighthouse hums.", ["Harbour"]).id
texts = {"told": "ann\\nThe keeper of the lighthouse hums.", "cited": f"ben\\n{made}", "hers": "ann\\nrain", "torn": ""}
for name, text in texts.items():
    (cards / f"{name}.txt").write_text(text)
left = lambda: sorted(card.stem for card in cards.iterdir())
torn = [problem.path for problem in vault.doctor().problems if problem.code == "torn-card"]
(cards / "torn.txt").unlink()
vault.forget(made)
forgotten = left()
vault.export_user("ann", root.parent / "ann")
records = json.loads((root.parent / "ann/records.json").read_text())["postcards"]
people = [person.user for person in vault.people().results]
vault.forget_user("ann")
print(json.dumps([package, torn, forgotten, records, people, left()]))
"""


def test_a_store_in_two_files_is_reached_by_all_that_asks_the_stores(tmp_path: Path) -> None:
    root = copied_package(tmp_path / "added", BY_HAND)
    package, torn, forgotten, records, people, left = json.loads(
        run_copy(root, "-c", ASKED, str(found_at(root / "lab", git=False)))
    )
    assert package.startswith(str(root))
    assert torn == ["torn.txt"]
    assert forgotten == ["hers"]
    assert records == [{"card": "hers.txt"}] and "ann" in people
    assert left == []
