"""What was known at a time: what a clone that stands at the last commit before it answers, with what may be seen of it now."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.typed import vt
from tests.git_repos import git
from vault_tool import Vault
from vault_tool.errors import NotFound, UsageError
from vault_tool.mcp.answering import answer
from vault_tool.mcp.tools import Caller
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.in_git

NOON = datetime(2026, 1, 10, 12, tzinfo=UTC)
DAY = timedelta(days=1)
THINGS = ("quartz", "kiln", "loom", "forge", "cistern", "mill", "press", "crane", "lathe", "pump")
PLACES = ("harbour", "attic", "cellar", "yard", "tower")


@dataclass
class Made:
    """A vault with a past: its clock, the ids of what was written, and the times at which it was asked for."""

    root: Path
    clock: FixedClock
    ids: dict[str, str]

    def opened(self, **more: Any) -> Vault:
        return Vault.open(self.root, person=True, clock=self.clock, **more)


def _dated(clock: FixedClock) -> None:
    """Have git date its commits as the clock says."""
    os.environ["GIT_AUTHOR_DATE"] = os.environ["GIT_COMMITTER_DATE"] = f"@{int(clock.now().timestamp())} +0000"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    root, clock = tmp_path_factory.mktemp("then") / "v", FixedClock(NOON)
    before = {name: os.environ.get(name) for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE")}
    _dated(clock)
    Vault.init(root, name="lab", clock=clock)
    made = Made(root, clock, {})
    for number, thing in enumerate(THINGS):
        clock.advance(DAY)
        _dated(clock)
        with made.opened() as vault:
            place = PLACES[number % len(PLACES)]
            made.ids[thing] = vault.remember(f"The {thing} stands in the {place}.", [thing.title()], kind="fact").id
            if number % 3 == 0:
                vault.mark_useful(made.ids[thing], "it was found there")
            if number % 4 == 0:
                made.ids[f"{thing} understood"] = vault.create_understanding(
                    [thing.title()], f"All about the {thing}: it is in the {place}.", f"The {thing}, in the {place}."
                ).id
    made.ids["then"] = clock.now().isoformat()
    clock.advance(DAY)
    _dated(clock)
    with made.opened() as vault:
        vault.remember("The quartz was moved to the shed.", ["Quartz"], kind="change", change_targets=[made.ids["quartz"]])
        vault.remember("The zeppelin hangs in the hall.", ["Zeppelin"], kind="fact")
        vault.mark_questionable(made.ids["kiln"], "Nobody saw it.")
        vault.update_understanding(made.ids["quartz understood"], "All is otherwise.", "The quartz, in the shed.")
    yield made
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})


def _questions() -> Iterator[str]:
    for thing in THINGS:
        yield f"where does the {thing} stand?"
        yield thing.title()
        yield f"all about the {thing}"
    for place in PLACES:
        yield f"what is in the {place}?"
        yield f"{place} stands"
    yield from (
        "zeppelin",
        "where does the zeppelin hang?",
        "what was moved to the shed?",
        "shed",
        "what was found there?",
        "hall",
    )
    yield from ("which things are in the harbour and the attic?", "nothing of this kind", "mill pump crane", "fact")


def _plain(result: Any) -> Any:
    """An answer's values but for when it was made, and as of when it is."""
    from vault_tool.cli.output import to_json

    values = json.loads(to_json(result))
    values.pop("freshness", None)
    values.pop("past", None)
    return values


def test_fifty_questions_are_answered_as_a_clone_at_that_commit_answers(made: Made, tmp_path: Path) -> None:
    then = datetime.fromisoformat(made.ids["then"])
    commit = git(made.root, "rev-list", "-1", f"--min-age={int(then.timestamp())}", "HEAD")
    git(tmp_path, "clone", "--quiet", str(made.root), "clone")
    git(tmp_path / "clone", "checkout", "--quiet", commit)
    (tmp_path / "clone" / "_config.json").write_text('{"provider": "none"}')
    questions = list(_questions())
    assert len(questions) >= 50
    with made.opened() as vault, Vault.open(tmp_path / "clone", person=True, clock=FixedClock(then)) as clone:
        for question in questions:
            past = vault.recall(question, as_of=made.ids["then"])
            assert past.past == f"as of {made.ids['then'][:19]}+00:00 (commit {commit[:7]})"  # type: ignore[union-attr]
            assert _plain(past) == _plain(clone.recall(question, count=False)), question
            assert _plain(vault.search(question, as_of=made.ids["then"])) == _plain(clone.search(question)), question
        for identity in made.ids.values():
            if identity != made.ids["then"]:
                assert _plain(vault.get(identity, as_of=made.ids["then"])) == _plain(clone.show(identity))
        assert _plain(vault.get_subjects(as_of=made.ids["then"])) == _plain(clone.get_subjects())
        assert _plain(vault.get_understandings(["Quartz"], as_of=made.ids["then"])) == _plain(
            clone.get_understandings(["Quartz"])
        )
        assert _plain(vault.core(preview=True, as_of=made.ids["then"])) == _plain(clone.core(preview=True))
        assert _plain(vault.snapshot(as_of=made.ids["then"])) == _plain(clone.snapshot())


def test_no_later_knowledge_shows(made: Made) -> None:
    with made.opened() as vault:
        now, then = vault.get(made.ids["quartz"]), vault.get(made.ids["quartz"], as_of=made.ids["then"])
        assert (now.status, then.status) == ("overtaken", "current")
        assert vault.get(made.ids["kiln"], as_of=made.ids["then"]).status == "current"
        assert vault.search("zeppelin", as_of="2026-01-20").results == ()
        with pytest.raises(NotFound, match=r"as of 2026-01-12 \(commit"):
            vault.get(made.ids["forge"], as_of="2026-01-12")


def test_before_the_first_commit_nothing_was_known(made: Made) -> None:
    with made.opened() as vault:
        told = vault.search("quartz", as_of="2025-12-31")
        assert (told.results, told.past) == ((), "nothing was known before 2026-01-10")  # type: ignore[attr-defined]
        assert vault.recall("where is the quartz?", as_of="2020").results == ()  # type: ignore[union-attr]
        with pytest.raises(NotFound, match="nothing was known before 2026-01-10"):
            vault.get(made.ids["quartz"], as_of="2025-12-31")
    assert "nothing was known before 2026-01-10" in vt("--vault", str(made.root), "search", "quartz", "--as-of", "2025").stdout


@pytest.mark.parametrize("time", ["2199-01-01", "2199", "soon", "", "7x", "2026-02-30"])
def test_what_lies_ahead_or_is_no_time_is_refused(made: Made, time: str) -> None:
    with made.opened() as vault, pytest.raises(UsageError):
        vault.search("quartz", as_of=time)
    done = vt("--vault", str(made.root), "recall", "quartz", "--as-of", time)
    assert (done.returncode, done.stdout) == (2, "") and f"`{time}`" in done.stderr


def test_a_day_or_month_that_has_begun_is_asked_of_as_far_as_it_went(made: Made) -> None:
    with made.opened() as vault:
        for text in ("2026-01-21", "2026-01", "2026", "today", "this week"):
            assert [one.title for one in vault.search("zeppelin", as_of=text, kinds=["fact"]).results] == [
                "The zeppelin hangs in the hall"
            ]


def test_one_user_sees_no_others_past(made: Made) -> None:
    with made.opened(user="bob") as vault:
        assert vault.search("quartz", as_of="2026-01-20").results
    _dated(made.clock)
    with Vault.open(made.root, user="ann", clock=made.clock) as vault:
        vault.remember("Ann polishes the quartz.", ["Quartz"], kind="fact")
    later = FixedClock(made.clock.now() + DAY)
    with Vault.open(made.root, user="bob", clock=later) as vault:
        told = json.dumps(
            [_plain(vault.search("polishes", as_of="2026-01-21")), _plain(vault.recall("quartz", as_of="2026-01-21"))]
        )
        assert "polishes the" not in told
    with Vault.open(made.root, user="ann", clock=later) as vault:
        assert [one.title for one in vault.search("polishes", as_of="2026-01-21").results] == ["Ann polishes the quartz"]


def test_without_git_and_beyond_a_shallow_clone_it_is_refused(made: Made, tmp_path: Path) -> None:
    Vault.init(tmp_path / "bare", no_git=True, clock=made.clock)
    with Vault.open(tmp_path / "bare", clock=made.clock) as vault, pytest.raises(UsageError, match="git"):
        vault.search("quartz", as_of="2026-01-15")
    git(tmp_path, "clone", "--quiet", "--depth", "3", f"file://{made.root}", "shallow")
    with Vault.open(tmp_path / "shallow", clock=made.clock) as vault:
        with pytest.raises(UsageError, match="shallow: its history begins at 2026-01-21"):
            vault.search("quartz", as_of="2026-01-15")
        assert vault.search("zeppelin", as_of="2026-01-21").results


def test_every_door_says_as_of_when_it_is(made: Made) -> None:
    root = str(made.root)
    for command in (
        ["recall", "where does the quartz stand?"], ["search", "quartz"], ["get", made.ids["quartz"]], ["get-subjects"],
        ["get-understandings", "Quartz"], ["core", "--print"], ["snapshot"],
    ):  # fmt: skip
        printed = vt("--vault", root, *command, "--as-of", "2026-01-20").stdout
        assert "as of 2026-01-20 (commit " in printed and "shed" not in printed, command
        assert json.loads(vt("--vault", root, *command, "--as-of", "2026-01-20", "--json").stdout)["past"].startswith("as of"), (
            command
        )
    with made.opened() as vault:
        for tool, arguments in (
            ("recall", {"query": "where does the quartz stand?"}), ("search", {"query": "quartz"}),
            ("get", {"memory_id": made.ids["quartz"]}), ("get_subjects", {}),
            ("get_understandings", {"subject_names": ["Quartz"]}),
        ):  # fmt: skip
            given = answer(vault, tool, {**arguments, "as_of": "2026-01-20"}, Caller())
            assert given["past"].startswith("as of 2026-01-20 (commit "), tool
            assert "shed" not in json.dumps(given), tool
    assert vt("--vault", root, "core", "--as-of", "2026-01-20").returncode == 2
    for command in (["remember", "A text."], ["mark-useful", made.ids["mill"]], ["list"], ["undo"]):
        assert vt("--vault", root, *command, "--as-of", "2026-01-20").returncode == 2


def test_it_counts_no_use_and_keeps_three_states(made: Made) -> None:
    with made.opened() as vault:
        before = vault.show(made.ids["mill"]).access_count
        for day in range(12, 18):
            vault.recall("mill in the attic", as_of=f"2026-01-{day}")
        vault.get(made.ids["mill"], as_of="2026-01-20")
        assert vault.show(made.ids["mill"]).access_count == before
        assert vault.get(made.ids["mill"], as_of="2026-01-20").access_count == vault.get(
            made.ids["mill"], as_of="2026-01-20"
        ).access_count  # fmt: skip
    assert len([place for place in (made.root / "_cache" / "asof").iterdir() if not place.name.startswith(".")]) == 3
    assert git(made.root, "status", "--porcelain") == ""


def test_other_vaults_are_asked_as_of_now_alone(made: Made) -> None:
    with made.opened() as vault, pytest.raises(UsageError, match="as of now alone"):
        vault.recall("quartz", as_of="2026-01-20", vaults=["all"])


def test_what_was_forgotten_since_is_in_no_past(made: Made, tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    _dated(clock)
    root = tmp_path / "v"
    Vault.init(root, name="lab", clock=clock)
    (root / "_config.json").write_text('{"unattended": true}')
    with Vault.open(root, person=True, clock=clock) as vault:
        kept = vault.remember("The wolfram lamp is lit.", ["Lamp"], kind="fact").id
        gone = vault.remember("The password of the lamp is heliotrope seventeen.", ["Lamp"], kind="fact", title="Heliotrope").id
        vault.link(gone, "RELATED_TO", kept, "heliotrope lights it")
        vault.episode("Heliotrope seventeen was set", "The password of the lamp is heliotrope seventeen.", type="work")
        private = vault.as_(user="ann").remember("Ann sits under the lamp.", ["Lamp"], kind="fact").id
        clock.advance(3 * DAY)
        _dated(clock)
        assert len(vault.search("heliotrope", as_of="2026-01-11").results) >= 1
        clock.advance(DAY)
        _dated(clock)
        # It lay elsewhere then: what the forgetting takes out of files says nothing of that place.
        moved = root / vault.show(gone).path
        git(root, "mv", str(moved), str(moved.parent.parent / moved.name))
        vault.commit()
        vault.forget(gone)
        vault.consent(private, "withdrawn", reason="she asked")
        asof = root / "_cache" / "asof"
        assert not asof.is_dir() or not any(asof.iterdir())
        for question in ("heliotrope", "the password of the lamp", "lamp"):
            told = json.dumps(
                [_plain(vault.search(question, as_of="2026-01-11")), _plain(vault.recall(question, as_of="2026-01-11"))]
            )
            assert "seventeen" not in told and "Ann sits" not in told
        with pytest.raises(NotFound):
            vault.get(gone, as_of="2026-01-11")
    left = [path for path in asof.rglob("*") if path.is_file() and b"eliotrope" in path.read_bytes()]
    assert any(asof.iterdir()) and left == []
