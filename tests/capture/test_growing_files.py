"""Session files that grow while they are read, end in the middle of a line, are spoilt in their bytes, or are very large."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bounds import CAMPAIGN, PATIENCE, examples
from tests.capture.files import claude_line, claude_lines, codex_lines, session_file
from vault_tool.features.capture.session_files import CLIENTS, MOST_BYTES, ReadSoFar, read_session

LINES = {"claude-code": claude_lines, "codex": codex_lines}

TURNS = 400

# Each line comes in two pieces, cut at another place each time, now and then within a character.
WRITER = """
import sys
data = open(sys.argv[1], "rb").read().splitlines(keepends=True)
with open(sys.argv[2], "ab", buffering=0) as file:
    for number, line in enumerate(data):
        cut = number * 7 % len(line)
        file.write(line[:cut])
        file.write(line[cut:])
"""


def lines_of(client: str, said: list[tuple[str, str]]) -> list[str]:
    """The lines of a session, with their characters as they are and not as escapes."""
    return [json.dumps(json.loads(line), ensure_ascii=False) for line in LINES[client](said)]


@pytest.mark.parametrize("client", CLIENTS)
def test_of_a_file_that_grows_while_it_is_read_each_turn_comes_once_and_whole(tmp_path: Path, client: str) -> None:
    said = [("user", f"Für Tür {number} gilt: größer als ölig 🚪 und {'x' * (number % 90)}.") for number in range(TURNS)]
    whole = tmp_path / "whole"
    whole.write_text("".join(f"{line}\n" for line in lines_of(client, said)), encoding="utf-8")
    path = session_file(tmp_path, client, [])
    came: list[tuple[int, str]] = []
    so_far, reads = ReadSoFar(), 0
    with subprocess.Popen([sys.executable, "-c", WRITER, str(whole), str(path)]) as writer:
        while so_far.bytes < whole.stat().st_size:
            is_written = writer.poll() is not None
            text = read_session(str(path), client, {"HOME": str(tmp_path)}, since=so_far)
            assert text.fault == "" and text.read.bytes >= so_far.bytes
            came += [(turn.line, turn.text) for turn in text.turns]
            so_far, reads = text.read, reads + 1
            assert not is_written or so_far.bytes == whole.stat().st_size, "what is written is read to its end"
        assert writer.wait(PATIENCE) == 0
    assert [text for _, text in came] == [text for _, text in said]
    at_rest = read_session(str(path), client, {"HOME": str(tmp_path)}).turns
    assert came == [(turn.line, turn.text) for turn in at_rest], "lines are counted as in the whole file"


@pytest.mark.parametrize("client", CLIENTS)
def test_a_line_that_is_torn_anywhere_waits_until_it_is_whole(tmp_path: Path, client: str) -> None:
    first, last = lines_of(client, [("user", "first"), ("user", "wir öffnen 🚪 die Tür")]), ""
    while "Tür" not in last:
        last = first.pop()
    data = f"{last}\n".encode()
    path = session_file(tmp_path, client, first)
    before, home = path.read_bytes(), {"HOME": str(tmp_path)}
    for cut in range(len(data)):
        path.write_bytes(before + data[:cut])
        torn = read_session(str(path), client, home)
        assert [turn.text for turn in torn.turns if "Tür" in turn.text] == [], cut
        assert torn.read == ReadSoFar(len(before), len(first)), cut
        path.write_bytes(before + data)
        assert [turn.text for turn in read_session(str(path), client, home, since=torn.read).turns] == ["wir öffnen 🚪 die Tür"]


def _with_errors(client: str) -> list[str]:
    lines = LINES[client]()
    for number in range(3):
        output = f"OUTPUT of step {number}\nfrom now on OUTPUT\nError: größer als {number}"
        if client == "claude-code":
            lines.append(claude_line("user", [{"type": "tool_result", "is_error": True, "content": output}]))
            parts = [{"type": "text", "text": output}]
            lines.append(claude_line("user", [{"type": "tool_result", "is_error": True, "content": parts}]))
        else:
            called = {"output": output, "metadata": {"exit_code": 1}}
            payload = {"type": "function_call_output", "output": json.dumps(called)}
            lines.append(json.dumps({"type": "response_item", "payload": payload}))
    return lines


NO_TEXT = (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf0\x9f", b"\x00", b"\x80" * 300)


def _spoilt(data: bytes, dice: random.Random) -> bytes:
    """A file in which some bytes are others: no text of any encoding, or of another one."""
    for _ in range(dice.randint(1, 6)):
        at = dice.randrange(len(data) + 1)
        match dice.randrange(8):
            case 0:
                data = (
                    data[:at] + dice.choice([b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf0\x9f", b"\x00", b"\x80" * 300]) + data[at:]
                )
            case 1:
                data = data[:at] + data[at + dice.randint(1, 40) :]
            case 2:
                data = data[:at] + dice.randbytes(dice.randint(1, 30)) + data[at:]
            case 3:
                data = data.replace(b"\n", b"\r\n", dice.randint(1, 9))
            case 4:
                data = b"\xef\xbb\xbf" + data
            case 5:
                data = data[:at] + data[at : at + 200].decode("utf-8", "replace").encode("utf-16") + data[at + 200 :]
            case 6:
                data = data[:at]
            case _:
                data = data.replace(b"ser", b"s\xe9r", 1).replace(b"\\u", b"\\uD8", 1)
    return data


@pytest.mark.parametrize("errors", [False, True])
@pytest.mark.parametrize("client", CLIENTS)
def test_of_bytes_that_are_no_text_nothing_comes_but_turns(tmp_path: Path, client: str, errors: bool) -> None:
    dice = random.Random(11)
    data = "".join(f"{line}\n" for line in _with_errors(client)).encode()
    path = session_file(tmp_path, client, [])
    whole = 0
    for _ in range(examples(3750)):
        path.write_bytes(_spoilt(data, dice))
        text = read_session(str(path), client, {"HOME": str(tmp_path)}, errors=errors)
        assert text.read.bytes <= path.stat().st_size
        for turn in text.turns:
            assert turn.text.encode() and "\n" not in turn.text and len(turn.text) <= 400, turn
            assert "THOUGHT" not in turn.text and (turn.error or "OUTPUT" not in turn.text), turn
            assert errors or not turn.error
        whole += any("drain the tank" in turn.text for turn in text.turns)
    assert whole > examples(3750) // 4, "most of it is read all the same"


@pytest.mark.parametrize("client", CLIENTS)
def test_what_a_tool_failed_with_comes_as_its_last_line_alone(tmp_path: Path, client: str) -> None:
    path = session_file(tmp_path, client, _with_errors(client))
    turns = read_session(str(path), client, {"HOME": str(tmp_path)}, errors=True).turns
    assert {turn.text for turn in turns if turn.error} == {f"Error: größer als {number}" for number in range(3)}
    assert not [turn for turn in turns if "OUTPUT" in turn.text]


# The most memory that a child ever held before and after it read a file, in kilobytes.
READER = """
import json, sys
from vault_tool.features.capture.session_files import read_session
def peak():
    return int(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")))
before = peak()
text = read_session(sys.argv[1], sys.argv[2], {"HOME": sys.argv[3]}, errors=True)
print(json.dumps([peak() - before, [turn.text for turn in text.turns][-2:], text.read.bytes, len(text.turns)]))
"""


def _read_by_a_child(path: Path, client: str, home: Path) -> Any:
    command = [sys.executable, "-c", READER, str(path), client, str(home)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="a process' memory is read in /proc")
@pytest.mark.parametrize("shape", ["turns", "one line"])
@pytest.mark.parametrize("client", CLIENTS)
def test_a_large_file_takes_no_more_memory_than_its_end(
    tmp_path: Path, client: str, shape: str, record_property: Callable[[str, object], None]
) -> None:
    """200 MB in a campaign, 40 MB else: ordinary turns, or one line of a tool's output that takes nearly all of it."""
    size = (200 if CAMPAIGN else 40) * 2**20
    end = "".join(f"{line}\n" for line in LINES[client]([("user", "last but one"), ("user", "the last")])).encode()
    turns = [("user", f"turn {number} of many, {'y' * 300}") for number in range(400)]
    block = b"z" * 2**20 if shape == "one line" else "".join(f"{line}\n" for line in LINES[client](turns)).encode()
    path, small = session_file(tmp_path, client, []), session_file(tmp_path, client, [], name="small")
    with open(path, "wb") as file:
        while file.tell() < size:
            file.write(block)
        file.write(b"\n" + end)
    with open(path, "rb") as file:
        file.seek(-MOST_BYTES, os.SEEK_END)
        small.write_bytes(file.read())
    size = path.stat().st_size
    peak, last, read_bytes, count = _read_by_a_child(path, client, tmp_path)
    peak_small, last_small, _, count_small = _read_by_a_child(small, client, tmp_path)
    path.unlink()
    record_property("kilobytes", (size // 1024, peak, peak_small))
    assert last == ["last but one", "the last"] == last_small
    assert read_bytes == size and 0 <= count_small - count <= 1
    # Beside what the same end takes as a file of its own, less than that end again.
    assert peak - peak_small < MOST_BYTES / 1024, (peak, peak_small)
    assert peak < 8 * MOST_BYTES / 1024, peak
