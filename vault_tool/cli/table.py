"""Which commands there are: a name, the module that makes it and its line of help, by the sections of `vt help all`."""

from __future__ import annotations

from collections.abc import Mapping

from vault_tool.cli.lazy import Listed

SECTIONS: Mapping[str, tuple[Listed, ...]] = {
    "Set up": (
        Listed("init", "setup", "Make a folder a vault."),
        Listed("config", "setup", "Show the settings, or set one."),
        Listed("project", "projects", "Show or name the project of a folder."),
        Listed("install", "installing", "Tell an agent's client of the vault."),
        Listed("hook", "hooking", "Answer an event of an agent's client."),
        Listed("capture", "capturing", "Show or set what of sessions is read."),
    ),
    "Converse": (
        Listed("orient", "sessions", "Read soul, protocol and orientation."),
        Listed("bring-to-mind", "ambient", "Show what bears on the conversation now."),
        Listed("turn", "turns", "Recall for one turn, and take what it gives."),
        Listed("backstop", "turns", "List skipped turns worth a second look."),
        Listed("list-turns", "turns", "List the kept turns, newest first."),
        Listed("get-turn", "turns", "Show one turn, and what became of it."),
        Listed("reset-seen", "sessions", "Empty the seen log of a session."),
        Listed("get-session-context", "sessions", "Show what a session wrote and was shown."),
        Listed("end-session", "sessions", "Vote on what was shown, keep what was tried."),
    ),
    "Remember": (
        Listed("remember", "remembering", "Append what was seen, done or decided."),
        Listed("add-observations", "observing", "Append several observations in one commit."),
        Listed("delete-observations", "observing", "Delete what this same session wrote."),
        Listed("link", "links", "Link two memories, and say why."),
        Listed("update-link", "links", "Say anew why a link is there, or how strong."),
        Listed("unlink", "links", "Take a link away."),
        Listed("pin", "links", "Keep a memory from fading, or let it fade."),
        Listed("hide", "links", "Keep a memory off a session's page."),
        Listed("tag", "links", "Give a memory tags, or take them from it."),
        Listed("episode", "links", "Add an entry to the day's log."),
        Listed("write", "contracts", "Write a memory by contract."),
        Listed("update", "contracts", "Move a memory's truth or utility by a step."),
        Listed("correct", "correcting", "Say that a memory is wrong, and what is so."),
        Listed("mark-useful", "judging", "Say that a memory paid rent."),
        Listed("mark-questionable", "judging", "Say that a memory may be wrong or stale."),
    ),
    "Understand": (
        Listed("create-subjects", "subjects", "Make subjects, to tag memories with."),
        Listed("get-subjects", "subjects", "Show subjects with what hangs on them."),
        Listed("update-subject-summary", "observing", "Give a subject a new one-line summary."),
        Listed("add-alias", "observing", "Let a subject answer to another name."),
        Listed("get-understandings", "observing", "Show what is understood of subjects together."),
        Listed("get-understanding-history", "observing", "Show what an understanding replaced."),
        Listed("understand", "subjects", "Write what is understood, for what was."),
        Listed("create-understanding", "subjects", "Write what one or several subjects come to."),
        Listed("update-understanding", "subjects", "Revise an understanding by superseding it."),
        Listed("set-structural-understanding", "subjects", "Write the note on a subject's own place."),
        Listed("merge-subjects", "intersections", "Make two subjects one, in one commit."),
        Listed("find-similar-subjects", "intersections", "Show subjects that may be one."),
    ),
    "Consolidate": (
        Listed("consolidate", "consolidating", "Turn what is new into understandings."),
        Listed("begin-consolidation", "consolidating", "Begin a pass, or take up the open one."),
        Listed("end-consolidation", "consolidating", "Complete the ledger of a pass, make CORE.md."),
        Listed("get-pending-consolidation", "consolidating", "Show what a pass would settle now."),
        Listed("list-passes", "consolidating", "List the passes, newest first."),
        Listed("get-consolidation-report", "consolidating", "Show what maintenance would pay, best first."),
    ),
    "Look": (
        Listed("recall", "recalling", "Ask the memory a question, or for a subject."),
        Listed("list", "listing", "List memories without a question."),
        Listed("upcoming", "upcoming", "List what is over soon or to be looked at."),
        Listed("search", "searching", "Find memories, subjects and pages."),
        Listed("list-observations", "observing", "List the evidence on a subject, newest first."),
        Listed("search-observations", "observing", "Search within the evidence on subjects."),
        Listed("get", "looking", "Read one memory whole; it counts as used."),
        Listed("show", "looking", "Look at a memory without counting it as used."),
        Listed("tags", "statistics", "List the tags, and which stand together."),
        Listed("related", "looking", "Show what a memory is linked to."),
        Listed("open-map", "intersections", "Show subjects around one, and their links."),
        Listed("open-around", "intersections", "Show a subject's neighbours."),
        Listed("open-intersection", "intersections", "Show all that two subjects share."),
        Listed("read", "contracts", "Read memories by contract, with their belief."),
        Listed("op", "contracts", "Answer JSON requests by contract."),
        Listed("snapshot", "snapshot", "Print the present state as one document."),
    ),
    "Write by hand": (
        Listed("new", "setup", "Write a note in your editor."),
        Listed("edit", "setup", "Edit a note; it counts as reviewed."),
        Listed("adopt", "setup", "Make records of pages."),
        Listed("review", "reviewing", "Look at what waits for you, and decide."),
        Listed("consent", "reviewing", "Record if a person wants a memory kept."),
        Listed("people", "people", "List whom memories are about."),
        Listed("forget", "reviewing", "Erase a memory, and refuse its return."),
        Listed("export", "reviewing", "Write out one person's or the whole memory."),
        Listed("commit", "history", "Commit hand edits."),
        Listed("import", "importing", "Take in notes of other tools."),
    ),
    "History": (
        Listed("activity", "activity", "Show what happened, by day and by session."),
        Listed("log", "history", "Show the commits of the vault or of a memory."),
        Listed("history", "history", "Show the revisions of a memory, newest first."),
        Listed("diff", "history", "Show what changed and is not committed."),
        Listed("undo", "history", "Take back one operation."),
        Listed("sync", "syncing", "Bring the vault and its remote together."),
        Listed("merge-note", "syncing", "Merge one note, as git asks for it."),
    ),
    "Pages": (
        Listed("decay", "pages", "Show how far memories have faded, best first."),
        Listed("core", "pages", "Make CORE.md, the page that a prompt loads."),
        Listed("reflection", "pages", "Make REFLECTION.md: themes and patterns."),
        Listed("reflect", "pages", "Score, make both pages, say what moved."),
    ),
    "Serve": (
        Listed("web", "web", "Open the page for people in a browser."),
        Listed("mcp", "serving", "Serve an agent's client over stdio (MCP)."),
        Listed("serve", "serving", "Serve agents' clients over HTTP."),
    ),
    "Upkeep": (
        Listed("get-stats", "statistics", "Count what the vault holds."),
        Listed("prove", "proving", "Measure whether this memory helps."),
        Listed("status", "upkeep", "Show what the vault holds and needs."),
        Listed("doctor", "upkeep", "Show every problem by file and line."),
        Listed("reindex", "upkeep", "Take in what changed in the files."),
        Listed("embed", "embedding", "Make the vectors that are missing."),
        Listed("watch", "watching", "Keep indexes up to date while files change."),
        Listed("owner", "watching", "Answer for other commands, kept warm."),
        Listed("completion", "completion", "Print the script by which a shell completes."),
    ),
}

# The commands of the first screen, `vt --help`: those that weeks of work needed.
FIRST: Mapping[str, tuple[str, ...]] = {
    "Begin": ("init", "install", "status", "doctor"),
    "Keep": ("remember", "correct", "link"),
    "Ask": ("recall", "search", "list", "get"),
    "Tend": ("understand", "consolidate", "review", "commit", "undo"),
}

# What other tools call things, and the commands that do them here.
ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    word: commands
    for words, commands in (
        ("ask query why what who", ("recall", "search")),
        ("find grep lookup", ("search", "recall")),
        ("ls all browse", ("list", "get-subjects", "decay")),
        ("add note save store create write-note log-entry", ("remember", "new")),
        ("open cat view read-note", ("show", "get")),
        ("delete rm remove erase", ("forget", "undo")),
        ("subjects topics", ("get-subjects",)),
        ("stats count info", ("get-stats", "status")),
        ("index rebuild refresh", ("reindex",)),
        ("check lint validate fix", ("doctor",)),
        ("context remind", ("bring-to-mind",)),
        ("vote upvote like", ("mark-useful",)),
        ("settings set", ("config",)),
        ("revert restore", ("undo",)),
        ("pull push fetch merge", ("sync",)),
        ("ui page browser gui", ("web",)),
        ("version", ("--version",)),
    )
    for word in words.split()
}

# Verbs that are an option of another's command.
PARTS = {
    "drain": "turn", "link_beats": "turn", "purge": "forget", "list_consents": "consent", "forget_user": "forget",
    "export_user": "export", "export_as": "export", "restore": "import", "adopt_local": "doctor", "moved": "doctor",
    "unsettled": "review", "settle_texts": "review", "consolidate_next": "consolidate",
    "set_up": "sync", "own_repository": "sync",
}  # fmt: skip


def command_of(verb: str) -> str | None:
    """The command of a verb, without `vt`; None where it has none."""
    names = {row.name for rows in SECTIONS.values() for row in rows}
    hyphens = verb.replace("_", "-")
    words = "import" if verb.startswith("import_") else PARTS.get(verb, hyphens)
    return words if words in names else None
