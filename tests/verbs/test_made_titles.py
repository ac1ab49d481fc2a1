"""A title that the tool made is not stored: it is what the text says first, whatever becomes of the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git_repos import write
from tests.verbs.looking import fails, identity, note, text
from tests.verbs.test_editing import types
from vault_tool import Vault
from vault_tool.errors import Ambiguous, NotFound, VaultError
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git
"""These look at no git."""

LONG = " ".join(f"word{number}" for number in range(60))


def said(old: str, was: str, now: str) -> str:
    """A note's text with another body under the same head."""
    head, end, body = old.partition("\n---\n")
    return head + end + body.replace(was, now)


def titled(body: str, title: str, number: int = 1) -> str:
    return note(number, body, title=f'"{title}"', created="2026-11-20T09:00:00+00:00")


@pytest.mark.parametrize("kind", ["fact", "decision", "problem"])
def test_no_made_title_is_stored(vault: Vault, root: Path, kind: str) -> None:
    made = vault.remember("Noise is 1.4 % above 1.5 %. More.", kind=kind)
    assert "title:" not in text(root, made.path)
    assert (made.title, vault.get(made.id).title) == ("Noise is 1.4 % above 1.5 %",) * 2


def test_a_title_that_only_repeats_the_text_is_none(vault: Vault, root: Path) -> None:
    made = vault.remember("Keep it warm. Always.", title="Keep it warm")
    assert "title:" not in text(root, made.path)
    other = vault.remember("Keep it warm. Always, again.", title="Heating")
    assert "title: Heating\n" in text(root, other.path)


def test_no_door_of_writing_stores_one(vault: Vault, root: Path) -> None:
    several = vault.add_observations([{"content": "One of several. Yes."}]).results[0]
    understood = vault.create_understanding(["Larder"], "All of it.", "What it comes to. In a line.")
    by_contract = vault.write("By contract. So.", kind="fact", confidence=0.8).memory_id
    assert by_contract
    paths = [several.path, understood.path, vault.get(by_contract).path]
    assert [path for path in paths if "\ntitle:" in text(root, path)] == []
    assert [vault.get(one).title for one in (several.id, understood.id, by_contract)] == [
        "One of several", "What it comes to", "By contract",
    ]  # fmt: skip


def test_it_is_cut_at_a_word_within_160(vault: Vault) -> None:
    title = vault.remember(LONG).title
    assert 140 < len(title) <= 160
    assert title.endswith("…")
    assert LONG.startswith(title.removesuffix("…") + " ")


@pytest.mark.parametrize(
    "stored",
    [
        "The average is 1.4 % of the whole larder and of what was bought for it in the last week of May",
        "The average is 1.4 % of the whole larder and of what was bought for it in the…",
        "The average is 1.4 %…",
        "The average is 1.4 % of the whole larder and of what was bought for it in the last week of May.",
    ],
)
def test_a_stored_one_follows_the_text(vault: Vault, root: Path, clock: FixedClock, stored: str) -> None:
    body = "The average is 1.4 % of the whole larder and of what was bought for it in the last week of May. So."
    write(root, "vault/observations/a.md", titled(body, stored))
    assert vault.get(identity(1)).title == body[:-5]
    with Vault.open(root, person=True, clock=clock) as owner:
        edited = owner.edit(identity(1), types(lambda old: said(old, "1.4 %", "1.5 %")))
    assert edited.title == body[:-5].replace("1.4", "1.5")
    assert "title:" not in text(root, edited.path)
    assert text(root, edited.path).count("1.5 %") == 1
    assert edited.path == "vault/observations/a.md"


def test_a_title_of_its_own_stays(vault: Vault, root: Path, clock: FixedClock) -> None:
    write(root, "vault/observations/a.md", titled("The average is 1.4 %. So.", "Averages"))
    with Vault.open(root, person=True, clock=clock) as owner:
        assert owner.edit(identity(1), types(lambda old: old.replace("1.4", "1.5"))).title == "Averages"
        # One that is given by the edit itself is given.
        edited = owner.edit(identity(1), types(lambda old: old.replace("Averages", "Mean").replace("1.5", "1.6")))
    assert (edited.title, vault.get(identity(1)).title) == ("Mean", "Mean")
    assert 'title: "Mean"' in text(root, edited.path)


def test_what_is_derived_shows_the_title_of_today(vault: Vault, root: Path, clock: FixedClock) -> None:
    made = vault.remember("The pump runs at 40 %. So.", ["Pump"], kind="decision")
    with Vault.open(root, person=True, clock=clock) as owner:
        owner.edit(made.id, types(lambda old: old.replace("40 %", "60 %")))
    assert [one.title for one in vault.search("pump").results if one.id == made.id] == ["The pump runs at 60 %"]
    vault.core()
    page = text(root, "CORE.md")
    assert "[The pump runs at 60 %]" in page
    assert "40 %" not in page
    # Where it lies stays.
    assert vault.get(made.id).path == made.path


class TestHandles:
    @pytest.fixture
    def story(self, vault: Vault) -> Vault:
        vault.remember("Backup of the larder runs on Monday. Then it is checked.", kind="problem")
        vault.remember("Chrysanthemums stand in the yard.")
        vault.remember("Use the old script for the mobile release.", kind="decision")
        vault.remember("Use the old script for the desktop release.", kind="decision")
        return vault

    @pytest.mark.parametrize("begun", ["backup of", "Backup of the larder", "backup-of the", "Backup of the larder runs…"])
    def test_a_beginning_names_what_is_looked_at_or_marked(self, story: Vault, begun: str) -> None:
        known = story.search("larder backup").results[0].id
        assert story.get(begun).id == story.show(begun).id == story.related(begun).id == story.history(begun).id == known
        marked = story.mark_useful(begun, "It named the day.")
        assert (marked.id, marked.title) == (known, "Backup of the larder runs on Monday")
        assert story.mark_questionable(begun, "Is it so?").id == known

    def test_eight_characters_of_one_word_are_one(self, story: Vault) -> None:
        assert story.get("chrysant").title == "Chrysanthemums stand in the yard"
        for short in ("chrysan", "backup"):
            with fails(NotFound):
                story.get(short)

    def test_of_several_none_is_taken(self, story: Vault) -> None:
        with fails(Ambiguous, "mobile", "desktop", "id"):
            story.get("Use the old script")
        assert story.get("use the old script for the m").title.endswith("mobile release")

    @pytest.mark.in_git
    def test_what_is_changed_is_named_whole(self, story: Vault, root: Path, clock: FixedClock) -> None:
        with Vault.open(root, person=True, clock=clock) as owner:
            for change in (
                owner.forget, owner.undo, owner.unlink, owner.pin, lambda named: owner.tag(named, add=["x"]),
                lambda named: owner.edit(named, types(str.upper)), lambda named: owner.review(accept=[named]),
                lambda named: owner.link(named, "CAUSES", "Chrysanthemums stand in the yard", "So."),
                lambda named: owner.remember("Done.", kind="solution", problem=named),
                lambda named: owner.remember("Else.", kind="change", change_targets=[named]),
            ):  # fmt: skip
                with fails(VaultError, "Backup of the larder"):
                    change("Backup of the larder")
            with fails(NotFound, "beginning of a title", "Backup of the larder runs on Monday"):
                owner.pin("Backup of the larder")
            assert owner.pin("Backup of the larder runs on Monday").pinned

    def test_an_id_comes_before_a_title(self, vault: Vault, root: Path) -> None:
        write(root, "vault/observations/a.md", note(0xCAFEBABE, "An id.", created="2026-11-20T09:00:00+00:00"))
        vault.remember("cafebabe is a magic number.")
        assert vault.get("cafebabe").content == "An id."

    def test_of_revisions_the_present_one_is_meant(self, vault: Vault) -> None:
        old = vault.create_understanding(["Larder"], "First.", "Larder lore as it is.")
        new = vault.update_understanding(old.id, "Second.", "Larder lore as it is known.")
        assert vault.get("larder lore").id == new.new_understanding_id
