"""Where an owner listens when the folder that it would take was taken by another user first."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.bounds import PATIENCE, eventually
from tests.cli.typed import vt
from tests.owner.owned import Owned, by_the_owner, vault
from vault_tool.owner import address, spawning
from vault_tool.owner.spawning import StartRight, answers

ANOTHER = 54_321


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A short folder (as a socket's path has to be), with the folders for temporary files and for data in it."""
    found = Path(tempfile.mkdtemp())
    (found / "t").mkdir()
    monkeypatch.setenv("TMPDIR", str(found / "t"))
    monkeypatch.setenv("XDG_DATA_HOME", str(found / "d"))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    yield found
    shutil.rmtree(found)


def _file(taken: Path) -> None:
    taken.write_text("mine")


def _of_another_user(taken: Path) -> None:
    if os.getuid():
        pytest.skip("only root can give a folder away")
    taken.mkdir(mode=0o700)
    os.chown(taken, ANOTHER, ANOTHER)


def _dangling(taken: Path) -> None:
    taken.symlink_to(taken.with_name("nowhere"))


def _leads_elsewhere(taken: Path) -> None:
    taken.with_name("elsewhere").mkdir(mode=0o700)
    taken.symlink_to(taken.with_name("elsewhere"))


def _open_to_all(taken: Path) -> None:
    taken.mkdir()
    taken.chmod(0o777)


TAKEN = (_file, _of_another_user, _dangling, _leads_elsewhere, _open_to_all)


def _taken(place: Path) -> Path:
    return place / "t" / f"{address.FOLDER}-{os.getuid()}"


@pytest.mark.parametrize("take", TAKEN)
def test_an_owner_listens_in_the_data_folder_instead_and_is_found_there(
    place: Path, tmp_path: Path, take: Callable[[Path], None]
) -> None:
    root = vault(tmp_path)
    take(_taken(place))
    listening = address.Listening(str(root))
    try:
        assert Path(listening.path).parent == place / "d" / "vault_tool" / "run"
        line = address.connect(str(root), PATIENCE)
        assert line is not None
        line.close()
        with StartRight(str(root)) as right:
            assert right._is_ours(), "of those that miss an owner, the first starts one"
            with StartRight(str(root)) as other:
                assert not other._is_ours()
                assert other.spawn(), "another that is first is waited for"
    finally:
        listening.close()


def test_a_command_is_answered_by_an_owner_that_had_to_go_elsewhere(place: Path, tmp_path: Path) -> None:
    root = vault(tmp_path)
    _file(_taken(place))
    environ = dict(os.environ)
    with Owned(root, environ=environ):
        assert by_the_owner(["recall", "stone"], environ, root) is not None
        assert _taken(place).read_text() == "mine"


def test_one_is_started_in_the_background_there(place: Path, tmp_path: Path) -> None:
    root = vault(tmp_path)
    _open_to_all(_taken(place))
    assert vt("owner", "--background", cwd=root).returncode == 0
    assert answers(root, PATIENCE)
    assert vt("owner", "--stop", cwd=root).returncode == 0
    eventually(lambda: not answers(root))


class TestNoPlaceAtAll:
    @pytest.fixture(autouse=True)
    def _nothing_is_left(self, place: Path) -> None:
        _file(_taken(place))
        (place / "d" / "vault_tool").mkdir(parents=True)
        (place / "d" / "vault_tool" / "run").write_text("also taken")

    def test_the_reason_is_said(self, place: Path, tmp_path: Path) -> None:
        root = vault(tmp_path)
        for line in (["owner"], ["owner", "--background"]):
            done = vt(*line, cwd=root)
            assert done.returncode != 0
            assert str(_taken(place)) in done.stderr
            assert "XDG_RUNTIME_DIR" in done.stderr
            assert done.stderr.count("\n") == 1
        shown = vt("status", cwd=root)
        assert shown.returncode == 0
        assert shown.stdout.count(str(_taken(place))) == 1

    def test_nothing_is_started_and_nothing_waited_for(
        self, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = vault(tmp_path)
        started: list[object] = []
        monkeypatch.setattr(spawning, "spawn", started.append)
        with StartRight(str(root)) as right:
            assert not right.spawn()
        assert not started


def test_a_data_folder_whose_path_is_too_long_says_so(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(place / ("long" * 30)))
    _file(_taken(place))
    assert str(_taken(place)) in address.why_nowhere(str(vault(tmp_path)))
    assert not (place / "d").exists(), "looking makes nothing"
