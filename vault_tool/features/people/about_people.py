"""The data about each user, in the vault and on this machine; every door shows the counts of this one function."""

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

# The most files that are read for a name after a full-text search; a name in more files than this is a common word.
_CANDIDATES = 5000
# The most of these files that an answer lists.
NAMED = 100
# The counts of a user beside memories; each store says which of them it adds to.
COUNTED = ("waiting", "turns", "refused")

_WORDS = re.compile(r"[\w ]*\w[\w ]*")
_SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")


class Person(Struct, kw_only=True):
    """One user, with counts: memories about them, memories that wait for review or were refused lately, and turns that this
    machine keeps of them.
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
    """The users with any data in the vault or on this machine, most memories first."""
    memories = memories_by_user(vault.index.catalog)
    here: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for store in stores.of(vault):
        for user, ids in store.people().items():
            # A turn counts once, even if several stores hold it: waiting, passed over, or in the log.
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

    A name matches as whole words in any case; the other names of a subject with the user's name match too.
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
    """The user's name, and the other names of a subject with that name."""
    subjects = vault.index.catalog.subject_named(normal_name(user))
    other = [name for subject in subjects for name in (subject.text("name"), *subject.texts("aliases"))]
    return {name for name in (user.strip(), *other) if name.strip()}


def _pattern(name: str) -> str:
    """A pattern for a name as whole words, or as any part of a text in a script without spaces between words."""
    before, after = (r"" if _SPACELESS.match(name[at]) else edge for at, edge in ((0, r"(?<!\w)"), (-1, r"(?!\w)")))
    return before + r"\s+".join(map(re.escape, name.split())) + after


def _candidates(vault: Context, names: Collection[str]) -> Iterator[str]:
    """The files that may name a person: those that the full-text index finds, or all files if it cannot be asked."""
    catalog = vault.index.catalog
    for name in names:
        yield from (entry.path for entry in catalog.tagged([normal_name(name)]))
        hits = None
        # The full-text index may split a name with other characters into several words.
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
