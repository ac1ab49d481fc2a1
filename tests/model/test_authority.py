"""The table of whose word does what, cell by cell: each act by each writer, about a text of each writer."""

from __future__ import annotations

import pytest

from vault_tool.model.authority import AGENT, OWNER, Act, Effect, Party, Writer, authority

BOB = Party(Writer.TRUSTED, "pulled (Bob <bob@example.org>)")
ANN = Party(Writer.TRUSTED, "pulled (Ann <ann@example.org>)")
EVE = Party(Writer.OTHERS, "pulled (Eve <eve@evil.example>)")
MAL = Party(Writer.OTHERS, "pulled (Mal <mal@evil.example>)")

TARGETS: tuple[Party | None, ...] = (OWNER, AGENT, ANN, EVE, None)
"""About a text of the owner's, an agent's here, a trusted person's, somebody else's, and where there is none yet."""

A, C, W, N, R, T = Effect.ALLOWED, Effect.CONTESTED, Effect.WAITS, Effect.NO_EFFECT, Effect.REFUSED, Effect.TOLD

# For each act what comes of it by the owner, an agent here, a trusted person (Bob) and somebody else (Mal), by whose text
# it is about, in the order of TARGETS.
TABLE: dict[Act, dict[Party, tuple[Effect, ...]]] = {
    Act.OVERTAKE: {OWNER: (A, A, A, A, A), AGENT: (C, A, A, A, A), BOB: (C, C, A, A, C), MAL: (C, C, C, C, C)},
    Act.VOTE: {OWNER: (A, A, A, A, A), AGENT: (A, A, A, A, A), BOB: (A, A, A, A, A), MAL: (T, T, A, A, T)},
    Act.WEIGHT: {OWNER: (A, A, A, A, A), AGENT: (W, W, W, W, W), BOB: (N, N, A, A, N), MAL: (N, N, N, N, N)},
    Act.HIDE: {OWNER: (A, A, A, A, A), AGENT: (R, R, R, R, R), BOB: (T, T, A, A, T), MAL: (T, T, A, A, T)},
    Act.IDENTITY: {OWNER: (A, A, A, A, A), AGENT: (W, W, W, W, W), BOB: (W, W, W, W, A), MAL: (W, W, W, W, W)},
    Act.ORIENTATION: {OWNER: (A, A, A, A, A), AGENT: (A, A, A, A, A), BOB: (W, W, W, W, A), MAL: (W, W, W, W, W)},
    Act.TOMBSTONE: {OWNER: (A, A, A, A, A), AGENT: (R, R, R, R, R), BOB: (W, W, A, A, W), MAL: (W, W, W, W, W)},
    Act.TAG: {OWNER: (A, A, A, A, A), AGENT: (A, A, A, A, A), BOB: (A, A, A, A, A), MAL: (T, T, T, T, T)},
}
CELLS = [
    (act, writer, target, effect)
    for act, row in TABLE.items()
    for writer, effects in row.items()
    for target, effect in zip(TARGETS, effects, strict=True)
]


def test_the_table_has_every_act_and_writer() -> None:
    assert TABLE.keys() == set(Act)
    assert all({writer.writer for writer in row} == set(Writer) for row in TABLE.values())


@pytest.mark.parametrize(("act", "writer", "target", "effect"), CELLS)
def test_a_cell(act: Act, writer: Party, target: Party | None, effect: Effect) -> None:
    assert authority(act, writer, target) is effect


@pytest.mark.parametrize("act", [Act.OVERTAKE, Act.VOTE, Act.TOMBSTONE])
def test_what_somebody_else_brought_is_their_own(act: Act) -> None:
    assert authority(act, MAL, MAL) is A
