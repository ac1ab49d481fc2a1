"""Where each kind of file lives in a vault, what is derived, ignored or reserved, and which paths are never touched."""

from __future__ import annotations

import re
import unicodedata
from enum import Enum
from pathlib import Path, PurePosixPath

from vault_tool.errors import Refused
from vault_tool.util.hints import step
from vault_tool.util.note_links import is_note
from vault_tool.util.text import one_line

VAULT = "vault"
CACHE = "_cache"
VECTORS = "vectors"  # in the cache
LOCAL = "_local"
SYNCING = "syncing"  # in the folder of this machine's own
OWNER_FILE = "owner.json"
TEMPLATES = "templates"
INDEX_FILE = "_index.json"
STATE_FILE = "_state.json"
EMBEDDINGS_FILE = "_embeddings.json"
CONFIG_FILE = "_config.json"
SETTINGS_FILE = "vault.toml"
CORE_FILE = "CORE.md"
REFLECTION_FILE = "REFLECTION.md"

# The pages that are made of the memory, at the root of the vault.
MADE_PAGES = (CORE_FILE, REFLECTION_FILE)

# The two hidden files that belong to a vault, at its root alone.
GIT_FILES = (".gitignore", ".gitattributes")

# What may be deleted at any time without losing a thing.
DERIVED = (INDEX_FILE, STATE_FILE, EMBEDDINGS_FILE, CACHE)

# What git is told to ignore.
UNTRACKED = (*DERIVED, CONFIG_FILE, LOCAL)

# How the path of a note in the folder around the vault begins, where the vault serves that folder too.
AROUND = "../"

# The folders, in somebody's folder of notes, that a vault is made in: the first whose name is free.
HOMES = ("memory", "vt-memory")

NAME_BYTES = 200
LONGEST_PART = 255

_EPISODE = re.compile(rf"{VAULT}/episodes/(\d{{4}}-\d{{2}}-\d{{2}})\.([A-Za-z0-9_-]+)\.md", re.ASCII)
_SIGNALS = re.compile(rf"{VAULT}/signals/(\d{{4}}-\d{{2}})\.([A-Za-z0-9_-]+)\.jsonl", re.ASCII)
_CONFLICT = re.compile(r".*\.conflict-\d{8}T\d{6}Z-[^/]+\.md", re.IGNORECASE | re.ASCII | re.DOTALL)
_IGNORED_FOLDERS = frozenset({"node_modules"})
_IGNORED_ENDS = (".swp", ".swx", ".swo", ".tmp", "~")
_DRIVE = re.compile(r"[A-Za-z]:", re.ASCII)
_DEVICE = re.compile(r"con|prn|aux|nul|com\d|lpt\d", re.IGNORECASE | re.ASCII)
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class FileKind(Enum):
    """The kind of a file of the vault, by its place and name alone."""

    NOTE = "note"
    EPISODE = "episode"
    SIGNALS = "signals"
    CONFLICT = "conflict"
    OTHER = "other"


def file_kind(path: str) -> FileKind | None:
    """The kind of the file at `path` (relative to the root, `/` between its parts); None for one that is ignored.

    A note is any markdown file under `vault/` that is no journal: whether it is a record or a page, its head says.
    In the folder around the vault every markdown file is one, whichever of its endings it has.
    """
    around = is_around(path)
    folders, _, name = path.removeprefix(AROUND).rpartition("/")
    if ignored_name(name) or any(ignored_folder(part) for part in folders.split("/") if part):
        return None
    if not path.startswith(f"{VAULT}/") and not (around and is_note(name)):
        return FileKind.OTHER
    if name.endswith(".jsonl"):
        return FileKind.SIGNALS if _SIGNALS.fullmatch(path) else FileKind.OTHER
    if not (is_note(name) if around else name.lower().endswith(".md")):
        return FileKind.OTHER
    if ".conflict-" in name and _CONFLICT.fullmatch(name):
        return FileKind.CONFLICT
    return FileKind.EPISODE if _EPISODE.fullmatch(path) else FileKind.NOTE


def may_be_copy(path: str) -> bool:
    """Whether a markdown file's name has the form of a sync tool's copy: what is in it then decides (`files.conflict_copies`)."""
    stem = path[:-3]
    if stem[-1:] in (")", "]") or (stem[-1:].isdigit() and " " in stem[-3:-1]) or "onflict" in stem or "opy" in stem:
        return True
    # A machine's name after a dash, or anything after a name of ours, which ends with the beginning of an id.
    _, dash, tail = stem.rpartition("/")[2].rpartition("-")
    return bool(dash) and not (len(tail) >= _ID_PART and _HEX.issuperset(tail))


def is_around(path: str) -> bool:
    """Whether a path is of the folder around the vault, which is read and never written."""
    return path.startswith(AROUND)


def ignored_folder(name: str) -> bool:
    """Whether a folder of this name is not looked into."""
    return name.startswith(".") or name in _IGNORED_FOLDERS


def ignored_name(name: str) -> bool:
    """Whether a file of this name is hidden, or an editor's swap, backup or temporary file."""
    return name.startswith((".", "#")) or name.endswith(_IGNORED_ENDS) or name == "4913"


_ID_PART = 6
_HEX = frozenset("0123456789abcdef")

# What the name of a log has that an import brought, before the import's own name.
IMPORTED_LOG = ".import-"


def episode_path(day: str, writer: str) -> str:
    """Where the log of one day (`2026-11-20`) by one writer is kept."""
    return f"{VAULT}/episodes/{day}.{writer}.md"


def signals_path(month: str, writer: str) -> str:
    """Where the signals of one month (`2026-11`) by one writer are kept."""
    return f"{VAULT}/signals/{month}.{writer}.jsonl"


def journal_date(path: str) -> str:
    """The day of an episode file or the month of a signals file, from its name; empty for another file."""
    match = _EPISODE.fullmatch(path) or _SIGNALS.fullmatch(path)
    return match.group(1) if match else ""


def cut(text: str, limit: int) -> str:
    """A text cut to so many bytes of UTF-8, without a dash at its end."""
    return text.encode("utf-8", "ignore")[:limit].decode("utf-8", "ignore").rstrip("-")


def conflict_name(name: str, utc: str, who: str, number: int = 1) -> str:
    """The name beside `name` for a text that was kept (`utc` like `20261120T100000Z`); `number` from 2 avoids a taken one."""
    stem = name[:-3] if name.lower().endswith(".md") else name
    tail = f".conflict-{utc}-{who}{f'-{number}' if number > 1 else ''}.md"
    return cut(stem, LONGEST_PART - len(tail.encode())) + tail


def name_key(name: str) -> str:
    """The form under which names meet on disks that ignore case or Unicode composition."""
    return unicodedata.normalize("NFC", name).casefold()


def inside(root: Path, path: str) -> Path:
    """The absolute path of `path` (relative to the root), links in it unfollowed.

    Refused for what is absolute, hidden or reserved, climbs, holds control characters or backslashes, is too long
    for a file system, or leads out of the root through a link.
    """
    if is_around(path):
        named = one_line(path.removeprefix(AROUND), 60)
        hint = f"change it in your editor; {step('remember')} keeps what is to be said of it"
        raise Refused(f"{named} is of the folder around the vault, which is never written", hint)
    fault = path_fault(path)
    if fault:
        raise Refused(f"{one_line(path, 80)!r} cannot be a path in the vault: {fault}", "name a file below the vault's folder")
    target = root / path
    real_parts(root, path)
    return target


def real_parts(root: Path, path: str) -> tuple[str, ...]:
    """The parts below the root of what `path` stands for once links are followed; Refused where they leave the root."""
    base = root.resolve()
    try:
        real = (base / path).resolve()
    except (OSError, RuntimeError) as fault:
        raise Refused(f"{path} cannot be followed: its links lead in a circle", "mend the link") from fault
    if not real.is_relative_to(base) or real == base:
        raise Refused(f"{path} leads out of the vault through a link", "replace the link by a file")
    parts = real.relative_to(base).parts
    hidden = next((part for part in parts if part.startswith(".")), None)
    if hidden is not None and parts not in [(name,) for name in GIT_FILES]:
        raise Refused(f"{path} leads to the hidden {hidden}", "replace the link by a file")
    return parts


def path_fault(path: str) -> str:
    """Why `path` can be no path of the vault's, in words; empty when it can."""
    if path in GIT_FILES:
        return ""
    if not path or path.startswith("/") or _DRIVE.match(path):
        return "it must be relative to the vault's root"
    if "\\" in path:
        return "it holds a backslash"
    if any(unicodedata.category(c) in ("Cc", "Cs") or c in _TURNING for c in path):
        return "it holds a control character"
    if any(part in ("", ".", "..") for part in path.split("/")):
        return "it has an empty part or climbs"
    return next((fault for part in PurePosixPath(path).parts if (fault := _part_fault(part))), "")


def _part_fault(part: str) -> str:
    if part.startswith("."):
        return f"{part} is hidden"
    if len(part.encode()) > LONGEST_PART:
        return "a part of it is longer than 255 bytes"
    if _DEVICE.fullmatch(part.split(".", 1)[0].rstrip(" ")):
        return f"{part} is a device's name on Windows"
    return ""
