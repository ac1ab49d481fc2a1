"""A vault that knows a small story, and what each verb is asked about it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.git_repos import git
from vault_tool import Vault
from vault_tool.util.clock import FixedClock

ABOUT = ["Redis", "Homelab"]

CALLS: Mapping[str, Mapping[str, Any]] = {
    "orient": {},
    "bring_to_mind": {"topic_or_context": "redis drops the idle connections again"},
    "reset_seen": {},
    "get_session_context": {},
    "end_session": {"votes": [{"id": "<fact>", "value": "useful", "reason": "it named the hour"}]},
    "remember": {
        "content": "The queue is restarted by hand.", "subject_names": ["Queue", "Homelab"], "kind": "fact", "tags": ["night"],
        "confidence": 0.9, "evidence": ["test:test_queue"], "rationale": "seen twice",
    },
    "create_subjects": {"subjects": [{"name": "Message queue", "summary": "What the services talk through."}]},
    "get_subjects": {"names": ["Redis", "Homelab"]},
    "update_subject_summary": {"name": "Redis", "summary": "The cache of all services."},
    "add_alias": {"name": "Redis", "aliases": ["the cache"]},
    "add_observations": {"observations": [{"content": "The backup runs at three.", "subject_names": ["Homelab"]}]},
    "delete_observations": {"ids": ["<slip>", "<rule>"]},
    "search_observations": {"subject_names": ["Redis"], "query": "idle connections", "mode": "text"},
    "get_stats": {},
    "prove": {"questions": 30},
    "tags": {},
    "list_observations": {"subject_name": "Redis"},
    "get_understandings": {"subject_names": ["Redis"]},
    "get_understanding_history": {"understanding_id": "<understood>"},
    "understand": {
        "subjects": ["Redis"], "content": "Redis runs behind a pool.", "summary": "Behind a pool.", "sources": ["<fact>"],
        "replaces": "<understood>",
    },
    "create_understanding": {
        "subject_names": ["Homelab"], "content": "One host runs everything.", "summary": "One host.",
        "source_observation_ids": ["<fact>"],
    },
    "update_understanding": {
        "understanding_id": "<understood>", "new_content": "Redis runs behind a pool.", "new_summary": "Behind a pool.",
        "reason": "the pool is new",
    },
    "set_structural_understanding": {"subject_name": "Redis", "content": "Redis is part of the homelab."},
    "open_map": {"around": "Redis", "memories": 5},
    "open_around": {"subject_name": "Redis"},
    "open_intersection": {"subject_a": "Redis", "subject_b": "Homelab"},
    "find_similar_subjects": {},
    "merge_subjects": {"primary": "Redis", "duplicate": "Redis cache", "reason": "one thing, two names"},
    "begin_consolidation": {},
    "end_consolidation": {},
    "list_passes": {},
    "get_pending_consolidation": {},
    "get_consolidation_report": {},
    "consolidate": {},
    "review": {},
    "unsettled": {},
    "settle_texts": {"key": "0000"},
    "consent": {"memory_id": "<anns>", "state": "given", "as_user": "ann", "reason": "she said so"},
    "list_consents": {},
    "forget": {"memory_id": "<slip>"},
    "purge": {"memory_ids": ["<slip>"], "dry_run": True},
    "people": {"name": "ann"},
    "export_user": {"user": "ann", "folder": "exported"},
    "forget_user": {"user": "ann"},
    "turn": {
        "session": "k3f9", "user": "ann", "world": "lab", "text": "I keep the keys of the rack in a tin.", "extractMemory": True,
        "candidates": [{"content": "Ann keeps the keys of the rack in a tin.", "title": "The keys"}],
    },
    "drain": {"link": True},
    "backstop": {},
    "list_turns": {},
    "get_turn": {"turn_id": "<turn>"},
    "link_beats": {},
    "link": {"from_id": "<fact>", "type": "CAUSES", "to_id": "<problem>", "why": "An hour of it."},
    "update_link": {"link_id": "<link>", "strength": 0.9},
    "unlink": {"link_id": "<link>"},
    "related": {"memory_id": "<problem>"},
    "show": {"memory_id": "<problem>", "belief": True, "timeline": True, "source": True},
    "get": {"memory_id": "<solution>"},
    "pin": {"memory_id": "<fact>"},
    "tag": {"memory_id": "<fact>", "add": ["network"]},
    "episode": {"title": "Moved the cache", "summary": "It took an hour.", "type": "work"},
    "mark_useful": {"id": "<solution>", "reason": "it ended it"},
    "mark_questionable": {"id": "<rule>", "reason": "it is not so at night"},
    "correct": {"id": "<fact>", "why": "the log says so", "content": "The host of the lab hummed at four in the night."},
    "read": {"query": "why does redis drop idle connections?", "include_update_links": True},
    "write": {
        "text": "A restart loses an hour of sessions.", "kind": "fact", "confidence": 0.9, "subject_names": ["Redis"],
        "rationale": "seen twice",
    },
    "update": {
        "memory_id": "<problem>",
        "utility": {"target": 0.9, "confidence": 0.8, "rationale": "it saved an hour", "evidence_refs": ["test:test_redis"]},
    },
    "op": {"request": {"op": "read", "repo_id": "Lab", "mode": "targeted", "query": "which port is redis on?"}},
    "snapshot": {},
    "list": {"status": "all"},
    "upcoming": {"within": "2w"},
    "search": {"query": "redis connections port"},
    "recall": {"query": "why does redis drop idle connections?", "why_not": "<rule>"},
    "edit": {"memory_id": "<fact>", "text": "<text of fact>", "was": "<hash of fact>"},
    "adopt": {"paths": ["vault/rack.md"]},
    "status": {},
    "reindex": {},
    "doctor": {},
    "adopt_local": {"dry_run": True},
    "moved": {"was": "vault/gone.md", "path": "vault/rack.md"},
    "embed": {},
    "sync": {},
    "set_up": {"address": "ext::sh"},
    "own_repository": {"folder": "."},
    "decay": {},
    "core": {"preview": True},
    "schedule": {},
    "reflection": {"preview": True},
    "reflect": {},
    "activity": {"day": "2026-11-20"},
    "log": {"limit": 3},
    "history": {"memory_id": "<understood>"},
    "diff": {},
    "commit": {},
    "undo": {"target": "<slip>"},
    "import_markdown": {"source": "notes"},
    "import_cognitive_memory": {"source": "notes"},
    "import_from": {"source": "notes"},
    "export_as": {"form": "jsonl", "path": "notes/One.md"},
    "restore": {"source": "notes"},
    "config": {"name": "write_policy"},
    "project": {"name": "Lab", "folder": "notes"},
    "capture": {},
    "consolidate_next": {},
    "init": {"path": "another", "no_git": True},
}  # fmt: skip
"""Each verb by its name, with arguments in which `<name>` is the id of what the story calls so."""

MORE: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "recall of a subject": ("recall", {"query": "Redis"}),
    "search of pages": ("search", {"query": "rack cellar", "everything": True}),
    "show of an understanding": ("show", {"memory_id": "<understood>"}),
    "show of an edge": ("show", {"memory_id": "<link>"}),
    "show of a subject": ("show", {"memory_id": "Redis"}),
    "remember what is known": ("remember", {"content": "Redis listens on port 6379.", "subject_names": ["Redis"]}),
    "op to correct": ("op", {"request": {"op": "correct", "repo_id": "Lab", "id": "<rule>", "why": "it is not so at night"}}),
    "correct without what is so": ("correct", {"id": "<rule>", "why": "it is not so at night"}),
    "write what is known": ("write", {"text": "Redis listens on port 6379.", "kind": "fact", "confidence": 0.9}),
    "read of a port": ("read", {"query": "which port is redis on?"}),
}
"""Other shapes that a verb answers in."""

PERSONS = frozenset({
    "review", "settle_texts", "consent", "list_consents", "forget", "purge", "people", "export_user", "forget_user", "edit",
    "undo", "adopt_local", "moved", "set_up", "own_repository",
})  # fmt: skip
"""What only a person may do."""


def tell(root: Path, clock: FixedClock) -> dict[str, str]:
    """Have a new vault know the story; the ids of what happens in it, by their names there."""
    ids: dict[str, str] = {}
    minute = timedelta(minutes=1)

    def keep(name: str, identity: str) -> str:
        ids[name] = identity
        clock.advance(minute)
        return identity

    clock.advance(minute)
    with Vault.open(root, person=True, clock=clock) as vault:
        keep("rule", vault.remember("Ask before a restart of redis.", ["Redis"], kind="preference", pinned=True).id)
        keep("port", vault.remember("Redis listens on port 6379.", ["Redis"], kind="fact", tags=["network"]).id)
        change = vault.remember("Redis was moved to port 6380 in May.", ["Redis"], kind="change", change_targets=[ids["port"]])
        keep("change", change.id)
        keep("anns", vault.as_(user="ann").remember("Ann runs redis at home.", ["Redis"], kind="fact").id)
        vault.consent(ids["anns"], "asked", as_user="ann")
        clock.advance(minute)
    with Vault.open(root, origin="agent", session="k3f9", model="m-1", clock=clock) as vault:
        problem = vault.remember(
            "Redis drops idle connections after 300 s, and the workers then wait.", ABOUT, kind="problem", confidence=0.7,
            title="Redis drops idle connections", evidence=["url:https://example.org/redis"],
        )  # fmt: skip
        keep("problem", problem.id)
        keep("fact", vault.remember("The host of the lab hummed at three in the night.", ["Homelab"], kind="fact").id)
        first = vault.create_understanding(["Redis"], "Redis is run by hand.", "By hand.", title="How Redis is run")
        keep("first", first.id)
        newer = vault.update_understanding(first.id, "Redis is run by hand, each Monday.", "By hand, on Mondays.", reason="seen")
        keep("understood", newer.new_understanding_id)
        keep("pair", vault.create_understanding(ABOUT, "The lab stands on redis.", "The lab needs redis.").id)
        keep("structural", vault.set_structural_understanding("Redis", "A part of the lab.").understanding_id)
        solution = vault.remember(
            "A pool that checks connections before use ended it.", ABOUT, kind="solution", problem=problem.id,
            title="A pool keeps connections alive", tags=["network"], steps=["set the pool to 20", "restart the workers"],
            related_to=[ids["understood"]],
        )  # fmt: skip
        keep("solution", solution.id)
        failed = vault.remember(
            "A longer timeout only hid it.", ["Redis"], kind="failed_tactic", problem=problem.id, failure_mode="hides the cause"
        )
        keep("failed", failed.id)
        keep("link", vault.link(ids["understood"], "RELATED_TO", problem.id, "it came of it").id)
        vault.episode("Tried a restart", "Tried to restart redis each night, which failed.", memory=problem.id)
        clock.advance(minute)
        keep("slip", vault.remember("A slip of the keys.", ["Slip"], kind="fact").id)
        keep("held", vault.remember("What waits for a person.", ["Homelab"], kind="fact", ask=True).id)
        vault.create_subjects([{"name": "Redis cache", "summary": "The same, by another name."}])
        vault.mark_questionable(ids["fact"], "it hums all night")
        vault.mark_useful(ids["solution"], "it ended it")
        seen = {"target": 0.95, "confidence": 0.9, "rationale": "seen again", "evidence_refs": ["test:test_idle"]}
        vault.update(ids["problem"], truth=seen)
        vault.bring_to_mind("redis drops the idle connections")
        clock.advance(minute)
        vault.begin_consolidation()
        said = [{"content": "Ann restarts redis by hand.", "title": "By hand"}]
        turn = vault.turn("k3f9", "ann", "lab", "I restart redis by hand.", extractMemory=True, candidates=said, write="later")
        ids["turn"] = turn.turn_id
        clock.advance(minute)
    (root / "vault/rack.md").write_text("# The rack\n\nThe rack stands in the cellar.\n")
    git(root, "add", "vault/rack.md")
    git(root, "commit", "-qm", "a page")
    with Vault.open(root, person=True, clock=clock) as vault:
        shown = vault.show(ids["fact"], source=True)
        assert shown.source is not None
        ids["text of fact"] = shown.source.text.replace("three", "four")
        ids["hash of fact"] = shown.source.hash
    source = root.parent / "notes"
    source.mkdir()
    (source / "One.md").write_text("# One\n\nA note on [[Two]].\n")
    return ids
