from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.bounds import examples
from tests.cli.typed import vt
from tests.git_repos import git, write
from tests.verbs.looking import START, assert_committed, fails, head, identity, in_commit, note, status, subjects, text, untouched
from vault_tool import Vault
from vault_tool.errors import NotFound, UsageError
from vault_tool.features.consolidation.consolidating import recent_activity
from vault_tool.features.consolidation.drafting import CUT, write_packet
from vault_tool.features.consolidation.packet_texts import next_packet, skip_packets
from vault_tool.model.types import RecordClass
from vault_tool.util.clock import FixedClock
from vault_tool.util.text import tokens

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""


def _told(vault: Vault) -> None:
    for number in range(4):
        vault.remember(f"Redis at home, part {number}.", ["Redis"], kind="fact")
    for number in range(3):
        vault.remember(f"The lab, part {number}.", ["Homelab"], kind="fact")
    vault.remember("About nothing.", kind="fact")


@pytest.fixture
def told(vault: Vault, once: Callable[[Callable[[Vault], Any]], Any]) -> Vault:
    """A vault with four observations about one subject, three about another, and one about nothing."""
    once(_told)
    return vault


def settle(vault: Vault, pass_id: str) -> int:
    """Write an understanding for every packet of a pass; returns how many were written."""
    written = 0
    while (packet := next_packet(vault, pass_id).packet) is not None and packet.subjects:
        sources = [one.id for one in packet.observations]
        said = f"What {packet.label} comes to."
        vault.create_understanding(packet.subjects, said, said, source_observation_ids=sources, pass_id=pass_id)
        written += 1
    return written


@pytest.mark.in_git
def test_a_new_vault_has_nothing_to_consolidate(vault: Vault, root: Path) -> None:
    with untouched(root):
        begun = vault.begin_consolidation()
    assert (begun.id, begun.began, begun.generation, begun.packets) == (None, False, 0, ())
    assert recent_activity(vault) is None
    assert vault.consolidate().pass_id is None


@pytest.mark.in_git
def test_a_pass_is_a_file_with_its_ledger_and_raises_the_generation(told: Vault, root: Path) -> None:
    begun = told.begin_consolidation()

    assert_committed(begun, root)
    assert subjects(root) == ["consolidate: pass 1"]
    assert in_commit(root)[begun.path] == "A"
    assert begun.began
    assert begun.generation == told.index.catalog.generation() == 1
    assert [(one.label, one.new_count, one.observation_count, one.trivial) for one in begun.packets] == [
        ("Redis", 4, 4, False), ("Homelab", 3, 3, False),
    ]  # fmt: skip
    assert len(begun.unplaced) == 1
    ledger = text(root, begun.path)
    assert "type: consolidation\ngeneration: 1\n" in ledger
    assert "Pass 1, begun 2026-11-20T10:00:00+00:00: 8 new, 2 packets." in ledger
    assert "| observations | 8 |  |" in ledger
    assert "- Homelab: 3 new of 3" in ledger
    assert told.remember("Later.", ["Redis"]).id
    [later] = [entry for entry in told.index.catalog.snapshot().entries if entry.title == "Later"]
    assert later.number("generation") == 1


@pytest.mark.in_git
def test_an_open_pass_is_taken_up_and_nothing_is_touched(told: Vault, root: Path) -> None:
    first = told.begin_consolidation()
    with untouched(root):
        again = told.begin_consolidation()
    assert (again.id, again.began, again.packets) == (first.id, False, first.packets)


@pytest.mark.in_git
def test_a_second_pass_with_nothing_new_touches_nothing(told: Vault, root: Path) -> None:
    begun = told.begin_consolidation()
    assert begun.id
    assert settle(told, begun.id) == 2
    with untouched(root):
        assert not told.begin_consolidation().began
    ended = told.end_consolidation(core=False)
    assert len(ended.written) == 2
    with untouched(root):
        again = told.begin_consolidation()
    assert (again.id, again.began) == (None, False)
    assert recent_activity(told) is None
    assert told.get_consolidation_report().counts["unlinked_observations"] == 1, "what is about nothing is cited by nothing"


@pytest.mark.in_git
def test_the_end_completes_the_ledger(told: Vault, root: Path, clock: FixedClock) -> None:
    for number in range(3):
        told.remember(f"The garden, part {number}.", ["Garden"], kind="fact")
    old = told.create_understanding(["Redis"], "Old.", "Old.")
    begun = told.begin_consolidation()
    assert begun.id
    packet = next_packet(told, packet="redis").packet
    assert packet is not None
    told.create_understanding(
        ["Redis"], "New.", "New.", pass_id=begun.id, source_observation_ids=[o.id for o in packet.observations]
    )
    skip_packets(told, packets=["homelab"])
    clock.advance(timedelta(hours=1))
    ended = told.end_consolidation(core=False)

    assert_committed(ended, root)
    assert subjects(root) == ["consolidate: pass 1 ended"]
    assert ended.superseded == (old.id,)
    assert (ended.skipped, ended.left) == (("Homelab",), ("Garden",))
    assert ended.before["active understandings"] == ended.after["active understandings"] == 4
    assert (ended.before["observations placed nowhere"], ended.after["observations placed nowhere"]) == (11, 7)
    ledger = text(root, begun.path)
    assert "Ended 2026-11-20T11:00:00+00:00: 1 written, 1 superseded." in ledger
    assert "| observations placed nowhere | 11 | 7 |" in ledger
    with fails(NotFound, "no pass of consolidation is open"):
        told.end_consolidation()


def test_what_an_early_end_left_stays_new(told: Vault) -> None:
    begun = told.begin_consolidation()
    assert begun.id
    told.end_consolidation(core=False)
    assert [one.label for one in told.begin_consolidation().packets] == [one.label for one in begun.packets]


def test_what_came_meanwhile_begins_another_pass_that_takes_over_what_was_left(told: Vault, root: Path) -> None:
    first = told.begin_consolidation()
    assert first.id
    packet = next_packet(told).packet
    assert packet is not None and packet.label == "Redis"
    told.create_understanding(["Redis"], "R.", "R.", pass_id=first.id, source_observation_ids=[o.id for o in packet.observations])
    told.remember("Another one about Redis.", ["Redis"], kind="fact")
    assert not told.begin_consolidation().began, "one is too little"
    told.remember("And one more.", ["Redis"], kind="fact")
    second = told.begin_consolidation()

    assert (second.began, second.generation) == (True, 2)
    assert [(one.label, one.new_count) for one in second.packets] == [("Homelab", 3), ("Redis", 2)]
    assert "## Left\n\n- Homelab\n" in text(root, first.path)
    [entry] = told.index.catalog.get(str(second.id))
    assert entry.texts("parents") == (first.id,)


def test_only_subjects_with_something_new_are_touched(told: Vault) -> None:
    for number in range(3):
        told.remember(f"Of gardens, part {number}.", ["Garden"], kind="fact")
    begun = told.begin_consolidation()
    assert begun.id
    settle(told, begun.id)
    told.end_consolidation(core=False)
    told.remember("Of gardens again.", ["Garden"], kind="fact")
    assert told.get_pending_consolidation().subjects == (), "one is too little"
    told.remember("Of gardens once more.", ["Garden"], kind="fact")
    pending = told.get_pending_consolidation()
    assert [one.label for one in pending.subjects] == ["Garden"]
    assert pending.intersections == ()
    activity = recent_activity(told)
    assert activity is not None
    assert activity.since == "2026-11-20T10:00:00+00:00"
    assert activity.subjects_with_new_observations == ("Garden",)


def test_what_is_new_is_the_same_by_the_thousand_and_by_ones(told: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    told.remember("Of gardens.", ["Garden"], kind="fact")
    told.create_understanding(["Homelab", "Redis"], "Written by itself.", "By itself.")

    def asked() -> tuple[object, ...]:
        pending, report = told.get_pending_consolidation(), told.get_consolidation_report()
        return recent_activity(told), pending, report, told.orient().recent_activity

    whole = asked()
    monkeypatch.setattr("vault_tool.index.timeline._BATCH", 1)
    assert asked() == whole
    monkeypatch.undo()
    assert told.begin_consolidation().new_count == 10


def test_an_understanding_of_a_pass_is_not_new_and_one_beside_it_is(told: Vault) -> None:
    begun = told.begin_consolidation()
    assert begun.id
    settle(told, begun.id)
    told.end_consolidation(core=False)
    told.create_understanding(["Homelab", "Redis"], "Written by itself.", "By itself.")
    assert told.get_pending_consolidation().due_packets == 0, "no packet is made of understandings"
    activity = recent_activity(told)
    assert activity is not None
    assert activity.subjects_with_new_understandings == ("Homelab", "Redis")


@pytest.mark.in_git
def test_what_arrives_too_late_for_a_pass_is_new_to_the_next(told: Vault, root: Path) -> None:
    begun = told.begin_consolidation()
    assert begun.id
    settle(told, begun.id)
    told.end_consolidation(core=False)
    for number in range(2):
        late = {"generation": "0", "created": "2026-11-19T10:00:00+00:00"}
        write(root, f"vault/late{number}.md", note(1 + number, f"From machine {number}.", subjects="[Redis]", **late))
        write(root, f"vault/undated{number}.md", note(3 + number, f"By hand, dateless, {number}.", subjects="[Homelab]"))
    assert [(one.label, one.new_count) for one in told.get_pending_consolidation().subjects] == [("Redis", 2), ("Homelab", 2)]
    second = told.begin_consolidation()
    assert second.id
    settle(told, second.id)
    told.end_consolidation(core=False)
    with untouched(root):
        assert not told.begin_consolidation().began


def test_of_a_pass_that_lists_nothing_the_time_tells_what_is_new(told: Vault, root: Path) -> None:
    """A ledger of another hand does not name what was new, and notes of another hand say no generation."""
    begun = told.begin_consolidation()
    assert begun.id and begun.path
    settle(told, begun.id)
    told.end_consolidation(core=False)
    ledger = root / begun.path
    ledger.write_text(re.sub(r"## New\n\n(?:[-`].*\n)+", "", ledger.read_text()))
    for number in range(2):
        before, after = {"created": "2026-11-20T09:59:00+00:00"}, {"created": "2026-11-20T10:01:00+00:00"}
        write(root, f"vault/before{number}.md", note(1 + number, f"By hand, before {number}.", subjects="[Redis]", **before))
        write(root, f"vault/after{number}.md", note(3 + number, f"By hand, after {number}.", subjects="[Homelab]", **after))
    assert [(one.label, one.new_count) for one in told.get_pending_consolidation().subjects] == [("Homelab", 2)]


@pytest.mark.in_git
def test_two_machines_consolidate_at_once(told: Vault, root: Path, tmp_path: Path, clock: FixedClock) -> None:
    """Both passes stay, the generation counts the chain and not the files, and the next pass has both as parents."""
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(root), str(other))
    for key, value in (("user.name", "B"), ("user.email", "b@example.org")):
        git(other, "config", key, value)
    first = told.begin_consolidation()
    assert first.id
    settle(told, first.id)
    told.end_consolidation(core=False)
    with Vault.open(other, clock=clock) as there:
        there.remember("Seen elsewhere.", ["Redis"], kind="fact")
        there.remember("Seen there again.", ["Redis"], kind="fact")
        second = there.begin_consolidation()
        assert second.id
        there.end_consolidation(core=False)
    git(root, "pull", "-q", "--no-rebase", "--no-edit", str(other), "HEAD")
    told.remember("After the merge.", ["Homelab"], kind="fact")
    third = told.begin_consolidation()
    [entry] = told.index.catalog.get(str(third.id))
    assert set(entry.texts("parents")) == {first.id, second.id}
    assert third.generation == 2
    assert {one.label: one.new_count for one in third.packets}["Redis"] == 2, "what only the other machine knew"


def test_a_packet_is_bounded_and_shows_what_is_new_first(told: Vault) -> None:
    begun = told.begin_consolidation()
    assert begun.id
    settle(told, begun.id)
    told.end_consolidation(core=False)
    for number in range(20):
        told.remember(f"Word {number}. " + "long " * 60, ["Redis"], kind="fact")
    told.begin_consolidation()
    step = next_packet(told, tokens=600)
    packet = step.packet
    assert packet is not None
    # What is sent is counted, ids, dates and names too.
    assert packet.tokens == tokens(orjson.dumps(packet.lean(lambda identity: identity[:6])).decode()) <= 600
    assert packet.current is not None and packet.current.summary == "What Redis comes to."
    assert packet.left_out + len(packet.observations) == packet.observation_count == 24
    assert all(one.new for one in packet.observations)
    whole = next_packet(told, tokens=20_000).packet
    assert whole is not None and whole.left_out == 0
    assert [one.new for one in whole.observations] == [True] * 20 + [False] * 4
    with fails(UsageError, "holds nothing"):
        next_packet(told, tokens=10)


def test_a_pair_shows_both_sides(told: Vault) -> None:
    known = [told.remember(f"Redis in the lab, part {number}.", ["Redis", "Homelab"], kind="fact").id for number in range(3)]
    entries = told.index.catalog.of_class(RecordClass.OBSERVATION)
    for name in ("Redis", "Homelab"):
        own = [entry.id for entry in entries if name in entry.subjects]
        told.create_understanding([name], f"{name} whole.", f"{name} short.", source_observation_ids=own)
    packet = told.consolidate().packet
    assert packet is not None
    assert (packet.type, packet.label, {one.id for one in packet.observations}) == (
        "relationship", "Homelab × Redis", set(known),
    )  # fmt: skip
    assert [one.summary for one in packet.sides] == ["Homelab short.", "Redis short."]


def test_a_pair_that_shares_too_little_is_no_packet(told: Vault) -> None:
    for number in range(2):
        told.remember(f"Redis in the lab, part {number}.", ["Redis", "Homelab"], kind="fact")
    entries = told.index.catalog.of_class(RecordClass.OBSERVATION)
    for name in ("Redis", "Homelab"):
        own = [entry.id for entry in entries if name in entry.subjects]
        told.create_understanding([name], f"{name} whole.", f"{name} short.", source_observation_ids=own)
    assert told.get_pending_consolidation().intersections == ()
    told.remember("Redis in the lab, part 2.", ["Redis", "Homelab"], kind="fact")
    assert [one.label for one in told.get_pending_consolidation().intersections] == ["Homelab × Redis"]


def test_the_last_packet_is_the_orientation(told: Vault) -> None:
    begun = told.begin_consolidation()
    settle(told, str(begun.id))
    packet = next_packet(told).packet
    assert packet is not None
    assert (packet.type, packet.label, packet.new_count) == ("orientation", "orientation", 2)
    assert packet.current is not None
    told.update_understanding(packet.current.id, "We are here.", "Here.", pass_id=str(begun.id))
    assert next_packet(told).packet is None


@pytest.mark.in_git
def test_skipping_is_remembered_by_this_machine(told: Vault, root: Path) -> None:
    told.begin_consolidation()
    with untouched(root):
        skip_packets(told, packets=["redis", "orientation"])
    with told.reopened() as again:
        step = next_packet(again)
        assert (step.remaining, [one.label for one in step.packets]) == (1, ["Homelab"])
        assert step.packet is not None and step.packet.label == "Homelab"
        with fails(NotFound, "no packet `Nothing`", "--list"):
            skip_packets(again, packets=["Nothing"])


@pytest.mark.in_git
def test_the_end_refreshes_core(told: Vault, root: Path) -> None:
    told.begin_consolidation()
    told.end_consolidation()
    assert subjects(root)[0] == "core: CORE.md"
    assert not status(root)


def test_a_person_writes_a_packet_in_the_editor(told: Vault, root: Path) -> None:
    begun = told.begin_consolidation()
    step = next_packet(told)
    assert step.packet is not None
    shown: list[str] = []

    def editor(path: Path) -> None:
        shown.append(path.read_text(encoding="utf-8"))
        path.write_text(f"Summary: Redis is the cache.\n\nAt home it caches.\n\n{CUT}\nrest", encoding="utf-8")

    settled = write_packet(told, str(begun.id), step.packet, editor)
    assert "Redis at home, part 0." in shown[0].partition(CUT)[2]
    assert (settled.summary, settled.sources) == ("Redis is the cache.", 4)
    [entry] = told.index.catalog.get(str(settled.id))
    assert (entry.text("pass"), entry.type) == (begun.id, "single_subject")
    assert len(entry.texts("sources")) == 4
    assert text(root, entry.path).endswith("---\nAt home it caches.\n")
    assert not list((root / "_local/drafts").iterdir())


@pytest.mark.in_git
def test_an_untouched_draft_writes_nothing_and_one_without_summary_is_kept(told: Vault, root: Path) -> None:
    begun = told.begin_consolidation()
    step = next_packet(told)
    assert step.packet is not None
    with untouched(root):
        assert write_packet(told, str(begun.id), step.packet, lambda path: None).id is None
        with fails(UsageError, "no summary", "_local/drafts/"):
            write_packet(told, str(begun.id), step.packet, lambda path: _put(path, f"Summary:\n\nText.\n{CUT}\n"))
    assert "Text." in next((root / "_local/drafts").iterdir()).read_text(encoding="utf-8")


@pytest.mark.in_git
def test_listing_begins_no_pass(told: Vault, root: Path) -> None:
    told.close()
    with untouched(root):
        listed = vt("consolidate", "--list", "--vault", str(root))
        assert answer("consolidate", root, "--list")["pass_id"] is None
    assert "Homelab" in listed.stdout and listed.stdout.startswith("generation 0: 7 observations in 2 packets to consolidate\n")


@pytest.mark.in_git
def test_an_unknown_pass_is_refused(told: Vault, root: Path) -> None:
    with untouched(root), fails(NotFound, "nothing in this vault answers"):
        told.create_understanding(["Redis"], "T.", "T.", pass_id=identity(7))


def test_the_commands_walk_a_pass_as_programs_do(told: Vault, root: Path) -> None:
    told.close()
    begun = answer("begin-consolidation", root)
    assert begun["began"] is True
    step = answer("consolidate", root)
    assert (step["pass_id"], step["packet"]["label"], step["remaining"]) == (begun["id"], "Redis", 2)
    options = ["--subject", "Redis", "--summary", "S.", "--pass", begun["id"][:8]]
    options += [part for one in step["packet"]["observations"] for part in ("--source", one["id"])]
    answer("create-understanding", root, "Text.", *options)
    step = answer("consolidate", root, "--skip", "orientation")
    assert (step["packet"]["label"], step["remaining"], step["began"]) == ("Homelab", 1, False)
    ended = answer("consolidate", root, "--done")
    assert ended["left"] == ["Homelab"]
    assert answer("get-pending-consolidation", root)["pass_id"] is None
    assert answer("get-consolidation-report", root)["generation"] == 1
    shown = vt("get-pending-consolidation", "--vault", str(root))
    assert "generation 1: 3 observations in 1 packet to consolidate" in shown.stdout


KINDS = st.sampled_from(["fact", "understanding", "pass", "finish"])
STEPS = st.lists(st.tuples(KINDS, st.lists(st.sampled_from(["A", "B", "C"]), max_size=3, unique=True)), max_size=8)


@given(steps=STEPS)
@settings(
    max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_after_any_history_a_whole_pass_leaves_nothing_for_another(
    founded: Path, tmp_path_factory: pytest.TempPathFactory, steps: Sequence[tuple[str, list[str]]]
) -> None:
    root = tmp_path_factory.mktemp("any") / "notes"
    shutil.copytree(founded, root)
    clock = FixedClock(START)
    with Vault.open(root, clock=clock) as vault:
        for number, (kind, names) in enumerate(steps):
            clock.advance(timedelta(minutes=1))
            if kind == "fact":
                vault.remember(f"Fact {number}.", names, kind="fact")
            elif kind == "understanding" and names:
                vault.create_understanding(names, f"Text {number}.", f"Summary {number}.")
            elif kind == "pass":
                vault.begin_consolidation()
            elif vault.get_pending_consolidation().pass_id:
                vault.end_consolidation(core=False)
            waits = vault.get_pending_consolidation()
            assert waits.due_packets == len(waits.subjects) + len(waits.intersections) + waits.more
        for _ in range(6):
            begun = vault.begin_consolidation()
            if not begun.id:
                break
            settle(vault, begun.id)
            with untouched(root):
                assert not vault.begin_consolidation().began
            vault.end_consolidation(core=False)
        tip = head(root)
        again = vault.begin_consolidation()
        assert (again.id, again.began, head(root)) == (None, False, tip)
        pending = vault.get_pending_consolidation()
        assert (pending.subjects, pending.intersections) == ((), ())


def answer(command: str, root: Path, *arguments: str) -> Any:
    """The JSON that a command prints."""
    done = vt(command, *arguments, "--vault", str(root), "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _put(path: Path, said: str) -> None:
    path.write_text(said, encoding="utf-8")
