"""CORE.md as a page of values: the frame around its lines, and the page made from all memories of a vault."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time

from vault_tool.belief.fold import Belief
from vault_tool.generate.core_forms import NO_REST, CoreItem, CoreText, ImportMap, PromptForm, Rest
from vault_tool.generate.core_page import CorePage, core_page
from vault_tool.generate.core_project import CoreProject
from vault_tool.generate.starter import starters
from vault_tool.index.relations import supersession
from vault_tool.model.snapshot import Entry
from vault_tool.util.hints import worded
from vault_tool.vault import resolve
from vault_tool.vault.context import Context
from vault_tool.vault.core_material import CoreMaker, CoreMaterial
from vault_tool.vault.core_understandings import CoreKind, core_kinds
from vault_tool.vault.core_understandings import warnings as kept_warnings
from vault_tool.vault.plain_words import PlainWords

# The most tokens of the page in a prompt, by the tool's own count.
PAGE_TOKENS = 2300

# The memories of each section that are weighed first: most pages have no room for more.
_MOST = 60


def nothing_waits(vault: Context) -> Rest:
    """The empty last line, for a caller that does not look for memories that wait."""
    return NO_REST


class CoreFrame:
    """The frame of the page's lines at a moment: soul, protocol, orientation, and the open questions about them."""

    def __init__(
        self, vault: Context, *, live: bool, prompt: bool, project: CoreProject | None = None, rest: Rest = NO_REST
    ) -> None:
        moment = moment_of(vault, live)
        self._project = project
        self._rest = rest
        kinds = core_kinds(vault)
        self._settings = vault.settings
        self._day = moment.astimezone(UTC).date()
        self._live = live
        self._vault = vault
        self._prompt = prompt
        self.warnings = kept_warnings(vault, kinds, moment)
        self._texts = identity_texts(vault, kinds)

    def page(self, material: CoreMaterial, budget: int) -> CorePage:
        """The page made from this material, within a budget."""
        return core_page(
            material.items,
            self._texts,
            budget=budget,
            registry=self._settings.types,
            as_of=self._day,
            total=material.total,
            live=self._live,
            # Readers at any door get the page, so the hints in it are plain words.
            warnings=tuple(worded(warning, PlainWords()) for warning in self.warnings),
            imports=material.imports,
            form=prompt_form(self._vault, material.items) if self._prompt else None,
            project=self._project,
            rest=self._rest._replace(elsewhere=material.elsewhere),
        )


class WholeCore:
    """The page made from all memories, for any budget: each memory is looked at once.

    The page has the form for a `prompt`, or the tracked form; it is for a `project`, or for all. `rest` gives the further
    contents of its last line, `known` the memories with their beliefs if the caller has them already.
    """

    def __init__(
        self,
        vault: Context,
        *,
        live: bool = False,
        prompt: bool = False,
        known: Iterable[tuple[Entry, Belief]] | None = None,
        project: CoreProject | None = None,
        rest: Rest = NO_REST,
    ) -> None:
        self._frame = CoreFrame(vault, live=live, prompt=prompt, project=project, rest=rest)
        seen = vault.seen_by("")
        self._maker = CoreMaker(vault, moment_of(vault, live), project)
        gone = supersession(seen.index.catalog)
        for entry, belief in seen.standings.believed_each(gone, live=live) if known is None else known:
            self._maker.take(entry, belief)
        self._claims = self._maker.in_order()
        self._material: CoreMaterial | None = None

    def page(self, budget: int) -> CorePage:
        """The page within a budget, in the unit of its form."""
        most = _MOST
        while True:
            material = self._made(most)
            page = self._frame.page(material, budget)
            if material.whole or max(page.reach.values(), default=0) < material.most:
                return page
            # The page used up all kept memories of one section: more are kept for another try.
            most *= 4

    def chosen(self, budget: int, more: int) -> tuple[list[str], list[ImportMap]]:
        """The paths of the memories that a page of this budget needs, plus `more` of each section; and the maps of imports."""
        reach = self.page(budget).reach
        paths = [claim.path for section, claims in self._claims.items() for claim in claims[: reach.get(section, 0) + more]]
        return paths, self._made(0).imports

    @property
    def warnings(self) -> tuple[str, ...]:
        """Matters that the owner should settle, each with a hint."""
        return self._frame.warnings

    @property
    def elsewhere(self) -> int:
        """The number of memories of other projects."""
        return self._made(0).elsewhere

    def _made(self, most: int) -> CoreMaterial:
        """The material of the page, with at least `most` items of each section."""
        if self._material is None or (not self._material.whole and self._material.most < most):
            self._material = self._maker.made(self._claims, most)
        return self._material


def prompt_form(vault: Context, items: Iterable[CoreItem]) -> PromptForm:
    """The form of the page for a prompt, with short ids of these items."""
    return PromptForm(resolve.Shortened(vault, (item.entry.id for item in items)))


def identity_texts(vault: Context, kinds: Mapping[str, CoreKind]) -> list[CoreText]:
    """The soul, protocol and orientation that may be served, newest first."""
    unwritten = {starter.type: starter.body.strip() for starter in starters()}
    good = [entry for kind in kinds.values() for entry in kind.good]
    believed = vault.seen_by("").standings.beliefs(good)
    return [
        _identity_page(entry, believed[entry.id], kinds[entry.type].body(vault, entry), unwritten)
        for entry in sorted(good, key=lambda entry: entry.created_sort_key, reverse=True)
    ]


def _identity_page(entry: Entry, belief: Belief, text: str, unwritten: Mapping[str, str]) -> CoreText:
    return CoreText(entry, text, belief.reviewed, text.strip() == unwritten.get(entry.type))


def moment_of(vault: Context, live: bool) -> datetime:
    """The time that a page is as of: now for a `live` one, else the beginning of today (UTC), so that a clone makes the same."""
    return vault.clock.now() if live else _midnight(vault)


def _midnight(vault: Context) -> datetime:
    today: date = vault.clock.now().astimezone(UTC).date()
    return datetime.combine(today, time(), UTC)
