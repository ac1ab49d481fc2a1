"""SIGKILL in the middle of whole verbs: the next command completes or rolls back, and nothing acknowledged is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.faults import steps_child, verb_child
from tests.faults.killer import Round, campaign, runs_wanted
from tests.founding import own_copy
from tests.git_repos import git
from tests.oracles import assert_as_built_anew, assert_git_is_sound, errors_of, fingerprints, leftovers
from vault_tool import Vault
from vault_tool.files import journals as journal_files
from vault_tool.files.episode_text import read_episode
from vault_tool.files.layout import FileKind, file_kind

CHILD = Path(verb_child.__file__)
STEPS_CHILD = Path(steps_child.__file__)
A_VAULT = 100
LOGGED = ("remember", "create-understanding", "update-understanding", "link")


class Ledger:
    """What was acknowledged so far, and where it must be found."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.words: dict[str, dict[str, Any]] = {}
        self.pins: dict[str, bool] = {}
        self.verbs: Counter[str] = Counter()

    def take(self, one: Round) -> list[dict[str, Any]]:
        """Enter a round's acknowledgements; returns them."""
        said = [json.loads(line) for line in one.acknowledged]
        for ack in said:
            self.verbs[ack["verb"]] += 1
            if ack["verb"] == "pin":
                self.pins[ack["path"]] = ack["pinned"]
            elif "word" in ack:
                self.words[ack["word"]] = ack
        return said

    def assert_pinned(self, said: list[dict[str, Any]]) -> None:
        """Notes are pinned as was last said; a child that was killed may have changed one more without a word."""
        paths = {ack["path"] for ack in said if ack["verb"] == "pin"}
        wrong = [path for path in paths if (b"\npinned: true\n" in (self.root / path).read_bytes()) != self.pins[path]]
        assert len(wrong) <= 1
        self.pins = {path: pinned for path, pinned in self.pins.items() if path not in wrong}

    def assert_notes_are_whole_and_once(self) -> None:
        """Every note with a seal is whole; every word stands in at most one, every acknowledged word in the one named."""
        found: Counter[str] = Counter()
        for path in (self.root / "vault").rglob("*.md"):
            where = path.relative_to(self.root).as_posix()
            if file_kind(where) is not FileKind.NOTE:
                continue
            data = path.read_bytes()
            word = verb_child.word_of(data.replace(b"# A page\n\n", b"", 1))
            if word:
                found[word] += 1
                assert word not in self.words or self.words[word]["path"] == where
        assert self.words.keys() <= found.keys()
        assert set(found.values()) <= {1}

    def assert_logged_once(self) -> None:
        """Every acknowledged write has one entry in the day's log, and no entry is torn."""
        titles: list[str] = []
        for path in (self.root / "vault" / "episodes").glob("*.md"):
            entries, problems = read_episode(path.relative_to(self.root).as_posix(), path.read_bytes())
            assert not problems
            titles += [entry.summary for entry in entries]
        said = Counter(word for title in titles for word in title.replace(".", " ").split() if word in self.words)
        for word, ack in self.words.items():
            if ack["verb"] in LOGGED:
                assert said[word] >= 1, ack

    def assert_committed(self, said: list[dict[str, Any]]) -> None:
        """What was acknowledged as committed is in HEAD, and its commit is an ancestor of it."""
        names = set(git(self.root, "ls-tree", "-r", "--name-only", "HEAD").splitlines())
        for ack in said:
            if ack.get("committed"):
                assert ack["path"] in names and ack["commit"], ack
        for ack in said[-3:]:
            if ack.get("commit"):
                git(self.root, "merge-base", "--is-ancestor", ack["commit"], "HEAD")


def settle(root: Path) -> None:
    """The next commands: they complete or roll back what was cut short, sweep, and find nothing wrong."""
    with Vault.open(root, session="after") as vault:
        gathered = vault.commit()
        assert not gathered.reason and not gathered.left, gathered
        assert vault.local.pending() == ()
        assert list(errors_of(vault)) == []
    assert leftovers(root) == []
    assert git(root, "status", "--porcelain", "--untracked-files=all") == ""


@pytest.mark.campaign
def test_no_verb_loses_what_it_acknowledged(tmp_path: Path) -> None:
    kills = runs_wanted(4)
    for part, first in enumerate(range(0, kills, A_VAULT)):
        run(tmp_path / str(part) / "notes", first, min(A_VAULT, kills - first))


def run(root: Path, first: int, kills: int) -> None:
    """One vault's share of the campaign, numbered from `first`."""
    root.parent.mkdir()
    Vault.init(root)
    ledger = Ledger(root)
    kept = fingerprints(root, "templates")

    def check(one: Round) -> None:
        assert one.killed and one.errors == "", one
        said = ledger.take(one)
        assert all(not ack.get("reason") for ack in said), said
        assert len(leftovers(root)) <= 1
        ledger.assert_committed(said)
        ledger.assert_pinned(said)
        settle(root)
        ledger.assert_notes_are_whole_and_once()
        if one.number % 10 == 9:
            assert_git_is_sound(root)
            ledger.assert_logged_once()

    campaign(
        lambda number: [sys.executable, str(CHILD), str(root), str(first + number)],
        check,
        kills=kills,
        longest=0.3,
        most=5,  # however slow the machine is, so many are waited for
        seed=20261121 + first,
    )
    assert sum(ledger.verbs.values()) > kills
    assert fingerprints(root, "templates") == kept
    assert not list((root / "vault").rglob("*.conflict-*"))
    assert_git_is_sound(root)
    ledger.assert_logged_once()
    assert_as_built_anew(root, ["lorem", "summary", "shared", *list(ledger.words)[:20]])
    sys.stdout.write(f"{kills} kills, acknowledged: {dict(ledger.verbs)}\n")


STEPS = (
    "pending.write_intent",
    "writer.create",
    "journals.append_episode",
    "vault_index.Index.wrote",
    "publish.build",
    "index.enter",
    "publish.publish",
    "local.LocalFolder.done",
)


@pytest.fixture(scope="module")
def founded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault with one observation and one understanding, made once and copied."""
    root = tmp_path_factory.mktemp("founded") / "notes"
    Vault.init(root)
    with Vault.open(root) as vault:
        vault.remember("The cornerstone came first.", ["Masonry"])
        vault.create_understanding(["Masonry"], "An arch needs a keystone.", "One keystone")
    return root


def _kill_after(verb: str, roots: Mapping[str, Path]) -> None:
    """Run the verb on the vault of each step, killed once that step is done."""
    pairs = [word for step, root in roots.items() for word in (step, str(root))]
    done = subprocess.run([sys.executable, str(STEPS_CHILD), verb, *pairs], capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == ("", 0)


@pytest.mark.parametrize(
    ("verb", "steps"),
    [
        ("remember", STEPS),
        ("pin", ("writer.edit", "index.enter")),
        ("revise", STEPS[1:2]),
        ("correct", STEPS[1:4]),
        ("understand", STEPS[1:4]),
        ("new", ("publish.publish",)),
    ],
)
def test_a_kill_after_each_step_is_settled_by_the_next_write(
    verb: str, steps: Sequence[str], founded: Path, tmp_path: Path
) -> None:
    roots = {step: own_copy(founded, tmp_path / str(number)) for number, step in enumerate(steps)}
    before = fingerprints(founded)
    _kill_after(verb, roots)
    for root in roots.values():
        with Vault.open(root) as vault:
            made = vault.remember("A stone laid after.", ["Masonry"])
            assert made.committed
            assert vault.local.pending() == ()
            assert list(errors_of(vault)) == []
            assert len(vault.search("stone laid").results) >= 1
            if verb == "correct":
                assert_corrected_whole(vault)
            if verb == "understand":
                assert len(vault.get_understandings(["Masonry"]).results) == 1
        assert git(root, "status", "--porcelain", "--untracked-files=all") == ""
        assert_git_is_sound(root)
        after = fingerprints(root)
        assert before.keys() <= after.keys()
        if verb != "pin":
            assert not {path for path in before if before[path] != after[path]} - journals(after)


def assert_corrected_whole(vault: Vault) -> None:
    """All of a correction or nothing: what says what is so overtakes what was wrong; sent again it is one."""
    found = {one.title: one for one in vault.list(status="all", sort="created").results}
    wrong = found["The cornerstone came first"]
    done = "The keystone came first" in found
    assert (wrong.status == "overtaken") == done
    again = vault.as_(origin="owner").correct(str(wrong.id), "It was moved.", "The keystone came first.")
    assert (again.known, again.status) == (done, "overtaken")


def test_a_kill_where_the_log_was_full_loses_no_entry_and_doubles_none(founded: Path, tmp_path: Path) -> None:
    roots = {step: own_copy(founded, tmp_path / str(number)) for number, step in enumerate(STEPS[::2])}
    for root in roots.values():
        with Vault.open(root) as vault:
            for number in range(4):
                vault.episode(f"A long day {number}", "lorem ipsum " * (journal_files.FULL // 48 + 1))
    _kill_after("remember", roots)
    for root in roots.values():
        with Vault.open(root) as vault:
            vault.remember("A stone laid after.", ["Masonry"])
            assert vault.local.pending() == () and list(errors_of(vault)) == []
        assert git(root, "status", "--porcelain", "--untracked-files=all") == ""
        said = [path.read_text() for path in (root / "vault/episodes").iterdir() if "lorem" not in path.read_text()]
        assert "".join(said).count("** A second stone.") == "".join(said).count("** A stone laid after.") == 1


def test_an_edit_that_was_only_announced_takes_no_half_saved_note_along(founded: Path, tmp_path: Path) -> None:
    root = tmp_path / "notes"
    own_copy(founded, root)
    _kill_after("pin", {STEPS[0]: root})
    with Vault.open(root) as vault:
        note = root / vault.search("cornerstone").results[0].path
        note.write_bytes(note.read_bytes()[:40])
        half = note.read_bytes()
        made = vault.remember("A stone laid after.")
        assert made.committed and vault.local.pending() == ()
        assert vault.search("cornerstone").results[0].stale
    assert note.read_bytes() == half
    assert git(root, "status", "--porcelain") == f" M {note.relative_to(root).as_posix()}"


def journals(paths: Iterable[str]) -> set[str]:
    return {path for path in paths if "/episodes/" in path or "/signals/" in path}
