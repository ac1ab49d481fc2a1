"""Clients' settings: what is put in, what stays, what comes back; by the table of clients, without any of them."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.cli.typed import vt
from vault_tool.errors import ConfigError, Exit, StorageError, UsageError, VaultError
from vault_tool.hooks.clients import EVENTS, NATIVE
from vault_tool.install.clients import CLIENTS, UserMachine
from vault_tool.install.delivery import prove
from vault_tool.install.installing import Installation, install, snippet
from vault_tool.install.settings import SettingsFile

PROGRAM = ["/opt/vt", "--vault", "/home/me/my notes"]

JSON_BEFORE = (
    '{\n  // mine\n  "theme": "dark",\n  "mcpServers": {"other": {"command": "x"}}, /* kept */\n  "hooks": {"Stop": []}\n}\n'
)
PLAIN_BEFORE = JSON_BEFORE.replace("  // mine\n", "").replace(" /* kept */", "")
TOML_BEFORE = 'model = "o9"  # mine\n\n[mcp_servers.other]\ncommand = "x"\n\n[tui]\ntheme = "dark"\n'


@pytest.fixture
def place(tmp_path: Path) -> UserMachine:
    """A machine without any client's program."""
    return UserMachine({"HOME": str(tmp_path / "home"), "PATH": str(tmp_path / "bin")})


def files_of(client: str, place: UserMachine) -> list[Path]:
    known = CLIENTS[client]
    return list(dict.fromkeys([known.file(place), *([known.hooks(place)] if known.hooks else [])]))


def own(client: str, path: Path) -> str:
    """Settings of a client's own, with comments where it reads them."""
    return TOML_BEFORE if path.suffix == ".toml" else JSON_BEFORE if CLIENTS[client].comments else PLAIN_BEFORE


def fill(client: str, path: Path) -> bytes:
    """Give a client settings of its own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(own(client, path))
    return path.read_bytes()


def server_in(client: str, path: Path) -> Any:
    return SettingsFile(path, path.read_bytes()).value([*CLIENTS[client].under, "vault"])


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("begun", [True, False], ids=["settings", "no-settings"])
def test_a_client_is_told_once_and_told_off_to_the_byte(client: str, begun: bool, place: UserMachine) -> None:
    before = {path: fill(client, path) if begun else None for path in files_of(client, place)}

    shown = install(client, PROGRAM, place, dry_run=True)
    assert shown.edits and not shown.done and "/opt/vt" in "".join(edit.diff for edit in shown.edits)
    assert {path: path.read_bytes() if path.exists() else None for path in before} == before, "only shown"

    made = install(client, PROGRAM, place)
    assert made.done and [edit.path for edit in made.edits] == [str(path) for path in before]
    assert made.edits == shown.edits
    entry = server_in(client, next(iter(before)))
    words = entry["command"] if client == "opencode" else [entry["command"], *entry["args"]]
    assert words == [*PROGRAM, "mcp"]
    for path in before if begun else ():
        text = path.read_text()
        assert all(line.rstrip(",") in text for line in fill_lines(client, path)), "every other line is there still"
    again = install(client, PROGRAM, place)
    assert not again.edits and not again.commands and not again.done

    gone = install(client, PROGRAM, place, uninstall=True)
    assert gone.done
    assert {path: path.read_bytes() if path.exists() else None for path in before} == before
    assert not install(client, PROGRAM, place, uninstall=True).edits


def fill_lines(client: str, path: Path) -> list[str]:
    text = own(client, path)
    return [part for line in text.splitlines() for part in line.split("}") if part.strip() and "hooks" not in part]


@pytest.mark.parametrize("client", CLIENTS)
def test_what_was_changed_since_stays_and_only_ours_goes(client: str, place: UserMachine) -> None:
    for path in files_of(client, place):
        fill(client, path)
    install(client, PROGRAM, place)
    for path in files_of(client, place):
        with path.open("a") as file:
            file.write("# later\n" if path.suffix == ".toml" else "// later\n")
    install(client, PROGRAM, place, uninstall=True)
    for path in files_of(client, place):
        text = path.read_text()
        assert "later" in text and "/opt/vt" not in text and "hook " not in text
        settings = SettingsFile(path, path.read_bytes())
        if path.suffix != ".toml":
            assert settings.value(["hooks"]) == {"Stop": []} and settings.value(["theme"]) == "dark"
            assert settings.value(["mcpServers", "other"]) == {"command": "x"}
        else:
            assert tomllib.loads(text)["mcp_servers"] == {"other": {"command": "x"}}


@pytest.mark.parametrize("client", NATIVE)
def test_each_hook_calls_the_same_program_and_vault(client: str, place: UserMachine) -> None:
    install(client, PROGRAM, place)
    hooks = CLIENTS[client].hooks
    assert hooks is not None
    found = json.loads(hooks(place).read_text())
    assert list(found["hooks"]) == list(NATIVE[client].values())
    for event, items in zip(EVENTS, found["hooks"].values(), strict=True):
        inner = items[0] if client == "cursor" else items[0]["hooks"][0]
        assert inner["command"] == f"/opt/vt hook {event} --client {client} --vault '/home/me/my notes'"
        seconds = inner["timeout"] / (1000 if client == "gemini" else 1)
        assert 1 < seconds <= 11
    assert found.get("version") == (1 if client == "cursor" else None)


def test_another_vault_replaces_the_first_and_hooks_of_others_stay(place: UserMachine) -> None:
    path = place.home / ".gemini" / "settings.json"
    path.parent.mkdir(parents=True)
    other = {"hooks": [{"type": "command", "command": "mine"}]}
    path.write_text(json.dumps({"hooks": {"SessionStart": [other]}}))
    before = path.read_bytes()
    install("gemini", PROGRAM, place)
    install("gemini", ["/opt/vt"], place)
    found = json.loads(path.read_text())
    assert found["mcpServers"]["vault"]["args"] == ["mcp"]
    assert found["hooks"]["SessionStart"][0] == other and len(found["hooks"]["SessionStart"]) == 2
    assert "my notes" not in path.read_text()
    install("gemini", ["/opt/vt"], place, uninstall=True)
    assert path.read_bytes() == before


def test_a_server_of_somebody_else_is_not_touched(place: UserMachine) -> None:
    path = place.home / ".cursor" / "mcp.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"mcpServers": {"vault": {"command": "hashicorp", "args": ["mcp"]}}}')
    before = path.read_bytes()
    with pytest.raises(UsageError, match=r"is another's.*--name"):
        install("cursor", PROGRAM, place)
    assert not install("cursor", PROGRAM, place, uninstall=True).edits
    install("cursor", PROGRAM, place, name="memory")
    assert json.loads(path.read_text())["mcpServers"]["memory"]["command"] == "/opt/vt"
    install("cursor", PROGRAM, place, name="memory", uninstall=True)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"mcpServers": ', "line 1: expected"),
        (b'{\n"mcpServers": []}', "line 2: expected an object"),
        (b"\xff\xfe{\x00}\x00", "not UTF-8"),
        (b'{"hooks": {"SessionStart": {}}}', "expected a list"),
        (b'{"hooks": 7}', "expected an object"),
    ],
)
def test_what_cannot_be_read_is_named_and_nothing_is_written(data: bytes, said: str, place: UserMachine) -> None:
    path = place.home / ".gemini" / "settings.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    with pytest.raises(ConfigError, match=said) as fault:
        install("gemini", PROGRAM, place)
    assert str(path) in fault.value.message and "\n" not in str(fault.value)
    assert path.read_bytes() == data
    assert not place.state.exists()


def test_broken_toml_is_named(place: UserMachine) -> None:
    path = place.home / ".codex" / "config.toml"
    path.parent.mkdir(parents=True)
    for data in (b"[mcp_servers\n", b"mcp_servers = 7\n", b"mcp_servers = { other = { command = 'x' } }\n"):
        path.write_bytes(data)
        try:
            install("codex", PROGRAM, place)
        except VaultError as fault:
            assert str(path) in str(fault)
            assert path.read_bytes() == data
        else:
            assert tomllib.loads(path.read_text())["mcp_servers"]["vault"]["command"] == "/opt/vt"


def test_marks_line_ends_and_links_stay(place: UserMachine) -> None:
    real = place.home / "dotfiles" / "mcp.json"
    real.parent.mkdir(parents=True)
    before = '\ufeff{\r\n\t"mcpServers": {\r\n\t\t"a": {}\r\n\t}\r\n}\r\n'.encode()
    real.write_bytes(before)
    link = place.home / ".cursor" / "mcp.json"
    link.parent.mkdir()
    link.symlink_to(real)
    install("cursor", PROGRAM, place)
    assert link.is_symlink()
    data = real.read_bytes()
    assert data.startswith("\ufeff".encode()) and data.count(b"\n") == data.count(b"\r\n")
    install("cursor", PROGRAM, place, uninstall=True)
    assert link.is_symlink() and real.read_bytes() == before


def test_a_folder_that_may_not_be_written_is_one_line(place: UserMachine) -> None:
    place.home.mkdir()
    (place.home / ".cursor").write_text("no folder")
    with pytest.raises(StorageError):
        install("cursor", PROGRAM, place)


def test_nothing_is_done_that_is_not_agreed_to(place: UserMachine) -> None:
    shown: list[Installation] = []

    def refused(made: Installation) -> bool:
        shown.append(made)
        return False

    assert not install("cursor", PROGRAM, place, agreed=refused).done
    assert shown[0].edits and not place.home.exists()


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a shell script")
def test_a_clients_own_command_is_used_where_it_has_one(place: UserMachine, tmp_path: Path) -> None:
    """The stand-in writes what it is called with: which words reach a program that is really run."""
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "$@" >> "$HOME/called"\nif [ -e "$HOME/fails" ]; then echo no >&2; exit 3; fi\n')
    program.chmod(0o755)
    place.home.mkdir()
    here = UserMachine({**place.environ, "PATH": f"{program.parent}:/usr/bin:/bin"})
    made = install("claude-code", PROGRAM, here, hooks=False)
    assert made.commands == ("claude mcp add --scope user vault -- /opt/vt --vault /home/me/my notes mcp",)
    assert not (here.home / ".claude.json").exists() and not made.edits
    assert (here.home / "called").read_text() == "mcp add --scope user vault -- /opt/vt --vault /home/me/my notes mcp\n"
    (here.home / ".claude.json").write_text(json.dumps({"mcpServers": {"vault": {"command": "/opt/vt", "args": ["mcp"]}}}))
    gone = install("claude-code", PROGRAM, here, uninstall=True)
    assert gone.commands == ("claude mcp remove --scope user vault",)
    (here.home / "fails").touch()
    with pytest.raises(StorageError, match="failed: no"):
        install("claude-code", ["/opt/vt"], here, hooks=False, name="other")


def test_systems_keep_settings_in_their_own_places(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    desktop = CLIENTS["claude-desktop"].file
    assert desktop(UserMachine(home, "darwin")) == tmp_path / "Library/Application Support/Claude/claude_desktop_config.json"
    assert desktop(UserMachine({**home, "APPDATA": "/a"}, "win32")) == Path("/a/Claude/claude_desktop_config.json")
    assert desktop(UserMachine({**home, "XDG_CONFIG_HOME": "/c"})) == Path("/c/Claude/claude_desktop_config.json")
    assert CLIENTS["claude-code"].file(UserMachine({**home, "CLAUDE_CONFIG_DIR": "/c"})) == Path("/c/.claude.json")
    assert CLIENTS["codex"].file(UserMachine({**home, "CODEX_HOME": "/c"})) == Path("/c/config.toml")


def test_what_is_printed_for_by_hand_is_what_would_be_put(place: UserMachine) -> None:
    for client in CLIENTS:
        said = snippet(client, PROGRAM, place)
        assert f"# {CLIENTS[client].file(place)}\n" in said and "/opt/vt" in said


def test_by_the_command_line_it_names_the_vault_that_is_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "v"
    assert vt("init", str(root)).returncode == Exit.DONE
    done = vt("install", "cursor", cwd=root)
    assert done.returncode == Exit.DONE and "the vault is its server `vault`" in done.stdout
    path = Path(os.environ["HOME"]) / ".cursor" / "mcp.json"
    entry = json.loads(path.read_text())["mcpServers"]["vault"]
    assert entry["args"][-3:] == ["--vault", str(root), "mcp"]
    assert "nothing was changed" in vt("install", "cursor", cwd=root).stdout
    nearest = json.loads(vt("install", "cursor", "--nearest", "--json", cwd=root).stdout)
    assert nearest["done"] and "--vault" not in path.read_text()
    assert vt("install", "cursor", "--uninstall", cwd=root).returncode == Exit.DONE and not path.exists()
    assert vt("install", "emacs").returncode == Exit.USAGE
    assert str(path) in vt("install", "cursor", "--print").stdout


@pytest.mark.parametrize("client", [name for name, known in CLIENTS.items() if not known.comments])
@pytest.mark.parametrize("text", [JSON_BEFORE, '{\n  "theme": "dark",\n}\n', '{"hooks": {}} // mine\n'])
def test_a_file_that_the_client_cannot_read_is_refused_before_anything_is_written(
    client: str, text: str, place: UserMachine
) -> None:
    for path in files_of(client, place):
        if path.suffix == ".toml":
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        with pytest.raises(ConfigError, match=r"has a comment or a trailing comma; .*take it out"):
            install(client, PROGRAM, place)
        found = prove(client, place, place.home)
        assert not found.delivered
        assert str(path) in found.checks[-1].said and "comment or a trailing comma" in found.checks[-1].said
        assert path.read_text() == text
        path.unlink()
