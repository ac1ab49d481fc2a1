"""Adding by hand: a memory, a subject, a link between two."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vault_tool.model.types import RecordClass
from vault_tool.web.asking import act, ask, done_with, form_of
from vault_tool.web.rendering import memory_path, render, subject_path


async def add(request: Request) -> Response:
    """The forms; and what the first of them does."""
    if request.method != "POST":
        kinds, edges = await ask(
            request,
            lambda vault: (
                vault.settings.types.observations(),
                [spec.name for spec in vault.settings.types.of_class(RecordClass.EDGE)],
            ),
        )
        return await render(request, "add.html", title="Add", kinds=kinds, edge_types=edges)
    form = await form_of(request)
    kind = form.get("type", "") or None
    content, subjects, tags = form.text("content").strip(), form.listed("subjects"), form.listed("tags")
    done = await act(request, lambda vault: vault.remember(content, subjects, tags=tags, kind=kind))
    return done_with(request, "Remembered", back=memory_path(done.id), result=done)


async def add_subject(request: Request) -> Response:
    """Found a subject."""
    form = await form_of(request)
    name, summary = form.get("name", "").strip(), form.get("summary", "").strip()
    aliases = form.listed("aliases")
    subject = {"name": name, **({"summary": summary} if summary else {}), **({"aliases": aliases} if aliases else {})}
    done = await act(request, lambda vault: vault.create_subjects([subject]))
    return done_with(request, f"{name} is a subject", back=subject_path(name), result=done)


async def add_link(request: Request) -> Response:
    """Link two memories."""
    form = await form_of(request)
    begin, end = form.get("from", "").strip(), form.get("to", "").strip()

    done = await act(request, lambda vault: vault.link(begin, form.get("type", ""), end, why=form.text("why")))
    origin = await ask(request, lambda vault: vault.show(begin).id)
    return done_with(request, "Linked", back=memory_path(origin or begin), result=done)


ROUTES = [
    Route("/add", add, methods=["GET", "POST"]),
    Route("/add/subject", add_subject, methods=["POST"]),
    Route("/add/link", add_link, methods=["POST"]),
]
