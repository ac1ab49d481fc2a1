"""Bad weather for a sync: crowds, a full disk, clocks that are off, hubs that hang, break or lie, and hostile colleagues."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.bounds import eventually
from tests.cli.typed import VT, vt
from tests.faults.killer import runs_wanted
from tests.faults.test_disks import namespaced
from tests.faults.test_hostile_pull import (
    Attacked,
    as_mallory,
    assert_told,
    assert_untouched,
    plant,
    with_files,
    written_by_the_owner,
)
from tests.git_repos import git, write
from tests.oracles import assert_git_is_sound
from tests.sync.machines import clone_of, founded_with_hub, in_step, sync
from vault_tool import Vault
from vault_tool.errors import Exit
from vault_tool.files.git import remote


def texts_of(root: Path) -> str:
    return "".join(path.read_text() for path in (root / "vault").rglob("*") if path.is_file())


# A crowd

CROWD = """
import sys
from vault_tool import Vault
root, name, writes = sys.argv[1], sys.argv[2], int(sys.argv[3])
for number in range(writes):
    with Vault.open(root, person=True) as vault:
        vault.remember(f"Written by {name}x{number}x on its own machine.", [f"Topic {number % 5}"])
        if number % 10 == 9:
            vault.sync()
with Vault.open(root, person=True) as vault:
    for _ in range(20):
        done = vault.sync()
        if not done.waiting:
            break
    print(done.waiting)
"""


def test_what_many_clones_write_arrives_everywhere(tmp_path: Path) -> None:
    clones, writes = (10, 50) if runs_wanted(1) > 1 else (3, 2)
    first, hub = founded_with_hub(tmp_path)
    sync(first)
    roots = [first, *(clone_of(hub, f"c{number}") for number in range(1, clones))]
    commands = [[sys.executable, "-c", CROWD, str(root), f"m{number}", str(writes)] for number, root in enumerate(roots)]
    children = [subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for line in commands]
    for child in children:
        printed, faults = child.communicate()
        assert child.returncode == 0 and printed.strip() == "0", faults
    in_step(*roots)
    text = texts_of(first)
    assert [(n, w) for n in range(clones) for w in range(writes) if f"m{n}x{w}x" not in text] == []
    assert_git_is_sound(hub)


# A full disk

FULL = """
import os, pathlib, subprocess, sys
disk, room, source = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
root = disk / "b"
subprocess.run(["cp", "-a", source, str(root)], check=True)
(root / "_local" / "mark").unlink(missing_ok=True)
vt = [sys.executable, "-m", "vault_tool", "--vault", str(root)]
subprocess.run([*vt, "status"], capture_output=True, check=True)
try:
    with open(disk / "filling", "wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
except OSError:
    pass
if room:
    os.truncate(disk / "filling", os.stat(disk / "filling").st_size - room)
words = [f"word{number}" for number in range(1, 5)]
def text():
    return "".join(p.read_text() for p in (root / "vault").rglob("*") if p.is_file())
for _ in range(2):
    done = subprocess.run([*vt, "sync"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if "Traceback" in done.stderr or done.stderr.count("\\n") > 3:
        print("WRONG", done.returncode, done.stdout[:300], done.stderr[:900])
    if "word1" not in text() or "word2" not in text():
        print("WRONG: what was written here is gone")
    if "<<<<<<<" in text():
        print("WRONG: markers")
os.unlink(disk / "filling")
done = subprocess.run([*vt, "sync"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
missing = [word for word in words if word not in text()]
clean = subprocess.run(["git", "-C", str(root), "status", "--porcelain"], capture_output=True, text=True).stdout
print("done" if done.returncode in (0, 4) and not missing and not clean else ("WRONG", done, missing, clean))
"""


@pytest.mark.parametrize("room", [0, 20_000, 60_000, 120_000, 250_000])
def test_a_full_disk_loses_nothing_and_the_next_sync_does_it(
    tmp_path: Path, room: int, monkeypatch: pytest.MonkeyPatch, diverged: tuple[Path, Path]
) -> None:
    monkeypatch.setenv("VAULT_OWNER", "off")
    a, b = diverged
    disk = tmp_path / "disk"
    disk.mkdir()
    script = 'mount -t tmpfs -o size=12m none "$3"; exec "$1" -c "$2" "$3" "$4" "$5"'
    done = subprocess.run([*namespaced(script), FULL, str(disk), str(room), str(b)], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("done", "")
    # The other takes over what was sent in the end.
    sync(a)
    assert all(f"word{number}" in texts_of(a) for number in range(1, 5))


@pytest.fixture
def diverged(tmp_path: Path) -> tuple[Path, Path]:
    """Two machines that went apart: each has a new memory and an edit of the same one."""
    a, hub = founded_with_hub(tmp_path)
    with Vault.open(a, person=True) as vault:
        note = vault.remember("First line.\n\nLast line.", ["Both"], tags=["base"])
        vault.sync()
    b = clone_of(hub, "b")
    with Vault.open(b, person=True) as vault:
        vault.remember("New at B: word1.", ["News"])
        vault.tag(note.id, ["word2"])
    with Vault.open(a, person=True) as vault:
        vault.remember("New at A: word3.", ["News"])
        vault.tag(note.id, ["word4"])
        vault.sync()
    return a, b


# Clocks


@pytest.mark.parametrize("off", ["+2 days", "-2 days"])
def test_a_clock_two_days_off_decides_nothing(diverged: tuple[Path, Path], off: str) -> None:
    if not shutil.which("faketime"):
        pytest.skip("needs faketime")
    a, b = diverged
    for command in (["remember", "-s", "News", "Written by a wrong clock: word5."], ["sync"]):
        done = subprocess.run(
            ["faketime", "-f", off.replace(" days", "d"), *VT, *command], cwd=b, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    with Vault.open(a, person=True) as vault:
        vault.remember("Written by the right clock: word6.", ["News"])
    in_step(a, b)
    for root in (a, b):
        assert [number for number in range(1, 7) if f"word{number}" not in texts_of(root)] == []
        assert vt("doctor", cwd=root).returncode == 0


# Hubs


def test_a_hub_that_hangs_is_given_up_and_nothing_of_it_goes_on(
    diverged: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, b = diverged
    ssh = write(tmp_path / "bin", "ssh", f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 1000\n")
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{ssh.parent}{os.pathsep}{os.environ['PATH']}")
    git(b, "remote", "set-url", "origin", "ann@hub.invalid:memory.git")
    defaults = remote.fetch.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "limit", 2.0)
    head = git(b, "rev-parse", "HEAD")
    done = sync(b)
    assert "did not answer" in done.reason and "wait" in done.reason and not done.attention
    assert git(b, "rev-parse", "HEAD") == head
    if (tmp_path / "pid").exists():
        eventually(lambda: not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists())


def _names_what_is_not_there(hub: Path) -> None:
    (hub / "packed-refs").unlink(missing_ok=True)
    write(hub, "refs/heads/main", "1" * 40 + "\n")


def _names_no_commit(hub: Path) -> None:
    tree = git(hub, "rev-parse", "main^{tree}")
    (hub / "packed-refs").unlink(missing_ok=True)
    write(hub, "refs/heads/main", tree + "\n")


def _has_broken_objects(hub: Path) -> None:
    for file in (hub / "objects").rglob("*"):
        if file.is_file() and "info" not in file.parts:
            # A clone at the same machine has links to the very files.
            broken = file.read_bytes()[:-7]
            file.unlink()
            file.write_bytes(broken)


def _is_a_folder_of_something_else(hub: Path) -> None:
    shutil.rmtree(hub)
    write(hub, "readme.txt", "nothing")


LIES = (_names_what_is_not_there, _names_no_commit, _has_broken_objects, _is_a_folder_of_something_else)


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__.strip("_"))
def test_a_hub_that_lies_changes_nothing(diverged: tuple[Path, Path], lie: object) -> None:
    _, b = diverged
    hub = b.parent / "hub.git"
    kept = shutil.copytree(hub, b.parent / "kept.git")
    head, text = git(b, "rev-parse", "HEAD"), texts_of(b)
    assert callable(lie)
    lie(hub)
    done = vt("sync", cwd=b)
    assert done.returncode in (Exit.DONE, Exit.ATTENTION, Exit.REFUSED, Exit.IO), (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr and done.stdout + done.stderr
    assert (git(b, "rev-parse", "HEAD"), texts_of(b)) == (head, text)
    shutil.rmtree(hub)
    kept.rename(hub)
    assert sync(b).sent
    assert all(f"word{number}" in texts_of(b) for number in range(1, 5))


def test_a_hub_that_takes_a_push_and_forgets_it_is_given_it_again(diverged: tuple[Path, Path]) -> None:
    a, b = diverged
    hub = b.parent / "hub.git"
    old = git(hub, "rev-parse", "main")
    hook = write(hub, "hooks/post-receive", f"#!/bin/sh\ngit update-ref refs/heads/main {old}\n")
    hook.chmod(0o755)
    sync(b)
    assert git(hub, "rev-parse", "main") == old
    hook.unlink()
    assert sync(b).sent
    in_step(a, b)


def _with_hook(hub: Path, name: str, script: str) -> None:
    write(hub, f"hooks/{name}", f"#!/bin/sh\n{script}\n").chmod(0o755)


def _is_an_empty_folder(hub: Path) -> None:
    shutil.rmtree(hub)
    hub.mkdir()


def _was_emptied(hub: Path) -> None:
    shutil.rmtree(hub)
    git(hub.parent, "init", "--quiet", "--bare", "--initial-branch=main", hub.name)


def _has_another_history(hub: Path) -> None:
    git(hub.parent, "init", "--quiet", "--initial-branch=main", "other")
    write(hub.parent, "other/vault/x.md", "Another history.\n")
    git(hub.parent / "other", "add", ".")
    git(hub.parent / "other", "commit", "--quiet", "-m", "x")
    git(hub.parent / "other", "push", "--quiet", "--force", str(hub), "HEAD:main")


HUBS: tuple[tuple[str, Callable[[Path], object], Exit, str], ...] = (
    (
        "refuses in two lines",
        lambda hub: _with_hook(hub, "update", "printf 'No.\\nNot today.\\n' >&2; exit 1"),
        Exit.ATTENTION,
        "No.",
    ),
    ("refuses without a word", lambda hub: _with_hook(hub, "pre-receive", "exit 1"), Exit.ATTENTION, "hook declined"),
    (
        "dies while it receives",
        lambda hub: _with_hook(hub, "pre-receive", "kill -9 $PPID"),
        Exit.DONE,
        "1 commit waits for origin",
    ),
    (
        "has a lock left",
        lambda hub: write(hub, "refs/heads/main.lock", ""),
        Exit.ATTENTION,
        "refused each time: [remote rejected]",
    ),
    ("names no object", _names_what_is_not_there, Exit.ATTENTION, "origin has not what it names and must be mended there"),
    ("was written in half", lambda hub: write(hub, "refs/heads/main", ""), Exit.ATTENTION, "must be mended there"),
    ("is an empty folder", _is_an_empty_folder, Exit.DONE, "origin is not reached"),
    ("was emptied", _was_emptied, Exit.DONE, "sent:"),
    ("has another history", _has_another_history, Exit.REFUSED, "the two histories have nothing in common"),
)


@pytest.mark.parametrize(("lies", "exit", "words"), [row[1:] for row in HUBS], ids=[row[0] for row in HUBS])
def test_a_hub_in_any_state_is_told_in_one_line_and_the_next_sync_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lies: Callable[[Path], object], exit: Exit, words: str
) -> None:
    monkeypatch.setenv("VAULT_OWNER", "off")
    a, hub = founded_with_hub(tmp_path)
    sync(a)
    with Vault.open(a, person=True) as vault:
        vault.remember("Written here: word1.", ["News"])
    kept = shutil.copytree(hub, tmp_path / "kept.git", symlinks=True)
    (hub / "packed-refs").unlink(missing_ok=True)
    lies(hub)
    done = vt("sync", cwd=a)
    told = (done.stdout + done.stderr).splitlines()
    assert done.returncode == exit and len(told) == 1 and words in told[0], (done.returncode, told)
    assert "word1" in texts_of(a) and git(a, "status", "--porcelain") == ""
    shutil.rmtree(hub)
    kept.rename(hub)
    assert sync(a).sent and not sync(a).waiting
    assert_git_is_sound(hub)


@pytest.mark.parametrize("mount", ["remount,ro,bind", "size"])
def test_a_hub_that_takes_no_byte_says_why(diverged: tuple[Path, Path], mount: str) -> None:
    _, b = diverged
    hub = b.parent / "hub.git"
    sync(b, push=False)
    if mount == "size":
        fill = 'mount -t tmpfs -o size=2m none "$4"; cp -a "$3/." "$4"; cd "$4"; head -c 4m /dev/zero >fill 2>/dev/null || true'
        fill += '; cd /; mount --bind "$4" "$3"'
    else:
        fill = 'mount --bind "$3" "$3"; mount -o remount,ro,bind "$3"'
    (place := b.parent / "small").mkdir()
    command = namespaced(f'{fill}; exec "$1" -m vault_tool --vault "$2" sync')
    done = subprocess.run([*command, str(b), str(hub), str(place)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    told = [line for line in done.stdout.splitlines() if "alone" in line]
    assert done.returncode == Exit.ATTENTION and done.stderr == "" and len(told) == 1, (done.stdout, done.stderr)
    assert ("o space left" if mount == "size" else "ead-only file system") in told[
        0
    ] or "unable to create temporary object" in told[0]
    assert sync(b).sent


def test_a_hub_that_vanishes_between_fetch_and_push(diverged: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = diverged
    hub, away = b.parent / "hub.git", b.parent / "away.git"
    push = remote.push

    def vanished(*args: object, **named: object) -> object:
        hub.rename(away)
        return push(*args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(remote, "push", vanished)
    done = sync(b)
    assert done.received and not done.sent and not done.attention
    assert "origin is not reached" in done.reason and "2 commits wait" not in done.reason and "wait for origin" in done.reason
    monkeypatch.undo()
    away.rename(hub)
    assert sync(b).sent
    in_step(a, b)


# A colleague who means harm


@pytest.fixture
def attacked(tmp_path: Path) -> Iterator[tuple[Attacked, Path]]:
    """The owner's vault with its hub, and Mallory's clone with all that a commit can hold, not yet sent."""
    root, hub = founded_with_hub(tmp_path)
    with Vault.open(root, person=True) as vault:
        written = written_by_the_owner(vault)
        vault.sync()
    of = with_files(written)
    theirs = clone_of(hub, "theirs")
    with as_mallory(tmp_path / "mallory"):
        plant(theirs, of)
        git(theirs, "reset", "--quiet", "--soft", "HEAD~1")
        forced = ("_local", "_cache", "_config.json", "_index.json", "_state.json")
        git(theirs, "reset", "--quiet", "--", *(name for name in forced if (theirs / name).exists()))
        git(theirs, "commit", "--quiet", "-m", "notes of the week")
    yield of, theirs


@pytest.mark.parametrize("how", ["forward", "merged"])
def test_a_hostile_commit_that_came_by_sync_changes_nothing_of_the_owners(attacked: tuple[Attacked, Path], how: str) -> None:
    of, theirs = attacked
    if how == "merged":
        with Vault.open(of.root, person=True) as vault:
            vault.remember("Written here meanwhile.", ["Deploys"])
    git(theirs, "push", "--quiet", "origin", "HEAD:main")
    done = sync(of.root)
    assert done.received and not done.outside and not done.removed
    assert_untouched(of, "sync")
    assert_told(of, "sync")
    for command in ("status", "doctor", "review --list", "core", "sync", "commit"):
        assert vt(*command.split(), cwd=of.root).returncode in (Exit.DONE, Exit.FINDINGS, Exit.ATTENTION), command
        assert_untouched(of, command)
    assert_told(of, "all commands")
    # What is local to Mallory, forced into a commit, is not the vault's: none of it is merged or sent on.
    with as_mallory(theirs.parent / "mallory"):
        git(theirs, "pull", "--quiet", "--no-rebase", "--no-edit", "origin", "main")
        git(theirs, "add", "--force", "_local", "_config.json")
        git(theirs, "commit", "--quiet", "-m", "more")
        git(theirs, "push", "--quiet", "origin", "HEAD:main")
    head = git(of.root, "rev-parse", "HEAD")
    config = (of.root / "_config.json").read_bytes() if (of.root / "_config.json").exists() else None
    done = sync(of.root)
    assert done.outside and done.attention and git(of.root, "rev-parse", "HEAD") == head
    assert config == ((of.root / "_config.json").read_bytes() if (of.root / "_config.json").exists() else None)
    assert_untouched(of, "what is local")
    assert_told(of, "what is local")
