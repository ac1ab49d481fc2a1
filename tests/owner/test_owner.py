from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.bounds import PATIENCE, eventually
from tests.index.vaults import identity, note, path_of
from tests.owner.owned import Owned, by_the_owner, environment, kept_busy, of_the_owner, timeless, vault, without
from vault_tool import Vault
from vault_tool.files import watcher_presence
from vault_tool.owner import address, client
from vault_tool.owner.front import ANSWERED
from vault_tool.owner.protocol import Lines

LINES = [
    ["recall", "what of stone?"],
    ["recall", "quartz", "--json"],
    ["recall", "quartz", "--lean"],
    ["recall", "stone", "--explain", "--no-global"],
    ["recall", "stone", "--user", "u-1", "--json"],
    ["recall"],
    ["recall", "stone", "--limit", "0"],
    ["recall", "x", "--since", "the day before"],
    ["--json", "get", "nothing-of-the-kind"],
    ["search", "stone", "quartz", "--mode", "text"],
    ["search", "größe", "--json"],
    ["search-observations", "Stone", "quartz"],
    ["read", "stone", "--kind", "fact"],
    ["show", identity(3)],
    ["related", identity(1), "--json"],
    ["recall", "stone", "--nonsense"],
    ["bring-to-mind", "a word of quartz"],
    ["search", "quartz", "--limit", "1", "--session", "s-1"],
    ["show", identity(3), "--source"],
    ["--json", "recall", "--vault", "."],
]

# What the answer before this one has moved.
_USED = re.compile(r'used: .*|standing: .*|"(?:access_count|decay_score)": .*')


@pytest.fixture(scope="module")
def owned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owned]:
    """One owner for all tests that leave it as it was."""
    folder = tmp_path_factory.mktemp("owned")
    with Owned(vault(folder), environ=environment(folder)) as found:
        yield found


@pytest.fixture
def asked(owned: Owned, monkeypatch: pytest.MonkeyPatch) -> Owned:
    """The same, with its environment for whatever asks in this process."""
    monkeypatch.setattr(os, "environ", owned.environ)
    return owned


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_the_owner_answers_byte_for_byte_as_a_fresh_process(owned: Owned, line: list[str]) -> None:
    without(line, owned.environ, owned.root)  # the first answer of a memory counts as its use, and moves its score
    answer = of_the_owner(line, owned.environ, owned.root)
    assert timeless(answer) == timeless(without(line, owned.environ, owned.root))


@pytest.mark.parametrize(
    "line",
    [
        ["get", identity(4)[:9]],
        ["get", identity(4), "--json", "--origin", "owner"],
        ["get", f"./{path_of(4)}"],
        ["get", identity(4), identity(5), "nothing-of-the-kind"],
    ],
    ids=" ".join,
)
def test_a_memory_is_got_alike_but_for_its_use(owned: Owned, line: list[str]) -> None:
    by_it, alone = (run(line, owned.environ, owned.root) for run in (of_the_owner, without))
    (code, out, err), (code_alone, out_alone, err_alone) = by_it, alone
    assert (code, _USED.sub("", out), err) == (code_alone, _USED.sub("", out_alone), err_alone)


def test_each_command_that_it_answers_is_compared() -> None:
    assert {"get", *(word for line in LINES for word in line)} >= ANSWERED


def test_what_nobody_is_told_is_shown_by_it_to_whom_a_process_shows_it(tmp_path: Path) -> None:
    """A machine's settings may let commands answer for its person; an agent's word says that none stands there."""
    root = vault(tmp_path)
    with Vault.open(root, origin="owner", person=True) as opened:
        opened.consent(identity(3), "refused", reason="they asked")
    owners, agents = ["show", identity(3), "--origin", "owner"], ["show", identity(3), "--origin", "agent"]
    for settings, shown in ((None, False), ('{"unattended": true}', True)):
        if settings is not None:
            (root / "_config.json").write_text(settings)
        with Owned(root):
            for line, environ in (
                (owners, {}),
                (agents, {}),
                (owners[:2], {"VAULT_ORIGIN": "owner"}),
                (agents[:2], {"VAULT_ORIGIN": "agent"}),
            ):
                asks = {**os.environ, **environ}
                answer, alone = (run(line, asks, root) for run in (of_the_owner, without))
                assert timeless(answer) == timeless(alone)
                assert (answer[0] == 0) == (shown and (line == owners or environ.get("VAULT_ORIGIN") == "owner"))


def test_an_edit_is_in_the_next_answer(owned: Owned) -> None:
    for word in ("feldspar", "obsidian", "gneiss"):
        (owned.root / path_of(700)).write_text(note(700, f"On {word}, which is new."))
        answer = of_the_owner(["recall", word, "--json"], owned.environ, owned.root)
        assert [one["id"] for one in json.loads(answer[1])["results"]][:1] == [identity(700)]
    (owned.root / path_of(700)).unlink()
    answer = of_the_owner(["search", "gneiss", "--json"], owned.environ, owned.root)
    assert json.loads(answer[1])["results"] == []


def test_who_asks_is_said_by_the_caller(asked: Owned) -> None:
    shown = ["bring-to-mind", "stone", "--json"]
    first = of_the_owner(shown, {**asked.environ, "VAULT_SESSION": "s1"}, asked.root)
    token = ["--last-token", str(json.loads(first[1])["heartbeat_token"])]
    again = of_the_owner([*shown, *token], {**asked.environ, "VAULT_SESSION": "s1"}, asked.root)
    other = of_the_owner([*shown, "--session", "s2"], {**asked.environ, "VAULT_SESSION": "s1"}, asked.root)
    seen = [{one["id"] for one in json.loads(said[1])["results"]} for said in (first, again, other)]
    assert seen[0] and seen[0] == seen[2] and not seen[0] & seen[1]
    request = {"op": "write", "schema_version": "1", "memory": {}}
    answer = client.ask(str(asked.root), {"do": "op", "request": request, "environ": {"VAULT_MODEL": "m"}})
    assert answer is not None and answer["answer"]["ok"] is False and answer["answer"]["errors"]


def test_a_vault_is_found_from_below_and_by_its_name(owned: Owned, tmp_path: Path) -> None:
    line = ["recall", "stone"]
    here = of_the_owner(line, owned.environ, owned.root)
    link = tmp_path / "link"
    link.symlink_to(owned.root)
    for arguments, environ, cwd in (
        (line, owned.environ, owned.root / "vault" / "subjects"),
        ([*line, "--vault", str(owned.root)], owned.environ, tmp_path),
        (["--vault=link", *line], owned.environ, tmp_path),
        (line, {**owned.environ, "VAULT_ROOT": str(link)}, tmp_path),
    ):
        assert of_the_owner(arguments, environ, cwd) == here
    assert by_the_owner(line, owned.environ, tmp_path) is None


def test_a_folder_that_serves_its_notes_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from vault_tool.owner.front import find

    monkeypatch.delenv("VAULT_ROOT", raising=False)
    (tmp_path / "notes" / "memory").mkdir(parents=True)
    (tmp_path / "notes" / "deep").mkdir()
    settings = tmp_path / "notes" / "memory" / "vault.toml"
    monkeypatch.chdir(tmp_path / "notes" / "deep")
    for text, found in (('notes = "."', str(settings.parent)), ("", None), ("[broken", None)):
        settings.write_text(text)
        assert find("") == found
        assert find(str(tmp_path / "notes")) == found


@pytest.mark.parametrize(
    ("line", "more"),
    [
        (["recall", "-"], {}),
        (["recall", "stone", "--debug"], {}),
        (["recall", "--help"], {}),
        (["recall", "--", "stone"], {}),
        (["remember", "something", "--kind", "fact"], {}),
        (["--vault", "elsewhere", "recall", "stone"], {}),
        (["recall", "stone"], {"VAULT_OWNER": "off"}),
        (["recall", "stone"], {"VAULT_PROVIDER": "ollama"}),
        (["recall", "stone"], {"VAULT_ORIGIN": "nobody"}),
        (["recall", "stone"], {"HOME": "/elsewhere"}),
        (["recall", "st\udce9ne"], {}),
        ([], {}),
    ],
)
def test_what_a_process_has_to_answer_by_itself(owned: Owned, line: list[str], more: dict[str, str]) -> None:
    assert by_the_owner(line, {**owned.environ, **more}, owned.root) is None


def test_an_option_that_only_looks_like_a_vault_is_not_one(owned: Owned, tmp_path: Path) -> None:
    line = ["recall", "--session", "--vault", str(owned.root)]
    assert by_the_owner(line, owned.environ, tmp_path) is None


def test_changed_settings_hold_from_the_next_answer_on(owned: Owned) -> None:
    line = ["search", "stone", "--json"]
    settings = owned.root / "vault.toml"
    settings.write_text("nonsense = 1\n")
    assert timeless(of_the_owner(line, owned.environ, owned.root)) == timeless(without(line, owned.environ, owned.root))
    settings.write_text("")
    answer = of_the_owner(line, owned.environ, owned.root)
    assert answer[0] == 0


def test_many_at_once_are_all_answered(asked: Owned) -> None:
    request = {"do": "command", "arguments": ["search", "stone", "--mode", "text"], "environ": {}}
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda _: client.ask(str(asked.root), request), range(64)))
    texts = {answer["out"] for answer in found if answer is not None}
    assert len(texts) == 1 and "Stone" in texts.pop()


def _said(root: Path, data: bytes, *, ends: bool = True) -> list[dict[str, Any]]:
    """What the owner says to raw bytes after its greeting, until it ends the connection."""
    line = address.connect(str(root), PATIENCE)
    assert line is not None
    lines = Lines(line)
    greeting = lines.receive()
    assert greeting["root"] == str(root)
    said = []
    with line:
        try:
            line.sendall(data)
            if ends:
                line.shutdown(socket.SHUT_WR)
            while True:
                said.append(lines.receive())
        except Exception:  # noqa: BLE001  (however the owner ends it)
            return said


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\xff\xfe\x00\n",
        b"[" * 100_000 + b"\n",
        b'{"do": "command"}\n',
        b'{"do": "command", "arguments": "recall", "environ": {}}\n',
        b'{"do": "command", "arguments": ["recall", 1]}\n',
        b'{"do": "command", "arguments": ["recall", "x"], "environ": {"VAULT_SESSION": 3}}\n',
        b'{"do": "op", "request": {"op": ["x"]}}\n',
        b'{"do": ["drain"]}\n',
        b'{"do": "drain", "version": 7}\n',
        b'{"do": "drain", "version": "0.0.1"}\n',
        b'{"do": "shutdown"}\n',
        b"[1, 2]\n",
        b'{"do": "command", "arg',
        b"x" * (17 * 2**20),
    ],
    ids=range(17),
)
def test_a_hostile_frame_is_declined_and_harms_nobody(asked: Owned, data: bytes) -> None:
    for said in _said(asked.root, data):
        assert "declined" in said or said.get("answer", {}).get("ok") is False
    answer = of_the_owner(["show", identity(3)], asked.environ, asked.root)
    assert answer[0] == 0
    assert asked.process.poll() is None


def test_status_says_who_owns_since_when_what_is_warm_and_what_it_costs(owned: Owned) -> None:
    code, out, _ = without(["status", "--json"], owned.environ, owned.root)
    found = json.loads(out)["owner"]
    assert code == 0
    assert (found["pid"], found["background"], found["answers"]) == (owned.process.pid, True, True)
    assert found["warm"][:2] == ["catalogue", "full text"] and found["memory"] > 10**7 and found["started"] > "2020"
    _, text, _ = without(["status"], owned.environ, owned.root)
    assert f"owner:           process {owned.process.pid} since" in text and "in the background" in text


def test_the_socket_is_its_users_alone(owned: Owned) -> None:
    folder = Path(owned.environ["XDG_RUNTIME_DIR"]) / address.FOLDER
    (path,) = folder.iterdir()
    assert (folder.stat().st_mode & 0o777, path.stat().st_mode & 0o777) == (0o700, 0o600)


def test_a_second_owner_ends_and_says_who_is_first(asked: Owned) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "vault_tool", "owner", "--vault", str(asked.root)],
        env=asked.environ, capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 3 and f"process {asked.process.pid}" in done.stderr
    assert of_the_owner(["show", identity(3)], asked.environ, asked.root)


class TestItsEnd:
    """What becomes of a vault whose owner hangs, is killed or leaves; each test has an owner of its own."""

    LINE = ("show", identity(3))

    def test_one_that_hangs_is_done_without_and_one_that_is_killed_is_followed(self, tmp_path: Path) -> None:
        root = vault(tmp_path)
        with Owned(root) as first:
            first.process.send_signal(signal.SIGSTOP)
            assert by_the_owner(self.LINE, os.environ, root) is None
            assert not client.drain(str(root))
            done = subprocess.run(
                [sys.executable, "-m", "vault_tool", *self.LINE], cwd=root, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0 and identity(3)[:6] in done.stdout
            first.process.send_signal(signal.SIGCONT)
            assert of_the_owner(self.LINE, os.environ, root)
            first.process.kill()
            first.end()
        assert [path for path in address.paths(str(root)) if os.path.lexists(path)], "the dead one's socket is still there"
        assert by_the_owner(self.LINE, os.environ, root) is None
        second = Owned(root, "--idle", "1")
        with kept_busy(root):
            second.stands()
            assert of_the_owner(self.LINE, os.environ, root)
        assert second.end() == (0, "")
        assert not [path for path in address.paths(str(root)) if os.path.lexists(path)]
        assert watcher_presence.owner(root) is None

    def test_it_leaves_for_a_newer_one_and_for_a_watcher_that_somebody_starts(self, tmp_path: Path) -> None:
        root = vault(tmp_path)
        with Owned(root) as old:
            assert _said(root, b'{"do": "drain", "version": "999.0"}\n')[-1] == {"leaving": True}
            assert old.end() == (0, "")
        with Owned(root) as background:
            with Owned(root, command="watch") as watching:
                assert background.end() == (0, "")
                assert of_the_owner(self.LINE, os.environ, root)
                found = watcher_presence.owner(root)
                assert found is not None and (found.pid, found.background) == (watching.process.pid, False)
            assert by_the_owner(self.LINE, os.environ, root) is None

    def test_one_is_started_in_the_background_and_stopped(self, tmp_path: Path) -> None:
        root = vault(tmp_path)
        for line, answers, said in (
            (["owner", "--stop", "--json"], False, "no owner answered"),
            (["owner", "--background", "--json"], True, "an owner answers"),
            (["owner", "--background", "--json"], True, "an owner answers already"),
            (["owner", "--stop", "--json"], False, "the owner left"),
        ):
            code, out, _ = without(line, os.environ, root)
            assert (code, json.loads(out)) == (0, {"answers": answers, "said": said})
        eventually(lambda: watcher_presence.owner(root) is None)

    def test_it_leaves_when_its_vault_is_gone(self, tmp_path: Path) -> None:
        root = vault(tmp_path)
        with Owned(root) as owned:
            root.rename(tmp_path / "moved")
            assert owned.end()[0] == 0

    def test_where_it_may_not_be(self, tmp_path: Path) -> None:
        root = vault(tmp_path)
        (root / "_config.json").write_text('{"owner": "off"}')
        refused = Owned(root).end()
        assert refused[0] == 6 and "`owner` is off" in refused[1]
        assert json.loads(without(["status", "--json"], os.environ, root)[1])["owner"]["absence"] == "off on this machine"

    def test_of_several_that_start_at_once_one_answers(self, tmp_path: Path) -> None:
        root = vault(tmp_path)
        several = [Owned(root, "--idle", "2") for _ in range(3)]
        with kept_busy(root):
            eventually(lambda: sum(each.process.poll() is not None for each in several) == 2)
        codes = sorted(each.end()[0] for each in several)
        assert codes == [0, 3, 3]


def test_a_folder_or_a_socket_of_somebody_else_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    root = vault(tmp_path)
    # A socket's path must be short, which those of tests that run side by side are not.
    place = Path(tempfile.mkdtemp())
    request.addfinalizer(lambda: shutil.rmtree(place))
    open_to_all, other = place / "open", place / "other"
    for folder in (open_to_all, other):
        (folder / address.FOLDER).mkdir(parents=True)
        (folder / address.FOLDER).chmod(0o755)
    (other / f"{address.FOLDER}-{os.getuid()}").mkdir(mode=0o755)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(open_to_all))
    monkeypatch.setenv("TMPDIR", str(other))
    monkeypatch.setenv("XDG_DATA_HOME", str(place / ("too long for a socket" * 5)))
    for path in address.paths(str(root)):
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listening.bind(path)
        listening.listen()
    assert address.connect(str(root), PATIENCE) is None
    with pytest.raises(address.NotPrivate):
        address.Listening(str(root))
    (open_to_all / address.FOLDER).chmod(0o700)
    Path(address.paths(str(root))[0]).unlink()
    Path(address.paths(str(root))[0]).write_text("no socket")
    assert address.connect(str(root), PATIENCE) is None
    listening = address.Listening(str(root)).line
    assert address.connect(str(root), PATIENCE) is not None
    listening.close()


def _greets(root: Path, greeting: dict[str, Any], heard: list[bytes]) -> threading.Thread:
    """Somebody who listens for a vault, greets so, and keeps what one caller says."""
    place = address.Listening(str(root))

    def greet() -> None:
        line, _ = place.line.accept()
        with line:
            line.sendall(json.dumps({"protocol": 1, "root": str(root), "nonce": "n", **greeting}).encode() + b"\n")
            heard.append(line.recv(1000))
        place.close()

    thread = threading.Thread(target=greet)
    thread.start()
    return thread


@pytest.mark.parametrize(
    ("greeting", "asks"),
    [
        ({"version": "0.0.1"}, {"do": "drain"}),
        ({"version": "999.0"}, None),
        ({"version": "0.0.1", "protocol": 0}, {"do": "drain"}),
        ({"version": 3}, None),
        ({"version": "0.1.0", "root": "/elsewhere"}, None),
    ],
)
def test_an_older_owner_is_asked_to_leave_and_no_other_version_is_asked(
    tmp_path: Path, greeting: dict[str, Any], asks: dict[str, Any] | None
) -> None:
    heard: list[bytes] = []
    thread = _greets(tmp_path, greeting, heard)
    eventually(lambda: any(map(os.path.lexists, address.paths(str(tmp_path)))))
    assert client.ask(str(tmp_path), {"do": "command", "arguments": ["recall", "x"]}) is None
    thread.join(PATIENCE)
    (said,) = heard
    assert (json.loads(said)["do"] if said else None) == (asks and asks["do"])


@pytest.mark.without_coverage
def test_what_asks_the_owner_loads_next_to_nothing(owned: Owned) -> None:
    program = "import sys; from vault_tool.__main__ import main; main(); print(sorted(sys.modules), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", program, "recall", "stone"],
        cwd=owned.root, env=owned.environ, capture_output=True, text=True, check=True, timeout=PATIENCE,
    )  # fmt: skip
    assert "Stone" in done.stdout
    loaded = set(json.loads(done.stderr.replace("'", '"')))
    unneeded = {"click", "pathlib", "typing", "dataclasses", "msgspec", "subprocess", "sqlite3", "numpy", "vault_tool.errors"}
    assert not loaded & unneeded
