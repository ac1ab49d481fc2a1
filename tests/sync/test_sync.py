"""`sync`: two machines and a hub, real git throughout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.typed import vt
from tests.git_repos import add_hook, commit_all, git, write
from tests.oracles import assert_as_built_anew, assert_git_is_sound
from tests.sync.machines import as_person, clone_of, founded_with_hub, in_step, sync
from vault_tool import Vault
from vault_tool.errors import Exit, GitError, Refused, UsageError
from vault_tool.features.erasing import waiting_tombstones
from vault_tool.features.sync import syncing
from vault_tool.features.sync.following import finish
from vault_tool.files.git import publish as publishing
from vault_tool.files.git.remote import require_address
from vault_tool.vault.context import Context


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """Two machines in step, with one memory."""
    root, hub = founded_with_hub(tmp_path)
    with Vault.open(root, person=True) as vault:
        vault.remember("The port of Redis is 6379.", ["Redis"], tags=["base"])
        vault.sync()
    return root, clone_of(hub, "b")


def the_note(root: Path) -> Path:
    return next((root / "vault" / "observations").rglob("the-port*.md"))


def the_id(root: Path) -> str:
    return the_note(root).stem.rpartition("-")[2]


def test_both_sides_arrive_and_a_note_that_both_tagged_has_both_tags(two: tuple[Path, Path]) -> None:
    a, b = two
    for root, tag in ((a, "xa"), (b, "yb")):
        with Vault.open(root, person=True) as vault:
            vault.tag(the_id(root), [tag])
            vault.remember(f"Only seen at {tag}.", [tag])
    first, second = sync(a), sync(b)
    assert (first.sent, first.received) == (2, 0)
    assert (second.sent, second.received, second.unsettled) == (3, 2, ())
    assert len(second.merged) == 1 and not second.attention
    in_step(a, b)
    assert "tags: [base, xa, yb]" in the_note(a).read_text()
    message = git(a, "log", "-1", "--format=%B")
    assert "Vault-Op: sync" in message and "Vault-Unsettled: 0" in message
    for root in two:
        assert_git_is_sound(root)
    assert_as_built_anew(b, ["port", "seen"])


def test_one_place_that_both_changed_keeps_both_and_waits_for_review(two: tuple[Path, Path]) -> None:
    a, b = two
    for root, port in ((a, "6380"), (b, "6381")):
        note = the_note(root)
        note.write_text(note.read_text().replace("6379.", f"{port}."))
    sync(a)
    done = sync(b)
    assert [two.places for two in done.unsettled] == [1] and done.attention
    assert vt("sync", cwd=b).returncode == Exit.DONE
    in_step(a, b)
    for root in two:
        text = the_note(root).read_text()
        assert "6380" in text and "6381" in text and "<!-- two versions" in text
        with Vault.open(root, person=True) as vault:
            (open_text,) = vault.unsettled().results
            assert {"6380", "6381"} <= {word.strip(".") for word in f"{open_text.this} {open_text.that}".split()}
    with Vault.open(a, person=True) as vault:
        vault.settle_texts(vault.unsettled().results[0].key, "this")
    in_step(a, b)
    assert "<!-- two versions" not in the_note(b).read_text()


def test_hand_edits_are_committed_first_and_what_cannot_be_stays_and_is_named(two: tuple[Path, Path]) -> None:
    a, b = two
    note = the_note(a)
    note.write_text(note.read_text() + "By hand.\n")
    write(a, "vault/broken.md", "<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> z\n")
    done = sync(a)
    assert done.sent == 1 and done.attention
    assert [problem.path for problem in done.left] == ["vault/broken.md"]
    sync(b)
    assert "By hand." in the_note(b).read_text()
    assert not (b / "vault/broken.md").exists() and (a / "vault/broken.md").exists()


def test_an_edit_made_while_it_merges_is_kept_and_what_came_too(two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = two
    note = the_note(b)
    note.write_text(note.read_text() + "\nA paragraph of B.\n")
    sync(b)
    moved = publishing.publish

    def edited(*args: object, **named: object) -> bool:
        mine = the_note(a)
        mine.write_text(mine.read_text().replace("tags: [base]", "tags: [base, hand]"))
        return moved(*args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(syncing, "publish", edited)
    done = sync(a)
    assert len(done.edited) == 1
    text = the_note(a).read_text()
    assert "A paragraph of B." in text and "tags: [base, hand]" in text
    monkeypatch.undo()
    in_step(a, b)
    assert the_note(b).read_text() == text


def test_offline_nothing_is_lost_and_what_waits_is_told(two: tuple[Path, Path]) -> None:
    a, _ = two
    hub = a.parent / "hub.git"
    hub.rename(a.parent / "away.git")
    with Vault.open(a, person=True) as vault:
        vault.remember("Written on a train.", ["Trains"])
    done = vt("sync", cwd=a)
    assert done.returncode == Exit.DONE, done.stderr
    assert "1 commit waits for origin" in done.stdout
    (a.parent / "away.git").rename(hub)
    assert sync(a).sent == 1


def test_a_hub_that_rejects_gets_nothing_by_force_and_its_line_is_told(two: tuple[Path, Path]) -> None:
    a, _ = two
    hook = a.parent / "hub.git" / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho 'this branch is protected' >&2\nexit 1\n")
    hook.chmod(0o755)
    with Vault.open(a, person=True) as vault:
        vault.remember("Not let in.", ["Doors"])
    done = vt("sync", cwd=a)
    assert done.returncode == Exit.ATTENTION
    assert "1 commit is here alone" in done.stdout and "this branch is protected" in done.stdout


def test_a_push_that_is_overtaken_is_made_again(two: tuple[Path, Path]) -> None:
    a, b = two
    with Vault.open(b, person=True) as vault:
        vault.remember("Sent in between.", ["Races"])
    # The hub takes B's commit while A pushes: once, by a hook of A's own that runs before the push is sent.
    add_hook(a, "pre-push", f'test -e "{a.parent}/once" && exit 0\ntouch "{a.parent}/once"\ncd "{b}" && git push -q origin main')
    with Vault.open(a, person=True) as vault:
        vault.remember("Sent by A.", ["Races"])
    done = sync(a)
    assert done.sent and done.received == 1 and not done.waiting
    assert (a.parent / "once").exists()
    in_step(a, b)


def test_a_hub_that_went_back_gets_its_commits_again(two: tuple[Path, Path]) -> None:
    a, b = two
    old = git(a, "rev-parse", "HEAD")
    with Vault.open(a, person=True) as vault:
        vault.remember("Pushed, and lost by the hub.", ["Hubs"])
    sync(a)
    git(a.parent / "hub.git", "update-ref", "refs/heads/main", old)
    assert sync(a).sent == 1
    in_step(a, b)
    assert list((b / "vault" / "observations").rglob("pushed-and-lost*.md"))


def test_a_history_that_was_rewritten_is_not_merged_without_a_word(two: tuple[Path, Path]) -> None:
    a, b = two
    with Vault.open(b, person=True) as vault:
        vault.remember("It will be rewritten away.", ["Hubs"])
    sync(b)
    sync(a)
    git(b, "reset", "--quiet", "--hard", "HEAD~1")
    with Vault.open(b, person=True) as vault:
        vault.remember("Another history.", ["Hubs"])
    git(b, "push", "--quiet", "--force", "origin", "main")
    before = git(a, "rev-parse", "HEAD")
    for _ in range(2):
        done = sync(a)
        assert done.attention and "rewritten" in done.reason
        assert git(a, "rev-parse", "HEAD") == before
    sync(a, confirm=True)
    in_step(a, b)
    names = {file.name.rpartition("-")[0] for file in (a / "vault" / "observations").rglob("*.md")}
    assert {"it-will-be-rewritten-away", "another-history"} <= names


def test_unrelated_histories_and_a_missing_branch_are_refused_and_nothing_changes(two: tuple[Path, Path], tmp_path: Path) -> None:
    a, _ = two
    other = tmp_path / "other.git"
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", "other.git")
    seed = tmp_path / "seed"
    git(tmp_path, "clone", "--quiet", str(other), "seed")
    write(seed, "vault/x.md", "x\n")
    commit_all(seed, "x")
    git(seed, "push", "--quiet", "origin", "HEAD:main")
    git(a, "remote", "add", "other", str(other))
    before = git(a, "rev-parse", "HEAD")
    done = vt("sync", "--remote", "other", cwd=a)
    assert done.returncode == Exit.REFUSED and "nothing in common" in done.stderr
    git(a, "checkout", "--quiet", "--detach")
    assert vt("sync", cwd=a).returncode == Exit.REFUSED
    git(a, "checkout", "--quiet", "main")
    assert git(a, "rev-parse", "HEAD") == before
    unknown = vt("sync", "--remote", "nope", cwd=a)
    assert unknown.returncode == Exit.USAGE
    assert "no remote is called nope; there are: origin, other" in unknown.stderr


def test_what_is_not_the_vaults_is_neither_merged_nor_sent(two: tuple[Path, Path]) -> None:
    a, b = two
    write(b, "src/app.py", "print()\n")
    commit_all(b, "code")
    before = git(a.parent / "hub.git", "rev-parse", "main")
    done = vt("sync", "--json", cwd=b)
    assert done.returncode == Exit.ATTENTION
    answer = json.loads(done.stdout)
    assert "src/app.py" in answer["outside"][0] and answer["sent"] == 0
    assert git(a.parent / "hub.git", "rev-parse", "main") == before
    git(b, "push", "--quiet", "origin", "main")
    head = git(a, "rev-parse", "HEAD")
    assert sync(a).outside and git(a, "rev-parse", "HEAD") == head and not (a / "src").exists()


@pytest.mark.parametrize("kind", ["link", "module"])
def test_a_link_that_came_is_never_made(two: tuple[Path, Path], kind: str) -> None:
    a, b = two
    if kind == "link":
        (b / "vault" / "passwd.md").symlink_to("/etc/passwd")
        commit_all(b, "a link")
    else:
        git(b, "update-index", "--add", "--cacheinfo", f"160000,{git(b, 'rev-parse', 'HEAD')},vault/module")
        git(b, "commit", "--quiet", "-m", "a module")
    git(b, "push", "--quiet", "origin", "main")
    with pytest.raises(Refused, match="no plain file"):
        sync(a)
    assert not os.path.lexists(a / "vault" / "passwd.md")


def test_many_notes_that_would_go_need_a_word(two: tuple[Path, Path]) -> None:
    a, b = two
    with Vault.open(a, person=True) as vault:
        vault.add_observations([{"content": f"Note number {number} of many.", "subject_names": ["Many"]} for number in range(30)])
    in_step(a, b)
    for note in (b / "vault" / "observations").rglob("note-number*.md"):
        note.unlink()
    commit_all(b, "all gone")
    git(b, "push", "--quiet", "origin", "main")
    with pytest.raises(Refused, match=r"30 of .* would be gone here by A Tester") as refused:
        sync(a)
    assert "--confirm" in refused.value.hint or "confirm" in str(refused.value)
    assert len(list((a / "vault" / "observations").rglob("note-number*.md"))) == 30
    sync(a, confirm=True)
    assert not list((a / "vault" / "observations").rglob("note-number*.md"))


def test_a_word_of_what_was_forgotten_is_redacted_in_the_merge(two: tuple[Path, Path]) -> None:
    a, b = two
    with Vault.open(a, person=True) as vault:
        known = vault.remember("The SECRETWORD opens the harbour gate at night.", ["Harbour"]).id
        other = vault.remember("The gate is old.", ["Harbour"]).id
    in_step(a, b)
    with Vault.open(b, person=True) as vault:
        vault.mark_useful(known, "SECRETWORD opens the harbour gate at night, I tried it")
        vault.link(known, "SOLVES", other, "the SECRETWORD opens the harbour gate at night")
        vault.tag(known, ["keys"])
    with Vault.open(a, person=True) as vault:
        vault.forget(known)
    sync(a)
    done = sync(b)
    assert done.removed and done.redacted, done
    in_step(a, b)
    for root in two:
        assert git(root, "grep", "-l", "SECRETWORD", ok=False) == ""
        with Vault.open(root, person=True) as vault:
            assert [problem for problem in vault.doctor().problems if problem.severity != "note"] == []


def test_a_kill_before_and_after_the_branch_moves_is_finished(two: tuple[Path, Path]) -> None:
    a, b = two
    with Vault.open(a, person=True) as vault:
        vault.tag(the_id(a), ["xa"])
        vault.remember("New at A.", ["News"])
    sync(a)
    code = (
        "import os, sys\nfrom vault_tool import Vault\nfrom vault_tool.features.sync import syncing\n"
        "name = sys.argv[2]\nwas = getattr(syncing, name)\n"
        "def killed(*args, **named):\n"
        "    if sys.argv[3] == 'after': was(*args, **named)\n"
        "    os._exit(9)\n"
        "setattr(syncing, name, killed)\n"
        "with Vault.open(sys.argv[1], person=True) as vault: vault.sync()\n"
    )
    old = git(b, "rev-parse", "HEAD")
    for name, when, moved in (("enter", "after", False), ("publish", "before", False), ("publish", "after", True)):
        done = subprocess.run([sys.executable, "-c", code, str(b), name, when], check=False, capture_output=True, text=True)
        assert done.returncode == 9, done.stderr
        with Vault.open(b, person=True) as vault:
            finish(vault)
            vault.fresh()
        assert git(b, "status", "--porcelain") == "", (name, when)
        assert (git(b, "rev-parse", "HEAD") != old) == moved, (name, when)
        assert ("xa" in the_note(b).read_text()) == moved
    in_step(a, b)


@pytest.mark.parametrize(
    "address",
    [
        "ext::sh -c 'touch /tmp/x'", "-uploads", "--upload-pack=touch", "http://example.org/x.git", "fd::17/foo", "HTTP://x.org/a",
        "git://example.org/x", "https://ann:secret@example.org/x.git", "", "a\nb", "ext:foo", "-x@host:path", "other::address",
        "ssh://-oProxyCommand=x/y", "https:///x",
    ],
)  # fmt: skip
def test_addresses_that_are_not_gone_to(address: str) -> None:
    with pytest.raises(UsageError) as refused:
        require_address(address)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "address",
    ["https://example.org/x.git", "ssh://git@example.org:22/x.git", "git@example.org:x.git", "/srv/x.git", "../x.git",
     "hub:vault.git", "file:///srv/x.git", "https://ann@example.org/x.git"],
)  # fmt: skip
def test_addresses_that_are(address: str) -> None:
    assert require_address(address) == address


def test_an_address_that_stands_in_the_config_is_checked_too(two: tuple[Path, Path], tmp_path: Path) -> None:
    a, _ = two
    git(a, "remote", "set-url", "origin", f"ext::sh -c 'touch {tmp_path}/canary'")
    with pytest.raises(UsageError):
        sync(a)
    git(a, "remote", "set-url", "origin", "short:x")
    git(a, "config", "url.ext::sh -c %S touch.insteadOf", "short:")
    with pytest.raises(UsageError):
        sync(a)
    assert not (tmp_path / "canary").exists()


def test_no_hook_or_filter_of_a_repository_is_run_but_the_push_hook(two: tuple[Path, Path], tmp_path: Path) -> None:
    a, b = two
    for name in ("post-merge", "pre-commit", "commit-msg", "post-checkout", "reference-transaction", "pre-rebase", "post-commit"):
        add_hook(b, name, f"touch {tmp_path}/ran-{name}")
    add_hook(b, "pre-push", f"touch {tmp_path}/ran-pre-push")
    git(b, "config", "filter.evil.smudge", f"touch {tmp_path}/ran-smudge; cat")
    git(b, "config", "filter.evil.clean", f"touch {tmp_path}/ran-clean; cat")
    git(b, "config", "merge.vault.driver", f"touch {tmp_path}/ran-driver")
    git(b, "config", "core.fsmonitor", f"touch {tmp_path}/ran-fsmonitor")
    for root, tag in ((a, "xa"), (b, "yb")):
        if root == a:
            write(a, ".gitattributes", "* filter=evil merge=vault\n")
        with Vault.open(root, person=True) as vault:
            vault.tag(the_id(root), [tag])
    sync(a)
    # A commit of the person's own runs theirs; the merge runs none.
    for ran in tmp_path.glob("ran-*"):
        ran.unlink()
    done = sync(b)
    assert done.received and done.sent
    assert {file.name for file in tmp_path.glob("ran-*")} == {"ran-pre-push"}


def test_another_persons_deletions_take_nothing_of_the_owners(two: tuple[Path, Path]) -> None:
    a, b = two
    with as_person("mallory@example.net"), Vault.open(b, person=True) as vault:
        vault.forget(the_id(b))
        vault.sync()
    done = sync(a)
    assert done.stayed and not done.removed
    assert the_note(a).exists()
    with Vault.open(a, person=True) as vault:
        assert vault.show(the_note(a).stem.rpartition("-")[2]).origin == "owner"
        (told,) = waiting_tombstones.waiting(vault)
        assert told.who == "Mallory <mallory@example.net>" and told.whose == "owner"


def test_nothing_new_changes_nothing(two: tuple[Path, Path]) -> None:
    a, _ = two
    before = {path: path.stat().st_mtime_ns for path in (a / "vault").rglob("*")}
    done = vt("sync", cwd=a)
    assert done.returncode == Exit.DONE and done.stdout.strip() == "in step with origin/main"
    assert {path: path.stat().st_mtime_ns for path in (a / "vault").rglob("*")} == before


def test_nothing_new_needs_no_look_at_the_files_and_what_waits_is_committed(
    two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, _ = two
    sync(a)
    looks: list[str] = []
    fresh = Context.fresh

    def looked(vault: Context, *given: object) -> None:
        looks.append("look")
        fresh(vault, *given)  # type: ignore[arg-type]

    with Vault.open(a, person=True) as vault:
        monkeypatch.setattr(Context, "fresh", looked)
        assert not vault.sync().sent and looks == []
        hook = add_hook(a, "pre-commit", "exit 1")
        made = vault.remember("Written while a hook refused.", ["News"])
        assert not made.committed
        hook.unlink()
        looks.clear()
        assert vault.sync().sent == 1 and looks
        assert git(a, "log", "-1", "--format=%H", "--", made.path)
        (a / made.path).write_text((a / made.path).read_text().replace("refused", "had refused"))
        assert vault.sync().sent == 1 and git(a, "status", "--porcelain") == ""


def test_a_dry_run_says_what_would_be_and_changes_nothing(two: tuple[Path, Path]) -> None:
    a, b = two
    for root, tag in ((a, "xa"), (b, "yb")):
        with Vault.open(root, person=True) as vault:
            vault.tag(the_id(root), [tag])
    sync(a)
    before = git(b, "rev-parse", "HEAD"), the_note(b).read_text(), git(a.parent / "hub.git", "rev-parse", "main")
    done = sync(b, dry_run=True)
    assert done.dry_run and len(done.merged) == 1 and done.received == 1
    assert (git(b, "rev-parse", "HEAD"), the_note(b).read_text(), git(a.parent / "hub.git", "rev-parse", "main")) == before


def test_where_git_knows_nobody_nothing_is_merged(two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = two
    for root, tag in ((a, "xa"), (b, "yb")):
        with Vault.open(root, person=True) as vault:
            vault.tag(the_id(root), [tag])
    sync(a)
    for name in [name for name in os.environ if name.startswith(("GIT_AUTHOR", "GIT_COMMITTER"))]:
        monkeypatch.delenv(name)
    before = git(b, "rev-parse", "HEAD")
    with pytest.raises(GitError, match="who you are"):
        sync(b)
    assert git(b, "rev-parse", "HEAD") == before and git(b, "status", "--porcelain") == ""
