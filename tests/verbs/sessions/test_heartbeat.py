"""Any history of calls, kept and lost tokens, pauses, restarts and two sessions at once, against a model of one page."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from tests.bounds import CAMPAIGN
from tests.faults.killer import runs_wanted
from vault_tool import Vault
from vault_tool.util.clock import FixedClock
from vault_tool.vault.retrieval.engine import gather
from vault_tool.vault.retrieval.query import Query
from vault_tool.vault.seen import note_seen

TOPICS = st.sampled_from(["idle connections of redis", "naming subjects and tagging"])
TEXTS = [
    "Redis drops idle connections after three hundred seconds in the rack at home.",
    "The pool of connections to Redis is capped at fifty by the provider's contract.",
    "Idle workers keep their Redis connections open all night, says the dashboard.",
    "Naming subjects after machines made the tagging of Redis notes useless.",
    "Keepalive was switched on for idle connections in the second datacentre.",
    "Redis was replaced by a queue in the billing service; its connections are gone.",
]
SESSIONS = st.sampled_from(["s1", "größe/\U0001f600"])
TOKENS = st.sampled_from(["kept", "kept", "kept", "lost", "wrong", "old"])
LIMIT = 1
GAP = timedelta(minutes=30)
LIFE = timedelta(days=30)
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)

founded_root: Path


@pytest.fixture(scope="module", autouse=True)
def _founded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A vault with a few memories on one topic, made once and copied for each history."""
    global founded_root
    founded_root = tmp_path_factory.mktemp("founded") / "notes"
    environment = {**os.environ, "HOME": str(tmp_path_factory.mktemp("nobody")), "GIT_CONFIG_NOSYSTEM": "1"}
    environment |= {f"GIT_{role}_{what}": "tester@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    commands = [["init", str(founded_root), "--no-git"], *(["--vault", str(founded_root), "remember", text] for text in TEXTS)]
    for command in commands:
        subprocess.run([sys.executable, "-m", "vault_tool", *command], env=environment, check=True, capture_output=True)
    yield


@dataclass
class Model:
    """What a session is, in a few lines: its token and when it got it, when it last did anything, what it has seen."""

    token: int | None = None
    asked: datetime = LONG_AGO
    touched: datetime = LONG_AGO
    seen: set[str] = field(default_factory=set)


class Conversations(RuleBasedStateMachine):
    """Sessions in one vault; nothing they are told may differ from the model."""

    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp(prefix="heartbeat-"))
        self.clock = FixedClock(datetime(2026, 11, 20, 10, tzinfo=UTC))
        self.models: dict[str, Model] = {}
        self.handed_out: list[int] = []

    @initialize()
    def found(self) -> None:
        shutil.copytree(founded_root, self.base / "notes")
        self.vault = Vault.open(self.base / "notes", clock=self.clock)

    @rule(session=SESSIONS, topic=TOPICS, kept=TOKENS, include_seen=st.sampled_from([False, False, False, True]))
    def bring_to_mind(self, session: str, topic: str, kept: str, include_seen: bool) -> None:
        model = self.model(session)
        old = self.handed_out[0] if self.handed_out else 1
        token = {"kept": model.token, "lost": None, "wrong": 7, "old": old}[kept]
        now = self.clock.now()
        cut = model.token is not None and (token != model.token or now - model.asked > GAP)
        if cut:
            model.seen = set()
        left_out = frozenset() if include_seen else frozenset(model.seen)
        expected = gather(self.vault, Query(query=topic, profile="ambient", limit=LIMIT, budget=None, exclude=left_out))
        vault = self.vault.as_(session=session)
        told = vault.bring_to_mind(topic, token, include_seen, limit=LIMIT, budget=None)
        ids = [one.id for one in told.results]
        assert told.compaction_detected == cut
        assert ids == [one.id for one in expected.results]
        assert told.heartbeat_token != model.token
        model.token, model.asked, model.touched = told.heartbeat_token, now, now
        model.seen |= set(ids)
        self.handed_out.append(told.heartbeat_token)

    @rule(session=SESSIONS, which=st.integers(0, 5))
    def recall(self, session: str, which: int) -> None:
        known = sorted(one.id for one in gather(self.vault, Query(query="idle connections of redis")).results)
        ids = known[which : which + 2]
        note_seen(self.vault.as_(session=session), ids, "recall")
        model = self.model(session)
        model.seen |= set(ids)
        model.touched = self.clock.now() if ids else model.touched

    @rule(session=SESSIONS)
    def orient(self, session: str) -> None:
        model = self.model(session)
        told = self.vault.as_(session=session).orient()
        assert told.seen_cleared == len(model.seen)
        model.seen, model.touched = set(), self.clock.now()

    @rule(session=SESSIONS)
    def reset_seen(self, session: str) -> None:
        model = self.model(session)
        assert self.vault.as_(session=session).reset_seen().cleared == len(model.seen)
        model.touched = self.clock.now() if model.seen else model.touched
        model.seen = set()

    @rule(pause=st.sampled_from([timedelta(minutes=m) for m in (0, 1, 29, 30, 31, 600)] + [LIFE]))
    def wait(self, pause: timedelta) -> None:
        self.clock.advance(pause)

    @rule(session=SESSIONS, topic=TOPICS, times=st.integers(2, 3))
    def talk(self, session: str, topic: str, times: int) -> None:
        for _ in range(times):
            self.bring_to_mind(session, topic, "kept", False)

    @rule()
    def reopen(self) -> None:
        self.vault.close()
        self.vault = Vault.open(self.base / "notes", clock=self.clock)

    def model(self, session: str) -> Model:
        """The model of a session; an expired one is a new one."""
        known = self.models.get(session)
        if known is None or self.clock.now() - known.touched > LIFE:
            known = self.models[session] = Model()
        return known

    def teardown(self) -> None:
        self.vault.close()
        shutil.rmtree(self.base, ignore_errors=True)


@pytest.mark.campaign
def test_every_conversation_is_as_the_model_says() -> None:
    examples = runs_wanted(3)
    run_state_machine_as_test(
        Conversations,
        settings=settings(
            max_examples=examples,
            stateful_step_count=25,
            deadline=None,
            derandomize=not CAMPAIGN,
            database=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.explicit, Phase.generate],
            report_multiple_bugs=False,
        ),
    )
