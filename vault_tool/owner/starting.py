"""Whether an owner may be started in the background, and how. Standard library alone."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from subprocess import Popen
    from typing import Any

# The variables that say who is asking: each request brings its own.
OF_A_CALL = ("VAULT_ORIGIN", "VAULT_SESSION", "VAULT_MODEL")

_LONGEST = 2**16


def allowed() -> bool:
    """Whether this process's environment lets it ask an owner."""
    return os.environ.get("VAULT_OWNER", "").strip() != "off"


def is_forbidden(root: str) -> bool:
    """Whether this machine's settings allow no process in the background; what cannot be read is for a closer look."""
    if not _forbids(root):
        return False
    from pathlib import Path  # 10 ms, as the next, and only where some settings forbid it

    from vault_tool.files.local_trust import place

    return _forbids(str(place(Path(root))))


def launch(root: str | Path, *options: str, without: Sequence[str] = ()) -> Popen[Any]:
    """Start an owner of the vault at `root` and do not wait for it; one that comes too late sees so and ends.

    It is a session of its own, inherits no file and no variable named in `without`, and goes on when this process ends.
    Raises OSError.
    """
    import subprocess  # 10 ms, and most find an owner that is there

    # -P: a module in the working folder must not be taken for one of Python's.
    command = [sys.executable, "-P", "-m", "vault_tool", "owner", "--vault", str(root), *options]
    left_out = {*OF_A_CALL, "VAULT_ROOT", *without}
    environ = {name: value for name, value in os.environ.items() if name not in left_out}
    nothing = subprocess.DEVNULL
    detached = {"creationflags": 0x00000208} if os.name == "nt" else {"start_new_session": True}
    return subprocess.Popen(
        command, stdin=nothing, stdout=nothing, stderr=nothing, cwd=str(root), env=environ, close_fds=True, **detached
    )


def _forbids(folder: str) -> bool:
    try:
        with open(os.path.join(folder, "_config.json"), "rb") as file:
            text = file.read(_LONGEST)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    import json  # 5 ms, and only where there are settings

    try:
        settings = json.loads(text)
    except (ValueError, RecursionError):
        return True
    return not isinstance(settings, dict) or settings.get("owner", "on") != "on"
