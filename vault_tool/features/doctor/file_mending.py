"""A file with a fault, and its mending by a person: only of what the scan lists now, and over the text that they were shown."""

from __future__ import annotations

from vault_tool.errors import NotFound, Refused, StaleEdit, UsageError
from vault_tool.features.doctor.vault_problems import every_problem
from vault_tool.features.history.history import keep_first
from vault_tool.files import frontmatter, layout, reader, writer
from vault_tool.files.frontmatter import Set
from vault_tool.files.parse import parse
from vault_tool.model.ids import new_id
from vault_tool.model.problems import Problem, Severity
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.util.text import content_hash, one_line
from vault_tool.vault import resolve, screening
from vault_tool.vault.context import Context
from vault_tool.vault.operation import Saved, writing
from vault_tool.vault.request import looks, of_the_whole, verb

_KINDS = (layout.FileKind.NOTE, layout.FileKind.CONFLICT)


class FaultyFile(Struct, kw_only=True):
    """A file that has problems: its text, the hash of its bytes, and each problem by line.

    `with_new_id` is the text with an id of its own, where it has that of another file.
    """

    path: str
    text: str
    hash: str
    problems: tuple[Problem, ...]
    with_new_id: str = ""


class MendedFile(Saved, kw_only=True):
    """A file that was saved; `problems` are those that it has now."""

    path: str
    title: str
    changed: bool
    problems: tuple[Problem, ...] = ()


@verb
@looks
@of_the_whole
def faulty_file(vault: Context, path: str) -> FaultyFile:
    """The text of a file that the scan lists as a problem now. Raises NotFound for any other path."""
    vault = resolve.for_act(vault, "mend a file")
    problems = _listed(vault, path)
    data = _bytes(vault, path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise UsageError(f"{path} is not UTF-8 text: {fault.reason}", "save it as UTF-8 in an editor") from fault
    own_id = ""
    if any(problem.code == "duplicate-id" for problem in problems) and parse(path, data, vault.settings.types).readable:
        own_id = frontmatter.edit(data, [Set("id", new_id())]).decode("utf-8")
    return FaultyFile(path=path, text=text, hash=content_hash(data), problems=problems, with_new_id=own_id)


@verb
@looks
@of_the_whole
def mend_file(vault: Context, path: str, text: str, *, was: str) -> MendedFile:
    """Save a file that the scan lists as a problem, as a person wrote it, over the text whose hash is `was`.

    What it said is committed first, or kept as a copy where it can be in no commit. Raises StaleEdit where it was saved since,
    and UsageError for a text that cannot be read, or that holds what looks like a new secret; then nothing is written.
    """
    vault = resolve.for_act(vault, "mend a file")
    _listed(vault, path)
    layout.inside(vault.root, path)
    with writing(vault, "edit") as op:
        before, after = _bytes(vault, path), text.encode("utf-8")
        if content_hash(before) != was:
            raise StaleEdit(f"{path} was saved by somebody else since; nothing was written", "take up what it says now")
        parsed = parse(path, after, vault.settings.types)
        if after == before:
            return MendedFile(path=path, title=parsed.title, changed=False, problems=parsed.problems)
        unfit = [] if parsed.readable else [problem for problem in parsed.problems if problem.severity is Severity.ERROR]
        unfit += [] if vault.allow_secrets else list(screening.new_in_file(vault, path, after))
        if unfit:
            raise UsageError(f"line {unfit[0].line}: {unfit[0].message}; nothing was written", unfit[0].hint or "mend it")
        remark = keep_first(vault, path)
        writer.replace(vault.root, path, before, after)
        op.include(path, before, after)
        ids = [str(parsed.head["id"])] if parsed.record_class is not None else []
        saved = op.carry_out(one_line(parsed.title) or path, ids)
    return MendedFile(
        **saved.fields(*filter(None, [remark])), path=path, title=parsed.title, changed=True, problems=parsed.problems
    )


def _listed(vault: Context, path: str) -> tuple[Problem, ...]:
    """The problems of a note below the notes' folder, as the scan lists them now; NotFound where it lists none."""
    listed = every_problem(vault) if mendable(path) else ()
    problems = tuple(problem for problem in listed if problem.path == path)
    if not problems:
        raise NotFound(f"no problem is listed of {one_line(path, 80)!r}", f"{step('doctor')} names those that there are")
    return problems


def mendable(path: str) -> bool:
    """Whether a path can be of a note below the notes' folder."""
    return path.startswith(f"{layout.VAULT}/") and layout.file_kind(path) in _KINDS


def _bytes(vault: Context, path: str) -> bytes:
    try:
        return reader.read(vault.root, path)
    except FileNotFoundError as fault:
        raise NotFound(f"{path} is gone", f"{step('doctor')} looks again") from fault
    except OSError as fault:
        raise Refused(f"{path} cannot be read: {fault.strerror}", "look at it in an editor") from fault
