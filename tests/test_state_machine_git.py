"""Any history of two clones that write, branch, push, pull, conflict and settle: nothing lost, incremental equals full."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from tests.faults.killer import runs_wanted
from tests.git_repos import git
from tests.oracles import assert_as_built_anew, assert_git_is_sound, fingerprints, leftovers, lost
from tests.watch.watched import Watched, eventually, in_catalogue
from vault_tool import Vault
from vault_tool.errors import VaultError
from vault_tool.files.layout import CORE_FILE, REFLECTION_FILE, UNTRACKED, FileKind, file_kind

KINDS = ("fact", "decision", "problem", "recipe")
NAMES = ("Redis", "Homelab", "Größe")
BRANCHES = ("main", "side")
PAGES = (CORE_FILE, REFLECTION_FILE)
JOURNALS = ("vault/episodes", "vault/signals")
MARKERS = "^(<<<<<<<|>>>>>>>) "
EXAMPLES = 2
MACHINE = st.integers(0, 1)
# The last notes by name are the ones that every vault begins with: two machines meet in them.
WHICH = st.integers(0, 6)


def found_both(base: Path) -> None:
    """A vault `first`, a bare repository that it pushes to, and a clone `second` of that; movable together."""
    first, second = base / "first", base / "second"
    subprocess.run([sys.executable, "-m", "vault_tool", "init", str(first)], check=True, capture_output=True)
    git(first, "branch", "--move", "main")
    git(base, "clone", "--quiet", "--bare", "first", "remote.git")
    git(first, "remote", "add", "origin", "../remote.git")
    git(base, "clone", "--quiet", "remote.git", "second")
    git(second, "remote", "set-url", "origin", "../remote.git")


class Clones(RuleBasedStateMachine):
    """Two machines with a vault each, one bare repository between them, and people who use git as git's manual says."""

    founded: ClassVar[Path]

    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp(prefix="clones-"))
        self.number = 0
        self.texts: set[str] = set()
        self.watched: Watched | None = None

    @initialize()
    def found(self) -> None:
        shutil.copytree(self.founded, self.base, symlinks=True, dirs_exist_ok=True)
        self.roots = [self.base / "first", self.base / "second"]
        # By the machine's own clock: the watcher, a process of its own, goes by that.
        self.vaults = [Vault.open(root, session=f"s{number}") for number, root in enumerate(self.roots)]

    # What a tool does.

    @rule(at=MACHINE, kind=st.sampled_from(KINDS), names=st.lists(st.sampled_from(NAMES), max_size=2))
    def remember(self, at: int, kind: str, names: list[str]) -> None:
        text = self.new_text()
        try:
            saved = self.vaults[at].remember(text, names, kind=kind)
        except VaultError:  # a name that two files claim, or a bulk loss that nobody has confirmed
            self.texts.discard(text)
        else:
            assert saved.committed != self.merging(at), saved.reason

    @rule(at=MACHINE)
    def commit(self, at: int) -> None:
        gathered = self.vaults[at].commit()
        assert not (gathered.committed and self.merging(at)), gathered

    @rule(at=MACHINE)
    def make_pages(self, at: int) -> None:
        try:
            self.vaults[at].core()
            self.vaults[at].reflect()
        except VaultError:
            assert self.merging(at)

    @rule(at=MACHINE)
    def rebuild(self, at: int) -> None:
        self.vaults[at].reindex(full=True)

    @rule()
    def watch(self) -> None:
        """Start the watcher, or see that it has taken in everything and end it."""
        if self.watched is None:
            self.watched = Watched(self.roots[0]).__enter__()
        else:
            self.end_watching()

    # What a person does.

    @rule(at=MACHINE, which=WHICH)
    def edit_by_hand(self, at: int, which: int) -> None:
        notes = sorted(self.notes(at) - set(self.unmerged(at)), reverse=True)
        self.append(at, notes[which % len(notes)])

    @rule(at=MACHINE)
    def switch_branch(self, at: int) -> None:
        root = self.roots[at]
        if self.merging(at) or git(root, "status", "--porcelain"):
            return
        other = self.other_branch(at)
        known = git(root, "branch", "--list", other)
        git(root, "switch", "--quiet", *([] if known else ["--no-guess", "--create"]), other)

    @rule(at=MACHINE)
    def push(self, at: int) -> None:
        git(self.roots[at], "push", "--quiet", "origin", "HEAD", ok=False)

    @rule(at=MACHINE, branch=st.sampled_from(BRANCHES))
    def pull(self, at: int, branch: str) -> None:
        """Either branch into the present one: it may conflict, or be refused where there are edits or no such branch."""
        git(self.roots[at], "pull", "--quiet", "--no-rebase", "--no-edit", "origin", branch, ok=False)

    @rule(at=MACHINE, which=WHICH, pages=st.booleans())
    @precondition(lambda self: not self.merging(0) and not self.merging(1))
    def meet(self, at: int, which: int, pages: bool) -> None:
        """Both edit one note and commit it; one machine pulls what the other one pushed."""
        shared = sorted(self.notes(0) & self.notes(1), reverse=True)
        for number in (0, 1):
            self.append(number, shared[which % len(shared)])
            if pages:
                self.remember(number, "fact", [NAMES[number]])
                self.make_pages(number)
            self.commit(number)
        self.push(at)
        self.pull(1 - at, git(self.roots[at], "branch", "--show-current"))

    @rule(at=MACHINE, which=WHICH)
    @precondition(lambda self: not self.merging(0) and not self.merging(1))
    def merge_branches(self, at: int, which: int) -> None:
        """One machine writes on both branches, in the same journals and one note, and merges the one it left."""
        notes = sorted(self.notes(at), reverse=True)
        path = notes[which % len(notes)]
        for name in NAMES[:2]:
            self.remember(at, "fact", [name])
            if (self.roots[at] / path).exists():
                self.append(at, path)
            self.commit(at)
            self.switch_branch(at)
        git(self.roots[at], "merge", "--quiet", "--no-edit", self.other_branch(at), ok=False)

    @rule(at=MACHINE, side=st.sampled_from(["ours", "theirs"]), anew=st.booleans())
    @precondition(lambda self: self.merging(0) or self.merging(1))
    def settle(self, at: int, side: str, anew: bool) -> None:
        """One side's text for each note; generated pages made anew, or taken from one side as well."""
        at = at if self.merging(at) else 1 - at
        root, unmerged = self.roots[at], self.unmerged(at)
        for path in sorted(set(unmerged) - set(PAGES)):
            self.save(root / path, git(root, "show", f":{2 if side == 'ours' else 3}:{path}").encode() + b"\n")
            git(root, "add", "--", path)
        if anew and set(unmerged) & set(PAGES):
            saved = self.vaults[at].core()
            assert saved.attention and "settled" in saved.reason
        for path in self.unmerged(at):
            git(root, "checkout", f"--{side}", "--", path)
            git(root, "add", "--", path)
        git(root, "commit", "--quiet", "--no-edit")

    @rule(at=MACHINE, name=st.sampled_from(NAMES), which=WHICH)
    @precondition(lambda self: self.merging(0) or self.merging(1))
    def write_in_a_merge(self, at: int, name: str, which: int) -> None:
        """What is written meanwhile, by the tool and by hand, waits for the merge's end."""
        at = at if self.merging(at) else 1 - at
        head = git(self.roots[at], "rev-parse", "HEAD")
        self.remember(at, "fact", [name])
        self.edit_by_hand(at, which)
        self.commit(at)
        assert git(self.roots[at], "rev-parse", "HEAD") == head

    @rule(at=MACHINE)
    @precondition(lambda self: self.merging(0) or self.merging(1))
    def abort(self, at: int) -> None:
        """Git itself refuses where a file that the merge changed was changed again."""
        git(self.roots[at if self.merging(at) else 1 - at], "merge", "--abort", ok=False)

    # What must hold.

    @invariant()
    def nothing_is_lost(self) -> None:
        missing = self.texts
        for root in self.roots:
            missing = lost(root, missing)
        assert missing == set()

    @invariant()
    def nothing_unfit_is_committed(self) -> None:
        for root in self.roots:
            assert git(root, "log", "--all", "--oneline", "--extended-regexp", "--grep=^Vault-Op:", f"-G{MARKERS}") == ""
            assert git(root, "ls-files", "--", *UNTRACKED) == ""

    @invariant()
    def journals_never_conflict(self) -> None:
        for at in (0, 1):
            assert [path for path in self.unmerged(at) if path.startswith(JOURNALS)] == []

    def teardown(self) -> None:
        try:
            if hasattr(self, "vaults"):
                self.end_watching()
                for at in (0, 1):
                    self.end(at)
        finally:
            if self.watched is not None:
                self.watched.process.kill()
            shutil.rmtree(self.base)

    def end(self, at: int) -> None:
        """What holds of a vault at the end; one that is in the middle of a merge is settled first."""
        root, vault = self.roots[at], self.vaults[at]
        if self.merging(at):
            self.settle(at, "ours", True)
        self.nothing_is_lost()
        vault.close()
        words = sorted(self.texts)[:10]
        assert_as_built_anew(root, [text.split()[1] for text in words] + ["redis", "about"])
        assert_git_is_sound(root)
        with Vault.open(root) as again:
            again.commit()
            assert again.local.pending() == ()
        assert leftovers(root) == []
        assert git(root, "status", "--porcelain", "--", "vault") == ""
        assert git(root, "log", "--all", "--oneline", "--", *UNTRACKED) == ""

    # Helpers of the rules.

    def end_watching(self) -> None:
        if self.watched is None:
            return
        watched, self.watched = self.watched, None
        try:
            eventually(self.caught_up(0))
            assert watched.end() == 0
        finally:
            watched.__exit__(*sys.exc_info())

    def caught_up(self, at: int) -> Callable[[], bool]:
        wanted = self.notes(at) - set(self.unmerged(at))
        return lambda: in_catalogue(self.roots[at]).keys() >= wanted

    def merging(self, at: int) -> bool:
        return (self.roots[at] / ".git" / "MERGE_HEAD").exists()

    def other_branch(self, at: int) -> str:
        return BRANCHES[git(self.roots[at], "branch", "--show-current") == BRANCHES[0]]

    def unmerged(self, at: int) -> list[str]:
        listed = git(self.roots[at], "diff", "--name-only", "--diff-filter=U", "-z")
        return [path for path in listed.split("\0") if path]

    def notes(self, at: int) -> set[str]:
        return {path for path in fingerprints(self.roots[at]) if file_kind(path) is FileKind.NOTE}

    def append(self, at: int, path: str) -> None:
        file = self.roots[at] / path
        self.save(file, file.read_bytes() + f"{self.new_text()}\n".encode())

    def save(self, file: Path, data: bytes) -> None:
        """As most editors do: the new text beside, then renamed over."""
        beside = self.base / "draft"
        beside.write_bytes(data)
        beside.replace(file)

    def new_text(self) -> str:
        self.number += 1
        text = f"About word{self.number} in some words."
        self.texts.add(text)
        return text


@pytest.mark.campaign
def test_every_history_of_two_clones_ends_well(tmp_path: Path) -> None:
    found_both(tmp_path)
    Clones.founded = tmp_path
    examples = runs_wanted(EXAMPLES)
    run_state_machine_as_test(
        Clones,
        settings=settings(
            max_examples=examples,
            stateful_step_count=20,
            deadline=None,
            derandomize=examples == EXAMPLES,
            database=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.explicit, Phase.generate],
            report_multiple_bugs=False,
        ),
    )
