"""Renames that plain POSIX lacks: swap two names, or take a name only if it is free."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import cache

_NOREPLACE = 1
_EXCHANGE = 2
_UNSUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM, errno.EXDEV})
_LINKS_UNSUPPORTED = frozenset({errno.ENOSYS, errno.ENOTSUP, errno.EPERM, errno.EMLINK})

_Renameat2 = Callable[[int, bytes, int, bytes, int], int]


@cache
def _renameat2() -> _Renameat2 | None:
    """Linux's renameat2(2) out of the C library, or None where there is no such call."""
    import ctypes  # 5 ms, and only writers need it

    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return None
    call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    call.restype = ctypes.c_int

    def renameat2(old_folder: int, old: bytes, new_folder: int, new: bytes, flags: int) -> int:
        return 0 if call(old_folder, old, new_folder, new, flags) == 0 else ctypes.get_errno()

    return renameat2


def _rename_with(folder: int | None, old: str, new: str, flags: int) -> bool:
    call = _renameat2()
    if call is None or folder is None:
        return False
    fault = call(folder, os.fsencode(old), folder, os.fsencode(new), flags)
    if fault == 0:
        return True
    if fault in _UNSUPPORTED:
        return False
    raise OSError(fault, os.strerror(fault), new)


def exchange(folder: int | None, first: str, other: str) -> bool:
    """Swap what two names of one folder stand for, in one step; False where the system cannot.

    `folder` is a descriptor. Raises FileNotFoundError when one of the names is gone.
    """
    return _rename_with(folder, first, other, _EXCHANGE)


def rename_to_free(folder: int | None, old: str, new: str) -> None:
    """Rename within one folder only if `new` is free, else FileExistsError; names are full paths where `folder` is None."""
    if _rename_with(folder, old, new, _NOREPLACE):
        return
    try:
        os.link(old, new, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except (NotImplementedError, OSError) as fault:
        if isinstance(fault, OSError) and fault.errno not in _LINKS_UNSUPPORTED:
            raise
        # Neither call exists (FAT, some network shares): holding the name by an exclusive empty file is the next best.
        os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder))
        os.replace(old, new, src_dir_fd=folder, dst_dir_fd=folder)
        return
    os.unlink(old, dir_fd=folder)
