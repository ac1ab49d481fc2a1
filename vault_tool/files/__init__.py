"""The truth on disk: where files live, how heads are read and edited, the one door for writes, journals and git."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "bin": "1 ms, and few vaults have one",
            "conflict_copies": "few files have such a name",
            "page_titles": "10 ms, and only what is no memory needs these",
            "secrets": "3 ms, and only writes need it",
            "two_versions": "few notes have any",
            "watcher_presence": "1 ms, where something waits to be exported",
        },
    )
