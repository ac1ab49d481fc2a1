"""A person or agent that a served vault knows by a token of their own: a name, a scope, and the author of their commits."""

from __future__ import annotations

import hashlib
import hmac
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from vault_tool.util.clock import end_of
from vault_tool.util.structs import Struct
from vault_tool.util.text import normal_name

READ, WRITE = "read", "write"
SCOPES = (READ, WRITE)

# The domain of their addresses: reserved to be nobody's (RFC 2606), so that a token never speaks as an address of a commit.
DOMAIN = "people.invalid"

MOST = 400
_LONGEST_NAME = 60
_BETWEEN = frozenset(" .-_'")
# Names under which a reader would take their word for another's.
_RESERVED = frozenset({"owner", "agent", "import", "nobody", "unknown"})
_DIGITS = frozenset("0123456789abcdef")


class ServedPerson(Struct):
    """The person of a token: `hash` is the SHA-256 of the token, `user` the user to whose memories they are bound.

    `until` is when the token ends; one without it ends when it is taken away.
    """

    name: str
    hash: str
    scope: str = READ
    user: str = ""
    until: str = ""

    def is_over(self, now: datetime) -> bool:
        """Whether the token has ended."""
        ends = end_of(self.until) if self.until else None
        return ends is not None and ends <= now

    @property
    def author(self) -> str:
        """The author of commits of what they write: `ann <HASH@people.invalid>`."""
        return f"{self.name} <{address_of(self.name)}>"

    def row(self) -> dict[str, str]:
        """The row of `_config.json`."""
        optional = {"user": self.user, "until": self.until}
        return {"hash": self.hash, "scope": self.scope} | {key: text for key, text in optional.items() if text}


def address_of(name: str) -> str:
    """The address in commits of a person of this name, the same wherever the vault is served and whatever their token is."""
    return f"{hashlib.sha256(normal_name(name).encode()).hexdigest()[:16]}@{DOMAIN}"


def checked_name(name: str) -> str:
    """A name as it is kept; ValueError, with the reason, for one that could pass for an address or break a line."""
    clean = unicodedata.normalize("NFC", name)
    if "@" in clean or "<" in clean or ">" in clean:
        raise ValueError("is a name and no address: what a token writes is never by an address of its own choice")
    if not 0 < len(clean) <= _LONGEST_NAME or not all(_may_stand(char) for char in clean) or not clean[0].isalnum():
        raise ValueError(f"must be 1 to {_LONGEST_NAME} letters, digits, spaces or .-_', and begin with a letter or digit")
    if clean != clean.rstrip(" ") or "  " in clean:
        raise ValueError("must have single spaces, and none at its end")
    if normal_name(clean) in _RESERVED:
        raise ValueError(f"may be none of {', '.join(sorted(_RESERVED))}")
    return clean


def _may_stand(char: str) -> bool:
    return char.isalnum() or char in _BETWEEN or unicodedata.category(char) in ("Mn", "Mc")


def read_people(value: Any) -> dict[str, ServedPerson]:
    """The people of `_config.json` by name; ValueError where a row is none."""
    if not isinstance(value, dict) or len(value) > MOST:
        raise ValueError(f"must be at most {MOST} people by name")
    people: dict[str, ServedPerson] = {}
    for name, row in value.items():
        values = row if isinstance(row, dict) else {}
        digest, scope, user, until = values.get("hash"), values.get("scope"), values.get("user", ""), values.get("until", "")
        is_hash = isinstance(digest, str) and len(digest) == 64 and _DIGITS.issuperset(digest)
        if not is_hash or scope not in SCOPES or not isinstance(user, str) or checked_name(name) != name:
            raise ValueError("must be rows of `hash` and `scope` by name")
        if not isinstance(until, str) or (until and end_of(until) is None):
            raise ValueError("must have a time as `until`, where a row has one")
        people[name] = ServedPerson(name, str(digest), str(scope), user, until)
    if len({normal_name(name) for name in people}) < len(people):
        raise ValueError("has one name in two spellings")
    return people


def hash_of(token: str) -> str:
    """The hash of a token by which it is known: a token is random and long, so nothing need slow a guess down."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def shown_by(token: str, people: Iterable[ServedPerson]) -> ServedPerson | None:
    """The person whose token it is; the time that it takes tells nothing of the tokens that there are."""
    shown, person = hash_of(token), None
    for candidate in people:
        # Each is compared to its end, and all of them are.
        if hmac.compare_digest(shown, candidate.hash):
            person = candidate
    return person


def called(name: str, people: Mapping[str, ServedPerson]) -> ServedPerson | None:
    """The person of a name, in whatever case it is written."""
    return next((person for person in people.values() if normal_name(person.name) == normal_name(name)), None)
