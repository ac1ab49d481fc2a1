"""`import claude-code`: memories of each project, rules as pages, sessions on request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.verbs.importing.exports import lines, put, zipped
from vault_tool import Vault
from vault_tool.errors import UsageError
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass

pytestmark = pytest.mark.without_git

PROJECT = "-home-ann-my-shop"
SESSION = "0b5a9e1c-6d1f-4f6e-9f1e-0c1d2e3f4a5b"


def memory(name: str, about: str, kind: str, text: str) -> str:
    return f"---\nname: {name}\ndescription: {about}\nmetadata:\n  type: {kind}\n---\n{text}\n"


def said(role: str, text: Any, own: str, parent: str | None, **more: Any) -> dict[str, Any]:
    return {
        "type": role, "uuid": own, "parentUuid": parent, "isSidechain": False, "sessionId": SESSION, "cwd": "/home/ann/my-shop",
        "timestamp": "2026-03-01T10:00:00.000Z", "message": {"role": role, "content": text}, **more,
    }  # fmt: skip


FILES: dict[str, Any] = {
    f"projects/{PROJECT}/memory/MEMORY.md": "- [use-pnpm](use-pnpm.md) - the package manager\n",
    f"projects/{PROJECT}/memory/use-pnpm.md": memory("use-pnpm", "the package manager", "feedback", "Use pnpm. [[build]]"),
    f"projects/{PROJECT}/memory/build.md": memory("build", "how it is built", "project", "The build takes ten minutes."),
    f"projects/{PROJECT}/memory/board.md": memory("board", "the board of latencies", "reference", "https://example.org/d"),
    f"projects/{PROJECT}/{SESSION}.jsonl": lines(
        {"type": "summary", "summary": "Greeting Ann", "leafUuid": "m3"},
        said("user", "Which port has the shop?", "m1", None),
        said("assistant", [{"type": "text", "text": "Port 8080, an abandoned answer."}], "m2", "m1"),
        said("assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Port 8081."}], "m3", "m1"),
        said("user", [{"type": "tool_result", "content": "secret output"}], "m4", "m3"),
        said("assistant", "of an agent", "m5", "m3", isSidechain=True),
        {"type": "file-history-snapshot", "messageId": "m4", "snapshot": {}},
    ),
    f"projects/{PROJECT}/agent-1.jsonl": lines(said("user", "do it", "a1", None, isSidechain=True)),
    "CLAUDE.md": "Always rebase. @style/words.md `@not/this.md`\n",
    "style/words.md": "Plain words.\n",
    "not/this.md": "No.\n",
    "rules/git.md": "No force push.\n",
}


def _of(vault: Vault) -> dict[str, Entry]:
    every = vault.index.catalog.of_class(RecordClass.OBSERVATION)
    return {entry.title: entry for entry in every if entry.origin == "import"}


def test_memories_have_their_type_and_the_projects_name_of_their_sessions(vault: Vault, tmp_path: Path) -> None:
    done = vault.import_from(put(tmp_path / ".claude", FILES))
    found = _of(vault)
    assert {title: entry.type for title, entry in found.items()} == {"use-pnpm": "preference", "build": "fact", "board": "fact"}
    assert all(entry.subjects == ("my-shop",) for entry in found.values())
    assert found["use-pnpm"].text("imported_from") == f"claude-code/{PROJECT}/memory/use-pnpm.md"
    assert found["use-pnpm"].text("source_id") == "use-pnpm"
    (subject,) = vault.index.catalog.subject_named("my shop")
    assert subject.text("role") == "project"
    assert (done.form, done.tried) == ("Claude Code's folder", "tried on invented exports only")
    assert done.skipped == {"index": 1, "chat": 1, "sidechain": 1}


def test_a_reference_is_a_page_and_a_memory_that_links_to_it(vault: Vault, tmp_path: Path) -> None:
    vault.import_from(put(tmp_path / ".claude", FILES))
    assert "[[board]]" in vault.show(_of(vault)["board"].id).content
    page = vault.root / f"vault/imported/claude-code/{PROJECT}/memory/board.md"
    assert page.read_text() == FILES[f"projects/{PROJECT}/memory/board.md"]


def test_rules_are_pages_with_what_they_import(vault: Vault, tmp_path: Path) -> None:
    vault.import_from(put(tmp_path / ".claude", FILES))
    pages = {page.path.rpartition("rules/")[2] for page in vault.index.catalog.pages() if "/rules/" in page.path}
    assert {"CLAUDE.md", "git.md"} <= pages
    assert (vault.root / "vault/imported/claude-code/rules/style/words.md").exists()
    assert not (vault.root / "vault/imported/claude-code/rules/not/this.md").exists()


def test_a_session_is_a_page_of_its_active_branch(vault: Vault, tmp_path: Path) -> None:
    done = vault.import_from(put(tmp_path / ".claude", FILES), chats=True)
    text = (vault.root / f"vault/imported/claude-code/chats/{SESSION}.md").read_text()
    assert "chat: true" in text and "Greeting Ann" in text and "Port 8081." in text and "Which port" in text
    assert not any(word in text for word in ("abandoned", "secret output", "of an agent", "hm"))
    assert "chat" not in done.skipped


@pytest.mark.parametrize("part", ["projects", f"projects/{PROJECT}", f"projects/{PROJECT}/memory"])
def test_each_part_of_the_folder_is_the_same_import(vault: Vault, tmp_path: Path, part: str) -> None:
    put(tmp_path / ".claude", FILES)
    first = vault.import_from(tmp_path / ".claude")
    again = vault.import_from(tmp_path / ".claude" / part, kind="claude-code")
    assert first.imported and (again.imported, again.updated) == (0, 0)
    assert again.unchanged == 4


def test_a_second_run_adds_nothing_and_a_change_is_one(vault: Vault, tmp_path: Path) -> None:
    folder = put(tmp_path / ".claude", FILES)
    vault.import_from(folder, chats=True)
    assert vault.import_from(folder, chats=True).imported == 0
    path = f"projects/{PROJECT}/memory/build.md"
    put(folder, {path: FILES[path].replace("ten", "eleven").replace("name: build", "name: builds")})
    done = vault.import_from(folder, chats=True)
    assert (done.imported, done.updated) == (0, 1)
    assert len(_of(vault)) == 3 and "builds" in _of(vault)


def test_what_was_forgotten_stays_away(vault: Vault, tmp_path: Path) -> None:
    folder = put(tmp_path / ".claude", FILES)
    vault.import_from(folder)
    with Vault.open(vault.root, person=True) as person:
        person.forget(_of(vault)["build"].id)
    vault.fresh()
    assert "build" not in _of(vault)
    done = vault.import_from(folder)
    assert "build" not in _of(vault) and done.skipped["forgotten"] == 1 and done.imported == 0


def test_without_a_session_there_is_no_subject_and_it_is_said(vault: Vault, tmp_path: Path) -> None:
    folder = put(tmp_path / ".claude", {name: text for name, text in FILES.items() if not name.endswith(".jsonl")})
    done = vault.import_from(folder, subject_names=["Shop"])
    assert _of(vault)["build"].subjects == ("Shop",)
    assert any("no session says" in warning for warning in done.warnings)


def test_a_zip_of_it_and_a_wish_of_what_is_taken(vault: Vault, tmp_path: Path) -> None:
    done = vault.import_from(zipped(tmp_path / "backup.zip", FILES), only="PNPM", dry_run=True)
    assert (done.imported, done.dry_run) == (1, True) and _of(vault) == {}


def test_another_folder_is_none(vault: Vault, tmp_path: Path) -> None:
    folder = put(tmp_path / "notes", {"memory/a.md": "# A\n\nText.\n", "b.md": "# B\n"})
    with pytest.raises(UsageError, match="not an export that is known"):
        vault.import_from(folder)


def test_a_secret_is_named_and_kept_out(vault: Vault, tmp_path: Path) -> None:
    secret = memory("key", "the key", "project", "token ghp_" + "a7KhFdnXsiVpzz63FfkCzJr4i0B3JrTAwR4y")
    folder = put(tmp_path / ".claude", {f"projects/{PROJECT}/memory/key.md": secret, **FILES})
    done = vault.import_from(folder)
    assert done.skipped["secret"] == 1 and "key" not in _of(vault)


def test_a_folder_of_notes_names_the_verb_that_takes_it_in(vault: Vault, tmp_path: Path) -> None:
    folder = put(tmp_path / "notes", {"b.MDX": "# B\n"})
    with pytest.raises(UsageError, match=r"but a folder of notes; .*import_markdown\(source="):
        vault.import_from(folder)
