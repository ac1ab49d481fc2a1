"""`Vault`: every verb as a method, for programs."""

from __future__ import annotations

from vault_tool.verbs import (
    drafts,
    importing,
    importing_memory,
    look,
    memories,
    pages,
    remember,
    search,
    setup,
    subjects,
    understandings,
    upkeep,
)
from vault_tool.verbs import history as past
from vault_tool.verbs import undo as taking_back
from vault_tool.verbs.context import Context


class Vault(Context):
    """An open vault. `Vault.open(path)` finds it; every verb of the command line is a method with the same parameters.

    Results are frozen dataclasses whose fields have the names of the command line's JSON. A program that writes is
    an agent unless it says otherwise: `Vault.open(path, origin="owner")`.
    """

    remember = remember.remember
    create_subjects = subjects.create_subjects
    get_subjects = subjects.get_subjects
    create_understanding = understandings.create_understanding
    update_understanding = understandings.update_understanding
    set_structural_understanding = understandings.set_structural_understanding
    link = memories.link
    related = look.related
    get = look.get
    show = look.show
    pin = memories.pin
    episode = memories.episode
    search = search.search
    new = drafts.new
    edit = drafts.edit
    adopt = drafts.adopt
    status = upkeep.status
    doctor = upkeep.doctor
    reindex = upkeep.reindex
    decay = pages.decay
    core = pages.core
    schedule = pages.schedule
    reflection = pages.reflection
    reflect = pages.reflect
    log = past.log
    history = past.history
    diff = past.diff
    commit = past.commit
    undo = taking_back.undo
    import_markdown = importing.import_markdown
    import_cognitive_memory = importing_memory.import_cognitive_memory
    config = setup.config
    init = staticmethod(setup.init)
