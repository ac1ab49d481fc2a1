"""Consolidate: a pass as a walk from packet to packet, the report of what maintenance would pay, and the ledger of every pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vault_tool.errors import NotFound, UsageError
from vault_tool.features.consolidation.packet_texts import next_packet
from vault_tool.util.text import one_line
from vault_tool.web.asking import act, ask, cached, done_with, form_of
from vault_tool.web.packet_prompts import prompt
from vault_tool.web.rendering import memory_path, render
from vault_tool.web.word_changes import between

if TYPE_CHECKING:
    from vault_tool.verbs.vault import Vault

_MOST = 10
_PASSES = 50


async def consolidate(request: Request) -> Response:
    """The work of consolidation: the open pass or what one would settle, the report by value, the passes so far."""

    def use(vault: Vault) -> dict[str, Any]:
        return {
            "pending": vault.get_pending_consolidation(limit=_MOST),
            "report": cached(request, f"report {_MOST}", lambda vault: vault.get_consolidation_report(limit=_MOST))(vault),
            "passes": vault.list_passes(limit=_PASSES),
        }  # fmt: skip

    return await render(request, "consolidate.html", title="Consolidate", **await ask(request, use))


async def begin(request: Request) -> Response:
    """Begin a pass, or take up the open one."""
    done = await act(request, lambda vault: vault.begin_consolidation())
    if done.id is None:
        return done_with(request, "Nothing is new since the last pass", back="/consolidate")
    message = f"Pass {done.generation}: {done.new_count} new" if done.began else f"Pass {done.generation} is taken up again"
    return done_with(request, message, back="/consolidate/packet", result=done, undo=done.began)


async def packet(request: Request) -> Response:
    """One packet of the walk: its evidence, what is understood now, and the place for what is to be."""
    label = request.query_params.get("label", "")

    def use(vault: Vault) -> Any:
        try:
            return next_packet(vault, packet=label)
        except NotFound:
            # A pass that was ended, or whose beginning was taken back, leaves its page open in a browser.
            if label:
                raise
            return None

    step = await ask(request, use)
    if step is None:
        return await render(request, "packet.html", title="No pass is open", step=None, packet=None, prompt="")
    text = prompt(step.packet, step.pass_id) if step.packet else ""
    return await render(request, "packet.html", title="A packet", step=step, packet=step.packet, prompt=text)


async def preview(request: Request) -> Response:
    """The new version beside the one that it supersedes, word by word, before it is written."""
    form = await form_of(request)
    content, current = form.text("content").strip(), form.get("current", "")
    if not content:
        raise UsageError("what is understood is empty", "write it, or skip the packet")
    before = await ask(request, lambda vault: vault.show(current)) if current else None
    fields = [(name, form.text(name)) for name in form if name not in ("source", "subject")]
    fields += [(name, value) for name in ("source", "subject") for value in form.all(name)]
    return await render(
        request, "difference.html", title="The new version", before=before, fields=fields, content=content,
        summary=form.get("summary", ""), words=between(before.content if before else "", content),
        sources=len(form.all("source")),
    )  # fmt: skip


async def settle(request: Request) -> Response:
    """Keep one of the understandings that answer the same question: a new version of it supersedes them all."""
    form = await form_of(request)
    identity = form.get("id", "")

    def use(vault: Vault) -> Any:
        shown = vault.show(identity)
        return vault.update_understanding(
            shown.id, shown.content, shown.summary or shown.title, reason="kept of several answers", join=True
        )

    done = await act(request, use)
    return done_with(request, "Settled: one answer stands", back="/consolidate", result=done)


async def write(request: Request) -> Response:
    """Write the understanding of a packet, from the sources that are ticked."""
    form = await form_of(request)
    content, line = form.text("content").strip(), form.get("summary", "").strip()
    if not content:
        raise UsageError("what is understood is empty", "write it, or pass the packet over")
    line = line or one_line(content.split("\n", 1)[0], 120)
    names, current, sources = form.all("subject"), form.get("current", ""), form.all("source")

    def use(vault: Vault) -> Any:
        pass_id, why = form.get("pass_id", ""), form.get("reason", "")
        if current:
            return vault.update_understanding(current, content, line, reason=why, source_observation_ids=sources, pass_id=pass_id)
        return vault.create_understanding(names, content, line, source_observation_ids=sources, pass_id=pass_id)

    done = await act(request, use)
    return done_with(request, f"Written: {line}", back="/consolidate/packet", result=done)


async def skip(request: Request) -> Response:
    """Pass over a packet, or all trivial ones."""
    form = await form_of(request)
    label = form.get("label", "")
    if form.get("trivial"):
        await act(request, lambda vault: vault.consolidate(skip_trivial=True))
        return done_with(request, "All that share too little are passed over", back="/consolidate/packet")
    await act(request, lambda vault: vault.consolidate(skip=[label]))
    return done_with(request, f"Passed over: {label}", back="/consolidate/packet")


async def end(request: Request) -> Response:
    """Complete the ledger of the pass."""
    done = await act(request, lambda vault: vault.end_consolidation())
    counts = f"{len(done.written)} written, {len(done.skipped)} passed over, {len(done.left)} left"
    message = f"Pass {done.generation} has ended: {counts}"
    return done_with(request, message, back=memory_path(done.id), result=done, undo=False)


ROUTES = [
    Route("/consolidate", consolidate),
    Route("/consolidate/begin", begin, methods=["POST"]),
    Route("/consolidate/packet", packet),
    Route("/consolidate/write", write, methods=["POST"]),
    Route("/consolidate/preview", preview, methods=["POST"]),
    Route("/consolidate/settle", settle, methods=["POST"]),
    Route("/consolidate/skip", skip, methods=["POST"]),
    Route("/consolidate/end", end, methods=["POST"]),
]
