"""How the C library shares memory out among threads."""

from __future__ import annotations

import ctypes

# mallopt(3)'s name for the most arenas there may be.
_ARENA_MAX = -8


def share_one_heap() -> bool:
    """Let all threads of this process allocate from one arena; False where the C library has no such setting.

    glibc gives threads arenas of their own, up to eight a core, and what is freed in one is of no use to the others: a
    process that answers each request on a new thread grows to twice what it needs. Arenas made before this call stay.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    mallopt.argtypes, mallopt.restype = [ctypes.c_int, ctypes.c_int], ctypes.c_int
    return bool(mallopt(_ARENA_MAX, 1))
