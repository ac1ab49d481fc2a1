"""How a vault is refreshed by itself: systemd user timers and cron lines, as texts to be put where they belong."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from vault_tool.util.structs import Struct
from vault_tool.util.text import slug

# What may be run each day: a command, what it does, and when cron runs it.
DAILY: Mapping[str, tuple[str, str]] = {
    "embed": ("Embed what is new in", "7 4 * * *"),
    "core": ("Refresh CORE.md of", "17 4 * * *"),
    "reflect": ("Refresh both pages of", "27 4 * * *"),
}


class Job(Struct, kw_only=True):
    """The units that run one command daily, and the crontab line that does the same."""

    command: str
    service_name: str
    service: str
    timer_name: str
    timer: str
    cron: str


class Schedule(Struct, kw_only=True):
    """The jobs of a vault; `install` says what to type once their units are in place. `reflect` does what `core` does too."""

    jobs: tuple[Job, ...]
    install: tuple[str, ...]


def schedule(root: str, program: str, name: str) -> Schedule:
    """Daily `vt embed`, `vt core` and `vt reflect` of the vault at `root` by the `vt` at `program`.

    `name` tells their units from other vaults'.
    """
    jobs = tuple(_job(command, root, program, slug(name, "vault")) for command in DAILY)
    timers = " ".join(job.timer_name for job in jobs)
    return Schedule(jobs=jobs, install=("systemctl --user daemon-reload", f"systemctl --user enable --now {timers}"))


def _job(command: str, root: str, program: str, name: str) -> Job:
    does, at = DAILY[command]
    unit = f"vault-{command}-{name}"
    words = (program, "--vault", root, command)
    typed = " ".join(map(_unit_word, words))
    described = f"{does} {_unit_text(root)}"
    service = f"[Unit]\nDescription={described}\n\n[Service]\nType=oneshot\nExecStart={typed}\n"
    timer = f"[Unit]\nDescription={described} daily\n\n"
    timer += "[Timer]\nOnCalendar=daily\nRandomizedDelaySec=15min\nPersistent=true\n\n[Install]\nWantedBy=timers.target\n"
    # A crontab takes an unescaped % for the end of the line.
    cron = shlex.join(words).replace("%", "\\%")
    return Job(
        command=command, service_name=f"{unit}.service", service=service, timer_name=f"{unit}.timer", timer=timer,
        cron=f"{at} {cron}",
    )  # fmt: skip


def _unit_text(text: str) -> str:
    return text.replace("%", "%%").replace("\n", " ")


def _unit_word(word: str) -> str:
    """One word of a command in a unit: quoted, with the unit's own specifiers and variables taken literally."""
    escaped = _unit_text(word).replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$")
    return f'"{escaped}"'
