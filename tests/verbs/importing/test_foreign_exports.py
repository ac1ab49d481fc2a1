"""Exports of Claude, ChatGPT, claude-mem, mem0, the memory server, and pasted memories: each known by its content."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bounds import CAMPAIGN, examples
from tests.verbs.importing.exports import lines, put, zipped
from vault_tool import Vault
from vault_tool.errors import Refused, UsageError
from vault_tool.files.export_files import ExportFiles
from vault_tool.importing.sources.foreign_items import ForeignMemory, Wanted
from vault_tool.importing.sources.kinds import KINDS, kind_of
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass

pytestmark = pytest.mark.without_git

CLAUDE_MEMORIES = [
    {
        "conversations_memory": "**Work context**\n\nBuilds a beekeeping app.\n\n"
        "**Personal context**\n\n- Lives in Kiel.\n- Prefers tea.",
        "project_memories": {"p-1": "Use metric units."},
        "account_uuid": "a-1",
    }
]
CLAUDE_CHATS = [
    {
        "uuid": "c-1", "name": "Hives", "created_at": "2026-01-02T10:00:00Z",
        "chat_messages": [
            {"uuid": "m-1", "sender": "human", "text": "", "content": [{"type": "text", "text": "Which hive?"}],
             "attachments": [{"file_name": "hive.py", "extracted_content": "print('bees')"}],
             "created_at": "2026-01-02T10:00:00Z"},
            {"uuid": "m-2", "sender": "assistant", "text": "The third.", "content": [{"type": "thinking",
                 "thinking": "of thinking"}]},
        ],
    }
]  # fmt: skip
CLAUDE_PROJECT = {"uuid": "p-1", "name": "Bees", "description": "An app", "prompt_template": "Be brief.",
                  "docs": [{"uuid": "d-1", "filename": "plan.md", "content": "Plan."}]}  # fmt: skip
CLAUDE = {
    "conversations.json": CLAUDE_CHATS,
    "memories.json": CLAUDE_MEMORIES,
    "projects/p-1.json": CLAUDE_PROJECT,
    "users.json": [],
}


def _node(role: str, text: Any, parent: str | None, children: list[str], **message: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": text if isinstance(text, list) else [text]}
    return {"message": {"author": {"role": role}, "content": content, **message}, "parent": parent, "children": children}


CHATGPT = [
    {
        "title": "Ports", "conversation_id": "g-1", "current_node": "d",
        "mapping": {
            "r": {"message": None, "parent": None, "children": ["h"]},
            "h": _node("system", "hidden rules", "r", ["a"], metadata={"is_visually_hidden_from_conversation": True}),
            "a": _node("user", "Which port?", "h", ["b", "c"], create_time=1767348000.5),
            "b": _node("assistant", "An abandoned answer.", "a", []),
            "c": _node("assistant", ["Port 8081.", {"content_type": "image_asset_pointer"}], "a", ["d"]),
            "d": _node("tool", "tool output", "c", []),
        },
    },
    {"title": "A circle", "conversation_id": "g-2", "current_node": "x",
     "mapping": {"x": _node("user", "Round.", "y", ["y"]), "y": _node("assistant", "And round.", "x", ["x"])}},
]  # fmt: skip
MEM0 = {
    "count": 5,
    "results": [
        {
            "id": "m-1",
            "memory": "Likes hiking",
            "user_id": "ann",
            "created_at": "2026-01-02T03:04:05Z",
            "categories": ["preferences"],
        },
        {"id": "m-2", "memory": "Lives in Kiel", "user_id": "ann", "created_at": "2026-01-02T03:04:05-08:00", "run_id": "r-1"},
        {"id": "m-3", "memory": "Lives in Kiel", "user_id": "ann", "created_at": "2026-01-05T03:04:05"},
        {"id": "m-4", "hash": "x"},
    ],
}
GRAPH = (
    lines({"type": "entity", "name": "Ada", "entityType": "person", "observations": ["Plays chess", "Plays go"]})
    + '{"type":"entity","name":"Acme","observations":[]}{"type":"entity","entityName":"Bob","observations":["Sails"]}\n'
    + '{"type":"enti\n'
    + lines({"type": "relation", "from": "Ada", "to": "Acme", "relationType": "works_at"}, {"type": "relation", "from": "Ada"})
)
PASTED = (
    "```\n# Preferences\n[2026-03-01] - Short answers.\n[unknown] - Lives in Kiel.\n# Facts\n[2026-03-02] - Has a boat.\n```\n"
)
CLAUDE_MEM = {
    "observations": [
        {"id": 1, "memory_session_id": "s-1", "project": "shop", "type": "bugfix", "title": "Port clash",
             "narrative": "Moved to 8081",
         "concepts": '["ports"]', "files_modified": '["a/b.py"]', "created_at_epoch": 1760000000000},
        {"id": 2, "memory_session_id": "s-1", "project": "shop", "type": "discovery", "title": "A file",
             "narrative": "It is there"},
    ],
    "summaries": [{"id": 1, "memory_session_id": "s-1", "project": "shop", "request": "Mend",
         "learned": "Ports clash at start."}],
    "prompts": [{"id": 1}],
}  # fmt: skip

EXPORTS: dict[str, tuple[str, dict[str, Any]]] = {
    "claude": ("claude", CLAUDE),
    "claude in several zips": ("claude", {"memories/a-1.json": CLAUDE_MEMORIES[0], "conversations-000.json": CLAUDE_CHATS}),
    "chatgpt": ("chatgpt", {"conversations.json": CHATGPT, "user.json": {}, "chat.html": "<html>"}),
    "chatgpt in parts": ("chatgpt", {"conversations-000.json": CHATGPT[:1], "conversations-001.json": CHATGPT[1:]}),
    "mem0": ("mem0", {"mem0.json": MEM0}),
    "mem0 as a list": ("mem0", {"all.json": MEM0["results"]}),
    "server-memory": ("server-memory", {"memory.json": GRAPH}),
    "claude-mem": ("claude-mem", {"export.json": CLAUDE_MEM}),
    "memories": ("memories", {"list.txt": PASTED}),
}


def database(path: Path, *, view: bool = False) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(
            "CREATE TABLE observations (id INTEGER, memory_session_id, project, type, title, narrative, created_at_epoch)"
        )
        connection.execute("CREATE TABLE session_summaries (id INTEGER, memory_session_id, project, request, learned)")
        rows = [
            (1, "s", "shop", "decision", "Postgres", "Use Postgres", 1760000000000),
            (2, "s", "shop", "change", "x", "y", None),
        ]
        connection.executemany("INSERT INTO observations VALUES (?,?,?,?,?,?,?)", rows)
        connection.execute("INSERT INTO session_summaries VALUES (1, 's', 'shop', 'Mend', 'Ports clash.')")
        connection.commit()
        if view:
            connection.execute("DROP TABLE observations")
            endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id FROM n"
            connection.execute(f"CREATE VIEW observations AS {endless}")
            connection.execute("DROP TABLE session_summaries")
            connection.commit()
    return path


def _of(vault: Vault) -> dict[str, Entry]:
    every = vault.index.catalog.of_class(RecordClass.OBSERVATION)
    return {vault.show(entry.id).content.strip(): entry for entry in every if entry.origin == "import"}


@pytest.mark.parametrize("name", EXPORTS)
def test_each_is_known_by_its_content_as_folder_and_as_zip(name: str, tmp_path: Path) -> None:
    kind, content = EXPORTS[name]
    for source in (put(tmp_path / "folder", content), zipped(tmp_path / "x.zip", content)):
        with ExportFiles(source) as files:
            assert kind_of(files) == kind


@pytest.mark.parametrize("name", EXPORTS)
def test_a_second_run_adds_nothing(vault: Vault, tmp_path: Path, name: str) -> None:
    source = put(tmp_path / "folder", EXPORTS[name][1])
    first, second = (vault.import_from(source, chats=True, all_kinds=True) for _ in range(2))
    assert first.imported > 0
    assert (second.imported, second.updated, second.commits) == (0, 0, ())
    assert second.skipped == first.skipped


def test_claudes_memories_are_paragraphs_with_their_projects(vault: Vault, tmp_path: Path) -> None:
    done = vault.import_from(zipped(tmp_path / "data-2026-10-25.zip", CLAUDE))
    found = _of(vault)
    assert {text: entry.type for text, entry in found.items()} == {
        "Builds a beekeeping app.": "fact", "Lives in Kiel.": "fact", "Prefers tea.": "preference", "Use metric units.": "fact",
    }  # fmt: skip
    assert found["Use metric units."].subjects == ("Bees",) and found["Lives in Kiel."].texts("tags") == ("personal-context",)
    assert found["Prefers tea."].observed.startswith("2026-10-25")
    assert done.skipped == {"chat": 1} and (vault.root / "vault/imported/claude/projects/p-1/d-1.md").exists()


def test_a_later_export_with_other_dates_and_titles_doubles_nothing(vault: Vault, tmp_path: Path) -> None:
    vault.import_from(zipped(tmp_path / "data-2026-10-25.zip", CLAUDE), chats=True)
    renamed = [{**CLAUDE_CHATS[0], "name": "The hives of Ann"}]
    more = [{**CLAUDE_MEMORIES[0], "conversations_memory": f"{CLAUDE_MEMORIES[0]['conversations_memory']}\n- Has a boat."}]
    done = vault.import_from(
        zipped(tmp_path / "data-2026-11-15.zip", {**CLAUDE, "conversations.json": renamed, "memories.json": more}), chats=True
    )
    assert (done.imported, done.updated) == (1, 1)
    assert len(list((vault.root / "vault/imported/claude/chats").iterdir())) == 1


def test_claudes_chats_have_the_text_of_parts_and_attachments(vault: Vault, tmp_path: Path) -> None:
    vault.import_from(put(tmp_path / "f", CLAUDE), chats=True)
    text = (vault.root / "vault/imported/claude/chats/c-1.md").read_text()
    assert all(word in text for word in ("Which hive?", "print('bees')", "The third.", "chat: true")) and "thinking" not in text


def test_chatgpts_chats_are_their_active_branch_and_circles_end(vault: Vault, tmp_path: Path) -> None:
    done = vault.import_from(put(tmp_path / "f", EXPORTS["chatgpt"][1]))
    assert (done.imported, done.skipped) == (0, {"chat": 2}) and any("as pasted memories" in text for text in done.warnings)
    vault.import_from(tmp_path / "f", chats=True)
    text = (vault.root / "vault/imported/chatgpt/chats/g-1.md").read_text()
    assert "Which port?" in text and "Port 8081.\n\n[image]" in text and "created: 2026-01-02" in text
    assert not any(word in text for word in ("abandoned", "hidden", "tool output"))
    assert "Round." in (vault.root / "vault/imported/chatgpt/chats/g-2.md").read_text()


def test_mem0s_memories_are_their_users_and_equal_ones_are_taken_once(vault: Vault, tmp_path: Path) -> None:
    done = vault.import_from(put(tmp_path / "f", {"mem0.json": MEM0}))
    found = _of(vault)
    assert {text: (entry.type, entry.text("user")) for text, entry in found.items()} == {
        "Likes hiking": ("preference", "ann"), "Lives in Kiel": ("fact", "ann"),
    }  # fmt: skip
    assert (
        found["Lives in Kiel"].text("created") == "2026-01-02T11:04:05+00:00" and found["Lives in Kiel"].text("session") == "r-1"
    )
    assert done.skipped == {"copy": 1, "bad-record": 1} and any("4 memories of 5" in text for text in done.warnings)
    again = put(tmp_path / "g", {"mem0.json": [MEM0["results"][2], MEM0["results"][1]]})  # type: ignore[index]
    assert vault.import_from(again).imported == 0, "in another order too"


def test_a_graph_has_subjects_with_roles_and_torn_lines_are_named(vault: Vault, tmp_path: Path) -> None:
    done = vault.import_from(put(tmp_path / "f", {"memory.jsonl": GRAPH}))
    found = _of(vault)
    assert set(found) == {"Plays chess", "Plays go", "Sails", "Ada works_at Acme"}
    assert found["Ada works_at Acme"].subjects == ("Ada", "Acme")
    (ada,) = vault.index.catalog.subject_named("ada")
    assert ada.text("role") == "person"
    assert [(problem.code, problem.line) for problem in done.problems] == [("bad-record", 3), ("bad-record", 5)]


def test_pasted_lines_have_their_date_and_kind(vault: Vault, tmp_path: Path) -> None:
    vault.import_from(put(tmp_path / "f", {"list.txt": PASTED}) / "list.txt")
    found = _of(vault)
    assert {text: (entry.type, entry.text("observed")[:10]) for text, entry in found.items()} == {
        "Short answers.": ("preference", "2026-03-01"), "Lives in Kiel.": ("preference", ""), "Has a boat.": ("fact",
        "2026-03-02"),
    }  # fmt: skip


PASTED_OTHERWISE = """Here is what I know:

```
[2026-03] - Moved to Kiel.
(2026-04-05) Bought a kiln.
2026-02-01: Started at the bakery.
– Runs on Sundays.
  and on holidays.
[long-term] - Keeps two cats.
1. [May 2025] - Learned to sail.
```

Is there anything else?
"""


def test_pasted_lines_in_other_forms_are_memories_of_their_own(vault: Vault, tmp_path: Path) -> None:
    text = put(tmp_path / "f", {"list.txt": PASTED_OTHERWISE}) / "list.txt"
    vault.import_from(text, kind="memories")
    assert {text: entry.text("observed")[:10] for text, entry in _of(vault).items()} == {
        "Moved to Kiel.": "2026-03-01", "Bought a kiln.": "2026-04-05", "Started at the bakery.": "2026-02-01",
        "Runs on Sundays.\nand on holidays.": "", "[long-term] - Keeps two cats.": "", "Learned to sail.": "2025-05-01",
    }  # fmt: skip
    assert vault.import_from(text, kind="memories").imported == 0


def test_mem0s_answer_with_its_graph_is_mem0s(vault: Vault, tmp_path: Path) -> None:
    graph = [{"source": "ann", "relationship": "likes", "target": "tea"}]
    answer = {"results": [{"id": "m-1", "memory": "Likes tea.", "user_id": ""}], "relations": graph}
    done = vault.import_from(put(tmp_path / "f", {"mem0.json": json.dumps(answer)}))
    assert (done.form, done.imported, done.skipped) == ("mem0's memories", 1, {"relations": 1})


@pytest.mark.parametrize("kind", ["", "claude-mem"])
def test_the_folder_of_a_tool_is_its_database(vault: Vault, tmp_path: Path, kind: str) -> None:
    folder = put(tmp_path / "f", {"settings.json": "{}", "logs/a.log": "x"})
    database(folder / "claude-mem.db")
    done = vault.import_from(folder, kind=kind)
    assert done.form == "claude-mem's memory" and done.imported == 2
    assert vault.import_from(folder / "claude-mem.db").imported == 0
    other = put(tmp_path / "g", {"memory.jsonl": GRAPH})
    database(other / "claude-mem.db")
    assert vault.import_from(other).form == "the memory server's graph"


def test_claude_mems_kinds(vault: Vault, tmp_path: Path) -> None:
    done = vault.import_from(put(tmp_path / "f", {"export.json": CLAUDE_MEM}))
    assert {entry.title: entry.type for entry in _of(vault).values()} == {"Port clash": "fix", "Mend": "insight"}
    assert done.skipped == {"minor": 1, "prompt": 1}
    fix = next(entry for entry in _of(vault).values() if entry.type == "fix")
    assert (fix.subjects, fix.texts("tags"), fix.texts("evidence"), fix.observed[:10]) == (
        ("shop",),
        ("ports",),
        ("file:a/b.py",),
        "2025-10-09",
    )


def test_claude_mems_database_is_read_with_its_log_and_left_as_it_is(vault: Vault, tmp_path: Path) -> None:
    path = database(tmp_path / "claude-mem.db")
    with closing(sqlite3.connect(path)) as live:
        live.execute("INSERT INTO session_summaries VALUES (2, 's', 'shop', 'Late', 'It is in the log alone.')")
        live.commit()
        before = path.read_bytes()
        done = vault.import_from(path)
        assert path.read_bytes() == before
    assert (done.imported, done.skipped) == (3, {"minor": 1})
    assert "It is in the log alone." in _of(vault)


def test_a_hostile_schema_runs_nothing(vault: Vault, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="has no table `observations`"):
        vault.import_from(database(tmp_path / "claude-mem.db", view=True))
    (tmp_path / "torn.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 5000)
    with pytest.raises(Refused, match="cannot be read"):
        vault.import_from(tmp_path / "torn.db", kind="claude-mem")


def test_what_is_none_is_refused_with_what_is_known(vault: Vault, tmp_path: Path) -> None:
    others: list[dict[str, Any]] = [{"a.json": {"x": 1}}, {"a.txt": "words"}, {"a.bin": b"\0\1\2"}, {"conversations.json": []}]
    for content in others:
        with pytest.raises(UsageError, match="not an export that is known; known are claude-code, claude, chatgpt"):
            vault.import_from(put(tmp_path / str(hash(str(content))), content))
    with pytest.raises(UsageError, match="but mem0's memories"):
        vault.import_from(put(tmp_path / "m", {"mem0.json": MEM0}), kind="claude")


def test_since_and_only_and_subjects(vault: Vault, tmp_path: Path) -> None:
    source = put(tmp_path / "f", {"list.txt": PASTED}) / "list.txt"
    done = vault.import_from(source, since="2026-03-02", subject_names=["Ann"])
    assert done.imported == 1 and _of(vault)["Has a boat."].subjects == ("Ann",)
    assert vault.import_from(source, only="kiel").imported == 1
    with pytest.raises(UsageError, match="is no pattern"):
        vault.import_from(source, only="(")


@pytest.mark.parametrize("name", EXPORTS)
@settings(max_examples=examples(200), deadline=None)
@given(data=st.data())
def test_a_mutilated_export_ends_and_is_told(name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    kind, content = EXPORTS[name]
    path = data.draw(st.sampled_from(sorted(content)))
    whole = content[path] if isinstance(content[path], str) else json.dumps(content[path])
    at = data.draw(st.integers(0, len(whole)))
    spoilt = (
        whole[:at]
        + data.draw(st.sampled_from(["", "\0", "null", '"', "}", "[", "\\", "9" * 400]))
        + whole[at + data.draw(st.integers(0, 9)) :]
    )
    with ExportFiles(put(tmp_path_factory.mktemp("m"), {**content, path: spoilt})) as files:
        kind_of(files)
        for item in KINDS[kind].items(files, Wanted(chats=True, all_kinds=True)):
            assert not isinstance(item, ForeignMemory) or ("\0" not in item.text and item.key)


@pytest.mark.campaign
@pytest.mark.skipif(not CAMPAIGN, reason="a gigabyte")
def test_a_gigabyte_is_read_in_little_memory(tmp_path: Path) -> None:
    import resource

    text, begun = "The hive of the third row hums. " * 200, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with (tmp_path / "conversations.json").open("w") as file:
        for number in range(2**30 // 65_000):
            messages = [{"uuid": f"{number}-{k}", "sender": "human", "text": text} for k in range(10)]
            file.write(("," if number else "[") + json.dumps({"uuid": str(number), "chat_messages": messages}))
        file.write("]")
    with ExportFiles(tmp_path) as files:
        assert sum(1 for _ in KINDS["claude"].items(files, Wanted())) == 2**30 // 65_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - begun < 300 * 1024


@pytest.mark.in_git
def test_what_git_ignores_is_named_and_stops_nothing_else(vault: Vault, tmp_path: Path) -> None:
    (vault.root / ".gitignore").open("a").write("chats/\n")
    source = put(tmp_path / "f", CLAUDE)
    done = vault.import_from(source, chats=True)
    assert done.imported and done.skipped["git-ignored"] and done.committed
    again = vault.import_from(source, chats=True)
    assert not again.imported and again.skipped["git-ignored"] == done.skipped["git-ignored"]
