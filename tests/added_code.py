"""A copy of the package to which something is added by hand, and processes that run it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import vault_tool

# A line of a file, and the text that is written before it; without a line it is written at the end.
Addition = tuple[str, str]


def copied_package(root: Path, by_hand: Mapping[str, Iterable[Addition]]) -> Path:
    """A folder with a copy of the package that has these additions, by the paths of its files."""
    package = root / "vault_tool"
    shutil.copytree(Path(vault_tool.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for name, additions in by_hand.items():
        path = package / name
        source = path.read_text(encoding="utf-8") if path.exists() else ""
        for before, text in additions:
            assert source.count(before) == 1 or not before, before
            source = source.replace(before, text + before) if before else source + text
        path.write_text(source, encoding="utf-8")
    return root


def run_copy(root: Path, *arguments: str) -> str:
    """What Python prints with the copied package."""
    environ = {**os.environ, "PYTHONPATH": str(root), "VAULT_OWNER": "off", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=root, env=environ, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def make_again(root: Path, module: str, kept: str) -> None:
    """Make a file of the copy that is made from its code."""
    made = run_copy(root, "-m", f"vault_tool.{module}")
    (root / "vault_tool" / kept).write_text(made, encoding="utf-8")
