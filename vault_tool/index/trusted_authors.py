"""The people by whose commits the owner speaks, how other authors are named, and what is not known of them.

It stands apart from `authorship`, which is loaded only where the history is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.files.git.run import WHOLE
from vault_tool.model.snapshot import pulled, trusted
from vault_tool.util.hints import shell
from vault_tool.util.structs import Struct
from vault_tool.util.text import counted, one_line

if TYPE_CHECKING:
    from vault_tool.files.git.authors import Brought  # read only where HEAD moved
    from vault_tool.index.catalog import Catalog

# In place of a commit: git failed while it was asked who brought the text. The next answer of git takes such rows away.
DOUBT = "unknown"

_NAME_LENGTH = 80

# Begins the lines of trusted people in the fact of an owner; no address has a space.
TRUSTS = "trusts "

_BRACKETS = str.maketrans(dict.fromkeys("()<>[]`|\"'", " "))


class TrustedAuthors(Struct):
    """By which commits the owner speaks: the authors' addresses, lower case, and whether only validly signed ones count."""

    addresses: frozenset[str] = frozenset()
    signed: bool = False
    trusted: frozenset[str] = frozenset()
    """The addresses of people whom the owner trusts; `*@example.org` is all of that domain."""

    def wrote(self, brought: Brought) -> bool:
        """Whether a commit is the owner's. What a shallow clone cut off may be anybody's."""
        if brought.cut or brought.address not in self.addresses:
            return False
        signer = brought.signer.lower().rpartition("<")[2].rstrip("> ")
        return not self.signed or signer in self.addresses

    def origin_of(self, commit: Brought) -> str:
        """The origin of what another person's commit brought: a trusted person's, or anybody's."""
        origin = author_of(commit)
        address, signer = commit.address.lower(), commit.signer.lower().rpartition("<")[2].rstrip("> ")
        known = not commit.cut and not {address, f"*@{address.rpartition('@')[2]}"}.isdisjoint(self.trusted)
        return trusted(origin) if known and (not self.signed or signer == address) else origin

    def fact(self) -> str:
        """A value that tells one set of owners from another."""
        trusts = (f"{TRUSTS}{address}" for address in sorted(self.trusted))
        return "\n".join((*sorted(self.addresses), *trusts, "signed" if self.signed else ""))


def author_of(commit: Brought) -> str:
    """`pulled (Name <address>)`, printable on one line, with nothing in it that could close the brackets."""
    if commit.cut:
        return pulled("nobody knows who: the history is cut off here")
    name = one_line(commit.name, _NAME_LENGTH).translate(_BRACKETS).strip()
    address = one_line(commit.address, _NAME_LENGTH).translate(_BRACKETS).strip()
    return pulled(f"{name} <{address}>" if name else f"<{address}>")


def unverified_authors(catalog: Catalog) -> str:
    """Said to people while git has not told who wrote some of the texts; else empty."""
    if catalog.meta("head_signature"):
        return ""  # HEAD was looked at to its end, which is the usual case
    count = catalog.rows("SELECT count(DISTINCT path) FROM foreign_texts WHERE by_commit = ?", (DOUBT,))[0][0]
    reason = f"git could not say by whose commits {counted(count, 'file')} came, so nobody vouches for them until it can"
    return f"{reason}: try {shell('git log')}; {WHOLE}" if count else ""
