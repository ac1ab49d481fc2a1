"""The supersession DAG: what replaces what, and what a cycle must not hide."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence

from vault_tool.model.types import KEPT_TYPES

Place = tuple[str, str, frozenset[str]]
"""What at most one understanding is to be of: a type, a user, and subjects by their keys."""


def place_of(type: str, user: str, keys: frozenset[str]) -> Place | None:
    """The place of an understanding, None where it names no subject and so cannot be compared.

    A soul, protocol or orientation belongs to the vault, whatever subjects it is tagged with.
    """
    if type in KEPT_TYPES:
        return type, user, frozenset()
    return (type, user, keys) if keys else None


def cycles(edges: Mapping[str, Sequence[str]]) -> tuple[frozenset[str], ...]:
    """The strongly connected components of more than one node, and the self-loops (Tarjan 1972, iterative).

    Iterative because a chain of 10,000 revisions must not meet Python's recursion limit.
    """
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    on_stack: set[str] = set()
    stack: list[str] = []
    groups: list[frozenset[str]] = []
    for root in edges:
        if root in index:
            continue
        work = [(root, iter(edges.get(root, ())))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, successors = work[-1]
            for successor in successors:
                if successor not in index:
                    index[successor] = low[successor] = len(index)
                    stack.append(successor)
                    on_stack.add(successor)
                    work.append((successor, iter(edges.get(successor, ()))))
                    break
                if successor in on_stack:
                    low[node] = min(low[node], index[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    groups.extend(_component(node, stack, on_stack, edges))
    return tuple(groups)


def _component(node: str, stack: list[str], on_stack: set[str], edges: Mapping[str, Sequence[str]]) -> Iterable[frozenset[str]]:
    """Take one component off the stack; a single node counts only when it points at itself."""
    members = set()
    while True:
        member = stack.pop()
        on_stack.discard(member)
        members.add(member)
        if member == node:
            break
    if len(members) > 1 or node in edges.get(node, ()):
        yield frozenset(members)


def superseded_by(
    edges: Mapping[str, Sequence[str]], barred: Container[tuple[str, str]] = frozenset()
) -> dict[str, tuple[str, ...]]:
    """For each replaced id the ids that replace it, where `edges` maps each newer id to what it supersedes.

    A link between two members of one cycle replaces nothing: all members stay active. Nor does one that is `barred` (the
    newer id, the older one).
    """
    if barred:
        edges = {newer: [old for old in olds if (newer, old) not in barred] for newer, olds in edges.items()}
    home: dict[str, int] = {}
    for number, members in enumerate(cycles(edges)):
        home.update(dict.fromkeys(members, number))
    successors: dict[str, list[str]] = defaultdict(list)
    for newer, olds in edges.items():
        for old in dict.fromkeys(olds):
            if newer != old and not (newer in home and home.get(old) == home[newer]):
                successors[old].append(newer)
    return {old: tuple(sorted(newer)) for old, newer in successors.items()}


def longest_chain(parents: Mapping[str, Sequence[str]]) -> int:
    """The number of passes on the longest chain: the vault's generation. Links in cycles or to nothing do not count."""
    cyclic = {member for members in cycles(parents) for member in members}
    depth: dict[str, int] = {}
    for root in parents:
        work = [root]
        while work:
            node = work[-1]
            before = [p for p in parents[node] if p in parents and not (p in cyclic and node in cyclic)]
            waiting = [p for p in before if p not in depth]
            if waiting:
                work.extend(waiting)
            else:
                depth[node] = 1 + max((depth[p] for p in before), default=0)
                work.pop()
    return max(depth.values(), default=0)
