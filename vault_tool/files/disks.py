"""Whether the disk under a vault notifies of what other machines do to it."""

from __future__ import annotations

import os
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_SHARED = (
    "nfs",
    "cifs",
    "smb",
    "9p",
    "afs",
    "ceph",
    "glusterfs",
    "lustre",
    "ncpfs",
    "fuse.sshfs",
    "fuse.rclone",
    "vboxsf",
    "virtiofs",
)


def network_disk(folder: str | Path, mounts: Path = _MOUNTS) -> str:
    """The kind of the shared file system that `folder` is on (`nfs4`), or nothing for a local or unknown one."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    where = os.path.realpath(folder)
    best, kind = "", ""
    for line in lines:
        before, _, after = line.partition(" - ")
        point, filesystem = before.split(" ")[4], after.split(" ")[0]
        point = point.encode("utf-8", "surrogateescape").decode("unicode_escape")
        # The last of several mounts on one point is the one that is seen.
        if len(point) >= len(best) and (where == point or where.startswith(point.rstrip("/") + "/")):
            best, kind = point, filesystem
    return kind if kind.startswith(_SHARED) else ""
