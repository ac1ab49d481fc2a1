"""A daily refresh as systemd units and a cron line: odd paths stay one word."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from vault_tool.generate.schedule import schedule


@pytest.mark.parametrize("root", ["/home/ada/notes", "/home/ada/my notes", '/home/ada/100% $HOME\'s "vault"'])
def test_a_cron_line_runs_the_one_command(root: str) -> None:
    made = schedule(root, "/opt/bin/vt", "Notes")
    minute, hour, day, month, weekday, command = made.cron.split(" ", 5)
    assert (minute, hour, day, month, weekday) == ("17", "4", "*", "*", "*")
    # cron hands on what stands before the first unescaped %, with \% as %.
    assert shlex.split(command.replace("\\%", "%")) == ["/opt/bin/vt", "--vault", root, "core"]


def test_the_units_belong_together() -> None:
    made = schedule("/home/ada/my notes", "/opt/bin/vt", "My notes")
    assert made.service_name == "vault-core-my-notes.service"
    assert made.timer_name == "vault-core-my-notes.timer"
    assert 'ExecStart="/opt/bin/vt" "--vault" "/home/ada/my notes" "core"' in made.service
    assert "OnCalendar=daily" in made.timer
    assert made.install[-1].endswith(made.timer_name)


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not on this machine: the units are not verified by systemd itself")
    made = schedule("/tmp/a 100% b", "/bin/true", "x")
    for name, text in ((made.service_name, made.service), (made.timer_name, made.timer)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", str(tmp_path / made.service_name)], capture_output=True, text=True
    )
    assert made.service_name not in done.stderr, done.stderr
