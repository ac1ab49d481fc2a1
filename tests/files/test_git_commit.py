"""A commit holds what it was given and nothing else, in every kind of repository."""

from __future__ import annotations

import os
from pathlib import Path

import git as gitpython
import pytest

from tests.git_repos import commit_all, found, git, make_empty_repo, make_repo, write
from vault_tool.errors import Refused
from vault_tool.files import git as vault_git
from vault_tool.files.git import Commit, FileChange
from vault_tool.files.git.publish import keep_tidy

TEXT = vault_git.message("remember: a thing", "remember", "s-1", ["a1"])


def _save(root: Path, path: str, text: str) -> FileChange:
    write(root, path, text)
    return FileChange(path, text.encode())


def _commit(root: Path, *changes: FileChange, text: str = TEXT) -> Commit:
    done = vault_git.commit(found(root), changes, text)
    assert done.committed, done.reason
    return done


def _is_clean(root: Path) -> bool:
    """No path differs, and git finds that from the index alone, without reading a file."""
    return git(root, "status", "--porcelain") == "" and git(root, "diff-files") == ""


def test_a_commit_read_by_another_library(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    parent = git(root, "rev-parse", "HEAD")
    done = _commit(root, _save(root, "vault/a.md", "one\n"), _save(root, "vault/b c.md", "two"))
    commit = gitpython.Repo(root).head.commit
    assert commit.hexsha == done.commit
    assert [each.hexsha for each in commit.parents] == [parent]
    assert str(commit.message).splitlines()[0] == "remember: a thing"
    assert commit.trailers_dict == {"Vault-Op": ["remember"], "Vault-Session": ["s-1"], "Vault-Ids": ["a1"]}
    assert (commit.author.name, commit.author.email) == ("A Tester", "tester@example.org")
    assert (commit.committer.name, commit.committer.email) == ("A Tester", "tester@example.org")
    assert sorted(map(str, commit.stats.files)) == ["vault/a.md", "vault/b c.md"]
    assert (commit.tree / "vault/b c.md").data_stream.read() == b"two"
    assert gitpython.Repo(root).head.reference.name == "main"
    assert gitpython.Repo(root).head.log()[-1].message == "commit by vault_tool: remember: a thing"
    assert _is_clean(root)
    assert git(root, "for-each-ref", "--format=%(refname)") == "refs/heads/main"
    assert git(root, "fsck", "--strict") == ""


def test_other_work_stays_as_it_was(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    for name in ("staged.txt", "edited.txt", "both.txt", "gone.txt"):
        write(root, name, "old\n")
    commit_all(root, "files")
    write(root, "staged.txt", "new\n")
    write(root, "both.txt", "staged\n")
    write(root, "added.txt", "added\n")
    git(root, "add", "staged.txt", "both.txt", "added.txt")
    git(root, "rm", "--quiet", "gone.txt")
    write(root, "both.txt", "staged and edited\n")
    write(root, "edited.txt", "edited\n")
    write(root, "loose.txt", "untracked\n")
    before = (git(root, "status", "--porcelain"), git(root, "ls-files", "--stage"), git(root, "diff"))
    _commit(root, _save(root, "vault/a.md", "one\n"))
    after = (git(root, "status", "--porcelain"), git(root, "ls-files", "--stage"), git(root, "diff"))
    staged = [line for line in after[1].splitlines() if not line.endswith("vault/a.md")]
    assert (after[0], "\n".join(staged), after[2]) == before
    assert list(gitpython.Repo(root).head.commit.stats.files) == ["vault/a.md"]


def test_an_edit_keeps_the_mode_and_a_deletion_removes(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    write(root, "vault/run.md", "one\n").chmod(0o755)
    write(root, "vault/gone.md", "one\n")
    commit_all(root, "notes")
    (root / "vault/gone.md").unlink()
    _commit(root, _save(root, "vault/run.md", "two\n"), FileChange("vault/gone.md", None))
    tree = gitpython.Repo(root).head.commit.tree
    assert (tree / "vault/run.md").mode == 0o100755
    assert git(root, "show", "HEAD:vault/run.md") == "two"
    assert [blob.name for blob in (tree / "vault").blobs] == ["run.md"]
    assert _is_clean(root)


def test_the_first_commit_of_an_unborn_branch(tmp_path: Path) -> None:
    root = make_empty_repo(tmp_path / "v")
    _commit(root, _save(root, "vault/a.md", "one\n"))
    assert gitpython.Repo(root).head.commit.parents == ()
    assert _is_clean(root)


def test_a_repository_with_sha256_ids(tmp_path: Path) -> None:
    root = make_empty_repo(tmp_path / "v", "--object-format=sha256")
    _commit(root, _save(root, "vault/a.md", "one\n"))
    done = _commit(root, _save(root, "vault/a.md", "two\n"))
    assert done.commit == git(root, "rev-parse", "HEAD")
    assert len(done.commit) == 64
    assert _is_clean(root)
    assert git(root, "fsck", "--strict") == ""


def test_a_vault_in_a_folder_of_a_code_repository(tmp_path: Path) -> None:
    code = make_repo(tmp_path / "code")
    root = code / "docs" / "memory"
    change = _save(root, "vault/a.md", "one\n")
    repo = found(root)
    assert (repo.prefix, repo.work_tree) == ("docs/memory/", code)
    _commit(root, change)
    assert list(gitpython.Repo(code).head.commit.stats.files) == ["docs/memory/vault/a.md"]
    assert vault_git.show(repo, "HEAD", "vault/a.md") == b"one\n"
    assert _is_clean(code)


def test_a_vault_reached_through_a_symbolic_link(tmp_path: Path) -> None:
    code = make_repo(tmp_path / "code")
    _save(code, "memory/vault/a.md", "one\n")
    (tmp_path / "link").symlink_to(code / "memory")
    root = tmp_path / "link"
    assert found(root).prefix == "memory/"
    _commit(root, FileChange("vault/a.md", b"one\n"))
    assert git(code, "ls-files", "memory") == "memory/vault/a.md"
    assert _is_clean(code)


def test_a_vault_in_a_linked_worktree(tmp_path: Path) -> None:
    main = make_repo(tmp_path / "main")
    git(main, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    root = tmp_path / "side"
    assert (root / ".git").is_file()
    _commit(root, _save(root, "vault/a.md", "one\n"))
    assert git(root, "log", "-1", "--format=%s", "side") == "remember: a thing"
    assert git(main, "log", "-1", "--format=%s", "main") == "first"
    assert _is_clean(root)
    assert _is_clean(main)


def test_a_vault_that_is_a_submodule(tmp_path: Path) -> None:
    inner = make_repo(tmp_path / "inner")
    outer = make_repo(tmp_path / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "memory")
    root = outer / "memory"
    assert (root / ".git").is_file()
    _commit(root, _save(root, "vault/a.md", "one\n"))
    assert git(root, "log", "-1", "--format=%s") == "remember: a thing"
    assert _is_clean(root)


@pytest.mark.parametrize(
    "name",
    [
        "with space.md",
        'quo"te.md',
        "back\\slash.md",
        "ünï©ode-日本語.md",
        "👩‍💻🎉.md",
        "-rf.md",
        ":(glob)*.md",
        "*.md",
        "[a].md",
        "'; touch x.md",
        "$HOME.md",
        "a -> b.md",
    ],
)
def test_any_name_is_itself_and_nothing_more(tmp_path: Path, name: str) -> None:
    root = make_repo(tmp_path / "v")
    write(root, "vault/bystander.md", "not ours\n")
    write(root, "vault/a.md", "not ours\n")
    change = _save(root, f"vault/{name}", "one\n")
    _commit(root, change)
    repo = found(root)
    assert vault_git.tracked(repo, ["vault"]) == {change.path}
    assert vault_git.show(repo, "HEAD", change.path) == b"one\n"
    assert [entry.paths for entry in vault_git.log(repo, paths=[change.path])] == [(change.path,)]
    assert vault_git.ignored(repo, [change.path]) == set()
    assert {each.path for each in vault_git.uncommitted(repo)} == {"vault/a.md", "vault/bystander.md"}
    write(root, change.path, "two\n")
    assert vault_git.uncommitted(repo, [change.path]) == [vault_git.UncommittedFile(change.path, "modified")]
    assert "+two" in vault_git.diff(repo, paths=[change.path])


def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    name = os.fsdecode(b"vault/latin-\xe9.md")
    (root / "vault").mkdir()
    (root / name).write_bytes(b"one\n")
    _commit(root, FileChange(name, b"one\n"))
    assert vault_git.tracked(found(root), ["vault"]) == {name}
    assert vault_git.log(found(root))[0].paths == (name,)


def test_bytes_are_kept(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    write(root, ".gitattributes", "vault/** -text\n")
    content = b"\xef\xbb\xbfone\r\ntwo\r\n\x00\xff no newline at the end"
    (root / "vault").mkdir()
    (root / "vault/a.md").write_bytes(content)
    _commit(root, FileChange("vault/a.md", content))
    assert vault_git.show(found(root), "HEAD", "vault/a.md") == content


def test_nothing_to_do_is_said_and_costs_no_commit(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    change = _save(root, "vault/a.md", "one\n")
    first = _commit(root, change)
    again = vault_git.commit(found(root), [change, FileChange("vault/never.md", None)], TEXT)
    assert again == Commit(committed=False, commit=None, reason="", nothing=True)
    assert vault_git.commit(found(root), [], TEXT).nothing
    assert git(root, "rev-parse", "HEAD") == first.commit


def test_an_index_that_fell_behind_is_mended(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    change = _save(root, "vault/a.md", "one\n")
    _commit(root, change)
    git(root, "rm", "--quiet", "--cached", "vault/a.md")
    assert vault_git.commit(found(root), [change], TEXT).nothing
    assert _is_clean(root)
    git(root, "rm", "--quiet", "--cached", "vault/a.md")
    _commit(root, change, _save(root, "vault/b.md", "two\n"))
    assert _is_clean(root)


def test_an_edit_made_after_the_write_stays_an_edit(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    change = _save(root, "vault/a.md", "what the tool wrote\n")
    write(root, "vault/a.md", "what the person made of it\n")
    _commit(root, change)
    assert git(root, "show", "HEAD:vault/a.md") == "what the tool wrote"
    assert git(root, "diff", "--cached", "--name-only") == ""
    assert git(root, "status", "--porcelain") == " M vault/a.md"


def test_a_file_gone_or_back_on_disk_meanwhile(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    write(root, "vault/back.md", "one\n")
    commit_all(root, "note")
    _commit(root, FileChange("vault/gone.md", b"one\n"), FileChange("vault/back.md", None))
    assert git(root, "status", "--porcelain") == " D vault/gone.md\n?? vault/back.md"


def test_a_folder_takes_the_place_of_a_file(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    write(root, "vault/a", "one\n")
    commit_all(root, "note")
    (root / "vault/a").unlink()
    _commit(root, _save(root, "vault/a/b.md", "two\n"), FileChange("vault/a", None))
    assert git(root, "ls-tree", "-r", "--name-only", "HEAD", "vault") == "vault/a/b.md"
    assert _is_clean(root)


def test_many_files_are_one_commit(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    write(root, "vault/other.md", "not ours\n")
    changes = [_save(root, f"vault/{number % 7}/n{number}.md", f"note {number}\n") for number in range(1200)]
    _commit(root, *changes)
    assert gitpython.Repo(root).head.commit.stats.total["files"] == 1200
    assert git(root, "status", "--porcelain") == "?? vault/other.md"
    assert git(root, "diff-files") == ""
    assert vault_git.commit(found(root), changes, TEXT).nothing


def test_what_is_a_link_in_git_is_not_replaced(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    write(root, "target.md", "one\n")
    (root / "link.md").symlink_to("target.md")
    head = commit_all(root, "link")
    done = vault_git.commit(found(root), [FileChange("link.md", b"two\n")], TEXT)
    assert not done.committed
    assert "link.md is a symbolic link in git" in done.reason
    assert git(root, "rev-parse", "HEAD") == head


@pytest.mark.parametrize("rule", ["vault/", "*.md"])
def test_an_ignored_file_is_not_forced_in(tmp_path: Path, rule: str) -> None:
    root = make_repo(tmp_path / "v")
    write(root, ".gitignore", rule + "\n")
    done = vault_git.commit(found(root), [_save(root, "vault/sub/a.md", "one\n")], TEXT)
    assert (done.committed, done.nothing) == (False, False)
    assert "vault/sub/a.md is ignored by git" in done.reason
    assert git(root, "ls-files", "vault") == ""


def test_a_tracked_file_is_committed_though_a_rule_names_it(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    _commit(root, _save(root, "vault/a.md", "one\n"))
    write(root, ".gitignore", "vault/\n")
    _commit(root, _save(root, "vault/a.md", "two\n"))
    assert git(root, "show", "HEAD:vault/a.md") == "two"


def test_a_repository_within_the_vault_is_left_alone(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    inner = make_repo(root / "vault" / "inner")
    done = vault_git.commit(found(root), [_save(root, "vault/inner/a.md", "one\n")], TEXT)
    assert "vault/inner/a.md lies in a repository of its own" in done.reason
    assert vault_git.uncommitted(found(root)) == []
    assert git(inner, "status", "--porcelain") == "?? a.md"


@pytest.mark.parametrize(
    "path",
    [
        "../out.md",
        "/etc/x.md",
        "vault/../../out.md",
        "vault/../vault/x.md",
        ".git/config",
        "a/.GIT/x",
        "a\nb.md",
        "a\0b",
        "",
        "a//b",
    ],
)
def test_a_path_that_leaves_the_vault_is_refused(tmp_path: Path, path: str) -> None:
    root = make_repo(tmp_path / "v")
    with pytest.raises(Refused, match="is no path of a file in the vault"):
        vault_git.commit(found(root), [FileChange(path, b"x")], TEXT)
    with pytest.raises(Refused):
        vault_git.show(found(root), "HEAD", path)


def test_git_packs_its_objects_when_they_are_many(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    git(root, "config", "gc.auto", "1")
    git(root, "config", "gc.autoDetach", "false")
    # Git estimates how many there are from the ids that begin with 17.
    for number in range(600):
        write(root, f"vault/n{number}.md", f"note {number}\n")
    git(root, "add", "--all")
    git(root, "-c", "gc.auto=0", "commit", "--quiet", "-m", "notes")
    assert "packs: 0" in git(root, "count-objects", "-v")
    keep_tidy(found(root), "ff" * 20)
    assert "packs: 0" in git(root, "count-objects", "-v")
    keep_tidy(found(root), "00" * 20)
    assert "packs: 1" in git(root, "count-objects", "-v")


def test_dates_and_names_of_the_environment_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_repo(tmp_path / "v")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Zoë 'Z' Ünal")
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2026-01-02T03:04:05+02:00")
    _commit(root, _save(root, "vault/a.md", "one\n"))
    assert git(root, "log", "-1", "--format=%an|%aI|%cn") == "Zoë 'Z' Ünal|2026-01-02T03:04:05+02:00|A Tester"
    assert vault_git.log(found(root))[0].at == "2026-01-02T01:04:05+00:00"


def _series(root: Path) -> list[tuple[list[FileChange], str]]:
    """Operations one on the other: new files, one added to twice, one taken away again, and one that changes nothing."""
    write(root, "vault/old.md", "old\n")
    write(root, "staged.txt", "new\n")
    git(root, "add", "staged.txt")
    texts = [("vault/log.md", b"a\n"), ("vault/log.md", b"a\nb\n"), ("vault/log.md", b"a\nb\n"), ("vault/log.md", b"a\nb\nc\n")]
    more = [[FileChange("vault/x.md", b"x\n")], [FileChange("vault/y z.md", b"y\n")], [], [FileChange("vault/x.md", None)]]
    write(root, "vault/log.md", "a\nb\nc\n")
    write(root, "vault/y z.md", "y\n")
    return [
        ([FileChange(*text), *others], vault_git.message(f"remember: {number}", "remember", f"s-{number}", [f"a{number}"]))
        for number, (text, others) in enumerate(zip(texts, more, strict=True))
    ]


def _history(root: Path) -> list[str]:
    return git(root, "log", "--format=%T %s %(trailers:key=Vault-Ids,valueonly,separator=%x20)", "--stat").splitlines()


def test_a_series_is_committed_as_one_by_one_and_published_once(tmp_path: Path) -> None:
    together, alone = make_repo(tmp_path / "together"), make_repo(tmp_path / "alone")
    moved = len(git(together, "reflog").splitlines())
    done = vault_git.commit_each(found(together), _series(together))
    single = [vault_git.commit(found(alone), *one) for one in _series(alone)]
    assert [(one.committed, one.nothing, one.reason) for one in done] == [
        (one.committed, one.nothing, one.reason) for one in single
    ]
    assert [one.committed for one in done] == [True, True, False, True]
    assert _history(together) == _history(alone)
    assert git(together, "log", "--format=%H", "-3").split() == [one.commit for one in reversed(done) if one.commit]
    assert len(git(together, "reflog").splitlines()) == moved + 1
    for root in (together, alone):
        assert git(root, "status", "--porcelain").splitlines() == ["A  staged.txt", "?? vault/old.md"]
        assert git(root, "fsck", "--strict") == "" and git(root, "for-each-ref", "--format=%(refname)") == "refs/heads/main"


def test_a_series_that_cannot_be_published_at_once_is_committed_one_by_one(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    write(root, ".gitattributes", "*.md filter=upper\n")
    git(root, "config", "filter.upper.clean", "tr a-z A-Z")
    commit_all(root, "attributes")
    done = vault_git.commit_each(found(root), _series(root))
    assert [one.committed for one in done] == [True, True, False, True]
    assert git(root, "show", "HEAD:vault/log.md") == "A\nB\nC"
    git(root, "checkout", "--quiet", "--detach")
    assert all(
        "detached" in one.reason for one in vault_git.commit_each(found(root), [([_save(root, "vault/n.md", "n")], TEXT)] * 2)
    )
