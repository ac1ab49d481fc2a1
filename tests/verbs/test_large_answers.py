"""Answers over all of a vault never hold every note of it at once, and say the same as if they did."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.typed import vt
from tests.git_repos import write
from vault_tool import Vault
from vault_tool.cli.output import to_json
from vault_tool.vault.standing import best_first

pytestmark = pytest.mark.without_git

COPIED = "11111111-2222-4333-8444-555555555555"

ANSWERS: dict[str, Callable[[Vault], object]] = {
    "decay": lambda vault: vault.decay(),
    "every decay": lambda vault: vault.decay(limit=None),
    "reflect": lambda vault: vault.reflect(dry_run=True),
    "reflect, written": lambda vault: vault.reflect(),
    "reflection": lambda vault: vault.reflection(preview=True),
    "snapshot": lambda vault: vault.snapshot(),
    "subjects": lambda vault: vault.get_subjects(),
    "people": lambda vault: vault.people(),
    "exports": lambda vault: vault.standings.save(),
}


def _note(root: Path, name: str, **head: object) -> None:
    lines = "".join(f"{field}: {value}\n" for field, value in {"id": COPIED, "type": "fact", **head}.items())
    write(root, f"vault/notes/{name}.md", f"---\n{lines}created: 2026-11-01T10:00:00+00:00\n---\nText of {name}.\n")


@pytest.mark.parametrize("name", ANSWERS)
def test_not_every_note_is_held(vault: Vault, root: Path, name: str) -> None:
    for number in range(5):
        vault.remember(f"Heron {number} stands at the weir.", ["Weir"])
    _note(root, "of-ann", user="ann")
    ANSWERS[name](vault)
    kept = vault.index.catalog._derived._values
    assert "snapshot" not in kept


def test_of_copies_of_one_id_the_state_says_what_stands_last(vault: Vault, root: Path) -> None:
    _note(root, "weighty", importance=0.9)
    _note(root, "slight", importance=0.1)
    _note(root, "middle", importance=0.5)
    answer = vault.decay(limit=None)
    (row,) = [row for name, row in json.loads((root / "_state.json").read_text())["entries"].items() if name == COPIED]
    scores = [one.decay_score for one in answer.results if one.id == COPIED]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    assert row["decay_score"] == scores[-1]


def test_the_first_of_all_are_those_of_a_limit(vault: Vault, root: Path) -> None:
    for number in range(9):
        _note(root, f"n{number}", id=COPIED[:-1] + str(number), importance=f"0.{number % 3 + 1}")
    every = vault.decay(limit=None).results
    assert [vault.decay(limit=limit).results for limit in (1, 4, 20)] == [every[:1], every[:4], every]
    assert [one.path for one in every] == [one.entry.path for one in sorted(vault.standings.present(), key=best_first)]


def test_an_observation_that_is_said_to_be_replaced_is_evidence_as_before(vault: Vault, root: Path) -> None:
    ids = [vault.remember(f"Heron {number}.", ["Weir"]).id for number in range(3)]
    _note(root, "odd", type="structural", title="Odd", subjects="[Elsewhere]", supersedes=f"[{ids[0]}]")
    page = vault.reflection(preview=True).text
    assert "3 observations and no understanding" in page


def test_an_insight_is_told_with_the_beginning_of_its_text(vault: Vault) -> None:
    vault.remember("Herons come at dusk, when the weir is still.", kind="insight", title="Of herons")
    assert "Herons come at dusk, when the weir is still." in vault.reflection(preview=True).text


@pytest.mark.parametrize("count", [0, 1, 7])
def test_the_present_state_is_printed_as_the_whole_answer(vault: Vault, root: Path, count: int) -> None:
    for number in range(count):
        vault.remember(f'Heron {number} said "memories": [], twice.', ["Weir"])
    whole = json.loads(to_json(vault.snapshot()))
    printed = json.loads(vt("snapshot", "--json", cwd=root).stdout)
    assert list(printed) == list(whole)
    assert printed["count"] == len(printed["memories"]) == whole["count"]
    # What fades does so by the clock, which is another there.
    fades = {"decay_score": 0, "standing": ""}
    told, wanted = ({one["id"]: {**one, **fades} for one in answer["memories"]} for answer in (printed, whole))
    assert told == wanted
    assert sorted(printed["made_from"]) == sorted(whole["made_from"])
