"""The command as a whole, on a tiny vault: every figure is there, and none without the work being done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench import peers
from bench.__main__ import main
from bench.figure import TARGETS
from bench.rows import ROWS
from bench.speed import NAMES, WITH_MODEL
from tests.bounds import CAMPAIGN
from tests.index.embedding.models import AT_HAND, MODELS

PROJECT = Path(__file__).parent.parent.parent

WITH_MODELS = AT_HAND and bool(CAMPAIGN)
"""What the models' own figures cost is a third of the whole: a campaign measures them too."""


FEW = (
    *("rebuild", "rebuild-peak", "derived-size", "check", "remember", "commit-only", "write", "lookup", "lookup-json"),
    *("get-small", "recall-small", "recall-ten", "day-second", "day-last", "month"),
)
"""What is measured by default: each kind of figure, without the commands that some of the others start."""

PEERS = {name for names in peers.MEASURES.values() for name in names}
NOTHING = ("embed-cached", "turn-adds", "hook-empty", "crowd-refused")
"""Figures that are to be nothing."""
SHORT = ("--beside", "30", "--day", "5", "--month", "40", "--starts", "4", "--seconds", "0.3", "--clients", "1,2,3")


def _bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench", *arguments]
    environment = {**os.environ, "VAULT_MODELS": str(MODELS)} if WITH_MODELS else None
    return subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)


def test_every_figure_is_measured_and_written(tmp_path: Path) -> None:
    out = tmp_path / "speed.json"
    only = ("--only", ",".join(name for name in NAMES if name not in PEERS) if CAMPAIGN else ",".join(FEW))
    where = ("--json", str(out), "--folder", str(tmp_path / "beds"))
    done = _bench("speed", "--notes", "20", "--runs", "1", *where, *SHORT, *only)
    assert done.returncode in (0, 1), done.stderr
    found = json.loads(out.read_text(encoding="utf-8"))
    figures = {figure["name"]: figure for figure in found["figures"]}
    at_hand = [name for name in NAMES if name not in PEERS and (WITH_MODELS or name not in WITH_MODEL)]
    measured = at_hand if CAMPAIGN else [*FEW]
    assert set(figures) == set(measured)
    assert WITH_MODELS or not CAMPAIGN or "skipped, there is no model" in done.stderr
    assert set(TARGETS) <= set(NAMES)
    assert {name for row in ROWS for name in row.figures} <= set(TARGETS)
    for figure in figures.values():
        assert figure["notes"] == 20
        assert figure["min"] > 0 or figure["name"] in NOTHING
        assert figure["median"] >= figure["min"]
        assert 0.001 < figure["pace"] < 10
    for name in ("rebuild", "check", "remember"):
        assert figures[name]["ratio"] == pytest.approx(figures[name]["median"] / figures[name]["floor"]["median"])
    assert all(f"| {name}: " in done.stdout for name in measured)
    assert done.returncode == int(any(figure["ok"] is False for figure in figures.values()))
    assert found["machine"]["cores"] >= 1
    assert str(tmp_path) not in out.read_text(encoding="utf-8")
    assert not list((tmp_path / "beds").iterdir())


def test_one_figure_at_two_sizes_has_its_growth_and_one_that_cannot_be_measured_none(tmp_path: Path) -> None:
    out, beds = tmp_path / "speed.json", tmp_path / "beds"
    sizes = ("--notes", "20", "--notes", "40")
    done = _bench("speed", *sizes, "--only", "check", "--runs", "1", "--keep", "--json", str(out), "--folder", str(beds))
    assert done.returncode in (0, 1), done.stderr
    found = json.loads(out.read_text(encoding="utf-8"))
    assert [(figure["name"], figure["notes"]) for figure in found["figures"]] == [("check", 20), ("check", 40)]
    assert [(one["fewer"], one["more"]) for one in found["growth"]] == [(20, 40)]
    assert len(list(beds.glob("vault-*"))) == 2
    out.unlink()
    (beds / "vault-20-1" / "vault.toml").unlink()
    done = _bench("speed", *sizes[:2], "--only", "check", "--runs", "1", "--keep", "--json", str(out), "--folder", str(beds))
    assert done.returncode == 2
    assert done.stderr.strip().splitlines()
    assert not out.exists()


def test_an_owner_serves_a_crowd_and_hooks_and_each_row_is_told_as_kept_or_not(tmp_path: Path) -> None:
    out = tmp_path / "speed.json"
    where = ("--json", str(out), "--folder", str(tmp_path / "beds"))
    done = _bench("speed", "--sizes", "20", "--runs", "1", *where, *SHORT, "--starts", "1", "--only", "crowd,hooks")
    assert done.returncode in (0, 1), done.stderr
    figures = {figure["name"]: figure for figure in json.loads(out.read_text(encoding="utf-8"))["figures"]}
    assert figures["crowd-refused"]["median"] == figures["hook-empty"]["median"] == 0
    assert figures["crowd-recall"]["floor"]["median"] == figures["crowd-recall-one"]["median"] > 0
    rows = [line for line in done.stdout.splitlines() if line.startswith(("| crowd ", "| hooks "))]
    assert len(rows) == 2 and all(name in "".join(rows) for name in ("crowd-refused met 0@20", "hook-empty met 0@20"))
    assert not list((tmp_path / "beds").iterdir())


def test_another_tool_is_measured_beside_ours_where_it_is_installed(tmp_path: Path) -> None:
    out, tools = tmp_path / "speed.json", tmp_path / "tools"
    (tools / "bin").mkdir(parents=True)
    found = tools / "bin" / "rg"
    found.write_text("#!/bin/sh\nexit 1\n")
    found.chmod(0o755)
    where = ("--json", str(out), "--folder", str(tmp_path / "beds"), "--peers", str(tools))
    done = _bench("speed", "--sizes", "20", "--runs", "1", *where, "--only", "search FTS5,search ripgrep,mcp-list")
    assert done.returncode == 0, done.stderr
    figures = {figure["name"]: figure for figure in json.loads(out.read_text(encoding="utf-8"))["figures"]}
    assert figures["search ripgrep"]["floor"]["what"] == "ripgrep" and figures["search FTS5"]["ratio"] > 0
    assert "skipped, basic-memory is not installed here" in done.stderr


@pytest.mark.parametrize("wrong", [("--only", "speed-of-light"), ("--notes", "3"), ("--sizes", "300,3")])
def test_a_wrong_figure_or_size_is_refused(wrong: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["speed", *wrong])
    assert ended.value.code == 2 and wrong[0] in capsys.readouterr().err
