"""What happened, by day and by session."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from vault_tool import Vault
from vault_tool.errors import UsageError
from vault_tool.util.clock import Clock

pytestmark = pytest.mark.without_git

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


class _At(Clock):
    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def now(self) -> datetime:
        return self.moment


@pytest.fixture
def root(tmp_path: Path) -> Path:
    Vault.init(tmp_path / "lab", name="Lab", no_git=True)
    return tmp_path / "lab"


def _at(root: Path, moment: datetime, session: str = "s1") -> Vault:
    return Vault.open(root, clock=_At(moment), session=session, origin="agent")


def test_days_and_sessions_say_what_was_written_shown_and_judged(root: Path) -> None:
    with _at(root, NOON) as vault:
        pump = vault.remember("The pump of the lab hums at night.")
        vault.remember("The valve of the lab leaks.")
    with _at(root, NOON.replace(day=21), "s2") as vault:
        vault.recall("pump")
        vault.mark_useful(pump.id, reason="it was the pump")
        found = vault.activity(days=30)
        days = {one.day: one for one in found.days}
        assert (days["2026-11-20"].written, days["2026-11-20"].judged) == (2, 0)
        assert (days["2026-11-21"].written, days["2026-11-21"].judged) == (0, 1)
        assert days["2026-11-20"].logged >= 2
        first, second = ({one.session: one for one in found.sessions}[name] for name in ("s1", "s2"))
        assert (first.written, first.judged) == (2, 0) and first.first.startswith("2026-11-20")
        assert (second.written, second.shown >= 1, second.judged) == (0, True, 1)
        assert [one.session for one in found.sessions] == ["s2", "s1"]
        assert "2026-11-20" not in {one.day for one in vault.activity(days=1).days}


def test_a_day_in_full(root: Path) -> None:
    with _at(root, NOON) as vault:
        pump = vault.remember("The pump of the lab hums at night.")
        vault.mark_questionable(pump.id, reason="nobody heard it")
        vault.episode("We listened at the pump")
        found = vault.activity("2026-11-20")
        assert [one.id for one in found.written] == [pump.id]
        assert [(one.id, one.mark, one.reason) for one in found.judged] == [(pump.id, "questionable", "nobody heard it")]
        assert "We listened at the pump" in [one.title for one in found.logged]
        nothing = vault.activity("2026-11-19")
        assert (nothing.written, nothing.judged, nothing.logged) == ((), (), ())


def test_bad_days_are_said(root: Path) -> None:
    with Vault.open(root) as vault:
        with pytest.raises(UsageError, match="no day"):
            vault.activity("yesterday")
        with pytest.raises(UsageError):
            vault.activity(days=0)
        with pytest.raises(UsageError, match="whole vault"):
            vault.as_(user="ada").activity()
