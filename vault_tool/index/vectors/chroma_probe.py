"""A process of its own that opens a Chroma folder, because a broken one ends the process that opens it."""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> int:
    """0 when every collection of the folder can be searched."""
    from vault_tool.index.vectors.chroma_client import look_through  # 500 ms, after the arguments are known to be there

    look_through(Path(sys.argv[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
