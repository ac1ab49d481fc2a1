"""Which verbs agents are given as tools: what a model is told of each, and an example of its arguments.

Everything else of a tool follows from the verb itself; `vault_tool/mcp/tools.json` is made of both (see `schemas`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import field

from vault_tool.mcp.lean_table import LEAN as LEAN
from vault_tool.util.structs import Struct


class Described(Struct):
    """A verb as a tool: when to use it, an example, and what it does to the vault.

    `omit` are fields of its result that repeat what the caller gave, or tell an agent nothing.
    """

    about: str
    example: Mapping[str, Any] = field(default_factory=dict)
    writes: bool = False
    again: bool = False
    """Whether a second call with the same arguments changes nothing more."""
    removes: bool = False
    omit: tuple[str, ...] = ()


SAVED = ("committed", "commit", "attention", "path")

# The tools in the order in which they are listed.
TOOLS: Mapping[str, Described] = {
    "orient": Described(
        "Read first, at the start of a session and again after your context was compacted: who you are here, how this "
        "memory is worked with, where things stand and what waits.",
    ),
    "bring_to_mind": Described(
        "Memories about what is being talked about now, strictly chosen; no result is a good answer. Call it when "
        "the talk turns to something, with the last turn or a topic. It leaves out what this session was shown.",
        {"topic_or_context": "the flaky redis tests", "session": "k3f9"},
    ),
    "recall": Described(
        "Ask the memory a question, or for a subject by its name. Problems bring their solutions and what failed. "
        "Results were concluded earlier: check them against what you see now.",
        {"query": "why does redis drop connections?", "limit": 5},
    ),
    "remember": Described(
        "Keep one thing that was seen, done or decided, and how it is known. Name one or two subjects that it is about. "
        "For a solution or a failed tactic name its problem. A memory that is there already is not written twice.",
        {"content": "The build needs git 2.31.", "subject_names": ["Build"], "kind": "fact", "session": "k3f9"},
        writes=True, again=True, omit=(*SAVED, "content"),
    ),
    "understand": Described(
        "Write what several memories about a subject, or about two together, come to: the present state in a few sentences, what "
        "is sure and what is not. It replaces the former understanding, which stays in the history. Read that first and give its "
        "id. Texts about who the assistant is and how the memory works wait for the user.",
        {"subjects": ["Homelab"], "content": "One host runs everything, and redis with it.",
         "summary": "One host, with redis.", "sources": ["Redis drops idle connections", "A pool keeps connections alive"]},
        writes=True, again=True, omit=(*SAVED, "content", "summary"),
    ),
    "update_understanding": Described(
        "Revise an understanding: the new text supersedes the old, which stays readable. For what several observations "
        "come to; a single thing seen is for `remember`.",
        {"understanding_id": "How Redis is run", "new_content": "Redis runs behind a pool of 20 connections since November.",
         "new_summary": "A pool of 20 since November.", "reason": "the pool is new"},
        writes=True, omit=(*SAVED, "content", "summary"),
    ),
    "mark_useful": Described(
        "Say that a memory helped, in one sentence why. It is then found sooner.",
        {"id": "Redis drops idle connections", "reason": "it named the cause"}, writes=True, again=True,
        omit=(*SAVED, "rationale"),
    ),
    "mark_questionable": Described(
        "Say that a memory may be wrong, stale or misleading, and why: what you saw instead. It stays, and is asked about.",
        {"id": "Redis needs a restart each week", "reason": "it ran for a month without one"},
        writes=True, again=True, omit=(*SAVED, "rationale"),
    ),
    "correct": Described(
        "Say that a memory is wrong or out of date. It is kept, marked, and no longer given as an answer. With `content` you "
        "also say what is so instead.",
        {"id": "Redis needs a restart each week", "why": "It ran for a month without one.",
         "content": "Redis runs for months without a restart."},
        writes=True, again=True, omit=(*SAVED, "why", "content"),
    ),
    "get": Described(
        "Read one memory whole, with what it is linked to.",
        {"memory_id": "Redis drops idle connections"},
    ),
    "search": Described(
        "Find memories, subjects, imported notes and pages by words and meaning. It hides nothing, also what is doubtful.",
        {"query": "redis pool", "kinds": ["solution"]},
    ),
    "list": Described(
        "Memories without a question, newest first: all preferences, what was written last week. `next` leads on as `after`.",
        {"kinds": ["preference"], "since": "last week"},
    ),
    "upcoming": Described(
        "Memories that expire soon, or that a person is to look at again, the nearest first.", {"within": "14d"},
    ),
    "related": Described(
        "The links of a memory: edges, supersession, evidence, problem and solutions.",
        {"memory_id": "Redis drops idle connections"},
    ),
    "get_subjects": Described(
        "Subjects with their summaries and how much hangs on them; all of them when none is named.",
        {"names": ["Redis"]},
    ),
    "create_subjects": Described(
        "Make subjects to tag memories with. Look for an existing one first (`get_subjects`).",
        {"subjects": [{"name": "Message queue", "summary": "What the services talk through."}]},
        writes=True, again=True, omit=SAVED,
    ),
    "update_subject_summary": Described(
        "Give a subject a new one-line summary.",
        {"name": "Redis", "summary": "The cache of all services."}, writes=True, again=True, omit=SAVED,
    ),
    "add_alias": Described(
        "Let a subject answer to more names.",
        {"name": "Redis", "aliases": ["the cache"]}, writes=True, again=True, omit=SAVED,
    ),
    "merge_subjects": Described(
        "Make two subjects one: what was tagged with the duplicate is tagged with the primary, whose alias it becomes.",
        {"primary": "Redis", "duplicate": "Redis cluster", "reason": "one thing, two names"},
        writes=True, removes=True, omit=SAVED,
    ),
    "find_similar_subjects": Described(
        "Pairs of subjects that may be one, or should be tagged across.", {"subject_name": "Redis"}
    ),
    "open_around": Described("The subjects that share memories with one.", {"subject_name": "Redis"}),
    "open_intersection": Described(
        "All active memories about two subjects together.", {"subject_a": "Redis", "subject_b": "Homelab"}
    ),
    "add_observations": Described(
        "Keep several things seen in one commit; each takes what `remember` takes. A fault in one refuses all.",
        {"observations": [{"content": "The backup runs at three.", "subject_names": ["Homelab"]},
                          {"content": "The backup takes an hour.", "subject_names": ["Homelab"]}], "session": "k3f9"},
        writes=True, again=True, omit=SAVED,
    ),
    "delete_observations": Described(
        "Delete observations that this same session wrote by accident. Not for pruning, and not for revising.",
        {"ids": ["An accident of this session"], "session": "k3f9"}, writes=True, removes=True, again=True, omit=SAVED,
    ),
    "search_observations": Described(
        "Find observations tagged with all of these subjects; without subjects, in the whole vault.",
        {"subject_names": ["Redis"], "query": "connections"},
    ),
    "link": Described(
        "Link two memories, and say why in a sentence.",
        {"from_id": "A pool keeps connections alive", "type": "SOLVES", "to_id": "Redis drops idle connections",
         "why": "A pool checks them before use."},
        writes=True, again=True, omit=SAVED,
    ),
    "update_link": Described(
        "Say anew why a link is there, how strong or how sure it is.",
        {"link_id": "a11ce5", "strength": 0.9}, writes=True, again=True, omit=SAVED,
    ),
    "unlink": Described("Take a link away; both memories stay.", {"link_id": "b0b0b0"}, writes=True, removes=True, omit=SAVED),
    "tag": Described(
        "Give a memory tags, or take some from it.",
        {"memory_id": "Redis drops idle connections", "add": ["network"]}, writes=True, again=True, omit=SAVED,
    ),
    "pin": Described(
        "Keep a memory from fading, or let it fade again.",
        {"memory_id": "Redis drops idle connections"}, writes=True, again=True, omit=SAVED,
    ),
    "episode": Described(
        "Add an entry to the day's log: something that happened and is no memory of its own.",
        {"title": "Moved the cache to the new host", "summary": "It took an hour.", "type": "work"}, writes=True, omit=SAVED,
    ),
    "get_understandings": Described("All that is understood of these subjects together.", {"subject_names": ["Redis"]}),
    "get_understanding_history": Described(
        "The understandings that one replaced, back to the first.", {"understanding_id": "How Redis is run"}
    ),
    "create_understanding": Described(
        "Write what several observations of one subject, or of some together, come to. Revise one that is there instead.",
        {"subject_names": ["Homelab"], "content": "One host runs everything, and its backup at three.",
         "summary": "One host, backed up at three."},
        writes=True, omit=(*SAVED, "content", "summary"),
    ),
    "set_structural_understanding": Described(
        "Write the note on a subject's own place among the others: parts, overlaps, what it is not.",
        {"subject_name": "Redis", "content": "Redis is part of the homelab, and not the message queue."},
        writes=True, again=True, omit=(*SAVED, "content", "summary"),
    ),
    "get_consolidation_report": Described("The maintenance of the memory that would pay, best first.", {"limit": 5}),
    "get_pending_consolidation": Described("The matters that a pass of consolidation would settle now."),
    "begin_consolidation": Described(
        "Begin a pass of consolidation, or take up the open one.", writes=True, again=True, omit=SAVED
    ),
    "consolidate": Described(
        "The next packet of the pass: observations that an understanding is to be made or revised from. Write it with "
        "`pass_id`, then call again; `end_consolidation` when none is left.",
        {"skip_trivial": True}, writes=True,
    ),
    "consolidate_next": Described(
        "Answer the packet at hand with the text that it comes to (`none`: nothing to say), and get the next one, until none is "
        "left or the budget is spent. The first call begins a pass, the last one ends it.",
        {"packet": "f78597-3", "content": "Redis drops idle connections; a keepalive stops that.", "summary": "Idle drops."},
        writes=True,
    ),
    "end_consolidation": Described(
        "Complete the ledger of a pass.", writes=True, again=True, omit=SAVED
    ),
    "read": Described(
        "Read memories by contract: with truth, utility and evidence, problems with what solved and what failed.",
        {"query": "redis connections", "kinds": ["solution", "failed_tactic"]},
    ),
    "write": Described(
        "Write a memory by contract: an immutable observation with its confidence, evidence and problem.",
        {"text": "A restart of the cache loses an hour of sessions.", "kind": "fact", "confidence": 0.9,
         "subject_names": ["Redis"], "rationale": "seen twice"},
        writes=True, again=True, omit=SAVED,
    ),
    "update": Described(
        "Move a memory's truth (with evidence) or utility by a step; the memory itself stays as it is.",
        {"memory_id": "Redis drops idle connections",
         "utility": {"target": 0.9, "confidence": 0.8, "rationale": "it saved an hour", "evidence_refs": ["test:test_redis"]}},
        writes=True, omit=SAVED,
    ),
    "get_session_context": Described("The memories that this session wrote, judged and was shown.", {"session": "k3f9"}),
    "reset_seen": Described(
        "Let `bring_to_mind` show again what it has shown this session: for a context that was cut short.",
        {"session": "k3f9"}, writes=True, again=True,
    ),
    "end_session": Described(
        "Near the end, in one call: memories to keep, ids that helped or misled, what is left to do. With nothing of these it "
        "lists what was shown and not judged, and what was tried and not recorded; votes and attempts take them.",
        {"votes": [{"id": "Redis drops idle connections", "value": "useful", "reason": "it named the cause"}], "session": "k3f9"},
        writes=True, again=True,
    ),
    "history": Described(
        "The revisions of a memory, newest first, with their commits.", {"memory_id": "How Redis is run"}
    ),
    "log": Described("The newest commits of the memory, or of one note.", {"limit": 5}),
    "tags": Described("The tags with how many memories have each, and which stand together."),
    "get_stats": Described("Counts of what the memory holds."),
    "status": Described("A short account of the vault, and what it needs."),
    "doctor": Described("Every problem of the vault's files, by path and line."),
}  # fmt: skip

# The verbs that are no tools, and why not. Another one that is about the whole vault (`@of_the_whole`) is its owner's.
WITHHELD: Mapping[str, str] = {
    **dict.fromkeys(("forget", "forget_user", "purge"), "what is erased is for a person to say"),
    **dict.fromkeys(("consent", "list_consents"), "whom a memory is about answers for it, not who wrote it"),
    "people": "whom memories are about is for whoever keeps them all",
    "export_user": "what is given out about somebody is for a person to say",
    "undo": "what is taken back is for a person to say",
    "adopt_local": "what came from elsewhere is for a person to take over",
    "capture": "whether sessions are read is for a person to say",
    "moved": "which note a lost one has become is for a person to say",
    "review": "what waits for a person is not an agent's to accept",
    **dict.fromkeys(("unsettled", "settle_texts"), "which of two texts stays is for a person to say"),
    **dict.fromkeys(
        ("activity", "list_observations", "list_passes", "open_map", "new", "edit", "show"),
        "for a person, who has an editor and looks without using",
    ),
    **dict.fromkeys(
        ("adopt", "commit", "diff", "reindex", "embed", "decay", "core", "schedule", "reflection", "reflect", "snapshot"),
        "upkeep, which the owner, a timer or the watcher does; the pages are resources",
    ),
    **dict.fromkeys(
        ("import_markdown", "import_cognitive_memory", "import_from", "restore", "export_as", "config", "project", "init"),
        "setting up is its owner's",
    ),
    **dict.fromkeys(("sync", "set_up", "own_repository"), "where a vault goes is its owner's to say"),
    "prove": "its figures are for the person whose memory it is",
    **dict.fromkeys(
        ("turn", "drain", "backstop", "list_turns", "get_turn", "link_beats"),
        "for a product, whose own judge stands between user and memory",
    ),
    "op": "its requests are the tools read, write, update, correct and understand",
}

# Arguments of tools that are called otherwise in the verb: `session` is everywhere whose conversation it is.
RENAMED: Mapping[str, Mapping[str, str]] = {
    "recall": {"of_session": "session"},
    "search": {"of_session": "session"},
    "list": {"of_session": "session"},
}

# Parameters that no tool takes: those of programs, of people, and of whoever starts the server.
LEFT_OUT = frozenset(
    {"vault", "vaults", "progress", "user", "explain", "why_not", "count", "chats", "turn", "repo_id", "fix", "core"}
)

SESSION = "Your conversation's id; keep to one."
