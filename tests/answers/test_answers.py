"""Each verb's answer, and each tool's, is the one that is kept beside this file: `VAULT_TEST_KEEP=1` keeps those of today."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.answers.story import CALLS, MORE, PERSONS, tell
from tests.founding import own_copy
from tests.nobody import nobodys_machine, packed
from tests.verbs.looking import START
from vault_tool import Vault, VaultError
from vault_tool.cli.output import to_json
from vault_tool.cli.verb_table import verbs
from vault_tool.mcp.answering import answer
from vault_tool.mcp.table import RENAMED, TOOLS
from vault_tool.mcp.tools import Caller
from vault_tool.util import deferred
from vault_tool.util.clock import FixedClock

KEPT = Path(__file__).parent / "kept"
KEEP = bool(os.environ.get("VAULT_TEST_KEEP"))

ASKED = {**{name: (name, arguments) for name, arguments in CALLS.items()}, **MORE}
OF_A_MOMENT = (
    "heartbeat_token",
    "pid",
    "seconds",
    "host",
    "started",
    "version",
    "memory",
    "logged_bytes",
    "hash",
    "commit",
    "key",
)
"""Values that are others each time, or on another machine."""

_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_OTHERS = (
    (re.compile(r"(?<![0-9a-f.-])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,64}(?![0-9a-f-])"), "<hex>"),
    (re.compile(r"(?<![0-9a-zA-Z.])[0-9a-f]{6}(?![0-9a-zA-Z])"), "<id>"),
    (re.compile(r"(?<=/20\d\d-\d\d)(-\d\d)?\.[0-9a-z]{8}(?=\.(?:jsonl|md))"), r"\1.<writer>"),
    (re.compile(r"(?!2026-11-20)20\d\d-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)"), "<moment>"),
)
"""Ids that nothing of the story has, the names of journals, and moments of git's own."""


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, str], FixedClock]]:
    """The story's vault, to be copied, what its ids mean, and the moment at which it ends."""
    home = tmp_path_factory.mktemp("story")
    clock = FixedClock(START)
    # What was written in the same second stands in the order of its ids.
    chance = random.Random(7)
    with nobodys_machine(home), pytest.MonkeyPatch.context() as patch:
        # The module as ids ask it: what it was asked once it keeps.
        patch.setattr(deferred.uuid, "uuid4", lambda: uuid.UUID(int=chance.getrandbits(128), version=4))
        Vault.init(home / "lab", name="Lab", clock=clock)
        ids = tell(home / "lab", clock)
        packed(home / "lab")
    yield home, ids, clock


@pytest.fixture
def place(story: tuple[Path, dict[str, str], FixedClock], tmp_path: Path) -> tuple[Path, dict[str, str], FixedClock]:
    """A copy of it that is this test's own."""
    home, ids, clock = story
    own_copy(home / "lab", tmp_path / "lab")
    shutil.copytree(home / "notes", tmp_path / "notes")
    return tmp_path / "lab", ids, FixedClock(clock.now())


def test_each_verb_is_asked() -> None:
    # `new` opens an editor.
    assert set(CALLS) == set(verbs()) - {"new"}


@pytest.mark.parametrize("name", ASKED)
def test_a_verb_answers_as_it_is_kept(
    name: str, place: tuple[Path, dict[str, str], FixedClock], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, ids, clock = place
    monkeypatch.chdir(root.parent)
    verb, arguments = ASKED[name]
    opened = Vault.open(root, person=True, clock=clock) if verb in PERSONS else _agents(root, clock)
    with opened as vault:
        try:
            said = json.loads(to_json(getattr(vault, verb)(**_meant(arguments, ids))))
        except VaultError as fault:
            said = {"error": fault.message, "hint": fault.hint}
    _compare(KEPT / "library" / f"{name}.json", said, root, ids)


TOLD = {name: asked for name, asked in ASKED.items() if asked[0] in TOOLS}


@pytest.mark.parametrize("name", TOLD)
def test_a_tool_answers_as_it_is_kept(name: str, place: tuple[Path, dict[str, str], FixedClock]) -> None:
    root, ids, clock = place
    tool, arguments = TOLD[name]
    theirs = {ours: argument for argument, ours in RENAMED.get(tool, {}).items()}
    given = {theirs.get(key, key): value for key, value in _meant(arguments, ids).items() if key != "why_not"}
    with _agents(root, clock) as vault:
        said = answer(vault, tool, given, Caller(session="k3f9", model="m-1"))
    _compare(KEPT / "mcp" / f"{name}.json", said, root, ids)


def _agents(root: Path, clock: FixedClock) -> Vault:
    return Vault.open(root, origin="agent", session="k3f9", model="m-1", clock=clock)


def _meant(value: Any, ids: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return ids.get(value[1:-1], value) if value.startswith("<") else value
    if isinstance(value, Mapping):
        return {key: _meant(one, ids) for key, one in value.items()}
    return [_meant(one, ids) for one in value] if isinstance(value, list) else value


def _compare(path: Path, said: Any, root: Path, ids: Mapping[str, str]) -> None:
    text = _lasting(json.dumps(_without_moments(said), indent=1, ensure_ascii=False) + "\n", root, ids)
    if KEEP:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), (
        "if it is meant: VAULT_TEST_KEEP=1 pytest tests/answers, and look at the diff"
    )


def _without_moments(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: "<...>" if key in OF_A_MOMENT and one and not isinstance(one, dict | list) else _without_moments(one)
            for key, one in value.items()
        }
    return [_without_moments(one) for one in value] if isinstance(value, list) else value


def _lasting(text: str, root: Path, ids: Mapping[str, str]) -> str:
    """The same with names in place of ids, and nothing of this machine."""
    text = text.replace(str(root.parent), "<here>").replace(os.environ["HOME"], "<home>")
    names = {identity: name for name, identity in ids.items() if _UUID.fullmatch(identity)}
    names |= {identity: "id" for identity in _UUID.findall(text) if identity not in names}
    for identity, name in names.items():
        text = re.sub(rf"(?<![0-9a-f]){identity[:6]}(?:[0-9a-f]*(?![0-9a-f-])|{identity[6:]})", f"<{name}>", text)
    for pattern, shown in _OTHERS:
        text = pattern.sub(shown, text)
    return text
