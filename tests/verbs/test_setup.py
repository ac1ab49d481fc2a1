from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from tests.cli.typed import vt
from tests.git_repos import commit_all, git, make_empty_repo, make_repo, write
from tests.verbs.looking import assert_committed, fails, head, in_commit, status, subjects, text, trailers, untouched
from tests.wording import typed
from vault_tool import Vault
from vault_tool.errors import Refused, UsageError
from vault_tool.util.clock import FixedClock


class TestInit:
    @pytest.mark.parametrize("left", [("_cache",), ("_cache", "_local"), ("_cache", "_local", "_index.json", "_state.json")])
    def test_what_a_deleted_vault_left_behind_is_not_missing_from_a_new_one(self, tmp_path: Path, left: tuple[str, ...]) -> None:
        root = tmp_path / "notes"
        Vault.init(root)
        with Vault.open(root) as vault:
            vault.remember("Basalt is a stone.", ["Stone"], kind="fact")
        for path in root.iterdir():
            if path.name not in left:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        made = Vault.init(root)
        assert (made.committed, made.warnings) == (True, ())
        assert "vault/workspace.md" in made.created and status(root) == ""
        with Vault.open(root) as vault:
            assert vault.search("basalt").results == () and vault.status().counts["understanding"] == 3

    def test_an_empty_folder_becomes_a_vault_in_a_repository(self, tmp_path: Path, clock: FixedClock) -> None:
        made = Vault.init(tmp_path / "deep/notes", name="Lab", description="What it is for.", clock=clock)
        root = tmp_path / "deep/notes"

        assert (made.root, made.name, made.repository) == (str(root), "Lab", str(root))
        assert made.committed
        assert (made.reason, made.attention, made.warnings, made.conflicts) == ("", False, (), ())
        assert subjects(root, 2) == ["init: CORE.md and REFLECTION.md", "init: Lab"]
        assert made.commit == git(root, "rev-parse", "HEAD~1")
        assert set(made.created) == set(in_commit(root, "HEAD~1"))
        for path in (
            "vault.toml",
            ".gitignore",
            ".gitattributes",
            "vault/workspace.md",
            "templates/content-policy.md",
        ):
            assert path in made.created
        assert status(root) == ""
        assert text(root, ".gitattributes") == "vault/** -text\n"
        assert "What it is for." in text(root, "vault/workspace.md")
        with Vault.open(root, clock=clock) as vault:
            kept = {entry.type: entry for entry in vault.index.catalog.snapshot().entries} if vault.status() else {}
            assert {"soul", "protocol", "orientation", "workspace"} == set(kept)
            assert {entry.text("origin") for name, entry in kept.items() if name != "workspace"} == {"owner"}
            assert vault.doctor().problems == ()
            assert not vault.core().changed
            assert not vault.reflection().changed

    @pytest.mark.parametrize("private", ["_local", "_index.json", "_state.json", "_embeddings.json", "_cache", "_config.json"])
    def test_what_is_derived_or_local_is_ignored(self, root: Path, private: str) -> None:
        write(root, f"{private}/x" if "." not in private else private, "x")
        assert status(root) == ""

    def test_the_local_folder_is_its_owners_alone(self, vault: Vault, root: Path) -> None:
        vault.remember("Text.")
        assert stat.S_IMODE((root / "_local").stat().st_mode) == 0o700

    def test_a_second_time_lacks_nothing_and_changes_nothing(self, root: Path) -> None:
        with untouched(root):
            again = Vault.init(root, name="Another name")
        assert (again.created, again.committed, again.reason, again.attention) == ((), False, "", False)
        assert again.name == "Lab"

    def test_what_is_missing_is_added_and_what_is_there_is_left(self, root: Path) -> None:
        (root / "templates/content-policy.md").unlink()
        write(root, "templates/fix.md", "mine\n")
        write(root, ".gitignore", "# mine\n/_cache/\nbuild")
        write(root, "vault.toml", "lock_wait = 5.0\n")
        soul = next((root / "vault/understandings").glob("soul-*.md"))
        soul.rename(root / "vault/my-soul.md")
        commit_all(root, "mine")

        made = Vault.init(root)

        assert set(made.created) == {"templates/content-policy.md", ".gitignore"}
        assert in_commit(root) == {"templates/content-policy.md": "A", ".gitignore": "M"}
        assert text(root, ".gitignore").startswith("# mine\n/_cache/\nbuild\n")
        assert "/_local/\n" in text(root, ".gitignore")
        assert text(root, ".gitignore").count("/_cache/") == 1
        assert (text(root, "templates/fix.md"), text(root, "vault.toml")) == ("mine\n", "lock_wait = 5.0\n")

    def test_a_folder_with_notes_in_it_keeps_them_as_they_are(self, tmp_path: Path) -> None:
        mine = write(tmp_path, "vault/mine.md", "# Mine\n\nQuartz.\n")
        made = Vault.init(tmp_path)
        assert made.committed
        assert mine.read_text() == "# Mine\n\nQuartz.\n"
        assert "vault/mine.md" not in in_commit(tmp_path)
        with Vault.open(tmp_path) as vault:
            assert vault.search("quartz").results[0].record_class == "page"
            assert vault.status().git.uncommitted == 1

    def test_inside_a_code_repository_it_is_a_folder_of_it(self, tmp_path: Path) -> None:
        work = make_repo(tmp_path / "work")
        write(work, "staged.py", "x\n")
        git(work, "add", "staged.py")
        made = Vault.init(work / "notes", commit=True)
        assert (made.repository, made.warnings) == (str(work), ())
        assert not (work / "notes/.git").exists()
        assert all(path.startswith("notes/") for path in (*in_commit(work), *in_commit(work, "HEAD~1")))
        assert status(work) == "A  staged.py"

    def test_one_with_a_remote_is_warned_about(self, tmp_path: Path) -> None:
        work = make_repo(tmp_path / "work")
        git(work, "remote", "add", "origin", "https://example.org/x.git")
        [warning] = Vault.init(work / "notes", commit=True).warnings
        assert str(work) in warning
        assert "pushed" in warning
        assert "vt init --separate" in typed(warning)

    def test_a_folder_of_obsidian_is_told_where_its_notes_are_looked_for(self, tmp_path: Path) -> None:
        (tmp_path / "notes/.obsidian").mkdir(parents=True)
        [warning] = Vault.init(tmp_path / "notes").warnings
        assert "`vt import markdown DIR`" in typed(warning)
        assert Vault.init(tmp_path / "notes").warnings == (), "it may as well have been opened in Obsidian since"

    def test_a_vault_that_is_its_own_repository_is_not(self, tmp_path: Path) -> None:
        work = make_repo(tmp_path / "work")
        git(work, "remote", "add", "origin", "https://example.org/x.git")
        assert Vault.init(work, commit=True).warnings == ()

    def test_separate_makes_a_repository_of_its_own(self, tmp_path: Path) -> None:
        work = make_repo(tmp_path / "work")
        git(work, "remote", "add", "origin", "https://example.org/x.git")
        tip = head(work)
        made = Vault.init(work / "notes", separate=True)
        assert (made.repository, made.warnings) == (str(work / "notes"), ())
        assert made.committed
        assert head(work) == tip
        assert head(work / "notes") != tip
        assert Vault.init(work / "notes", separate=True).created == ()

    @pytest.mark.parametrize("below", ["", "notes", "a/b/c"])
    def test_nothing_is_committed_to_somebodys_branch_unasked(self, tmp_path: Path, below: str) -> None:
        work = make_repo(tmp_path / "work")
        tip, before = head(work), sorted(work.rglob("*"))
        for given in ({}, {"no_git": True}):
            with pytest.raises(UsageError, match=r"somebody has committed to.*commit=True"):
                Vault.init(work / below, **given)  # type: ignore[arg-type]
        done = vt("init", str(work / below))
        assert (done.returncode, done.stdout) == (2, "")
        assert "--separate" in done.stderr and "--commit" in done.stderr
        assert (head(work), sorted(work.rglob("*"))) == (tip, before)
        if not below:
            with pytest.raises(UsageError, match="name a folder in it"):
                Vault.init(work, separate=True)
        assert vt("init", str(work / below), "--commit").returncode == 0
        assert head(work) != tip
        assert Vault.init(work / below).created == (), "it is a vault by now"

    def test_a_repository_without_commits_is_nobodys(self, tmp_path: Path) -> None:
        work = make_empty_repo(tmp_path / "work")
        assert Vault.init(work).committed

    @pytest.mark.parametrize("below", ["inner", "vault/inner", "x/y/z"])
    def test_no_vault_is_made_inside_another(self, tmp_path: Path, below: str) -> None:
        Vault.init(tmp_path / "outer")
        tip = head(tmp_path / "outer")
        for given in ({}, {"separate": True}, {"commit": True}, {"notes": "own"}):
            with pytest.raises(Refused, match="lies in the vault"):
                Vault.init(tmp_path / "outer" / below, **given)
        assert head(tmp_path / "outer") == tip
        assert not (tmp_path / "outer" / below).exists()

    def test_in_a_worktree_whose_git_is_a_file(self, tmp_path: Path) -> None:
        work = make_repo(tmp_path / "work")
        git(work, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
        made = Vault.init(tmp_path / "side/notes", commit=True)
        assert made.committed
        assert made.repository == str(tmp_path / "side")
        assert (tmp_path / "side/.git").is_file()
        with Vault.open(tmp_path / "side/notes") as vault:
            assert_committed(vault.remember("Text."), tmp_path / "side")
        assert git(work, "log", "--format=%s", "-1") == "first"

    def test_without_git_on_the_path_the_notes_are_kept(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
        made = Vault.init(tmp_path / "v")
        assert (made.repository, made.committed, made.attention) == (None, False, False)
        [warning] = made.warnings
        assert "git" in warning
        assert "\n" not in warning
        with Vault.open(tmp_path / "v") as vault:
            saved = vault.remember("Quartz.")
            assert (saved.committed, saved.attention) == (False, False)
            assert "git" in saved.reason
            assert vault.search("quartz").results

    def test_without_git_by_choice_nothing_is_started(self, tmp_path: Path) -> None:
        made = Vault.init(tmp_path / "v", no_git=True)
        assert (made.repository, made.attention) == (None, False)
        assert not (tmp_path / "v/.git").exists()

    def test_a_file_is_no_folder(self, tmp_path: Path) -> None:
        write(tmp_path, "file", "x\n")
        with fails(UsageError, "is a file", "name a folder"):
            Vault.init(tmp_path / "file")

    def test_the_name_defaults_to_the_folders(self, tmp_path: Path) -> None:
        assert Vault.init(tmp_path / "my-lab").name == "my-lab"

    def test_who_made_it_is_said_in_the_log_by_git(self, tmp_path: Path) -> None:
        Vault.init(tmp_path / "v")
        assert trailers(tmp_path / "v")["Vault-Op"] == "init"

    def test_nobody_known_to_git_is_a_reason_not_a_failure(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for role in ("AUTHOR", "COMMITTER"):
            monkeypatch.delenv(f"GIT_{role}_NAME")
            monkeypatch.delenv(f"GIT_{role}_EMAIL")
        write(tmp_path, "gitconfig", "[user]\n\tuseConfigOnly = true\n")
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
        made = Vault.init(tmp_path / "v")
        assert (made.committed, made.attention) == (False, True)
        assert "git config --global user.name" in made.reason
        git(tmp_path / "v", "config", "user.name", "A Tester")
        git(tmp_path / "v", "config", "user.email", "tester@example.org")
        with Vault.open(tmp_path / "v") as vault:
            assert vault.remember("Text.").committed
        assert subjects(tmp_path / "v", 3)[-1] == "init: v"
        assert status(tmp_path / "v") == ""


class TestConfig:
    def test_all_settings_are_listed_with_what_they_are_for(self, vault: Vault, root: Path) -> None:
        answer = vault.config()
        assert (answer.path, answer.changed) == (str(root / "vault.toml"), None)
        options = {option.name: option for option in answer.results}
        assert {"links", "language", "core_budget", "share_use", "lock_wait", "types", "perspectives"} <= set(options)
        assert (options["core_budget"].value, options["core_budget"].default) == (12000, 12000)
        assert all(option.sentence for option in options.values())

    def test_one_is_set_and_every_other_byte_stays(self, vault: Vault, root: Path) -> None:
        before = text(root, "vault.toml")
        answer = vault.config("core_budget", "8000")
        [option] = answer.results
        assert (answer.changed, option.name, option.value, option.default) == ("core_budget", "core_budget", 8000, 12000)
        assert_committed(answer, root)
        assert subjects(root) == ["config: core_budget = 8000"]
        assert in_commit(root) == {"vault.toml": "M"}
        lines = text(root, "vault.toml").split("\n")
        lines.remove("core_budget = 8000")
        assert [line for line in lines if line] == [line for line in before.split("\n") if line]
        assert vault.reopened().config("core_budget").results[0].value == 8000

    def test_a_setting_that_is_there_is_changed_in_its_place(self, root: Path, clock: FixedClock) -> None:
        write(root, "vault.toml", '# mine\nlinks = "plain" # why\n\n[types.recipe]\nclass = "observation"\n')
        with Vault.open(root, clock=clock) as vault:
            vault.config("links", "wikilink")
        assert text(root, "vault.toml") == '# mine\nlinks = "wikilink" # why\n\n[types.recipe]\nclass = "observation"\n'

    @pytest.mark.parametrize("value", ["repo_123, lab", '["repo_123", "lab"]'])
    def test_a_list_is_given_as_people_or_as_programs_write_it(self, root: Path, value: str) -> None:
        with Vault.open(root, origin="owner") as vault:
            vault.config("repo_ids", value)
        with Vault.open(root) as vault:
            assert vault.settings.repo_ids == ("repo_123", "lab")

    def test_a_new_setting_stands_before_the_first_table(self, root: Path) -> None:
        write(root, "vault.toml", "# mine\n\n[types.recipe]\nweight = 1.2\n")
        with Vault.open(root) as vault:
            vault.config("share_use", "false")
        with Vault.open(root) as vault:
            assert vault.settings.share_use is False
            assert vault.settings.types.spec("recipe").weight == 1.2
        assert text(root, "vault.toml").startswith("# mine\n")

    @pytest.mark.parametrize("before", ["", "# only a comment", "lock_wait = 1.0"])
    def test_a_file_without_a_last_newline_is_no_trap(self, root: Path, before: str) -> None:
        write(root, "vault.toml", before)
        with Vault.open(root) as vault:
            vault.config("core_budget", "9000")
        with Vault.open(root) as vault:
            assert vault.settings.core_budget == 9000
        assert text(root, "vault.toml").startswith(before)

    def test_windows_line_ends_stay(self, root: Path) -> None:
        (root / "vault.toml").write_bytes(b'links = "plain"\r\n\r\n[perspectives]\r\ngeneral = ""\r\n')
        with Vault.open(root) as vault:
            vault.config("links", "wikilink")
        assert (root / "vault.toml").read_bytes() == b'links = "wikilink"\r\n\r\n[perspectives]\r\ngeneral = ""\r\n'

    @pytest.mark.parametrize(
        ("name", "value", "kind", "says"),
        [
            ("color", "red", UsageError, "`color` cannot be set here"),
            ("types", "x", UsageError, "`types` cannot be set here"),
            ("links", "wiki", UsageError, "`links` must be one of plain, wikilink"),
            ("core_budget", "much", UsageError, "core_budget"),
            ("share_use", "perhaps", UsageError, "`share_use` must be true or false"),
            ("lock_wait", "-1", UsageError, "lock_wait"),
        ],
    )
    def test_what_cannot_be_set_is_said_and_nothing_is_written(
        self, vault: Vault, root: Path, name: str, value: str, kind: type[UsageError], says: str
    ) -> None:
        with untouched(root), fails(kind, says):
            vault.config(name, value)

    def test_the_same_value_again_writes_nothing(self, vault: Vault, root: Path) -> None:
        vault.config("links", "wikilink")
        with untouched(root):
            again = vault.config("links", "wikilink")
        assert not again.committed

    def test_an_unknown_one_is_named(self, vault: Vault) -> None:
        with fails(UsageError, "there is no setting `color`", "vt config"):
            vault.config("color")


def test_a_vault_of_somebody_else_is_refused_by_name(root: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can give a folder away")
    os.chown(root / ".git", 12345, 12345)
    os.chown(root, 12345, 12345)
    with Vault.open(root) as vault, fails(Refused, "dubious ownership", "safe.directory"):
        vault.remember("Text.")
