"""Three clones of one hub, many operations of every kind on each, synced at random: all end alike and no text is lost."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.faults.killer import runs_wanted
from tests.oracles import assert_git_is_sound
from tests.sync.machines import clone_of, founded_with_hub, in_step, sync
from vault_tool import Vault
from vault_tool.errors import VaultError

OPERATIONS = 30
"""Operations of each machine."""


class Machine:
    """A machine with its vault, and the texts that its person wrote and that must be somewhere in the end."""

    def __init__(self, root: Path, chance: random.Random, shared: list[str], forgotten: set[str]) -> None:
        self.root, self.chance, self.shared, self.forgotten = root, chance, shared, forgotten
        self.texts: dict[str, str] = {}
        self.number = 0

    def word(self) -> str:
        self.number += 1
        return f"w{self.root.name}{self.number:03}"

    def note(self, vault: Vault) -> str | None:
        known = [identity for identity in self.shared if vault.index.catalog.get(identity)]
        return self.chance.choice(known) if known else None

    def step(self, vault: Vault, mix: str) -> None:
        works: list[Callable[[Vault], None]] = [self.remember, self.tag, self.edit, self.edit, self.vote, self.link, self.move]
        if mix == "with deletions":
            works += [self.forget, self.delete, self.summary, self.untag]
        else:
            works += [self.summary, self.remember, self.edit, self.pin]
        # What one machine may not do now another did first.
        with suppress(VaultError):
            self.chance.choice(works)(vault)

    def remember(self, vault: Vault) -> None:
        word = self.word()
        made = vault.remember(f"Remembered {word} on this machine.", [self.chance.choice(["Alpha", "Beta", "Gamma"])])
        self.shared.append(made.id)
        self.texts[word] = made.id

    def file(self, vault: Vault) -> tuple[str, Path] | None:
        identity = self.note(vault)
        return (identity, self.root / vault.index.catalog.get(identity)[0].path) if identity else None

    def edit(self, vault: Vault) -> None:
        if place := self.file(vault):
            identity, path = place
            lines = path.read_text().split("\n")
            word = self.word()
            if self.chance.random() < 0.5:
                lines.insert(-1, f"\nA line {word} by hand.")
            else:
                lines[-2] += f" {word}"
            path.write_text("\n".join(lines))
            self.texts[word] = identity

    def tag(self, vault: Vault) -> None:
        if identity := self.note(vault):
            word = self.word()
            vault.tag(identity, [word])
            self.texts[word] = identity

    def untag(self, vault: Vault) -> None:
        if identity := self.note(vault):
            tags = list(vault.index.catalog.get(identity)[0].texts("tags"))
            if tags:
                gone = self.chance.choice(tags)
                vault.tag(identity, [], [gone])
                self.forgotten.add(gone)

    def pin(self, vault: Vault) -> None:
        if identity := self.note(vault):
            vault.pin(identity)

    def vote(self, vault: Vault) -> None:
        if identity := self.note(vault):
            word = self.word()
            vault.mark_useful(identity, f"it helped {word}")
            self.texts[word] = identity

    def link(self, vault: Vault) -> None:
        one, other = self.note(vault), self.note(vault)
        if one and other and one != other:
            word = self.word()
            # Where the two are linked already nothing is written.
            if vault.link(one, "RELATED_TO", other, f"they are near {word}").committed:
                self.texts[word] = f"{one} {other}"

    def move(self, vault: Vault) -> None:
        if place := self.file(vault):
            target = self.root / "vault" / "moved" / self.chance.choice("xyz") / place[1].name
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                place[1].rename(target)

    def summary(self, vault: Vault) -> None:
        word = self.word()
        vault.update_subject_summary(self.chance.choice(["Alpha", "Beta", "Gamma"]), f"Summary {word}")

    def forget(self, vault: Vault) -> None:
        if (identity := self.note(vault)) and self.chance.random() < 0.3:
            vault.forget(identity)
            self.forgotten.add(identity)

    def delete(self, vault: Vault) -> None:
        if (place := self.file(vault)) and self.chance.random() < 0.3:
            place[1].unlink()
            self.forgotten.add(place[0])


def worked(folder: Path, seed: int, mix: str, operations: int = OPERATIONS) -> Counter[str]:
    """Three machines at work, synced at random and in the end; what was lost, and what a person is left to settle."""
    chance = random.Random(seed)
    first, hub = founded_with_hub(folder)
    shared: list[str] = []
    forgotten: set[str] = set()
    with Vault.open(first, person=True) as vault:
        bodies = [f"Base {number} of all.\n\nSecond line {number}." for number in range(8)]
        shared.extend(vault.remember(body, ["Alpha"], tags=["base"]).id for body in bodies)
        vault.create_subjects([{"name": "Beta", "summary": "b"}, {"name": "Gamma", "summary": "c"}])
        vault.sync()
    roots = [first, clone_of(hub, "b"), clone_of(hub, "c")]
    machines = [Machine(root, chance, shared, forgotten) for root in roots]
    counts: Counter[str] = Counter()
    for _ in range(operations):
        for machine in machines:
            with Vault.open(machine.root, person=True) as vault:
                vault.fresh()
                machine.step(vault, mix)
        if chance.random() < 0.15:
            done = sync(chance.choice(roots))
            counts["merged"] += len(done.merged)
            counts["unsettled"] += len(done.unsettled)
    for root in (*roots, *roots):
        done = sync(root)
        counts["merged"] += len(done.merged)
        counts["unsettled"] += len(done.unsettled)
    in_step(*roots)
    text = "\n".join(path.read_text() for path in (first / "vault").rglob("*") if path.is_file())
    for machine in machines:
        for word, about in machine.texts.items():
            counts["texts"] += 1
            if word not in text and word not in forgotten and not any(identity in forgotten for identity in about.split()):
                counts["lost"] += 1
    assert_git_is_sound(first)
    return counts


@pytest.mark.parametrize("mix", ["without deletions", "with deletions"])
def test_three_clones_end_alike_and_lose_nothing(tmp_path: Path, mix: str) -> None:
    for seed in range(runs_wanted(1)):
        folder = tmp_path / str(seed)
        folder.mkdir()
        counts = worked(folder, seed, mix, OPERATIONS if runs_wanted(1) > 1 else 10)
        assert counts["lost"] == 0, (seed, counts)
        # Counts of a campaign are read where `-s` shows them.
        sys.stdout.write(f"{seed} {mix} {dict(counts)}\n")
