"""Whole stories told on the command line: `tests/transcripts/*.txt` are typed again, and must read as they did.

A transcript holds `$ command` lines, each followed by what it prints (both streams) and, when that is not 0, its exit
code; `at-terminal` runs one as a person does; `%%` lines say what the story is about. Ids are `<id-1>`, `<id-2>`, ... in the
order in which they are first shown, and commands may name them so. With VAULT_UPDATE_TRANSCRIPTS=1 the files are written
anew instead: the difference is then for a person to read.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.typed import printed_by, vt
from tests.git_repos import git
from vault_tool.util.clock import Clock

TRANSCRIPTS = Path(__file__).parent.parent / "transcripts"
REWRITE = os.environ.get("VAULT_UPDATE_TRANSCRIPTS") == "1"

_HEX = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<![0-9a-z])[0-9a-f]{6,40}(?![0-9a-z])")
_CHANGING = (
    (re.compile(r"^index [0-9a-f]+\.\.[0-9a-f]+", re.MULTILINE), "index <old>..<new>"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+Z:0-9]*"), "<time>"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?"), "<time>"),
    (re.compile(r"\d{4}-\d\d-\d\d(?=\.[a-z0-9]{8}\.md)"), "<date>"),
    (re.compile(r"\d{4}-\d\d-\d\d"), "<date>"),
    (re.compile(r"(?<=<date>\.)[a-z0-9]{8}(?=\.md)"), "<writer>"),
    (re.compile(r"observations/\d{4}/\d\d"), "observations/<year>/<month>"),
    (re.compile(r"^## \d\d:\d\d", re.MULTILINE), "## <hour>"),
    (re.compile(r"\d\.\d+ s\b"), "<seconds> s"),
    (re.compile(r"\b\d{8}T\d{6}Z"), "<moment>"),
    (re.compile(r"(?<=heartbeat token: )\d+"), "<token>"),
    (re.compile(r"(?<![0-9a-z])[0-9a-f]{10}(?=  <time>)"), "<key>"),
    (re.compile(r"(?<=^git:             )(?:main|master)\b", re.MULTILINE), "<branch>"),
)


_SHELL = re.compile(r"[|<>;&$`*]")
"""What only a shell understands; other commands are called in this process, which takes a fifth of the time."""

_QUOTED = re.compile(r"""'[^']*'|"[^"$`\\]*\"""")
"""Words in which a shell looks for nothing."""


_VT = """#!{python}
import os
from datetime import datetime
from vault_tool.util.clock import Clock
from vault_tool.cli.main import main
Clock.now = lambda _: datetime.fromisoformat(os.environ["STORY_NOW"])
main()
"""
_AT_TERMINAL = """#!{python}
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from tests.terminal import at_terminal
done = at_terminal(*sys.argv[1:], cwd=Path.cwd(), vt=())
print(done.stdout, end="")
sys.exit(done.returncode)
"""
_BEGINNING = datetime(2026, 3, 14, 9, tzinfo=UTC)


class Story:
    """One transcript being typed again in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "memory"
        self._ids: list[str] = []
        self._seen: set[str] = set()
        bin_folder = folder / "bin"
        bin_folder.mkdir()
        command = bin_folder / "vt"
        command.write_text(_VT.format(python=sys.executable))
        command.chmod(0o755)
        terminal = bin_folder / "at-terminal"
        terminal.write_text(_AT_TERMINAL.format(python=sys.executable, tests=str(TRANSCRIPTS.parent.parent)))
        terminal.chmod(0o755)
        self._path = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
        # What is written in one second has no order: each command is given one of its own, of one day.
        self._now = _BEGINNING

    def types(self, command: str) -> str:
        """What a command prints, with all that changes from run to run named instead."""
        meant = re.sub(r"<id-?(\d+)>", lambda found: self._ids[int(found[1]) - 1], command)
        folder = self.root if self.root.exists() else self.folder
        environment = {**os.environ, "PATH": self._path, "COLUMNS": "120", "GIT_PAGER": "cat", "VAULT_PROVIDER": "none"}
        self._now += timedelta(seconds=1)
        called, through = _parts(meant)
        printed, said, exit_code = "", "", 0
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Clock, "now", lambda _: self._now)
            if called and through:
                called_here = vt(*called, cwd=folder, env=environment)
                printed, said = called_here.stdout, called_here.stderr
            elif called:
                printed, exit_code = printed_by(called, folder, environment)
        if through:
            done = subprocess.run(
                ["sh", "-c", through], cwd=folder, env={**environment, "STORY_NOW": self._now.isoformat()}, check=False,
                input=printed, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
            )  # fmt: skip
            printed, exit_code = said + done.stdout, done.returncode
        return self._named(printed) + (f"[exit {exit_code}]\n" if exit_code else "")

    def _named(self, printed: str) -> str:
        ids, commits = self._known()
        self._seen.update(ids)
        known = sorted(self._seen)

        def name(found: re.Match[str]) -> str:
            text = found[0]
            identity = next((one for one in known if one.startswith(text)), None)
            if identity is None:
                return "<commit>" if any(one.startswith(text) for one in commits) else text
            if identity not in self._ids:
                self._ids.append(identity)
            number = self._ids.index(identity) + 1
            return f"<id-{number}>" if number < 10 else f"<id{number}>"

        printed = _HEX.sub(name, printed.replace(str(self.root), "<vault>").replace(str(self.folder), "<folder>"))
        for pattern, instead in _CHANGING:
            printed = pattern.sub(instead, printed)
        return "".join(f"{line.rstrip()}\n" for line in printed.splitlines())

    def _known(self) -> tuple[list[str], list[str]]:
        """The ids of all records and of all commits that there are."""
        notes = [path.read_text(errors="replace") for path in sorted(self.root.glob("vault/**/*.md"))]
        ids = [found[1] for text in notes if (found := re.search(r"^id: (\S+)$", text, re.MULTILINE))]
        has_commits = (self.root / ".git").exists()
        return ids, git(self.root, "rev-list", "--all", ok=False).split() if has_commits else []


def _parts(command: str) -> tuple[list[str], str]:
    """The words of a `vt` that can be called here, and what a shell does: all the rest, or what that is piped through."""
    bare = _QUOTED.sub(lambda quoted: "q" * len(quoted[0]), command)
    special = _SHELL.search(bare)
    if not command.startswith("vt ") or (special and special[0] != "|") or "||" in bare:
        return [], command
    at = special.start() if special else len(command)
    return shlex.split(command[:at])[1:], command[at + 1 :]


def steps(transcript: str) -> Iterator[tuple[str, str]]:
    """The lines of a transcript that are kept: what a story says before a command (no command), and commands."""
    for line in transcript.splitlines():
        if line.startswith("$ "):
            yield line, line.removeprefix("$ ")
        elif line.startswith("%% "):
            yield line, ""


def typed_again(transcript: str, story: Story) -> str:
    """The transcript as it reads now."""
    paragraphs: list[str] = []
    said = ""
    for line, command in steps(transcript):
        if command:
            paragraphs.append(f"{said}{line}\n{story.types(command)}")
            said = ""
        else:
            said += f"{line}\n"
    return "\n".join(paragraphs)


@pytest.mark.skipif(shutil.which("sh") is None, reason="transcripts are typed into a shell")
@pytest.mark.parametrize("path", sorted(TRANSCRIPTS.glob("*.txt")), ids=lambda path: path.stem)
def test_the_story_reads_as_it_did(path: Path, tmp_path: Path) -> None:
    before = path.read_text()
    now = typed_again(before, Story(tmp_path))
    if REWRITE:
        path.write_text(now)
    else:
        assert now == before
    assert "Traceback" not in now


def test_there_are_stories() -> None:
    assert len(list(TRANSCRIPTS.glob("*.txt"))) >= 3
