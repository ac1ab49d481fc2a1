from __future__ import annotations

import json
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from tests.git_repos import git, write
from tests.verbs.looking import assert_committed, fails, head, in_commit, note, status, subjects, text, untouched
from vault_tool import Vault
from vault_tool.errors import GitError, Refused, UsageError
from vault_tool.util.clock import FixedClock
from vault_tool.util.text import tokens

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""


def _reword(path: Path) -> None:
    """What a person does in an editor."""
    path.write_text(path.read_text().replace("redis.", "redis 7."))


class TestDecay:
    def test_scores_follow_the_formula_and_come_best_first(self, vault: Vault, clock: FixedClock) -> None:
        used = vault.remember("Used.", kind="decision", importance=0.8)
        fresh = vault.remember("Fresh.", kind="fact", importance=0.5)
        pinned = vault.as_(origin="owner").remember("Pinned.", pinned=True)
        for _ in range(3):
            vault.get(used.id)
        clock.advance(timedelta(days=10))

        answer = vault.decay()

        rows = {row.id: row for row in answer.results}
        assert rows[pinned.id].decay_score == 999
        faded = 2.718281828459045 ** (-0.03 * 10)
        assert rows[used.id].decay_score == pytest.approx(0.8 * faded * 2.0 * 1.3, abs=1e-4)
        assert rows[fresh.id].decay_score == pytest.approx(0.5 * faded * 0.5 * 1.0, abs=1e-4)
        assert (rows[used.id].access_count, rows[used.id].last_accessed) == (3, "2026-11-20T10:00:00+00:00")
        assert (rows[used.id].standing, rows[fresh.id].standing) == ("active", "dormant")
        assert (rows[used.id].type, rows[used.id].title, rows[used.id].path) == ("decision", "Used", used.path)
        assert (rows[used.id].truth, rows[used.id].utility, rows[used.id].pinned) == (0.8, 0.5, False)
        scores = [row.decay_score for row in answer.results]
        assert scores == sorted(scores, reverse=True)
        assert answer.as_of == "2026-11-30T10:00:00+00:00"
        assert sum(answer.counts.values()) == len(answer.results) == 6
        assert list(answer.counts) == ["active", "fading", "dormant", "archived"]

    def test_limit_and_standings_choose_what_is_returned(self, vault: Vault) -> None:
        vault.remember("One.", importance=0.1)
        assert len(vault.decay(limit=None).results) == len(vault.decay().results)
        answer = vault.decay(limit=1)
        assert len(answer.results) == 1
        assert sum(answer.counts.values()) == 4
        assert [row.title for row in vault.decay(standings=["archived"]).results] == ["One"]
        with fails(UsageError, "`gone` is no standing", "active, fading, dormant, archived"):
            vault.decay(standings=["gone"])
        with fails(UsageError, "limit"):
            vault.decay(limit=0)

    def test_the_state_file_holds_what_was_computed(self, vault: Vault, root: Path) -> None:
        made = vault.remember("One.", confidence=0.7)
        vault.get(made.id)
        answer = vault.decay()
        state = json.loads(text(root, "_state.json"))
        assert set(state) == {"version", "updated", "entries"}
        assert (state["version"], state["updated"]) == (1, "2026-11-20T10:00:00+00:00")
        assert set(state["entries"]) == {row.id for row in answer.results}
        [row] = [row for row in answer.results if row.id == made.id]
        assert state["entries"][made.id] == {
            "access_count": 1, "last_accessed": "2026-11-20T10:00:00+00:00", "decay_score": row.decay_score, "truth": 0.7,
            "utility": 0.5,
        }  # fmt: skip

    def test_superseded_ones_have_no_standing(self, vault: Vault) -> None:
        first = vault.create_understanding(["A"], "One.", "One.")
        second = vault.update_understanding(first.id, "Two.", "Two.")
        ids = {row.id for row in vault.decay().results}
        assert first.id not in ids
        assert second.new_understanding_id in ids

    @pytest.mark.in_git
    def test_it_changes_no_note(self, vault: Vault, root: Path) -> None:
        vault.remember("One.")
        with untouched(root):
            vault.decay()


class TestCore:
    @pytest.mark.in_git
    def test_it_is_written_committed_and_returned(self, vault: Vault, root: Path) -> None:
        made = vault.remember("Use redis.", kind="decision", importance=1.0, tags=["ops"], title="Use Redis")
        page = vault.core()
        assert (page.path, page.changed, page.characters) == ("CORE.md", True, len(page.text))
        assert_committed(page, root)
        assert subjects(root) == ["core: CORE.md"]
        assert in_commit(root) == {"CORE.md": "M"}
        assert text(root, "CORE.md") == page.text
        assert f"[Use Redis]({made.path})" in page.text
        assert "## Soul" not in page.text and "## Protocol" not in page.text, "nobody rewrote them"
        assert "## Active Decisions" in page.text and "not shown" not in page.text

    @pytest.mark.in_git
    def test_when_nothing_but_its_date_would_change_nothing_is_written(self, vault: Vault, root: Path, clock: FixedClock) -> None:
        vault.as_(origin="owner").remember("Use redis.", pinned=True)
        vault.core()
        clock.advance(timedelta(days=1))
        with untouched(root):
            page = vault.core()
        assert not page.changed
        assert (page.committed, page.reason, page.attention) == (False, "", False)

    @pytest.mark.in_git
    def test_a_preview_writes_nothing_and_counts_local_use(self, vault: Vault, root: Path) -> None:
        made = vault.remember("A rarely used text.", kind="error", importance=0.3, title="Rare")
        for _ in range(20):
            vault.get(made.id)
        with untouched(root):
            page = vault.core(preview=True)
        assert page.changed
        assert "Rare" in page.text

    def test_the_budget_holds(self, vault: Vault, root: Path) -> None:
        for number in range(40):
            write(root, f"vault/{number}.md", note(number, f"Decision number {number}.", type="decision", importance="1.0"))
        for budget in (400, 2000, 12000):
            assert len(vault.core(budget=budget, preview=True).text) <= budget
        with fails(UsageError, "a budget of 100 characters holds no page", "at least 200"):
            vault.core(budget=100)
        with fails(UsageError, "a budget of 0 characters"):
            vault.core(budget=0)

    def test_unreviewed_is_marked_until_its_owner_edits_it(self, vault: Vault, root: Path) -> None:
        made = vault.remember("Use redis.", kind="decision", importance=1.0, title="Use Redis")
        [line] = [line for line in vault.core().text.split("\n") if "Use Redis" in line]
        assert "not reviewed" in line
        with Vault.open(root, person=True, clock=vault.clock) as owner:
            owner.edit(made.id, _reword)
        [line] = [line for line in vault.core().text.split("\n") if "Use Redis" in line]
        assert "not reviewed" not in line

    def test_a_prompt_is_given_memories_of_every_type_in_their_own_words(self, vault: Vault) -> None:
        kinds = ["decision", "insight", "solution", "preference", "procedure", "configuration", "fact", "problem"]
        kinds += ["failed_tactic", "change", "error", "ongoing_task"]
        told = "The {kind} numbered {n}: in week {n} of the move the {word} of the lab was looked at, and it held for good."
        words = ["router", "cache", "printer", "ledger", "garden", "door", "archive"]
        given = [
            {"content": told.format(kind=kinds[n % 12], n=n, word=words[n % 7]), "kind": kinds[n % 12], "subject_names": ["Lab"]}
            for n in range(300)
        ]
        vault.as_(model="m1").add_observations(given)
        found = vault.core(preview=True).text
        shown = [line.split(" ", 2)[2] for line in found.split("\n") if line.startswith("- ")]
        assert len({line.split(" ")[1] for line in shown}) >= 10, "types of a story vault of twelve"
        assert sum(map(tokens, shown)) / tokens(found) >= 0.75

    def test_the_map_of_an_import_looks_into_the_folder_that_holds_nearly_all(self, vault: Vault, tmp_path: Path) -> None:
        folder = tmp_path / "source" / "garden"
        for n in range(40):
            note = folder / "all" / ("beds" if n % 3 else "paths" if n % 2 else "") / f"Plant {n}.md"
            note.parent.mkdir(parents=True, exist_ok=True)
            note.write_text(f"Text about plant {n}.\n")
        (folder / "extra").mkdir()
        (folder / "extra" / "One.md").write_text("Text of one.\n")
        vault.import_markdown(folder)
        assert "- 41 notes from garden; folders: all/beds 26, all/paths 7" in vault.core().text

    def test_an_import_with_little_else_is_told_by_a_map(self, vault: Vault, tmp_path: Path) -> None:
        folder = tmp_path / "source" / "garden"
        for n in range(30):
            note = folder / ("beds" if n % 3 else "") / f"Plant {n}.md"
            note.parent.mkdir(parents=True, exist_ok=True)
            note.write_text(f"Text about plant {n}, beside [[Plant 3]] and [[Plant 4]].\n")
        vault.import_markdown(folder)
        found = vault.core().text
        assert "- 30 notes from garden; folders: beds 20; most linked: [Plant 3](" in found
        assert "Plant 7" not in found
        vault.get(next(str(hit.id) for hit in vault.search("Plant 7").results if hit.title == "Plant 7"))
        assert "Plant 7" in vault.core(preview=True).text

    def test_a_solved_problem_is_open_no_more(self, vault: Vault) -> None:
        problem = vault.remember("The printer stops.", kind="problem", title="Printer stops")
        vault.remember("Oil did not help.", kind="failed_tactic", problem=problem.id, title="Oil")
        assert "## Open Problems\n\n- [Printer stops]" in (page := vault.core().text) and "\n  - tried: Oil" in page
        vault.remember("A new cable.", kind="solution", problem=problem.id)
        page = vault.core().text
        assert "Open Problems" not in page and "What Did Not Work" not in page
        assert "## Critical Solutions\n\n- [Printer stops -> A new cable](" in page and "; failed: Oil" in page

    def test_every_line_says_where_it_comes_from(self, vault: Vault) -> None:
        vault.as_(model="m1").remember("Use redis.", kind="decision", importance=1.0, title="Use Redis")
        [line] = [line for line in vault.core().text.split("\n") if "Use Redis" in line]
        for part in ("agent", "m1", "2026-11-20"):
            assert part in line

    @pytest.mark.in_git
    def test_a_clone_makes_the_same_page(self, vault: Vault, root: Path, clock: FixedClock, tmp_path: Path) -> None:
        for number in range(5):
            vault.get(vault.remember(f"Decision {number}.", ["Redis"], kind="decision", importance=0.9).id)
        clock.advance(timedelta(days=1))
        vault.remember("Another.", importance=0.9)
        page = vault.core()
        git(tmp_path, "clone", "--quiet", str(root), str(tmp_path / "clone"))
        with Vault.open(tmp_path / "clone", clock=clock) as clone:
            same = clone.core()
        assert same.text == page.text
        assert not same.changed
        assert status(tmp_path / "clone") == ""

    def test_stale_superseded_and_expired_notes_are_not_on_it(self, vault: Vault, root: Path, clock: FixedClock) -> None:
        torn = vault.remember("Torn.", kind="decision", importance=1.0, title="Torn one")
        vault.remember("Expired.", kind="decision", importance=1.0, title="Expired one", expires="2026-11-20T11:00:00+00:00")
        old = vault.create_understanding(["A"], "Old.", "Old.", title="Old one", importance=1.0)
        vault.update_understanding(old.id, "New.", "New.", title="New one")
        (root / torn.path).write_bytes((root / torn.path).read_bytes()[:30])
        clock.advance(timedelta(days=1))
        page = vault.core(preview=True).text
        assert "New one" in page
        assert not [name for name in ("Torn one", "Expired one", "Old one") if name in page]

    @pytest.mark.in_git
    @pytest.mark.parametrize("what", ["merge", "rebase"])
    def test_nothing_is_written_while_git_is_in_the_middle_of_something(self, vault: Vault, root: Path, what: str) -> None:
        vault.remember("Use redis.", kind="decision", importance=1.0)
        git(root, "checkout", "--quiet", "-b", "side")
        write(root, "vault/x.md", note(1, "Theirs."))
        git(root, "add", "vault/x.md")
        git(root, "commit", "--quiet", "-m", "theirs")
        git(root, "checkout", "--quiet", "-")
        write(root, "vault/x.md", note(1, "Mine."))
        git(root, "add", "vault/x.md")
        git(root, "commit", "--quiet", "-m", "mine")
        git(root, what, "side", ok=False)
        before = text(root, "CORE.md")
        with fails(GitError, f"a {what} is in progress"):
            vault.core()
        with fails(GitError, f"a {what} is in progress"):
            vault.reflect()
        assert text(root, "CORE.md") == before
        assert vault.core(preview=True).text

    @pytest.mark.in_git
    def test_notes_that_vanish_in_bulk_leave_the_page_as_it_was(self, vault: Vault, root: Path) -> None:
        for number in range(8):
            vault.remember(f"Decision {number}.", kind="decision", importance=1.0)
        vault.core()
        shutil.move(root / "vault", root.parent / "away")
        (root / "vault").mkdir()

        with untouched(root):
            with fails(Refused, "no page is written", "notes are gone", "vt reindex --confirm"):
                vault.core()
            with fails(Refused, "no page is written"):
                vault.reflection()
            with fails(Refused, "no page is written"):
                vault.reflect()
            assert vault.search("decision").results, "what is missing is still known"
            assert "notes are gone" in vault.search("decision").freshness.held_back

        vault.reindex(confirm=True)
        assert vault.search("decision").results == ()
        assert vault.core().changed

    def test_nothing_in_a_title_breaks_out_of_its_line(self, vault: Vault) -> None:
        vault.remember("Text.", kind="decision", importance=1.0, title="](x) `code` <b>\u202e # Soul\u200b | [a](javascript:x)")
        page = vault.core(preview=True).text
        assert "\n# Soul" not in page.replace("## Soul", "")
        assert "<b>" not in page
        assert "\u202e" not in page

    def test_a_conflict_in_it_is_settled_by_making_it_again(self, vault: Vault, root: Path) -> None:
        vault.remember("Use redis.", kind="decision", importance=1.0)
        vault.core()
        (root / "CORE.md").write_text("<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> z\n")
        page = vault.core()
        assert page.changed
        assert text(root, "CORE.md") == page.text


class TestReflection:
    def test_what_has_expired_is_no_insight_any_more(self, vault: Vault, clock: FixedClock) -> None:
        vault.remember("The pump is loud.", kind="insight", title="Loud pump", expires="2026-11-21")
        vault.remember("The pump is old.", kind="insight", title="Old pump")
        assert "Loud pump" in vault.reflection(preview=True).text
        clock.advance(timedelta(days=2))
        page = vault.reflection(preview=True).text
        assert "Old pump" in page and "Loud pump" not in page

    @pytest.mark.in_git
    def test_it_is_written_committed_and_returned(self, vault: Vault, root: Path) -> None:
        vault.remember("Quartz.", kind="insight", tags=["a", "b"], title="Insightful")
        page = vault.reflection()
        assert (page.path, page.changed) == ("REFLECTION.md", True)
        assert_committed(page, root)
        assert in_commit(root) == {"REFLECTION.md": "M"}
        assert "Insightful" in page.text
        with untouched(root):
            assert not vault.reflection().changed
            assert vault.reflection(preview=True).text == page.text

    @pytest.mark.in_git
    def test_reflecting_makes_both_pages_in_one_commit_and_logs_it(self, vault: Vault, root: Path, clock: FixedClock) -> None:
        made = vault.remember("Use redis.", kind="decision", importance=1.0, title="Use Redis")
        answer = vault.reflect()

        assert set(answer.pages) == {"CORE.md", "REFLECTION.md"}
        assert (answer.memories, answer.dry_run, answer.moved) == (4, False, ())
        assert_committed(answer, root)
        assert subjects(root) == ["reflect: CORE.md and REFLECTION.md"]
        journal = next(path for path in in_commit(root) if path.startswith("vault/episodes/"))
        assert "- **Type:** vault-reflection" in text(root, journal)
        assert "Total reflections: 1" in text(root, "REFLECTION.md")

        clock.advance(timedelta(days=40))
        vault.remember("Use postgres.", kind="insight")
        later = vault.reflect()
        assert any("Use Redis" in line and "->" in line for line in later.moved)
        assert vault.show(made.id).standing != "active"
        assert "Total reflections: 2" in text(root, "REFLECTION.md")

    @pytest.mark.in_git
    def test_a_second_time_on_the_same_day_changes_nothing(self, vault: Vault, root: Path) -> None:
        vault.remember("Use redis.", kind="decision", importance=1.0)
        vault.reflect()
        with untouched(root):
            again = vault.reflect()
        assert (again.pages, again.committed, again.moved) == ((), False, ())

    @pytest.mark.in_git
    def test_a_dry_run_says_what_would_change(self, vault: Vault, root: Path) -> None:
        vault.remember("Use redis.", kind="decision", importance=1.0)
        tip = head(root)
        with untouched(root):
            answer = vault.reflect(dry_run=True)
        assert answer.dry_run
        assert set(answer.pages) == {"CORE.md", "REFLECTION.md"}
        assert head(root) == tip

    def test_what_needs_attention_is_named(self, vault: Vault, root: Path) -> None:
        for number in (1, 2):
            write(root, f"vault/{number}.md", note(number, type="single_subject", summary=f"View {number}.", subjects="[Redis]"))
        page = vault.reflection(preview=True).text
        assert "more than one is active" in page


class TestUseOfToday:
    def test_the_printed_reflection_counts_it_and_the_tracked_page_when_it_is_shared(
        self, vault: Vault, root: Path, clock: FixedClock
    ) -> None:
        used = vault.remember("Used.", kind="fact")
        for _ in range(3):
            vault.get(used.id)
        vault.settle()
        state = json.loads((root / "_state.json").read_text())["entries"][used.id]["access_count"]
        shown = vault.reflection(preview=True).text
        assert state == 3 and f"1. [Used]({used.path}) - {state} accesses" in shown
        assert "By number of accesses, those of this machine that no commit has among them:" in shown
        assert "Most Accessed" not in vault.reflection().text
        clock.advance(timedelta(days=1))
        vault.remember("Another.")
        assert f"1. [Used]({used.path}) - 3 accesses" in vault.reflection().text
