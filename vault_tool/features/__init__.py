"""The features of a vault: a folder each, with its verbs, its stores and the code that only it needs."""

from vault_tool.util.deferred import deferred
from vault_tool.vault import registered

# Loaded where there is something of theirs: where a killed process left an erasing half done, and before what is appended.
_purging = deferred("vault_tool.features.erasing.purging")
_waiting = deferred("vault_tool.features.turns.waiting")

_following = deferred("vault_tool.features.sync.following")

registered.finish_by("syncing", lambda vault: _following.finish(vault))
registered.finish_by("forgetting", lambda vault: _purging.finish(vault))
registered.write_first("turns", lambda vault: _waiting.write_waiting(vault))
