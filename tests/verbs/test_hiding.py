"""A memory that a person hides is on no page of a session's start, and everywhere else as before; one press takes it back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.git_repos import commit_all, git, write
from tests.verbs.looking import identity, note
from tests.verbs.test_authority import as_owner
from tests.verbs.test_authority_of_others import pulled
from vault_tool import Vault
from vault_tool.cli.main import main
from vault_tool.errors import Refused, UsageError
from vault_tool.features.editing.hiding import hide_from_page
from vault_tool.features.recall.recall import Bundle
from vault_tool.mcp.answering import answer
from vault_tool.mcp.tools import Caller

TEXT = "The quay is closed in winter."


def test_it_is_hidden_from_the_page_alone_and_comes_back(root: Path) -> None:
    with Vault.open(root, person=True) as vault:
        hidden = vault.remember(TEXT, ["Quay"], kind="decision").id
        pinned = vault.remember("Always greet the harbour master first.", ["Quay"], kind="preference").id
        vault.remember("The crane is painted in May.", ["Crane"], kind="decision")
        vault.pin(pinned)
        before = (root / vault.show(pinned).path).read_bytes()
        assert TEXT.rstrip(".") in vault.core(preview=True).text
        done = hide_from_page(vault, [hidden, pinned])
        page = vault.core(preview=True).text
        assert "quay is closed" not in page and "greet" not in page and "The crane is painted" in page
        assert vault.search("quay closed winter").results[0].id == hidden and vault.show(hidden).status == "current"
        assert {hidden, pinned} <= {one.id for one in vault.list().results}
        # Undo restores the pin too.
        assert done.commit is not None
        vault.undo(done.commit)
        assert (root / vault.show(pinned).path).read_bytes() == before and "quay is closed" in vault.core(preview=True).text
        # A pin is a way back of its own, and leaves nothing of it.
        hide_from_page(vault, [hidden])
        vault.pin(hidden)
        assert "quay is closed" in vault.core(preview=True).text
        vault.pin(hidden, off=True)
        assert "quay is closed" in vault.core(preview=True).text


@pytest.mark.parametrize("said", [None, 0.3, 0.9])
def test_nothing_but_the_page_knows_of_it(root: Path, said: float | None) -> None:
    with as_owner(root) as vault:
        one = vault.remember(TEXT, ["Quay"], kind="decision", importance=said).id
        vault.remember("The crane is painted in May.", ["Crane"], kind="decision")
        vault.remember("The quay was mended in spring.", ["Quay"], kind="fact")

        def seen() -> list[object]:
            # In an index that texts were replaced in, the old ones count among the frequencies of words.
            vault.reindex(full=True)
            asked = vault.recall("is the quay closed?", count=False)
            unasked = vault.recall("the quay in winter", profile="ambient", count=False)
            assert isinstance(asked, Bundle) and isinstance(unasked, Bundle)
            found = [[(one.id, one.score) for one in vault.search(question).results] for question in ("quay", "closed in winter")]
            shown = vault.show(one)
            lists = [[memory.id for memory in vault.list(sort=sort).results] for sort in ("decay", "utility", "created")]
            answers = [[(hit.id, hit.score) for hit in bundle.results] for bundle in (asked, unasked)]
            return [answers, found, shown.decay_score, shown.standing, shown.status, shown.head.get("importance"), lists]

        before = seen()
        done = hide_from_page(vault, [one])
        assert "quay is closed" not in vault.core(preview=True).text and seen() == before
        assert done.hidden and vault.show(one).not_at_start
        back = hide_from_page(vault, [one], off=True)
        assert "quay is closed" in vault.core(preview=True).text and seen() == before
        assert not back.hidden and not vault.show(one).not_at_start


def test_a_note_that_was_hidden_by_its_importance_stays_hidden_and_comes_back(root: Path) -> None:
    write(root, "vault/a.md", note(1, TEXT, type="decision", importance="0"))
    commit_all(root, "hidden as it was done before")
    with Vault.open(root, person=True) as vault:
        assert "quay is closed" not in vault.core(preview=True).text and vault.show(identity(1)).not_at_start
        hide_from_page(vault, [identity(1)], off=True)
        assert "quay is closed" in vault.core(preview=True).text and vault.show(identity(1)).head.get("importance") is None


def test_the_newer_version_of_an_understanding_stays_hidden(root: Path) -> None:
    with Vault.open(root, person=True) as vault:
        one = vault.create_understanding(["Quay"], "It is closed in winter, says the master.", TEXT).id
        assert "quay is closed" in vault.core(preview=True).text
        hide_from_page(vault, [one])
        newer = vault.update_understanding(one, "It is closed until May, says the master.", "The quay is closed until May.")
        assert "quay is closed" not in vault.core(preview=True).text
        hide_from_page(vault, [newer.new_understanding_id], off=True)
        assert "quay is closed until May" in vault.core(preview=True).text


@pytest.mark.parametrize("words", [TEXT, "The quay is closed, says Mallory."])
def test_what_others_put_there_or_take_away_moves_nothing_of_the_owners(root: Path, words: str) -> None:
    write(root, "vault/a.md", note(1, TEXT, type="decision", not_at_start="true"))
    write(root, "vault/b.md", note(2, "The crane is painted in May.", type="decision"))
    commit_all(root, "ours")
    with Vault.open(root, person=True) as vault:
        page = vault.core(preview=True).text
        assert "quay is closed" not in page and "crane is painted" in page
    pulled(
        root,
        ("vault/a.md", note(1, words, type="decision")),
        ("vault/b.md", note(2, "The crane is painted in May.", type="decision", not_at_start="true")),
    )
    with Vault.open(root, person=True) as vault:
        page = vault.core(preview=True).text
        assert "quay is closed" not in page and "crane is painted" in page
        assert vault.show(identity(2)).put_by_others == ("not at a session's start: pulled (Mallory <m@evil.example>)",)
        # Nothing says that it is hidden now, while it is not.
        with pytest.raises(Refused, match="Mallory"):
            hide_from_page(vault, [identity(2)])


def test_others_keep_their_own_off_the_page_and_the_owner_does_so_too(root: Path) -> None:
    pulled(
        root,
        ("vault/a.md", note(1, TEXT, type="decision", not_at_start="true")),
        ("vault/b.md", note(2, "The crane is painted in May.", type="decision")),
    )
    with Vault.open(root, person=True) as vault:
        page = vault.core(preview=True).text
        assert "quay is closed" not in page and "crane is painted" in page
        hide_from_page(vault, [identity(2)])
        assert "crane is painted" not in vault.core(preview=True).text
        assert vault.show(identity(2)).origin.startswith("pulled")


@pytest.mark.parametrize("hidden", [{"not_at_start": "true"}, {"importance": "0"}])
def test_a_pin_in_a_head_that_hides_counts_where_its_writer_may_pin(root: Path, hidden: dict[str, str]) -> None:
    # Both stand in one head where a person wrote them there, or where one side of a merge hid what the other pinned.
    write(root, "vault/quay.md", note(1, TEXT, type="decision", pinned="true", origin="owner", **hidden))
    write(root, "vault/crane.md", note(2, "The crane is painted in May.", type="decision", origin="owner", **hidden))
    write(root, "vault/ferry.md", note(3, "The ferry is late.", type="decision", pinned="true", origin="agent", **hidden))
    commit_all(root, "by hand")
    with Vault.open(root, person=True) as vault:
        assert [vault.show(identity(number)).not_at_start for number in (1, 2, 3)] == [False, True, True]
        page = vault.core(preview=True).text
        assert "quay is closed" in page and "crane" not in page and "ferry" not in page


def test_an_agents_pin_does_not_bring_back_what_the_owner_hid(root: Path) -> None:
    with Vault.open(root, origin="agent") as vault:
        one = vault.remember(TEXT, ["Quay"], kind="decision").id
    with Vault.open(root, person=True) as vault:
        hide_from_page(vault, [one])
    with Vault.open(root, origin="agent") as vault:
        vault.pin(one)
        assert "quay is closed" not in vault.core(preview=True).text


def test_only_a_person_hides(root: Path) -> None:
    with Vault.open(root, origin="agent") as vault:
        one = vault.remember(TEXT, ["Quay"]).id
        head = git(root, "rev-parse", "HEAD")
        with pytest.raises(Refused):
            hide_from_page(vault, [one])
        assert git(root, "rev-parse", "HEAD") == head
    with Vault.open(root, person=True) as vault:
        soul = vault.orient().soul
        assert soul is not None
        for named in ([], [soul.id]):
            with pytest.raises(UsageError):
                hide_from_page(vault, named)


def test_each_door_says_that_it_is_hidden(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Vault.open(root, person=True) as vault:
        one = vault.remember(TEXT, ["Quay"], kind="decision").id
        for hidden in (True, False):
            hide_from_page(vault, [one], off=not hidden)
            assert vault.get(one).not_at_start is hidden
            told = answer(vault, "get", {"memory_id": one}, Caller())
            assert ('"not_at_start":true' in json.dumps(told, separators=(",", ":"))) is hidden
            assert main(["--vault", str(root), "show", one]) == 0
            assert ("not given to a session" in capsys.readouterr().out) is hidden
