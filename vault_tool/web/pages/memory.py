"""A memory: its text, what is believed of it and why, how it fades, what it is linked to, its history; and what can be done."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from contextlib import suppress
from difflib import SequenceMatcher, unified_diff
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from vault_tool.errors import NotFound, StaleEdit, UsageError, VaultError
from vault_tool.features.editing.deleting import delete_memories
from vault_tool.features.editing.hiding import hide_from_page
from vault_tool.features.editing.in_place import with_text
from vault_tool.features.history.versions import versions
from vault_tool.features.reading.local_graph import local_graph
from vault_tool.model.ids import SHOWN_PREFIX
from vault_tool.model.types import KEPT_TYPES, RecordClass
from vault_tool.util.text import content_hash
from vault_tool.web.asking import Form, act, ask, done_with, form_of, status_of
from vault_tool.web.editors import editor_of
from vault_tool.web.graphs import SMALL, drawn
from vault_tool.web.pages.map import addresses
from vault_tool.web.rendering import memory_path, render, subject_path
from vault_tool.web.sparklines import confidence_line, confidence_sentence, retention_line, retention_sentence
from vault_tool.web.word_changes import changes

if TYPE_CHECKING:
    from vault_tool.verbs.vault import Vault

_VERSIONS = 12
_AROUND = 28
_END = re.compile(r"\r\n|\r|\n")
# What no form of a browser carries as it is.
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")

# What the page tells elsewhere: as its title, its links, its status.
_HIDDEN_HEAD = (
    "id", "type", "title", "summary", "subjects", "tags", "created", "steps", "preconditions", "postconditions", "supersedes",
    "problem", "change_targets", "sources", "related_to", "pinned", "not_at_start",
)  # fmt: skip


async def memory(request: Request) -> Response:
    """The page; with `edit` in its address its title and text are fields in their place, with `why` it says why a question
    did not find it.
    """
    named, query = request.path_params["id"], request.query_params
    question = query.get("why", "").strip()
    values = await ask(request, lambda vault: _found(vault, named, editing=bool(query.get("edit")), question=question))
    if values["memory"].record_class == RecordClass.SUBJECT.value:
        return RedirectResponse(subject_path(values["memory"].id), 303)
    return await render(
        request, "memory.html", title=values["memory"].title, editor=editor_of(request), question=question, **values
    )


async def page(request: Request) -> Response:
    """A file that is no record, by its path."""
    path = request.query_params.get("path", "")
    shown = await ask(request, lambda vault: vault.show(path))
    if shown.id:
        return RedirectResponse(memory_path(shown.id), 303)
    root = await ask(request, lambda vault: vault.root)
    return await render(request, "page.html", title=shown.title, memory=shown, editor=editor_of(request), root=root)


async def edit(request: Request) -> Response:
    """The text of its file, to be changed; what is sent comes with the text that it was made from, and that one's hash."""
    named = request.path_params["id"]
    if request.method != "POST":
        before = await ask(request, lambda vault: vault.show(named, source=True))
        assert before.source is not None
        if _UNFIT.search(before.source.text):
            raise UsageError("its file holds characters that a browser does not keep", f"edit {before.path} in an editor")
        return await _form(request, before, before.source.text)
    form = await form_of(request)
    was, base, text = form.get("was", ""), carried(form.get("base", "")), form.text("text")
    if "body" in form and base is not None:
        text = _composed(base, form)
    shown: Any = None
    try:
        shown = await ask(request, lambda vault: vault.show(named, source=True))
        assert shown.source is not None
        text = with_line_ends(text, base if base is not None else shown.source.text)
        # What both changed is kept twice where that was asked for, seen from the text that the first form began with.
        first = carried(form.get("first", "")) if form.get("both") else None
        began, hash_ = (base, was) if first is None else (first, content_hash(first.encode("utf-8")))
        done = await act(request, lambda vault: vault.edit(named, text=text, was=hash_, base=began, both=bool(form.get("both"))))
    except VaultError as fault:
        if isinstance(fault, StaleEdit) and (now := await _now(request, named)) is not None:
            return await _form(request, now, text, 409, began=base)
        # What was typed stays with whoever typed it, and can be sent again once what stopped it is mended.
        return await _form(request, shown, text, status_of(fault), fault=fault, was=was, base=base)
    message = f"{done.title}: saved" if done.changed else f"{done.title}: nothing was changed"
    return done_with(request, message, back=memory_path(done.id or named), result=done, undo=done.changed)


async def _now(request: Request, named: str) -> Any:
    """A note with its file as it is now; None where it cannot be shown."""
    with suppress(VaultError):
        return await ask(request, lambda vault: vault.show(named, source=True))
    return None


async def _form(
    request: Request,
    shown: Any,
    text: str,
    code: int = 200,
    *,
    began: str | None = None,
    fault: VaultError | None = None,
    was: str = "",
    base: str | None = None,
) -> Response:
    """The form of an edit: as it begins, after a conflict (409, with what it `began` with) or a fault, with what was typed."""
    now = shown.source.text if shown is not None else ""
    between = ""
    if fault is None and code == 409:
        lines = (now.splitlines(keepends=True), text.splitlines(keepends=True))
        between = "".join(unified_diff(*lines, "the file as it is now", "your text"))
    compared_text = now if fault is None else base
    return await render(
        request,
        "edit.html",
        code,
        title=f"Edit {shown.title}" if shown is not None else "Not saved",
        action=request.url.path,
        back=memory_path(shown.id) if shown is not None else "/",
        path=shown.path if shown is not None else "",
        text=text,
        theirs=now if fault is None and code == 409 else None,
        between=between,
        fault=fault,
        was=was or (shown.source.hash if shown is not None else ""),
        base=packed(compared_text),
        first=packed(began),
    )


def _composed(base: str, form: Form) -> str:
    """The whole file with what was typed in the places of its title and its text."""
    title, field = form.get("title", "").strip(), form.get("title_field", "title")
    unchanged = title == form.get("title_was", "").strip() or field not in ("title", "summary")
    return with_text(base, form.text("body"), field="" if unchanged else field, title=title)


def packed(text: str | None) -> str:
    """A text as a field of a form carries it unharmed: browsers make one line end of all."""
    return "" if text is None else urlsafe_b64encode(text.encode("utf-8")).decode("ascii")


def carried(field: str) -> str | None:
    """The text that a form carried; None for none."""
    try:
        return urlsafe_b64decode(field).decode("utf-8") if field else None
    except ValueError:
        return None


async def forget(request: Request) -> Response:
    """Delete it permanently, once the beginning of its id is typed."""
    named = request.path_params["id"]
    form = await form_of(request) if request.method == "POST" else Form([])
    shown = await ask(request, lambda vault: vault.forget(named, dry_run=True))
    again = form.get("again", "").strip().lower()
    if len(again) < SHOWN_PREFIX or not shown.id.startswith(again):
        return await render(
            request, "forget.html", title=f"Delete {shown.title} permanently?", shown=shown, wrong=bool(again),
            short_id=shown.id[:SHOWN_PREFIX],
        )  # fmt: skip
    done = await act(request, lambda vault: vault.forget(shown.id))
    message = (
        f"Forgotten: {len(done.removed)} files and {len(done.links_removed)} links are gone, and its id is refused from now on."
    )
    return done_with(request, message, back="/", result=done, undo=False)


async def delete(request: Request) -> Response:
    """Delete it in a commit that one press takes back."""
    named = request.path_params["id"]
    form = await form_of(request)
    done = await act(request, lambda vault: delete_memories(vault, [named]))
    return done_with(request, f"Deleted: {done.titles[0]}", back=form.get("back", "") or "/", result=done)


def _found(vault: Vault, named: str, *, editing: bool, question: str) -> dict[str, Any]:
    try:
        shown = vault.show(named, belief=True, timeline=True, source=editing)
    except NotFound:
        shown = vault.show(unquote(named), belief=True, timeline=True, source=editing)
    if shown.record_class == RecordClass.SUBJECT.value or not shown.id:
        return {"memory": shown}
    if editing and shown.source and _UNFIT.search(shown.source.text):
        raise UsageError("its file holds characters that a browser does not keep", f"edit {shown.path} in an editor")
    now = vault.now()
    chain = vault.history(shown.id).results if shown.record_class == RecordClass.UNDERSTANDING.value else ()
    past = versions(vault, shown.id, limit=_VERSIONS)
    graph = local_graph(vault, shown.id, limit=_AROUND)
    # The mark of who brought it has a name in place of ids.
    ids = {
        *shown.status_by,
        *(identity for mark in shown.marks if mark.mark not in ("pulled", "trusted") for identity in mark.by),
    }
    ids |= {shown.solved_by} if shown.solved_by else set()
    ids |= {value for name, value in shown.details.items() if name == "problem" and isinstance(value, str)}
    names = {identity: title for identity in ids if (title := _title(vault, identity))}
    title_field = "summary" if shown.head.get("summary") and not shown.head.get("title") else "title"
    return {
        "memory": shown, "chain": tuple(reversed(chain)), "names": names, "root": vault.root,
        "head": [(name, value) for name, value in shown.head.items() if name not in _HIDDEN_HEAD and value not in (None, "", [])],
        "graph": drawn(graph, SMALL, addresses(graph)), "graph_more": graph.more,
        "past": _history(shown, past.results, past.more),
        "confidence": (confidence_line(shown, now), confidence_sentence(shown, now)),
        "retention": (retention_line(shown, now), retention_sentence(shown, now)),
        "kept_types": KEPT_TYPES,
        "edge_types": [spec.name for spec in vault.settings.types.of_class(RecordClass.EDGE)],
        "editing": editing, "title_field": title_field, "own_title": str(shown.head.get(title_field) or ""),
        "base": packed(shown.source.text) if shown.source else "",
        "fate": _fate(vault, question, shown.id) if question else None,
    }  # fmt: skip


def _title(vault: Vault, identity: str) -> str:
    with suppress(VaultError):
        return str(vault.show(identity).title)
    return ""


def _fate(vault: Vault, question: str, identity: str) -> Any:
    """The way of a memory through the answer to a question."""
    answer = vault.recall(question, explain=True, count=False, why_not=identity)
    return getattr(answer, "why_not", None)


def _history(shown: Any, past: Sequence[Any], more: int) -> list[tuple[str, str, Any]]:
    """The past of a memory, newest first: its versions, and the marks that it was given."""
    events = [(change.at, "version", change) for change in changes(past, more=bool(more))]
    steps = shown.timeline.steps if shown.timeline else ()
    events += [(step.at, "mark", step) for step in steps]
    return sorted(events, key=lambda event: event[0], reverse=True)


def with_line_ends(text: str, before: str) -> str:
    """`text` as a form sent it (every end a line feed) with the ends that its lines had; new lines get the usual one."""
    old, ends = _END.split(before), _END.findall(before)
    usual = max(sorted(set(ends)), key=ends.count) if ends else "\n"
    if set(ends) <= {"\n"}:
        return text
    new = text.split("\n")
    line_ends = [usual] * (len(new) - 1)
    matcher = SequenceMatcher(None, old, new, autojunk=False) if len(set(ends)) > 1 else None
    for block in matcher.get_matching_blocks() if matcher else ():
        for step in range(block.size):
            if block.a + step < len(ends) and block.b + step < len(line_ends):
                line_ends[block.b + step] = ends[block.a + step]
    return "".join(line + end for line, end in zip(new, [*line_ends, ""], strict=True))


def _doing(message: str, use: Callable[[Vault, str, Form], Any], *, undo: bool = True) -> Callable[[Request], Any]:
    """A form of the page: what is said when it is done, and the verb that does it."""

    async def done(request: Request) -> Response:
        form = await form_of(request)
        named = request.path_params["id"]
        result = await act(request, lambda vault: use(vault, named, form))
        return done_with(request, message, back=memory_path(_to(result, named)), result=result, undo=undo)

    return done


def _to(result: Any, named: str) -> str:
    """The memory whose page follows: a new one where a form made one."""
    return str(getattr(result, "new_understanding_id", "") or (result.id if getattr(result, "is_new", False) else named))


def _supersede(vault: Vault, named: str, form: Form) -> Any:
    """A new understanding in place of one; of an observation a change, which overtakes it."""
    shown = vault.show(named)
    content = form.text("content").strip()
    if not content:
        raise UsageError("what takes its place is empty", "write what is so now")
    if shown.record_class == RecordClass.UNDERSTANDING.value:
        return vault.update_understanding(
            shown.id, content, form.get("summary", "").strip() or content.split("\n", 1)[0][:120], reason=form.get("reason", "")
        )
    return vault.as_(user=str(shown.head.get("user") or "")).remember(
        content, list(shown.subjects), kind="change", change_targets=[shown.id], rationale=form.get("reason", "")
    )


def _tag(vault: Vault, named: str, form: Form) -> Any:
    return vault.tag(named, add=form.listed("add"), remove=form.all("remove"))


def _link(vault: Vault, named: str, form: Form) -> Any:
    return vault.link(named, form.get("type", ""), form.get("to", "").strip(), why=form.text("why"))


ROUTES = [
    Route("/memory/{id}", memory),
    Route("/page", page),
    Route("/memory/{id}/edit", edit, methods=["GET", "POST"]),
    Route("/memory/{id}/forget", forget, methods=["GET", "POST"]),
    Route("/memory/{id}/delete", delete, methods=["POST"]),
    Route(
        "/memory/{id}/useful",
        _doing("Marked as useful", lambda vault, named, form: vault.mark_useful(named, form.get("reason", ""))),
        methods=["POST"],
    ),
    Route(
        "/memory/{id}/questionable",
        _doing("Marked as questionable", lambda vault, named, form: vault.mark_questionable(named, form.get("reason", ""))),
        methods=["POST"],
    ),
    Route("/memory/{id}/pin", _doing("Pinned: it does not fade", lambda vault, named, form: vault.pin(named)), methods=["POST"]),
    Route(
        "/memory/{id}/unpin",
        _doing("No longer pinned", lambda vault, named, form: vault.pin(named, off=True)),
        methods=["POST"],
    ),
    Route(
        "/memory/{id}/hide",
        _doing("Hidden from what a session gets: found as before", lambda vault, named, form: hide_from_page(vault, [named])),
        methods=["POST"],
    ),
    Route(
        "/memory/{id}/give",
        _doing("Given to sessions again", lambda vault, named, form: hide_from_page(vault, [named], off=True)),
        methods=["POST"],
    ),
    Route("/memory/{id}/tag", _doing("Tags changed", _tag), methods=["POST"]),
    Route("/memory/{id}/link", _doing("Linked", _link), methods=["POST"]),
    Route(
        "/memory/{id}/unlink",
        _doing("The link is gone", lambda vault, named, form: vault.unlink(form.get("edge", ""))),
        methods=["POST"],
    ),
    Route("/memory/{id}/supersede", _doing("What takes its place is written", _supersede), methods=["POST"]),
]
