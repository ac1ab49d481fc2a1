"""A month away: two machines of one person work as people do, see nothing of each other, and then sync."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.faults.killer import runs_wanted
from tests.git_repos import git
from tests.oracles import assert_git_is_sound
from tests.sync.machines import assert_without_markers, clone_of, founded_with_hub
from vault_tool import Vault
from vault_tool.errors import VaultError
from vault_tool.files.merging.head_merge import UNSETTLED
from vault_tool.files.two_versions import OPEN

NOTES = 200
"""Memories that both have before they part."""

TOPICS = tuple(
    f"{name} {place}"
    for name in ("Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta")
    for place in ("north", "east", "south", "west")
)


def _head_end(lines: list[str]) -> int:
    return [line.rstrip("\r") for line in lines].index("---", 1)


class Month:
    """A machine, and the words that its person wrote there, each with the memory that it is in."""

    def __init__(self, root: Path, chance: random.Random, notes: list[str]) -> None:
        self.root, self.chance, self.notes = root, chance, list(notes)
        self.words: dict[str, str] = {}
        self.gone: set[str] = set()
        self.taken: set[str] = set()
        self.number = 0

    def work(self, operations: int) -> None:
        """What a person does, as often as they do it."""
        often: list[tuple[int, Callable[[Vault], None]]] = [
            (30, self.remember), (14, self.append), (12, self.reword), (10, self.tag), (8, self.vote), (6, self.link),
            (4, self.pin), (4, self.move), (1, self.summary), (3, self.untag), (3, self.insert), (2, self.forget), (1, self.ends),
        ]  # fmt: skip
        works = [work for weight, work in often for _ in range(weight)]
        with Vault.open(self.root, person=True) as vault:
            for number in range(operations):
                # What the other machine did is not known here: each act is allowed or refused by itself.
                with suppress(VaultError):
                    self.chance.choice(works)(vault)
                if number % 20 == 19:
                    vault.commit()
            vault.commit()

    def word(self, about: str) -> str:
        self.number += 1
        word = f"w{self.root.name}{self.number:04}"
        self.words[word] = about
        return word

    def note(self) -> str:
        """A memory: the newer ones are worked on more often."""
        return self.notes[-1 - int(len(self.notes) * self.chance.random() ** 1.5)]

    def lines(self, vault: Vault, identity: str) -> tuple[Path, list[str]]:
        found = vault.index.catalog.get(identity)
        if not found:
            raise VaultError("gone")
        path = self.root / found[0].path
        return path, path.read_bytes().decode().split("\n")

    def remember(self, vault: Vault) -> None:
        word = self.word("")
        paragraphs = [f"{name} of {word} is told here, sentence {number}." for number, name in enumerate(TOPICS[:3])]
        made = vault.remember("\n\n".join(paragraphs), [self.chance.choice(TOPICS)])
        self.words[word] = made.id
        self.notes.append(made.id)

    def append(self, vault: Vault) -> None:
        identity = self.note()
        path, lines = self.lines(vault, identity)
        path.write_text("\n".join([*lines[:-1], "", f"Added later: {self.word(identity)}.", ""]), newline="")

    def insert(self, vault: Vault) -> None:
        identity = self.note()
        path, lines = self.lines(vault, identity)
        places = [number for number, line in enumerate(lines) if number > _head_end(lines) + 1 and not line.strip()]
        lines[(place := self.chance.choice(places)) : place] = ["", f"In between: {self.word(identity)}."]
        path.write_text("\n".join(lines), newline="")

    def reword(self, vault: Vault) -> None:
        identity = self.note()
        path, lines = self.lines(vault, identity)
        texts = [number for number, line in enumerate(lines) if number > _head_end(lines) and line.strip()]
        number = self.chance.choice(texts)
        words = lines[number].split(" ")
        words.insert(self.chance.randint(1, len(words)), self.word(identity))
        lines[number] = " ".join(words)
        path.write_text("\n".join(lines), newline="")

    def ends(self, vault: Vault) -> None:
        path, lines = self.lines(vault, self.note())
        path.write_text("\r\n".join(line.rstrip("\r") for line in lines), newline="")

    def tag(self, vault: Vault) -> None:
        identity = self.note()
        vault.tag(identity, [self.word(identity)])

    def untag(self, vault: Vault) -> None:
        identity = self.note()
        self.lines(vault, identity)
        if tags := vault.index.catalog.get(identity)[0].texts("tags"):
            self.taken.add(gone := self.chance.choice(tags))
            vault.tag(identity, [], [gone])

    def vote(self, vault: Vault) -> None:
        identity = self.note()
        vault.mark_useful(identity, f"it helped {self.word(identity)}")

    def link(self, vault: Vault) -> None:
        start, end = self.note(), self.note()
        word = self.word(f"{start} {end}")
        try:
            if not vault.link(start, "RELATED_TO", end, f"they are near {word}").committed:
                del self.words[word]
        except VaultError:
            del self.words[word]

    def pin(self, vault: Vault) -> None:
        vault.pin(self.note())

    def move(self, vault: Vault) -> None:
        path, _ = self.lines(vault, self.note())
        target = self.root / "vault" / "moved" / self.chance.choice("xyz") / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            path.rename(target)
        vault.fresh()

    def summary(self, vault: Vault) -> None:
        vault.update_subject_summary(self.chance.choice(TOPICS), f"Summary {self.word('')}")

    def forget(self, vault: Vault) -> None:
        identity = self.note()
        vault.forget(identity)
        self.gone.add(identity)


def away(folder: Path, seed: int, operations: int, count: int = NOTES) -> Counter[str]:
    """Two machines that part, work and meet: how many notes both changed, how many ask a person, and what was lost."""
    chance = random.Random(seed)
    first, hub = founded_with_hub(folder)
    with Vault.open(first, person=True) as vault:
        drafts = [
            {"content": "\n\n".join(f"Paragraph {part} of note {number}, as it stood." for part in range(1 + number % 5)),
             "subject_names": [TOPICS[number % len(TOPICS)]], "tags": ["base"]}
            for number in range(count)
        ]  # fmt: skip
        notes = [each.id for each in vault.add_observations(drafts).results]
        vault.sync()
    machines = [Month(first, chance, notes), Month(clone_of(hub, "b"), chance, notes)]
    for machine in machines:
        machine.work(operations)
    counts: Counter[str] = Counter(operations=operations)
    for machine in (*machines, *machines):
        with Vault.open(machine.root, person=True) as vault:
            done = vault.sync()
        assert not done.reason, done.reason
        counts["both changed"] += len(done.merged)
        counts["unsettled"] += len(done.unsettled)
    trees = {git(machine.root, "rev-parse", "HEAD^{tree}") for machine in machines}
    assert len(trees) == 1
    text = ""
    asking = set()
    for path in (first / "vault").rglob("*"):
        if path.is_file():
            content = path.read_text()
            text += content
            if OPEN in content or f"\n{UNSETTLED}:" in content:
                asking.add(path.name)
    with Vault.open(first, person=True) as vault:
        listed = vault.unsettled()
        problems = {
            problem.path.rpartition("/")[2] for problem in vault.doctor(every=True).problems if problem.code == "unsettled"
        }
    # What asks a person is named, by the sync, by review and by doctor.
    assert counts["unsettled"] == len(asking), (counts, asking)
    assert asking <= problems and len(listed.results) >= len(asking)
    gone = machines[0].gone | machines[1].gone
    for machine in machines:
        assert git(machine.root, "status", "--porcelain") == ""
        assert_without_markers(machine.root)
        for word, about in machine.words.items():
            counts["texts"] += 1
            others = {*about.split()} & gone
            taken = word in machines[0].taken | machines[1].taken
            if word in text:
                counts["forgotten words"] += bool(others)
            elif not others and not taken and about:
                counts["lost"] += 1
                counts[f"lost {word} of {about}"] += 1
    assert_git_is_sound(first)
    return counts


def test_a_month_away_asks_little_and_loses_nothing(tmp_path: Path) -> None:
    few = runs_wanted(1) == 1
    total: Counter[str] = Counter()
    for seed in range(runs_wanted(1)):
        folder = tmp_path / str(seed)
        folder.mkdir()
        counts = away(folder, seed, *((30, 20) if few else (400,)))
        sys.stdout.write(f"{seed} {dict(counts)}\n")
        assert counts["lost"] == 0 and counts["forgotten words"] == 0, counts
        total += counts
    if not few:
        assert total["unsettled"] * 10 <= total["both changed"], total
