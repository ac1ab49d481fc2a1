"""Files that an agent keeps for itself in one folder of the notes: each is a memory, whose text the agent may change.

What others rest on, what is no observation and what a person wrote without a head is only read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath

from vault_tool.errors import NotFound, Refused, UsageError
from vault_tool.features.history import history
from vault_tool.files import frontmatter, git, layout, reader, writer
from vault_tool.files.additions import with_fields
from vault_tool.files.parse import parse
from vault_tool.model.ids import new_id
from vault_tool.model.records import from_head
from vault_tool.model.types import RecordClass
from vault_tool.util.hints import step
from vault_tool.vault import no_return
from vault_tool.vault.context import Context
from vault_tool.vault.operation import Operation, Saved, writing
from vault_tool.vault.request import looks, verb, within

_TYPE = "general"
_DELETED = f"{layout.LOCAL}/deleted"


@verb
@looks
def read_file(vault: Context, path: str) -> str:
    """The text of a file, without the head that makes it a memory; NotFound where there is none."""
    return _body(_bytes(vault, path))


@verb
@looks
def list_files(vault: Context, folder: str) -> dict[str, int]:
    """The files below a folder by their paths in it, with the bytes of their texts; ignored and hidden ones are left out."""
    top = layout.inside(vault.root, folder)
    sizes: dict[str, int] = {}
    for file in sorted(top.rglob("*.md")):
        path = file.relative_to(vault.root).as_posix()
        is_note = file.is_file() and not file.is_symlink() and layout.file_kind(path) is layout.FileKind.NOTE
        if is_note and _is_visible(vault, path):
            sizes[file.relative_to(top).as_posix()] = len(_body(_bytes(vault, path)).encode("utf-8", "replace"))
    return sizes


def create_file(vault: Context, path: str, text: str) -> Saved:
    """Keep a new file whose text is exactly `text`. UsageError where there is one, Refused for a secret or a bad path."""
    _require_note(vault, path)
    with writing(vault, "create_file") as op:
        if (vault.root / path).exists() or _another(vault, path):
            raise UsageError(f"{path} is there already", "change it, or take another name")
        head: list[tuple[str, str]] = [("id", new_id()), ("type", _TYPE), ("created", vault.now()), ("origin", vault.who.origin)]
        head += [(name, value) for name, value in (("session", vault.who.session), ("model", vault.who.model)) if value]
        head += [("title", PurePosixPath(path).stem)]
        data = with_fields(b"", head) + text.encode("utf-8")
        if _body(data) != text:
            raise UsageError(f"{path} cannot be kept as it is", "leave out what is no text")
        record = from_head(RecordClass.OBSERVATION, parse(path, data, vault.settings.types).head, text)
        no_return.refuse(vault, record)
        op.restore(path, data)
        return op.carry_out(path, [record.id])


def change_file(vault: Context, path: str, change: Callable[[str], str]) -> Saved:
    """Replace a file's text by `change` of it; what that raises leaves it as it was."""
    with writing(vault, "change_file") as op:
        before = _bytes(vault, path)
        text = change(_body(before))
        _require_own(vault, path)
        after = before[: frontmatter.split(before).body_start] + text.encode("utf-8")
        if after == before:
            return Saved()
        op.rewrite(path, before, after)
        return op.carry_out(path)


def remove_files(vault: Context, path: str) -> Saved:
    """Take a file, or a folder of them, away: into the history of git, or without git into `_local/deleted/`."""
    named = list(_below(vault, path))
    if vault.repo and git.uncommitted(vault.repo, named):
        with within(vault):  # part of taking them away, and not asked for by itself
            history.commit(vault, named)
    with writing(vault, "remove_file") as op:
        for file in named:
            _require_own(vault, file)
        for file in named:
            if not vault.repo:
                backup = f"{_DELETED}/{vault.now().replace(':', '')}-{new_id()[:6]}-{PurePosixPath(file).name}"
                writer.create(vault.root, backup, _bytes(vault, file))
            op.remove(file)
        return op.carry_out(path)


def move_files(vault: Context, old: str, new: str) -> Saved:
    """Give a file, or a folder of them, another path in the notes."""
    named = {path: new + path[len(old) :] for path in _below(vault, old)}
    with writing(vault, "move_file") as op:
        _plan_moves(vault, op, named)
        return op.carry_out(f"{old} to {new}")


def _plan_moves(vault: Context, op: Operation, named: Mapping[str, str]) -> None:
    for before, after in named.items():
        _require_own(vault, before)
        _require_note(vault, after)
        if _another(vault, after):
            raise UsageError(f"{after} is there already", "take another name")
        op.restore(after, _bytes(vault, before))
        op.remove(before)


def _below(vault: Context, path: str) -> Iterator[str]:
    """A file, or all files of a folder; NotFound where there are none."""
    inside = layout.inside(vault.root, path)
    if not inside.is_dir():
        _bytes(vault, path)
        yield path
        return
    files = list_files(vault, path)
    if not files:
        raise NotFound(f"there is no file in {path}", "")
    yield from (f"{path}/{name}" for name in files)


def _bytes(vault: Context, path: str) -> bytes:
    file = layout.inside(vault.root, path)
    if not file.is_file() or not _is_visible(vault, path):
        raise NotFound(f"there is no file {path}", "")
    return reader.read(vault.root, path)


def _is_visible(vault: Context, path: str) -> bool:
    """Whether the caller may see a file: not another user's memory, nor a withheld one."""
    return vault.index.catalog.by_path(path) is not None or vault.whole_index.catalog.by_path(path) is None


def _body(data: bytes) -> str:
    return data[frontmatter.split(data).body_start :].decode("utf-8", "replace")


def _another(vault: Context, path: str) -> bool:
    """Whether a name is in use, case aside: two names that differ in case only are one file on many disks."""
    folder = (vault.root / path).parent
    names = {layout.name_key(entry.name) for entry in folder.iterdir()} if folder.is_dir() else set()
    return layout.name_key(PurePosixPath(path).name) in names


def _require_note(vault: Context, path: str) -> None:
    layout.inside(vault.root, path)
    if layout.file_kind(path) is not layout.FileKind.NOTE:
        raise Refused(f"{path} cannot be a note's path", "a visible name that ends with .md")


def _require_own(vault: Context, path: str) -> None:
    """Refused for a file that is not the agent's to change."""
    entry = vault.index.catalog.by_path(path)
    if entry is None:
        raise Refused(
            f"{path} is a page that a person wrote and no program may change", f"{step('adopt', paths=path)} makes it a memory"
        )
    if entry.pulled:
        raise Refused(f"{path} came by somebody else's commit", "keep what is different in a file of its own")
    if entry.record_class is not RecordClass.OBSERVATION:
        raise Refused(f"{path} is {entry.type}, no file of an agent's", "change it by the verb for that")
    citing = vault.index.catalog.pointing_at(entry.id)
    if citing:
        field, other = citing[0]
        hint = "keep what is different in a file of its own"
        raise Refused(f"{path} is evidence: {other.title!r} ({other.id[:6]}) rests on it ({field}), so it is not changed", hint)
