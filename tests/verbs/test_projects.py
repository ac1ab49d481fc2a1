"""The page for a project: which project a folder is of, what is on its page, and what every door says of it."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.founding import found_at
from vault_tool import Vault
from vault_tool.cli.main import main
from vault_tool.errors import UsageError
from vault_tool.files.local_trust import repositories
from vault_tool.files.repository_name import repository_name as name_of
from vault_tool.hooks.clients import START
from vault_tool.hooks.running import answered
from vault_tool.mcp.answering import asked_by
from vault_tool.mcp.tools import Caller
from vault_tool.util.clock import FixedClock
from vault_tool.vault import page_at_start as at_start
from vault_tool.vault import seen
from vault_tool.vault.folder_project import project_of
from vault_tool.vault.generated_pages import core_preview

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)


def git(folder: Path, *arguments: str) -> None:
    settings = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *settings, *arguments], cwd=folder, check=True, capture_output=True)


def repository_name(folder: str) -> str:
    """What the nearest repository of a folder is called; empty without one."""
    repo = next(repositories(Path(folder)), None)
    return name_of(repo) if repo is not None else ""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a subfolder, and a linked work tree of another name beside it."""
    folder = tmp_path / "clone-of-mine"
    (folder / "src" / "deep").mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    git(folder, "worktree", "add", "-q", str(tmp_path / "other-name"))
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault of two projects, one known by a field and one by its subject, and what is of none."""
    found = tmp_path / "memory"
    found_at(found, git=False)
    with Vault.open(found, session="s0", clock=FixedClock(NOW)) as vault:
        vault.create_subjects([{"name": "Larder", "role": "project", "aliases": ["Pantry"]}])
        vault.as_(project="Ferry").remember("Ferry's database is Postgres.", kind="fact")
        vault.remember("Ferry is deployed on Fridays.", ["Ferry"], kind="fact")
        vault.remember("Larder is written in Go.", ["Larder"], kind="fact")
        vault.remember("Keep answers short.", ["Style"], kind="preference")
    return found


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("git@example.org:team/Ferry.git", "Ferry"),
        ("https://example.org/team/ferry/", "ferry"),
        ("ssh://git@example.org:22/~me/ferry.git/", "ferry"),
        ("/srv/git/ferry.git", "ferry"),
        ("host:ferry", "ferry"),
        ("", "clone-of-mine"),
    ],
)
def test_a_repository_is_called_as_its_remote_in_all_its_folders(repository: Path, address: str, name: str) -> None:
    if address:
        git(repository, "remote", "add", "origin", address)
    folders = (repository, repository / "src" / "deep", repository.parent / "other-name")
    assert {repository_name(str(folder)) for folder in folders} == {name}


def test_of_several_remotes_origin_is_the_one_and_else_the_folder_has_its_say(repository: Path) -> None:
    git(repository, "remote", "add", "mirror", "https://example.org/a/mirror.git")
    assert repository_name(str(repository)) == "mirror"
    git(repository, "remote", "add", "fork", "https://example.org/b/fork.git")
    assert repository_name(str(repository)) == "clone-of-mine"
    git(repository, "remote", "add", "origin", "https://example.org/c/ferry.git")
    assert repository_name(str(repository)) == "ferry"


@pytest.mark.parametrize("text", [b"gitdir: /nowhere\n", b"gitdir:", b"", b"\xff\xfe\x00", b"gitdir: ../..\n"])
def test_what_is_no_repository_has_no_name_and_no_fault(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / ".git").write_bytes(text)
    assert repository_name(str(tmp_path / "x")) in ("", tmp_path.parent.name)
    assert repository_name(str(tmp_path / "gone")) == ""


def page(vault: Vault, project: str) -> str:
    return vault.core(preview=True, project=project).text


def test_a_page_has_what_is_of_its_project_and_of_none(root: Path) -> None:
    with Vault.open(root) as vault:
        ferry, larder, of_all = page(vault, "ferry"), page(vault, "pantry"), page(vault, "")
        assert all(text in ferry for text in ("Postgres", "Fridays", "answers short")) and "in Go" not in ferry
        assert "in Go" in larder and "answers short" in larder and "Postgres" not in larder and "Fridays" not in larder
        assert all(text in of_all for text in ("Postgres", "Fridays", "in Go", "answers short"))
        assert "1 is of other projects" in ferry and "2 are of other projects" in larder and "other projects" not in of_all
        assert page(vault, "Nothing of this name").splitlines()[1:] == of_all.splitlines()[1:], "none that the vault knows"


def test_what_is_of_two_projects_is_on_both_pages(root: Path) -> None:
    with Vault.open(root) as vault:
        vault.remember("Ferry calls Larder by HTTP.", ["Ferry", "Larder"])
        assert all("by HTTP" in page(vault, name) for name in ("Ferry", "Larder", ""))


def test_what_is_of_the_project_comes_before_what_is_of_none(root: Path) -> None:
    with Vault.open(root, clock=FixedClock(NOW + timedelta(days=1))) as vault:
        vault.remember("The office closes at six.", ["Office"], kind="fact")
        ferry, of_all = page(vault, "Ferry"), page(vault, "")
        assert ferry.index("Fridays") < ferry.index("closes at six")
        assert of_all.index("closes at six") < of_all.index("Fridays"), "the newer first"


def test_a_project_that_is_not_known_is_told_at_the_command(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["core", "--print", "--project", "nope", "--vault", str(root)]) == 0
    said = capsys.readouterr()
    assert "nothing here is of the project `nope`: this is the page of all" in said.err and "in Go" in said.out
    assert main(["core", "--print", "--project", "pantry", "--vault", str(root)]) == 0
    assert capsys.readouterr().err == ""


def test_the_tracked_page_is_of_all_wherever_it_is_made(root: Path) -> None:
    with Vault.open(root, project="Ferry") as vault:
        vault.core()
        assert all(text in (root / "CORE.md").read_text() for text in ("Postgres", "in Go"))


def start(root: Path, folder: Path, session: str) -> str:
    told = {"session_id": session, "cwd": str(folder), "hook_event_name": "SessionStart", "source": "startup"}
    said = json.loads(answered(START, "claude-code", json.dumps(told).encode(), {}, str(root)))
    return str(said["hookSpecificOutput"]["additionalContext"])


def test_a_session_is_given_the_page_of_the_project_of_its_folder(root: Path, repository: Path) -> None:
    git(repository, "remote", "add", "origin", "git@example.org:team/FERRY.git")
    for number, folder in enumerate((repository / "src" / "deep", repository.parent / "other-name")):
        text = start(root, folder, f"here{number}")
        assert "Postgres" in text and "in Go" not in text and "1 is of other projects" in text
        with Vault.open(root, session=f"here{number}") as vault:
            kept = seen.current(vault)
            assert kept is not None and kept.project == "Ferry", "as the vault writes it"
    text = start(root, root.parent, "elsewhere")
    assert "Postgres" in text and "in Go" in text


def test_where_work_was_left_is_known_by_the_session(root: Path, repository: Path) -> None:
    git(repository, "remote", "add", "origin", "https://example.org/larder.git")
    start(root, repository, "at-larder")
    with Vault.open(root, session="at-larder") as vault:
        vault.remember("Step 3 of 5 is done.", kind="task_state")
    with Vault.open(root, session="unknown-here") as vault:
        vault.remember("The flag is to be removed.", kind="task_state")
        assert "Step 3" in page(vault, "Larder") and "Step 3" in page(vault, "") and "Step 3" not in page(vault, "Ferry")
        assert all("flag is to be removed" in page(vault, name) for name in ("Larder", "Ferry", ""))


def test_a_folder_is_given_a_name_on_this_machine(root: Path, repository: Path) -> None:
    with Vault.open(root) as vault:
        told = vault.project(folder=str(repository))
        assert (told.project, told.known_by, told.known) == ("clone-of-mine", "repository", False)
        told = vault.project("ferry", folder=str(repository / "src"))
        assert (told.project, told.known_by, told.known, told.created) == ("Ferry", "name", True, None)
    with Vault.open(root) as vault:
        assert project_of(vault, str(repository / "src" / "deep")) == "Ferry"
        assert project_of(vault, str(repository)) == "clone-of-mine", "the folder above has its own"
        made = vault.project("Quill", folder=str(repository))
        assert made.created and vault.get_subjects(["Quill"]).results[0].role == "project"
        assert project_of(vault, str(repository / "src" / "deep")) == "Ferry", "the nearest folder counts"
        assert [(one.folder, one.project) for one in made.results] == [
            (str(repository), "Quill"), (str(repository / "src"), "Ferry"),
        ]  # fmt: skip
        told = vault.project("", folder=str(repository / "src"))
        assert told.project == "Quill" and len(told.results) == 1
    settings = json.loads((root / "_config.json").read_text())
    assert settings["projects"] == {str(repository): "Quill"}


def test_other_settings_of_this_machine_stay_beside_the_names(root: Path, repository: Path) -> None:
    with Vault.open(root) as vault:
        vault.config(machine={"provider": "none"})
        vault.project("Ferry", folder=str(repository))
        vault.config(machine={"model": "m"})
        assert json.loads((root / "_config.json").read_text()) == {
            "provider": "none", "model": "m", "projects": {str(repository): "Ferry"},
        }  # fmt: skip


@pytest.mark.parametrize("name", ["a\nb", "x" * 201, "\x00"])
def test_a_name_that_is_none_is_refused(root: Path, name: str) -> None:
    with Vault.open(root) as vault:
        with pytest.raises(UsageError):
            vault.project(name, folder=str(root))
        with pytest.raises(UsageError, match="no folder"):
            vault.project("Ferry", folder=str(root / "gone"))
    assert not (root / "_config.json").exists()


@pytest.mark.parametrize("said", ['{"projects": ["Ferry"]}', '{"projects": {"/x": 3}}', '{"projects": {"/x": ""}}'])
def test_names_that_cannot_be_used_are_told(root: Path, said: str) -> None:
    (root / "_config.json").write_text(said)
    with Vault.open(root) as vault:
        assert "`projects` must be names by folders" in vault.machine.fault
        assert "Postgres" in page(vault, "Ferry"), "a page is made all the same"


def test_the_repository_that_holds_the_vault_is_no_project_of_it(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    git(tmp_path, "init", "-q")
    found_at(tmp_path / "memory", git=False)
    with Vault.open(tmp_path / "memory") as vault:
        vault.remember("It is about all of this.", [tmp_path.name])
        assert project_of(vault, str(tmp_path / "src")) == ""


def test_what_a_client_writes_is_of_the_project_of_its_folder(root: Path, repository: Path) -> None:
    git(repository, "remote", "add", "origin", "https://example.org/ferry")
    plain = root.parent / "notes-app"
    plain.mkdir()
    with Vault.open(root) as vault:
        for folder, project in ((repository.parent / "other-name", "Ferry"), (plain, "notes-app"), (root, "")):
            assert asked_by(Caller(folder=str(folder)), vault).who.project == project
        assert asked_by(Caller(folder=str(repository), project="Said"), vault).who.project == "Said"


@pytest.mark.without_git
def test_a_choice_makes_the_page_of_a_project_that_everything_makes(
    vault: Vault, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(at_start, "SMALL", 0)
    for name in ("Ferry", "Larder"):
        told = [
            {"content": f"{name}: {kind} number {n}.", "kind": kind, "subject_names": [name, f"{name} part {n % 4}"]}
            for n in range(40)
            for kind in (("fact", "preference", "problem", "decision")[n % 4],)
        ]
        vault.as_(project=name).add_observations(told)
    vault.remember("Keep answers short.", ["Style"], kind="preference")

    def both() -> tuple[list[str], list[str]]:
        vault.fresh()
        kept, whole = at_start.page_at_start(vault, "Ferry")(6000), core_preview(vault, 6000, "Ferry").text
        return kept.splitlines()[1:], whole.splitlines()[1:]

    assert at_start.choice_is_due(vault)
    seen.store(vault).update("s", vault.clock.now(), lambda state: state.works_on("Ferry"))
    assert at_start.keep_choice(vault) is not None and not at_start.choice_is_due(vault)
    kept, whole = both()
    assert kept == whole and not any("Larder" in line for line in kept) and "41 are of other projects" in kept[-1]
    vault.as_(project="Ferry").remember("Ferry goes on.", kind="preference")
    vault.as_(project="Larder").remember("Larder goes on.", kind="preference")
    clock.advance(timedelta(seconds=5))
    kept, whole = both()
    assert any("Ferry goes on" in line for line in kept) and not any("Larder goes on" in line for line in kept)
    assert kept[:-1] == whole[:-1], "but for the count of the others, as of the choice"
    names = {path.name for path in (vault.root / "_cache").glob("page*.json")}
    assert len(names) == 2 and not any("erry" in name for name in names), "a name is in no file's name"
