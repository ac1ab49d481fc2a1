"""In a locale that knows ASCII alone every command prints what it prints elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.founding import found_at
from vault_tool import Vault

POSIX = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "POSIX", "VAULT_OWNER": "off"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("ascii") / "v"
    found_at(found, git=False)
    with Vault.open(found) as vault:
        vault.remember("Das Café ist zu. \U0001f600", ["Café"], title="Das Café")
    return found


LINES = (("search", "Café"), ("get-subjects",), ("core", "--print"), ("recall", "Café"), ("show", "Das Café"), ("search", "-h"))


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_it_prints_what_it_prints_elsewhere(root: Path, line: tuple[str, ...]) -> None:
    env = {**os.environ, **POSIX}
    done = subprocess.run([sys.executable, "-m", "vault_tool", "--vault", str(root), *line], env=env, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert line[-1] == "-h" or "Café" in done.stdout.decode()
