"""Recall as people and agents meet it, by words alone: no model is at hand in these tests."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.bounds import CAMPAIGN
from tests.git_repos import write
from tests.statuses import said
from tests.verbs.looking import fails, note
from vault_tool import Vault
from vault_tool.errors import UsageError
from vault_tool.features.recall.recall import Bundle, SubjectView
from vault_tool.util.clock import FixedClock
from vault_tool.vault.answers import HYPOTHESIS_NOTICE
from vault_tool.vault.retrieval.engine import Query, RecallAnswer, gather
from vault_tool.vault.retrieval.query import ProfileName

pytestmark = pytest.mark.without_git


def _asked(vault: Vault, query: str, **options: Any) -> Bundle:
    answer = vault.recall(query, **options)
    assert isinstance(answer, Bundle)
    return answer


def _titles(answer: Bundle | RecallAnswer) -> list[str]:
    return [one.title for one in answer.results]


def _unprompted(vault: Vault, query: str) -> RecallAnswer:
    vault.fresh()
    return gather(vault, Query(query=query, profile="ambient"))


def test_a_question_gives_the_best_answer_its_support_and_where_it_comes_from(vault: Vault) -> None:
    made = vault.as_(session="s1", model="opus").remember(
        "Redis drops idle connections after ten minutes.", ["Redis"], kind="fact"
    )
    vault.remember("Redis keeps connections that send keepalives; idle ones drop.", ["Redis"], kind="insight")
    answer = _asked(vault, "why does Redis drop idle connections?")

    assert answer.best_answer is not None and answer.provenance is not None
    best = answer.best_answer
    assert (best.subject_names, best.content, best.confidence) == (("Redis",), made.content, 0.8)
    assert (best.kind, best.source, best.id) == ("fact", "observation", made.id)
    assert answer.provenance.session_id == "s1"
    assert answer.provenance.model_tier == "opus"
    assert answer.provenance.created_at == "2026-11-20T10:00:00+00:00"
    assert [one.content for one in answer.supporting] == ["Redis keeps connections that send keepalives; idle ones drop."]
    [first, second] = answer.results
    assert (first.id, first.record_class, first.type, first.path) == (made.id, "observation", "fact", made.path)
    assert first.score > second.score > 0 and not first.weak and first.match > 0.5
    assert (first.truth, first.utility, first.origin, first.role) == (0.8, 0.5, "agent", "answer")
    assert first.why == ("words", "names its subject")
    assert answer.degraded == ("no embeddings",)
    assert answer.notice == HYPOTHESIS_NOTICE
    assert answer.freshness.behind == 0


def test_a_subject_by_name_or_alias_gives_what_is_understood_of_it(vault: Vault, clock: FixedClock) -> None:
    vault.create_subjects([{"name": "Redis", "summary": "The cache.", "tags": ["infra"]}])
    for day in range(3):
        clock.advance(timedelta(days=1))
        vault.remember(f"Seen on day {day}.", ["Redis"])
    vault.create_understanding(["Redis"], "Redis is our cache and queue.", kind="single_subject", summary="Our cache")
    answer = vault.recall("redis", limit=2)

    assert isinstance(answer, SubjectView)
    assert (answer.subject.name, answer.subject.summary, answer.subject.tags) == ("Redis", "The cache.", ("infra",))
    assert answer.single_subject_understanding is not None
    assert answer.single_subject_understanding.content == "Redis is our cache and queue."
    assert answer.structural_understanding is None
    assert [one.content for one in answer.recent_observations] == ["Seen on day 2.", "Seen on day 1."]


def test_a_failed_tactic_is_a_caution_after_the_solution_of_its_problem(vault: Vault) -> None:
    problem = vault.remember("Redis connections drop behind the proxy.", ["Redis"], kind="problem")
    failed = vault.remember(
        "Raised the proxy's idle limit for Redis connections that drop.", ["Redis"], kind="failed_tactic", problem=problem.id,
        failure_mode="the firewall cuts them too",
    )  # fmt: skip
    solved = vault.remember("Set keepalive to sixty seconds.", ["Homelab"], kind="solution", problem=problem.id)
    results = {one.id: one for one in _asked(vault, "why do Redis connections drop behind the proxy?").results}

    assert list(results) == [problem.id, solved.id, failed.id]
    assert results[solved.id].role == "solution"
    assert results[solved.id].of == problem.id
    assert results[failed.id].caution == "did not work (the firewall cuts them too); reconsider only if that changed"
    from_solution = _titles(_asked(vault, "keepalive sixty seconds"))
    assert from_solution[0] == solved.title
    assert problem.title in from_solution


def test_what_is_replaced_answers_as_what_replaced_it(vault: Vault, clock: FixedClock) -> None:
    old = vault.create_understanding(["Redis"], "Redis needs a proxy with quartz inside.", kind="single_subject", summary="Old")
    clock.advance(timedelta(days=1))
    new = vault.update_understanding(old.id, "Redis needs keepalives and nothing else.", new_summary="New")
    answer = _asked(vault, "proxy with quartz")
    assert [one.id for one in answer.results] == [new.new_understanding_id]
    assert "Redis needs keepalives" in answer.results[0].content


WORDS = ("apple", "birch", "cedar", "daisy", "elder", "fern", "grass", "hazel", "iris", "juniper")
PROFILES: tuple[ProfileName, ...] = ("targeted", "ambient", "core")


def _for_cats(vault: Vault, profile: ProfileName) -> set[str]:
    vault.fresh()
    return {one.id for one in gather(vault, Query(query="which vaccine did the cat get?", profile=profile)).results}


@pytest.mark.parametrize("way", ["link", "evidence"])
def test_what_is_replaced_comes_along_with_nothing(vault: Vault, clock: FixedClock, way: str) -> None:
    old = vault.create_understanding(["Dog"], "The one against rabies.", kind="single_subject", summary="Old")
    hit = vault.remember("Which vaccine did the cat get?", related_to=[old.id] if way == "evidence" else [])
    if way == "link":
        vault.link(hit.id, "REQUIRES", old.id)
    assert _for_cats(vault, "targeted") == {hit.id, old.id}
    clock.advance(timedelta(days=1))
    new = vault.update_understanding(old.id, "None so far.", new_summary="New").new_understanding_id
    assert [_for_cats(vault, profile) - {new} for profile in PROFILES] == [{hit.id}] * 3


@pytest.mark.parametrize("how", ["replaced", "expired"])
def test_what_is_history_is_no_neighbour_of_a_hit(vault: Vault, root: Path, clock: FixedClock, how: str) -> None:
    talk = vault.as_(session="s1")
    hit = talk.remember("Which vaccine did the cat get?", turn="1")
    old = talk.remember("The one against rabies.", turn="2", expires="2026-11-21" if how == "expired" else None)
    assert _for_cats(vault, "targeted") == {hit.id, old.id}
    clock.advance(timedelta(days=2))
    if how == "replaced":
        # By hand: the verbs let only understandings be replaced, readers take any id.
        made = vault.create_understanding(["Dog"], "None so far.", kind="single_subject", summary="None")
        file = root / made.path
        file.write_text(file.read_text().replace("---\n", f"---\nsupersedes: [{old.id}]\n", 1))
    assert [old.id in _for_cats(vault, profile) for profile in PROFILES] == [False] * 3


@pytest.mark.parametrize(("kind", "comes"), [("general", True), ("fact", False), ("preference", False), ("decision", False)])
def test_beside_a_hit_comes_what_was_said_there_and_no_memory_that_stands_for_itself(
    vault: Vault, kind: str, comes: bool
) -> None:
    talk = vault.as_(session="s1")
    hit = talk.remember("Which vaccine did the cat get?", turn="1", kind=kind)
    beside = talk.remember("The one against rabies.", turn="2", kind=kind)
    assert _for_cats(vault, "targeted") == ({hit.id, beside.id} if comes else {hit.id})
    vault.link(hit.id, "CAUSES", beside.id, why="it had been bitten")
    assert _for_cats(vault, "targeted") == {hit.id, beside.id}


def test_expired_kept_and_withheld_memories_are_no_answers(vault: Vault, root: Path) -> None:
    vault.remember("The quartz offer is open.", expires="2026-11-19", observed_at="2026-11-18")
    write(root, "vault/observations/false.md", note(1, "The quartz was found to be glass.", confidence="0.1"))
    assert _titles(_asked(vault, "quartz")) == []
    assert len(_asked(vault, "quartz", doubtful=True).results) == 1
    assert _titles(_asked(vault, "soul protocol orientation")) == []
    assert vault.recall("Soul", kinds=["soul"], limit=1) is not None


def test_a_change_comes_with_what_it_changes(vault: Vault) -> None:
    decided = vault.remember("Deployments happen on Fridays.", ["Deployment"], kind="decision")
    change = vault.remember("Moved to the day before.", kind="change", change_targets=[decided.id])
    results = _asked(vault, "when do deployments happen?").results
    assert [(one.id, one.role) for one in results] == [(change.id, "update"), (decided.id, "answer")]
    alone = Query(query="when do deployments happen?", update_links=False, with_changes=False)
    assert [one.id for one in gather(vault, alone).results] == [decided.id]
    assert [one.id for one in _asked(vault, "when do deployments happen?", limit=1).results] == [change.id]


def test_an_edge_leads_to_its_other_end(vault: Vault) -> None:
    one = vault.remember("The canary gets five percent.", kind="decision")
    other = vault.remember("Metrics are compared after half an hour.", kind="procedure")
    vault.link(one.id, "REQUIRES", other.id, why="no canary without metrics")
    results = _asked(vault, "how much does the canary get?").results
    assert [(found.id, found.role) for found in results] == [(one.id, "answer"), (other.id, "related")]
    assert "no canary without metrics" in results[1].why[0]


def test_an_understanding_stands_before_what_it_covers(vault: Vault, clock: FixedClock) -> None:
    seen = vault.remember("Slugs ate the lettuce in the garden.", ["Garden"])
    clock.advance(timedelta(days=1))
    made = vault.create_understanding(
        ["Garden"], "Slugs ate the lettuce until copper tape stopped them.", kind="single_subject", summary="Slugs and lettuce"
    )
    assert [one.id for one in _asked(vault, "what ate the lettuce?").results] == [made.id, seen.id]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("データベース接続の問題を解決した", "接続の問題"),
        ("서버를 다시 시작했다", "서버를"),
        ("数据库连接超时已经修复", "连接超时"),
        ("Сервер базы данных перезапущен", "СЕРВЕР базы"),
        ("تمت إعادة تشغيل الخادم", "الخادم"),
        ("Der Gruß aus der Küche war größer", "kuche"),
    ],
)
def test_questions_in_any_script_find_their_answer(vault: Vault, text: str, query: str) -> None:
    made = vault.remember(text)
    vault.remember("Something else in English.")
    best = _asked(vault, query).best_answer
    assert best is not None and best.id == made.id


def test_filters_narrow_the_answer(vault: Vault, clock: FixedClock) -> None:
    old = vault.as_(session="s1", project="lab").remember("Quartz one was seen.", ["Stone"], kind="fact", tags=["rock"])
    clock.advance(timedelta(days=10))
    new = vault.as_(session="s2", project="shop").remember("Quartz two was sold.", ["Shop"], kind="decision")
    for options, expected in (
        ({"kinds": ["decision"]}, [new.id]),
        ({"kinds": ["observation"], "subject_names": ["stone"]}, [old.id]),
        ({"tags": ["rock"]}, [old.id]),
        ({"project": "shop"}, [new.id]),
        ({"since": "2026-11-25"}, [new.id]),
        ({"until": "2026-11-20"}, [old.id]),
        ({"session": "s1"}, [old.id]),
    ):
        assert [one.id for one in _asked(vault, "quartz", **options).results] == expected, options


def test_what_cannot_be_asked_is_said_in_one_line(vault: Vault) -> None:
    with fails(UsageError, "limit must be 1 or more"):
        vault.recall("x", limit=0)
    with fails(UsageError, "is not a time"):
        vault.recall("x", since="yesterday-ish")
    with fails(UsageError, "hops must be from 0 to 3"):
        vault.recall("x", hops=7)
    with fails(UsageError, "is no profile"):
        vault.recall("x", profile="loud")  # type: ignore[arg-type]


@pytest.mark.parametrize("query", ["", "   ", "*", '"', "AND OR", "a" * 5000, "\0", "[a TO b]", "🙂"])
def test_no_question_is_an_error(vault: Vault, query: str) -> None:
    vault.remember("Text.")
    vault.recall(query)


def test_unprompted_nothing_comes_that_hardly_fits(vault: Vault) -> None:
    vault.remember("Redis drops idle connections after ten minutes.", ["Redis"])
    vault.remember("The apple tree is a Boskoop.", ["Garden"])
    question = "which medicine helps against seasickness on the way to the apple market?"
    assert _unprompted(vault, question).results == ()
    asked = _asked(vault, question)
    assert asked.best_answer is None and asked.provenance is None
    assert all(one.weak for one in asked.results)
    assert len(_unprompted(vault, "redis idle connections drop").results) == 1


@pytest.mark.parametrize(("kind", "comes"), [("fact", False), ("preference", True)])
def test_preferences_come_more_easily_than_facts(vault: Vault, kind: str, comes: bool) -> None:
    vault.remember("Reports are written in short sentences, with figures in a table.", ["Office"], kind=kind)
    assert bool(_unprompted(vault, "the board wants reports with figures").results) is comes


def test_what_session_after_session_voted_down_comes_up_only_when_asked_for(vault: Vault) -> None:
    vault.remember("The apple tree is a Boskoop.", ["Garden"])
    made = vault.remember("Redis drops idle connections after ten minutes.", ["Redis"])
    worthless = {"target": 0.0, "confidence": 1.0, "rationale": "It never helped.", "evidence_refs": ["commit:9f3c1e2"]}
    assert len(_unprompted(vault, "redis idle connections drop").results) == 1
    for number in range(5):
        vault.as_(session=f"s{number}", model=f"m{number}").update(made.id, utility=worthless)
    assert vault.show(made.id).utility < 0.1
    assert _unprompted(vault, "redis idle connections drop").results == ()
    assert [one.id for one in _asked(vault, "redis idle connections drop").results] == [made.id]


def test_what_its_writer_doubted_is_still_the_answer_to_who_asks_and_is_marked(vault: Vault) -> None:
    for number in range(12):
        vault.remember(f"Entry {number} of the garden diary: peas and beans.", ["Garden"])
    made = vault.remember("The kiln fires at 1200 degrees.", ["Kiln"], kind="fact", confidence=0.3).id
    found = _asked(vault, "at how many degrees does the kiln fire?")
    assert found.best_answer is not None and found.best_answer.id == made
    assert (bool(said(found.results[0], "doubtful")), found.results[0].weak) == (True, False)


def test_three_sessions_against_and_none_for_leave_unprompted_recall(vault: Vault) -> None:
    vault.remember("The apple tree is a Boskoop.", ["Garden"])
    made = vault.as_(origin="agent").remember("Redis drops idle connections after ten minutes.", ["Redis"]).id
    owned = vault.as_(origin="owner").remember("Valkey forks are built on Thursdays.", ["Valkey"]).id
    asked = "redis idle connections drop"
    for number in range(3):
        assert [one.id for one in _unprompted(vault, asked).results] == [made], number
        for one in (made, made, owned):
            vault.as_(origin="agent", session=f"s{number}", model="m").mark_questionable(one, "It was no help.")
    assert _unprompted(vault, asked).results == ()
    found = _asked(vault, asked)
    assert found.best_answer is not None and found.best_answer.id == made
    assert [one.id for one in _unprompted(vault, "valkey forks are built when").results] == [owned], "its owner wrote it"
    vault.as_(origin="agent", session="s9").mark_useful(made, "It was the cause.")
    assert [one.id for one in _unprompted(vault, asked).results] == [made]


def test_what_only_supports_an_answer_counts_as_no_use(vault: Vault) -> None:
    made = [vault.remember(f"Redis drops idle connections, says source {word}.", ["Redis"]) for word in WORDS]
    results = _asked(vault, "which source says that Redis drops idle connections?", limit=len(made)).results
    used = {one.id for one in made if vault.show(one.id).access_count}
    assert len(results) == len(made)
    assert used == {results[0].id}


def test_no_failed_tactic_stands_before_what_works_however_well_it_fits(vault: Vault) -> None:
    problem = vault.remember("Connections drop.", kind="problem")
    failed = vault.remember(
        "Raised the proxy's idle limit for Redis connections that drop.", kind="failed_tactic", problem=problem.id
    )
    solved = vault.remember("Set keepalive for the proxy to sixty seconds.", kind="solution", problem=problem.id)
    ids = [one.id for one in _asked(vault, "the proxy's idle limit for Redis connections that drop").results]
    assert ids.index(solved.id) < ids.index(failed.id)


def test_what_the_session_has_used_is_counted_once(vault: Vault) -> None:
    made = vault.remember("Redis drops idle connections.", ["Redis"])
    agent = vault.as_(session="s1")
    for _ in range(3):
        agent.recall("why does Redis drop connections?")
    assert vault.show(made.id).access_count == 1
    vault.as_(session="s2").recall("idle Redis connections")
    assert vault.show(made.id).access_count == 2


def test_what_was_said_next_to_a_hit_comes_before_what_was_said_elsewhere(vault: Vault) -> None:
    talk = vault.as_(session="s1")
    talk.remember("Which vaccine did the dog get?", turn="1")
    answer = talk.remember("The one against rabies, in spring.", turn="2")
    vault.as_(session="s2").remember("Rain in spring again.", turn="1")
    assert [one.id for one in _asked(vault, "which vaccine did the dog get?").results][1] == answer.id


def test_every_factor_is_given_when_asked_for(vault: Vault) -> None:
    vault.remember("Redis drops idle connections.", ["Redis"])
    [plain] = _asked(vault, "redis connections").results
    [explained] = _asked(vault, "redis connections", explain=True).results
    assert plain.factors is None
    assert explained.factors is not None
    product = explained.factors["rank"]
    for name in ("truth gate", "utility", "prior", "covered"):
        product *= explained.factors[name]
    assert product == pytest.approx(explained.factors["score"], rel=1e-3)


def test_the_global_vault_is_read_beside_this_one(root: Path, tmp_path: Path, clock: FixedClock) -> None:
    shared = tmp_path / "shared"
    Vault.init(shared, name="Shared", clock=clock)
    environ = {"VAULT_GLOBAL": str(shared), "OLLAMA_HOST": "http://127.0.0.1:9", "HOME": str(tmp_path)}
    with Vault.open(shared, clock=clock, environ=environ) as everywhere:
        general = everywhere.remember("Prefers tabs of quartz to spaces.", kind="preference")
        assert everywhere.global_vault is None
    with Vault.open(root, clock=clock, environ=environ) as vault:
        here = vault.remember("The quartz counter is in the shop.")
        scopes = {one.id: one.scope for one in _asked(vault, "quartz").results}
        assert scopes == {general.id: "global", here.id: "repo"}
        assert [one.id for one in _asked(vault, "quartz", include_global=False).results] == [here.id]


def test_a_budget_bounds_the_answer(vault: Vault) -> None:
    for number in range(5):
        vault.remember(f"Quartz number {number}: {'word ' * (40 + 30 * number)}", title=f"Quartz {number}")
    assert 1 <= len(_asked(vault, "quartz", budget=150).results) < 5


def test_a_subject_shows_nothing_expired_and_nothing_held_to_be_false(vault: Vault) -> None:
    vault.remember("Mara lives by the sea.", ["Mara"])
    vault.remember("Mara is away this week.", ["Mara"], expires="2026-11-01", observed_at="2026-10-25")
    lie = vault.remember("Mara has wings.", ["Mara"], confidence=0.1)
    found = vault.recall("Mara")
    assert isinstance(found, SubjectView)
    assert [one.content for one in found.recent_observations] == ["Mara lives by the sea."]
    assert vault.show(lie.id).truth < 0.15


def test_a_subject_shows_what_was_overtaken_behind_what_overtook_it(vault: Vault, clock: FixedClock) -> None:
    old = vault.remember("The planner keeps its data in SQLite.", ["SQLite", "Planner"], kind="decision")
    clock.advance(timedelta(minutes=1))
    left = vault.remember("The migration is half written.", ["Planner"], kind="task_state")
    clock.advance(timedelta(minutes=1))
    new = vault.remember("The planner keeps its data in Postgres.", ["Planner"], kind="decision", change_targets=[old.id])
    done = vault.remember("The migration is merged.", kind="task_state", change_targets=[left.id])

    def told(subject: str, limit: int = 5) -> list[str]:
        view = vault.recall(subject, limit=limit)
        assert isinstance(view, SubjectView)
        return [one.id for one in view.recent_observations]

    assert told("SQLite") == [new.id, old.id]
    assert told("Planner") == [new.id, done.id, left.id, old.id]
    assert told("SQLite", limit=1) == [new.id]


def test_whose_memories_are_asked_for_bounds_the_answer_about_a_subject_too(vault: Vault) -> None:
    for user, text in (("bob", "Bob likes pears with Mara."), ("eve", "Eve plots with Mara.")):
        vault.turn("s", user, "w", text, extractMemory=True, candidates=[{"content": text, "anchors": ["Mara"]}], write="later")
    vault.drain()
    found = vault.recall("Mara", user="bob")
    assert isinstance(found, SubjectView)
    assert [one.content for one in found.recent_observations] == ["Bob likes pears with Mara."]


def test_a_budget_bounds_other_scripts_as_well(vault: Vault) -> None:
    for number in range(4):
        vault.remember(f"第{number}回：" + "東京の天気は晴れです。" * 20, ["天気"])
    found = gather(vault, Query(query="東京の天気", budget=400))
    assert 1 <= len(found.results) <= 2


def test_what_a_subject_shows_joins_the_seen_log_and_its_understanding_counts_as_used(vault: Vault) -> None:
    asker = vault.as_(session="s1")
    seen = [asker.remember(f"Redis restarts, {number} words {'on ' * 40}.", ["Redis"]).id for number in range(3)]
    understood = asker.create_understanding(["Redis"], "It restarts.", "It restarts.").id
    view = asker.recall("Redis", budget=200)
    assert isinstance(view, SubjectView)
    assert view.subject.summary is None
    assert [one.id in seen for one in view.recent_observations] == [True, True]
    shown = {one.id for one in asker.get_session_context().shown}
    assert shown == {understood, *(one.id for one in view.recent_observations)}
    used = [vault.show(one).access_count for one in (understood, *seen)]
    assert used == [1, 0, 0, 0]


def test_the_vault_says_which_models_are_strong(root: Path, clock: FixedClock) -> None:
    write(root, "vault.toml", '[recall]\nstrong_models = ["qwen"]\n')
    with Vault.open(root, clock=clock) as vault:
        vault.as_(model="qwen-3").remember("Redis drops idle connections after ten minutes, always.", ["Redis"])
        vault.as_(model="opus-5").remember("Redis keeps its queue in memory alone, and loses it.", ["Redis"])
        found = _asked(vault, "Redis connections queue memory", explain=True).results
    prior = {one.model: (one.factors or {})["prior"] for one in found}
    assert prior["qwen-3"] > prior["opus-5"]


def test_a_question_of_no_words_has_no_answer(vault: Vault) -> None:
    vault.remember("Kelp dries on the harbor wall.")
    for query in ("", " \n"):
        found = vault.recall(query)
        assert isinstance(found, Bundle)
        assert found.results == ()


_ASKED: dict[str, Callable[[Vault], Sequence[Any]]] = {
    "recall": lambda vault: _asked(vault, "idle connections of Redis").results,
    "unprompted": lambda vault: _unprompted(vault, "idle connections of Redis").results,
    "search": lambda vault: vault.search("idle connections").results,
    "search_observations": lambda vault: vault.search_observations(["Redis"], "idle connections").results,
    "bring_to_mind": lambda vault: vault.bring_to_mind("idle connections of Redis").results,
    "twins": lambda vault: vault.remember("Redis drops idle connections after 300 s!", ["Redis"]).similar,
}


@pytest.mark.parametrize("reopened", [False, True])
@pytest.mark.parametrize(
    ("verb", "how"),
    # Every fault for one verb, and one fault for every verb; in a campaign each with each.
    [
        (verb, how)
        for verb in _ASKED
        for how in ("gone", "empty", "garbage", "half")
        if CAMPAIGN or verb == "recall" or how == "half"
    ],
)
def test_a_spoilt_full_text_index_is_built_anew_in_the_middle_of_a_question(
    vault: Vault, root: Path, clock: FixedClock, verb: str, how: str, reopened: bool
) -> None:
    made = vault.remember("Redis drops idle connections after 300 s.", ["Redis"])
    vault.search("idle")
    folder = next(path for path in (root / "_cache/lexical").iterdir() if path.is_dir())
    if how == "gone":
        shutil.rmtree(folder)
    for path in folder.iterdir() if folder.is_dir() else ():
        data = path.read_bytes()
        path.write_bytes({"empty": b"", "garbage": bytes(reversed(data)) or b"\0", "half": data[: len(data) // 2]}[how])
    if reopened:
        vault.close()
    with Vault.open(root, clock=clock) if reopened else nullcontext(vault) as asked:
        found = _ASKED[verb](asked)
    assert made.id in [getattr(one, "id", one) for one in found]


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("hides the cause", "did not work (hides the cause); reconsider only if that changed"),
        ("the disk is full", "did not work (the disk is full); reconsider only if that changed"),
        ("The disk was full.", "did not work (The disk was full); reconsider only if that changed"),
        ("Did it even run?", "did not work (Did it even run?); reconsider only if that changed"),
        ("接続が切れた。", "did not work (接続が切れた); reconsider only if that changed"),
        ("", "did not work; reconsider only if that changed"),
    ],
)
def test_how_a_tactic_failed_may_be_said_in_any_form(vault: Vault, mode: str, says: str) -> None:
    vault.remember("Restarting quartz each night.", ["Quartz"], kind="failed_tactic", failure_mode=mode)
    assert [one.caution for one in _asked(vault, "restarting quartz").results] == [says]
    if mode:
        assert f"Restarting quartz each night. (failed: {mode.rstrip('.。')})" in vault.core(preview=True).text


def test_how_a_tactic_failed_is_cut_where_it_is_long(vault: Vault) -> None:
    vault.remember("Restarting quartz.", ["Quartz"], kind="failed_tactic", failure_mode="it was very slow, " * 200)
    (caution,) = [one.caution for one in _asked(vault, "restarting quartz").results]
    assert caution is not None and len(caution) < 300 and caution.endswith("…); reconsider only if that changed")


@pytest.mark.parametrize("confidence", [0.2, 0.3])
def test_an_exact_answer_whose_writer_was_unsure_is_the_best_and_marked(vault: Vault, confidence: float) -> None:
    vault.remember("The cache port of staging was moved once.")
    made = vault.remember("The staging cache listens on port 6390.", confidence=confidence)
    found = _asked(vault, "which port does the staging cache listen on")
    assert (found.results[0].id, bool(said(found.results[0], "doubtful")), found.results[0].weak) == (made.id, True, False)
    # What others found wrong is another matter.
    wrong = {"target": 0.0, "confidence": 1.0, "rationale": "It listens elsewhere.", "evidence_refs": ["commit:9f3c1e2"]}
    for number in range(4):
        vault.as_(session=f"s{number}", model=f"m{number}").update(made.id, truth=wrong)
    assert made.id not in [one.id for one in _asked(vault, "staging cache port").results[:1]]


@pytest.mark.parametrize(
    ("told", "asked", "other"),
    [
        ("Invoice {} of the harbor was paid in full.", "869869", "442017"),
        ("The pump {} leaks oil at the valve.", "XK42B", "XK77B"),
    ],
)
def test_a_number_that_stands_nowhere_in_the_answer_makes_it_unsure(vault: Vault, told: str, asked: str, other: str) -> None:
    vault.remember(told.format(asked), ["Harbor"])

    assert [one.weak for one in _asked(vault, f"is it so that {told.format(asked)}").results] == [False]
    assert all(one.weak for one in _asked(vault, f"is it so that {told.format(other)}").results)


def test_a_weak_solution_still_stands_before_the_tactics_that_failed(vault: Vault) -> None:
    problem = vault.remember("Backups stop at night.", kind="problem")
    failed = [
        vault.remember(f"Gave the Borg backups at night {what}.", kind="failed_tactic", problem=problem.id)
        for what in ("more memory", "a second disk")
    ]
    solved = vault.remember("Start the backups by a timer.", kind="solution", problem=problem.id)
    ids = [one.id for one in _asked(vault, "why do the Borg backups at night stop, with more memory or a second disk?").results]
    assert ids.index(solved.id) < min(ids.index(one.id) for one in failed)
