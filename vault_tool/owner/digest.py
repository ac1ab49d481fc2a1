"""The one hash by which owners and their clients find and know each other, without what `hashlib` loads beside it."""

from __future__ import annotations

try:
    from _blake2 import blake2b  # `hashlib` loads OpenSSL first: 4 ms of every command that asks an owner
except ImportError:  # a Python that has it from elsewhere
    from hashlib import blake2b

__all__ = ["blake2b"]
