"""Ten clones of one hub, each at other work, synced in any order: all end alike and no text is lost.

A campaign alone: `VAULT_CAMPAIGN=5 pytest tests/sync/test_ten_clones.py -s`.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.bounds import CAMPAIGN
from tests.faults.killer import runs_wanted
from tests.git_repos import git
from tests.oracles import assert_git_is_sound
from tests.sync.machines import assert_without_markers, clone_of, founded_with_hub
from vault_tool import Vault
from vault_tool.errors import VaultError
from vault_tool.features.editing.hiding import hide_from_page
from vault_tool.model.problems import Severity
from vault_tool.model.types import RecordClass

CLONES = 10
OPERATIONS = 16
"""Operations of each clone."""

MIXES: dict[str, dict[str, int]] = {
    "writers": {"remember": 4, "correct": 2, "turn": 3, "vote": 2, "link": 3, "alias": 1, "diary": 2, "insert": 2, "hide": 1},
    "editors": {"reword": 4, "insert": 3, "retype": 3, "rename": 3, "line_ends": 1, "title": 2, "diary": 2, "tag": 2},
    "movers": {"rename": 3, "move": 3, "delete": 2, "copy": 1, "reword": 3, "merge": 2, "unlink": 1, "link": 2, "remember": 2},
    "gatherers": {"folder": 3, "pasted": 3, "reword": 2, "remember": 2, "hide": 2, "pin": 1, "untag": 1, "tag": 2, "forget": 1},
}  # fmt: skip
"""How often a clone of each kind does what; a clone has one of them by its number."""

TYPES = ("fact", "insight", "decision", "preference", "general", "workaround")
TOPICS = ("Harbour", "harbours", "Kiln", "Loom", "Orchard", "Orchard tools")

_WORDS = re.compile(r"\bq\d\dx\d{3}\b")


def _head_end(lines: list[str]) -> int:
    return [line.rstrip("\r") for line in lines].index("---", 1)


class Gone:
    """The ids that were deleted or forgotten anywhere, and the words that were taken away by themselves."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self.words: set[str] = set()


class Clone:
    """A clone, and the words that were written there, each with the ids of the memories that it is in."""

    def __init__(self, number: int, root: Path, chance: random.Random, gone: Gone, folders: Path) -> None:
        self.number, self.root, self.chance, self.gone, self.folders = number, root, chance, gone, folders
        self.mix = [name for name, weight in [*MIXES.values()][number % len(MIXES)].items() for _ in range(weight)]
        self.words: dict[str, set[str]] = {}
        self.done: Counter[str] = Counter()
        self.count = 0

    def step(self) -> None:
        """One operation. What one clone may not do now another did first."""
        name = self.chance.choice(self.mix)
        work: Callable[[Vault], None] = getattr(self, name)
        with Vault.open(self.root, person=True) as vault:
            vault.fresh()
            with suppress(VaultError):
                work(vault)
                self.done[name] += 1

    def word(self, *ids: str) -> str:
        self.count += 1
        word = f"q{self.number:02}x{self.count:03}"
        self.words[word] = {*ids}
        return word

    def unwritten(self, word: str) -> None:
        del self.words[word]

    def note(self, vault: Vault) -> str:
        known = [entry.id for entry in vault.index.catalog.of_class(RecordClass.OBSERVATION, *TYPES)]
        if not known:
            raise VaultError("there is none")
        return str(self.chance.choice(sorted(known)))

    def file(self, vault: Vault) -> tuple[str, Path, list[str]]:
        identity = self.note(vault)
        path = self.root / vault.index.catalog.get(identity)[0].path
        return identity, path, path.read_bytes().decode().split("\n")

    def remember(self, vault: Vault) -> None:
        word = self.word()
        made = vault.remember(
            f"The {self.chance.choice(TOPICS).lower()} needs {word}.\n\nA second paragraph of it.\n\nAnd a third.",
            [self.chance.choice(TOPICS)],
            kind=self.chance.choice(TYPES),
        )
        self.words[word] = {made.id}

    def correct(self, vault: Vault) -> None:
        word = self.word(identity := self.note(vault))
        try:
            made = vault.correct(identity, f"What is so now is {word}, as was seen.")
        except VaultError:
            self.unwritten(word)
            raise
        self.words[word] = {made.id}

    def turn(self, vault: Vault) -> None:
        word = self.word()
        said = f"Mara moved the loom to the shed by the {word} gate."
        vault.turn(
            f"s{self.number}", "mara", "farm", said, extractMemory=True, turn=f"t{self.count}", write="later",
            candidates=[{"content": said, "anchors": ["Mara", "loom"]}],
        )  # fmt: skip
        vault.drain()
        if word not in self.written():
            self.unwritten(word)

    def written(self) -> set[str]:
        return {word for path in (self.root / "vault").rglob("*") if path.is_file() for word in _WORDS.findall(path.read_text())}

    def vote(self, vault: Vault) -> None:
        vault.mark_useful(identity := self.note(vault), f"it helped {self.word(identity)}")

    def link(self, vault: Vault) -> None:
        start, end = self.note(vault), self.note(vault)
        word = self.word(start, end)
        try:
            if not vault.link(start, self.chance.choice(["RELATED_TO", "SOLVES"]), end, f"they are near {word}").committed:
                self.unwritten(word)
        except VaultError:
            self.unwritten(word)
            raise

    def unlink(self, vault: Vault) -> None:
        edges = sorted(vault.index.catalog.of_class(RecordClass.EDGE), key=lambda edge: edge.id)
        if edges:
            edge = self.chance.choice(edges)
            self.gone.words.update(_WORDS.findall((self.root / edge.path).read_text()))
            vault.unlink(edge.id)

    def alias(self, vault: Vault) -> None:
        vault.add_alias(self.chance.choice(TOPICS), [f"alias {self.word()}"])

    def merge(self, vault: Vault) -> None:
        vault.merge_subjects(*self.chance.choice([("Harbour", "harbours"), ("Orchard", "Orchard tools")]))

    def diary(self, vault: Vault) -> None:
        path = self.root / "vault" / "diary.md"
        before = path.read_text() if path.exists() else "# Diary\n"
        path.write_text(before + f"\nWritten down: {self.word()}.\n")

    def insert(self, vault: Vault) -> None:
        identity, path, lines = self.file(vault)
        place = self.chance.randint(_head_end(lines) + 1, len(lines) - 1)
        lines[place:place] = ["", f"In between stands {self.word(identity)}.", ""]
        path.write_text("\n".join(lines), newline="")

    def reword(self, vault: Vault) -> None:
        identity, path, lines = self.file(vault)
        number = self.chance.choice([n for n, line in enumerate(lines) if n > _head_end(lines) and line.strip()])
        words = lines[number].split(" ")
        words.insert(self.chance.randint(0, len(words)), self.word(identity))
        lines[number] = " ".join(words)
        path.write_text("\n".join(lines), newline="")

    def line_ends(self, vault: Vault) -> None:
        _, path, lines = self.file(vault)
        path.write_text("\r\n".join(line.rstrip("\r") for line in lines), newline="")

    def title(self, vault: Vault) -> None:
        identity, path, lines = self.file(vault)
        if not any(line.startswith("title:") for line in lines):
            lines.insert(1, f"title: Called {self.word(identity)}")
            path.write_text("\n".join(lines), newline="")

    def retype(self, vault: Vault) -> None:
        _, path, lines = self.file(vault)
        number = next(n for n, line in enumerate(lines) if line.startswith("type:"))
        lines[number] = f"type: {self.chance.choice(TYPES)}"
        path.write_text("\n".join(lines), newline="")

    def rename(self, vault: Vault) -> None:
        _, path, _ = self.file(vault)
        path.rename(path.with_name(f"called {self.number} {self.count} {self.chance.randint(0, 99)}.md"))

    def move(self, vault: Vault) -> None:
        _, path, _ = self.file(vault)
        target = self.root / "vault" / self.chance.choice(["shed", "barn/loft", "yard"]) / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            path.rename(target)

    def copy(self, vault: Vault) -> None:
        """A file syncer's copy with a line of its own: it is no memory until a person settles it."""
        _, path, lines = self.file(vault)
        path.with_name(f"{path.stem}.sync-conflict-20261129-101010-ABCDEFG.md").write_text("\n".join(lines), newline="")

    def delete(self, vault: Vault) -> None:
        identity, path, _ = self.file(vault)
        path.unlink()
        self.gone.ids.add(identity)

    def forget(self, vault: Vault) -> None:
        vault.forget(identity := self.note(vault))
        self.gone.ids.add(identity)

    def hide(self, vault: Vault) -> None:
        hide_from_page(vault, [self.note(vault)], off=self.chance.random() < 0.3)

    def pin(self, vault: Vault) -> None:
        vault.pin(self.note(vault))

    def tag(self, vault: Vault) -> None:
        vault.tag(identity := self.note(vault), [self.word(identity)])

    def untag(self, vault: Vault) -> None:
        identity = self.note(vault)
        if tags := vault.index.catalog.get(identity)[0].texts("tags"):
            self.gone.words.add(taken := self.chance.choice(tags))
            vault.tag(identity, [], [taken])

    def folder(self, vault: Vault) -> None:
        """One of three folders that every clone may import, some of them twice."""
        vault.import_markdown(self.folders / self.chance.choice("abc"))

    def pasted(self, vault: Vault) -> None:
        text = self.folders / f"pasted{self.chance.randint(1, 3)}.txt"
        vault.import_from(text, kind="memories")


def worked(folder: Path, seed: int) -> Counter[str]:
    """Ten clones at work; how much was done and merged, what is left to a person, and what was lost."""
    chance = random.Random(seed)
    first, hub = founded_with_hub(folder)
    imports = folder / "imports"
    for name in "abc":
        (imports / name).mkdir(parents=True)
        for number in range(3):
            (imports / name / f"note {number}.md").write_text(f"# Note {name} {number}\n\nFrom the folder {name}.\n")
    for number in (1, 2, 3):
        lines = f"[2026-03-0{number}] - Prefers answer {number}.\n[2026-03-09] - Keeps bees.\n"
        (imports / f"pasted{number}.txt").write_text(lines)
    with Vault.open(first, person=True) as vault:
        vault.create_subjects([{"name": name, "summary": f"About {name}"} for name in TOPICS])
        for number in range(15):
            vault.remember(f"Base {number} of all.\n\nSecond {number}.\n\nThird {number}.", [TOPICS[number % 6]], tags=["base"])
        vault.sync()
    gone = Gone()
    roots = [first, *(clone_of(hub, f"c{number}") for number in range(1, CLONES))]
    clones = [Clone(number, root, chance, gone, imports) for number, root in enumerate(roots)]
    counts: Counter[str] = Counter()

    def synced(clone: Clone) -> None:
        with Vault.open(clone.root, person=True) as vault:
            done = vault.sync(confirm=True)
        assert not done.reason, (clone.number, done.reason)
        counts["syncs"] += 1
        counts["merged"] += len(done.merged)
        counts["unsettled"] += len(done.unsettled)

    order = [clone for clone in clones for _ in range(OPERATIONS)]
    chance.shuffle(order)
    for clone in order:
        clone.step()
        if chance.random() < 0.25:
            synced(chance.choice(clones))
    rounds = 0
    while len({git(root, "rev-parse", "HEAD^{tree}") for root in roots}) > 1 or not rounds:
        rounds += 1
        assert rounds < 5, "they do not come to an end"
        for clone in chance.sample(clones, len(clones)):
            synced(clone)
    counts["rounds"] = rounds
    for clone in clones:
        counts += clone.done
        root = clone.root
        # Copies of a file syncer stay on the disk of the machine they were made on.
        left = [line for line in git(root, "status", "--porcelain").splitlines() if ".sync-conflict-" not in line]
        assert not left, (root, left)
        assert_without_markers(root)
    there = clones[0].written()
    for clone in clones:
        for word, ids in clone.words.items():
            counts["texts"] += 1
            if word not in there and word not in gone.words and not ids & gone.ids:
                counts["lost"] += 1
                counts[f"lost: {word} of {sorted(ids)} by {root.name}"] += 1
    with Vault.open(first, person=True) as vault:
        errors = [problem for problem in vault.doctor(every=True).problems if problem.severity is Severity.ERROR]
    assert not errors, errors
    assert_git_is_sound(first)
    return counts


@pytest.mark.campaign
@pytest.mark.skipif(not CAMPAIGN, reason="a campaign alone: minutes a seed")
@pytest.mark.timeout(7200)
def test_ten_clones_end_alike_and_lose_nothing(tmp_path: Path) -> None:
    for seed in range(runs_wanted(1)):
        folder = tmp_path / str(seed)
        folder.mkdir()
        counts = worked(folder, seed)
        sys.stdout.write(f"{seed} {dict(counts)}\n")
        sys.stdout.flush()
        assert counts["lost"] == 0, (seed, counts)
