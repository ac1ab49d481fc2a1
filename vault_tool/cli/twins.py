"""The commands that have a near twin, each with a line that says which other command does the other thing.

`vt help all`, the help of each command and docs/cli.md show them; no other command loads this.
"""

from __future__ import annotations

from collections.abc import Mapping

# At most so long that one line of 80 columns holds it.
LONGEST = 73

TWINS: Mapping[str, str] = {
    # Set up and serve
    "config": "not `install`, which tells a client of the vault",
    "install": "not `config`, which sets what the vault and this machine do",
    "mcp": "not `serve`, which serves many clients over HTTP",
    "serve": "not `mcp`, which serves one client, nor `web`, which is for people",
    "web": "not `serve`, which is for agents' clients",
    "watch": "not `owner`, which also answers for other commands",
    "owner": "not `watch`, which only keeps the indexes up to date",
    # Ask
    "recall": "not `search`, which hides nothing, nor `list`, which asks nothing",
    "search": "not `recall`, which weighs trust and age and brings solutions along",
    "list": "not `search`, which needs words, nor `recall`, which ranks",
    "list-observations": "not `list`, which filters the whole vault",
    "search-observations": "not `search`, which also finds understandings and pages",
    "bring-to-mind": "not `recall`, which also tells what the session has seen",
    "read": "not `recall`, which is for people and agents, not for programs",
    "get": "not `show`, which counts as no use, nor `read`, which asks a question",
    "show": "not `get`, which counts as use",
    "related": "not `open-around`, which shows the neighbours of a subject",
    "open-map": "not `open-around`, which shows one step, with counts",
    "open-around": "not `open-map`, which goes two steps, nor `related`: of one memory",
    "open-intersection": "not `get-understandings`, which shows no observations",
    "get-understandings": "not `open-intersection`, which shows observations too",
    "get-understanding-history": "not `history`, which also names the commits",
    "get-subjects": "not `open-around`, which shows those beside one",
    "tags": "not `tag`, which gives a memory tags",
    # Write
    "remember": "not `correct`, which says what is wrong, nor `new`: in your editor",
    "add-observations": "not `remember`, which keeps one",
    "write": "not `remember`, which is for people and agents, not for programs",
    "new": "not `remember`, which takes the text on the command line",
    "episode": "not `remember`, which writes what recall finds",
    "op": "not `read`, `write` or `update`, which take options instead of JSON",
    "turn": "not `bring-to-mind`, which only shows and takes nothing in",
    "link": "not `update-link`, which changes a link that is there, nor `tag`",
    "update-link": "not `link`, which makes one",
    "unlink": "not `forget`, which erases a memory, nor `undo`",
    "tag": "not `tags`, which lists them, nor `link`, which ties two memories",
    "hide": "not `forget`, which erases, nor `mark-questionable`, which doubts",
    "pin": "not `mark-useful`, which only lifts a memory a little",
    # Wrong or out of date
    "edit": "not `correct`, which keeps the old text and says that it is wrong",
    "correct": "not `edit`, which changes the text, nor `understand`, nor a mere vote",
    "mark-useful": "not `pin`, which stops the fading, nor `update`, which aims at a value",
    "mark-questionable": "not `correct`, which also says what is so instead",
    "update": "not `correct`, which says what is so, nor `edit`: changes the text",
    # Understand
    "understand": "not `create-understanding`, which looks at nothing that is there",
    "create-understanding": "not `understand`, which replaces nothing unread",
    "update-understanding": "not `understand`, which looks at sources too",
    "set-structural-understanding": "not `create-understanding`: of what is known, not of its place",
    "create-subjects": "not `add-alias`, which names one that is there",
    "add-alias": "not `merge-subjects`, which makes two subjects one",
    "merge-subjects": "not `add-alias`, which takes one subject and a name",
    "find-similar-subjects": "not `merge-subjects`, which makes them one",
    "update-subject-summary": "not `understand`, which revises the text",
    # Consolidate
    "consolidate": "not `reflect`, which makes pages and writes no understanding",
    "begin-consolidation": "not `consolidate`, which begins by itself and gives packets",
    "end-consolidation": "not `consolidate`, which gives the packets that are left",
    "get-pending-consolidation": "not `get-consolidation-report`, which tells what else pays",
    "get-consolidation-report": "not `get-pending-consolidation`, which shows packets alone",
    "list-passes": "not `get-pending-consolidation`, which shows what comes next",
    # Sessions and turns
    "orient": "not `core`, which makes the page of all, nor `status`, which counts",
    "end-session": "not `get-session-context`, which only shows",
    "get-session-context": "not `end-session`, which takes votes",
    "list-turns": "not `backstop`, which lists those that were skipped",
    "get-turn": "not `list-turns`, which lists them",
    "backstop": "not `list-turns`, which lists all",
    # Take away, take back, give out
    "forget": "not `undo`, which takes back an operation, nor `unlink`",
    "delete-observations": "not `forget`, which erases any memory for good",
    "undo": "not `forget`, which erases a memory everywhere and for good",
    "consent": "not `review`, which decides about what waits",
    "review": "not `consent`, which records whether a person wants a memory",
    "people": "not `export`, which writes out all about one of them",
    "export": "not `snapshot`, which prints the state of the whole vault",
    "commit": "not `snapshot`, which prints the state and writes nothing",
    "snapshot": "not `commit`, which saves hand edits, nor `export`",
    "adopt": "not `import`, which takes in notes from outside of the vault",
    "import": "not `adopt`, which makes records of the vault's own pages",
    # History
    "log": "not `history`, which shows revisions, nor `activity`, which tells a day",
    "history": "not `log`, which lists commits, nor `diff`: what is in none",
    "diff": "not `history`, which shows what is committed",
    "activity": "not `log`, which lists commits",
    # Pages and upkeep
    "core": "not `reflect`, which scores and makes both pages",
    "reflection": "not `reflect`, which makes both pages, nor `get-consolidation-report`",
    "reflect": "not `core`, which makes one page, nor `consolidate`",
    "decay": "not `list --sort decay`, which filters",
    "get-stats": "not `status`, which says what the vault needs",
    "status": "not `doctor`, which names every problem, nor `get-stats`: numbers alone",
    "doctor": "not `status`, which is short, nor `reindex`, which takes in changes",
    "reindex": "not `embed`, which makes vectors",
    "embed": "not `reindex`, which takes in changed files",
}
