"""A person settles what two machines wrote: by one press, in one commit, and nothing is lost that was not let go."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli import typed
from tests.git_repos import commit_all, git, write
from tests.terminal import called_at_terminal, let_commands_answer
from tests.verbs.looking import head, in_commit
from vault_tool import Vault
from vault_tool.errors import NotFound, Refused, StaleEdit, UsageError
from vault_tool.files import frontmatter
from vault_tool.files.two_versions import END, OPEN, OR
from vault_tool.vault.two_texts import TwoTexts

SYNCED = ".sync-conflict-20261125-101010-ABCDEFG.md"
MAY, JUNE, JULY = (f"The boiler is serviced in {month}." for month in ("May", "June", "July"))


@pytest.fixture
def owner(root: Path) -> Vault:
    """The vault as its person asks it."""
    return Vault.open(root, person=True)


def boiler(vault: Vault) -> str:
    """A memory of two paragraphs; its path."""
    return vault.remember(f"{MAY}\n\nIt hums.", ["House"]).path


def edited(root: Path, path: str, old: str, new: str, to: str = "") -> str:
    text = (root / path).read_text(encoding="utf-8")
    assert old in text
    write(root, to or path, text.replace(old, new))
    return to or path


def copied(root: Path, path: str, old: str, new: str) -> str:
    return edited(root, path, old, new, path.removesuffix(".md") + SYNCED)


def only(vault: Vault) -> TwoTexts:
    [one] = vault.unsettled().results
    return one


def body(root: Path, path: str) -> str:
    return frontmatter.read((root / path).read_bytes())[1]


def in_history(root: Path, text: str) -> bool:
    return text in git(root, "log", "-p", "--all", "--format=%H")


class TestCopies:
    def test_both_are_merged_by_what_they_came_of(self, owner: Vault, root: Path) -> None:
        path = boiler(owner)
        copy = copied(root, path, "It hums.", "It hums. Loudly.")
        edited(root, path, "May.", "May, by Ann.")
        one = only(owner)
        assert (one.what, one.path, one.place, one.id != "") == ("copy", path, copy, True)
        assert "by Ann" in one.this and "Loudly" in one.that and one.who and one.when and one.that_when
        done = owner.settle_texts(one.key, "both")
        assert body(root, path) == "The boiler is serviced in May, by Ann.\n\nIt hums. Loudly.\n"
        assert not (root / copy).exists() and not done.results and done.committed
        assert set(in_commit(root)) == {path, copy} and in_history(root, "Loudly") and git(root, "status", "--porcelain") == ""
        assert owner.status().conflict_copies == 0

    def test_a_place_that_both_changed_stays_to_be_settled(self, owner: Vault, root: Path) -> None:
        path = boiler(owner)
        edited(root, path, MAY, JULY)
        owner.commit()
        copied(root, path, JULY, JUNE)
        [left] = owner.settle_texts(only(owner).key, "both").results
        assert body(root, path) == f"{OPEN}\n{JULY}\n{OR}\n{JUNE}\n{END}\n\nIt hums.\n"
        assert (left.what, left.this, left.that) == ("place", JULY, JUNE)
        assert owner.settle_texts(left.key, "that").results == ()
        assert body(root, path) == f"{JUNE}\n\nIt hums.\n"

    @pytest.mark.parametrize("keep", ["this", "that"])
    def test_one_is_kept_and_the_other_is_in_history(self, owner: Vault, root: Path, keep: str) -> None:
        path = boiler(owner)
        copy = copied(root, path, MAY, JUNE)
        edited(root, path, MAY, JULY)
        before = head(root)
        owner.settle_texts(only(owner).key, keep)
        assert body(root, path).startswith(JULY if keep == "this" else JUNE)
        assert not (root / copy).exists() and in_history(root, JULY) and in_history(root, JUNE)
        assert git(root, "log", "--format=%s", f"{before}..").splitlines()[0].startswith("review:")
        assert git(root, "status", "--porcelain") == "" and owner.unsettled().results == ()

    def test_another_text_is_written(self, owner: Vault, root: Path) -> None:
        path = boiler(owner)
        copied(root, path, MAY, JUNE)
        one = only(owner)
        with pytest.raises(UsageError, match="cannot be kept"):
            owner.settle_texts(one.key, text="---\nid: x\ntitle: [\n---\nBroken.\n")
        owner.settle_texts(one.key, text=one.this.replace("in May", "each spring"))
        assert "each spring" in body(root, path) and in_history(root, JUNE)

    def test_an_old_copy_brings_nothing_back(self, owner: Vault, root: Path) -> None:
        path = boiler(owner)
        copied(root, path, "It hums.", "It hums. Loudly.")
        edited(root, path, MAY, f"{JULY}\n\nAnn does it.")
        owner.commit([path])
        edited(root, path, "Ann does it.", "Ann does it, or Bob.")
        owner.commit([path])
        owner.settle_texts(only(owner).key, "both")
        assert body(root, path) == f"{JULY}\n\nAnn does it, or Bob.\n\nIt hums. Loudly.\n"

    def test_without_git_and_without_a_common_text_nothing_is_lost(self, tmp_path: Path) -> None:
        Vault.init(tmp_path / "plain", no_git=True)
        with Vault.open(tmp_path / "plain", person=True) as vault:
            path = boiler(vault)
            copied(vault.root, path, MAY, JUNE)
            vault.settle_texts(only(vault).key, "both")
            text = body(vault.root, path)
            assert MAY in text and JUNE in text and text.count("It hums.") == 1

    def test_a_copy_of_a_note_that_is_gone_can_take_its_place(self, owner: Vault, root: Path) -> None:
        path = boiler(owner)
        copy = edited(root, path, MAY, JUNE, path.removesuffix(".md") + ".conflict-20261125T101010Z-ann.md")
        (root / path).unlink()
        owner.commit([path])
        one = only(owner)
        assert (one.path, one.this) == (path, "") and JUNE in one.that
        owner.settle_texts(one.key, "that")
        assert body(root, path).startswith(JUNE) and not (root / copy).exists()

    def test_a_copy_with_a_secret_is_named_and_left(self, owner: Vault, root: Path) -> None:
        path = boiler(owner)
        copy = copied(root, path, "It hums.", "password: hunter2-Zx81-qq")
        with pytest.raises(Refused, match="secret"):
            owner.settle_texts(only(owner).key, "this")
        assert (root / copy).exists()


class TestNotes:
    def unsettled(self, root: Path, path: str, *items: str, **fields: str) -> None:
        added = "".join(f"{key}: {value}\n" for key, value in fields.items()) + f"unsettled: {json.dumps(list(items))}\n"
        text = (root / path).read_text(encoding="utf-8")
        write(root, path, text.replace("\n---\n", f"\n{added}---\n", 1))
        commit_all(root, "a merge by hand")

    @pytest.mark.parametrize(
        ("present", "other", "keep", "text", "value"),
        [
            ("red", "blue", "this", "", "red"),
            ("red", "blue", "that", "", "blue"),
            ("red", "blue", "both", "", "red; blue"),
            ("red", "blue", "", "green: dark", "green: dark"),
            ("7", "8", "that", "", frontmatter.Plain("8")),
            ("[a, b]", "[a, c]", "both", "", ["a", "b", "c"]),
            ("[a, b]", "[a, c]", "that", "", ["a", "c"]),
        ],
    )
    def test_a_field(self, owner: Vault, root: Path, present: str, other: str, keep: str, text: str, value: object) -> None:
        path = boiler(owner)
        self.unsettled(root, path, f"colour: {other}", "shade: x", colour=present)
        one = next(one for one in owner.unsettled().results if one.place == "colour")
        assert (one.what, one.this, one.that) == ("field", present, other)
        done = owner.settle_texts(one.key, keep, text=text)
        values = frontmatter.read((root / path).read_bytes())[0]
        assert values is not None and values.values["colour"] == value and values.values["unsettled"] == ["shade: x"]
        assert [left.place for left in done.results] == ["shade"] and set(in_commit(root)) == {path}
        last = owner.settle_texts(done.results[0].key, "this")
        assert not last.results and b"unsettled" not in (root / path).read_bytes()

    def test_a_number_cannot_be_both(self, owner: Vault, root: Path) -> None:
        path = boiler(owner)
        self.unsettled(root, path, "size: 8", size="7")
        with pytest.raises(UsageError, match="one value"):
            owner.settle_texts(only(owner).key, "both")

    @pytest.mark.parametrize(
        ("keep", "text", "left"),
        [("this", "", "red"), ("that", "", "blue"), ("both", "", "red\n\nblue"), ("", "green\nyellow", "green\nyellow")],
    )
    @pytest.mark.parametrize("newline", ["\n", "\r\n"])
    def test_a_place(self, owner: Vault, root: Path, keep: str, text: str, left: str, newline: str) -> None:
        path = boiler(owner)
        data = (root / path).read_text(encoding="utf-8").replace("It hums.", f"{OPEN}\nred\n{OR}\nblue\n{END}\n\nIt hums.")
        (root / path).write_bytes(data.replace("\n", newline).encode())
        one = only(owner)
        assert (one.this, one.that) == ("red", "blue") and one.place.startswith("line ")
        owner.settle_texts(one.key, keep, text=text)
        wanted = f"{MAY}\n\n{left}\n\nIt hums.\n".replace("\n", newline)
        assert (root / path).read_bytes().endswith(wanted.encode())

    def test_what_was_settled_meanwhile_is_said(self, owner: Vault, root: Path) -> None:
        path = boiler(owner)
        self.unsettled(root, path, "colour: blue", colour="red")
        one = only(owner)
        edited(root, path, "colour: red", "colour: green")
        with pytest.raises((NotFound, StaleEdit)):
            owner.settle_texts(one.key, "that")
        with pytest.raises(NotFound, match="answers to `nonsense`"):
            owner.settle_texts("nonsense", "this")
        for wrong in ({"keep": "none"}, {}, {"keep": "this", "text": "x"}):
            with pytest.raises(UsageError):
                owner.settle_texts(one.key, **wrong)


class TestDoors:
    def test_a_program_may_look_and_not_decide(self, owner: Vault, vault: Vault, root: Path) -> None:
        path = boiler(owner)
        copied(root, path, MAY, JUNE)
        one = only(vault)
        with pytest.raises(Refused, match="only a person"):
            vault.settle_texts(one.key, "this")
        for claim in ((), ("--origin", "owner")):
            listed = vt(root, "review", "--list", "--json", *claim)
            assert [row["key"] for row in json.loads(listed.stdout)["results"]] == [one.key]
            for way in ("--this", "--that", "--both", "--edit"):
                assert vt(root, "review", way, one.key, *claim).returncode == 6
        assert only(vault) == one

    def test_what_nobody_is_told_is_not_listed_either(self, owner: Vault, vault: Vault, root: Path) -> None:
        made = owner.remember(f"{MAY}\n\nIt hums.", ["House"])
        copied(root, made.path, MAY, JUNE)
        owner.consent(made.id, "withdrawn")
        assert vault.unsettled().results == () and only(owner).id == made.id

    def test_one_key_each_in_a_terminal(self, owner: Vault, root: Path) -> None:
        path = boiler(owner)
        edited(root, path, MAY, JULY)
        owner.commit()
        copied(root, path, JULY, JUNE)
        shown = called_at_terminal("review", cwd=root, keys=("b", "o"))
        assert shown.returncode == 0 and JUNE in shown.stdout and "-The boiler is serviced in July." in shown.stdout
        assert body(root, path) == f"{JUNE}\n\nIt hums.\n"

    def test_a_command_line_settles_and_lists(self, owner: Vault, root: Path) -> None:
        let_commands_answer(root)
        path = boiler(owner)
        copied(root, path, MAY, JUNE)
        one = only(owner)
        assert one.key in vt(root, "review").stdout and "serviced in June" in vt(root, "review", "--list").stdout
        assert json.loads(vt(root, "review", "--list", "--json").stdout)["unsettled"][0]["key"] == one.key
        done = vt(root, "review", "--edit", one.key, env={"EDITOR": "sed -i s/May/autumn/"})
        assert done.returncode == 0, done.stderr
        assert "autumn" in body(root, path)


def vt(root: Path, *arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return typed.vt(*arguments, cwd=root, env=env)
