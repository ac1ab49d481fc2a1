"""The walk: no link followed, nothing opened but folders, every oddity named; reads stay inside."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from tests.git_repos import write
from vault_tool.errors import Refused
from vault_tool.files.reader import LARGEST, Reader, TooLarge, present, read, scan


def _codes(root: Path) -> dict[str, str]:
    return {fault.path: fault.code for fault in scan(root).faults}


def test_notes_and_journals_are_seen_and_the_rest_is_not(tmp_path: Path) -> None:
    for name in (
        "a.md",
        "B.MD",
        "deep/er/c.md",
        "signals/2026-11.x.jsonl",
        "4913",
        "x.md~",
        ".#a.md",
        "#a.md#",
        ".h.md",
        "y.tmp",
    ):
        write(tmp_path, f"vault/{name}", "x")
    for name in (".obsidian/o.md", "node_modules/n.md", ".git/g.md", "picture.png"):
        write(tmp_path, f"vault/{name}", "x")
    write(tmp_path, "README.md", "outside of vault/")
    found = scan(tmp_path)
    assert list(found.files) == ["vault/B.MD", "vault/a.md", "vault/deep/er/c.md", "vault/signals/2026-11.x.jsonl"]
    assert (found.faults, found.partial, found.count) == ((), False, 4)


def test_links_pipes_and_sockets_are_named_and_never_opened(tmp_path: Path) -> None:
    outside = write(tmp_path, "outside/secret.md", "secret")
    write(tmp_path, "vault/a.md", "x")
    (tmp_path / "vault/link.md").symlink_to(outside)
    (tmp_path / "vault/folder").symlink_to(outside.parent, target_is_directory=True)
    (tmp_path / "vault/broken.md").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "vault/pipe.md")
    here = Path.cwd()
    os.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("vault/socket.md")
    os.chdir(here)
    odd = ("broken.md", "folder", "link.md", "pipe.md", "socket.md")
    assert _codes(tmp_path) == {f"vault/{name}": "not-a-file" for name in odd}
    assert list(scan(tmp_path).files) == ["vault/a.md"]
    for name in ("link.md", "pipe.md", "socket.md", "folder/secret.md"):
        with pytest.raises(Refused):
            read(tmp_path, f"vault/{name}")
    assert present(tmp_path, [f"vault/{name}" for name in (*odd, "a.md", "folder/secret.md", "no/such.md")]).keys() == {
        "vault/a.md"
    }


def test_a_linked_vault_folder_is_not_looked_into(tmp_path: Path) -> None:
    write(tmp_path, "elsewhere/a.md", "x")
    (tmp_path / "root").mkdir()
    (tmp_path / "root/vault").symlink_to(tmp_path / "elsewhere")
    found = scan(tmp_path / "root")
    assert (found.count, found.partial, [fault.code for fault in found.faults]) == (0, True, ["unreadable-folder"])


def test_a_missing_vault_folder_is_said(tmp_path: Path) -> None:
    found = scan(tmp_path)
    assert (found.count, found.partial, [fault.code for fault in found.faults]) == (0, False, ["unreadable-folder"])


def test_names_that_are_one_elsewhere_are_twins(tmp_path: Path) -> None:
    for name in ("Note.md", "note.md", "cafe\u0301.md", "caf\u00e9.md", "other.md"):
        write(tmp_path, f"vault/{name}", "x")
    assert _codes(tmp_path) == {"vault/note.md": "twin-names", "vault/caf\u00e9.md": "twin-names"}
    assert scan(tmp_path).count == 5


def test_a_name_that_is_no_text_is_named(tmp_path: Path) -> None:
    write(tmp_path, "vault/a.md", "x")
    with open(os.fsencode(tmp_path) + b"/vault/\xff.md", "wb") as file:
        file.write(b"x")
    assert list(_codes(tmp_path).values()) == ["odd-name"]
    assert list(scan(tmp_path).files) == ["vault/a.md"]


def test_reading_is_whole_and_bounded(tmp_path: Path) -> None:
    small, large = b"x" * 100_000, b"y" * (LARGEST + 1)
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/small.md").write_bytes(small)
    (tmp_path / "vault/large.md").write_bytes(large)
    (tmp_path / "vault/empty.md").write_bytes(b"")
    with Reader(tmp_path) as reader:
        for expected in (0, 5, 100_000, 200_000):
            assert reader.read("vault/small.md", expected)[:100_000] == small
        assert reader.read("vault/empty.md") == b""
        for expected in (0, LARGEST + 1):
            with pytest.raises(TooLarge):
                reader.read("vault/large.md", expected)
        with pytest.raises(FileNotFoundError):
            reader.read("vault/gone.md")


def test_a_file_that_grew_is_read_to_its_end(tmp_path: Path) -> None:
    file = write(tmp_path, "vault/a.md", "short")
    size = scan(tmp_path).files["vault/a.md"][0]
    file.write_text("short and then long")
    assert Reader(tmp_path).read("vault/a.md", size) == b"short and then long"
