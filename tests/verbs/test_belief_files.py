"""Belief is a fold over whatever journals there are: how signals are spread over files, and in what order, changes nothing."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.bounds import examples
from tests.verbs.looking import START, identity, note
from vault_tool import Vault
from vault_tool.belief.fold import BOUND, FLOOR, Belief
from vault_tool.files.signal_lines import signal_line
from vault_tool.model.signals import Signal, SignalKind
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git

TARGETS = [identity(1), identity(2)]
PROBLEM = identity(3)
CLOSE = 1e-9

_ats = st.builds(lambda d, h: f"2026-11-{d:02d}T{h:02d}:00:00+00:00", st.integers(17, 19), st.integers(0, 23)) | st.builds(
    lambda d: f"2026-10-{d:02d}T12:00:00+00:00", st.integers(1, 4)
)
_signals = st.builds(
    Signal,
    id=st.uuids().map(str),
    at=_ats,
    target=st.sampled_from(TARGETS),
    kind=st.sampled_from(SignalKind),
    value=st.floats(0, 1),
    confidence=st.none() | st.floats(0, 1),
    evidence=st.sampled_from([(), ("test:one",)]),
    problem=st.sampled_from(["", PROBLEM]),
    session=st.sampled_from(["", "s", "t", "u"]),
    model=st.sampled_from(["opus", "haiku"]),
    origin=st.sampled_from(["owner", "agent", "import"]),
)


@pytest.fixture(scope="module")
def base(founded: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault with an agent's memory, an owner's, and a problem; its indexes are built."""
    root = tmp_path_factory.mktemp("folded") / "notes"
    shutil.copytree(founded, root)
    folder = root / "vault/observations"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "one.md").write_text(note(1, "An agent's.", origin="agent", confidence="0.7"))
    (folder / "two.md").write_text(note(2, "An owner's.", origin="owner", confidence="0.9"))
    (folder / "three.md").write_text(note(3, "A problem.").replace("type: fact", "type: problem"))
    return root


@contextmanager
def with_journals(base: Path, files: dict[str, Sequence[Signal]]) -> Iterator[Vault]:
    """The vault with exactly these journals."""
    folder = base / "vault/signals"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, signals in files.items():
        (folder / name).write_text("".join(f"{signal_line(one)}\n" for one in signals), encoding="utf-8")
    with Vault.open(base, clock=FixedClock(START)) as vault:
        yield vault


def beliefs(vault: Vault) -> list[Belief]:
    shown = [vault.show(target, belief=True).belief for target in TARGETS]
    return [one for one in shown if one is not None]


def split(signals: Sequence[Signal], chooser: random.Random, writers: int) -> dict[str, Sequence[Signal]]:
    """The signals over the journals of several writers, shuffled, some of them in two."""
    files: dict[str, list[Signal]] = {}
    for one in chooser.sample(signals, len(signals)):
        for writer in chooser.sample(range(writers), chooser.choice([1, 1, min(2, writers)])):
            files.setdefault(f"{one.at[:7]}.w{writer}.jsonl", []).append(one)
    return dict(files)


@settings(
    max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(_signals, max_size=25, unique_by=lambda one: one.id), st.integers(0, 2**32), st.integers(1, 4))
def test_any_split_over_files_and_any_order_gives_the_same(base: Path, signals: list[Signal], seed: int, writers: int) -> None:
    with with_journals(base, {"2026-11.w0.jsonl": sorted(signals, key=lambda one: (one.at, one.id))}) as vault:
        expected = beliefs(vault)
    with with_journals(base, split(signals, random.Random(seed), writers)) as vault:
        assert beliefs(vault) == expected
    for belief, start in zip(expected, (0.7, 0.9), strict=True):
        assert all(0 <= value <= 1 for value in (belief.truth, belief.utility, *belief.by_problem.values()))
        keys = {(one.session or one.author, one.author, one.at[:10]) for one in signals}
        assert abs(belief.truth - start) <= BOUND * len(keys) + CLOSE


@settings(
    max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(_signals, min_size=1, max_size=20, unique_by=lambda one: one.id), st.data())
def test_journals_that_arrive_one_by_one_end_the_same(base: Path, signals: list[Signal], data: st.DataObject) -> None:
    """As pulls bring them: the running vault takes each in, and what it believes is what a new one would."""
    files = split(signals, random.Random(1), 3)
    with with_journals(base, files) as vault:
        expected = beliefs(vault)
    with with_journals(base, {}) as vault:
        for name in data.draw(st.permutations(sorted(files))):
            lines = "".join(f"{signal_line(one)}\n" for one in files[name])
            (base / "vault/signals" / name).write_text(lines, encoding="utf-8")
            beliefs(vault)
        assert beliefs(vault) == expected


def _attack(sessions: Iterable[int]) -> list[Signal]:
    def line(number: int, kind: SignalKind, **more: Any) -> Signal:
        return Signal(
            id=identity(1000 + number), at=f"2026-11-19T{number % 24:02d}:00:00+00:00", target=TARGETS[1], kind=kind, value=0.0,
            confidence=1.0, evidence=("session:made_up",), session=f"invented-{number}", model=f"m{number}", origin="agent",
            **more,
        )  # fmt: skip

    kinds = (SignalKind.TRUTH, SignalKind.UTILITY, SignalKind.QUESTIONABLE)
    return [line(number * 3 + place, kind) for number in sessions for place, kind in enumerate(kinds)]


def test_five_invented_sessions_cannot_hide_what_an_owner_wrote(base: Path) -> None:
    with with_journals(base, split(_attack(range(5)), random.Random(5), 3)) as vault:
        shown = vault.show(TARGETS[1], belief=True)
        assert shown.truth == pytest.approx(FLOOR)
        assert shown.utility >= FLOOR - CLOSE
        assert shown.belief is not None
        assert not shown.belief.set_aside
        assert TARGETS[1] in {one.memory_id for one in vault.read("An owner's").results}
        assert TARGETS[1] in {one.id for one in vault.snapshot().memories}
        assert "An owner's" in vault.core(preview=True).text


def test_a_repeated_id_counts_once_and_a_bad_line_hides_no_other(base: Path) -> None:
    [good, *_] = _attack(range(1))
    with with_journals(base, {"2026-11.a.jsonl": [good, good], "2026-11.b.jsonl": [good]}) as vault:
        once = beliefs(vault)[1]
    lines = f"nonsense\n{signal_line(good)}\n{json.dumps({'id': 'x'})}\n"
    with with_journals(base, {}) as vault:
        (base / "vault/signals/2026-11.c.jsonl").write_text(lines)
        assert beliefs(vault)[1] == once
        assert sum("signal" in problem.code for problem in vault.doctor().problems) == 2
