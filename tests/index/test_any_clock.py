"""The moment at which a note is taken in decides nothing: any order and any clock give one page, that of a rebuild."""

from __future__ import annotations

import random
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.git_repos import commit_all, make_repo
from vault_tool import Vault
from vault_tool.util.clock import FixedClock, stamp

NOW = datetime(2026, 11, 20, 11, tzinfo=UTC)
HOURS = (-400, -30, -20, -3, 0, 2, 9, 14, 23, 25, 30, 47, 60, 200, 9000)
"""How far from NOW the clock may be, and the times that notes say."""


def opened(root: Path, hours: float) -> Vault:
    return Vault.open(root, environ={}, person=True, clock=FixedClock(NOW + timedelta(hours=hours)))


def state(root: Path, hours: float) -> dict[str, Any]:
    """All that is believed of a vault's files, and its page."""
    with opened(root, hours) as vault:
        vault.fresh()
        catalog = vault.index.catalog
        return {
            "page": vault.core(preview=True).text,
            "heads": {entry.path: dict(entry.head) for entry in catalog.snapshot().entries},
            "judgements": [(signal.id, signal.at) for signal in catalog.signals()],
            "problems": sorted((problem.path, problem.code, problem.message) for problem in catalog.problems()),
            "listed": [line.id for line in vault.list_observations("Kiln").results],
        }


def rebuilt(root: Path, hours: float) -> dict[str, Any]:
    shutil.rmtree(root / "_cache")
    return state(root, hours)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault whose notes and judgements were written by clocks that jump, in no repository."""
    root = Path(Vault.init(tmp_path_factory.mktemp("any") / "notes", no_git=True, clock=FixedClock(NOW)).root)
    ids = []
    for number, hours in enumerate(HOURS):
        with opened(root, hours) as vault:
            observed = stamp(NOW + timedelta(hours=HOURS[-number])) if number % 3 == 1 else None
            text = f"The kiln of room {number} needs {number + 3} hours to cool."
            ids.append(vault.remember(text, ["Kiln"], observed_at=observed).id)
            if number % 4 == 3:
                vault.mark_useful(ids[0], "It was right.")
            if number == 9:
                vault.create_understanding("Kiln", "Kilns cool slowly.", "Kilns cool slowly.", source_observation_ids=ids[:3])
    shutil.rmtree(root / "_cache")
    return root


@pytest.mark.parametrize("seed", range(8))
def test_any_order_of_taking_in_by_any_clock_is_one_page(written: Path, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    root = tmp_path / "notes"
    files = [path.relative_to(written) for path in sorted(written.rglob("*")) if path.is_file()]
    settings = [path for path in files if path.name in ("vault.toml", "_config.json", ".gitignore")]
    others = [path for path in files if path.parts[0] == "vault"]
    chance.shuffle(others)
    for at, path in enumerate([*settings, *others]):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(written / path, root / path)
        if at >= len(settings) and at % 5 == 0:
            with opened(root, chance.choice(HOURS)) as vault:
                vault.fresh()
    for hours in chance.sample(HOURS, 5):
        shutil.copytree(root, whole := tmp_path / f"whole{hours}", symlinks=True)
        assert state(root, hours) == rebuilt(whole, hours)


@pytest.mark.parametrize("seed", range(3))
def test_with_commits_in_between_too(written: Path, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    root = make_repo(tmp_path / "notes")
    for name in ("vault.toml", ".gitignore"):
        shutil.copy(written / name, root)
    commit_all(root, "settings")
    notes = [path.relative_to(written) for path in sorted((written / "vault").rglob("*")) if path.is_file()]
    chance.shuffle(notes)
    for at, path in enumerate(notes):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(written / path, root / path)
        with opened(root, chance.choice(HOURS)) as vault:
            vault.fresh()
        if at % 7 == 2:
            commit_all(root, f"{at}")
    for hours in chance.sample(HOURS, 4):
        with opened(root, hours) as vault:
            vault.fresh()
        before = state(root, hours)
        assert before == rebuilt(root, hours)


def test_orders_of_writing_by_a_clock_that_jumps_back_within_a_day_give_one_page(tmp_path: Path) -> None:
    texts = [(f"The kiln of room {number} needs {number + 3} hours.", -20 + 3 * number) for number in range(12)]
    pages = set()
    for order in range(6):
        chance = random.Random(order)
        root = Path(Vault.init(tmp_path / f"{order}", no_git=True, clock=FixedClock(NOW - timedelta(days=30))).root)
        for text, hours in chance.sample(texts, len(texts)):
            with opened(root, chance.uniform(-12, 12)) as vault:
                vault.remember(text, ["Kiln"], observed_at=stamp(NOW + timedelta(hours=hours)))
        pages.add(re.sub(r"- [0-9a-f]{6,} ", "- ", state(root, 30)["page"]))
    assert len(pages) == 1


def test_a_look_by_the_same_clock_writes_nothing(written: Path, tmp_path: Path) -> None:
    root = tmp_path / "notes"
    shutil.copytree(written, root)
    for hours in (0, 30, -20):
        with opened(root, hours) as vault:
            vault.fresh()
            before = vault.index.catalog.meta("seq"), vault.index.catalog.meta("changes")
        with opened(root, hours + 0.5) as vault:
            vault.fresh()
            assert (vault.index.catalog.meta("seq"), vault.index.catalog.meta("changes")) == before


@pytest.mark.without_git
def test_a_judgement_dated_ahead_follows_the_line_before_it_on_every_day(tmp_path: Path) -> None:
    root = Path(Vault.init(tmp_path / "notes", no_git=True, clock=FixedClock(NOW)).root)
    with opened(root, 0) as vault:
        memory = vault.remember("The kiln cools in nine hours.", ["Kiln"]).id
        vault.mark_questionable(memory, "It took ten.")
    with opened(root, 200) as vault:  # a clock eight days ahead, for one judgement
        vault.mark_useful(memory, "It was nine.")
    with opened(root, 1) as vault:
        assert not vault.show(memory).status_why
        vault.mark_questionable(memory, "It took eleven.")
    for hours in (2, 26, 50, 26):
        with opened(root, hours) as vault:
            assert vault.show(memory).status_why == "It took eleven."
        assert state(root, hours) == rebuilt(root, hours)


@pytest.mark.without_git
def test_what_was_observed_in_a_time_to_come_keeps_the_order_of_writing(tmp_path: Path) -> None:
    root = Path(Vault.init(tmp_path / "notes", no_git=True, clock=FixedClock(NOW)).root)
    ids: list[str] = []
    for hours in range(8):
        with opened(root, hours / 4) as vault:
            text = f"The kiln of room {hours} needs {hours + 3} hours to cool."
            ids.insert(0, vault.remember(text, ["Kiln"], observed_at=stamp(NOW + timedelta(days=100 - hours))).id)
    assert state(root, 3)["listed"] == rebuilt(root, 3)["listed"] == ids
