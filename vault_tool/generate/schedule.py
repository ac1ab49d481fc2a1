"""How CORE.md is refreshed by itself: a systemd user timer and a cron line, as texts to be put where they belong."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from vault_tool.util.text import slug


@dataclass(frozen=True, slots=True)
class Schedule:
    """The units of a daily refresh and the crontab line that does the same; `install` says what to type."""

    service_name: str
    service: str
    timer_name: str
    timer: str
    install: tuple[str, ...]
    cron: str


def schedule(root: str, program: str, name: str) -> Schedule:
    """A daily `vt core` of the vault at `root` by the `vt` at `program`; `name` tells it from other vaults' units."""
    unit = f"vault-core-{slug(name, 'vault')}"
    command = " ".join(_unit_word(word) for word in (program, "--vault", root, "core"))
    service = f"[Unit]\nDescription=Refresh CORE.md of {_unit_text(root)}\n\n[Service]\nType=oneshot\nExecStart={command}\n"
    timer = f"[Unit]\nDescription=Refresh CORE.md of {_unit_text(root)} daily\n\n"
    timer += "[Timer]\nOnCalendar=daily\nRandomizedDelaySec=15min\nPersistent=true\n\n[Install]\nWantedBy=timers.target\n"
    # A crontab takes an unescaped % for the end of the line.
    cron = shlex.join((program, "--vault", root, "core")).replace("%", "\\%")
    install = ("systemctl --user daemon-reload", f"systemctl --user enable --now {unit}.timer")
    return Schedule(f"{unit}.service", service, f"{unit}.timer", timer, install, f"17 4 * * * {cron}")


def _unit_text(text: str) -> str:
    return text.replace("%", "%%").replace("\n", " ")


def _unit_word(word: str) -> str:
    """One word of a command in a unit: quoted, with the unit's own specifiers and variables taken literally."""
    escaped = _unit_text(word).replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$")
    return f'"{escaped}"'
