"""Every verb of the features as a method, for programs, and files as agents' own tools have them."""

import vault_tool.features  # noqa: F401  (who opens a vault must know how a forgetting is finished)
