"""A bad line in a journal, pulled or of this machine, is named where it stands and bricks no command."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest

from tests.git_repos import commit_all, git
from tests.verbs.looking import fails, identity
from vault_tool import Vault
from vault_tool.belief.fold import fold
from vault_tool.errors import UsageError
from vault_tool.model.signals import MOST_USES, Signal, SignalKind

ENTRY = "## 10:30 - {}\n- **Session:** s\n- **Summary:** {}\n"
KIND = {"kind": "use", "value": 1}


def answers(root: Path, known: str) -> None:
    """Every command that reads answers, and a write goes through; with indexes as they are and made anew."""
    with Vault.open(root, session="s") as vault:
        vault.recall("keepalive")
        assert known in [one.id for one in vault.search("keepalive").results]
        belief = vault.show(known, belief=True)
        assert belief.id == known
        vault.bring_to_mind("keepalive")
        vault.get_session_context()
        vault.get_consolidation_report()
        vault.snapshot()
        vault.orient()
        vault.core()
        vault.reflect()
        assert vault.remember("Another thing.").committed
        vault.mark_useful(known, "It helped.")
        standing = vault.standings.belief_of(vault.index.catalog.get(known)[0])
        assert 0 <= standing.truth <= 1 and 0 <= standing.utility <= 1 and 0 <= standing.access_count < 2**53
        assert vault.doctor(fix=False).freshness.checked


@pytest.fixture
def pulled(vault: Vault, root: Path, tmp_path: Path) -> tuple[Path, str]:
    """A clone with a memory, from which the vault pulls."""
    known = vault.remember("Keepalive was off.", ["Redis"]).id
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(root), str(clone))
    git(root, "remote", "add", "other", str(clone))
    return clone, known


def _pull(root: Path, clone: Path, path: str, data: bytes) -> None:
    file = clone / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    commit_all(clone, "hostile")
    git(root, "pull", "-q", "--no-edit", "other", "HEAD")


def test_hostile_signals_are_pulled(vault: Vault, root: Path, pulled: tuple[Path, str]) -> None:
    clone, known = pulled
    base = {"id": identity(7), "at": "2026-11-20T10:00:00+00:00", "target": known}
    numbers = (1e20, 1e308, -1, math.nan, -math.inf, "NaN", True, None, "1", [1], 10**400)
    lines = [json.dumps(base | {"id": identity(20 + n), "kind": "use", "value": value}) for n, value in enumerate(numbers)]
    lines += [json.dumps(base | KIND | more) for more in (
        {"id": "x"}, {"target": "x"}, {"at": "99999-01-01"}, {"at": "9999-12-31T23:59:59-14:00"}, {"session": "\ud83d"},
        {"model": "\ud83d"}, {"kind": "\ud83d"}, {"rationale": "x" * 2**20}, {"confidence": 7}, {"problem": "\udfff"},
        {"more": "\ud83d"},
    )]  # fmt: skip
    lines += ["[" * 100_000, '{"a":' * 100_000, "9" * 5_000, "\x00", "{}", "null", '"\\ud83d"']
    good = json.dumps(base | KIND | {"value": MOST_USES})
    path = "vault/signals/2026-11.otherone.jsonl"
    _pull(root, clone, path, "\n".join([*lines, good, ""]).encode("utf-8", "surrogatepass"))
    found = [one for one in vault.doctor().problems if one.path == path]
    assert {one.line for one in found} == set(range(1, len(lines) + 1))
    answers(root, known)


def test_hostile_episodes_are_pulled(vault: Vault, root: Path, pulled: tuple[Path, str]) -> None:
    clone, known = pulled
    path = "vault/episodes/2026-11-20.otherone.md"
    entries = [
        ENTRY.format("x" * 1_000_000, "a"), ENTRY.format("fine", "y" * 100_000), "## 99:99 - no time\n", "## \ud83d\n",
        ENTRY.format("\ud83d half", "\udcff"), "- **Memory:** " + "[](" * 20_000 + "\n", "- **Tags:** " + "," * 60_000 + "\n",
    ]  # fmt: skip
    _pull(root, clone, path, ("# 2026-11-20\n" + "".join(entries)).encode("utf-8", "surrogatepass"))
    found = [(one.line, one.code) for one in vault.doctor().problems if one.path == path]
    assert found == [(2, "bad-entry"), (7, "bad-entry"), (8, "bad-entry"), (9, "bad-entry")]
    answers(root, known)


LOGGED: dict[str, object] = {
    "id": "6a1b3f0e-0000-4000-8000-000000000000", "at": "2026-11-20T10:00:00+00:00", "session": "s", "user": "", "world": "",
    "turn": "1", "text": "hello", "mode": "in_world_answer", "risk": "low", "note": "", "withheld": "", "flags": [],
    "extractMemory": False, "limit": 8, "budget": 600, "recalled": [], "candidates": [],
}  # fmt: skip

SPOILT: tuple[dict[str, Any], ...] = (
    {}, {"mode": "x"}, {"limit": 1e308}, {"limit": []}, {"recalled": 7},
    {"recalled": [{"id": 1, "why": [], "match": {}}]},
    {"candidates": [{"id": "x"}]}, {"text": "\ud83d"}, {"flags": "ab"},
    {"at": "soon"}, {"id": "other"}, {"candidates": [[]]},
)  # fmt: skip

LOCAL: dict[str, list[Any]] = {
    "use/2026-11-18.jsonl": [{"at": "soon", "target": "x"}, {"at": "2026-11-18T08:00:00", "target": "\ud83d", "session": 1}],
    "turns/queue/20261120-x.json": [{}, {"id": "x", "at": "2026-11-20T10:00:00", "candidates": [{}]}],
    "turns/skipped/2026-11-20.jsonl": [
        {"id": 1}, {"id": "\ud83d", "at": 1, "session": 1, "user": 1, "world": 1, "turn": 1, "text": 1},
    ],
    "sessions/SESSION": [{"id": "s", "token": 1e308}, {"id": "s", "token": "NaN"}],
    "pending/000001-x.json": [
        {"id": "000001-x", "verb": "v", "title": "t", "session": "", "ids": [], "files": [[path, None], [path, "?"]], "at": at}
        for path, at in (("../../x", ""), ("a\x00b", "soon"), ("", "9" * 50), (".git/config", ""), ("/etc/passwd", ""))
    ],
    "journals.json": [{"vault/signals/2026-11.x.jsonl": 7}, {"vault/episodes/x.md": {"a": [[]]}}],
    "consolidation.json": [{"pass": 1, "skipped": 7}, {"pass": "\ud83d", "skipped": [["\ud83d"]]}],
    "owner.json": [{"pid": 10**30, "host": "x", "nonce": "", "started": ""}, {"pid": -1, "host": 1, "nonce": [], "started": {}}],
    "watch.json": [{"pid": 1e308, "host": "", "started": "", "mode": "", "reconciled": "", "degraded": ""}],
    "imports.json": [{"x": 7}, {"x": {"pages": [1]}}],
    "inbox/decided.jsonl": [{"id": []}, {"id": "\ud83d", "verdict": 1}],
    "turns/log/20261120100000000000-6a1b3f0e-0000-4000-8000-000000000000.9.json": [
        {**LOGGED, **spoilt}
        for spoilt in SPOILT
    ],
    "writer": ["\ud83d"],
}  # fmt: skip


RAW = ("[" * 100_000, '{"a":' * 100_000, "", "\x00", "[]", "\ud83d", "9" * 5_000)


def test_hostile_files_of_this_machine_brick_nothing(vault: Vault, root: Path) -> None:
    known = vault.remember("Keepalive was off.", ["Redis"]).id
    vault.as_(session="s").bring_to_mind("keepalive")
    vault.close()
    [session] = (one for one in (root / "_local" / "sessions").iterdir() if one.suffix == ".json")
    spoilt = {name: [*map(json.dumps, values), *RAW] for name, values in LOCAL.items()}
    spoilt |= {name: ["\n".join(values), values[0]] for name, values in spoilt.items() if name.endswith(".jsonl")}
    for number in range(max(map(len, spoilt.values()))):
        for name, values in spoilt.items():
            path = session if name.endswith("SESSION") else root / "_local" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(values[number % len(values)].encode("utf-8", "surrogatepass"))
        with Vault.open(root, session="s") as again:
            again.bring_to_mind("keepalive")
            again.get(known)
            again.status()
            again.backstop()
            for one in again.list_turns().results:
                again.get_turn(one.id, replay=True)
            again.drain()
            assert again.remember(f"Text {number}.").committed
    answers(root, known)
    assert git(root, "status", "--porcelain", "vault") == ""
    assert not os.path.lexists(root.parent / "x")


def test_use_is_bounded_where_it_is_folded() -> None:
    def use(number: int, value: float) -> Signal:
        return Signal(id=identity(number), at="2026-11-20T10:00:00+00:00", target="t", kind=SignalKind.USE, value=value)

    found = fold([use(n, value) for n, value in enumerate((1e20, 1e308, math.inf, math.nan, -5, -1e308, 2))], start=0.5)
    assert found.access_count == 2 * MOST_USES + 2


def test_no_door_writes_a_line_that_no_reader_takes(vault: Vault) -> None:
    known = vault.remember("Keepalive was off.").id
    refs = ["test:" + "x" * 2**20]
    with fails(UsageError, "too long"):
        vault.update(known, utility={"target": 1, "confidence": 1, "rationale": "r", "evidence_refs": refs})
    with fails(UsageError, "too long"):
        vault.episode("A title", "x" * 2**17)
    with fails(UsageError, "session has more than"):
        vault.as_(session="x" * 2**17)
    assert vault.doctor().problems == ()
