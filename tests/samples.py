"""The samples of the README and the docs: a page's `console` blocks, typed at a terminal, and what they print.

`python -m tests.samples` types them all and writes what they print now into the pages. Ids, dates, times and paths of a
sample stay as they are, and so does what a person answers to a question.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bounds import PATIENCE

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))

BLOCK = re.compile(r"(?ms)^```(?P<kind>[\w-]*)\n(?P<text>.*?)^```$")
PROMPT = "$ "
_MARK = "\x1e"
_STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_QUESTION = re.compile(r"\[(?:Y/n|y/N)\]: ?")

# What no two runs have alike, and nothing else: paths from the root, ids and commits, moments, days, times.
_OWN = re.compile(
    r"(?P<path>(?<![\w.~])(?:/[\w.@+-]+){2,}/?)"
    r"|(?P<moment>\b\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2}))?\b|\b\d{4}/\d{2}\b|\b\d{2}:\d{2}(?::\d{2})?\b)"
    r"|(?P<id>\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{6,40}\b)"
)


def masked(text: str) -> str:
    """A printed text in which what no two runs have alike is told by its kind."""
    return _OWN.sub(lambda found: f"<{found.lastgroup}>", text)


def _own(text: str) -> list[str]:
    return [token[0] for token in _OWN.finditer(text)]


@dataclass(frozen=True)
class Sample:
    """One command of a page and what stands below it."""

    command: str
    answer: str


def samples(text: str) -> list[Sample]:
    """The commands of a page's `console` blocks with their answers, in order."""
    blocks = (found["text"] for found in BLOCK.finditer(text) if found["kind"] == "console")
    return [sample for block in blocks for sample in _of_block(block)]


def _of_block(block: str) -> Iterator[Sample]:
    before, *parts = re.split(r"(?m)^\$ ", block)
    assert not before.strip(), f"a console block begins with a command: {before}"
    for part in parts:
        lines = part.splitlines()
        last = next(place for place, line in enumerate(lines) if not line.endswith("\\"))
        yield Sample("\n".join(lines[: last + 1]), "\n".join(lines[last + 1 :]).strip("\n"))


def renewed(text: str, printed: Sequence[str]) -> str:
    """The page with what its commands printed; an answer that says the same stays as it is, to the byte.

    What is the run's own (an id, a path) stands in another answer as it stands in those that stay: one thing, one name.
    """
    left = list(printed)
    names: dict[str, str] = {}
    for sample, now in zip(samples(text), printed, strict=True):
        if masked(now) == masked(sample.answer):
            names |= zip(_own(now), _own(sample.answer), strict=True)

    def block(found: re.Match[str]) -> str:
        if found["kind"] != "console":
            return found[0]
        shown = []
        for sample in _of_block(found["text"]):
            now = left.pop(0)
            same = masked(now) == masked(sample.answer)
            answer = sample.answer if same else _OWN.sub(lambda token: names.get(token[0], token[0]), now)
            shown.append(f"{PROMPT}{sample.command}\n" + (f"{answer}\n" if answer else ""))
        return "```console\n" + "".join(shown) + "```"

    made = BLOCK.sub(block, text)
    assert left == []
    return made


def typed(found: Sequence[Sample], folder: Path, environ: Mapping[str, str]) -> list[str]:
    """What each command prints at a terminal of 100 columns, one typed after the other in one shell."""
    script = "\n".join(f"printf '\\036'\n{sample.command}" for sample in found)
    answers = [re.split(_QUESTION, line)[1] for sample in found for line in sample.answer.splitlines() if _QUESTION.search(line)]
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 100, 0, 0))
    child = subprocess.Popen(["bash", "-c", script], cwd=folder, env=environ, stdin=inner, stdout=inner, stderr=inner)
    os.close(inner)
    shown, until = b"", time.monotonic() + 3 * PATIENCE
    while time.monotonic() < until:
        if answers and len(_QUESTION.findall(shown.decode("utf-8", "replace"))) > _asked(found, answers):
            os.write(outer, f"{answers.pop(0)}\n".encode())
        if not select.select([outer], [], [], 0.05)[0]:
            continue
        try:
            piece = os.read(outer, 2**16)
        except OSError:  # Linux's way of saying that nobody is at the other end any more
            break
        if not piece:
            break
        shown += piece
    os.close(outer)
    child.wait(PATIENCE)
    text = _STYLE.sub("", shown.decode("utf-8", "replace").replace("\r", ""))
    return ["\n".join(line.rstrip() for line in part.strip("\n").split("\n")) for part in text.split(_MARK)[1:]]


def _asked(found: Sequence[Sample], left: Sequence[str]) -> int:
    """How many questions have been answered."""
    return sum(len(_QUESTION.findall(sample.answer)) for sample in found) - len(left)


def newcomer(home: Path) -> dict[str, str]:
    """The environment of a person who has just cloned the project: their git knows their name, and that is all."""
    clone = home / "vault_tool"
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in names:
        if name and (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, clone / name)
    (home / ".gitconfig").write_text("[user]\n\tname = Ann\n\temail = ann@example.org\n")
    programs = home / ".local" / "bin"
    programs.mkdir(parents=True)
    # What `pipx install .` makes of a clone, but for the libraries, which would have to be fetched.
    (programs / "vt").write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(clone)!r})\n"
        "from vault_tool.__main__ import main\nsys.exit(main())\n"
    )
    (programs / "vt").chmod(0o755)
    return {
        "HOME": str(home), "PATH": f"{programs}{os.pathsep}/usr/local/bin{os.pathsep}/usr/bin{os.pathsep}/bin",
        "LANG": "C.UTF-8", "TZ": "UTC", "TERM": "dumb", "GIT_CONFIG_NOSYSTEM": "1", "CI": "true",
        "OLLAMA_HOST": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9",
        "XDG_RUNTIME_DIR": str(home), "TMPDIR": str(home),
    }  # fmt: skip


def place_of(page: Path, home: Path, environ: Mapping[str, str]) -> Path:
    """Where a page's samples are typed: the README's in an empty home, those of docs in a new vault."""
    if page.name == "README.md":
        return home
    vault = home / "lab"
    subprocess.run(["vt", "init", str(vault)], env=environ, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    return vault


def main() -> None:
    """Type the samples of all pages and write what they print."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if found := samples(text):
            with tempfile.TemporaryDirectory() as folder:
                environ = newcomer(Path(folder))
                printed = typed(found, place_of(page, Path(folder), environ), environ)
                now = renewed(text, [one.replace(folder, "/home/ann") for one in printed])
            if now != text:
                page.write_text(now, encoding="utf-8")


if __name__ == "__main__":
    main()
