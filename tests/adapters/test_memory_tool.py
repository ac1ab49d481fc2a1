"""The memory tool of the Messages API: replies to the letter, files that are memories, and a history that stays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.founding import found_at
from tests.git_repos import git
from vault_tool import Vault
from vault_tool.adapters.memory_tool import MemoryTool
from vault_tool.features.recall.recall import Bundle

TEXT = "# Redis\n\nIdle connections drop after 300 s.\nThe firewall does it.\n"


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    found_at(tmp_path / "v", git=False)
    with Vault.open(tmp_path / "v", session="s1") as opened:
        yield opened


@pytest.fixture
def committed(tmp_path: Path) -> Iterator[Vault]:
    """A vault with git."""
    root = tmp_path / "g"
    root.mkdir()
    git(root, "init", "-q")
    Vault.init(root, name="Lab")
    with Vault.open(root) as opened:
        yield opened


def does(vault: Vault, command: str, **given: Any) -> str:
    reply = MemoryTool(vault).run({"command": command, **given})
    assert not reply.is_error, reply.text
    return reply.text


def fails(vault: Vault, command: str, **given: Any) -> str:
    reply = MemoryTool(vault).run({"command": command, **given})
    assert reply.is_error and "\n" not in reply.text, reply.text
    return reply.text


def test_replies_are_the_apis_to_the_letter(vault: Vault) -> None:
    header = "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:"
    assert does(vault, "view", path="/memories") == f"{header}\n0B\t/memories"
    path = "/memories/redis.md"
    assert does(vault, "create", path=path, file_text=TEXT) == f"File created successfully at: {path}"
    assert fails(vault, "create", path=path, file_text="x") == f"File {path} already exists"
    assert does(vault, "view", path=path) == (
        f"Here's the content of {path} with line numbers:\n"
        "     1\t# Redis\n     2\t\n     3\tIdle connections drop after 300 s.\n     4\tThe firewall does it.\n     5\t"
    )
    assert does(vault, "view", path=path, view_range=[3, 4]).endswith(
        "numbers:\n     3\tIdle connections drop after 300 s.\n     4\tThe firewall does it."
    )
    assert does(vault, "str_replace", path=path, old_str="300", new_str="600") == (
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
        "     1\t# Redis\n     2\t\n     3\tIdle connections drop after 600 s.\n     4\tThe firewall does it.\n     5\t"
    )
    said = fails(vault, "str_replace", path=path, old_str="900", new_str="")
    assert said == f"No replacement was performed, old_str `900` did not appear verbatim in {path}."
    assert fails(vault, "str_replace", path=path, old_str="e", new_str="").startswith(
        "No replacement was performed. Multiple occurrences of old_str `e` in lines: 1, 3, "
    )
    assert does(vault, "insert", path=path, insert_line=0, insert_text="First.\n") == f"The file {path} has been edited."
    assert does(vault, "view", path=path, view_range=[1, 2]).endswith("     1\tFirst.\n     2\t# Redis")
    said = fails(vault, "insert", path=path, insert_line=9, insert_text="x")
    assert said == "Invalid `insert_line` parameter: 9. It should be within the range [0, 5]."
    assert does(vault, "rename", old_path=path, new_path="/memories/db/r.md") == (
        f"Successfully renamed {path} to /memories/db/r.md"
    )
    assert does(vault, "view", path="/memories").split("\n")[1:] == [
        "73B\t/memories",
        "73B\t/memories/db/",
        "73B\t/memories/db/r.md",
    ]
    does(vault, "create", path=path, file_text="x")
    said = fails(vault, "rename", old_path="/memories/db/r.md", new_path=path)
    assert said == f"The destination {path} already exists"
    assert does(vault, "delete", path="/memories/db") == "Successfully deleted /memories/db"
    gone = "/memories/db/r.md"
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("view", {}),
        ("str_replace", {"old_str": "a", "new_str": "b"}),
        ("insert", {"insert_line": 0, "insert_text": ""}),
    )
    for command, more in calls:
        assert fails(vault, command, path=gone, **more) == f"The path {gone} does not exist. Please provide a valid path."
    assert fails(vault, "delete", path=gone) == f"The path {gone} does not exist"
    assert fails(vault, "rename", old_path=gone, new_path="/memories/y.md") == f"The path {gone} does not exist"
    assert fails(vault, "delete", path="/memories") == "Cannot delete the /memories directory itself"
    assert fails(vault, "rename", old_path="/memories", new_path="/memories/x") == "Cannot rename the /memories directory itself"


def test_the_same_calls_have_the_replies_that_the_vendors_own_tool_gave(vault: Vault) -> None:
    """Recorded from `BetaLocalFilesystemMemoryTool` of anthropic 2.12.0, one call after the other on a new folder."""
    tool = MemoryTool(vault)
    for row in json.loads((Path(__file__).parent / "replies.json").read_text(encoding="utf-8")):
        reply = tool.run(row["call"])
        assert (reply.text, reply.is_error) == (row["reply"], row["is_error"]), row["call"]


def test_a_file_is_a_memory_that_recall_finds(vault: Vault) -> None:
    does(vault, "create", path="/memories/notes.txt", file_text=TEXT)
    found = vault.recall("why do idle connections drop?")
    assert isinstance(found, Bundle) and found.best_answer is not None and "firewall" in found.best_answer.content
    assert "/memories/notes.txt" in does(vault, "view", path="/memories")
    does(vault, "str_replace", path="/memories/notes.txt", old_str="The firewall does it.", new_str="The proxy does it.")
    again = vault.recall("why do idle connections drop?")
    assert isinstance(again, Bundle) and again.best_answer is not None and "proxy" in again.best_answer.content
    assert vault.doctor().findings == 0


@pytest.mark.parametrize("text", ["", "---\ntype: soul\n---\nx", "a\r\nb\r\n", "\ufeffx", "no end", "\n\n\n", "é\u2028x", "---"])
def test_any_text_comes_back_as_it_was(text: str, vault: Vault) -> None:
    does(vault, "create", path="/memories/a.md", file_text=text)
    shown = does(vault, "view", path="/memories/a.md").split("\n", 1)[1]
    assert "\n".join(line[7:] for line in shown.split("\n")) == text
    soul = vault.orient().soul
    assert soul is not None and soul.content != "x"


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "/memories/../subjects/redis.md", "/memoriesx/a.md", "memories/a.md", "/memories/a/../../../../x.md",
     "/memories/.git/config", "/memories/.hidden.md", "/memories/a\0b.md", "/memories/a\\..\\b.md", "/memories/x\ny.md"],
)  # fmt: skip
def test_no_path_leads_out_of_the_folder(path: str, vault: Vault) -> None:
    before = sorted(str(one) for one in vault.root.rglob("*") if "_" not in one.name)
    assert MemoryTool(vault).run({"command": "create", "path": path, "file_text": "x"}).is_error
    for command in ("view", "delete"):
        assert MemoryTool(vault).run({"command": command, "path": path}).is_error
    does(vault, "create", path="/memories/a.md", file_text="x")
    assert MemoryTool(vault).run({"command": "rename", "old_path": "/memories/a.md", "new_path": path}).is_error
    does(vault, "delete", path="/memories/a.md")
    assert sorted(str(one) for one in vault.root.rglob("*") if "_" not in one.name and one.name != "memories")[: len(before)]


def test_a_link_out_of_the_folder_is_not_followed(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (vault.root / "vault" / "memories").mkdir()
    (vault.root / "vault" / "memories" / "a.md").symlink_to(tmp_path / "secret.md")
    (vault.root / "vault" / "memories" / "d").symlink_to(tmp_path)
    for path in ("/memories/a.md", "/memories/d/secret.md"):
        assert "secret\n" not in MemoryTool(vault).run({"command": "view", "path": path}).text
        assert MemoryTool(vault).run({"command": "view", "path": path}).is_error
        assert MemoryTool(vault).run({"command": "delete", "path": path}).is_error
    assert (tmp_path / "secret.md").exists()


def test_what_is_deleted_stays_in_history(committed: Vault) -> None:
    does(committed, "create", path="/memories/a.md", file_text="kept in history\n")
    path = committed.root / "vault" / "memories" / "a.md"
    path.write_text(path.read_text() + "and by hand\n")
    does(committed, "delete", path="/memories/a.md")
    assert not path.exists() and git(committed.root, "status", "--porcelain") == ""
    shown = git(committed.root, "show", "HEAD~1:vault/memories/a.md")
    assert "kept in history\nand by hand" in shown
    committed.as_person().undo()
    assert "and by hand" in does(committed, "view", path="/memories/a.md")


def test_without_git_what_is_deleted_is_kept_aside(vault: Vault) -> None:
    does(vault, "create", path="/memories/d/a.md", file_text="kept aside\n")
    does(vault, "delete", path="/memories/d")
    kept = list((vault.root / "_local" / "deleted").iterdir())
    assert len(kept) == 1 and "kept aside" in kept[0].read_text()


def test_evidence_and_what_a_person_wrote_refuse_edits(vault: Vault) -> None:
    does(vault, "create", path="/memories/a.md", file_text="Redis drops idle connections.\n")
    identity = vault.search("Redis drops idle").results[0].id
    assert identity is not None
    vault.create_subjects([{"name": "Redis"}])
    vault.create_understanding(["Redis"], "It drops them.", "It drops.", source_observation_ids=[identity])
    (vault.root / "vault" / "memories" / "mine.md").write_text("By hand, mine alone.\n")
    for path, said in (("/memories/a.md", "is evidence: "), ("/memories/mine.md", "a person wrote")):
        mine = "mine" in path
        assert said in fails(vault, "str_replace", path=path, old_str="alone" if mine else "idle", new_str="x")
        assert said in fails(vault, "insert", path=path, insert_line=0, insert_text="x")
        assert said in fails(vault, "delete", path=path)
        assert said in fails(vault, "rename", old_path=path, new_path="/memories/b.md")
        assert does(vault, "view", path=path)


def test_a_secret_is_refused_without_a_word_of_it(vault: Vault) -> None:
    said = fails(vault, "create", path="/memories/a.md", file_text="aws_secret = 'AKIAIOSFODNN7EXAMPLQ'\n")
    assert said.endswith("looks like a secret; take it out"), ascii(said)
    assert "AKIAIOSFODNN7EXAMPLQ" not in said and not (vault.root / "vault" / "memories" / "a.md").exists()


def test_input_of_the_wrong_shape_is_a_sentence(vault: Vault) -> None:
    for call in (
        {},
        {"command": "dance"},
        {"command": "view"},
        {"command": "view", "path": 7},
        {"command": "create", "path": "/memories/a"},
    ):
        assert MemoryTool(vault).run(call).is_error
