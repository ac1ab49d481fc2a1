"""What every test runs in: a home, an identity and a clock zone that are nobody's."""

from __future__ import annotations

import faulthandler
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

# How long an example takes says how busy the machine is.
hypothesis.settings.register_profile("busy", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("busy")

_OURS = ("GIT_", "VAULT_", "XDG_", "OLLAMA_", "OPENAI_")
_KEPT = ("VAULT_TEST_", "VAULT_CAMPAIGN")
"""What says how to test, and nothing about whose vault it is."""

_MEMORY = Path("/dev/shm")
_ROOM = 3 * 2**30

_LAST_RESORT = 1.5
"""After how many of its limits the process of a test that hangs is ended."""

_ERRORS = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    """Put temporary files in memory where there is room, which takes a quarter off the whole; TMPDIR names another place."""
    config.stash[_ERRORS] = os.dup(2)  # now, while nothing is captured
    # What a shell runs in the background ignores Ctrl-C, and so would all that our tests start and interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if "TMPDIR" not in os.environ and _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK):
        runs_programs = not os.statvfs(_MEMORY).f_flag & os.ST_NOEXEC  # hooks of git are written and run
        if runs_programs and shutil.disk_usage(_MEMORY).free > _ROOM:
            os.environ["TMPDIR"] = str(_MEMORY)
            tempfile.tempdir = None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Campaigns run as long as they are told to."""
    if int(os.environ.get("VAULT_CAMPAIGN", "0")):
        for item in items:
            item.add_marker(pytest.mark.timeout(0))


@pytest.hookimpl(wrapper=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> Iterator[None]:
    """A test that hangs in a library's own code hears no signal: its process says where it is and ends."""
    faulthandler.dump_traceback_later(settings.timeout * _LAST_RESORT, exit=True, file=item.config.stash[_ERRORS])
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_timeout_cancel_timer(item: pytest.Item) -> Iterator[None]:
    """The test came to its end."""
    faulthandler.cancel_dump_traceback_later()
    return (yield)


@pytest.fixture(autouse=True)
def _nobodys_machine(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    home = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name.startswith(_OURS) and not name.startswith(_KEPT)]:
        monkeypatch.delenv(name)
    settings = {"HOME": str(home), "USERPROFILE": str(home), "TZ": "UTC"}
    settings |= {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "DATA", "CACHE", "STATE")}
    settings |= {"XDG_RUNTIME_DIR": str(_private(home / "runtime"))}
    # Nobody listens there: what a test finds must not depend on who runs Ollama on this machine.
    settings |= {"OLLAMA_HOST": "http://127.0.0.1:9"}
    settings |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for role in ("AUTHOR", "COMMITTER"):
        settings |= {f"GIT_{role}_NAME": "A Tester", f"GIT_{role}_EMAIL": "tester@example.org"}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def _private(folder: Path) -> Path:
    folder.mkdir(mode=0o700)
    return folder
