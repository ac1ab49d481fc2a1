"""A child for the killer: whole verbs, hand edits and rebuilds for ever, each acknowledged as one line of JSON."""

from __future__ import annotations

import hashlib
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vault_tool import Vault
from vault_tool.files.frontmatter import split
from vault_tool.index.relations import successors
from vault_tool.vault.operation import Saved

KINDS = ("fact", "decision", "fix", "preference", "problem")


def sealed(word: str, length: int) -> str:
    """A text whose last line proves that it is whole, and whose title names it."""
    said = f"About {word}.\n\n{'lorem ipsum ' * length}"
    return f"{said.rstrip()}\nseal {word} {hashlib.sha256(said.rstrip().encode()).hexdigest()}"


def word_of(data: bytes) -> str | None:
    """The word of a note with a seal, None for one without; ValueError where it is torn."""
    body = data[split(data).body_start :].decode().strip("\n")
    if not body.startswith("About "):
        return None
    said, _, seal = body.rpartition("\n")
    kind, word, digest = seal.split(" ")
    if kind != "seal" or digest != hashlib.sha256(said.encode()).hexdigest():
        raise ValueError(f"torn: {data[-200:]!r}")
    return word


class Work:
    """The verbs that one child runs, on what it and those before it left."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self.vault = Vault.open(root, session=f"s{seed}", origin="owner")
        self.chance = random.Random(seed)
        self.seed = seed
        self.number = 0

    def step(self) -> dict[str, Any]:
        """One verb; what it acknowledged."""
        self.number += 1
        word = f"w{self.seed}x{self.number}"
        acts: list[Callable[[str], dict[str, Any]]] = [
            *(self.remember, self.remember, self.remember),
            *(self.understand, self.revise, self.link, self.pin, self.by_hand, self.reindex),
        ]
        return self.chance.choice(acts)(word)

    def remember(self, word: str) -> dict[str, Any]:
        """An observation with one subject that is new and one that may be."""
        names = [f"Subject {word}", f"Shared {self.chance.randrange(9)}"]
        made = self.vault.remember(self.text(word), names, kind=self.chance.choice(KINDS), tags=["kill"])
        return self.said("remember", word, made, path=made.path)

    def understand(self, word: str) -> dict[str, Any]:
        """A synthesis, which may supersede the one that held its place."""
        name = f"Shared {self.chance.randrange(9)}"
        made = self.vault.create_understanding([name], self.text(word), f"Summary of {word}")
        return self.said("create-understanding", word, made, path=made.path)

    def revise(self, word: str) -> dict[str, Any]:
        """A revision of one that nothing supersedes."""
        active = [
            e
            for e in self.entries("understanding")
            if e.type == "single_subject" and not successors(self.vault.index.catalog, e.id)
        ]
        if not active:
            return self.understand(word)
        made = self.vault.update_understanding(self.chance.choice(active).id, self.text(word), f"Summary of {word}", join=True)
        return self.said("update-understanding", word, made, path=made.path)

    def link(self, word: str) -> dict[str, Any]:
        """An edge between two memories."""
        known = self.entries("observation")
        if len(known) < 2:
            return self.remember(word)
        start, end = self.chance.sample(known, 2)
        made = self.vault.link(start.id, "RELATED_TO", end.id, self.text(word))
        if made.duplicate_of:
            return {"verb": "none"}
        return self.said("link", word, made, path=made.path)

    def pin(self, word: str) -> dict[str, Any]:
        """One line of one head."""
        known = self.entries("observation")
        if not known:
            return self.remember(word)
        made = self.vault.pin(self.chance.choice(known).id, off=self.chance.random() < 0.5)
        return self.said("pin", word, made, path=made.path, pinned=made.pinned)

    def by_hand(self, word: str) -> dict[str, Any]:
        """A page that an editor saves beside the notes and renames into place, gathered by `commit`."""
        draft = self.root.parent / f"draft-{word}"
        draft.write_text(f"# A page\n\n{self.text(word)}\n")
        (self.root / "vault" / "pages").mkdir(exist_ok=True)
        path = f"vault/pages/{word}.md"
        draft.rename(self.root / path)
        made = self.vault.commit()
        return self.said("commit", word, made, path=path)

    def reindex(self, word: str) -> dict[str, Any]:
        """Everything derived, from nothing."""
        self.vault.reindex(full=True)
        return {"verb": "reindex"}

    def text(self, word: str) -> str:
        """A text of its own, long or short."""
        return sealed(word, self.chance.choice((1, 1, 400)))

    def entries(self, kind: str) -> list[Any]:
        """The records of a class, as last indexed."""
        self.vault.fresh()
        return [entry for entry in self.vault.index.catalog.snapshot().entries if entry.record_class == kind]

    def said(self, verb: str, word: str, made: Saved, **more: object) -> dict[str, Any]:
        """What is acknowledged of a write."""
        return {"verb": verb, "word": word, "committed": made.committed, "commit": made.commit, "reason": made.reason, **more}


def main(root: Path, seed: int) -> None:
    work = Work(root, seed)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        sys.stdout.write(f"{json.dumps(work.step())}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
