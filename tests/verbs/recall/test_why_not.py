"""Why a memory is not among the results: the stage is the one at which it fell out, and asking changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.git_repos import write
from tests.verbs.looking import identity, note
from vault_tool import Vault
from vault_tool.errors import NotFound, UsageError
from vault_tool.features.recall.recall import Bundle
from vault_tool.vault.retrieval.filters import Filters
from vault_tool.vault.retrieval.query import Explanation, Query

pytestmark = pytest.mark.without_git

QUESTION = "why do redis connections drop behind the proxy?"


def why(vault: Vault, identity: str, question: str = QUESTION, **given: object) -> Explanation:
    bundle = vault.recall(question, why_not=identity, count=False, **given)  # type: ignore[arg-type]
    assert isinstance(bundle, Bundle)
    assert bundle.why_not is not None
    return bundle.why_not


def test_an_answer_is_told_its_place(vault: Vault) -> None:
    made = vault.remember("Redis connections drop behind the proxy.", ["Redis"], kind="problem")
    found = why(vault, made.id[:8])
    assert (found.stage, found.place) == ("answered", 1)
    assert found.factors is not None
    assert found.factors["score"] > 0


def test_what_shares_nothing_is_not_found(vault: Vault) -> None:
    vault.remember("Redis connections drop behind the proxy.", ["Redis"])
    other = vault.remember("The ferry leaves at noon.", ["Harbour"])
    found = why(vault, other.id)
    assert found.stage == "not found"
    assert "no word of the question" in found.reason


def test_a_filter_is_named(vault: Vault) -> None:
    made = vault.remember("Redis connections drop behind the proxy.", ["Redis"], kind="problem", tags=["lab"])
    assert "type problem" in why(vault, made.id, kinds=["solution"]).reason
    assert "outside of the time" in why(vault, made.id, until="2020-01-01").reason
    assert why(vault, made.id, tags=["ship"]).stage == "filtered"


def test_what_is_superseded_names_its_successor(vault: Vault) -> None:
    old = vault.create_understanding(["Redis"], "Redis connections drop behind the proxy.", "They drop.")
    new = vault.update_understanding(old.id, "Redis connections do not drop behind the proxy any more.", "They stay.")
    found = why(vault, old.id)
    assert found.stage == "filtered"
    assert new.new_understanding_id in found.reason


def test_what_does_not_fit_the_limit_is_told_its_number(vault: Vault) -> None:
    made = [vault.remember(f"Redis connections drop behind the proxy of host {name}.") for name in ("elm", "oak", "fir")]
    found = [why(vault, one.id, limit=1) for one in made]
    assert sorted(one.stage for one in found) in (["answered", "limit", "limit"], ["answered", "folded", "folded"])
    late = next(one for one in found if one.stage != "answered")
    assert late.place is not None
    assert late.place > 1


def test_an_exact_copy_is_folded(vault: Vault, root: Path) -> None:
    for number, observed in ((1, "2026-01-01"), (2, "2026-02-01")):
        copied = note(number, "Redis connections drop behind the proxy.", observed=observed, origin="owner")
        write(root, f"vault/observations/copy{number}.md", copied)
    assert why(vault, identity(2)).stage == "answered"
    copy = why(vault, identity(1))
    assert copy.stage == "folded"
    assert "stands for it" in copy.reason


def test_what_is_believed_to_be_false_says_so(vault: Vault) -> None:
    made = vault.remember("Redis connections drop behind the proxy.", confidence=0.2)
    for number in range(8):
        vault.as_(session=f"s{number}").update(
            memory_id=made.id,
            truth={"target": 0.0, "confidence": 1.0, "rationale": "it was a test", "evidence_refs": ["test:test_proxy"]},
        )
    found = why(vault, made.id)
    assert found.stage == "disbelieved"
    assert why(vault, made.id, doubtful=True).stage == "answered"


def test_asking_counts_nothing(vault: Vault) -> None:
    made = vault.remember("Redis connections drop behind the proxy.")
    why(vault.as_(session="s1"), made.id)
    assert vault.show(made.id).access_count == 0
    assert vault.as_(session="s1").get_session_context().shown_count == 0
    vault.as_(session="s1").recall(QUESTION)
    assert vault.show(made.id).access_count == 1


def test_another_users_memory_is_not_told_of(vault: Vault) -> None:
    made = vault.as_(user="ann").remember("Redis connections drop behind the proxy.")
    with pytest.raises(NotFound):
        why(vault, made.id, user="bob")


def test_a_subject_ranks_nothing(vault: Vault) -> None:
    made = vault.remember("Redis connections drop behind the proxy.", ["Redis"])
    with pytest.raises(UsageError, match="nothing is ranked"):
        vault.recall("Redis", why_not=made.id)


def test_a_refusal_is_given_exactly_where_a_filter_refuses(vault: Vault) -> None:
    vault.remember("Redis drops.", ["Redis"], kind="problem", tags=["lab"], expires="2020-01-01", observed_at="2019-01-01")
    vault.remember("Redis stays.", ["Redis"], kind="solution", tags=["ship"], observed_at="2024-05-01T00:00:00+00:00")
    old = vault.create_understanding(["Redis"], "Redis is a cache.", "A cache.")
    vault.update_understanding(old.id, "Redis is a store.", "A store.")
    entries = vault.index.catalog.snapshot().entries
    plain = Query(query="redis")
    asked = (
        plain, replace(plain, kinds=("solution",)), replace(plain, tags=("lab",)), replace(plain, not_tags=("ship",)),
        replace(plain, since="2025-01-01"), replace(plain, project="x"), replace(plain, subject_names=("Redis",)),
        replace(plain, exclude=frozenset({old.id})), replace(plain, kinds=("orientation",)),
    )  # fmt: skip
    for one in asked:
        filters = Filters(vault, one)
        for entry in entries:
            assert filters.admits(entry) == (not filters.refusal(entry)), (one, entry.title)
    assert any(not Filters(vault, plain).refusal(entry) for entry in entries)
