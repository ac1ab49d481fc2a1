"""What a merge that is clean in git leaves wrong: seen to by a sync, and told by the first command after a pull by hand."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from tests.cli.typed import vt
from tests.git_repos import git
from tests.nobody import nobodys_machine
from tests.sync.machines import as_person, assert_without_markers, clone_of, founded_with_hub, in_step, sync
from tests.verbs.test_conflict_copies import NAMES
from vault_tool import Vault
from vault_tool.model.authority import Writer, by_origin

SECRET = "wintermoss"
BOB = "bob@example.org"


def by_sync(root: Path) -> None:
    """What the hub has comes by a sync."""
    assert not sync(root).reason


def by_pull(root: Path) -> None:
    """What the hub has comes by git alone."""
    git(root, "pull", "--quiet", "--no-rebase", "--no-edit", "origin", "main")


def by_pull_with_the_driver(root: Path) -> None:
    """What the hub has comes by git, which asks for notes as `sync --set-up` told it."""
    with Vault.open(root, person=True) as vault:
        vault.set_up()
    git(root, "config", "merge.vault.driver", f"{sys.executable} -m vault_tool merge-note %O %A %B %P")
    by_pull(root)


Bring = Callable[[Path], None]
WAYS: dict[str, Bring] = {"sync": by_sync, "pull": by_pull, "pull with the driver": by_pull_with_the_driver}


def texts_of(root: Path) -> str:
    return "".join(path.read_text() for path in sorted((root / "vault").rglob("*")) if path.is_file())


class Met:
    """Two machines of one owner, on which each row was done, after what the first did has come to the second."""

    def __init__(self, folder: Path, way: str) -> None:
        self.way, self.ids = way, dict[str, str]()
        self.a, self.hub = founded_with_hub(folder)
        with Vault.open(self.a, person=True) as vault:
            self._base(vault)
            vault.set_up()
            vault.sync()
        self.b = clone_of(self.hub, "b")
        with Vault.open(self.a, person=True) as vault:
            self._first(vault)
        with Vault.open(self.b, person=True) as vault:
            self._second(vault)
        sync(self.a)
        WAYS[way](self.b)

    def _base(self, vault: Vault) -> None:
        self.ids["secret"] = vault.remember(
            f"The safe opens by the word {SECRET} and nothing else.", ["Safe"], kind="solution"
        ).id
        self.ids["problem"] = vault.remember("The safe is shut.", ["Safe"], kind="problem").id
        self.ids["linked"] = vault.remember("A fuse of ten amperes holds.", ["Fuses"], kind="solution").id
        self.ids["linked to"] = vault.remember("The fuse blows.", ["Fuses"], kind="problem").id
        for name in ("Quartz", "Redis", "Redis cache", "Twins", "Twins too"):
            vault.remember(f"A line about {name}.", [name])
        self.ids["revised"] = vault.create_understanding(["Quartz"], "The quartz queue is ours.", "Ours.").id
        self.ids["kept"] = vault.create_understanding(["Redis"], "Redis holds sessions.", "Sessions.").id
        self.ids["former"] = vault.create_understanding(["Redis cache"], "The cache is small.", "Small.").id
        self.ids["keyed"] = vault.remember("A note whose head both change.", ["Keys"], tags=["base"]).id
        self.ids["ends"] = vault.remember("A note of line one.\n\nAnd of line two.", ["Ends"], tags=["base"]).id

    def _first(self, vault: Vault) -> None:
        vault.forget(self.ids["secret"])
        vault.link(self.ids["linked"], "SOLVES", self.ids["linked to"], "tried at the first")
        vault.update_understanding(self.ids["revised"], "The quartz queue is a cache.", "A cache.")
        vault.merge_subjects("Redis cache", "Redis")
        vault.merge_subjects("Twins too", "Twins")
        if self.way != "pull":
            self._by_hand(self.a, "keyed", "tags: [base]", "pinned: true\ntags: [base]")
            path = self.file(self.a, "ends")
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    def _second(self, vault: Vault) -> None:
        vault.mark_useful(self.ids["secret"], f"it was {SECRET}")
        vault.link(self.ids["secret"], "SOLVES", self.ids["problem"], f"{SECRET} opens it")
        vault.link(self.ids["linked"], "SOLVES", self.ids["linked to"], "tried at the second")
        vault.update_understanding(self.ids["revised"], "The quartz queue is a store.", "A store.")
        vault.update_understanding(self.ids["former"], "The cache is large.", "Large.")
        vault.merge_subjects("Twins too", "Twins")
        if self.way != "pull":
            self._by_hand(self.b, "keyed", "origin: owner", "origin: owner\npinned: true")
            vault.tag(self.ids["ends"], ["xb"])
            vault.commit()

    def file(self, root: Path, key: str) -> Path:
        return next(
            path for path in (root / "vault").rglob("*.md") if f"\nid: {self.ids[key]}".encode() in path.read_bytes()[:900]
        )

    def _by_hand(self, root: Path, key: str, old: str, new: str) -> None:
        path = self.file(root, key)
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))


@pytest.fixture(scope="module", params=WAYS)
def met(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Met]:
    folder = tmp_path_factory.mktemp("rows")
    (folder / "home").mkdir()
    with nobodys_machine(folder / "home"):
        yield Met(folder, request.param)


def test_s1_words_of_what_was_forgotten_are_gone_or_named(met: Met) -> None:
    with Vault.open(met.b, person=True) as vault:
        named = {problem.path for problem in vault.doctor(every=True).problems if problem.code == "forgotten-words"}
        told = vault.status()
    there = {
        path.relative_to(met.b).as_posix()
        for path in (met.b / "vault").rglob("*")
        if path.is_file() and SECRET in path.read_text()
    }
    if met.way == "sync":
        assert there == set() and named == set()
    else:
        assert there and there <= named
        assert told.problems


def test_s2_and_s5_each_answer_that_tells_one_of_two_heads_tells_of_the_other(met: Met) -> None:
    with Vault.open(met.b, person=True) as vault:
        for name, words in (("Quartz", ("store", "cache")), ("Redis cache", ("sessions", "large"))):
            told: Any = vault.recall(name)
            one = told.single_subject_understanding
            assert one.status == "contested" and len(one.status_by) == 1, name
            text = vt("recall", name, cwd=met.b).stdout.lower()
            assert all(word in text for word in words), (name, text)
        assert vault.status().contested >= 4


def test_s4_a_link_that_both_made_is_one_or_is_named(met: Met) -> None:
    edges = [path for path in (met.b / "vault" / "edges").rglob("*.md") if met.ids["linked to"] in path.read_text()]
    with Vault.open(met.b, person=True) as vault:
        doubled = [
            problem
            for problem in vault.doctor(every=True).problems
            if problem.path in {path.relative_to(met.b).as_posix() for path in edges}
        ]
    text = texts_of(met.b)
    assert "tried at the first" in text and "tried at the second" in text
    if met.way == "sync":
        assert len(edges) == 1 and doubled == []
    else:
        assert len(edges) == 2 and doubled


def test_s6_a_key_that_both_added_is_one(met: Met) -> None:
    if met.way != "pull":
        assert met.file(met.b, "keyed").read_text().count("pinned: true") == 1


def test_s7_two_subjects_merged_alike_are_not_contested(met: Met) -> None:
    found = vt("get-subjects", "Twins", cwd=met.b).stdout
    assert "contested" not in found.lower(), found
    made = [path for path in (met.b / "vault" / "understandings").rglob("*.md") if "twins too" in path.read_text().lower()]
    assert len(made) == len({path.read_bytes() for path in made})


def test_t10_line_ends_changed_by_one_side_are_no_conflict(met: Met) -> None:
    if met.way != "pull":
        data = met.file(met.b, "ends").read_bytes()
        assert b"tags: [base, xb]" in data or b"xb" in data
        assert data.count(b"\r\n") == data.count(b"\n")
    assert_without_markers(met.b)


def test_afterwards_a_sync_of_both_has_them_alike_and_tells_nothing_forgotten(met: Met) -> None:
    sync(met.b)
    assert SECRET not in texts_of(met.b)
    in_step(met.a, met.b)
    for root in (met.a, met.b):
        assert SECRET not in texts_of(root)
        edges = [path for path in (root / "vault" / "edges").rglob("*.md") if met.ids["linked to"] in path.read_text()]
        assert len(edges) == 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("trusts", [True, False])
def test_s3_and_t4_a_tag_by_another_makes_no_text_theirs(tmp_path: Path, way: str, trusts: bool) -> None:
    a, hub = founded_with_hub(tmp_path)
    with Vault.open(a, person=True) as vault:
        if trusts:
            vault.config(machine={"trusted": BOB})
        note = vault.remember("Ann prefers tabs.", ["Editors"], kind="preference", pinned=True).id
        vault.sync()
    b = clone_of(hub, "b")
    with as_person(BOB), Vault.open(b, person=True) as vault:
        vault.tag(note, ["style"])
        his = vault.remember("Bob prefers spaces.", ["Editors"]).id
        vault.sync()
    WAYS[way](a)
    with Vault.open(a, person=True) as vault:
        shown = vault.show(note)
        assert shown.origin == "owner"
        text = (a / shown.path).read_text()
        assert "pinned: true" in text and "style" in text
        assert by_origin(vault.show(his).origin).writer is (Writer.TRUSTED if trusts else Writer.OTHERS)
    assert "pulled (" not in texts_of(a)


@pytest.mark.parametrize("way", WAYS)
def test_t2_settings_that_both_changed_stop_no_command(tmp_path: Path, way: str) -> None:
    a, hub = founded_with_hub(tmp_path)
    b = clone_of(hub, "b") if sync(a) else a
    for root, line in ((a, "lock_wait = 7"), (b, "lock_wait = 9")):
        file = root / "vault.toml"
        file.write_text(
            f"{line}\n" + "".join(row for row in file.read_text().splitlines(True) if not row.startswith("lock_wait"))
        )
        with Vault.open(root, person=True) as vault:
            vault.commit()
    sync(a)
    with nullcontext() if way == "sync" else pytest.raises(AssertionError):
        WAYS[way](b)
    for command in ("status", "doctor", "recall x", "remember 'A fact of the valley.'"):
        done = vt(*command.replace("'", "").split(" ", 1), cwd=b)
        assert done.returncode in (0, 1, 4), (command, done.stderr)
        if way != "sync":
            assert "vault.toml" in done.stdout + done.stderr, command
    if way == "sync":
        assert "<<<<" not in (b / "vault.toml").read_text()
        in_step(a, b)


@pytest.mark.parametrize("way", WAYS)
def test_t3_and_t5_another_address_of_the_owner_is_asked_for_and_forms_are_no_notes(tmp_path: Path, way: str) -> None:
    a, hub = founded_with_hub(tmp_path)
    with Vault.open(a, person=True) as vault:
        vault.create_understanding([], "Speak of harbours.", "A soul.", kind="soul")
        vault.sync()
    b = clone_of(hub, "b")
    with Vault.open(a, person=True) as vault:
        vault.remember("Written at home.", ["Home"])
        vault.sync()
    with as_person("me@work.example"):
        WAYS[way](b)
        said = vt("status", cwd=b).stdout
        assert "is tester@example.org you?" in said, said
        assert vt("search", "why it worked", cwd=b).stdout.count("templates/") == 0
        with Vault.open(b, person=True) as vault:
            vault.config(machine={"owners": "me@work.example,tester@example.org"})
            assert not any("template" in one.path for one in vault.search("why it worked").results)
            assert vault.status().pages == 0
        assert "harbours" in vt("orient", cwd=b).stdout


@pytest.mark.parametrize("name", NAMES)
def test_t1_a_file_syncers_copy_is_neither_sent_as_a_memory_nor_stops_a_sync(copies: tuple[Path, Path, Path], name: str) -> None:
    a, b, note = copies
    file = a / note
    copy = file.with_name(name.format(file.stem))
    copy.write_text(file.read_text().replace("May", "June"))
    try:
        sync(a)
        sync(b)
        for root in (a, b):
            found = vt("recall", "when is the boiler serviced", cwd=root).stdout
            assert "May" in found and "June" not in found
        assert vt("remember", "-s", "House", f"The roof is new: {len(name)} {hash(name)}.", cwd=a).returncode == 0
    finally:
        for root in (a, b):
            (root / note).with_name(copy.name).unlink(missing_ok=True)


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path, Path]]:
    """Two machines in step, and where the note about the boiler lies."""
    folder = tmp_path_factory.mktemp("copies")
    (folder / "home").mkdir()
    with nobodys_machine(folder / "home"):
        a, hub = founded_with_hub(folder)
        with Vault.open(a, person=True) as vault:
            note = Path(vault.remember("The boiler is serviced in May.", ["House"]).path)
            vault.sync()
        yield a, clone_of(hub, "b"), note
        shutil.rmtree(folder)
