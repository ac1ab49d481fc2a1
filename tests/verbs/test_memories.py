from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.git_repos import commit_all, git, write
from tests.verbs.looking import (
    TODAY,
    assert_committed,
    assert_waits,
    codes,
    fails,
    head,
    identity,
    in_commit,
    note,
    subjects,
    text,
    trailers,
    untouched,
)
from vault_tool import Vault
from vault_tool.errors import Ambiguous, NotFound, Refused, UsageError
from vault_tool.util.clock import FixedClock
from vault_tool.verbs.look import EYES_FIRST


class TestGetAndShow:
    def test_every_field_is_true_of_the_note(self, vault: Vault) -> None:
        made = vault.remember("It drops.\n\nAfter 300 s.", ["Redis"], kind="problem", confidence=0.7, importance=0.6)
        shown = vault.show(made.id)

        assert (shown.id, shown.kind, shown.type, shown.title) == (made.id, "observation", "problem", "It drops")
        assert (shown.subjects, shown.summary, shown.content) == (("Redis",), None, "It drops.\n\nAfter 300 s.")
        assert (shown.path, shown.head["confidence"]) == (made.path, 0.7)
        assert (shown.relations, shown.superseded_by) == ((), ())
        assert (shown.truth, shown.utility) == (0.7, 0.5)
        assert (shown.access_count, shown.last_accessed) == (0, None)
        assert shown.decay_score == pytest.approx(0.6 * 0.5 * 0.9)
        assert shown.standing == "fading"
        assert (shown.generation, shown.created, shown.origin) == (0, "2026-11-20T10:00:00+00:00", "agent")
        assert (shown.stale, shown.notice, shown.belief, shown.posterior) == (False, EYES_FIRST, None, None)
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
        assert vault.show("home_lab").kind == "subject"

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
        assert vault.show(edge.id).kind == "edge"
        assert vault.show(edge.id).content == "Because."
        assert vault.show("Redis").kind == "subject"
        assert vault.show("vault/workspace.md").title == "Lab"


class TestPin:
    def test_one_line_is_added_and_taken_away_again(self, vault: Vault, root: Path) -> None:
        made = vault.remember("Text.", title="A note")
        before = (root / made.path).read_bytes()

        pinned = vault.pin(made.id[:8])

        assert (pinned.id, pinned.title, pinned.pinned, pinned.changed, pinned.path) == (made.id, "A note", True, True, made.path)
        assert_committed(pinned, root)
        assert subjects(root) == ["pin: A note"]
        assert trailers(root) == {"Vault-Op": "pin", "Vault-Ids": made.id}
        assert in_commit(root) == {made.path: "M"}
        assert (root / made.path).read_bytes() == before.replace(b"\n---\nText.", b"\npinned: true\n---\nText.")
        assert vault.show(made.id).decay_score == 999

        released = vault.pin(made.id, off=True)
        assert (released.pinned, released.changed) == (False, True)
        assert subjects(root) == ["unpin: A note"]
        assert (root / made.path).read_bytes() == before

    @pytest.mark.parametrize("off", [False, True])
    def test_a_no_op_writes_no_byte_and_makes_no_commit(self, vault: Vault, root: Path, off: bool) -> None:
        made = vault.remember("Text.", pinned=not off)
        was = (root / made.path).stat()
        with untouched(root):
            pinned = vault.pin(made.id, off=off)
        now = (root / made.path).stat()
        assert (now.st_mtime_ns, now.st_ctime_ns, now.st_ino) == (was.st_mtime_ns, was.st_ctime_ns, was.st_ino)
        assert (pinned.changed, pinned.pinned, pinned.committed, pinned.reason, pinned.attention) == (
            False,
            not off,
            False,
            "",
            False,
        )

    def test_a_false_that_is_written_out_is_what_unpinned_means(self, vault: Vault, root: Path) -> None:
        write(root, "vault/a.md", note(1, pinned="false"))
        with untouched(root):
            assert not vault.pin(identity(1), off=True).changed
        assert vault.pin(identity(1)).changed
        assert text(root, "vault/a.md") == note(1, pinned="true")

    @pytest.mark.parametrize(
        "data",
        [
            b"---\r\nid: {id}\r\ntype: fact\r\n---\r\nText.\r\n",
            b"\xef\xbb\xbf---\nid: {id}\ntype: fact\n---\nText.\n",
            b"---\n# mine\nid: {id} # the id\ntype:   fact\n\n# below\n---\nText.",
            b"---\nid: '{id}'\ntype: \"fact\"\ncountry: no\nver: 1.10\ntime: 12:30\n---\nText.  \n\n\n",
            b"---\ntype: fact\ntags:\n- b\n-   a\nid: {id}\nnotes: |\n  kept\n   as is\n---\n\nText with trailing spaces   \n",
        ],
        ids=["crlf", "bom", "comments", "traps", "blocks"],
    )  # fmt: skip
    def test_odd_heads_keep_every_other_byte(self, vault: Vault, root: Path, data: bytes) -> None:
        data = data.replace(b"{id}", identity(1).encode())
        write(root, "vault/odd.md", "")
        (root / "vault/odd.md").write_bytes(data)
        end = b"\r\n" if b"\r\n" in data else b"\n"

        assert_committed(vault.pin(identity(1)), root)

        after = (root / "vault/odd.md").read_bytes()
        assert [line for line in after.split(b"\n") if not line.startswith(b"pinned")] == data.split(b"\n")
        assert after.count(b"pinned: true" + end) == 1
        vault.pin(identity(1), off=True)
        assert (root / "vault/odd.md").read_bytes() == data

    @pytest.mark.parametrize(
        "data",
        ["---\n{id: %s, type: fact}\n---\nText.\n", "---\n? id\n: %s\n? type\n: fact\n---\nText.\n"],
        ids=["flow", "explicit-key"],
    )
    def test_a_head_that_cannot_be_edited_is_refused_in_one_line(self, vault: Vault, root: Path, data: str) -> None:
        write(root, "vault/flow.md", data % identity(1))
        assert vault.show(identity(1)).type == "fact", "it can be read"
        with untouched(root), fails(Refused):
            vault.pin(identity(1))

    def test_a_note_that_cannot_be_read_is_not_edited(self, vault: Vault, root: Path) -> None:
        made = vault.remember("Text.")
        (root / made.path).write_bytes(
            (root / made.path).read_bytes().replace(b"type: general\n", b"type: general\ntype: fact\n")
        )
        assert vault.show(made.id).stale
        with untouched(root), fails(Refused, made.path):
            vault.pin(made.id)

    def test_a_copied_id_is_refused_and_both_are_named(self, vault: Vault, root: Path) -> None:
        write(root, "vault/a.md", note(1))
        write(root, "vault/b.md", note(1))
        with untouched(root), fails(Ambiguous, "vault/a.md, vault/b.md"):
            vault.pin(identity(1))

    def test_a_hand_edit_that_waits_goes_along_with_the_note_that_is_pinned(self, vault: Vault, root: Path) -> None:
        made = vault.remember("Old.")
        file = root / made.path
        file.write_bytes(file.read_bytes().replace(b"Old.", b"New."))
        assert_committed(vault.pin(made.id), root)
        assert "New." in text(root, made.path)
        assert git(root, "show", f"HEAD:{made.path}") == text(root, made.path).rstrip("\n")

    @pytest.mark.parametrize("kind", ["edge", "workspace"])
    def test_what_does_not_fade_cannot_be_pinned(self, vault: Vault, root: Path, kind: str) -> None:
        edge = vault.link(vault.remember("One.").id, "FOLLOWS", vault.remember("Two.").id)
        named = {"edge": edge.id, "workspace": "vault/workspace.md"}[kind]
        with untouched(root), fails(UsageError, kind):
            vault.pin(named)


class TestLink:
    def test_every_field_is_true_of_the_file(self, vault: Vault, root: Path) -> None:
        problem = vault.remember("It drops.", kind="problem")
        solution = vault.remember("Keep alive.", kind="solution", problem=problem.id)
        made = vault.as_(session="s1").link(
            solution.id[:8],
            "solves",
            problem.id[:8],
            "Since then\nnot once.",
            strength=0.9,
            confidence=0.8,
            evidence=["test:soak"],
        )
        assert (made.type, made.from_id, made.to_id) == ("SOLVES", solution.id, problem.id)
        assert (made.from_title, made.to_title, made.duplicate_of) == ("Keep alive", "It drops", None)
        assert made.path == f"vault/edges/keep-alive--SOLVES--it-drops-{made.id[:6]}.md"
        assert_committed(made, root)
        assert text(root, made.path) == (
            f"---\nid: {made.id}\ntype: SOLVES\nfrom_id: {solution.id}\nfrom_title: Keep alive\nto_id: {problem.id}\n"
            'to_title: It drops\nstrength: 0.9\nevidence: ["test:soak"]\nconfidence: 0.8\ncreated: 2026-11-20T10:00:00+00:00\n'
            "session: s1\norigin: agent\n---\nSince then\nnot once.\n"
        ).replace('["test:soak"]', _evidence(text(root, made.path)))
        assert subjects(root) == ["link: Keep alive SOLVES It drops"]
        assert trailers(root)["Vault-Ids"] == made.id
        assert "- **Summary:** Since then not once." in text(root, f"vault/episodes/{TODAY}.{vault.local.token()}.md")

    def test_the_same_link_again_writes_nothing(self, vault: Vault, root: Path) -> None:
        one, two = vault.remember("One."), vault.remember("Two.")
        first = vault.link(one.id, "BUILDS_ON", two.id)
        with untouched(root):
            again = vault.link(one.id, "builds-on", two.id, "Another reason.")
        assert (again.id, again.duplicate_of, again.path, again.committed) == (first.id, first.id, first.path, False)
        assert vault.link(two.id, "BUILDS_ON", one.id).duplicate_of is None, "the other direction is another link"
        assert vault.link(one.id, "FOLLOWS", two.id).duplicate_of is None

    def test_wrong_links_are_refused(self, vault: Vault, root: Path) -> None:
        one, two = vault.remember("One.", ["Redis"]), vault.remember("Two.")
        with untouched(root):
            with fails(UsageError, "`LIKES` is not a type of edge".replace("LIKES", "likes"), "SOLVES, CAUSES"):
                vault.link(one.id, "likes", two.id)
            with fails(UsageError, "cannot be linked to itself"):
                vault.link(one.id, "FOLLOWS", one.id)
            with fails(UsageError, "strength must be from 0 to 1, not 2"):
                vault.link(one.id, "FOLLOWS", two.id, strength=2)
            with fails(UsageError, "confidence must be from 0 to 1"):
                vault.link(one.id, "FOLLOWS", two.id, confidence=-1)
            with fails(UsageError, "`Redis` is a subject", "a memory tagged with both"):
                vault.link(one.id, "FOLLOWS", "Redis")
            with fails(UsageError, "is a workspace"):
                vault.link(one.id, "FOLLOWS", "vault/workspace.md")
            with fails(NotFound, "deadbeef"):
                vault.link(one.id, "FOLLOWS", "deadbeef")

    def test_a_story_may_hang_on_a_subject(self, vault: Vault) -> None:
        one = vault.remember("One.", ["Cellar"])
        made = vault.link(one.id, "AT_LOCATION", "cellar")
        assert made.to_title == "Cellar"
        [relation] = vault.related("Cellar").results
        assert (relation.relation, relation.direction, relation.id) == ("AT_LOCATION", "in", one.id)


def _evidence(shown: str) -> str:
    """Whether a short list's item needs quotes is for the writer of heads to say."""
    return next(line.removeprefix("evidence: ") for line in shown.split("\n") if line.startswith("evidence: "))


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


class TestEpisode:
    def test_what_happened_stands_in_the_days_log(self, vault: Vault, root: Path) -> None:
        about = vault.remember("It drops.")
        made = vault.as_(session="s1").episode("Met\nKim", "About\nRedis.", type="meeting", tags=["team"], memory=about.id[:8])

        assert (made.at, made.title) == ("2026-11-20T10:00:00+00:00", "Met Kim")
        assert_committed(made, root)
        journal = f"vault/episodes/{TODAY}.{vault.local.token()}.md"
        assert text(root, journal).endswith(
            "\n## 10:00 #2 - Met Kim\n- **Type:** meeting\n- **Tags:** team\n"
            f"- **Memory:** [{Path(about.path).stem}](../observations/2026/11/{Path(about.path).name})\n"
            "- **Summary:** About Redis.\n"
        )
        assert subjects(root) == ["episode: Met Kim"]
        assert in_commit(root) == {journal: "M"}
        assert trailers(root) == {"Vault-Op": "episode", "Vault-Session": "s1", "Vault-Ids": about.id}

    def test_nothing_in_a_title_can_begin_another_entry(self, vault: Vault, root: Path) -> None:
        vault.episode("A\n## 11:11 - forged", "x\n\n## 12:12 - forged too")
        journal = text(root, f"vault/episodes/{TODAY}.{vault.local.token()}.md")
        assert [line for line in journal.split("\n") if line.startswith("## ")] == ["## 10:00 - A ## 11:11 - forged"]

    def test_it_needs_a_title_and_a_memory_that_is_there(self, vault: Vault, root: Path) -> None:
        with untouched(root):
            with fails(UsageError, "needs a title"):
                vault.episode(" \n ")
            with fails(NotFound, "deadbeef"):
                vault.episode("Title", memory="deadbeef")

    def test_each_day_has_its_file(self, vault: Vault, root: Path, clock: FixedClock) -> None:
        vault.episode("One")
        clock.advance(timedelta(days=1))
        vault.episode("Two")
        token = vault.local.token()
        assert text(root, f"vault/episodes/2026-11-21.{token}.md") == "# 2026-11-21\n\n## 10:00 - Two\n"

    def test_a_journal_that_somebody_edited_is_left_and_another_begun(self, vault: Vault, root: Path) -> None:
        vault.episode("One")
        journal = root / f"vault/episodes/{TODAY}.{vault.local.token()}.md"
        journal.write_text(edited := journal.read_text() + "\nMine.\n")
        made = vault.episode("Two")
        assert journal.read_text() == edited
        assert_committed(made, root)
        [fresh] = in_commit(root)
        assert fresh != journal.relative_to(root).as_posix()
        assert text(root, fresh).endswith("## 10:00 - Two\n")


def test_a_stale_note_is_served_as_head_has_it_and_never_committed(vault: Vault, root: Path) -> None:
    made = vault.remember("The good text.", ["Redis"], kind="decision", importance=1.0)
    tip = head(root)
    (root / made.path).write_bytes((root / made.path).read_bytes()[:40])

    shown = vault.get(made.id)
    assert (shown.stale, shown.content) == (True, "The good text.")
    assert shown.freshness.stale == (made.path,)
    [hit] = vault.search("good").results
    assert hit.stale
    gathered = vault.commit()
    assert [problem.path for problem in gathered.left] == [made.path]
    assert not gathered.committed
    assert head(root) == tip
    assert commit_all(root, "a person insists") != tip
    assert_waits_nothing = vault.doctor()
    assert any(problem.path == made.path and problem.severity == "error" for problem in assert_waits_nothing.problems)


def test_the_saved_note_of_a_detached_head_says_what_to_do(vault: Vault, root: Path) -> None:
    git(root, "checkout", "--quiet", "--detach")
    made = vault.remember("Text.")
    assert_waits(made, "detached", "git switch")
    assert vault.show(made.id).content == "Text."
