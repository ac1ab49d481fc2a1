from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from tests.cli.typed import VT, parsed, vt, vt_process
from vault_tool import errors
from vault_tool.cli import output
from vault_tool.cli.lazy import Listed, each
from vault_tool.cli.main import explain, group, main
from vault_tool.cli.options import COMMON, VaultCommand, VaultGroup
from vault_tool.cli.table import ELSEWHERE, FIRST, SECTIONS
from vault_tool.cli.twins import LONGEST, TWINS
from vault_tool.errors import Exit, VaultError

ALL = [listed for _, listed in each(SECTIONS)]
ALL_NAMES = [listed.name for listed in ALL]
HEAVY = (
    "rich",
    "tantivy",
    "sqlite3",
    "yaml",
    "orjson",
    "filelock",
    "platformdirs",
    "tomlkit",
    "subprocess",
    "vault_tool.verbs",
    "vault_tool.features",
)


def _commands(listed: Listed) -> list[VaultCommand]:
    """The command of a name, or those of a group."""
    command = listed.load()
    assert isinstance(command, (VaultCommand, VaultGroup))
    return command.members() if isinstance(command, VaultGroup) else [command]


@pytest.mark.parametrize("listed", ALL, ids=ALL_NAMES)
def test_the_table_says_what_the_command_says(listed: Listed) -> None:
    command = listed.load()
    assert command.name == listed.name
    assert (command.help or "").split("\n")[0] == listed.help
    assert len(listed.help) <= 45, "one line of `vt --help` on 80 columns"


@pytest.mark.parametrize("listed", ALL, ids=ALL_NAMES)
def test_every_command_has_the_common_options_and_explains_its_own(listed: Listed) -> None:
    for command in (listed.load(), *_commands(listed)):
        names = {parameter.name for parameter in command.params}
        assert names >= COMMON
        for parameter in command.params:
            assert isinstance(parameter, (click.Option, click.Argument))
            assert parameter.help, f"{listed.name} {parameter.name}"


@pytest.mark.parametrize("listed", ALL, ids=ALL_NAMES)
def test_help_ends_with_examples_that_the_parser_takes(listed: Listed, monkeypatch: pytest.MonkeyPatch) -> None:
    for command in _commands(listed):
        shown = command.get_help(click.Context(command, info_name=f"vt {listed.name}"))
        assert command.examples
        assert shown.endswith(command.examples[-1])
        for example in command.examples:
            assert parsed(example, monkeypatch)[0] is command


def test_every_name_is_listed_once() -> None:
    assert len(ALL_NAMES) == len(set(ALL_NAMES)) == len(group.listed)


def test_help_shows_the_first_commands_alone_and_says_where_the_rest_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == Exit.DONE
    shown = capsys.readouterr().out
    assert "`vt COMMAND --help`" in shown
    assert "`vt help all`" in shown
    assert _named(shown) == [name for names in FIRST.values() for name in names]
    assert len(_named(shown)) == 16
    for title in FIRST:
        assert f"\n{title}:\n" in shown
    assert shown.count("\n") <= 45, "one screen"


def test_all_help_names_every_command_by_section(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "all"]) == Exit.DONE
    shown = capsys.readouterr().out
    assert _named(shown) == ALL_NAMES
    for title, commands in SECTIONS.items():
        assert f"\n{title}:\n" in shown
        for listed in commands:
            assert listed.help in shown
    for twin in TWINS.values():
        assert f"\n      {twin}\n" in shown


def _named(shown: str) -> list[str]:
    """The commands that help lists, in its order."""
    found = re.findall(r"^  ([a-z-]+) {2,}\S", shown, re.M)
    return [name for name in found if not name.startswith("-")]


# Commands that were taken for each other: each is told apart from another of its line.
CONFUSED = (
    "recall search list read bring-to-mind", "search-observations list-observations search list", "get show read",
    "edit correct mark-questionable update", "mark-useful pin update",
    "create-understanding update-understanding understand set-structural-understanding", "reflect core reflection",
    "history log diff activity", "forget undo delete-observations unlink", "commit snapshot export",
    "status doctor get-stats", "remember add-observations write new episode", "read write update op", "adopt import",
    "mcp serve web", "watch owner", "consolidate reflect begin-consolidation end-consolidation",
    "get-pending-consolidation get-consolidation-report list-passes",
    "open-map open-around open-intersection related get-understandings", "add-alias merge-subjects find-similar-subjects",
    "list-turns get-turn backstop", "tag tags link", "config install", "end-session get-session-context",
    "reindex embed doctor",
)  # fmt: skip


@pytest.mark.parametrize("line", CONFUSED)
def test_each_of_near_twins_is_told_apart_from_another(line: str) -> None:
    group_of = line.split()
    assert not [name for name in group_of if name not in TWINS]
    assert any(f"`{other}" in TWINS[name] for name in group_of for other in group_of if other != name)


@pytest.mark.parametrize("name", TWINS)
def test_a_line_about_a_twin_names_other_commands_in_one_line(name: str) -> None:
    said = TWINS[name]
    meant = [command.split()[0] for command in re.findall(r"`([^`]+)`", said)]
    assert said.startswith("not `")
    assert meant
    assert name not in meant
    assert set(meant) <= set(ALL_NAMES)
    assert len(said) <= LONGEST


def test_the_help_of_a_command_names_its_twin(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("get", "import"):
        assert main([name, "--help"]) == Exit.DONE
        assert f"It is {TWINS[name]}." in " ".join(capsys.readouterr().out.split())


def _offered(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str) -> list[str]:
    """What a shell is offered after a line that ends in what is to be completed."""
    words = typed.split(" ")
    monkeypatch.setenv("_VT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    main([])
    return [line.partition(",")[2] for line in capsys.readouterr().out.split("\n") if line]


def test_a_shell_completes_every_command_the_first_ones_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = [name for names in FIRST.values() for name in names]
    offered = _offered(monkeypatch, capsys, "vt ")
    assert offered[: len(first)] == first
    assert set(ALL_NAMES) | {"help"} == set(offered)
    assert "all" in _offered(monkeypatch, capsys, "vt help a")
    assert "all" not in _offered(monkeypatch, capsys, "vt a")


def test_nothing_typed_is_a_question_for_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == Exit.DONE
    assert capsys.readouterr().out.startswith("Usage: vt ")


def test_help_is_a_word_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "search"]) == Exit.DONE
    assert capsys.readouterr().out.startswith("Usage: vt search ")
    assert main(["help"]) == Exit.DONE
    assert capsys.readouterr().out.startswith("Usage: vt [OPTIONS] COMMAND")


@pytest.mark.without_coverage
def test_help_loads_no_index_no_git_and_no_terminal_library() -> None:
    program = "import sys; from vault_tool.cli.main import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert not [name for name in HEAVY if name in loaded]
    assert not [name for name in loaded if name.startswith("vault_tool.cli.") and name.split(".")[-1] in {x.module for x in ALL}]


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == Exit.DONE
    assert capsys.readouterr().out.startswith("vt, version ")


def test_common_options_stand_before_or_after_the_command_and_after_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    line = "vt --vault one --session s1 --debug status --session s2 --json --origin owner"
    call = parsed(line, monkeypatch)[1]
    assert (call.vault, call.session, call.origin, call.json, call.debug) == ("one", "s2", "owner", True, True)


def test_an_option_before_the_command_beats_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_ORIGIN", "import")
    assert parsed("vt status", monkeypatch)[1].origin == "import"
    assert parsed("vt --origin owner status", monkeypatch)[1].origin == "owner"
    assert parsed("vt status --origin owner", monkeypatch)[1].origin == "owner"


def test_an_origin_that_is_none_is_named_with_its_variable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VAULT_ORIGIN", "nobody")
    assert main(["status"]) == Exit.USAGE
    assert "VAULT_ORIGIN" in capsys.readouterr().err


def test_writers_say_who_concluded_it(monkeypatch: pytest.MonkeyPatch) -> None:
    call = parsed("vt remember text --model m1 --user u1 --project p1", monkeypatch)[1]
    assert (call.model, call.user, call.project) == ("m1", "u1", "p1")


def test_the_library_spelling_of_a_command_is_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parsed("vt get_subjects Redis", monkeypatch)[0].name == "get-subjects"


USAGE = [
    (["serch", "x"], "there is no command `serch`; did you mean `vt search`"),
    (["zzz"], "there is no command `zzz`; `vt help all` lists them"),
    (["find", "x"], "there is no command `find`; did you mean `vt search` or `vt recall`"),
    (["ADD", "x"], "there is no command `ADD`; did you mean `vt remember` or `vt new`"),
    (["import-markdown", "x"], "there is no command `import-markdown`; did you mean `vt import`"),
    (["import", "~/x"], "there is no file '~/x', and no export is called so: known are "),
    (["get"], "missing argument 'ID'; `vt get --help`"),
    (["search", "--limmit", "3", "x"], "no such option '--limmit'"),
    (["search", "--limit", "none", "x"], "'none' is not a valid integer"),
    (["--nope"], "no such option '--nope'"),
    (["decay", "--standing", "asleep"], "'asleep' is not one of"),
    (["get", "a\x1b[31mb", "--origin", "x\x07y"], "is not one of"),
]


def test_what_other_tools_call_things_leads_to_commands_that_there_are() -> None:
    names = {listed.name for commands in SECTIONS.values() for listed in commands}
    assert {name for meant in ELSEWHERE.values() for name in meant} - names == {"--version"}
    assert not names & set(ELSEWHERE)


@pytest.mark.parametrize(("arguments", "said"), USAGE, ids=[" ".join(a)[:20] for a, _ in USAGE])
def test_a_wrong_command_line_is_one_line_and_exit_2(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == Exit.USAGE
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("vt: ")
    assert said in shown.err
    assert _is_one_line(shown.err)


def test_no_vault_is_a_line_that_says_how_to_make_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["status"]) == Exit.USAGE
    shown = capsys.readouterr()
    assert "vt init" in shown.err
    assert _is_one_line(shown.err)


def test_with_json_an_error_is_json_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "--vault", str(tmp_path / "nowhere"), "--json"]) == Exit.USAGE
    shown = capsys.readouterr()
    fault = json.loads(shown.out)["error"]
    assert fault.keys() == {"code", "exit_code", "message", "hint", "next"} and fault["next"]["verb"] == "init"
    assert (fault["code"], fault["exit_code"]) == ("not-found", 2)
    assert _is_one_line(shown.err)


def test_json_as_a_text_to_remember_asks_for_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["remember", "--vault", str(tmp_path / "nowhere"), "--", "--json"]) == Exit.USAGE
    assert capsys.readouterr().out == ""


def test_debug_shows_where_it_came_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "--debug", "--vault", str(tmp_path / "nowhere")]) == Exit.USAGE
    shown = capsys.readouterr().err
    assert "Traceback" in shown
    assert shown.splitlines()[-1].startswith("vt: no vault at ")


FAULTS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, VaultError)]


@pytest.mark.parametrize("kind", FAULTS, ids=lambda kind: kind.__name__)
def test_every_error_class_keeps_its_exit_code_sentence_and_hint(kind: type[VaultError]) -> None:
    failure = explain(kind("what happened", "what to type"))
    assert (failure.exit_code, failure.message, failure.hint) == (kind.exit_code, "what happened", "what to type")
    assert failure.code == failure.code.lower()


@pytest.mark.parametrize(
    ("fault", "code", "said"),
    [
        (KeyboardInterrupt(), Exit.INTERRUPTED, "interrupted"),
        (click.Abort(), Exit.INTERRUPTED, "interrupted"),
        (OSError(28, "No space left on device", "vault/a.md"), Exit.IO, "No space left on device: vault/a.md"),
        (OSError("odd"), Exit.IO, "odd"),
        (click.ClickException("vi: Editing failed"), Exit.USAGE, "vi: Editing failed"),
        (ZeroDivisionError("by zero"), Exit.IO, "unexpected ZeroDivisionError: by zero"),
    ],
)
def test_what_is_no_error_of_ours_is_told_in_words(fault: BaseException, code: Exit, said: str) -> None:
    failure = explain(fault)
    assert failure.exit_code is code
    assert said in failure.message


def test_a_long_error_keeps_its_ends_and_its_hint() -> None:
    line = output.error_line(f"start {'x ' * 300} end", "`vt doctor` names it")
    assert len(line) <= output.ERROR_LENGTH
    assert line.startswith("vt: start ")
    assert line.endswith(" end; `vt doctor` names it")
    assert "…" in line


def test_a_hint_has_the_room_that_the_error_leaves() -> None:
    hint = "`vt init DIR` makes one, `--vault DIR` or VAULT_ROOT names one, `vt config global VALUE` chooses one for every folder"
    assert output.error_line("no vault in /home/ann/notes or above it", hint).endswith(hint)
    assert len(output.error_line("no vault in /home/ann/" + "n" * 300, hint)) <= output.ERROR_LENGTH


def test_a_long_hint_leaves_room_for_the_error() -> None:
    line = output.error_line("what happened", "h" * 500)
    assert len(line) <= output.ERROR_LENGTH
    assert line.startswith("vt: what happened; h")


def test_an_error_cannot_drive_a_terminal_or_take_two_lines() -> None:
    line = output.error_line("a\x1b[2Jb\nc\u202ed", "e\rf\x9b")
    assert line.isprintable()


def test_ctrl_c_is_exit_130_and_one_line() -> None:
    child = subprocess.Popen([*VT, "remember", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdin is not None
    assert child.stderr is not None
    # More than a pipe holds: when it is written, the child is in its reading.
    child.stdin.write(b"x" * 1_000_000)
    child.stdin.flush()
    child.send_signal(signal.SIGINT)
    # A signal that comes right before a read is heeded after it: the end of the text wakes whoever was that late to block.
    child.stdin.close()
    assert child.wait() == Exit.INTERRUPTED
    assert _is_one_line(child.stderr.read().decode())


@pytest.mark.parametrize("command", ["--help", "completion bash"])
def test_a_reader_that_leaves_is_no_fault(command: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*VT, *command.split()], stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a device that is always full")  # noqa: PTH110
@pytest.mark.parametrize("command", ["--help", "completion bash"])
def test_an_answer_that_cannot_be_written_is_exit_5(command: str) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*VT, *command.split()], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == Exit.IO
    assert _is_one_line(done.stderr.decode())


@pytest.mark.skipif(os.name == "nt", reason="closes a stream by a POSIX shell")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&-"])
def test_closed_streams_are_no_fault(closed: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m vault_tool completion bash {closed}', sys.executable], capture_output=True, check=False
    )
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_output_is_utf_8_whatever_the_locale(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    done = vt_process("no-такой-команды")
    assert done.returncode == Exit.USAGE
    assert "`no-такой-команды`" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="arguments are text on Windows")
def test_an_argument_that_is_no_text_is_refused_in_one_line() -> None:
    done = vt_process(b"search", b"\xff\xfe")
    assert done.returncode == Exit.USAGE
    assert "not UTF-8" in done.stderr
    assert _is_one_line(done.stderr)


@pytest.mark.parametrize("data", [b"\xff\xfe", b"x" * (10 * 2**20 + 1)], ids=["not text", "too much"])
def test_standard_input_that_cannot_be_a_note_is_refused(data: bytes) -> None:
    done = subprocess.run([*VT, "remember", "-"], input=data, capture_output=True, check=False)
    assert done.returncode == Exit.USAGE
    assert _is_one_line(done.stderr.decode())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("vt se", {"search", "search-observations", "serve", "set-structural-understanding"}),
        ("vt --vau", {"--vault"}),
        ("vt search --li", {"--limit"}),
        ("vt completion z", {"zsh"}),
        ("vt get a1b2", set()),
    ],
)
def test_the_shell_completes_commands_and_options(
    words: str, expected: set[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("_VT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    done = vt(cwd=tmp_path)
    assert {line.split(",", 1)[1] for line in done.stdout.split()} == expected
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_asks_vt(shell: str) -> None:
    done = vt("completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"_VT_COMPLETE={shell}_complete" in done.stdout


def _is_one_line(text: str) -> bool:
    return text.endswith("\n") and text.count("\n") == 1 and len(text) <= output.ERROR_LENGTH + 1 and text[:-1].isprintable()


@pytest.mark.parametrize("line", [["mcp", "--origin", "owner"], ["--origin", "import", "mcp"], ["serve", "--origin", "owner"]])
def test_a_server_for_agents_is_refused_to_anybody_else(line: list[str], tmp_path: Path) -> None:
    refused = vt_process(*line, cwd=tmp_path)
    assert refused.returncode == Exit.USAGE
    assert refused.stdout == ""
    (said,) = refused.stderr.splitlines()
    assert "--origin" in said and "agent's" in said and "leave --origin away" in said
