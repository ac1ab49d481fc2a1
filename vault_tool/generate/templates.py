"""The notes that `vt new` starts from: a head with a type's own fields, and a body with a prompt in each section."""

from __future__ import annotations

import re
from collections.abc import Mapping

from vault_tool.model.fields import OBSERVATION
from vault_tool.model.types import STORY_EDGES, RecordClass, TypeSpec

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_HEADING = re.compile(r"(#{1,6})\s+\S")

_HEADS: Mapping[RecordClass, tuple[str, ...]] = {
    RecordClass.WORKSPACE: ("name:", "description:", "created:"),
    RecordClass.SUBJECT: ("name:", "aliases: []", "summary:", "tags: []", "created:"),
    RecordClass.OBSERVATION: ("title:", "subjects: []", "tags: []"),
    RecordClass.UNDERSTANDING: ("title:", "summary:", "subjects: []", "tags: []"),
    RecordClass.EDGE: ("from_id:", "from_title:", "to_id:", "to_title:", "strength: 0.5", "created:"),
    RecordClass.CONSOLIDATION: ("generation:", "parents: []", "created:"),
}
_TAILS: Mapping[RecordClass, tuple[str, ...]] = {
    RecordClass.OBSERVATION: (
        "confidence: 0.8", *(f"{field.name}:" for field in OBSERVATION if field.prompted), "created:", "project:", "rationale:",
        "evidence: []", "related_to: []",
    ),
    RecordClass.UNDERSTANDING: ("supersedes: []", "sources: []", "reason:", "confidence: 0.8", "created:"),
}  # fmt: skip
_OWN_FIELDS: Mapping[str, tuple[str, ...]] = {
    "solution": ("problem:",),
    "failed_tactic": ("problem:", "failure_mode:", "commit:"),
    "change": ("change_targets: []",),
    "procedure": ("preconditions: []", "steps: []", "postconditions: []"),
    "ongoing_task": ("expires:",),
    "task_state": ("as_of:", "expires:"),
    "fact": ("as_of:",),
}

_SECTIONS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "workspace": (("", "What this vault is for, and for whom."),),
    "subject": (("", "What this region is and where it ends. What is known about it goes into observations."),),
    "consolidation": (("Ledger", "What was read, written and superseded; counts before and after."),),
    "single_subject": (("", "What we know about this subject now: the present best view, in whole sentences."),),
    "relationship": (("", "What these subjects mean to each other, which neither says alone."),),
    "structural": (("", "Aliases, parts, merges, overlaps: the subject's place among the others, not what it is about."),),
    "soul": (("", "A shape to inhabit, not rules to follow."),),
    "protocol": (("", "Only norms that have held across many sessions."),),
    "orientation": (("", "Where we are, what is active, what matters now."),),
    "problem": (
        ("What happens", "The symptom, as exactly as it was seen."),
        ("When it happens", "Conditions, versions, how to bring it about."),
        ("What is known of the cause", ""),
    ),
    "solution": (
        ("Problem", "What was wrong, in a sentence; the problem's id goes into the head."),
        ("Tactic", "What was done, so that it can be done again."),
        ("Why it worked", "The reason, as far as it is known."),
        ("When it applies", "What has to be so for it to work again."),
    ),
    "failed_tactic": (
        ("Problem", "What was to be solved; the problem's id goes into the head."),
        ("Tactic", "What was tried, exactly."),
        ("Why it failed", "The reason, or what was seen instead."),
        ("Reconsider only if", "What would have to change for it to be worth another try."),
    ),
    "decision": (("Decision", ""), ("Why", "The reasons that counted."), ("Instead of", "What was turned down, and why.")),
    "change": (("What changed", ""), ("What it makes untrue or useless", "The ids of these memories go into the head.")),
    "procedure": (("", "What it is for. Steps, and what must hold before and after, go into the head."),),
    "insight": (("Insight", ""), ("What it rests on", ""), ("What follows", "")),
    "preference": (("Preference", "As it was said."), ("Occasion", "When and about what.")),
    "instruction": (("Instruction", "What is always to be done, or never."), ("When", "What it is for, and until when.")),
    "fix": (("What was broken", ""), ("Fix", ""), ("Why it worked", "")),
    "error": (("Message", "Word for word."), ("Cause", ""), ("What helped", "")),
    "configuration": (("Setting", "The lines that work."), ("Where", "File, host, version."), ("Why this value", "")),
    "code_pattern": (("Pattern", "An example."), ("When to use it", ""), ("When not", "")),
    "pattern": (("Pattern", ""), ("Where it was seen", "")),
    "workflow": (("Steps", ""), ("When", "")),
    "inference": (("Conclusion", ""), ("From what", "What was seen."), ("What would refute it", "")),
    "reflection": (("What happened", ""), ("What to do otherwise", "")),
    "ongoing_task": (("Goal", ""), ("State", ""), ("Next", "")),
    "task_state": (("State", ""), ("Next", "")),
    "thread": (("What is open", ""), ("Where it was left", "")),
    "fact": (("", "One fact, and how it is known."),),
    "relationship_beat": (("", "What happened between whom, and what it changed."),),
    "world_discovery": (("", "What was found out about the world, and where."),),
    "ATTEMPTED": (("", "How the tactic was tried on this problem, and how it failed."),),
    "SOLVES": (("", "Why this solves that."),),
    "CHANGES": (("", "What of the target is no longer so."),),
    "CONTRADICTS": (("", "What cannot both be true."),),
}
_ANY = {
    RecordClass.OBSERVATION: "One thing that was seen, and how it is known.",
    RecordClass.EDGE: "Why the two belong together.",
}
_STORY = "What links the two in the story; an end may be a subject."


def template(spec: TypeSpec) -> str:
    """The text of `templates/<type>.md`: a valid head whose `id` and times are empty, and a body of prompts in comments."""
    own = _OWN_FIELDS.get(spec.name, ())
    fields = ("id:", f"type: {spec.name}", *_HEADS[spec.record_class], *own, *_TAILS.get(spec.record_class, ()))
    # A type may name a field of its class's tail as its own; once is enough.
    return "\n".join(("---", *dict.fromkeys(fields), "---", "")) + "\n".join(map(_section, *zip(*_sections(spec), strict=True)))


def answered(body: str, template_text: str) -> str:
    """A body written into a template, without the prompts that were left in it and the headings that nothing stands under.

    Only comments and headings of `template_text` itself are taken out: what a person wrote stays, whatever it looks like.
    """
    for prompt in _COMMENT.findall(template_text):
        body = body.replace(prompt, "")
    offered = {line.strip() for line in template_text.split("\n") if _HEADING.match(line)}
    parts: list[str] = []
    for line in body.split("\n"):
        heading = _HEADING.match(line)
        if heading:
            _drop_empty(parts, len(heading.group(1)), offered)
        parts.append(line)
    _drop_empty(parts, 1, offered)
    text = "\n".join(parts).strip("\n")
    return f"{text}\n" if text.strip() else ""


def _drop_empty(lines: list[str], level: int, offered: set[str]) -> None:
    """Take offered headings of `level` or deeper off the end, where nothing but blank lines follows them."""
    while True:
        place = len(lines)
        while place and not lines[place - 1].strip():
            place -= 1
        heading = _HEADING.match(lines[place - 1]) if place else None
        if not heading or len(heading.group(1)) < level or lines[place - 1].strip() not in offered:
            return
        del lines[place - 1 :]


def _sections(spec: TypeSpec) -> tuple[tuple[str, str], ...]:
    sections = _SECTIONS.get(spec.name)
    if sections:
        return sections
    return (("", _STORY if spec.name in STORY_EDGES else _ANY.get(spec.record_class, "What it says.")),)


def _section(heading: str, prompt: str) -> str:
    return "\n".join(part for part in (f"## {heading}\n" if heading else "", f"<!-- {prompt} -->\n" if prompt else "") if part)
