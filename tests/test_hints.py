"""Each door says its hints in its own words: no command line for agents and on the page, no tool for whoever types."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from tests import sources
from tests.mcp.served import ERAS, client_of
from tests.web.conftest import serving_pages
from tests.wording import typed
from vault_tool import Vault
from vault_tool.cli import wording
from vault_tool.cli.main import main
from vault_tool.cli.table import SECTIONS, command_of
from vault_tool.cli.typed_table import commands, typed_table
from vault_tool.hooks.answers import answer as hook_answer
from vault_tool.mcp.table import TOOLS
from vault_tool.mcp.wording import ForClient
from vault_tool.util import hints
from vault_tool.util.hints import if_there, option, shell, step
from vault_tool.vault.plain_words import PlainWords, plainly

pytestmark = pytest.mark.anyio

PROJECT = Path(__file__).parents[1]

# A command line: `vt`, a flag, or a command of a shell.
COMMAND_LINE = re.compile(r"\bvt [a-z`]|(?<![\w-])--[a-z]|`(?:git|rm|pip) |type: |Vault\.|\ufe00")

# The same on a page, which shows the files' own text and names its styles.
ON_THE_PAGE = re.compile(r"`?\\bvt [a-z]+|`(?:git|rm|pip) |type: git|Vault\\.|[^\\n]*\ufe00")

# A tool that is no word of the command line.
TOOL_NAME = re.compile("|".join(rf"\b{name}\b" for name in sorted(TOOLS) if "_" in name) + "|Vault\\.|\ufe00")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


BAD: Mapping[str, Any] = {"string": "nosuch", "integer": 0, "number": 9.0, "boolean": True, "array": ["nosuch"], "object": {}}


def _filled(schema: Mapping[str, Any], value: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a tool of the types that it takes."""
    given = {}
    for name in schema.get("required", ()):
        kind = schema["properties"][name].get("type", "string")
        given[name] = value.get(kind if isinstance(kind, str) else kind[0], "nosuch")
    return given


def _calls(name: str, schema: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Calls of a tool that are wrong in one way or another, and its own example."""
    known = schema["properties"]
    yield dict(TOOLS[name].example)
    yield {}
    yield {"nonsense": 1}
    yield _filled(schema, BAD)
    yield _filled(schema, {**BAD, "string": "", "array": []})
    yield _filled(schema, {**BAD, "string": "token = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'"})
    for extra, value in (
        ("kind", "fcat"), ("kind", "subject"), ("kind", "solution"), ("kind", "change"), ("kinds", ["xyzzy"]), ("limit", -1),
        ("tags", ["zzz"]), ("tags", ["#"]), ("project", "nowhere"), ("subject_names", ["nobody"]), ("hops", 9), ("since", "soon"),
        ("session", ""), ("problem", "nosuch"), ("packet", "nosuch"), ("related_to", ["nosuch"]),
    ):  # fmt: skip
        if extra in known:
            yield {**_filled(schema, BAD), **TOOLS[name].example, extra: value}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault with notes of many kinds, one of them broken, one waiting, and a setting that is none."""
    with Vault.open(Vault.init(tmp_path / "vault").root, origin="agent") as vault:
        vault.create_subjects([{"name": "Redis", "summary": "A store."}, {"name": "redis pool", "summary": "Connections."}])
        vault.remember("Redis drops idle connections after 300 s.", ["Redis"], kind="problem")
        vault.remember("Redis needs a restart each week.", ["Redis"], kind="fact")
        vault.remember("Perhaps it is the firewall.", ["Redis"], ask=True)
    (tmp_path / "vault/vault/broken.md").write_text("---\nid: [\n---\nx\n")
    (tmp_path / "vault/vault/page.md").write_text("# A page\n\nText.\n")
    return tmp_path / "vault"


@pytest.mark.parametrize("preset", ["lean", "full"])
async def test_nothing_that_an_agent_is_told_is_a_command_line(root: Path, preset: str) -> None:
    said: list[str] = []
    with (root / "vault.toml").open("a") as settings:
        settings.write("\nnonsense = 1\n")
    async with client_of(root, "auto", preset=preset) as client:
        for tool in (await client.list_tools()).tools:
            said.append(f"{tool.name}: {tool.description} {json.dumps(tool.input_schema)}")
            for arguments in _calls(tool.name, tool.input_schema):
                found = await client.call_tool(tool.name, arguments)
                said += [f"{tool.name} {arguments}: {one.model_dump_json()}" for one in found.content]
                said.append(f"{tool.name} {arguments}: {json.dumps(found.structured_content, ensure_ascii=False)}")
    assert not [one for one in said if COMMAND_LINE.search(one)]
    # A protocol is a note, and says to agents what tools there are.
    ours = [one for one in said if not one.startswith("orient ")]
    other = {name for name in TOOLS if "_" in name} - {one.partition(":")[0] for one in said}
    assert preset == "full" or not [one for one in ours for name in other if f"`{name}`" in one]


@pytest.mark.parametrize("era", ERAS)
async def test_what_a_client_may_read_names_no_command_line(root: Path, tmp_path: Path, era: str) -> None:
    async with client_of(root, era, preset="lean") as client:
        for uri in ("vault://core", "vault://reflection", "vault://subject/Redis", "vault://memory/Redis drops idle connections"):
            text = (await client.read_resource(uri)).contents[0].text  # type: ignore[union-attr]
            assert text and not COMMAND_LINE.search(text), (uri, ascii(text))
    nowhere = tmp_path / "nowhere"
    nowhere.mkdir()
    async with client_of(nowhere, era, preset="lean") as client:
        for ask in (client.read_resource, client.subscribe_resource if era == "legacy" else partial(_listen, client)):
            with pytest.raises(MCPError, match="no vault") as told:
                await ask("vault://core")
            assert not COMMAND_LINE.search(str(told.value)), ascii(str(told.value))


def test_the_page_that_a_session_starts_with_names_no_command_line(root: Path) -> None:
    with Vault.open(root, person=True) as vault:
        vault.core()
        vault.reflect()
    with Vault.open(root, origin="agent", session="s1") as vault:
        for event, source in (("session-start", "startup"), ("session-start", "compact"), ("prompt", "")):
            text = hook_answer(vault, event, "why does redis drop idle connections?", source)
            assert text and not COMMAND_LINE.search(text) and "Refresh" not in text, (event, text)


def test_the_table_of_typed_parameters_is_what_the_commands_take() -> None:
    kept = (PROJECT / "vault_tool/cli/typed.py").read_text(encoding="utf-8")
    assert kept == typed_table(), "python -m vault_tool.cli.typed_table > FILE, and FILE to vault_tool/cli/typed.py"
    for name, command in commands():
        listed = {row.name: row for row in reversed(wording.parameters_of(name))}
        assert listed == {row.name: row for row in map(wording.typed_as, reversed(command.params))}, name


def test_what_stands_for_a_value_keeps_the_brackets_within_it() -> None:
    listed = {row.name: row.metavar for row in wording.parameters_of("serve")}
    assert listed["names"] == "HOST[:PORT]" and listed["remove"] == "NAME"


WORDED_ALONE = """
import sys
from vault_tool.cli.wording import CommandLine
from vault_tool.util.hints import OPEN, Step
said = CommandLine().step(Step(sys.argv[1], {name: OPEN for name in sys.argv[2:]}))
print(said, *sorted(name for name in sys.modules if name.startswith(("vault_tool.features.", "vault_tool.index."))))
"""


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("config owners", "`vt config --owners ADDRESSES`"),
        ("embed download", "`vt embed --download`"),
        ("search query", "`vt search WORDS`"),
        ("purge memory_ids", "`vt forget ID --purge`"),
        ("import_markdown path", "`vt import markdown DIR`"),
    ],
)
def test_a_command_is_worded_without_what_it_works_with(step: str, words: str) -> None:
    told = subprocess.run(
        [sys.executable, "-c", WORDED_ALONE, *step.split()], capture_output=True, text=True, check=True, cwd=PROJECT
    )
    assert told.stdout.strip() == words


async def _listen(client: Client, uri: str) -> None:
    async with client.listen(resource_subscriptions=[uri]):
        pass


COMMANDS = (
    "get nosuch", "get", "show 0000", "remember --kind fcat x", "remember -k solution x", "remember -k change y",
    "recall q --kind xyzzy", "recall q --tag zzz", "recall q --project nowhere", "search q --kind subjct", "history nosuch",
    "log nosuch", "undo nosuch", "undo", "related nosuch", "link a SOLVES b c", "unlink nosuch", "update-link nosuch x",
    "tag nosuch +a", "pin nosuch", "review", "review --accept nosuch", "forget nosuch", "consent nosuch --given",
    "export out --all-of ann", "people", "create-understanding x --summary s", "update-understanding nosuch x --summary s",
    "consolidate", "consolidate --packet nosuch", "consolidate --done", "get-turn nosuch", "reset-seen", "end-session",
    "bring-to-mind x", "orient", "status", "doctor", "doctor --moved a b", "embed", "reindex", "config nosuch 1", "config",
    "adopt nosuch.md", "edit nosuch", "new nosuch", "import markdown nosuch", "op --schema", "open-map nosuch",
    "merge-subjects a b", "set-structural-understanding nosuch x", "delete-observations nosuch", "core --print", "decay",
)  # fmt: skip


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_nothing_that_a_command_says_is_a_tool(
    root: Path, form: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    for command in COMMANDS:
        main([*command.split(), *form])
        shown = capsys.readouterr()
        # Names of settings, of fields and of documents stand there too: a tool that is named to be called stands in backticks.
        for text in (shown.out, shown.err):
            if command != "orient":  # a protocol is a note, and says to agents what tools they have
                assert not [one for one in TOOL_NAME.findall(text) if f"`{one}" in text], (command, text)
            assert "Vault." not in text and "\ufe00" not in text and "\\ufe00" not in text, (command, text)


def test_json_has_the_next_step_as_a_value(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    assert main(["get", "nosuch", "--json"]) == 2
    fault = json.loads(capsys.readouterr().out)["error"]
    assert fault["next"] == {"verb": "search", "arguments": {"query": None}}
    assert fault["hint"].startswith("`vt search WORDS` finds by text")
    main(["doctor", "--json", "--all"])
    problems = json.loads(capsys.readouterr().out)["problems"]
    page = next(one for one in problems if one["path"] == "vault/page.md")
    assert page["next"] == {"verb": "adopt", "arguments": {"paths": "vault/page.md"}} and "vt adopt vault/page.md" in page["hint"]


ADDRESSES = (
    "/", "/health", "/time", "/people", "/subjects", "/review", "/review/bin", "/consolidate", "/ask?q=redis",
    "/ask?q=redis&tag=zzz", "/ask?q=redis&kind=xyzzy", "/ask?q=redis&project=nowhere", "/ask?q=redis&since=soon",
    "/memory/nosuch", "/memory/nosuch/edit", "/subject/nosuch", "/commit/nosuch", "/turn/nosuch", "/person?name=nobody",
    "/time/never", "/session?name=none", "/merge?keep=a&gone=b", "/intersection?a=x&b=y", "/nosuch", "/page?path=vault/page.md",
    "/page?path=vault/broken.md", "/ask?q=redis&why_not=nosuch",
)  # fmt: skip
FORMS: tuple[tuple[str, dict[str, str]], ...] = (
    ("/undo", {"target": "nosuch"}),
    ("/review/decide", {"id": "nosuch", "accept": "1"}),
    ("/review/settle", {"key": "nosuch", "keep": "this"}),
    ("/review/restore", {"id": "nosuch"}),
    ("/memory/nosuch/pin", {}),
    ("/memory/nosuch/forget", {}),
    ("/subject/redis/alias", {"alias": "redis pool"}),
    ("/consolidate/skip", {"label": "nosuch"}),
    ("/consolidate/packet", {"label": "nosuch"}),
    ("/consent", {"id": "nosuch", "state": "given"}),
    ("/merge", {"keep": "Redis", "gone": "nosuch"}),
    ("/purge", {"id": "nosuch"}),
)


def test_nothing_that_the_page_says_is_a_command_line(root: Path) -> None:
    with serving_pages(root) as served:
        said = {address: served.client.get(address).text for address in ADDRESSES}
        said |= {address: served.client.post(address, data=form).text for address, form in FORMS}
        served.client.cookies.clear()
        said |= {f"{address} by a stranger": served.client.get(address).text for address in ("/", "/health")}
    shown = {address: unescape(re.sub("<[^>]+>", "", text)) for address, text in said.items()}
    assert not {address: found[0] for address, text in shown.items() if (found := ON_THE_PAGE.search(text))}


# What is said of the settings of git or of a shell by its own name, for whoever set it up.
_OF_THE_COMMAND_LINE = (
    *("cli", "install", "hooks", "owner", "__main__.py", "web/app.py", "web/door.py", "mcp/listening.py"),
    *("generate/schedule.py", "generate/core_forms.py", "files/git/driver.py"),
)


# Of an option of several flags the table of parameters holds them all: they are read by the command line, and told nowhere.
_FLAGS = re.compile(r"--?[a-z][a-z-]*(?: --?[a-z][a-z-]*)+")


def test_no_text_below_the_doors_has_a_command_line_in_it() -> None:
    """A hint with a next step is made of values: a text that names a command would say it at every door."""
    found = []
    for module in sources.modules():
        place = module.path.as_posix()
        if place.startswith(_OF_THE_COMMAND_LINE):
            continue
        # A text that stands alone says what something is.
        alone = {id(one.value) for one in module.nodes if isinstance(one, ast.Expr)}
        typed_by_git = {
            id(one) for node in module.nodes if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "shell"
            for one in ast.walk(node)
        }  # fmt: skip
        found += [
            f"{place}:{node.lineno}: {node.value}"
            for node in module.nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone | typed_by_git
            and not node.value.startswith("git ") and not _FLAGS.fullmatch(node.value)
            and re.search(r"`(?:vt|git) |\bvt [a-z]|\btype: git|(?: |`)--[a-z]", node.value)
        ]  # fmt: skip
    assert not found


def test_each_step_of_the_source_is_one_of_a_verb_with_its_command_and_its_words() -> None:
    seen = set()
    for module in sources.modules():
        for node in module.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "step" and node.args:
                named = node.args[0]
                if isinstance(named, ast.Constant):
                    seen.add(str(named.value))
    commands = {row.name for rows in SECTIONS.values() for row in rows}
    assert len(seen) > 30
    for verb in sorted(seen):
        assert command_of(verb) in commands, verb
        assert "`vt" in typed(step(verb)), verb
        assert verb.replace("_", " ") + ", which" not in plainly(hints.Step(verb)), verb


def test_a_step_goes_along_wherever_a_text_goes_and_is_said_by_each_door() -> None:
    text = f"nothing is there; {step('search', query=...)} finds, {step('review', accept='ab12')} settles"
    assert hints.bare(text) == "nothing is there; `Vault.search(query=...)` finds, `Vault.review(accept='ab12')` settles"
    assert typed(text) == "nothing is there; `vt search WORDS` finds, `vt review --accept ab12` settles"
    assert hints.worded(text, ForClient("full")) == "nothing is there; `search` (query) finds, a person's review settles"
    assert hints.worded(text, ForClient("lean")) == "nothing is there; a search finds, a person's review settles"
    assert hints.worded(text, PlainWords()) == "nothing is there; a search finds, a person's review settles"
    assert hints.next_step(text) == hints.Step("search", {"query": ...})
    assert hints.worded(text[:40], ForClient()).isprintable() and "\ufe00" not in hints.worded(text[:40], ForClient())


# The first of two such letters is one that Japanese names are written with, the second a sign of mathematics.
SELECTED = "\u795e\ufe00 is a god, \u6d77\ufe01 the sea, \u2229\ufe00 a cap."


def test_what_a_note_says_stays_as_it_is_where_a_step_is_said(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"{SELECTED} {step('search', query=...)}{if_there(', ' + shell('git log'))}"
    assert typed(text) == f"{SELECTED} `vt search WORDS`, `git log`"
    assert hints.bare(text) == f"{SELECTED} `Vault.search(query=...)`, `git log`"
    with Vault.open(root, origin="agent") as vault:
        kept = vault.remember(SELECTED, ["Redis"], title="Signs").id
    assert main(["get", kept, "--vault", str(root), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["content"] == SELECTED


@pytest.mark.parametrize("name", ["it's `quoted`", "two\nlines", "(a, b)", "…", "x=1", "\\"])
def test_whatever_an_argument_holds_is_said_again(name: str) -> None:
    found = hints.next_step(step("forget", memory_id=name))
    assert found is not None and found.arguments == {"memory_id": name}


def test_a_clause_is_said_where_all_is_there_that_it_names() -> None:
    text = "take it out" + if_there(f", or say {option('allow_secret', True)}")
    assert typed(text) == "take it out, or say `--allow-secret`"
    assert hints.worded(text, ForClient("full", "remember")) == "take it out"
    assert unescape(hints.worded(text, PlainWords())) == "take it out"
