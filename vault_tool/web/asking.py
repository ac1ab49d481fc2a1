"""How a page asks the vault and changes it: on the vault's one thread, by verbs alone, as the person whose vault it is."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl, quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from vault_tool.errors import Busy, NotFound, Refused, StorageError, UsageError, VaultError
from vault_tool.util.structs import Struct
from vault_tool.vault.leniency import listed
from vault_tool.vault.request import remarks

if TYPE_CHECKING:
    from vault_tool.vault.context import Freshness
    from vault_tool.vault.one_thread import OneThread
    from vault_tool.verbs.vault import Vault

# Of one form: a little more than the longest note, percent-encoded texts of other scripts are longer than they are.
MOST_BYTES = 12 * 2**20

_MOST_FIELDS = 5000
_MOST_FLASHES = 100
_DONE = "done"
_KEPT_SECONDS = 60.0

_STATUS: dict[type[VaultError], int] = {NotFound: 404, UsageError: 400, Busy: 503, StorageError: 500, Refused: 403}

T = TypeVar("T")


class Form(Mapping[str, str]):
    """The fields that a form sent: a name's last value, and all of them by `all`."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in pairs:
            self._values.setdefault(name, []).append(value)

    def __getitem__(self, name: str) -> str:
        return self._values[name][-1]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def all(self, name: str) -> list[str]:
        """Every value of a name, in the form's order: of check boxes, say."""
        return list(self._values.get(name, ()))

    def listed(self, name: str, what: str = "") -> list[str]:
        """The items of a field that is typed as a text: of the list that is called `what`, or as the field is."""
        return list(listed(what or name, self.get(name, "")))

    def text(self, name: str) -> str:
        """A text as it was typed: forms send every line end as CRLF."""
        return self.get(name, "").replace("\r\n", "\n")


class UndoForm(Struct):
    """A form whose sending takes back what was done: its address and its fields."""

    action: str
    fields: tuple[tuple[str, str], ...]


class Flash(Struct):
    """The result of the page before, shown once, on the page that follows. `undo` are the commits that one press takes back,
    `form` is what one press sends where no commit is taken back: drafts are brought back from the bin, a setting is as it was.
    """

    message: str
    commit: str = ""
    undo: str = ""
    warnings: tuple[str, ...] = ()
    form: UndoForm | None = None


class Flashes:
    """Messages that wait to be shown, by a token: an address alone can put no words on a page."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, Flash] = OrderedDict()

    def add(self, flash: Flash) -> str:
        """Keep it; returns its token."""
        token = secrets.token_urlsafe(9)
        self._waiting[token] = flash
        while len(self._waiting) > _MOST_FLASHES:
            self._waiting.popitem(last=False)
        return token

    def of(self, request: Request) -> Flash | None:
        """The message that a request's address names; it stays, for a page may be loaded again."""
        return self._waiting.get(request.query_params.get(_DONE, ""))


async def form_of(request: Request) -> Form:
    """The fields of a page's form; raises UsageError for a form that is too long or cannot be read."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise UsageError(f"a form may hold {MOST_BYTES // 2**20} MiB", "put long texts into the note's file")
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except (UnicodeDecodeError, ValueError) as fault:
        raise UsageError("that is no form of a page", "go back, load the page again, and send it again") from fault
    return Form(pairs)


async def ask(request: Request, use: Callable[[Vault], T]) -> T:
    """The result of `use` on the vault. Raises VaultError, which becomes a page.

    The files are compared with the indexes once a page, by whoever asks first: a page is of one moment.
    """
    run: OneThread[Vault] = request.app.state.run

    def at_one_moment(vault: Vault) -> T:
        freshness = compared(request, vault)
        # What was held back, or left while we looked, may be there at the next look.
        is_whole = not (freshness.held_back or freshness.behind)
        vault.is_current, vault.hearing = (lambda: True, request.app.state.voucher) if is_whole else (None, None)
        try:
            return use(vault)
        finally:
            vault.is_current = vault.hearing = None

    return await run(at_one_moment)


def compared(request: Request, vault: Vault) -> Freshness:
    """How fresh the indexes are for this page, compared with the files where nothing of it did so before."""
    if not hasattr(request.state, "freshness"):
        request.state.freshness = request.app.state.voucher.fresh(vault)
    freshness: Freshness = request.state.freshness
    return freshness


async def act(request: Request, use: Callable[[Vault], T]) -> T:
    """Like `ask`, for what changes something: whoever has a page open is shown it at once."""
    run: OneThread[Vault] = request.app.state.run
    try:
        return await run(use)
    finally:
        if hasattr(request.state, "freshness"):
            del request.state.freshness
        request.app.state.answers.ask_anew()
        request.app.state.live.look()


class AnswerCache:
    """Answers of verbs that look at the whole vault: kept until the vault changes, for a minute at most, for they also age."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._round = 0
        self._lately: dict[str, tuple[Any, float, Any]] = {}

    def of(self, vault: Vault, name: str, use: Callable[[Vault], T]) -> T:
        """The answer of `use`, called `name`; asked again if anything was written since, or after a minute."""
        vault.fresh()
        answers: dict[tuple[int, str], tuple[float, T]] = vault.whole_index.catalog.derived("answers of pages", dict)
        asked = self._round, name
        if asked in answers and self._clock() - answers[asked][0] < _KEPT_SECONDS:
            return answers[asked][1]
        answer = use(vault)
        answers[asked] = self._clock(), answer
        return answer

    def lately(self, name: str, state: object, use: Callable[[], T]) -> T:
        """The answer of `use` for pages that tell it beside their own: of a minute ago at most, of this state of the vault."""
        asked, at, _ = self._lately.get(name, (None, 0.0, None))
        if asked != (self._round, state) or self._clock() - at >= _KEPT_SECONDS:
            self.note(name, state, use())
        latest: T = self._lately[name][2]
        return latest

    def note(self, name: str, state: object, answer: Any) -> None:
        """Keep an answer that was just given."""
        self._lately[name] = (self._round, state), self._clock(), answer

    def ask_anew(self) -> None:
        """Ask anew: something was done that no index shows."""
        self._round += 1


def cached(request: Request, name: str, use: Callable[[Vault], T]) -> Callable[[Vault], T]:
    """`use` as something to ask the vault for, whose answer is kept; see `AnswerCache`."""
    answers: AnswerCache = request.app.state.answers
    return lambda vault: answers.of(vault, name, use)


def done_with(
    request: Request,
    message: str,
    *,
    back: str,
    result: Any = None,
    undo: bool = True,
    commits: Sequence[str] = (),
    form: UndoForm | None = None,
) -> Response:
    """On to the page `back`, which says what was done; a `result` that carries a commit can be undone there with one press, and
    so can all `commits` together, or what `form` takes back.
    """
    commit = getattr(result, "commit", None) or ""
    warnings = tuple(map(str, remarks(result)))
    if binned := getattr(result, "binned", ()):
        form = UndoForm("/review/restore", tuple(("id", identity) for identity in binned))
    targets = " ".join(commits or [commit]) if undo and form is None else ""
    token = request.app.state.flashes.add(Flash(message, commit, targets, warnings, form))
    path, hash_, part = local_path(back).partition("#")
    joint = "&" if "?" in path else "?"
    return RedirectResponse(f"{path}{joint}{_DONE}={token}{hash_}{part}", 303)


def status_of(fault: VaultError) -> int:
    """The status of a page that says what could not be done."""
    return next((_STATUS[kind] for kind in type(fault).__mro__ if kind in _STATUS), 409)


def local_path(to: str) -> str:
    """`to` where it is a path of this server, percent-encoded; else the first page. No form sends anybody elsewhere."""
    if not to.startswith("/") or to.startswith(("//", "/\\")) or any(character in to for character in "\\\r\n\t"):
        return "/"
    return quote(to, safe="/?&=#%:@!$'()*+,;~-._")


def back_to(request: Request, form: Mapping[str, str], otherwise: str) -> str:
    """The page that a form was on, by its field `back`."""
    return local_path(form["back"]) if form.get("back") else otherwise
