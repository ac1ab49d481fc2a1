from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.bounds import PATIENCE
from tests.fakes.loopback import Mode
from tests.fakes.ollama_server import FakeOllama
from tests.git_repos import write
from tests.watch.watched import (
    CAMPAIGN,
    Inside,
    Watched,
    catalogued,
    eventually,
    found,
    git,
    identity,
    in_catalogue,
    note,
    opened,
    path_of,
    vault,
)
from vault_tool.config import Config
from vault_tool.features.setup import setup
from vault_tool.files import watcher_presence
from vault_tool.index.vault_index import Index
from vault_tool.util.clock import Clock
from vault_tool.vault.context import Context

VT = (sys.executable, "-m", "vault_tool")


def _status(root: Path) -> dict[str, Any] | None:
    done = subprocess.run([*VT, "status", "--json", "--vault", str(root)], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)["watcher"]
    assert found is None or isinstance(found, dict)
    return found


def test_a_hand_edit_is_searchable_by_the_index_alone(tmp_path: Path) -> None:
    root = vault(tmp_path, 300)
    with Watched(root) as watched:
        write(root, path_of(3), note(3, "A zebra by hand."))
        # Asked of the index alone: the watcher has put it there, no comparison of this process has.
        index = Index(root, Config(), None, Clock())
        eventually(lambda: path_of(3) in found(index, "zebra"))
        assert watched.change(path_of(3))["change"] == "modified"
        assert not catalogued(root).rows("SELECT 1 FROM lexical_pending")
        index.close()


def test_what_another_process_remembers_is_told_and_not_done_again(tmp_path: Path) -> None:
    root = vault(tmp_path)
    with Watched(root) as watched:
        index = opened(root)
        index.refresh()
        write(root, "vault/new.md", note(70))
        index.refresh()
        before = index.catalog.seq()
        assert watched.change("vault/new.md")["change"] == "added"
        assert watched.quiet() == []
        settled = catalogued(root)
        assert int(settled.seq()) - int(before) <= 2
        index.close()


def test_a_burst_while_it_stood_still(tmp_path: Path) -> None:
    count = 30_000 if CAMPAIGN else 1_000
    root = vault(tmp_path)
    with Watched(root) as watched:
        watched.process.send_signal(signal.SIGSTOP)
        for number in range(100, 100 + count):
            folder = root / f"vault/burst/{number % 50}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{number}.md").write_text(note(number))
        (root / path_of(3)).unlink()
        time.sleep(2.5)
        watched.process.send_signal(signal.SIGCONT)
        wanted = {str(path.relative_to(root)) for path in (root / "vault").rglob("*.md")}
        eventually(lambda: in_catalogue(root).keys() == wanted)
        write(root, "vault/burst/7/after.md", note(99))
        assert watched.change("vault/burst/7/after.md")["change"] == "added"


def test_it_writes_nothing_while_nothing_happens(tmp_path: Path) -> None:
    root = vault(tmp_path)
    with Watched(root, "--reconcile", "2") as watched:
        write(root, path_of(3), note(3, "The last change."))
        watched.change(path_of(3))
        eventually(lambda: (root / "_state.json").exists())
        for _ in range(2):  # one more comparison, after which the note's times can be relied on
            earlier = _compared(root)
            eventually(lambda earlier=earlier: _compared(root) not in (earlier, ""))  # type: ignore[misc]
        before, head = _stats(root), git(root, "rev-parse", "HEAD")
        watched.quiet(60 if CAMPAIGN else 5)
        assert _stats(root) == before
        assert git(root, "rev-parse", "HEAD") == head


def _compared(root: Path) -> str:
    """When the watcher compared last, by its record."""
    try:
        return str(json.loads((root / "_local/watch.json").read_text())["reconciled"])
    except (OSError, ValueError):
        return ""


def _stats(root: Path) -> dict[str, tuple[int, int]]:
    """Every file but the watcher's own record of when it compared last."""
    files = [path for path in root.rglob("*") if path.is_file() and path.name != "watch.json" and ".git" not in path.parts]
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in files}


def test_a_second_watcher_is_told_who_watches(tmp_path: Path) -> None:
    root = vault(tmp_path)
    with Watched(root) as watched:
        second = subprocess.run([*VT, "watch", "--vault", str(root)], capture_output=True, text=True)
        assert second.returncode == 3
        assert second.stderr.startswith(f"vt: process {watched.process.pid} on ")
        assert second.stderr.count("\n") == 1


def test_after_a_kill_another_one_starts_and_status_was_not_deceived(tmp_path: Path) -> None:
    root = vault(tmp_path)
    watched = Watched(root)
    watched.__enter__()
    status = _status(root)
    assert status is not None and (status["mode"], status["pid"], status["degraded"]) == ("events", watched.process.pid, "")
    watched.process.kill()
    watched.process.wait()
    assert (root / "_local/watch.json").exists() and _status(root) is None
    write(root, "vault/meanwhile.md", note(71))
    with Watched(root) as again:
        assert {"change": "added", "path": "vault/meanwhile.md"}.items() <= again.said[0].items()
        status = _status(root)
        assert status is not None and status["pid"] == again.process.pid
    assert _status(root) is None and not (root / "_local/watch.json").exists()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_it_ends_after_a_signal(tmp_path: Path, number: int, code: int) -> None:
    with Watched(vault(tmp_path)) as watched:
        assert watched.end(number) == code


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_question_under_way_is_answered_before_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: int
) -> None:
    root = vault(tmp_path)
    (root / "vault.toml").write_text("embedding_wait = 60.0\n")
    with FakeOllama(mode=Mode.SLOW, poison="slowly", delay=4.0) as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.url)
        with Watched(root) as watched:
            eventually(lambda: _answers_warm(root))
            asking = subprocess.Popen(
                [*VT, "search", "slowly", "--vault", str(root)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            eventually(lambda: _asked_slowly(ollama))
            assert watched.end(number) == code
            said, errors = asking.communicate(timeout=PATIENCE)
            assert (asking.returncode, errors) == (0, b""), said
            assert _asked_slowly(ollama) == 1  # not asked again by the command itself


def _answers_warm(root: Path) -> bool:
    owner = watcher_presence.owner(root)
    return owner is not None and any("vectors" in part for part in owner.warm)


def _asked_slowly(ollama: FakeOllama) -> int:
    return sum("slowly" in str(request.body) for request in ollama.asked("/api/embed"))


def test_polling(tmp_path: Path) -> None:
    root = vault(tmp_path)
    with Watched(root, "--poll") as watched:
        write(root, path_of(3), note(3, "A polled zebra."))
        assert watched.change(path_of(3))["change"] == "modified"
        status = _status(root)
        assert status is not None and status["mode"] == "polling"


def test_once_compares_and_ends(tmp_path: Path) -> None:
    root = vault(tmp_path)
    opened(root).refresh()
    write(root, "vault/new.md", note(72))
    done = subprocess.run([*VT, "watch", "--once", "--vault", str(root)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "+ vault/new.md Note 72\n")


def test_without_room_for_watches_it_says_so_and_polls(tmp_path: Path) -> None:
    """The system's limit is lowered for a user of our own, in a user namespace where the system allows one."""
    root = vault(tmp_path)
    script = 'echo 1 > /proc/sys/user/max_inotify_watches && exec "$@"'
    trial = ["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh"]
    if subprocess.run([*trial, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system gives no user namespaces")
    command = [*trial, *VT, "watch", "--vault", str(root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        try:
            remarks = [process.stderr.readline() for _ in range(2)]
            assert "limit" in remarks[0] and "looking every second instead" in remarks[0], remarks
            write(root, path_of(3), note(3, "A zebra all the same."))
            assert process.stdout.readline() == f"~ {path_of(3)} Note 3\n"
            status = _status(root)
            assert status is not None and status["mode"] == "polling" and "limit" in status["degraded"]
        finally:
            process.terminate()
        assert process.stderr.read() == ""


def test_it_vouches_for_what_was_written_before_it_was_asked(tmp_path: Path) -> None:
    root = vault(tmp_path)
    with Inside(root) as inside:
        watcher = inside.watcher
        asker = Context.open(root)
        asker.is_current = watcher.fresh
        for number in range(20):
            write(root, path_of(3), note(3, f"Body {number}.", title=f"Title {number}"))
            asker.fresh()
            assert [entry.title for entry in asker.index.catalog.get(identity(3))] == [f"Title {number}"]
        assert watcher.fresh(PATIENCE)
        assert not list((root / "vault").glob(".cookie*")) and git(root, "status", "--short").count("\n") == 0
        asker.close()
    assert not watcher.fresh()


def test_it_does_not_vouch_while_losses_are_withheld(tmp_path: Path) -> None:
    root = vault(tmp_path)
    with Inside(root) as inside:
        watcher = inside.watcher
        assert watcher.fresh(PATIENCE)
        (root / "vault").rename(root / "gone")
        assert not watcher.fresh()
        (root / "gone").rename(root / "vault")
        eventually(watcher.fresh)
        write(root, path_of(3), note(3, "Back.", title="Heard again"))
        assert watcher.fresh(PATIENCE)
        assert [entry.title for entry in watcher._vault.index.catalog.get(identity(3))] == ["Heard again"]


def test_a_thread_that_died_is_replaced(tmp_path: Path) -> None:
    root = vault(tmp_path)
    with Inside(root) as inside:
        watcher = inside.watcher
        observer = watcher._observer._observer
        assert observer is not None
        observer.stop()
        eventually(lambda: watcher._observer._observer is not observer and watcher.fresh())
        write(root, path_of(3), note(3, "Heard.", title="After its death"))
        assert watcher.fresh(PATIENCE)
        assert watcher.mode == "events"


def test_settings_that_change_are_taken_up(tmp_path: Path) -> None:
    root = vault(tmp_path)
    with Inside(root) as inside:
        watcher = inside.watcher
        (root / "vault.toml").write_text('[types.recipe]\nclass = "observation"\n')
        eventually(lambda: "recipe" in watcher._vault.settings.types.specs)
        (root / "vault.toml").write_text("nonsense = [")
        eventually(lambda: len(watcher._remarks) == 1)
        # As in every other process: what was committed last is in force, and here nothing was.
        eventually(lambda: "recipe" not in watcher._vault.settings.types.specs)


def test_a_watcher_makes_neither_page_nor_commit(tmp_path: Path) -> None:
    root = vault(tmp_path)
    old = time.time() - 7200
    os.utime(root / "CORE.md", (old, old))
    head = git(root, "rev-parse", "HEAD")
    with Watched(root) as watched:
        assert watched.quiet(3.5) == []
        write(root, path_of(3), note(3, "A change that would be in it.", title="New title"))
        watched.change(path_of(3))
        assert watched.quiet(3) == []
    assert (root / "CORE.md").read_text() == "# Core\n"
    assert git(root, "rev-parse", "HEAD") == head


def test_the_folder_around_is_looked_at_though_not_listened_to(tmp_path: Path) -> None:
    write(tmp_path / "Notes", "Daily/Monday.md", "The quokka sleeps.\n")
    home = setup.init(tmp_path / "Notes", notes="here", no_git=True).root
    with Inside(Path(home)) as inside:
        assert not inside.watcher.fresh(0.0), "who asks must compare"
        write(tmp_path / "Notes", "Daily/Tuesday.md", "The wombat digs.\n")
        assert inside.change("../Daily/Tuesday.md")["change"] == "added"
        (tmp_path / "Notes/Daily/Monday.md").unlink()
        assert inside.change("../Daily/Monday.md")["change"] == "removed"
