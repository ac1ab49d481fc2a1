"""Pages that every page links to: a commit and its changes, its undoing, and the page that a name means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from vault_tool.errors import NotFound
from vault_tool.features.history.undo import undoable
from vault_tool.model.types import RecordClass
from vault_tool.util.note_links import targets
from vault_tool.vault import link_meaning
from vault_tool.web.asking import act, ask, back_to, done_with, form_of
from vault_tool.web.rendering import memory_path, render, subject_path, url

if TYPE_CHECKING:
    from vault_tool.verbs.vault import Vault


async def commit(request: Request) -> Response:
    """One commit: what it says of itself, and its differences."""
    named = request.path_params["commit"]
    of = request.query_params.get("of", "")

    def use(vault: Vault) -> tuple[Any, str]:
        return vault.diff(of, of=named), undoable(vault, [named])[named]

    shown, can_be_undone = await ask(request, use)
    return await render(request, "commit.html", title=f"Commit {named[:7]}", commit=named, found=shown, of=of, kept=can_be_undone)


async def undo(request: Request) -> Response:
    """Take an operation back, or several that were one press, the last first."""
    form = await form_of(request)
    targets = form.get("target", "").split() or [""]
    results = await act(request, lambda vault: [vault.undo(target) for target in reversed(targets)])
    message = f"Taken back: {results[0].subject}" if len(results) == 1 else f"Taken back: {len(results)} changes"
    if waiting := sum(len(result.waiting) for result in results):
        message += "; it waits for review again" if waiting == 1 else f"; {waiting} wait for review again"
    commits = [result.commit for result in results if result.commit]
    back = await _still_there(request, back_to(request, form, "/"))
    return done_with(request, message, back=back, result=results[-1], commits=commits)


async def _still_there(request: Request, back: str) -> str:
    """The page to go back to, or the list where what it was of went with the undo."""
    place, _, named = unquote(back.partition("?")[0]).strip("/").partition("/")
    if place not in ("memory", "subject"):
        return back
    try:
        await ask(request, lambda vault: vault.show(named.partition("/")[0]))
    except NotFound:
        return "/subjects" if place == "subject" else "/memories"
    return back


async def find(request: Request) -> Response:
    """The page of what a name means: an id, a title, a file name, an alias, a subject."""
    name, path = request.query_params.get("name", ""), request.query_params.get("of", "")
    memory = await ask(request, lambda vault: vault.show(_meant(vault, path, name)))
    to = subject_path(memory.id) if memory.record_class == RecordClass.SUBJECT.value else memory_path(memory.id)
    to = to if memory.id else url("/page", path=memory.path)
    return RedirectResponse(to, 303)


def _meant(vault: Vault, path: str, name: str) -> str:
    """The id of what a link means; where it means nothing, or no note has it, its own words."""
    if not path:
        return name
    vault.fresh()
    meanings = link_meaning.meant(vault, path, name)
    return meanings[0].id if len(meanings) == 1 else (targets(name) or (name,))[-1]


ROUTES = [
    Route("/commit/{commit}", commit),
    Route("/undo", undo, methods=["POST"]),
    Route("/find", find),
]
