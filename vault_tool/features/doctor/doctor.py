"""`doctor` tells the problems of the vault and mends what can be; `reindex` compares files with indexes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from vault_tool.check import alike
from vault_tool.check.alike import LikeFindings, Told
from vault_tool.errors import EditRefused, VaultError
from vault_tool.features.doctor.vault_problems import every_problem
from vault_tool.features.editing import editing
from vault_tool.files import reader
from vault_tool.files.frontmatter import Remove
from vault_tool.files.render import body_text
from vault_tool.model.ids import new_id
from vault_tool.model.problems import Problem, Severity
from vault_tool.model.records import Edge
from vault_tool.model.snapshot import Entry, Snapshot
from vault_tool.model.types import RecordClass
from vault_tool.util.structs import Struct
from vault_tool.util.text import counted, one_line
from vault_tool.vault import screening
from vault_tool.vault.context import Context, Progress
from vault_tool.vault.operation import Operation, Saved, SavedAnswer, writing
from vault_tool.vault.request import looks, of_the_whole, verb


class Diagnosis(SavedAnswer, kw_only=True):
    """The problems and notices of the vault's files; `fixed` says what `fix` mended.

    `problems` are told one by one, those that are `alike` once, and `left_out` not at all; `counts` are of all.
    """

    problems: tuple[Problem, ...]
    counts: Mapping[str, int]
    alike: tuple[LikeFindings, ...] = ()
    left_out: int = 0
    fixed: tuple[str, ...] = ()

    @property
    def findings(self) -> bool:
        """Whether anything is at least a warning."""
        return any(self.counts.get(severity.value) for severity in (Severity.ERROR, Severity.WARNING))


class Reindexed(Struct, kw_only=True):
    """The differences found between the files and the indexes; `held_back` says why removals were not applied."""

    added: int
    modified: int
    removed: int
    unchanged: int
    count: int
    problems: int
    stale: tuple[str, ...]
    held_back: str
    seconds: float


@verb
@looks
@of_the_whole
def doctor(vault: Context, *, fix: bool = False, every: bool = False) -> Diagnosis:
    """The problems of the vault, by path and line; findings that are alike once with how many they are, unless `every` one is
    asked for. With `fix`, pages are adopted and `relations:` become edges first.

    Nothing else is ever mended by itself: what a note means is for a person to say.
    """
    vault = vault.with_withheld()
    saved, fixed, unmended = _fixed(vault) if fix else (Saved(), (), ())
    problems = every_problem(vault)
    counts = Counter(problem.severity.value for problem in problems)
    shown = Told(problems) if every else alike.told(problems)
    return Diagnosis(
        **saved.fields(*unmended), problems=shown.problems, counts=counts, alike=shown.alike, left_out=shown.left_out,
        fixed=fixed,
    )  # fmt: skip


@verb
@of_the_whole
def reindex(vault: Context, *, full: bool = False, confirm: bool = False, progress: Progress | None = None) -> Reindexed:
    """Compare the files with the indexes, or with `full` build them anew; `confirm` accepts that notes are gone in bulk."""
    refresh = vault.index.refresh(full=full, confirm=confirm, progress=progress)
    vault.index.export()
    vault.export_if_due()
    return Reindexed(
        added=refresh.added,
        modified=refresh.modified,
        removed=refresh.removed,
        unchanged=refresh.unchanged,
        count=refresh.count,
        problems=refresh.problems,
        stale=tuple(refresh.stale),
        held_back=refresh.held_back,
        seconds=round(refresh.seconds, 3),
    )


def _fixed(vault: Context) -> tuple[Saved, tuple[str, ...], tuple[str, ...]]:
    """Adopt the pages that can be, turn hand-written `relations:` into edge files; what was done, and what could not be."""
    unmended: list[str] = []
    with writing(vault, "doctor") as op:
        snapshot = vault.index.catalog.snapshot()
        done = [*_adoptions(op, snapshot.pages), *_relations(op, snapshot, unmended)]
        saved = op.carry_out(f"mended {counted(len(done), 'file')}")
    return saved, tuple(done), tuple(unmended)


def _adoptions(op: Operation, pages: Sequence[str]) -> Iterator[str]:
    """Each page that can be a record, made one; the others stay as they are."""
    for path in pages:
        data = reader.read(op.vault.root, path)
        try:
            adopted, identity, _ = editing.adopted_text(op.vault, path, data, "general")
        except VaultError:
            continue
        if not op.vault.allow_secrets and screening.new_in_file(op.vault, path, adopted):
            continue
        op.rewrite(path, data, adopted)
        yield f"{path}: adopted as {identity}"


def _relations(op: Operation, snapshot: Snapshot, unmended: list[str]) -> Iterator[str]:
    """Each `relations:` entry of a head as an edge file, when its target is known; the list is then taken away.

    A list with one that cannot be is left whole, and what is in its way is added to `unmended`.
    """
    for entry in snapshot.entries:
        listed = entry.head.get("relations")
        if not isinstance(listed, list) or entry.stale:
            continue
        edges = [_edge(op.vault, snapshot, entry, relation) for relation in listed]
        if obstacles := [edge for edge in edges if isinstance(edge, str)]:
            unmended += [f"{entry.path}: its relations stay as they are: {obstacle}" for obstacle in obstacles]
            continue
        try:
            op.edit(entry.path, Remove("relations"))
        except EditRefused:
            continue  # the head's own problem says why
        for edge in edges:
            if not isinstance(edge, str) and not _exists(snapshot, edge):
                op.create(edge)
        yield f"{entry.path}: {len(edges)} relations became edges"


def _edge(vault: Context, snapshot: Snapshot, entry: Entry, relation: object) -> Edge | str:
    """The edge that one relation comes to, or in words why it comes to none."""
    if not isinstance(relation, dict):
        return f"`{one_line(str(relation), 40)}` is no relation: it has a `target` and a `type`"
    named, kind = one_line(str(relation.get("target", "")), 60), one_line(str(relation.get("type", "")), 40)
    target = snapshot.by_id.get(named.lower(), ())
    if len(target) != 1:
        return f"{'several records have' if target else 'no record has'} the id of its target `{named}`"
    spec = vault.settings.types.spec(kind)
    if not spec.known or spec.record_class is not RecordClass.EDGE:
        return f"`{kind}` is no type of edge"
    start, end = (target[0], entry) if relation.get("direction") == "incoming" else (entry, target[0])
    strength = relation.get("strength")
    return Edge(
        id=new_id(), type=kind, from_id=start.id, from_title=start.title, to_id=end.id, to_title=end.title,
        strength=float(strength) if isinstance(strength, (int, float)) else None,
        body=body_text(one_line(str(relation.get("context", "")))),
        created=vault.now(), **vault.who.provenance(),
    )  # fmt: skip


def _exists(snapshot: Snapshot, edge: Edge) -> bool:
    same = (edge.type, edge.from_id, edge.to_id)
    return any((e.type, e.text("from_id"), e.text("to_id")) == same for e in snapshot.of_class(RecordClass.EDGE))
