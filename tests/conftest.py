"""What every test runs in: a home, an identity and a clock zone that are nobody's."""

from __future__ import annotations

import faulthandler
import gc
import importlib
import itertools
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests.nobody import nobodys_machine, with_key

# How long an example takes says how busy the machine is.
hypothesis.settings.register_profile("busy", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("busy")

_MEMORY = Path("/dev/shm")
_ROOM = 3 * 2**30

_LAST_RESORT = 1.5
"""After how many of its limits the process of a test that hangs is ended."""

_ERRORS = pytest.StashKey[int]()
_DATA = pytest.StashKey[str]()
_HOMES = itertools.count()


def pytest_configure(config: pytest.Config) -> None:
    """Put temporary files in memory where there is room, which takes a quarter off the whole; TMPDIR names another place."""
    config.stash[_ERRORS] = os.dup(2)  # now, while nothing is captured
    # What is made for many tests at once is made before any of them has a home of its own.
    os.environ["XDG_DATA_HOME"] = config.stash[_DATA] = tempfile.mkdtemp(prefix="nobodys-data-")
    with_key(Path(config.stash[_DATA]))
    # What a shell runs in the background ignores Ctrl-C, and so would all that our tests start and interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if "TMPDIR" not in os.environ and _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK):
        runs_programs = not os.statvfs(_MEMORY).f_flag & os.ST_NOEXEC  # hooks of git are written and run
        if runs_programs and shutil.disk_usage(_MEMORY).free > _ROOM:
            os.environ["TMPDIR"] = str(_MEMORY)
            tempfile.tempdir = None


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Each worker translates its share of the tests and keeps that, and finds the others' share translated: where nothing
    is kept, each of them spends as long on that as on a fortieth of all tests.
    """
    kept = sys.dont_write_bytecode
    sys.dont_write_bytecode = False
    try:
        for module in _share(session.config):
            importlib.import_module(module)
        return (yield)
    finally:
        sys.dont_write_bytecode = kept


def _share(config: pytest.Config) -> list[str]:
    """The modules of tests that this worker translates: every second one, where two collect the whole suite."""
    worker: dict[str, Any] = getattr(config, "workerinput", {})
    here = Path(__file__).parent
    whole = [Path(config.rootpath, given) for given in config.args] == [here]
    if not worker or not whole or not (here / "__init__.py").is_file():
        return []
    files = sorted(here.rglob("test_*.py"))[int(worker["workerid"].removeprefix("gw")) :: int(worker["workercount"])]
    return [".".join(("tests", *file.relative_to(here).with_suffix("").parts)) for file in files]


def pytest_collection_finish() -> None:
    """The collector need not look again at what stays, nor so often at what goes by itself: a tenth of the time goes."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Campaigns run as long as they are told to; what coverage's own code would be part of is left out while it looks on."""
    if "coverage" in sys.modules and sys.modules["coverage"].Coverage.current() is not None:
        left_out = pytest.mark.skip(reason="coverage's own code is part of what is looked at")
        for item in items:
            if item.get_closest_marker("without_coverage"):
                item.add_marker(left_out)
    campaign = int(os.environ.get("VAULT_CAMPAIGN", "0"))
    if campaign:
        for item in items:
            item.add_marker(pytest.mark.timeout(0))
    if not campaign and os.environ.get("VAULT_TEST_CHROMA") != "1":
        asked_for = pytest.mark.skip(reason="over Chroma: VAULT_TEST_CHROMA=1 runs it")
        for item in items:
            if item.get_closest_marker("chroma"):
                item.add_marker(asked_for)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Vaults that were founded to be copied go with the process that founded them."""
    shutil.rmtree(session.config.stash[_DATA], ignore_errors=True)
    founding = sys.modules.get("tests.founding")
    if founding is not None:
        founding.forget_founded()


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
def _nobodys_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    # Not by `mktemp`, which looks through all that every test before has left, for a number that is free.
    home = tmp_path_factory.getbasetemp() / "homes" / str(next(_HOMES))
    home.mkdir(parents=True)
    with nobodys_machine(home):
        yield
