"""The one door to the truth: every file of a person's is made, changed and removed here, under the lock, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from vault_tool.errors import NotFound, Refused, StaleEdit
from vault_tool.files import lock as locking
from vault_tool.files import sweeping
from vault_tool.files.conflicts import keep, keep_text
from vault_tool.files.layout import inside, name_key, real_parts
from vault_tool.files.local import LocalFolder
from vault_tool.util import atomic
from vault_tool.util.folder import Folder, opened
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.util.text import content_hash

ATTEMPTS = 5


class Written(Struct):
    """The result of one write to the file at `path`: its bytes before and after (None: there is no file).

    `conflict` is the path of the copy that keeps what somebody else saved in the same instant.
    """

    path: str
    before: bytes | None
    after: bytes | None
    conflict: str | None = None

    @property
    def changed(self) -> bool:
        """Whether anything was written."""
        return self.before != self.after


class Taken(Refused):
    """There is a file of that name already, or one that differs by case or accents alone; it was not touched."""


class Changed(StaleEdit):
    """The file is no longer what the caller read; nothing was written. `current` is its bytes now (None: it is gone)."""

    def __init__(self, path: str, current: bytes | None) -> None:
        super().__init__(f"{path} was {'changed' if current is not None else 'removed'} meanwhile", "read it again and retry")
        self.current = current


@contextmanager
def lock(root: Path, wait: float = locking.WAIT, holder: str = "write") -> Iterator[None]:
    """Hold the vault for one operation of several writes; see `lock.lock`. What a killed holder left is swept first."""
    with locking.lock(root, wait, holder) as died:
        if died:
            sweeping.sweep(root)
        yield


def sweep(root: Path, older_than: float = 0.0) -> int:
    """Clear what killed writers left behind (see `sweeping.sweep`), under the lock; returns how many files that were."""
    with lock(root, holder="sweep"):
        return sweeping.sweep(root, older_than)


def read(root: Path, path: str) -> bytes:
    """The bytes of a file as they are now; NotFound where there is none."""
    inside(root, path)
    with atomic.storage(path, doing="read"):
        current = _current(root, real_parts(root, path))
    if current is None:
        raise NotFound(f"there is no {path}", f"{step('search')} finds what is")
    return current


class Many:
    """Many new files of one hold of the lock: a folder's names are read once, and it is synced once, at `sync`."""

    def __init__(self) -> None:
        self.names: dict[str, dict[str, str]] = {}
        self.unsynced: set[str] = set()

    def sync(self, root: Path) -> None:
        """Wait until the names of all files are on the disk: none is acknowledged before."""
        for where in sorted(self.unsynced):
            with atomic.storage(where), opened(root, real_parts(root, where)) as folder:
                folder.sync()
        self.unsynced.clear()


def create(root: Path, path: str, data: bytes, many: Many | None = None) -> Written:
    """Make a new file, whole and on the disk, with the folders above it; Taken rather than overwrite anything.

    As one of `many` its name is on the disk only once these are settled.
    """
    absolute = inside(root, path)
    if absolute.is_symlink():
        raise Taken(f"{path} is a link that is there already", "choose another name")
    with lock(root), _place(root, path, len(data), create=True) as (folder, name):
        _refuse_twin(folder, path, name, {} if many is None else many.names)
        temporary = atomic.write_temporary(folder, name, data)
        try:
            # One step of the system's, not a look and then a rename: a file made in between would be overwritten.
            folder.rename_to_free(temporary, name)
        except FileExistsError as fault:
            folder.discard(temporary)
            raise Taken(f"{path} is there already", "choose another name") from fault
        except OSError:
            folder.discard(temporary)
            raise
        if many is not None:
            many.unsynced.add(path.rpartition("/")[0])
            return Written(path, None, data)
        try:
            folder.sync()
        except OSError:
            # A note whose name may not outlive a power cut is not acknowledged, so it does not stay either.
            folder.discard(name)
            raise
    return Written(path, None, data)


def replace(root: Path, path: str, old: bytes, new: bytes) -> Written:
    """Put `new` in place of `old`, which the caller read; Changed if that is not what the file holds now.

    Mode and link are kept; nothing is written when `new` is `old`. What an editor saved between the comparison
    and the rename is put beside it as a conflict copy, which the result names.
    """
    inside(root, path)
    with lock(root), _place(root, path, len(new)) as (folder, name):
        current = folder.read(name)
        if current != old:
            raise Changed(path, current)
        if new == old:
            return Written(path, old, new)
        conflict = _publish(folder, path, name, old, new)
    return Written(path, old, new, _sibling(root, path, conflict))


def edit(root: Path, path: str, change: Callable[[bytes], bytes]) -> Written:
    """Read, change and replace a file, again on the newer text when it was saved meanwhile.

    Raises NotFound for a missing file; StaleEdit, after keeping the text that was wanted as a conflict copy, when the
    file keeps changing or goes away. What `change` raises passes through with nothing written.
    """
    inside(root, path)
    with lock(root):
        before = read(root, path)
        for _ in range(ATTEMPTS):
            # Made anew on what somebody else just saved, so that neither of the two is lost.
            after = change(before)
            try:
                return replace(root, path, before, after)
            except Changed as changed:
                if changed.current is None:
                    break
                before = changed.current
        # Also where the folder is gone by now: what somebody wanted written is kept somewhere.
        with _place(root, path, len(after), create=True) as (folder, name):
            copy = _sibling(root, path, keep_text(folder, name, after, LocalFolder(root).token()))
    raise StaleEdit(f"{path} changed while it was edited; the edited text is kept in {copy}", "compare the two by hand")


def remove(root: Path, path: str, old: bytes) -> Written:
    """Take a file away that still holds `old`, which the caller read; Changed otherwise, with the file as it was."""
    absolute = inside(root, path)
    if absolute.is_symlink():
        raise Refused(f"{path} is a link", "remove the link by hand")
    with lock(root), _place(root, path) as (folder, name):
        current = folder.read(name)
        if current != old:
            raise Changed(path, current)
        # Moved aside and looked at there: what an editor saves between a look and an unlink would be lost.
        aside = _marked(name, old, old)
        folder.rename(name, aside)
        taken = folder.read(aside)
        if taken != old:
            _put_back(folder, aside, name)
            raise Changed(path, taken)
        try:
            folder.sync()
        except OSError:
            _put_back(folder, aside, name)
            raise
        folder.remove(aside)
    return Written(path, old, None)


def _publish(folder: Folder, path: str, name: str, old: bytes, new: bytes) -> str | None:
    """Swap `new` in and look at what it displaced; returns the conflict copy's name if that was not `old`."""
    temporary = _swap(folder, path, name, old, new)
    if temporary is None:
        return None
    if folder.read(temporary) != old:
        # The file itself is kept, not a copy of its bytes: an editor that still writes into it loses nothing.
        conflict = keep(folder, name, temporary)
        folder.sync()
        return conflict
    try:
        folder.sync()
    except OSError:
        # The new text may not outlive a power cut, so it is not acknowledged, and the old one goes back.
        if folder.exchange(temporary, name):
            folder.discard(temporary)
        raise
    folder.discard(temporary)
    return None


def _swap(folder: Folder, path: str, name: str, old: bytes, new: bytes) -> str | None:
    """Put `new` under `name`; returns the temporary name of what it displaced, None where that could not be kept."""
    whole = atomic.write_temporary(folder, name, new)
    temporary = _marked(name, old, new)
    swapped = False
    try:
        # Whole before it bears the hashes: half a text under them would be kept by a sweep as somebody else's.
        folder.rename(whole, temporary)
        swapped = folder.exchange(temporary, name)
        if not swapped:
            _rename_over(folder, path, name, temporary, old)
    finally:
        if not swapped:
            folder.discard(whole)
            folder.discard(temporary)
    return temporary if swapped else None


def _rename_over(folder: Folder, path: str, name: str, temporary: str, old: bytes) -> None:
    """Where names cannot be swapped: compare once more, then rename; a window of microseconds stays open."""
    current = folder.read(name)
    if current != old:
        raise Changed(path, current)
    folder.rename(temporary, name)
    folder.sync()


def _put_back(folder: Folder, aside: str, name: str) -> None:
    try:
        folder.rename_to_free(aside, name)
    except FileExistsError:
        keep(folder, name, aside)


def _marked(name: str, old: bytes, new: bytes) -> str:
    return atomic.temporary_name(name, content_hash(old), content_hash(new))


@contextmanager
def _place(root: Path, path: str, need: int | None = None, *, create: bool = False) -> Iterator[tuple[Folder, str]]:
    """The open folder and the name that `path` really stands for, links inside the vault followed."""
    *folders, name = real_parts(root, path)
    try:
        with opened(root, folders, create=create) as folder:
            yield folder, name
    except FileNotFoundError as fault:
        raise Changed(path, None) from fault
    except OSError as fault:
        raise atomic.storage_error(path, fault, need) from fault


def _current(root: Path, parts: Sequence[str]) -> bytes | None:
    *folders, name = parts
    try:
        with opened(root, folders) as folder:
            return folder.read(name)
    except FileNotFoundError:
        return None


def _refuse_twin(folder: Folder, path: str, name: str, names: dict[str, dict[str, str]]) -> None:
    """Refuse a name that another one meets on a disk that ignores case or composition: a clone could not hold both."""
    where = path.rpartition("/")[0]
    if where not in names:
        names[where] = {name_key(other): other for other in folder.names()}
    twin = names[where].setdefault(name_key(name), "")
    names[where][name_key(name)] = twin or name
    if twin:
        same = "is there already" if twin == name else f"differs from {twin} by case or accents alone"
        raise Taken(f"{path} {same}", "choose another name")


def _sibling(root: Path, path: str, name: str | None) -> str | None:
    return None if name is None else "/".join((*real_parts(root, path)[:-1], name))
