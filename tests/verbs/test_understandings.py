from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from tests.git_repos import commit_all, git, write
from tests.statuses import said
from tests.verbs.looking import (
    TODAY,
    assert_committed,
    codes,
    fails,
    found,
    identity,
    in_commit,
    subjects,
    text,
    trailers,
    untouched,
)
from tests.wording import bare
from vault_tool import Vault
from vault_tool.errors import NotFound, Refused, UsageError
from vault_tool.features.consolidation.passes import due
from vault_tool.index.relations import successors
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""


def understanding(number: int, names: str = "[Redis]", supersedes: Sequence[int] = (), type: str = "single_subject") -> str:
    """An understanding as a person, or another machine, wrote it."""
    old = ", ".join(map(identity, supersedes))
    head = f"id: {identity(number)}\ntype: {type}\nsummary: Summary {number}.\nsubjects: {names}\nsupersedes: [{old}]\n"
    return f"---\n{head}created: 2026-11-20T10:00:{number:02}+00:00\n---\nText {number}.\n"


def put(root: Path, number: int, names: str = "[Redis]", supersedes: Sequence[int] = (), type: str = "single_subject") -> str:
    """Put one beside the tool's own; gives its id."""
    write(root, f"vault/understandings/{number}.md", understanding(number, names, supersedes, type))
    return identity(number)


@pytest.mark.in_git
def test_every_field_of_a_new_one_is_true_of_the_files(vault: Vault, root: Path) -> None:
    source = vault.remember("Seen.", ["Redis"])
    made = vault.as_(session="s1", model="m1").create_understanding(
        ["redis"], "Redis forgets us.\n\nAll of it.", "Redis forgets\nidle clients.", tags=["ops"],
        source_observation_ids=[source.id[:8]], reason="First look", importance=0.9, confidence=0.6,
    )  # fmt: skip

    assert made.type == "single_subject"
    assert made.subjects == ("Redis",)
    assert (made.subjects_created, made.superseded) == ((), ())
    assert [said[:24] for said in made.warnings] == ["it rests on one memory, "]
    assert made.title == "Redis forgets idle clients"
    assert made.created == "2026-11-20T10:00:00+00:00"
    assert made.path == f"vault/understandings/redis-forgets-idle-clients-{made.id[:6]}.md"
    assert_committed(made, root)
    assert text(root, made.path) == (
        "---\n"
        f"id: {made.id}\n"
        "type: single_subject\n"
        "summary: Redis forgets idle clients.\n"
        "subjects: [Redis]\n"
        "tags: [ops]\n"
        "importance: 0.9\n"
        "confidence: 0.6\n"
        "generation: 0\n"
        f"sources: [{source.id}]\n"
        "reason: First look\n"
        "created: 2026-11-20T10:00:00+00:00\n"
        "session: s1\n"
        "model: m1\n"
        "origin: agent\n"
        "---\n"
        "Redis forgets us.\n\nAll of it.\n"
    )
    assert subjects(root) == ["create-understanding: Redis forgets idle clients"]
    assert trailers(root) == {"Vault-Op": "create-understanding", "Vault-Session": "s1", "Vault-Ids": made.id}
    journal = f"vault/episodes/{TODAY}.{vault.local.token()}.md"
    assert in_commit(root) == {made.path: "A", journal: "M"}


def test_evidence_that_was_placed_stays_placed_whichever_verb_revises(vault: Vault) -> None:
    first, second = (vault.remember(text, ["Redis"]).id for text in ("Seen.", "Seen again."))
    old = vault.create_understanding(["Redis"], "One.", "One.", source_observation_ids=[first])
    vault.pin(old.id)
    made = vault.create_understanding(["Redis"], "Two.", "Two.", source_observation_ids=[second])
    assert made.superseded == (old.id,)
    head = vault.show(made.id).head
    assert (head["sources"], head["pinned"]) == ([first, second], True)
    assert vault.get_consolidation_report().counts["unlinked_observations"] == 0
    assert due(vault).observations == 0


def test_joined_heads_bring_their_evidence(vault: Vault, root: Path) -> None:
    first, second, third = (vault.remember(text, ["Redis"]).id for text in ("Seen.", "Seen again.", "Seen once more."))
    old = vault.create_understanding(["Redis"], "One.", "One.", source_observation_ids=[first])
    vault.update_understanding(old.id, "Two.", "Two.", source_observation_ids=[second])
    [head] = (root / "vault/understandings").glob("two-*.md")
    other = head.read_text().replace(second, third).replace(head.stem[-6:], "0" * 6, 1)
    (head.parent / "other.md").write_text(other)
    joined = vault.update_understanding(old.id, "Three.", "Three.", join=True)
    assert set(vault.show(joined.new_understanding_id).head["sources"]) == {first, second, third}


def test_two_subjects_make_it_a_relationship(vault: Vault) -> None:
    made = vault.create_understanding(["Redis", "Homelab"], "Both.", "Both in short.")
    assert made.type == "relationship"
    assert made.subjects_created == ("Redis", "Homelab")


@pytest.mark.in_git
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"content": " "}, "needs content"),
        ({"summary": "\n"}, "nothing is summarised for you"),
        ({"kind": "fact"}, "`fact` is not a kind of understanding"),
        ({"kind": "essay"}, "the kinds are single_subject, relationship, structural, soul, protocol, orientation"),
        ({"subject_names": []}, "needs a subject"),
        ({"confidence": 2.0}, "confidence must be from 0 to 1, not 2"),
        ({"importance": -1.0}, "importance must be from 0 to 1"),
        ({"kind": "single_subject", "subject_names": ["A", "B"]}, "single_subject understanding has one subject"),
        ({"kind": "structural", "subject_names": ["A", "B"]}, "structural understanding has one subject"),
        ({"kind": "relationship", "subject_names": ["A"]}, "relationship understanding needs two subjects"),
    ],
)
def test_what_cannot_be_meant_is_said_in_one_line(vault: Vault, root: Path, change: dict[str, object], says: str) -> None:
    given = {"subject_names": ["Redis"], "content": "Text.", "summary": "Short."} | change
    with untouched(root), fails(UsageError, says):
        vault.create_understanding(**given)  # type: ignore[arg-type]


@pytest.mark.in_git
def test_sources_are_observations(vault: Vault, root: Path) -> None:
    other = vault.create_understanding(["A"], "Text.", "Short.")
    with untouched(root), fails(NotFound, "as observation"):
        vault.create_understanding(["Redis"], "Text.", "Short.", source_observation_ids=[other.id])


def test_the_active_one_of_the_same_kind_and_subjects_is_superseded(vault: Vault, root: Path) -> None:
    first = vault.create_understanding(["Redis"], "One.", "One.")
    old = text(root, first.path)

    second = vault.create_understanding(["REDIS"], "Two.", "Two.")

    assert second.superseded == (first.id,)
    assert text(root, first.path) == old, "the old file is history and is not touched"
    assert f"supersedes: [{first.id}]\n" in text(root, second.path)
    assert said(vault.show(first.id), "superseded") == (second.id,)
    assert said(vault.show(second.id), "superseded") == ()


def test_other_subjects_and_kinds_are_left_alone(vault: Vault) -> None:
    vault.create_understanding(["Redis"], "One.", "One.")
    vault.create_understanding(["Redis", "Homelab"], "Both.", "Both.")
    assert vault.create_understanding(["Homelab"], "Other.", "Other.").superseded == ()
    assert vault.create_understanding(["Redis", "Homelab", "Rack"], "Three.", "Three.").superseded == ()
    assert vault.create_understanding(["Redis"], "Structural.", "Structural.", kind="structural").superseded == ()


def test_the_order_of_subjects_and_an_alias_make_no_difference(vault: Vault) -> None:
    vault.create_subjects([{"name": "Redis", "aliases": ["Valkey"]}])
    first = vault.create_understanding(["Redis", "Homelab"], "One.", "One.")
    assert vault.create_understanding(["homelab", "valkey"], "Two.", "Two.").superseded == (first.id,)


@pytest.mark.parametrize("kind", ["soul", "protocol", "orientation"])
def test_the_kept_types_belong_to_the_vault_whatever_they_are_tagged_with(vault: Vault, kind: str) -> None:
    vault = vault.as_(origin="owner")
    [starter] = [entry for entry in vault.index.catalog.snapshot().entries if entry.type == kind] if vault.status() else []
    made = vault.create_understanding(["Redis"], "New.", "New.", kind=kind)
    assert made.superseded == (starter.id,)
    assert vault.create_understanding([], "Newer.", "Newer.", kind=kind).superseded == (made.id,)


@pytest.mark.in_git
def test_a_revision_inherits_what_is_not_given(vault: Vault, root: Path, clock: FixedClock) -> None:
    source = vault.remember("Seen.", ["Redis"])
    more = vault.remember("Seen again.", ["Redis"])
    first = vault.create_understanding(
        ["Redis"], "One.", "One.", title="My title", tags=["ops"], source_observation_ids=[source.id], importance=0.9,
        confidence=0.6,
    )  # fmt: skip
    vault.pin(first.id)
    clock.advance(timedelta(days=1))

    made = vault.as_(model="m2").update_understanding(
        first.id[:8], "Two.", "Two in short.", reason="More was\nseen", source_observation_ids=[more.id]
    )

    assert (made.old_understanding_id, made.superseded, made.subjects) == (first.id, (first.id,), ("Redis",))
    assert made.new_understanding_id not in (first.id, "")
    assert made.path == f"vault/understandings/my-title-{made.new_understanding_id[:6]}.md"
    assert_committed(made, root)
    shown = vault.show(made.new_understanding_id)
    assert shown.head == {
        "id": made.new_understanding_id, "type": "single_subject", "title": "My title", "summary": "Two in short.",
        "subjects": ["Redis"], "tags": ["ops"], "importance": 0.9, "confidence": 0.6, "generation": 0,
        "supersedes": [first.id], "sources": [source.id, more.id], "reason": "More was seen",
        "created": "2026-11-21T10:00:00+00:00", "model": "m2", "origin": "agent", "pinned": True,
    }  # fmt: skip
    assert shown.content == "Two."
    assert subjects(root) == ["update-understanding: My title"]


def test_a_title_that_was_only_the_summary_goes_with_it(vault: Vault) -> None:
    first = vault.create_understanding(["Redis"], "One.", "Redis is fine. Really.")
    made = vault.update_understanding(first.id, "Two.", "Redis is broken.")
    assert vault.show(made.new_understanding_id).title == "Redis is broken"


def test_subjects_kind_and_title_can_be_given_anew(vault: Vault) -> None:
    first = vault.create_understanding(["Redis"], "One.", "One.")
    made = vault.update_understanding(first.id, "Two.", "Two.", subject_names=["Redis", "Rack"], kind="relationship", title="T")
    shown = vault.show(made.new_understanding_id)
    assert (shown.type, shown.subjects, shown.title) == ("relationship", ("Redis", "Rack"), "T")


@pytest.mark.in_git
def test_what_is_superseded_is_refused_and_the_head_named(vault: Vault, root: Path) -> None:
    first = vault.create_understanding(["Redis"], "One.", "One.")
    second = vault.update_understanding(first.id, "Two.", "Two.")
    third = vault.update_understanding(second.new_understanding_id, "Three.", "Three.")
    short = third.new_understanding_id[:6]
    with (
        untouched(root),
        fails(Refused, first.id[:6], f"superseded already by {short}", f"vt update-understanding {short}", "--join"),
    ):
        vault.update_understanding(first.id, "Four.", "Four.")


@pytest.mark.in_git
@pytest.mark.parametrize(
    ("content", "summary", "says"), [("", "S.", "needs content"), ("C.", " ", "nothing is summarised for you")]
)
def test_a_revision_needs_both_texts(vault: Vault, root: Path, content: str, summary: str, says: str) -> None:
    first = vault.create_understanding(["Redis"], "One.", "One.")
    with untouched(root), fails(UsageError, says):
        vault.update_understanding(first.id, content, summary)


@pytest.mark.in_git
def test_only_understandings_are_revised(vault: Vault, root: Path) -> None:
    made = vault.remember("Seen.", ["Redis"])
    with untouched(root), fails(NotFound, "as understanding"):
        vault.update_understanding(made.id, "Two.", "Two.")


def test_two_machines_that_revised_at_once_are_contested_and_one_settles_it(vault: Vault, root: Path) -> None:
    base = put(root, 1)
    mine, theirs = put(root, 2, supersedes=[1]), put(root, 3, supersedes=[1])
    with fails(Refused, mine[:6], theirs[:6], "--join"):
        vault.update_understanding(base, "Which one?", "Unclear.")

    made = vault.as_(origin="owner").update_understanding(mine, "Both are right.", "Settled.", join=True)

    assert set(made.superseded) == {mine, theirs}
    assert made.old_understanding_id == mine
    assert said(vault.show(base), "superseded") != ()
    [card] = vault.get_subjects(["Redis"]).results
    assert card.single_subject_understanding is not None
    assert card.single_subject_understanding.id == made.new_understanding_id
    assert card.understanding_count == 1


def test_join_from_an_old_one_settles_all_heads_of_its_chain(vault: Vault, root: Path) -> None:
    base = put(root, 1)
    put(root, 2, supersedes=[1])
    heads = {put(root, 3, supersedes=[2]), put(root, 4, supersedes=[1])}
    made = vault.as_(origin="owner").update_understanding(base, "All.", "All.", join=True)
    assert set(made.superseded) == heads


def test_a_first_synthesis_of_two_machines_is_settled_by_a_third(vault: Vault, root: Path) -> None:
    both = {put(root, 1), put(root, 2)}
    assert set(vault.as_(origin="owner").create_understanding(["Redis"], "Third.", "Third.").superseded) == both


def test_a_revision_takes_the_place_of_what_holds_it(vault: Vault) -> None:
    """Where a revision moves to subjects that have an active one of its kind, nothing is contested by the tool's own hand."""
    redis = vault.create_understanding(["Redis"], "One.", "One.")
    rack = vault.create_understanding(["Rack"], "Two.", "Two.")
    made = vault.update_understanding(redis.id, "Moved.", "Moved.", subject_names=["Rack"], join=True)
    assert set(made.superseded) == {redis.id, rack.id}


def test_members_of_a_cycle_stay_active_and_are_a_problem(vault: Vault, root: Path) -> None:
    one, two = put(root, 1, supersedes=[2]), put(root, 2, supersedes=[1])
    assert said(vault.show(one), "superseded") == said(vault.show(two), "superseded") == ()
    assert "supersession-cycle" in codes(vault)
    made = vault.as_(origin="owner").create_understanding(["Redis"], "New.", "New.")
    assert set(made.superseded) == {one, two}


def test_superseded_ones_are_history_not_answers(vault: Vault) -> None:
    first = vault.create_understanding(["Redis"], "Quartz one.", "Quartz one.")
    vault.update_understanding(first.id, "Quartz two.", "Quartz two.")
    assert found(vault, "quartz") == ["Quartz two"]
    assert set(found(vault, "quartz", everything=True)) == {"Quartz one", "Quartz two"}


@pytest.mark.in_git
def test_a_structural_note_is_written_and_replaced(vault: Vault, root: Path) -> None:
    vault.create_subjects([{"name": "Redis", "aliases": ["Valkey"]}])
    first = vault.set_structural_understanding("valkey", "Also called Valkey. A fork.")

    assert first.subject_name == "Redis"
    assert first.created == "2026-11-20T10:00:00+00:00"
    assert first.superseded == ()
    assert_committed(first, root)
    shown = vault.show(first.understanding_id)
    assert (shown.type, shown.subjects, shown.summary) == ("structural", ("Redis",), "Also called Valkey")
    assert shown.path == first.path

    second = vault.set_structural_understanding("Redis", "Merged.", summary="It was merged.", reason="A merge")
    assert second.superseded == (first.understanding_id,)
    assert vault.show(second.understanding_id).head["reason"] == "A merge"
    assert vault.show(second.understanding_id).summary == "It was merged."
    assert subjects(root) == ["set-structural-understanding: It was merged"]
    assert trailers(root)["Vault-Op"] == "set-structural-understanding"


@pytest.mark.in_git
def test_a_structural_note_needs_its_subject_and_a_text(vault: Vault, root: Path) -> None:
    with untouched(root), fails(NotFound, "no subject is called `Redis`", "vt create-subjects Redis"):
        vault.set_structural_understanding("Redis", "Text.")
    vault.create_subjects([{"name": "Redis"}])
    with untouched(root), fails(UsageError, "needs content"):
        vault.set_structural_understanding("Redis", " ")


@pytest.mark.in_git
def test_a_merge_of_two_clones_shows_both_and_loses_neither(vault: Vault, root: Path, tmp_path: Path) -> None:
    first = vault.create_understanding(["Redis"], "One.", "One.")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(root), str(clone))
    ours = vault.update_understanding(first.id, "Ours.", "Ours.")
    with Vault.open(clone) as other:
        theirs = other.update_understanding(first.id, "Theirs.", "Theirs.")
    git(root, "pull", "--quiet", "--no-rebase", "--no-edit", str(clone), "HEAD")

    assert set(said(vault.show(first.id), "superseded")) == {ours.new_understanding_id, theirs.new_understanding_id}
    assert "more than one is active" in vault.reflection(preview=True).text
    settled = vault.update_understanding(ours.new_understanding_id, "Both.", "Both.", join=True)
    assert set(settled.superseded) == {ours.new_understanding_id, theirs.new_understanding_id}
    assert commit_all(root, "nothing is left over")
    assert in_commit(root) == {}


def test_a_revision_with_another_number_of_subjects_is_told_which_parameter_it_lacks(vault: Vault) -> None:
    old = vault.create_understanding(["Redis"], "It drops.", "It drops.").id
    with pytest.raises(UsageError) as told:
        vault.update_understanding(old, "Both drop.", "Both drop.", subject_names=["Redis", "Valkey"])
    assert bare(told.value.hint) == "what several share needs `kind='relationship'`"
    made = vault.update_understanding(old, "Both drop.", "Both drop.", subject_names=["Redis", "Valkey"], kind="relationship")
    with pytest.raises(UsageError) as told:
        vault.update_understanding(made.new_understanding_id, "It drops.", "It drops.", subject_names=["Redis"])
    assert bare(told.value.hint) == "what one comes to needs `kind='single_subject'`"


def test_one_that_names_no_subject_takes_the_place_of_no_other(vault: Vault, root: Path) -> None:
    other = vault.create_understanding(["Cat"], "The cat is good.", "A good cat.")
    write(root, "vault/understandings/bare.md", understanding(1, "[]"))
    revised = vault.update_understanding(identity(1), "By hand, anew.", "Anew", join=True)
    assert (revised.superseded, revised.contested) == ((), (identity(1),)), "what is written by hand is its owner's"
    assert successors(vault.index.catalog, other.id) == ()
