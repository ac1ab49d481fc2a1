from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.cli.typed import parsed
from vault_tool.cli.main import group
from vault_tool.cli.reference import reference
from vault_tool.cli.table import SECTIONS
from vault_tool.errors import Exit

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
_FENCED = re.compile(r"^```(?:sh|console)\n(.*?)^```", re.S | re.M)


def _lines(page: Path) -> list[str]:
    """The `vt` command lines in a page's shell blocks, continued lines joined."""
    blocks = _FENCED.findall(page.read_text(encoding="utf-8"))
    lines = "\n".join(blocks).replace("\\\n", " ").split("\n")
    typed = (line.removeprefix("$ ").split("  # ")[0].strip() for line in lines)
    return [line for line in typed if re.match(r"vt\b|.* \| vt\b", line)]


SHOWN = [(page.name, line) for page in PAGES for line in _lines(page)]


def test_the_reference_is_current() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert page == reference(), "run `python -m vault_tool.cli.reference > docs/cli.md`"


def test_the_reference_tells_of_every_command_and_exit_code() -> None:
    page = reference()
    for commands in SECTIONS.values():
        for listed in commands:
            assert f"\n## vt {listed.name}\n" in page
    for code in Exit:
        assert f"- `{code.value}`: " in page


@pytest.mark.parametrize(("page", "line"), SHOWN, ids=[f"{page}: {line[:30]}" for page, line in SHOWN])
def test_every_command_line_in_the_docs_can_be_typed(page: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if line.split() != ["vt", "--help"]:
        assert parsed(line, monkeypatch)[0].name


_SPAN = re.compile(r"`vt\s+([^`]+)`")
_DATED = ("decisions.md",)
"""What stands there was so on its day."""


def _named(text: str) -> Iterator[str]:
    """The command lines that a text names within backticks, on one line each."""
    yield from (" ".join(found.split()) for found in _SPAN.findall(text))


def _texts() -> Iterator[tuple[str, str]]:
    """All that speaks of commands: the pages, the helps, and the texts and docstrings of the code, each with its place."""
    pages = (*PAGES, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "plugin").rglob("*.md")))
    for page in pages:
        if page.name not in _DATED:
            yield page.name, page.read_text(encoding="utf-8")
    for module in sorted((ROOT / "vault_tool").rglob("*.py")):
        source = module.read_text(encoding="utf-8")
        if "`" not in source or not re.search(r"\bvt\b", source):
            continue  # it names no command, and reading all modules takes seconds
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield f"{module.relative_to(ROOT)}:{node.lineno}", node.value


def _flaw(line: str) -> str:
    """What is wrong with a command line as a text names it: its command or one of its options that is none; or nothing."""
    words = [word for word in re.split(r"[\s=]+", line) if word]
    if words[0].startswith(("-", "{", "…", "COMMAND", "help")) or not re.fullmatch(r"[a-z][a-z-]*", words[0]):
        return ""
    context = click.Context(group)
    found = group.get_command(context, words[0])
    if found is None:
        return f"no command {words[0]}"
    if isinstance(found, click.Group) and len(words) > 1 and (member := found.get_command(context, words[1])) is not None:
        found = member
    known = {opt for param in found.params for opt in (*param.opts, *param.secondary_opts)} | {"--help", "-h"}
    named = [word.strip("[](),.|;:") for word in words[1 : words.index("|") if "|" in words else None]]
    strange = [word for word in named if re.fullmatch(r"--[a-z][a-z-]*", word) and word not in known]
    return f"no option {', '.join(strange)}" if strange else ""


def test_every_command_that_a_text_names_is_there_with_its_options() -> None:
    lines = [(place, line) for place, text in _texts() for line in _named(text)]
    assert len(lines) > 300
    flaws = [f"{place}: `vt {line}`: {flaw}" for place, line in lines if (flaw := _flaw(line))]
    assert flaws == []


@pytest.mark.parametrize(
    ("line", "flaw"),
    [("recall WHAT --explain", ""), ("recal WHAT", "no command recal"), ("recall --depth 3", "no option --depth"),
     ("import markdown DIR --in-place", ""), ("import markdown DIR --fast", "no option --fast"), ("--help", "")],
)  # fmt: skip
def test_a_command_or_an_option_that_is_none_is_noticed(line: str, flaw: str) -> None:
    assert _flaw(line) == flaw
