"""From what a person or an agent calls a memory to the memory: ids, prefixes, paths and names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from vault_tool.consolidation import similar_names as similar_names_module
from vault_tool.errors import Ambiguous, NotFound, Refused, UsageError, VaultError
from vault_tool.files.layout import AROUND, is_around
from vault_tool.index.catalog import Page
from vault_tool.index.relations import names_of
from vault_tool.index.schema import link_name
from vault_tool.index.visibility import Request, visible
from vault_tool.model import consent
from vault_tool.model.ids import SHORTEST_PREFIX, as_prefix, canonical, shortest_unambiguous
from vault_tool.model.snapshot import Entry, keeper
from vault_tool.model.types import RecordClass
from vault_tool.util.hints import option, step
from vault_tool.util.note_links import is_note
from vault_tool.util.text import normal_name, one_line
from vault_tool.vault.context import Context
from vault_tool.vault.person import is_owner

# So many ids are looked up by one query.
_TOGETHER = 200

# So many characters of one word are a beginning of a title, and so many memories are looked at that have it.
_BEGINNING = 8
_AT_MOST = 50


def find(vault: Context, named: str, classes: Collection[RecordClass] | None = None, *, begun: bool = False) -> Entry:
    """The one record that `named` means: an id, an unambiguous prefix of one, a path in the vault, a subject's
    name, a title, alias or file name; where it is only looked at or marked (`begun`), also the beginning of a title.

    Indexes must be fresh. Raises NotFound, or Ambiguous with the candidates.
    """
    wanted = named.strip()
    if not wanted:
        raise NotFound("nothing was named", _advice(wanted))
    named_by = candidates_begun if begun else candidates
    found = [entry for entry in named_by(vault, wanted) if classes is None or entry.record_class in classes]
    told = [entry for entry in found if visible(entry, Request(vault.sight), "named") is None]
    if classes is None and found and not (found := told):
        raise NotFound("the ledger of a pass names memories of anybody", f"ask without {option('user')}")
    if len(found) > 1:
        found = _without_copies(found)
    if len(found) == 1:
        return found[0]
    if not found:
        if canonical(wanted) in vault.forgotten():
            raise NotFound(f"{wanted} was forgotten", "its id alone is kept, so that it does not return")
        _require_visible(vault, wanted)
        _require_no_page(vault, wanted)
        _require_not_shared(vault, wanted)
        _require_no_beginning(vault, wanted, classes)
        raise NotFound(f"nothing in this vault answers to `{one_line(wanted, 60)}`{_kinds(classes)}", _advice(wanted))
    if len({entry.id for entry in found}) == 1:
        # A copy that somebody else brought takes nothing from the file that is its owner's.
        if (own := keeper(found)) is not None:
            return own
        raise Ambiguous(
            f"two files have the id {found[0].id}: {', '.join(e.path for e in found)}",
            "give one of them a new id (`uuidgen`), or delete the copy",
        )
    shown = ", ".join(f"{short(vault, e.id)} ({one_line(e.title, 40)})" for e in found[:5])
    raise Ambiguous(
        f"`{one_line(wanted, 60)}` could be {shown}{' and others' if len(found) > 5 else ''}",
        "type more of the id" if as_prefix(wanted) else "name one by its id",
    )


def _without_copies(found: Sequence[Entry]) -> list[Entry]:
    """Of files with one id that alone which is its owner's, where there is one."""
    by_id: dict[str, list[Entry]] = {}
    for entry in found:
        by_id.setdefault(entry.id, []).append(entry)
    left: list[Entry] = []
    for some in by_id.values():
        own = keeper(some)
        left += some if own is None else [own]
    return left


def for_its_keeper(vault: Context) -> Context:
    """The vault as its owner looks into it: with what is told to nobody, so that it can be read, mended and brought back."""
    return vault.with_withheld() if vault.sight is None and is_owner(vault) else vault


def _require_visible(vault: Context, wanted: str) -> None:
    """What is withheld is said to be, to whoever names it and could see it else."""
    catalog = vault.whole_index.catalog
    named = candidates(vault.with_withheld(), wanted) if catalog.withheld() and not vault.everything else ()
    found = next((one for one in named if one.id in catalog.withheld()), None)
    if found is not None and vault.sight in (None, found.text("user")):
        identity = shortest_unambiguous(found.id, catalog.neighbours(found.id))
        message = f"{identity} is told to nobody: consent to it was {consent.consent_of(found, catalog.signals(found.id)).state}"
        raise NotFound(message, "whoever keeps this vault sees it by its id")


def require_own(vault: Context, entry: Entry) -> None:
    """Refused where one user would change what all users see."""
    if vault.sight is not None and entry.text("user") != vault.sight:
        title = one_line(entry.title, 40)
        raise Refused(f"`{title}` is everybody's, and not for one user to change", f"ask without {option('user')}")


def find_all(vault: Context, named: Sequence[str], classes: Collection[RecordClass] | None = None) -> list[Entry]:
    """`find` for each, in order, repeats dropped."""
    return list({entry.id: entry for entry in (find(vault, one, classes) for one in named)}.values())


def workspace_id(vault: Context) -> str:
    """The id of the vault, which keeps apart what two vaults derive from the same text; empty where it has no workspace."""
    return next((entry.id for entry in vault.index.catalog.of_class(RecordClass.WORKSPACE)), "")


def vault_name(vault: Context) -> str:
    """What the vault is called: its workspace's title, or its folder's name."""
    return next((entry.title for entry in vault.index.catalog.of_class(RecordClass.WORKSPACE)), "") or vault.root.name


def subject(vault: Context, name: str) -> Entry | None:
    """The subject that answers to a name or alias, or None; two that do are refused by name."""
    found = _subjects(vault, name)
    if len(found) > 1 and (own := keeper(found)) is not None:
        return own
    if len(found) > 1:
        files = ", ".join(entry.path for entry in found)
        raise Refused(
            f"more than one subject is called `{one_line(name, 60)}`: {files}", "rename one of them, or merge them by hand"
        )
    return found[0] if found else None


def problem(vault: Context, named: str) -> str:
    """The id of the problem that `named` means, or nothing for nothing; UsageError for what is none."""
    if not named:
        return ""
    entry = find(vault, named, (RecordClass.OBSERVATION,))
    if entry.type != "problem":
        raise UsageError(f"{short(vault, entry.id)} is of type {entry.type}, not a problem", "name the problem's own id")
    return entry.id


def home_of(vault: Context, named: str, *, begun: bool = False) -> Context:
    """The vault that a memory lives in, as who is asking: this one, else the global one that is read beside it."""
    named_by = candidates_begun if begun else candidates
    # Asked for last: where the global vault is costs an import to know, and few need it.
    shared = None if named_by(vault, named) else vault.global_vault
    if shared is None:
        return vault
    shared.fresh()
    return seen_by(shared, vault) if named_by(shared, named) else vault


def seen_by(shared: Context, vault: Context) -> Context:
    """The global vault as whoever asks `vault`, with what was allowed there."""
    beside = shared.as_(**asdict(vault.who))
    beside.allow_secrets = vault.allow_secrets
    return beside


def names_for(vault: Context, name: str) -> tuple[str, ...]:
    """All the normalised names under which the subject called `name` is tagged; its own alone when it has no file."""
    found = _subjects(vault, name)
    kept = found[0] if len(found) == 1 else keeper(found)
    return names_of(kept) if kept is not None else (normal_name(name),)


def similar_subjects(vault: Context, name: str, besides: Sequence[str] = ()) -> list[str]:
    """The subjects whose name or alias is nearly `name`, and those of the names `besides` that are, nearest first."""
    catalog = vault.index.catalog
    new = {normal_name(other): other for other in besides}
    near = similar_names_module.similar_names(name, {*catalog.subject_names(), *new})
    return list(dict.fromkeys(new[other] if other in new else catalog.subject_named(other)[0].title for other in near))


def existing_subject(vault: Context, name: str) -> Entry:
    """The subject that answers to a name, alias or id; raises NotFound with the names that come near."""
    found = subject(vault, name)
    if found is not None:
        return found
    if as_prefix(name) or name.endswith(".md"):
        return find(vault, name, (RecordClass.SUBJECT,))
    near = similar_subjects(vault, name)
    hint = f"did you mean {', '.join(near)}?" if near else f"make it with {step('create_subjects', subjects=one_line(name, 60))}"
    raise NotFound(f"no subject is called `{one_line(name, 60)}`", hint)


def require_tagged(vault: Context, name: str) -> None:
    """NotFound's sentence as a UsageError for a name that no subject has and nothing is tagged with."""
    names = names_for(vault, name)
    if not _subjects(vault, name) and not vault.index.catalog.tagged([names]):
        near = similar_subjects(vault, name)
        hint = f"did you mean {', '.join(near)}?" if near else f"{step('get_subjects')} lists them"
        raise UsageError(f"no subject is called `{one_line(name, 60)}`, and nothing is tagged with it", hint)


def short(vault: Context, identity: str) -> str:
    """The shortest prefix of an id, at least 6 characters, that no other record shares."""
    return shortest_unambiguous(identity, vault.index.catalog.neighbours(identity))


class Shortened:
    """Ids as `short` tells them, for one answer: those that it is `given` are looked up together, when the first is asked for."""

    def __init__(self, vault: Context, given: Iterable[str] = ()) -> None:
        self._vault = vault
        self._given = tuple(dict.fromkeys(given))[:_TOGETHER]
        self._known: dict[str, str] = {}

    def __call__(self, identity: str) -> str:
        """The shortest prefix of an id that no other record shares."""
        if identity not in self._known:
            ids, self._given = dict.fromkeys((identity, *self._given)), ()
            around = self._vault.index.catalog.neighbours_of(ids)
            self._known.update((one, shortest_unambiguous(one, others)) for one, others in around.items())
        return self._known[identity]


def readings(vault: Context, path: str | Path) -> Iterator[tuple[str, bool]]:
    """What a path may mean, from this folder and then from the root: relative to the root, and whether it is there.

    Nothing for what leads out of the vault, or can be no path at all: too long, with a NUL, with links in a circle.
    """
    for base in (Path(), vault.root):  # the first is this process's folder, which may be gone
        try:
            full = (base / path).resolve()
            there = full.exists()
        except (OSError, ValueError, RuntimeError):
            continue
        if full.is_relative_to(vault.root):
            yield full.relative_to(vault.root).as_posix(), there


def candidates(vault: Context, wanted: str) -> Sequence[Entry]:
    """All that answers to an id, else to a prefix of one, a path, a subject's name or alias, or a title, alias or file name.

    A title means the newest of its revisions.
    """
    catalog = vault.index.catalog
    if not _is_text(wanted):
        return ()
    whole = canonical(wanted)
    if whole:
        return catalog.get(whole)
    prefix = as_prefix(wanted)
    by_prefix = catalog.by_prefix(prefix, limit=6) if prefix else ()
    if len(by_prefix) > 1 and by_prefix[0].id == by_prefix[-1].id:
        return catalog.get(by_prefix[0].id)  # all of them: of many copies the first may be anybody's
    if by_prefix:
        return by_prefix
    path = _as_path(vault, wanted)
    at_path = catalog.by_path(path) if path else None
    return [at_path] if at_path else _subjects(vault, wanted) or _titled(vault, wanted) or _by_file_name(vault, wanted)


def _by_file_name(vault: Context, wanted: str) -> Sequence[Entry]:
    """What has a file name that we gave, which ends with the beginning of its id: editors complete links by it."""
    stem = wanted.strip().rpartition("/")[2].removesuffix(".md")
    prefix = as_prefix(stem.rpartition("-")[2]) if "-" in stem else None
    found = vault.index.catalog.by_prefix(prefix, limit=6) if prefix else ()
    return [one for one in found if one.path.rpartition("/")[2].removesuffix(".md") == stem]


def candidates_begun(vault: Context, wanted: str) -> Sequence[Entry]:
    """The same, and where nothing answers to that, what has a title that begins so; for verbs that change no memory."""
    return candidates(vault, wanted) or _begun(vault, wanted)


def _begun(vault: Context, wanted: str) -> Sequence[Entry]:
    """What has a title of which this is the beginning, two words or eight characters of it at least."""
    normal = normal_name(wanted.strip().removesuffix("…").removesuffix("...")) if _is_text(wanted) else ""
    if len(normal) < _BEGINNING and " " not in normal:
        return ()
    catalog = vault.index.catalog
    found = [one for one in catalog.titled_from(normal, _AT_MOST) if normal_name(one.title).startswith(normal)]
    return _present(vault, found)


def _titled(vault: Context, title: str) -> Sequence[Entry]:
    """What has a title, alias or file name; of an understanding and what it superseded, which keep theirs, the active one."""
    found = vault.index.catalog.titled(normal_name(title))
    return _present(vault, found)


def _present(vault: Context, found: Sequence[Entry]) -> Sequence[Entry]:
    """Of several that nothing supersedes, where there are such."""
    return [one for one in found if not vault.superseded_by(one.id)] or found if len(found) > 1 else found


def _subjects(vault: Context, name: str) -> Sequence[Entry]:
    normal = normal_name(name)
    return vault.index.catalog.subject_named(normal) if _is_text(normal) else ()


def _is_text(name: str) -> bool:
    """Whether a name can be looked up: what a shell passes that is not UTF-8 reaches us as half a character."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def _as_path(vault: Context, wanted: str) -> str | None:
    """`wanted` as a path relative to the root, if it looks like one."""
    if not is_note(wanted):
        return None
    catalog = vault.index.catalog
    # As search prints it first, from whatever folder: a note of the folder around the vault begins with `../`.
    if is_around(wanted) and catalog.by_path(wanted):
        return wanted
    found = next((path for path, _ in readings(vault, wanted) if catalog.by_path(path)), None)
    return found if found is not None or vault.around is None else _around(vault, wanted)


def _around(vault: Context, wanted: str) -> str | None:
    """A path from this folder as that of a note in the folder around the vault."""
    try:
        full = Path(wanted).resolve()
    except (OSError, ValueError, RuntimeError):
        return None
    if vault.around is None or not full.is_relative_to(vault.around):
        return None
    path = f"{AROUND}{full.relative_to(vault.around).as_posix()}"
    return path if vault.index.catalog.by_path(path) else None


def page(vault: Context, named: str, *, by_name: bool = False) -> Page | None:
    """The page that a path means; None for whatever else it may be.

    With `by_name`, also the one page of that title or file name; Ambiguous with their paths for several.
    """
    wanted = named.strip()
    if not wanted or not _is_text(wanted):
        return None
    paths = [path for path, _ in readings(vault, wanted)] if wanted.endswith(".md") else []
    found = next((found for path in paths if (found := vault.index.catalog.page(path))), None)
    if found is not None or not by_name:
        return found
    name = link_name(wanted)
    called = [one for one in vault.index.catalog.pages() if name in (normal_name(one.title), link_name(one.path))]
    if len(called) > 1:
        shown = ", ".join(one.path for one in called[:5])
        raise Ambiguous(f"`{one_line(wanted, 60)}` could be {shown}{' and others' if len(called) > 5 else ''}", "type the path")
    return called[0] if called else None


def _require_no_page(vault: Context, wanted: str) -> None:
    """What search finds and is no record is named as what it is: a page, to be opened as a file."""
    for path, _ in readings(vault, wanted) if wanted.endswith(".md") else ():
        if vault.index.catalog.page(path):
            raise NotFound(
                f"{path} is a page, not a memory", f"open it in an editor, or {step('adopt', paths=path)} makes it one"
            )


def _require_not_shared(vault: Context, wanted: str) -> None:
    """What recall showed from the global vault, and this verb looks for here alone, is said to be there."""
    shared = vault.global_vault
    found: Sequence[Entry] = ()
    # Whatever is wrong over there is no answer to what was asked here.
    with suppress(VaultError):
        found = candidates(shared, wanted) if shared is not None else ()
    if shared is not None and found:
        title = one_line(found[0].title, 40)
        message = f"`{one_line(wanted, 60)}` ({title}) is of the global vault, and this is done in one vault alone"
        raise NotFound(message, f"do it there: {option('vault', str(shared.root))}")


def _require_no_beginning(vault: Context, wanted: str, classes: Collection[RecordClass] | None) -> None:
    """What has a title that begins so is told: what is to be changed is named by its id or its whole title."""
    found = [one for one in _begun(vault, wanted) if classes is None or one.record_class in classes]
    if found:
        shown = ", ".join(f"{short(vault, one.id)} ({one_line(one.title, 40)})" for one in found[:5])
        message = f"`{one_line(wanted, 60)}` is no more than the beginning of a title"
        raise NotFound(message, f"name it by its id: {shown}{' and others' if len(found) > 5 else ''}")


def _kinds(classes: Collection[RecordClass] | None) -> str:
    return f" as {' or '.join(classes)}" if classes else ""


def _advice(wanted: str) -> str:
    if 0 < len(wanted) < SHORTEST_PREFIX:
        return f"type at least {SHORTEST_PREFIX} characters of an id"
    return f"{step('search', query=...)} finds by text, {step('get_subjects')} lists subjects"
