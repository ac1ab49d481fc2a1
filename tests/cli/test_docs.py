from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.typed import parsed
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
