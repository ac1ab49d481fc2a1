from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from tests.cli.typed import vt
from tests.git_repos import commit_all, write
from tests.statuses import said
from tests.verbs.looking import (
    codes,
    fails,
    head,
    identity,
    note,
    untouched,
)
from vault_tool import Vault
from vault_tool.errors import Ambiguous, NotFound
from vault_tool.features.recall.recall import Bundle
from vault_tool.util.clock import FixedClock
from vault_tool.vault.answers import HYPOTHESIS_NOTICE

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""


class TestGetAndShow:
    def test_every_field_is_true_of_the_note(self, vault: Vault) -> None:
        made = vault.remember("It drops.\n\nAfter 300 s.", ["Redis"], kind="problem", confidence=0.7, importance=0.6)
        shown = vault.show(made.id)

        assert (shown.id, shown.record_class, shown.type, shown.title) == (made.id, "observation", "problem", "It drops")
        assert (shown.subjects, shown.summary, shown.content) == (("Redis",), None, "It drops.\n\nAfter 300 s.")
        assert (shown.path, shown.head["confidence"]) == (made.path, 0.7)
        assert (shown.relations, said(shown, "superseded")) == ((), ())
        assert (shown.truth, shown.utility) == (0.7, 0.5)
        assert (shown.access_count, shown.last_accessed) == (0, None)
        assert shown.decay_score == pytest.approx(0.6 * 0.5 * 0.9)
        assert shown.standing == "fading"
        assert (shown.generation, shown.created, shown.origin) == (0, "2026-11-20T10:00:00+00:00", "agent")
        assert (shown.stale, shown.notice, shown.belief, shown.posterior) == (False, HYPOTHESIS_NOTICE, None, None)
        assert shown.freshness.checked == "2026-11-20T10:00:00+00:00"

    def test_getting_counts_and_showing_does_not(self, vault: Vault, clock: FixedClock) -> None:
        made = vault.remember("Text.", kind="fact")
        vault.show(made.id)
        clock.advance(timedelta(hours=1))
        vault.as_(session="s1").get(made.id)
        vault.get(made.id)
        shown = vault.show(made.id)
        assert (shown.access_count, shown.last_accessed) == (2, "2026-11-20T11:00:00+00:00")
        assert [use.session for use in vault.local.uses()] == ["s1", ""]

    @pytest.mark.in_git
    def test_reading_writes_no_note_and_makes_no_commit(self, vault: Vault, root: Path) -> None:
        made = vault.remember("Text.")
        with untouched(root):
            vault.get(made.id)
            vault.show(made.id, belief=True)
            vault.related(made.id)

    def test_a_memory_answers_to_id_prefix_path_and_name(self, vault: Vault, root: Path) -> None:
        made = vault.remember("Text.", ["Home lab"])
        for named in (
            made.id,
            made.id.upper(),
            made.id[:4],
            made.path,
            str(root / made.path),
            f" {made.id} ",
        ):
            assert vault.show(named).id == made.id, named
        assert vault.show("home_lab").record_class == "subject"

    def test_a_path_may_be_relative_to_where_one_stands(self, vault: Vault, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        made = vault.remember("Text.")
        monkeypatch.chdir((root / made.path).parent)
        assert vault.show(Path(made.path).name).id == made.id

    def test_what_answers_to_nothing_is_said_with_advice(self, vault: Vault) -> None:
        with fails(NotFound, "`deadbeef`", "vt search"):
            vault.show("deadbeef")
        with fails(NotFound, "`ab`", "at least 4 characters"):
            vault.show("ab")
        with fails(NotFound, "vt search"):
            vault.show("../../etc/passwd.md")
        with fails(NotFound, "nothing was named"):
            vault.show(" ")

    def test_an_ambiguous_prefix_lists_what_it_could_be(self, vault: Vault, root: Path) -> None:
        for number in range(8):
            copy = note(0, title=f"Note {number}").replace(identity(0), f"abcdef{number:02}" + identity(0)[8:])
            write(root, f"vault/{number}.md", copy)
        with fails(Ambiguous, "`abcdef`", "abcdef00 (Note 0)", "abcdef04 (Note 4)", "and others", "type more of the id"):
            vault.get("abcdef")
        assert vault.get("abcdef07").title == "Note 7"

    def test_two_files_of_one_id_are_both_named(self, vault: Vault, root: Path) -> None:
        write(root, "vault/a.md", note(1, "One."))
        write(root, "vault/b.md", note(1, "Two."))
        with fails(Ambiguous, identity(1), "vault/a.md, vault/b.md"):
            vault.get(identity(1)[:8])
        assert vault.show("vault/b.md").content == "Two."
        assert codes(vault).count("duplicate-id") == 2

    def test_a_name_that_two_subjects_claim_is_no_duplicate_id(self, vault: Vault, root: Path) -> None:
        for number in (1, 2):
            write(root, f"vault/subjects/{number}.md", f"---\nid: {identity(number)}\ntype: subject\nname: Redis\n---\n")
        with fails(Ambiguous, "`Redis` could be"):
            vault.show("Redis")

    def test_a_hand_edit_is_seen_at_once(self, vault: Vault, root: Path) -> None:
        made = vault.remember("Old text.")
        file = root / made.path
        file.write_bytes(file.read_bytes().replace(b"Old text.", b"New text!"))
        shown = vault.get(made.id)
        assert shown.content == "New text!"
        assert shown.freshness.changed == 1

    def test_a_moved_note_is_the_same_memory(self, vault: Vault, root: Path) -> None:
        made = vault.remember("Text.")
        vault.get(made.id)
        (root / "vault/elsewhere").mkdir()
        (root / made.path).rename(root / "vault/elsewhere/renamed.md")
        shown = vault.show(made.id)
        assert (shown.path, shown.access_count) == ("vault/elsewhere/renamed.md", 1)

    def test_unknown_fields_are_kept_and_shown(self, vault: Vault, root: Path) -> None:
        write(root, "vault/a.md", note(1, country="no", version="1.10", weight="3", odd="{a: [1, x]}"))
        assert {key: vault.show(identity(1)).head[key] for key in ("country", "version", "weight", "odd")} == {
            "country": "no", "version": "1.10", "weight": 3, "odd": {"a": [1, "x"]},
        }  # fmt: skip

    def test_a_note_without_an_origin_is_its_owners(self, vault: Vault, root: Path) -> None:
        write(root, "vault/a.md", note(1))
        assert vault.show(identity(1)).origin == "owner"

    def test_the_belief_comes_apart(self, vault: Vault) -> None:
        made = vault.remember("Text.", confidence=0.6)
        shown = vault.show(made.id, belief=True)
        assert shown.belief is not None
        assert shown.posterior is not None
        assert shown.belief.truth == shown.truth == 0.6
        assert set(shown.posterior) == {"truth", "utility"}
        assert 0 <= shown.posterior["truth"].low < shown.posterior["truth"].mean < shown.posterior["truth"].high <= 1

    def test_an_edge_a_subject_and_the_workspace_can_be_looked_at(self, vault: Vault, root: Path) -> None:
        one, two = vault.remember("One.", ["Redis"]), vault.remember("Two.")
        edge = vault.link(one.id, "BUILDS_ON", two.id, "Because.")
        assert vault.show(edge.id).record_class == "edge"
        assert vault.show(edge.id).content == "Because."
        assert vault.show("Redis").record_class == "subject"
        assert vault.show("vault/workspace.md").title == "Lab"


class TestRelated:
    def test_all_that_points_out_and_in_is_listed(self, vault: Vault) -> None:
        problem = vault.remember("It drops.", kind="problem")
        solution = vault.remember("Keep alive.", kind="solution", problem=problem.id)
        synthesis = vault.create_understanding(["Redis"], "All.", "In short.", source_observation_ids=[solution.id])
        evidence = vault.remember("Seen again.", related_to=[synthesis.id])
        vault.link(problem.id, "CAUSES", evidence.id, "It shows.", strength=0.4)
        newer = vault.update_understanding(synthesis.id, "More.", "Longer.")

        def shown(named: str) -> set[tuple[str, str, str]]:
            return {(one.relation, one.direction, one.id) for one in vault.related(named).results}

        assert shown(problem.id) == {("problem", "in", solution.id), ("CAUSES", "out", evidence.id)}
        assert shown(evidence.id) == {("related_to", "out", synthesis.id), ("CAUSES", "in", problem.id)}
        assert shown(solution.id) == {
            ("problem", "out", problem.id),
            ("sources", "in", synthesis.id),
            ("sources", "in", newer.new_understanding_id),
        }
        assert ("supersedes", "in", newer.new_understanding_id) in shown(synthesis.id)
        [edge] = vault.related(problem.id, types=["causes"]).results
        assert (edge.title, edge.type, edge.path, edge.why, edge.strength) == (
            "Seen again",
            "general",
            evidence.path,
            "It shows.",
            0.4,
        )
        assert edge.edge_id is not None

    def test_weak_links_of_the_text_are_followed(self, vault: Vault, root: Path) -> None:
        one, two = vault.remember("One.", ["Redis"]), vault.remember("Two.")
        path = two.path.removesuffix(".md")
        source = vault.remember(f"See [[redis|it]], [[{one.id}#why]], [[{path}]], [[nothing]] and `[[Homelab]]`.")
        found = [(link.relation, link.direction, link.title) for link in vault.related(source.id).results]
        assert found == [("link", "out", "Redis"), ("link", "out", "One"), ("link", "out", "Two")]

    def test_an_unknown_relation_is_named(self, vault: Vault) -> None:
        made = vault.remember("Text.")
        assert vault.related(made.id, types=["SOLVES"]).results == ()

    def test_a_dangling_reference_hides_nothing(self, vault: Vault, root: Path) -> None:
        problem = vault.remember("It drops.", kind="problem")
        solution = vault.remember("Keep alive.", kind="solution", problem=problem.id)
        (root / problem.path).unlink()
        assert vault.related(solution.id).results == ()
        assert "dangling-reference" in codes(vault, solution.path)


BROKEN = "---\ntags: [a\nb: {c\n---\nThe numbat eats termites.\n"


class TestAHeadThatCannotBeRead:
    @pytest.mark.in_git
    def test_the_last_committed_one_stays_in_force_over_the_text_as_it_is(self, vault: Vault, root: Path) -> None:
        made = vault.remember("The quokka sleeps.", ["Marsupials"], kind="insight", title="Of animals")
        good = (root / made.path).read_text()
        (root / made.path).write_text(BROKEN)
        found = vault.recall("what does the numbat eat")
        assert isinstance(found, Bundle)
        [hit] = found.results
        assert (hit.id, hit.type, hit.title, hit.stale) == (made.id, "insight", "Of animals", True)
        assert vault.show(made.id).head["subjects"] == ["Marsupials"]
        assert (hit.content, vault.show(made.id).content) == ("The numbat eats termites.", "The numbat eats termites.")
        again = vault.recall("quokka sleeps")
        assert isinstance(again, Bundle)
        assert again.results == ()
        (root / made.path).write_text(good)
        assert not vault.show(made.id).stale
        assert vault.show(made.id).content == "The quokka sleeps."

    @pytest.mark.parametrize("data", [BROKEN, "---\ntitle: x\nnever: closed\n\nThe numbat eats termites.\n"])
    def test_one_that_was_never_committed_is_searched_by_its_text(self, vault: Vault, root: Path, data: str) -> None:
        (root / "vault/numbat.md").write_text(data)
        found = vault.search("numbat termites")
        assert [(one.record_class, one.stale) for one in found.results] == [("page", True)]
        assert found.freshness.unreadable == 0
        assert vault.get("vault/numbat.md").content == "The numbat eats termites."
        assert [one.path for one in vault.doctor(fix=True).problems] == ["vault/numbat.md"]
        assert (root / "vault/numbat.md").read_text() == data
        (root / "vault/numbat.md").unlink()
        assert vault.search("numbat").results == ()

    @pytest.mark.in_git
    def test_what_speaks_for_the_vault_is_never_made_of_two_texts(self, vault: Vault, root: Path) -> None:
        [soul] = (root / "vault/understandings").glob("soul-*.md")
        before = vault.get(soul.relative_to(root).as_posix())
        soul.write_text(BROKEN)
        assert vault.show(before.id).content == before.content


@pytest.mark.in_git
def test_a_stale_note_is_served_as_head_has_it_and_never_committed(vault: Vault, root: Path) -> None:
    made = vault.remember("The good text.", ["Redis"], kind="decision", importance=1.0)
    tip = head(root)
    (root / made.path).write_bytes((root / made.path).read_bytes()[:40])

    shown = vault.get(made.id)
    assert (shown.stale, shown.content) == (True, "The good text.")
    assert shown.freshness.stale == (made.path,)
    [hit] = vault.search("good", kinds=["decision"]).results
    assert hit.stale
    gathered = vault.commit()
    assert [problem.path for problem in gathered.left] == [made.path]
    assert not gathered.committed
    assert head(root) == tip
    assert commit_all(root, "a person insists") != tip
    assert {problem.severity.value for problem in vault.doctor().problems if problem.path == made.path} == {"error"}


def test_a_page_is_named_as_one(vault: Vault, root: Path) -> None:
    (root / "vault" / "page.md").write_text("Page text.\n")
    with pytest.raises(NotFound, match=r"vault/page\.md is a page, not a memory; open it in an editor, or `Vault\.adopt\("):
        vault.pin("vault/page.md")


def test_a_page_is_read_by_its_path(vault: Vault, root: Path) -> None:
    write(root, "vault/How it began.md", "---\nmood: calm\n---\n\n# How it began\n\nWith a page.\n")
    page = vault.get("vault/How it began.md")
    assert (page.record_class, page.type, page.id, page.path) == ("page", "page", "", "vault/How it began.md")
    assert (page.content, page.head) == ("# How it began\n\nWith a page.", {"mood": "calm"})
    assert not [use for use in vault.local.uses() if not use.target], "a page is not used as a memory is"


class TestWeakLinks:
    def test_a_link_by_title_leads_there_and_is_seen_from_there(self, vault: Vault) -> None:
        target = vault.remember("What it is about.", title="The big picture")
        source = vault.remember("See [[The Big Picture]] and [[the-big_picture#part|that]].", title="Notes")
        assert [(r.relation, r.direction, r.id) for r in vault.related(source.id).results] == [("link", "out", target.id)]
        assert [(r.relation, r.direction, r.id) for r in vault.related(target.id).results] == [("link", "in", source.id)]
        assert [r.id for r in vault.show(target.id).relations] == [source.id]

    def test_a_link_by_the_name_that_a_person_gave_the_file(self, vault: Vault, root: Path) -> None:
        write(root, "vault/Ideas/Blue door.md", note(1, "Paint it.", title="A door"))
        write(root, "vault/Ideas/list.md", note(2, "First [[Blue Door]], then [[Ideas/blue door.md]].", title="A list"))
        assert [r.title for r in vault.related(identity(1)).results] == ["A list"]
        assert [r.title for r in vault.related(identity(2)).results] == ["A door"]

    def test_a_link_to_a_subject_and_to_an_id(self, vault: Vault) -> None:
        vault.create_subjects([{"name": "Redis", "summary": "A store."}])
        first = vault.remember("It forgets: [[Redis]].")
        second = vault.remember(f"As in [[{first.id}]].")
        subject = vault.get_subjects(["Redis"]).results[0]
        assert first.id in [r.id for r in vault.related(subject.id).results if (r.relation, r.direction) == ("link", "in")]
        assert second.id in [r.id for r in vault.related(first.id).results if r.direction == "in"]

    def test_a_link_goes_with_its_text_and_with_its_note(self, vault: Vault, root: Path) -> None:
        target = vault.remember("Text.", title="Aim")
        source = write(root, "vault/source.md", note(1, "See [[Aim]].", title="Source"))
        assert [r.title for r in vault.related(target.id).results] == ["Source"]
        source.write_text(source.read_text().replace("[[Aim]]", "nothing"))
        assert vault.related(target.id).results == ()
        source.write_text(source.read_text().replace("nothing", "[[aim]]"))
        assert [r.title for r in vault.related(target.id).results] == ["Source"]
        source.unlink()
        assert vault.related(target.id).results == ()


def test_a_timeline_tells_what_was_said_when_it_fades_and_who_was_shown_it(vault: Vault, clock: FixedClock) -> None:
    made = vault.remember("Redis drops connections.", kind="fact")
    clock.advance(timedelta(days=2))
    vault.as_(session="s1").recall("why does Redis drop connections?")
    vault.as_(session="s1").mark_useful(made.id, "it named the cause")
    found = vault.show(made.id, timeline=True).timeline
    assert found is not None
    (step,) = found.steps
    assert (step.reason, step.of, step.session) == ("it named the cause", "utility", "s1")
    assert step.utility == vault.show(made.id).utility
    assert [one.standing for one in found.fades][-1] == "archived"
    assert all(later.at > one.at for later, one in zip(found.fades_if_used, found.fades, strict=False))
    assert [(one.session, one.how) for one in found.shown] == [("s1", ("recall",))]
    assert found.curve[0].at == "2026-11-20T10:00:00+00:00"
    assert vault.as_(user="ann").show(made.id, timeline=True).timeline.shown == ()  # type: ignore[union-attr]
    assert vault.show(made.id).timeline is None
    printed = vt("show", made.id[:8], "--timeline", cwd=vault.root).stdout.splitlines()
    unused, used = (
        re.findall(r"(\w+) from (\d{4}-\d\d-\d\d)", line)
        for said in ("if nobody uses it", "if used today")
        for line in printed
        if line.startswith(said)
    )
    assert [standing for standing, _ in unused] == [standing for standing, _ in used] == [one.standing for one in found.fades]
    assert all(later > sooner for (_, sooner), (_, later) in zip(unused, used, strict=True))
