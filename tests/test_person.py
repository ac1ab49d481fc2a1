"""Who is a person: what only a person may do, by every command of the table, and that no flag or variable makes one."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.bounds import CAMPAIGN, PATIENCE
from tests.cli.typed import vt
from tests.founding import found_at, own_copy
from tests.git_repos import git
from tests.nobody import nobodys_machine, packed
from tests.terminal import VT, at_terminal, called_at_terminal, let_commands_answer
from vault_tool import Vault
from vault_tool.cli.table import SECTIONS
from vault_tool.errors import Exit

ROOT = Path(__file__).parent.parent

# Commands of a person, as an agent with a shell would type them. Words in braces are ids of the vault below.
ACTS: Mapping[str, tuple[str, ...]] = {
    "undo": ("undo",),
    "undo of one": ("undo", "{fact}"),
    "review": ("review",),
    "review all": ("review", "--all"),
    "review accepts": ("review", "--accept", "{held}"),
    "review refuses": ("review", "--refuse", "{held}"),
    "review edits": ("review", "--edit", "{held}"),
    "sync set up": ("sync", "--set-up", "../hub.git"),
    "sync its own repository": ("sync", "--own-repository", "../elsewhere"),
    "review settles": ("review", "--both", "{copied}"),
    "review for another": ("review", "--as-user", "ann", "--accept", "{hers}"),
    "forget": ("forget", "{fact}", "--yes"),
    "forget looks": ("forget", "{fact}", "--dry-run"),
    "purge": ("forget", "{fact}", "--purge", "--yes"),
    "forget all of one": ("forget", "--all-of", "ann", "--yes"),
    "hide": ("hide", "{fact}"),
    "consent": ("consent", "{anns}", "--withdrawn"),
    "consent for another": ("consent", "{anns}", "--given", "--as-user", "ann"),
    "export": ("export", "out", "--all-of", "ann"),
    "owners": ("config", "--owners", "evil@example.org"),
    "owners that sign": ("config", "--owners-sign", "on"),
    "a key": ("config", "--openai-key", "sk-1"),
    "an address": ("config", "--openai-url", "https://evil.example/v1"),
    "another address": ("config", "--ollama-host", "http://evil.example:11434"),
    "a server of vectors": ("config", "--vectors", "http://evil.example:8000"),
    "texts leave": ("config", "--provider", "openai"),
    "one among others": ("config", "--model", "m", "--owners", "evil@example.org"),
    "unattended": ("config", "--unattended"),
    "sessions are read": ("capture", "--set", "point", "--folder", "."),
    "no review any more": ("config", "write_policy", "auto"),
    "no review of understandings": ("config", "understanding_policy", "auto"),
    "the page": ("web", "--no-open", "--port", "0"),
    "another token": ("serve", "--port", "0", "--new-token"),
    "a token of somebody": ("serve", "--person", "ann", "--new-token"),
}
SERVES = {"the page", "another token"}
IN_PROCESSES = {"undo", "forget", "web", "serve"}

CLAIMS: Mapping[str, tuple[tuple[str, ...], Mapping[str, str]]] = {
    "says nothing": ((), {}),
    "says --origin owner": (("--origin", "owner"), {}),
    "has VAULT_ORIGIN": ((), {"VAULT_ORIGIN": "owner"}),
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A vault with a memory, one of Ann's, and two that wait for review; to be copied."""
    root = tmp_path_factory.mktemp("person") / "lab"
    with nobodys_machine(root.parent):
        found_at(root, git=True)
        with Vault.open(root) as vault:
            ids = {
                "fact": vault.remember("The gate is red.", ["Gate"]).id,
                "held": vault.remember("The gate may be blue.", ask=True).id,
                "anns": vault.as_(user="ann").remember("Ann paints the gate.", ["Gate"]).id,
                "hers": vault.as_(user="ann").remember("Ann may like tea.", ask=True).id,
            }
            note = root / vault.get(ids["fact"]).path
            ids["copied"] = f"{note.stem}.sync-conflict-20261125-101010-ABCDEFG.md"
            note.with_name(ids["copied"]).write_text(note.read_text().replace("red", "green"))
            ids["copied"] = vault.unsettled().results[0].key
        packed(root)
    return root, ids


@pytest.fixture
def root(told: tuple[Path, dict[str, str]], tmp_path: Path) -> Path:
    """The test's own copy of it."""
    return own_copy(told[0], tmp_path / "lab")


def state(root: Path) -> tuple[object, ...]:
    """All that an act of a person could change: commits, and every file that is not derived."""
    left = ("_cache", "_index.json", "_state.json")
    files = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.relative_to(root).parts[0] not in (*left, ".git", "_local")
    }
    kept = ("inbox", "bin", "http-token", "page-server.json")
    own = sorted(path.as_posix() for name in kept for path in (root / "_local").glob(f"{name}*/**/*"))
    own += [(root / "_local" / name).read_text() for name in kept if (root / "_local" / name).is_file()]
    return git(root, "rev-parse", "HEAD"), git(root, "status", "--porcelain"), files, own


def typed(words: tuple[str, ...], ids: Mapping[str, str]) -> list[str]:
    """The words of an act with the ids that are meant."""
    return [word.format(**ids) for word in words]


def without_terminal(root: Path, words: list[str], env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """A command as an agent's shell runs it: what serves or would erase in a process, others by a call."""
    if not CAMPAIGN and words[0] not in IN_PROCESSES:
        return vt(*words, cwd=root, env=env)
    return subprocess.run(
        [*VT, *words], cwd=root, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=False, timeout=PATIENCE,
    )  # fmt: skip


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("act", ACTS)
def test_without_a_terminal_each_is_refused_and_nothing_changes(
    told: tuple[Path, dict[str, str]], root: Path, act: str, claim: str
) -> None:
    flags, env = CLAIMS[claim]
    before = state(root)
    if act == "another token":
        flags = ()  # which a server refuses by itself
    done = without_terminal(root, [*typed(ACTS[act], told[1]), *flags], env)
    assert done.returncode == Exit.REFUSED, done.stdout + done.stderr
    assert done.stdout == "" and done.stderr.count("\n") == 1 and done.stderr.startswith("vt: only a person may ")
    for way in ("origin", "--yes", "terminal", "unattended", "person=True"):
        assert way not in done.stderr.replace("may set unattended", ""), "a refusal names no way around itself"
    assert state(root) == before


@pytest.mark.parametrize("act", sorted(ACTS.keys() - {"review edits"} - SERVES))
def test_at_a_terminal_each_is_done(told: tuple[Path, dict[str, str]], root: Path, act: str) -> None:
    at = at_terminal if CAMPAIGN or act == "forget" else called_at_terminal
    done = at(*typed(ACTS[act], told[1]), cwd=root, keys="y\n" if act in ("sync set up", "a server of vectors") else "q")
    assert done.returncode == Exit.DONE, done.stdout


@pytest.mark.parametrize("arguments", [("--json",), (), ("--no-open", "--json")])
def test_the_link_to_the_page_is_told_at_a_terminal_alone(root: Path, arguments: tuple[str, ...], tmp_path: Path) -> None:
    seen, browser = tmp_path / "seen", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$@" >> {seen}\n')
    browser.chmod(0o755)
    with at_page(root) as link:
        assert "#t=" in link
        done = without_terminal(root, ["web", *arguments], {"BROWSER": str(browser), "DISPLAY": ":9"})
        assert done.returncode == Exit.REFUSED and "127.0.0.1" not in done.stdout + done.stderr
        assert not seen.exists()


def test_what_came_from_elsewhere_is_taken_over_by_a_person_alone(told: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    # A copy with the mark of another place: what lies in it is not believed, and neither is what its settings say of a person.
    root = shutil.copytree(let_commands_answer(told[0]), tmp_path / "copied", symlinks=True)
    (told[0] / "_config.json").unlink()
    assert (root / "_local" / "mark").exists()
    for flags, env in CLAIMS.values():
        done = without_terminal(root, ["doctor", "--adopt-local", *flags], env)
        assert done.returncode == Exit.REFUSED and "only a person may take over" in done.stderr, done.stdout + done.stderr
        assert without_terminal(root, ["undo", *flags], env).returncode == Exit.REFUSED, "its settings are not believed"
    done = at_terminal("doctor", "--adopt-local", cwd=root, keys="y\r")
    assert done.returncode == Exit.DONE and "taken over" in done.stdout, done.stdout
    assert without_terminal(root, ["undo"]).returncode == Exit.DONE


@contextmanager
def at_page(root: Path) -> Iterator[str]:
    """The line by which `vt web` at a terminal tells its link, while it serves."""
    outer, inner = pty.openpty()
    process = subprocess.Popen([*VT, "web", "--no-open", "--port", "0"], cwd=root, stdin=inner, stdout=inner, stderr=inner)
    os.close(inner)
    told = b""
    while b"#t=" not in told and process.poll() is None:
        told += os.read(outer, 4096)
    try:
        yield told.decode()
    finally:
        process.terminate()
        process.wait(PATIENCE)
        os.close(outer)


def test_what_anybody_may_set(root: Path) -> None:
    for words in (("--provider", "local"), ("--model", "m"), ("--vectors", "exact"), ("--owner", "off"), ("core_budget", "9000")):
        assert without_terminal(root, ["config", *words]).returncode == Exit.DONE
    assert without_terminal(root, ["config", "write_policy", "review"]).returncode == Exit.DONE


EVERYBODY = frozenset((
    "init", "install", "hook", "orient", "bring-to-mind", "turn", "backstop", "list-turns", "get-turn", "reset-seen",
    "get-session-context", "end-session", "remember", "add-observations", "delete-observations", "link", "update-link",
    "unlink", "pin", "project", "tag", "episode", "write", "update", "correct", "mark-useful", "mark-questionable",
    "create-subjects", "get-subjects", "update-subject-summary", "add-alias", "get-understandings", "get-understanding-history",
    "understand", "create-understanding", "update-understanding", "set-structural-understanding", "merge-subjects",
    "find-similar-subjects", "consolidate", "begin-consolidation", "end-consolidation", "get-pending-consolidation",
    "list-passes", "get-consolidation-report", "recall", "search", "list", "list-observations", "search-observations", "get",
    "show", "tags", "related", "open-map", "open-around", "open-intersection", "read", "op", "snapshot", "new", "edit",
    "adopt", "people", "commit", "import", "activity", "log", "history", "diff", "decay", "core", "reflection", "reflect",
    "merge-note", "mcp", "upcoming", "get-stats", "prove", "status", "reindex", "embed", "watch", "owner", "completion",
))  # fmt: skip
PART_OF_IT = frozenset({"config", "sync", "serve", "doctor", "consent", "capture"})
"""Commands that everybody has, and of which a person alone has a part."""


def test_each_command_is_a_persons_or_everybodys() -> None:
    commands = {listed.name for section in SECTIONS.values() for listed in section}
    persons = {words[0] for words in ACTS.values()} | {"doctor"}  # whose part is tried where what is taken over is
    assert persons - PART_OF_IT == {"undo", "review", "forget", "export", "web", "hide"}
    assert not EVERYBODY & persons and EVERYBODY | persons == commands


def test_no_help_hint_or_description_names_a_way_around() -> None:
    told = [path for path in (ROOT / "vault_tool").rglob("*") if path.suffix in (".py", ".json", ".md", ".html", ".txt")]
    for path in told:
        text = path.read_text("utf-8")
        for way in ("or --origin owner", "--origin owner`", "with --origin owner", "say --yes", "VAULT_ORIGIN=owner"):
            assert way not in text, f"{path}: {way}"


def test_what_is_said_to_be_an_agents_is_no_persons_at_a_terminal_either(root: Path) -> None:
    before = state(root)
    for flags, env in ((("--origin", "agent"), {}), ((), {"VAULT_ORIGIN": "agent"}), (("--origin", "import"), {})):
        done = called_at_terminal("undo", *flags, cwd=root, env=env)
        assert done.returncode == Exit.REFUSED and "only a person" in done.stdout
    assert state(root) == before


@pytest.mark.parametrize("act", sorted(ACTS.keys() - {"review edits"} - SERVES))
def test_a_machine_may_let_commands_answer_for_its_person(told: tuple[Path, dict[str, str]], root: Path, act: str) -> None:
    let_commands_answer(root)
    done = without_terminal(root, typed(ACTS[act], told[1]))
    assert done.returncode == Exit.DONE, done.stderr


def test_what_is_forwarded_to_an_owner_at_a_terminal_is_no_persons(root: Path) -> None:
    program = (
        "import sys\n"
        "from vault_tool import Vault\n"
        "from vault_tool.cli.answering import SharedVault\n"
        "from vault_tool.cli.output import say\n"
        "assert sys.stdin.isatty() and sys.stdout.isatty()\n"
        "answers = SharedVault(Vault.open('.'), lambda: False, lambda: None)\n"
        "for environ in ({}, {'VAULT_ORIGIN': 'owner'}):\n"
        "    told = answers.command({'arguments': ['review', '--all'], 'environ': environ})\n"
        "    print(told['code'], told['err'])\n"
    )
    before = state(root)
    done = at_terminal("-c", program, cwd=root, vt=(sys.executable,))
    assert done.returncode == 0 and done.stdout.count("6 vt: only a person may ") == 2, done.stdout
    assert state(root) == before
