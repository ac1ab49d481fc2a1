"""One call of a verb: the request, how it is carried out, and the envelope that every answer shares.

A verb is a function under `@verb`. Every call of it, by any door, goes through `run`. It refuses verbs of the whole vault to a
single user, compares the files with the indexes if the verb answers from them, calls the function, and puts the answer in its
envelope. `remarks` and `without_settings` give doors the remarks on writes and on faulty settings beside an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from msgspec.structs import force_setattr

from vault_tool.errors import NotFound, UsageError
from vault_tool.util.atomic import storage_error
from vault_tool.util.hints import option
from vault_tool.util.structs import Struct
from vault_tool.vault import past
from vault_tool.vault.context import NOT_COMPARED, Freshness

if TYPE_CHECKING:
    from vault_tool.vault.context import Context

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Result = TypeVar("_Result")

# The arguments that make a writing verb only show what it would write.
_ONLY_SHOWN = ("preview", "dry_run")


class Envelope:
    """The part that all answers share, filled by `run`: `freshness` says how up to date the indexes were.

    In JSON it stands before the field that `stands_before` names, or at the end if there is no such field. Two structs with
    fields cannot be bases of one class: an answer that extends another struct also extends this class, and declares
    `freshness` itself.
    """

    __slots__ = ()

    stands_before = "notice"


class Answer(Struct, Envelope, kw_only=True):
    """An answer with its envelope."""

    freshness: Freshness = NOT_COMPARED


class Verb:
    """A function that is a verb, with the properties that the decorators below `@verb` set."""

    __slots__ = ("for_user", "function", "in_time", "looks", "looks_to_show", "name", "of_the_whole")

    def __init__(self, function: Callable[..., Any]) -> None:
        marks = vars(function)
        self.function = function
        self.name = function.__name__
        self.looks: bool = marks.get("looks", False)
        self.looks_to_show: bool = marks.get("looks_to_show", False)
        self.for_user: bool = marks.get("for_user", False)
        self.in_time: bool = marks.get("in_time", False)
        self.of_the_whole: bool = marks.get("of_the_whole", False)


class Request:
    """A call: a verb with its arguments, the vaults it is about (one, today), and the time it is as of (None: now)."""

    __slots__ = ("as_of", "given", "named", "vaults", "verb")

    def __init__(
        self, verb: Verb, vaults: tuple[Context, ...], positional: tuple[Any, ...], named: Mapping[str, Any],
        as_of: str | None = None,
    ) -> None:  # fmt: skip
        self.verb = verb
        self.vaults = vaults
        self.given = positional
        self.named = named
        self.as_of = as_of

    @property
    def looks(self) -> bool:
        """Whether the files are compared with the indexes before the verb is called."""
        return self.verb.looks or (self.verb.looks_to_show and any(map(self.named.get, _ONLY_SHOWN)))


def run(request: Request) -> Any:
    """Carry out a request: compare the files, call the function, and put the answer in its envelope.

    If a verb calls another verb, only the outer one is refused to a single user, and only the outer one reports a failure of
    the file system.
    """
    (vault,), verb = request.vaults, request.verb
    if verb.for_user:
        vault = vault.for_user(request.named.get("user") or "")
    if request.as_of is not None:
        return _answered_then(request, vault, request.as_of)
    is_inner = vault.looks.is_answering
    try:
        with within(vault):
            if verb.of_the_whole and not is_inner and not vault.sees_everyone:
                message = f"{verb.name} is about the whole vault, and so not asked for one user"
                raise UsageError(message, f"ask without {option('user')}")
            if request.looks:
                vault.fresh(request.named.get("progress"))
            return in_envelope(vault, verb.function(vault, *request.given, **request.named))
    except OSError as fault:
        if is_inner:
            raise
        raise storage_error(str(fault.filename or "the vault"), fault, doing="use") from fault


def _answered_then(request: Request, vault: Context, as_of: str) -> Any:
    """The answer to a request as of its time; its results do not count as used.

    An error for a missing memory names the time as well. For a time before the first known state, it gives only that reason.
    """
    if request.named.get("vaults"):
        raise UsageError("other vaults are asked as of now alone", f"leave {option('as_of')} or {option('vaults')} away")
    if request.named.get("chats"):
        raise UsageError("conversations are told as of now alone", f"leave {option('as_of')} or {option('chats')} away")
    counts = "count" in (request.verb.function.__kwdefaults__ or {})
    named = {**request.named, "count": False} if counts else request.named
    with past.as_of(vault, as_of) as known:
        try:
            result = run(Request(request.verb, (known,), request.given, named))
        except NotFound as fault:
            raise NotFound(known.told if known.repo is None else f"{fault.message} ({known.told})", fault.hint) from fault
        return past.told_as_of(result, known.told)


@contextmanager
def within(vault: Context) -> Iterator[None]:
    """Mark a block as part of one call: verbs called in it count as inner, and the answer reports this call's own comparison."""
    looks = vault.looks
    before, looks.told = looks.told, None
    is_inner, looks.is_answering = looks.is_answering, True
    try:
        yield
    finally:
        looks.told = before or looks.told
        looks.is_answering = is_inner


def in_envelope(vault: Context, result: _Result) -> _Result:
    """An answer with its envelope filled; any other result unchanged."""
    if isinstance(result, Envelope):
        # The struct is new and no other code holds it; a copy of forty fields would cost a warm `get` one part in two hundred.
        force_setattr(cast("Struct", result), "freshness", vault.looks.told or vault.looks.last)
    return result


def remarks(result: object) -> Iterator[str]:
    """The remarks beside a result: its warnings, a write without a commit, and the paths of texts kept after a conflict."""
    yield from getattr(result, "warnings", None) or ()
    if not getattr(result, "committed", True) and (reason := getattr(result, "reason", "")):
        yield f"saved, but not committed: {reason}"
    for path in getattr(result, "conflicts", ()):
        yield f"somebody changed the note meanwhile; both texts are kept, the other one in {path}"


def without_settings(answer: dict[str, Any], fault: str) -> dict[str, Any]:
    """An answer's values with the fault of `vault.toml` added to `degraded`; unchanged if there is no fault."""
    return {**answer, "degraded": [*answer.get("degraded", ()), fault]} if fault else answer


def verb(function: _Function) -> _Function:
    """Make a verb of a function whose first parameter is the open vault; the decorators below `@verb` set its properties.

    Each of these decorators returns the function that it takes. Otherwise mypy would know the type of the method too late for
    `Vault`.
    """
    marked = Verb(function)

    @wraps(function)
    def asked(vault: Context, *positional: Any, **named: Any) -> Any:
        as_of = named.pop("as_of", None) if marked.in_time else None
        return run(Request(marked, (vault,), positional, named, as_of))

    vars(asked)["is_verb"] = True
    return cast(_Function, asked)


def looks(function: _Function) -> _Function:
    """Say that the files are compared with the indexes before a call; a verb that writes compares them under the lock."""
    vars(function)["looks"] = True
    return function


def looks_to_show(function: _Function) -> _Function:
    """Say that the files are compared before a call that only shows what it would write (`preview`, `dry_run`)."""
    vars(function)["looks_to_show"] = True
    return function


def of_the_whole(function: _Function) -> _Function:
    """Say that a verb is about the whole vault: it is for the owner, and is refused to a single user."""
    vars(function)["of_the_whole"] = True
    return function


def for_user(function: _Function) -> _Function:
    """Say that the argument `user` limits a call to the memories of that user: see `Context.for_user`."""
    vars(function)["for_user"] = True
    return function


def in_time(function: _Function) -> _Function:
    """Say that the argument `as_of` asks for the state at an earlier time: see `past`."""
    vars(function)["in_time"] = True
    return function
