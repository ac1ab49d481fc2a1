"""What is over soon and what is to be looked at: nearest first, by every door."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.typed import vt
from tests.web.conftest import serving_pages
from vault_tool import Vault
from vault_tool.errors import UsageError
from vault_tool.mcp.answering import answer
from vault_tool.mcp.tools import Caller
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def vault(tmp_path: Path, clock: FixedClock) -> Vault:
    Vault.init(tmp_path / "v", no_git=True, clock=clock)
    return Vault.open(tmp_path / "v", person=True, clock=clock)


def _rows(vault: Vault, within: str = "14d") -> list[tuple[str, str, int]]:
    return [(one.title, one.field, one.days) for one in vault.upcoming(within).results]


def _moved(path: Path) -> None:
    path.write_text(path.read_text().replace("the mat", "the pot"))


def _fill(vault: Vault) -> None:
    vault.remember("The offer ends.", expires="2026-12-05")
    vault.remember("The lease holds.", until="2026-11-30")
    vault.remember("The key is under the mat.", review_by="2026-11-28")
    vault.remember("Paint the shed.", kind="ongoing_task", expires="2026-11-26")
    vault.remember("The visa is valid.", expires="2027-06-01")
    vault.remember("The lamp is old.")


def test_the_nearest_comes_first_and_what_is_far_is_left_out(vault: Vault) -> None:
    _fill(vault)
    near = [("Paint the shed", "expires", 1), ("The key is under the mat", "review_by", 3), ("The lease holds", "until", 5)]
    assert _rows(vault, "1w") == near
    assert _rows(vault) == [*near, ("The offer ends", "expires", 10)]
    assert _rows(vault, "1y")[-1] == ("The visa is valid", "expires", 188)


def test_a_look_that_was_missed_stays_until_one_looks_and_what_is_over_goes(vault: Vault, clock: FixedClock) -> None:
    _fill(vault)
    clock.advance(timedelta(days=5, hours=13))
    assert _rows(vault, "1w") == [("The key is under the mat", "review_by", -3), ("The offer ends", "expires", 4)]
    over = {one.title for one in vault.list(status="expired").results}
    assert over == {"Paint the shed", "The lease holds"}
    key = vault.upcoming("1d").results[0]
    assert [mark.why for mark in key.marks if mark.mark == "review_due"] == ["nobody looked since 2026-11-25"]
    vault.edit(key.id, _moved)
    assert _rows(vault, "1d") == []


def test_what_is_overtaken_or_about_another_user_is_not_told(vault: Vault, clock: FixedClock) -> None:
    old = vault.remember("The lease holds.", until="2026-11-30").id
    clock.advance(timedelta(minutes=1))
    vault.remember("The lease was ended.", kind="change", change_targets=[old])
    vault.as_(user="ann").remember("Ann is away.", expires="2026-11-28")
    assert [title for title, _, _ in _rows(vault)] == ["Ann is away"]
    assert vault.upcoming(user="bob").total == 0
    assert vault.upcoming(user="ann").total == 1


def test_orient_names_the_nearest_in_one_line(vault: Vault) -> None:
    assert vault.orient().upcoming is None
    _fill(vault)
    line = vault.orient().upcoming
    assert line is not None
    assert line.endswith("Paint the shed: expires 2026-11-26, and 3 more dates within 14 days")
    assert "comes next" in vt("--vault", str(vault.root), "orient").stdout


def test_every_door_lists_them(vault: Vault) -> None:
    made = vault.remember("The lease holds.", until="2999-11-30").id
    looked = vault.remember("The key is under the mat.", review_by="2026-11-25").id
    told = json.loads(vt("--vault", str(vault.root), "upcoming", "--json").stdout)
    assert [(one["id"], one["field"]) for one in told["results"]] == [(looked, "review_by")]
    printed = vt("--vault", str(vault.root), "upcoming", "--within", "99y").stdout
    assert "2026-11-25" in printed and "to be looked at" in printed and made[:6] not in printed
    by_tool = answer(vault, "upcoming", {"within": "1d"}, Caller())
    assert [(one["id"], one["review_by"][:10]) for one in by_tool["results"]] == [(looked[:6], "2026-11-25")]


@pytest.mark.parametrize("span", ["", "soon", "14", "-1d", "0d", "9999y", "2026-12-01"])
def test_what_is_no_span_is_refused(vault: Vault, span: str) -> None:
    with pytest.raises(UsageError, match="is no span of time"):
        vault.upcoming(span)
    assert vt("--vault", str(vault.root), "upcoming", "--within", span).returncode == 2


def test_the_first_page_names_them(vault: Vault) -> None:
    made = vault.remember("The key is <b>under</b> the mat.", review_by="2026-11-25").id
    with serving_pages(vault.root) as served:
        page = served.get("/")
    assert f'<a href="/memory/{made}">The key is &lt;b&gt;under&lt;/b&gt; the mat: to be looked at by 2026-11-25</a>' in page


def test_a_day_is_told_as_the_day_that_was_typed(vault: Vault) -> None:
    for until, told in (("2026-11-30", "2026-11-30"), ("2026-11-30T12:00:00+02:00", "2026-11-30T10:00:00+00:00")):
        made = vault.remember(f"The lease holds to {told}.", until=until)
        assert f"until:  {told}\n" in vt("get", made.id, cwd=vault.root).stdout
