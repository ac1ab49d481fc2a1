"""What a vault can be asked and told: one public function a verb, with one frozen result."""

from vault_tool.util.deferred import deferred
from vault_tool.vault import registered

# Loaded where a killed process left something of it, which few vaults ever have.
_purging = deferred("vault_tool.verbs.purging")

registered.finish_by("forgetting", lambda vault: _purging.finish(vault))
