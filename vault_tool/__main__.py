"""`python -m vault_tool` and the `vt` script."""

from __future__ import annotations

import sys

from vault_tool.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
