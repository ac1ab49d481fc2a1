"""Each example of a `--help`, typed into a vault that has what it speaks of; and how broad what comes back is."""

from __future__ import annotations

import itertools
import json
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.cli.typed import vt
from tests.git_repos import git
from tests.nobody import packed
from tests.terminal import let_commands_answer
from tests.verbs.looking import note
from vault_tool import Vault
from vault_tool.cli.blocks import BAR, COLUMNS, width
from vault_tool.cli.main import group
from vault_tool.cli.options import VaultCommand
from vault_tool.errors import Exit

LONG = "that goes on about connections, timeouts, restarts and all that was tried in three weeks of nights, 接続の問題も"
ELSEWHERE = {
    "vt config vault team ~/team-vault": "it is for a person, and there is one vault (see tests/verbs/test_several_vaults)",
    "vt watch": "it goes on until it is ended (see tests/watch)",
    "vt mcp": "it serves until its input ends (see tests/mcp)",
    "vt mcp --preset full": "it serves until its input ends (see tests/mcp)",
    "vt web": "it serves until it is ended (see tests/web)",
    "vt web --no-open --json": "it serves until it is ended (see tests/web)",
    "vt web --port 9000": "it serves until it is ended (see tests/web)",
    "vt serve": "it serves until it is ended (see tests/mcp)",
    "vt serve --port 0 --preset full --json": "it serves until it is ended (see tests/mcp)",
    "vt owner": "it goes on until nobody asks (see tests/owner)",
    "vt owner --background": "it starts a process (see tests/owner)",
    "vt owner --stop": "it is about another process (see tests/owner)",
    "vt watch --json": "it goes on until it is ended (see tests/watch)",
    "vt embed": "no embedder is at hand in a test of every command",
    "vt doctor --client claude-code": "it starts a client (see tests/install)",
    "vt embed --provider local --download": "it downloads",
    "vt sync": "it asks for a remote (see tests/sync)",
    "vt sync --dry-run": "it asks for a remote (see tests/sync)",
    "vt sync --remote backup --no-push": "it asks for a remote (see tests/sync)",
    "vt merge-note %O %A %B %P": "git calls it with files of its own (see tests/sync)",
    "vt get a1b2c3 --part 2": "it asks for a long memory (see tests/verbs/recall)",
    "vt prove --ask-with ollama:qwen3:4b": "it asks for a model (see tests/verbs/test_asked_proof.py)",
    "vt capture --set draft --by ollama:qwen3:4b --calls-a-day 3": "it asks for a repository's folder (see tests/capture)",
    "vt capture 5f0c2d7e-1b1a-4f4e-9f37-6a4c0d9b2c11 --dry-run": "it asks for a client's session (see tests/capture)",
}
"""Examples that cannot be typed here, and why."""

READ = {"op": "read", "repo_id": "Lab", "mode": "targeted", "query": "redis connections"}
EDITOR = f"{sys.executable} -c \"import sys; open(sys.argv[1], 'a').write('A line.\\\\n')\""

DOCUMENTS = ("core", "reflection", "snapshot", "op", "completion", "diff", "orient")
"""Commands that print a document, whose lines are as long as they are."""


def _examples() -> Iterator[str]:
    def of(command: click.Command) -> Iterator[str]:
        for one in command.commands.values() if isinstance(command, click.Group) else ():
            yield from of(one)
        yield from command.examples if isinstance(command, VaultCommand) else ()

    for name in group.list_commands(click.Context(group)):
        found = group.get_command(click.Context(group), name)
        assert found is not None
        yield from of(found)


MEMORY_FILE = "---\nname: pnpm\ndescription: the manager\nmetadata:\n  type: feedback\n---\nUse pnpm.\n"


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A home with a vault in it that the examples speak of, and what their ids mean in it; to be copied."""
    home = tmp_path_factory.mktemp("story")
    root = home / "lab"
    with pytest.MonkeyPatch.context() as patch:
        _at_home(patch, home)
        root.mkdir()
        git(root, "init", "-q")
        Vault.init(root, name="Lab", who="owner")
        settings = (root / "vault.toml").read_text()
        with Vault.open(root, origin="agent", session="k3f9") as vault:
            ids = _told(vault)
        (root / "vault.toml").write_text(f'write_policy = "review"\n{settings}')
        with Vault.open(root, origin="agent") as vault:
            for name in ("held", "held too"):
                ids[name] = vault.remember(f"What waits, and is {name} {LONG}.").id
        (root / "vault.toml").write_text(settings)
        _files(home, root)
        let_commands_answer(root)
        with Vault.open(root, origin="owner") as vault:
            source = vault.show(ids["problem"], source=True).source
        assert source is not None
        ids["hash"] = source.hash
        (root / "note.md").write_text(source.text.replace("300 s", "five minutes"), encoding="utf-8")
    ids["commit"] = git(root, "log", "--format=%h", "-1")
    packed(root)
    return home, ids


def _told(vault: Vault) -> dict[str, str]:
    """The ids of what the vault is told."""
    about = ["Redis", "Homelab"]
    problem = vault.remember(f"Redis drops idle connections after 300 s, {LONG}.", about, kind="problem").id
    solution = vault.remember(
        f"The socket keepalive solves the connection timeouts {LONG}.", ["Redis"], kind="solution", problem=problem, tags=["work"]
    ).id
    vault.remember(
        f"Dropping an existing column fails the migration {LONG}.", about, kind="failed_tactic", problem=problem,
        failure_mode="hides the cause",
    )  # fmt: skip
    vault.remember(f"A restart ends the timeout for a day {LONG}.", about, kind="fact", tags=["work", "work/night"])
    understood = vault.create_understanding(["Redis"], f"It is the cache {LONG}.", f"Redis is the cache {LONG}").id
    newer = vault.update_understanding(understood, f"It is the cache and the queue {LONG}.", f"Cache and queue {LONG}")
    vault.create_subjects([{"name": "Redis cache"}])
    vault.bring_to_mind("idle redis connections drop")
    vault.episode("Tried a restart", f"Tried to restart redis each night, which failed {LONG}.", memory=problem)
    slip = vault.as_(session="2026-11-20-k3f9").remember(f"A slip {LONG}.", ["James", "Audrey"]).id
    anns = vault.as_(user="ann").remember(f"Ann runs redis at home {LONG}.", ["Redis"]).id
    said = [{"content": f"The redis of the lab is restarted by hand {LONG}.", "title": f"By hand {LONG}"}]
    turn = vault.turn("k3f9", "", "", f"I restart redis by hand {LONG}.", extractMemory=True, candidates=said, write="later")
    key = vault.end_session().attempts[0].key
    link = vault.link(solution, "CAUSES", problem, f"A link {LONG}.").id
    return {
        "link": link,
        "problem": problem,
        "solution": solution,
        "slip": slip,
        "understood": newer.new_understanding_id,
        "key": key,
        "anns": anns,
        "turn": turn.turn_id,
    }


def _files(home: Path, root: Path) -> None:
    """The files that examples name: notes of other tools, and what they read from standard input."""
    for path, text in {
        home / "Notes/One.md": "# One\n\nA note on [[Two]].\n",
        home / ".claude/projects/-home-ann-shop/memory/pnpm.md": MEMORY_FILE,
        home / "Downloads/data-2026-11-25/memories.json": json.dumps([{"conversations_memory": "Builds a beekeeping app."}]),
        home / "Downloads/chatgpt/conversations.json": json.dumps([{"title": "Ports", "mapping": {}}]),
        home / "claude-mem.json": json.dumps({"summaries": [{"memory_session_id": "s-1", "learned": "Ports clash."}]}),
        home / "memory.jsonl": json.dumps({"type": "entity", "name": "Ada", "observations": ["Plays chess"]}),
        home / "vault.jsonl": json.dumps({"format": "vault_tool-jsonl", "version": 1}),
        home / "mem0.json": json.dumps([{"id": "m-1", "memory": "Likes hiking", "user_id": "ann"}]),
        home / ".claude/memory/graph/facts/one.md": note(1, title="One"),
        root / "vault/inbox/idea.md": "# An idea\n\nTo be thought about.\n",
        root / "redis.md": "Redis is the cache, never the store.\n",
        root / "turn.txt": "What of the flaky redis tests?\n",
        root / "seen.json": json.dumps([{"content": "Redis restarts at 4:00."}]),
        root / "request.json": json.dumps(READ),
        root / "requests.jsonl": f"{json.dumps(READ)}\n{json.dumps(READ)}\n",
        root / "event.json": json.dumps({"session_id": "k3f9-next", "prompt": "why do the idle redis connections drop?"}),
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _at_home(patch: pytest.MonkeyPatch, home: Path) -> None:
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"):
        patch.setenv(name, str(home))
    for role in ("AUTHOR", "COMMITTER"):
        patch.setenv(f"GIT_{role}_NAME", "A Tester")
        patch.setenv(f"GIT_{role}_EMAIL", "tester@example.org")
    patch.setenv("VAULT_ORIGIN", "owner")
    patch.setenv("EDITOR", EDITOR)


def _means(words: list[str], ids: dict[str, str]) -> list[str]:
    """The words of an example with the ids of this vault for those that stand for anybody's."""
    command = words[1]
    first = {
        "delete-observations": "slip", "undo": "slip", "update-understanding": "understood",
        "get-understanding-history": "understood",
        "link": "solution", "review": "held", "consent": "anns" if "--as-user" in words else "problem",
    }.get(command, "problem")  # fmt: skip
    other = {"link": "problem", "review": "held too", "get-turn": "turn"}.get(command, "solution")
    meant = {
        "a1b2c3": ids[first],
        "5f0c2d": ids[other],
        "9f3c1e2": ids["commit"],
        "4e0d9c1b22": ids["key"],
        "4d5e6f": ids["link"],
        "7c81fe": ids["understood"],
        "0f3ac1": ids["hash"],
    }
    for name, value in meant.items():
        words = [word.replace(name, value) for word in words]
    return [str(Path(word).expanduser()) if word.startswith("~/") else word for word in words]


EXAMPLES = [line for line in _examples() if line not in ELSEWHERE]


@pytest.mark.parametrize("line", EXAMPLES)
def test_an_example_of_a_help_does_what_it_says(
    line: str, story: tuple[Path, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, ids = story
    shutil.copytree(home, tmp_path / "home", symlinks=True)
    (tmp_path / "home" / "lab" / "_local" / "mark").unlink(missing_ok=True)
    _at_home(monkeypatch, tmp_path / "home")
    root = tmp_path / "home" / "lab"
    command, _, redirected = re.split(r"\s>", line)[0].partition(" <")
    typed = _means(shlex.split(command.rpartition(" | ")[2]), ids)
    given = (root / redirected.strip()).read_text(encoding="utf-8") if redirected else "sk-a-key-of-nobody-0000000000000000\n"
    away = tmp_path / "home" if typed[1] == "init" else root
    _prepared(typed, ids, root)

    done = vt(*typed[1:], cwd=away, input=given)

    assert done.returncode in (Exit.DONE, Exit.ATTENTION), done.stderr
    assert done.stdout.strip() or typed[1] in ("diff", "watch"), done.stderr
    if "--json" in typed or typed[1] in DOCUMENTS:
        return
    # A path is never broken, a sentence breaks by itself, and a text of the vault stands behind its bar.
    lines = [shown for shown in done.stdout.splitlines() if re.search(r"\S {2,}\S.* {2,}\S", shown) and not shown.startswith(BAR)]
    assert [shown for shown in lines if "/" not in shown and width(shown) > COLUMNS] == []


def _prepared(typed: list[str], ids: dict[str, str], root: Path) -> None:
    """What must have been done before a command has something to do."""
    if typed[1] == "commit":
        with (root / "vault/subjects/redis.md").open("a", encoding="utf-8") as note:
            note.write("\nOf the lab.\n")
    for given, folder in itertools.pairwise(typed):
        if given in ("--folder", "--not") and typed[1] == "capture":
            (root / folder).mkdir(parents=True, exist_ok=True)
    if typed[1:3] == ["config", "global"]:
        assert vt("init", typed[3], cwd=root).returncode == Exit.DONE
    if typed[1] in ("end-consolidation",) or "--done" in typed:
        assert vt("begin-consolidation", cwd=root).returncode == Exit.DONE


def test_what_is_typed_elsewhere_is_an_example() -> None:
    assert set(ELSEWHERE) <= set(_examples())
