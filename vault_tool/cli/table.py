"""Which commands there are: a name, the module that makes it and its line of help, by the sections of `vt --help`."""

from __future__ import annotations

from collections.abc import Mapping

from vault_tool.cli.lazy import Listed

SECTIONS: Mapping[str, tuple[Listed, ...]] = {
    "Set up": (
        Listed("init", "setup", "Make a folder a vault."),
        Listed("config", "setup", "Show the vault's settings, or set one."),
    ),
    "Remember": (
        Listed("remember", "remembering", "Append what was seen, done or decided."),
        Listed("link", "remembering", "Link two memories, and say why."),
        Listed("pin", "remembering", "Keep a memory from fading, or let it fade."),
        Listed("episode", "remembering", "Add an entry to the day's log."),
    ),
    "Understand": (
        Listed("create-subjects", "subjects", "Make subjects, to tag memories with."),
        Listed("get-subjects", "subjects", "Show subjects with what hangs on them."),
        Listed("create-understanding", "subjects", "Write what one or several subjects come to."),
        Listed("update-understanding", "subjects", "Revise an understanding by superseding it."),
        Listed("set-structural-understanding", "subjects", "Write the note on a subject's own place."),
    ),
    "Look": (
        Listed("search", "looking", "Find memories by their words, best first."),
        Listed("get", "looking", "Read one memory whole; it counts as used."),
        Listed("show", "looking", "Look at a memory without counting it as used."),
        Listed("related", "looking", "Show what a memory is linked to."),
    ),
    "Write by hand": (
        Listed("new", "setup", "Write a note in your editor."),
        Listed("edit", "setup", "Edit a note; it counts as reviewed."),
        Listed("adopt", "setup", "Make records of pages."),
        Listed("commit", "history", "Commit hand edits."),
        Listed("import", "importing", "Take in notes of other tools."),
    ),
    "History": (
        Listed("log", "history", "Show the commits of the vault or of a memory."),
        Listed("history", "history", "Show the revisions of a memory, newest first."),
        Listed("diff", "history", "Show what changed and is not committed."),
        Listed("undo", "history", "Take back one operation."),
    ),
    "Pages": (
        Listed("decay", "pages", "Show how far memories have faded, best first."),
        Listed("core", "pages", "Make CORE.md, the page that a prompt loads."),
        Listed("reflection", "pages", "Make REFLECTION.md: themes and patterns."),
        Listed("reflect", "pages", "Score, make both pages, say what moved."),
    ),
    "Upkeep": (
        Listed("status", "upkeep", "Show what the vault holds and needs."),
        Listed("doctor", "upkeep", "Show every problem by file and line."),
        Listed("reindex", "upkeep", "Take in what changed in the files."),
        Listed("watch", "watching", "Keep indexes up to date while files change."),
        Listed("completion", "completion", "Print the script by which a shell completes."),
    ),
}
