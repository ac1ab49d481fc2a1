"""An acceptance that is taken back: the draft waits again as it was, wherever the undo is killed, and may be accepted again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.typed import vt
from tests.git_repos import commit_all
from tests.oracles import assert_as_built_anew, assert_git_is_sound
from tests.statuses import said
from tests.terminal import let_commands_answer
from tests.verbs.looking import codes, fails
from vault_tool import Vault
from vault_tool.errors import NotFound, Refused
from vault_tool.features.editing.deleting import delete_memories
from vault_tool.features.history.undo import undoable
from vault_tool.files.bin import BIN, DraftBin
from vault_tool.files.inbox import INBOX, Inbox
from vault_tool.util.clock import FixedClock
from vault_tool.util.text import content_hash

TEXT = "The zebra crossed the long bridge at noon on Thursday."


@pytest.fixture
def owner(root: Path, clock: FixedClock) -> Iterator[Vault]:
    """The owner's open vault."""
    with Vault.open(root, clock=clock, person=True) as opened:
        yield opened


def held(vault: Vault, text: str = TEXT, subjects: tuple[str, ...] = ("Zoo",), **more: object) -> str:
    """The id of a memory that waits for a person."""
    return vault.as_(origin="agent").remember(text, list(subjects), ask=True, **more).id  # type: ignore[arg-type]


def queue(vault: Vault) -> dict[str, tuple[str, bytes, object]]:
    """The drafts that wait: by id the file, its bytes, and why it waits."""
    waits = vault.review().results
    return {draft.id: (draft.path, (vault.root / draft.path).read_bytes(), Inbox(vault.root).about(draft.id)) for draft in waits}


def notes(root: Path) -> dict[str, bytes]:
    """The notes' bytes by path, journals aside."""
    files = [path for path in (root / "vault").rglob("*.md") if "episodes" not in path.parts]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


def accepted(vault: Vault, *ids: str) -> str:
    """The commit that accepts these."""
    done = vault.review(accept=ids)
    assert {memory.id for memory in done.accepted} == set(ids)
    return done.commit or ""


class TestWaitsAgain:
    def test_as_it_was_and_is_accepted_again(self, owner: Vault) -> None:
        identity = held(owner)
        # An accepted draft gets the generation of its day: what waits again has not.
        before, files = queue(owner), notes(owner.root)
        commit = accepted(owner, identity)
        assert queue(owner) == {} and owner.search("zebra").results
        assert undoable(owner, [commit]) == {commit: ""}
        back = owner.undo(commit)
        assert (back.waiting, queue(owner), notes(owner.root)) == ((identity,), before, files)
        assert owner.search("zebra").results == () and owner.review(bin=True).results == ()
        assert owner.review().in_bin == 0

        again = accepted(owner, identity)
        assert queue(owner) == {} and owner.show(identity).content == TEXT
        owner.undo(again)
        assert queue(owner) == before
        assert owner.review(refuse=[identity]).binned == (identity,)
        assert owner.review(restore=[identity]).restored == (identity,)
        assert queue(owner) == before
        assert codes(owner) == []
        assert_git_is_sound(owner.root)
        owner.close()
        assert_as_built_anew(owner.root, ["zebra"], owner.clock)

    def test_the_undo_is_undone_and_nothing_waits_twice(self, owner: Vault) -> None:
        identity = held(owner)
        before = queue(owner)
        accepted(owner, identity)
        files = notes(owner.root)
        for _ in range(2):
            assert owner.undo().waiting == (identity,)
            assert queue(owner) == before
            redone = owner.undo()
            assert (redone.waiting, queue(owner), notes(owner.root)) == ((), {}, files)
            assert not list((owner.root / INBOX).glob("*.md"))
        owner.undo()
        assert queue(owner) == before

    @pytest.mark.parametrize("order", [(0, 1), (1, 0)])
    def test_two_in_any_order(self, owner: Vault, order: tuple[int, int]) -> None:
        ids = held(owner), held(owner, "The okapi slept all day in the shade.")
        before = queue(owner)
        commits = [accepted(owner, identity) for identity in ids]
        undos = []
        for number, which in enumerate(order):
            undos.append(owner.undo(commits[which]).commit or "")
            assert queue(owner).keys() == {ids[each] for each in order[: number + 1]}
        assert queue(owner) == before
        for which, commit in zip(order, undos, strict=True):
            owner.undo(commit)
            assert ids[which] not in queue(owner) and owner.show(ids[which]).id == ids[which]
        assert queue(owner) == {} and codes(owner) == []

    def test_several_that_were_accepted_at_once(self, owner: Vault) -> None:
        ids = held(owner), held(owner, "The okapi slept all day in the shade.")
        before = queue(owner)
        assert set(owner.undo(accepted(owner, *ids)).waiting) == set(ids)
        assert queue(owner) == before

    def test_an_edit_since_is_undone_first(self, owner: Vault) -> None:
        identity = held(owner)
        before = queue(owner)
        commit = accepted(owner, identity)
        file = owner.root / owner.show(identity).path
        text = file.read_text()
        edited = owner.edit(identity, text=text.replace("noon", "dusk"), was=content_hash(text.encode()))
        with fails(Refused, "was changed since"):
            owner.undo(commit)
        owner.undo(edited.commit or "")
        owner.undo(commit)
        assert queue(owner) == before

    def test_the_drafts_own_edit_keeps_the_redo_from_making_two_of_it(self, owner: Vault) -> None:
        identity = held(owner)
        accepted(owner, identity)
        back = owner.undo()
        file = owner.root / owner.review().results[0].path
        file.write_text(file.read_text() + "And back.\n")
        before, files = queue(owner), notes(owner.root)
        with fails(Refused, "waits for review with another text"):
            owner.undo(back.commit or "")
        assert (queue(owner), notes(owner.root)) == (before, files)
        accepted(owner, identity)
        assert "And back." in owner.show(identity).content

    def test_an_understanding_with_what_it_superseded(self, owner: Vault) -> None:
        first = owner.create_understanding(["Redis"], "It is a cache.", "A cache")
        (owner.root / "vault.toml").write_text('understanding_policy = "review"\n')
        commit_all(owner.root, "settings")
        waits = owner.as_(origin="agent").update_understanding(first.id, "It is a store.", "A store").new_understanding_id
        before = queue(owner)
        owner.undo(accepted(owner, waits))
        assert queue(owner) == before and said(owner.show(first.id), "superseded") == ()

    @pytest.mark.parametrize("elsewhere", [False, True])
    def test_its_links_wait_with_it(self, owner: Vault, elsewhere: bool) -> None:
        old = owner.remember("The bridge is closed to animals.", ["Zoo"])
        agent = owner.as_(origin="agent")
        identity = agent.write(TEXT, "fact", 0.9, related_memory_ids=[old.id], ask=True).memory_id or ""
        before = queue(owner)
        commit = accepted(owner, identity)
        links = sorted((owner.root / "vault/edges").rglob("*.md"))
        assert len(links) == 1
        owner.undo(commit)
        assert queue(owner) == before and not list((owner.root / "vault/edges").rglob("*.md"))
        if elsewhere:
            DraftBin(owner.root).discard(identity)
            owner.undo(accepted(owner, identity))
        accepted(owner, identity)
        assert sorted((owner.root / "vault/edges").rglob("*.md")) == links

    def test_a_deletion_that_is_done_again_makes_nothing_wait(self, owner: Vault) -> None:
        identity = held(owner)
        accepted(owner, identity)
        delete_memories(owner, [identity])
        owner.undo()
        assert owner.undo().waiting == () and queue(owner) == {}

    def test_on_a_machine_where_it_never_waited(self, owner: Vault) -> None:
        identity = held(owner)
        commit = accepted(owner, identity)
        path = owner.show(identity).path
        data = (owner.root / path).read_bytes()
        DraftBin(owner.root).discard(identity)
        back = owner.undo(commit)
        [draft] = owner.review().results
        assert (back.waiting, draft.id, draft.content, draft.reason) == (
            (identity,), identity, TEXT, "its acceptance was taken back",
        )  # fmt: skip
        assert (owner.root / draft.path).read_bytes() == data
        accepted(owner, identity)
        assert (owner.root / path).read_bytes() == data

    def test_two_texts_of_one_note_that_were_settled_are_no_drafts(self, owner: Vault) -> None:
        note = owner.root / owner.remember("The kettle is descaled in May.").path
        copy = note.with_name(f"{note.stem}.sync-conflict-20261125-101010-ABCDEFG.md")
        copy.write_text(note.read_text().replace("in May.", "in June."))
        commit_all(owner.root, "a copy")
        files = notes(owner.root)
        [place] = owner.review().unsettled
        done = owner.settle_texts(place.key, "both")
        assert owner.undo(done.commit or "").waiting == ()
        assert (queue(owner), notes(owner.root)) == ({}, files)


class Killed(BaseException):
    """A kill."""


@pytest.mark.parametrize("step", range(1, 9))
def test_a_kill_in_the_middle_loses_nothing(
    root: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch, step: int, killed_at: Callable[[int], None]
) -> None:
    with Vault.open(root, clock=clock, person=True) as vault:
        identity = held(vault)
        before = queue(vault)
        commit = accepted(vault, identity)
        killed_at(step)
        with pytest.raises(Killed):
            vault.undo(commit)
        monkeypatch.undo()
    with Vault.open(root, clock=clock, person=True) as vault:
        # It is a memory or it waits, and never both or neither.
        waits = identity in queue(vault)
        assert waits != bool(vault.search("zebra").results)
        vault.remember("Any write finishes what was begun.")
        if identity not in queue(vault):
            vault.undo(commit)
        assert queue(vault) == before and vault.search("zebra").results == ()
        accepted(vault, identity)


@pytest.fixture
def killed_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Sets a kill at the so manieth file that is put in place or taken away."""

    def set_kill(step: int) -> None:
        left = [step]

        def counting(name: str) -> None:
            real = getattr(os, name)

            def call(*args: object, **kwargs: object) -> object:
                left[0] -= 1
                if left[0] == 0:
                    raise Killed
                return real(*args, **kwargs)

            monkeypatch.setattr(os, name, call)

        for name in ("replace", "rename", "unlink", "link"):
            counting(name)

    return set_kill


class TestNotKept:
    def test_what_was_forgotten(self, owner: Vault) -> None:
        identity = held(owner)
        accepted(owner, identity)
        assert [file.name for file in (owner.root / BIN).iterdir()]
        owner.forget(identity)
        assert [*(owner.root / BIN).iterdir()] == []

    def test_what_is_about_a_person_who_is_erased(self, owner: Vault) -> None:
        identity = held(owner.as_(user="ann"))
        accepted(owner, identity)
        owner.forget_user("ann")
        assert [*(owner.root / BIN).iterdir()] == []
        with pytest.raises(NotFound):
            owner.show(identity)

    def test_what_a_person_consented_to(self, owner: Vault) -> None:
        identity = held(owner.as_(user="ann"))
        owner.review(accept=[identity], as_user="ann")
        assert not (owner.root / BIN).exists() or not [*(owner.root / BIN).iterdir()]


def test_on_the_command_line(root: Path) -> None:
    with Vault.open(root, person=True) as vault:
        identity = held(vault)
        accepted(vault, identity)
    let_commands_answer(root)
    done = vt("undo", "--origin", "owner", cwd=root)
    assert done.returncode == 0 and f"{identity[:6]}: waits for review again" in done.stdout, done.stdout + done.stderr
    assert identity[:6] in vt("review", "--origin", "owner", cwd=root).stdout
    assert vt("undo", "--origin", "owner", cwd=root).returncode == 0
    assert identity[:6] not in vt("review", "--origin", "owner", cwd=root).stdout
