"""The authors whose commits count as the owner's, the names of other authors, and a warning while authors are unknown.

It is a module of its own because `authorship` is loaded only when the history is read.
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

# Stands for a commit if git failed when it was asked for a text's author. The next answer of git removes such rows.
DOUBT = "unknown"

_NAME_LENGTH = 80

# The prefix of lines about trusted people in `TrustedAuthors.fact`; no address has a space.
TRUSTS = "trusts "

_BRACKETS = str.maketrans(dict.fromkeys("()<>[]`|\"'", " "))


class TrustedAuthors(Struct):
    """The rule for the owner's commits: the authors' addresses in lower case, and whether only validly signed commits count."""

    addresses: frozenset[str] = frozenset()
    signed: bool = False
    trusted: frozenset[str] = frozenset()
    """The addresses of people whom the owner trusts; `*@example.org` is all of that domain."""

    def wrote(self, brought: Brought) -> bool:
        """Whether a commit is the owner's. A commit cut off by a shallow clone is not: its author is unknown."""
        if brought.cut or brought.address not in self.addresses:
            return False
        signer = brought.signer.lower().rpartition("<")[2].rstrip("> ")
        return not self.signed or signer in self.addresses

    def origin_of(self, commit: Brought) -> str:
        """The origin of a text from another person's commit: a trusted person, or any other."""
        origin = author_of(commit)
        address, signer = commit.address.lower(), commit.signer.lower().rpartition("<")[2].rstrip("> ")
        known = not commit.cut and not {address, f"*@{address.rpartition('@')[2]}"}.isdisjoint(self.trusted)
        return trusted(origin) if known and (not self.signed or signer == address) else origin

    def fact(self) -> str:
        """A text that differs for each set of owners and trusted people."""
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
    """The warning for people while git could not name the authors of some texts; else empty."""
    if catalog.meta("head_signature"):
        return ""  # HEAD was looked at to its end, which is the usual case
    count = catalog.rows("SELECT count(DISTINCT path) FROM foreign_texts WHERE by_commit = ?", (DOUBT,))[0][0]
    reason = f"git could not say by whose commits {counted(count, 'file')} came, so nobody vouches for them until it can"
    return f"{reason}: try {shell('git log')}; {WHOLE}" if count else ""
