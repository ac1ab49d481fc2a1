"""Where a map's nodes are drawn: a force-directed layout, which begins from where they were drawn before."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from vault_tool.util.deferred import numpy as np

Positions = Mapping[str, tuple[float, float]]

_SIDE = 1000.0
# How far, in each direction, a node may move from where it was drawn before.
_LEASH = 0.1 * _SIDE
# Steps of the layout: at most so many, and so that steps times nodes squared stays below the second.
_MOST_STEPS, _WORK = 150, 60_000_000


def placed(ids: Sequence[str], edges: Sequence[tuple[str, str, float]], before: Positions) -> dict[str, tuple[float, float]]:
    """A place for each of `ids` (Fruchterman and Reingold, 1991), from edges with their weights.

    What was placed `before` begins there and moves little, so that a map that is opened again is known again; the rest begins
    at a place that follows from its id. The same input gives the same map.
    """
    count = len(ids)
    if count == 0:
        return {}
    at = np.array([before.get(identity) or _beginning(identity) for identity in ids], dtype=np.float64)
    start, leash = at.copy(), np.array([_LEASH if identity in before else np.inf for identity in ids])[:, None]
    free = np.array([0.15 if identity in before else 1.0 for identity in ids])[:, None]
    row = {identity: number for number, identity in enumerate(ids)}
    pairs = [(row[a], row[b], weight) for a, b, weight in edges if a in row and b in row and a != b]
    left = np.array([a for a, _, _ in pairs], dtype=np.intp)
    right = np.array([b for _, b, _ in pairs], dtype=np.intp)
    pull = np.array([weight for _, _, weight in pairs])[:, None] if pairs else np.zeros((0, 1))
    ideal = 1.2 * _SIDE / np.sqrt(count)
    steps = max(8, min(_MOST_STEPS, _WORK // (count * count)))
    lowest, highest = start - leash, start + leash
    for step in range(steps):
        moved = _repelled(at, ideal)
        if pairs:
            apart = at[left] - at[right]
            far = np.linalg.norm(apart, axis=1, keepdims=True) + 1e-9
            force = apart / far * (far**2 / ideal) * pull
            np.subtract.at(moved, left, force)
            np.add.at(moved, right, force)
        moved += (0.5 * _SIDE - at) * 0.05  # what is linked to nothing must not drift away
        size = np.linalg.norm(moved, axis=1, keepdims=True) + 1e-9
        heat = 0.12 * _SIDE * (1 - step / steps)
        at += moved / size * np.minimum(size, heat) * free
        at = np.clip(at, lowest, highest)
    return {identity: (round(float(x), 1), round(float(y), 1)) for identity, (x, y) in zip(ids, at, strict=True)}


def _repelled(at: np.ndarray, ideal: float) -> np.ndarray:
    """The push of all other nodes on each node."""
    apart = at[:, None, :] - at[None, :, :]
    squared = (apart**2).sum(axis=2) + 1e-3
    np.fill_diagonal(squared, np.inf)
    push: np.ndarray = (apart * (ideal**2 / squared)[:, :, None]).sum(axis=1)
    return push


def _beginning(identity: str) -> tuple[float, float]:
    """A place that follows from an id."""
    digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).digest()
    x, y = (int.from_bytes(digest[begin : begin + 4], "big") / 2**32 for begin in (0, 4))
    return _SIDE * x, _SIDE * y
