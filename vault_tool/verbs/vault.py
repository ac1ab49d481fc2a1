"""`Vault`: every verb as a method, for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.vault.checked import checked_parameters, deferred_verbs
from vault_tool.vault.context import Context

if TYPE_CHECKING:
    from vault_tool.vault import seen
    from vault_tool.verbs import activity as happened
    from vault_tool.verbs import (
        adopting,
        consents,
        correcting,
        doctor,
        editing,
        embedding,
        forgetting,
        get,
        judging,
        links,
        listing,
        moved_notes,
        observations,
        pages,
        people,
        projects,
        purging,
        remember,
        reviewing,
        rights,
        settling,
        setup,
        statistics,
        subjects,
        syntheses,
        understandings,
    )
    from vault_tool.verbs import history as past
    from vault_tool.verbs import undo as taking_back
    from vault_tool.verbs.consolidation import consolidating, mapping, merging, open_intersections, packet_texts, report
    from vault_tool.verbs.contracts.op import op as contract_op
    from vault_tool.verbs.contracts.read import read as contract_read
    from vault_tool.verbs.contracts.update import update as contract_update
    from vault_tool.verbs.contracts.write import write as contract_write
    from vault_tool.verbs.importing import markdown_folder, memory_graph
    from vault_tool.verbs.recall import present_state as present
    from vault_tool.verbs.recall import recall as recalling_verb
    from vault_tool.verbs.recall import search, searching_observations
    from vault_tool.verbs.sessions import ambient, ending, orient, session_context
    from vault_tool.verbs.turns import accept, backstop, linking, logged
else:
    # All of them take .2 s to load, and a program that asks one needs what that one needs.
    seen = deferred_verbs("vault_tool.vault.seen")
    happened = deferred_verbs("vault_tool.verbs.activity")
    adopting = deferred_verbs("vault_tool.verbs.adopting")
    consents = deferred_verbs("vault_tool.verbs.consents")
    correcting = deferred_verbs("vault_tool.verbs.correcting")
    doctor = deferred_verbs("vault_tool.verbs.doctor")
    editing = deferred_verbs("vault_tool.verbs.editing")
    embedding = deferred_verbs("vault_tool.verbs.embedding")
    forgetting = deferred_verbs("vault_tool.verbs.forgetting")
    get = deferred_verbs("vault_tool.verbs.get")
    judging = deferred_verbs("vault_tool.verbs.judging")
    links = deferred_verbs("vault_tool.verbs.links")
    listing = deferred_verbs("vault_tool.verbs.listing")
    moved_notes = deferred_verbs("vault_tool.verbs.moved_notes")
    observations = deferred_verbs("vault_tool.verbs.observations")
    pages = deferred_verbs("vault_tool.verbs.pages")
    projects = deferred_verbs("vault_tool.verbs.projects")
    people = deferred_verbs("vault_tool.verbs.people")
    purging = deferred_verbs("vault_tool.verbs.purging")
    remember = deferred_verbs("vault_tool.verbs.remember")
    reviewing = deferred_verbs("vault_tool.verbs.reviewing")
    rights = deferred_verbs("vault_tool.verbs.rights")
    settling = deferred_verbs("vault_tool.verbs.settling")
    setup = deferred_verbs("vault_tool.verbs.setup")
    statistics = deferred_verbs("vault_tool.verbs.statistics")
    subjects = deferred_verbs("vault_tool.verbs.subjects")
    syntheses = deferred_verbs("vault_tool.verbs.syntheses")
    understandings = deferred_verbs("vault_tool.verbs.understandings")
    past = deferred_verbs("vault_tool.verbs.history")
    taking_back = deferred_verbs("vault_tool.verbs.undo")
    consolidating = deferred_verbs("vault_tool.verbs.consolidation.consolidating")
    mapping = deferred_verbs("vault_tool.verbs.consolidation.mapping")
    merging = deferred_verbs("vault_tool.verbs.consolidation.merging")
    open_intersections = deferred_verbs("vault_tool.verbs.consolidation.open_intersections")
    packet_texts = deferred_verbs("vault_tool.verbs.consolidation.packet_texts")
    report = deferred_verbs("vault_tool.verbs.consolidation.report")
    contract_op = deferred_verbs("vault_tool.verbs.contracts.op").op
    contract_read = deferred_verbs("vault_tool.verbs.contracts.read").read
    contract_update = deferred_verbs("vault_tool.verbs.contracts.update").update
    contract_write = deferred_verbs("vault_tool.verbs.contracts.write").write
    markdown_folder = deferred_verbs("vault_tool.verbs.importing.markdown_folder")
    memory_graph = deferred_verbs("vault_tool.verbs.importing.memory_graph")
    present = deferred_verbs("vault_tool.verbs.recall.present_state")
    recalling_verb = deferred_verbs("vault_tool.verbs.recall.recall")
    search = deferred_verbs("vault_tool.verbs.recall.search")
    searching_observations = deferred_verbs("vault_tool.verbs.recall.searching_observations")
    ambient = deferred_verbs("vault_tool.verbs.sessions.ambient")
    ending = deferred_verbs("vault_tool.verbs.sessions.ending")
    orient = deferred_verbs("vault_tool.verbs.sessions.orient")
    session_context = deferred_verbs("vault_tool.verbs.sessions.session_context")
    accept = deferred_verbs("vault_tool.verbs.turns.accept")
    backstop = deferred_verbs("vault_tool.verbs.turns.backstop")
    linking = deferred_verbs("vault_tool.verbs.turns.linking")
    logged = deferred_verbs("vault_tool.verbs.turns.logged")


@checked_parameters
class Vault(Context):
    """An open vault. `Vault.open(path)` finds it; every verb of the command line is a method with the same parameters.

    Results are frozen dataclasses whose fields have the names of the command line's JSON. A program that writes is
    an agent unless it says otherwise: `Vault.open(path, origin="owner")`. What only a person may do is refused to it, unless
    it says that a person asks: `Vault.open(path, person=True)`.
    """

    orient = orient.orient
    bring_to_mind = ambient.bring_to_mind
    reset_seen = seen.reset_seen
    get_session_context = session_context.get_session_context
    end_session = ending.end_session
    remember = remember.remember
    create_subjects = subjects.create_subjects
    get_subjects = subjects.get_subjects
    update_subject_summary = subjects.update_subject_summary
    add_alias = subjects.add_alias
    add_observations = observations.add_observations
    delete_observations = observations.delete_observations
    search_observations = searching_observations.search_observations
    get_stats = statistics.get_stats
    tags = statistics.tags
    list_observations = syntheses.list_observations
    get_understandings = syntheses.get_understandings
    get_understanding_history = syntheses.get_understanding_history
    understand = understandings.understand
    create_understanding = understandings.create_understanding
    update_understanding = understandings.update_understanding
    set_structural_understanding = understandings.set_structural_understanding
    open_map = mapping.open_map
    open_around = open_intersections.open_around
    open_intersection = open_intersections.open_intersection
    find_similar_subjects = merging.find_similar_subjects
    merge_subjects = merging.merge_subjects
    begin_consolidation = consolidating.begin_consolidation
    end_consolidation = consolidating.end_consolidation
    list_passes = consolidating.list_passes
    get_pending_consolidation = consolidating.get_pending_consolidation
    get_consolidation_report = report.get_consolidation_report
    consolidate = packet_texts.consolidate
    review = reviewing.review
    unsettled = settling.unsettled
    settle_texts = settling.settle_texts
    consent = consents.consent
    list_consents = consents.list_consents
    forget = forgetting.forget
    purge = purging.purge
    people = people.people
    export_user = rights.export_user
    forget_user = rights.forget_user
    turn = accept.turn
    drain = accept.drain
    backstop = backstop.backstop
    list_turns = logged.list_turns
    get_turn = logged.get_turn
    link_beats = linking.link_beats
    link = links.link
    update_link = links.update_link
    unlink = links.unlink
    related = get.related
    show = get.show
    get = get.get
    pin = links.pin
    tag = links.tag
    episode = links.episode
    mark_useful = judging.mark_useful
    mark_questionable = judging.mark_questionable
    correct = correcting.correct
    read = contract_read
    write = contract_write
    update = contract_update
    op = contract_op
    snapshot = present.snapshot
    list = listing.list_memories
    search = search.search
    recall = recalling_verb.recall
    new = editing.new
    edit = editing.edit
    adopt = editing.adopt
    status = doctor.status
    reindex = doctor.reindex
    doctor = doctor.doctor
    adopt_local = adopting.adopt_local
    moved = moved_notes.moved
    embed = embedding.embed
    decay = pages.decay
    core = pages.core
    schedule = pages.schedule
    reflection = pages.reflection
    reflect = pages.reflect
    activity = happened.activity
    log = past.log
    history = past.history
    diff = past.diff
    commit = past.commit
    undo = taking_back.undo
    import_markdown = markdown_folder.import_markdown
    import_cognitive_memory = memory_graph.import_cognitive_memory
    config = setup.config
    project = projects.project
    init = staticmethod(setup.init)
