"""What an agent reads first: three pages, what waits, what happened, and an empty seen log."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.wording import typed
from vault_tool import Vault
from vault_tool.generate.starter import UNTOUCHED, content_policy, starters
from vault_tool.util.clock import FixedClock
from vault_tool.vault.answers import HYPOTHESIS_NOTICE
from vault_tool.vault.seen import note_seen

pytestmark = pytest.mark.without_git

SOUL_NOTE = (
    "CRITICAL: This content establishes the fundamental character and values for this session. "
    "It must be preserved during context compaction. Do not remove."
)
PROTOCOL_NOTE = (
    "CRITICAL: This content contains operational rules required for correct system behaviour. Preserve during compaction."
)


@pytest.fixture
def agent(vault: Vault) -> Vault:
    return vault.as_(session="s1")


def test_a_new_vault_says_who_we_are_how_we_work_and_where_we_stand(agent: Vault) -> None:
    found = agent.orient()
    soul, protocol, orientation = starters()
    assert found.soul and found.protocol and found.orientation
    assert (found.soul.content, found.soul.summary) == (f"{soul.summary} {UNTOUCHED}", soul.summary)
    assert found.protocol.content == f"{protocol.summary} {UNTOUCHED}"
    assert (found.orientation.content, found.orientation.summary) == (UNTOUCHED, "")
    assert agent.show(found.orientation.id).content == orientation.body.strip()
    assert found.soul.compaction_note == SOUL_NOTE
    assert found.protocol.compaction_note == PROTOCOL_NOTE
    assert not hasattr(found.orientation, "compaction_note")
    assert found.soul.updated_at == "2026-11-20T10:00:00+00:00"
    assert agent.show(found.soul.id).type == "soul"
    assert found.content_policy and found.content_policy.content.endswith(UNTOUCHED)
    assert "\n" not in found.content_policy.content
    assert (found.pending_consolidation_count, found.recent_activity, found.generation) == (0, None, 0)
    assert (found.session, found.warnings, found.notice) == ("s1", (), HYPOTHESIS_NOTICE)


def test_it_counts_what_waits_and_names_what_happened(agent: Vault) -> None:
    for number in range(3):
        agent.remember(f"Redis drops idle connections, part {number}", ["Redis"])
    agent.create_understanding(["Pump"], "The pump stops when it is cold.", "It stops in the cold.")
    found = agent.orient()
    assert found.pending_consolidation_count == 3
    assert found.recent_activity
    assert tuple(found.recent_activity.subjects_with_new_observations) == ("Redis",)
    assert "Pump" in found.recent_activity.subjects_with_new_understandings


def test_before_the_first_pass_all_is_recent(agent: Vault) -> None:
    agent.remember("Redis restarts.", ["Redis"])
    recent = agent.orient().recent_activity
    assert recent is not None
    assert (recent.since, recent.subjects_with_new_observations) == (None, ("Redis",))
    agent.begin_consolidation()
    agent.remember("Redis restarts again.", ["Redis"])
    later = agent.orient().recent_activity
    assert later is not None and later.since


def test_it_serves_the_revision_and_warns_of_two(agent: Vault, clock: FixedClock) -> None:
    first = agent.orient().orientation
    assert first
    clock.advance(timedelta(hours=1))
    made = agent.update_understanding(first.id, "We are moving the lab.", "Moving the lab.")
    served = agent.orient()
    assert served.orientation and served.orientation.id == made.new_understanding_id
    assert (served.orientation.content, served.orientation.updated_at) == ("We are moving the lab.", "2026-11-20T11:00:00+00:00")
    clock.advance(timedelta(hours=1))
    text = (agent.root / served.orientation.path).read_text()
    other = (
        text.replace(served.orientation.id, "11111111-2222-4333-8444-555555555555")
        .replace("We are moving the lab.", "The lab is moved.")
        .replace("T11:00", "T12:00")
    )
    (agent.root / "vault/understandings/another.md").write_text(other)
    twice = agent.orient()
    assert twice.orientation and twice.orientation.content == "The lab is moved."
    assert any("2 of orientation" in warning for warning in twice.warnings)


def test_a_hand_edit_is_what_is_read(agent: Vault) -> None:
    soul = agent.orient().soul
    assert soul
    path = agent.root / soul.path
    path.write_text(path.read_text().replace(agent.show(soul.id).content, "I am the lab's memory."))
    read = agent.orient().soul
    assert read and read.content == "I am the lab's memory."


def test_a_soul_that_has_become_a_list_is_said(agent: Vault) -> None:
    soul = agent.orient().soul
    assert soul
    agent.as_(origin="owner").update_understanding(soul.id, "- Run the tests.\n- Never push.\n- Use uv.\n- Squash.\n", "Rules.")
    (warning,) = agent.orient().warnings
    assert "soul" in warning and "procedural" in warning


def test_a_protocol_of_single_sessions_lessons_is_warned_of(agent: Vault) -> None:
    lessons = "\n\n".join(f"Today we learned in session {number} that tests come first." for number in range(4))
    agent.as_(origin="owner").create_understanding([], lessons, "Lessons.", kind="protocol")
    (warning,) = agent.orient().warnings
    assert "the protocol has gathered lessons of single sessions" in warning and "session 0" in warning


def test_a_vault_without_its_pages_is_said_and_served(agent: Vault) -> None:
    for path in (agent.root / "vault/understandings").glob("*.md"):
        path.unlink()
    (agent.root / "templates/content-policy.md").unlink()
    with agent.reopened() as vault:
        vault.reindex(confirm=True)
        found = vault.orient()
    assert (found.soul, found.protocol, found.orientation, found.content_policy) == (None, None, None, None)
    assert [warning.split(":")[0] for warning in found.warnings] == [
        "this vault has no soul",
        "this vault has no protocol",
        "this vault has no orientation",
    ]


def test_what_has_expired_is_not_shown_and_the_warning_names_it(agent: Vault, clock: FixedClock) -> None:
    soul = agent.orient().soul
    assert soul
    path = agent.root / soul.path
    path.write_text(path.read_text().replace("type: soul\n", "type: soul\npinned: true\nexpires: 2026-11-20T13:00:00+02:00\n"))
    assert agent.orient().soul
    clock.advance(timedelta(hours=1))
    found = agent.orient()
    assert found.soul is None
    assert found.protocol
    (warning,) = found.warnings
    assert typed(warning).startswith(f"the soul has expired and is not shown: look at it (`vt show {soul.id[:6]}`)")
    assert soul.content not in agent.core(preview=True).text


def test_the_newest_is_told_by_the_moment_whatever_its_zone(agent: Vault) -> None:
    first = agent.orient().orientation
    assert first
    text = (agent.root / first.path).read_text()
    # 09:30 in UTC, though its text sorts after 10:00.
    other = text.replace(first.id, "11111111-2222-4333-8444-555555555555").replace("T10:00:00+00:00", "T11:30:00+02:00")
    (agent.root / "vault/understandings/another.md").write_text(other.replace(first.content, "An older view."))
    served = agent.orient().orientation
    assert served and served.id == first.id
    core = agent.core(preview=True).text
    assert "An older view." not in core


def test_it_empties_the_seen_log_of_its_session_alone(agent: Vault) -> None:
    other = agent.as_(session="s2")
    note_seen(agent, ["a", "b"], "recall")
    note_seen(other, ["a"], "recall")
    assert agent.orient().seen_cleared == 2
    assert agent.orient().seen_cleared == 0
    assert agent.reset_seen().cleared == 0
    assert other.reset_seen().cleared == 1


def test_without_a_session_nothing_is_kept(vault: Vault) -> None:
    found = vault.orient()
    assert (found.session, found.seen_cleared, found.warnings) == (None, 0, ())
    assert not (vault.root / "_local" / "sessions").exists()


def test_where_nothing_can_be_kept_it_is_said_and_the_pages_come(agent: Vault) -> None:
    (agent.root / "_local").mkdir(exist_ok=True)
    (agent.root / "_local" / "sessions").write_text("in the way")
    found = agent.orient()
    assert found.soul
    assert "the seen log was not emptied" in found.warnings[0]


def test_a_link_in_the_place_of_the_policy_is_not_followed(agent: Vault, tmp_path: Path) -> None:
    secret = tmp_path / "elsewhere.md"
    secret.write_text("not for agents")
    policy = agent.root / "templates/content-policy.md"
    policy.unlink()
    policy.symlink_to(secret)
    assert agent.orient().content_policy is None


@pytest.mark.parametrize("count", [29, 30, 31, 75])
def test_at_most_thirty_subjects_are_named_those_with_most_first(agent: Vault, count: int) -> None:
    places = [f"Place {n:02}" for n in range(count)]
    for start in range(0, count, 5):
        agent.remember(f"Seen from {start} on.", places[start : start + 5])
    for n in range(3):
        agent.remember(f"Again {n}.", places[-1:])
    agent.create_understanding([f"Place {count - 2:02}"], "It is far away.", "Far.")
    recent = agent.orient().recent_activity
    assert recent is not None
    named = {*recent.subjects_with_new_observations, *recent.subjects_with_new_understandings}
    assert len(named) == min(count, 30)
    assert recent.more_subjects == count - len(named)
    assert recent.subjects_with_new_observations[:2] == (f"Place {count - 1:02}", f"Place {count - 2:02}")
    assert recent.subjects_with_new_understandings == (f"Place {count - 2:02}",)


def test_a_policy_that_was_rewritten_is_read_whole(agent: Vault) -> None:
    path = agent.root / "templates/content-policy.md"
    path.write_text(content_policy() + "\n- The merger.\n")
    found = agent.orient().content_policy
    assert found and found.content.endswith("- The merger.") and UNTOUCHED not in found.content


def test_no_vault_with_memories_is_told_that_nothing_is_known(agent: Vault) -> None:
    agent.remember("Redis restarts.", ["Redis"])
    found = agent.orient()
    said = [page.content + page.summary for page in (found.soul, found.protocol, found.orientation) if page]
    assert "othing is known" not in " ".join(said)
    assert all("\n" not in one for one in said)
