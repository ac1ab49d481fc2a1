"""The table of tools: every verb is one or is withheld for a reason, and what is listed is what the verbs take."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from vault_tool.cli.verb_table import of_the_whole, verbs
from vault_tool.errors import UsageError
from vault_tool.mcp import schemas
from vault_tool.mcp.table import LEAN, TOOLS, WITHHELD
from vault_tool.mcp.texts import INSTRUCTIONS, PROMPTS
from vault_tool.mcp.tools import ALWAYS, PRESETS, cost, listed, offered

HINTS = {"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
LONGEST = 2048
"""Characters at which clients cut a description."""


def test_what_is_listed_is_made_of_the_verbs() -> None:
    kept = files("vault_tool.mcp").joinpath("tools.json").read_text("utf-8")
    assert kept == schemas.written(), "python -m vault_tool.mcp.schemas > vault_tool/mcp/tools.json"


def test_the_document_has_their_table_and_what_they_cost() -> None:
    page = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text("utf-8")
    assert page.endswith(schemas.table()), "python -m vault_tool.mcp.schemas --table"
    lean, full = (round(cost(listed(preset)), -1) for preset in PRESETS)
    assert f"| {lean:,} |" in page and f"| {round(full, -2):,};" in page


def test_every_verb_is_a_tool_or_is_withheld_for_a_reason() -> None:
    # What is about the whole vault is its owner's where nothing else is said.
    lacking = set(verbs()) - {*TOOLS, *WITHHELD} - of_the_whole()
    assert not lacking and {*TOOLS, *WITHHELD} <= set(verbs()), "name it in TOOLS or WITHHELD of vault_tool/mcp/table.py"
    assert not {*TOOLS} & {*WITHHELD} and all(WITHHELD.values())
    assert not {"forget", "purge", "undo", "review"} & {*TOOLS}


@pytest.mark.parametrize("preset", PRESETS)
def test_each_tool_says_all_that_clients_want(preset: str) -> None:
    for tool in listed(preset):
        assert set(tool["annotations"]) == HINTS
        assert len(tool["description"].encode()) <= LONGEST
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object" and "anyOf" not in schema and schema["additionalProperties"] is False
        if preset == "full":
            assert Draft202012Validator(tool["inputSchema"]).is_valid(TOOLS[tool["name"]].example), tool["name"]
        assert ("_meta" in tool) == (tool["name"] in LEAN)


def test_a_preset_is_small_and_always_the_same() -> None:
    lean = listed("lean")
    assert tuple(one["name"] for one in lean) == LEAN and len(lean) == 8
    assert all(one["_meta"] == {ALWAYS: True} for one in lean)
    assert cost(lean) < 1800 < cost(listed("full")) < 10_000
    assert json.dumps(lean) == json.dumps(listed("lean"))
    assert [one.tokens for one in offered().presets] == [cost(listed(preset)) for preset in PRESETS]
    with pytest.raises(UsageError, match="one of lean, full"):
        listed("all")


def test_what_is_said_of_the_server_is_short() -> None:
    assert len(INSTRUCTIONS) <= 1500
    assert all(tool in TOOLS for prompt in PROMPTS.values() for tool in prompt.needs)


def test_to_list_the_tools_loads_no_verb() -> None:
    loaded = "import sys, vault_tool.mcp.server; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", loaded], check=True, capture_output=True, text=True).stdout.split()
    ours = ("vault_tool.verbs", "vault_tool.features", "vault_tool.index", "vault_tool.files", "tantivy", "numpy")
    assert [one for one in modules if one.startswith(ours)] == []
