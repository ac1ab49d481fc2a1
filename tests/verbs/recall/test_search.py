from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.git_repos import write
from tests.statuses import said
from tests.verbs.looking import fails, found, identity, note, untouched
from vault_tool import Vault
from vault_tool.errors import UsageError
from vault_tool.util.clock import FixedClock
from vault_tool.vault.answers import HYPOTHESIS_NOTICE

pytestmark = pytest.mark.without_git


def test_every_field_of_a_result_is_true_of_the_note(vault: Vault) -> None:
    made = vault.remember("Redis drops\nidle connections.", ["Redis"], kind="problem")
    answer = vault.search("idle connections")

    [one] = answer.results
    assert (one.id, one.record_class, one.type, one.title) == (made.id, "observation", "problem", made.title)
    assert (one.subjects, one.summary, one.path) == (("Redis",), None, made.path)
    assert one.matched_content == "Redis drops idle connections."
    assert one.score > 0
    assert (one.created, one.origin, one.stale) == ("2026-11-20T10:00:00+00:00", "agent", False)
    assert (answer.query, answer.notice) == ("idle connections", HYPOTHESIS_NOTICE)
    assert (answer.freshness.behind, answer.freshness.stale, answer.freshness.held_back) == (0, (), "")


def test_what_is_believed_to_be_false_is_found_and_marked(vault: Vault) -> None:
    lie = vault.remember("Quartz melts in water.", ["Quartz"], confidence=0.1)
    true = vault.remember("Quartz is hard, and quartz is common.", ["Quartz"])
    for mode in ("auto", "text"):
        marks = {one.id: bool(said(one, "doubtful")) for one in vault.search("quartz", mode=mode, kinds=["observation"]).results}
        assert marks == {lie.id: True, true.id: False}
    assert {one.id: bool(said(one, "doubtful")) for one in vault.search_observations(["Quartz"], "quartz").results} == marks
    assert {
        one.id: bool(said(one, "doubtful"))
        for one in vault.search("quartz", everything=True).results
        if one.record_class != "subject"
    } == marks


@pytest.mark.parametrize("query", ["quartz", '"is hard"', "quar*"])
@pytest.mark.parametrize("options", [{}, {"mode": "text"}, {"everything": True}])
def test_what_a_person_reviewed_is_said_to_be(vault: Vault, query: str, options: dict[str, Any]) -> None:
    held = vault.remember("Quartz is hard.", ["Stone"], ask=True)
    vault.as_person().review(accept=[held.id])
    other = vault.remember("Flint is hard, as quartz is.", ["Stone"])
    marks = {one.id: one.reviewed for one in vault.search(query, kinds=["observation"], **options).results}
    assert marks[held.id] and not marks.get(other.id)


def test_best_comes_first_and_the_limit_holds(vault: Vault) -> None:
    vault.remember(
        "A long text that mentions quartz once among many other words about nothing in particular.", title="Passing mention"
    )
    vault.remember("Quartz, quartz and quartz.", title="Quartz")
    assert found(vault, "quartz") == ["Quartz", "Passing mention"]
    assert found(vault, "quartz", limit=1) == ["Quartz"]
    scores = [one.score for one in vault.search("quartz").results]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    "query", ["connection", "CONNECTIONS", "connecting", '"idle connections"', "conn*", "Grosse", "größe", "接続"]
)
def test_words_are_found_in_every_form(vault: Vault, query: str) -> None:
    vault.remember("Redis drops idle connections. Größe. データベース接続の問題。", title="It")
    assert found(vault, query) == ["It"]


@pytest.mark.parametrize("query", ['"connections idle"', "zeolite", "conn", '""'])
def test_what_is_not_there_is_not_found(vault: Vault, query: str) -> None:
    vault.remember("Redis drops idle connections.", title="It")
    assert found(vault, query) == []


@pytest.mark.parametrize(
    "query", ["", "   ", "*", '"', "(", "AND OR NOT", "title:x", "a" * 5000, "\0", "-x", "[a TO b]", "\\", "🙂"]
)
def test_no_query_is_an_error(vault: Vault, query: str) -> None:
    vault.remember("Text.")
    vault.search(query)


def test_a_limit_below_one_is_refused(vault: Vault) -> None:
    with fails(UsageError, "limit must be 1 or more, not 0"):
        vault.search("x", 0)


def test_it_is_found_by_title_subject_tag_and_summary(vault: Vault) -> None:
    vault.remember("Text.", ["Amber lab"], title="Basalt", tags=["cedar"])
    vault.create_understanding(["Rack"], "Text of it.", "Fjord in short.", title="U")
    for word in ("amber", "basalt", "cedar"):
        assert "Basalt" in found(vault, word), word
    assert found(vault, "fjord") == ["U"]


def test_kinds_keep_types_and_classes(vault: Vault, root: Path) -> None:
    vault.remember("Quartz.", kind="fact", title="F")
    vault.remember("Quartz!", kind="problem", title="P")
    vault.create_understanding(["Quartz"], "Quartz.", "Quartz.", title="U")
    write(root, "vault/page.md", "# Page\n\nQuartz.\n")

    assert set(found(vault, "quartz")) == {"F", "P", "U", "Quartz", "Page"}
    assert found(vault, "quartz", kinds=["fact"]) == ["F"]
    assert set(found(vault, "quartz", kinds=["Observation"])) == {"F", "P"}
    assert found(vault, "quartz", kinds=["subject"]) == ["Quartz"]
    assert set(found(vault, "quartz", kinds=["page", "single_subject"])) == {"Page", "U"}
    assert found(vault, "quartz", kinds=["decision"]) == []


def test_edges_are_found_when_they_are_asked_for(vault: Vault) -> None:
    one, two = vault.remember("One."), vault.remember("Two.")
    vault.link(one.id, "BUILDS_ON", two.id, "Quartz is why.")
    assert set(found(vault, "quartz")) == {"One", "Two"}, "what it joins is found by its prose"
    assert len(found(vault, "quartz", kinds=["edge"])) == len(found(vault, "quartz", kinds=["BUILDS_ON"])) == 1


def test_subjects_keep_what_is_tagged_with_all_under_any_of_their_names(vault: Vault) -> None:
    vault.create_subjects([{"name": "Redis", "aliases": ["Valkey"]}])
    vault.remember("Quartz one.", ["Redis", "Rack"], title="Both")
    vault.remember("Quartz two.", ["Redis"], title="One")
    assert set(found(vault, "quartz", subject_names=["REDIS"])) == {"Both", "One"}
    assert set(found(vault, "quartz", subject_names=["valkey"])) == {"Both", "One"}
    assert found(vault, "quartz", subject_names=["valkey", "rack"]) == ["Both"]
    with fails(UsageError, "no subject is called `nothing`"):
        found(vault, "quartz", subject_names=["nothing"])


def test_filters_reach_past_what_ranks_above(vault: Vault, root: Path) -> None:
    for number in range(1, 60):
        write(root, f"vault/n/{number}.md", note(number, "Quartz quartz quartz.", title=f"Fact {number}"))
    write(
        root,
        "vault/n/last.md",
        note(99, "A longer text in which quartz stands only once, so it ranks last.", type="decision", title="D"),
    )
    assert found(vault, "quartz", limit=1, kinds=["decision"]) == ["D"]


def test_expired_ones_are_history(vault: Vault, clock: FixedClock) -> None:
    vault.remember("Quartz.", title="Q", expires="2026-11-21T10:00:00+00:00")
    assert found(vault, "quartz") == ["Q"]
    clock.advance(timedelta(days=1))
    assert found(vault, "quartz") == []
    assert found(vault, "quartz", everything=True) == ["Q"]


def test_hand_edits_are_found_with_nothing_between(vault: Vault, root: Path) -> None:
    write(root, "vault/mine.md", note(1, "Quartz.", title="Mine"))
    assert found(vault, "quartz") == ["Mine"]
    write(root, "vault/mine.md", note(1, "Basalt.", title="Mine"))
    assert (found(vault, "quartz"), found(vault, "basalt")) == ([], ["Mine"])
    (root / "vault/mine.md").unlink()
    assert found(vault, "basalt") == []


def test_another_process_sees_what_this_one_wrote(vault: Vault, root: Path) -> None:
    with Vault.open(root) as other:
        assert found(other, "quartz") == []
        vault.remember("Quartz.", title="Q")
        assert found(other, "quartz") == ["Q"]


def test_a_page_is_found_as_text_and_adopted(vault: Vault, root: Path) -> None:
    write(root, "vault/notes/page.md", "---\nauthor: me\n---\n# A page\n\nWith quartz in it.\n")
    [page] = vault.search("quartz").results
    assert (page.id, page.record_class, page.type, page.title, page.path) == (
        None,
        "page",
        "page",
        "A page",
        "vault/notes/page.md",
    )
    assert (page.subjects, page.origin, page.created) == ((), "owner", "")

    vault.adopt([page.path], type="fact")
    [record] = vault.search("quartz").results
    assert (record.record_class, record.type, record.path) == ("observation", "fact", page.path)


def test_words_that_only_frame_a_question_find_no_page(vault: Vault, root: Path) -> None:
    write(root, "vault/people/tom.md", "---\nallergies: [peanuts, latex]\n---\nMet at the fair.\n")
    write(root, "vault/who.md", "# Guests\n\nWho is to sit where, who is late, and who is to be called.\n")
    for mode in ("auto", "text"):
        assert [hit.path for hit in vault.search("who is allergic to latex", mode=mode).results] == ["vault/people/tom.md"]
    # Where nothing else is asked for they are the words.
    assert vault.search("who is", mode="text").results[0].path == "vault/who.md"


def test_what_every_session_reads_anyway_is_found_after_what_answers(vault: Vault, root: Path) -> None:
    [soul] = [entry for entry in vault.index.catalog.snapshot().entries if entry.type == "soul"]
    write(root, "vault/plant.md", "---\nlight: unhurried\n---\nOn the sill.\n")
    assert [hit.path for hit in vault.search("unhurried").results] == ["vault/plant.md", soul.path]


def test_a_page_has_no_subjects(vault: Vault, root: Path) -> None:
    write(root, "vault/page.md", "# Page\n\nQuartz.\n")
    vault.create_subjects([{"name": "Redis", "summary": "A store."}])
    assert found(vault, "quartz", subject_names=["Redis"]) == []


def test_journals_and_generated_pages_are_not_memories(vault: Vault, root: Path) -> None:
    vault.episode("Quartz day", "Quartz.")
    vault.remember("Nothing.", title="Other")
    assert found(vault, "quartz") == []
    assert found(vault, "generated") == [], "templates and CORE.md lie outside the notes"


@pytest.mark.in_git
def test_ignored_files_are_not_there(vault: Vault, root: Path) -> None:
    for path in (".obsidian/a.md", "node_modules/a.md", "a.md~", ".a.md.swp", "#a.md", "4913", "a.tmp"):
        write(root, f"vault/{path}", note(1, "Quartz."))
    with untouched(root):
        assert found(vault, "quartz") == []
        assert vault.status().counts["observation"] == 0


def test_two_files_of_one_id_are_both_found(vault: Vault, root: Path) -> None:
    write(root, "vault/a.md", note(1, "Quartz.", title="A"))
    write(root, "vault/b.md", note(1, "Quartz.", title="B"))
    assert sorted(found(vault, "quartz")) == ["A", "B"]
    assert {one.id for one in vault.search("quartz").results} == {identity(1)}


@pytest.mark.in_git
def test_searching_is_no_access(vault: Vault, root: Path) -> None:
    made = vault.remember("Quartz.")
    with untouched(root):
        vault.search("quartz")
    assert vault.show(made.id).access_count == 0


@pytest.mark.parametrize(("kind", "hint"), [("fcat", "did you mean fact"), ("subjct", "subject"), ("xyzzy", "vt get-stats")])
def test_a_type_that_nothing_has_is_refused_with_what_comes_near(vault: Vault, kind: str, hint: str) -> None:
    with fails(UsageError, f"nothing here is of type `{kind}`", hint):
        vault.search("redis", kinds=[kind])


@pytest.mark.parametrize("kind", ["fcat", "subjct", "xyzzy"])
@pytest.mark.parametrize("verb", ["recall", "search", "bring_to_mind", "list"])
def test_every_verb_that_asks_by_type_refuses_one_that_nothing_has(vault: Vault, verb: str, kind: str) -> None:
    vault.remember("Redis runs in the lab.", ["Redis"], kind="fact")
    question = [] if verb == "list" else ["redis"]
    with fails(UsageError, f"nothing here is of type `{kind}`"):
        getattr(vault, verb)(*question, kinds=[kind])
    assert getattr(vault, verb)(*question, kinds=["FACT"]).results


def test_a_type_of_the_global_vault_alone_is_one_where_that_is_asked_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("home", "project"):
        Vault.init(tmp_path / name, no_git=True)
    with Vault.open(tmp_path / "home") as home:
        home.remember("Flour and water for the loaf.", kind="dough")
    monkeypatch.setenv("VAULT_GLOBAL", str(tmp_path / "home"))
    with Vault.open(tmp_path / "project") as vault:
        assert len(vault.search("flour and water for the loaf", kinds=["dough"]).results) == 1
        with fails(UsageError, "nothing here is of type `dough`"):
            vault.recall("flour", kinds=["dough"], include_global=False)
        with fails(UsageError, "nothing here is of type `dough`"):
            vault.list(kinds=["dough"])


def test_a_type_that_a_note_made_up_is_one(vault: Vault) -> None:
    vault.remember("Flour and water.", kind="dough")
    assert found(vault, "flour", kinds=["Dough"]) == ["Flour and water"]


def test_a_subject_that_nothing_has_is_refused_with_what_comes_near(vault: Vault, root: Path) -> None:
    vault.remember("Text of it.", ["Redis"])
    write(root, "vault/tagged.md", note(1, "Text of another.", subjects="[Nameless]"))
    with fails(UsageError, "no subject is called `Rediss`", "did you mean Redis?"):
        vault.search("text", subject_names=["Rediss"])
    assert len(found(vault, "text", subject_names=["nameless"])) == 1


def test_answers_say_how_many_files_cannot_be_read(vault: Vault, root: Path) -> None:
    assert vault.search("redis").freshness.unreadable == 0
    write(root, "vault/half.md", "<<<<<<< a\nThis.\n=======\nThat.\n>>>>>>> b\n")
    assert vault.search("redis").freshness.unreadable == 1
    assert vault.status().freshness.unreadable == 1
