"""Commands that the owner answers sooner than a fresh process could: seen before anything heavy is loaded."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# The commands that look into the whole memory; what they note of it (use, what was seen) may be noted twice.
ANSWERED = frozenset({"bring-to-mind", "get", "read", "recall", "related", "search", "search-observations", "show"})

_OPTIONS_BEFORE = frozenset({"--vault", "--origin", "--session", "--user"})

_HERE_ALONE = frozenset({"-", "--", "--debug", "-h", "--help"})
_SETTINGS = "vault.toml"
_RECORD = os.path.join("_local", "owner.json")
_HOMES = ("memory", "vt-memory")
_ORIGINS = ("", "owner", "agent", "import")


def answered(arguments: Sequence[str]) -> int | None:
    """Print what the owner answers to a command line and return its exit code; None where this process has to answer."""
    if not is_for_the_owner(arguments):
        return None
    vault = option("--vault", arguments)
    root = find(vault)
    # An owner says that it is one before it listens.
    if root is None or not os.path.lexists(os.path.join(root, _RECORD)):
        return None
    from vault_tool.owner.address import paths  # 4 ms, which commands that are answered here anyway need not pay

    if not any(map(os.path.lexists, paths(root))):
        return None
    from vault_tool.owner.client import ask  # 10 ms, and only where an owner listens
    from vault_tool.owner.protocol import of_a_call
    from vault_tool.owner.starting import allowed

    if not allowed():
        return None
    asked = {"do": "command", "arguments": list(arguments), "vault": vault, "environ": of_a_call(os.environ)}
    answer = ask(root, asked)
    if answer is None:
        return None
    return _printed(answer["out"], answer["err"], answer["code"])


def find(vault: str) -> str | None:
    """The resolved root of the vault that is meant where `--vault` says so much; None where that needs a closer look."""
    named = vault or os.environ.get("VAULT_ROOT", "")
    try:
        here = os.path.expanduser(named) if named else os.getcwd()
    except OSError:  # this folder was removed
        return None
    while not os.path.isfile(os.path.join(here, _SETTINGS)):
        for name in _HOMES:
            if os.path.isfile(os.path.join(here, name, _SETTINGS)):
                home = os.path.join(here, name)
                serves = _serves_its_folder(home)
                # A vault with notes of its own is no vault of the folder that it lies in.
                if serves is not False:
                    return os.path.realpath(home) if serves else None
        above = os.path.dirname(here)
        if named:
            return None
        if above == here:
            return _shared()
        here = above
    return os.path.realpath(here)


def _shared() -> str | None:
    """The person's global vault, where no folder above is one."""
    from vault_tool.util.user_folder import global_vault_if_one  # only where nothing else says which vault

    shared = global_vault_if_one(os.environ)
    return os.path.realpath(shared) if shared else None


def option(name: str, arguments: Sequence[str]) -> str:
    """The last value that was given for an option; the parser decides in the end, and the owner compares."""
    value = ""
    for at, argument in enumerate(arguments):
        if argument == name:
            value = arguments[at + 1] if at + 1 < len(arguments) else ""
        elif argument.startswith(f"{name}="):
            value = argument[len(name) + 1 :]
    return value


def is_for_the_owner(arguments: Sequence[str]) -> bool:
    """Whether an owner would answer a command line as this process does: a look into the memory, and no terminal to draw on."""
    at = 0
    while at < len(arguments) and arguments[at].startswith("-"):
        at += 2 if arguments[at] in _OPTIONS_BEFORE else 1
    if at >= len(arguments) or arguments[at] not in ANSWERED or not _HERE_ALONE.isdisjoint(arguments):
        return False
    # A terminal is shown colours and bars, and a person at it is the owner.
    terminal = any(stream is None or stream.isatty() for stream in (sys.stdout, sys.stderr))
    plain = all(argument.isascii() or is_text(argument) for argument in arguments)
    return not terminal and plain and os.environ.get("VAULT_ORIGIN", "") in _ORIGINS and "_VT_COMPLETE" not in os.environ


def _serves_its_folder(home: str) -> bool | None:
    """Whether a vault serves the folder that it lies in; None where its settings cannot be used as they are."""
    import tomllib  # 5 ms, and only for a vault that lies in the folder that it serves

    try:
        with open(os.path.join(home, _SETTINGS), "rb") as file:
            return bool(tomllib.load(file).get("notes"))
    except (OSError, ValueError, RecursionError):
        return None


def is_text(argument: str) -> bool:
    """Whether an argument is whole characters."""
    try:
        argument.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _printed(out: str, err: str, code: int) -> int | None:
    """Write both texts as `vt` writes them; None where the first cannot be written, which a fresh process reports."""
    for stream, text in ((sys.stdout, out), (sys.stderr, err)):
        if not text or stream is None:
            continue
        try:
            stream.buffer.write(text.encode("utf-8", "replace" if stream is sys.stdout else "backslashreplace"))
            stream.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        except OSError:
            return None
    return code
