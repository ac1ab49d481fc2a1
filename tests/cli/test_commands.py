from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.typed import VT, on_terminal, vt, vt_process
from tests.founding import found_at
from vault_tool.cli.main import main
from vault_tool.errors import Exit
from vault_tool.features.doctor import doctor, vault_status
from vault_tool.features.history import history
from vault_tool.features.pages import pages
from vault_tool.features.reading import get
from vault_tool.features.recall import search
from vault_tool.features.remember import links
from vault_tool.features.remember.remember import RememberedObservation
from vault_tool.features.setup import setup
from vault_tool.features.subjects import subjects
from vault_tool.features.understandings import understandings
from vault_tool.util.json_text import json_name, seldom_told
from vault_tool.util.structs import Struct
from vault_tool.vault.generated_pages import GeneratedPage

HOLD_THE_LOCK = """
import sys
from pathlib import Path
from vault_tool.files import writer
with writer.lock(Path(sys.argv[1]), 5, "test"):
    print("held", flush=True)
    sys.stdin.read()
"""


class Person:
    """Somebody who types commands in a vault and reads what comes back."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self._capsys = capsys

    def types(self, *arguments: str, code: Exit = Exit.DONE) -> str:
        """The answer; the exit code must be `code`, and standard error empty where that is 0."""
        assert main(arguments) == code
        shown = self._capsys.readouterr()
        assert "Traceback" not in shown.err
        assert code is not Exit.DONE or shown.err == ""
        return shown.out

    def fails(self, *arguments: str, code: Exit) -> str:
        """The one line on standard error."""
        assert main(arguments) == code
        shown = self._capsys.readouterr()
        assert shown.out == ""
        assert shown.err.count("\n") == 1
        return shown.err

    def warned(self, *arguments: str, code: Exit) -> str:
        """The warnings beside an answer."""
        assert main(arguments) == code
        return self._capsys.readouterr().err

    def gets(self, *arguments: str) -> Any:
        """The answer as a program gets it."""
        return json.loads(self.types(*arguments, "--json"))

    def remembers(self, content: str, *more: str) -> str:
        """The id of a new observation."""
        return str(self.gets("remember", content, *more)["id"])


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Person:
    root = found_at(tmp_path / "v", git=True)
    monkeypatch.chdir(root)
    return Person(root, capsys)


def test_a_vault_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "v"
    assert main(["init", str(root), "--name", "Lab"]) == Exit.DONE
    assert capsys.readouterr().out.startswith(f"Lab is a vault at {root}\n")


def test_a_memory_is_written_found_and_read(person: Person) -> None:
    made = person.types("remember", "Redis drops idle connections.", "-s", "Redis", "-k", "fact", "--title", "Idle Redis")
    short = made.split()[0]
    assert re.fullmatch(r"[0-9a-f]{6,8}", short)
    assert "new subjects:  Redis" in made
    found = person.types("search", "idle", "connections")
    assert re.search(rf"^{short} +fact +Idle Redis +Redis +agent \(not reviewed\) +\d+\.\d\d$", found, re.M)
    shown = person.types("get", short)
    assert shown.startswith("Idle Redis\nid:        ")
    assert "\n\n| Redis drops idle connections.\n" in shown
    assert "never" in person.types("show", person.remembers("Another."))


def test_tables_have_short_ids_and_json_whole_ones(person: Person) -> None:
    identity = person.remembers("One.")
    assert len(identity) == 36
    found = person.gets("get", identity[:6])
    assert found["id"] == identity
    assert identity not in person.types("get", identity)


def test_a_search_says_what_is_doubtful(person: Person) -> None:
    person.remembers("Quartz melts in water.", "--confidence", "0.1", "-s", "Quartz")
    assert " Quartz melts in water (doubtful) " in person.types("search", "melts")
    assert " Quartz melts in water (doubtful) " in person.types("search-observations", "melts", "-s", "Quartz")


def test_json_has_the_names_of_the_results_fields(person: Person) -> None:
    one, other = person.remembers("One.", "-s", "A"), person.remembers("Two.", "-s", "A")
    made = person.gets("create-understanding", "Both.", "-s", "A", "--summary", "A is both", "--source", one, "--source", other)
    expected: dict[tuple[str, ...], type[Struct]] = {
        ("remember", "Three."): RememberedObservation,
        ("link", one, "CAUSES", other, "because"): links.Linked,
        ("related", one): get.Relations,
        ("get", one): get.Memory,
        ("pin", one): links.Pinned,
        ("episode", "It rained."): links.Logged,
        ("search", "one"): search.SearchResults,
        ("get-subjects",): subjects.Subjects,
        ("create-subjects", "B"): subjects.CreatedSubjects,
        ("update-understanding", made["id"], "All.", "--summary", "A is all"): understandings.UpdatedUnderstanding,
        ("set-structural-understanding", "A", "Part of B."): understandings.StructuralUnderstanding,
        ("status",): vault_status.Status,
        ("doctor",): doctor.Diagnosis,
        ("reindex",): doctor.Reindexed,
        ("decay",): pages.Decay,
        ("core",): GeneratedPage,
        ("reflection", "--print"): GeneratedPage,
        ("reflect",): pages.Reflection,
        ("log",): history.Log,
        ("history", made["id"]): history.History,
        ("diff",): history.Difference,
        ("commit",): history.Gathered,
        ("config",): setup.ShownSettings,
    }
    for arguments, result in expected.items():
        named = set(map(json_name, result.__struct_fields__)) - {*seldom_told(result)}
        assert person.gets(*arguments).keys() == named, arguments


def test_subjects_are_made_one_by_one_or_from_json(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    person.types("create-subjects", "Redis", "--summary", "The cache", "--alias", "the cache", "--tag", "infra")
    listed = '[{"name": "Homelab", "role": "project"}, {"name": "Postgres"}]'
    assert [one["name"] for one in person.gets("create-subjects", "--from", listed)["results"]] == ["Homelab", "Postgres"]
    shown = person.types("get-subjects", "THE cache", "homelab")
    assert "summary:         The cache" in shown
    assert "role:            project" in shown
    assert "exists already" in person.fails("create-subjects", "redis", code=Exit.USAGE)
    assert "is not JSON" in person.fails("create-subjects", "--from", "{", code=Exit.USAGE)
    typed = person.gets("create-subjects", '[{"name": "Claude", "summary": "The model"}]')
    assert [one["name"] for one in typed["results"]] == ["Claude"]
    assert "not a list" in person.fails("create-subjects", "--from", "{}", code=Exit.USAGE)
    assert "several are named" in person.fails("create-subjects", "X", "Y", "--summary", "z", code=Exit.USAGE)


def test_a_superseded_understanding_is_not_revised_unseen(person: Person) -> None:
    seen = [f"--source={person.remembers(text, '-s', 'A')}" for text in ("Once.", "Twice.")]
    old = person.gets("create-understanding", "One.", "-s", "A", "--summary", "A is one", *seen)["id"]
    new = person.gets("update-understanding", old, "Two.", "--summary", "A is two")["new_understanding_id"]
    assert new[:6] in person.fails("update-understanding", old, "Three.", "--summary", "A is three", code=Exit.REFUSED)
    shown = person.types("history", new[:8])
    assert "A is two" in shown
    assert f"{old[:6]}  A is one (superseded)" in shown


def test_a_text_comes_from_standard_input(person: Person) -> None:
    done = vt_process("remember", "-", "--json", input="Ünïcode from a pipe\n")
    assert done.returncode == Exit.DONE
    assert person.gets("get", json.loads(done.stdout)["id"])["content"] == "Ünïcode from a pipe"


def test_a_note_cannot_drive_the_terminal_that_shows_it(person: Person) -> None:
    identity = person.remembers("A\x1b]0;owned\x07 text", "--title", "T\x1b[2Jitle")
    for arguments in (("get", identity), ("search", "text"), ("log",), ("history", identity), ("decay",)):
        assert "\x1b" not in person.types(*arguments)


def test_who_writes_is_an_agent_without_a_terminal_and_said_otherwise(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    assert person.gets("get", person.remembers("One."))["origin"] == "agent"
    assert person.gets("get", person.remembers("Two.", "--origin", "owner"))["origin"] == "owner"
    monkeypatch.setenv("VAULT_ORIGIN", "import")
    assert person.gets("get", person.remembers("Three."))["origin"] == "import"
    head = person.gets("get", person.remembers("Four.", "--session", "s1", "--model", "m1", "--user", "u1", "--project", "p1"))[
        "head"
    ]
    assert (head["session"], head["model"], head["user"], head["project"]) == ("s1", "m1", "u1", "p1")


@pytest.mark.skipif(os.name == "nt", reason="makes a POSIX terminal")
def test_who_writes_on_a_terminal_is_the_owner(person: Person) -> None:
    shown = on_terminal([*VT, "remember", "Typed by hand.", "--title", "Typed"], person.root, {**os.environ, "TERM": "xterm"})
    assert person.gets("get", shown.split()[0])["origin"] == "owner"
    assert "\x1b[" in on_terminal([*VT, "search", "typed"], person.root, {**os.environ, "TERM": "xterm-256color"})


def test_the_vault_is_named_before_or_after_the_command(person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments in (["--vault", str(person.root), "status"], ["status", "--vault", str(person.root)]):
        assert person.gets(*arguments)["name"] == "Lab"
    monkeypatch.setenv("VAULT_ROOT", str(person.root))
    assert person.gets("status")["root"] == str(person.root)


def test_saved_but_not_committed_is_exit_4(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{role}_NAME")
        monkeypatch.delenv(f"GIT_{role}_EMAIL")
    subprocess.run(["git", "config", "user.useConfigOnly", "true"], check=True)
    warning = person.warned("remember", "Kept all the same.", code=Exit.ATTENTION)
    assert warning.startswith("warning: saved, but not committed: ")
    assert warning.count("\n") == 1
    assert person.gets("search", "kept")["results"]


def test_without_git_one_line_says_so_and_all_is_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(tmp_path / "plain"), "--no-git"]) == Exit.DONE
    assert capsys.readouterr().err == ""  # it was asked for
    monkeypatch.chdir(tmp_path / "plain")
    nobody = Person(tmp_path / "plain", capsys)
    warning = nobody.warned("remember", "Kept without history.", code=Exit.DONE)
    assert warning.startswith("warning: ")
    assert warning.count("\n") == 1


def test_a_busy_vault_is_exit_3_and_names_the_holder(person: Person) -> None:
    person.types("config", "lock_wait", "0.1")
    holding = [sys.executable, "-c", HOLD_THE_LOCK, str(person.root)]
    with subprocess.Popen(holding, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert str(holder.pid) in person.fails("remember", "Too soon.", code=Exit.BUSY)
        holder.communicate("")
    assert person.gets("search", "soon")["results"] == []


def test_findings_are_exit_1(person: Person) -> None:
    assert person.types("doctor") == "no problems\n"
    (person.root / "vault" / "broken.md").write_text("---\nid: [\n---\nx\n")
    shown = person.warned("doctor", code=Exit.FINDINGS)
    assert shown == ""
    assert "vault/broken.md:" in person.types("doctor", code=Exit.FINDINGS)


def test_a_page_is_adopted_and_hand_edits_are_committed(person: Person) -> None:
    (person.root / "vault" / "idea.md").write_text("An idea.\n")
    assert "vt adopt" in person.types("doctor")
    assert "idea.md" in person.types("diff")
    assert "idea.md" in person.types("adopt", "vault/idea.md", "--type", "insight")
    (person.root / "vault" / "other.md").write_text("Another.\n")
    assert "vault/other.md" in person.types("commit", "--message", "by hand")
    assert "by hand" in person.types("log", "--limit", "1")
    assert person.types("commit") == "everything is committed\n"


def test_an_editor_writes_and_edits_notes(person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "editor.py"
    script.write_text("import sys\nwith open(sys.argv[1], 'a') as note:\n    note.write('\\nWritten by hand.\\n')\n")
    monkeypatch.setenv("EDITOR", f"'{sys.executable}' '{script}'")
    made = person.gets("new", "fact", "--title", "By hand", "-s", "Redis")
    assert person.gets("get", made["id"])["title"] == "By hand"
    assert person.gets("edit", made["id"], "--origin", "owner")["changed"] is True
    monkeypatch.setenv("EDITOR", f"'{sys.executable}' -c pass")
    assert person.types("edit", made["id"]) == "nothing was changed\n"
    monkeypatch.setenv("EDITOR", f"'{sys.executable}' -c 'raise SystemExit(1)'")
    assert "failed" in person.fails("edit", made["id"], code=Exit.USAGE)


def test_the_core_page_is_printed_as_it_is(person: Person) -> None:
    page = person.types("core", "--print")
    assert page.startswith("# Memory, 20")
    assert page.rstrip("\n") == person.gets("core", "--print")["text"].rstrip("\n")


def test_a_setting_is_set_and_shown(person: Person) -> None:
    assert re.search(r"^core_budget +9000 +set +", person.types("config", "core_budget", "9000"), re.M)
    assert "true or false" in person.fails("config", "share_use", "maybe", code=Exit.USAGE)


def test_the_shell_completes_ids_and_subjects(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    identity = person.remembers("One.", "-s", "Memory system")
    monkeypatch.setenv("_VT_COMPLETE", "bash_complete")
    for words, expected in ((f"vt get {identity[:5]}", identity), ("vt get-subjects memory_s", "Memory system")):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", "2")
        assert vt().stdout == f"plain,{expected}\n"


def test_a_page_is_opened_by_its_path(person: Person) -> None:
    (person.root / "vault/page.md").write_text("# How it began\n\nWith a page.\n")
    shown = person.types("get", "vault/page.md")
    assert shown.startswith("How it began\ntype:  page\n") and "\n|\n| With a page.\n" in shown
    assert person.gets("show", "vault/page.md")["class"] == "page"


@pytest.mark.parametrize("name", ["How it began", "how-it-BEGAN", "page", "page.md"])
def test_a_page_is_opened_by_its_name_too(person: Person, name: str) -> None:
    (person.root / "vault/deep").mkdir()
    (person.root / "vault/deep/page.md").write_text("# How it began\n\nWith a page.\n")
    assert person.gets("get", name)["path"] == "vault/deep/page.md"
    memory = person.remembers("Another beginning.", "--title", "How it began")
    person.remembers("A page of ours.", "--title", "Page")
    if not name.endswith(".md"):
        assert person.gets("show", name)["class"] != "page", "a memory is meant before a page"
    assert memory == person.gets("show", "How it began")["id"]


def test_a_name_of_several_pages_is_no_page(person: Person) -> None:
    for folder in ("a", "b"):
        (person.root / f"vault/{folder}").mkdir()
        (person.root / f"vault/{folder}/page.md").write_text("With a page.\n")
    assert "could be vault/a/page.md, vault/b/page.md; type the path" in person.fails("get", "page", code=Exit.USAGE)


def test_what_cannot_be_read_is_said_once(person: Person, capsys: pytest.CaptureFixture[str]) -> None:
    (person.root / "vault/half.md").write_text("<<<<<<< a\nText.\n=======\nThat.\n>>>>>>> b\n")
    for command in (["search", "text"], ["status"]):
        assert main(command) == Exit.DONE
        said = capsys.readouterr().err
        assert said == "warning: 1 file cannot be read and is in no answer: see `vt doctor`\n"


def test_a_note_whose_head_cannot_be_read_is_found_and_marked(person: Person) -> None:
    (person.root / "vault/half.md").write_text("---\na: [\n---\nThe quokka sleeps.\n")
    assert "head unread" in person.types("search", "quokka")


def test_a_group_without_a_command_names_those_that_it_has(person: Person) -> None:
    said = person.fails("import", code=Exit.USAGE)
    assert said == ("vt: name the export to take in: `vt import FILE`; `vt import --help` says what it takes\n")


def test_a_setting_that_does_not_fit_is_named_with_what_would(person: Person) -> None:
    said = person.fails("config", "lock_wait", "soon", code=Exit.USAGE)
    assert said.startswith("vt: `lock_wait` must be a number of 0 or more, not 'soon'; `vt config lock_wait`")
    assert "vault.toml" not in said
    assert "must be one of" in person.fails("config", "links", "footnote", code=Exit.USAGE)


def test_status_shows_what_waits_for_its_commit(person: Person, capsys: pytest.CaptureFixture[str]) -> None:
    subprocess.run(["git", "checkout", "--quiet", "--detach"], cwd=person.root, check=True)
    assert main(["remember", "While HEAD is detached."]) == Exit.ATTENTION
    capsys.readouterr()
    assert "waiting:         1 to be committed by the next write\n" in person.types("status")
    subprocess.run(["git", "checkout", "--quiet", "-"], cwd=person.root, check=True)
    person.remembers("Back again.")
    assert "waiting" not in person.types("status")


def test_once_is_not_1_times(person: Person) -> None:
    identity = person.remembers("Read.")
    assert "used:      never\n" in person.types("show", identity)
    person.types("get", identity)
    assert "used:      once\n" in person.types("show", identity)
    person.types("get", identity)
    assert "used:      2 times\n" in person.types("show", identity)
