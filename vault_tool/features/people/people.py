"""`people`: the users that the vault's memories are about, and the data about each."""

from __future__ import annotations

from vault_tool.errors import NotFound
from vault_tool.features.people.about_people import NAMED, Naming, Person, naming, people_of
from vault_tool.model.consent import consent_of
from vault_tool.model.signals import ConsentState
from vault_tool.model.types import MEMORIES
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line
from vault_tool.vault.context import Context
from vault_tool.vault.facts import Memory
from vault_tool.vault.request import Answer, looks, of_the_whole, verb


class MemoryAbout(Struct, kw_only=True):
    """A memory about a user, with the consent to it; `withheld` says that it is shown to no reader."""

    id: str
    type: str
    title: str
    created: str
    consent: ConsentState | None
    withheld: bool


class People(Answer, kw_only=True):
    """The users, most memories first. For a single user, `memories` are the newest of `total`, and `elsewhere` the first of
    `elsewhere_count` notes that name the user but are not filed under them.
    """

    results: tuple[Person, ...]
    memories: tuple[MemoryAbout, ...] = ()
    total: int = 0
    elsewhere: tuple[Naming, ...] = ()
    elsewhere_count: int = 0


@verb
@looks
@of_the_whole
def people(vault: Context, name: str = "", *, limit: int = 100) -> People:
    """The users that memories are about, with counts for each; for the one called `name` also their memories, at most `limit`.

    Raises NotFound for a user without any data.
    """
    vault = vault.with_withheld()
    listed = tuple(person for person in people_of(vault) if name in ("", person.user))
    if not name:
        return People(results=listed)
    if not listed:
        raise NotFound(f"nothing is about `{one_line(name, 60)}`", f"{step('people')} names those of whom there is something")
    catalog = vault.index.catalog
    entries = [entry for entry in catalog.of_user(name) if entry.record_class in MEMORIES]
    newest = sorted(entries, key=lambda entry: (entry.text("created"), entry.id), reverse=True)[:limit]
    consents = {entry.id: consent_of(entry, catalog.signals(entry.id)) for entry in newest}
    memories = tuple(
        Memory(vault, entry).told(MemoryAbout, consent=consents[entry.id].state, withheld=consents[entry.id].withheld)
        for entry in newest
    )  # fmt: skip
    elsewhere = naming(vault, name)
    return People(
        results=listed, memories=memories, total=len(entries), elsewhere=tuple(elsewhere[:NAMED]),
        elsewhere_count=len(elsewhere),
    )  # fmt: skip
