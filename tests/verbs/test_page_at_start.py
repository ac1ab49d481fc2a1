"""The page of a session's start is the one that is made of everything, though only a choice and what came since is weighed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from vault_tool import Vault
from vault_tool.util.clock import FixedClock
from vault_tool.vault import page_at_start as at_start
from vault_tool.vault.generated_pages import core_preview

pytestmark = pytest.mark.without_git

BUDGET = 8000
KINDS = ("fact", "decision", "problem", "fix", "preference", "workflow")


@pytest.fixture(autouse=True)
def _large(monkeypatch: pytest.MonkeyPatch) -> None:
    """A vault of any size is a large one."""
    monkeypatch.setattr(at_start, "SMALL", 0)


def page(vault: Vault) -> str:
    vault.fresh()
    return at_start.page_at_start(vault)(BUDGET)


def whole(vault: Vault) -> str:
    vault.fresh()
    return core_preview(vault, BUDGET).text


def lines(text: str) -> list[str]:
    """A page without its counts."""
    return text.split("\n")[1:]


def filled(vault: Vault, count: int = 120) -> None:
    told = [
        {"content": f"{kind} number {n}.", "kind": kind, "subject_names": ["Lab"]}
        for n in range(count)
        for kind in (KINDS[n % 6],)
    ]
    for model, some in (("m1", told[::2]), ("m2", told[1::2])):
        vault.as_(model=model).add_observations(some)


def test_a_choice_makes_the_page_that_everything_makes(vault: Vault) -> None:
    filled(vault)
    problem = vault.remember("The printer stops.", kind="problem", title="Printer stops")
    vault.remember("A new cable.", kind="solution", problem=problem.id)
    vault.as_(origin="owner").remember("The owner's own rule.", kind="preference", pinned=True)
    kept = at_start.keep_choice(vault)
    assert kept is not None and kept.memories > len(kept.rows) > 0
    assert page(vault) == whole(vault)
    assert "owner's own rule" in page(vault) and "Printer stops -> A new cable." in page(vault)


def test_without_a_choice_one_is_made_and_kept(vault: Vault) -> None:
    filled(vault, 12)
    assert at_start.choice_is_due(vault)
    assert page(vault) == whole(vault)
    assert not at_start.choice_is_due(vault)
    assert page(vault) == whole(vault)


def _superseded(vault: Vault) -> None:
    first = vault.create_understanding(["Lab"], "The pump is red.", "The pump is red.", title="Pump colour")
    at_start.keep_choice(vault)
    vault.update_understanding(first.id, "The pump is blue.", "The pump is blue.", reason="painted")


def _solved(vault: Vault) -> None:
    problem = vault.remember("The printer stops.", kind="problem", title="Printer stops")
    at_start.keep_choice(vault)
    vault.remember("A new cable.", kind="solution", problem=problem.id)


def _edited(vault: Vault) -> None:
    made = vault.remember("The pump is red and loud.", kind="decision", importance=1.0)
    at_start.keep_choice(vault)
    path = vault.root / made.path
    path.write_text(path.read_text().replace("red and loud", "blue and still"))


def _removed(vault: Vault) -> None:
    made = vault.remember("The pump is red and loud.", kind="decision", importance=1.0)
    at_start.keep_choice(vault)
    (vault.root / made.path).unlink()


def _forgotten(vault: Vault) -> None:
    made = vault.remember("The pump is red and loud.", kind="decision", importance=1.0)
    at_start.keep_choice(vault)
    vault.as_person().forget(made.id)


def _questioned(vault: Vault) -> None:
    made = vault.remember("The pump is red and loud.", kind="decision", importance=1.0)
    at_start.keep_choice(vault)
    vault.mark_questionable(made.id, "nobody heard it")


def _used(vault: Vault) -> None:
    faded = vault.remember("The attic has a hatch.", kind="fact", importance=0.1)
    filled(vault)
    at_start.keep_choice(vault)
    for _ in range(40):
        vault.get(faded.id)


def _written(vault: Vault) -> None:
    at_start.keep_choice(vault)
    vault.remember("The gate is locked at nine.", kind="decision", importance=1.0)


def _withdrawn(vault: Vault) -> None:
    made = vault.remember("The pump is red and loud.", kind="decision", importance=1.0)
    vault.mark_questionable(made.id, "nobody heard it")
    at_start.keep_choice(vault)
    vault.as_person().mark_useful(made.id, reason="heard it")


@pytest.mark.parametrize(
    ("happens", "there", "not_there"),
    [
        (_superseded, "The pump is blue.", "The pump is red."),
        (_solved, "Printer stops -> A new cable.", "Printer stops: The printer stops."),
        (_edited, "blue and still", "red and loud"),
        (_removed, "", "red and loud"),
        (_forgotten, "", "red and loud"),
        (_questioned, "", "red and loud"),
        (_used, "The attic has a hatch.", ""),
        (_written, "The gate is locked at nine.", ""),
        (_withdrawn, "red and loud", ""),
    ],
)
def test_what_happened_since_the_choice_is_on_the_page(
    vault: Vault, happens: Callable[[Vault], None], there: str, not_there: str
) -> None:
    filled(vault, 24)
    happens(vault)
    assert lines(page(vault)) == lines(whole(vault))
    assert there in page(vault) and (not not_there or not_there not in page(vault))


def test_counts_follow_what_is_written_edited_and_removed(vault: Vault) -> None:
    filled(vault, 12)
    at_start.keep_choice(vault)
    made = [vault.remember(f"Gate {n} is locked at nine.", kind="decision", importance=1.0) for n in range(3)]
    assert page(vault) == whole(vault)
    (vault.root / made[0].path).unlink()
    assert page(vault) == whole(vault)


@pytest.mark.parametrize("kept", [True, False])
def test_what_is_overtaken_is_no_memory_that_is_left_out(vault: Vault, kept: bool) -> None:
    hosts = [vault.remember(f"The {name} runs Debian 12.", ["Servers"], kind="fact") for name in ("heron", "stork", "crane")]
    if kept:
        at_start.keep_choice(vault)
    vault.remember("The heron runs Debian 13.", ["Servers"], kind="fact", change_targets=[hosts[0].id])
    vault.correct(hosts[1].id, "uname says so", "The stork runs Debian 13.")
    if not kept:
        at_start.keep_choice(vault)
    assert page(vault) == whole(vault)
    assert ": 3 memories\n" in page(vault) and "not shown" not in page(vault) and page(vault).count(" runs Debian ") == 3


def test_it_is_due_where_a_day_has_gone_much_was_written_or_something_is_gone(vault: Vault, clock: FixedClock) -> None:
    filled(vault, 12)
    at_start.keep_choice(vault)
    made = vault.remember("One more.")
    assert not at_start.choice_is_due(vault)
    (vault.root / made.path).unlink()
    vault.fresh()
    assert not at_start.choice_is_due(vault), "it was on no choice"
    vault.add_observations([{"content": f"Fact {n}.", "kind": "fact"} for n in range(60)])
    assert at_start.choice_is_due(vault)
    at_start.keep_choice(vault)
    clock.advance(timedelta(days=1))
    assert at_start.choice_is_due(vault)


def test_another_build_settings_or_a_spoilt_file_are_no_choice(vault: Vault, root: Path) -> None:
    filled(vault, 12)
    for spoil in (
        lambda: vault.reindex(),
        lambda: (root / "_cache" / "page.json").write_text("{}"),
        lambda: (root / "_cache" / "page.seal").unlink(),
    ):
        at_start.keep_choice(vault)
        assert not at_start.choice_is_due(vault)
        spoil()
        assert lines(page(vault)) == lines(whole(vault))


def test_a_choice_holds_no_word_and_no_id(vault: Vault, root: Path) -> None:
    made = vault.remember("The gate is locked at nine.", kind="decision", importance=1.0)
    at_start.keep_choice(vault)
    data = (root / "_cache" / "page.json").read_text()
    assert "gate" not in data and made.id not in data


def test_a_huge_vault_without_a_choice_has_a_page_all_the_same(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at_start, "_IN_TIME", 0)
    filled(vault, 24)
    vault.as_(origin="owner").remember("The owner's own rule.", kind="preference")
    found = page(vault)
    assert found.startswith("# Memory, 2026-11-20: ")
    assert "owner's own rule" in found and "decision number 1." in found
    assert at_start.choice_is_due(vault), "a page in a hurry is not kept"


def test_nobodys_page_tells_of_no_users_memory(vault: Vault) -> None:
    filled(vault, 12)
    vault.as_(user="ann").remember("Ann waters the plants.", kind="preference", importance=1.0)
    at_start.keep_choice(vault)
    vault.as_(user="bob").remember("Bob locks the gate.", kind="preference", importance=1.0)
    for seen_by in (vault, vault.as_(user="ann")):
        found = page(seen_by)
        assert "Ann waters" not in found and "Bob locks" not in found
