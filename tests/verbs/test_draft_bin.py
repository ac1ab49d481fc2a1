"""What a person refused lies in a bin of this machine for a month, but for what must not lie anywhere; and comes back whole."""

from __future__ import annotations

import json
import stat
from datetime import timedelta
from pathlib import Path

import pytest

from tests.cli.typed import vt
from tests.git_repos import git
from tests.terminal import let_commands_answer
from vault_tool import Vault
from vault_tool.errors import NotFound, Refused, UsageError
from vault_tool.files.bin import BIN, DraftBin
from vault_tool.files.inbox import Inbox
from vault_tool.model.records import Observation
from vault_tool.util.clock import FixedClock
from vault_tool.vault import review_policy

pytestmark = pytest.mark.without_git

SECRET = "AKIA" + "QYLPMN5HHHFPZZTZ"
TEXT = "The zebra crossed the long bridge at noon on Thursday."


def owner(root: Path, clock: FixedClock) -> Vault:
    return Vault.open(root, clock=clock, person=True)


def held(vault: Vault, text: str = TEXT, **who: str) -> str:
    """The id of a memory that waits for a person."""
    return vault.as_(origin="agent", **who).remember(text, ["Zoo"], ask=True).id


def told(root: Path, word: str) -> list[str]:
    """The files of the vault's folder that hold a word, git's own aside."""
    found = (path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
    return [path.relative_to(root).as_posix() for path in found if word.encode() in path.read_bytes()]


@pytest.mark.in_git
def test_what_is_refused_waits_again_as_it_was(root: Path, clock: FixedClock) -> None:
    with owner(root, clock) as vault:
        identity = held(vault)
        waiting = vault.review().results[0]
        file = root / waiting.path
        # The file as a person left it, whatever it was when it was listed.
        file.write_bytes(file.read_bytes() + b"And at dusk.\r\n")
        data, about = file.read_bytes(), Inbox(root).about(identity)
        done = vault.review(refuse=[identity[:8]])
        assert (done.refused, done.binned, done.results, done.committed) == ((identity,), (identity,), (), False)
        assert not file.exists() and vault.search("zebra").results == ()
        [kept] = (root / BIN).iterdir()
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600 and stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
        assert told(root, "zebra") == [f"{BIN}/{kept.name}"]
        assert git(root, "status", "--porcelain", "--untracked-files=all") == ""
        # Lying there it does not come again with a repeat.
        again = Observation(id=identity, type="fact", body=TEXT)
        assert review_policy.hold(vault, again, "again").duplicate_of == identity

        [lying] = vault.review(bin=True).results
        assert (lying.id, lying.title, lying.refused_at) == (identity, waiting.title, clock.now().isoformat())
        back = vault.review(restore=[identity[:8]])
        assert back.restored == (identity,) and [one.id for one in back.results] == [identity]
        assert file.read_bytes() == data and Inbox(root).about(identity) == about
        assert [*(root / BIN).iterdir()] == [] and vault.review(bin=True).results == ()
        # It can be decided on as before, twice.
        assert vault.review(refuse=[identity]).binned == (identity,)
        assert vault.review(restore=[identity]).restored == (identity,)
        assert vault.review(accept=[identity]).accepted[0].id == identity
        assert "And at dusk." in vault.show(identity).content


@pytest.mark.parametrize("kind", ["secret", "forgotten", "cites", "as_user", "consent"])
def test_what_must_lie_nowhere_is_deleted(root: Path, clock: FixedClock, kind: str) -> None:
    with owner(root, clock) as vault:
        as_user = ""
        if kind == "consent":
            vault.turn(
                "s", "ann", "", "the zebra", extractMemory=True, mode="memory_consent", candidates=[{"content": TEXT}]
            )  # fmt: skip
            vault.drain()
            identity = vault.review().results[0].id
        else:
            identity = held(vault, user="ann" if kind == "as_user" else "")
        file = root / vault.review().results[0].path
        if kind == "secret":
            file.write_text(f"{file.read_text()}The key is {SECRET}.\n")
        if kind == "as_user":
            as_user = "ann"
        if kind in ("forgotten", "cites"):
            gone = vault.remember("Something else.").id
            vault.forget(gone)
            old = f"id: {identity}" if kind == "forgotten" else "---\n"
            new = f"id: {gone}" if kind == "forgotten" else f"---\nevidence: ['memory:{gone}']\n"
            file.write_text(file.read_text().replace(old, new, 1))
            identity = gone if kind == "forgotten" else identity
        done = vault.review(refuse=[identity], as_user=as_user)
        assert (done.refused, done.binned) == ((identity,), ())
        assert DraftBin(root).drafts(vault.now()) == []
        with pytest.raises(NotFound):
            vault.review(restore=[identity])


def test_it_goes_after_thirty_days_with_the_next_command(root: Path, clock: FixedClock) -> None:
    with owner(root, clock) as vault:
        identity = held(vault)
        vault.review(refuse=[identity])
        clock.advance(timedelta(days=30))
        assert [one.id for one in vault.review(bin=True).results] == [identity]
        later = held(vault, "The okapi slept all day in the shade.")
        vault.review(refuse=[later])
    clock.advance(timedelta(days=1))
    with owner(root, clock) as vault:
        # Any command: this one has nothing to do with reviews.
        vault.search("nothing")
        assert told(root, "zebra") == []
        assert [one.id for one in vault.review(bin=True).results] == [later]
        # A process that stays does it too.
        clock.advance(timedelta(days=30))
        vault.status()
        assert [*(root / BIN).iterdir()] == []


class TestEmptied:
    def test_by_forgetting_the_same_words(self, root: Path, clock: FixedClock) -> None:
        with owner(root, clock) as vault:
            made = vault.remember(TEXT)
            same = held(vault, f"I heard: {TEXT}")
            other = held(vault, "The okapi slept all day in the shade.")
            vault.review(refuse=[same, other])
            assert vault.forget(made.id).local == 1
            assert [one.id for one in vault.review(bin=True).results] == [other]
            assert told(root, "zebra") == []

    def test_by_forgetting_the_same_id(self, root: Path, clock: FixedClock) -> None:
        with owner(root, clock) as vault:
            identity = held(vault)
            vault.review(refuse=[identity])
            assert vault.forget(identity).local == 1
            assert told(root, "zebra") == []

    @pytest.mark.in_git
    def test_by_purging(self, root: Path, clock: FixedClock) -> None:
        with owner(root, clock) as vault:
            made = vault.remember(TEXT)
            same = held(vault, f"I heard: {TEXT}")
            vault.review(refuse=[same])
            vault.purge(made.id)
            assert told(root, "zebra") == []

    def test_by_erasing_a_person(self, root: Path, clock: FixedClock) -> None:
        with owner(root, clock) as vault:
            theirs = held(vault, "Ann sails on Sundays, whatever the weather.", user="ann")
            other = held(vault, "The okapi slept all day in the shade.", user="ben")
            vault.review(refuse=[theirs, other])
            vault.forget_user("ann")
            assert [one.id for one in vault.review(bin=True).results] == [other]
            assert told(root, "sails") == []

    @pytest.mark.parametrize("state", ["refused", "withdrawn"])
    def test_by_an_answer_about_consent(self, root: Path, clock: FixedClock, state: str) -> None:
        with owner(root, clock) as vault:
            made = vault.as_(user="ann").remember(TEXT)
            words = held(vault, f"I heard: {TEXT}")
            theirs = held(vault, "Ann sails on Sundays, whatever the weather.", user="ann")
            other = held(vault, "The okapi slept all day in the shade.", user="ben")
            vault.review(refuse=[words, theirs, other])
            vault.consent(made.id, "given", as_user="ann")
            assert len(vault.review(bin=True).results) == 3
            vault.consent(made.id, state, as_user="ann")
            assert [one.id for one in vault.review(bin=True).results] == [other]


def test_what_was_accepted_or_forgotten_meanwhile_does_not_come_back(root: Path, clock: FixedClock) -> None:
    with owner(root, clock) as vault:
        identity = held(vault)
        path = vault.review().results[0].path
        data = (root / path).read_bytes()
        vault.review(refuse=[identity])
        [kept] = (root / BIN).iterdir()
        copy = kept.read_bytes()
        vault.review(restore=[identity])
        vault.review(accept=[identity])
        kept.write_bytes(copy)  # as a program that brings files back might
        with pytest.raises(Refused):
            vault.review(restore=[identity])
        assert (root / vault.show(identity).path).read_bytes() == data


def test_nobody_else_looks_into_it(root: Path, clock: FixedClock) -> None:
    with owner(root, clock) as vault:
        identity = held(vault, user="ann")
        vault.review(refuse=[identity])
        agent = vault.as_(origin="agent")
        with pytest.raises(Refused):
            agent.review(bin=True)
        with pytest.raises(Refused):
            agent.review(restore=[identity])
        with pytest.raises(UsageError):
            vault.review(as_user="ann", bin=True)
        with pytest.raises(UsageError):
            vault.review(as_user="ann", restore=[identity])


@pytest.mark.parametrize("text", ["", "{", "[]", '{"id": 7}', '{"id": "a", "name": "../../x", "at": "x", "text": "\\u4e00"}'])
def test_files_that_are_no_drafts_stop_nothing(root: Path, clock: FixedClock, text: str) -> None:
    with owner(root, clock) as vault:
        identity = held(vault)
        vault.review(refuse=[identity])
        (root / BIN / "2026-11-20-odd.json").write_text(text)
        (root / BIN / "README").write_text("not ours")
        assert [one.id for one in vault.review(bin=True).results] == [identity]
        # What cannot be read may tell of it.
        made = vault.remember("Something long enough to be known by its words.")
        vault.forget(made.id)
        assert not (root / BIN / "2026-11-20-odd.json").exists() and (root / BIN / "README").exists()


def test_on_the_command_line(root: Path, clock: FixedClock) -> None:
    with Vault.open(root, person=True) as vault:
        identity = held(vault)
    let_commands_answer(root)
    done = vt("review", "--refuse", identity[:8], "--origin", "owner", cwd=root)
    assert done.returncode == 0 and f"vt review --restore {identity[:6]}" in done.stdout, done.stderr
    listed = vt("review", "--bin", "--origin", "owner", cwd=root)
    assert "The zebra crossed" in listed.stdout
    found = json.loads(vt("review", "--bin", "--json", "--origin", "owner", cwd=root).stdout)
    assert [one["id"] for one in found["results"]] == [identity] and found["results"][0]["refused_at"]
    back = vt("review", "--restore", identity[:6], "--origin", "owner", cwd=root)
    assert "waits again" in back.stdout
    assert "nothing was refused" in vt("review", "--bin", "--origin", "owner", cwd=root).stdout
