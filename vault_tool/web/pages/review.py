"""Review, the consent console: what waits for a person, in its context, and the decision on each by one key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vault_tool.errors import UsageError, VaultError
from vault_tool.util.text import counted
from vault_tool.verbs.reviewing import edit_waiting
from vault_tool.web.asking import act, ask, done_with, form_of
from vault_tool.web.pages.today import editor_link
from vault_tool.web.rendering import render

if TYPE_CHECKING:
    from vault_tool.verbs.vault import Vault

_MOST = 100


async def review(request: Request) -> Response:
    """The page: the longest waiting first."""
    return await render(request, "review.html", title="Review", editor=editor_link, **await ask(request, _found))


async def decide(request: Request) -> Response:
    """Accept or refuse what is ticked, or the one whose button was pressed."""
    form = await form_of(request)
    verdict, _, one = form.get("verdict", "").partition(" ")
    named = [one] if one else form.all("id")
    if verdict not in ("accept", "refuse"):
        raise UsageError("neither accept nor refuse was pressed", "press one of the two")
    if not named:
        raise UsageError("nothing is ticked", "tick what is meant, or press the button beside it")
    join = bool(form.get("join"))
    done = await act(
        request,
        lambda vault: vault.review(accept=named, join=join) if verdict == "accept" else vault.review(refuse=named),
    )
    accepted = counted(len(done.accepted), "memory", "memories")
    said = f"{accepted} accepted" if verdict == "accept" else f"{len(done.refused)} refused, and gone"
    # What is refused is deleted, and was in no commit.
    return done_with(request, said, back="/review", result=done, undo=bool(done.accepted))


async def edit(request: Request) -> Response:
    """Change the text of one that waits; it goes on waiting, and what it says then can be accepted."""
    form = await form_of(request)
    named, text, was = form.get("one", ""), form.text("text"), form.text("was")
    done = await act(request, lambda vault: edit_waiting(vault, named, text=text, was=was))
    return done_with(request, f"{done.title}: changed, and waiting still", back=f"/review#{done.id}")


def _found(vault: Vault) -> dict[str, Any]:
    waiting = vault.review().results
    turns: dict[str, Any] = {}
    for one in waiting[:_MOST]:
        try:
            turns[one.id] = vault.get_turn(one.id)
        except VaultError:
            continue  # it is of no turn, or of one that the bounded log no longer has
    return {"waiting": waiting[:_MOST], "more": len(waiting) - len(waiting[:_MOST]), "turns": turns, "root": vault.root}


ROUTES = [
    Route("/review", review),
    Route("/review/decide", decide, methods=["POST"]),
    Route("/review/edit", edit, methods=["POST"]),
]
