"""The settings of a vault that are in force: those of `vault.toml`, else of the last commit in which it could be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from vault_tool.config import Config, load, load_known
from vault_tool.errors import ConfigError, GitError
from vault_tool.files import git
from vault_tool.files.conflict_markers import what_to_do
from vault_tool.files.layout import SETTINGS_FILE
from vault_tool.model.problems import Problem, error, warning
from vault_tool.util.hints import if_there, shell, step
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line

# So many commits that changed the file are looked at for one that can be read.
_COMMITS = 50

_LINE = re.compile(r"\(at line (\d+)")
_WITHOUT_EFFECT = re.compile(r"^[ \t]*(core_section_limit)[ \t]*=", re.MULTILINE)
_MARKER = re.compile(r"^(<<<<<<< |=======$|>>>>>>> )")


class SettingsInForce(Struct):
    """The settings in force. `remark` says in one line that they differ from the file's; `problems` are the file's faults."""

    config: Config
    remark: str = ""
    problems: tuple[Problem, ...] = ()


def of_text(text: str) -> SettingsInForce:
    """The settings of a text; unknown options are problems of it alone. Raises ConfigError for what cannot be used."""
    config, unknown = load_known(text)
    hint = f"take it out, or see {step('config')} for what there is; a newer version of the tool may know it"
    problems = tuple(
        warning(SETTINGS_FILE, _line_of(text, fault.place), "unknown-option", fault.message, hint) for fault in unknown
    )
    return SettingsInForce(config, problems=problems)


def without_effect(root: Path) -> tuple[Problem, ...]:
    """Settings of a vault that have no effect any more."""
    try:
        text = (root / SETTINGS_FILE).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ()
    if not (match := _WITHOUT_EFFECT.search(text)):
        return ()
    line = text.count("\n", 0, match.start(1)) + 1
    message = "core_section_limit has no effect: CORE.md has a budget and no limit of lines"
    return (warning(SETTINGS_FILE, line, "without-effect", message, "take it out, or set core_budget"),)


def in_force(root: Path, repo: git.Repo | None) -> SettingsInForce:
    """The settings of a vault; of a file that cannot be used those of the newest commit that has a usable one, else the usual."""
    try:
        data = (root / SETTINGS_FILE).read_bytes()
    except FileNotFoundError:
        return SettingsInForce(Config())
    except OSError as fault:
        return _instead(root, repo, f"{SETTINGS_FILE} cannot be read: {(fault.strerror or 'unknown').lower()}", 0)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as fault:
        line = data[: fault.start].count(b"\n") + 1
        return _instead(root, repo, f"{SETTINGS_FILE} is not UTF-8 text: {fault.reason}", line)
    try:
        return of_text(text)
    except ConfigError as fault:
        marker = next((number for number, line in enumerate(text.splitlines(), 1) if _MARKER.match(line)), 0)
        if marker:
            message = f"{SETTINGS_FILE} has the marks of a merge that nobody settled"
            return _instead(root, repo, message, marker, what_to_do())
        message = _all_faults(text) or fault.message
        return _instead(root, repo, message, _line_in(text, message))


def _all_faults(text: str) -> str:
    """Every fault of a text, unknown options too: who mends it wants to know of all of them."""
    try:
        load(text)
    except ConfigError as fault:
        return fault.message
    return ""


def _instead(
    root: Path, repo: git.Repo | None, message: str, line: int, hint: str = "mend the line in an editor"
) -> SettingsInForce:
    message = one_line(message, 400)
    committed = next(_committed(repo), None) if repo is not None else None
    commit, config = committed or ("", Config())
    used = f"the settings of commit {commit[:7]} are in force" if commit else "the usual settings are in force"
    at = f" (line {line})" if line and "line" not in message else ""
    if commit:
        hint += if_there(f"; {shell(f'git show {commit[:7]}:./{SETTINGS_FILE}')} is what is in force")
    problem = error(SETTINGS_FILE, line, "settings-unusable", f"{message}; {used}", hint)
    return SettingsInForce(config, f"{message}{at}; {used}: see {step('doctor')}", (problem,))


def _committed(repo: git.Repo) -> Iterator[tuple[str, Config]]:
    """The commits that have usable settings, the newest first."""
    with suppress(GitError):
        for entry in git.log(repo, paths=[SETTINGS_FILE], limit=_COMMITS):
            data = git.show(repo, entry.commit, SETTINGS_FILE)
            with suppress(ConfigError, UnicodeDecodeError):
                if data is not None:
                    yield entry.commit, load_known(data.decode("utf-8"))[0]


def _line_of(text: str, name: str) -> int:
    """The line on which an option stands; 0 where that cannot be told."""
    pattern = re.compile(rf"""\s*["']?{re.escape(name)}["']?\s*[=.]""")
    numbers = (number for number, line in enumerate(text.splitlines(), 1) if pattern.match(line))
    header = (number for number, line in enumerate(text.splitlines(), 1) if line.strip().startswith((f"[{name}]", f"[{name}.")))
    return next(numbers, 0) or next(header, 0)


def _line_in(text: str, message: str) -> int:
    """The line that a message is about: as the parser counts it, else the one of the first option that it names."""
    if match := _LINE.search(message):
        return int(match[1])
    if match := re.search(r"(\[types\.[^\]]+\]) must", message):
        return next((number for number, line in enumerate(text.splitlines(), 1) if line.strip().startswith(match[1])), 0)
    named = re.findall(r"`(?:\[[^\]]*\] )?([A-Za-z_]+)", message)
    return next((line for name in named if (line := _line_of(text, name))), 0)
