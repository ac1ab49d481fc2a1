"""The README and the docs keep their word: what stands below a command is what it prints, and the documents are there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.samples import BLOCK, PAGES, ROOT, masked, newcomer, place_of, renewed, samples, typed

README = (ROOT / "README.md").read_text(encoding="utf-8")
WITH_SAMPLES = [page for page in PAGES if samples(page.read_text(encoding="utf-8"))]


def _block(mark: str) -> str:
    found = re.search(rf"<!-- {mark} -->\n```sh\n(.*?)```", README, re.DOTALL)
    assert found, f"the README has no block {mark}"
    return found[1]


def test_it_begins_with_what_a_first_session_needs(tmp_path: Path) -> None:
    """The lines between installing and the client, in an empty home: what they put there then answers as the client calls it."""
    install, *lines, session = _block("start").strip().split("\n")
    assert README.index("<!-- start -->") < README.index("\n## ") and len(lines) == 2
    assert install.startswith("pipx install '.[local]'") and session.startswith('claude "')
    env = {**newcomer(tmp_path), "VAULT_HOOK_SECONDS": "200"}
    done = subprocess.run(["bash", "-euc", "\n".join(lines)], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    hooks = json.loads((tmp_path / ".claude" / "settings.json").read_text())["hooks"]
    told = json.dumps({"session_id": "s1", "cwd": str(tmp_path), "source": "startup"})
    command = hooks["SessionStart"][0]["hooks"][0]["command"]
    said = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=env, input=told, capture_output=True, text=True)
    assert json.loads(said.stdout)["hookSpecificOutput"]["additionalContext"].startswith("# Memory")
    server = json.loads((tmp_path / ".claude.json").read_text())["mcpServers"]["vault"]
    assert server["args"][-1] == "mcp" and str(tmp_path / "memory") in server["args"]


@pytest.mark.parametrize("page", WITH_SAMPLES, ids=lambda page: page.name)
def test_what_stands_below_a_command_is_what_it_prints(page: Path, tmp_path: Path) -> None:
    """Typed word for word at a terminal, by a newcomer with an empty home and a fresh clone."""
    text = page.read_text(encoding="utf-8")
    environ = newcomer(tmp_path)
    now = renewed(text, typed(samples(text), place_of(page, tmp_path, environ), environ))
    assert now == text, "`python -m tests.samples` writes what they print now"
    if page.name == "README.md":
        _require_committed(tmp_path / "notes", environ)
        _require_program_runs(tmp_path, environ)


def _require_committed(vault: Path, environ: dict[str, str]) -> None:
    status = subprocess.run(["git", "status", "--porcelain"], cwd=vault, env=environ, capture_output=True, text=True, check=True)
    assert status.stdout == ""


def _require_program_runs(home: Path, environ: dict[str, str]) -> None:
    """The README's program, beside the vault of its first day."""
    program = next(found["text"] for found in BLOCK.finditer(README) if found["kind"] == "python")
    shown = "\nprint(made.id[:0], len(found.results))\n"
    done = subprocess.run(
        [sys.executable, "-c", program + shown], cwd=home, env={**environ, "PYTHONPATH": str(home / "vault_tool")},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0 and int(done.stdout) > 0, done.stderr


def test_the_readme_has_samples() -> None:
    assert len(samples(README)) > 5 and sum(bool(one.answer) for one in samples(README)) > 5


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_sample_is_compared_or_called_a_sketch(page: Path) -> None:
    """A block that is no commands, file or program is what something prints: of a command above it, or a sketch by its words."""
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        before = text[: found.start()].rstrip().split("\n\n")[-1]
        line = text[: found.start()].count("\n") + 1
        if page.name in ("cli.md", "decisions.md"):  # usages made from the commands; what was so on its day
            continue
        if found["kind"] in ("", "text"):
            assert "sketch" in before, f"{page.name}:{line}: type it in a `console` block, or say that it is a sketch"
        elif found["kind"] == "console":
            assert found["text"].startswith("$ "), f"{page.name}:{line}: it begins with a command"
        elif found["kind"] == "json":
            assert "errors" not in found["text"] and json.loads(found["text"]), f"{page.name}:{line}: an answer needs its command"
        else:
            assert found["kind"] in ("sh", "python", "yaml", "toml", "markdown"), f"{page.name}:{line}"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("6fd1aa  problem  x", "543eb3  problem  x"),
        ("commit: 0a75ff10c4", "commit: dce2491b38"),
        ("from: owner, 2026-11-25T19:40:55+00:00", "from: owner, 2027-01-02T09:00:01+00:00"),
        ("# Memory, 2026-11-25", "# Memory, 2027-01-02"),
        ("vault/observations/2026/11/a-6fd1aa.md", "vault/observations/2027/01/a-543eb3.md"),
        ("a vault at /tmp/x1/notes", "a vault at /home/ann/notes"),
    ],
)
def test_what_no_two_runs_have_alike_is_masked(one: str, other: str) -> None:
    assert masked(one) == masked(other) != one


@pytest.mark.parametrize(
    ("one", "other"),
    [("match 1.00", "match 0.85"), ("6 memories, 4 active", "6 memories, 5 active"), ("weak, words", "words"), ("a.md", "b.md")],
)
def test_nothing_else_is_masked(one: str, other: str) -> None:
    assert masked(one) != masked(other)


def test_an_answer_that_changed_is_written_anew_and_one_that_did_not_stays() -> None:
    page = "Say:\n\n```console\n$ vt a\n6fd1aa  one\n$ cd b\n$ vt c \\\n    --d\ntwo\n```\n"
    assert renewed(page, ["543eb3  one", "", "two"]) == page
    assert renewed(page, ["543eb3  1", "", "three"]) == page.replace("6fd1aa  one", "543eb3  1").replace("two", "three")


def test_set_up_is_two_commands() -> None:
    assert all(len(_block(mark).strip().split("\n")) == 1 for mark in ("run", "test"))


def test_every_document_is_there() -> None:
    linked = re.findall(r"\]\(([^)#]+\.md)[^)]*\)", README)
    assert linked
    assert [path for path in linked if not (ROOT / path).is_file()] == []


def test_nothing_names_a_registry_or_a_machine() -> None:
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[A-Za-z0-9.]+", line) for line in pins.split())
