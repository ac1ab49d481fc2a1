"""Writers that wait for each other in one process, as an owner's clients do: each says a word once its memory is acknowledged."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from vault_tool import Vault
from vault_tool.cli.answering import SharedVault
from vault_tool.mcp.backends import Call
from vault_tool.mcp.tools import Caller


def main() -> None:
    """Let so many writers go on until this process is killed, or each has written as often as it is told to."""
    root, run, writers, turns = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    answers = SharedVault(Vault.open(root), lambda: False, lambda reason: None)
    answers.run(lambda vault: vault.fresh())
    guard = threading.Lock()

    def write(number: int) -> None:
        for turn in range(turns):
            word = f"zq{run}x{number}x{turn}q"
            said = {"content": f"The {word} was seen by one of many.", "subject_names": ["Crowd"]}
            answers.run(Call("remember", said, Caller(session=f"s-{number}"), lambda done, of: None))
            with guard:
                sys.stdout.write(f"{word}\n")
                sys.stdout.flush()

    threads = [threading.Thread(target=write, args=(number,), daemon=True) for number in range(writers)]
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    answers.close()


if __name__ == "__main__":
    main()
