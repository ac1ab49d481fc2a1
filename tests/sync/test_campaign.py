"""Three clones of one hub, many operations of every kind on each, synced at random: all end alike and no text is lost."""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.faults.killer import runs_wanted
from tests.git_repos import git
from tests.oracles import assert_git_is_sound
from tests.sync.machines import as_person, assert_without_markers, clone_of, founded_with_hub
from vault_tool import Vault
from vault_tool.errors import VaultError

OPERATIONS = 30
"""Operations of each machine."""

PEOPLE = {"one owner": ("tester", "tester", "tester"), "three who trust each other": ("tester", "bob", "carol")}
"""Who works at each of the three machines."""

_WORDS = re.compile(r"\bw[abc]\d{3}\b")


@dataclass(slots=True)
class Gone:
    """The ids of memories that were forgotten or deleted, and the tags that were taken away."""

    forgotten: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    untagged: set[str] = field(default_factory=set)


class Machine:
    """A machine with its vault, and the texts that its person wrote and that must be somewhere in the end.

    `shared` are the memories of all, each with whoever wrote in it.
    """

    def __init__(self, root: Path, who: str, chance: random.Random, shared: dict[str, set[str]], gone: Gone) -> None:
        self.root, self.who, self.chance, self.shared, self.gone = root, who, chance, shared, gone
        self.texts: dict[str, str] = {}
        self.number = 0

    @contextmanager
    def at_work(self) -> Iterator[Vault]:
        """The vault, with its person before it."""
        with as_person(f"{self.who}@example.org"), Vault.open(self.root, person=True) as vault:
            yield vault

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
        self.shared[made.id] = {self.who}
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
            self.shared[identity].add(self.who)
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
                self.gone.untagged.add(gone)

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
        # Each forgets what is their own: of another's their word takes nothing away elsewhere.
        if (identity := self.note(vault)) and self.chance.random() < 0.3 and self.shared[identity] == {self.who}:
            vault.forget(identity)
            self.gone.forgotten.add(identity)

    def delete(self, vault: Vault) -> None:
        if (place := self.file(vault)) and self.chance.random() < 0.3:
            place[1].unlink()
            self.gone.deleted.add(place[0])


def worked(folder: Path, seed: int, mix: str, operations: int = OPERATIONS, people: str = "one owner") -> Counter[str]:
    """Three machines at work, synced at random and in the end; what was lost, and what a person is left to settle."""
    chance = random.Random(seed)
    first, hub = founded_with_hub(folder)
    shared: dict[str, set[str]] = {}
    gone = Gone()
    whose = PEOPLE[people]
    with Vault.open(first, person=True) as vault:
        bodies = [f"Base {number} of all.\n\nSecond line {number}." for number in range(8)]
        shared |= {vault.remember(body, ["Alpha"], tags=["base"]).id: {whose[0]} for body in bodies}
        vault.create_subjects([{"name": "Beta", "summary": "b"}, {"name": "Gamma", "summary": "c"}])
        vault.sync()
    roots = [first, clone_of(hub, "b"), clone_of(hub, "c")]
    machines = [Machine(root, who, chance, shared, gone) for root, who in zip(roots, whose, strict=True)]
    if len({*whose}) > 1:
        for machine in machines:
            with machine.at_work() as vault:
                vault.config(machine={"trusted": "*@example.org"})
    counts: Counter[str] = Counter()

    def synced(machine: Machine) -> None:
        with machine.at_work() as vault:
            done = vault.sync()
        counts["merged"] += len(done.merged)
        counts["unsettled"] += len(done.unsettled)

    for _ in range(operations):
        for machine in machines:
            with machine.at_work() as vault:
                vault.fresh()
                machine.step(vault, mix)
        if chance.random() < 0.15:
            synced(chance.choice(machines))
    for machine in machines * 4:
        synced(machine)
    trees = {git(root, "rev-parse", "HEAD^{tree}") for root in roots}
    assert len(trees) == 1, trees
    for root in roots:
        assert git(root, "status", "--porcelain") == ""
        assert_without_markers(root)
        there = {word for path in (root / "vault").rglob("*") if path.is_file() for word in _WORDS.findall(path.read_text())}
        for machine in machines:
            for word, about in machine.texts.items():
                counts["texts"] += 1
                ids = {*about.split()}
                # A memory is gone everywhere where its writers are all that forgot it.
                own = [identity for identity in ids & gone.forgotten if len(shared[identity]) == 1]
                if own and word in there:
                    counts["forgotten words"] += 1
                    counts[f"told: {word} of {about} at {root.name}"] += 1
                if word not in there and word not in gone.untagged and not ids & (gone.forgotten | gone.deleted):
                    counts["lost"] += 1
                    counts[f"lost: {word} of {about} at {root.name}"] += 1
    assert_git_is_sound(first)
    return counts


@pytest.mark.parametrize("people", PEOPLE)
@pytest.mark.parametrize("mix", ["without deletions", "with deletions"])
def test_three_clones_end_alike_and_lose_nothing(tmp_path: Path, mix: str, people: str) -> None:
    for seed in range(runs_wanted(1)):
        folder = tmp_path / str(seed)
        folder.mkdir()
        counts = worked(folder, seed, mix, OPERATIONS if runs_wanted(1) > 1 else 6, people)
        assert counts["lost"] == 0 and counts["forgotten words"] == 0, (seed, counts)
        # Counts of a campaign are read where `-s` shows them.
        sys.stdout.write(f"{seed} {mix} {people} {dict(counts)}\n")
