"""A field of an observation is added to a copy of the package in two files by hand: every door takes, tells and filters by it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.added_code import copied_package, make_again, run_copy
from tests.founding import found_at

pytestmark = pytest.mark.without_git

ROW = """\
    Field("tone", _K.TEXT, words=("dry", "warm"), told=(9, "tone"), searched="name", repeat="dropped",
          narrows="Only what was said in this tone.", given=_P("dry, warm, or a word of your own.", contract="tone")),
"""

BY_HAND = {
    "model/fields.py": [
        ("\n\nclass ObservationParameters(", "    tone: str\n"),
        ("    since: str | None\n", "    tone: str\n"),
        ('    Field("as_of", _K.TIME', ROW),
    ],
    "model/records.py": [("    as_of: str | None = None\n", '    tone: str = ""\n')],
}

ASKED = """
import json, sys
from vault_tool import Vault, __file__ as package
from vault_tool.cli.main import main
from vault_tool.features.contracts.schemas import schema
from vault_tool.mcp.answering import answer
from vault_tool.mcp.tools import Caller, named
from vault_tool.web.filters import Selection
root, said = sys.argv[1], "The lamp hums."
vault = Vault.open(root, session="s")
dry = vault.remember(said, ["Lamp"], tone="dry").id
vault.write("The lamp glows.", "fact", 0.9, subject_names=["Lamp"], tone="warm")
answer(vault, "remember", {"content": "The lamp is out.", "subject_names": ["Lamp"], "tone": "warm"}, Caller(session="s"))
listed = vault.list(**Selection.of({"q": "tone:dry"}).parameters(ranked=False)).results
told = {
    "package": package,
    "head": vault.get(dry).details["tone"],
    "listed": [memory.content for memory in listed],
    "warm": vault.list(tone="warm").total,
    "found": [result.matched_content for result in vault.search("lamp", tone="dry").results],
    "recalled": [result.content for result in vault.recall("what does the lamp do?", tone="dry").results],
    "reminded": [memory.content for memory in vault.bring_to_mind("what does the lamp do?", None, True, tone="dry").results],
    "read": [memory.text for memory in vault.read("what does the lamp do?", tone="dry").results],
    "op": vault.op({"op": "read", "repo_id": "lab", "mode": "targeted", "query": "lamp", "tone": "dry"})["ok"],
    "unknown": vault.list(tone="dri").warnings,
    "schema": schema("read")["properties"]["tone"]["description"],
    "tool": [named("full")[tool]["inputSchema"]["properties"]["tone"]["description"] for tool in ("remember", "list", "recall")],
}
print(json.dumps(told), flush=True)
for words in (["remember", "The lamp is cold.", "--tone", "dry"], ["list", "--tone", "dry"], ["list", "--help"]):
    main(["--vault", root, *words])
"""


def test_a_field_in_two_files_is_taken_told_and_filtered_by_at_every_door(tmp_path: Path) -> None:
    root = copied_package(tmp_path / "added", BY_HAND)
    make_again(root, "mcp.schemas", "mcp/tools.json")
    vault = found_at(root / "lab", git=False)
    first, *rest = run_copy(root, "-c", ASKED, str(vault)).splitlines()
    told = json.loads(first)
    assert told["package"].startswith(str(root))
    assert told["head"] == "dry" and told["warm"] == 2 and told["op"]
    for door in ("listed", "found", "recalled", "reminded", "read"):
        assert told[door] == ["The lamp hums."], door
    assert told["unknown"] == ["no memory has the tone `dri`: the nearest is `dry`"]
    assert told["schema"] == "Only what was said in this tone."
    assert told["tool"] == ["dry, warm, or a word of your own.", *2 * ["Only what was said in this tone."]]
    assert any("The lamp is cold" in line for line in rest)
    assert any("--tone" in line for line in rest) and any("Only what was said in this tone." in line for line in rest)
