"""Descriptions of the verbs' parameters: each by its name, said once for the commands' options and the tools' arguments.

What a parameter is follows from the verb's signature: a bool is a flag, a list is given several times. Where a verb means another
thing by a name, that is in `MEANINGS_OF`, or beside its command.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from vault_tool.model.fields import FILTERED, GIVEN, NARROWING, Field, FieldKind


class Meaning(NamedTuple):
    """A parameter: its help, the flags of its option where its name does not make them, and what its values are.

    `value` is memory, subject, share (0 to 1) or count (1 or more); `off` is the help of a flag that takes the parameter away.
    """

    help: str
    flags: str = ""
    metavar: str = ""
    value: str = ""
    off: str = ""


_VALUES = {FieldKind.UNIT: "share", FieldKind.ID: "memory", FieldKind.IDS: "memory"}
_TIMES = (FieldKind.TIME, FieldKind.END)


def _given(field: Field, flags: str = "") -> Meaning:
    assert field.given is not None
    metavar = field.given.metavar or ("TIME" if field.kind in _TIMES else "")
    return Meaning(field.given.help, flags or field.given.flags, metavar, _VALUES.get(field.kind, ""))


_OF_A_CONTRACT = {field.contract: _given(field, f"--{field.name}") for field in GIVEN if field.contract}

MEANINGS: Mapping[str, Meaning] = {
    **_OF_A_CONTRACT,
    **{field.parameter: _given(field) for field in GIVEN},
    "topic_or_context": Meaning("A topic, or what was just said."),
    "last_token": Meaning("The heartbeat_token of your previous call.", metavar="N"),
    "include_seen": Meaning("Also what this session was shown."),
    "limit": Meaning("Most results.", "--limit -n", value="count"),
    "budget": Meaning("Most tokens of the results in their short form.", metavar="TOKENS", value="count"),
    "kinds": Meaning(
        "Only these types, as problem, solution, failed_tactic, fact, preference, change, understanding.",
        "--kind --type -k", "TYPE",
    ),
    "subject_names": Meaning("Only with these subjects.", "--subject -s", value="subject"),
    "tags": Meaning("Only with all these tags.", "--tag -t", "TAG"),
    "not_tags": Meaning("Only with none of these tags.", "--not-tag", "TAG"),
    "project": Meaning("Only of this project or world.", metavar="NAME"),
    "as_of": Meaning("Tell what was known then: 2026-03-01, 7d, last week.", metavar="TIME"),
    "within": Meaning("How far ahead: 14d (h, d, w, m, y).", metavar="SPAN"),
    "since": Meaning("Only from then on: 2026-11-20, 2026-11, 7d.", metavar="TIME"),
    "until": Meaning("Only until then.", metavar="TIME"),
    "include_global": Meaning("Also from the person's global vault.", "--no-global", off="Not from the global vault."),
    "vaults": Meaning("Also from these other vaults, or all.", "--with", "NAMES"),
    "query": Meaning("A question, words, or a subject's name."),
    "of_session": Meaning("Only what this conversation wrote.", metavar="ID"),
    "content": Meaning("The text."),
    "new_type": Meaning("The type is meant to be new, and no slip."),
    "ask": Meaning("Let a person decide whether it is kept."),
    "reason": Meaning("Why, in a sentence."),
    "id": Meaning("Id or title."),
    "memory_id": Meaning("Id, prefix of one, path or title."),
    "part": Meaning("Only this part of a long text, from 1 on.", metavar="N", value="count"),
    "understanding_id": Meaning("Id or title."),
    "new_content": Meaning("The new text."),
    "new_summary": Meaning("One line on it.", "--summary"),
    "summary": Meaning("One line on it."),
    "source_observation_ids": Meaning("The observations that it rests on.", "--source", value="memory"),
    "join": Meaning("Supersede all present heads: it settles a contest."),
    "pass_id": Meaning("The pass that it belongs to.", "--pass", "ID", "memory"),
    "context_problem_id": Meaning("Weigh utility for this problem.", "--problem", value="memory"),
    "semantic_hops": Meaning("How far to follow links."),
    "everything": Meaning("Superseded and expired memories too, by words."),
    "doubtful": Meaning("Also what is believed to be false."),
    "include_doubtful": Meaning("Also what is believed to be false.", "--doubtful"),
    "hops": Meaning("How far to follow links, 0 to 2."),
    "profile": Meaning("How strict."),
    "why": Meaning("Why it is there, in a sentence."),
    "strength": Meaning("0 to 1.", value="share"),
    "kind": Meaning("Its type.", "--kind --type -k", "TYPE"),
    "subjects": Meaning("One subject, or two for what connects them.", "--subject -s", value="subject"),
    "sources": Meaning("Ids of the memories that it rests on.", "--source", value="memory"),
    "replaces": Meaning("The id of the present one, if there is one.", metavar="ID", value="memory"),
    "by": Meaning("By this origin, model or address.", metavar="WHO"),
    "folder": Meaning("Only notes in this folder.", metavar="PATH"),
    "after": Meaning("The `next` of the part before.", metavar="CURSOR"),
    "types": Meaning("Only these relations, as SOLVES.", "--type", "TYPE"),
    "off": Meaning("Let it fade again."),
    "dry_run": Meaning("Say what would happen, and write nothing."),
    "tokens": Meaning("Most tokens of the packet.", value="count"),
    "again": Meaning("Once more."),
    "packet": Meaning("A packet by its label.", metavar="LABEL"),
    "skip": Meaning("Labels of packets to pass over.", metavar="LABEL"),
    "skip_trivial": Meaning("Pass over all that share too little."),
    # No tool takes these.
    "only": Meaning("Only what this pattern fits.", metavar="REGEX"),
    "chats": Meaning("Conversations too, a page each."),
    "with_hidden": Meaning("Also what no reader is shown."),
    "force": Meaning("Write over a file that is not ours."),
    "all_kinds": Meaning("Also the kinds that are left out else."),
    "explain": Meaning("Show every factor of each score."),
    "world": Meaning("Only this world's.", metavar="NAME"),
}  # fmt: skip

# What can answer from part of the memories only takes these, beside `kinds`.
NARROWS = tuple(field.name for field in NARROWING if field.name != "kinds")

# What a filter by a field is called by, where the field has a meaning of its own for a writer.
_NARROWS_BY = {field.name: field.narrows for field in FILTERED}

# Verbs whose function has another name, for Python has the verb's own for something else.
NAMES_OF_VERBS: Mapping[str, str] = {"list_memories": "list"}


# What it means to one verb: for its command and its tool.
def _help_of(name: str) -> str:
    """The help of a field that is given by a name which means another thing elsewhere."""
    return next(field.given.help for field in GIVEN if field.given and field.name == name)


MEANINGS_OF: Mapping[str, Mapping[str, str]] = {
    "remember": {
        "content": "What was seen, done or decided, and how it is known.",
        "subject_names": "A subject that it is about; made if new.",
        "kind": "fact, problem, solution, failed_tactic, decision, preference, change, procedure, insight, or your own.",
        "tags": "Tags.",
        "until": _help_of("until"),
    },
    "understand": {
        "content": "The understanding.",
        "summary": "One line that stands for it.",
        "why": "The reason of the change; without new sources, that only the wording changed.",
        "kind": "Else as before, or by the number of subjects.",
    },
    "consolidate_next": {
        "packet": "The packet's id from the call before.",
        "content": "The understanding, or `none`.",
        "summary": "One line that stands for it.",
        "sources": "Ids of the memories that it rests on; all of the packet if left out.",
        "budget": "Most tokens of all packets together; 3000 if left out.",
        "again": "Ask again where there was nothing to say.",
    },
    "end_session": {
        "memories": "At most 6, each as for `remember`.",
        "useful": "Ids that helped.",
        "wrong": "Ids that misled.",
        "left_to_do": "Where the work stands and what comes next, in two sentences.",
    },
    "export_as": {"budget": "With agents-md: most bytes between the markers; 4000 if left out."},
    "correct": {"id": "Its id or whole title.", "why": "What you saw.", "content": "What is so now, in a sentence."},
    "write": {
        "subject_names": "A subject that it is about; made if new.",
        "tags": "Tags.",
        "confidence": "0 to 1; below 0.5 it waits for review.",
    },
    "get_understandings": {"subject_names": "Names of subjects."},
    "create_understanding": {
        "subject_names": "The subjects that it is of.",
        "tags": "Tags.",
        "kind": "single_subject or relationship; by the number of subjects.",
    },
    "update_understanding": {"kind": "Else as before.", "subject_names": "Else as before.", "title": "Else as before."},
    "episode": {"tags": "Tags.", "memory": "The memory that it is about."},
    "recall": {"problem": "The problem that the answer is to help with.", "chats": "Also imported conversations.", **_NARROWS_BY},
    "bring_to_mind": _NARROWS_BY,
    "people": {"limit": "Most memories of one."},
    "activity": {"limit": "Most of each, of one day."},
    "new": {"subject_names": "A subject that it is about."},
    "import_markdown": {"subject_names": "A subject that all are about."},
    "search": {"kinds": "Only these types or classes (page for pages).", "mode": "How it is looked for.", **_NARROWS_BY},
    "import_from": {"subject_names": "Subjects for all of them."},
    "list": {
        **_NARROWS_BY,
        "record_class": "Only observation, understanding, subject or edge.",
        "status": "Only of this status; all for history too.",
        "sort": "created, observed, decay or utility.",
    },
    "read": {"mode": "How strict.", **_NARROWS_BY},
    "update": {"mode": "dry_run writes nothing."},
}
