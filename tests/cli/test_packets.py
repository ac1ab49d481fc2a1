"""The command that a packet ends in, typed as it stands."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from tests.cli.typed import vt
from vault_tool import Vault
from vault_tool.errors import Exit


def _next(root: Path) -> tuple[list[str], str]:
    """The lines that the packet at hand ends in, and the id of the first observation in it."""
    packet = json.loads(vt("consolidate", "--json", cwd=root).stdout)["packet"]
    lines = vt("consolidate", cwd=root).stdout.splitlines()
    assert lines[-2:] == packet["next_step"].splitlines()
    return lines[-2:], packet["observations"][0]["id"] if packet["observations"] else ""


def _types(root: Path, line: str, source: str) -> None:
    """Type the command in backticks, with what its writer has to say."""
    said = {"CONTENT": "-", "ID": source, "SUMMARY": "It is what we run.", "MEMORY": source}
    words = [said.get(word, word) for word in shlex.split(line.split("`")[1])[1:]]
    done = vt(*words, cwd=root, input="It is what we run, and why.\n")
    assert done.returncode == Exit.DONE, done.stderr


def test_a_packet_ends_in_the_command_that_settles_it(tmp_path: Path) -> None:
    root = tmp_path / "lab"
    Vault.init(root, no_git=True)
    with Vault.open(root) as vault:
        for number in range(4):
            vault.remember(f"O'Brien's lab, note {number}.", ["O'Brien's lab \u00d7 two"])
            vault.remember(f"Redis, note {number}.", ["Redis"])
    first, source = _next(root)
    assert first[0].startswith("`vt create-understanding CONTENT --subject ") and first[1].startswith(
        "or, to pass it over: `vt consolidate"
    )
    _types(root, first[0], source)
    second, source = _next(root)
    assert second != first
    _types(root, second[1], source)
    with Vault.open(root) as vault:
        assert (
            len(vault.get_understandings(["Redis"]).results) + len(vault.get_understandings(["O'Brien's lab \u00d7 two"]).results)
            == 1
        )


def test_what_is_understood_already_is_revised(tmp_path: Path) -> None:
    root = tmp_path / "lab"
    Vault.init(root, no_git=True)
    with Vault.open(root) as vault:
        old = vault.create_understanding(["Redis"], "It is a cache.", "A cache.")
        for number in range(4):
            vault.remember(f"Redis, note {number}.", ["Redis"])
    lines, source = _next(root)
    assert lines[0].startswith(f"`vt update-understanding {old.id[:6]}")
    _types(root, lines[0], source)
    last, _ = _next(root)
    assert "`vt end-consolidation" in last[-1]
    _types(root, last[-1], "")
