from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.git_repos import write
from tests.verbs.looking import (
    assert_committed,
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
from vault_tool.errors import Ambiguous, NotFound, StaleEdit, UsageError
from vault_tool.features.editing.editing import Editor
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""


def types(change: Callable[[str], str]) -> Editor:
    """A person who changes a note's text and saves it."""

    def edit(path: Path) -> None:
        path.write_bytes(change(path.read_bytes().decode()).encode())

    return edit


def leaves(path: Path) -> None:
    """A person who closes the editor without a change."""


@pytest.fixture
def owner(root: Path, clock: FixedClock) -> Vault:
    return Vault.open(root, person=True, clock=clock)


class TestNew:
    @pytest.mark.in_git
    def test_a_note_is_written_from_its_template(self, owner: Vault, root: Path) -> None:
        seen: list[str] = []

        def write_it(path: Path) -> None:
            seen.append(path.read_text())
            path.write_text(seen[0].replace("## Decision\n", "## Decision\n\nUse redis.\n"))

        made = owner.new("decision", write_it, title="Use Redis", subject_names=["Redis"])

        assert "title: Use Redis\n" in seen[0]
        assert "subjects: [Redis]\n" in seen[0]
        assert "<!--" in seen[0]
        assert (made.type, made.title, made.changed, made.problems) == ("decision", "Use Redis", True, ())
        assert made.id is not None
        assert made.path == f"vault/observations/2026/11/use-redis-{made.id[:6]}.md"
        assert_committed(made, root)
        assert subjects(root) == ["new: Use Redis"]
        assert trailers(root)["Vault-Ids"] == made.id
        shown = owner.show(made.id)
        assert (shown.content, shown.origin, shown.subjects) == ("## Decision\n\nUse redis.", "owner", ("Redis",))
        assert shown.created == "2026-11-20T10:00:00+00:00"
        assert not list((root / "_local/drafts").iterdir())
        assert codes(owner) == ["missing-subject-file"]

    @pytest.mark.in_git
    def test_an_untouched_template_is_no_note(self, owner: Vault, root: Path) -> None:
        with untouched(root):
            made = owner.new("fact", leaves)
        assert (made.id, made.path, made.changed, made.committed) == (None, "", False, False)
        assert not list((root / "_local/drafts").iterdir())

    @pytest.mark.in_git
    @pytest.mark.parametrize(
        ("change", "says"),
        [
            (lambda text: text.replace("title:", "title: Only a title"), "needs a body"),
            (lambda text: text.replace("created:", "id: 1\ncreated:") + "Text.\n", "`id` is given twice"),
            (lambda text: "Only text.\n", "lost its id or type"),
            (lambda text: text + "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> c\n", "merge conflict"),
        ],
    )
    def test_a_note_that_cannot_be_used_is_kept_as_a_draft(
        self, owner: Vault, root: Path, change: Callable[[str], str], says: str
    ) -> None:
        with untouched(root), fails(UsageError, says, "_local/drafts/fact-"):
            owner.new("fact", types(change))
        [draft] = (root / "_local/drafts").iterdir()
        assert draft.read_text()

    def test_a_built_in_form_needs_no_file_and_one_of_the_vaults_own_goes_before_it(self, owner: Vault, root: Path) -> None:
        assert [path.name for path in (root / "templates").iterdir()] == ["content-policy.md"]
        offered: list[str] = []

        def look(path: Path) -> None:
            offered.append(path.read_text("utf-8"))
            path.write_text(offered[-1].replace("title:", "title: Seen"), "utf-8")

        for kind in ("solution", "decision"):
            with suppress(UsageError):
                owner.new(kind, look)
        write(root, "templates/solution.md", "---\nid:\ntype: solution\n---\n<!-- the forms of this lab -->\n")
        with suppress(UsageError):
            owner.new("solution", look)
        assert "Why it worked" in offered[0] and "type: decision" in offered[1] and "the forms of this lab" in offered[2]

    def test_the_vaults_own_template_is_used(self, owner: Vault, root: Path) -> None:
        write(root, "templates/recipe.md", "---\nid:\ntype: recipe\ncuisine: any # mine\n---\n<!-- what to cook -->\n")
        made = owner.new("recipe", types(lambda text: text + "Boil it.\n"))
        assert made.id is not None
        assert "cuisine: any # mine\n" in text(root, made.path)
        assert owner.show(made.id).content == "Boil it."

    def test_a_subject_and_an_understanding_can_be_written_too(self, owner: Vault, root: Path) -> None:
        subject = owner.new("subject", types(lambda text: text + "Mine.\n"), title="Redis")
        assert subject.path == "vault/subjects/redis.md"
        assert owner.get_subjects(["redis"]).results[0].body == "Mine."

        def fill(text: str) -> str:
            return text.replace("summary:", "summary: In short.") + "All of it.\n"

        synthesis = owner.new("single_subject", types(fill), subject_names=["Redis"])
        [card] = owner.get_subjects(["Redis"]).results
        assert card.single_subject_understanding is not None
        assert card.single_subject_understanding.id == synthesis.id

    @pytest.mark.in_git
    def test_a_subject_that_exists_is_refused(self, owner: Vault, root: Path) -> None:
        owner.create_subjects([{"name": "Redis"}])
        with untouched(root), fails(UsageError, "`Redis` exists already", "_local/drafts/subject-"):
            owner.new("subject", types(lambda text: text + "Mine.\n"), title="redis")

    @pytest.mark.in_git
    def test_a_type_must_be_one(self, owner: Vault, root: Path) -> None:
        with untouched(root), fails(UsageError, "`a b` cannot be a type"):
            owner.new("a b", leaves)
        with untouched(root), fails(UsageError, "`../x` cannot be a type"):
            owner.new("../x", leaves)


class TestEdit:
    @pytest.mark.in_git
    def test_an_edit_is_committed_and_counts_as_reviewed(self, vault: Vault, owner: Vault, root: Path) -> None:
        made = vault.remember("Use redis.", title="It")
        edited = owner.edit(made.id[:8], types(lambda text: text.replace("Use redis.", "Use redis 7.")))
        assert (edited.id, edited.type, edited.title, edited.path) == (made.id, "general", "It", made.path)
        assert (edited.changed, edited.problems) == (True, ())
        assert_committed(edited, root)
        assert subjects(root) == ["edit: It"]
        assert set(in_commit(root)) == {made.path, f"vault/signals/2026-11.{owner.local.token()}.jsonl"}
        assert owner.show(made.id, belief=True).belief.reviewed  # type: ignore[union-attr]

    @pytest.mark.in_git
    def test_an_agents_edit_is_no_review(self, vault: Vault, root: Path) -> None:
        made = vault.remember("Use redis.")
        vault.edit(made.id, types(lambda text: text.replace("redis", "valkey")))
        assert set(in_commit(root)) == {made.path}

    @pytest.mark.in_git
    def test_no_change_is_no_commit_and_no_review(self, vault: Vault, owner: Vault, root: Path) -> None:
        made = vault.remember("Use redis.")
        with untouched(root):
            edited = owner.edit(made.id, leaves)
        assert (edited.changed, edited.committed, edited.reason) == (False, False, "")

    @pytest.mark.in_git
    def test_a_note_that_cannot_be_read_afterwards_stays_as_it_was_left(self, vault: Vault, owner: Vault, root: Path) -> None:
        made = vault.remember("Use redis.")
        tip = head(root)
        edited = owner.edit(made.id, types(lambda text: text.replace("type: general\n", "type: general\ntype: fact\n")))
        assert (edited.changed, edited.committed, edited.attention) == (True, False, True)
        assert [problem.code for problem in edited.problems] == ["duplicate-key"]
        assert "not committed" in edited.reason
        assert head(root) == tip
        assert "type: fact\n" in text(root, made.path)
        assert owner.show(made.id).stale
        mended = owner.edit(made.id, types(lambda text: text.replace("type: fact\n", "")))
        assert (mended.problems, owner.show(made.id).stale) == ((), False)

    @pytest.mark.in_git
    def test_a_warning_is_shown_and_the_edit_kept(self, vault: Vault, owner: Vault, root: Path) -> None:
        made = vault.remember("Use redis.")
        edited = owner.edit(made.id, types(lambda text: text.replace("origin:", "confidence: high\norigin:")))
        assert_committed(edited, root)
        assert [problem.code for problem in edited.problems] == ["wrong-kind"]

    @pytest.mark.in_git
    def test_a_note_that_loses_its_id_is_left_to_its_person(self, vault: Vault, owner: Vault, root: Path) -> None:
        made = vault.remember("Use redis.")
        tip = head(root)
        edited = owner.edit(made.id, types(lambda text: text.replace(f"id: {made.id}\n", "")))
        assert (edited.changed, edited.committed, edited.attention) == (True, False, True)
        assert "lost its `id`" in edited.reason
        assert edited.problems[0].hint
        assert head(root) == tip

    @pytest.mark.in_git
    def test_what_another_wrote_meanwhile_is_not_lost(self, vault: Vault, owner: Vault, root: Path) -> None:
        made = vault.remember("Mine.")

        def slowly(path: Path) -> None:
            vault.pin(made.id)
            path.write_text(path.read_text().replace("Mine.", "Mine!"))

        edited = owner.edit(made.id, slowly)
        assert_committed(edited, root)
        assert "pinned: true" in text(root, made.path)
        assert owner.show(made.id).content == "Mine!"

    def test_a_note_that_is_deleted_in_the_editor_is_said(self, vault: Vault, owner: Vault) -> None:
        made = vault.remember("Mine.")
        with fails(NotFound, made.path):
            owner.edit(made.id, Path.unlink)

    def test_what_is_not_there_is_said(self, owner: Vault) -> None:
        with fails(NotFound, "deadbeef"):
            owner.edit("deadbeef", leaves)


class TestAdopt:
    @pytest.mark.in_git
    def test_a_page_gets_the_missing_lines_and_no_others(self, vault: Vault, root: Path) -> None:
        page = "---\nauthor: me # myself\ntags: [a]\n---\n# A page\n\nQuartz.  \n"
        write(root, "vault/notes/page.md", page)
        adopted = vault.adopt(["vault/notes/page.md"], type="fact")
        [one] = adopted.results
        assert (one.type, one.title, one.path, one.changed) == ("fact", "A page", "vault/notes/page.md", True)
        assert_committed(adopted, root)
        assert subjects(root) == ["adopt: A page"]
        assert trailers(root)["Vault-Ids"] == one.id
        added = [line for line in text(root, one.path).split("\n") if line not in page.split("\n")]
        assert added == [f"id: {one.id}", "type: fact", "created: 2026-11-20T10:00:00+00:00"]
        assert codes(vault) == []

    def test_a_page_without_a_head_gets_one(self, vault: Vault, root: Path) -> None:
        (root / "vault/page.md").write_bytes(b"\xef\xbb\xbf# A page\r\n\r\nQuartz.\r\n")
        [one] = vault.adopt(["vault/page.md"]).results
        data = (root / "vault/page.md").read_bytes()
        assert data.endswith(b"# A page\r\n\r\nQuartz.\r\n")
        assert data.startswith(b"\xef\xbb\xbf---\r\n")
        assert vault.show(one.id or "").content == "# A page\r\n\r\nQuartz."

    def test_an_id_and_type_of_its_own_are_kept(self, vault: Vault, root: Path) -> None:
        write(root, "vault/a.md", f"---\nid: {identity(1)}\n---\nText.\n")
        write(root, "vault/b.md", "---\nid: 17\ntype: blog post\n---\nText too.\n")
        write(root, "vault/c.md", "---\ntype: decision\n---\nThree.\n")
        a, b, c = vault.adopt(["vault/a.md", "vault/b.md", "vault/c.md"], type="fact").results
        assert (a.id, a.type) == (identity(1), "fact")
        assert (b.type, c.type) == ("fact", "decision")
        assert {key: vault.show(b.id or "").head[key] for key in ("source_id", "source_type")} == {
            "source_id": 17,
            "source_type": "blog post",
        }

    @pytest.mark.in_git
    def test_several_are_one_commit(self, vault: Vault, root: Path) -> None:
        for number in range(5):
            write(root, f"vault/{number}.md", f"# Page {number}\n\nText.\n")
        tip = head(root)
        adopted = vault.adopt([f"vault/{number}.md" for number in range(5)] + ["vault/0.md"])
        assert len(adopted.results) == 5
        assert subjects(root, 2)[0] == "adopt: Page 0, Page 1, Page 2 and 2 more"
        assert head(root) != tip
        assert set(in_commit(root)) == {f"vault/{number}.md" for number in range(5)}

    def test_a_path_may_be_relative_to_where_one_stands(self, vault: Vault, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write(root, "vault/notes/page.md", "# A page\n\nText.\n")
        monkeypatch.chdir(root / "vault/notes")
        assert vault.adopt(["page.md"]).results[0].path == "vault/notes/page.md"

    @pytest.mark.in_git
    def test_what_cannot_be_adopted_is_refused_by_name_and_nothing_is_written(self, vault: Vault, root: Path) -> None:
        write(root, "vault/good.md", "# Good\n\nText.\n")
        write(root, "vault/empty.md", "---\nx: 1\n---\n\n")
        write(root, "vault/record.md", note(1))
        write(root, "vault/bad.md", "---\nid: [\n---\nText.\n")
        with untouched(root):
            with fails(UsageError, "vault/empty.md has no text"):
                vault.adopt(["vault/good.md", "vault/empty.md"])
            with fails(UsageError, "vault/record.md is a record already", identity(1)):
                vault.adopt(["vault/record.md"])
            with fails(UsageError, "vault/bad.md:"):
                vault.adopt(["vault/bad.md"])
            with fails(NotFound, "vault/none.md", "vt doctor"):
                vault.adopt(["vault/none.md"])
            with fails(NotFound, "CORE.md"):
                vault.adopt(["CORE.md"])
            with fails(UsageError, "`soul` is none"):
                vault.adopt(["vault/good.md"], type="soul")
            with fails(UsageError, "no page was named"):
                vault.adopt([])
            with fails(NotFound):
                vault.adopt(["vault/episodes/x.md", "../../etc/passwd"])

    def test_a_copy_of_a_record_gets_an_id_of_its_own_and_loses_nothing(self, vault: Vault, root: Path) -> None:
        write(root, "vault/a.md", note(1))
        write(root, "vault/far/b.md", note(1) + "\nAnd more.\n")
        with fails(Ambiguous, "two files have the id", "vt adopt vault/far/b.md"):
            vault.get(identity(1))
        [copy] = vault.adopt(["vault/far/b.md"]).results
        assert copy.id and copy.id != identity(1) and vault.get(identity(1)).path == "vault/a.md"
        assert (root / "vault/far/b.md").read_text() == (note(1) + "\nAnd more.\n").replace(identity(1), copy.id)
        assert "duplicate-id" not in codes(vault)

    def test_an_id_that_another_note_has_is_not_taken(self, vault: Vault, root: Path) -> None:
        write(root, "vault/a.md", note(1))
        write(root, "vault/b.md", f"---\nid: {identity(1)}\n---\nText.\n")
        [one] = vault.adopt(["vault/b.md"]).results
        assert one.id != identity(1)
        assert "duplicate-id" not in codes(vault)


def breaks(change: Callable[[str], str]) -> Editor:
    """An editor that ends badly after its person saved."""

    def edit(path: Path) -> None:
        path.write_bytes(change(path.read_bytes().decode()).encode())
        raise UsageError("vi: Editing failed", "set EDITOR")

    return edit


def test_an_editor_that_fails_leaves_what_was_written(vault: Vault, root: Path) -> None:
    with fails(UsageError, "vi: Editing failed", "the draft is kept in _local/drafts/fact-", "move it below vault/"):
        vault.new("fact", breaks(lambda text: text + "\nWhat I had to say.\n"))
    drafts = list((root / "_local/drafts").iterdir())
    assert [draft.read_text().endswith("What I had to say.\n") for draft in drafts] == [True]
    drafts[0].rename(root / "vault/mine.md")
    assert [found.path for found in vault.search('"had to say"').results] == ["vault/mine.md"]


def test_an_editor_that_fails_at_once_leaves_no_draft(vault: Vault, root: Path) -> None:
    with fails(UsageError, "vi: Editing failed", "set EDITOR"):
        vault.new("fact", breaks(lambda text: text))
    assert list((root / "_local/drafts").iterdir()) == []


def test_a_type_that_the_vault_does_not_know_is_remarked_upon(vault: Vault, root: Path) -> None:
    made = vault.new("fcat", types(lambda text: text + "\nText.\n"))
    assert len(made.warnings) == 1
    assert "`fcat` is not a type of this vault" in made.warnings[0] and "did you mean fact?" in made.warnings[0]
    write(root, "vault/page.md", "A page.\n")
    assert ["`fcat`" in said for said in vault.adopt(["vault/page.md"], type="fcat").warnings] == [True]
    assert vault.new("fact", types(lambda text: text + "\nMore.\n")).warnings == ()


class TestEditByText:
    """A whole text in place of an editor: it is written where the file is still the one that it was made from."""

    @pytest.mark.in_git
    def test_a_text_takes_the_place_of_the_file_and_counts_as_reviewed(self, owner: Vault, root: Path) -> None:
        made = owner.remember("The old words.", ["Redis"])
        shown = owner.show(made.id, source=True)
        assert shown.source is not None
        done = owner.edit(made.id, text=shown.source.text.replace("old", "new"), was=shown.source.hash)
        assert done.changed
        assert_committed(done, root)
        after = owner.show(made.id)
        assert (after.content, after.reviewed) == ("The new words.", True)

    @pytest.mark.in_git
    def test_a_save_in_between_is_not_overwritten(self, owner: Vault, root: Path) -> None:
        made = owner.remember("The old words.", ["Redis"])
        shown = owner.show(made.id, source=True)
        assert shown.source is not None
        theirs = (root / made.path).read_text() + "\nSaved by vim.\n"
        (root / made.path).write_text(theirs)
        with untouched(root), pytest.raises(StaleEdit, match="saved by somebody else since"):
            owner.edit(made.id, text=shown.source.text.replace("old", "new"), was=shown.source.hash)
        assert (root / made.path).read_text() == theirs

    @pytest.mark.in_git
    @pytest.mark.parametrize(
        "change",
        [lambda text: text.replace("id: ", "id: 0"), lambda text: "no head at all", lambda text: text.replace("---", "--- [", 1)],
    )
    def test_a_text_that_is_no_note_is_refused_and_not_written(
        self, owner: Vault, root: Path, change: Callable[[str], str]
    ) -> None:
        made = owner.remember("The old words.", ["Redis"])
        shown = owner.show(made.id, source=True)
        assert shown.source is not None
        with untouched(root), pytest.raises(UsageError, match="nothing was written"):
            owner.edit(made.id, text=change(shown.source.text), was=shown.source.hash)

    def test_a_text_needs_the_hash_and_an_edit_needs_one_of_both(self, owner: Vault) -> None:
        made = owner.remember("The old words.", ["Redis"])
        with pytest.raises(UsageError, match="needs the hash"):
            owner.edit(made.id, text="x")
        with pytest.raises(UsageError, match="needs an editor, or the whole text"):
            owner.edit(made.id)
