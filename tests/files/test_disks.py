from __future__ import annotations

from pathlib import Path

import pytest

from vault_tool.files.disks import network_disk

MOUNTS = r"""
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
23 22 0:40 / /net rw,relatime shared:1 - nfs4 server:/export rw
24 22 0:41 / /net/local\040disk rw,relatime - ext4 /dev/vdb rw
25 22 0:42 / /windows rw - 9p share rw
26 22 0:43 / /home rw - fuse.sshfs host: rw
27 26 0:44 / /home rw - btrfs /dev/vdc rw
""".lstrip()


@pytest.mark.parametrize(
    ("folder", "kind"),
    [("/", ""), ("/net/v", "nfs4"), ("/network", ""), ("/net/local disk/v", ""), ("/windows", "9p"), ("/home/me", "")],
)
def test_the_disk_under_a_folder(tmp_path: Path, folder: str, kind: str) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    assert network_disk(Path(folder), mounts) == kind


def test_a_system_without_such_a_list(tmp_path: Path) -> None:
    assert network_disk(tmp_path, tmp_path / "none") == ""
