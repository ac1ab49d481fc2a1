"""`python -m vault_tool` and the `vt` script."""

from __future__ import annotations

import gc
import os
import sys

from vault_tool.owner.front import ANSWERED, answered

_THREADS = "OPENBLAS_NUM_THREADS"
# The exit codes of a command that had a vault to look into: done, with findings, usage (nothing of that name), attention.
_ANSWERS = (0, 1, 2, 4)


def main() -> int:
    """Run the command line of this process, or have the owner run it where that is sooner, and return its exit code."""
    if sys.getfilesystemencoding() == "ascii":
        # A locale that knows no other letters: no file of such a name could be opened. What we start inherits it.
        command = [sys.executable, "-P", "-m", "vault_tool", *sys.argv[1:]]
        os.execve(sys.executable, command, {**os.environ, "PYTHONUTF8": "1"})
    arguments = sys.argv[1:]
    # A client waits for its hooks: one that says nothing must not pay for the command line.
    if arguments[:1] == ["hook"] and not {"--help", "-h"} & set(arguments) and not os.isatty(0):
        from vault_tool.hooks.running import main as hook

        return hook(arguments[1:])
    if "mcp" in arguments:
        from vault_tool.owner.relay import relayed

        code = relayed(arguments)
    else:
        code = answered(arguments)
    if code is not None:
        return code
    if not ANSWERED.isdisjoint(arguments):
        # Of one answer nothing is worth a second thread in numpy, and to start it takes 30 ms.
        ours = () if _THREADS in os.environ else (_THREADS,)
        os.environ.setdefault(_THREADS, "1")
        # Nor is it worth looking for cycles again and again in all that is loaded: a twentieth of it, for a megabyte.
        gc.disable()
    from vault_tool.cli.main import main as command_line

    code = command_line()
    if code in _ANSWERS and not ANSWERED.isdisjoint(arguments):
        from vault_tool.owner.next_command import start_for_next  # 1 ms, after the answer

        start_for_next(arguments, ours)
    beside = sys.modules.get("vault_tool.vault.beside")
    if beside is not None and beside.is_any_at_work():
        # What is printed is out, and another vault's thread must not be met in the middle of a library's work.
        os._exit(code)
    # At its end Python looks for cycles in all that there is: a tenth of a cold command's time, for what goes anyway.
    gc.freeze()
    return code


if __name__ == "__main__":
    sys.exit(main())
