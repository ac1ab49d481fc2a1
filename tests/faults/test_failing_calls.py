"""The n-th write, fsync or rename fails: old text or new whole, one line said, and the next command clears up."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.bounds import PATIENCE
from tests.faults import failing_child

CHILD = Path(failing_child.__file__)
SOURCE = CHILD.with_name("faults.c")


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """All trials of one child that runs under the shim."""
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("needs a C compiler and LD_PRELOAD")
    base = tmp_path_factory.mktemp("faults")
    shim = base / "faults.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(shim), str(SOURCE), "-ldl"], check=True, timeout=PATIENCE)
    done = subprocess.run(
        [sys.executable, str(CHILD), str(base)],
        env={**os.environ, "LD_PRELOAD": str(shim), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def complete(report: dict[str, Any]) -> dict[str, str]:
    """What the vault holds after the same act without a fault."""
    return dict(report["after"])


def shown(state: dict[str, str]) -> dict[str, str]:
    return {path: text for path, text in state.items() if not path.endswith(".tmp")}


def test_every_kind_of_call_was_failed(reports: list[dict[str, Any]]) -> None:
    for act in failing_child.ACTS:
        for call in failing_child.CALLS:
            found = [report for report in reports if (report["act"], report["call"]) == (act, call)]
            assert any(report["fired"] for report in found), (act, call)
            assert not found[-1]["fired"], (act, call)


def test_a_failure_leaves_old_or_new_and_is_one_line(reports: list[dict[str, Any]]) -> None:
    clean = {report["act"]: shown(complete(report)) for report in reports if report["call"] and not report["fired"]}
    for report in reports:
        old, new, now = shown(report["before"]), clean[report["act"]], shown(report["after"])
        if report["failure"] is None:
            assert now == new, report
        else:
            kind, sentence = report["failure"]
            assert kind == "StorageError", report
            assert "\n" not in sentence and len(sentence) <= 200, report
            assert {"EIO": "input/output error", "ENOSPC": "no space left on device"}[report["errno"]] in sentence, report
            assert now in (old, new), report


def test_a_failed_fsync_is_never_a_success(reports: list[dict[str, Any]]) -> None:
    found = [report for report in reports if report["call"] == "fsync" and report["fired"]]
    assert found and all(report["failure"] for report in found)


def test_a_failure_of_the_text_itself_leaves_the_old(reports: list[dict[str, Any]]) -> None:
    for report in reports:
        if report["act"] in ("create", "edit", "remove") and report["failure"]:
            assert shown(report["after"]) == shown(report["before"]), report


def test_short_writes_are_finished(reports: list[dict[str, Any]]) -> None:
    found = [report for report in reports if not report["call"]]
    assert len(found) == 2 * len(failing_child.ACTS) and all(report["fired"] for report in found)
    assert [report["failure"] for report in found] == [None] * len(found)


def test_nothing_is_left_behind(reports: list[dict[str, Any]]) -> None:
    assert [report["swept"] for report in reports] == [[]] * len(reports)
