"""From what a person or an agent calls a memory to the memory: ids, prefixes, paths and names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import to_builtins

from vault_tool.consolidation import similar_names as similar_names_module
from vault_tool.errors import Ambiguous, NotFound, Refused, UsageError, VaultError
from vault_tool.files.layout import AROUND, is_around
from vault_tool.index.catalog import Page
from vault_tool.index.relations import names_of, supersession
from vault_tool.index.schema import link_name
from vault_tool.index.visibility import Request, visible
from vault_tool.model import consent
from vault_tool.model.ids import SHORTEST_PREFIX, as_prefix, canonical, shortest_unambiguous
from vault_tool.model.snapshot import Entry, own_id_for, owners_entry
from vault_tool.model.types import MEMORIES, RecordClass
from vault_tool.util.hints import option, step
from vault_tool.util.note_links import is_note
from vault_tool.util.text import body_hash, first_sentence, normal_name, one_line
from vault_tool.vault import beside, no_return
from vault_tool.vault.context import Context
from vault_tool.vault.person import acting, is_owner

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
    name = named.strip()
    if not name:
        raise NotFound("nothing was named", _advice(name))
    named_by = candidates_begun if begun else candidates
    matches = [entry for entry in named_by(vault, name) if classes is None or entry.record_class in classes]
    visible_matches = [entry for entry in matches if visible(entry, Request(vault.viewer), "named") is None]
    if classes is None and matches and not (matches := visible_matches):
        raise NotFound("the ledger of a pass names memories of anybody", f"ask without {option('user')}")
    if len(matches) > 1:
        matches = _without_copies(matches)
    if len(matches) == 1:
        return matches[0]
    if not matches:
        if no_return.is_buried(vault, canonical(name) or ""):
            raise NotFound(f"{name} was forgotten", "its id alone is kept, so that it does not return")
        _require_visible(vault, name)
        _require_no_page(vault, name)
        _require_not_shared(vault, name)
        _require_no_beginning(vault, name, classes)
        beside.require_known(vault, name)
        raise NotFound(f"nothing in this vault answers to `{one_line(name, 60)}`{_kinds(classes)}", _advice(name))
    if len({entry.id for entry in matches}) == 1:
        # A copy that somebody else brought takes nothing from the file that is its owner's.
        if (own := owners_entry(matches)) is not None:
            return own
        raise Ambiguous(
            f"two files have the id {matches[0].id}: {', '.join(e.path for e in matches)}",
            own_id_for(max((entry.path for entry in matches), key=lambda path: (len(path), path))),
        )
    shown = ", ".join(f"{short(vault, e.id)} ({one_line(e.title, 40)})" for e in matches[:5])
    raise Ambiguous(
        f"`{one_line(name, 60)}` could be {shown}{' and others' if len(matches) > 5 else ''}",
        "type more of the id" if as_prefix(name) else "name one by its id",
    )


def _without_copies(entries: Sequence[Entry]) -> list[Entry]:
    """The entries without copies: of files with one id only its owner's, if there is one."""
    by_id: dict[str, list[Entry]] = {}
    for entry in entries:
        by_id.setdefault(entry.id, []).append(entry)
    left: list[Entry] = []
    for same_id in by_id.values():
        own = owners_entry(same_id)
        left += same_id if own is None else [own]
    return left


def unrestricted(vault: Context) -> Context:
    """The vault as its owner looks into it: with withheld memories, so that they can be read, mended and brought back."""
    return vault.with_withheld() if vault.sees_everyone and is_owner(vault) else vault


def for_act(vault: Context, act: str) -> Context:
    """The vault for an act that only a person may do, in the owner's name and on all that it holds. Raises Refused where no
    person asks.
    """
    return acting(vault, act).with_withheld()


def _require_visible(vault: Context, name: str) -> None:
    """Tell a caller that names a withheld memory, and could see it otherwise, that it is withheld."""
    catalog = vault.whole_index.catalog
    named = candidates(vault.with_withheld(), name) if catalog.withheld() and not vault.sees_withheld else ()
    withheld = next((entry for entry in named if entry.id in catalog.withheld()), None)
    if withheld is not None and vault.sees(withheld.text("user")):
        identity = shortest_unambiguous(withheld.id, catalog.neighbours(withheld.id))
        message = (
            f"{identity} is told to nobody: consent to it was {consent.consent_of(withheld, catalog.signals(withheld.id)).state}"
        )
        raise NotFound(message, "whoever keeps this vault sees it by its id")


def require_own(vault: Context, entry: Entry) -> None:
    """Refused where one user would change what all users see."""
    if not vault.sees(entry.text("user")):
        title = one_line(entry.title, 40)
        raise Refused(f"`{title}` is everybody's, and not for one user to change", f"ask without {option('user')}")


def find_all(vault: Context, named: Sequence[str], classes: Collection[RecordClass] | None = None) -> list[Entry]:
    """`find` for each, in order, repeats dropped."""
    return list({entry.id: entry for entry in (find(vault, name, classes) for name in named)}.values())


def workspace_id(vault: Context) -> str:
    """The id of the vault, which keeps apart what two vaults derive from the same text; empty where it has no workspace."""
    return next((entry.id for entry in vault.index.catalog.of_class(RecordClass.WORKSPACE)), "")


def vault_name(vault: Context) -> str:
    """The vault's name: its workspace's title, or its folder's name."""
    return next((entry.title for entry in vault.index.catalog.of_class(RecordClass.WORKSPACE)), "") or vault.root.name


def subject(vault: Context, name: str) -> Entry | None:
    """The subject that answers to a name or alias, or None; two that do are refused by name."""
    subjects = _subjects(vault, name)
    if len(subjects) > 1 and (own := owners_entry(subjects)) is not None:
        return own
    if len(subjects) > 1:
        files = ", ".join(entry.path for entry in subjects)
        raise Refused(
            f"more than one subject is called `{one_line(name, 60)}`: {files}", "rename one of them, or merge them by hand"
        )
    return subjects[0] if subjects else None


def problem(vault: Context, named: str) -> str:
    """The id of the problem that `named` means, or nothing for nothing; UsageError for what is none."""
    if not named:
        return ""
    entry = find(vault, named, (RecordClass.OBSERVATION,))
    if entry.type != "problem":
        raise UsageError(f"{short(vault, entry.id)} is of type {entry.type}, not a problem", "name the problem's own id")
    return entry.id


def global_beside(vault: Context) -> Context | None:
    """The global vault that is read beside this one, compared with its files; None where there is none. A call of a verb looks
    at the vault that it asks, and at no other.
    """
    if vault.global_vault is not None:
        vault.global_vault.fresh()
    return vault.global_vault


def vault_holding(vault: Context, named: str, *, begun: bool = False) -> Context:
    """The vault that a memory lives in, as who is asking: this one, else the global one that is read beside it."""
    named_by = candidates_begun if begun else candidates
    # Asked for last: where the global vault is costs an import to know, and few need it.
    shared = None if named_by(vault, named) else global_beside(vault)
    if shared is None:
        return vault
    return seen_by(shared, vault) if named_by(shared, named) else vault


def seen_by(shared: Context, vault: Context) -> Context:
    """The global vault as whoever asks `vault`, with what was allowed there."""
    beside = shared.as_(**to_builtins(vault.who))
    beside.allow_secrets = vault.allow_secrets
    return beside


def names_for(vault: Context, name: str) -> tuple[str, ...]:
    """All the normalised names under which the subject called `name` is tagged; its own alone when it has no file."""
    subjects = _subjects(vault, name)
    own_subject = subjects[0] if len(subjects) == 1 else owners_entry(subjects)
    return names_of(own_subject) if own_subject is not None else (normal_name(name),)


def similar_subjects(vault: Context, name: str, besides: Sequence[str] = ()) -> list[str]:
    """The subjects whose name or alias is nearly `name`, and those of the names `besides` that are, nearest first."""
    catalog = vault.index.catalog
    new = {normal_name(other): other for other in besides}
    near = similar_names_module.similar_names(name, {*catalog.subject_names(), *new})
    return list(dict.fromkeys(new[other] if other in new else catalog.subject_named(other)[0].title for other in near))


def existing_subject(vault: Context, name: str) -> Entry:
    """The subject that answers to a name, alias or id; raises NotFound with the names that come near."""
    subject_entry = subject(vault, name)
    if subject_entry is not None:
        return subject_entry
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

    def __init__(self, vault: Context, identities: Iterable[str] = ()) -> None:
        self._vault = vault
        self._given = tuple(dict.fromkeys(identities))[:_TOGETHER]
        self._known: dict[str, str] = {}

    def __call__(self, identity: str) -> str:
        """The shortest prefix of an id that no other record shares."""
        if identity not in self._known:
            ids, self._given = dict.fromkeys((identity, *self._given)), ()
            around = self._vault.index.catalog.neighbours_of(ids)
            self._known.update((identity, shortest_unambiguous(identity, others)) for identity, others in around.items())
        return self._known[identity]


def readings(vault: Context, path: str | Path) -> Iterator[tuple[str, bool]]:
    """The readings of a path, from this folder and then from the root: relative to the root, and whether it is there.

    Nothing for what leads out of the vault, or can be no path at all: too long, with a NUL, with links in a circle.
    """
    for base in (Path(), vault.root):  # the first is this process's folder, which may be gone
        try:
            full = (base / path).resolve()
            exists = full.exists()
        except (OSError, ValueError, RuntimeError):
            continue
        if full.is_relative_to(vault.root):
            yield full.relative_to(vault.root).as_posix(), exists


def candidates(vault: Context, name: str) -> Sequence[Entry]:
    """All that answers to an id, else to a prefix of one, a path, a subject's name or alias, a title, alias or file name, or
    the very text of a memory.

    A title means the newest of its revisions.
    """
    catalog = vault.index.catalog
    if not _is_text(name):
        return ()
    whole = canonical(name)
    if whole:
        return catalog.get(whole)
    prefix = as_prefix(name)
    by_prefix = catalog.by_prefix(prefix, limit=6) if prefix else ()
    if len(by_prefix) > 1 and by_prefix[0].id == by_prefix[-1].id:
        return catalog.get(by_prefix[0].id)  # all of them: of many copies the first may be anybody's
    if by_prefix:
        return by_prefix
    path = _as_path(vault, name)
    at_path = catalog.by_path(path) if path else None
    return (
        [at_path]
        if at_path
        else _subjects(vault, name) or _titled(vault, name) or _by_file_name(vault, name) or _saying(vault, name)
    )


def _by_file_name(vault: Context, name: str) -> Sequence[Entry]:
    """The note with a file name that we gave, which ends with the beginning of its id: editors complete links by it."""
    stem = name.strip().rpartition("/")[2].removesuffix(".md")
    prefix = as_prefix(stem.rpartition("-")[2]) if "-" in stem else None
    entries = vault.index.catalog.by_prefix(prefix, limit=6) if prefix else ()
    return [entry for entry in entries if entry.path.rpartition("/")[2].removesuffix(".md") == stem]


def candidates_begun(vault: Context, name: str) -> Sequence[Entry]:
    """The same, and where nothing answers to that, what has a title that begins so; for verbs that change no memory."""
    return candidates(vault, name) or _begun(vault, name)


def _begun(vault: Context, name: str) -> Sequence[Entry]:
    """The notes whose title begins with this, two words or eight characters at least."""
    normal = normal_name(name.strip().removesuffix("…").removesuffix("...")) if _is_text(name) else ""
    if len(normal) < _BEGINNING and " " not in normal:
        return ()
    catalog = vault.index.catalog
    begun = [entry for entry in catalog.titled_from(normal, _AT_MOST) if normal_name(entry.title).startswith(normal)]
    return _present(vault, begun)


def _titled(vault: Context, title: str) -> Sequence[Entry]:
    """The notes of a title, alias or file name; of an understanding and the superseded ones of its name, the active one."""
    titled = vault.index.catalog.titled(normal_name(title))
    return _present(vault, titled)


def _saying(vault: Context, text: str) -> Sequence[Entry]:
    """The memories with exactly this text, else with the title that this sentence makes: a title has no full stop, and a
    writer who names a memory by what it says has one.
    """
    saying = [entry for entry in vault.index.catalog.by_body(body_hash(text)) if entry.record_class in MEMORIES]
    sentence = first_sentence(text)
    if saying or not sentence or sentence == text.strip() or sentence != text.strip().rstrip(".。"):
        return _present(vault, saying)
    return _titled(vault, sentence)


def _present(vault: Context, entries: Sequence[Entry]) -> Sequence[Entry]:
    """The entries that nothing supersedes, if there are any."""
    if len(entries) < 2:
        return entries
    gone = supersession(vault.index.catalog)
    return [entry for entry in entries if entry.id not in gone] or entries


def _subjects(vault: Context, name: str) -> Sequence[Entry]:
    normal = normal_name(name)
    return vault.index.catalog.subject_named(normal) if _is_text(normal) else ()


def _is_text(name: str) -> bool:
    """Whether a name can be looked up: what a shell passes that is not UTF-8 reaches us as half a character."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def _as_path(vault: Context, name: str) -> str | None:
    """`wanted` as a path relative to the root, if it looks like one."""
    if not is_note(name):
        return None
    catalog = vault.index.catalog
    # As search prints it first, from whatever folder: a note of the folder around the vault begins with `../`.
    if is_around(name) and catalog.by_path(name):
        return name
    path_found = next((path for path, _ in readings(vault, name) if catalog.by_path(path)), None)
    return path_found if path_found is not None or vault.notes_folder is None else _around(vault, name)


def _around(vault: Context, name: str) -> str | None:
    """A path from this folder as that of a note in the folder around the vault."""
    try:
        full = Path(name).resolve()
    except (OSError, ValueError, RuntimeError):
        return None
    if vault.notes_folder is None or not full.is_relative_to(vault.notes_folder):
        return None
    path = f"{AROUND}{full.relative_to(vault.notes_folder).as_posix()}"
    return path if vault.index.catalog.by_path(path) else None


def page(vault: Context, named: str, *, by_name: bool = False) -> Page | None:
    """The page that a path means; None for whatever else it may be.

    With `by_name`, also the one page of that title or file name; Ambiguous with their paths for several.
    """
    name_given = named.strip()
    if not name_given or not _is_text(name_given):
        return None
    paths = [path for path, _ in readings(vault, name_given)] if name_given.endswith(".md") else []
    page_found = next((page_found for path in paths if (page_found := vault.index.catalog.page(path))), None)
    if page_found is not None or not by_name:
        return page_found
    name = link_name(name_given)
    called = [page for page in vault.index.catalog.pages() if name in (normal_name(page.title), link_name(page.path))]
    if len(called) > 1:
        shown = ", ".join(page.path for page in called[:5])
        raise Ambiguous(
            f"`{one_line(name_given, 60)}` could be {shown}{' and others' if len(called) > 5 else ''}", "type the path"
        )
    return called[0] if called else None


def _require_no_page(vault: Context, name: str) -> None:
    """Name a page as a page, to be opened as a file: search finds it, and it is no record."""
    for path, _ in readings(vault, name) if name.endswith(".md") else ():
        if vault.index.catalog.page(path):
            raise NotFound(
                f"{path} is a page, not a memory", f"open it in an editor, or {step('adopt', paths=path)} makes it one"
            )


def _require_not_shared(vault: Context, name: str) -> None:
    """Tell that a memory which recall showed is in another vault, and this verb looks here alone."""
    if ":" in name and (named := beside.split_name(vault, name)) is not None:
        message = f"`{one_line(name, 60)}` is of the vault {named[0]}, and this is done in one vault alone"
        raise NotFound(message, f"do it there: {option('vault', beside.others(vault)[named[0]])}")
    shared = vault.global_vault
    matches: Sequence[Entry] = ()
    # Whatever is wrong over there is no answer to what was asked here.
    with suppress(VaultError):
        matches = candidates(shared, name) if shared is not None else ()
    if shared is not None and matches:
        title = one_line(matches[0].title, 40)
        message = f"`{one_line(name, 60)}` ({title}) is of the global vault, and this is done in one vault alone"
        raise NotFound(message, f"do it there: {option('vault', str(shared.root))}")


def _require_no_beginning(vault: Context, name: str, classes: Collection[RecordClass] | None) -> None:
    """Tell of a memory whose title begins so: a memory to be changed is named by its id or its whole title."""
    begun = [entry for entry in _begun(vault, name) if classes is None or entry.record_class in classes]
    if begun:
        shown = ", ".join(f"{short(vault, entry.id)} ({one_line(entry.title, 40)})" for entry in begun[:5])
        message = f"`{one_line(name, 60)}` is no more than the beginning of a title"
        raise NotFound(message, f"name it by its id: {shown}{' and others' if len(begun) > 5 else ''}")


def _kinds(classes: Collection[RecordClass] | None) -> str:
    return f" as {' or '.join(classes)}" if classes else ""


def _advice(name: str) -> str:
    if 0 < len(name) < SHORTEST_PREFIX:
        return f"type at least {SHORTEST_PREFIX} characters of an id"
    return f"{step('search', query=...)} finds by text, {step('get_subjects')} lists subjects"
