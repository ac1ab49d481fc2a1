"""Health: each file with a fault and its mending in the page, where the vault is, what it holds, and whether it helps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vault_tool.errors import StaleEdit, VaultError
from vault_tool.features.doctor.file_mending import FaultyFile, faulty_file, mend_file, mendable
from vault_tool.web.asking import act, ask, cached, done_with, form_of, status_of
from vault_tool.web.editors import editor_of
from vault_tool.web.pages.memory import carried, packed, with_line_ends
from vault_tool.web.pages.today import problems_of
from vault_tool.web.problem_count import counted_now
from vault_tool.web.rendering import render

if TYPE_CHECKING:
    from vault_tool.verbs.vault import Vault

_MOST = 300
# The codes of pages that one press makes a memory.
_ADOPTABLE = ("not-a-record", "page", "no-id")


async def health(request: Request) -> Response:
    """The page."""
    report = await ask(request, lambda vault: _found(request, vault))
    return await render(
        request,
        "health.html",
        title="Health",
        editor=editor_of(request),
        **report,
    )


async def proof(request: Request) -> Response:
    """The figures that show whether the memory helps; asked for by a press, since they ask many questions."""
    figures = await ask(request, cached(request, "proof", lambda vault: vault.prove()))
    return await render(request, "proof.html", title="Does it help?", proof=figures)


async def mend(request: Request) -> Response:
    """The text of a file with a fault, to be changed here."""
    path, own_id = request.query_params.get("path", ""), bool(request.query_params.get("own_id"))
    file = await ask(request, lambda vault: faulty_file(vault, path))
    return await _form(request, file, (own_id and file.with_new_id) or file.text)


async def save(request: Request) -> Response:
    """Save it, over the text that the form was given and no other."""
    form = await form_of(request)
    path, base = form.get("path", ""), carried(form.get("base", "")) or ""
    text = with_line_ends(form.text("text"), base)
    try:
        done = await act(request, lambda vault: mend_file(vault, path, text, was=form.get("was", "")))
    except VaultError as fault:
        file = await ask(request, lambda vault: faulty_file(vault, path))
        return await _form(request, file, text, status_of(fault), fault=fault, was=form.get("was", ""), base=base)
    left = f", {len(done.problems)} left in it" if done.problems else ""
    return done_with(request, f"{done.title or path}: saved{left}", back="/health", result=done, undo=done.changed)


async def adopt(request: Request) -> Response:
    """Make a page a memory."""
    form = await form_of(request)
    done = await act(request, lambda vault: vault.adopt([form.get("path", "")]))
    return done_with(request, f"{done.results[0].title}: a memory now", back="/health", result=done)


async def _form(
    request: Request,
    file: FaultyFile,
    text: str,
    code: int = 200,
    *,
    fault: VaultError | None = None,
    was: str = "",
    base: str = "",
) -> Response:
    stale = isinstance(fault, StaleEdit)
    return await render(
        request, "mend.html", code, title=f"Fix {file.path}", path=file.path, problems=file.problems, text=text, fault=fault,
        theirs=file.text if stale else None, was=file.hash if stale or not was else was,
        base=packed(file.text if stale or not base else base),
    )  # fmt: skip


def _found(request: Request, vault: Vault) -> dict[str, Any]:
    # What can be mended here comes first; what is of the machine or of git after it.
    problems = sorted(problems_of(request, vault), key=lambda problem: (not mendable(problem.path), problem.path))
    status = vault.status()
    counted = counted_now(request, vault, status.problems)
    stats = cached(request, "stats", lambda vault: vault.get_stats())(vault)
    return {
        "status": status,
        "stats": stats,
        "problems": problems[:_MOST],
        "problem_count": counted,
        "listed": len(problems),
        "more": max(0, len(problems) - counted),
        "errors": status.problems.get("error", 0),
        "root": vault.root,
        "adoptable": _ADOPTABLE,
        "capture": vault.capture(),
        "mendable": {problem.path for problem in problems if mendable(problem.path)},
    }


ROUTES = [
    Route("/health", health),
    Route("/health/proof", proof),
    Route("/mend", mend),
    Route("/mend", save, methods=["POST"]),
    Route("/mend/adopt", adopt, methods=["POST"]),
]
