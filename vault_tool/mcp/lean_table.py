"""The tools of the small preset: what a model is told of each, its few parameters, and what the verbs call these.

Each is its verb with fewer parameters and plain names. Both presets take a parameter by either name.
"""

from __future__ import annotations

from collections.abc import Mapping

from vault_tool.model.memory_names import PLAIN_NAMES
from vault_tool.util.structs import Struct


class LeanTool(Struct):
    """A tool of the small preset: its description and its parameters with theirs, in order; `needed` has the required ones."""

    about: str
    parameters: Mapping[str, str]
    needed: tuple[str, ...] = ()


_KINDS = "preference, decision, fact, problem, solution, failed_tactic, procedure, change, insight, task_state"
_SUBJECTS = "One or two names of what it is about. New ones are made."

# The tools in the order in which they are listed.
LEAN_TOOLS: Mapping[str, LeanTool] = {
    "recall": LeanTool(
        "Ask the memory: a question, some words, or the name of a subject. With `kind`, `subject` or `since` and no query it "
        "lists, newest first. With nothing at all it gives the page for the start of a session. A problem comes with what "
        "solved it and what failed. Results were true when they were written: check them against what you see. No result "
        "means that nothing is known.",
        {
            "query": "A question, words, or a subject's name.",
            "kind": f"Only this kind: {_KINDS}, understanding.",
            "subject": "Only what is about it.",
            "since": "2026-11-20 or 7d.",
            "limit": "Most results; 5 if left out.",
        },
    ),
    "get": LeanTool(
        "Read one memory whole, with its sources, links and history.",
        {"id": "Its id, or the beginning of its title.", "part": "Only this part of a long text, from 1 on."},
        ("id",),
    ),
    "remember": LeanTool(
        "Keep one thing for later sessions, in a sentence that stands alone. Worth keeping: what the user prefers or corrects, "
        "what was decided and why, how something is now, what caused a problem and what fixed it, what was tried and failed, "
        "what is left to do. Not: what you merely did, what the code shows, secrets. If it is known already you are told "
        "where. Some memories wait until the user has looked at them.",
        {
            "content": "The sentence, with names instead of `it` and `we`.",
            "kind": f"What it is: {_KINDS}.",
            "subjects": _SUBJECTS,
            "problem": "For a solution or failed_tactic: the id or title of its problem.",
            "replaces": "For a change: the id of the memory that is no longer true.",
            "evidence": "Evidence for it: file:PATH#L3, commit:SHA, test:NAME, url:ADDRESS.",
        },
        ("content", "kind", "subjects"),
    ),
    "correct": LeanTool(
        "Say that a memory is wrong or out of date. It is kept, marked, and no longer given as an answer. With `content` you "
        "also say what is so instead.",
        {"id": "Its id or whole title.", "why": "What you saw.", "content": "What is so now, in a sentence."},
        ("id", "why"),
    ),
    "understand": LeanTool(
        "Write what several memories about a subject, or about two together, come to: the present state in a few sentences, "
        "what is sure and what is not. It replaces the former understanding, which stays in the history. Read that first "
        "(`recall` with the subject's name) and give its id. Texts about who the assistant is and how the memory works wait "
        "for the user.",
        {
            "subjects": "One subject, or two for what connects them.",
            "content": "The text.",
            "summary": "One line that stands for it.",
            "sources": "Ids of the memories that it rests on.",
            "replaces": "The id of the present one, if there is one.",
        },
        ("subjects", "content", "summary", "sources"),
    ),
    "link": LeanTool(
        "Tie two memories together: a solution to its problem, an effect to its cause.",
        {
            "from": "Its id or title.",
            "type": "SOLVES, CAUSES, or another of the vault's relations.",
            "to": "Its id or title.",
            "why": "In a sentence.",
        },
        ("from", "type", "to", "why"),
    ),
    "consolidate": LeanTool(
        "Help to keep the memory good, one packet a call, when the user asks for it or when there is time. You get the subject "
        "with most to gain: what is new, beside what is understood. Call again with your text for it, and you get the next. "
        "`none` as text means that there is nothing to say. Stop at any time; what is written stays.",
        {
            "packet": "The packet's id from the call before.",
            "content": "The understanding, or `none`.",
            "summary": "One line that stands for it.",
            "sources": "Ids of the memories that it rests on; all of the packet if left out.",
            "budget": "Most tokens of all packets together; 3000 if left out.",
        },
    ),
    "end_session": LeanTool(
        "Once, when the work is done or the hook asks: what to keep of this conversation, and which memories helped or misled. "
        "Nothing worth keeping is a good answer. Call it once.",
        {
            "memories": "At most 6, each as for `remember`.",
            "useful": "Ids that helped.",
            "wrong": "Ids that misled.",
            "left_to_do": "Where the work stands and what comes next, in two sentences.",
            "session": "Your conversation's id, if no hook gives it.",
        },
    ),
}

LEAN = tuple(LEAN_TOOLS)

# The small preset's former tools answer there as before, unlisted: permissions that were given to them keep their meaning.
FORMER = ("orient", "bring_to_mind", "update_understanding", "mark_useful", "mark_questionable")

# What the verbs call the parameters of tools that have plainer names; `session` is whose conversation it is, everywhere.
NAMES: Mapping[str, Mapping[str, str]] = {
    "recall": {"kind": "kinds", "subject": "subject_names"},
    "get": {"id": "memory_id"},
    "remember": PLAIN_NAMES,
    "understand": {"type": "kind"},
    "link": {"from": "from_id", "to": "to_id"},
}

# The verbs of those tools that are called otherwise.
VERBS: Mapping[str, str] = {"consolidate": "consolidate_next"}

# Most results of a question where nothing else is said.
LIMIT = 5
