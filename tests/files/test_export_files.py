"""Files of an export: zips that lie about themselves, names that lead out, links and pipes."""

from __future__ import annotations

import io
import os
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from vault_tool.errors import NotFound, Refused
from vault_tool.files import export_files
from vault_tool.files.export_files import ExportFiles, Torn


def _zip(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def _refused(path: Path) -> str:
    with pytest.raises(Refused) as raised, ExportFiles(path):
        pass
    return str(raised.value)


def test_a_zip_a_folder_of_zips_and_a_zip_of_zips_have_the_same_files(tmp_path: Path) -> None:
    plain = _zip(tmp_path / "memories-000.zip", {"memories/a.json": b"[1]"})
    folder = tmp_path / "all"
    folder.mkdir()
    (folder / "memories-000.zip").write_bytes(plain.read_bytes())
    outer = _zip(tmp_path / "outer.zip", {"memories-000.zip": plain.read_bytes()})
    for source, path in (
        (plain, "memories/a.json"),
        (folder, "memories-000.zip/memories/a.json"),
        (outer, "memories-000.zip/memories/a.json"),
    ):
        with ExportFiles(source) as files:
            assert [(file.path, file.read(100)) for file in files.files] == [(path, b"[1]")]


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../../x.json", "a/../../x.json", "..\\x.json", "C:\\x.json", "\\\\host\\x", "a/" * 30 + "x"]
)
def test_names_that_lead_out_are_refused(tmp_path: Path, name: str) -> None:
    assert "x.zip" in _refused(_zip(tmp_path / "x.zip", {"good.json": b"[]", name: b"[]"}))


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        link = zipfile.ZipInfo("conversations.json")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    assert "link" in _refused(path)


@pytest.mark.parametrize("fill", [b" ", b"\0", b"[],"])
def test_what_grows_without_measure_is_refused_before_a_byte_is_unpacked(tmp_path: Path, fill: bytes) -> None:
    assert "times its size" in _refused(_zip(tmp_path / "x.zip", {"conversations.json": fill * (20 * 2**20 // len(fill))}))


def test_a_bomb_in_a_zip_in_a_zip_is_refused(tmp_path: Path) -> None:
    inner = _zip(tmp_path / "inner.zip", {"conversations.json": b" " * 20 * 2**20})
    assert "times its size" in _refused(_zip(tmp_path / "x.zip", {"inner.zip": inner.read_bytes()}, zipfile.ZIP_STORED))
    twice = _zip(tmp_path / "twice.zip", {"x.zip": (tmp_path / "x.zip").read_bytes()}, zipfile.ZIP_STORED)
    assert "a zip in a zip" in _refused(twice)


def test_a_zip_that_says_less_than_it_holds_gives_no_more_than_it_says(tmp_path: Path) -> None:
    path = _zip(tmp_path / "x.zip", {"a.json": b"[" + b"1," * 40_000 + b"1]"}, zipfile.ZIP_DEFLATED)
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, at + 24, 10)
    path.write_bytes(bytes(data))
    with ExportFiles(path) as files, pytest.raises(Torn):
        files.files[0].read(2**20)


def test_more_than_its_share_is_never_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_files, "MOST_BYTES", 100_000)
    path = _zip(tmp_path / "x.zip", {"a.json": os.urandom(60_000), "b.json": os.urandom(60_000)})
    with ExportFiles(path) as files:
        files.files[0].read(2**20)
        with pytest.raises(Refused, match="unpacks to more than"):
            files.files[1].read(2**20)


def test_too_many_members_are_refused_by_what_the_zip_says_and_by_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _zip(tmp_path / "x.zip", {f"{number}.json": b"[]" for number in range(30)})
    monkeypatch.setattr(export_files, "MOST_MEMBERS", 20)
    assert "members" in _refused(path)
    lying = bytearray(path.read_bytes())
    struct.pack_into("<HH", lying, lying.rindex(b"PK\x05\x06") + 8, 2, 2)
    path.write_bytes(bytes(lying))
    assert "members" in _refused(path)


def _spoilt(change: Callable[[bytes], bytes], path: Path) -> Path:
    path.write_bytes(change(path.read_bytes()))
    return path


@pytest.mark.parametrize(
    "change", [lambda data: data[: len(data) // 2], lambda data: data[:4] + os.urandom(200), lambda data: data[:-3]]
)
def test_a_torn_zip_is_refused(tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    assert "zip" in _refused(_spoilt(change, _zip(tmp_path / "x.zip", {"a.json": os.urandom(500)})))


def test_a_torn_member_is_told_where_it_is_read(tmp_path: Path) -> None:
    path = _zip(tmp_path / "x.zip", {"a.json": os.urandom(5000)}, zipfile.ZIP_STORED)
    _spoilt(lambda data: data[:2000] + b"\0\0\0\0" + data[2004:], path)
    with ExportFiles(path) as files, pytest.raises(Torn, match="torn"):
        files.files[0].read(10_000)


def test_an_encrypted_zip_is_refused(tmp_path: Path) -> None:
    path = _zip(tmp_path / "x.zip", {"a.json": b"[]"})
    data = bytearray(path.read_bytes())
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(bytes(data))
    assert "encrypted" in _refused(path)


def test_links_and_pipes_of_a_folder_are_named_and_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    (tmp_path / "secret.json").write_text("[]")
    (folder / "conversations.json").symlink_to(tmp_path / "secret.json")
    (folder / "more").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.json")
    (folder / "there.json").write_text("[]")
    with ExportFiles(folder) as files:
        assert [file.path for file in files.files] == ["there.json"]
        assert sorted(problem.code for problem in files.passed_over) == ["link", "link", "not-a-file"]


def test_a_file_that_becomes_a_link_is_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "a.json").write_text("[]")
    with ExportFiles(folder) as files:
        (folder / "a.json").unlink()
        os.mkfifo(folder / "a.json")
        with pytest.raises(Torn):
            files.files[0].read(10)


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFound), ExportFiles(tmp_path / "nothing.zip"):
        pass


def test_a_member_of_a_zip_reads_as_any_stream(tmp_path: Path) -> None:
    data = os.urandom(3 * 2**20)
    with ExportFiles(_zip(tmp_path / "x.zip", {"a.json": data})) as files:
        with files.files[0].opened() as stream:
            assert isinstance(stream, io.BufferedReader) and stream.read() == data
        assert files.files[0].begin(10) == data[:10]
