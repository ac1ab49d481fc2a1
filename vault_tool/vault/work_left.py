"""Where the work of a project was left: the memories that say so, and which of them a page showed to a session."""

from __future__ import annotations

from contextlib import suppress

from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util.text import normal_name
from vault_tool.vault import resolve, seen
from vault_tool.vault.context import Context
from vault_tool.vault.statuses import statuses

TASK_STATE = "task_state"

# What was replaced, or closed by saying that it is so no longer, is no work that is left.
_CLOSED = frozenset({"overtaken", "questioned"})


def task_states(vault: Context) -> list[Entry]:
    """The memories that say where work was left and that nothing has overtaken and nothing closed; of whatever project."""
    states = vault.index.catalog.of_class(RecordClass.OBSERVATION, TASK_STATE)
    status_of = statuses(vault, states)
    return [entry for entry in states if entry.path not in status_of or status_of[entry.path].status not in _CLOSED]


def is_of(entry: Entry, project: str) -> bool:
    """Whether a memory is of this project; without one, whether it is of none."""
    return normal_name(entry.text("project")) == normal_name(project)


def note_shown(vault: Context, page: str) -> None:
    """Note which of them stand on a page that this session was given: by their ids, as a prompt has them."""
    if not vault.who.session:
        return
    shown = [entry.id for entry in task_states(vault) if f"- {resolve.short(vault, entry.id)} " in page]
    if shown:
        moment = vault.clock.now()
        with suppress(*seen.UNKEPT):
            at = moment.isoformat()
            seen.store(vault).update(vault.who.session, moment, lambda state: state.knows(shown, at), durable=False)
