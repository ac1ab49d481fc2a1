"""The commands of the contracts as a program types them: JSON in, JSON out, an exit code by outcome."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.typed import vt
from tests.founding import found_at
from vault_tool.cli.main import main
from vault_tool.errors import Exit
from vault_tool.features.contracts.read import Read
from vault_tool.features.contracts.schemas import OPERATIONS
from vault_tool.features.contracts.update import Updated
from vault_tool.features.contracts.write import WriteAnswer
from vault_tool.features.recall.present_state import PresentState
from vault_tool.features.remember.judging import Marked

MEMORY = {"text": "Keepalive is off.", "scope": "repo", "kind": "fact", "confidence": 0.8}
WRITE: dict[str, Any] = {"op": "write", "repo_id": "Lab", "memory": MEMORY}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    path = found_at(tmp_path / "v", git=True)
    monkeypatch.chdir(path)
    return path


def gets(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = Exit.DONE) -> Any:
    assert main(arguments) == code
    return json.loads(capsys.readouterr().out)


def test_a_request_on_standard_input_is_answered_on_standard_output(root: Path) -> None:
    done = vt("op", cwd=root, input=json.dumps(WRITE, indent=2))
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    assert (answer["ok"], answer["resolved"]) == (True, {"scope": "repo", "kind": "fact"})
    several = vt("op", "-", cwd=root, input=f"{json.dumps(WRITE)}\n{{}}\n{json.dumps({**WRITE, 'dry_run': True})}\n")
    lines = [json.loads(line) for line in several.stdout.splitlines()]
    assert [line["ok"] for line in lines] == [True, False, True]
    assert lines[0]["duplicate_of"] == answer["memory_id"]
    assert several.returncode == Exit.USAGE


def test_a_file_of_requests(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "request.json"
    file.write_text("\ufeff" + json.dumps(WRITE), encoding="utf-8")
    assert gets(capsys, "op", str(file))["ok"] is True
    assert main(["op", str(tmp_path / "none.json")]) == Exit.USAGE
    assert "no file of requests" in capsys.readouterr().err


def test_refusals_are_answers_with_the_exit_code_of_their_kind(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "request.json"
    file.write_text(json.dumps({**WRITE, "memory": {**MEMORY, "text": "AKIA" + "QYLPMN5HHHFPZZTZ is the key"}}))
    assert gets(capsys, "op", str(file), code=Exit.REFUSED)["code"] == "refused"
    assert gets(capsys, "op", str(file), "--allow-secret")["ok"] is True
    file.write_text("{")
    assert gets(capsys, "op", str(file), code=Exit.USAGE)["errors"][0]["pointer"] == ""


def test_the_contracts_are_published_without_a_vault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert set(gets(capsys, "op", "--schema")) == {f"memory.{name}.request" for name in OPERATIONS}
    assert gets(capsys, "op", "--schema", "memory.write.request")["$id"] == "memory.write.request"
    assert main(["op", "--schema", "dispute"]) == Exit.USAGE


def test_each_command_gives_the_fields_of_its_result(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = gets(capsys, "write", "Keepalive is off.", "--kind", "fact", "--confidence", "0.8", "--json")
    assert made.keys() == set(WriteAnswer.__struct_fields__)
    memory = made["memory_id"]
    read = gets(capsys, "read", "keepalive", "--json")
    assert read.keys() == set(Read.__struct_fields__)
    update = ("update", memory[:8], "--utility", "0.9", "--confidence", "0.5", "--why", "It helped.", "--json")
    assert gets(capsys, *update, "--dry-run").keys() == set(Updated.__struct_fields__)
    assert gets(capsys, "mark-useful", memory, "so", "--json").keys() == set(Marked.__struct_fields__)
    assert gets(capsys, "mark-questionable", memory, "or not", "--json")["questions"] == ["or not"]
    assert gets(capsys, "mark-useful", memory, "--reason", "by name", "--json")["rationale"] == "by name"
    assert main(["mark-useful", memory, "so", "--reason", "by name"]) == Exit.USAGE
    assert capsys.readouterr().err == "vt: the reason is given twice; leave out --reason, or the second argument\n"
    assert gets(capsys, "snapshot", "--json").keys() == set(PresentState.__struct_fields__)


def test_what_people_see(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def shown(*arguments: str) -> str:
        assert main(arguments) == Exit.DONE
        return capsys.readouterr().out

    made = shown("write", "Keepalive is off.", "--kind", "fact", "--confidence", "0.8", "--evidence", "session:turn_4")
    short = made.split()[0]
    assert made.startswith(f"{short}  written\n")
    assert "known already: strengthened" in shown("write", "Keepalive is off.", "--kind", "fact", "--confidence", "0.8")
    read = shown("read", "keepalive")
    assert "\ndegraded: no embeddings\n" in read
    assert f"{short}  Keepalive is off\n" in read
    assert "evidence:  session:turn_4" in read
    lowered = shown("update", short, "--truth", "0.1", "--confidence", "1", "--why", "It is on.", "--evidence", "test:on")
    assert "truth:   0.80 -> 0.65 (one session" in lowered
    assert "nothing was written" in shown(
        "update", short, "--truth", "0.1", "--confidence", "1", "--why", "x", "--evidence", "test:on", "--dry-run"
    )
    assert "utility:" in shown("mark-useful", short, "It named the setting.")
    document = shown("snapshot")
    assert document.startswith("The present state, as of ")
    assert f"\n{short}  Keepalive is off\n" in document
    assert "session:turn_4" in shown("show", short, "--belief")


def test_a_refused_command_is_one_line_that_names_the_place(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["write", "x", "--kind", "solution", "--confidence", "0.8"]) == Exit.USAGE
    line = capsys.readouterr().err
    assert line.startswith("vt: /memory/links/problem_id: a solution needs the problem")
    assert line.count("\n") == 1
