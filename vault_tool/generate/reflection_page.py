"""REFLECTION.md: themes, use and what needs attention, in one pass over the entries; values in, text out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from heapq import nlargest, nsmallest
from itertools import combinations
from operator import attrgetter

from vault_tool.generate.escape import inline, words
from vault_tool.generate.page_lines import link, provenance
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util.structs import Struct
from vault_tool.util.text import counted, normal_name, tag_name

THEMES = 8
EXAMPLES = 3
PATTERNS = 20
PROJECTS_SHOWN = 6
MOST_ACCESSED = 10
INSIGHTS = 10
PASSES_SHOWN = 5
CONCERNS = 20
PREVIEW = 80
TITLE = 60
TAG = 30

_TAGS_READ = 16
_EVERYWHERE = frozenset({"", "global"})
_LIVE = ", those of this machine that no commit has among them"


class Concern(Struct):
    """A concern for the owner: `kind` (contested, questionable, uncovered, stale), which entries, and why."""

    kind: str
    entries: tuple[Entry, ...]
    why: str = ""


class Beside(Struct):
    """A mark beside a memory's line: its words, the memories that it is by, and why."""

    words: str
    by: tuple[Entry, ...] = ()
    why: str = ""


class _Tagged(Struct):
    """A memory with its tags and its projects in the form in which they are compared, each once."""

    entry: Entry
    tags: tuple[str, ...]
    projects: frozenset[str]


class _Spelling:
    """How tags and projects are written, by the form in which they are compared: as most memories have it."""

    def __init__(self) -> None:
        self._normal: dict[str, str] = {}
        self._written: dict[str, Counter[str]] = defaultdict(Counter)

    def normal(self, text: str) -> str:
        """The form in which a tag or project is compared, its spelling counted."""
        if text not in self._normal:
            self._normal[text] = tag_name(text)
        normal = self._normal[text]
        self._written[normal][text] += 1
        return normal

    def usual(self, normal: str) -> str:
        """The spelling that most have."""
        written, _ = min(self._written[normal].items(), key=lambda counted: (-counted[1], counted[0]))
        return words(written.strip().removeprefix("#"), TAG)


def reflection_page(
    entries: Sequence[Entry],
    access: Mapping[str, int],
    concerns: Sequence[Concern],
    *,
    as_of: date,
    last_reflection: str,
    reflections: int,
    merges: int,
    reviewed: Callable[[str], bool] = lambda _: False,
    projects: Mapping[str, str] | None = None,
    live: bool = False,
    preview: Callable[[Entry], str] = attrgetter("preview"),
    said_beside: Callable[[Sequence[Entry]], Mapping[str, Sequence[Beside]]] = lambda _: {},
) -> str:
    """The page as of a UTC date; `entries` are the records that nothing supersedes and the passes.

    `access` counts accesses by id, `reflections` the reflections so far (`last_reflection` is the date of the last, or
    empty), `merges` the subjects merged; `reviewed` says of an id whether a person reviewed it. `projects` are more
    names of projects, each with the project that it means; with `live`, accesses that no commit has yet are among the rest.
    `preview` gives the beginning of an entry's text, `said_beside` by path what makes entries less than current. The
    cost grows with the number of entries (of a note with more than 16 tags only 16 are read), the page does not.
    """
    memories = [entry for entry in entries if entry.record_class in (RecordClass.OBSERVATION, RecordClass.UNDERSTANDING)]
    memories = [entry for entry in memories if not entry.text("user")]
    memories.sort(key=lambda entry: entry.observed_sort_key, reverse=True)
    spelling = _Spelling()
    known = _projects(memories, projects or {}, spelling)
    tagged = _tagged(memories, known, spelling)
    passes = [entry for entry in entries if entry.record_class is RecordClass.CONSOLIDATION]
    passes.sort(key=lambda entry: entry.created_sort_key, reverse=True)
    used = _most_accessed(memories, access)
    named = {entry.path for _, entry in used}
    insights = [entry for entry in memories if entry.type == "insight" and entry.path not in named][:INSIGHTS]
    marks = said_beside([*(entry for _, entry in used), *insights])
    dates = f"Last updated: {as_of.isoformat()} | Last reflection: {last_reflection or 'never'}"
    parts = (
        f"# Reflection Summary (auto-generated)\n\n> {dates} | Total reflections: {reflections}\n",
        _section("Themes", "Tags that stand together most often:", _themes(tagged, spelling)),
        _section("Cross-Project Patterns", "Tags that span several projects:", _patterns(tagged, known, spelling)),
        _section("Most Accessed", f"By number of accesses{_LIVE if live else ''}:", _accessed(used, marks)),
        _section(
            "Recent Insights",
            "The newest first:",
            [f"{_insight(entry, preview(entry), reviewed(entry.id))}{_beside(marks.get(entry.path, ()))}" for entry in insights],
        ),
        _section("Consolidation History", "", _history(passes, merges)),
        _section("Needs Attention", "To be settled by a new understanding, a review or a vote:", _attention(concerns)),
    )
    return "\n".join(filter(None, parts))


def _section(title: str, intro: str, lines: Iterable[str]) -> str:
    """A section with its lines; nothing at all where it has none."""
    body = "\n".join(lines)
    content = f"{intro}\n\n{body}" if intro else body
    return f"## {title}\n\n{content}\n" if body else ""


def _projects(memories: Iterable[Entry], named: Mapping[str, str], spelling: _Spelling) -> dict[str, str]:
    """Names of projects, by fields, settings and subjects: each name with that of its project, as they are compared."""
    fields = {entry.text("project"): entry.text("project") for entry in memories}
    projects = {spelling.normal(name): spelling.normal(project) for name, project in {**fields, **named}.items()}
    return {name: project for name, project in projects.items() if name not in _EVERYWHERE}


def _tagged(memories: Iterable[Entry], projects: Mapping[str, str], spelling: _Spelling) -> list[_Tagged]:
    """The memories with their projects: that of their field, and those that a tag or a subject is called like."""
    tagged = []
    for entry in memories:
        tags = tuple(dict.fromkeys(tag for tag in map(spelling.normal, entry.own("tags")[:_TAGS_READ]) if tag))
        names = {tag_name(entry.text("project")), *tags, *map(normal_name, entry.subjects)}
        tagged.append(_Tagged(entry, tags, frozenset(projects[name] for name in names if name in projects)))
    return tagged


def _themes(tagged: Sequence[_Tagged], spelling: _Spelling) -> list[str]:
    """The pairs of tags that two or more memories share, with the newest of these."""
    pairs = Counter(pair for tagged_entry in tagged for pair in combinations(sorted(tagged_entry.tags), 2))
    top = nsmallest(THEMES, ((-count, pair) for pair, count in pairs.items() if count > 1))
    examples: dict[tuple[str, str], list[str]] = {pair: [] for _, pair in top}
    for tagged_entry in tagged:
        for pair, titles in examples.items():
            if len(titles) < EXAMPLES and pair[0] in tagged_entry.tags and pair[1] in tagged_entry.tags:
                titles.append(f'"{_title(tagged_entry.entry)}"')
    return [
        f"- **{spelling.usual(pair[0])} + {spelling.usual(pair[1])}**: {-count} memories ({', '.join(examples[pair])})"
        for count, pair in top
    ]


def _title(entry: Entry) -> str:
    return inline(entry.title.replace('"', "'"), TITLE)


def _patterns(tagged: Sequence[_Tagged], projects: Mapping[str, str], spelling: _Spelling) -> list[str]:
    """Tags in two projects or more."""
    spans: dict[str, Counter[str]] = defaultdict(Counter)
    for tagged_entry in tagged:
        for tag in tagged_entry.tags:
            if tag not in projects:
                spans[tag].update(tagged_entry.projects)
    wide = ((-len(places), -places.total(), tag) for tag, places in spans.items() if len(places) > 1)
    return [f"- **{spelling.usual(tag)}**: appears in {_places(spans[tag], spelling)}" for _, _, tag in nsmallest(PATTERNS, wide)]


def _places(places: Counter[str], spelling: _Spelling) -> str:
    ordered = sorted(places.items(), key=lambda place: (-place[1], place[0]))
    shown = ", ".join(f"{spelling.usual(name)} ({count})" for name, count in ordered[:PROJECTS_SHOWN])
    more = len(ordered) - PROJECTS_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _most_accessed(memories: Iterable[Entry], access: Mapping[str, int]) -> list[tuple[int, Entry]]:
    used = ((access.get(entry.id, 0), entry.id, entry.path, entry) for entry in memories)
    top = nlargest(MOST_ACCESSED, (row for row in used if row[0] > 0), key=lambda row: row[:3])
    return [(count, entry) for count, _, _, entry in top]


def _accessed(used: Sequence[tuple[int, Entry]], marks: Mapping[str, Sequence[Beside]]) -> list[str]:
    return [
        f"{place}. {link(entry)} - {counted(count, 'access', 'accesses')}{_beside(marks.get(entry.path, ()))}"
        for place, (count, entry) in enumerate(used, 1)
    ]


def _beside(marks: Sequence[Beside]) -> str:
    """` (overtaken by [title](path))` or nothing: what makes a memory less than current."""
    return f" ({'; '.join(map(_mark, marks))})" if marks else ""


def _mark(mark: Beside) -> str:
    by = ", ".join(link(other, TITLE) for other in mark.by[:EXAMPLES])
    return f"{mark.words}{f' by {by}' if by else ''}{f': {inline(mark.why, PREVIEW)}' if mark.why else ''}"


def _insight(entry: Entry, preview: str, reviewed: bool) -> str:
    # A title is often the text's first sentence, which need not be read twice.
    title = entry.title.removesuffix("…").rstrip(" .")
    suffix = "" if preview.casefold().startswith(title.casefold()) else f" - {inline(preview, PREVIEW)}"
    return f"- {link(entry)}{suffix} — {provenance(entry, reviewed)}"


def _history(passes: Sequence[Entry], merges: int) -> list[str]:
    shown = [f"  - {link(entry)} — {provenance(entry, True)}" for entry in passes[:PASSES_SHOWN]]
    if not passes and not merges:
        return []
    return [f"- Total passes: {len(passes)}", *shown, f"- Total merges performed: {merges}"]


def _attention(concerns: Sequence[Concern]) -> list[str]:
    lines = [_concern(concern) for concern in concerns[:CONCERNS]]
    more = len(concerns) - CONCERNS
    return [*lines, f"- and {more} more, in the report of consolidation"] if more > 0 else lines


def _concern(concern: Concern) -> str:
    shown = ", ".join(link(entry, TITLE) for entry in concern.entries[:EXAMPLES])
    more = len(concern.entries) - EXAMPLES
    why = f" - {inline(concern.why, PREVIEW)}" if concern.why else ""
    return f"- **{words(concern.kind, TAG)}**: {shown}{f' and {more} more' if more > 0 else ''}{why}"
