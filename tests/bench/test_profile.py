"""What ten commands of every day touch at most: whoever makes one of them compute a thing twice is told so here."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from bench.profile import COMMANDS, LOOKS, Profile, as_table, measured, told

MODULES = {
    "remember": 116,
    "recall": 118,
    "search": 103,
    "get": 78,
    "bring-to-mind": 93,
    "consolidate": 119,
    "mark-useful": 82,
    "create-understanding": 105,
    "reflect": 107,
    "status": 115,
}
"""How many modules each entered when this was written."""
MARGIN = 2

GIT = {
    "remember": 6,
    "recall": 1,
    "search": 1,
    "get": 1,
    "bring-to-mind": 1,
    "consolidate": 6,
    "mark-useful": 6,
    "create-understanding": 6,
    "reflect": 7,
    "status": 6,
}
"""How many processes of git each starts at most."""

MORE_LOOKS = {("get", "weighings"): 2, ("reflect", "weighings"): 3}
"""All are computed once a command at most, but: the command before left `_state.json` to whoever comes next, which `get` writes
anew before it answers; and `reflect` weighs by all use for that file, by shared use for the pages, and once its entry is logged.
"""


@pytest.fixture(scope="module")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Profile]:
    """The ten commands one after another on one vault."""
    root = tmp_path_factory.mktemp("profiles") / "house"
    memory = told(root)
    return {command: measured(root, memory, command) for command in COMMANDS}


def test_each_command_stays_within_its_modules_and_processes(profiles: dict[str, Profile]) -> None:
    assert profiles.keys() == MODULES.keys() == GIT.keys()
    more = {name: one.modules for name, one in profiles.items() if one.modules > MODULES[name] + MARGIN}
    assert not more, "modules"
    assert not {name: one.git for name, one in profiles.items() if one.git > GIT[name]}, "processes of git"


def test_each_command_computes_each_thing_once(profiles: dict[str, Profile]) -> None:
    twice = {
        (name, look): count
        for name, one in profiles.items()
        for look, count in one.looks.items()
        if count > MORE_LOOKS.get((name, look), 1)
    }
    assert not twice


def test_what_is_counted_is_there(profiles: dict[str, Profile]) -> None:
    for where, _ in LOOKS.values():
        module, _, names = where.partition(":")
        found: object = import_module(module)
        for name in names.split("."):
            found = getattr(found, name)
    assert {look for look in LOOKS if not any(one.looks[look] for one in profiles.values())} == set()
    assert all(one.calls > one.modules > 20 for one in profiles.values())


def test_the_table_has_a_line_a_command(profiles: dict[str, Profile]) -> None:
    lines = as_table(list(profiles.values())).splitlines()
    assert [line.split(" | ")[0].removeprefix("| ") for line in lines[2:]] == list(COMMANDS)


def test_what_cannot_be_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="recall"):
        measured(tmp_path / "nowhere", "", "recall")
