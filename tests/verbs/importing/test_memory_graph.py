"""`import cognitive-memory`: a golden memory in that format, once, without loss, and with its fading carried over."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import pytest

from tests.git_repos import git
from tests.wording import typed
from vault_tool import Vault
from vault_tool.errors import UsageError
from vault_tool.files.episode_text import read_episode

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""

GOLDEN = Path(__file__).parents[2] / "vaults" / "cognitive_memory"
FIX = "a1b2c3d4-e5f6-4890-abcd-ef1234567890"
PROBLEM = "def78901-e5f6-4890-abcd-ef1234567890"
PUMP = "c0ffee01-e5f6-4890-abcd-ef1234567890"
DRAIN = "beef0001-e5f6-4890-abcd-ef1234567890"
LOG = "vault/episodes/2025-12-06.import-memory.md"


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """A copy of the golden memory."""
    return Path(shutil.copytree(GOLDEN, tmp_path / "memory"))


@pytest.mark.in_git
def test_memories_keep_id_type_and_body(vault: Vault, memory: Path) -> None:
    done = vault.import_cognitive_memory(memory)
    assert (done.imported, done.edges, done.episodes, done.uses) == (5, 1, 1, 1)
    for identity, type in ((FIX, "solution"), (PROBLEM, "problem"), (PUMP, "decision"), (DRAIN, "procedure")):
        (entry,) = vault.index.catalog.get(identity)
        assert (entry.type, entry.text("origin")) == (type, "import")
    fix = vault.show(FIX)
    assert fix.content.strip() == "Set the keepalive to 60 s and the timeout to 300 s."
    assert vault.index.catalog.get(DRAIN)[0].texts("steps") == ("Close both valves", "Swap the pump")
    assert git(vault.root, "status", "--porcelain") == ""


def test_both_tellings_of_a_relation_are_one_edge_and_edge_files_are_kept(vault: Vault, memory: Path) -> None:
    vault.import_cognitive_memory(memory)
    edges = {(field, e.type, e.text("to_id")) for field, e in vault.index.catalog.pointing_at(FIX, ("from_id",))}
    assert edges == {("from_id", "SOLVES", PROBLEM), ("from_id", "BUILDS_ON", PUMP)}
    (solves,) = [e for _, e in vault.index.catalog.pointing_at(PROBLEM, ("to_id",))]
    text = (vault.root / solves.path).read_text()
    assert "Keepalive prevents idle stops" in text and "Told from the other end" in text
    assert solves.number("strength") == 0.8
    (kept,) = vault.index.catalog.get("ed9e0001-e5f6-4890-abcd-ef1234567890")
    assert (vault.root / kept.path).read_text().endswith("because the small pump sleeps.\n")
    assert "relations" not in vault.index.catalog.get(FIX)[0].head


def test_a_relation_to_nothing_stays_where_it_was_told(vault: Vault, memory: Path) -> None:
    done = vault.import_cognitive_memory(memory)
    assert [problem.code for problem in done.problems] == ["dangling-relation"]
    assert len(vault.index.catalog.get(PROBLEM)[0].head["relations"]) == 2


def test_use_carries_over_so_that_fading_goes_on(vault: Vault, memory: Path) -> None:
    vault.import_cognitive_memory(memory)
    weighed = {one.entry.id: one for one in vault.standings.present()}
    days = (
        vault.clock.now() - vault.clock.now().replace(year=2025, month=12, day=13, hour=10, minute=15)
    ).total_seconds() / 86400
    assert weighed[FIX].belief.access_count == 5
    assert weighed[FIX].score == pytest.approx(0.8 * math.exp(-0.03 * days) * math.log2(6) * 1.2)
    assert weighed[PROBLEM].belief.access_count == 0
    assert weighed[DRAIN].score == 999


def test_logs_keep_their_bytes_and_lead_to_where_the_memories_are(vault: Vault, memory: Path) -> None:
    vault.import_cognitive_memory(memory)
    data = (vault.root / LOG).read_bytes()
    entries, problems = read_episode(LOG, data)
    assert not problems and [entry.title for entry in entries] == ["Fixed pump timeouts", "Went for a walk"]
    assert entries[0].path == vault.index.catalog.get(FIX)[0].path
    before = (memory / "episodes/2025-12-06.md").read_bytes()
    changed = [line for line in before.splitlines() if line not in data.splitlines()]
    assert len(changed) == 1 and changed[0].startswith(b"- **Memory:**")


@pytest.mark.in_git
def test_a_second_run_takes_in_what_is_new_alone(vault: Vault, memory: Path) -> None:
    vault.import_cognitive_memory(memory)
    head = git(vault.root, "rev-parse", "HEAD")
    again = vault.import_cognitive_memory(memory)
    assert (again.imported, again.edges, again.episodes, again.uses, again.commits) == (0, 0, 0, 0, ())
    assert git(vault.root, "rev-parse", "HEAD") == head
    state = json.loads((memory / "_state.json").read_text())
    state["entries"][FIX] |= {"access_count": 7, "last_accessed": "2026-01-02T00:00:00+00:00"}
    (memory / "_state.json").write_text(json.dumps(state))
    with (memory / "episodes/2025-12-06.md").open("a") as log:
        log.write("\n## 12:00 - Later\n- **Summary:** More\n")
    more = vault.import_cognitive_memory(memory)
    assert (more.imported, more.episodes, more.uses) == (0, 1, 1)
    (one,) = [w for w in vault.standings.present() if w.entry.id == FIX]
    assert (one.belief.access_count, one.belief.last_accessed) == (7, "2026-01-02T00:00:00+00:00")


def test_the_target_of_a_lost_relation_may_come_later(vault: Vault, memory: Path) -> None:
    vault.import_cognitive_memory(memory)
    lost = "00000000-e5f6-4890-abcd-ef1234567890"
    (memory / "graph/problems/lost.md").write_text(f"---\nid: {lost}\ntype: problem\ntitle: Lost\n---\nText.\n")
    done = vault.import_cognitive_memory(memory)
    assert (done.imported, done.edges, done.problems) == (1, 1, ())


@pytest.mark.parametrize("text", ["", "[]", "{", '{"entries": [1]}', '{"entries": {"x": 1}}'])
def test_a_spoilt_state_stops_nothing(vault: Vault, memory: Path, text: str) -> None:
    (memory / "_state.json").write_text(text)
    done = vault.import_cognitive_memory(memory)
    assert (done.imported, done.uses) == (5, 0)


def test_pinned_by_a_list_and_a_copy_in_two_places(vault: Vault, memory: Path) -> None:
    shutil.copy(memory / "vault/never-drain-beef00.md", memory / "graph/decisions/copy.md")
    state = json.loads((memory / "_state.json").read_text())
    (memory / "_state.json").write_text(json.dumps(state | {"pinned": [PUMP]}))
    done = vault.import_cognitive_memory(memory)
    assert done.skipped == {"copy": 1} and len(vault.index.catalog.get(DRAIN)) == 1
    assert vault.index.catalog.get(PUMP)[0].pinned and vault.index.catalog.get(DRAIN)[0].pinned


def test_a_folder_of_another_kind_is_refused(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "notes-only").mkdir()
    with pytest.raises(UsageError, match="graph"):
        vault.import_cognitive_memory(tmp_path / "notes-only")


@pytest.mark.in_git
def test_a_dry_run_writes_nothing(vault: Vault, memory: Path) -> None:
    head = git(vault.root, "rev-parse", "HEAD")
    done = vault.import_cognitive_memory(memory, dry_run=True)
    assert (done.imported, done.edges, done.dry_run) == (5, 1, True)
    assert git(vault.root, "rev-parse", "HEAD") == head and git(vault.root, "status", "--porcelain") == ""


def test_two_texts_of_one_id_are_two_memories(vault: Vault, memory: Path) -> None:
    text = (memory / "graph/solutions/fixed-pump-timeouts-a1b2c3.md").read_text()
    other = text.replace("Set the keepalive to 60 s and the timeout to 300 s.", "Replace the fuse.")
    assert other != text
    (memory / "graph/solutions/zz-other.md").write_text(other)
    done = vault.import_cognitive_memory(memory)
    assert done.imported == 6 and not done.skipped
    assert "id-taken" in {problem.code for problem in done.problems}
    (entry,) = [one for one in vault.index.catalog.snapshot().entries if one.text("source_id")]
    assert (entry.text("source_id"), entry.type) == (FIX, "solution")
    assert vault.show(entry.id).content.strip() == "Replace the fuse."
    assert vault.show(FIX).content.strip().startswith("Set the keepalive")
    links = [
        {(e.type, e.text("to_id")) for _, e in vault.index.catalog.pointing_at(one, ("from_id",))} for one in (FIX, entry.id)
    ]
    assert links[0] == links[1] == {("SOLVES", PROBLEM), ("BUILDS_ON", PUMP)}
    again = vault.import_cognitive_memory(memory)
    assert (again.imported, again.unchanged, again.edges) == (0, 7, 0)


def test_what_is_odd_in_a_state_is_told_and_a_count_is_kept(vault: Vault, memory: Path) -> None:
    entries = {
        FIX: {"access_count": "5", "last_accessed": "yesterday"},
        PROBLEM: {"access_count": -1, "last_accessed": "2025-12-13T10:15:00+00:00"},
        PUMP: {"access_count": 3.0},
        DRAIN: [1],
        "not an id": {"access_count": 1},
    }
    (memory / "_state.json").write_text(json.dumps({"entries": entries}))
    done = vault.import_cognitive_memory(memory)
    told = [problem.message for problem in done.problems if problem.code == "odd-use"]
    assert [any(part in one for one in told) for part in (FIX, PROBLEM, PUMP, DRAIN, "`not an id`")] == [True] * 5
    assert len(told) == 5 and done.uses == 2
    beliefs = {one.entry.id: one.belief for one in vault.standings.present()}
    assert (beliefs[FIX].access_count, beliefs[PUMP].access_count, beliefs[PROBLEM].access_count) == (5, 3, 0)
    assert beliefs[FIX].last_accessed == "2025-12-07T16:25:58+00:00", "when it was written last"
    assert vault.import_cognitive_memory(memory).uses == 0


def test_merges_and_projects_of_an_old_memory_are_counted_by_the_reflection(vault: Vault, memory: Path) -> None:
    log = memory / "episodes/2025-12-06.md"
    log.write_text(
        log.read_text() + "\n## 12:00 - Merged two notes on pumps\n- **Type:** merge\n- **Summary:** one\n"
        "\n## 13:00 - Pumps\n- **Type:** MERGE\n\n## 14:00 - Emerged from the cellar\n- **Type:** general\n"
    )
    (memory / "REFLECTION.md").write_text("## Cross-Project Patterns\n- **fix**: appears in major-domo (38), homelab (22)\n")
    for number, tags in enumerate(("major-domo, fix", "homelab, fix", "homelab, fix")):
        (memory / f"graph/decisions/n{number}.md").write_text(
            f"---\nid: 0000000{number}-e5f6-4890-abcd-ef1234567890\ntype: fix\ntags: [{tags}]\n---\nText {number}.\n"
        )
    done = vault.import_cognitive_memory(memory)
    assert [one for one in done.warnings if "vt config projects 'major-domo, homelab'" in typed(one)]
    text = vault.reflection(preview=True).text
    assert "- Total merges performed: 2" in text and "Cross-Project" not in text
    vault.config("projects", "major-domo")
    with Vault.open(vault.root, clock=vault.clock) as again:
        again.create_subjects([{"name": "Lab", "aliases": ["homelab"], "role": "project"}])
        assert "- **fix**: appears in Lab (2), major-domo (1)" in again.reflection(preview=True).text
        assert not again.import_cognitive_memory(memory).warnings
