"""`import cognitive-memory`: a golden memory in that format, once, without loss, and with its fading carried over."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import pytest

from tests.git_repos import git
from vault_tool import Vault
from vault_tool.errors import UsageError
from vault_tool.files.episode_text import read_episode

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


def test_a_dry_run_writes_nothing(vault: Vault, memory: Path) -> None:
    head = git(vault.root, "rev-parse", "HEAD")
    done = vault.import_cognitive_memory(memory, dry_run=True)
    assert (done.imported, done.edges, done.dry_run) == (5, 1, True)
    assert git(vault.root, "rev-parse", "HEAD") == head and git(vault.root, "status", "--porcelain") == ""
