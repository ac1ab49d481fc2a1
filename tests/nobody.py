"""A machine that is nobody's: a home, an identity and a clock zone for tests, and for what is made once for many of them."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_OURS = ("GIT_", "VAULT_", "XDG_", "OLLAMA_", "OPENAI_")
_KEPT = ("VAULT_TEST_", "VAULT_CAMPAIGN")
"""What says how to test, and nothing about whose vault it is."""


@contextmanager
def nobodys_machine(home: Path) -> Iterator[None]:
    """An environment in which nothing is known of whoever runs the tests; what stood before comes back."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(_OURS) and not name.startswith(_KEPT)]:
            patch.delenv(name)
        settings = {"HOME": str(home), "USERPROFILE": str(home), "TZ": "UTC"}
        settings |= {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "DATA", "CACHE", "STATE")}
        settings |= {"XDG_RUNTIME_DIR": str(_private(home / "runtime"))}
        # Nobody listens there: what a test finds must not depend on who runs Ollama on this machine.
        settings |= {"OLLAMA_HOST": "http://127.0.0.1:9"}
        settings |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        # A command starts no owner for the next one: a test that wants one says `VAULT_OWNER=on`.
        settings |= {"CI": "true"}
        for role in ("AUTHOR", "COMMITTER"):
            settings |= {f"GIT_{role}_NAME": "A Tester", f"GIT_{role}_EMAIL": "tester@example.org"}
        for name, value in settings.items():
            patch.setenv(name, value)
        with_key(home / "data")
        time.tzset()
        yield
    time.tzset()


def with_key(data: Path) -> Path:
    """A user's data folder with a key that every test has: what one home's user made in a vault is the next one's own."""
    key = data / "vault_tool" / "key"
    key.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    key.write_bytes(bytes(32))
    key.chmod(0o600)
    return data


def packed(root: Path) -> Path:
    """The same vault, whose repository is a few files instead of eighty: it is copied for hundreds of tests."""
    subprocess.run(("git", "repack", "-a", "-d", "-q"), cwd=root, check=True)
    for sample in (root / ".git" / "hooks").glob("*.sample"):
        sample.unlink()
    return root


def looks_at_no_git(node: pytest.Item) -> bool:
    """Whether the nearest mark says so: the test's vault lies in no repository then, where a write starts no process."""
    marks = (mark.name for mark in node.iter_markers())
    return next((name for name in marks if name in ("in_git", "without_git")), "in_git") == "without_git"


def _private(folder: Path) -> Path:
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder
