"""CORE's prompt form for a file that others read too: of what the owner or a trusted person stands behind alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import field
from msgspec.structs import replace

from vault_tool.belief.fold import Belief
from vault_tool.generate.agents_form import AgentsForm, inert_text
from vault_tool.generate.core_forms import NO_REST, Beside, CoreItem
from vault_tool.generate.core_page import core_page
from vault_tool.generate.page_lines import vouched
from vault_tool.index.relations import supersession
from vault_tool.model.snapshot import Entry, is_trusted
from vault_tool.util.structs import Struct
from vault_tool.vault import resolve, screening
from vault_tool.vault.context import Context
from vault_tool.vault.core_making import identity_texts, moment_of
from vault_tool.vault.core_material import CoreMaker
from vault_tool.vault.core_understandings import core_kinds
from vault_tool.vault.folder_project import core_project

# No line of a page takes fewer bytes.
_SHORTEST_LINE = 16


class FilePage(Struct):
    """The page, how many memories it shows, and how many it does not, by the reason."""

    text: str
    shown: int
    left_out: Mapping[str, int] = field(default_factory=dict)


def page_for_file(vault: Context, budget: int, project: str = "") -> FilePage:
    """The page in at most so many bytes, as of today's beginning, for the project of this name where the vault knows it.

    What is about a user, or was made of it, is not on it, nor are words of a memory, name or question that nobody of these
    persons wrote or reviewed, whichever line would have told them. Indexes must be fresh.
    """
    vault = vault.seen_by("")
    moment = moment_of(vault, live=False)
    chosen = core_project(vault, project) if project else None
    maker = CoreMaker(vault, moment, chosen)
    ids, others = set[str](), 0
    for entry, belief in vault.standings.believed_each(supersession(vault.index.catalog), live=False):
        if _stood_behind(entry, belief.reviewed):
            ids.add(entry.id)
            maker.take(entry, belief)
        else:
            others += 1
    material = maker.made(maker.in_order(), max(60, budget // _SHORTEST_LINE))
    texts = identity_texts(vault, core_kinds(vault))
    items = [_alone(line, ids) for line in material.items]
    page = core_page(
        items,
        [inert_text(text) for text in texts if _stood_behind(text.entry, text.reviewed)],
        budget=budget,
        registry=vault.settings.types,
        as_of=moment.date(),
        total=material.total,
        form=AgentsForm(resolve.Shortened(vault, (line.entry.id for line in items))),
        project=chosen,
        rest=NO_REST._replace(elsewhere=material.elsewhere),
    )
    left = {"not reviewed by a person": others, "of other projects": material.elsewhere}
    left["not on the page"] = material.total - material.elsewhere - len(page.shown)
    return FilePage(screening.masked(page.text), len(page.shown), {reason: count for reason, count in left.items() if count > 0})


def _stood_behind(entry: Entry, reviewed: bool) -> bool:
    """Whether the owner, or a person whom the owner trusts, wrote or reviewed it."""
    return vouched(entry, reviewed) or is_trusted(entry.origin)


def _alone(line: CoreItem, ids: Collection[str]) -> CoreItem:
    """An item without the words of memories that are not among these, and without the names of those who asked about it."""

    def vouched_for(beside: Beside | None) -> Beside | None:
        return beside if beside is not None and beside.entry.id in ids else None

    belief = line.belief
    return replace(
        line,
        belief=replace(belief, told=()) if isinstance(belief, Belief) else belief,
        solves=vouched_for(line.solves),
        tried=tuple(each for each in line.tried if each.entry.id in ids)
        if line.solves is None or vouched_for(line.solves)
        else (),
        contested=tuple(rival for rival in line.contested if rival[0] in ids),
        perhaps_changed_by=line.perhaps_changed_by if line.perhaps_changed_by in ids else "",
    )
