"""The resources that clients may read without a tool: the two pages, and any subject or memory by its name."""

from __future__ import annotations

from urllib.parse import unquote

import orjson

from vault_tool.errors import NotFound, UsageError
from vault_tool.mcp.answering import bounded
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line
from vault_tool.vault.resolve import short
from vault_tool.verbs.vault import Vault

MARKDOWN, JSON = "text/markdown", "application/json"

_SCHEME = "vault://"


class Contents(Struct):
    """The text of a resource and its media type."""

    text: str
    kind: str


def read(vault: Vault, uri: str) -> Contents:
    """Read a URI. It counts as no use: a client reads again at each notice of a change. Raises VaultError."""
    name, _, rest = uri.removeprefix(_SCHEME).partition("/") if uri.startswith(_SCHEME) else ("", "", "")
    called = unquote(rest)
    match name, bool(called):
        case "core", False:
            return Contents(vault.core(preview=True).text, MARKDOWN)
        case "reflection", False:
            return Contents(vault.reflection(preview=True).text, MARKDOWN)
        case "memory", True:
            return _lean(vault, vault.show(called))
        case "subject", True:
            # A session would note what it was shown.
            view = vault.as_(session="").recall(called)
            if view.mode != "subject":
                raise NotFound(f"no subject is called `{one_line(called, 60)}`", "`get_subjects` lists them")
            return _lean(vault, view)
    raise UsageError(
        f"there is no resource {one_line(uri, 80)}", "vault://core, vault://reflection, vault://subject/NAME, vault://memory/ID"
    )


def _lean(vault: Vault, result: object) -> Contents:
    lean = result.lean(lambda identity: short(vault, identity))  # type: ignore[attr-defined]
    return Contents(bounded(orjson.loads(orjson.dumps(lean))), JSON)
