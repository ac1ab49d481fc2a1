"""`vt`: the group, and the one place where a failure becomes a line and an exit code."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from vault_tool.cli import output
from vault_tool.cli.lazy import ALL, HELP, LazyGroup
from vault_tool.cli.options import common_options
from vault_tool.cli.table import ELSEWHERE, FIRST, SECTIONS
from vault_tool.errors import Exit, StorageError, VaultError
from vault_tool.util.deferred import deferred
from vault_tool.util.structs import Struct

if TYPE_CHECKING:
    import traceback

    from click import shell_completion
else:
    traceback = deferred("traceback")  # 1 ms, for who debugs
    shell_completion = deferred("click.shell_completion")  # 4 ms, for a shell that completes

PROGRAM = "vt"
COMPLETION_VARIABLE = "_VT_COMPLETE"

group = LazyGroup(
    name=PROGRAM,
    sections=SECTIONS,
    elsewhere=ELSEWHERE,
    first=FIRST,
    help="A memory for AI agents and the people they work with: markdown files in git.",
    epilog="`vt help all` lists every command, `vt COMMAND --help` tells all about one. Options stand before or after it.",
    params=[*common_options(environment=True)],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    subcommand_metavar="COMMAND ...",
)
group = click.version_option(package_name="vault_tool", prog_name=PROGRAM)(group)


class Failure(Struct):
    """A failure as people and programs are told of it: `code` is its class in words."""

    code: str
    exit_code: Exit
    message: str
    hint: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line (default: this process's) and return its exit code; raises nothing."""
    output.use_utf8()
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(words)
    except click.exceptions.Exit as done:
        return done.exit_code
    except (Exception, KeyboardInterrupt) as fault:  # noqa: BLE001  (the error boundary: no traceback reaches a person unasked)
        return _report(fault, words)
    finally:
        output.flush_streams()


def explain(fault: BaseException) -> Failure:
    """An error in words, with the exit code of its kind."""
    match fault:
        case VaultError():
            return Failure(_in_words(type(fault).__name__), fault.exit_code, fault.message, fault.hint)
        case click.UsageError():
            path = fault.ctx.command_path if fault.ctx else PROGRAM
            return Failure("usage-error", Exit.USAGE, _sentence(fault), f"`{path} --help` says what it takes")
        case click.ClickException():
            return Failure("usage-error", Exit.USAGE, _sentence(fault))
        case KeyboardInterrupt() | click.Abort() | EOFError():
            return Failure("interrupted", Exit.INTERRUPTED, "interrupted", "what was written is whole; run it again for the rest")
        case OSError():
            file_named = f": {fault.filename}" if fault.filename else ""
            return Failure(
                "storage-error", Exit.IO, f"{fault.strerror or fault}{file_named}", "check the disk and who may write there"
            )
    return Failure(
        "unexpected", Exit.IO, f"unexpected {type(fault).__name__}: {fault}", "run it again with --debug and report it"
    )


def _run(words: list[str]) -> int:
    instruction = os.environ.get(COMPLETION_VARIABLE)  # the shell's protocol, not a setting of the vault
    if instruction:
        return shell_completion.shell_complete(group, {}, PROGRAM, COMPLETION_VARIABLE, instruction)
    arguments = [_as_text(argument) for argument in words] or ["--help"]
    if arguments == [HELP, ALL]:
        output.write(group.all_help(click.Context(group, info_name=PROGRAM, **group.context_settings)))
        return Exit.DONE
    if arguments[0] == HELP:
        arguments = [*arguments[1:], "--help"]
    with group.make_context(PROGRAM, arguments) as context:
        return int(group.invoke(context) or Exit.DONE)


def _is_of_choices(fault: BaseException) -> bool:
    return isinstance(fault, click.BadParameter) and fault.param is not None and isinstance(fault.param.type, click.Choice)


def _report(fault: BaseException, words: Sequence[str]) -> int:
    if isinstance(fault, BrokenPipeError):
        return Exit.DONE
    failure = explain(fault)
    debug = _asked_for("--debug", words)
    if debug:
        output.say("".join(traceback.format_exception(fault)).rstrip())
    is_whole = debug or (fault.lists_choices if isinstance(fault, VaultError) else _is_of_choices(fault))
    output.say(output.error_line(failure.message, failure.hint, None if is_whole else output.ERROR_LENGTH))
    lean = _asked_for("--lean", words)
    if lean or _asked_for("--json", words):
        with suppress(StorageError):
            answer = {"error": failure}
            output.write(f"{output.to_line(answer)}\n" if lean else output.to_json(answer))
    return failure.exit_code


def _asked_for(flag: str, words: Sequence[str]) -> bool:
    """Whether a flag was given, also where the rest of the line could not be understood."""
    options = words[: words.index("--")] if "--" in words else words
    return flag in options


def _as_text(argument: str) -> str:
    """An argument as UTF-8, whatever the locale made of its bytes; what is no UTF-8 is refused by its name, once it is known."""
    try:
        argument.encode("utf-8")
        return argument
    except UnicodeEncodeError:
        pass
    try:
        return os.fsencode(argument).decode("utf-8")
    except UnicodeError:
        return argument


def _sentence(fault: click.ClickException) -> str:
    """Click's message as the middle of a line: no capital, no full stop."""
    text = " ".join(fault.format_message().split()).rstrip(".?").replace(". Did you mean", ", did you mean")
    return text[:1].lower() + text[1:]


def _in_words(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
