"""Notes as bytes, links and graphs that no tool would write: named, never rewritten, never a reason to stop."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from tests.bounds import CAMPAIGN, work
from tests.corpus.heads import bad_heads, good_heads
from tests.git_repos import git
from tests.oracles import assert_as_built_anew, fingerprints
from vault_tool import Vault, VaultError
from vault_tool.errors import Refused

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""

IDS = tuple(f"{number:08x}-0000-4000-8000-000000000000" for number in range(1, 20))


def record(number: int, body: str = "A body.", kind: str = "fact", **fields: str) -> bytes:
    """A note as a person may write it."""
    head = {"id": IDS[number], "type": kind, **fields}
    return ("---\n" + "".join(f"{key}: {value}\n" for key, value in head.items()) + f"---\n{body}\n").encode()


def put(root: Path, name: str, data: bytes) -> Path:
    path = root / "vault" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def codes(vault: Vault, path: str) -> set[str]:
    return {one.code for one in vault.doctor().problems if one.path == path}


UNREADABLE = {
    "nul": record(1).replace(b"A body", b"A \x00 body"),
    "latin-1": record(2).replace(b"A body", b"A b\xf6dy"),
    "utf-16": record(3).decode().encode("utf-16"),
    "surrogate": record(4).replace(b"A body", b"A \xed\xa0\x80 body"),
    "escaped-surrogate": record(5, title='"\\ud800"'),
    "bomb": b"---\nid: " + IDS[6].encode() + b"\ntype: fact\na: &a [x, x]\n"
    + b"".join(b"%c: &%c [*%c, *%c]\n" % (i + 1, i + 1, i, i) for i in range(97, 121)) + b"---\nA body.\n",
    "self-alias": record(7, tags="&a [*a]"),
    "deep": record(8, tags="[" * 5000 + "]" * 5000),
    "deep-map": record(9, x="{a: " * 5000 + "}" * 5000),
    "deep-block": record(10, x="\n" + "".join(" " * n + "-\n" for n in range(1, 2000))),
    "python": record(11, x="!!python/object/apply:os.system ['touch canary']"),
    "unclosed": b"---\nid: " + IDS[12].encode() + b"\ntype: fact\nA body.\n",
    "list": b"---\n- id\n- type\n---\nA body.\n",
    "twice": record(13, type_="x").replace(b"type_: x", b"type: note"),
    "markers": b"<<<<<<< HEAD\n" + record(14) + b"=======\n>>>>>>> side\n",
    "million-keys": record(15, **{f"k{n}": "v" for n in range(60_000)}),
}  # fmt: skip


@pytest.mark.in_git
@pytest.mark.parametrize("name", UNREADABLE)
def test_a_note_that_cannot_be_read_is_named_and_the_others_are_found(root: Path, name: str) -> None:
    data = UNREADABLE[name]
    put(root, "good.md", record(0, "A findable body."))
    path = put(root, f"odd/{name}.md", data)
    with Vault.open(root) as vault:
        assert work(vault.fresh) < 200
        assert [found.id for found in vault.search("findable").results] == [IDS[0]]
        said = [one for one in vault.doctor().problems if one.path == f"vault/odd/{name}.md"]
        assert said and all(one.message and "\n" not in one.message for one in said)
        left = {one.path for one in vault.commit().left}
        assert f"vault/odd/{name}.md" in left
        assert f"vault/odd/{name}.md" not in git(root, "ls-files")
    assert path.read_bytes() == data
    assert not list(root.rglob("canary"))
    assert_as_built_anew(root, ["findable", "body"])


def test_all_odd_heads_together_are_named_by_path(root: Path) -> None:
    bad = list(bad_heads())
    for number, one in enumerate(bad):
        put(root, f"bad/{number}.md", one.data)
    for number, fine in enumerate(good_heads()):
        put(root, f"good/{number}.md", fine.data)
    put(root, "plain.md", record(0, "A findable body."))
    before = fingerprints(root)
    with Vault.open(root) as vault:
        found = {one.path for one in vault.doctor(every=True).problems}
        assert {f"vault/bad/{number}.md" for number in range(len(bad))} <= found
        assert [hit.id for hit in vault.search("findable").results] == [IDS[0]]
        vault.status()
        vault.decay()
    assert fingerprints(root) == before
    assert_as_built_anew(root, ["findable", "redis"])


@pytest.mark.parametrize(
    "data",
    [
        record(0, "A body.  ").replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + record(0),
        record(0)[:-1],
        record(0, "----\ntrailing  \t\n\n\n", title="'a: b' # why", country="no", code="0123", at="12:30", ver="1.10", none="~"),
        record(0, "x" * 200_000),
    ],
    ids=["crlf", "bom", "no final newline", "traps", "long"],
)
def test_a_verb_changes_its_own_line_and_no_other_byte(root: Path, data: bytes) -> None:
    path = put(root, "mine.md", data)
    with Vault.open(root, origin="owner") as vault:
        vault.pin(IDS[0])
        pinned = path.read_bytes()
        lines, old = pinned.split(b"\n"), data.split(b"\n")
        added = [line for line in lines if b"pinned" in line]
        assert len(added) == 1 and [line for line in lines if line not in added] == old
        assert vault.show(IDS[0]).head["pinned"] is True
        vault.pin(IDS[0], off=True)
        assert path.read_bytes() == data


def test_values_are_read_as_their_person_wrote_them(root: Path) -> None:
    put(root, "mine.md", record(0, country="no", on="off", code="0123", ver="1.10", at="12:30", big="1e3", day="2026-02-30"))
    with Vault.open(root) as vault:
        head = vault.show(IDS[0]).head
        assert {key: head[key] for key in ("country", "on", "code", "ver", "at", "day")} == {
            "country": "no", "on": "off", "code": "0123", "ver": "1.10", "at": "12:30", "day": "2026-02-30",
        }  # fmt: skip


def test_two_files_of_one_id_are_both_kept_and_named(root: Path) -> None:
    put(root, "a.md", record(0, "First words."))
    put(root, "copy of a.md", record(0, "Second words."))
    with Vault.open(root) as vault:
        for path in ("vault/a.md", "vault/copy of a.md"):
            assert "duplicate-id" in codes(vault, path)
        assert len(vault.search("words", kinds=["fact"]).results) == 2
        with pytest.raises(VaultError, match=r"vault/a\.md.*vault/copy of a\.md"):
            vault.pin(IDS[0])
        assert vault.show("vault/a.md").content == "First words."


def test_no_cycle_hides_a_note(root: Path) -> None:
    for number, target in ((0, 1), (1, 2), (2, 0), (3, 3)):
        put(
            root, f"{number}.md", record(number, "In a ring.", "single_subject", subjects="[Ring]", supersedes=f"[{IDS[target]}]")
        )
    with Vault.open(root) as vault:
        assert {found.id for found in vault.search("ring").results} == set(IDS[:4])
        assert any("supersession-cycle" in codes(vault, f"vault/{number}.md") for number in range(3))
        for number in range(4):
            assert vault.show(IDS[number]).content == "In a ring."
            assert vault.history(IDS[number]).results


def test_a_long_chain_is_walked_without_recursion(root: Path) -> None:
    chain = [f"{number:08x}-1111-4111-8111-111111111111" for number in range(3000 if CAMPAIGN else 1500)]
    for number, identity in enumerate(chain):
        older = f"supersedes: [{chain[number - 1]}]\n" if number else ""
        text = f"---\nid: {identity}\ntype: single_subject\nsummary: s\nsubjects: [Chain]\n{older}---\nLink {number}.\n"
        put(root, f"chain/{number}.md", text.encode())
    with Vault.open(root, origin="owner") as vault:
        assert [found.id for found in vault.search("link", 5, kinds=["understanding"]).results] == [chain[-1]]
        made = vault.update_understanding(chain[-1], "The newest link.", "s")
        assert made.superseded == (chain[-1],)
        with pytest.raises(Refused, match=made.new_understanding_id[:6]):
            vault.update_understanding(chain[0], "An older one.", "s")


def test_what_points_nowhere_is_listed_and_nothing_is_deleted(root: Path) -> None:
    with Vault.open(root) as vault:
        problem = vault.remember("It breaks.", ["Redis"], kind="problem")
        solved = vault.remember("It was mended.", ["Redis"], kind="solution", problem=problem.id)
        edge = vault.link(solved.id, "SOLVES", problem.id, "By a restart.")
        note = root / problem.path
        note.rename(note.with_name("renamed by hand.md"))
        assert not codes(vault, solved.path) & {"dangling-reference"}
        assert vault.show(solved.id).relations
        note.with_name("renamed by hand.md").unlink()
        before = fingerprints(root)
        assert "dangling-reference" in codes(vault, solved.path)
        assert "dangling-reference" in codes(vault, edge.path)
        vault.reindex(full=True)
        assert vault.show(solved.id).content == "It was mended."
        assert fingerprints(root) == before


@pytest.mark.in_git
def test_links_are_neither_read_nor_written_through(root: Path) -> None:
    beside = root.parent / f"{root.name}-evil"
    beside.mkdir()
    (beside / "secret.md").write_bytes(record(0, "A secret outside."))
    put(root, "inside.md", record(1, "An honest note."))
    vault_folder = root / "vault"
    (vault_folder / "link.md").symlink_to(beside / "secret.md")
    (vault_folder / "folder").symlink_to(beside, target_is_directory=True)
    (vault_folder / "within.md").symlink_to(vault_folder / "inside.md")
    (vault_folder / "up").symlink_to("..", target_is_directory=True)
    (vault_folder / "circle.md").symlink_to("circle.md")
    outside = fingerprints(beside, ".")
    with Vault.open(root) as vault:
        assert vault.search("secret").results == ()
        for named in (IDS[0], "vault/link.md", "vault/folder/secret.md", str(beside / "secret.md"), "vault/circle.md"):
            with pytest.raises(VaultError):
                vault.show(named)
            with pytest.raises(VaultError):
                vault.pin(named)
            with pytest.raises(VaultError):
                vault.adopt([named])
        assert {"not-a-file"} <= codes(vault, "vault/link.md") | codes(vault, "vault/within.md")
        assert [found.id for found in vault.search("honest").results] == [IDS[1]]
        gathered = vault.commit()
        assert "vault/inside.md" in gathered.paths
        assert {"vault/link.md", "vault/folder", "vault/circle.md"} <= {one.path for one in gathered.left}
        assert vault.remember("And on it goes.").committed
    assert fingerprints(beside, ".") == outside
    assert b"A secret outside." not in b"".join(
        path.read_bytes()
        for path in (*root.rglob("_*.json"), *root.glob("*.md"), *(root / "_cache").rglob("*"))
        if path.is_file()
    )
    assert_as_built_anew(root, ["secret", "honest"])


def test_the_folders_of_verbs_may_not_lead_out(root: Path) -> None:
    beside = root.parent / "beside"
    beside.mkdir()
    observations = root / "vault" / "observations"
    observations.symlink_to(beside, target_is_directory=True)
    with Vault.open(root) as vault, pytest.raises(Refused):
        vault.remember("Never outside.")
    assert list(beside.iterdir()) == []


@pytest.mark.in_git
def test_pipes_sockets_and_twins_are_named_and_block_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(root / "vault" / "pipe.md")
    monkeypatch.chdir(root / "vault")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket.md")
    put(root, "Café.md", record(0, "One of twins."))
    put(root, "Cafe\u0301.md", record(1, "The other of twins."))
    with Vault.open(root) as vault:
        assert len(vault.search("twins", kinds=["fact"]).results) == 2
        assert "not-a-file" in codes(vault, "vault/pipe.md") & codes(vault, "vault/socket.md")
        assert "twin-names" in codes(vault, "vault/Cafe\u0301.md") | codes(vault, "vault/Café.md")
        assert vault.remember("It goes on.").committed
        vault.commit()
