"""Other vaults asked beside one: named by a person, each with one limit of time, and what is wrong with one told by its name."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.bounds import PATIENCE, eventually
from tests.cli.typed import vt, vt_process
from tests.founding import own_copy
from tests.terminal import called_at_terminal
from vault_tool import Vault
from vault_tool.errors import Busy, Exit, NotFound, Refused, UsageError
from vault_tool.features.recall.recall import Bundle
from vault_tool.vault import beside

QUESTION = "how is quartz deployed"
FRIDAYS, JENKINS, JAVA = "Quartz is deployed on Fridays.", "The deploy of quartz goes through Jenkins.", "Quartz needs Java 21."
TABS = "Whoever deploys quartz prefers tabs."


@pytest.fixture(scope="module")
def founded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three vaults: one's own, the team's and the global one; one text stands in two of them."""
    folder = tmp_path_factory.mktemp("founded")
    for name, texts in (("here", (FRIDAYS, JAVA)), ("team", (JENKINS, JAVA)), ("shared", (TABS,))):
        Vault.init(folder / name, no_git=True)
        with Vault.open(folder / name) as vault:
            for text in texts:
                vault.remember(text, ["Deploy"], kind="fact", title=text.rstrip("."))
    return folder


@pytest.fixture
def place(founded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, for one test; a person named the team's in the settings of their own."""
    for name in ("here", "team", "shared"):
        own_copy(founded / name, tmp_path / name)
    monkeypatch.setenv("VAULT_GLOBAL", str(tmp_path / "shared"))
    monkeypatch.setattr(beside, "LIMIT", PATIENCE)  # nothing here is about how busy the machine is
    with Vault.open(tmp_path / "here", person=True) as vault:
        vault.config("vault", "team", folder=str(tmp_path / "team"))
    return tmp_path


@pytest.fixture
def here(place: Path) -> Iterator[Vault]:
    with Vault.open(place / "here") as vault:
        yield vault


def _asked(vault: Vault, *names: str, **more: Any) -> Bundle:
    answer = vault.recall(QUESTION, vaults=names, **more)
    assert isinstance(answer, Bundle)
    return answer


def _texts(answer: Any) -> dict[str, tuple[str, ...]]:
    return {result.title: result.vaults for result in answer.results}


def test_each_result_says_its_vaults_and_an_equal_text_is_told_once(here: Vault) -> None:
    answer = _asked(here, "team")
    told = _texts(answer)
    assert {name: set(vaults) for name, vaults in told.items()} == {
        FRIDAYS.rstrip("."): {"repo"}, JENKINS.rstrip("."): {"team"}, JAVA.rstrip("."): {"repo", "team"},
    }  # fmt: skip
    folded = next(result for result in answer.results if len(result.vaults) == 2)
    assert len(folded.like_it) == 1 and folded.like_it[0] != folded.id
    assert all(len(result.id) == 36 for result in answer.results)
    shares = [result.match for result in answer.results]
    assert shares == sorted(shares, reverse=True)


def test_all_is_every_one_and_no_name_is_what_was_before(here: Vault) -> None:
    assert {name for result in _asked(here, "all").results for name in result.vaults} == {"repo", "global", "team"}
    assert _texts(_asked(here)).keys() == {FRIDAYS.rstrip("."), JAVA.rstrip("."), TABS.rstrip(".")}
    assert all(result.vaults == () for result in _asked(here).results)
    # One that is named is asked, and no other: the global one has a name, too.
    assert TABS.rstrip(".") not in _texts(_asked(here, "team"))
    assert TABS.rstrip(".") in _texts(_asked(here, "team,global"))
    assert TABS.rstrip(".") not in _texts(_asked(here, "all", include_global=False))


@pytest.mark.parametrize("verb", ["recall", "search", "bring_to_mind", "read"])
def test_every_reading_verb_asks_them(verb: str, here: Vault) -> None:
    answer = getattr(here, verb)(QUESTION, vaults=["team"])
    assert {"team"} < {name for result in answer.results for name in result.vaults}
    assert not any("team" in reason for reason in answer.degraded)


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (("tema",), "no vault is called `tema`"),
        (("team", "team"), "named twice"),
        (("team,global,team",), "named twice"),
        (("all", "team"), "`all` stands alone"),
        (("",), "no vault is named"),
        (("team,",), "no vault is named"),
        (("repo",), "no vault is called `repo`"),
        (("../team",), "no vault is called"),
    ],
)
def test_a_name_that_cannot_be_meant_is_refused_with_what_there_is(names: tuple[str, ...], says: str, here: Vault) -> None:
    with pytest.raises(UsageError, match="there are: global, team") as refused:
        _asked(here, *names)
    assert says in refused.value.message
    for verb in ("search", "bring_to_mind", "read"):
        with pytest.raises(UsageError):
            getattr(here, verb)(QUESTION, vaults=names)


def test_the_global_one_cannot_be_asked_and_left_out(here: Vault) -> None:
    with pytest.raises(UsageError, match="at once"):
        _asked(here, "global", include_global=False)


def test_a_limit_and_a_budget_bound_the_whole(here: Vault) -> None:
    assert len(_asked(here, "all", limit=2).results) == 2
    assert len(_asked(here, "all", budget=60).results) < len(_asked(here, "all").results)


def test_what_was_overtaken_stays_below_what_overtook_it(here: Vault, place: Path) -> None:
    with Vault.open(place / "team") as team:
        old = team.recall(JENKINS).results[0].id  # type: ignore[union-attr]
        team.remember("Quartz is rolled out by hand now.", ["Deploy"], kind="change", change_targets=[old])
    titles = [result.title for result in _asked(here, "team").results]
    assert titles.index("Quartz is rolled out by hand now") < titles.index(JENKINS.rstrip("."))


def test_one_memory_of_another_vault_is_read_by_its_name_there(here: Vault, place: Path) -> None:
    theirs = next(result for result in _asked(here, "team").results if result.scope == "team")
    for named in (f"team:{theirs.id}", f"team:{theirs.id[:6]}", f"team: {JENKINS.rstrip('.')}"):
        for read in (here.get(named), here.show(named)):
            assert (read.id, read.vault, read.content) == (theirs.id, "team", JENKINS)
    with pytest.raises(NotFound, match="nothing in this vault"):
        here.get("team:ffffff")
    for look_up in (here.get, here.show):
        with pytest.raises(UsageError, match="no vault is called `tema`") as unknown:
            look_up(f"tema:{theirs.id}")
        assert "there are: " in str(unknown.value) and "team" in str(unknown.value)
    with pytest.raises(NotFound, match="nothing in this vault"):
        here.get("tema: a title")
    own = here.remember("A note about titles.", ["Deploy"], title="team: a title with a colon")
    assert here.get("team: a title with a colon").id == own.id


def test_nothing_is_written_there_and_nothing_linked_across(here: Vault, place: Path) -> None:
    theirs = next(result for result in _asked(here, "team").results if result.scope == "team")
    own = next(result for result in _asked(here).results if result.scope == "repo")
    for write in (
        lambda: here.link(own.id, "SOLVES", f"team:{theirs.id}", "why"),
        lambda: here.mark_useful(f"team:{theirs.id}", "it helped"),
        lambda: here.tag(f"team:{theirs.id}", add=["mine"]),
    ):
        with pytest.raises(NotFound, match="in one vault alone") as refused:
            write()
        assert str(place / "team") in str(refused.value)
    with Vault.open(place / "team") as team:
        assert team.show(theirs.id).access_count == 0


def test_another_users_memories_are_theirs_in_each(here: Vault, place: Path) -> None:
    with Vault.open(place / "team", user="bea") as team:
        team.remember("Bea deploys quartz from her phone.", kind="fact")
    title = "Bea deploys quartz from her phone"
    assert title in _texts(_asked(here, "team"))
    with Vault.open(place / "here", user="ann") as ann, Vault.open(place / "here", user="bea") as bea:
        assert title not in _texts(_asked(ann, "team")) and title in _texts(_asked(bea, "team"))
        assert title not in _texts(ann.search("quartz phone", vaults=["team"]))
        assert title in _texts(bea.search("quartz phone", vaults=["team"]))
        with pytest.raises(NotFound):
            ann.get(f"team:{title}")
    assert title not in _texts(here.bring_to_mind(QUESTION, vaults=["team"]))


def test_what_was_forgotten_there_is_not_told(here: Vault, place: Path) -> None:
    theirs = next(result for result in _asked(here, "team").results if result.scope == "team")
    with Vault.open(place / "team", person=True) as team:
        team.forget(theirs.id)
    assert JENKINS.rstrip(".") not in _texts(_asked(here, "team"))
    with pytest.raises(NotFound, match="forgotten"):
        here.get(f"team:{theirs.id}")


def _with_clone(place: Path) -> None:
    """The team's vault is a clone of one's own, which is behind from now on."""
    shutil.rmtree(place / "team")
    own_copy(place / "here", place / "team")


def _id(vault: Vault, text: str) -> str:
    return next(row.id for row in vault.list().results if row.title == text.rstrip("."))


def _hidden_in(vault: Vault, identity: str, how: str) -> None:
    if how == "forgotten":
        vault.forget(identity)
    elif how == "withdrawn":
        vault.consent(identity, "withdrawn")
    else:
        path = vault.root / vault.show(identity).path
        path.write_text(path.read_text().replace("\nid:", "\nuser: bea\nid:", 1))


@pytest.mark.parametrize(
    ("how", "says"), [("forgotten", "forgotten"), ("withdrawn", "told to nobody"), ("of another user", "nothing in this vault")]
)
def test_what_this_vault_keeps_to_itself_no_clone_of_it_tells(how: str, says: str, place: Path) -> None:
    _with_clone(place)
    user = "ann" if how == "of another user" else ""
    with Vault.open(place / "here", person=True) as owner:
        identity = _id(owner, FRIDAYS)
        kept = owner.remember("Fridays are free of meetings.", ["Deploy"], title="Free Fridays").id
        owner.link(kept, "RELATED_TO", identity, "the same day")
        shutil.rmtree(place / "team" / "vault")
        shutil.copytree(place / "here" / "vault", place / "team" / "vault")
        _hidden_in(owner, identity, how)
    with Vault.open(place / "here", user=user, origin="agent") as agent:
        title = FRIDAYS.rstrip(".")
        assert title not in _texts(_asked(agent, "team"))
        assert title not in _texts(agent.search("quartz fridays", vaults=["team"], everything=True))
        assert title not in _texts(agent.bring_to_mind(QUESTION, vaults=["team"]))
        for read in (agent.get, agent.show):
            with pytest.raises(NotFound, match=says):
                read(f"team:{identity}")
            assert identity not in {relation.id for relation in read(f"team:{kept}").relations}


@pytest.mark.parametrize("how", ["overtaken", "over"])
def test_a_clone_that_is_behind_does_not_tell_what_is_true_no_more(how: str, here: Vault, place: Path) -> None:
    old = _id(here, FRIDAYS)
    _with_clone(place)
    if how == "overtaken":
        here.remember("Quartz is rolled out by hand now.", ["Deploy"], kind="change", change_targets=[old])
    else:
        path = here.root / here.show(old).path
        path.write_text(path.read_text().replace("\nid:", "\nexpires: 2020-01-01\nid:", 1))
    for answer in (_asked(here, "team"), here.search("quartz fridays", vaults=["team"])):
        told = [result for result in answer.results if result.id == old]
        assert [(result.status, result.vaults) for result in told] == ([("overtaken", ("repo",))] if how == "overtaken" else [])


def test_a_vault_that_is_removed_meanwhile_is_named_and_comes_back(here: Vault, place: Path) -> None:
    assert "team" in {name for result in _asked(here, "team").results for name in result.vaults}
    (place / "team").rename(place / "moved")
    answer = _asked(here, "team")
    assert _texts(answer).keys() == {FRIDAYS.rstrip("."), JAVA.rstrip(".")}
    assert any("the vault team could not be asked: no vault is at" in reason for reason in answer.degraded)
    with pytest.raises(NotFound):
        here.get("team:a1b2c3")
    (place / "moved").rename(place / "team")
    assert JENKINS.rstrip(".") in _texts(_asked(here, "team"))


def test_what_was_written_there_since_is_found(here: Vault, place: Path) -> None:
    _asked(here, "team")
    with Vault.open(place / "team") as team:
        team.remember("Quartz is deployed by three people now.", ["Deploy"])
    assert "Quartz is deployed by three people now" in _texts(_asked(here, "team"))


def _broken_catalogue(team: Path) -> None:
    for file in (team / "_cache").rglob("*"):
        if file.is_file():
            file.write_bytes(b"\0" * 4096)


def _broken_settings(team: Path) -> None:
    (team / "vault.toml").write_text("core_budget = [[[")


def _pipe_for_a_note(team: Path) -> None:
    os.mkfifo(team / "vault" / "observations" / "pipe.md")


def _links(team: Path) -> None:
    (team / "vault" / "observations" / "out.md").symlink_to("/etc/passwd")
    (team / "vault" / "round").symlink_to(team / "vault")


def _huge_file(team: Path) -> None:
    with (team / "vault" / "huge.md").open("wb") as file:
        file.truncate(2**33)


def _settings_that_wait(team: Path) -> None:
    (team / "vault.toml").write_text("lock_wait = 600\nembedding_wait = 600\n")


@pytest.mark.parametrize("harm", [_broken_catalogue, _broken_settings, _pipe_for_a_note, _links, _huge_file, _settings_that_wait])
def test_a_spoilt_vault_stops_nothing(harm: Any, here: Vault, place: Path) -> None:
    harm(place / "team")
    told = _texts(_asked(here, "team"))
    assert {FRIDAYS.rstrip("."), JAVA.rstrip("."), JENKINS.rstrip(".")} == told.keys()


def _pipe_for_the_workspace(team: Path) -> None:
    (team / "vault" / "workspace.md").unlink()
    os.mkfifo(team / "vault" / "workspace.md")


def _pipe_for_settings(team: Path) -> None:
    (team / "vault.toml").unlink()
    os.mkfifo(team / "vault.toml")


def _link_out(team: Path) -> None:
    (team / "vault").rename(team / "elsewhere")
    (team / "vault").symlink_to("/etc")


def _pipe_for_git(team: Path) -> None:
    subprocess.run(["git", "init", "-q", str(team)], check=True)
    (team / ".git" / "HEAD").unlink()
    os.mkfifo(team / ".git" / "HEAD")


def _a_file(team: Path) -> None:
    shutil.rmtree(team)
    team.write_text("no folder")


def _somebody_elses(team: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("a folder can be given away by root alone")
    os.chown(team, 65534, -1)


@pytest.mark.parametrize(
    "harm", [_pipe_for_the_workspace, _pipe_for_settings, _link_out, _pipe_for_git, _a_file, _somebody_elses]
)
def test_a_vault_that_cannot_be_asked_is_named(harm: Any, here: Vault, place: Path) -> None:
    harm(place / "team")
    for answer in (_asked(here, "team"), here.search("quartz", vaults=["team"]), here.bring_to_mind(QUESTION, vaults=["team"])):
        assert {FRIDAYS.rstrip("."), JAVA.rstrip(".")} == _texts(answer).keys()
        assert [reason for reason in answer.degraded if "the vault team could not be asked" in reason]
    with pytest.raises((NotFound, UsageError, Refused, Exception)):
        here.get("team:a1b2c3")


def test_one_that_hangs_is_named_and_the_others_answer(here: Vault, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its journal of what waits is a pipe: whoever opens it waits for a writer, for ever."""
    _asked(here, "team")
    monkeypatch.setattr(beside, "LIMIT", 0.2)
    neighbour = here.neighbours[str(place / "team")]
    guard = neighbour._guard  # type: ignore[attr-defined]
    with guard:  # as a question leaves it that is still at work
        answer = _asked(here, "team")
        with pytest.raises(Busy, match="the vault team did not answer"):
            here.get("team:a1b2c3")
    assert {FRIDAYS.rstrip("."), JAVA.rstrip(".")} <= _texts(answer).keys()
    assert any("the vault team did not answer within" in reason for reason in answer.degraded)


def test_git_that_hangs_there_is_ended_with_the_question(place: Path) -> None:
    """Its repository is elsewhere, and a pipe: git waits for a writer, for ever."""
    gone = place / "elsewhere"
    gone.mkdir()
    for name in ("HEAD", "config"):
        os.mkfifo(gone / name)
    (place / "team" / ".git").write_text(f"gitdir: {gone}\n")
    done = vt_process("--vault", str(place / "here"), "recall", QUESTION, "--with", "team", "--json", cwd=place)
    assert done.returncode == Exit.DONE, done.stderr
    answer = json.loads(done.stdout)
    # Its own answer may come yet, of a vault without a history, or be named as one that did not come in time.
    assert {FRIDAYS.rstrip("."), JAVA.rstrip(".")} <= {result["title"] for result in answer["results"]}
    eventually(lambda: str(place / "team") not in _folders_of_processes())


def _folders_of_processes() -> set[str]:
    folders = set()
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):  # it ended, or is another user's
            folders.add(str(link.readlink()))
    return folders


def test_hooks_filters_and_monitors_of_another_vault_do_not_run(here: Vault, place: Path, tmp_path: Path) -> None:
    team, mark = place / "team", tmp_path / "ran"
    subprocess.run(["git", "init", "-q", str(team)], check=True)
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    for name in ("core.fsmonitor", "core.sshCommand", "filter.x.clean", "filter.x.smudge", "core.pager", "core.editor"):
        subprocess.run(["git", "-C", str(team), "config", name, str(program)], check=True)
    (team / ".gitattributes").write_text("* filter=x\n")
    shutil.copy(program, team / ".git" / "hooks" / "post-index-change")
    (team / "_config.json").write_text(json.dumps({"provider": "openai", "openai_url": "http://127.0.0.1:9", "unattended": "on"}))
    assert JENKINS.rstrip(".") in _texts(_asked(here, "team"))
    assert not mark.exists()


# How they are named.


def test_naming_one_is_for_a_person(place: Path) -> None:
    before = (place / "here" / "_config.json").read_bytes()
    other = str(place / "shared")
    for arguments in (("vault", "more", other), ("vault", "team", "--remove"), ("vault", "team", other)):
        done = vt("--vault", str(place / "here"), "config", *arguments, "--origin", "owner", cwd=place)
        assert done.returncode == Exit.REFUSED, done.stderr
    with Vault.open(place / "here") as vault, pytest.raises(Refused):
        vault.config("vault", "more", folder=other)
    assert (place / "here" / "_config.json").read_bytes() == before
    done = called_at_terminal("--vault", str(place / "here"), "config", "vault", "more", other, cwd=place)
    assert done.returncode == Exit.DONE, done.stdout
    assert json.loads((place / "here" / "_config.json").read_bytes())["vaults"] == {
        "team": str(place / "team"), "more": other,
    }  # fmt: skip
    assert called_at_terminal("--vault", str(place / "here"), "config", "vault", "team", "--remove", cwd=place).returncode == 0
    assert json.loads((place / "here" / "_config.json").read_bytes())["vaults"] == {"more": other}


@pytest.mark.parametrize("name", ["global", "repo", "all", "Team", "a b", "", "../x", "x" * 41, "-x", "te:am", "téam"])
def test_a_name_that_means_something_else_is_refused(name: str, place: Path) -> None:
    with Vault.open(place / "here", person=True) as vault, pytest.raises(UsageError):
        vault.config("vault", name, folder=str(place / "shared"))


@pytest.mark.parametrize("folder", ["nowhere", "here", "team", "here/vault/workspace.md", ""])
def test_a_folder_that_is_no_other_vault_is_refused(folder: str, place: Path) -> None:
    with Vault.open(place / "here", person=True) as vault, pytest.raises(UsageError):
        vault.config("vault", "more", folder=str(place / folder) if folder else "")


def test_what_there_is_is_shown_and_an_unknown_name_is_refused(place: Path) -> None:
    shown = json.loads(vt("--vault", str(place / "here"), "config", "vault", "--json", cwd=place).stdout)
    assert [one["value"] for one in shown["machine"]] == [f"team = {place / 'team'}"]
    shutil.rmtree(place / "team")
    shown = json.loads(vt("--vault", str(place / "here"), "config", "--json", cwd=place).stdout)
    assert "no vault is at" in next(one["value"] for one in shown["machine"] if one["name"] == "vaults")
    done = vt("--vault", str(place / "here"), "config", "vault", "tema", cwd=place)
    assert done.returncode == Exit.USAGE and "there are: team" in done.stderr


@pytest.mark.parametrize("value", [["team"], {"team": 5}, {"Team!": "/x"}, {"team": "relative"}, {"all": "/x"}, "team"])
def test_settings_that_name_none_are_faulty_as_any(value: object, place: Path) -> None:
    (place / "here" / "_config.json").write_text(json.dumps({"vaults": value}))
    with Vault.open(place / "here") as vault:
        with pytest.raises(UsageError, match="vaults"):
            _asked(vault, "team")
        assert _asked(vault).results


def test_the_same_vault_by_two_names_is_asked_once(place: Path) -> None:
    settings = {"vaults": {"team": str(place / "team"), "again": str(place / "team"), "me": str(place / "here")}}
    (place / "here" / "_config.json").write_text(json.dumps(settings))
    with Vault.open(place / "here") as vault:
        answer = _asked(vault, "all")
        assert {name for result in answer.results for name in result.vaults} == {"repo", "global", "team"}
        assert sum("is the same as" in reason for reason in answer.degraded) == 2


# The command line.


def test_the_command_line_says_and_takes_the_same_names(place: Path) -> None:
    asked = ("--vault", str(place / "here"))
    shown = vt(*asked, "recall", QUESTION, "--with", "team", cwd=place).stdout
    assert "in this vault and team" in shown
    theirs = next(word for word in shown.split() if word.startswith("team:"))
    assert JENKINS in vt(*asked, "get", theirs, cwd=place).stdout
    assert f"id: {theirs}" in " ".join(vt(*asked, "show", theirs, cwd=place).stdout.split())
    for command in ("search", "bring-to-mind", "read"):
        assert theirs in vt(*asked, command, QUESTION, "--with", "team", cwd=place).stdout, command
        done = vt(*asked, command, QUESTION, "--with", "tema", cwd=place)
        assert done.returncode == Exit.USAGE and "there are: global, team" in done.stderr
    lean = json.loads(vt(*asked, "recall", QUESTION, "--with", "team", "--lean", cwd=place).stdout)
    assert {len(one["id"]) for one in lean["results"] if one["vaults"] == ["team"]} == {36}


@pytest.mark.parametrize("before", [True, False])
def test_two_vaults_are_refused(before: bool, place: Path) -> None:
    here, team = ("--vault", str(place / "here")), ("--vault", str(place / "team"))
    words = (*here, "recall", QUESTION, *team) if before else ("recall", QUESTION, *here, *team)
    done = vt(*words, cwd=place)
    assert done.returncode == Exit.USAGE and "given more than once" in done.stderr and not done.stdout
    done = vt("remember", "A thing.", "-s", "Deploy", *here, *team, cwd=place)
    assert done.returncode == Exit.USAGE


@pytest.mark.parametrize("mark", [os.pathsep, ",", "\n"])
def test_a_list_in_the_variable_is_refused_with_what_there_is(mark: str, place: Path) -> None:
    several = mark.join([str(place / "shared"), str(place / "team")])
    done = vt("--vault", str(place / "here"), "recall", QUESTION, "--json", cwd=place, env={"VAULT_GLOBAL": several})
    assert done.returncode == Exit.USAGE and "names one vault, and not a list of 2" in done.stderr
    assert json.loads(done.stdout)["error"]["hint"] == f"there are: {place / 'shared'}, {place / 'team'}"
    done = vt("recall", QUESTION, cwd=place, env={"VAULT_GLOBAL": several})
    assert done.returncode == Exit.USAGE and "not a list" in done.stderr


def test_a_folder_whose_name_looks_like_a_list_is_one(place: Path) -> None:
    odd = place / f"a{os.pathsep}b,c"
    (place / "shared").rename(odd)
    done = vt("--vault", str(place / "here"), "recall", QUESTION, "--json", cwd=place, env={"VAULT_GLOBAL": str(odd)})
    assert "global" in {one["scope"] for one in json.loads(done.stdout)["results"]}
