"""The page of a session's start: made of a choice of memories that is kept, and of all that was written or judged since.

To weigh a hundred thousand memories takes seconds, and a start has few. So which of them may stand on the page is chosen at rest
(`keep_choice`), by their rows' numbers and without a word of theirs. At a start the chosen ones, and what changed since, are read
from the catalogue and weighed as they are now: what was acknowledged before the start is on the page that it deserves.
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

# Up to so many memories are looked at at each start.
SMALL = 2000

# Up to so many are looked at where no choice is kept; of more the choice is made in a hurry.
_IN_TIME = 20_000

# What a page of twice the room looks at is chosen, and of each section so many more: some of it will be gone by then.
_ROOM = 2 * PAGE_TOKENS * BYTES_A_TOKEN
_MORE = 20

# In a hurry of each type the newest so many.
_OF_EACH = 40
_OF_PROJECT = 400

# A choice is kept for so many projects.
_PROJECTS = 4

# Of what was written, judged or used since a choice the newest so many of each.
_SINCE = 500

# After so many of them the choice is made anew at rest; it is as well when a day has gone, for all but rules sink with age.
_WORN = 50
_OLD = timedelta(days=1)


def page_at_start(vault: Context, project: str = "", rest: Callable[[Context], Rest] = nothing_waits) -> Callable[[int], str]:
    """The page as a prompt is given it, for any budget, as of one look at the files and the catalogue.

    It is for the project of this name, or for all where the vault knows none of that name; `rest` says what else its last line
    tells. The indexes are fresh.
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
    """CORE.md as it is tracked, of a small vault or by a choice; None for a large one of which none is kept."""
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
    """Choose anew for all and for each project that was worked on lately, and keep what was chosen, where the vault is large
    enough; for a moment of rest. Returns the choice for all. Raises Busy and StorageError.
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
    """Whether `keep_choice` would be worth its time: a choice is missing, of another build or day, or much happened since."""
    state = _State.of(vault)
    if state.memories <= SMALL:
        return False
    projects = (_State.of(vault, name) for name in recent_projects(vault, _PROJECTS))
    return _is_worn(state) or any(_is_worn(each) for each in projects if each.project is not None)


def _is_worn(state: _State) -> bool:
    """Whether there is no choice that is good enough to be kept."""
    choice = _kept(state)
    if choice is None:
        return True
    made_at, now = parse_time(choice.moment), state.vault.clock.now()
    if made_at is None or not timedelta(0) <= now - made_at < _OLD:
        return True
    changes = page_choice.since(state.catalog, choice, _WORN)
    return bool(changes.gone) or len(changes.written) + len(changes.judged) >= _WORN


class _State(Struct):
    """The vault as a caller without a user sees it, how far its catalogue had come (taken before anything is read by it), and the
    project that a page is for.
    """

    vault: Context
    catalog: Catalog
    entry: int
    signal: int
    memories: int
    project: CoreProject | None

    @classmethod
    def of(cls, vault: Context, project: str = "") -> _State:
        # The page is in everybody's prompt: what is about one user, or was made of it, is not on it.
        vault = vault.seen_by("")
        catalog = vault.index.catalog
        counts = page_choice.newest(catalog)
        return cls(vault, catalog, *counts, page_choice.memory_count(catalog), core_project(vault, project) if project else None)

    @property
    def file(self) -> ChoiceFile:
        """Where the choice for this project is kept."""
        return ChoiceFile(self.vault.root, min(self.project.names) if self.project is not None else "")

    def choice(self, moment: str, rows: Iterable[int], imports: Iterable[ImportRows], elsewhere: int) -> PageChoice:
        """A choice of that state."""
        return PageChoice(
            build=self.catalog.nonce, settings=settings_digest(self.vault.settings), moment=moment, entry=self.entry,
            signal=self.signal, memories=self.memories, rows=tuple(rows), imports=tuple(imports), elsewhere=elsewhere,
        )  # fmt: skip


def _of_everything(state: _State, rest: Rest) -> Callable[[int], str]:
    """The page of a vault that is small, or of which no choice is kept: that is made now, and the next start has it."""
    whole = WholeCore(state.vault, live=True, prompt=True, project=state.project, rest=rest)
    if state.memories > SMALL:
        with suppress(Busy, StorageError):
            _chosen(state, whole)
    return lambda budget: screening.masked(whole.page(budget).text)


def _kept(state: _State) -> PageChoice | None:
    return state.file.read(choice_of(state.catalog.nonce, settings_digest(state.vault.settings)))


def _chosen(state: _State, whole: WholeCore) -> PageChoice | None:
    """The choice of what a page looks at, kept; None where another build of the catalogue answers by now."""
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
    """A choice where none is kept: the newest of each type and of the project, and what its owner reviewed last. It is not kept
    itself.
    """
    newest = page_choice.newest_of_each_type(state.catalog, _OF_EACH)
    reviewed = page_choice.memories_called(state.catalog, page_choice.reviewed_last(state.catalog, _SINCE))
    ours = page_choice.newest_of_project(state.catalog, state.project.names, _OF_PROJECT) if state.project is not None else ()
    return state.choice("", (*newest, *reviewed, *ours), (), 0)


def _import_rows(import_map: ImportMap, numbers: dict[str, int]) -> ImportRows:
    linked = tuple(numbers[entry.path] for entry in import_map.linked if entry.path in numbers)
    return ImportRows(name=import_map.name, count=import_map.count, folders=import_map.folders, linked=linked)


def _by_choice(state: _State, choice: PageChoice, *, live: bool) -> CoreMaterial:
    """The material of the page by a choice, in the state of the catalogue as it is; `live` with this machine's own use."""
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
    """The ids of what was used on this machine since a choice: the newest so many."""
    made_at: datetime | None = parse_time(choice.moment) if choice.moment else None
    used = (use.target for use in reversed(vault.uses.all()) if made_at is None or (parse_time(use.at) or made_at) >= made_at)
    return frozenset(target for target, _ in zip(used, range(_SINCE), strict=False))


def _import_map(vault: Context, rows: ImportRows, entries: dict[int, Entry]) -> ImportMap:
    return import_map(
        vault, rows.name, rows.count, rows.folders, [entries[number] for number in rows.linked if number in entries]
    )
