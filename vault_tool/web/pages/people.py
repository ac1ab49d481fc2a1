"""People and rights: a user's memories, consents and turns; export, correct, withdraw, erase with a receipt; turns explained."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vault_tool.errors import NotFound, UsageError, VaultError
from vault_tool.features.people.about_people import person_of
from vault_tool.util.text import counted
from vault_tool.web.asking import act, ask, back_to, done_with, form_of
from vault_tool.web.rendering import render, url

if TYPE_CHECKING:
    from vault_tool.verbs.vault import Vault

_TURNS = 50


async def people(request: Request) -> Response:
    """The people that memories are about, and the turns that this machine keeps."""
    users, turns = await ask(request, lambda vault: (vault.people(), vault.list_turns(limit=_TURNS)))
    return await render(request, "people.html", title="People", found=users, turns=turns)


async def person(request: Request) -> Response:
    """One of them."""
    user = _user(request)

    def use(vault: Vault) -> dict[str, Any]:
        waiting = [draft for draft in vault.review().results if draft.user == user]
        consents = {consent.id: consent for consent in vault.list_consents().results if consent.user == user}
        return {
            "found": vault.people(user), "consents": consents, "waiting": waiting,
            "turns": vault.list_turns(user=user, limit=_TURNS),
        }  # fmt: skip

    return await render(request, "person.html", title=user, user=user, **await ask(request, use))


async def consent(request: Request) -> Response:
    """Record an answer, as the owner or as the person."""
    form = await form_of(request)
    as_user = form.get("as_user", "")
    done = await act(
        request,
        lambda vault: vault.consent(
            form.get("id", ""), form.get("state", ""), as_user=as_user, reason=form.get("reason", "").strip()
        ),
    )
    message = f"{done.title}: consent {done.state}" + (", hidden from now on (consent withdrawn)" if done.withheld else "")
    return done_with(request, message, back=back_to(request, form, "/people"), result=done, undo=False)


async def export(request: Request) -> Response:
    """Write all that is about a person into a folder of this machine."""
    form = await form_of(request)
    user, folder = form.get("user", ""), form.get("folder", "").strip()
    if not folder or not Path(folder).expanduser().is_absolute():
        raise UsageError("no whole path of a folder was given", "a folder that is not there yet, as ~/export-of-ann")
    done = await act(request, lambda vault: vault.export_user(user, folder))
    message = (
        f"Written to {done.folder}: {done.notes} notes, {done.signals} judgements, {done.waiting} waiting, {done.turns} turns."
    )
    if done.elsewhere_count:
        message += f" Not in it: {_elsewhere(done.elsewhere_count, user)}."
    return done_with(request, message, back=url("/person", name=user))


async def erase(request: Request) -> Response:
    """Erase all that is about a person: first what it would be, then, with their name typed again, for good."""
    form = await form_of(request)
    user, purge, despite = form.get("user", ""), bool(form.get("purge")), form.all("despite")
    if form.get("again", "") != user:
        shown = await ask(request, lambda vault: vault.forget_user(user, purge=purge, despite=despite, dry_run=True))
        wrong = bool(form.get("again"))
        return await render(
            request, "erase.html", title=f"Erase all of {user}", user=user, shown=shown, wrong=wrong, purge=purge,
            despite=despite, there=await ask(request, lambda vault: person_of(vault.with_withheld(), user)),
        )  # fmt: skip
    before = await ask(request, lambda vault: person_of(vault.with_withheld(), user))
    done = await act(request, lambda vault: vault.forget_user(user, purge=purge, despite=despite))
    return await render(request, "erased.html", title="Erased", done=done, before=before, user=user)


async def purge(request: Request) -> Response:
    """Take memories out of git's history: first what that would do, then for good."""
    form = await form_of(request)
    ids, despite = form.all("id"), form.all("despite")
    if not form.get("sure"):
        shown = await ask(request, lambda vault: vault.purge(ids, despite=despite, dry_run=True))
        return await render(request, "purge.html", title="Purge", ids=ids, shown=shown, despite=despite)
    done = await act(request, lambda vault: vault.purge(ids, despite=despite))
    message = (
        f"Purged: {counted(done.commits, 'commit')} got new ids, {counted(done.texts, 'text')} went. Receipt: {done.receipt}"
    )
    return done_with(request, message, back="/people", result=done, undo=False)


async def turn(request: Request) -> Response:
    """One turn with what its gate did and why, what became of it, and on request what the same recalls now."""
    named, replay = request.path_params["turn"], bool(request.query_params.get("replay"))

    def use(vault: Vault) -> tuple[Any, str]:
        try:
            return vault.get_turn(named, replay=replay), ""
        except NotFound as fault:
            if not replay:
                raise
            return vault.get_turn(named), fault.marked
        except VaultError as fault:
            if not replay:
                raise
            return vault.get_turn(named), fault.marked

    turn_record, fault = await ask(request, use)
    return await render(
        request, "turn.html", title=f"Turn {turn_record.turn or turn_record.id[:6]}", found=turn_record, fault=fault
    )


def _elsewhere(count: int, user: str) -> str:
    """The other notes that name a person, as part of a sentence."""
    message = "1 more note names" if count == 1 else f"{count} more notes name"
    return f"{message} {user} but {'is' if count == 1 else 'are'} not filed under them"


def _user(request: Request) -> str:
    """The name in the address, in a query: it may be anything."""
    if not (name := request.query_params.get("name", "")):
        raise UsageError("nobody is named", "People lists them")
    return name


ROUTES = [
    Route("/people", people),
    Route("/person", person),
    Route("/consent", consent, methods=["POST"]),
    Route("/export", export, methods=["POST"]),
    Route("/erase", erase, methods=["POST"]),
    Route("/purge", purge, methods=["POST"]),
    Route("/turn/{turn}", turn),
]
