"""Whether a memory is told: each reason against it, for each purpose, at each door; a vault for each reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import get_args

import pytest

from tests.cli.typed import vt
from vault_tool import Vault
from vault_tool.errors import VaultError
from vault_tool.features.recall.recall import Bundle
from vault_tool.hooks.answers import answer
from vault_tool.hooks.clients import PROMPT
from vault_tool.index.visibility import MATTERS, Purpose, Reason
from vault_tool.mcp.answering import answer as answer_tool
from vault_tool.mcp.tools import Caller
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git

TEXT = "The zinnia greenhouse is watered from the northern cistern."
QUESTION = "from which cistern is the zinnia greenhouse watered?"


@dataclass(frozen=True)
class Made:
    """A vault in which something is against telling one memory, and who asks."""

    root: Path
    clock: FixedClock
    id: str
    user: str = ""
    session: str = ""
    token: int | None = None

    def opened(self) -> Vault:
        return Vault.open(self.root, person=True, clock=self.clock, user=self.user, session=self.session)


def other_user(root: Path, clock: FixedClock) -> Made:
    with Vault.open(root, person=True, clock=clock, user="ann") as vault:
        return Made(root, clock, vault.remember(TEXT, ["Zinnia"], kind="fact").id, user="bob")


def no_consent(root: Path, clock: FixedClock) -> Made:
    with Vault.open(root, person=True, clock=clock) as vault:
        made = vault.remember(TEXT, ["Zinnia"], kind="fact").id
        vault.consent(made, "withdrawn", reason="they asked")
    return Made(root, clock, made)


def waiting(root: Path, clock: FixedClock) -> Made:
    made = kept(root, clock)
    with made.opened() as vault:
        file = root / vault.get(made.id).path
    file.write_text(file.read_text().replace("origin: owner", "origin: agent"))
    return made


def expired(root: Path, clock: FixedClock) -> Made:
    with Vault.open(root, person=True, clock=clock) as vault:
        later = (clock.now() + timedelta(hours=1)).isoformat()
        made = vault.remember(TEXT, ["Zinnia"], kind="fact", expires=later).id
    clock.advance(timedelta(days=2))
    return Made(root, clock, made)


def expired_until(root: Path, clock: FixedClock) -> Made:
    with Vault.open(root, person=True, clock=clock) as vault:
        made = vault.remember(TEXT, ["Zinnia"], kind="fact", until=(clock.now() + timedelta(hours=1)).isoformat()).id
    clock.advance(timedelta(days=2))
    return Made(root, clock, made)


def superseded(root: Path, clock: FixedClock) -> Made:
    with Vault.open(root, person=True, clock=clock) as vault:
        old = vault.create_understanding(["Zinnia"], TEXT, "Watering", kind="single_subject").id
        clock.advance(timedelta(minutes=1))
        vault.update_understanding(old, "They are dry.", "Watering")
    return Made(root, clock, old)


def kept(root: Path, clock: FixedClock) -> Made:
    with Vault.open(root, person=True, clock=clock) as vault:
        soul = next(one for one in vault.list(record_class="understanding").results if one.type == "soul").id
        return Made(root, clock, vault.update_understanding(soul, TEXT, "Soul").new_understanding_id)


def shown(root: Path, clock: FixedClock) -> Made:
    with Vault.open(root, person=True, clock=clock, session="s1") as vault:
        made = vault.remember(TEXT, ["Zinnia"], kind="fact").id
        token = vault.bring_to_mind(QUESTION).heartbeat_token
        return Made(root, clock, made, session="s1", token=token)


def disbelieved(root: Path, clock: FixedClock) -> Made:
    with Vault.open(root, person=True, clock=clock) as vault:
        return Made(root, clock, vault.remember(TEXT, ["Zinnia"], kind="fact", confidence=0.05).id)


def voted_down(root: Path, clock: FixedClock) -> Made:
    with Vault.open(root, person=True, clock=clock) as vault:
        made = vault.remember(TEXT, ["Zinnia"], kind="fact").id
        worthless = {"target": 0.0, "confidence": 1.0, "rationale": "It never helped.", "evidence_refs": ["commit:9f3c1e2"]}
        for number in range(5):
            vault.as_(session=f"s{number}", model=f"m{number}").update(made, utility=worthless)
    return Made(root, clock, made)


def nothing(root: Path, clock: FixedClock) -> Made:
    with Vault.open(root, person=True, clock=clock) as vault:
        return Made(root, clock, vault.remember(TEXT, ["Zinnia"], kind="fact").id)


MAKES: Mapping[str, Callable[[Path, FixedClock], Made]] = {
    make.__name__: make
    for make in (
        other_user,
        no_consent,
        waiting,
        expired,
        expired_until,
        superseded,
        kept,
        shown,
        disbelieved,
        voted_down,
        nothing,
    )
}


def _has_recall(vault: Vault, made: Made) -> bool:
    found = vault.recall(QUESTION, count=False)
    assert isinstance(found, Bundle)
    return made.id in [one.id for one in found.results]


def _has_tool(vault: Vault, made: Made, tool: str, arguments: Mapping[str, object]) -> bool:
    given = answer_tool(vault, tool, dict(arguments), Caller(user=made.user))
    return made.id[:6] in json.dumps(given, default=str)


def _has_by_id(vault: Vault, made: Made) -> bool:
    try:
        return bool(vault.get(made.id).id == made.id)
    except VaultError:
        return False


def _has_printed(made: Made, *command: str) -> bool:
    who = (("--user", made.user) if made.user else ()) + (("--session", made.session) if made.session else ())
    return made.id in vt("--vault", str(made.root), *who, *command, "--json").stdout


# Each door with the purposes that it tells a memory for: a reason against any of them keeps it away.
DOORS: Mapping[str, tuple[tuple[Purpose, ...], Callable[[Vault, Made], bool]]] = {
    "recall": (("asked", "ranked"), _has_recall),
    "bring_to_mind": (
        ("asked", "ranked_unasked"),
        lambda vault, made: made.id in [one.id for one in vault.bring_to_mind(QUESTION, last_token=made.token).results],
    ),
    "hook": (("asked", "ranked_unasked"), lambda vault, made: made.id[:6] in answer(vault, PROMPT, QUESTION, made.session)),
    "mcp recall": (("asked", "ranked"), lambda vault, made: _has_tool(vault, made, "recall", {"query": QUESTION})),
    "search": (("searched",), lambda vault, made: made.id in [one.id for one in vault.search(QUESTION, 50).results]),
    "search text": (
        ("searched",),
        lambda vault, made: made.id in [one.id for one in vault.search("zinnia cistern", 50, mode="text").results],
    ),
    "mcp search": (("searched",), lambda vault, made: _has_tool(vault, made, "search", {"query": "zinnia cistern"})),
    "list": (("listed",), lambda vault, made: made.id in [one.id for one in vault.list(limit=500).results]),
    "get": (("named",), _has_by_id),
    "vt get": (("named",), lambda vault, made: TEXT in vt("--vault", str(made.root), *_who(made), "get", made.id).stdout),
}


def _who(made: Made) -> tuple[str, ...]:
    return ("--user", made.user) if made.user else ()


@pytest.mark.parametrize("reason", MAKES)
def test_each_door_leaves_out_what_the_table_says(root: Path, clock: FixedClock, reason: str) -> None:
    made = MAKES[reason](root, clock)
    reason = reason.removesuffix("_until")
    wrong = []
    for door, (purposes, has) in DOORS.items():
        # By name a person finds what nobody else is told of: the vault's keeper mends it.
        if door in ("get", "vt get") and reason == "no_consent":
            continue
        # What somebody asks for again is told again: a session's own are left out unasked alone.
        if reason == "shown" and purposes[-1] != "ranked_unasked":
            right = True
        else:
            right = not any(reason in MATTERS[purpose] for purpose in purposes)
        with made.opened() as vault:
            if has(vault, made) != right:
                wrong.append((door, right))
    assert not wrong


def test_the_table_names_every_reason_and_purpose() -> None:
    assert set(MATTERS) == set(get_args(Purpose))
    assert frozenset[str]().union(*MATTERS.values()) == set(get_args(Reason))


def test_a_subject_answers_nothing_and_a_ledger_is_no_single_users(root: Path, clock: FixedClock) -> None:
    with Vault.open(root, person=True, clock=clock) as vault:
        vault.remember(TEXT, ["Zinnia"], kind="fact")
        vault.begin_consolidation()
        found = vault.recall("what of Zinnia?")
        assert isinstance(found, Bundle)
        assert {one.record_class for one in found.results} <= {"observation", "understanding"}
        ledger = next((root / "vault").rglob("consolidation*/*.md"), None) or next((root / "vault").rglob("*pass*.md"))
    identity = next(line for line in ledger.read_text().splitlines() if line.startswith("id: "))[4:]
    with Vault.open(root, person=True, clock=clock, user="bob") as vault, pytest.raises(VaultError, match="ledger"):
        vault.get(identity)
