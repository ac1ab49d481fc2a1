"""An understanding written by a person from a packet: the text that their editor opens, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from vault_tool.errors import NotFound, UsageError, VaultError
from vault_tool.features.consolidation.packet_texts import Current, Packet, PacketObservation
from vault_tool.features.understandings import understandings
from vault_tool.files import layout, writer
from vault_tool.model.details import in_lines
from vault_tool.model.ids import SHOWN_PREFIX
from vault_tool.util.hints import step
from vault_tool.util.text import one_line
from vault_tool.vault.context import Context
from vault_tool.vault.operation import Saved

CUT = "-- Below this line is what to write it from; it is not kept. --"

_SUMMARY = "Summary:"
_HINT = "one line that stands for it"

# Lets a person edit a file and returns when they are done.
Editor = Callable[[Path], None]


class DraftOutcome(Saved, kw_only=True):
    """The outcome of a packet in the editor: `id` is None where the person left the text as it was, or empty."""

    id: str | None
    label: str
    summary: str = ""
    superseded: tuple[str, ...] = ()
    sources: int = 0
    path: str = ""


def write_packet(vault: Context, pass_id: str, packet: Packet, editor: Editor) -> DraftOutcome:
    """Let a person write a packet's understanding: the current one above, its evidence below a line that cuts it off.

    It rests on the observations that were shown. A text that cannot be used is kept as a draft, and the error says where.
    """
    draft = f"{layout.LOCAL}/drafts/consolidate-{pass_id[:6]}.md"
    if (vault.root / draft).exists():
        writer.remove(vault.root, draft, writer.read(vault.root, draft))
    offered = "\n".join(_text(packet)) + "\n"
    writer.create(vault.root, draft, offered.encode("utf-8"))
    editor(vault.root / draft)
    data = _left(vault, draft)
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    summary, content = _parted(text)
    if (summary, content) == _parted(offered) or not content:
        writer.remove(vault.root, draft, data)
        return DraftOutcome(id=None, label=packet.label)
    if not summary:
        raise UsageError(f"the understanding has no summary; it is kept in {draft}", f"write it after `{_SUMMARY}`")
    try:
        settled = _written(vault, pass_id, packet, content, summary)
    except VaultError as fault:
        raise type(fault)(f"{fault.message}; the text is kept in {draft}", fault.hint) from fault
    writer.remove(vault.root, draft, data)
    return settled


def _written(vault: Context, pass_id: str, packet: Packet, content: str, summary: str) -> DraftOutcome:
    sources = [observation.id for observation in packet.observations]
    if packet.current is not None:
        revised = understandings.update_understanding(
            vault, packet.current.id, content, summary, source_observation_ids=sources, join=True, pass_id=pass_id
        )
        identity, replaced, path = revised.new_understanding_id, revised.superseded, revised.path
        saved: Saved = revised
    else:
        understanding = understandings.create_understanding(
            vault, packet.subjects, content, summary, kind=packet.type, source_observation_ids=sources, pass_id=pass_id
        )
        identity, replaced, path = understanding.id, understanding.superseded, understanding.path
        saved = understanding
    return DraftOutcome(
        committed=saved.committed, commit=saved.commit, reason=saved.reason, attention=saved.attention,
        conflicts=saved.conflicts, warnings=saved.warnings, id=identity, label=packet.label, summary=summary,
        superseded=replaced, sources=len(sources), path=path,
    )  # fmt: skip


def _left(vault: Context, draft: str) -> bytes:
    try:
        return writer.read(vault.root, draft)
    except FileNotFoundError as fault:
        raise NotFound("the text that was opened is gone", f"take the packet up again with {step('consolidate')}") from fault


def _parted(text: str) -> tuple[str, str]:
    """The summary and the content above the cut."""
    above = text.partition(CUT)[0].strip("\n")
    first, _, rest = above.partition("\n")
    if first.startswith(_SUMMARY):
        return one_line(first.removeprefix(_SUMMARY)), rest.strip()
    return "", above.strip()


def _text(packet: Packet) -> Iterator[str]:
    current = packet.current
    yield f"{_SUMMARY} {current.summary if current else ''}"
    yield ""
    yield current.content if current else ""
    yield ""
    yield CUT
    yield f"{packet.label}: {packet.new_count} new of {packet.observation_count}. The summary is {_HINT}; an empty text skips it."
    for side in packet.sides:
        yield from ("", f"== What is understood of {', '.join(side.subjects)} ==", "", side.content)
    for side in packet.new_understandings:
        yield from _known(side)
    for observation in packet.observations:
        yield from _observed(observation)
    if packet.left_out:
        yield from ("", f"{packet.left_out} older observations are not shown.")


def _known(understanding: Current) -> Iterator[str]:
    yield from (
        "",
        f"== {understanding.type}, {understanding.updated[:10]}: {understanding.summary} ==",
        "",
        understanding.content,
    )


def _observed(observation: PacketObservation) -> Iterator[str]:
    new = "NEW " if observation.new else ""
    yield from (
        "",
        f"== {new}{observation.type} {observation.id[:8]}, {observation.observed[:10]} ({', '.join(observation.subjects)}) ==",
        "",
    )
    yield observation.content
    if observation.details:
        yield ""
        yield from (f"{label}: {text}" for label, text in in_lines(observation.details, lambda identity: identity[:SHOWN_PREFIX]))
