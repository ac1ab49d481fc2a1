"""A verb is added to a copy of the package, as CONTRIBUTING says: three files by hand, and every door has it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.added_code import copied_package, make_again, run_copy
from tests.founding import found_at
from vault_tool import Vault

pytestmark = pytest.mark.without_git

VERB = '''

class Longest(Answer, kw_only=True):
    """The answer of `longest`."""

    results: tuple[str, ...]


@verb
@looks
def longest(vault: Context, limit: int = 50) -> Longest:
    """The titles of the longest memories."""
    entries = vault.index.catalog.of_class(RecordClass.OBSERVATION)
    return Longest(results=tuple(sorted((entry.title for entry in entries), key=len, reverse=True)[:limit]))
'''

COMMAND = '''

@command("longest", "vt longest", "vt longest --limit 3")
@takes(statistics.longest, "limit")
def longest(call: Call, limit: int) -> Exit:
    """List the longest memories."""
    with call.open_vault() as vault:
        return call.emit(statistics.longest(vault, limit), _longest, vault)


def _longest(longest: statistics.Longest, short: Short) -> Iterator[Block]:
    yield from longest.results
'''

ROW = '        Listed("longest", "statistics", "List the longest memories."),\n'
TOOL = '    "longest": Described("The titles of the longest memories.", {"limit": 3}),\n'

BY_HAND = {
    "features/doctor/statistics.py": ("", VERB),
    "cli/statistics.py": ("", COMMAND),
    "cli/table.py": ('        Listed("get-stats",', ROW),
    "mcp/table.py": ('    "get_stats": Described(', TOOL),
}
"""What is written in each file, and before what. The last only where agents are to have it."""

MADE = (("cli.method_table", "verbs/vault.py"), ("cli.typed_table", "cli/typed.py"), ("mcp.schemas", "mcp/tools.json"))

ASKED = """
import json, sys
from vault_tool import Vault, __file__ as package
from vault_tool.cli.main import main
from vault_tool.cli.verb_table import verb_table
from vault_tool.mcp.answering import answer
from vault_tool.mcp.tools import Caller, named
vault = Vault.open(sys.argv[1])
told = {
    "package": package,
    "method": vault.longest(limit=1).results,
    "tool": answer(vault, "longest", {"limit": 2}, Caller(session="s"))["results"],
    "schema": named("full")["longest"]["inputSchema"]["properties"]["limit"],
    "documents": [line for line in verb_table().splitlines() if line.startswith("| `longest`")],
}
print(json.dumps(told), flush=True)
main(["--vault", sys.argv[1], "longest", "--limit", "1"])
main(["longest", "--help"])
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the package to which a verb was added, and a vault of two memories."""
    root = copied_package(tmp_path_factory.mktemp("added"), {name: [addition] for name, addition in BY_HAND.items()})
    with Vault.open(found_at(root / "lab", git=False)) as vault:
        vault.remember("The pump hums.", ["Pump"])
        vault.remember("The pump in the cellar hums at night.", ["Pump"])
    return root


def test_a_verb_in_three_files_and_a_row_for_agents_is_at_every_door(root: Path) -> None:
    for module, kept in MADE:
        make_again(root, module, kept)
    first, *rest = run_copy(root, "-c", ASKED, str(root / "lab")).splitlines()
    told = json.loads(first)
    assert told["package"].startswith(str(root))
    assert told["method"] == ["The pump in the cellar hums at night"]
    assert told["tool"] == ["The pump in the cellar hums at night", "The pump hums"]
    assert told["schema"]["type"] == "integer" and told["schema"]["description"]
    assert len(told["documents"]) == 1 and "`vt longest`" in told["documents"][0]
    assert "The pump in the cellar hums at night" in rest[0]
    assert any("List the longest memories." in line for line in rest) and any("--limit" in line for line in rest)
