"""Commands on single memories: links, tags, pins, and hiding from a session's page; and entries of the day's log."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import click

from vault_tool.cli.blocks import Block
from vault_tool.cli.names import MEMORY, takes
from vault_tool.cli.options import TEXT, Call, Short, VaultCommand, authored, command, writes
from vault_tool.cli.saved import saved_as
from vault_tool.errors import Exit, UsageError
from vault_tool.features.editing import hiding
from vault_tool.features.remember import links
from vault_tool.files.frontmatter.lists import typed

SHARE = click.FloatRange(0, 1)

# The typographer's minus, which no option begins with.
_MINUS = "\u2212"


@command("link", "vt link a1b2c3 SOLVES 5f0c2d 'It removes the cause, not the symptom.' --strength 0.8")
@click.argument("from_id", type=MEMORY, metavar="FROM", help="The memory that it starts from.")
@click.argument("type", metavar="TYPE", help="SOLVES, CAUSES, BUILDS_ON, REQUIRES, RELATED_TO, ...")
@click.argument("to_id", type=MEMORY, metavar="TO", help="The memory that it leads to.")
@click.argument("why", type=TEXT, default="", help="Why, in prose; - for standard input.")
@takes(links.link, "strength", "confidence", "evidence")
@writes
@authored
def link(call: Call, **options: Any) -> Exit:
    """Link two memories, and say why.

    The link is a note of its own, with a type and a text. Subjects are related by memories tagged with both, not by links.
    """
    with call.open_vault() as vault:
        return call.emit(links.link(vault, **options), _linked, vault)


@command("update-link", "vt update-link 4d5e6f --strength 0.9", "vt update-link 4d5e6f 'It removes the cause for good.'")
@click.argument("link_id", type=MEMORY, metavar="LINK", help="The link's own id, as `vt related` lists it.")
@click.argument("why", type=TEXT, default=None, required=False, help="Why, in prose; - for standard input.")
@takes(links.update_link, "strength", "confidence")
@writes
def update_link(call: Call, **options: Any) -> Exit:
    """Say anew why a link is there, or how strong.

    Values that are not given stay as they are; a number is one line of the link's file.
    """
    with call.open_vault() as vault:
        return call.emit(links.update_link(vault, **options), _relinked, vault)


@command("unlink", "vt unlink 4d5e6f")
@click.argument("link_id", type=MEMORY, metavar="LINK", help="The link's own id, as `vt related` lists it.")
@writes
def unlink(call: Call, link_id: str) -> Exit:
    """Take a link away.

    The memories that it joined stay, and `vt undo` puts it back.
    """
    with call.open_vault() as vault:
        return call.emit(links.unlink(vault, link_id), _unlinked, vault)


@command("pin", "vt pin a1b2c3", "vt pin a1b2c3 --off")
@click.argument("memory_id", type=MEMORY, metavar="ID", help="The memory.")
@click.option("--off", is_flag=True, help="Let it fade again.")
def pin(call: Call, memory_id: str, off: bool) -> Exit:
    """Keep a memory from fading, or let it fade."""
    with call.open_vault() as vault:
        return call.emit(links.pin(vault, memory_id, off=off), _pinned, vault)


@command("hide", "vt hide a1b2c3", "vt hide a1b2c3 --off")
@click.argument("ids", nargs=-1, required=True, type=MEMORY, metavar="ID...", help="The memories.")
@click.option("--off", is_flag=True, help="Give them to sessions again.")
def hide(call: Call, ids: tuple[str, ...], off: bool) -> Exit:
    """Keep a memory off a session's page.

    It is found, recalled and faded as before; a pin goes. `vt undo` takes it back, `--off` gives it to sessions again.
    """
    with call.open_vault() as vault:
        return call.emit(hiding.hide_from_page(vault, ids, off=off), _hidden, vault)


class _SignedTags(VaultCommand):
    """A command whose arguments may begin with a minus: `-draft` is a tag to remove, not an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments, with another sign for the minus of tags."""
        return super().parse_args(ctx, [re.sub(r"^-(?!-|h$|$)", _MINUS, argument) for argument in args])


@command("tag", "vt tag a1b2c3 +work -draft", cls=_SignedTags)
@click.argument("memory_id", type=MEMORY, metavar="ID", help="The memory, or a subject.")
@click.argument("signed", nargs=-1, required=True, metavar="+TAG|-TAG...", help="Tags to add (+) and to take away (-).")
@writes
def tag(call: Call, memory_id: str, signed: tuple[str, ...]) -> Exit:
    """Give a memory tags, or take them from it."""
    for tag in signed:
        if tag[:1] not in ("+", _MINUS):
            raise UsageError(f"`{tag}` says neither + nor -", f"`+{tag}` adds the tag, `-{tag}` takes it away")
    add, remove = (typed("tags", [tag[1:] for tag in signed if tag[0] == sign]) for sign in ("+", _MINUS))
    with call.open_vault() as vault:
        return call.emit(links.tag(vault, memory_id, add, remove), _tagged, vault)


@command("episode", "vt episode 'Moved the lab to the new rack' 'Two hours of downtime.' --tag homelab")
@click.argument("title", help="The event, in a line.")
@click.argument("summary", type=TEXT, default="", help="More of it on one line; - for standard input.")
@click.option("--type", default="", metavar="TYPE", help="A type for the entry.")
@takes(links.episode, "tags")
@click.option("--memory", type=MEMORY, default="", help="The memory that it is about.")
@writes
def episode(call: Call, **options: Any) -> Exit:
    """Add an entry to the day's log."""
    with call.open_vault() as vault:
        return call.emit(links.episode(vault, **options), _logged, vault)


def _linked(linked: links.Linked, short: Short) -> Iterator[Block]:
    known = " (linked already, nothing was written)" if linked.duplicate_of else ""
    yield from saved_as(linked.id, f"{linked.type}: {linked.from_title} -> {linked.to_title}{known}", linked.path, short, linked)


def _relinked(relinked: links.Relinked, short: Short) -> Iterator[Block]:
    text = f"{relinked.type}: {relinked.from_title} -> {relinked.to_title}"
    yield from saved_as(relinked.id, text, relinked.path, short, relinked, ("changed", relinked.changed or "nothing"))


def _unlinked(unlinked: links.Unlinked, short: Short) -> Iterator[Block]:
    yield from saved_as(
        unlinked.id, f"no longer {unlinked.type}: {unlinked.from_title} -> {unlinked.to_title}", unlinked.path, short, unlinked
    )


def _pinned(pinned: links.Pinned, short: Short) -> Iterator[Block]:
    state = "pinned" if pinned.pinned else "not pinned"
    waits = ("waits", "it has no effect until its owner has reviewed the memory" if pinned.waits else None)
    text = f"{state}{'' if pinned.changed else ' before, and now'}: {pinned.title}"
    yield from saved_as(pinned.id, text, pinned.path, short, pinned, waits)


def _hidden(hidden: hiding.Hidden, short: Short) -> Iterator[Block]:
    state = "hidden from what a session gets: found as before" if hidden.hidden else "given to sessions again"
    yield from saved_as(hidden.ids[0], f"{state}: {hidden.titles[0]}", "", short, hidden, ("and", hidden.titles[1:] or None))


def _tagged(tagged: links.Tagged, short: Short) -> Iterator[Block]:
    changes = " ".join([*(f"+{tag}" for tag in tagged.added), *(f"-{tag}" for tag in tagged.removed)])
    text = f"{tagged.title}: {changes or 'as it was'}"
    yield from saved_as(tagged.id, text, tagged.path, short, tagged, ("tags", tagged.tags))


def _logged(logged: links.Logged, short: Short) -> Iterator[Block]:
    yield from saved_as("", f"{logged.at}  {logged.title}", "", short, logged)
