"""What there is of a person is counted by one function, before and after; and what names them elsewhere is told, and stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.typed import vt
from tests.terminal import let_commands_answer
from tests.verbs.looking import untouched
from vault_tool import Vault
from vault_tool.features.people.about_people import naming, person_of

pytestmark = pytest.mark.without_git


@pytest.fixture
def owner(root: Path) -> Vault:
    """A vault with two memories of jonas, two that only name him, one turn in the log, one that waits, one refused."""
    vault = Vault.open(root, person=True)
    jonas = vault.as_(user="jonas")
    jonas.remember("Jonas prefers the morning shift.", ["Shifts"])
    jonas.remember("He likes his coffee black.", ["Coffee"])
    vault.remember("Jonas runs the warehouse and answers for stock numbers.", ["Warehouse"])
    vault.as_(user="ann").remember("Returns are booked twice when JONAS scans the label again.", ["Returns"])
    vault.remember("Jonasberg is a mountain, and a jonassen is a kind of boat.", ["Geography"])
    vault.turn("s", "jonas", "", "I will be late", extractMemory=True, candidates=[{"content": "Jonas is late on Mondays."}])
    vault.drain()
    agent = vault.as_(origin="agent", user="jonas")
    agent.remember("Perhaps he rows.", ask=True)
    refused = agent.remember("Perhaps he flies.", ask=True).id
    vault.review(refuse=[refused])
    return vault


def titles(found: object) -> list[str]:
    return sorted(one.title.split()[0].lower() for one in found)  # type: ignore[attr-defined]


@pytest.mark.in_git
def test_all_doors_tell_the_same_counts(owner: Vault, root: Path, tmp_path: Path) -> None:
    with owner as vault:
        one = vault.people("jonas")
        counts = one.results[0]
        assert (counts.memories, counts.waiting, counts.refused, counts.turns) == (3, 1, 1, 1)
        assert [other for other in vault.people().results if other.user == "jonas"] == [counts]
        assert titles(one.elsewhere) == ["jonas", "returns"] and one.elsewhere_count == 2
        assert vault.list_turns(user="jonas").total == counts.turns

        export = vault.export_user("jonas", tmp_path / "out")
        assert (export.notes, export.waiting, export.refused, export.turns) == (3, 1, 1, 1)
        assert export.elsewhere == one.elsewhere
        said = json.loads((tmp_path / "out" / "records.json").read_text())
        assert [len(said[name]) for name in ("memories", "waiting", "refused", "turn_log")] == [3, 1, 1, 1]
        assert "Perhaps he flies." in said["refused"][0]["text"]

        with untouched(root):
            look = vault.forget_user("jonas", dry_run=True)
        assert (len(look.ids), look.waiting, look.refused, look.turns) == (3, 1, 1, 1)
        assert look.elsewhere == one.elsewhere and look.after is None
        done = vault.forget_user("jonas")
        assert (len(done.ids), done.waiting, done.refused, done.turns) == (3, 1, 1, 1)
        assert done.after is not None
        assert (done.after.memories, done.after.waiting, done.after.refused, done.after.turns) == (0, 0, 0, 0)
        assert done.elsewhere == one.elsewhere
        receipt = json.loads((root / done.receipt).read_text())
        assert (receipt["turns"], receipt["refused"], receipt["named_elsewhere"]) == (1, 1, 2)
        assert receipt["after"] == {"memories": 0, "waiting": 0, "turns": 0, "refused": 0}
        assert "jonas" not in (root / done.receipt).read_text().lower()
        # What names him stays, and is found by that still.
        assert [one.title for one in naming(vault, "jonas")] == [one.title for one in look.elsewhere]
        assert vault.show(look.elsewhere[0].id).content


@pytest.mark.parametrize("purge", [False, True])
def test_a_turn_that_waits_and_one_that_was_passed_over_count_once(root: Path, purge: bool) -> None:
    with Vault.open(root, person=True) as vault:
        vault.turn("s", "kim", "", "I row on Sundays", extractMemory=True, candidates=[{"content": "Kim rows on Sundays."}])
        vault.turn("s", "kim", "", "nothing to keep", extractMemory=False)
        vault.turn("s", "lee", "", "nothing either", extractMemory=False)
        assert person_of(vault, "kim").turns == vault.list_turns(user="kim").total == 2
        done = vault.forget_user("kim", purge=purge)
        assert done.turns == 2 and done.after is not None and done.after.turns == 0
        assert person_of(vault, "lee").turns == 1


@pytest.mark.parametrize(
    ("user", "text", "names"),
    [
        ("jonas", "jonas's desk", True),
        ("jonas", "by Jonas.", True),
        ("jonas", "Ask (JONAS)!", True),
        ("jonas", "jonasson", False),
        ("jonas weber", "Jonas  Weber called", True),
        ("jonas weber", "Jonas Weber called", True),
        ("ann@example.org", "write to ann@example.org today", True),
        ("ann@example.org", "write to ann today", False),
        ("李雷", "昨天李雷来了。", True),
        ("o'brien", "O'Brien signed", True),
        ("u.1", "version u91 is out", False),
        ("(x", "what (x means", True),
    ],
)
def test_a_name_counts_as_whole_words(root: Path, user: str, text: str, names: bool) -> None:
    with Vault.open(root, person=True) as vault:
        vault.as_(user=user).remember("Something of theirs.")
        made = vault.remember(f"It is said: {text}")
        assert [one.id for one in naming(vault, user)] == ([made.id] if names else [])


def test_other_names_of_their_subject_tags_links_and_pages_count(root: Path) -> None:
    with Vault.open(root, person=True) as vault:
        vault.as_(user="jonas").remember("Something of his.")
        tagged = vault.remember("The new shift plan is out.", ["Jonas"])
        vault.add_alias("Jonas", ["The Boss"])
        alias = vault.remember("Ask the boss before you order.")
        (root / "vault" / "page.md").write_text("# Stock\n\nJonas counts it.\n")
        vault.fresh()
        found = naming(vault, "jonas")
        assert {one.id for one in found} >= {tagged.id, alias.id}
        assert [one.path for one in found if not one.id] == ["vault/page.md"]
        # A link between what is his goes with it: it is not told as staying.
        shown = vault.forget_user("jonas", dry_run=True)
        assert shown.elsewhere_count == len(found)


def test_on_the_command_line(owner: Vault, root: Path, tmp_path: Path) -> None:
    owner.close()
    let_commands_answer(root)
    said = vt("people", "jonas", "--origin", "owner", cwd=root).stdout
    assert "2 more notes name them but are not filed under them" in said and "warehouse" in said
    said = vt("export", str(tmp_path / "out"), "--all-of", "jonas", "--origin", "owner", cwd=root).stdout
    assert "2 more notes name them" in said
    said = vt("forget", "--all-of", "jonas", "--dry-run", "--origin", "owner", cwd=root).stdout
    assert "2 more notes name them" in said
