"""What agents write waits for a person by its type or class, and others' commits do not end that by themselves."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.git_repos import commit_all
from vault_tool import Vault
from vault_tool.errors import Refused, UsageError
from vault_tool.mcp.answering import answer
from vault_tool.mcp.tools import Caller

STRANGER = {"GIT_AUTHOR_NAME": "Mo", "GIT_AUTHOR_EMAIL": "mo@elsewhere.example"}


def _asks(root: Path, line: str) -> None:
    (root / "vault.toml").write_text(f"{line}\n", encoding="utf-8")


def _by_others(root: Path, line: str) -> None:
    _asks(root, line)
    subprocess.run(["git", "-C", str(root), "add", "vault.toml"], check=True)
    subprocess.run(["git", "-C", str(root), "commit", "-qm", "settings"], check=True, env={**os.environ, **STRANGER})


def _waits(root: Path, kind: str, text: str) -> bool:
    with Vault.open(root) as vault:
        return vault.remember(text, ["Harbour"], kind=kind).pending_review


@pytest.mark.without_git
@pytest.mark.parametrize(
    ("line", "kinds"),
    [
        ('review = ["preference", "understanding"]', {"preference"}),
        ('review = ["decision"]', {"decision"}),
        ('review = ["observation"]', {"preference", "decision", "fact"}),
        ('write_policy = "review"\nreview = ["decision"]', {"preference", "decision", "fact"}),
        ('understanding_policy = "review"\nreview = ["fact"]', {"fact"}),
    ],
)
def test_types_and_classes_wait_by_every_door(root: Path, line: str, kinds: set[str]) -> None:
    _asks(root, line)
    for kind in ("preference", "decision", "fact"):
        waits = kind in kinds
        assert _waits(root, kind, f"The harbour is closed at night, as a {kind}.") is waits
        with Vault.open(root) as vault:
            content = {"content": f"Boats of the harbour are blue, a {kind}.", "kind": kind}
            assert bool(answer(vault, "remember", content, Caller("s")).get("pending_review")) is waits
            nets = {"content": f"Nets dry on the wall, {kind}.", "kind": kind, "subject_names": ["Net"]}
            assert vault.add_observations([nets]).results[0].pending_review is waits
            if kind == "fact":
                request = {"text": "Gulls take the fish.", "scope": "repo", "kind": kind, "confidence": 0.9,
                           "rationale": "Seen.", "evidence_refs": ["session:t1"]}  # fmt: skip
                done = vault.op({"op": "write", "repo_id": "lab", "memory": request})
                assert done["ok"] and done["needs_review"] is waits, done
    with Vault.open(root) as vault:
        ids = [vault.as_(origin="owner").remember(f"Mole {n} of the harbour is long.", ["Mole"]).id for n in range(3)]
        made = vault.create_understanding(["Mole"], "The moles are long.", "They are long.", source_observation_ids=ids)
        assert made.pending_review is ("understanding" in line)


@pytest.mark.without_git
@pytest.mark.parametrize("value", [["preference"], "preference, decision"])
def test_this_machine_may_ask_for_more(root: Path, value: object) -> None:
    _asks(root, 'review = ["fact"]')
    (root / "_config.json").write_text(json.dumps({"review": value}))
    assert [_waits(root, kind, f"Tar smells, a {kind}.") for kind in ("preference", "fact", "insight")] == [True, True, False]
    (root / "_config.json").write_text(json.dumps({"review": ["nonsense"]}))
    with Vault.open(root) as vault:
        [told] = [one for one in vault.doctor().problems if one.path == "_config.json" and one.code == "unknown-option"]
    assert "`nonsense`" in told.message and "preference" in told.hint


@pytest.mark.without_git
def test_an_unknown_word_is_told_with_the_words_and_asks_for_nothing(root: Path) -> None:
    _asks(root, 'review = ["preferences", "decision"]\n[types.recipe]\nclass = "observation"')
    assert [_waits(root, kind, f"Salt, a {kind}.") for kind in ("preference", "decision")] == [False, True]
    with Vault.open(root) as vault:
        [told] = [one for one in vault.doctor().problems if one.code == "unknown-option"]
        assert "`preferences`" in told.message and "preference," in told.message and "recipe" in told.message
        with pytest.raises(UsageError, match="nonsense"):
            vault.as_(origin="owner").config("review", "decision, nonsense")


@pytest.mark.without_git
def test_both_ways_of_asking_are_told(root: Path) -> None:
    _asks(root, 'write_policy = "review"\nreview = ["understanding"]')
    with Vault.open(root) as vault:
        assert [one.path for one in vault.doctor().problems if one.code == "review-twice"] == ["vault.toml"]


def test_an_agent_may_ask_for_more_and_not_for_less(root: Path) -> None:
    with Vault.open(root) as vault:
        vault.config("review", "preference")
    with Vault.open(root) as vault:
        vault.config("review", "preference, decision")
    with Vault.open(root) as vault, pytest.raises(Refused):
        vault.config("review", "decision")
    assert _waits(root, "preference", "Nets are mended on Monday.")


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ('review = ["preference"]', "", "preference"),
        ('write_policy = "review"', 'write_policy = "auto"', "fact"),
        ('write_policy = "review"', 'review = ["preference"]', "fact"),
        ('review = ["decision", "fact"]', 'review = ["fact"]', "decision"),
    ],
)
def test_what_others_take_out_counts_until_a_person_accepts_that(root: Path, before: str, after: str, kind: str) -> None:
    _asks(root, before)
    commit_all(root, "settings")
    assert _waits(root, kind, "Ropes are coiled to the right.")
    _by_others(root, after)
    assert _waits(root, kind, "Ropes are tarred in May.")
    # The owner's own change of something else does not make it theirs.
    (root / "vault.toml").write_text(f"{after}\ncore_budget = 9000\n")
    commit_all(root, "budget")
    assert _waits(root, kind, "Ropes are sold by the yard.")
    with Vault.open(root) as vault:
        [told] = [one for one in vault.doctor().problems if one.code == "review-loosened"]
        assert "Mo <mo@elsewhere.example>" in told.message
    with Vault.open(root, origin="owner", person=True) as vault:
        before_count = vault.status().for_review
        [change] = [one for one in vault.review().results if one.what == "settings"]
        done = vault.review(accept=[change.id[:8]])
        assert [one.id for one in done.accepted] == [change.id]
        assert vault.status().for_review == before_count - 1
    assert not _waits(root, kind, "Ropes of hemp are the best.")


def test_a_refused_change_counts_on_and_is_not_asked_again(root: Path) -> None:
    _asks(root, 'review = ["preference"]')
    commit_all(root, "settings")
    _by_others(root, "")
    with Vault.open(root, origin="owner", person=True) as vault:
        [change] = [one for one in vault.review().results if one.what == "settings"]
        assert vault.review(refuse=[change.id]).refused == (change.id,)
        assert not [one for one in vault.review().results if one.what == "settings"]
    assert _waits(root, "preference", "Buoys are painted red.")


def test_the_owners_own_change_is_in_force_at_once_and_others_may_ask_for_more(root: Path) -> None:
    _asks(root, 'review = ["preference"]')
    commit_all(root, "settings")
    _by_others(root, 'review = ["preference", "fact"]')
    assert _waits(root, "fact", "Crabs walk sideways.")
    _asks(root, "")
    commit_all(root, "no review")
    assert not _waits(root, "fact", "Crabs hide in the weed.")
    assert not _waits(root, "preference", "Crabs are thrown back.")
    with Vault.open(root, origin="owner", person=True) as vault:
        assert not [one for one in vault.review().results if one.what == "settings"]
