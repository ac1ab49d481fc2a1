"""This machine's own state: writer token, journal states, use not yet shared, operations not yet committed."""

from __future__ import annotations

import json
import os
import re
import stat
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins
from msgspec.structs import replace

from vault_tool.errors import Refused
from vault_tool.files import local_trust
from vault_tool.files.layout import LOCAL, SYNCING
from vault_tool.files.redaction import blank
from vault_tool.files.signal_lines import read_signals, signal_line
from vault_tool.model.ids import canonical
from vault_tool.model.signals import EpisodeEntry, Signal, SignalKind, Use
from vault_tool.util.atomic import PRIVATE_FILE, PrivateFolder, storage, temporary_hashes
from vault_tool.util.clock import parse_time
from vault_tool.util.deferred import deferred, uuid
from vault_tool.util.folder import opened
from vault_tool.util.json_text import read_own
from vault_tool.util.structs import Struct
from vault_tool.util.text import content_hash, one_line

if TYPE_CHECKING:
    import secrets
else:
    secrets = deferred("secrets")  # 10 ms

TOKEN_LENGTH = 8

_TOKEN_FILE = "writer"
_AROUND_FILE = "around"
_SERVED_FILE = "served.json"
_PLACE_FILE = "writer.place"
_JOURNALS_FILE = "journals.json"
_USE = "use"
_PENDING = "pending"
_FORGETTING = "forgetting"
_PURGES = "purges"
# What a later process would finish, each as a file.
_INTENTS = (_PENDING, _FORGETTING, SYNCING)
_SEAL = b"\nseal "
_TOKEN = re.compile(r"[a-z0-9]{8}", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40,64}", re.ASCII)
_OPERATION = re.compile(r"[A-Za-z0-9-]{1,64}", re.ASCII)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
# A token as a number: its digits in the order in which names of files are sorted.
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_BASE = len(_DIGITS)
# At most so far is the next token from the last: so far that two copies of one folder hardly meet.
_STEP = _BASE**4
_KEPT_JOURNALS = 100
_HTTP_TOKEN_FILE = "http-token"
_HTTP_TOKEN_BYTES = 32
_VECTORS_KEY_FILE = "vectors-key"
_VECTORS_KEY = re.compile(r"[0-9a-f]{32}", re.ASCII)
_LOOK_FILE = "page-seen"
_PAGE_SERVER_FILE = "page-server.json"
# So many bytes before the end of what is known of a log say whether it is as it was.
_MARKED = 256
# Most characters that are told of an intent.
_TOLD = 300


class PlannedWrite(Struct):
    """One file that an operation will write: the hash of what it holds before, and its bytes after (None: no file)."""

    path: str
    before: str | None
    after: bytes | None


class PendingOperation(Struct):
    """An operation begun and not known to be committed: `files` are paths with the hash they get (None: removed).

    `writes`, `episodes` and `signals` are what it is about to write, so that the next one can finish it after a kill.
    """

    id: str
    verb: str
    title: str
    session: str = ""
    ids: tuple[str, ...] = ()
    files: tuple[tuple[str, str | None], ...] = ()
    at: str = ""
    writes: tuple[PlannedWrite, ...] = ()
    episodes: tuple[EpisodeEntry, ...] = ()
    signals: tuple[Signal, ...] = ()
    author: str = ""
    """The author of its commit, `ann <HASH@people.invalid>`; empty for whom git would name."""

    def written(self, files: Iterable[tuple[str, str | None]]) -> PendingOperation:
        """The same once nothing of it is left to write but its commit: without any text."""
        return replace(self, files=tuple(files), writes=(), episodes=(), signals=())


class UseLog(Struct):
    """The log of one day's uses from `start` on: its `uses`, where its last whole line ends, and a `mark` of what ends there.

    `torn` is what stands behind that and may be whole all the same.
    """

    day: str
    start: int
    end: int
    mark: str
    uses: tuple[Use, ...]
    torn: tuple[Use, ...] = ()


class LocalFolder:
    """The folder `_local/` of the vault at `root`, made (for its owner alone) when something is first kept there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._kept = PrivateFolder(partial(local_trust.place, root), LOCAL)
        self._ends: dict[str, tuple[int, bytes, tuple[Use, ...]]] = {}
        self._token_file, self._place_file = _TOKEN_FILE, _PLACE_FILE

    def of_author(self, author: str) -> LocalFolder:
        """The same folder for what an author writes beside its owner: with journals that are theirs alone."""
        if not author:
            return self
        other = copy(self)
        other._token_file = f"{_TOKEN_FILE}-{author.rpartition('<')[2].partition('@')[0]}"
        other._place_file = f"{other._token_file}.place"
        return other

    @property
    def place(self) -> Path:
        """The folder that `_local/` is in: the vault's root, unless what lies there is not believed."""
        return local_trust.place(self.root)

    def token(self) -> str:
        """The writer token of this folder, by which its journals are named; made at random the first time.

        A copy of the folder takes another, or both would go on with the same journals and meet in a conflict.
        """
        token = (self._kept.read(self._token_file) or b"").decode("ascii", "replace").strip()
        return token if _TOKEN.fullmatch(token) and self._kept.read(self._place_file) == self._place() else self.new_token()

    def new_token(self) -> str:
        """Take another writer token: the journals of the old one are left as they are from now on."""
        return self._take_token("".join(secrets.choice(_DIGITS) for _ in range(TOKEN_LENGTH)))

    def next_token(self) -> str:
        """Take a writer token that stands after the one in use, as what it will name was written after.

        Entries of one minute are in the order of their files, and evidence cites them by their number in that.
        """
        number = int(self.token(), _BASE) + 1 + secrets.randbelow(_STEP)
        if number >= _BASE**TOKEN_LENGTH:
            return self.new_token()
        letters = ""
        for _ in range(TOKEN_LENGTH):
            number, digit = divmod(number, _BASE)
            letters = _DIGITS[digit] + letters
        return self._take_token(letters)

    def _take_token(self, token: str) -> str:
        self._kept.write(self._token_file, f"{token}\n".encode())
        self._kept.write(self._place_file, self._place(), durable=False)
        return token

    def _place(self) -> bytes:
        """The time when the token's file was last put where it is: no copy of the file shares it."""
        with storage(f"{LOCAL}/{self._token_file}", doing="read"), opened(self.place, (LOCAL,)) as folder:
            return str(folder.changed_at(self._token_file)).encode()

    def journal_states(self, path: str) -> tuple[str | None, ...]:
        """The content hashes that the journal at `path` may have if no other program changed it; empty if unknown.

        Two around an append, so that a crash on either side of it is no reason for a new token; None is "not there".
        """
        states = self._journals().get(path, ())
        return tuple(states) if isinstance(states, list) else ()

    def expect_journal(self, path: str, *states: str | None) -> None:
        """Remember the hashes that the journal at `path` may have from now on."""
        journals = self._journals()
        journals.pop(path, None)
        recent = dict([*journals.items(), (path, list(states))][-_KEPT_JOURNALS:])
        # Not waited for: losing it to a power cut costs a new token, never a line.
        self._kept.write(_JOURNALS_FILE, json.dumps(recent).encode(), durable=False)

    def note_use(self, use: Use) -> None:
        """Add one access to the log of its day; not fsynced, for a use lost in a crash is no text lost."""
        line = json.dumps({"at": use.at, "target": use.target, "session": use.session})
        with self._kept.writing(_USE) as folder:
            folder.append(f"{use.at[:10]}.jsonl", f"{line}\n".encode(), durable=False, mode=PRIVATE_FILE)

    def uses(self) -> list[Use]:
        """All accesses that no commit carries yet, oldest first; a torn line is passed over."""
        return sorted((use for day in self._days() for use in self._uses_of(day)), key=lambda use: (use.at, use.target))

    def use_logs(self, known: Mapping[str, tuple[int, str]]) -> list[UseLog]:
        """The log of each day, without its beginning where that is `known` (where it ends, and its mark) and as it was."""
        return [self._use_log(day, *known.get(day, (0, ""))) for day in self._days()]

    def use_size(self) -> int:
        """How many bytes the log of uses has: it says of two states of it whether use was noted between them."""
        return sum(self._kept.sizes(_USE).values())

    def roll_up(self, before_day: str) -> list[Signal]:
        """The uses of days before `before_day` (`2026-11-20`), summed as one signal a memory and day.

        The log keeps them until `drop_uses`. The ids follow from the uses, so that rolling up again after a
        crash repeats the same signals, which readers drop.
        """
        return [signal for day in self._days() if day < before_day for signal in _day_sums(day, self._uses_of(day))]

    def drop_uses(self, before_day: str) -> None:
        """Forget the uses of days before `before_day`: their signals are in a journal."""
        with self._kept.writing(_USE) as folder:
            for day in self._days():
                if day < before_day:
                    folder.discard(f"{day}.jsonl")

    def forget(self, targets: Collection[str], is_told: Callable[[str], bool]) -> int:
        """Drop the uses of some memories, and from announced operations titles that are `told` of them; returns how many."""
        dropped = 0
        for day in self._days():
            with self._kept.writing(_USE) as folder:
                dropped += blank(folder, f"{day}.jsonl", lambda line: _target_of(line) in targets)
        for operation in self.pending():
            if is_told(operation.title):
                self.begin(replace(operation, title="forgotten"))
                dropped += 1
        return dropped

    def begin(self, operation: PendingOperation) -> None:
        """Write an operation down before its first file is written (again, with more files, as they become known)."""
        if not _OPERATION.fullmatch(operation.id):
            raise ValueError(f"not an operation's id: {operation.id!r}")
        content = to_builtins(operation, builtin_types=(bytes,)) | {
            "signals": [signal_line(signal) for signal in operation.signals]
        }
        text = json.dumps(content, default=_as_text, ensure_ascii=False).encode("utf-8", "surrogatepass")
        name = f"{operation.id}.json"
        self._kept.write(name, _with_seal(_PENDING, name, text), _PENDING)

    def done(self, operation_id: str) -> None:
        """Strike an operation off: it is committed, or nothing of it was written."""
        self._strike_off(_PENDING, [f"{operation_id}.json"])

    def pending(self) -> tuple[PendingOperation, ...]:
        """The operations that this user began and that were not struck off, oldest first; what cannot be read is left there."""
        operations = (_operation(name, data) for name, data in self._own(_PENDING))
        return tuple(
            sorted((operation for operation in operations if operation), key=lambda operation: (operation.at, operation.id))
        )

    def unsealed(self) -> list[tuple[str, str]]:
        """Intents and begun forgettings that do not show that this user wrote them:
        the path of each, and in words what it would do. None of it is done.
        """
        reasons: dict[str, str] = {}
        for where, below in product(dict.fromkeys((self.place, self.root)), _INTENTS):
            own = {name for name, _ in self._own_in(where, below)}
            for name in sorted({*self._names_in(where, below)} - own):
                if temporary_hashes(name) is None:
                    reasons[f"{LOCAL}/{below}/{name}"] = _in_words(below, name, self._data_in(where, below, name))
        return list(reasons.items())

    def seal_all(self) -> None:
        """Take over what `unsealed` lists, which a person has seen: from now on it is as if this user had written it."""
        for path, _ in self.unsealed():
            _, below, name = path.split("/")
            text = self._kept.read(name, below)
            if text is not None:
                self._kept.write(name, _with_seal(below, name, _unsealed(text)[0]), below)

    def begin_forgetting(self, ids: Sequence[str], how: str = "") -> None:
        """Write down that memories are being forgotten until every trace of them is gone: their ids, and how, without a word of
        them; all at once, so that a kill leaves all of them to whoever finishes it.
        """
        self._kept.write(ids[0], _with_seal(_FORGETTING, ids[0], "\n".join((how, *ids[1:])).encode()), _FORGETTING)

    def forgetting(self) -> dict[str, str]:
        """The ids of the memories that were begun to be forgotten and are not known to be gone without a trace, and how."""
        targets: dict[str, str] = {}
        for first, text in sorted((identity, text) for name, text in self._own(_FORGETTING) if (identity := canonical(name))):
            how, *others = text.decode("utf-8", "replace").split("\n")
            targets |= dict.fromkeys((first, *filter(None, map(canonical, others))), how)
        return targets

    def end_forgetting(self, ids: Iterable[str]) -> None:
        """Strike memories off: no trace of them is left. Those that were begun together end together."""
        self._strike_off(_FORGETTING, ids)

    def begin_syncing(self, old: str, new: str) -> None:
        """Write down that the branch goes from one commit to another, and the files of the work tree after it."""
        self._kept.write(new, _with_seal(SYNCING, new, old.encode()), SYNCING)

    def syncing(self) -> dict[str, str]:
        """The commits that the branch was to go to, each with the one that it was at, where the files may not have followed."""
        read = {name: text.decode("ascii", "replace") for name, text in self._own(SYNCING)}
        return {new: old for new, old in read.items() if _COMMIT.fullmatch(new) and _COMMIT.fullmatch(old)}

    def end_syncing(self, new: str) -> None:
        """The files of the work tree are as that commit has them, but for what people changed since."""
        self._strike_off(SYNCING, [new])

    def keep_receipt(self, name: str, receipt: Mapping[str, Any]) -> str:
        """Write down what a purge did, for good; returns the path."""
        self._kept.write(f"{name}.json", json.dumps(receipt, indent=1).encode(), _PURGES)
        return f"{LOCAL}/{_PURGES}/{name}.json"

    def receipts(self) -> list[dict[str, Any]]:
        """The receipts of purges done here, the oldest first."""
        receipts = (_json(self._kept.read(name, _PURGES)) for name in sorted(self._kept.names(_PURGES)))
        return [receipt for receipt in receipts if isinstance(receipt, dict)]

    def around(self) -> str:
        """The folder around the vault that a person named on this machine to be served too; empty for none."""
        return (self._kept.read(_AROUND_FILE) or b"").decode("utf-8", "replace").rstrip("\n")

    def serve_around(self, folder: str) -> None:
        """Remember that a person named the folder around the vault."""
        self._kept.write(_AROUND_FILE, f"{folder}\n".encode("utf-8", "surrogateescape"))

    def served_notes(self) -> dict[str, Any]:
        """Where the notes of the folder around the vault are that something refers to, by their ids."""
        stored = _json(self._kept.read(_SERVED_FILE))
        return stored if isinstance(stored, dict) else {}

    def keep_served_notes(self, notes: Mapping[str, Any]) -> None:
        """Remember that."""
        self._kept.write(_SERVED_FILE, json.dumps(notes).encode())

    def http_token(self, *, anew: bool = False) -> str:
        """The token that an HTTP client must show; made at random the first time, and `anew`.

        One that others may read (it came by a pull, or by a copy) is no secret, and is replaced.
        """
        token = (
            ""
            if anew or not self._is_private(_HTTP_TOKEN_FILE)
            else (self._kept.read(_HTTP_TOKEN_FILE) or b"").decode("ascii", "replace")
        )
        if len(token.strip()) < _HTTP_TOKEN_BYTES:
            token = secrets.token_urlsafe(_HTTP_TOKEN_BYTES)
            self._kept.write(_HTTP_TOKEN_FILE, f"{token}\n".encode())
        return token.strip()

    def vectors_key(self) -> bytes:
        """The key by which the notes of this folder are called at a server of vectors; made at random the first time.

        By it no name of a note leaves this machine, and two clones have nothing in common there.
        """
        key = (self._kept.read(_VECTORS_KEY_FILE) or b"").decode("ascii", "replace").strip()
        if not _VECTORS_KEY.fullmatch(key):
            key = secrets.token_hex(16)
            self._kept.write(_VECTORS_KEY_FILE, f"{key}\n".encode())
        return bytes.fromhex(key)

    def page_server(self) -> dict[str, Any]:
        """Where a process serves this vault's pages to a browser; empty for none, or where others could read it."""
        return _json(self._kept.read(_PAGE_SERVER_FILE)) or {} if self._is_private(_PAGE_SERVER_FILE) else {}

    def serve_pages(self, record: Mapping[str, Any] | None) -> None:
        """Write that down for this user alone; None: it is over."""
        if record is not None:
            self._kept.write(_PAGE_SERVER_FILE, json.dumps(record).encode(), durable=False)
            return
        with self._kept.writing() as folder:
            folder.discard(_PAGE_SERVER_FILE)

    def last_look(self) -> str:
        """The commit up to which a person last saw the history on the page; empty where they never said."""
        return (self._kept.read(_LOOK_FILE) or b"").decode("utf-8", "replace").strip()

    def looked(self, at: str) -> None:
        """Remember that they saw everything up to a commit."""
        self._kept.write(_LOOK_FILE, f"{at}\n".encode("utf-8", "replace"), durable=False)

    def keep_private(self, name: str, data: bytes) -> None:
        """Write a file for this user alone, which is nothing that anybody needs again."""
        self._kept.write(name, data, durable=False)

    @property
    def http_token_path(self) -> Path:
        """Where that is kept."""
        return self.place / LOCAL / _HTTP_TOKEN_FILE

    def _is_private(self, name: str) -> bool:
        try:
            info = (self.place / LOCAL / name).lstat()
        except OSError:
            return False
        return os.name == "nt" or (stat.S_ISREG(info.st_mode) and not info.st_mode & 0o077 and info.st_uid == os.getuid())

    def _journals(self) -> dict[str, Any]:
        stored = _json(self._kept.read(_JOURNALS_FILE))
        return stored if isinstance(stored, dict) else {}

    def _days(self) -> list[str]:
        days = (name.removesuffix(".jsonl") for name in self._kept.names(_USE) if name.endswith(".jsonl"))
        return sorted(day for day in days if _DAY.fullmatch(day))

    def _uses_of(self, day: str) -> list[Use]:
        log = self._use_log(day, 0, "")
        return [*log.uses, *log.torn]

    def _use_log(self, day: str, start: int, mark: str) -> UseLog:
        before = min(start, _MARKED)
        data, file = self._kept.read_end(f"{day}.jsonl", start - before, _USE)
        if start and _mark(file, data[:before]) != mark:
            return self._use_log(day, 0, "")
        added = data[before : data.rfind(b"\n") + 1]
        end = start + len(added)
        known_start, known, uses = self._ends.get(day, (0, b"", ()))
        # A day is only ever added to, so what was read before is not parsed again.
        if known_start != start or not added.startswith(known):
            known, uses = b"", ()
        uses = (*uses, *_uses_in(added[len(known) :]))
        self._ends[day] = start, added, uses
        last = data[: before + len(added)][-_MARKED:]
        return UseLog(day, start, end, _mark(file, last), uses, tuple(_uses_in(data[before + len(added) :])))

    def _own(self, below: str) -> Iterator[tuple[str, bytes]]:
        """The name and text of each intent that this user wrote, the seal taken off; also where nothing else is believed."""
        for where in dict.fromkeys((self.place, self.root)):
            yield from self._own_in(where, below)

    def _own_in(self, where: Path, below: str) -> Iterator[tuple[str, bytes]]:
        for name in self._names_in(where, below):
            text, seal = _unsealed(self._data_in(where, below, name))
            # Where there is no key to tell by, only this user may have written it, and its folder has to be believed.
            is_private = not local_trust.has_key() and where == self.place and self._is_private(f"{below}/{name}")
            if is_private or local_trust.is_sealed(f"{below}/{name}", text, seal):
                yield name, text

    def _names_in(self, where: Path, below: str) -> list[str]:
        """The names of possible intents; none where a link stands in the folder's place."""
        try:
            with opened(where, (LOCAL, below)) as folder:
                return folder.names()
        except (FileNotFoundError, Refused):
            return []

    def _data_in(self, where: Path, below: str, name: str) -> bytes:
        with suppress(OSError, Refused), opened(where, (LOCAL, below)) as folder:
            return folder.read(name) or b""
        return b""

    def _strike_off(self, below: str, names: Iterable[str]) -> None:
        listed = list(names)
        for where in dict.fromkeys((self.place, self.root)):
            with suppress(FileNotFoundError, Refused), opened(where, (LOCAL, below)) as folder:
                for name in listed:
                    folder.discard(name)


def _mark(file: int, end: bytes) -> str:
    """A mark by which one state of a log differs from another file's, or from one that was written over before its end."""
    return f"{file}:{content_hash(end)}"


def _uses_in(data: bytes) -> Iterator[Use]:
    for line in data.split(b"\n"):
        parsed = _json(line)
        values = parsed if isinstance(parsed, dict) else {}
        at, target, session = (values.get(name) or "" for name in ("at", "target", "session"))
        # What is no time or no id can be in no journal, and would keep all the others out of it.
        if all(isinstance(value, str) for value in (at, target, session)) and parse_time(at) and canonical(target):
            yield Use(at=at, target=target, session=session)


def _day_sums(day: str, uses: Iterable[Use]) -> Iterator[Signal]:
    moments: dict[str, list[str]] = defaultdict(list)
    sessions: dict[str, Counter[str]] = defaultdict(Counter)
    for use in uses:
        moments[use.target].append(use.at)
        sessions[use.target][use.session] += 1
    for target, counts in sorted(moments.items()):
        name = "\n".join((day, target, *sorted(counts), *sorted(sessions[target])))
        yield Signal(
            id=str(uuid.uuid5(uuid.NAMESPACE_OID, name)),
            at=max(counts),
            target=target,
            kind=SignalKind.USE,
            value=float(len(counts)),
            session=_only(sessions[target]),
        )


def _only(sessions: Mapping[str, int]) -> str:
    return next(iter(sessions)) if len(sessions) == 1 else ""


def _with_seal(below: str, name: str, text: bytes) -> bytes:
    """An intent with the keyed hash of its whole text, name and kind, in a last line of its own."""
    seal = local_trust.seal(f"{below}/{name}", text)
    return text + _SEAL + seal.encode() + b"\n" if seal else text


def _unsealed(data: bytes) -> tuple[bytes, str]:
    text, mark, seal = data.rpartition(_SEAL)
    return (text, seal.decode("ascii", "replace").rstrip("\n")) if mark else (data, "")


def _in_words(below: str, name: str, data: bytes | None) -> str:
    """The effect of an intent in words, for a person to judge."""
    text = _unsealed(data or b"")[0]
    if below == SYNCING:
        return one_line(f"bring the files from commit {text.decode('ascii', 'replace')[:10]} to {name[:10]}", _TOLD)
    if below == _FORGETTING:
        how, *others = text.decode("utf-8", "replace").split("\n")
        what = "purge from the whole history" if how.strip() else "forget"
        return one_line(f"{what} {' '.join((name, *others))}", _TOLD)
    operation = _operation(name, text)
    if operation is None:
        return "no operation that could be read"
    paths = dict.fromkeys((*(path for path, _ in operation.files), *(write.path for write in operation.writes)))
    return one_line(f"{operation.verb}: {operation.title}; it writes {', '.join(paths) or 'nothing but journals'}", _TOLD)


def _target_of(line: bytes) -> str:
    values = _json(line)
    return str(values.get("target")) if isinstance(values, dict) else ""


def _operation(name: str, data: bytes | None) -> PendingOperation | None:
    values = _json(data)
    try:
        texts = {field: str(values[field]) for field in ("id", "verb", "title", "session", "at")}
        operation = PendingOperation(
            **texts,
            ids=tuple(map(str, values["ids"])),
            files=_files(values["files"]),
            writes=tuple(_planned(row) for row in values.get("writes", ())),
            episodes=tuple(EpisodeEntry(**{**row, "tags": tuple(row["tags"])}) for row in values.get("episodes", ())),
            signals=tuple(read_signals("", "\n".join(values.get("signals", ())).encode())[0]),
            author=str(values.get("author", "")),
        )
    except (AttributeError, TypeError, KeyError, ValueError):
        return None
    # Under another name it could not be struck off.
    return operation if name == f"{operation.id}.json" and _OPERATION.fullmatch(operation.id) else None


def _planned(values: Mapping[str, Any]) -> PlannedWrite:
    after = values["after"]
    return PlannedWrite(str(values["path"]), values["before"], None if after is None else after.encode("latin-1"))


def _as_text(data: bytes) -> str:
    """A file's bytes in JSON, whatever they are: a character for each."""
    return data.decode("latin-1")


def _files(rows: Sequence[Sequence[Any]]) -> tuple[tuple[str, str | None], ...]:
    return tuple((str(path), None if content is None else str(content)) for path, content in rows)


def _json(data: bytes | None) -> Any:
    try:
        return read_own(data) if data else None
    except ValueError:
        return None
