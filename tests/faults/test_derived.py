"""Derived files are disposable: spoilt in any way they are made again, answers are the same, and notes are untouched."""

from __future__ import annotations

import itertools
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.bounds import CAMPAIGN, PATIENCE
from tests.faults.test_disks import namespaced
from tests.git_repos import git
from tests.oracles import assert_as_built_anew, drop_derived, fingerprints
from vault_tool import Vault
from vault_tool.errors import Busy
from vault_tool.files.layout import CACHE, DERIVED, INDEX_FILE, STATE_FILE

Fault = Callable[[bytes], bytes | None]

FAULTS: dict[str, Fault] = {
    "deleted": lambda data: None,
    "empty": lambda data: b"",
    "half": lambda data: data[: len(data) // 2],
    "random": lambda data: bytes((byte * 7 + place) % 256 for place, byte in enumerate(data)),
    "{}": lambda data: b"{}",
    "other version": lambda data: data.replace(b'"version":', b'"version":9', 1) if b'"version":' in data else b"\0" + data[1:],
}

QUESTIONS = ("redis", "keepalive", '"idle connections"', "fire*", "nothing-like-it")


@pytest.fixture
def filled(root: Path) -> Path:
    """A vault with a few memories, indexed and closed."""
    with Vault.open(root) as vault:
        problem = vault.remember("Redis drops idle connections.", ["Redis"], kind="problem").id
        solved = vault.remember("A keepalive ended it.", ["Redis", "Firewall"], kind="solution", problem=problem).id
        vault.create_understanding(["Redis"], "Redis needs keepalive: the firewall is impatient.", "Keepalive", title="Redis")
        vault.link(problem, "RELATED_TO", solved, "The one ended the other.")
        answers(vault)
    return root


def answers(vault: Vault) -> list[list[tuple[str, str]]]:
    return [sorted((found.path, found.title) for found in vault.search(question).results) for question in QUESTIONS]


def derived(root: Path) -> Iterator[Path]:
    """Every derived file there is."""
    for name in DERIVED:
        path = root / name
        yield from sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else ([path] if path.exists() else ())


@pytest.mark.parametrize("first", range(len(FAULTS)) if CAMPAIGN else (0, 3))
def test_each_derived_file_is_made_again(filled: Path, first: int) -> None:
    faults = itertools.islice(itertools.cycle(FAULTS.values()), first, None)
    notes = fingerprints(filled)
    with Vault.open(filled) as vault:
        expected = answers(vault)
    assert sum(map(len, expected)) > 5
    names = [path.relative_to(filled) for path in derived(filled) if path.suffix not in (".lock", ".tmp")]
    assert {INDEX_FILE, STATE_FILE} < {str(name) for name in names} and len(names) > 6
    for name, fault in zip(names, faults, strict=False):
        path = filled / name
        if not path.exists():
            continue
        spoilt = fault(path.read_bytes())
        if spoilt is None:
            path.unlink()
        else:
            path.write_bytes(spoilt)
        with Vault.open(filled) as vault:
            assert answers(vault) == expected, name
        assert (filled / INDEX_FILE).stat().st_size > 1000 and (filled / STATE_FILE).stat().st_size > 100
    assert fingerprints(filled) == notes
    assert_as_built_anew(filled, ["redis", "keepalive"])


@pytest.mark.parametrize("name", [INDEX_FILE, STATE_FILE, CACHE])
def test_a_folder_or_a_file_in_its_place_is_put_away(filled: Path, name: str) -> None:
    with Vault.open(filled) as vault:
        expected = answers(vault)
    path = filled / name
    if path.is_dir():
        shutil.rmtree(path)
        path.write_text("not a folder")
    else:
        path.unlink()
        (path / "below").mkdir(parents=True)
    with Vault.open(filled) as vault:
        assert answers(vault) == expected


def test_an_empty_catalogue_is_no_empty_answer(filled: Path) -> None:
    """SQLite calls an empty file a sound database; so the answer would be a silent nothing."""
    with Vault.open(filled) as vault:
        expected = answers(vault)
    for path in (filled / CACHE).glob("catalog*.sqlite3"):
        path.write_bytes(b"")
        with sqlite3.connect(path) as connection:
            assert connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
    with Vault.open(filled) as vault:
        assert answers(vault) == expected


def test_a_newer_versions_cache_is_left_and_not_read(filled: Path) -> None:
    catalog = next((filled / CACHE).glob("catalog-*.sqlite3"))
    newer = catalog.with_name("catalog-99.sqlite3")
    newer.write_bytes(b"from the future")
    (filled / INDEX_FILE).write_text('{"version": 99, "entries": {}}')
    with Vault.open(filled) as vault:
        assert vault.search("redis").results
    assert newer.read_bytes() == b"from the future"


def test_everything_derived_can_go_at_once_under_an_open_vault(filled: Path) -> None:
    with Vault.open(filled) as vault:
        expected = answers(vault)
        drop_derived(filled)
        assert answers(vault) == expected
        assert vault.remember("And it goes on.").committed


def test_a_derived_file_about_to_be_committed_is_named_and_never_taken(filled: Path) -> None:
    ignore = filled / ".gitignore"
    ignore.write_text("\n".join(line for line in ignore.read_text().splitlines() if "_index" not in line) + "\n")
    page = filled / "vault" / "page.md"
    page.write_text("A page.\n")
    with Vault.open(filled) as vault:
        assert "derived-not-ignored" in {one.code for one in vault.doctor().problems}
        assert "vault/page.md" in vault.commit().paths
        assert git(filled, "ls-files", "--", *DERIVED) == ""
        git(filled, "add", "--force", INDEX_FILE)
        assert "derived-tracked" in {one.code for one in vault.doctor().problems}
        vault.remember("While it is staged.")
        vault.commit()
    assert git(filled, "ls-tree", "-r", "--name-only", "HEAD", "--", *DERIVED) == ""


def test_losses_in_bulk_purge_nothing_and_change_no_page(filled: Path) -> None:
    core = (filled / "CORE.md").read_bytes()
    (filled / "vault").rename(filled.parent / "unmounted")
    (filled / "vault").mkdir()
    with Vault.open(filled) as vault:
        found = vault.search("redis")
        assert found.freshness.held_back
        with pytest.raises(Exception, match=r"reindex\(confirm=True\)"):
            vault.core()
        assert vault.reindex().held_back
    assert (filled / "CORE.md").read_bytes() == core
    assert git(filled, "log", "-1", "--format=%s").startswith("link:")
    (filled / "vault").rmdir()
    (filled.parent / "unmounted").rename(filled / "vault")
    with Vault.open(filled) as vault:
        assert not vault.search("redis").freshness.held_back
        assert len(vault.search("redis").results) == 4
    assert_as_built_anew(filled, ["redis"])


def test_what_is_written_is_committed_though_the_index_is_held(filled: Path) -> None:
    text = (filled / "vault.toml").read_text()
    (filled / "vault.toml").write_text(f"lock_wait = 0.3\n{text}")
    with Vault.open(filled) as vault:
        vault.fresh()
        with sqlite3.connect(filled / CACHE / "catalog.lock", isolation_level=None) as held:
            held.execute("BEGIN EXCLUSIVE")
            made = vault.remember("Written while another process holds the index.")
            held.execute("ROLLBACK")
        assert made.committed
        assert vault.show(made.id).content == "Written while another process holds the index."
    assert_as_built_anew(filled, ["process"])


READ_ONLY = """
import pathlib, subprocess, sys
from vault_tool import Vault, VaultError
root = sys.argv[1]
assert subprocess.run(["touch", f"{root}/plain"], capture_output=True).returncode != 0, "not read-only"
with Vault.open(root) as vault:
    assert len(vault.search("redis").results) == 4
    shown = vault.show(vault.search("keepalive").results[0].id)
    assert shown.content
    assert vault.status().counts
    for act in (lambda: vault.remember("Not now."), lambda: vault.pin(shown.id), vault.core):
        try:
            act()
        except VaultError as fault:
            print(fault.exit_code.value, fault)
        else:
            raise AssertionError("it was written")
print("done")
"""


@pytest.mark.parametrize("derived_too", [False, True])
def test_a_read_only_vault_answers(filled: Path, derived_too: bool) -> None:
    if derived_too:
        drop_derived(filled)
    before = fingerprints(filled, ".")
    script = 'mount --bind "$3" "$3"; mount -o remount,ro,bind "$3"; exec "$1" -c "$2" "$3"'
    done = subprocess.run(
        [*namespaced(script), READ_ONLY, str(filled)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    *refusals, last = done.stdout.splitlines()
    assert last == "done" and len(refusals) == 3
    assert all(line.startswith("5 ") and "read-only" in line and len(line) <= 200 for line in refusals), refusals
    assert fingerprints(filled, ".") == before


HOLDER = """
import pathlib, sys, time
from vault_tool.files import writer
with writer.lock(pathlib.Path(sys.argv[1]), holder="remember"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_stopped_holder_of_the_write_lock_is_named(filled: Path) -> None:
    text = (filled / "vault.toml").read_text()
    (filled / "vault.toml").write_text(f"lock_wait = 0.3\n{text}")
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(filled)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None and holder.stdout.readline()
        holder.send_signal(signal.SIGSTOP)
        try:
            before = fingerprints(filled)
            with Vault.open(filled) as vault, pytest.raises(Busy, match=f"process {holder.pid} "):
                vault.remember("Not now.")
            assert fingerprints(filled) == before
        finally:
            holder.kill()
