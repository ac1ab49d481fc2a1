"""Daily refreshes as systemd units and cron lines: odd paths stay one word."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from vault_tool.generate.schedule import schedule

COMMANDS = ("embed", "core", "reflect")


@pytest.mark.parametrize("root", ["/home/ada/notes", "/home/ada/my notes", '/home/ada/100% $HOME\'s "vault"'])
def test_each_cron_line_runs_its_one_command_at_a_time_of_its_own(root: str) -> None:
    made = schedule(root, "/opt/bin/vt", "Notes")
    times = set()
    for command, job in zip(COMMANDS, made.jobs, strict=True):
        minute, hour, *others, typed = job.cron.split(" ", 5)
        assert others == ["*", "*", "*"]
        times.add((hour, minute))
        # cron hands on what stands before the first unescaped %, with \% as %.
        assert shlex.split(typed.replace("\\%", "%")) == ["/opt/bin/vt", "--vault", root, command]
    assert len(times) == len(COMMANDS)


def test_the_units_belong_together() -> None:
    made = schedule("/home/ada/my notes", "/opt/bin/vt", "My notes")
    for command, job in zip(COMMANDS, made.jobs, strict=True):
        assert job.service_name == f"vault-{command}-my-notes.service"
        assert job.timer_name == f"vault-{command}-my-notes.timer"
        assert f'ExecStart="/opt/bin/vt" "--vault" "/home/ada/my notes" "{command}"' in job.service
        assert "OnCalendar=daily" in job.timer
        assert job.timer_name in made.install[-1]


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not on this machine: the units are not verified by systemd itself")
    made = schedule("/tmp/a 100% b", "/bin/true", "x")
    for job in made.jobs:
        (tmp_path / job.service_name).write_text(job.service, encoding="utf-8")
        (tmp_path / job.timer_name).write_text(job.timer, encoding="utf-8")
    services = [str(tmp_path / job.service_name) for job in made.jobs]
    done = subprocess.run(["systemd-analyze", "verify", "--user", *services], capture_output=True, text=True)
    assert not [job for job in made.jobs if job.service_name in done.stderr], done.stderr
