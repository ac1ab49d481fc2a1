"""The ground of every verb: the open vault, names and ids, one operation at a time, and the rules of writing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "another_address": "where the soul is by somebody else",
            "beside": "where other vaults are asked too",
            "checked": "3 ms, where a program asks, or an answer comes from a file",
            "contests": "where an agent changes, pins or weighs",
            "core_age": "where something is forgotten or the vault's state is told",
            "core_making": "20 ms, at a session's start",
            "drafts": "where something waits for review",
            "evidence_state": "2 ms, where it rests on something",
            "generated_pages": "20 ms",
            "lean_values": "for an answer without a lean form of its own",
            "note_history": "10 ms, where a note may have been moved",
            "one_thread": "what only a server needs: with the SDK three quarters of a second",
            "open_pass": "2 ms, where a vault had passes",
            "page_at_start": "20 ms, once a day",
            "past": "what was known at a time is seldom asked",
            "request": "as much as the open vault, for a list of commands, which opens none",
            "screening": "15 ms, for who names a session",
            "served_writer": "where another person writes by a served vault",
            "settings_in_force": "2 ms, where `vault.toml` cannot be used as it is",
            "settings_stamps": "for a process that stays",
            "shortened": "for what is too long",
            "statuses": "most give the status that they looked up for several",
            "together": "where several write at once",
            "vector_upkeep": "20 ms",
            "work_left": "at a session's start",
        },
    )
