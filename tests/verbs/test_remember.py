from __future__ import annotations

import re
import time
import uuid
from pathlib import Path

import pytest

from tests.git_repos import git, write
from tests.verbs.looking import (
    TODAY,
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
from vault_tool.errors import Ambiguous, NotFound, Refused, UsageError

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""

CONTENT = "Redis drops idle connections after 300 s.\n\nSeen twice after the restart."


@pytest.mark.in_git
def test_every_field_of_the_answer_is_true_of_the_files(vault: Vault, root: Path) -> None:
    made = vault.remember(CONTENT, ["Redis", "Homelab"], kind="problem")

    assert uuid.UUID(made.id).version == 4
    assert made.content == CONTENT
    assert made.subject_names == made.subjects_created == ("Redis", "Homelab")
    assert made.similar_subjects == {}
    assert made.type == "problem"
    assert made.title == "Redis drops idle connections after 300 s"
    assert made.path == f"vault/observations/2026/11/redis-drops-idle-connections-after-300-s-{made.id[:6]}.md"
    assert made.duplicate_of is None
    assert made.warnings == ()
    assert_committed(made, root)


def test_the_note_is_what_a_person_would_write(vault: Vault, root: Path) -> None:
    made = vault.as_(session="s1", model="m1", user="u1", project="p1").remember(CONTENT, ["Redis"], tags=["a", "b"])

    assert text(root, made.path) == (
        "---\n"
        f"id: {made.id}\n"
        "type: general\n"
        "subjects: [Redis]\n"
        "tags: [a, b]\n"
        "generation: 0\n"
        "created: 2026-11-20T10:00:00+00:00\n"
        "session: s1\n"
        "model: m1\n"
        "origin: agent\n"
        "user: u1\n"
        "project: p1\n"
        "---\n"
        f"{CONTENT}\n"
    )


@pytest.mark.in_git
def test_one_commit_holds_the_note_its_new_subjects_and_the_log(vault: Vault, root: Path) -> None:
    tip = head(root)
    made = vault.as_(session="s1").remember(CONTENT, ["Redis"], title="Idle Redis")

    assert git(root, "rev-parse", "HEAD^") == tip
    assert subjects(root) == ["remember: Idle Redis"]
    assert trailers(root) == {"Vault-Op": "remember", "Vault-Session": "s1", "Vault-Ids": made.id}
    journal = f"vault/episodes/{TODAY}.{vault.local.token()}.md"
    assert in_commit(root) == {made.path: "A", "vault/subjects/redis.md": "A", journal: "A"}


def test_the_log_of_the_day_tells_of_it_and_links_to_it(vault: Vault, root: Path) -> None:
    made = vault.remember("What happened.", ["Redis"], kind="fact", title="Idle [Redis]", tags=["x", "y"])

    journal = f"vault/episodes/{TODAY}.{vault.local.token()}.md"
    lines = text(root, journal).split("\n")
    assert lines[0] == f"# {TODAY}"
    assert lines[2] == "## 10:00 - Idle [Redis]"
    assert lines[3:5] == ["- **Type:** fact", "- **Tags:** x, y"]
    target = re.fullmatch(r"- \*\*Memory:\*\* \[.*\]\((.*)\)", lines[5])
    assert target is not None
    assert (root / journal).parent.joinpath(target[1]).resolve() == (root / made.path).resolve()
    assert lines[6] == "- **Summary:** What happened."


def test_every_parameter_reaches_the_head(vault: Vault) -> None:
    problem = vault.remember("It hangs.", kind="problem")
    target = vault.remember("An old fact.", kind="fact")
    synthesis = vault.create_understanding(["Redis"], "All of it.", "In short.")

    made = vault.remember(
        "Restart it.", ["Redis"], kind="solution", title="Restart", tags=["ops"], importance=0.9, confidence=0.4,
        related_to=[synthesis.id[:8]], problem=problem.id[:8], failure_mode="none", change_targets=[target.id[:8]],
        evidence=["file:src/redis.py@9f3c1e2", "session:turn_42"], rationale="Seen\ntwice.", observed_at="2026-11-19",
        expires="2027-01-01T12:00:00+02:00", turn="42", steps=["stop", "start"], preconditions=["root"],
        postconditions=["up"], pinned=True,
    )  # fmt: skip

    shown = vault.show(made.id).head
    assert shown == {
        "id": made.id, "type": "solution", "title": "Restart", "subjects": ["Redis"], "tags": ["ops"], "importance": 0.9,
        "confidence": 0.4, "generation": 0, "observed": "2026-11-19T00:00:00+00:00", "created": "2026-11-20T10:00:00+00:00",
        "turn": "42", "origin": "agent", "rationale": "Seen twice.",
        "evidence": ["file:src/redis.py@9f3c1e2", "session:turn_42"], "related_to": [synthesis.id], "problem": problem.id,
        "failure_mode": "none", "change_targets": [target.id], "steps": ["stop", "start"], "preconditions": ["root"],
        "postconditions": ["up"], "expires": "2027-01-01T10:00:00+00:00", "pinned": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("content", "problems"),
    [
        ("---\nid: not-a-head\n---\nText.", []),
        ("a line  \nwith two spaces at its end", []),
        ("    indented code", []),
        ("tab\there and \\ back", []),
        ('keep: [me, "as I am"] # not a comment', []),
        ("日本語のメモ。二つ目の文。", []),
        ("## A heading\n\n```python\nprint('x')\n```", []),
        # No note is called so, of either.
        ("[[Redis]] and [[no such thing]]", ["dead-link", "dead-link"]),
        ("\u202eturned\u202c and \u200bhidden", []),
    ],
)
def test_the_text_comes_back_as_it_was_given(vault: Vault, content: str, problems: list[str]) -> None:
    made = vault.remember(content)
    assert vault.show(made.id).content == content
    assert codes(vault, made.path) == problems


@pytest.mark.in_git
@pytest.mark.parametrize("content", ["<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> other\n", "a\0b", "half \ud800 a pair"])
def test_what_could_not_be_read_back_is_refused_before_it_is_written(vault: Vault, root: Path, content: str) -> None:
    with untouched(root), fails(UsageError):
        vault.remember(content)


@pytest.mark.in_git
def test_conflict_markers_in_fenced_code_are_a_text_like_any_other(vault: Vault, root: Path) -> None:
    content = "Git writes\n\n```\n<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> other\n```"
    made = vault.remember(content)
    assert_committed(made, root)
    assert vault.show(made.id).content == content
    assert codes(vault, made.path) == []


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("../../etc/passwd", "etc-passwd"),
        ("CON", "con-note"),
        ("-rf", "rf"),
        ("🙂" * 70, "untitled"),
        ("Größe", "grosse"),
        ("память", "память"),
        ("x" * 300, "x" * 40),
        (".git/config", "git-config"),
    ],
)
def test_no_title_leads_out_of_its_folder(vault: Vault, root: Path, title: str, name: str) -> None:
    made = vault.remember("Text.", title=title)
    assert made.path == f"vault/observations/2026/11/{name}-{made.id[:6]}.md"
    assert (root / made.path).is_file()
    assert made.title == title


def test_subjects_that_exist_are_found_under_any_spelling(vault: Vault) -> None:
    vault.create_subjects([{"name": "Memory system", "aliases": ["the vault"]}])

    made = vault.remember("Text.", ["memory_system", "THE VAULT", "Memory-System"])

    assert made.subject_names == ("Memory system",)
    assert made.subjects_created == ()


def test_a_near_miss_is_made_as_asked_and_named(vault: Vault) -> None:
    vault.create_subjects([{"name": "Wealth simulator"}])
    made = vault.remember("Text.", ["wealth_sim"])
    assert made.subject_names == made.subjects_created == ("wealth_sim",)
    assert made.similar_subjects == {"wealth_sim": ["Wealth simulator"]}


def test_two_new_subjects_of_one_call_are_near_misses_of_each_other_too(vault: Vault) -> None:
    made = vault.remember("Text.", ["Wealth simulator", "Wealth sim", "wealth SIM"])
    assert made.subjects_created == ("Wealth simulator", "Wealth sim")
    assert made.similar_subjects == {"Wealth simulator": ["Wealth sim"], "Wealth sim": ["Wealth simulator"]}


@pytest.mark.in_git
def test_a_repeat_writes_nothing_and_names_the_first(vault: Vault, root: Path) -> None:
    first = vault.remember("Redis  drops\nconnections.", ["Redis"], kind="fact")
    with untouched(root):
        again = vault.remember("Redis drops connections.\n\n", ["Redis"], kind="fact")

    assert again.id == again.duplicate_of == first.id
    assert (again.path, again.title, again.subject_names) == (first.path, first.title, ("Redis",))
    assert again.content == first.content
    assert (again.committed, again.commit, again.reason, again.attention) == (False, None, "", False)
    assert (again.subjects_created, again.added, again.dropped, again.warnings) == ((), (), (), ())


@pytest.mark.parametrize("difference", [{"project": "other"}, {"user": "other"}])
def test_the_same_text_for_another_project_or_user_is_another_memory(vault: Vault, difference: dict[str, str]) -> None:
    first = vault.remember("Redis drops connections.")
    assert vault.as_(**difference).remember("Redis drops connections.").id != first.id


def test_the_same_text_of_another_type_is_another_memory(vault: Vault) -> None:
    first = vault.remember("Redis drops connections.", kind="fact")
    second = vault.remember("Redis drops connections.", kind="problem")
    assert second.id != first.id
    assert second.duplicate_of is None


def test_a_repeat_of_a_note_that_a_person_wrote_by_hand_is_one_too(vault: Vault, root: Path) -> None:
    write(root, "vault/somewhere/hers.md", note(1, "Redis drops connections."))
    assert vault.remember("Redis drops connections.", kind="fact").duplicate_of == identity(1)


def _looked_around(vault: Vault) -> None:
    """What a vault knows that has been open for a while: folders that did not change just now are not looked into again."""
    time.sleep(0.05)
    vault.remember("The kettle is on.", ["Kitchen"])
    time.sleep(0.05)
    vault.remember("The kettle is off.", ["Kitchen"])


def test_an_append_sees_a_subject_that_was_renamed_by_hand_in_its_place(vault: Vault, root: Path) -> None:
    vault.remember("Redis drops connections.", ["Redis"])
    _looked_around(vault)
    [file] = (root / "vault/subjects").glob("redis*.md")
    file.write_text(file.read_text().replace("name: Redis", "name: Valkey"))
    made = vault.remember("Valkey keeps connections.", ["Valkey"])
    assert (made.subject_names, made.subjects_created) == (("Valkey",), ())


def test_an_append_sees_what_was_put_into_a_folder_by_hand(vault: Vault, root: Path) -> None:
    write(root, "vault/somewhere/first.md", note(1, "Redis drops connections."))
    _looked_around(vault)
    write(root, "vault/somewhere/hers.md", note(2, "Redis keeps connections."))
    assert vault.remember("Redis keeps connections.", kind="fact").duplicate_of == identity(2)


@pytest.mark.in_git
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"content": " \n "}, "nothing to remember"),
        ({"kind": "a b"}, "`a b` cannot be a type"),
        ({"kind": ""}, "cannot be a type"),
        ({"kind": "single_subject"}, "vt create-understanding"),
        ({"kind": "SOLVES"}, "vt link"),
        ({"kind": "subject"}, "vt create-subjects"),
        ({"importance": 1.5}, "importance must be from 0 to 1, not 1.5"),
        ({"confidence": -0.1}, "confidence must be from 0 to 1"),
        ({"confidence": float("nan")}, "confidence is no number that can be kept"),
        ({"observed_at": "yesterday"}, "observed_at `yesterday` is not a time"),
        ({"expires": "2026-02-30"}, "expires `2026-02-30` is not a time"),
        ({"subject_names": ["Redis", " "]}, "a subject's name is empty"),
    ],
)
def test_what_cannot_be_meant_is_said_in_one_line(vault: Vault, root: Path, options: dict[str, object], says: str) -> None:
    with untouched(root), fails(UsageError, says):
        vault.remember(**({"content": "Text."} | options))  # type: ignore[arg-type]


@pytest.mark.in_git
def test_references_must_be_to_what_they_say(vault: Vault, root: Path) -> None:
    fact = vault.remember("A fact.", kind="fact")
    with untouched(root):
        with fails(UsageError, fact.id[:6], "of type fact, not a problem"):
            vault.remember("Text.", kind="solution", problem=fact.id)
        with fails(NotFound, "deadbeef", "vt search"):
            vault.remember("Text.", kind="solution", problem="deadbeef")
        with fails(NotFound, "as understanding"):
            vault.remember("Text.", related_to=[fact.id])
        with fails(NotFound, "type at least 4 characters"):
            vault.remember("Text.", change_targets=["abc"])


@pytest.mark.in_git
def test_an_ambiguous_prefix_names_its_candidates(vault: Vault, root: Path) -> None:
    for number, title in ((1, "First"), (2, "Second")):
        copy = note(number, f"Text {number}.", title=title, type="problem").replace(
            identity(number), f"abcdef0{number}" + identity(0)[8:]
        )
        write(root, f"vault/{number}.md", copy)
    with untouched(root), fails(Ambiguous, "abcdef", "First", "Second", "type more of the id"):
        vault.remember("Text.", kind="solution", problem="abcdef")


@pytest.mark.in_git
def test_a_name_that_two_subjects_claim_is_refused(vault: Vault, root: Path) -> None:
    for number in (1, 2):
        write(root, f"vault/subjects/{number}.md", f"---\nid: {identity(number)}\ntype: subject\nname: Redis\n---\n")
    with untouched(root), fails(Refused, "`redis`", "vault/subjects/1.md", "vault/subjects/2.md"):
        vault.remember("Text.", ["redis"])
    assert codes(vault).count("duplicate-subject-name") == 2


def test_more_than_four_subjects_draw_a_warning(vault: Vault) -> None:
    four = vault.remember("One.", list("abcd"))
    assert four.warnings == ()
    five = vault.remember("Two.", list("abcde"))
    assert len(five.warnings) == 1
    assert "5 subjects are 10 claims" in five.warnings[0]


@pytest.mark.in_git
@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("solution", "problem="),
        ("failed_tactic", "problem="),
        ("change", "change_targets=..."),
        ("recipe", "not a type of this vault"),
    ],
)
def test_what_is_missing_is_remarked_and_stored_all_the_same(vault: Vault, root: Path, kind: str, says: str) -> None:
    made = vault.remember("Text.", kind=kind)
    assert_committed(made, root)
    assert made.type == kind
    assert len(made.warnings) == 1
    assert says in made.warnings[0]


def test_a_type_in_other_letters_is_the_type_and_a_strange_one_is_remarked_upon(vault: Vault) -> None:
    assert [vault.remember(text, kind=text).type for text in ("Fact", "DECISION")] == ["fact", "decision"]
    (said,) = vault.remember("Text.", kind="recipe").warnings
    assert said.startswith("`recipe` is not a type of this vault: it is kept as an observation of weight 0.8 (the types are ")
    (said,) = vault.remember("Another text.", kind="lessons").warnings
    assert said.endswith("of weight 0.8; did you mean insight?")


def test_a_type_of_the_vaults_own_is_no_surprise(root: Path) -> None:
    settings = root / "vault.toml"
    settings.write_text(settings.read_text() + '\n[types.recipe]\nclass = "observation"\nweight = 1.2\n')
    with Vault.open(root) as vault:
        assert vault.remember("Text.", kind="recipe").warnings == ()


def test_evidence_for_what_is_superseded_is_remarked(vault: Vault) -> None:
    old = vault.create_understanding(["Redis"], "It is a cache.", "A cache.")
    assert vault.remember("It caches pages.", related_to=[old.id]).warnings == ()
    new = vault.update_understanding(old.id, "It is a store.", "A store.").new_understanding_id
    (remark,) = vault.remember("It keeps orders.", related_to=[old.id]).warnings
    assert new[:6] in remark and "superseded" in remark


def test_the_generation_is_the_passes_so_far(vault: Vault, root: Path) -> None:
    for number, parents in ((1, ""), (2, identity(1))):
        write(
            root,
            f"vault/consolidations/{number}.md",
            f"---\nid: {identity(number)}\ntype: consolidation\nparents: [{parents}]\n---\n",
        )
    made = vault.remember("Text.")
    assert vault.show(made.id).generation == 2


def test_a_subject_that_vanished_is_made_again(vault: Vault, root: Path) -> None:
    vault.remember("One.", ["Redis"])
    (root / "vault/subjects/redis.md").unlink()
    assert vault.remember("Two.", ["Redis"]).subjects_created == ("Redis",)


def test_origin_is_an_agents_unless_it_is_said(root: Path) -> None:
    with Vault.open(root, origin="owner", environ={"VAULT_SESSION": "s9", "VAULT_MODEL": "m9"}) as vault:
        shown = vault.show(vault.remember("Text.").id)
    assert (shown.origin, shown.head["session"], shown.head["model"]) == ("owner", "s9", "m9")


@pytest.mark.in_git
def test_a_type_that_is_nearly_another_is_asked_about(vault: Vault, root: Path) -> None:
    for slip in ("decison", "desicion", "Decisions", "fcat"):
        with untouched(root), fails(UsageError, f"`{slip}` is no type here yet", "--new-type"):
            vault.remember("We stay on Postgres.", kind=slip)
        with untouched(root), fails(UsageError, "observation 2", "--new-type"):
            vault.add_observations([{"content": "One."}, {"content": "Two.", "kind": slip}])
    for kind in ("recipe", "session", "question", "FACT"):
        assert vault.remember(f"A {kind}.", kind=kind).type == kind.replace("FACT", "fact")
    with fails(UsageError, "nearly `recipe`"):
        vault.remember("Soup.", kind="recipes")


def test_a_type_of_ones_own_is_kept_and_then_known(vault: Vault) -> None:
    assert vault.remember("A reading.", kind="facet", new_type=True).type == "facet"
    assert vault.remember("Another.", kind="facet").type == "facet"
    made = vault.add_observations([{"content": "A third.", "kind": "patterns", "new_type": True}])
    assert [one.type for one in made.results] == ["patterns"]
