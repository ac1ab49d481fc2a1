"""The page for a session's start, made from a stored choice of memories and from all memories written or judged since.

To weigh a hundred thousand memories takes seconds, too long for a start. So the memories that may stand on the page are chosen
in quiet moments (`keep_choice`), and stored as numbers of rows, without their texts. At a start, these memories and those that
changed since are read from the catalogue and weighed as they are now: the page has every write that was confirmed before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from vault_tool.errors import Busy, StorageError
from vault_tool.generate.core_forms import ImportMap, Rest
from vault_tool.generate.core_project import CoreProject
from vault_tool.index import page_choice, relations
from vault_tool.index.catalog import Catalog
from vault_tool.index.page_choice import ChoiceFile, ImportRows, PageChoice, choice_of
from vault_tool.index.relations import supersession
from vault_tool.index.store import settings_digest
from vault_tool.index.suspects import numbered
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import KEPT_TYPES
from vault_tool.util.clock import parse_time, stamp
from vault_tool.util.structs import Struct
from vault_tool.util.text import BYTES_A_TOKEN
from vault_tool.vault import screening
from vault_tool.vault.contests import all_overtaken
from vault_tool.vault.context import Context
from vault_tool.vault.core_making import PAGE_TOKENS, CoreFrame, WholeCore, nothing_waits
from vault_tool.vault.core_material import CoreMaterial, core_items, covering, import_map, import_of
from vault_tool.vault.folder_project import ProjectPlace, core_project, recent_projects

# A vault with at most so many memories needs no choice: every start weighs all of them.
SMALL = 2000

# A start without a stored choice weighs at most so many memories; in a larger vault it makes a quick choice.
_IN_TIME = 20_000

# A choice is large enough for a page of twice the size, plus so many memories of each section: some will be gone by the start.
_ROOM = 2 * PAGE_TOKENS * BYTES_A_TOKEN
_MORE = 20

# A quick choice takes so many of the newest memories of each type, and of the project.
_OF_EACH = 40
_OF_PROJECT = 400

# Choices are stored for so many projects at most.
_PROJECTS = 4

# The most memories written since a choice that a start reads; as many of those judged, and of those used.
_SINCE = 500

# A choice is renewed after so many changes, and after a day, because all memories but rules sink with age.
_WORN = 50
_OLD = timedelta(days=1)


def page_at_start(vault: Context, project: str = "", rest: Callable[[Context], Rest] = nothing_waits) -> Callable[[int], str]:
    """A function that gives the page of a prompt for any budget, all from one state of the files and the catalogue.

    The page is for the project of this name, or for all projects if the vault has none of that name; `rest` gives the further
    contents of its last line. The indexes must be fresh.
    """
    with vault.index.consistent_read():
        state = _State.of(vault, project)
        choice = _kept(state) if state.memories > SMALL else None
        if choice is None and state.memories > _IN_TIME:
            choice = _in_a_hurry(state)
        if choice is None:
            return _of_everything(state, rest(vault))
        page = _by_choice(state, choice, live=True)
        frame = CoreFrame(vault, live=True, prompt=True, project=state.project, rest=rest(vault))
    return lambda budget: screening.masked(frame.page(page, budget).text)


def tracked_page(vault: Context) -> str | None:
    """The text of the tracked CORE.md, from all memories of a small vault or from the choice of a large one; None without it."""
    state, budget = _State.of(vault), vault.settings.core_budget
    if state.memories <= SMALL:
        return screening.masked(WholeCore(vault).page(budget).text)
    choice = _kept(state)
    return (
        None
        if choice is None
        else screening.masked(CoreFrame(vault, live=False, prompt=False).page(_by_choice(state, choice, live=False), budget).text)
    )


def keep_choice(vault: Context) -> PageChoice | None:
    """Make and store the choices of a large vault: one for all projects, and one for each recent project.

    Call it in a quiet moment. Returns the choice for all projects, None for a small vault. Raises Busy and StorageError.
    """
    state = _State.of(vault)
    if state.memories <= SMALL:
        return None
    for name in recent_projects(vault, _PROJECTS):
        chosen = _State.of(vault, name)
        if chosen.project is not None and _is_worn(chosen):
            _chosen(chosen, WholeCore(vault, live=True, prompt=True, project=chosen.project))
    return _chosen(state, WholeCore(vault, live=True, prompt=True))


def choice_is_due(vault: Context) -> bool:
    """Whether `keep_choice` is worth its time: a choice is missing, from another build or day, or there were many changes."""
    state = _State.of(vault)
    if state.memories <= SMALL:
        return False
    projects = (_State.of(vault, name) for name in recent_projects(vault, _PROJECTS))
    return _is_worn(state) or any(_is_worn(each) for each in projects if each.project is not None)


def _is_worn(state: _State) -> bool:
    """Whether the choice is missing or has to be renewed."""
    choice = _kept(state)
    if choice is None:
        return True
    made_at, now = parse_time(choice.moment), state.vault.clock.now()
    if made_at is None or not timedelta(0) <= now - made_at < _OLD:
        return True
    changes = page_choice.since(state.catalog, choice, _WORN)
    return bool(changes.gone) or len(changes.written) + len(changes.judged) >= _WORN


class _State(Struct):
    """The vault as a caller without a user sees it, the newest rows of its catalogue (noted before anything else is read), and
    the project that a page is for.
    """

    vault: Context
    catalog: Catalog
    entry: int
    signal: int
    memories: int
    project: CoreProject | None

    @classmethod
    def of(cls, vault: Context, project: str = "") -> _State:
        # The page is in all prompts, so it has no memory about a user, and none that was made from one.
        vault = vault.seen_by("")
        catalog = vault.index.catalog
        counts = page_choice.newest(catalog)
        return cls(vault, catalog, *counts, page_choice.memory_count(catalog), core_project(vault, project) if project else None)

    @property
    def file(self) -> ChoiceFile:
        """The file of the choice for this project."""
        return ChoiceFile(self.vault.root, min(self.project.names) if self.project is not None else "")

    def choice(self, moment: str, rows: Iterable[int], imports: Iterable[ImportRows], elsewhere: int) -> PageChoice:
        """A choice made in this state."""
        return PageChoice(
            build=self.catalog.nonce, settings=settings_digest(self.vault.settings), moment=moment, entry=self.entry,
            signal=self.signal, memories=self.memories, rows=tuple(rows), imports=tuple(imports), elsewhere=elsewhere,
        )  # fmt: skip


def _of_everything(state: _State, rest: Rest) -> Callable[[int], str]:
    """The page from all memories, for a small vault or one without a choice; the choice is then stored for the next start."""
    whole = WholeCore(state.vault, live=True, prompt=True, project=state.project, rest=rest)
    if state.memories > SMALL:
        with suppress(Busy, StorageError):
            _chosen(state, whole)
    return lambda budget: screening.masked(whole.page(budget).text)


def _kept(state: _State) -> PageChoice | None:
    return state.file.read(choice_of(state.catalog.nonce, settings_digest(state.vault.settings)))


def _chosen(state: _State, whole: WholeCore) -> PageChoice | None:
    """Store the choice of memories for a page; returns it, or None if the catalogue was rebuilt meanwhile."""
    catalog = state.vault.index.catalog
    paths, imports = whole.chosen(_ROOM, _MORE)
    numbers = page_choice.numbers_of(catalog, [*paths, *(entry.path for import_map in imports for entry in import_map.linked)])
    if catalog is not state.catalog:
        return None
    rows = sorted(numbers[path] for path in paths if path in numbers)
    maps = [_import_rows(import_map, numbers) for import_map in imports]
    choice = state.choice(stamp(state.vault.clock.now()), rows, maps, whole.elsewhere)
    state.file.write(choice)
    return choice


def _in_a_hurry(state: _State) -> PageChoice:
    """A quick choice, which is not stored: the newest memories of each type and of the project, and those that the owner
    reviewed last.
    """
    newest = page_choice.newest_of_each_type(state.catalog, _OF_EACH)
    reviewed = page_choice.memories_called(state.catalog, page_choice.reviewed_last(state.catalog, _SINCE))
    ours = page_choice.newest_of_project(state.catalog, state.project.names, _OF_PROJECT) if state.project is not None else ()
    return state.choice("", (*newest, *reviewed, *ours), (), 0)


def _import_rows(import_map: ImportMap, numbers: dict[str, int]) -> ImportRows:
    linked = tuple(numbers[entry.path] for entry in import_map.linked if entry.path in numbers)
    return ImportRows(name=import_map.name, count=import_map.count, folders=import_map.folders, linked=linked)


def _by_choice(state: _State, choice: PageChoice, *, live: bool) -> CoreMaterial:
    """The material of the page from a choice and the catalogue as it is now; `live` counts this machine's own uses too."""
    vault, catalog = state.vault, state.catalog
    since = page_choice.since(catalog, choice, _SINCE)
    linked = [number for rows in choice.imports for number in rows.linked]
    entries = numbered(catalog, {*choice.rows, *since.written, *linked})
    touched = page_choice.memories_called(catalog, since.judged | (_used_since(vault, choice) if live else frozenset()))
    chosen = [entries[number] for number in {*choice.rows, *since.written} if number in entries]
    active = relations.active(catalog, {entry.path: entry for entry in (*chosen, *touched.values())}.values())
    believed = vault.standings.beliefs(active, live=live)
    elsewhere = ProjectPlace(vault, state.project).is_elsewhere if state.project is not None else lambda _: False
    maps = {rows.name for rows in choice.imports}
    maps |= {".."} if vault.root.parent.name in maps else set()  # the folder around the vault
    listed = [
        (entry, believed[entry.id])
        for entry in active
        if entry.type not in KEPT_TYPES and import_of(entry, believed[entry.id]) not in maps and not elsewhere(entry)
    ]
    new = {entries[number].path for number in since.written if number in entries}
    covered = covering(vault, listed, new, vault.clock.now().astimezone(UTC).date())
    return CoreMaterial(
        items=core_items(vault, ((entry, belief) for entry, belief in listed if entry.path not in covered)),
        imports=[_import_map(vault, rows, entries) for rows in choice.imports],
        total=page_choice.present_count(catalog, supersession(vault.index.catalog), all_overtaken(vault)),
        elsewhere=choice.elsewhere,
    )


def _used_since(vault: Context, choice: PageChoice) -> frozenset[str]:
    """The ids of the memories used last on this machine since a choice, `_SINCE` at most."""
    made_at: datetime | None = parse_time(choice.moment) if choice.moment else None
    used = (use.target for use in reversed(vault.uses.all()) if made_at is None or (parse_time(use.at) or made_at) >= made_at)
    return frozenset(target for target, _ in zip(used, range(_SINCE), strict=False))


def _import_map(vault: Context, rows: ImportRows, entries: dict[int, Entry]) -> ImportMap:
    return import_map(
        vault, rows.name, rows.count, rows.folders, [entries[number] for number in rows.linked if number in entries]
    )
