"""What is read of a session's file: what people and models said, whatever else is in it, and however it is spoilt."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from tests.capture.files import SAID, claude_line, claude_lines, codex_lines, session_file
from vault_tool.errors import Refused, UsageError, VaultError
from vault_tool.features.capture import session_files
from vault_tool.features.capture.session_files import CLIENTS, read_session
from vault_tool.features.capture.signs import MOST, pointed

LINES = {"claude-code": claude_lines, "codex": codex_lines}


def said_in(home: Path, client: str, lines: list[str]) -> list[str]:
    path = session_file(home, client, lines)
    return [one.text for one in read_session(str(path), client, {"HOME": str(home)}).turns]


@pytest.mark.parametrize("client", CLIENTS)
def test_what_was_said_is_read_and_nothing_else(tmp_path: Path, client: str) -> None:
    assert said_in(tmp_path, client, LINES[client]()) == [text for _, text in SAID]


@pytest.mark.parametrize("client", CLIENTS)
def test_what_is_private_the_clients_or_code_is_not_read(tmp_path: Path, client: str) -> None:
    said = [
        ("user", "keep <private>we decided on Dora</private> this"),
        ("user", "<private>we never tell"),
        ("user", "<system-reminder>always obey</system-reminder>"),
        ("user", "/compact now"),
        ("user", "Caveat: The messages below were generated"),
        ("assistant", "so:\n```py\nalways = never\n```\nit is"),
        ("user", "x" * 1000),
    ]
    assert said_in(tmp_path, client, LINES[client](said)) == ["keep this", "so: [code] it is", "x" * 400]


def test_sessions_of_programs_and_what_was_kept_already_are_not_read(tmp_path: Path) -> None:
    headless = [claude_line("user", "we decided to always push", entrypoint="sdk-cli")]
    assert said_in(tmp_path, "claude-code", headless) == []
    sources: tuple[Any, ...] = ("exec", {"subagent": "review"}, {"sub_agent": {}}, "subagent_review")
    for source in sources:
        assert said_in(tmp_path, "codex", codex_lines(source=source)) == []
    called = claude_line("assistant", [{"type": "tool_use", "name": "mcp__vault__end_session", "input": {}}])
    assert said_in(tmp_path, "claude-code", [*claude_lines(), called, claude_line("user", "one more thing")]) == [
        "one more thing"
    ]
    ended = json.dumps({"type": "response_item", "payload": {"type": "function_call", "name": "vault__end_session"}})
    assert said_in(tmp_path, "codex", [*codex_lines(), ended]) == []


@pytest.mark.parametrize("client", CLIENTS)
def test_a_spoilt_file_gives_what_is_whole_or_nothing(tmp_path: Path, client: str) -> None:
    dice = random.Random(7)
    odd: list[Any] = [
        None,
        7,
        [],
        {},
        "x",
        {"type": "text"},
        [{"type": "text", "text": 7}],
        [[]],
        {"content": None},
        "\ud800",
        "[" * 500,
    ]
    for _ in range(750):
        lines = LINES[client]()
        for _ in range(dice.randint(1, 4)):
            at = dice.randrange(len(lines))
            kind = dice.randrange(5)
            if kind == 0:
                lines[at] = lines[at][: dice.randrange(len(lines[at]) + 1)]
            elif kind == 1:
                told = json.loads(lines[at]) if lines[at].endswith("}") and lines[at].startswith('{"') else {}
                if isinstance(told, dict) and told:
                    told[dice.choice(list(told))] = dice.choice(odd)
                    lines[at] = json.dumps(told)
            elif kind == 2:
                lines[at] = lines[at].replace('"content"', '"other"').replace('"payload"', '"load"')
            elif kind == 3:
                lines[at] = dice.choice(["[" * 5000, "null", "7", '"x"', "", "{", "\x00" * 40])
            else:
                lines.pop(at)
                lines = lines or [""]
        found = said_in(tmp_path, client, lines)
        assert not [one for one in found if "OUTPUT" in one or "THOUGHT" in one], found
        assert all(one.encode() for one in found)


@pytest.mark.parametrize("client", CLIENTS)
def test_the_last_line_counts_once_it_is_whole_and_of_a_large_file_the_end(
    tmp_path: Path, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = session_file(tmp_path, client, LINES[client]([("user", "first"), ("user", "second")]))
    with path.open("a") as file:
        file.write(LINES[client]([("user", "third")])[1][:-3])
    env = {"HOME": str(tmp_path)}
    assert [one.text for one in read_session(str(path), client, env).turns] == ["first", "second"]
    monkeypatch.setattr(session_files, "MOST_BYTES", path.stat().st_size - path.read_bytes().rindex(b"first"))
    assert [one.text for one in read_session(str(path), client, env).turns] == ["second"]


@pytest.mark.parametrize("client", CLIENTS)
def test_only_a_clients_own_files_are_read(tmp_path: Path, client: str) -> None:
    env = {"HOME": str(tmp_path)}
    good = session_file(tmp_path, client, LINES[client]())
    outside = tmp_path / "outside.jsonl"
    outside.write_text(good.read_text())
    link = good.with_name("link.jsonl")
    link.symlink_to(good)
    leading_out = good.with_name("out.jsonl")
    leading_out.symlink_to(outside)
    fifo = good.with_name("fifo.jsonl")
    os.mkfifo(fifo)
    climbing = str(good.parent / ".." / ".." / ".." / ".." / ".." / "outside.jsonl")
    for path in (str(outside), str(link), str(leading_out), str(fifo), str(good.parent), climbing, "/etc/passwd", "", "\0"):
        with pytest.raises((VaultError, ValueError)):
            read_session(path, client, env)
    with pytest.raises(Refused):
        read_session(str(fifo), client, env)
    with pytest.raises(UsageError):
        read_session(str(good), "gemini", env)


def test_a_form_that_is_not_known_is_told(tmp_path: Path) -> None:
    lines = [json.dumps({"version": "2.4", "role": "user", "words": f"we decided {number}"}) for number in range(30)]
    path = session_file(tmp_path, "claude-code", lines)
    found = read_session(str(path), "claude-code", {"HOME": str(tmp_path)})
    assert (found.turns, found.fault) == ((), "cannot read sessions of Claude Code 2.4")


def test_signs_point_at_what_is_to_last(tmp_path: Path) -> None:
    path = session_file(tmp_path, "claude-code", claude_lines())
    turns = read_session(str(path), "claude-code", {"HOME": str(tmp_path)}).turns
    found = [SAID.index(("user" if one.by_person else "assistant", one.text)) for one in pointed(turns)]
    assert found == [2, 3, 4, 5, 7]
    chatter = [
        "ok",
        "commit it",
        "what is a view again?",
        "can you run the tests now?",
        "Done, the limiter is at 50.",
        "thanks a lot",
    ]
    path = session_file(tmp_path, "claude-code", claude_lines([("user", one) for one in chatter]))
    assert pointed(read_session(str(path), "claude-code", {"HOME": str(tmp_path)}).turns) == []
    many = [("user", f"we decided to never restart Pump{number} because of rust") for number in range(20)]
    path = session_file(tmp_path, "claude-code", claude_lines(many))
    assert len(pointed(read_session(str(path), "claude-code", {"HOME": str(tmp_path)}).turns)) == MOST
