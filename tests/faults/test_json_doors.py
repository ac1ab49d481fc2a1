"""Anything at all at the JSON doors, in the lines of journals and in heads: refused in one line, or done; never in between."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.faults.killer import runs_wanted
from tests.git_repos import write
from tests.verbs.looking import identity, note
from vault_tool import Vault
from vault_tool.cli.json_input import objects
from vault_tool.config import load
from vault_tool.errors import ConfigError, NotFound, VaultError
from vault_tool.features.contracts.lines import outcomes
from vault_tool.features.turns.turns import Turns
from vault_tool.files.local import LocalFolder
from vault_tool.machine import read as read_machine

DOORS = 8
CASES = max(10, runs_wanted(80) // DOORS)
"""Of each of the eight tests: all of them together make as many as `VAULT_CAMPAIGN` says."""

BATCH = 10
FUZZ = settings(
    max_examples=CASES, deadline=None, derandomize=runs_wanted(0) == 0, suppress_health_check=list(HealthCheck), database=None
)
KNOWN = identity(1)

SAID = ("\ud83d", "cut \udcff", "\x00", "", " ", "Lab", "Redis", KNOWN, KNOWN[:6], "NaN", "../../x", "9999-12-31T23:59:59-14:00")
texts = st.text(st.characters(), max_size=20) | st.sampled_from(SAID)
numbers = st.integers() | st.floats() | st.sampled_from([10**20, -(2**63) - 1, 2**63, 1e20, 1e308, -1, 0, 1, 10**400])
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


def shaped(*names: str, **fixed: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with the fields that a door knows, each of any value."""
    said = {name: value if isinstance(value, st.SearchStrategy) else st.just(value) for name, value in fixed.items()}
    return st.fixed_dictionaries(said, optional=dict.fromkeys(names, values))


MEMORY = shaped("text", "title", "links", "evidence_refs", "tags", "rationale", "confidence", "importance", "subject_names",
                kind=st.sampled_from(["fact", "problem", "x"]), scope="repo")  # fmt: skip
REQUESTS = (
    shaped("query", "mode", "limit", "kinds", "expand", "session_id", "model", "subject_names", op="read", repo_id="Lab")
    | shaped("session_id", "model", "user", "dry_run", op="write", repo_id="Lab", memory=MEMORY | values)
    | shaped("mode", "updates", "session_id", op="update", repo_id="Lab", memory_id=st.just(KNOWN) | values)
    | values
)
LINES = st.binary(max_size=30) | st.builds(lambda value: json.dumps(value).encode(), values)
BASE = {"id": identity(7), "at": "2026-11-20T10:00:00+00:00", "target": KNOWN, "kind": "use"}
SIGNALS = st.builds(
    lambda one, spoilt: json.dumps({**BASE, **one}).encode() + spoilt,
    shaped("id", "at", "target", "value", "confidence", "rationale", "evidence", "problem", "session", "model", "origin", "kind"),
    st.just(b"") | st.binary(max_size=3),
)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    """A vault without git, which none of these doors looks at."""
    root = tmp_path_factory.mktemp("doors") / "notes"
    write(root, "vault.toml", "")
    write(root, "vault/workspace.md", f"---\nid: {identity(2)}\ntype: workspace\nname: Lab\n---\n")
    write(root, "vault/one.md", note(1, "Keepalive was off.", subjects="[Redis]"))
    with Vault.open(root, session="s") as opened:
        yield opened


def written(root: Path) -> list[tuple[str, int, int]]:
    """Every note and journal with its size and time."""
    return sorted((str(one), one.stat().st_size, one.stat().st_mtime_ns) for one in (root / "vault").rglob("*") if one.is_file())


@contextmanager
def one_line() -> Iterator[None]:
    """Nothing may come out of the block but a VaultError of one line."""
    try:
        yield
    except VaultError as fault:
        said = fault.message + fault.hint
        assert "\n" not in said and "Traceback" not in said and fault.message
        assert said.encode("utf-8", "surrogatepass")


class Batches:
    """Looks at a vault after each batch of cases: doctor, search, recall and core must answer."""

    def __init__(self, vault: Vault) -> None:
        self.vault, self.count = vault, 0

    def passed(self) -> None:
        self.count += 1
        if self.count % BATCH == 0:
            self.look()

    def look(self) -> None:
        self.vault.doctor()
        assert KNOWN in [one.id for one in self.vault.search("keepalive off", limit=100).results]
        self.vault.recall("keepalive")
        self.vault.core()


def refused_or_done(vault: Vault, call: Callable[[], object]) -> None:
    """A call is done, or refused in a line with nothing written."""
    before, done = written(vault.root), []
    with one_line():
        done.append(call())
    assert vault.local.pending() == ()
    assert done or written(vault.root) == before


def test_requests(plain: Vault) -> None:
    batches = Batches(plain)

    @FUZZ
    @given(REQUESTS)
    def fuzz(request: Any) -> None:
        before = written(plain.root)
        answer = plain.op(request)
        assert json.loads(json.dumps(answer, default=str)) and isinstance(answer["ok"], bool)
        if not answer["ok"]:
            assert answer["errors"] and written(plain.root) == before
            assert all("\n" not in one["message"] for one in answer["errors"])
        batches.passed()

    fuzz()
    batches.look()


def test_streams(plain: Vault) -> None:
    batches = Batches(plain)

    @FUZZ
    @given(st.lists(LINES.map(lambda line: line.replace(b"\n", b" ")), min_size=2, max_size=6))
    def fuzz(lines: list[bytes]) -> None:
        data = b"\n".join([b'{"op": "first"}', *lines])
        answers = list(outcomes(plain, data))
        assert len(answers) == 1 + sum(bool(line.removeprefix(b"\xef\xbb\xbf").strip()) for line in lines)
        assert answers[0].answer["op"] == "first"
        batches.passed()

    fuzz()
    batches.look()


def test_lists_of_objects_on_the_command_line(plain: Vault) -> None:
    batches = Batches(plain)
    given_ = LINES | st.lists(shaped("content", "name", "subject_names", "tags", "kind", "aliases", "id", "value")).map(
        lambda found: json.dumps(found).encode()
    )

    @FUZZ
    @given(given_)
    def fuzz(data: bytes) -> None:
        text = data.decode("utf-8", "surrogateescape")
        refused_or_done(plain, lambda: plain.add_observations(objects(text, "content")))
        refused_or_done(plain, lambda: plain.create_subjects(objects(text, "name")))
        batches.passed()

    fuzz()
    batches.look()


def test_turns_and_ends_of_sessions(plain: Vault) -> None:
    batches = Batches(plain)
    candidates = st.lists(
        shaped("content", "title", "kind", "anchors", "location", "thread", "tags", "importance", "confidence") | values
    )

    @FUZZ
    @given(candidates, texts, values)
    def fuzz(found: Any, said: str, more: Any) -> None:
        untyped: Any = plain
        refused_or_done(plain, lambda: untyped.turn(said, said, said, said, candidates=found, extractMemory=True, write="later"))
        refused_or_done(plain, lambda: untyped.remember(said, more, tags=more))
        with one_line():
            untyped.search(said, kinds=more)
        with one_line():
            untyped.end_session(votes=more)
        batches.passed()

    fuzz()
    plain.drain()
    batches.look()


def test_lines_of_journals(plain: Vault) -> None:
    batches = Batches(plain)
    journal = plain.root / "vault/signals/2026-11.otherone.jsonl"
    journal.parent.mkdir(parents=True, exist_ok=True)

    @FUZZ
    @given(st.lists(SIGNALS | LINES, max_size=4), st.binary(max_size=60))
    def fuzz(lines: list[bytes], episode: bytes) -> None:
        journal.write_bytes(b"\n".join([*lines, b""]))
        write(plain.root, "vault/episodes/2026-11-20.otherone.md", "# 2026-11-20\n")
        (plain.root / "vault/episodes/2026-11-20.otherone.md").write_bytes(b"## 10:30 - x\n- **Memory:** " + episode)
        shown = plain.show(KNOWN, belief=True)
        assert shown.id == KNOWN
        belief = plain.standings.belief_of(plain.index.catalog.get(KNOWN)[0])
        assert 0 <= belief.truth <= 1 and 0 <= belief.utility <= 1 and 0 <= belief.access_count < 2**53
        batches.passed()

    try:
        fuzz()
        batches.look()
    finally:
        journal.unlink()


def test_lines_and_files_of_this_machine(plain: Vault) -> None:
    batches = Batches(plain)
    local = plain.root / "_local"
    names = ("use/2026-11-18.jsonl", "turns/queue/2026-x.json", "turns/skipped/2026-11-20.jsonl", "pending/000001-x.json",
             "journals.json", "consolidation.json", "owner.json", "watch.json", "imports.json")  # fmt: skip
    said = shaped("id", "at", "target", "session", "token", "pid", "host", "files", "ids", "verb", "title", "candidates", "text")

    @FUZZ
    @given(st.sampled_from(names), LINES | said.map(lambda one: json.dumps(one).encode()))
    def fuzz(name: str, data: bytes) -> None:
        path = local / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        plain.status()
        plain.get(KNOWN)
        plain.backstop()
        LocalFolder(plain.root).pending()
        LocalFolder(plain.root).roll_up("2030-01-01")
        Turns(plain.root).waiting()
        batches.passed()

    fuzz()
    assert plain.remember("After all that.").id
    shutil.rmtree(local)
    batches.look()


def test_settings(plain: Vault, tmp_path: Path) -> None:
    file = tmp_path / "_config.json"
    toml = st.text(st.characters(), max_size=60) | st.builds(
        lambda name, value: f"{name} = {json.dumps(value)}",
        st.sampled_from(["links", "types", "recall", "core_budget", "lock_wait"]),
        values
    )  # fmt: skip

    @FUZZ
    @given(
        toml, LINES | shaped("provider", "model", "ollama_host", "vectors", "models").map(lambda one: json.dumps(one).encode())
    )
    def fuzz(text: str, data: bytes) -> None:
        for call in (lambda: load(text), lambda: read_machine(file, {})):
            file.write_bytes(data)
            with one_line():
                try:
                    call()
                except (ConfigError, NotFound) as fault:
                    assert len(str(fault)) < 5_000
                    raise

    fuzz()


def test_heads(plain: Vault) -> None:
    batches = Batches(plain)
    path = plain.root / "vault/two.md"
    fields = shaped("type", "title", "subjects", "tags", "created", "importance", "confidence", "expires", "supersedes", "pinned")

    @FUZZ
    @given(fields, st.binary(max_size=20), st.integers(0, 40))
    def fuzz(head: dict[str, Any], spoilt: bytes, at: int) -> None:
        lines = "".join(f"{name}: {json.dumps(value)}\n" for name, value in head.items())
        data = f"---\nid: {identity(3)}\n{lines}---\nA text.\n".encode()
        path.write_bytes(data[:at] + spoilt + data[at:] if spoilt else data)
        assert plain.show(KNOWN).id == KNOWN
        with one_line():
            plain.pin(identity(3))
        batches.passed()

    fuzz()
    path.unlink()
    batches.look()
