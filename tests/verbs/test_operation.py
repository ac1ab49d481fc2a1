"""What every write shares: one commit of its own, whatever git is in the middle of; and what waits is made good."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from tests.founding import own_copy
from tests.git_repos import add_hook, commit_all, diverge, git, make_repo, write
from tests.oracles import assert_as_built_anew, assert_git_is_sound
from tests.verbs.looking import (
    TODAY,
    assert_committed,
    assert_waits,
    found,
    head,
    in_commit,
    status,
    subjects,
    text,
    trailers,
    untouched,
)
from vault_tool import Vault
from vault_tool.files.frontmatter import Set
from vault_tool.files.local import PendingOperation
from vault_tool.util.clock import FixedClock
from vault_tool.util.text import content_hash
from vault_tool.vault.operation import Saved, writing


@dataclass(frozen=True)
class Hindrance:
    """Something that keeps git from committing: how it comes, how it goes, and what the reason must say."""

    comes: Callable[[Path], object]
    goes: Callable[[Path], object]
    says: tuple[str, ...]


def _merge_in_progress(root: Path) -> None:
    diverge(root, "vault/side.md", "vault/main.md")
    git(root, "merge", "--quiet", "--no-commit", "--no-ff", "side")


def _forget_who(root: Path) -> None:
    git(root, "config", "user.useConfigOnly", "true")


def _know_who(root: Path) -> None:
    git(root, "config", "user.name", "A Tester")
    git(root, "config", "user.email", "tester@example.org")


HINDRANCES = {
    "detached HEAD": Hindrance(
        lambda root: git(root, "checkout", "--quiet", "--detach"),
        lambda root: git(root, "checkout", "--quiet", "-"),
        ("HEAD is detached", "git switch"),
    ),
    "merge": Hindrance(
        _merge_in_progress, lambda root: git(root, "merge", "--abort"), ("a merge is in progress", "git merge --abort")
    ),
    "hook": Hindrance(
        lambda root: add_hook(root, "pre-commit", "echo 'the linter says no' >&2; exit 1"),
        lambda root: (root / ".git/hooks/pre-commit").unlink(),
        ("the linter says no",),
    ),
    "index.lock": Hindrance(
        lambda root: write(root, ".git/index.lock", ""),
        lambda root: (root / ".git/index.lock").unlink(),
        ("index.lock",),
    ),
    "nobody": Hindrance(_forget_who, _know_who, ("git config --global user.name", "git config --global user.email")),
}


@pytest.fixture
def hasty(root: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Vault]:
    """A vault that waits for locks only a moment, and whose git knows nobody by the environment."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{role}_NAME")
        monkeypatch.delenv(f"GIT_{role}_EMAIL")
    _know_who(root)
    (root / "vault.toml").write_text("lock_wait = 0.2\n")
    commit_all(root, "settings")
    with Vault.open(root, clock=clock) as vault:
        yield vault


@pytest.mark.parametrize("name", HINDRANCES)
def test_what_git_cannot_take_now_is_saved_and_committed_by_the_next_write(hasty: Vault, root: Path, name: str) -> None:
    hindrance = HINDRANCES[name]
    if name == "nobody":
        git(root, "config", "--unset", "user.name")
        git(root, "config", "--unset", "user.email")
    hindrance.comes(root)
    tip = head(root)

    first = hasty.as_(session="s1").remember("Quartz one.", ["Redis"], title="First")
    second = hasty.remember("Quartz two.", title="Second")

    for saved in (first, second):
        assert_waits(saved, *hindrance.says)
    assert head(root) == tip
    assert set(found(hasty, "quartz")) == {"First", "Second"}
    assert hasty.status().git.waiting == 2

    hindrance.goes(root)
    third = hasty.remember("Quartz three.", title="Third")

    assert_committed(third, root)
    assert subjects(root, 3) == ["remember: Third", "remember: Second", "remember: First"]
    assert first.path in in_commit(root, "HEAD~2")
    assert "Vault-Session: s1" in git(root, "log", "-1", "--format=%B", "HEAD~2")
    assert second.path in in_commit(root, "HEAD~1")
    assert hasty.status().git.waiting == 0
    assert status(root) == ""
    assert_git_is_sound(root)


def test_commit_picks_up_what_waits_each_as_its_own(hasty: Vault, root: Path) -> None:
    lock = write(root, ".git/index.lock", "")
    first = hasty.remember("One.", title="First")
    assert not first.committed
    write(root, "vault/mine.md", "# Mine\n\nText.\n")
    lock.unlink()

    gathered = hasty.commit()

    assert_committed(gathered, root)
    assert gathered.paths == ("vault/mine.md",)
    assert subjects(root, 2)[1] == "remember: First"
    assert set(in_commit(root)) == {"vault/mine.md"}


def test_a_lock_that_somebody_holds_is_never_deleted(hasty: Vault, root: Path) -> None:
    lock = write(root, ".git/index.lock", "")
    hasty.remember("One.")
    hasty.commit()
    assert lock.exists()


def test_a_note_that_a_person_changed_while_it_waited_is_theirs_to_commit(hasty: Vault, root: Path) -> None:
    lock = write(root, ".git/index.lock", "")
    first = hasty.remember("One.", title="First")
    (root / first.path).write_bytes((root / first.path).read_bytes().replace(b"One.", b"Mine."))
    lock.unlink()

    assert_committed(hasty.remember("Two.", title="Second"), root)

    assert first.path in status(root), "their text is not put under our name"
    assert hasty.commit().paths == (first.path,)
    assert "Mine." in git(root, "show", f"HEAD:{first.path}")


def test_a_kill_between_the_write_and_the_commit_is_healed(vault: Vault, root: Path) -> None:
    """What a killed process leaves: the announcement, and the file (or not)."""
    data = b"---\nid: 00000001-0000-4000-8000-000000000001\ntype: fact\n---\nQuartz.\n"
    made = {"vault/made.md": content_hash(data), "vault/never.md": content_hash(b"never written")}
    vault.local.begin(
        PendingOperation(
            "op-1", "remember", "Killed", "s1", ("00000001-0000-4000-8000-000000000001",), tuple(made.items()), vault.now()
        )
    )
    (root / "vault/made.md").write_bytes(data)

    vault.remember("Next.", title="Next")

    assert subjects(root, 2) == ["remember: Next", "remember: (part of Killed)"]
    assert in_commit(root, "HEAD~1") == {"vault/made.md": "A"}
    assert vault.local.pending() == ()


def test_a_kill_before_the_first_write_leaves_nothing_to_heal(vault: Vault, root: Path) -> None:
    vault.local.begin(
        PendingOperation("op-1", "remember", "Killed", "", (), (("vault/never.md", content_hash(b"x")),), vault.now())
    )
    vault.remember("Next.", title="Next")
    assert subjects(root, 2)[0] == "remember: Next"
    assert "Killed" not in git(root, "log", "--format=%s")
    assert vault.local.pending() == ()


def test_a_plan_that_comes_to_nothing_is_no_operation(vault: Vault, root: Path) -> None:
    with untouched(root), writing(vault, "nothing") as op:
        assert op.carry_out("Nothing") == Saved()
    assert vault.local.pending() == ()


def test_an_edit_to_what_is_so_already_makes_no_commit(vault: Vault, root: Path) -> None:
    made = vault.remember("Text.", title="T")
    with untouched(root), writing(vault, "retitle") as op:
        op.edit(made.path, Set("title", "T"))
        saved = op.carry_out("T")
    assert saved == Saved()
    assert vault.local.pending() == ()


def test_staged_and_unstaged_work_of_others_stays_as_it_was(vault: Vault, root: Path) -> None:
    kept = vault.remember("Kept.", title="Kept")
    write(root, "staged.txt", "staged\n")
    write(root, "vault/staged.md", "# Staged\n\nBy a person.\n")
    git(root, "add", "staged.txt", "vault/staged.md")
    write(root, "loose.txt", "loose\n")
    (root / kept.path).write_bytes((root / kept.path).read_bytes() + b"More.\n")
    before = status(root)

    made = vault.remember("Text.")

    assert_committed(made, root)
    assert set(in_commit(root)) == {made.path, f"vault/episodes/{TODAY}.{vault.local.token()}.md"}
    assert status(root) == before


class TestInACodeRepository:
    """A vault that is a folder of somebody's code: only its own paths are ever committed."""

    @pytest.fixture
    def work(self, tmp_path: Path) -> Path:
        return make_repo(tmp_path / "work")

    @contextmanager
    def only_ours(self, work: Path) -> Iterator[None]:
        """The block's commits hold paths of the vault alone, and nothing else of the work tree changes its state."""
        before, tip = status(work), head(work)
        yield
        touched = git(work, "log", "--format=", "--name-only", f"{tip}..HEAD").split()
        assert touched
        assert all(path.startswith("notes/") for path in touched)
        assert status(work) == before

    def test_every_write_keeps_to_the_vault(self, work: Path, clock: FixedClock) -> None:
        Vault.init(work / "notes", clock=clock, commit=True)
        write(work, "staged.py", "print()\n")
        git(work, "add", "staged.py")
        write(work, "README.md", "# Edited\n")
        write(work, "new.py", "pass\n")
        with Vault.open(work / "notes", clock=clock, origin="owner") as vault:
            with self.only_ours(work):
                made = vault.remember("Text.", ["Redis"])
            with self.only_ours(work):
                vault.pin(made.id)
            with self.only_ours(work):
                vault.link(made.id, "FOLLOWS", vault.remember("Other.").id)
            with self.only_ours(work):
                synthesis = vault.create_understanding(["Redis"], "All.", "Short.")
                vault.update_understanding(synthesis.id, "More.", "Longer.")
            with self.only_ours(work):
                assert vault.core().changed
            with self.only_ours(work):
                write(work, f"notes/{made.path}", text(work, f"notes/{made.path}") + "More.\n")
                assert vault.commit().paths == (made.path,)
            assert [entry.subject for entry in vault.log(1).results] == ["edit: Text"]
            assert vault.log().results[-1].subject == "init: notes"
        assert_git_is_sound(work)
        assert_as_built_anew(work / "notes", clock=clock)

    def test_paths_of_results_are_the_vaults_own(self, work: Path) -> None:
        Vault.init(work / "notes", commit=True)
        with Vault.open(work / "notes") as vault:
            made = vault.remember("Text.")
            assert (work / "notes" / made.path).is_file()
            assert f"notes/{made.path}" in in_commit(work)
            assert vault.log(1).results[0].paths[0].startswith("vault/")


def test_without_git_a_note_is_saved_and_nobody_is_called(tmp_path: Path, clock: FixedClock) -> None:
    Vault.init(tmp_path / "v", no_git=True, clock=clock)
    with Vault.open(tmp_path / "v", clock=clock) as vault:
        made = vault.remember("Quartz.", ["Redis"])
        assert (made.committed, made.commit, made.attention) == (False, None, False)
        assert "git init" in made.reason
        assert vault.show(made.id).content == "Quartz."
        assert found(vault, "quartz") == ["Quartz"]
        assert vault.local.pending() == ()
        assert vault.status().git.absence == made.reason
        assert vault.doctor().findings is False
        assert vault.core().characters > 0


def test_git_that_comes_later_takes_the_notes_in(tmp_path: Path) -> None:
    Vault.init(tmp_path / "v", no_git=True)
    with Vault.open(tmp_path / "v") as vault:
        made = vault.remember("Quartz.")
    git(tmp_path / "v", "init", "--quiet")
    with Vault.open(tmp_path / "v") as vault:
        gathered = vault.commit()
        assert made.path in gathered.paths
        assert_committed(gathered, tmp_path / "v")
        assert vault.search("quartz").results[0].id == made.id


def test_subjects_are_written_as_links_where_the_vault_says_so(root: Path, clock: FixedClock) -> None:
    (root / "vault.toml").write_text('links = "wikilink"\n')
    with Vault.open(root, clock=clock) as vault:
        vault.create_subjects([{"name": "Memory system", "aliases": ["The vault"]}])
        (root / "vault/subjects/memory-system.md").rename(root / "vault/subjects/moved.md")
        made = vault.remember("Quartz.", ["the vault", "Redis"])
        assert 'subjects: ["[[moved|Memory system]]", "[[redis|Redis]]"]\n' in text(root, made.path)
        assert made.subject_names == ("Memory system", "Redis")
        shown = vault.show(made.id)
        assert shown.subjects == ("Memory system", "Redis")
        assert found(vault, "quartz", subject_names=["memory system"]) == ["Quartz"]
        synthesis = vault.create_understanding(["Redis"], "All.", "Short.")
        assert 'subjects: ["[[redis|Redis]]"]\n' in text(root, synthesis.path)
        assert vault.create_understanding(["Redis"], "Again.", "Again.").superseded == (synthesis.id,)
        assert vault.get_subjects(["Redis"]).results[0].observation_count == 1


class TestSharedUse:
    def test_yesterdays_use_travels_with_todays_commit(self, vault: Vault, root: Path, clock: FixedClock) -> None:
        made = vault.remember("Text.")
        for _ in range(3):
            vault.get(made.id)
        clock.advance(timedelta(days=1))
        vault.get(made.id)

        vault.remember("Other.")

        journal = f"vault/signals/2026-11.{vault.local.token()}.jsonl"
        assert in_commit(root)[journal] == "A"
        [line] = text(root, journal).splitlines()
        signal = json.loads(line)
        assert (signal["kind"], signal["target"], signal["value"], signal["at"][:10]) == ("use", made.id, 3, TODAY)
        assert vault.show(made.id).access_count == 4, "three that are shared and one of today"
        assert len(vault.local.uses()) == 1

    def test_a_clone_knows_what_was_useful(self, vault: Vault, root: Path, clock: FixedClock, tmp_path: Path) -> None:
        made = vault.remember("Text.")
        vault.get(made.id)
        clock.advance(timedelta(days=1))
        vault.remember("Other.")
        git(tmp_path, "clone", "--quiet", str(root), str(tmp_path / "clone"))
        with Vault.open(tmp_path / "clone", clock=clock) as clone:
            assert clone.show(made.id).access_count == 1

    def test_use_stays_at_home_where_the_vault_says_so(self, root: Path, clock: FixedClock) -> None:
        (root / "vault.toml").write_text("share_use = false\n")
        with Vault.open(root, clock=clock) as vault:
            made = vault.remember("Text.")
            vault.get(made.id)
            clock.advance(timedelta(days=1))
            vault.remember("Other.")
            assert not (root / "vault/signals").exists()
            assert vault.show(made.id).access_count == 1


def test_two_vaults_open_at_once_take_turns(vault: Vault, root: Path) -> None:
    with Vault.open(root) as other:
        for number in range(5):
            vault.remember(f"Mine {number}.")
            other.remember(f"Theirs {number}.")
        assert other.status().counts["observation"] == vault.status().counts["observation"] == 10
    assert_git_is_sound(root)
    assert status(root) == ""


def test_a_folder_that_was_copied_writes_journals_of_its_own(vault: Vault, root: Path, tmp_path: Path) -> None:
    vault.remember("One.")
    copy = tmp_path / "copy"
    own_copy(root, copy)
    vault.remember("Mine.")
    with Vault.open(copy) as other:
        other.remember("Theirs.")
    git(root, "pull", "--quiet", "--no-rebase", "--no-edit", str(copy), "HEAD", ok=False)
    assert "Vault-Op" in trailers(copy)


def test_indexes_follow_every_write_as_a_build_from_nothing_would(vault: Vault, root: Path, clock: FixedClock) -> None:
    problem = vault.remember("It drops quartz.", ["Redis"], kind="problem")
    solution = vault.remember("Keep quartz alive.", ["Redis", "Rack"], kind="solution", problem=problem.id)
    vault.link(solution.id, "SOLVES", problem.id, "It did.")
    synthesis = vault.create_understanding(["Redis"], "All quartz.", "Short.", source_observation_ids=[solution.id])
    vault.update_understanding(synthesis.id, "More quartz.", "Longer.")
    vault.pin(problem.id)
    vault.get(problem.id)
    vault.episode("Quartz day")
    assert_as_built_anew(root, ["quartz", "redis", "short"], clock)
