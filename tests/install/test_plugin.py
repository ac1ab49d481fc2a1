"""The plugin, the bundle and the registry's entry: what they name is there, and says what the code says."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import vault_tool
from tests.cli.typed import parsed
from vault_tool.hooks.clients import NATIVE, SECONDS, event_of
from vault_tool.mcp.tools import named

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "plugin"
TOOLS = ("recall", "remember", "correct", "understand", "link", "consolidate", "end_session")


def read(path: str) -> Any:
    return json.loads((ROOT / path).read_text(encoding="utf-8"))


def test_all_say_the_version_of_the_package() -> None:
    found = [read(f"plugin/{folder}/plugin.json")["version"] for folder in (".claude-plugin", ".codex-plugin")]
    found += [read(".claude-plugin/marketplace.json")["plugins"][0]["version"], read("packaging/mcpb/manifest.json")["version"]]
    found += [read("server.json")["version"], read("server.json")["packages"][0]["version"]]
    assert set(found) == {vault_tool.__version__}


def test_its_hooks_are_the_ones_that_install_puts_in(monkeypatch: pytest.MonkeyPatch) -> None:
    hooks = read("plugin/hooks/hooks.json")["hooks"]
    assert list(hooks) == list(NATIVE["claude-code"].values())
    for name, items in hooks.items():
        hook = items[0]["hooks"][0]
        event = event_of(name, "claude-code")
        assert hook["command"] == f"vt hook {event} --client claude-code"
        assert hook["timeout"] == SECONDS[event] + 1
        assert parsed(hook["command"], monkeypatch)[0].name == "hook"


def test_servers_are_started_by_a_command_that_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    server = read("plugin/.mcp.json")["mcpServers"]["vault"]
    assert parsed(" ".join([server["command"], *server["args"]]), monkeypatch)[0].name == "mcp"
    # A registry's clients start a package by the command of its own name.
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    package = read("server.json")["packages"][0]
    assert scripts[package["identifier"]] == scripts["vt"]
    assert parsed(" ".join(["vt", *(one["value"] for one in package["packageArguments"])]), monkeypatch)[0].name == "mcp"
    assert (ROOT / "README.md").read_text(encoding="utf-8").count(f"mcp-name: {read('server.json')['name']}") == 1


def test_the_skill_and_the_commands_name_tools_that_there_are() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (PLUGIN / "skills/vault/SKILL.md", *(PLUGIN / "commands").glob("*.md"))]
    assert all(text.startswith("---\n") and "description: " in text for text in texts)
    said = " ".join(texts)
    assert [tool for tool in TOOLS if f"`{tool}`" not in said] == []
    assert [tool for tool in TOOLS if tool not in named("lean")] == []
    assert not re.search(r"(?i)\byou must\b|\balways\b|\bimportant\b", said), "facts, not commands"
