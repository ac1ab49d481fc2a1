"""Steps in plain words, without a command, for readers that have no such verb."""

from __future__ import annotations

from collections.abc import Mapping

from vault_tool.util.hints import Step, Value

# Each as the subject of a sentence: `... settles it`, `see ...`.
_DONE_BY: Mapping[str, str] = {
    "add_alias": "another name for the subject",
    "adopt": "making a memory of that page, which a person does,",
    "adopt_local": "taking it over, which a person does,",
    "backstop": "a person's look at those turns",
    "capture": "a person's word on what is read of sessions",
    "commit": "a person's commit",
    "config": "what a person sets for the vault",
    "consent": "a person's word on consent",
    "consolidate": "a pass of consolidation",
    "consolidate_next": "the next packet of the pass",
    "core": "making CORE.md anew",
    "correct": "correcting it",
    "create_subjects": "making the subject first",
    "create_understanding": "writing an understanding",
    "diff": "a person's look at what changed",
    "doctor": "the list of the vault's problems",
    "drain": "accepting the turns that wait",
    "edit": "a person's edit of the note",
    "embed": "making the vectors, which a person begins,",
    "forget": "forgetting it, which a person does,",
    "end_consolidation": "ending the pass",
    "get": "the memory itself",
    "get_stats": "a count of the vault",
    "prove": "the proof that this memory helps",
    "get_subjects": "the list of subjects",
    "get_turn": "the turn itself",
    "history": "the note's history",
    "import_cognitive_memory": "an import by a person",
    "export_as": "an export by a person",
    "import_from": "an import by a person",
    "restore": "a restore by a person",
    "import_markdown": "an import by a person",
    "init": "setting up the vault, which a person does,",
    "link": "linking the two",
    "list_turns": "the list of turns",
    "log": "the list of commits",
    "merge_subjects": "merging the two subjects",
    "moved": "a person's word on which note it has become",
    "new": "a note that a person writes",
    "op": "the contracts",
    "people": "the list of people",
    "project": "another name for the project",
    "purge": "a person's purge",
    "recall": "asking the memory",
    "reflection": "making REFLECTION.md anew",
    "reindex": "making the indexes anew, which a person begins,",
    "related": "the memory's links",
    "remember": "a memory of its own",
    "review": "a person's review",
    "search": "a search",
    "show": "a look at the memory",
    "status": "the state of the vault",
    "set_up": "a remote, which a person names,",
    "own_repository": "a repository of its own, which a person makes,",
    "sync": "bringing vault and remote together, which a person does,",
    "tag": "tagging it",
    "tags": "the list of tags",
    "undo": "taking the operation back, which a person does,",
    "upcoming": "the list of what is over soon",
    "update": "an update of that memory",
    "update_link": "a change of that link",
    "update_understanding": "a revision of that understanding",
    "understand": "a new text in the place of that understanding",
}  # fmt: skip

_BY_GIT: Mapping[str, str] = {
    "add": "adding it to git, which a person does,",
    "check-ignore": "git",
    "checkout": "a person, with git,",
    "config": "a person's word to git on who they are",
    "init": "a history, which a person begins,",
    "rm": "a person takes it out of what git tracks",
    "mv": "a person gives it another name",
}

_BY_PROGRAM: Mapping[str, str] = {"rm": "a person removes it", "pip": "another package, which a person installs,"}


def plainly(step: Step) -> str:
    """A step of a verb, or of a command of git, that the door does not have."""
    program, _, command = step.verb.partition(" ")
    if program == "git":
        return _BY_GIT.get(command, "a person, with git,")
    if program in _BY_PROGRAM:
        return _BY_PROGRAM[program]
    if step.verb == "config" and {"owners", "trusted"} & step.arguments.keys():
        return "its owner says so at a terminal"
    return _DONE_BY.get(step.verb, f"{step.verb.replace('_', ' ')}, which a person does,")


class PlainWords:
    """The words where nothing can be called: those of a page for people."""

    def step(self, step: Step) -> str | None:
        """None: there is no verb to call."""

    def option(self, name: str, value: Value) -> str | None:
        """None: there is no call to change."""

    def shell(self, command: str) -> str | None:
        """None: nothing is typed here."""

    def plainly(self, step: Step) -> str:
        """See `plainly`."""
        return plainly(step)
