"""`import claude-code`: the rules of the repositories that its sessions were in, and nothing that lies outside of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.git_repos import git
from tests.verbs.importing.exports import lines, put, zipped
from tests.verbs.importing.test_claude_code import said
from vault_tool import Vault

pytestmark = pytest.mark.without_git

BELOW = "vault/imported/claude-code/rules/repositories"


def _repository(folder: Path, files: dict[str, Any]) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")
    return put(folder, files)


def _projects(folder: Path, *cwds: Path) -> Path:
    every = {
        f"projects/{str(cwd).replace('/', '-')}/{number}.jsonl": lines({**said("user", "hi", "m1", None), "cwd": str(cwd)})
        for number, cwd in enumerate(cwds)
    }
    return put(folder, every)


def _taken(vault: Vault) -> dict[str, str]:
    top = vault.root / BELOW
    return {path.relative_to(top).as_posix(): path.read_text() for path in sorted(top.rglob("*.md"))}


def test_rules_of_the_repository_are_pages_with_what_they_import(vault: Vault, tmp_path: Path) -> None:
    deep = {f"docs/{number}.md": f"Of {number}. @{number + 1}.md\n" for number in range(9)}
    shop = _repository(tmp_path / "work/shop", {
        "CLAUDE.md": "Use tabs. @docs/0.md and `@not.md`\n", "CLAUDE.local.md": "Mine.\n",
        ".claude/rules/a/git.md": "No force.\n",
        "not.md": "No.\n", "README.md": "No.\n", **deep,
    })  # fmt: skip
    (shop / "src").mkdir()
    done = vault.import_from(_projects(tmp_path / ".claude", shop / "src", shop))
    taken = _taken(vault)
    assert set(taken) == {
        "shop/CLAUDE.md", "shop/CLAUDE.local.md", "shop/claude/rules/a/git.md",
        *(f"shop/docs/{number}.md" for number in range(5)),
    }  # fmt: skip
    assert taken["shop/CLAUDE.md"] == "Use tabs. @docs/0.md and `@not.md`\n"
    assert any(f"rules were read where sessions were: {shop}" in warning for warning in done.warnings)
    assert vault.import_from(tmp_path / ".claude").commits == ()
    (shop / "CLAUDE.md").write_text("Use spaces.\n")
    vault.import_from(tmp_path / ".claude")
    assert _taken(vault)["shop/CLAUDE.md"] == "Use spaces.\n"


def test_no_way_leads_out_of_the_repository(vault: Vault, tmp_path: Path) -> None:
    put(tmp_path, {"outside/secret.md": "zanzibar", "outside/rules/x.md": "zanzibar", "work/secret.md": "zanzibar"})
    ways = ["../secret.md", "/etc/hosts.md", f"{tmp_path}/outside/secret.md", "~/secret.md", "link.md", "folder/secret.md",
            "docs/../../secret.md", "docs/./../../secret.md", "pipe.md"]  # fmt: skip
    shop = _repository(tmp_path / "work/shop", {"CLAUDE.md": "".join(f"@{way}\n" for way in ways), "docs/ok.md": "x"})
    (shop / "link.md").symlink_to(tmp_path / "outside/secret.md")
    (shop / "folder").symlink_to(tmp_path / "outside")
    (shop / "CLAUDE.local.md").symlink_to(tmp_path / "outside/secret.md")
    (shop / ".claude").mkdir()
    (shop / ".claude/rules").symlink_to(tmp_path / "outside/rules")
    vault.import_from(_projects(tmp_path / ".claude", shop))
    assert set(_taken(vault)) == {"shop/CLAUDE.md"}
    assert "zanzibar" not in "".join(path.read_text() for path in (vault.root / "vault").rglob("*.md"))


def test_two_of_one_name_are_kept_apart_and_what_is_no_repository_is_not_read(vault: Vault, tmp_path: Path) -> None:
    one, two = (_repository(tmp_path / side / "shop", {"CLAUDE.md": f"Of {side}.\n"}) for side in ("a", "b"))
    loose = put(tmp_path / "loose", {"CLAUDE.md": "zanzibar"})
    vault.import_from(_projects(tmp_path / ".claude", one, two, loose, tmp_path / "gone"))
    taken = _taken(vault)
    assert sorted(taken.values()) == ["Of a.\n", "Of b.\n"] and "shop/CLAUDE.md" in taken


def test_a_zip_has_no_folder_of_this_machine_read(vault: Vault, tmp_path: Path) -> None:
    shop = _repository(tmp_path / "shop", {"CLAUDE.md": "zanzibar"})
    line = json.dumps({**said("user", "hi", "m1", None), "cwd": str(shop)}) + "\n"
    vault.import_from(zipped(tmp_path / "x.zip", {"projects/-shop/1.jsonl": line}))
    assert not (vault.root / BELOW).exists()
