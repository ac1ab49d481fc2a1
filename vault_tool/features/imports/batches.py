"""Items of an import in batches, each small enough to hold in memory and to be one commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def batches_of(items: Iterable[Item], size: Callable[[Item], int], most: int, most_bytes: int) -> Iterator[list[Item]]:
    """At most `most` items at a time, of at most `most_bytes` by their `size`; a larger item is a batch of its own."""
    batch: list[Item] = []
    room = most_bytes
    for item in items:
        if batch and (len(batch) == most or size(item) > room):
            yield batch
            batch, room = [], most_bytes
        batch.append(item)
        room -= size(item)
    if batch:
        yield batch
