"""Where the owner of a vault listens: a socket for its user alone, in the runtime folder, under a hash of the vault's root.

The runtime folder in the folder for temporary files has a name that others can take first: then it is one in the user's
data folder.

Windows has no such socket that Python knows: there it is a port of this machine, told with a token in a private file.
"""

from __future__ import annotations

import os
import socket
import stat
import struct
from contextlib import ExitStack, suppress

from vault_tool.owner.digest import blake2b

FOLDER = "vault_tool"
# Most bytes of a socket's path that every system takes.
LONGEST_PATH = 100

_PRIVATE_FOLDER = 0o700
_PRIVATE_FILE = 0o600
_BACKLOG = 64
_CREDENTIALS = struct.Struct("3i")
_BY_PORT = os.name == "nt"


class NotPrivate(OSError):
    """A runtime folder or socket belongs to another user, or lets others in."""


def folders() -> list[str]:
    """The runtime folders, the best first; none need be there yet."""
    if _BY_PORT:
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~")
        return [os.path.join(base, FOLDER, "run")]
    named = os.environ.get("XDG_RUNTIME_DIR", "")
    usual = os.environ.get("TMPDIR") or "/tmp"
    candidates = [os.path.join(named, FOLDER)] if os.path.isabs(named) and os.path.isdir(named) else []
    data = os.environ.get("XDG_DATA_HOME", "").strip()
    # A relative one would be another folder in each folder that a command is typed in.
    own = data if os.path.isabs(data) else os.path.expanduser("~/.local/share")
    last = [os.path.join(own, FOLDER, "run")] if os.path.isabs(own) else []
    return [*candidates, os.path.join(usual, f"{FOLDER}-{os.getuid()}"), *last]


def paths(root: str) -> list[str]:
    """Where the owner of the vault at `root` (resolved) may listen, the best place first."""
    name = blake2b(os.fsencode(root), digest_size=8).hexdigest()
    every = (os.path.join(folder, name) for folder in folders())
    return [path for path in every if len(os.fsencode(path)) <= LONGEST_PATH]


def why_nowhere(root: str) -> str:
    """Why no owner of the vault can listen anywhere, in a few words; empty where one can. Nothing is made for that."""
    reasons = []
    for path in paths(root):
        folder = os.path.dirname(path)
        try:
            if not os.path.lexists(folder):
                _require_room(folder)
            elif not _BY_PORT:
                _require_private(folder, stat.S_ISDIR)
        except OSError as fault:
            reasons.append(str(fault))
        else:
            return ""
    return " and ".join(reasons) or "the path of the folder for its socket is too long"


def connect(root: str, seconds: float) -> socket.socket | None:
    """A connection to the process that listens for the vault, each wait bounded by `seconds`; None if no process does."""
    for path in paths(root):
        with suppress(OSError, ValueError):
            if _BY_PORT:
                return _connected_by_port(path, seconds)
            _require_private(os.path.dirname(path), stat.S_ISDIR)
            _require_private(path, stat.S_ISSOCK)
            line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            with ExitStack() as failed:
                failed.callback(line.close)  # an interrupt leaves no open socket either
                line.settimeout(seconds)
                line.connect(path)
                require_own_peer(line)
                failed.pop_all()
            return line
    return None


class Listening:
    """A socket that listens for one vault, and the path that says where; `token` is what a port asks of who calls.

    The caller holds the owner lock: what it finds in its place belongs to nobody any more.
    """

    def __init__(self, root: str) -> None:
        faults: list[OSError] = []
        self.token = ""
        for path in paths(root):
            try:
                self.line = self._listen(path)
            except OSError as fault:
                faults.append(fault)
                continue
            self.path = path
            self._stat = os.lstat(path)
            return
        raise faults[0] if faults else OSError("the runtime folder's path is too long for a socket")

    def close(self) -> None:
        """Listen no more, and take the path away where it is still ours."""
        self.line.close()
        with suppress(OSError):
            stat = os.lstat(self.path)
            if (stat.st_dev, stat.st_ino) == (self._stat.st_dev, self._stat.st_ino):
                os.unlink(self.path)

    def _listen(self, path: str) -> socket.socket:
        make_folder(path)
        with suppress(FileNotFoundError):
            os.unlink(path)
        line = socket.socket(socket.AF_INET if _BY_PORT else socket.AF_UNIX, socket.SOCK_STREAM)
        with ExitStack() as failed:
            failed.callback(line.close)  # nor one without a listener
            if _BY_PORT:
                line.bind(("127.0.0.1", 0))
                import secrets  # 6 ms, and only who listens by port needs it

                self.token = secrets.token_hex(16)
                written = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE_FILE)
                with open(written, "w", encoding="ascii") as file:
                    file.write(f"{line.getsockname()[1]} {self.token}")
            else:
                line.bind(path)
                os.chmod(path, _PRIVATE_FILE)
            line.listen(_BACKLOG)
            failed.pop_all()
        return line


def make_folder(path: str) -> None:
    """Make the private folder of a path, or see that it is one; raises OSError."""
    folder = os.path.dirname(path)
    with suppress(FileExistsError):  # what is there instead of a folder is said below
        os.makedirs(folder, mode=_PRIVATE_FOLDER, exist_ok=True)
    if not _BY_PORT:
        _require_private(folder, stat.S_ISDIR)


def require_own_peer(line: socket.socket) -> None:
    """NotPrivate where the other end of a Unix socket is another user's, as far as the system says whose it is."""
    if _BY_PORT or not hasattr(socket, "SO_PEERCRED"):
        return
    credentials = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    if _CREDENTIALS.unpack(credentials)[1] != os.getuid():
        raise NotPrivate("the other end belongs to another user")


def _connected_by_port(path: str, seconds: float) -> socket.socket:
    with open(path, encoding="ascii") as file:
        port, token = file.read(100).split()
    line = socket.create_connection(("127.0.0.1", int(port)), timeout=seconds)
    line.sendall(f"{token}\n".encode())
    return line


def _require_room(folder: str) -> None:
    """NotPrivate where this user cannot make the folder."""
    above = os.path.dirname(folder)
    while not os.path.lexists(above) and above != os.path.dirname(above):
        above = os.path.dirname(above)
    if not os.path.isdir(above) or not os.access(above, os.W_OK | os.X_OK):
        raise NotPrivate(f"{folder} cannot be made")


def _require_private(path: str, is_kind: object) -> None:
    status = os.lstat(path)
    kind_fits = callable(is_kind) and is_kind(status.st_mode)
    others = stat.S_IMODE(status.st_mode) & 0o077
    if not kind_fits or status.st_uid != os.getuid() or (stat.S_ISDIR(status.st_mode) and others):
        raise NotPrivate(f"{path} is not this user's alone")
