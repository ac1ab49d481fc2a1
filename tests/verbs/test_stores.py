"""A store that is added is reached by what forgets, exports, erases and looks for problems, which name no store."""

from __future__ import annotations

import ast
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

import vault_tool
from vault_tool import Vault
from vault_tool.features import stores
from vault_tool.model.problems import Problem, warning
from vault_tool.model.snapshot import Entry
from vault_tool.vault.store_interface import Cleaned, Phase, Store, Traces

pytestmark = pytest.mark.without_git

PLACE = "_local/postcards"
FOLLOWED: list[tuple[str | None, ...]] = []


class Postcards(Store):
    """A made-up store: a file a card, with the user in its first line."""

    sections = ("postcards",)

    def erase(self, traces: Traces) -> Iterator[Cleaned]:
        for card in self._cards():
            text = card.read_text()
            if text.startswith(f"{traces.user}\n") if traces.user else traces.mentioned_in(text):
                card.unlink()
                yield Cleaned(f"{PLACE}/{card.name}")

    def holds(self, identity: str) -> bool:
        return any(identity in card.read_text() for card in self._cards())

    def of_person(self, user: str) -> Iterator[tuple[str, str]]:
        for card in self._cards():
            if card.read_text().startswith(f"{user}\n"):
                yield "postcards", json.dumps({"card": card.name})
                yield f"cards/{card.name}", card.read_text()

    def people(self) -> Mapping[str, Collection[str]]:
        return {card.read_text().split("\n")[0]: [card.name] for card in self._cards()}

    def health(self, *, thorough: bool) -> Iterable[Problem]:
        torn = [card for card in self._cards() if "\n" not in card.read_text()]
        return [warning(f"{PLACE}/{card.name}", 0, "torn-card", "this card is torn", "delete it") for card in torn]

    def refresh(self, changes: Sequence[tuple[str, Entry | None, Entry | None]]) -> None:
        FOLLOWED.extend((identity, *(None if one is None else one.title for one in both)) for identity, *both in changes)

    def _cards(self) -> list[Path]:
        return sorted((self.vault.root / PLACE).glob("*.txt"))


@pytest.fixture(autouse=True)
def added() -> Iterator[None]:
    """The store, registered as long as a test lasts."""
    take_out = stores.register("postcards", Postcards)
    yield
    take_out()


def post(root: Path, name: str, text: str) -> Path:
    card = root / PLACE / f"{name}.txt"
    card.parent.mkdir(parents=True, exist_ok=True)
    card.write_text(text)
    return card


def test_forget_reaches_it(vault: Vault, root: Path) -> None:
    made = vault.remember("The lighthouse keeper hums in the evening.", ["Harbour"])
    told = post(root, "one", "ann\nyou know: The lighthouse keeper hums in the evening. Yes.")
    cited = post(root, "two", f"ann\nsee {made.id}")
    other = post(root, "three", "ann\nthe weather is fine")
    shown = vault.as_person().forget(made.id, dry_run=True)
    assert told.exists() and shown.local == 0
    assert vault.as_person().forget(made.id).local == 2
    assert (told.exists(), cited.exists(), other.exists()) == (False, False, True)


def test_what_stands_there_alone_can_be_forgotten(vault: Vault, root: Path) -> None:
    identity = vault.remember("The lighthouse keeper hums.", ["Harbour"]).id
    vault.as_person().forget(identity)
    (root / f"vault/forgotten/{identity}").unlink(missing_ok=True)
    card = post(root, "one", f"ann\nsee {identity}")
    assert vault.as_person().forget(identity).local == 1 and not card.exists()


def test_an_export_of_a_person_reaches_it(vault: Vault, root: Path, tmp_path: Path) -> None:
    post(root, "one", "ann\nhers")
    post(root, "two", "ben\nhis")
    vault.as_person().export_user("ann", tmp_path / "out")
    records = json.loads((tmp_path / "out/records.json").read_text())
    assert records["postcards"] == [{"card": "one.txt"}]
    assert [path.name for path in (tmp_path / "out/cards").iterdir()] == ["one.txt"]
    vault.as_person().export_user("carl", tmp_path / "nothing")
    assert json.loads((tmp_path / "nothing/records.json").read_text())["postcards"] == []


def test_an_erasing_of_a_person_reaches_it(vault: Vault, root: Path) -> None:
    hers, his = post(root, "one", "ann\nhers"), post(root, "two", "ben\nhis")
    assert [one.user for one in vault.people().results if one.user == "ann"] == ["ann"]
    assert vault.as_person().forget_user("ann").local == 1
    assert not hers.exists() and his.exists()


def test_doctor_and_status_reach_it(vault: Vault, root: Path) -> None:
    post(root, "one", "torn")
    assert [one.path for one in vault.doctor().problems if one.code == "torn-card"] == [f"{PLACE}/one.txt"]
    assert vault.status().problems["warning"] == 1


def test_it_follows_what_is_written_edited_by_hand_moved_and_forgotten(vault: Vault, root: Path) -> None:
    made = vault.remember("The keeper hums.", title="The keeper")
    vault.fresh()
    FOLLOWED.clear()
    note = root / made.path
    note.write_text(note.read_text().replace("The keeper", "The watchman"))
    vault.fresh()
    assert [(made.id, "The keeper", "The watchman")] == FOLLOWED
    FOLLOWED.clear()
    note.rename(note.with_name("elsewhere.md"))
    vault.fresh()
    assert [(made.id, "The watchman", "The watchman")] == FOLLOWED
    FOLLOWED.clear()
    other = vault.remember("The harbour opens at eight.", title="Harbour")
    assert (other.id, None, "Harbour") in FOLLOWED
    FOLLOWED.clear()
    vault.as_person().forget(made.id)
    assert (made.id, "The watchman", None) in FOLLOWED


def test_each_store_of_the_table_is_one_and_says_when_it_is_erased_from(vault: Vault) -> None:
    found = list(stores.of(vault))
    assert len(found) > 11 and all(isinstance(store, Store) and isinstance(store.phase, Phase) for store in found)
    assert len({type(store) for store in found}) == len(found)
    classes = {type(store) for store in found if store.phase is Phase.DERIVED}
    assert all(type(store) in classes for store in found[-1 - len(classes) : -1]), "what is derived is made anew last"


OF_STORES = {"turns", "turn_log", "inbox", "bin", "sessions", "vectors", "maintenance", "turn_store", "local_stores"}


@pytest.mark.parametrize(
    "path",
    [
        "features/erasing/erasing.py",
        "features/erasing/forgetting.py",
        "features/erasing/purging.py",
        "features/people/rights.py",
        "features/doctor/doctor.py",
        "features/doctor/vault_problems.py",
        "features/doctor/vault_status.py",
    ],
)
def test_what_asks_the_stores_names_none(path: str) -> None:
    tree = ast.parse((Path(vault_tool.__file__).parent / path).read_text(encoding="utf-8"))
    imported = {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name for name in imported if OF_STORES & set(name.split("."))} == set()
