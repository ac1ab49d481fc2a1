from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.git_repos import git, write
from tests.verbs.looking import (
    TODAY,
    assert_committed,
    assert_waits,
    fails,
    identity,
    in_commit,
    note,
    subjects,
    text,
    trailers,
    untouched,
)
from tests.wording import all_typed
from vault_tool import Vault
from vault_tool.errors import Ambiguous, NotFound, Refused, UsageError
from vault_tool.util.clock import FixedClock


class TestPin:
    @pytest.fixture
    def vault(self, vault: Vault) -> Vault:
        """The owner's: an agent's pin waits."""
        return vault.as_(origin="owner")

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
        )
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
            "- **Session:** s1\n- **Summary:** About Redis.\n"
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


def test_the_saved_note_of_a_detached_head_says_what_to_do(vault: Vault, root: Path) -> None:
    git(root, "checkout", "--quiet", "--detach")
    made = vault.remember("Text.")
    assert_waits(made, "detached", "git switch")
    assert vault.show(made.id).content == "Text."


def test_a_link_that_is_there_with_another_reason_says_how_to_change_it(vault: Vault, root: Path) -> None:
    one, other = vault.remember("One.").id, vault.remember("Other.").id
    made = vault.link(one, "RELATED_TO", other, "Because.")
    with untouched(root):
        again = vault.link(one, "RELATED_TO", other, "For another reason.")
        same = vault.link(one, "RELATED_TO", other, "Because.")
    assert (again.duplicate_of, same.duplicate_of) == (made.id, made.id)
    assert all_typed(again.warnings) == [
        f"the link is there already and gives another reason: `vt update-link {made.id[:6]} WHY` changes it"
    ]
    assert same.warnings == ()


def test_a_memory_of_the_global_vault_is_said_to_be_there(root: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    Vault.init(shared)
    with Vault.open(shared) as other:
        there = other.remember("The owner prefers short answers.", kind="preference").id
    with Vault.open(root, environ={"VAULT_GLOBAL": str(shared)}) as vault:
        here = vault.remember("Text.").id
        with untouched(root), fails(NotFound, there, "global vault", str(shared)):
            vault.pin(there)
        with untouched(root), fails(NotFound, "global vault"):
            vault.link(here, "RELATED_TO", there)
        with fails(NotFound, "nothing in this vault answers"):
            vault.pin("00000000-0000-4000-8000-000000000000")
