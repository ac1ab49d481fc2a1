from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.bounds import examples
from tests.cli.typed import vt
from tests.git_repos import commit_all, write
from tests.verbs.looking import (
    START,
    assert_committed,
    codes,
    fails,
    identity,
    in_commit,
    note,
    status,
    subjects,
    text,
    untouched,
)
from tests.wording import typed
from vault_tool import Vault
from vault_tool.errors import Refused, UsageError
from vault_tool.index.relations import Regions, successors
from vault_tool.model.types import RecordClass
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""


def _twins(vault: Vault) -> None:
    vault.create_subjects(
        [
            {"name": "Redis", "tags": ["cache"], "aliases": ["Valkey"]},
            {"name": "Redis cache", "tags": ["cache", "store"], "aliases": ["rc"], "summary": "The cache.", "role": "service"},
        ]
    )
    vault.remember("Of Redis.", ["Redis"], kind="fact")
    vault.remember("Of the twin.", ["Redis cache", "Homelab"], kind="fact")
    vault.remember("Of both.", ["Redis cache", "Redis"], kind="fact")


@pytest.fixture
def twins(vault: Vault, once: Callable[[Callable[[Vault], Any]], Any]) -> Vault:
    """Redis and its twin, with memories of one, of the other and of both."""
    once(_twins)
    return vault


@pytest.mark.in_git
def test_a_merge_is_one_commit_that_retags_everything(twins: Vault, root: Path) -> None:
    made = twins.merge_subjects("redis", "rc", reason="one service under two names")

    assert_committed(made, root)
    assert subjects(root, 2)[0] == "merge-subjects: Redis cache into Redis"
    assert in_commit(root)["vault/subjects/redis-cache.md"] == "D"
    assert not status(root)
    assert (made.duplicate, made.observations_retagged, made.understandings_retagged) == ("Redis cache", 2, 0)
    assert made.aliases_added == ("Redis cache", "rc")
    assert "subjects: [Homelab, Redis]\n" in _note(twins, "Of the twin")
    assert "subjects: [Redis]\n" in _note(twins, "Of both")
    kept = text(root, "vault/subjects/redis.md")
    for line in ("aliases: [Valkey, Redis cache, rc]\n", "tags: [cache, store]\n", "summary: The cache.\n", "role: service\n"):
        assert line in kept
    assert twins.get_subjects(["rc"]).results[0].name == "Redis"
    assert not codes(twins)


def test_the_structural_understanding_says_what_was_merged_and_keeps_what_both_said(twins: Vault, root: Path) -> None:
    mine = twins.set_structural_understanding("Redis", "Part of Homelab.")
    theirs = twins.set_structural_understanding("Redis cache", "Kept apart from the store.")
    made = twins.merge_subjects("Redis", "Redis cache", reason="one service")
    [entry] = twins.index.catalog.get(made.structural_understanding_id)
    assert set(entry.texts("supersedes")) == {mine.understanding_id, theirs.understanding_id}
    said = text(root, entry.path)
    for part in ("Part of Homelab.", "Kept apart from the store.", "Merged from Redis cache (", "in generation 0. one service"):
        assert part in said
    regions = Regions(twins.index.catalog)
    assert [e.id for e in regions.understandings([regions.called("Redis")], "structural")] == [entry.id]


def test_two_understandings_of_what_is_one_now_are_contested(twins: Vault) -> None:
    one = twins.create_understanding(["Redis"], "One view.", "One.")
    other = twins.create_understanding(["Redis cache"], "Another view.", "Other.")
    made = twins.merge_subjects("Redis", "Redis cache")
    assert [set(group) for group in made.contested] == [{one.id, other.id}]
    assert "--join" in typed(made.warnings[0])
    assert [{brief.id for brief in group.heads} for group in twins.get_consolidation_report().contested_understandings] == [
        {one.id, other.id}
    ]


def test_links_and_edges_to_the_duplicate_lead_to_the_primary(twins: Vault, root: Path) -> None:
    beat = twins.remember("They met.", kind="relationship_beat")
    gone = twins.get_subjects(["Redis cache"]).results[0].id
    edge = twins.link(beat.id, "AT_LOCATION", gone, "there")
    made = twins.merge_subjects("Redis", "Redis cache")
    assert made.relinked == 1
    [found] = twins.index.catalog.get(edge.id)
    assert (found.text("to_id"), found.text("to_title")) == (made.primary.id, "Redis")
    assert not codes(twins)


@pytest.mark.parametrize(
    "form", ["[Redis cache]", '["[[redis-cache|Redis cache]]", Other]', "Redis cache", "[[Redis cache]]", '"[[rc]]"']
)
def test_every_form_of_a_name_is_retagged(twins: Vault, root: Path, form: str) -> None:
    write(root, "vault/by hand.md", note(1, "By hand.", subjects=form))
    twins.merge_subjects("Redis", "Redis cache")
    [entry] = twins.index.catalog.get(identity(1))
    assert set(entry.subjects) in ({"Redis"}, {"Redis", "Other"})


@pytest.mark.in_git
def test_a_merge_by_ids_makes_one_of_two_files_of_one_name(vault: Vault, root: Path) -> None:
    for number, folder in ((1, "a"), (2, "b")):
        write(root, f"vault/{folder}/lab.md", f"---\nid: {identity(number)}\ntype: subject\nname: Lab\n---\n")
    write(root, "vault/one.md", note(3, "In the lab.", subjects="[Lab]"))
    commit_all(root, "by hand")
    [pair] = vault.find_similar_subjects().results
    assert (pair.name_score, pair.suggestion) == (1.0, "merge")
    made = vault.merge_subjects(identity(1), identity(2))
    assert made.removed == "vault/b/lab.md"
    assert vault.get_subjects(["Lab"]).results[0].observation_count == 1


@pytest.mark.in_git
def test_what_would_lose_something_is_refused_and_touches_nothing(twins: Vault, root: Path) -> None:
    with untouched(root), fails(UsageError, "cannot be merged with itself"):
        twins.merge_subjects("Redis", "valkey")
    path = "vault/subjects/redis-cache.md"
    write(root, path, text(root, path) + "A thought typed just now.\n")
    with untouched(root), fails(Refused, path, "not committed", "vt commit"):
        twins.merge_subjects("Redis", "Redis cache")
    commit_all(root, "the thought")
    made = twins.merge_subjects("Redis", "Redis cache")
    [entry] = twins.index.catalog.get(made.structural_understanding_id)
    assert "A thought typed just now." in text(root, entry.path)


@pytest.mark.in_git
def test_a_note_that_cannot_be_edited_stops_the_merge_before_anything_is_written(twins: Vault, root: Path) -> None:
    write(root, "vault/flow.md", f"---\n{{id: {identity(1)}, type: fact, subjects: [Redis cache]}}\n---\nIn one line.\n")
    with untouched(root), fails(Refused, "vault/flow.md"):
        twins.merge_subjects("Redis", "Redis cache")


@pytest.mark.in_git
def test_a_third_claim_to_a_name_is_refused(twins: Vault, root: Path) -> None:
    write(root, "vault/third.md", f"---\nid: {identity(5)}\ntype: subject\nname: Third\naliases: [rc]\n---\n")
    with untouched(root), fails(Refused, "`rc` is a name of vault/third.md too"):
        twins.merge_subjects("Redis", "Redis cache")


@pytest.mark.in_git
def test_where_understandings_wait_for_a_person_an_agent_merges_nothing(twins: Vault, root: Path) -> None:
    with Vault.open(root, origin="owner", clock=FixedClock(START)) as owner:
        owner.config("understanding_policy", "review")
    with Vault.open(root, clock=FixedClock(START)) as agent, untouched(root), fails(Refused, "wait for a person"):
        agent.merge_subjects("Redis", "Redis cache")
    with Vault.open(root, origin="owner", clock=FixedClock(START)) as owner:
        assert owner.merge_subjects("Redis", "Redis cache").committed


def test_merges_are_counted_by_the_reflection(twins: Vault) -> None:
    twins.merge_subjects("Redis", "Redis cache")
    assert "Total merges performed: 1" in twins.reflection(preview=True).text


def test_similar_subjects_are_found_by_their_forms(twins: Vault, root: Path) -> None:
    twins.create_subjects([{"name": name} for name in ("Home lab", "Wealth simulator", "wealth_sim", "Garden")])
    found = {(p.subject_a.name, p.subject_b.name): p for p in twins.find_similar_subjects().results}
    assert found.keys() == {("Home lab", "Homelab"), ("wealth_sim", "Wealth simulator")}
    assert all(pair.suggestion == "merge" and pair.similarity_score is None for pair in found.values())
    assert twins.find_similar_subjects().degraded
    assert len(twins.find_similar_subjects("garden").results) == 0
    assert len(twins.find_similar_subjects("HOMELAB").results) == 1
    done = vt("find-similar-subjects", "--vault", str(root), "--json")
    assert len(json.loads(done.stdout)["results"]) == 2


def test_the_command_merges(twins: Vault, root: Path) -> None:
    twins.close()
    done = vt("merge-subjects", "Redis", "Redis cache", "--vault", str(root), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["removed"] == "vault/subjects/redis-cache.md"
    again = vt("merge-subjects", "Redis", "Redis cache", "--vault", str(root))
    assert again.returncode == 2
    assert "cannot be merged with itself" in again.stderr


TAGS = st.lists(st.sampled_from(["One", "uno", "Two", "dos", "Three"]), max_size=4, unique=True)


@given(notes=st.lists(TAGS, max_size=6))
@settings(
    max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_a_merge_keeps_every_memory_and_every_tag(
    founded: Path, tmp_path_factory: pytest.TempPathFactory, notes: Sequence[list[str]]
) -> None:
    root = tmp_path_factory.mktemp("any") / "notes"
    shutil.copytree(founded, root)
    with Vault.open(root, clock=FixedClock(START)) as vault:
        vault.create_subjects([{"name": "One", "aliases": ["uno"]}, {"name": "Two", "aliases": ["dos"]}, {"name": "Three"}])
        ids = [vault.remember(f"Note {number}.", tags, kind="fact").id for number, tags in enumerate(notes)]
        vault.merge_subjects("One", "Two")
        entries = {entry.id: entry for entry in vault.index.catalog.of_class(RecordClass.OBSERVATION)}
        regions = Regions(vault.index.catalog)
        for identity_, tags in zip(ids, notes, strict=True):
            wanted = {"Three" if tag == "Three" else "One" for tag in tags}
            assert {region.name for region in regions.of(entries[identity_])} == wanted
            assert len(entries[identity_].subjects) == len(wanted)
        assert len(entries) == len(notes)
        assert not status(root)
        assert not codes(vault)


def _note(vault: Vault, title: str) -> str:
    [entry] = [entry for entry in vault.index.catalog.of_class(RecordClass.OBSERVATION) if entry.title == title]
    return text(vault.root, entry.path)


def test_what_was_said_of_the_pair_is_said_of_the_one_and_no_relationship_of_one_subject_is_left(twins: Vault) -> None:
    source = twins.remember("They share a port.", ["Redis", "Redis cache"], kind="fact").id
    said = "The one is the other's cache."
    pair = twins.create_understanding(["Redis", "Redis cache"], said, "A pair.", source_observation_ids=[source])
    twins.pin(pair.id)
    made = twins.merge_subjects("Redis", "Redis cache")
    [entry] = twins.index.catalog.get(made.structural_understanding_id)
    assert entry.texts("supersedes") == (pair.id,) and entry.texts("sources") == (source,) and entry.pinned
    assert said in text(twins.root, entry.path)
    [old] = twins.index.catalog.get(pair.id)
    assert successors(twins.index.catalog, old.id) == (entry.id,)
    assert not codes(twins) and not made.contested


def test_two_relations_to_one_third_are_contested_after_a_merge(twins: Vault) -> None:
    pairs = [twins.create_understanding([name, "Homelab"], f"{name} is there.", "There.").id for name in ("Redis", "rc")]
    made = twins.merge_subjects("Redis", "Redis cache")
    assert [set(group) for group in made.contested] == [set(pairs)]


def test_what_a_subject_is_summarised_as_outlives_its_merges(twins: Vault) -> None:
    twins.set_structural_understanding("Redis", "Part of Homelab, below the proxy.", summary="Part of Homelab.")
    twins.merge_subjects("Redis", "Redis cache")
    twins.create_subjects([{"name": "KeyDB"}])
    made = twins.merge_subjects("Redis", "KeyDB")
    [entry] = twins.index.catalog.get(made.structural_understanding_id)
    assert entry.text("summary") == "Part of Homelab. Merged from Redis cache. Merged from KeyDB."


@pytest.mark.in_git
def test_two_names_of_one_subject_make_no_relationship(twins: Vault, root: Path) -> None:
    with untouched(root), fails(UsageError, "needs two subjects"):
        twins.create_understanding(["Redis", "Valkey"], "Itself.", "Itself.")
    write(root, "vault/by hand.md", note(1, "Of one.", type="relationship", summary="Of one.", subjects="[Redis, Valkey]"))
    assert codes(twins) == ["relationship-of-one"]


@pytest.mark.in_git
@pytest.mark.parametrize("way", [("Redis", "Redis cache"), ("Redis cache", "Redis")])
def test_a_look_beforehand_says_what_a_merge_then_does(twins: Vault, root: Path, way: tuple[str, str]) -> None:
    twins.create_understanding(["Redis"], "Redis is fast.", "Fast.")
    twins.create_understanding(["rc"], "The cache is slow.", "Slow.")
    twins.create_understanding(["Redis", "rc"], "They are near.", "Near.")
    twins.set_structural_understanding("Redis", "Part of Homelab.", summary="Part of Homelab.")
    for name in ("Redis", "rc"):
        twins.create_understanding([name, "Homelab"], f"{name} is there.", "There.")
    with untouched(root):
        look = twins.merge_subjects(*way, dry_run=True)
    done = twins.merge_subjects(*way)
    assert look.dry_run and not done.dry_run and look.unfit == done.unfit == ()
    for name in ("duplicate", "aliases_added", "observations_retagged", "understandings_retagged", "relinked", "removed"):
        assert getattr(look, name) == getattr(done, name), name
    assert look.primary.id == done.primary.id
    assert sorted(map(sorted, look.contested)) == sorted(map(sorted, done.contested)) != []


@pytest.mark.in_git
@pytest.mark.parametrize("spoil", ["subjects: [", "a: &x b\nc: *x\n<<: *x"])
def test_notes_that_keep_it_from_being_done_are_all_named(twins: Vault, root: Path, spoil: str) -> None:
    broken = [twins.remember(f"Of the twin too, {number}.", ["Redis cache"]) for number in range(3)]
    for made in broken[:2]:
        path = root / made.path
        path.write_text(path.read_text().replace("subjects: [Redis cache]", f"{spoil}\nsubjects: [Redis cache]"))
    with untouched(root):
        look = twins.merge_subjects("Redis", "Redis cache", dry_run=True)
    assert {one.path for one in look.unfit} == {made.path for made in broken[:2]}
    assert all(one.reason.startswith(one.path) and "\n" not in one.reason for one in look.unfit)
    with untouched(root), fails(Refused, look.unfit[0].path, "and 1 more note"):
        twins.merge_subjects("Redis", "Redis cache")


def test_a_look_on_the_command_line(twins: Vault, root: Path) -> None:
    twins.close()
    said = vt("merge-subjects", "Redis", "Redis cache", "--dry-run", cwd=root)
    assert said.returncode == 0 and "Redis cache would become Redis" in said.stdout
    assert (root / "vault/subjects/redis-cache.md").exists()
