from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.bounds import CAMPAIGN
from tests.git_repos import commit_all, git, write
from tests.oracles import assert_as_built_anew
from tests.verbs.looking import assert_committed, codes, found, head, identity, in_commit, note, subjects, text, untouched
from tests.wording import all_typed, typed
from vault_tool import Vault
from vault_tool.files.layout import DERIVED
from vault_tool.util.clock import FixedClock

Once = Callable[[Callable[[Vault], Any]], Any]


def build(vault: Vault) -> None:
    """A little of everything, some of it by hand."""
    problem = vault.remember("It drops quartz.", ["Redis"], kind="problem")
    solution = vault.remember("Keep quartz alive.", ["Redis", "Rack"], kind="solution", problem=problem.id)
    vault.link(solution.id, "SOLVES", problem.id, "It did.", strength=0.9)
    vault.create_understanding(["Redis"], "All quartz.", "Short.", source_observation_ids=[solution.id])
    write(vault.root, "vault/page.md", "# Page\n\nQuartz by hand.\n")
    vault.get(problem.id)


def answers(vault: Vault) -> dict[str, Any]:
    """What a person sees, without times."""
    found = {word: [(one.path, one.score) for one in vault.search(word).results] for word in ("quartz", "redis", "short", "hand")}
    return found | {
        "subjects": vault.get_subjects().results,
        "scores": {row.id: row.decay_score for row in vault.decay().results},
        "core": vault.core(preview=True).text,
        "problems": vault.doctor().problems,
        "counts": vault.status().counts,
    }


class TestStatus:
    def test_a_new_vault_is_in_order(self, vault: Vault, root: Path) -> None:
        now = vault.status()
        assert (now.root, now.name) == (str(root), "Lab")
        assert now.counts["understanding"] == 3
        assert now.counts["workspace"] == 1
        assert (now.pages, now.generation) == (0, 0)
        assert (now.git.commit, now.git.uncommitted, now.git.conflicted) == (head(root), 0, ())
        assert (now.git.waiting, now.git.obstacle, now.git.remotes, now.git.absence) == (0, None, (), "")
        assert now.git.branch == git(root, "branch", "--show-current")
        assert sum(now.problems.values()) == 0
        assert all_typed(now.next) == ["search is by words alone: `vt embed --download` fetches the local model"]
        assert (now.embeddings.provider, now.embeddings.vectors) == ("none", None)

    def test_what_is_to_be_done_is_said(self, vault: Vault, root: Path, once: Once) -> None:
        once(build)
        write(root, "vault/bad.md", "---\nid: [\n---\nText.\n")
        git(root, "remote", "add", "origin", "https://example.org/x.git")
        now = vault.status()
        assert (now.git.uncommitted, now.pages, now.git.remotes) == (2, 1, ("origin",))
        assert now.problems["error"] == 1
        assert any("`vt doctor` names 1 error" in typed(line) for line in now.next)
        assert any("2 uncommitted files" in line and "`vt commit`" in typed(line) for line in now.next)

    def test_what_waits_on_this_machine_alone_is_counted_and_not_shown(self, vault: Vault, root: Path) -> None:
        asked = partial(vault.turn, "s1", "u1", "tavern", "Call me Ash.", mode="memory_consent", extractMemory=True)
        asked(candidates=[{"content": "She is called Ash."}], write="later")
        answer = vault.status()
        assert (answer.for_review, answer.turns) == (0, 1)
        assert "`vt turn --drain` writes 1 turn that waits" in all_typed(answer.next)
        vault.drain()
        answer = vault.status()
        assert (answer.for_review, answer.turns) == (1, 0)
        assert "`vt review` decides on 1 memory that waits for a person" in all_typed(answer.next)
        assert "Ash" not in str(answer)

    def test_an_obstacle_is_named(self, vault: Vault, root: Path) -> None:
        git(root, "bisect", "start")
        obstacle = vault.status().git.obstacle
        assert obstacle is not None
        assert "git bisect reset" in obstacle
        assert obstacle in vault.status().next


class TestDoctor:
    def test_a_vault_in_order_has_no_findings(self, vault: Vault, root: Path, once: Once) -> None:
        once(build)
        (root / "vault/page.md").unlink()
        seen = vault.doctor()
        assert (seen.problems, dict(seen.counts), seen.findings, seen.fixed) == ((), {}, False, ())

    @pytest.mark.parametrize(
        ("content", "code", "severity", "line"),
        [
            ("---\nid: {id}\ntype: fact\ntype: fix\n---\nText.\n", "duplicate-key", "error", 4),
            ("---\nid: {id}\ntype: fact\nText.\n", "unclosed-head", "error", 1),
            ("---\n- a\n---\nText.\n", "head-not-a-mapping", "error", 2),
            ("---\nid: {id}\ntype: fact\nx: &a [1]\n---\nText.\n", "anchor", "error", 4),
            ("---\nid: {id}\ntype: fact\n---\n", "empty-body", "error", 1),
            ("---\nid: {id}\ntype: subject\n---\n", "missing-field", "error", 1),
            ("---\nid: {id}\ntype: fact\nconfidence: high\n---\nText.\n", "wrong-kind", "warning", 4),
            ("---\nid: {id}\ntype: fact\nproblem: {other}\n---\nText.\n", "dangling-reference", "warning", None),
            ("---\nid: {id}\ntype: recipe\n---\nText.\n", "unknown-type", "note", None),
            ("---\nid: {id}\ntype: fact\nsubjects: [Nobody]\n---\nText.\n", "missing-subject-file", "note", None),
            ("# A page\n\nText.\n", "page", "note", None),
            ("---\nid: 12\ntype: fact\n---\nText.\n", "page", "note", None),
            ("\xff\xfe bytes", "not-text", "error", None),
        ],
    )  # fmt: skip
    def test_each_fault_is_named_with_its_place_and_a_way_out(
        self, vault: Vault, root: Path, content: str, code: str, severity: str, line: int | None
    ) -> None:
        data = content.replace("{id}", identity(1)).replace("{other}", identity(9))
        write(root, "vault/odd.md", "")
        (root / "vault/odd.md").write_bytes(data.encode("latin-1"))
        with untouched(root):
            problems = [one for one in vault.doctor().problems if one.path == "vault/odd.md"]
        assert code in {one.code for one in problems}, problems
        [problem] = [one for one in problems if one.code == code]
        assert problem.severity == severity
        assert line in (None, problem.line)
        assert problem.message
        assert problem.hint
        assert vault.doctor().findings == (severity != "note")
        assert vault.remember("Others go on.").committed

    def test_a_derived_file_that_git_tracks_is_found(self, vault: Vault, root: Path) -> None:
        vault.remember("Text.")
        vault.settle()
        git(root, "add", "--force", "_index.json")
        assert ("_index.json", "derived-tracked") in {(one.path, one.code) for one in vault.doctor().problems}

    def test_a_lost_gitignore_is_found_and_nothing_derived_is_ever_staged(self, vault: Vault, root: Path) -> None:
        vault.remember("Text.")
        vault.settle()
        (root / ".gitignore").unlink()
        assert {one.path for one in vault.doctor().problems if one.code == "derived-not-ignored"} >= {
            "_index.json",
            "_local",
            "_cache",
        }
        vault.remember("More.")
        vault.commit()
        assert not [path for path in git(root, "ls-files").split("\n") if path.startswith("_")]

    def test_undo_of_fixing_takes_the_edges_away_and_gives_the_relations_back(self, vault: Vault, root: Path) -> None:
        for number, relations in ((1, f"relations:\n- {{target: {identity(2)}, type: SOLVES}}\n"), (2, "")):
            write(root, f"vault/{number}.md", f"---\nid: {identity(number)}\ntype: fact\n{relations}---\nText.\n")
        commit_all(root, "by hand")
        before = text(root, "vault/1.md")
        done = vault.doctor(fix=True)
        assert done.commit and "relations" not in text(root, "vault/1.md") and len(list((root / "vault/edges").iterdir())) == 1
        owner = Vault.open(root, person=True)
        undone = owner.undo(done.commit)
        assert text(root, "vault/1.md") == before and list((root / "vault/edges").glob("*.md")) == [] and undone.kept == ()
        assert undone.commit and owner.undo(undone.commit).committed
        assert "relations" not in text(root, "vault/1.md") and len(list((root / "vault/edges").iterdir())) == 1

    def test_fixing_adopts_pages_and_makes_edges_of_relations(self, vault: Vault, root: Path) -> None:
        write(root, "vault/page.md", "# Page\n\nQuartz.\n")
        write(root, "vault/empty.md", "")
        write(root, "vault/two.md", note(2, "Two."))
        to_two = f"target: {identity(2)}"
        relations = (
            f"- {{{to_two}, type: SOLVES, strength: 0.7, context: It did.}}\n- {{{to_two}, type: FOLLOWS, direction: incoming}}\n"
        )
        write(root, "vault/one.md", f"---\nid: {identity(1)}\ntype: fact\nrelations:\n{relations}---\nOne.\n")

        seen = vault.doctor(fix=True)

        assert_committed(seen, root)
        assert subjects(root) == ["doctor: mended 2 files"]
        assert len(seen.fixed) == 2
        assert text(root, "vault/one.md") == note(1, "One.")
        made = {(one.relation, one.direction, one.strength, one.why) for one in vault.related(identity(1)).results}
        assert made == {("SOLVES", "out", 0.7, "It did."), ("FOLLOWS", "in", None, "")}
        assert text(root, "vault/page.md").endswith("---\n# Page\n\nQuartz.\n")
        assert vault.search("quartz").results[0].record_class == "observation"
        assert codes(vault, "vault/empty.md") == ["page"], "there is nothing to remember in it"
        assert not vault.doctor().findings
        with untouched(root):
            assert vault.doctor(fix=True).fixed == ()

    def test_a_relation_to_nothing_stays_in_the_head(self, vault: Vault, root: Path) -> None:
        write(
            root,
            "vault/one.md",
            f"---\nid: {identity(1)}\ntype: fact\nrelations:\n- {{target: {identity(9)}, type: SOLVES}}\n---\nOne.\n",
        )
        commit_all(root, "mine")
        with untouched(root):
            assert vault.doctor(fix=True).fixed == ()
        assert "relations-in-head" in codes(vault, "vault/one.md")

    def test_a_head_that_cannot_be_edited_does_not_stop_the_others(self, vault: Vault, root: Path) -> None:
        write(
            root,
            "vault/flow.md",
            f"---\n{{id: {identity(1)}, type: fact, relations: [{{target: {identity(2)}, type: SOLVES}}]}}\n---\nText.\n",
        )
        write(root, "vault/two.md", note(2, "Two."))
        write(root, "vault/page.md", "# Page\n\nQuartz.\n")
        seen = vault.doctor(fix=True)
        assert [line.split(":")[0] for line in seen.fixed] == ["vault/page.md"]
        assert not (root / "vault/edges").exists()


class TestReindex:
    def test_it_counts_what_it_finds(self, vault: Vault, root: Path) -> None:
        made = vault.remember("One.")
        gone = vault.remember("Two.")
        vault.status()
        write(root, "vault/new.md", note(1))
        (root / made.path).write_bytes((root / made.path).read_bytes() + b"More.\n")
        (root / gone.path).unlink()
        write(root, "vault/bad.md", "---\nid: [\n---\n")

        seen = vault.reindex()
        assert (seen.added, seen.modified, seen.removed) == (2, 1, 1)
        assert (seen.stale, seen.held_back) == ((), "")
        assert seen.problems >= 1
        again = vault.reindex()
        assert (again.added, again.modified, again.removed) == (0, 0, 0)
        assert again.unchanged == again.count == seen.count
        assert again.seconds >= 0

    def test_a_full_one_changes_no_answer(self, vault: Vault, root: Path, once: Once) -> None:
        once(build)
        before = answers(vault)
        seen = vault.reindex(full=True)
        assert seen.count == vault.status().pages + sum(vault.status().counts.values())
        assert answers(vault) == before

    def test_it_changes_no_note(self, vault: Vault, root: Path, once: Once) -> None:
        once(build)
        with untouched(root):
            vault.reindex()
            vault.reindex(full=True)

    def test_notes_that_vanish_in_bulk_are_kept_until_a_person_says_so(self, vault: Vault, root: Path) -> None:
        for number in range(1, 7):
            write(root, f"vault/n/{number}.md", note(number, f"Quartz {number}.", title=f"N{number}"))
        commit_all(root, "mine")
        assert len(found(vault, "quartz")) == 6
        shutil.move(root / "vault", root.parent / "away")

        seen = vault.reindex()
        assert (seen.removed, len(found(vault, "quartz"))) == (0, 6)
        assert "10 of 10 notes are gone" in seen.held_back
        assert seen.held_back in vault.status().freshness.held_back
        assert any("vt reindex --confirm" in typed(line) for line in vault.status().next)
        assert vault.get(identity(3)).content == "Quartz 3.", "HEAD still has it"

        shutil.move(root.parent / "away", root / "vault")
        assert vault.status().freshness.held_back == ""

        shutil.rmtree(root / "vault/n")
        shutil.rmtree(root / "vault/understandings")
        (root / "vault/workspace.md").unlink()
        assert vault.reindex().removed == 0
        assert vault.reindex(confirm=True).removed == 10
        assert found(vault, "quartz") == []

    def test_what_git_explains_is_no_alarm(self, vault: Vault, root: Path) -> None:
        empty = head(root)
        for number in range(1, 9):
            write(root, f"vault/n/{number}.md", note(number, f"Quartz {number}."))
        commit_all(root, "mine")
        assert len(found(vault, "quartz")) == 8
        git(root, "checkout", "--quiet", empty)
        assert found(vault, "quartz") == []
        assert vault.status().freshness.held_back == ""


class TestDerivedFiles:
    def test_the_index_file_has_the_promised_shape(self, vault: Vault, root: Path, once: Once) -> None:
        once(build)
        vault.reindex()
        index = json.loads(text(root, "_index.json"))

        assert set(index) == {"version", "updated", "count", "entries", "edges"}
        assert (index["version"], index["updated"]) == (2, "2026-11-20T10:00:00+00:00")
        entries = list(vault.index.catalog.snapshot().entries)
        assert index["count"] == len(index["entries"]) == len(entries)
        for entry in entries:
            row = index["entries"][entry.id]
            data = (root / entry.path).read_bytes()
            assert (row["path"], row["type"], row["title"], row["head"]) == (
                entry.path,
                entry.type,
                entry.title,
                dict(entry.head),
            )
            assert (row["size"], row["hash"]) == (len(data), entry.hash)
            assert row["mtime"] == pytest.approx((root / entry.path).stat().st_mtime, abs=1e-3)
        problem, solution = (next(e for e in entries if e.type == kind) for kind in ("problem", "solution"))
        [edge] = [e for e in entries if e.type == "SOLVES"]
        [synthesis] = [e for e in entries if e.type == "single_subject"]
        assert index["entries"][solution.id]["references"] == {"problem": [problem.id]}
        assert index["entries"][solution.id]["referenced_by"] == {"from_id": [edge.id], "sources": [synthesis.id]}
        assert index["entries"][problem.id]["referenced_by"] == {"problem": [solution.id], "to_id": [edge.id]}
        assert index["edges"] == {
            edge.id: {"type": "SOLVES", "from_id": solution.id, "to_id": problem.id, "strength": 0.9, "path": edge.path}
        }

    def test_derived_files_are_there_after_the_first_write_and_git_ignores_them(self, vault: Vault, root: Path) -> None:
        vault.remember("Text.")
        vault.settle()
        for name in ("_index.json", "_state.json", "_cache"):
            assert (root / name).exists(), name
        assert git(root, "status", "--porcelain", "--ignored=no") == ""

    def test_all_of_them_deleted_changes_no_answer(self, vault: Vault, root: Path, clock: FixedClock, once: Once) -> None:
        once(build)
        before = answers(vault)
        vault.close()
        for name in DERIVED:
            shutil.rmtree(root / name) if (root / name).is_dir() else (root / name).unlink(missing_ok=True)
        with Vault.open(root, clock=clock) as again:
            assert answers(again) == before
            again.reindex()
            assert (root / "_index.json").exists()

    @pytest.mark.parametrize(
        ("name", "how"),
        # Every fault of one file, and one fault of every file; in a campaign each of each.
        [
            (name, how)
            for name in ("_index.json", "_state.json", "catalog")
            for how in ("deleted", "empty", "half", "garbage", "json", "other version")
            if CAMPAIGN or name == "catalog" or how == "half"
        ],
    )
    def test_one_of_them_spoilt_changes_no_answer(
        self, vault: Vault, root: Path, clock: FixedClock, name: str, how: str, once: Once
    ) -> None:
        once(build)
        before = answers(vault)
        vault.close()
        file = next((root / "_cache").glob("catalog*.sqlite3")) if name == "catalog" else root / name
        data = file.read_bytes()
        spoilt = {
            "deleted": None, "empty": b"", "half": data[: len(data) // 2], "garbage": os.urandom(len(data)), "json": b"{}",
            "other version": b'{"version": 99, "entries": {}}',
        }[how]  # fmt: skip
        file.unlink()
        if spoilt is not None:
            file.write_bytes(spoilt)
        with untouched(root), Vault.open(root, clock=clock) as again:
            assert answers(again) == before
            again.reindex()
            assert json.loads(text(root, "_index.json"))["version"] == 2
            assert json.loads(text(root, "_state.json"))["version"] == 1

    def test_they_are_spoilt_while_the_vault_is_open(self, vault: Vault, root: Path, clock: FixedClock, once: Once) -> None:
        once(build)
        before = answers(vault)
        shutil.rmtree(root / "_cache")
        (root / "_state.json").write_text("{}")
        assert answers(vault) == before
        made = vault.remember("Quartz again.")
        assert made.path in [one.path for one in vault.search("quartz").results]
        assert_as_built_anew(root, ["quartz"], clock)

    def test_local_files_are_no_part_of_it(self, vault: Vault, root: Path) -> None:
        vault.remember("Text.")
        token = vault.local.token()
        vault.reindex(full=True)
        assert vault.local.token() == token
        assert in_commit(root).keys().isdisjoint({"_local", "_index.json"})


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("id: 12\ntype: fact", "its `id` (12) is no UUID"),
        ("id: 11111111-2222-4333-8444-555555555555", "no `type` that can be one"),
        ("mood: calm", "has no `id` and `type`"),
    ],
)
def test_a_page_is_told_what_keeps_it_from_being_a_record(vault: Vault, root: Path, head: str, said: str) -> None:
    write(root, "vault/page.md", f"---\n{head}\n---\nText.\n")
    assert [said in problem.message for problem in vault.doctor().problems if problem.path == "vault/page.md"] == [True]


class TestManyFindings:
    """A vault with many findings of one kind."""

    COUNT = 120

    @pytest.fixture
    def crowded(self, vault: Vault, root: Path) -> Vault:
        for number in range(self.COUNT):
            write(root, f"vault/page-{number:03}.md", f"# Page {number}\n")
            missing = identity(500 + number)
            write(root, f"vault/observations/n{number}.md", note(number + 10, f"Text {number}.", problem=missing))
        write(root, "vault/observations/odd.md", note(5, "Alone.", evidence="[nonsense]"))
        return vault

    def test_they_are_told_once_with_their_number(self, crowded: Vault) -> None:
        found = crowded.doctor()
        assert {one.code: one.count for one in found.alike} == {"page": self.COUNT, "dangling-reference": self.COUNT}
        assert {one.code for one in found.problems} == {"malformed-evidence"}
        assert found.findings and found.left_out == 0
        assert sum(found.counts.values()) == 2 * self.COUNT + 1

    def test_every_one_is_told_when_it_is_asked_for(self, crowded: Vault) -> None:
        found = crowded.doctor(every=True)
        assert len(found.problems) == sum(found.counts.values()) == sum(crowded.doctor().counts.values())
        assert (found.alike, found.left_out) == ((), 0)

    def test_the_number_grows_and_what_is_said_does_not(self, crowded: Vault, root: Path) -> None:
        before = crowded.doctor()
        for number in range(self.COUNT):
            write(root, f"vault/more-{number:03}.md", f"# More {number}\n")
        after = crowded.doctor()
        assert len(after.problems) == len(before.problems) and len(after.alike) == len(before.alike)
        assert sum(after.counts.values()) == sum(before.counts.values()) + self.COUNT
