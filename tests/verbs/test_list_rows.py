"""The rows that a page keeps of all memories tell what a look at all of them tells, whatever was written meanwhile."""

from __future__ import annotations

from datetime import timedelta
from itertools import count
from pathlib import Path
from random import Random

import pytest

from vault_tool import Vault
from vault_tool.features.editing.deleting import delete_memories
from vault_tool.features.reading.facets import facets_of, list_counts, list_with_facets
from vault_tool.features.reading.listing import filtered, part_of
from vault_tool.index import list_rows
from vault_tool.index.list_rows import ListRows
from vault_tool.model.snapshot import Entry
from vault_tool.util.clock import FixedClock


def _all_parts(vault: Vault, sort: str, kept: bool) -> list[tuple[str, ...]]:
    """The ids of each part of three of the list without filters: by the rows that are kept, or by a look at all memories."""
    parts, after = [], ""
    while True:
        chosen = filtered(vault)
        part = (
            list_with_facets(vault, sort=sort, limit=3, after=after)[0]
            if kept
            else part_of(vault, chosen, sort=sort, limit=3, after=after)
        )
        assert part.total == len(chosen)
        parts.append(tuple(row.id for row in part.results))
        if part.next is None:
            return parts
        after = part.next


def _looks_alike(vault: Vault) -> None:
    """Compare the list by what is kept with the list by a look at all memories."""
    vault.fresh()
    for sort in ("created", "observed"):
        assert _all_parts(vault, sort, kept=True) == _all_parts(vault, sort, kept=False)
    assert list_with_facets(vault, sort="created", limit=3, after="")[1] == facets_of(filtered(vault))
    assert list_counts(vault, "3d") == (len(filtered(vault)), facets_of(filtered(vault, since="3d")))


@pytest.mark.parametrize("seed", range(3))
def test_what_is_kept_follows_every_change(root: Path, clock: FixedClock, seed: int) -> None:
    draw, number = Random(seed), count()
    with Vault.open(root, person=True, clock=clock) as page, Vault.open(root, person=True, clock=clock) as other:
        ids: list[str] = []
        first = other.create_understanding(["Lab"], "The lab is loud.", "Loud").id
        for _ in range(14):
            what = draw.choice(["write", "write", "write", "tag", "delete", "edit", "replace", "end", "move", "day"])
            if what == "write" or not ids:
                session = draw.choice(["a", "b"])
                writer = other.as_(session=session)
                ids.append(writer.remember(f"The pump says {next(number)}.", [draw.choice(["Lab", "Pump"])]).id)
            elif what == "tag":
                other.tag(draw.choice(ids), add=[draw.choice(["loud", "new"])])
            elif what == "delete":
                delete_memories(other, [ids.pop(draw.randrange(len(ids)))])
            elif what == "edit":
                path = root / other.show(draw.choice(ids)).path
                path.write_text(path.read_text() + "\nBy hand.\n")
            elif what == "replace":
                first = other.update_understanding(first, f"The lab is quiet {next(number)}.", "Quiet").new_understanding_id
            elif what == "end":
                ids.append(
                    other.remember(
                        f"The fair is on {next(number)}.", ["Fair"], expires=(clock.now() + timedelta(days=1)).date().isoformat()
                    ).id
                )
            elif what == "move":
                path = root / other.show(draw.choice(ids)).path
                path.rename(path.with_name(f"moved-{next(number)}.md"))
            else:
                clock.advance(timedelta(days=2))
            _looks_alike(page)


def test_the_newest_goes_and_another_comes_between_two_looks(root: Path, clock: FixedClock) -> None:
    with Vault.open(root, person=True, clock=clock) as page, Vault.open(root, person=True, clock=clock) as other:
        other.remember("The pump is old.", ["Pump"])
        newest = root / other.show(other.remember("The crane is new.", ["Pump"]).id).path
        _looks_alike(page)
        newest.unlink()
        other.fresh()
        for at in range(8):
            text = f"---\nid: 11111111-1111-4111-8111-11111111111{at}\ntype: fact\n---\nThe bell rings {at}.\n"
            (root / "vault" / "observations" / f"bell-{at}.md").write_text(text)
        other.fresh()
        _looks_alike(page)


def test_a_change_of_one_memory_reads_no_other(root: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch) -> None:
    with Vault.open(root, person=True, clock=clock) as vault:
        for at in range(5):
            vault.remember(f"The pump says {at}.", ["Pump"])
        total, _ = list_counts(vault, "7d")
        taken: list[str] = []
        put = ListRows._put

        def noted(rows: ListRows, entry: Entry) -> object:
            taken.append(entry.title)
            return put(rows, entry)

        monkeypatch.setattr(list_rows.ListRows, "_put", noted)
        vault.remember("The crane is new.", ["Crane"])
        assert list_counts(vault, "7d")[0] == total + 1
        assert taken == ["The crane is new"]
