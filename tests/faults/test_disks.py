"""Full, read-only and limited disks, and the order in which bytes reach one."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bounds import PATIENCE

COMMON = """
import os, pathlib, resource, subprocess, sys
from vault_tool.errors import StorageError
from vault_tool.files import writer
root = pathlib.Path(sys.argv[1])
def refused(act):
    try:
        act()
    except StorageError as fault:
        print(fault)
        return True
    return False
"""

FULL = """
writer.create(root, "vault/x.md", b"old")
need, n = 1024, 0
while not refused(lambda: writer.create(root, f"vault/{n}.md", b"y" * need)):
    n += 1
    assert n < 1000
for size in range(512, 300_000, 8192):
    text = b"z" * size
    before = writer.read(root, "vault/x.md")
    failed = refused(lambda: writer.edit(root, "vault/x.md", lambda old: text))
    assert writer.read(root, "vault/x.md") == (before if failed else text)
assert not [name for name in os.listdir(root / "vault") if name.startswith(".")]
print("done")
"""

DERIVED = """
from vault_tool import Vault
(root / "vault.toml").write_text("")
notes = root / "vault/observations/2026/01"
notes.mkdir(parents=True)
for n in range(30):
    head = f"---\\nid: 00000000-0000-4000-8000-{n:012d}\\ntype: fact\\ncreated: 2026-01-01T00:00:00+00:00\\n---\\n"
    (notes / f"{n}.md").write_text(head + f"# Note {n}\\n\\napple " + " ".join(f"w{n}x{k}" for k in range(300)))
texts = {path: path.read_bytes() for path in notes.iterdir()}
answered = []
def ask():
    with Vault.open(root) as vault:
        answered.append(len(vault.search("apple", limit=50).results))
(root / "_cache").mkdir()
for size in (16, 32, 48, 64, 72, 80, 96, 128, 8192):
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "none", str(root / "_cache")], check=True)
    refused(ask)
    subprocess.run(["umount", "-l", str(root / "_cache")], check=True)
assert answered == [30] * 9
assert texts == {path: path.read_bytes() for path in notes.iterdir()}
print("done")
"""

READ_ONLY = """
assert subprocess.run(["touch", str(root / "plain")], capture_output=True).returncode != 0, "not read-only"
assert writer.read(root, "vault/x.md") == b"old"
assert refused(lambda: writer.edit(root, "vault/x.md", lambda old: b"new"))
assert refused(lambda: writer.create(root, "vault/y.md", b"new"))
assert os.listdir(root / "vault") == ["x.md"]
print("done")
"""

LIMITS = """
writer.create(root, "vault/x.md", b"old")
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
assert refused(lambda: writer.edit(root, "vault/x.md", lambda old: b"z" * 50_000))
assert writer.read(root, "vault/x.md") == b"old"
most = max(map(int, os.listdir("/proc/self/fd")))
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most + 1, hard))
held = []
try:
    while True:
        held.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
assert refused(lambda: writer.edit(root, "vault/x.md", lambda old: b"new"))
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
assert writer.read(root, "vault/x.md") == b"old"
print("done")
"""

ORDER = """
from vault_tool.files.journals import append_signals
from vault_tool.files.local import LocalFolder
from vault_tool.model.signals import Signal, SignalKind, Use
writer.create(root, "vault/new/x.md", b"created")
writer.edit(root, "vault/new/x.md", lambda old: b"edited")
append_signals(root, LocalFolder(root), [Signal(id="a", at="2026-11-20T10:00:00+00:00", target="t", kind=SignalKind.USE)])
many = writer.Many()
for name in ("vault/many/a.md", "vault/many/b.md"):
    writer.create(root, name, b"one of many", many)
many.sync(root)
LocalFolder(root).note_use(Use(at="2026-11-20T10:00:00+00:00", target="t"))
LocalFolder(root).forget("t", lambda title: False)
print("done")
"""


def namespaced(script: str) -> list[str]:
    """A command that runs a shell script as root of its own user and mount namespace, where that is allowed."""
    command = ["unshare", "-Urm", "sh", "-ec"]
    if not shutil.which("unshare") or subprocess.run([*command, "mount -t tmpfs none /mnt"], capture_output=True).returncode:
        pytest.skip("needs unshare with user namespaces")
    return [*command, script, "sh", sys.executable]


def run(command: list[str]) -> list[str]:
    """The lines that a child printed: refusals, then `done`."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    *lines, last = done.stdout.splitlines()
    assert last == "done"
    assert all(len(line) <= 200 for line in lines)
    return lines


def test_a_full_disk_keeps_the_old_text(tmp_path: Path) -> None:
    script = 'mount -t tmpfs -o size=256k none "$3"; exec "$1" -c "$2" "$3"'
    lines = run([*namespaced(script), COMMON + FULL, str(tmp_path)])
    assert len(lines) > 10
    assert re.fullmatch(
        r"cannot write vault/\d+\.md: no space left on device \(1,024 bytes needed\); free some space.*", lines[0]
    )


def test_a_disk_that_is_full_while_the_indexes_are_made(tmp_path: Path) -> None:
    # They are made where there is room, and each question is answered.
    assert run([*namespaced('exec "$1" -c "$2" "$3"'), COMMON + DERIVED, str(tmp_path)]) == []


def test_a_read_only_vault_is_read(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "x.md").write_bytes(b"old")
    script = 'mount --bind "$3" "$3"; mount -o remount,ro,bind "$3"; exec "$1" -c "$2" "$3"'
    lines = run([*namespaced(script), COMMON + READ_ONLY, str(tmp_path)])
    assert all("read-only file system; make the disk writable" in line for line in lines)


@pytest.mark.without_coverage
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="lists its descriptors in /proc")
def test_limits_of_files_and_sizes(tmp_path: Path) -> None:
    large, many = run([sys.executable, "-c", COMMON + LIMITS, str(tmp_path)])
    assert "file too large" in large and "too many open files" in many


def test_the_order_is_write_sync_rename_sync(tmp_path: Path) -> None:
    if shutil.which("strace") is None or subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True).returncode:
        pytest.skip("needs strace")
    log = tmp_path / "log"
    root = tmp_path / "root"
    root.mkdir()
    calls = "trace=write,fsync,rename,renameat,renameat2,linkat,mkdirat"
    run(["strace", "-f", "-y", "-s", "40", "-e", calls, "-o", str(log), sys.executable, "-c", COMMON + ORDER, str(root)])
    steps = [step for line in log.read_text().splitlines() for step in step_of(line, root)]
    assert steps[steps.index("mkdir vault") :] == [*(*CREATE_STEPS, *EDIT_STEPS, *APPEND_STEPS, *BATCH_STEPS, *BLANK_STEPS)]


CREATE_STEPS = [
    "mkdir vault",
    "sync .",
    "mkdir new",
    "sync vault",
    "write temporary",
    "sync temporary",
    "rename x.md",
    "sync vault/new",
]
EDIT_STEPS = ["write temporary", "sync temporary", "rename temporary", "rename x.md", "sync vault/new"]
APPEND_STEPS = ["mkdir signals", "sync vault", "write journal", "sync journal", "sync vault/signals"]
BATCH_STEPS = [
    "mkdir many",
    "sync vault",
    *("write temporary", "sync temporary", "rename a.md"),
    *("write temporary", "sync temporary", "rename b.md"),
    "sync vault/many",
]
# What is noted of use may be lost in a crash; that it is forgotten may not.
BLANK_STEPS = ["mkdir use", "write use", "write use", "sync use"]


def step_of(line: str, root: Path) -> list[str]:
    """What one line of strace says of the vault's own files, in words."""
    found = re.search(
        r'(write|fsync|mkdirat|rename\w*|linkat)\((?:\d+)<([^>]*)>(?:, "([^"]*)")?(?:, \d+<[^>]*>, "([^"]*)")?', line
    )
    if found is None:
        return []
    call, where, first, target = found.groups()
    if call == "mkdirat":
        return [] if first == "_local" else [f"mkdir {first}"]
    inner = Path(where).relative_to(root).as_posix() if Path(where).is_relative_to(root) else ""
    if not inner or (inner.startswith("_local") and not inner.startswith("_local/use/")):
        return []
    named = "temporary" if ".vt-" in inner else "use" if "/use/" in inner else "journal" if inner.endswith(".jsonl") else inner
    if call == "fsync":
        return [f"sync {named}"]
    if call == "write":
        return [f"write {named}"]
    return ["rename temporary" if ".vt-" in (target or "") else f"rename {target}"]
