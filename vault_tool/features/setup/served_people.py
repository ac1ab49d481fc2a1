"""The people whom a served vault knows by tokens of their own: made, listed and taken away."""

from __future__ import annotations

import secrets
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from vault_tool import machine
from vault_tool.errors import NotFound, Refused, UsageError, VaultError
from vault_tool.files.layout import CONFIG_FILE
from vault_tool.files.local_trust import place
from vault_tool.model.served_person import MOST, SCOPES, WRITE, ServedPerson, address_of, called, checked_name, hash_of
from vault_tool.util.clock import Clock, by_day, end_of
from vault_tool.util.clock import until as end_as_written
from vault_tool.util.hints import option, shell
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line
from vault_tool.vault.context import Context
from vault_tool.vault.embedding_in_force import machine_settings
from vault_tool.vault.person import require_person

_TOKEN_BYTES = 32


class Person(Struct, kw_only=True):
    """A person as they are listed: `scope` is what their token is for, `author` whose their commits are.

    `until` is when the token ends, if it does by itself, and `over` says that it has.
    """

    name: str
    scope: str
    user: str
    author: str
    until: str = ""
    over: bool = False


class MadeToken(Struct, kw_only=True):
    """A token just made, which is shown this once; `replaced` says that an earlier one of the same person is refused now."""

    person: Person
    token: str
    replaced: bool


class ServedPeople(Struct, kw_only=True):
    """All people with tokens, by their names."""

    people: tuple[Person, ...]


class RemovedPerson(Struct, kw_only=True):
    """A person whose token was taken away; what they wrote stays theirs."""

    name: str


def new_token(vault: Context, name: str, scope: str = WRITE, until: str = "") -> MadeToken:
    """Make a token for a person, who writes under their name from then on; bound to the user that the vault is asked for.

    With `until` it is refused from then on, a day alone being through its last instant. Raises Refused where no person asks, or
    the vault has no history to say who wrote what, and UsageError for a bad name or an end that is past.
    """
    require_person(vault, "make a token")
    if scope not in SCOPES:
        raise UsageError(f"`{one_line(scope, 40)}` is no scope", f"one of {', '.join(SCOPES)}")
    ends = _end(vault, until) if until else ""
    if vault.repo is None:
        raise Refused("this vault has no git history, which says who wrote what", f"{shell(f'git init {vault.root}')} starts one")
    try:
        checked = checked_name(name)
    except ValueError as fault:
        raise UsageError(f"`{one_line(name, 40)}` {fault}", f"name them as in {option('person')} ann") from None
    known = machine_settings(vault).people
    before = called(checked, known)
    if before is None and len(known) >= MOST:
        raise Refused(f"{len(known)} people have tokens already", "take one away first")
    if address_of(checked) in vault.owners().addresses:
        raise Refused("the owner writes under that address", "choose another name")
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    spelling = before.name if before is not None else checked
    person = ServedPerson(spelling, hash_of(token), scope, vault.who.user or (before.user if before is not None else ""), ends)
    machine.set_person(_file(vault), spelling, person)
    return MadeToken(person=_listed(person, vault.clock.now()), token=token, replaced=before is not None)


def people(vault: Context) -> ServedPeople:
    """The people who have tokens."""
    known = machine_settings(vault).people
    now = vault.clock.now()
    return ServedPeople(people=tuple(_listed(known[name], now) for name in sorted(known, key=str.casefold)))


def remove(vault: Context, name: str) -> RemovedPerson:
    """Take a person's token away: it is refused from their next call on. Raises NotFound for a name without a token."""
    require_person(vault, "take a token away")
    known = machine_settings(vault).people
    person = called(name, known)
    if person is None:
        names = ", ".join(sorted(known, key=str.casefold)) or "nobody"
        raise NotFound(f"nobody with a token is called `{one_line(name, 40)}`", f"there is {names}")
    machine.set_person(_file(vault), person.name, None)
    return RemovedPerson(name=person.name)


class KnownPeople:
    """The people of a vault whose tokens are good, as a server asks for them: read again only where the file changed."""

    def __init__(self, root: str | Path, clock: Clock | None = None) -> None:
        self._root, self._clock = Path(root), clock or Clock()
        self._stamp: tuple[int, ...] = (-1,)
        self._people: tuple[ServedPerson, ...] = ()

    def __call__(self) -> tuple[ServedPerson, ...]:
        """All of them now; none where the settings cannot be read."""
        path = place(self._root) / CONFIG_FILE
        stamp: tuple[int, ...] = ()
        with suppress(OSError):
            info = path.lstat()
            stamp = (info.st_size, info.st_mtime_ns, info.st_ino, info.st_ctime_ns)
        if stamp != self._stamp:
            try:
                known = {} if path.is_symlink() else machine.read(path, {}).people
            except VaultError:
                known = {}
            self._people, self._stamp = tuple(known.values()), stamp
        if not any(person.until for person in self._people):
            return self._people
        now = self._clock.now()
        return tuple(person for person in self._people if not person.is_over(now))


def _file(vault: Context) -> Path:
    return vault.local.place / CONFIG_FILE


def _listed(person: ServedPerson, now: datetime) -> Person:
    return Person(
        name=person.name, scope=person.scope, user=person.user, author=person.author, until=by_day(person.until),
        over=person.is_over(now),
    )  # fmt: skip


def _end(vault: Context, text: str) -> str:
    """The end of a token as it is kept; UsageError for what is no time, or is past."""
    written = end_as_written(text)
    if written is None:
        raise UsageError(f"`{one_line(text, 40)}` is not a time", f"for example {option('until', '2027-06-30')}")
    ends = end_of(written)
    if ends is None or ends <= vault.clock.now():
        raise UsageError(f"a token until {by_day(written)} would be refused at once", "give a time that is to come")
    return written
