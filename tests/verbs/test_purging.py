from __future__ import annotations

import json
import shutil
import subprocess
import zlib
from pathlib import Path

import pytest

from tests.cli.typed import vt
from tests.git_repos import add_hook, commit_all, git, write
from tests.terminal import called_at_terminal, let_commands_answer
from tests.verbs.looking import head
from vault_tool import Vault
from vault_tool.errors import Exit, GitError, Refused, UsageError
from vault_tool.files.tombstones import tombstone

SECRETIVE = "Ottoline keeps the spare key beneath the third geranium.\n\nShe told nobody else of the geranium at all."
WORDS = (b"ttoline", b"geranium")


@pytest.fixture
def owned(root: Path) -> Vault:
    """The owner's open vault."""
    return Vault.open(root, person=True)


def held(root: Path) -> list[str]:
    """Every file, git's own and each of its objects too, that holds a word of the memory in its text or its name."""
    found = []
    for path in (path for path in root.rglob("*") if path.is_file()):
        data = path.read_bytes()
        if path.parent.parent.name == "objects" and len(path.parent.name) == 2:
            data = zlib.decompress(data)
        if any(word in data or word in str(path.relative_to(root)).encode() for word in WORDS):
            found.append(str(path.relative_to(root)))
    batch = ("git", "cat-file", "--batch-all-objects", "--batch")
    packed = subprocess.run(batch, cwd=root, capture_output=True, check=True).stdout
    return [*found, *(word.decode() for word in WORDS if word in packed)]


def done_nothing(root: Path, identity: str) -> bool:
    return not (root / tombstone(identity)).exists() and not (root / "_local" / "purges").exists()


def test_nothing_of_it_is_left_in_any_branch_tag_stash_message_or_object(owned: Vault, root: Path) -> None:
    keep = owned.remember("The garden has a red gate.", ["Garden"], kind="fact")
    early = head(root)
    made = owned.remember(SECRETIVE, ["Garden"], kind="fact", tags=["keys"])
    owned.link(made.id, "RELATED_TO", keep.id, "Both are of the garden where the geranium stands.")
    owned.mark_useful(made.id, "Ottoline confirmed that the geranium is the third.")
    git(root, "branch", "side")
    git(root, "tag", "--annotate", "told", "--message", f"Of {SECRETIVE}")
    git(root, "tag", "light")
    git(root, "notes", "add", "-m", "looked at", "HEAD")
    write(root, "README.md", "stashed")
    git(root, "add", "README.md")
    git(root, "stash", "push", "--message", "mine")
    note = root / owned.show(made.id).path
    note.write_text(note.read_text().replace("nobody else of the geranium", "her sister alone"))
    owned.commit()
    owned.core()
    git(root, "commit", "--quiet", "--allow-empty", "-m", f"By hand: {SECRETIVE}")
    git(root, "gc", "--quiet")
    said, files = git(root, "log", "--format=%an %ae %aI %cI"), git(root, "ls-tree", "-r", "HEAD")
    assert len(held(root)) > 3

    looked = owned.purge([made.id], dry_run=True)
    assert git(root, "log", "--format=%an %ae %aI %cI") == said and head(root) == looked.refs[0].before
    assert {one.ref for one in looked.refs} == {f"refs/heads/{git(root, 'branch', '--show-current')}", "refs/heads/side",
                                                "refs/tags/told", "refs/tags/light"}  # fmt: skip
    assert looked.titles == (owned.show(made.id).title,) and done_nothing(root, made.id)
    assert looked.stashes == 1 and looked.commits >= 6 and looked.texts > 4 and looked.stops == {}
    done = owned.purge([made.id])

    assert held(root) == [] and done.objects > 10 and done.left == ()
    assert git(root, "fsck", "--full", "--strict") == "" and git(root, "status", "--porcelain") == ""
    # What was there before it is what it was, and every commit is there still, by whom and when it was.
    assert git(root, "merge-base", "--is-ancestor", early, "HEAD") == "" and git(root, "cat-file", "-t", early) == "commit"
    assert git(root, "log", "--format=%an %ae %aI %cI").endswith(said)
    assert git(root, "show", "stash@{0}:README.md") == "stashed" and git(root, "stash", "list").endswith("mine")
    assert git(root, "notes", "show", "side") == "looked at"
    side = git(root, "rev-parse", "side")
    assert git(root, "cat-file", "-t", "told") == "tag" and git(root, "rev-parse", "told^{commit}") == side
    assert tombstone(made.id) in git(root, "ls-files") and set(files.split("\n")) >= {
        row for row in git(root, "ls-tree", "-r", "HEAD").split("\n") if "red-gate" in row
    }
    assert owned.show(keep.id).relations == () and owned.doctor().problems == ()
    receipt = json.loads((root / done.receipt).read_text())
    assert receipt["ids"] == [made.id] and receipt["refs"]["refs/heads/side"]["after"] == side
    assert owned.remember("Written after.").committed


def test_several_go_together_and_one_that_was_forgotten_before(owned: Vault, root: Path) -> None:
    first = owned.remember(SECRETIVE)
    second = owned.remember("Of the geranium Ottoline waters on Sundays nobody knows.")
    owned.forget(first.id)
    assert held(root)
    done = owned.purge([first.id, second.id])
    assert held(root) == [] and set(done.ids) == {first.id, second.id}


def test_it_stops_at_what_a_person_has_to_allow(owned: Vault, root: Path) -> None:
    made = owned.remember(SECRETIVE)
    git(root, "remote", "add", "origin", "https://example.org/notes.git")
    before = git(root, "for-each-ref")
    write(root, ".gitignore", (root / ".gitignore").read_text() + "\n# mine\n")
    assert set(owned.purge([made.id], dry_run=True).stops) == {"edits", "remotes"}
    for allowed in ((), ("remotes",), ("edits",)):
        with pytest.raises(Refused, match="nothing was purged"):
            owned.purge([made.id], despite=allowed)
    assert git(root, "for-each-ref") == before and owned.show(made.id).id == made.id
    done = owned.purge([made.id], despite=("remotes", "edits"))
    assert done.remotes == ("origin",) and held(root) == []
    assert (root / ".gitignore").read_text().endswith("# mine\n") and git(root, "status", "--porcelain") == " M .gitignore"


def test_a_vault_in_a_bigger_project_is_purged_when_told_and_its_other_files_stay(tmp_path: Path) -> None:
    project = tmp_path / "project"
    git(project.parent, "init", "--quiet", "-b", "main", "project")
    write(project, "main.py", "print('the third geranium')\n")
    commit_all(project, "code")
    Vault.init(project / "notes", commit=True)
    with Vault.open(project / "notes", person=True) as vault:
        made = vault.remember("Ottoline keeps the spare key in the drawer of her desk.")
        write(project, "main.py", "print('changed')\n")
        commit_all(project, "more code")
        with pytest.raises(Refused, match="more than the vault"):
            vault.purge([made.id])
        vault.purge([made.id], despite=["project"])
    assert git(project, "show", "HEAD:main.py") == "print('changed')" and "more code" in git(project, "log", "--format=%s")
    batch = ("git", "cat-file", "--batch-all-objects", "--batch")
    assert b"ttoline" not in subprocess.run(batch, cwd=project, capture_output=True, check=True).stdout


def test_what_cannot_be_written_anew_whole_is_refused(owned: Vault, root: Path, tmp_path: Path) -> None:
    made = owned.remember(SECRETIVE)
    with pytest.raises(Refused, match="only a person"):
        owned.as_(origin="agent").purge([made.id])
    with pytest.raises(UsageError, match="does not stop"):
        owned.purge([made.id], despite=["anything"])
    git(root, "clone", "--quiet", "--depth=1", f"file://{root}", str(tmp_path / "shallow"))
    with Vault.open(tmp_path / "shallow", person=True) as shallow, pytest.raises(Refused, match="shallow"):
        shallow.purge([made.id], despite=["remotes"])
    git(root, "worktree", "add", "--quiet", str(tmp_path / "beside"), "-b", "beside")
    with pytest.raises(Refused, match="work tree"):
        owned.purge([made.id])
    git(root, "worktree", "remove", str(tmp_path / "beside"))
    keep = root / ".git" / "objects" / "pack" / "pack-1.keep"
    keep.write_bytes(b"")
    with pytest.raises(Refused, match=r"pack-1\.keep"):
        owned.purge([made.id])
    keep.unlink()
    for key, said in {"extensions.partialClone": "partial clone", "gc.recentObjectsHook": "recentObjectsHook"}.items():
        git(root, "config", key, "anything")
        with pytest.raises(Refused, match=said):
            owned.purge([made.id])
        git(root, "config", "--unset", key)
    git(root, "checkout", "--quiet", "--detach")
    with pytest.raises(GitError, match="on no branch"):
        owned.purge([made.id])
    git(root, "checkout", "--quiet", "-")
    write(root, ".git/MERGE_HEAD", f"{head(root)}\n")
    with pytest.raises(GitError, match="a merge"):
        owned.purge([made.id])
    assert owned.show(made.id).id == made.id and git(root, "for-each-ref", "refs/vault-purge") == ""


def test_no_program_of_the_repository_runs(owned: Vault, root: Path, tmp_path: Path) -> None:
    made = owned.remember(SECRETIVE)
    ran = tmp_path / "ran"
    for name in ("reference-transaction", "post-rewrite", "pre-commit", "post-commit", "pre-auto-gc", "post-index-change"):
        add_hook(root, name, f"echo {name} >> {ran}")
    script = write(tmp_path, "program", f"#!/bin/sh\necho program >> {ran}\ncat\n")
    script.chmod(0o755)
    for key in ("core.fsmonitor", "filter.x.clean", "filter.x.smudge", "gpg.program", "diff.external", "core.pager"):
        git(root, "config", key, str(script))
    write(root, ".git/info/attributes", "*.md filter=x\n")
    owned.purge([made.id])
    # The erasing is a commit as any, whose hooks and filters run; writing history anew runs none.
    told = ran.read_text() if ran.exists() else ""
    ran.unlink(missing_ok=True)
    other = owned.forget(owned.remember("Ottoline has another geranium in the attic.").id)
    once = ran.read_text()
    assert set(told.split()) <= set(once.split()) and other.committed
    ran.unlink()
    owned.purge([other.id])
    assert not ran.exists() and held(root) == []


def test_old_history_that_a_clone_brings_back_is_named_and_not_served(owned: Vault, root: Path, tmp_path: Path) -> None:
    made = owned.remember(SECRETIVE)
    clone = tmp_path / "clone"
    git(root, "clone", "--quiet", str(root), str(clone))
    owned.purge([made.id])
    write(clone, "vault/other.md", "# Another page\n\nBy hand.\n")
    commit_all(clone, "in the clone")
    git(root, "pull", "--quiet", "--no-rebase", "--allow-unrelated-histories", str(clone), "HEAD", ok=False)
    if git(root, "status", "--porcelain"):
        git(root, "checkout", "--quiet", "--ours", ".", ok=False)
        commit_all(root, "merged")
    assert held(root)
    assert owned.search("geranium").results == ()
    assert [(one.code, one.path) for one in owned.doctor().problems if one.code == "purged-is-back"] == [
        ("purged-is-back", tombstone(made.id))
    ]
    owned.purge([made.id])
    assert held(root) == [] and "purged-is-back" not in {one.code for one in owned.doctor().problems}


def test_undo_and_history_know_nothing_of_it_any_more(owned: Vault, root: Path) -> None:
    made = owned.remember(SECRETIVE)
    commit = head(root)
    other = owned.remember("The garden has a red gate.")
    owned.purge([made.id])
    with pytest.raises(UsageError):
        owned.undo(commit)
    with pytest.raises(Refused):
        owned.undo(head(root))
    assert owned.undo(other.id).removed and "Ottoline" not in str(owned.log())
    shutil.rmtree(root / "_cache")
    assert owned.search("geranium").results == ()


def test_a_memory_too_short_to_be_told_by_its_words_goes_from_logs_messages_and_stashes_too(owned: Vault, root: Path) -> None:
    made = owned.remember("PIN 4417")
    write(root, "README.md", "x")
    git(root, "add", "README.md")
    git(root, "stash")
    assert "PIN 4417" in git(root, "stash", "list")
    owned.purge([made.id])
    batch = ("git", "cat-file", "--batch-all-objects", "--batch")
    assert b"4417" not in subprocess.run(batch, cwd=root, capture_output=True, check=True).stdout
    assert "forgotten" in git(root, "stash", "list")


def test_a_submodule_and_a_work_tree_of_its_own_are_purged(owned: Vault, root: Path, tmp_path: Path) -> None:
    made = owned.remember(SECRETIVE)
    git(tmp_path, "init", "--quiet", "super")
    git(tmp_path / "super", "-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(root), "notes")
    with Vault.open(tmp_path / "super" / "notes", person=True) as inner:
        assert set(inner.purge([made.id], dry_run=True).stops) == {"project", "remotes"}
        dropped = [one.ref for one in inner.purge([made.id], despite=["project", "remotes"]).refs if not one.after]
    assert len(dropped) == 1 and dropped[0].startswith("refs/remotes/origin/")
    assert [path for path in held(tmp_path / "super" / "notes") if ".git/" not in path] == []
    owned.purge([made.id])
    git(root, "worktree", "add", "--quiet", str(tmp_path / "two"), "-b", "two")
    with Vault.open(tmp_path / "two", person=True) as linked:
        linked.purge([linked.remember(SECRETIVE).id])
    assert git(tmp_path / "two", "status", "--porcelain") == "" and held(root) == []


def test_a_command_shows_what_would_go_asks_and_says_what_stops_it(owned: Vault, root: Path) -> None:
    made = owned.remember(SECRETIVE)
    git(root, "remote", "add", "origin", "https://example.org/notes.git")
    asked = ("forget", made.id[:8], "--purge")
    assert vt(*asked, "--yes", cwd=root).returncode == Exit.REFUSED and held(root)
    let_commands_answer(root)
    looked = vt(*asked, "--dry-run", cwd=root).stdout
    assert "would be purged" in looked and "refs/heads/" in looked and "remotes keep the old history" in looked
    unasked = called_at_terminal(*asked, "--json", cwd=root)
    assert unasked.returncode == Exit.REFUSED and "--json asks nothing" in unasked.stdout
    stopped = vt(*asked, "--yes", cwd=root)
    assert stopped.returncode == Exit.REFUSED and "--despite remotes" in stopped.stderr and stopped.stderr.count("\n") == 1
    assert vt("forget", made.id, "--despite", "remotes", cwd=root).returncode == Exit.USAGE
    told = json.loads(vt(*asked, "--yes", "--despite", "remotes", "--json", cwd=root).stdout)
    assert told["ids"] == [made.id] and told["remotes"] == ["origin"] and told["objects"] > 5 and held(root) == []


def test_what_rests_on_a_file_at_a_commit_goes_on_resting_on_it(owned: Vault, root: Path) -> None:
    made = owned.remember(SECRETIVE)
    write(root, "build.py", "print('built')\n")
    seen = commit_all(root, "code")
    other = owned.remember(
        "The build prints one word.", evidence=["file:build.py", f"commit:{seen[:10]}", "url:https://example.org/@abcd"]
    )
    assert [one.state for one in owned.show(other.id).evidence][:2] == ["holds", "holds"]
    owned.purge([made.id])
    after = owned.show(other.id).evidence
    assert [one.state for one in after][:2] == ["holds", "holds"], after
    assert after[2].reference == "url:https://example.org/@abcd" and seen[:10] not in after[1].reference
    assert git(root, "status", "--porcelain") == "" and held(root) == []
