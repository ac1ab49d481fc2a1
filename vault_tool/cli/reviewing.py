"""Commands of a person alone: `review` what waits, answer for `consent`, and `forget` what shall not be remembered."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import click
from msgspec.structs import replace

from vault_tool.cli import output
from vault_tool.cli.blocks import Block, Body, Heading, Table, detail_fields, fields, table
from vault_tool.cli.names import MEMORY, takes
from vault_tool.cli.options import Call, Short, command, writes
from vault_tool.cli.saved import commit_of, consent_table, named_elsewhere, problem_table, short_ids
from vault_tool.cli.setup import in_editor
from vault_tool.errors import Exit, Refused, UsageError, VaultError
from vault_tool.features.capture.session_files import INSTEAD
from vault_tool.features.conflicts import settling
from vault_tool.features.conflicts.settling import Settled, Unsettled
from vault_tool.features.erasing import forgetting, purging
from vault_tool.features.erasing.forgetting import Forgotten
from vault_tool.features.erasing.purging import Purged
from vault_tool.features.exports import exporting
from vault_tool.features.people import rights
from vault_tool.features.people.rights import ForgottenUser
from vault_tool.features.review import consents, reviewing
from vault_tool.features.review.consents import Consented, Consents
from vault_tool.features.review.reviewing import Reviewed
from vault_tool.features.review.what_waits import Waiting
from vault_tool.util.text import counted, one_line
from vault_tool.vault.context import Context
from vault_tool.vault.person import at_terminal, is_person
from vault_tool.vault.two_texts import COPY, MERGE, TwoTexts

AS_USER = click.option(
    "--as-user", default="", metavar="ID", help="Answer as this person, for what is about them; a product says who it is."
)

SETTLING_KEYS = "t this   o the other   b both   e edit   s skip   q quit"
INSTEAD_KEYS = "a accept   u instead of that memory   r refuse   e edit   s skip   q quit"
KEYS = "a accept   r refuse   e edit   s skip   q quit"


@command("review", "vt review", "vt review --accept a1b2c3 --refuse 5f0c2d", "vt review --edit a1b2c3", "vt review --list")
@click.option("--accept", multiple=True, metavar="ID", help="Put a waiting memory into the vault, as its file is now.")
@click.option("--refuse", multiple=True, metavar="ID", help="Refuse a waiting memory; it lies in the bin for 30 days.")
@click.option("--instead", multiple=True, metavar="ID", help="Accept one in place of the memory that it is nearly the same as.")
@click.option("--restore", multiple=True, metavar="ID", help="Bring a refused memory back from the bin, to wait again.")
@click.option("--bin", "binned", is_flag=True, help="List what was refused in the last 30 days.")
@click.option("--edit", "edited", default="", metavar="ID", help="Open a waiting memory in your editor; it goes on waiting.")
@click.option("--all", "everything", is_flag=True, help="Accept all that can be accepted.")
@click.option("--join", is_flag=True, help="Let an understanding supersede what took its place meanwhile, too.")
@click.option(
    "--this", "these", multiple=True, metavar="KEY", help="Keep the one of two texts that is in the note, or the first."
)
@click.option("--that", "those", multiple=True, metavar="KEY", help="Keep the other of two texts.")
@click.option("--both", multiple=True, metavar="KEY", help="Keep both; a conflict copy is merged.")
@click.option("--list", "listed", is_flag=True, help="Only list what waits and what is to be settled; it only reads.")
@AS_USER
@writes
def review(
    call: Call,
    accept: tuple[str, ...],
    refuse: tuple[str, ...],
    instead: tuple[str, ...],
    restore: tuple[str, ...],
    binned: bool,
    edited: str,
    everything: bool,
    join: bool,
    these: tuple[str, ...],
    those: tuple[str, ...],
    both: tuple[str, ...],
    listed: bool,
    as_user: str,
) -> Exit:
    """Look at what waits for you, and decide.

    In a terminal each is shown with its context and decided by one key. Nothing that waits is in the vault, in git, or
    in any answer; its file is in _local/inbox/, where you may also edit it. Refused memories lie in _local/bin/ for 30 days,
    but for what looks like a secret, was forgotten, or a person refused consent to. Beside it stands what two machines
    wrote: copies that a sync tool left, and notes that keep two texts of one place. Only a person may decide.
    """
    with call.open_vault() as vault:
        settled = [(key, keep) for keep, keys in (("this", these), ("that", those), ("both", both)) for key in keys]
        if settled:
            if accept or refuse or instead or restore or everything or edited:
                raise UsageError(
                    "what waits and what is to be settled are decided one after the other", "give one kind at a time"
                )
            return max(call.emit(settling.settle_texts(vault, key, keep), _settled, vault) for key, keep in settled)
        if listed and not is_person(vault):
            return call.emit(settling.unsettled(vault), _unsettled, vault)
        if edited:
            if as_user:
                raise UsageError("a person accepts or refuses what is about them", "the owner edits it: leave --as-user out")
            if conflict := settling.find_conflict(vault, edited):
                return call.emit(_rewritten(vault, conflict), _settled, vault)
            return call.emit(reviewing.edit_waiting(vault, edited, in_editor), _waiting)
        done = reviewing.review(
            vault,
            accept=accept,
            refuse=refuse,
            instead=instead,
            everything=everything,
            join=join,
            as_user=as_user,
            restore=restore,
            bin=binned,
        )
        has_choice = as_user or call.json or accept or refuse or instead or restore or binned or everything or listed
        asks = not has_choice and at_terminal()
        if asks and (done.results or done.unsettled):
            if _one_by_one(call, vault, done.results, join):
                _each_settled(call, vault, done.unsettled)
            return Exit.DONE
        return call.emit(done, _in_bin if binned else _reviewed, vault)


def _flags(states: Mapping[str, str]) -> Callable[[Callable[..., Exit]], Callable[..., Exit]]:
    """An option for each state."""

    def decorate(function: Callable[..., Exit]) -> Callable[..., Exit]:
        for state, meaning in reversed(list(states.items())):
            function = click.option(f"--{state}", is_flag=True, help=meaning)(function)
        return function

    return decorate


_STATES = {
    "given": "It may be kept.",
    "refused": "It may not: no answer tells it.",
    "withdrawn": "It may not any more: no answer tells it.",
    "asked": "The person was asked.",
}


@command("consent", "vt consent", "vt consent a1b2c3 --withdrawn", "vt consent a1b2c3 --given --as-user ann --turn t7")
@click.argument("id", default="", type=MEMORY, metavar="ID", help="The memory; without it, all that were asked about.")
@_flags(_STATES)
@AS_USER
@click.option("--turn", default="", metavar="ID", help="The turn of the conversation in which it was said.")
@click.option("--reason", default="", metavar="TEXT", help="Why, in a sentence.")
@writes
def consent(call: Call, id: str, as_user: str, turn: str, reason: str, **states_given: bool) -> Exit:
    """Record if a person wants a memory kept.

    A memory that is refused or withdrawn stays a note as it is, and is in no answer, page or packet until consent is given; the
    owner alone sees it by its id, and may erase it with `vt forget`. An agent may only say that it asked.
    """
    states = [state for state in _STATES if states_given[state]]
    if len(states) > 1:
        raise UsageError(f"--{states[0]} and --{states[1]} exclude each other", "say one of them")
    with call.open_vault() as vault:
        if id and states:
            consented = consents.consent(vault, id, states[0], as_user=as_user, turn=turn, reason=reason)
            return call.emit(consented, _consented, vault.with_withheld())
        if turn or reason or (id and not states):
            which = " or ".join(f"--{state}" for state in _STATES)
            raise UsageError("nothing is said of the consent", f"say {which}" if id else "name the memory first")
        listed = consents.list_consents(vault, state=states[0] if states else "", as_user=as_user)
        return call.emit(listed, _consents, vault.with_withheld())


@command(
    "forget",
    "vt forget a1b2c3 --dry-run",
    "vt forget a1b2c3 --yes",
    "vt forget a1b2c3 --purge --dry-run",
    "vt forget --all-of ann --dry-run",
)
@click.argument("ids", nargs=-1, type=MEMORY, metavar="ID...", help="The memories.")
@click.option("--all-of", default="", metavar="USER", help="All that is about this person, instead of single memories.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Only say what would be erased.")
@click.option("--purge", is_flag=True, help="Write git's history anew without it, too: every branch, tag, stash and message.")
@click.option(
    "--despite", multiple=True, type=click.Choice(tuple(purging.DESPITE)), help="Purge although there are these; may be repeated."
)
def forget(
    call: Call, ids: tuple[str, ...], all_of: str, yes: bool, dry_run: bool, purge: bool, despite: tuple[str, ...]
) -> Exit:
    """Erase a memory, and refuse its return.

    Its file and links to it are removed in a commit; its words go from journals, indexes and this machine's own files.
    Its id alone stays, by which it is refused when a pull or an import brings it back. History keeps the text, unless
    --purge writes it anew: all commits from the first that held it get new ids, and reflogs go. Remotes, clones and
    backups keep the old ones. With --all-of everything about one person goes at once.
    """
    if despite and not purge:
        raise UsageError("--despite says what a purge does not stop at", "vt forget ID --purge --despite remotes")
    if bool(ids) == bool(all_of):
        message = "single memories and all of a person's exclude each other" if ids else "nothing is named to be erased"
        raise UsageError(message, "vt forget ID, or vt forget --all-of USER")
    if not purge and len(ids) > 1:
        raise UsageError("one memory is forgotten at a time", "several go together with --purge")
    with call.open_vault() as vault:
        # Told from what the verb gives, so that what is asked about is what is done.
        erase, shown = _erasing(vault, ids, all_of, purge, despite)
        # Without a terminal the verb itself refuses, unless this machine's settings answer for a person.
        if not (yes or dry_run) and at_terminal():
            meant = erase(True)
            if call.json:
                named = meant.id if isinstance(meant, Forgotten) else counted(len(meant.ids), "memory", "memories")
                raise Refused(f"{named} would be erased, and --json asks nothing", "look with --dry-run, or leave --json away")
            call.emit(meant, shown, vault)
            if not click.confirm("Erase it?", err=True):
                output.say("nothing was erased")
                return Exit.DONE
        return call.emit(erase(dry_run), shown, vault)


_Erase = Callable[[bool], Forgotten | ForgottenUser | Purged]


def _erasing(
    vault: Context, ids: tuple[str, ...], all_of: str, purge: bool, despite: tuple[str, ...]
) -> tuple[_Erase, Callable[[Any, Short], Iterator[Block]]]:
    """The verb that erases (or only previews, with True), and the rendering of its result."""
    if all_of:
        return lambda look: rights.forget_user(vault, all_of, purge=purge, despite=despite, dry_run=look), _forgotten_user
    if purge:
        return lambda look: purging.purge(vault, ids, despite=despite, dry_run=look), _purged
    return lambda look: forgetting.forget(vault, ids[0], dry_run=look), _forgotten


@command("export", "vt export ~/ann --all-of ann", "vt export jsonl ~/whole.jsonl", "vt export agents-md CLAUDE.md")
@click.argument(
    "folder", type=click.Path(), required=False, metavar="DIR", help="A folder that is not there yet; or the name of a form."
)
@click.argument("file", type=click.Path(), required=False, metavar="[FILE]", help="The file or folder of that form.")
@click.option("--all-of", default="", metavar="USER", help="The person; --user does as well.")
@takes(
    exporting.export_as, "since", "subject_names", "with_hidden", "force", "budget",
    budget={"metavar": "BYTES", "type": click.IntRange(1)},
)  # fmt: skip
def export(
    call: Call, folder: str | None, file: str | None, all_of: str, since: str | None, subject_names: tuple[str, ...],
    with_hidden: bool, force: bool, budget: int | None,
) -> Exit:  # fmt: skip
    """Write out one person's or the whole memory.

    With `--all-of` all that is about one person: their notes as they are, and records.json: judgements of these, consent,
    what waits for review, and the turns that this machine keeps. Nothing that is about anybody else.

    With a form and a file instead: `jsonl` has every field of the whole memory, for `vt import jsonl`; `server-memory` is
    the memory server's graph; `agents-md` puts what you or people you trust wrote or reviewed between two markers of
    AGENTS.md (or of the file that you name), and touches nothing else of it. With a folder: `claude-code` is Claude Code's
    own memory folder, `okf` the Open Knowledge Format 0.2.
    """
    if folder is None:
        forms = ", ".join(exporting.FORMS)
        raise UsageError(f"name a folder and a person, or a form ({forms})", "`vt export jsonl ~/whole.jsonl`")
    if file is None and not (all_of or call.user) and folder in exporting.FORMS:
        if folder != exporting.AGENTS_MD:
            kind, example = ("folder", "~/memory") if folder in exporting.FOLDERS else ("file", "~/memory.jsonl")
            raise UsageError(f"{folder} is written to a {kind}, which is not named", f"`vt export {folder} {example}`")
        file = "AGENTS.md"
    if file is not None:
        with call.open_vault() as vault:
            done = exporting.export_as(
                vault, folder, file, since=since, subject_names=subject_names, with_hidden=with_hidden, force=force,
                budget=budget,
            )  # fmt: skip
            return call.emit(done, _exported_as, vault)
    with replace(call, user="").open_vault() as vault:
        return call.emit(rights.export_user(vault, all_of or call.user, folder), _exported, vault)


def _exported_as(done: exporting.ExportedAs, short: Short) -> Iterator[Block]:
    yield f"written to {done.path} as {done.form}" if done.changed else f"{done.path} says so already"
    yield fields(
        *done.written.items(),
        ("renamed", done.renamed),
        ("left out", [f"{reason} {count}" for reason, count in sorted(done.left_out.items())]),
    )


def _one_by_one(call: Call, vault: Context, results: tuple[Waiting, ...], join: bool) -> bool:
    """Show each waiting memory and do what its key says; what cannot be done is said, and the memory goes on waiting.

    False where a person quits.
    """
    for number, memory in enumerate(results, 1):
        output.say(f"{number} of {len(results)}")
        call.emit(memory, _waiting)
        if not _asked(INSTEAD_KEYS if INSTEAD in memory.context else KEYS, partial(_decided, call, vault, memory, join=join)):
            return False
    return True


def _each_settled(call: Call, vault: Context, results: Sequence[TwoTexts]) -> None:
    """The same for what two machines wrote; settling one copy may leave single places to be settled after it."""
    seen: set[str] = set()
    while left := [conflict for conflict in results if conflict.key not in seen]:
        conflict = left[0]
        seen.add(conflict.key)
        output.say(f"{len(left)} to be settled")
        call.emit(conflict, _two_texts)
        if not _asked(SETTLING_KEYS, partial(_settled_by_key, call, vault, conflict)):
            return
        results = settling.unsettled(vault).results


def _asked(keys: str, decided: Callable[[str], bool]) -> bool:
    """Ask for keys until one decided it, or it is skipped; False where a person quits."""
    while True:
        output.say(keys)
        key = click.getchar().lower()
        if key in ("q", "s"):
            return key == "s"
        try:
            if decided(key):
                return True
        except VaultError as fault:
            output.say(output.error_line(fault.message, fault.hint))


def _settled_by_key(call: Call, vault: Context, conflict: TwoTexts, key: str) -> bool:
    side = {"t": "this", "o": "that", "b": "both"}.get(key)
    if side is None and key != "e":
        raise UsageError(f"`{key}` means nothing here", SETTLING_KEYS)
    call.emit(
        settling.settle_texts(vault, conflict.key, side) if side else _rewritten(vault, conflict),
        partial(_settled, rest=False),
        vault,
    )
    return True


def _rewritten(vault: Context, conflict: TwoTexts) -> Settled:
    """Let a person write another text in an editor, from both."""
    try:
        text = click.edit(settling.text_to_edit(conflict), extension=".md", require_save=True)
    except click.ClickException as fault:
        raise UsageError(fault.format_message().rstrip("."), "set EDITOR to a program that waits until you are done") from fault
    if text is None:
        raise UsageError("nothing was saved, so nothing was settled", "keep this, that or both")
    return settling.settle_texts(vault, conflict.key, text=text if conflict.what in (COPY, MERGE) else text.rstrip("\n"))


def _decided(call: Call, vault: Context, memory: Waiting, key: str, join: bool) -> bool:
    """Do what a key says of one memory; whether it does not wait any more."""
    if key == "e":
        call.emit(reviewing.edit_waiting(vault, memory.id or memory.path, in_editor), _waiting)
        return False
    named = (memory.id or memory.path,)
    if key == "a":
        call.emit(reviewing.review(vault, accept=named, join=join), partial(_reviewed, rest=False), vault)
    elif key == "u" and INSTEAD in memory.context:
        call.emit(reviewing.review(vault, instead=named, join=join), partial(_reviewed, rest=False), vault)
    elif key == "r":
        call.emit(reviewing.review(vault, refuse=named), partial(_reviewed, rest=False), vault)
    else:
        raise UsageError(f"`{key}` means nothing here", KEYS)
    return True


def _reviewed(done: Reviewed, short: Short, rest: bool = True) -> Iterator[Block]:
    for memory in done.accepted:
        yield f"{short(memory.id)}  {memory.title}: accepted"
        replaced = ", ".join(short(old) for old in memory.superseded)
        yield fields(("new subjects", memory.subjects_created), ("in place of", replaced), ("path", memory.path))
    for identity in done.refused:
        lies = identity in done.binned
        done_with = f"; `vt review --restore {identity[:6]}` brings it back" if lies else " and deleted"
        yield f"{identity[:6]}: kept, the tombstone is gone" if identity in done.kept else f"{identity[:6]}: refused{done_with}"
    yield from (f"{identity[:6]}: waits again" for identity in done.restored)
    yield fields(("commit", commit_of(done)))
    if rest:
        rows = [
            (reviewing.short_in(done.results, memory.id), memory.type, memory.title, memory.reason, memory.path)
            for memory in done.results
        ]
        yield table(("id", "type", "title", "why it waits", "file"), rows, empty="nothing waits for review")
        if done.unsettled:
            yield _rows(done.unsettled)


def _rows(results: Sequence[TwoTexts]) -> Table:
    """The texts that two machines wrote, a line each."""
    rows = []
    for conflict in results:
        this, that = (
            (_first_other(conflict.this, conflict.that), _first_other(conflict.that, conflict.this))
            if conflict.what in (COPY, MERGE)
            else (conflict.this, conflict.that)
        )
        place = {COPY: "conflict copy", MERGE: "left by git"}.get(conflict.what, conflict.place)
        rows.append(
            (
                conflict.key,
                *(one_line(text, 36) for text in (conflict.title, place, this, that)),
                (conflict.that_when or conflict.when)[:10],
            )
        )
    return table(("key", "note", "what", "this", "that", "written"), rows, empty="nothing is to be settled")


def _first_other(text: str, beside: str) -> str:
    """The first line in which a text differs from another."""
    known = set(beside.splitlines())
    return next((line for line in text.splitlines() if line.strip() and line not in known), "")


def _unsettled(unsettled: Unsettled, short: Short) -> Iterator[Block]:
    yield _rows(unsettled.results)


def _two_texts(conflict: TwoTexts, short: Short) -> Iterator[Block]:
    yield Heading(conflict.title)
    yield fields(
        ("key", conflict.key), ("note", conflict.path), ("conflict copy" if conflict.what == COPY else "place", conflict.place),
        ("written", conflict.that_when), ("committed by", conflict.who), ("at", conflict.when),
    )  # fmt: skip
    if conflict.by_hand:
        yield "edited by hand in this conflict, and in no history yet; `e` goes on from it:"
        yield Body(conflict.by_hand)
    if conflict.what in (COPY, MERGE) and conflict.this and conflict.that:
        lines = difflib.unified_diff(conflict.this.splitlines(), conflict.that.splitlines(), "this", "that", lineterm="", n=2)
        yield Body("\n".join(lines))
        return
    for side, text in (("this", conflict.this), ("that", conflict.that)):
        yield f"{side}:" if text or conflict.what != MERGE else f"{side}: the file is gone on this side"
        yield Body(text)


def _settled(done: Settled, short: Short, rest: bool = True) -> Iterator[Block]:
    yield f"{done.title}: {'both kept' if done.kept == 'both' else f'{done.kept} kept'}"
    yield from done.told
    yield fields(("path", done.path), ("commit", commit_of(done)))
    if rest and done.results:
        yield _rows(done.results)


def _in_bin(done: Reviewed, short: Short) -> Iterator[Block]:
    yield from (f"{identity[:6]}: waits again" for identity in done.restored)
    rows = [
        (reviewing.short_in(done.results, memory.id), memory.type, memory.title, memory.refused_at) for memory in done.results
    ]
    yield table(("id", "type", "title", "refused"), rows, empty="nothing was refused in the last 30 days")


def _consented(done: Consented, short: Short) -> Iterator[Block]:
    withheld = ": told to nobody" if done.withheld else ""
    yield f"{short(done.id)}  {done.title}: {done.state or 'nobody was asked'}{withheld}"
    yield consent_table(done.records)
    yield fields(("made from it", short_ids(done.citing, short)), ("commit", commit_of(done)))


def _consents(consents: Consents, short: Short) -> Iterator[Block]:
    rows = [
        (short(consent.id), consent.state or "", consent.records[-1].by, consent.records[-1].at[:10], consent.user, consent.title)
        for consent in consents.results
    ]
    yield table(("id", "consent", "by", "on", "about", "title"), rows, empty="nobody was asked for consent")


def _waiting(memory: Waiting, short: Short) -> Iterator[Block]:
    yield Heading(memory.title)
    author = ", ".join(part for part in (memory.origin, memory.model, memory.session, memory.user) if part)
    replaced = ", ".join(short(old) for old in memory.supersedes)
    yield fields(
        ("id", short(memory.id)), ("type", memory.type), ("subjects", memory.subjects), ("from", author), ("since", memory.since),
        ("waits because", memory.reason), ("in place of", replaced), *memory.context.items(), ("file", memory.path),
    )  # fmt: skip
    yield Body(memory.content)
    yield detail_fields(memory.details, short)
    if memory.problems:
        yield problem_table(memory.problems, "")


def _forgotten(done: forgetting.Forgotten, short: Short) -> Iterator[Block]:
    title = f" ({done.title})" if done.title else ""
    yield f"{done.id}{title}: {'would be erased' if done.dry_run else 'erased'}"
    yield fields(
        ("files", done.removed), ("links", done.links_removed), ("redacted", done.redacted), ("commit", commit_of(done)),
    )  # fmt: skip
    if done.subjects_removed:
        yield fields(("subjects", done.subjects_removed))
    if done.citing:
        yield table(
            ("id", "refers by", "title"), [(short(citation.id), citation.field, citation.title) for citation in done.citing]
        )
        yield "These still refer to it, and may repeat it: that is yours to mend."
    if done.in_history:
        # By its whole id: a short one means nothing once the memory is gone.
        yield f"Earlier commits, and every clone of them, still hold the text; `vt forget {done.id} --purge` writes history anew."


def _forgotten_user(done: ForgottenUser, short: Short) -> Iterator[Block]:
    yield f"{counted(len(done.ids), 'memory', 'memories')}: {'would be erased' if done.dry_run else 'erased'}"
    yield fields(
        ("files", done.removed), ("links", done.links_removed), ("subjects", done.subjects_removed), ("redacted", done.redacted),
        ("waiting for review", done.waiting), ("refused lately", done.refused), ("turns", done.turns),
        ("commit", commit_of(done)), ("receipt", done.receipt),
    )  # fmt: skip
    if done.after is not None:
        left = done.after
        counts = (("memories", left.memories), ("waiting", left.waiting), ("refused", left.refused), ("turns", left.turns))
        counts_text = ", ".join(f"{count} {name}" for name, count in counts if count)
        yield f"left of them: {counts_text or 'nothing'}"
    yield from named_elsewhere(done.elsewhere, done.elsewhere_count, short)
    if done.purged is not None:
        yield from _purged(done.purged, short)
    elif done.citing:
        yield table(
            ("id", "refers by", "title"), [(short(citation.id), citation.field, citation.title) for citation in done.citing]
        )
        yield "These still refer to it, and may repeat it: that is yours to mend."
    if done.in_history:
        yield "Earlier commits, and every clone of them, still hold the texts; --purge writes history anew."


def _exported(done: rights.Exported, short: Short) -> Iterator[Block]:
    yield f"{done.folder}: all that is about {done.user}"
    yield fields(
        ("notes", done.notes), ("judgements", done.signals), ("waiting for review", done.waiting),
        ("refused lately", done.refused), ("turns", done.turns),
    )  # fmt: skip
    yield from named_elsewhere(done.elsewhere, done.elsewhere_count, short)


def _purged(done: Purged, short: Short) -> Iterator[Block]:
    yield f"{', '.join(done.ids)}: {'would be purged' if done.dry_run else 'purged'}"
    moved = [
        f"{ref.ref} {ref.before[:10]}{' -> ' + (ref.after[:10] or 'dropped') if not done.dry_run else ''}" for ref in done.refs
    ]
    yield fields(
        ("titles", done.titles), ("commits with new ids", done.commits),
        ("texts", done.texts), ("messages", done.messages), ("refs", moved),
        ("stashes", done.stashes), ("signatures lost", done.signed), ("other work trees", done.work_trees),
        ("remotes", done.remotes), ("objects looked through", done.objects), ("receipt", done.receipt),
    )  # fmt: skip
    if done.stops:
        yield table(("--despite", "it stops, for"), list(done.stops.items()))
    if done.citing:
        yield table(
            ("id", "refers by", "title"), [(short(citation.id), citation.field, citation.title) for citation in done.citing]
        )
    if done.left:
        yield fields(("files that repeat it", done.left))
    if done.citing or done.left:
        yield "These still refer to it, or repeat it: that is yours to mend."
    if done.remotes:
        names = " ".join(done.remotes[:1])
        yield f"{names} keeps the old history until `git push --force --all {names}` and `git push --force --tags {names}`."
    yield "Clones and backups keep it, and may bring it back: make clones anew. Reflogs and what nothing reached go with it."
