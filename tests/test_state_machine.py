"""Any history of verbs, hand edits, moves, deletes, crashes and spoilt caches: nothing lost, incremental equals full."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from tests.bounds import CAMPAIGN
from tests.faults import crash_server
from tests.faults.killer import runs_wanted
from tests.git_repos import git
from tests.oracles import assert_as_built_anew, assert_git_is_sound, fingerprints, leftovers, lost
from vault_tool import Vault
from vault_tool.errors import VaultError
from vault_tool.files.layout import DERIVED, FileKind, file_kind
from vault_tool.util.clock import FixedClock

KINDS = ("fact", "decision", "problem", "recipe", "general")
NAMES = ("Redis", "Homelab", "Größe", "Memory system")
STEPS = (
    "operation.Operation._announce",
    "writer.create",
    "journals.append_episode",
    "vault_index.Index.wrote",
    "publish.build",
    "index.enter",
    "publish.publish",
)
SPOILERS = ("delete", "empty", "half", "garbage")
WHICH = st.integers(0, 10_000)

founded_root: Path
server: subprocess.Popen[str]


@pytest.fixture(scope="module", autouse=True)
def _founded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A new vault, made once and copied for each history; and the process that crashes are forked from."""
    global founded_root, server
    founded_root = tmp_path_factory.mktemp("founded") / "notes"
    environment = {**os.environ, "HOME": str(tmp_path_factory.mktemp("nobody")), "GIT_CONFIG_NOSYSTEM": "1"}
    environment |= {f"GIT_{role}_{what}": "tester@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(
        [sys.executable, "-m", "vault_tool", "init", str(founded_root)], env=environment, check=True, capture_output=True
    )
    command = [sys.executable, crash_server.__file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as server:
        yield
        assert server.stdin is not None
        server.stdin.close()


class Histories(RuleBasedStateMachine):
    """One vault, used by two processes' worth of open vaults, a person with an editor, and a person with git."""

    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp(prefix="history-"))
        self.root = self.base / "notes"
        self.clock = FixedClock(datetime(2096, 11, 20, 10, tzinfo=UTC))  # after whatever the processes say that it is
        self.number = 0
        self.texts: set[str] = set()
        self.words: set[str] = {"redis", "about"}
        self.broken: dict[str, bytes] = {}
        self.touched: set[str] = set()
        self.before: dict[str, str] = {}

    @initialize()
    def found(self) -> None:
        shutil.copytree(founded_root, self.root, symlinks=True)
        self.vaults = [
            Vault.open(self.root, clock=self.clock, session="s1"),
            Vault.open(self.root, clock=self.clock, origin="owner"),
        ]
        self.before = fingerprints(self.root)

    # What a tool does.

    @rule(which=WHICH, kind=st.sampled_from(KINDS), names=st.lists(st.sampled_from(NAMES), max_size=2))
    def remember(self, which: int, kind: str, names: list[str]) -> None:
        with self.refused_text(self.new_text()) as text:
            self.vault(which).remember(text, names, kind=kind)

    @rule(which=WHICH, name=st.sampled_from(NAMES))
    def create_understanding(self, which: int, name: str) -> None:
        with self.refused_text(self.new_text()) as text:
            self.vault(which).create_understanding([name], text, f"Summary {text.split()[1]}")

    @rule(which=WHICH, join=st.booleans())
    def update_understanding(self, which: int, join: bool) -> None:
        vault = self.vault(which)
        known = self.ids(vault, "understanding")
        if not known:  # a hand may have taken all of them out
            return
        with self.refused_text(self.new_text()) as text:
            made = vault.update_understanding(known[which % len(known)], text, "Another summary", join=join)
            if made.pending_review:
                self.texts.discard(text)  # it lies in the inbox, and is no note yet

    @rule(which=WHICH, off=st.booleans())
    def pin(self, which: int, off: bool) -> None:
        vault = self.vault(which)
        known = self.ids(vault, "observation")
        if known:
            try:
                self.touched.add(vault.pin(known[which % len(known)], off=off).path)
            except VaultError:  # two files of one id, or a head that cannot be edited now
                return

    @rule(which=WHICH, other=WHICH)
    def link(self, which: int, other: int) -> None:
        vault = self.vault(which)
        known = self.ids(vault, "observation")
        if len(known) > 1:
            with self.refused_text(self.new_text()) as text:
                made = vault.link(known[which % len(known)], "RELATED_TO", known[other % len(known)], text)
                if made.duplicate_of:
                    self.texts.discard(text)

    @rule(which=WHICH)
    def commit(self, which: int) -> None:
        gathered = self.vault(which).commit()
        assert not set(gathered.paths) & self.broken.keys()
        assert not git(self.root, "status", "--porcelain", "--", *(sorted(set(gathered.paths)) or ["templates"]))

    @rule(which=WHICH)
    def rebuild(self, which: int) -> None:
        self.vault(which).reindex(full=True)

    @rule(which=WHICH)
    def get(self, which: int) -> None:
        vault = self.vault(which)
        known = self.ids(vault, "observation")
        if known:
            try:
                vault.get(known[which % len(known)])
            except VaultError:
                return

    # What a person does.

    @rule(which=WHICH, way=st.sampled_from(["in place", "renamed over"]))
    def edit_by_hand(self, which: int, way: str) -> None:
        path = self.note(which)
        text = self.new_text()
        data = path.read_bytes() + f"{text}\n".encode()
        if way == "in place":
            path.write_bytes(data)
        else:
            beside = self.base / "draft"
            beside.write_bytes(data)
            beside.replace(path)
        self.touch(path)

    @rule(which=WHICH)
    def edit_unseen(self, which: int) -> None:
        """The same size and the same times: only the content tells."""
        path = self.note(which)
        data = path.read_bytes()
        if b"pad" not in data:
            return
        at = data.rindex(b"pad")
        self.number += 1
        found = path.stat()
        path.write_bytes(data[: at + 3] + f"{self.number:04}".encode() + data[at + 7 :])
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
        self.touch(path)
        self.words.add(f"pad{self.number:04}")
        # `forget` what was there: it was overwritten by its own author.
        self.texts = {text for text in self.texts if text.encode() not in data} | {
            text for text in self.texts if text.encode() in path.read_bytes()
        }

    @rule(which=WHICH)
    def write_page(self, which: int) -> None:
        self.number += 1
        path = self.root / "vault" / "pages" / f"page-{self.number}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# A page\n\n{self.new_text()}\n")

    @rule(which=WHICH, folder=st.sampled_from(["moved", "moved/deep", "observations"]))
    def move(self, which: int, folder: str) -> None:
        path = self.note(which)
        self.number += 1
        target = self.root / "vault" / folder / f"{self.number}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)
        self.touch(path)

    @rule(which=WHICH)
    def copy(self, which: int) -> None:
        path = self.note(which)
        self.number += 1
        target = self.root / "vault" / "copies" / f"{self.number}.md"
        target.parent.mkdir(exist_ok=True)
        shutil.copy2(path, target)

    @rule(which=WHICH)
    def delete(self, which: int) -> None:
        path = self.note(which)
        data = path.read_bytes()
        path.unlink()
        self.touch(path)
        # What no commit held is gone by its owner's own hand.
        self.texts -= {text for text in lost(self.root, self.texts) if text.encode() in data}

    @rule()
    def commit_with_git(self) -> None:
        git(self.root, "add", "--all")
        git(self.root, "commit", "--quiet", "--allow-empty", "-m", "by hand")

    @rule(which=WHICH)
    @precondition(lambda self: len(self.broken) < 2)
    def save_half(self, which: int) -> None:
        path = self.note(which)
        data = path.read_bytes()
        if not data.startswith(b"---"):
            return  # the first half of a page is a page: nothing tells that it is not meant
        path.write_bytes(data[: max(5, data.find(b"\n---") // 2)])
        self.broken[self.relative(path)] = data
        self.touch(path)

    @rule()
    @precondition(lambda self: self.broken)
    def mend(self) -> None:
        path, data = self.broken.popitem()
        (self.root / path).write_bytes(data)
        self.touched.add(path)

    # What goes wrong.

    @rule(step=st.sampled_from(STEPS), name=st.sampled_from(NAMES))
    def crash(self, step: str, name: str) -> None:
        """A process remembers something new, and is killed on its way; or it lives to the end and never closes."""
        assert server.stdin is not None and server.stdout is not None
        self.number += 1
        arguments = [f"About crash{self.number}.", [name, f"Crash {self.number}"]]
        asked = {"root": str(self.root), "at": self.clock.now().isoformat(), "step": step, "verb": "remember"}
        server.stdin.write(json.dumps(asked | {"arguments": arguments}) + "\n")
        server.stdin.flush()
        # False: refused before it wrote anything, where two files claim one name.
        assert server.stdout.readline() in ("True\n", "False\n")

    @rule(which=WHICH, fault=st.sampled_from(SPOILERS))
    def spoil(self, which: int, fault: str) -> None:
        files = [
            path for name in DERIVED for path in sorted([self.root / name, *(self.root / name).rglob("*")]) if path.is_file()
        ]
        if not files:
            return
        path = files[which % len(files)]
        data = path.read_bytes()
        if fault == "delete":
            path.unlink()
        else:
            path.write_bytes({"empty": b"", "half": data[: len(data) // 2], "garbage": b"\x93\x01" * 300}[fault])

    # What must hold.

    @invariant()
    def nothing_is_lost(self) -> None:
        kept = b"\0".join(self.broken.values())
        assert {text for text in lost(self.root, self.texts) if text.encode() not in kept} == set()

    @invariant()
    def only_what_was_asked_for_changes(self) -> None:
        now = fingerprints(self.root)
        for path, said in self.before.items():
            if path not in self.touched and file_kind(path) in (FileKind.NOTE, FileKind.CONFLICT):
                assert now.get(path) == said, path
        self.before, self.touched = now, set()

    @invariant()
    def answers_are_fresh(self) -> None:
        self.clock.advance(timedelta(minutes=1))
        for vault in self.vaults:
            vault.fresh()
            paths = {path for path in fingerprints(self.root) if file_kind(path) is FileKind.NOTE}
            catalog = vault.index.catalog
            known = {path for kind in ("record", "page", "unreadable") for path in catalog.of_kind(kind)}
            assert known == paths

    def teardown(self) -> None:
        try:
            if hasattr(self, "vaults"):
                for vault in self.vaults:
                    vault.close()
                self.words |= {text.split()[1].strip(".") for text in sorted(self.texts)[:10]}
                assert_as_built_anew(self.root, sorted(self.words), self.clock)
                assert_git_is_sound(self.root)
                with Vault.open(self.root, clock=self.clock) as vault:
                    vault.remember(self.new_text())
                    vault.commit()
                    assert vault.local.pending() == ()
                assert leftovers(self.root) == []
                assert git(self.root, "ls-files", "--", *DERIVED, "_local") == ""
        finally:
            shutil.rmtree(self.base)

    # Helpers of the rules.

    def vault(self, which: int) -> Vault:
        return self.vaults[which % 2]

    def ids(self, vault: Vault, kind: str) -> list[str]:
        vault.fresh()
        return sorted({entry.id for entry in vault.index.catalog.snapshot().entries if entry.record_class == kind})

    @contextmanager
    def refused_text(self, text: str) -> Iterator[str]:
        """A text that need not be kept if the verb refuses it: two files of one id or name, or superseded already."""
        try:
            yield text
        except VaultError:
            self.texts.discard(text)

    def new_text(self) -> str:
        self.number += 1
        text = f"About word{self.number} in some words, pad0000"
        self.texts.add(text)
        return text

    def notes(self) -> list[Path]:
        """The notes that are whole, journals aside, in a fixed order."""
        return [
            self.root / path for path in fingerprints(self.root) if file_kind(path) is FileKind.NOTE and path not in self.broken
        ]

    def note(self, which: int) -> Path:
        notes = self.notes()
        if not notes:
            self.write_page(which)
            notes = self.notes()
        return notes[which % len(notes)]

    def relative(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def touch(self, path: Path) -> None:
        self.touched.add(self.relative(path))


@pytest.mark.campaign
def test_every_history_ends_well() -> None:
    examples = runs_wanted(6)
    run_state_machine_as_test(
        Histories,
        settings=settings(
            max_examples=examples,
            stateful_step_count=30,
            deadline=None,
            derandomize=not CAMPAIGN,
            database=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.explicit, Phase.generate],
            report_multiple_bugs=False,
        ),
    )
