"""`sync`: the vault and its remote brought together."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from vault_tool.cli.blocks import Block, fields, table
from vault_tool.cli.options import Call, Short, command, writes
from vault_tool.cli.saved import SHOWN_COMMIT, commit_of, problem_table
from vault_tool.errors import Exit
from vault_tool.features.setup import setup
from vault_tool.features.setup.setup import ShownSettings
from vault_tool.features.sync import note_driver, setting_up, syncing
from vault_tool.features.sync.setting_up import OwnRepository, SetUp
from vault_tool.features.sync.syncing import Synced
from vault_tool.util.text import counted
from vault_tool.vault.person import at_terminal

_SHOWN = 20


@command("sync", "vt sync", "vt sync --dry-run", "vt sync --remote backup --no-push")
@click.option("--remote", default="", metavar="NAME", help="The remote; else the branch's upstream, or origin.")
@click.option("--no-push", is_flag=True, help="Only receive.")
@click.option("--dry-run", is_flag=True, help="Say what would be merged, and change nothing.")
@click.option("--confirm", is_flag=True, help="It is meant that many notes go, or that the history was rewritten.")
@click.option(
    "--set-up", is_flag=False, flag_value="", default=None, metavar="[URL]", help="Name the remote, and give git its driver."
)
@click.option(
    "--own-repository", default="", metavar="DIR", help="Write the vault with its history into a repository of its own."
)
@click.option("--every", type=click.IntRange(0), metavar="SECONDS", help="Have a background process sync so often; 0 ends it.")
@writes
def sync(
    call: Call, remote: str, no_push: bool, dry_run: bool, confirm: bool, set_up: str | None, own_repository: str,
    every: int | None,
) -> Exit:  # fmt: skip
    """Bring the vault and its remote together.

    Hand edits are committed, what others pushed is merged, and what is here alone is pushed; never by force. A memory that both
    sides changed is merged field by field; where both changed one place, both texts are kept for vt review.
    """
    with call.open_vault() as vault:
        if every is not None:
            return call.emit(setup.config(vault, "", None, machine={"sync_every": str(every)}), _often, vault)
        if own_repository:
            return call.emit(setting_up.own_repository(vault, own_repository), _moved_out, vault)
        if set_up is not None:
            planned = setting_up.set_up(vault, set_up, dry_run=True)
            if dry_run or (at_terminal() and not click.confirm(f"{planned.readers}. Go on?", err=True)):
                return call.emit(planned, _set_up, vault)
            return call.emit(setting_up.set_up(vault, set_up), _set_up, vault)
        done = syncing.sync(vault, remote=remote, push=not no_push, dry_run=dry_run, confirm=confirm)
        return call.emit(done, _synced, vault)


@command("merge-note", "vt merge-note %O %A %B %P")
@click.argument("base", type=click.Path(), metavar="BASE", help="Their common base.")
@click.argument("ours", type=click.Path(), metavar="OURS", help="Our file, which gets the result.")
@click.argument("theirs", type=click.Path(), metavar="THEIRS", help="The other file.")
@click.argument("path", metavar="PATH", help="Its path in the vault.")
def merge_note(call: Call, base: str, ours: str, theirs: str, path: str) -> Exit:
    """Merge one note, as git asks for it.

    vt sync --set-up tells git to; it ends with 1 and git's marks where the two cannot be one.
    """
    merged = note_driver.merge_note(Path(base), Path(ours), Path(theirs), path)
    return Exit.DONE if merged else Exit.FINDINGS


def _often(settings: ShownSettings, short: Short) -> Iterator[Block]:
    every = next(option.value for option in settings.machine if option.name == "sync_every")
    yield f"synced every {every} s while a process answers in the background" if every != "0" else "synced only when asked"


def _set_up(done: SetUp, short: Short) -> Iterator[Block]:
    yield done.readers
    if not done.dry_run:
        yield fields(("remote", f"{done.remote} ({done.address})"), ("driver", done.driver), ("commit", commit_of(done)))


def _moved_out(done: OwnRepository, short: Short) -> Iterator[Block]:
    yield fields(("repository", done.path), ("commits", done.commits))
    yield from done.next


def _synced(done: Synced, short: Short) -> Iterator[Block]:
    would = "would be " if done.dry_run else ""
    came = f"{counted(done.received, 'commit')} from {done.remote}, {counted(len(done.paths), 'file')}"
    twice = (f"{_name(two.id, short)} ({counted(two.places, 'place')})" for two in done.unsettled[:_SHOWN])
    rows = [
        ("sent", f"{counted(done.sent, 'commit')} to {done.remote}" if done.sent else ""),
        ("received", came if done.received else ""),
        ("merged by fields", _named(done.merged, short)),
        ("kept both", ", ".join(twice)),
        ("kept though removed", _named(done.stayed, short)),
        ("forgotten", _named(done.removed, short)),
        ("redacted", _named(done.redacted, short)),
        ("folded links", _named(done.folded, short)),
        ("edited meanwhile", _named(done.edited, short)),
        ("copies to settle", _named(done.copies, short)),
        ("commit", done.commit[:SHOWN_COMMIT]),
    ]
    present = [(f"{would}{name}", value) for name, value in rows if value]
    if present:
        yield fields(*present)
    elif not done.reason:
        yield f"in step with {done.remote}"
    if done.reason:
        yield done.reason
    yield from done.remarks[:_SHOWN]
    if done.outside:
        yield table(("outside of the vault",), [(path,) for path in done.outside])
    if done.unsettled or done.copies:
        yield "vt review shows both texts, and settles them"
    if done.left:
        yield problem_table(done.left, "")


def _name(key: str, short: Short) -> str:
    return key if "/" in key or "." in key else short(key)


def _named(keys: tuple[str, ...], short: Short) -> str:
    more = f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
    return ", ".join(_name(key, short) for key in keys[:_SHOWN]) + more
