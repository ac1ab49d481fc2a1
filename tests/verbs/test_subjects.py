from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.git_repos import write
from tests.verbs.looking import (
    START,
    assert_committed,
    codes,
    fails,
    head,
    identity,
    in_commit,
    note,
    subjects,
    text,
    trailers,
    untouched,
)
from vault_tool import Vault
from vault_tool.errors import NotFound, Refused, UsageError
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""


@pytest.fixture
def plain(founded_without_git: Path, tmp_path: Path) -> Iterator[Vault]:
    """A vault without git."""
    shutil.copytree(founded_without_git, tmp_path / "lab")
    with Vault.open(tmp_path / "lab", clock=FixedClock(START)) as opened:
        yield opened


@pytest.mark.in_git
def test_several_subjects_are_made_in_one_commit(vault: Vault, root: Path) -> None:
    made = vault.create_subjects([{"name": "Redis"}, {"name": "Home lab", "summary": "The rack."}])

    assert [one.name for one in made.results] == ["Redis", "Home lab"]
    assert [one.path for one in made.results] == ["vault/subjects/redis.md", "vault/subjects/home-lab.md"]
    assert all(uuid.UUID(one.id).version == 4 for one in made.results)
    assert {one.created for one in made.results} == {"2026-11-20T10:00:00+00:00"}
    assert not any(one.existed or one.similar_subjects for one in made.results)
    assert_committed(made, root)
    assert subjects(root) == ["create-subjects: Redis, Home lab"]
    assert trailers(root)["Vault-Ids"].split() == [one.id for one in made.results]


def test_the_file_holds_what_was_given(vault: Vault, root: Path) -> None:
    given = {
        "name": "Memory system",
        "summary": "What it is\nfor.",
        "tags": ["a"],
        "aliases": ["the vault"],
        "key": "mem",
        "role": "project",
    }
    [made] = vault.create_subjects([given]).results
    assert text(root, made.path) == (
        "---\n"
        f"id: {made.id}\n"
        "type: subject\n"
        "name: Memory system\n"
        "aliases: [the vault]\n"
        "summary: What it is for.\n"
        "tags: [a]\n"
        "key: mem\n"
        "role: project\n"
        "created: 2026-11-20T10:00:00+00:00\n"
        "origin: agent\n"
        "---\n"
    )


@pytest.mark.in_git
@pytest.mark.parametrize("name", ["redis", "REDIS", "Redis ", "Rédis".replace("é", "e"), "valkey", "key_value store"])
def test_a_name_or_alias_that_exists_is_refused_with_its_place(vault: Vault, root: Path, name: str) -> None:
    vault.create_subjects([{"name": "Redis", "aliases": ["Valkey", "key-value-store"]}])
    with untouched(root), fails(UsageError, "`Redis` exists already", "vault/subjects/redis.md"):
        vault.create_subjects([{"name": "New"}, {"name": name}])


@pytest.mark.in_git
def test_an_alias_that_is_taken_is_refused_too(vault: Vault, root: Path) -> None:
    vault.create_subjects([{"name": "Redis"}])
    with untouched(root), fails(UsageError, "`Redis` exists already"):
        vault.create_subjects([{"name": "Valkey", "aliases": ["redis"]}])


@pytest.mark.in_git
@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([], "no subject was named"),
        ([{"name": " "}], "a subject needs a name"),
        ([{"summary": "x"}], "a subject needs a name"),
        ([{"name": "A", "color": "red"}], "no field `color`"),
        ([{"name": "A"}, {"name": "a"}], "`a` is named twice"),
        ([{"name": "A", "aliases": ["B"]}, {"name": "b"}], "`b` is named twice"),
        ([{"name": "A", "tags": "one"}], "`tags` of a subject is a list"),
        ([{"name": "A", "aliases": "one"}], "`aliases` of a subject is a list"),
    ],
)
def test_what_cannot_be_made_is_said_and_none_is_made(
    vault: Vault, root: Path, given: list[dict[str, object]], says: str
) -> None:
    with untouched(root), fails(UsageError, says):
        vault.create_subjects(given)


def test_near_misses_are_named_among_the_old_and_the_new(vault: Vault) -> None:
    vault.create_subjects([{"name": "Wealth Simulator"}])
    made = vault.create_subjects([{"name": "wealth sim"}, {"name": "WealthSimulator"}])
    assert made.results[0].similar_subjects == ("Wealth Simulator",)
    assert "Wealth Simulator" in made.results[1].similar_subjects


@pytest.mark.in_git
def test_a_key_makes_it_an_upsert(vault: Vault, root: Path, clock: FixedClock) -> None:
    [first] = vault.create_subjects([{"name": "Kim", "key": "npc-7", "summary": "Old."}]).results
    clock.advance(timedelta(days=1))

    made = vault.create_subjects(
        [{"name": "Kim the brave", "key": "npc-7", "summary": "New.", "tags": ["hero"], "role": "character"}]
    )

    [again] = made.results
    assert (again.id, again.name, again.path, again.existed) == (first.id, "Kim", first.path, True)
    assert again.created == "2026-11-20T10:00:00+00:00"
    assert_committed(made, root)
    assert in_commit(root)[first.path] == "M"
    assert text(root, first.path) == (
        f"---\nid: {first.id}\ntype: subject\nname: Kim\nsummary: New.\nkey: npc-7\n"
        "created: 2026-11-20T10:00:00+00:00\norigin: agent\nrole: character\ntags: [hero]\n---\n"
    )
    assert subjects(root) == ["create-subjects: Kim"]
    assert trailers(root)["Vault-Ids"] == first.id


@pytest.mark.in_git
def test_an_upsert_of_what_is_so_already_writes_nothing(vault: Vault, root: Path) -> None:
    given = {"name": "Kim", "key": "npc-7", "summary": "Old.", "tags": ["a"]}
    vault.create_subjects([given])
    with untouched(root):
        again = vault.create_subjects([given])
    assert again.results[0].existed
    assert (again.committed, again.reason, again.attention) == (False, "", False)


@pytest.mark.in_git
def test_one_key_twice_in_one_call_is_refused(vault: Vault, root: Path) -> None:
    with untouched(root), fails(UsageError, "key `k`", "twice"):
        vault.create_subjects([{"name": "A", "key": "k"}, {"name": "B", "key": "k"}])


def test_a_card_tells_what_hangs_on_a_subject(vault: Vault, root: Path, clock: FixedClock) -> None:
    [subject] = vault.create_subjects(
        [{"name": "Redis", "summary": "A store.", "aliases": ["Valkey"], "tags": ["db"], "role": "project"}]
    ).results
    vault.remember("One.", ["Redis"], observed_at="2026-11-01")
    clock.advance(timedelta(hours=1))
    vault.remember("Two.", ["valkey", "Homelab"])
    synthesis = vault.create_understanding(["Redis"], "All.", "In short.")
    structural = vault.set_structural_understanding("Valkey", "It was renamed.")
    vault.create_understanding(["Redis", "Homelab"], "Both.", "Both in short.")

    [card] = vault.get_subjects(["REDIS"]).results

    assert (card.id, card.name, card.summary, card.path) == (subject.id, "Redis", "A store.", "vault/subjects/redis.md")
    assert (card.tags, card.aliases, card.role, card.body) == (("db",), ("Valkey",), "project", "")
    assert card.single_subject_understanding is not None
    assert card.structural_understanding is not None
    assert (card.single_subject_understanding.id, card.single_subject_understanding.summary) == (synthesis.id, "In short.")
    assert card.single_subject_understanding.generation == 0
    assert card.structural_understanding.id == structural.understanding_id
    assert (card.observation_count, card.understanding_count) == (2, 3)
    assert card.last_observation_at == "2026-11-20T11:00:00+00:00"


def test_pointers_follow_the_revisions(vault: Vault) -> None:
    first = vault.create_understanding(["Redis"], "All.", "In short.")
    second = vault.update_understanding(first.id, "More.", "Longer.")
    [card] = vault.get_subjects(["Redis"]).results
    assert card.single_subject_understanding is not None
    assert card.single_subject_understanding.id == second.new_understanding_id
    assert card.understanding_count == 1, "a superseded one is history"


def test_a_bare_subject_points_at_nothing(vault: Vault) -> None:
    vault.create_subjects([{"name": "Redis"}])
    [card] = vault.get_subjects().results
    assert (card.summary, card.role, card.last_observation_at) == (None, "", None)
    assert (card.single_subject_understanding, card.structural_understanding) == (None, None)
    assert (card.observation_count, card.understanding_count) == (0, 0)


def test_all_subjects_come_by_name(vault: Vault) -> None:
    vault.create_subjects([{"name": name} for name in ("beta", "Alpha", "_gamma")])
    assert [card.name for card in vault.get_subjects().results] == ["Alpha", "beta", "_gamma"]


def test_a_subject_answers_to_name_alias_id_and_prefix(vault: Vault) -> None:
    [made] = vault.create_subjects([{"name": "Redis", "aliases": ["Valkey"]}]).results
    for name in ("redis", "VALKEY", made.id, made.id[:8], made.path):
        assert vault.get_subjects([name]).results[0].id == made.id


def test_a_subject_that_is_asked_for_twice_comes_once(vault: Vault) -> None:
    vault.create_subjects([{"name": "Redis", "aliases": ["Valkey"]}])
    assert len(vault.get_subjects(["Redis", "valkey"]).results) == 1


def test_a_missing_subject_is_named_with_what_comes_near(vault: Vault) -> None:
    vault.create_subjects([{"name": "Wealth Simulator"}])
    with fails(NotFound, "`wealth_sim`", "did you mean Wealth Simulator?"):
        vault.get_subjects(["wealth_sim"])
    with fails(NotFound, "`Nothing`", "vt create-subjects Nothing"):
        vault.get_subjects(["Nothing"])


def test_a_name_that_looks_like_an_id_is_still_a_name(vault: Vault) -> None:
    with fails(NotFound, "`cafe`"):
        vault.get_subjects(["cafe"])
    vault.create_subjects([{"name": "Cafe"}])
    assert vault.get_subjects(["cafe"]).results[0].name == "Cafe"


def test_the_list_of_all_says_of_each_what_is_said_of_it_alone(vault: Vault) -> None:
    vault.create_subjects([{"name": "Redis", "aliases": ["the cache"]}, {"name": "Homelab"}])
    vault.remember("Redis drops idle connections.", ["Redis", "Homelab"])
    vault.remember("The cache forgets at night.", ["the cache", "Redis"])
    first = vault.create_understanding(["Redis"], "Redis needs keepalive.", "Keepalive")
    vault.update_understanding(first.id, "Redis needs keepalive and more memory.", "Keepalive, memory")
    cards = vault.get_subjects().results
    assert cards == tuple(vault.get_subjects([card.id]).results[0] for card in cards)
    assert [(card.name, card.observation_count, card.understanding_count) for card in cards] == [
        ("Homelab", 1, 0),
        ("Redis", 2, 1),
    ]


def test_two_subjects_of_one_name_are_refused_by_name_and_shown_in_the_list(vault: Vault, root: Path) -> None:
    for number in (1, 2):
        write(root, f"vault/subjects/{number}.md", f"---\nid: {identity(number)}\ntype: subject\nname: Redis\n---\n")
    with fails(Refused, "vault/subjects/1.md, vault/subjects/2.md"):
        vault.get_subjects(["redis"])
    assert [card.id for card in vault.get_subjects().results] == [identity(1), identity(2)]
    assert vault.get_subjects([identity(2)]).results[0].path == "vault/subjects/2.md"


def test_a_body_that_a_person_wrote_is_shown(vault: Vault, root: Path) -> None:
    write(root, "vault/subjects/redis.md", f"---\nid: {identity(1)}\ntype: subject\nname: Redis\n---\nMine, *not* evidence.\n")
    [card] = vault.get_subjects(["Redis"]).results
    assert card.body == "Mine, *not* evidence."
    assert vault.get_subjects().freshness.changed == 0


@pytest.mark.in_git
def test_a_rename_by_hand_offers_the_old_name_as_an_alias(vault: Vault, root: Path) -> None:
    vault.remember("Text.", ["Redis"])
    tip = head(root)
    file = root / "vault/subjects/redis.md"
    file.write_bytes(file.read_bytes().replace(b"name: Redis", b"name: Valkey"))

    [problem] = [one for one in vault.doctor().problems if one.code == "renamed-subject"]
    assert problem.path == "vault/subjects/redis.md"
    assert "`Redis` is called `Valkey` now" in problem.message
    assert "aliases" in problem.hint
    assert head(root) == tip
    file.write_bytes(file.read_bytes().replace(b"name: Valkey\n", b"name: Valkey\naliases: [Redis]\n"))
    assert "renamed-subject" not in codes(vault)
    assert vault.get_subjects(["Valkey"]).results[0].observation_count == 1


def test_an_alias_brings_what_is_tagged_with_it(plain: Vault) -> None:
    plain.create_subjects([{"name": "Redis", "aliases": ["cache"]}])
    write(plain.root, "vault/by hand.md", note(1, "Quick.", subjects="[Valkey]"))
    made = plain.add_alias("cache", ["Valkey", "valkey", "CACHE"])
    assert (made.added, made.gained, made.aliases) == (("valkey",), 1, ("cache", "valkey"))
    assert [one.observation_count for one in plain.get_subjects(["Redis"]).results] == [1]
    again = plain.add_alias("Redis", "VALKEY")
    assert (again.added, again.commit, again.gained) == ((), None, 0)


@pytest.mark.in_git
def test_a_name_of_another_subject_is_no_alias_and_nothing_is_written(vault: Vault, root: Path) -> None:
    vault.create_subjects([{"name": "Redis"}, {"name": "Key value", "aliases": ["Valkey"]}])
    for taken in ("valkey", "key-value"):
        with untouched(root), fails(Refused, "`Key value` (vault/subjects/key-value.md)", "merge-subjects Redis 'Key value'"):
            vault.add_alias("Redis", ["new", taken])
    for name, aliases in (("Redis", [" "]), ("Redis", [])):
        with untouched(root), fails(UsageError, "an alias is empty"):
            vault.add_alias(name, aliases)
    with fails(NotFound, "no subject is called `Postgres`"):
        vault.add_alias("Postgres", ["pg"])


def test_who_made_a_subject_is_told(plain: Vault) -> None:
    agent, owner = plain, plain.as_(origin="owner")
    owner.create_subjects([{"name": "Made by hand"}])
    made = plain.as_(session="s1", model="opus").create_subjects([{"name": "Made by an agent"}]).results[0]
    agent.remember("Of a new one.", ["Minted"])
    owner.remember("Of it again.", ["Minted"])
    owner.remember("Of the owner's own.", ["Named"])
    wanted = {"Made by hand": "owner", "Made by an agent": "agent", "Minted": "agent", "Named": "owner"}
    assert {one.name: one.origin for one in plain.get_subjects().results} == wanted
    for name, origin in wanted.items():
        assert plain.show(name).origin == origin
        assert [one.origin for one in plain.search(name, kinds=["subject"]).results if one.title == name] == [origin]
    lines = (plain.root / made.path).read_text().splitlines()
    assert lines[-4:] == ["session: s1", "model: opus", "origin: agent", "---"]
