"""`purge`: a person has memories erased from git's history too, which is written anew without them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress

from msgspec import field
from msgspec.structs import replace

from vault_tool.consolidation import ledger
from vault_tool.errors import EditRefused, GitError, Refused, UsageError, VaultError
from vault_tool.features.erasing.erasing import Citing, Erased, Versions, erased, no_reentry, resolve_target, traces_of
from vault_tool.files import git, layout, local_trust, writer
from vault_tool.files.episode_text import redacted_episode
from vault_tool.files.frontmatter import Set
from vault_tool.files.git import rewriting
from vault_tool.files.layout import FileKind
from vault_tool.files.parse import Parsed, parse
from vault_tool.files.signal_lines import redacted_signals
from vault_tool.generate.escape import link_path
from vault_tool.model.ids import canonical
from vault_tool.model.types import STORY_EDGES, RecordClass
from vault_tool.util.hints import option, shell, step
from vault_tool.util.structs import Struct
from vault_tool.util.text import counted, one_line
from vault_tool.vault import person
from vault_tool.vault.context import Context
from vault_tool.vault.operation import writing
from vault_tool.vault.pending import held
from vault_tool.vault.request import of_the_whole, verb
from vault_tool.vault.store_interface import Traces

# What a purge stops at until it is told to go on, and why.
DESPITE = {
    "edits": "tracked files differ from the last commit",
    "project": "the repository keeps more than the vault, or is a submodule of another: its other commits get new ids too",
    "remotes": "remotes keep the old history until it is pushed over, and clones of them for good",
    "signatures": "commits or tags are signed, and their new ones will not be",
}

_PURGE = "purge"
_ID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HEX = re.compile("[0-9a-fA-F]{4,64}")
_JOURNALS = (FileKind.EPISODE, FileKind.SIGNALS)
_HELD_BY = 100
# A commit's subject of so many characters is looked for in what other messages (of stashes, of merges) say.
_SUBJECT_TOLD = 8


class Moved(Struct, kw_only=True):
    """A ref that has another commit now; `after` is empty where it was dropped, and beforehand (`dry_run`)."""

    ref: str
    before: str
    after: str = ""


class Purged(Struct, kw_only=True):
    """The changes a purge made to history, or would make (`dry_run`), without a word of the erased text.

    `titles` are told beforehand alone. `commits` get new ids, `texts` and `messages` are taken out or redacted; `objects`
    were read afterwards to see that nothing is left of it. `stops` says what has to be allowed (`despite`) first. `left`
    are files that repeat it in words of their own, `citing` notes that refer to it: a person's to mend.
    """

    ids: tuple[str, ...]
    titles: tuple[str, ...] = ()
    commits: int = 0
    texts: int = 0
    messages: int = 0
    refs: tuple[Moved, ...] = ()
    stashes: int = 0
    work_trees: tuple[str, ...] = ()
    remotes: tuple[str, ...] = ()
    signed: int = 0
    stops: Mapping[str, str] = field(default_factory=dict)
    objects: int = 0
    left: tuple[str, ...] = ()
    citing: tuple[Citing, ...] = ()
    receipt: str = ""
    warnings: tuple[str, ...] = ()
    dry_run: bool = False


class _PurgePlan(Struct):
    """The changes to make in which history, of so many `objects`.

    `left` are files that repeat the memories and stay as they are, `strays` objects that do and that nothing reaches.
    """

    rewrite: rewriting.Rewrite
    history: rewriting.ReachableHistory
    left: frozenset[str]
    signed: int
    strays: int
    objects: int


@verb
@of_the_whole
def purge(vault: Context, memory_ids: Sequence[str], *, despite: Sequence[str] = (), dry_run: bool = False) -> Purged:
    """Erase memories from the vault, as `forget` does, and from every commit, branch, tag, stash and message of its repository.

    Refused until `despite` allows it where tracked files have `edits`, where there are `remotes`, where the repository is
    a `project` with more in it than the vault, and where `signatures` would be lost. Copies elsewhere (remotes, clones,
    backups) keep the old history. With `dry_run` nothing changes. Raises Refused where no person asks.
    """
    return purged(person.acting(vault, "purge"), memory_ids, despite, dry_run=dry_run)


def purged(
    vault: Context,
    memory_ids: Sequence[str],
    despite: Sequence[str],
    *,
    dry_run: bool,
    first: Callable[[], object] = lambda: None,
) -> Purged:
    """A purge that does `first` what belongs to it, once nothing can refuse it any more."""
    if unknown := sorted({*despite} - DESPITE.keys()):
        raise UsageError(f"a purge does not stop at `{one_line(unknown[0], 40)}`", f"it stops at {', '.join(DESPITE)}")
    if not memory_ids:
        raise UsageError("no memory is named", f"for example {step('purge', memory_ids=...)}")
    repo = vault.require_repo()
    with held(vault, "purge"):
        return _purged(vault, repo, memory_ids, tuple(despite), dry_run, first)


def finish(vault: Context) -> None:
    """Finish what a killed process began to forget or to purge; left to the next command where that cannot be now."""
    owner = vault.as_(origin="owner").with_withheld()
    # Nobody waits for a process that is in the middle of it.
    with suppress(VaultError), writer.lock(vault.root, 0, "forget"):
        begun = {
            identity: how.split()
            for identity, how in vault.local.forgetting().items()
            if identity not in vault.ids_being_forgotten
        }
        if forgotten := [identity for identity, how in begun.items() if not how]:
            with no_reentry(vault, forgotten), writing(owner, "forget") as op:
                erased(op, dict(resolve_target(owner, identity) for identity in forgotten))
            vault.local.end_forgetting(forgotten)
        if from_history := [identity for identity, how in begun.items() if how]:
            despite = sorted({reason for identity in from_history for reason in begun[identity] if reason in DESPITE})
            with no_reentry(vault, from_history):
                purged(owner, from_history, despite, dry_run=False)  # a person began it


def _require_rewritable(repo: git.Repo) -> None:
    """Refuse where git has unfinished work, cannot commit, or history cannot be written anew."""
    git.require_free(repo, "history is not written anew now")
    if git.head(repo).branch is None or git.identity(repo) is None:
        why = "HEAD is on no branch" if git.identity(repo) else "git does not know who you are"
        raise GitError(
            f"it cannot be committed that they are erased: {why}",
            f"{shell('git switch BRANCH')}, or {shell('git config --global user.email you@example.org')}",
        )
    if hindrance := rewriting.hindrance(repo):
        raise Refused(f"history cannot be written anew: {hindrance[0]}", hindrance[1])


def _purged(
    vault: Context,
    repo: git.Repo,
    named: Sequence[str],
    despite: tuple[str, ...],
    dry_run: bool,
    first: Callable[[], object],
) -> Purged:
    _require_rewritable(repo)
    with writing(vault, "purge"):
        targets = dict(resolve_target(vault, name) for name in named)
    versions = _versions(vault, repo, targets)
    traces = traces_of(vault, targets, [], versions)
    plan = _planned(vault, repo, traces)
    preview = _purge_preview(repo, tuple(targets), plan, despite)
    if dry_run:
        meaning = _erased(vault, targets, versions, dry_run=True)
        return replace(preview, titles=meaning.titles, citing=meaning.citing, dry_run=True)
    if preview.stops:
        stop, why = next(iter(preview.stops.items()))
        anyway = option("despite", [*despite, *preview.stops])
        raise Refused(f"nothing was purged: {why} ({stop})", f"look with {option('dry_run', True)}; all the same: {anyway}")
    first()
    with no_reentry(vault, targets):
        done = _erased(vault, targets, versions, how=" ".join((_PURGE, *despite)))
        if done.attention:
            raise GitError(f"erased from the vault, and from history not yet: {done.reason}", "the next command goes on with it")
        # What the erasing committed is history by now, too.
        plan = _planned(vault, repo, traces)
        current = rewriting.tree_blobs(repo, repo.work_tree)
        if unpurged := sorted(min(plan.history.paths[oid]) for oid in plan.rewrite.blobs.keys() & current):
            raise GitError(f"{unpurged[0]} still holds it, and stays as it is", "commit or mend it, and purge again")
        with local_trust.rewritten(vault.root):
            moved = rewriting.rewrite(repo, plan.rewrite, plan.history, lambda data: _repeats(traces, data))
        receipt = _receipt(vault, tuple(targets), plan, moved.refs)
        _follow(vault, moved.commits)
        rewriting.erase(repo)
        after = _planned(vault, repo, traces)
        vault.index.refresh(full=True, confirm=True)
        vault.local.end_forgetting(targets)
    if count := after.strays + len(after.rewrite.blobs) + len(after.rewrite.messages):
        hint = "another program may write here: end it, and purge again"
        raise GitError(f"git still keeps {counted(count, 'object')} of it", hint)
    return replace(
        preview,
        refs=tuple(Moved(ref=ref, before=was, after=now) for ref, (was, now) in moved.refs.items()),
        objects=after.objects,
        left=tuple(sorted(after.left)),
        receipt=receipt,
        citing=done.citing,
        warnings=done.warnings,
    )


def _erased(
    vault: Context, ids: Iterable[str], versions: Mapping[str, Versions], *, how: str = "", dry_run: bool = False
) -> Erased:
    with writing(vault, "forget") as op:
        entries = {identity: list(vault.index.catalog.get(identity)) for identity in ids}
        return erased(op, entries, versions, how=how, dry_run=dry_run)


def _versions(vault: Context, repo: git.Repo, ids: Iterable[str]) -> dict[str, Versions]:
    """Every text that git has of these memories and of the links to them, reachable or not, with a path that it had."""
    versions: dict[str, list[tuple[str, bytes]]] = {identity: [] for identity in ids}
    paths = rewriting.history(repo).paths
    for blob in rewriting.objects(repo, ("blob",)):
        for identity in versions.keys() & {text.decode() for text in _ID.findall(blob.data.lower())}:
            path = next((name for name in map(repo.relative, sorted(paths.get(blob.oid, ()))) if name), f"{blob.oid}.md")
            parsed = parse(path, blob.data, vault.settings.types)
            if _of(parsed, (identity,)) and parsed.head.get("type") not in STORY_EDGES:
                versions[identity].append((path, blob.data))
    return {identity: tuple(texts) for identity, texts in versions.items()}


def _of(parsed: Parsed, ids: Collection[str]) -> bool:
    """Whether a text is a memory's own, or a link's to it."""
    return any(canonical(str(parsed.head.get(name) or "")) in ids for name in ("id", "from_id", "to_id"))


def _planned(vault: Context, repo: git.Repo, traces: Traces) -> _PurgePlan:
    """Look through all objects: what repeats the memories, and what shall be there instead."""
    history = rewriting.history(repo)
    current = rewriting.tree_blobs(repo, repo.work_tree)
    blobs: dict[str, bytes | None] = {}
    commit_messages: dict[str, bytes] = {}
    left: set[str] = set()
    strays, count = 0, 0
    reached = {*history.parents, *history.roots.values()}
    for git_object in rewriting.objects(repo):
        count += 1
        if git_object.kind != "blob":
            if git_object.oid in reached:
                commit_messages[git_object.oid] = git_object.data
            else:
                strays += _repeats(traces, git_object.data)
        elif git_object.oid not in history.paths:
            strays += git_object.oid not in current and _repeats(traces, git_object.data)
        else:
            names = sorted(history.paths[git_object.oid])
            inside = [path for path in map(repo.relative, names) if path]
            after = _instead(vault, inside[0], git_object.data, traces, git_object.oid in current) if inside else git_object.data
            if after != git_object.data:
                blobs[git_object.oid] = after
            elif _repeats(traces, git_object.data) and names[0] not in map(repo.inside, layout.MADE_PAGES):
                left.add(names[0])
    messages = _messages(commit_messages, traces)
    rewrite = rewriting.Rewrite(blobs=blobs, messages=messages)
    changed = {*rewrite.commits(history), *messages}
    signed = sum(oid in changed and (b"\ngpgsig" in data or b"-----BEGIN " in data) for oid, data in commit_messages.items())
    return _PurgePlan(rewrite, history, frozenset(left), signed, strays, count)


def _instead(vault: Context, path: str, data: bytes, traces: Traces, current: bool) -> bytes | None:
    """The replacement of a file's text in history: redacted, nothing, or itself. Other notes of HEAD are for a person to mend."""
    kind = layout.file_kind(path)
    if kind is FileKind.EPISODE:
        data = redacted_episode(path, data, traces.paths, traces.mentioned_in)
    elif kind is FileKind.SIGNALS:
        data = redacted_signals(data, traces.ids, traces.repeated_in)
    if kind in _JOURNALS:
        return data
    text = data.decode("utf-8", "replace")
    if path in layout.MADE_PAGES or path.split("/")[0] in layout.UNTRACKED:
        shows = traces.mentioned_in(text) or any(link_path(of) in text for of in traces.paths)
        return None if shows and not current else data
    known = any(ledger.known(identity).encode() in data.lower() for identity in traces.ids) or traces.repeated_in(text)
    if not known or not path.startswith(f"{layout.VAULT}/"):
        return data
    parsed = parse(path, data, vault.settings.types)
    if _of(parsed, traces.ids):
        return None
    if parsed.record_class is RecordClass.CONSOLIDATION:
        return ledger.redacted(data, traces.ids, traces.repeated_in)
    return data if current or not traces.quoted_by(text) else None


def _repeats(traces: Traces, data: bytes) -> bool:
    text = data.decode("utf-8", "replace")
    return traces.repeated_in(text) or traces.is_head_of(text)


def _messages(originals: Mapping[str, bytes], traces: Traces) -> dict[str, bytes]:
    """The messages of commits and tags that tell of the memories, without that."""
    rewritten: dict[str, bytes] = {}
    subjects: dict[bytes, bytes] = {}
    texts = {oid: data.partition(b"\n\n")[2] for oid, data in originals.items()}
    for oid, text in texts.items():
        after = _without(text.decode("utf-8", "surrogateescape"), traces).encode("utf-8", "surrogateescape")
        if after != text:
            rewritten[oid] = after
            subjects[text.partition(b"\n")[0]] = after.partition(b"\n")[0]
    # Stashes, merges and reverts repeat the subject of another commit.
    repeated = {old: new for old, new in subjects.items() if len(old) >= _SUBJECT_TOLD and old != new}
    for oid, text in texts.items():
        after = rewritten.get(oid, text)
        for old, new in repeated.items():
            after = after.replace(old, new)
        if after != text:
            rewritten[oid] = after
    return rewritten


def _without(text: str, traces: Traces) -> str:
    subject, *rest = text.split("\n")
    trailers = [line for line in rest if line.startswith("Vault-")]
    verb = next((line.partition(":")[2].strip() for line in trailers if line.startswith("Vault-Op:")), "")
    named = " ".join(line.partition(":")[2] for line in trailers if line.startswith("Vault-Ids:")).split()
    if traces.repeated_in("\n".join(rest)):
        rest = ["", *trailers, ""]
    alone_named = verb and len(named) == 1 and named[0] in traces.ids and named[0] not in subject
    if alone_named or traces.repeated_in(subject):
        subject = f"{verb}: forgotten" if verb else "forgotten"
    return "\n".join((subject, *rest))


def _follow(vault: Context, renamed: Mapping[str, str]) -> None:
    """Have what rests on a file at a commit name that commit as it is called now, in one commit more."""
    old = sorted(renamed)

    def followed(reference: str) -> str:
        name, mark, commit = reference.rpartition("@" if "@" in reference else ":")
        first = bisect_left(old, commit.lower())
        meant = [candidate for candidate in old[first : first + 2] if candidate.startswith(commit.lower())]
        is_commit = mark and _HEX.fullmatch(commit) and (mark == "@" or name == "commit")
        return f"{name}{mark}{renamed[meant[0]][: len(commit)]}" if is_commit and len(meant) == 1 else reference

    with writing(vault, "purge") as op:
        ids = []
        for entry in vault.index.catalog.snapshot().entries:
            before = entry.texts("evidence")
            after = [followed(reference) for reference in before]
            if after != list(before):
                with suppress(EditRefused):
                    op.edit(entry.path, Set("evidence", after))
                    ids.append(entry.id)
        op.carry_out(f"{counted(len(ids), 'memory', 'memories')} name commits anew", ids)


def _purge_preview(repo: git.Repo, ids: tuple[str, ...], plan: _PurgePlan, despite: Sequence[str]) -> Purged:
    """The changes a purge would make, and the obstacles to it."""
    changed = {*plan.rewrite.commits(plan.history)}
    peeled = rewriting.peeled(repo, plan.history.roots.values())
    moving = {name: oid for name, oid in plan.history.roots.items() if peeled.get(oid) in changed or oid in plan.rewrite.messages}
    others = rewriting.other_work_trees(repo)
    for path, detached in others:
        held = rewriting.tree_blobs(repo, path) if path.is_dir() else set(plan.rewrite.blobs)
        if detached or held & plan.rewrite.blobs.keys():
            hint = shell(f"git worktree remove {path}" if path.is_dir() else "git worktree prune")
            raise Refused(f"the work tree {path} holds it, or is on no branch", hint)
    remotes = tuple(git.remotes(repo))
    project = bool(repo.prefix or rewriting.superproject(repo))
    obstacles = {
        "edits": bool(rewriting.edits(repo)),
        "project": project,
        "remotes": bool(remotes),
        "signatures": plan.signed > 0,
    }
    return Purged(
        ids=ids,
        commits=len(changed),
        texts=len(plan.rewrite.blobs),
        messages=len(plan.rewrite.messages),
        refs=tuple(Moved(ref=ref, before=oid) for ref, oid in moving.items() if not ref.startswith(rewriting.STASH)),
        stashes=sum(name.startswith(rewriting.STASH) for name in moving),
        work_trees=tuple(str(path) for path, _ in others),
        remotes=remotes,
        signed=plan.signed,
        stops={stop: DESPITE[stop] for stop, is_so in obstacles.items() if is_so and stop not in despite},
        left=tuple(sorted(plan.left)),
    )


def _receipt(vault: Context, ids: tuple[str, ...], plan: _PurgePlan, moved: Mapping[str, tuple[str, str]]) -> str:
    """Write down what was done, without a word of what went; by `held_by` its return is known."""
    held = sorted({commit for oid in plan.rewrite.blobs for commit in plan.history.by[oid]})[:_HELD_BY]
    refs = {ref: {"before": before, "after": after} for ref, (before, after) in moved.items()}
    name = vault.now().replace(":", "").replace("+0000", "Z")
    fields = {"at": vault.now(), "ids": ids, "commits": len(plan.rewrite.commits(plan.history)), "refs": refs, "held_by": held}
    return vault.local.keep_receipt(f"{name}-{ids[0][:6]}", fields)
