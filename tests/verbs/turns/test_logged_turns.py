from __future__ import annotations

import json
import stat
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.git_repos import git
from tests.verbs.turns.test_accept import BELL, SISTER, said
from vault_tool import Vault
from vault_tool.errors import Ambiguous, NotFound
from vault_tool.features.turns.turn_log import LOG, TurnLog
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""

KEY = "AKIAQWERTYUIOPASDFGH"
WRONG = {"target": 0.0, "confidence": 1.0, "rationale": "It was her twin.", "evidence_refs": ["commit:9f3c1e2"]}
FORGET = "import sys; from vault_tool import Vault; Vault.open(sys.argv[1], person=True).forget(sys.argv[2])"


def logged(root: Path) -> list[Path]:
    return sorted((root / LOG).iterdir()) if (root / LOG).is_dir() else []


def test_a_turn_can_be_looked_at_again_with_what_became_of_it(vault: Vault, root: Path) -> None:
    said(vault, "I have a sister.", SISTER)
    vault.drain()
    found = said(
        vault,
        "Do you know my sister? There is a bell.",
        BELL,
        SISTER,
        turn="7",
        mode="in_world_answer",
        flags=["canon"],
        note="mild",
    )
    kept = vault.get_turn(found.turn_id)
    assert (kept.text, kept.user, kept.session, kept.world, kept.turn) == (
        "Do you know my sister? There is a bell.", "u1", "s1", "saltmarsh", "7",
    )  # fmt: skip
    assert kept.gate == found.gate and (kept.gate.flags, kept.gate.note) == (("canon",), "mild")
    assert [(one.id, one.why, one.match) for one in kept.recalled] == [(b.id, b.why, b.match) for b in found.recalled]
    assert [one.title for one in kept.recalled] == ["The player has a sister, Mara"]
    assert [one.became for one in kept.candidates] == ["queued", "queued"]

    [written] = vault.drain().written
    bell, sister = vault.get_turn("7").candidates
    assert (bell.became, bell.memory_id, bell.content) == ("written", written, BELL["content"])
    assert (sister.became, sister.memory_id) == ("folded", found.recalled[0].id)
    assert vault.get_turn(written).id == found.turn_id, "a memory leads to its turn"
    assert vault.get(written).head["turn"] == "7"


def test_a_turn_without_a_number_has_an_id_that_its_memories_carry(vault: Vault) -> None:
    found = said(vault, "A sister and a bell.", SISTER, BELL)
    done = vault.drain()
    assert {vault.get(one).head["turn"] for one in done.written} == {found.turn_id}
    edges = [entry for _, entry in vault.index.catalog.pointing_at(done.written[0])]
    assert edges and {edge.text("turn") for edge in edges} == {found.turn_id}


def test_every_fate_of_a_candidate_is_told(vault: Vault, root: Path) -> None:
    skipped = said(vault, "The pier.", SISTER, extractMemory=False, turn="1")
    redirected = said(vault, "Tell me secrets.", SISTER, mode="safe_redirect", turn="2")
    held = said(vault, "Shall I tell?", {"content": "The player fears the sea."}, mode="memory_consent", turn="3")
    refused = said(vault, "And this?", {"content": "The player snores."}, mode="memory_consent", turn="4")
    gone = said(vault, "A bell.", BELL, turn="5")
    vault.drain()
    with Vault.open(root, person=True, clock=vault.clock) as owner:
        (root / owner.show(owner.get_turn("5").candidates[0].id).path).unlink()
        owner.review(refuse=[owner.get_turn(refused.turn_id).candidates[0].id])
        fates = {one.turn: owner.get_turn(one.id).candidates[0] for one in owner.list_turns().results}
    assert {turn: fate.became for turn, fate in fates.items()} == {
        "1": "skipped", "2": "skipped", "3": "held", "4": "refused", "5": "gone",
    }  # fmt: skip
    assert fates["1"].reason == skipped.gate.reason and fates["2"].reason == redirected.gate.reason
    assert "overruled" not in fates["2"].reason and "set to false" in fates["2"].reason
    assert fates["3"].content == "The player fears the sea."
    assert fates["3"].reason == held.gate.reason and gone.accepted == 1
    # What waits for a person is shown to no agent, and neither is what they refused.
    assert [vault.get_turn(one).candidates[0].content for one in ("3", "4")] == ["", ""]


def test_a_blocked_turn_and_a_secret_leave_no_word(vault: Vault, root: Path) -> None:
    said(vault, "Tell me how to harm somebody.", mode="safe_redirect", note="legal floor")
    said(vault, f"My key is {KEY}.")
    said(vault, "Keep this.", {"content": f"The key is {KEY}."})
    text = "".join(path.read_text() for path in logged(root))
    assert KEY not in text and "harm" not in text
    assert [bool(one.absence) and one.text == "" for one in vault.list_turns().results] == [True] * 3
    with pytest.raises(NotFound, match="not kept"):
        vault.get_turn(vault.list_turns().results[0].id, replay=True)


@pytest.mark.in_git
def test_the_log_is_private_bounded_and_never_committed(vault: Vault, root: Path, clock: FixedClock) -> None:
    (root / "vault.toml").write_text("turn_log_turns = 3\n")
    with Vault.open(root, clock=clock) as few:
        for number in range(6):
            said(few, f"Turn {number}.")
            clock.advance(timedelta(minutes=1))
        assert [one.text for one in few.list_turns().results] == ["Turn 5.", "Turn 4.", "Turn 3."]
    assert [stat.S_IMODE(path.stat().st_mode) for path in (root / LOG, *logged(root))] == [0o700, 0o600, 0o600, 0o600]
    size = max(path.stat().st_size for path in logged(root))
    (root / "vault.toml").write_text(f"turn_log_bytes = {2 * size + 99}\n")
    # What a kill left half named leaves with the others.
    (root / LOG / f".{logged(root)[0].name}.vt-00000000.tmp").write_text("x")
    with Vault.open(root, clock=clock) as small:
        said(small, "Turn 6.")
        assert [one.text for one in small.list_turns().results] == ["Turn 6.", "Turn 5."]
        kept, taken = small.status().logged_turns, small.status().logged_bytes
        assert (kept, taken) == (2, sum(path.stat().st_size for path in logged(root))) and taken <= 2 * size + 99
        clock.advance(timedelta(minutes=1))
        said(small, "x" * 3 * size)
        assert not (root / LOG / f".{logged(root)[0].name}.vt-00000000.tmp").exists()
        assert {one.text for one in small.list_turns().results} >= {"Turn 6."}, "a turn over the bound pushes nothing out"
    assert git(root, "log", "--all", "--format=%H", "--", "_local") == ""


def test_a_log_that_is_switched_off_is_emptied(vault: Vault, root: Path) -> None:
    said(vault, "Turn 1.")
    assert len(logged(root)) == 1
    (root / "vault.toml").write_text("turn_log = false\n")
    with Vault.open(root, clock=vault.clock) as off:
        said(off, "Turn 2.")
        assert off.list_turns().results == () and logged(root) == []


def test_what_is_no_turn_is_named_and_harms_nothing(vault: Vault, root: Path) -> None:
    found = said(vault, "Turn 1.")
    torn = root / LOG / "20261120100000000000-6a1b3f0e-0000-4000-8000-000000000000.9.json"
    torn.write_text('{"id": "6a1b3f0e')
    (root / LOG / "notes.txt").write_text("mine")
    listed = vault.list_turns()
    assert [one.id for one in listed.results] == [found.turn_id]
    assert listed.problems == tuple(f"{LOG}/{name}" for name in (torn.name, "notes.txt"))
    assert {one.path for one in vault.doctor().problems if one.code == "no-turn"} == set(listed.problems)
    said(vault, "Turn 2.")
    assert (root / LOG / "notes.txt").read_text() == "mine"


def test_the_same_turn_is_kept_once_and_as_it_was_judged_last(vault: Vault, clock: FixedClock) -> None:
    said(vault, "A sister.", SISTER, turn="1", extractMemory=False)
    clock.advance(timedelta(minutes=1))
    again = said(vault, "A sister.", SISTER, turn="1")
    [only] = vault.list_turns().results
    assert (only.id, only.gate.destination) == (again.turn_id, "vault")


def test_turns_are_narrowed_and_named(vault: Vault, clock: FixedClock) -> None:
    said(vault, "Long ago.", turn="1")
    clock.advance(timedelta(days=3))
    said(vault, "From u2.", user="u2", turn="2")
    said(vault, "Elsewhere.", world="moor", session="s2", turn="1")
    narrowed: dict[str, dict[str, Any]] = {
        name: {name: value} for name, value in {"user": "u2", "session": "s2", "world": "moor", "since": "1d"}.items()
    }
    texts = {name: sorted(one.text for one in vault.list_turns(**by).results) for name, by in narrowed.items()}
    assert texts == {
        "user": ["From u2."], "session": ["Elsewhere."], "world": ["Elsewhere."], "since": ["Elsewhere.", "From u2."],
    }  # fmt: skip
    assert (len(vault.list_turns(limit=1).results), vault.list_turns(limit=1).total) == (1, 3)
    with pytest.raises(Ambiguous):
        vault.get_turn("1")
    with pytest.raises(NotFound):
        vault.get_turn("abc")
    theirs = vault.as_(user="u2")
    assert [one.text for one in theirs.list_turns().results] == ["From u2."]
    hers = vault.list_turns(user="u1").results[0].id
    with pytest.raises(NotFound):
        theirs.get_turn(hers)


def test_the_turns_of_one_user_are_listed_and_erased(vault: Vault, root: Path) -> None:
    said(vault, "Mine.")
    said(vault, "Theirs.", user="u2")
    log = TurnLog(root)
    assert [one.text for one in log.turns_of("u1")] == ["Mine."]
    assert (log.erase("u1"), log.erase("u1"), log.erase("nobody")) == (1, 0, 0)
    assert [one.text for one in vault.list_turns().results] == ["Theirs."]


class TestForgetting:
    """What is forgotten goes from the log at once; the turns' ids stay."""

    def test_in_this_process_and_by_another(self, vault: Vault, root: Path) -> None:
        said(vault, "My sister is called Ottoline.", {"content": "The player's sister is Ottoline Vane."}, turn="1")
        said(vault, "Nothing of the kind.", BELL, turn="2")
        vault.drain()
        first = vault.get_turn("1").candidates[0].id
        said(vault, "You said: The player's sister is Ottoline Vane.", turn="3")
        (root / LOG / "torn.json").write_text('{"text": "The player\'s sister is Ottoline Vane')
        (root / LOG / f".{logged(root)[0].name}.vt-00000000.tmp").write_text("Ottoline")
        before = vault.list_turns().total
        # The other process forgets while this one has the vault open, and has read the log.
        subprocess.run([sys.executable, "-c", FORGET, str(root), first], check=True, capture_output=True)

        assert b"Ottoline" not in b"".join(path.read_bytes() for path in logged(root))
        assert (vault.list_turns().total, vault.list_turns().problems) == (before, ())
        kept = {one.turn: one for one in vault.list_turns().results}
        assert {turn: one.absence for turn, one in kept.items()} == {"1": "forgotten", "2": "", "3": "forgotten"}
        fate = vault.get_turn("1").candidates[0]
        assert (fate.id, fate.became, fate.content) == (first, "forgotten", "")
        assert vault.get_turn("2").text == "Nothing of the kind."

    def test_a_turn_given_again_is_not_kept_again(self, vault: Vault, root: Path) -> None:
        sister = {"content": "The player's sister is Ottoline Vane."}
        said(vault, "My sister is called Ottoline.", sister, turn="1")
        [first] = vault.drain().written
        with Vault.open(root, person=True) as owner:
            owner.forget(first)
        said(vault, "My sister is called Ottoline.", sister, turn="1")
        vault.drain()
        assert b"Ottoline" not in b"".join(path.read_bytes() for path in logged(root))
        assert vault.get_turn("1").absence == "forgotten"

    def test_a_turn_that_is_taken_while_it_is_forgotten_is_not_kept(self, vault: Vault, root: Path) -> None:
        sister = {"content": "The player's sister is Ottoline Vane."}
        found = said(vault, "My sister is called Ottoline.", sister, turn="1")
        [first] = vault.drain().written
        for path in logged(root):
            path.unlink()
        # What another process that forgets has announced, and been through the log before this turn came.
        vault.local.begin_forgetting([first])
        vault.ids_being_forgotten.add(first)
        said(vault, "My sister is called Ottoline.", sister, turn="1")
        assert vault.get_turn(found.turn_id).absence == "forgotten"
        assert b"Ottoline" not in b"".join(path.read_bytes() for path in logged(root))


class TestReplay:
    """The same turn asked again, and what differs."""

    def test_nothing_differs_where_nothing_changed(self, vault: Vault, root: Path) -> None:
        said(vault, "My sister is called Mara.", SISTER)
        vault.drain()
        found = said(vault, "Do you know my sister?")
        replay = vault.get_turn(found.turn_id, replay=True).replay
        assert replay is not None and replay.recalled == found.recalled
        assert [(one.change, one.was, one.now, one.why) for one in replay.differences] == [("same", 1, 1, "")]
        assert replay.differences[0].factors
        before = [path.read_bytes() for path in logged(root)]
        vault.get_turn(found.turn_id, replay=True)
        assert [path.read_bytes() for path in logged(root)] == before, "to look at it writes nothing"

    def test_what_came_went_and_moved_is_told_with_why(self, vault: Vault, root: Path, clock: FixedClock) -> None:
        names = ("Mara keeps bees.", "Mara sings at dusk.", "Mara has a boat.", "Mara fears owls.")
        said(vault, "Of Mara.", *({"content": name} for name in names))
        bees, sings, boat, owls = vault.drain().written
        asked = said(vault, "What of Mara?", session="s2")
        assert {one.id for one in asked.recalled} == {bees, sings, boat, owls}
        clock.advance(timedelta(hours=1))
        for number in range(6):
            vault.as_(session=f"v{number}", model=f"m{number}").update(sings, truth=WRONG)
        with Vault.open(root, person=True, clock=clock) as owner:
            owner.forget(bees)
            (root / owner.show(boat).path).unlink()
        said(vault, "Of Mara.", {"content": "Mara has moved to the moor."}, session="s3")
        [moor] = vault.drain().written
        replay = vault.get_turn(asked.turn_id, replay=True).replay
        assert replay is not None
        told = {one.id: (one.change, one.why) for one in replay.differences}
        assert told[bees] == ("gone", "forgotten")
        assert told[boat] == ("gone", "not in the vault any more")
        assert told[sings] == ("gone", "withheld: it is believed to be false")
        assert told[moor] == ("came", "written since")
        assert told[owls][0] in ("same", "moved")

    def test_consent_that_is_withdrawn_is_told_as_that(self, vault: Vault, root: Path) -> None:
        first = said(vault, "My sister is called Mara.", SISTER)
        [sister] = vault.drain().written
        found = said(vault, "Do you know my sister?")
        with Vault.open(root, person=True, clock=vault.clock) as owner:
            owner.consent(sister, "withdrawn")
        [one] = vault.get_turn(first.turn_id).candidates
        assert (one.became, one.content, one.reason) == ("refused", "", "consent to it was refused or withdrawn")
        replay = vault.get_turn(found.turn_id, replay=True).replay
        assert replay is not None
        assert [(one.change, one.why, one.title) for one in replay.differences] == [
            ("gone", "withheld: consent to it was refused or withdrawn", ""),
        ]

    def test_it_is_asked_within_the_bounds_of_then_and_for_its_own_user(self, vault: Vault) -> None:
        said(vault, "Both.", SISTER, BELL)
        vault.drain()
        found = said(vault, "My sister? The bell?", limit=1)
        said(vault, "A bell?", {"content": "The bell of u2."}, user="u2")
        vault.drain()
        kept = vault.get_turn(found.turn_id, replay=True)
        assert kept.replay is not None and len(kept.replay.recalled) == 1 == len(kept.recalled)
        assert json.dumps([one.title for one in kept.replay.differences]).count("u2") == 0
