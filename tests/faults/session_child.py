"""Keeps session state until it has done so often, or is killed; says on standard output what it was told is safe."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

from vault_tool.files.sessions import AgentSession, Sessions

START = datetime(2026, 11, 20, 10, tzinfo=UTC)


def say(line: str) -> None:
    """One line to the parent, at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def show(root: Path, session: str, prefix: str, times: int) -> None:
    """Show one memory more, again and again."""
    say("ready")
    for number in range(times):
        identity = f"{prefix}{number}"

        def shows(state: AgentSession, identity: str = identity) -> AgentSession:
            return state.shows([identity], "recall", START.isoformat())

        Sessions(root).update(session, START, shows)
        say(identity)


def hold(root: Path) -> None:
    """Hold the sessions' lock until standard input ends."""

    def wait(state: AgentSession) -> AgentSession:
        say("ready")
        sys.stdin.read()
        return state

    Sessions(root).update("holder", START, wait)


if __name__ == "__main__":
    if sys.argv[1] == "hold":
        hold(Path(sys.argv[2]))
    else:
        show(Path(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5]))
