"""Two machines, copied folders and two processes at once: no conflict in journals, nothing lost, one commit each."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.faults.killer import runs_wanted
from tests.founding import own_copy
from tests.git_repos import git
from tests.oracles import assert_as_built_anew, assert_git_is_sound
from vault_tool import Vault
from vault_tool.files.episode_text import read_episode
from vault_tool.files.layout import CORE_FILE

WRITER = """
import json, sys
from vault_tool import Vault
with Vault.open(sys.argv[1], session=sys.argv[2]) as vault:
    for number in range(int(sys.argv[3])):
        made = vault.remember(f"Text {number} of {sys.argv[2]}.", [f"Subject {sys.argv[2]}", "Shared"])
        print(json.dumps([made.committed, made.commit, made.path, made.reason]), flush=True)
"""


def cloned(root: Path, name: str) -> Path:
    """A clone of a vault beside it, as another machine has it."""
    other = root.parent / name
    git(root.parent, "clone", "--quiet", str(root), str(other))
    return other


def review(root: Path, memory: str, line: str) -> None:
    """A person edits a note in their editor, which counts as a review."""

    def editor(path: Path) -> None:
        path.write_bytes(path.read_bytes() + f"{line}\n".encode())

    with Vault.open(root, person=True) as vault:
        assert vault.edit(memory, editor).committed


def logged(root: Path) -> list[str]:
    """The titles in all writers' logs; fails on a line that cannot be read."""
    titles = []
    for path in (root / "vault" / "episodes").glob("*.md"):
        entries, problems = read_episode(path.relative_to(root).as_posix(), path.read_bytes())
        assert problems == []
        titles += [entry.title for entry in entries]
    return sorted(titles)


def test_what_two_machines_wrote_offline_merges(root: Path) -> None:
    with Vault.open(root) as vault:
        memories = [vault.remember(f"A thing {word}.", ["Shared"]).id for word in ("here", "there")]
    other = cloned(root, "other")
    for number, machine in enumerate((root, other)):
        with Vault.open(machine, session=f"m{number}") as vault:
            vault.remember(f"Seen on machine {number}.", [f"Machine {number}"])
            vault.remember(f"Also seen on machine {number}.", ["Shared"])
        review(machine, memories[number], f"Looked at on machine {number}.")
        review(machine, memories[number], f"And once more on {number}.")
    git(root, "pull", "--quiet", "--no-rebase", "--no-edit", str(other), "HEAD")
    assert len(list((root / "vault" / "episodes").glob("*.md"))) == 2
    assert len(list((root / "vault" / "signals").glob("*.jsonl"))) == 2
    with Vault.open(root) as vault:
        vault.fresh()
        assert Counter(signal.target for signal in vault.index.catalog.signals()) == dict.fromkeys(memories, 2)
        assert {found.title for found in vault.search("machine").results if found.type == "general"} >= {
            f"{also} on machine {number}" for also in ("Seen", "Also seen") for number in (0, 1)
        }
        assert [one for one in vault.doctor().problems if one.severity != "note"] == []
    titles = logged(root)
    assert len(titles) == len(set(titles)) == 6
    assert git(root, "status", "--porcelain") == ""
    assert_git_is_sound(root)
    assert_as_built_anew(root, ["machine", "thing"])


def test_the_same_subject_made_twice_is_named_and_nothing_is_lost(root: Path) -> None:
    other = cloned(root, "other")
    for number, machine in enumerate((root, other)):
        with Vault.open(machine) as vault:
            vault.remember(f"Seen on machine {number}.", ["Redis" if number else "redis"])
    pulled = git(root, "pull", "--quiet", "--no-rebase", "--no-edit", str(other), "HEAD", ok=False)
    with Vault.open(root) as vault:
        texts = {found.title for found in vault.search("machine").results}
        assert {"Seen on machine 0", "Seen on machine 1"} <= texts, pulled
        codes = {one.code for one in vault.doctor().problems}
        assert codes & {"conflict-markers", "merge-conflict", "duplicate-subject-name"}


def test_the_same_name_made_a_subject_on_two_machines_merges_by_itself(root: Path) -> None:
    other = cloned(root, "other")
    for number, machine in enumerate((root, other)):
        with Vault.open(machine, session=f"m{number}") as vault:
            assert vault.remember(f"Seen on machine {number}.", ["Redis", "Home lab"]).subjects_created == ("Redis", "Home lab")
    git(root, "pull", "--quiet", "--no-rebase", "--no-edit", str(other), "HEAD")
    with Vault.open(root) as vault:
        assert [(card.name, card.observation_count) for card in vault.get_subjects().results] == [("Home lab", 2), ("Redis", 2)]
        assert not [one for one in vault.doctor().problems if one.severity != "note"]


def test_a_name_gets_another_id_where_its_own_is_a_renamed_subjects(root: Path) -> None:
    with Vault.open(root, origin="owner") as vault:
        vault.remember("Seen once.", ["Redis"])
        first = vault.get_subjects(["Redis"]).results[0]
        note = root / first.path
        note.write_text(note.read_text().replace("name: Redis", "name: Valkey"))
        vault.remember("Seen twice.", ["Redis"])
        assert vault.get_subjects(["Valkey"]).results[0].id == first.id != vault.get_subjects(["Redis"]).results[0].id


def test_a_conflict_in_a_note_is_served_as_it_was_and_never_committed(root: Path) -> None:
    with Vault.open(root) as vault:
        made = vault.remember("The port is 6379.", ["Redis"])
        vault.remember("Untouched by all of this.")
    other = cloned(root, "other")
    for machine, port in ((root, "6380"), (other, "6381")):
        note = machine / made.path
        note.write_bytes(note.read_bytes().replace(b"title: ", b"title: Now ").replace(b"6379", port.encode()))
        git(machine, "commit", "--quiet", "--all", "-m", "port")
    git(root, "pull", "--quiet", "--no-rebase", "--no-edit", str(other), "HEAD", ok=False)
    marked = (root / made.path).read_bytes()
    assert b"<<<<<<<" in marked
    head = git(root, "rev-parse", "HEAD")
    with Vault.open(root) as vault:
        shown = vault.show(made.id)
        assert shown.stale and "6380" in shown.content
        assert any(found.id == made.id and found.stale for found in vault.search("port").results)
        problems = [one for one in vault.doctor().problems if one.path == made.path]
        assert any(one.code in ("conflict-markers", "merge-conflict") for one in problems)
        saved = vault.remember("Written in the middle of a merge.")
        assert not saved.committed and saved.attention and saved.reason
        gathered = vault.commit()
        assert not gathered.committed and gathered.attention
    assert (root / made.path).read_bytes() == marked
    assert git(root, "rev-parse", "HEAD") == head
    assert_as_built_anew(root, ["port", "merge"])
    (root / made.path).write_bytes(git(other, "show", f"HEAD:{made.path}").encode() + b"\n")
    git(root, "add", made.path)
    git(root, "commit", "--quiet", "--no-edit")
    with Vault.open(root) as vault:
        assert not vault.show(made.id).stale
        vault.commit()
        assert vault.local.pending() == ()
        assert "middle of a merge" in git(root, "log", "--format=%s", "-3")
    assert "<<<<<<<" not in git(root, "log", "-p", "--", "vault", "CORE.md")
    assert git(root, "status", "--porcelain") == ""


def test_a_page_is_not_made_from_a_conflict(root: Path) -> None:
    core = (root / CORE_FILE).read_bytes()
    with Vault.open(root) as vault:
        made = vault.remember("Fixed by a restart.", kind="fix")
    note = root / made.path
    note.write_bytes(b"<<<<<<< HEAD\n" + note.read_bytes() + b"=======\n>>>>>>> other\n")
    with Vault.open(root) as vault:
        vault.core()
        assert vault.show(made.id).stale
    assert b"<<<<<<<" not in (root / CORE_FILE).read_bytes()
    assert (root / CORE_FILE).read_bytes() != core
    assert "<<<<<<<" not in git(root, "log", "-p", "--", "vault", CORE_FILE)


def test_markers_that_a_note_teaches_are_no_conflict(root: Path) -> None:
    text = "How a conflict looks:\n\n```\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\n```"
    with Vault.open(root) as vault:
        made = vault.remember(text, ["Git"])
        assert made.committed and not vault.show(made.id).stale
        assert [one for one in vault.doctor().problems if one.severity != "note"] == []


def test_a_copied_folder_takes_a_writer_of_its_own(root: Path) -> None:
    with Vault.open(root) as vault:
        vault.remember("Before the copy.")
    copy = root.parent / "copy"
    own_copy(root, copy)
    for machine, word in ((root, "here"), (copy, "there"), (root, "here again")):
        with Vault.open(machine) as vault:
            assert vault.remember(f"After the copy, {word}.").committed
    git(root, "pull", "--quiet", "--no-rebase", "--no-edit", str(copy), "HEAD")
    assert len(list((root / "vault" / "episodes").glob("*.md"))) == 2
    assert logged(root) == sorted(["Before the copy", *(f"After the copy, {word}" for word in ("here", "there", "here again"))])
    assert_git_is_sound(root)


def test_a_folder_that_is_moved_keeps_its_writer(root: Path) -> None:
    with Vault.open(root) as vault:
        vault.remember("Before the move.")
    moved = root.rename(root.parent / "moved")
    with Vault.open(moved) as vault:
        vault.remember("After the move.")
    assert len(list((moved / "vault" / "episodes").glob("*.md"))) == 1


def test_two_processes_write_at_once(root: Path) -> None:
    each = runs_wanted(12)
    before = int(git(root, "rev-list", "--count", "HEAD"))
    commands = [[sys.executable, "-c", WRITER, str(root), name, str(each)] for name in ("one", "two")]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for command in commands]
    said = []
    for child in children:
        out, errors = child.communicate(timeout=120)
        assert (child.returncode, errors) == (0, "")
        said += [json.loads(line) for line in out.splitlines()]
    assert len(said) == 2 * each
    assert all(committed and not reason for committed, _, _, reason in said)
    commits = {commit for _, commit, _, _ in said}
    assert len(commits) == 2 * each
    assert int(git(root, "rev-list", "--count", "HEAD")) == before + 2 * each
    names = set(git(root, "ls-tree", "-r", "--name-only", "HEAD").splitlines())
    assert {path for _, _, path, _ in said} <= names
    assert len([name for name in names if name.startswith("vault/subjects/")]) == 3
    assert git(root, "status", "--porcelain") == ""
    assert_git_is_sound(root)
    assert_as_built_anew(root, ["text", "one"])
