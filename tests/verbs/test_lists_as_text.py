"""A list is read alike by every door, however somebody wrote it, and what changes it begins from what was read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.typed import vt
from tests.git_repos import write
from tests.verbs.looking import fails, identity, note, text
from vault_tool import Vault
from vault_tool.errors import UsageError
from vault_tool.features.contracts.schemas import schema
from vault_tool.mcp.answering import answer
from vault_tool.mcp.tools import Caller
from vault_tool.model.ids import derived_id
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git

FORMS = [
    ("tags: a, b", ["a", "b"]),
    ("tags: a, b,", ["a", "b"]),
    ("tags: a b", ["a", "b"]),
    ('tags: "#a #b"', ["a", "b"]),
    ("tags: a, b # by hand", ["a", "b"]),
    ("tags: [a, b]", ["a", "b"]),
    ("tags: [a, b,]", ["a", "b"]),
    ("tags: [a, b] # by hand", ["a", "b"]),
    ("tags:\n  - a\n  - b", ["a", "b"]),
    ("tags:\n- a # one\n- b", ["a", "b"]),
    ('tags: \'["a", "b"]\'', ["a", "b"]),
    ("Tags: a, b", ["a", "b"]),
    ("tag: a\ntags: [b]", ["b", "a"]),
    ("tags: [a, a, b]", ["a", "b"]),
    ("tags: [~, a, b]", ["a", "b"]),
    ("tags: 2024", ["2024"]),
    ("tags: |\n  a\n  b", ["a", "b"]),
    ("tags: a,\n  b", ["a", "b"]),
    ("tags: home lab, a", ["home lab", "a"]),
    ('tags: "home lab"', ["home lab"]),
    ("tags: null", []),
    ("tags:", []),
    ("tags: []", []),
]


def head_of(root: Path, path: str) -> str:
    return text(root, path).split("---\n")[1]


@pytest.mark.parametrize(("line", "read"), FORMS)
def test_tags_are_read_added_to_and_taken_away(vault: Vault, line: str, read: list[str]) -> None:
    rest = f'id: {identity(1)}\ntype: fact\ntitle:  "One" # as it is\n{line}\nrating: 5   # stars\n'
    write(vault.root, "vault/one.md", f"---\n{rest}---\nA note.\n")
    assert list(vault.show(identity(1)).head.get("tags", ())) == read
    grown = vault.tag(identity(1), ["new"])
    assert list(grown.tags) == [*read, "new"]
    # Where two spellings stand in one head, what is added stands with the first.
    assert sorted(vault.show(identity(1)).head["tags"]) == sorted([*read, "new"])
    for number, one in enumerate(read):
        assert sorted(vault.tag(identity(1), remove=[one]).tags) == sorted([*read[number + 1 :], "new"])
        assert sorted(vault.show(identity(1)).head["tags"]) == sorted([*read[number + 1 :], "new"])
    assert vault.tag(identity(1), remove=["new"]).tags == ()
    assert "tags" not in vault.show(identity(1)).head
    kept = head_of(vault.root, "vault/one.md").split("\n")
    assert {'title:  "One" # as it is', "rating: 5   # stars"} <= {*kept}


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("subjects: Redis, Home lab", ["Redis", "Home lab"]),
        ("subject: Redis", ["Redis"]),
        ("Subjects: Home lab", ["Home lab"]),
        ("subjects: [[redis|Redis]]", ["Redis"]),
        ('subjects: "[[x|Doe, John]]"', ["Doe, John"]),
        ('subjects: ["[[x|Doe, John]]", Redis]', ["Doe, John", "Redis"]),
        ('subjects: \'["Redis", "Home lab"]\'', ["Redis", "Home lab"]),
        ("subjects: [Redis, Redis]", ["Redis"]),
        ("subjects: Redis, [[x|Doe, John]]", ["Redis", "Doe, John"]),
    ],
)
def test_subjects(vault: Vault, line: str, read: list[str]) -> None:
    write(vault.root, "vault/one.md", note(1, **{line.split(":")[0]: line.partition(": ")[2]}))
    assert list(vault.show(identity(1)).head["subjects"]) == read
    vault.remember("A note.", ["Valkey"], kind="fact")
    assert vault.search(read[0]).results


def test_a_subjects_aliases(vault: Vault) -> None:
    for number, (key, value) in enumerate((("aliases", "A One, B"), ("alias", "Only One"), ("Aliases", "[C, D]")), 1):
        write(vault.root, f"vault/subjects/s{number}.md", note(number, type="subject", name=f"S{number}", **{key: value}))
    for name, number in (("A One", 1), ("B", 1), ("only one", 2), ("C", 3), ("D", 3)):
        assert vault.get_subjects([name]).results[0].id == identity(number)
    assert vault.add_alias("S1", ["E"]).aliases == ("A One", "B", "E")
    assert "aliases: [A One, B, E]" in text(vault.root, "vault/subjects/s1.md")
    assert vault.add_alias("S2", "F, G").aliases == ("Only One", "F", "G")
    assert "alias: [Only One, F, G]" in text(vault.root, "vault/subjects/s2.md")


def test_an_id_in_a_link_with_a_label_is_read(vault: Vault) -> None:
    known = vault.create_understanding(["Redis"], "It is slow.", "Slow")
    write(vault.root, "vault/one.md", note(1, related_to=f'"[[{known.id}|slow, and how]]"'))
    assert vault.show(identity(1)).head["related_to"] == (known.id,) or vault.show(identity(1)).head["related_to"] == [known.id]


@pytest.mark.parametrize(
    ("line", "names"),
    [("aliases: Only One", ["Only One"]), ("aliases: Aa, Bb", ["Aa", "Bb"]), ("alias: Xx", ["Xx"]), ("Aliases: [Cc]", ["Cc"])],
)
def test_served_notes_answer_to_their_names(tmp_path: Path, clock: FixedClock, line: str, names: list[str]) -> None:
    write(tmp_path, "Notes/Pelican.md", f"---\n{line}\ntag: bird\n---\nIt eats fish.\n")
    made = Vault.init(tmp_path / "Notes", notes="here", no_git=True, clock=clock)
    with Vault.open(made.root, clock=clock) as vault:
        for name in names:
            assert vault.show(name).id == derived_id("around", "../Pelican.md")
        assert vault.search("fish", tags=["bird"]).results


@pytest.mark.parametrize(
    ("line", "tags"),
    [
        ("tags: one two", ["one", "two"]),
        ("tags: a b, c", ["a b", "c"]),
        ("categories: Home Cooking, Bread", ["Home Cooking", "Bread"]),
    ],
)
def test_an_import_and_a_served_folder_read_alike(
    tmp_path: Path, root: Path, clock: FixedClock, line: str, tags: list[str]
) -> None:
    write(tmp_path, "src/a.md", f"---\n{line}\n---\nIt eats fish.\n")
    with Vault.open(root, clock=clock, origin="owner") as vault:
        vault.import_markdown(tmp_path / "src")
        assert list(vault.show("a").head["tags"]) == tags
    made = Vault.init(tmp_path / "src", notes="here", no_git=True, clock=clock)
    with Vault.open(made.root, clock=clock) as served:
        assert list(served.show(derived_id("around", "../a.md")).head["tags"]) == tags


class TestArguments:
    @pytest.mark.parametrize("tags", ['["a","b"]', "a, b", "a b", "#a #b", "[a, b]", ["a", "b"], ['["a", "b"]']])
    def test_of_a_tool(self, vault: Vault, tags: Any) -> None:
        made = answer(vault, "remember", {"content": "It drops.", "tags": tags}, Caller())
        assert vault.show(made["id"]).head["tags"] == ["a", "b"]

    @pytest.mark.parametrize("names", ['["Redis","Homelab"]', "Redis, Homelab", ['["Redis","Homelab"]'], "['Redis', 'Homelab']"])
    def test_subjects_of_a_tool(self, vault: Vault, names: Any) -> None:
        answer(vault, "remember", {"content": "It drops.", "subject_names": names}, Caller())
        assert [one.name for one in vault.get_subjects().results if one.name != "Lab"] == ["Homelab", "Redis"]

    def test_one_name_is_one(self, vault: Vault) -> None:
        vault.remember("It drops.", "Home lab")
        vault.remember("It holds.", ["Berlin, Germany"])
        assert {"Home lab", "Berlin, Germany"} <= {one.name for one in vault.get_subjects().results}

    def test_steps_and_references_keep_their_commas(self, vault: Vault) -> None:
        asked = {
            "content": "Do it.",
            "kind": "procedure",
            "steps": "Stop it, then wait",
            "evidence": "url:https://a.example, url:https://b.example",
        }
        made = answer(vault, "remember", asked, Caller())
        head = vault.show(made["id"]).head
        assert (head["steps"], head["evidence"]) == (["Stop it, then wait"], ["url:https://a.example", "url:https://b.example"])

    def test_objects_that_came_as_text(self, vault: Vault) -> None:
        subjects = json.dumps([{"name": "Redis", "tags": "db, cache"}])
        answer(vault, "create_subjects", {"subjects": subjects}, Caller())
        assert vault.get_subjects(["Redis"]).results[0].tags == ("db", "cache")
        given = [{"content": "It drops.", "tags": '["a","b"]', "subject_names": "Redis, Valkey"}]
        made = answer(vault, "add_observations", {"observations": given}, Caller())
        shown = vault.show(made["results"][0]["id"]).head
        assert (shown["tags"], shown["subjects"]) == (["a", "b"], ["Redis", "Valkey"])

    @pytest.mark.parametrize("names", ["[Redis, Homelab", '["Redis", "Home'])
    def test_a_list_without_an_end(self, vault: Vault, names: str) -> None:
        for ask in (
            lambda: answer(vault, "remember", {"content": "It drops.", "subject_names": names}, Caller()),
            lambda: vault.remember("It drops.", names),
        ):
            with fails(UsageError, "subject_names", "begins as a list and has no end"):
                ask()

    def test_whole_numbers(self, vault: Vault) -> None:
        vault.remember("It drops.")
        assert answer(vault, "recall", {"query": "drops", "limit": 5.0}, Caller())["results"]
        assert vault.search("drops", limit=5.0).results  # type: ignore[arg-type]
        for limit in ("5", 5.5):
            with fails(
                UsageError, "limit", "must be an integer", "without quotation marks" if limit == "5" else "a whole number"
            ):
                answer(vault, "recall", {"query": "drops", "limit": limit}, Caller())
            with pytest.raises(UsageError, match="limit must be a whole number") as told:
                vault.recall("drops", limit=limit)  # type: ignore[arg-type]
            assert "help(" not in str(told.value)
            assert "limit: 5" in str(told.value)

    def test_of_a_contract(self, vault: Vault) -> None:
        memory = {
            "text": "It drops.",
            "scope": "repo",
            "kind": "fact",
            "confidence": 0.8,
            "tags": "a, b",
            "subject_names": '["Redis","Lab two"]',
        }
        made = vault.op({"op": "write", "repo_id": "Lab", "memory": memory})
        assert made["ok"], made
        head = vault.show(made["memory_id"]).head
        assert (head["tags"], head["subjects"]) == (["a", "b"], ["Redis", "Lab two"])
        asked = {"op": "read", "repo_id": "Lab", "mode": "targeted", "query": "drops", "tags": "a, b", "limit": 5.0}
        assert vault.op(asked)["results"]

    def test_of_the_command_line(self, root: Path) -> None:
        assert vt("remember", "It drops.", "-t", "a, b", "-s", '["Redis","Home lab"]', "--json", cwd=root).returncode == 0
        [found] = json.loads(vt("search", "drops", "--json", "--kind", "general", cwd=root).stdout)["results"]
        shown = json.loads(vt("show", found["id"], "--json", cwd=root).stdout)
        assert (shown["head"]["tags"], shown["head"]["subjects"]) == (["a", "b"], ["Redis", "Home lab"])
        assert vt("tag", found["id"], "+c, d", "-a", cwd=root).returncode == 0
        assert json.loads(vt("show", found["id"], "--json", cwd=root).stdout)["head"]["tags"] == ["b", "c", "d"]


def test_the_schemas_still_state_arrays() -> None:
    stated = schema("memory.write.request")["properties"]["memory"]["properties"]["tags"]
    assert stated["type"] == "array"
