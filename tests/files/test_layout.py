"""Kinds, places and paths: whatever a title says, its file stays in the vault, shown and short."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.faults.hostile_names import NAMES
from vault_tool.errors import Refused
from vault_tool.files.layout import FileKind, conflict_name, file_kind, inside, name_key, path_fault
from vault_tool.files.placing import place
from vault_tool.model.records import Consolidation, Edge, Observation, Record, Subject, Understanding, Workspace

ID = "a1b2c3d4-e5f6-4890-abcd-ef1234567890"
AT = "2026-11-20T10:00:00+00:00"
HOSTILE = [
    "../../etc/passwd", "/etc/passwd", "..\\..\\x", "%2e%2e%2fx", "a\0b", "a\nb", "\u202egnp.md", "-rf", ".git/config", "CON",
    "x" * 300, "", " ", "😀" * 70, "...", "con.txt", "vault-evil/../x", "~root", "$HOME", "`id`", "COM1", "日本" * 100, "é" * 200,
]  # fmt: skip


def free(path: str) -> bool:
    return False


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("vault/observations/2026/11/x-a1b2c3.md", FileKind.NOTE),
        ("vault/X.MD", FileKind.NOTE),
        ("vault/episodes/2026-11-20.k3f9abcd.md", FileKind.EPISODE),
        ("vault/episodes/thoughts.md", FileKind.NOTE),
        ("vault/old/episodes/2026-11-20.k3f9abcd.md", FileKind.NOTE),
        ("vault/signals/2026-11.k3f9abcd.jsonl", FileKind.SIGNALS),
        ("vault/signals/x.jsonl", FileKind.OTHER),
        ("vault/x.conflict-20261120T100000Z-k3f9abcd.md", FileKind.CONFLICT),
        ("vault/the.conflict-between-us.md", FileKind.NOTE),
        ("vault/picture.png", FileKind.OTHER),
        ("CORE.md", FileKind.OTHER),
        ("vault/.obsidian/app.json", None),
        ("vault/node_modules/x/readme.md", None),
        ("vault/.x.md.swp", None),
        ("vault/4913", None),
        ("vault/x.md~", None),
        ("vault/.#x.md", None),
        ("vault/#x.md#", None),
        ("vault/x.md.tmp", None),
    ],
)
def test_kinds(path: str, kind: FileKind | None) -> None:
    assert file_kind(path) is kind


@pytest.mark.parametrize(
    ("record", "path"),
    [
        (Subject(id=ID, type="subject", name="Memory system"), "vault/subjects/memory-system.md"),
        (
            Observation(id=ID, type="fact", title="Fixed Redis", created="2026-11-30T23:30:00-02:00"),
            "vault/observations/2026/12/fixed-redis-a1b2c3.md",
        ),
        (Understanding(id=ID, type="structural", title="Ü"), "vault/understandings/u-a1b2c3.md"),
        (Edge(id=ID, type="SOLVES", from_id="1", from_title="A", to_id="2"), "vault/edges/a--SOLVES--beta-a1b2c3.md"),
        (Consolidation(id=ID, type="consolidation", created=AT), "vault/consolidations/20261120T100000Z-a1b2c3.md"),
        (Workspace(id=ID, type="workspace", name="w"), "vault/workspace.md"),
    ],
)
def test_places(record: Record, path: str) -> None:
    assert place(record, {"2": "Beta"}, free) == path


@pytest.mark.parametrize(
    ("full", "folder"),
    [
        ({}, ""),
        ({"": 999, "/20": 9999}, ""),
        ({"": 1000}, "/20"),
        ({"": 1000, "/20": 249}, "/20"),
        ({"": 1000, "/20": 250}, "/20/2"),
        ({"": 3999, "/20": 300, "/20/2": 250, "/20/3": 7}, "/20/3"),
        ({"": 20_000, "/20": 7}, "-20"),
        ({"": 20_000, "-20": 250}, "-20/2"),
    ],
)
def test_a_note_goes_to_where_there_is_room(full: dict[str, int], folder: str) -> None:
    month = "vault/observations/2026/11"
    counts = {f"{month}{below}": count for below, count in full.items()}
    record = Observation(id=ID, type="fact", title="x", created=AT)
    assert place(record, {}, free, lambda path: counts.get(path, 0)) == f"{month}{folder}/x-a1b2c3.md"


@pytest.mark.parametrize(
    ("title", "begins"),
    [
        ("Redis drops idle connections after 300 s when nobody looks", "redis-drops-idle-connections-after-300-s"),
        ("Added socket_keepalive=True to the connection settings", "added-socket-keepalive-true-to-the"),
        ("x" * 90, "x" * 40),
        ("a " + "y" * 90, "a-" + "y" * 38),
        ("Kurz", "kurz"),
    ],
)
def test_at_most_forty_characters_stand_before_the_id(title: str, begins: str) -> None:
    observation = Observation(id=ID, type="fact", title=title, created=AT, body="x")
    understanding = Understanding(id=ID, type="soul", title=title, created=AT, body="x", summary="x")
    for record in (observation, understanding):
        name = place(record, {}, free).rsplit("/", 1)[-1]
        assert name == f"{begins}-a1b2c3.md"


@given(st.text(max_size=200))
def test_no_title_makes_a_longer_beginning(title: str) -> None:
    name = place(Observation(id=ID, type="fact", title=title, created=AT, body="x"), {}, free).rsplit("/", 1)[-1]
    begun = name.removesuffix("-a1b2c3.md")
    assert 0 < len(begun) <= 40 and not begun.endswith("-")


def test_a_taken_place_is_left_alone() -> None:
    taken = {"vault/subjects/redis.md", "vault/subjects/redis-a1b2c3.md"}
    record = Subject(id=ID, type="subject", name="Redis")
    assert place(record, {}, lambda path: path.casefold() in taken) == "vault/subjects/redis-a1b2c3d4.md"


def test_places_never_run_out() -> None:
    found: set[str] = set()
    for _ in range(20):
        found.add(place(Observation(id=ID, type="fact", title="x", created=AT), {}, found.__contains__))
    assert len(found) == 20


def check_place(record: Record, root: Path) -> None:
    path = place(record, {}, free)
    name = path.rpartition("/")[2]
    assert path_fault(path) == ""
    assert inside(root, path).is_relative_to(root)
    assert len(name.encode()) <= 200
    assert file_kind(path) is FileKind.NOTE
    assert os.path.normpath(path) == path


@given(title=st.one_of(st.text(), st.sampled_from(HOSTILE)), other=st.text(), kind=st.text(), record_id=st.text())
def test_any_title_stays_in_the_vault(title: str, other: str, kind: str, record_id: str) -> None:
    root = Path("/nowhere/vault")
    check_place(Subject(id=record_id, type="subject", name=title), root)
    check_place(Observation(id=ID, type=kind, title=title, created=other), root)
    check_place(Understanding(id=record_id, type=kind, title="", summary=title, created=AT), root)
    check_place(Edge(id=record_id, type=kind, from_id=other, from_title=title, to_id="x", to_title=other), root)


def test_five_hundred_hostile_names_stay_in_the_vault() -> None:
    root = Path("/nowhere/vault")
    for name in NAMES:
        check_place(Subject(id=ID, type="subject", name=name), root)
        check_place(Observation(id=ID, type=name, title=name, created=AT), root)
        check_place(Understanding(id=ID, type=name, title=name, created=AT), root)
        check_place(Edge(id=ID, type=name, from_id="1", from_title=name, to_id="2", to_title=name), root)


@pytest.mark.parametrize("title", HOSTILE)
def test_hostile_titles_stay_in_the_vault(title: str, tmp_path: Path) -> None:
    check_place(Subject(id=ID, type="subject", name=title), tmp_path)
    check_place(Edge(id=ID, type=title, from_id="1", from_title=title, to_id="2", to_title=title), tmp_path)


@pytest.mark.parametrize(
    "path",
    ["../x.md", "/etc/passwd", "vault/../../x", "vault\\x.md", "C:/x", "vault/a\0b", "vault/a\nb.md", "vault/\u202ex.md",
     ".git/config", "vault/.hidden.md", "vault/.git/x", "vault/CON", "vault/con.md", "vault/lpt1.txt", "vault//x.md",
     "vault/./x.md", "vault/../vault/x.md", "", ".", "vault/", "vault/" + "x" * 256, "vault/\ud800.md", "../vault-evil/x.md"],
)  # fmt: skip
def test_paths_that_are_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        inside(tmp_path, path)
    assert "\n" not in str(caught.value)


def test_a_name_may_be_as_long_as_file_systems_allow(tmp_path: Path) -> None:
    assert inside(tmp_path, "vault/" + "é" * 127 + "x") == tmp_path / "vault" / ("é" * 127 + "x")


def test_links_out_of_the_vault_are_refused(tmp_path: Path) -> None:
    root, evil = tmp_path / "vault", tmp_path / "vault-evil"
    root.mkdir()
    evil.mkdir()
    (evil / "x.md").write_bytes(b"")
    (root / "folder").symlink_to(evil)
    (root / "file.md").symlink_to(evil / "x.md")
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    (root / "git").symlink_to(root / ".git")
    for path in ("folder/x.md", "folder/new.md", "file.md", "git/config", "a", "a/x.md"):
        with pytest.raises(Refused):
            inside(root, path)


def test_links_within_the_vault_are_fine(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert inside(tmp_path, "link/x.md") == tmp_path / "link" / "x.md"


def test_names_meet_as_a_mac_sees_them() -> None:
    assert name_key("E\u0301.md") == name_key("\u00e9.MD")


def test_conflict_names_are_recognised_and_fit() -> None:
    name = conflict_name("é" * 120 + ".md", "20261120T100000Z", "k3f9abcd", 12)
    assert file_kind(f"vault/{name}") is FileKind.CONFLICT
    assert len(name.encode()) <= 255
