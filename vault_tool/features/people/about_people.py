"""The data about each user, in the vault and on this machine: counted by one function for all that show it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from unicodedata import normalize

from vault_tool.errors import Busy, StorageError
from vault_tool.features import stores
from vault_tool.files import layout, reader
from vault_tool.index.slight import memories_by_user
from vault_tool.util.structs import Struct
from vault_tool.util.text import normal_name
from vault_tool.vault.context import Context

# So many files that the full text proposes are looked into for a name; more name nobody in particular.
_CANDIDATES = 5000
# So many of them are told by name.
NAMED = 100
# What of a user is counted beside memories; the stores say which of them they hold.
COUNTED = ("waiting", "turns", "refused")

_WORDS = re.compile(r"[\w ]*\w[\w ]*")
_SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")


class Person(Struct, kw_only=True):
    """One user: how many memories are about them, how many wait for review or were refused there lately, and how many turns
    this machine keeps of them.
    """

    user: str
    memories: int
    waiting: int
    turns: int
    refused: int = 0


class Naming(Struct, kw_only=True):
    """A note that names a user and is not filed under them; without an id it is a page."""

    id: str
    type: str
    title: str
    path: str


def people_of(vault: Context) -> list[Person]:
    """The users of whom there is anything, those with most memories first."""
    memories = memories_by_user(vault.index.catalog)
    here: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for store in stores.of(vault):
        for user, ids in store.people().items():
            # A turn that waits, was passed over, or stands in the log is one.
            here[user][store.counted_as].update(ids)
    people = [
        Person(user=user, memories=memories[user], **{name: len(here[user][name]) for name in COUNTED})
        for user in {*memories, *here}
    ]
    return sorted(people, key=lambda person: (-person.memories, person.user))


def person_of(vault: Context, user: str) -> Person:
    """The counts for one user, possibly all zero."""
    nothing = Person(user=user, memories=0, waiting=0, turns=0)
    return next((person for person in people_of(vault) if person.user == user), nothing)


def naming(vault: Context, user: str, without: Collection[str] = ()) -> list[Naming]:
    """The notes that name a user in their text, head or subjects, and are not filed under them, by title.

    A name counts as whole words, whatever their case; so do the other names of a subject that is called like the user.
    """
    catalog = vault.index.catalog
    names = _names(vault, user)
    pattern = re.compile("|".join(_pattern(_flat(name)) for name in sorted(names)))
    namings: dict[str, Naming] = {}
    for path in _candidates(vault, names):
        entry = catalog.by_path(path)
        if path in without or path in namings or (entry is not None and entry.text("user") == user):
            continue
        try:
            text = reader.read(vault.root, path).decode("utf-8", "replace")
        except OSError:
            continue
        if pattern.search(_flat(text)):
            title, kind = (entry.title, entry.type) if entry is not None else (path.rsplit("/", 1)[-1], "page")
            namings[path] = Naming(id=entry.id if entry is not None else "", type=kind, title=title, path=path)
    return sorted(namings.values(), key=lambda naming: (naming.title, naming.path))


def _names(vault: Context, user: str) -> set[str]:
    """The user's name, and how else a subject of that name is called."""
    subjects = vault.index.catalog.subject_named(normal_name(user))
    other = [name for subject in subjects for name in (subject.text("name"), *subject.texts("aliases"))]
    return {name for name in (user.strip(), *other) if name.strip()}


def _pattern(name: str) -> str:
    """A name as whole words, but where a script writes words without spaces between them."""
    before, after = (r"" if _SPACELESS.match(name[at]) else edge for at, edge in ((0, r"(?<!\w)"), (-1, r"(?!\w)")))
    return before + r"\s+".join(map(re.escape, name.split())) + after


def _candidates(vault: Context, names: Collection[str]) -> Iterator[str]:
    """The files that may name a person: those the full text proposes, or all where it cannot tell."""
    catalog = vault.index.catalog
    for name in names:
        yield from (entry.path for entry in catalog.tagged([normal_name(name)]))
        hits = None
        # Of other characters the full text may make several words.
        if _WORDS.fullmatch(name):
            try:
                hits = vault.index.search('"' + name.replace('"', " ") + '"', _CANDIDATES)
            except (Busy, StorageError):
                hits = None
        every = (path for kind in ("record", "page") for path in catalog.of_kind(kind))
        notes = every if hits is None else (hit.path for hit in hits)
        yield from (path for path in notes if path not in layout.MADE_PAGES)


def _flat(text: str) -> str:
    return normalize("NFKC", text).casefold()
