"""Review, the consent console: what waits for a person, in its context, and the decision on each by one key."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vault_tool.errors import UsageError, VaultError
from vault_tool.features.conflicts.settling import is_made_anew, text_to_edit
from vault_tool.features.reading.listing import listed
from vault_tool.features.review.reviewing import edit_waiting
from vault_tool.features.review.waiting_sources import drop_sources, waiting_sources
from vault_tool.util.text import counted
from vault_tool.web.asking import act, ask, done_with, form_of
from vault_tool.web.editors import editor_of
from vault_tool.web.rendering import render
from vault_tool.web.word_changes import between

if TYPE_CHECKING:
    from vault_tool.verbs.vault import Vault

_MOST = 100


async def review(request: Request) -> Response:
    """The page: the longest waiting first."""
    return await render(request, "review.html", title="Review", editor=editor_of(request), **await ask(request, _found))


async def decide(request: Request) -> Response:
    """Accept or refuse what is ticked, or the one whose button was pressed."""
    form = await form_of(request)
    verdict, _, identity = form.get("verdict", "").partition(" ")
    named = [identity] if identity else form.all("id")
    if verdict not in ("accept", "refuse"):
        raise UsageError("neither accept nor refuse was pressed", "press one of the two")
    if not named:
        raise UsageError("nothing is ticked", "tick what is meant, or press the button beside it")
    if verdict == "refuse" and len(named) > 1 and not form.get("sure"):
        return await render(
            request, "refuse.html", title=f"Reject {len(named)}", chosen=await ask(request, lambda vault: _chosen(vault, named))
        )
    join = bool(form.get("join"))

    def use(vault: Vault) -> Any:
        if verdict == "refuse":
            return vault.review(refuse=named)
        for draft in named:
            # Those that were shown beside it, and are ticked no more.
            gone = set(form.all(f"shown {draft}")) - set(form.all(f"source {draft}"))
            if gone:
                drop_sources(vault, draft, gone)
        return vault.review(accept=named, join=join)

    done = await act(request, use)
    accepted = counted(len(done.accepted), "memory", "memories")
    message = f"{accepted} accepted" if verdict == "accept" else _refused(done)
    return done_with(request, message, back="/review", result=done, undo=bool(done.accepted))


async def settle(request: Request) -> Response:
    """Keep one of two texts that two machines wrote, or both, or another one."""
    form = await form_of(request)
    keep, _, key = form.get("keep", "").partition(" ")
    text = form.text("text") if keep == "text" else ""
    done = await act(request, lambda vault: vault.settle_texts(key, "" if keep == "text" else keep, text=text))
    # A merge is no operation of ours, and is not taken back.
    merged = form.get("what") == "merge"
    left = f"; {counted(len(done.results), 'place')} left" if done.results else ""
    return done_with(request, f"{done.title}: settled{left}", back="/review", result=done, undo=not merged)


async def restore(request: Request) -> Response:
    """Bring refused drafts back from the bin."""
    form = await form_of(request)
    named = form.all("id")
    done = await act(request, lambda vault: vault.review(restore=named))
    waits = "it waits again" if len(done.restored) == 1 else f"{len(done.restored)} wait again"
    return done_with(request, f"Taken back: {waits}", back="/review", result=done, undo=False)


async def refused(request: Request) -> Response:
    """Drafts that were refused in the last month, and can wait again."""
    lying = await ask(request, lambda vault: vault.review(bin=True).results)
    return await render(request, "bin.html", title="Rejected", lying=lying)


async def edit(request: Request) -> Response:
    """Change the text of one that waits; it goes on waiting, and what it says then can be accepted."""
    form = await form_of(request)
    named, text, was = form.get("one", ""), form.text("text"), form.text("was")
    done = await act(request, lambda vault: edit_waiting(vault, named, text=text, was=was))
    return done_with(request, f"{done.title}: changed, and waiting still", back=f"/review#{done.id}")


def _refused(done: Any) -> str:
    """A sentence about refused drafts: whether they can come back."""
    if done.kept:
        return f"{counted(len(done.kept), 'memory', 'memories')} kept"
    gone = len(done.refused) - len(done.binned)
    if not gone:
        return f"{len(done.refused)} rejected: kept for 30 days"
    why = "secrets, tombstones, what was forgotten and what was refused consent are not kept"
    return f"{len(done.refused)} rejected, {gone} of them gone: {why}" if done.binned else f"{gone} rejected, and gone: {why}"


def _chosen(vault: Vault, named: list[str]) -> list[Any]:
    """Those of what waits that are meant, in their order there."""
    return [draft for draft in vault.review().results if draft.id in named or draft.path in named]


def _found(vault: Vault) -> dict[str, Any]:
    waiting_list = vault.review()
    waiting = waiting_list.results
    turns: dict[str, Any] = {}
    for draft in waiting[:_MOST]:
        try:
            turns[draft.id] = vault.get_turn(draft.id)
        except VaultError:
            continue  # it is of no turn, or of one that the bounded log no longer has
    return {
        "waiting": waiting[:_MOST],
        "unsettled": waiting_list.unsettled[:_MOST],
        "lying": waiting_list.in_bin,
        "more": len(waiting) - len(waiting[:_MOST]),
        "turns": turns,
        "sources": {draft: listed(vault, ids) for draft, ids in waiting_sources(vault).items()},
        "differences": {draft.id: words for draft in waiting[:_MOST] if (words := _difference(vault, draft))},
        "root": vault.root,
        "text_to_edit": text_to_edit,
        "is_made_anew": is_made_anew,
    }


def _difference(vault: Vault, draft: Any) -> Markup:
    """A waiting text beside the one that it supersedes, word by word; nothing where it supersedes none that can be read."""
    for identity in draft.supersedes:
        with suppress(VaultError):
            return between(vault.show(identity).content, draft.content)
    return Markup("")


ROUTES = [
    Route("/review", review),
    Route("/review/decide", decide, methods=["POST"]),
    Route("/review/settle", settle, methods=["POST"]),
    Route("/review/restore", restore, methods=["POST"]),
    Route("/review/bin", refused),
    Route("/review/edit", edit, methods=["POST"]),
]
