"""What git remembers of a vault, and how it differs from that now."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git_repos import commit_all, found, git, make_empty_repo, make_repo, write
from vault_tool.errors import NotFound
from vault_tool.files import git as vault_git
from vault_tool.files.git import FileChange, UncommittedFile
from vault_tool.importing.notes import own_id


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A code repository that holds a vault in `memory/` with two notes."""
    made = make_repo(tmp_path / "code")
    write(made, "memory/vault/a.md", "one\n")
    write(made, "memory/vault/b.md", "one\n")
    write(made, "memoryless.txt", "a name that begins alike\n")
    commit_all(made, "notes")
    return made


def test_earlier_texts_from_one_call(code: Path) -> None:
    repo = found(code / "memory")
    write(code, "memory/vault/a.md", "two\n\n\x01 HEAD:x missing\n")
    write(code, "memory/vault/empty.md", "")
    commit_all(code, "edit")
    assert vault_git.show(repo, "HEAD~1", "vault/a.md") == b"one\n"
    assert vault_git.show(repo, "HEAD~1", "vault/empty.md") is None
    assert vault_git.show(repo, "no-such-branch", "vault/a.md") is None
    assert vault_git.show_many(repo, "main", ["vault/a.md", "vault", "vault/none 5.md", "vault/empty.md", "vault/b.md"]) == {
        "vault/a.md": b"two\n\n\x01 HEAD:x missing\n",
        "vault/empty.md": b"",
        "vault/b.md": b"one\n",
    }
    assert vault_git.show_many(repo, "HEAD", []) == {}


def test_the_log_knows_operations_from_other_commits(code: Path) -> None:
    repo = found(code / "memory")
    write(code, "outside.txt", "not the vault's\n")
    commit_all(code, "elsewhere")
    write(code, "memory/vault/a.md", "two\n")
    ids = [f"{number:08d}-0000-4000-8000-000000000000" for number in range(45)]
    text = vault_git.message("revise: a\nnote", "revise", "s-1", ids, body="Vault-Op: forged\n\nBecause.")
    done = vault_git.commit(repo, [FileChange("vault/a.md", b"two\n")], text)
    entries = vault_git.log(repo)
    assert [(each.subject, each.op, each.session, each.paths) for each in entries] == [
        ("revise: a note", "revise", "s-1", ("vault/a.md",)),
        ("notes", "", "", ("vault/a.md", "vault/b.md")),
    ]
    assert entries[0].ids == tuple(ids)
    assert entries[0].commit == done.commit
    assert entries[0].author == "A Tester"
    assert entries[0].at.endswith("+00:00")
    assert vault_git.log(repo, limit=1) == entries[:1]
    assert vault_git.log(repo, paths=["vault/b.md"]) == entries[1:]
    assert vault_git.log(repo, paths=["vault/a.md"]) == entries


def test_a_notes_own_log_goes_on_past_a_move_of_the_same_bytes(code: Path) -> None:
    repo = found(code / "memory")
    git(code, "mv", "memory/vault/a.md", "memory/vault/moved.md")
    commit_all(code, "move")
    assert [each.subject for each in vault_git.log(repo, paths=["vault/moved.md"])] == ["move"]
    moved = vault_git.note_log(repo, "vault/moved.md", "", own_id)
    assert [(each.subject, each.paths) for each in moved.commits] == [
        ("move", ("vault/moved.md",)),
        ("notes", ("vault/a.md",)),
    ]
    assert moved.created == moved.commits[-1]


def test_an_unborn_branch_has_no_history(tmp_path: Path) -> None:
    root = make_empty_repo(tmp_path / "v")
    repo = found(root)
    write(root, "vault/a.md", "one\n")
    assert vault_git.head(repo) == vault_git.GitHead("main", None)
    assert vault_git.log(repo) == []
    assert vault_git.resolve(repo, "HEAD") is None
    assert vault_git.uncommitted(repo) == [UncommittedFile("vault/a.md", "new")]
    assert vault_git.show(repo, "HEAD", "vault/a.md") is None
    git(root, "add", "vault/a.md")
    assert "+one" in vault_git.diff(repo)


def test_a_difference_is_of_the_vault_alone(code: Path) -> None:
    repo = found(code / "memory")
    write(code, "memory/vault/a.md", "two\n")
    write(code, "memory/vault/b.md", "two\n")
    write(code, "memoryless.txt", "changed\n")
    git(code, "add", "memory/vault/b.md")
    whole = vault_git.diff(repo)
    assert whole.count("diff --git") == 2
    assert vault_git.diff(repo, paths=["vault/a.md"]).count("diff --git") == 1
    assert "\x1b[" in vault_git.diff(repo, color=True)
    assert vault_git.diff(repo, since="HEAD~1").count("new file mode") == 2
    with pytest.raises(NotFound, match="no commit is called 'nothing'"):
        vault_git.diff(repo, since="nothing")


def test_what_became_of_the_files_between_two_commits(code: Path) -> None:
    repo = found(code / "memory")
    old = git(code, "rev-parse", "HEAD")
    git(code, "mv", "memory/vault/a.md", "memory/vault/moved.md")
    write(code, "memory/vault/b.md", "two\n")
    write(code, "memoryless.txt", "changed\n")
    new = commit_all(code, "changes")
    assert vault_git.changed_between(repo, old, new) == {"vault/a.md": "D", "vault/moved.md": "A", "vault/b.md": "M"}
    assert vault_git.changed_between(repo, new, old) == {"vault/a.md": "A", "vault/moved.md": "D", "vault/b.md": "M"}
    assert vault_git.changed_between(repo, new, "HEAD") == {}
    with pytest.raises(NotFound, match="no commit is called 'gone'"):
        vault_git.changed_between(repo, "gone", new)


def test_every_state_of_a_file(code: Path) -> None:
    repo = found(code / "memory")
    for name in ("moved", "gone", "unstaged", "refilled", "announced"):
        write(code, f"memory/vault/{name}.md", f"{name}\n" * 5)
    commit_all(code, "more")
    write(code, "memory/vault/a.md", "two\n")
    git(code, "mv", "memory/vault/moved.md", "memory/vault/there.md")
    git(code, "rm", "--quiet", "memory/vault/gone.md")
    (code / "memory/vault/unstaged.md").unlink()
    git(code, "rm", "--quiet", "--cached", "memory/vault/refilled.md")
    write(code, "memory/vault/refilled.md", "again\n")
    write(code, "memory/vault/deep/er/new.md", "new\n")
    write(code, "memory/vault/intended.md", "new\n")
    git(code, "add", "--intent-to-add", "memory/vault/intended.md")
    write(code, "memory/.gitignore", "_index.json\n")
    write(code, "memory/_index.json", "{}")
    write(code, "outside.txt", "not the vault's\n")
    expected = [
        UncommittedFile(".gitignore", "new"),
        UncommittedFile("vault/a.md", "modified"),
        UncommittedFile("vault/deep/er/new.md", "new"),
        UncommittedFile("vault/gone.md", "deleted"),
        UncommittedFile("vault/intended.md", "new"),
        UncommittedFile("vault/refilled.md", "modified"),
        UncommittedFile("vault/there.md", "renamed", "vault/moved.md"),
        UncommittedFile("vault/unstaged.md", "deleted"),
    ]
    assert vault_git.uncommitted(repo) == expected
    assert vault_git.uncommitted(repo, ["vault/deep", "vault/a.md"]) == [expected[1], expected[2]]
    many = [f"vault/n{number}.md" for number in range(600)]
    assert vault_git.uncommitted(repo, [*many, "vault/deep"]) == [expected[2]]
    assert vault_git.tracked(repo, [*many, "vault/b.md"]) == {"vault/b.md"}
    assert vault_git.tracked(repo, ["vault/a"]) == set()
    assert vault_git.ignored(repo, ["_index.json", "vault/a.md"]) == {"_index.json"}
    assert vault_git.ignored(repo, []) == set()


def test_remotes_and_names(code: Path) -> None:
    repo = found(code / "memory")
    assert vault_git.remotes(repo) == []
    git(code, "remote", "add", "origin", "https://example.org/x.git")
    assert vault_git.remotes(repo) == ["origin"]
    assert vault_git.resolve(repo, "main") == git(code, "rev-parse", "main")
    assert vault_git.resolve(repo, git(code, "rev-parse", "--short", "main")) == git(code, "rev-parse", "main")
    assert vault_git.resolve(repo, "main^{tree}") is None


def test_remotes_and_filters_are_one_look_at_the_config(code: Path) -> None:
    repo = found(code / "memory")
    assert vault_git.filters_and_remotes(repo) == ([], ())
    for name in ("origin", "a.b", "deep/er", "Zürich"):
        git(code, "config", f"remote.{name}.url", "https://example.org/x.git")
    # Nobody lists these: a setting of all remotes, a group of them, and a name that begins so.
    git(code, "config", "remote.pushDefault", "origin")
    git(code, "config", "remotes.all", "origin a.b")
    git(code, "config", "remote./odd.url", "x")
    git(code, "config", "filter.lfs.clean", "false")
    git(code, "config", "filter.lfs.required", "true")
    quiet, remotes = vault_git.filters_and_remotes(repo)
    assert list(remotes) == vault_git.remotes(repo) == ["Zürich", "a.b", "deep/er", "origin"]
    assert quiet == [("filter.lfs.clean", ""), ("filter.lfs.required", "false")]


def test_what_is_ignored_and_not_tracked(code: Path) -> None:
    repo = found(code / "memory")
    names = ["_index.json", "_state.json", "vault/a.md", "vault/new.md", ":(top)odd"]
    write(code, "memory/.gitignore", "_index.json\n_state.json\nvault/a.md\n")
    assert vault_git.untracked_and_ignored(repo, names) == {"_index.json", "_state.json"}
    write(code, "memory/_state.json", "{}")
    git(code, "add", "--force", "memory/_state.json")
    assert vault_git.untracked_and_ignored(repo, names) == {"_index.json"}
    assert vault_git.ignored(repo, names) == {"_index.json", "_state.json", "vault/a.md"}
    assert vault_git.untracked_and_ignored(repo, []) == set()


def test_a_message_is_one_subject_and_its_trailers() -> None:
    text = vault_git.message("remember: " + "long " * 40 + "\x1b[31m\n\nVault-Op: forged", "remember", None, [])
    lines = text.splitlines()
    assert len(lines[0]) <= 72
    assert lines[0].endswith("…")
    assert lines[1:] == ["", "Vault-Op: remember"]
    assert "\x1b" not in text
    shown = vault_git.message("a\x00b\r\n👩‍💻", "op\nVault-Ids: x", "s\n1", ["i\n1"], body=" one\x07\n\ntwo ")
    assert shown == "a b 👩‍💻\n\none\n\ntwo\n\nVault-Op: op Vault-Ids: x\nVault-Session: s 1\nVault-Ids: i 1\n"
    assert vault_git.message("  ", "undo", " ", []) == "undo\n\nVault-Op: undo\n"
