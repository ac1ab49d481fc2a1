from __future__ import annotations

from pathlib import Path

import pytest

from tests.git_repos import git
from tests.verbs.looking import head, in_commit, subjects, text
from vault_tool import Vault
from vault_tool.errors import Exit, NotFound, Refused, UsageError
from vault_tool.features.review.reviewing import edit_waiting
from vault_tool.files.inbox import INBOX, Inbox
from vault_tool.index.relations import successors
from vault_tool.model.records import Observation
from vault_tool.vault import review_policy

SECRET = "AKIA" + "QYLPMN5HHHFPZZTZ"


def under_review(root: Path, *settings: str) -> None:
    (root / "vault.toml").write_text("".join(f'{name} = "review"\n' for name in settings))
    git(root, "add", "vault.toml")
    git(root, "commit", "-qm", "settings")


@pytest.fixture
def reviewed(root: Path) -> Path:
    """A vault in which both of an agent's kinds of writing wait for a person."""
    under_review(root, "write_policy", "understanding_policy")
    return root


def agent(root: Path) -> Vault:
    return Vault.open(root, session="s1", model="m1")


def owner(root: Path) -> Vault:
    return Vault.open(root, person=True)


def test_a_held_memory_is_a_private_file_and_nothing_else(reviewed: Path) -> None:
    tip = head(reviewed)
    with agent(reviewed) as vault:
        made = vault.remember("The zebra crossed at noon.", ["Zoo"], kind="fact")

        assert made.pending_review and not made.committed and not made.attention
        assert made.subjects_created == () and made.path.startswith(f"{INBOX}/")
        assert review_policy.WAITS in made.warnings
        assert vault.search("zebra").results == ()
        assert vault.get_subjects().results == ()
        assert "zebra" not in vault.core(preview=True).text
        assert review_policy.waiting(vault) == 1
    assert head(reviewed) == tip
    assert git(reviewed, "status", "--porcelain", "--untracked-files=all") == ""
    note = reviewed / made.path
    assert note.stat().st_mode & 0o077 == 0 and note.parent.stat().st_mode & 0o077 == 0
    assert "zebra" in note.read_text() and f"id: {made.id}" in note.read_text()
    told = [path for path in reviewed.rglob("*") if path.is_file() and ".git" not in path.parts and b"zebra" in path.read_bytes()]
    assert told == [note]


def test_what_is_accepted_moves_into_the_vault_under_its_id(reviewed: Path) -> None:
    with agent(reviewed) as vault:
        made = vault.remember("The zebra crossed at noon.", ["Zoo"], kind="fact")
        waiting = text(reviewed, made.path)
    with owner(reviewed) as vault:
        listed = vault.review()
        assert [one.id for one in listed.results] == [made.id]
        one = listed.results[0]
        assert (one.origin, one.model, one.session, one.type) == ("agent", "m1", "s1", "fact")
        assert one.subjects == ("Zoo",) and one.reason == review_policy.OBSERVATIONS_WAIT and one.since

        done = vault.review(accept=[made.id[:6]])
        assert done.committed and done.results == ()
        assert done.accepted[0].subjects_created == ("Zoo",)
        path = done.accepted[0].path
        assert text(reviewed, path) == waiting
        assert [hit.id for hit in vault.search("zebra").results] == [made.id]
        assert [signal.kind for signal in vault.index.catalog.signals(made.id)] == ["reviewed"]
    assert subjects(reviewed)[0].startswith("review: ")
    assert in_commit(reviewed)[path] == "A"
    assert not (reviewed / made.path).exists()
    assert git(reviewed, "status", "--porcelain") == ""


def test_a_persons_edit_of_the_file_is_what_is_accepted(reviewed: Path) -> None:
    with agent(reviewed) as vault:
        made = vault.remember("The zebra crossed at noon.", kind="fact")
    waiting = reviewed / made.path
    waiting.write_text(waiting.read_text().replace("at noon", "at dusk"))
    with owner(reviewed) as vault:

        def by_hand(path: Path) -> None:
            path.write_text(path.read_text().replace("zebra crossed", "okapi crossed"))

        assert "okapi" in edit_waiting(vault, made.id, by_hand).content
        path = vault.review(accept=[made.id]).accepted[0].path
    assert "The okapi crossed at dusk." in text(reviewed, path)


def test_what_is_refused_is_gone_and_does_not_come_back(reviewed: Path) -> None:
    with agent(reviewed) as vault:
        made = vault.remember("The zebra crossed at noon.")
        record = Observation(id=made.id, type="fact", body="The zebra crossed at noon.")
    tip = head(reviewed)
    with owner(reviewed) as vault:
        done = vault.review(refuse=[made.id])
        assert done.refused == (made.id,) and done.results == ()
        assert review_policy.hold(vault, record, "again").duplicate_of == made.id
        assert vault.review().results == ()
    assert head(reviewed) == tip
    assert not (reviewed / made.path).exists()


def test_nobody_but_the_owner_may_look_or_decide(reviewed: Path) -> None:
    with agent(reviewed) as vault:
        made = vault.remember("The zebra crossed at noon.")
        for asked in (
            lambda: vault.review(),
            lambda: vault.review(accept=[made.id]),
            lambda: vault.review(refuse=[made.id]),
            lambda: edit_waiting(vault, made.id, lambda path: None),
        ):
            with pytest.raises(Refused) as refused:
                asked()
            assert refused.value.exit_code is Exit.REFUSED
    assert (reviewed / made.path).exists()


def test_observations_and_understandings_wait_apart_and_the_owners_never(root: Path) -> None:
    under_review(root, "understanding_policy")
    with agent(root) as vault:
        assert not vault.remember("A raw note.", ["Zoo"]).pending_review
        made = vault.create_understanding(["Zoo"], "What it comes to.", "In short.")
        assert made.pending_review and made.superseded == ()
        assert vault.get_understandings(["Zoo"]).results == ()
    with owner(root) as vault:
        assert not vault.create_understanding(["Zoo"], "The owner's own.", "Own.").pending_review


def test_a_waiting_revision_supersedes_nothing_until_it_is_accepted(reviewed: Path) -> None:
    with owner(reviewed) as vault:
        old = vault.create_understanding(["Zoo"], "Old.", "The old one.")
    with agent(reviewed) as vault:
        new = vault.update_understanding(old.id, "New.", "The new one.")
        assert new.pending_review and new.superseded == ()
        assert successors(vault.index.catalog, old.id) == ()
    with owner(reviewed) as vault:
        assert vault.review().results[0].supersedes == (old.id,)
        assert vault.review(accept=[new.new_understanding_id]).accepted[0].superseded == (old.id,)
        assert successors(vault.index.catalog, old.id) == (new.new_understanding_id,)


def test_a_revision_that_was_overtaken_is_refused_unless_joined(reviewed: Path) -> None:
    with owner(reviewed) as vault:
        old = vault.create_understanding(["Zoo"], "Old.", "The old one.")
    with agent(reviewed) as vault:
        waiting = vault.update_understanding(old.id, "New.", "The new one.")
    with owner(reviewed) as vault:
        other = vault.update_understanding(old.id, "Other.", "Another one.")
        with pytest.raises(Refused, match="written before"):
            vault.review(accept=[waiting.new_understanding_id])
        done = vault.review(accept=[waiting.new_understanding_id], join=True)
        assert set(done.accepted[0].superseded) == {old.id, other.new_understanding_id}


def test_secrets_are_looked_for_when_it_is_held_and_when_it_is_accepted(reviewed: Path) -> None:
    with agent(reviewed) as vault:
        with pytest.raises(Refused, match="secret"):
            vault.remember(f"The key is {SECRET}.")
        assert review_policy.waiting(vault) == 0
        made = vault.remember("The key is elsewhere.")
    waiting = reviewed / made.path
    waiting.write_text(waiting.read_text().replace("elsewhere", SECRET))
    with owner(reviewed) as vault:
        with pytest.raises(Refused, match="secret"):
            vault.review(accept=[made.id])
        assert [one.id for one in vault.review().results] == [made.id]


def test_a_file_that_was_spoilt_says_so_and_waits(reviewed: Path) -> None:
    with agent(reviewed) as vault:
        made = vault.remember("The zebra crossed at noon.")
        whole = vault.remember("Another.")
    waiting = reviewed / made.path
    waiting.write_text(waiting.read_text().replace("type: general", "type: ["))
    with owner(reviewed) as vault:
        found = {one.path: one for one in vault.review().results}
        assert found[made.path].problems
        with pytest.raises(UsageError):
            vault.review(accept=[waiting.name])
        assert [one.id for one in vault.review(everything=True).accepted] == [whole.id]
        with pytest.raises(NotFound):
            vault.review(accept=["ffffffff"])


def test_the_same_text_waits_once(reviewed: Path) -> None:
    with agent(reviewed) as vault:
        first = vault.remember("The zebra crossed at noon.")
        again = vault.remember("The  zebra crossed at noon.")
        assert again.id == again.duplicate_of == first.id
        assert review_policy.waiting(vault) == 1


def test_what_was_written_meanwhile_is_not_accepted_once_more(root: Path) -> None:
    with agent(root) as vault:
        held = vault.remember("The zebra crossed at noon.", kind="fact", ask=True)
        there = vault.remember("The  zebra crossed at noon.", kind="fact")
    with owner(root) as vault:
        with pytest.raises(Refused, match=f"says what {there.id[:6]} says already"):
            vault.review(accept=[held.id])
        done = vault.review(everything=True)
        assert (done.accepted, [one.id for one in done.results]) == ((), [held.id])
        assert there.id[:6] in done.warnings[0]
        assert len(vault.search("zebra").results) == 1
        assert vault.review(refuse=[held.id]).results == ()


def test_another_text_of_the_same_words_waits_too(root: Path) -> None:
    (root / "vault.toml").write_text('write_policy = "review"\n')
    with Vault.open(root) as vault:
        made = [vault.remember(f"The refrigerator is {what}.") for what in ("new", "loud")]
    assert [one.duplicate_of for one in made] == [None, None]
    with Vault.open(root, person=True) as owner:
        assert len(owner.review().results) == 2


def test_a_review_that_was_killed_after_its_write_is_finished_by_the_next(
    reviewed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with agent(reviewed) as vault:
        made = vault.remember("The zebra crossed at noon.")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with owner(reviewed) as vault, monkeypatch.context() as patch:
        patch.setattr(Inbox, "decide", killed)
        with pytest.raises(KeyboardInterrupt):
            vault.review(accept=[made.id])
    with owner(reviewed) as vault:
        assert vault.review().results == ()
        assert len(vault.search("zebra").results) == 1
    assert Inbox(reviewed).notes() == []


def test_a_note_that_somebody_put_there_can_be_accepted(reviewed: Path) -> None:
    folder = reviewed / INBOX
    folder.mkdir(parents=True)
    (folder / "mine.md").write_text("---\nid: 5f0c2d9e-2b3c-4e7a-9d5e-0a1b2c3d4e5f\ntype: fact\n---\nBy hand.\n")
    with owner(reviewed) as vault:
        done = vault.review(accept=["mine.md"])
        assert done.accepted[0].id == "5f0c2d9e-2b3c-4e7a-9d5e-0a1b2c3d4e5f"


def test_of_two_for_one_place_all_accepts_one_and_says_so(reviewed: Path) -> None:
    with agent(reviewed) as vault:
        first = vault.create_understanding(["Cat"], "The cat is good.", "A good cat.")
        second = vault.create_understanding(["Cat"], "The cat is bad.", "Bad.")
        kept = vault.remember("The cat slept.", ["Cat"])
    with owner(reviewed) as vault:
        done = vault.review(everything=True)
        assert {one.id for one in done.accepted} == {first.id, kept.id}
        assert [one.id for one in done.results] == [second.id]
        assert any("was written before" in warning for warning in done.warnings)
        joined = vault.review(everything=True, join=True)
        assert [(one.id, one.superseded) for one in joined.accepted] == [(second.id, (first.id,))]
        assert [one.id for one in vault.get_understandings(["Cat"]).results] == [second.id]


def test_two_for_one_place_can_be_joined_in_one_go(reviewed: Path) -> None:
    with agent(reviewed) as vault:
        first = vault.create_understanding(["Cat"], "The cat is good.", "A good cat.")
        second = vault.create_understanding(["cat"], "The cat is bad.", "Bad.")
    with owner(reviewed) as vault:
        with pytest.raises(Refused, match="was written before"):
            vault.review(accept=[first.id, second.id])
        vault.review(accept=[first.id, second.id], join=True)
        assert [one.id for one in vault.get_understandings(["Cat"]).results] == [second.id]


def test_what_users_understand_is_accepted_beside_everybodys(reviewed: Path) -> None:
    with owner(reviewed) as vault:
        everybodys = vault.create_understanding(["Cat"], "The cat is a cat.", "A cat.")
    with agent(reviewed) as vault:
        anns, bens = (vault.as_(user=one).create_understanding(["Cat"], f"The cat is {one}'s.", one) for one in ("ann", "ben"))
    with owner(reviewed) as vault:
        assert vault.review(accept=[anns.id]).accepted[0].superseded == ()
        assert [(one.id, one.superseded) for one in vault.review(everything=True, join=True).accepted] == [(bens.id, ())]
        assert {one.id for one in vault.get_understandings(["Cat"]).results} == {everybodys.id, anns.id, bens.id}


def test_an_id_that_is_a_path_leads_to_no_other_file(reviewed: Path) -> None:
    settings = reviewed / "_config.json"
    settings.write_text("{}")
    with agent(reviewed) as vault:
        vault.remember("The zebra crossed at noon.", ["Zoo"], kind="fact")
    (reviewed / INBOX / "odd.md").write_text("---\nid: ../../../_config\ntype: fact\n---\nhi\n")
    with owner(reviewed) as vault:
        vault.review(refuse=["odd.md"])
    assert settings.exists() and not (reviewed / INBOX / "odd.md").exists()
