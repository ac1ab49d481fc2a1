"""What is found by looking at the suspect records alone is what a look at all of them finds."""

from __future__ import annotations

import random
import uuid
from pathlib import Path

import pytest

from tests.bounds import examples
from tests.git_repos import write
from vault_tool import Vault
from vault_tool.check import check
from vault_tool.features.doctor import note_check

pytestmark = pytest.mark.without_git

KINDS = ("fact", "fact", "decision", "solution", "problem", "failed_tactic", "change", "weird")
UNDERSTANDINGS = ("single_subject", "relationship", "relationship", "structural", "soul")
EDGES = ("SOLVES", "CHANGES", "CAUSES", "ATTEMPTED", "LIKES")


def _messy(root: Path, seed: int, count: int) -> None:
    """Notes among which much is wrong in many ways."""
    rng = random.Random(seed)
    names = [f"Place {n}" for n in range(12)]
    known: list[str] = []

    def identity() -> str:
        return rng.choice(known) if known and rng.random() < 0.03 else str(uuid.UUID(int=rng.getrandbits(128), version=4))

    def some(chance: float) -> str:
        lost = str(uuid.UUID(int=rng.getrandbits(128), version=4))
        return rng.choice(known) if known and rng.random() > chance else lost

    def put(path: str, kind: str, body: str, **head: object) -> None:
        known.append(identity())
        lines = "".join(f"{name}: {value}\n" for name, value in head.items() if value)
        text = (
            f"---\nid: {known[-1]}\ntype: {kind}\ncreated: 2026-11-{rng.randint(1, 20):02}T10:00:00+00:00\n{lines}---\n{body}\n"
        )
        write(root, f"vault/{path}.md", text)

    for number, name in enumerate(names[:9]):
        aliases = f"[Place {number + 1}]" if number % 4 == 1 else ""
        put(f"subjects/place-{number}", "subject", "A place.", name=name, aliases=aliases)
    for number in range(count):
        body = "The same." if rng.random() < 0.1 else f"Text {number}."
        path = f"{rng.choice(['notes', 'Notes', 'deeper'])}/note-{rng.choice([number, number, 3])}-{number % 40}"
        put(
            path, rng.choice(KINDS), body, problem=some(0.3) if rng.random() < 0.2 else "",
            subjects=f"[{', '.join(rng.sample(names, rng.choice([1, 1, 2, 5])))}]",
            change_targets=f"[{some(0.2)}]" if rng.random() < 0.1 else "",
            mood=rng.choice(["", "", "", "curious", "grim"]), evidence=rng.choice(["", "", "", "[nonsense]", "[file:a.py]"]),
            relations="[{target: x}]" if rng.random() < 0.03 else "",
        )  # fmt: skip
    for number in range(count // 3):
        put(
            f"understandings/u-{number}", rng.choice(UNDERSTANDINGS), f"Understood {number}.", title=f"U {number}",
            subjects=f"[{', '.join(rng.sample(names, rng.choice([1, 2, 2])))}]", sources=f"[{some(0.1)}, {some(0.1)}]",
            supersedes=f"[{some(0.2)}]" if rng.random() < 0.4 else "",
        )  # fmt: skip
        start, end = some(0.1), some(0.1)
        for twin in range(1 + (rng.random() < 0.2)):
            target = start if rng.random() < 0.05 else end
            put(f"edges/e-{number}-{twin}", rng.choice(EDGES), "Why.", from_id=start, to_id=target)
    for number in range(3):
        write(root, f"vault/page-{number}.md", "# A page\n")


@pytest.mark.parametrize("seed", range(max(6, examples(120))))
def test_it_is_what_a_look_at_all_finds(vault: Vault, root: Path, seed: int) -> None:
    _messy(root, seed, (9, 40, 120)[seed % 3])
    vault.fresh()
    catalog = vault.index.catalog
    whole = check(catalog.snapshot(), vault.settings.types, frozenset())
    assert note_check.checked(catalog, vault.settings.types, frozenset()) == whole
    assert len({problem.code for problem in whole}) > 6


@pytest.mark.parametrize("seed", range(max(4, examples(60))))
def test_it_follows_what_comes_changes_and_goes(vault: Vault, root: Path, tmp_path: Path, seed: int) -> None:
    _messy(tmp_path / "spare", seed, (12, 40)[seed % 2])
    rng = random.Random(seed)
    spare = sorted((tmp_path / "spare").rglob("*.md"))
    rng.shuffle(spare)
    there: list[Path] = []
    while spare:
        for _ in range(rng.choice([1, 1, 2, 9])):
            if spare:
                taken = spare.pop()
                there.append(root / taken.relative_to(tmp_path / "spare"))
                there[-1].parent.mkdir(parents=True, exist_ok=True)
                taken.rename(there[-1])
        if rng.random() < 0.15:
            there.pop(rng.randrange(len(there))).unlink()
        if rng.random() < 0.1:
            changed = rng.choice(there)
            changed.write_text(changed.read_text().replace("Place 1", "Place 7").replace("type: fact", "type: problem"))
        vault.fresh()
        catalog = vault.index.catalog
        whole = check(catalog.snapshot(), vault.settings.types, frozenset())
        assert note_check.checked(catalog, vault.settings.types, frozenset()) == whole


def _head(number: int, kind: str = "fact", **head: str) -> str:
    lines = "".join(f"{name}: {value}\n" for name, value in head.items())
    return f"---\nid: {uuid.UUID(int=number, version=4)}\ntype: {kind}\n{lines}---\n"


FIRST, SECOND, THIRD = (str(uuid.UUID(int=number, version=4)) for number in (1, 2, 3))
LINK = {"from_id": FIRST, "to_id": SECOND}
CIRCLE = _head(10, "single_subject", subjects="[Quay]", title="U", supersedes=f"[{uuid.UUID(int=11, version=4)}]")
COMES = {
    "the same id": ("vault/notes/copy.md", f"{_head(1)}Another text.\n", "duplicate-id"),
    "the same text": ("vault/notes/twin.md", f"{_head(20, 'problem')}Text 1.\n", "duplicate-body"),
    "a subject of the same name": ("vault/subjects/q.md", f"{_head(21, 'subject', name='QUAY')}It.\n", "duplicate-subject-name"),
    "an alias of a subject": (
        "vault/subjects/pier.md", f"{_head(22, 'subject', name='Pier', aliases='[Quay]')}It.\n", "duplicate-subject-name",
    ),
    "a path that differs in case": ("vault/notes/N1.md", f"{_head(23)}Else.\n", "path-twins"),
    "a page that differs in case": ("vault/notes/N2.md", "# A page\n", "path-twins"),
    "the same link": ("vault/edges/again.md", f"{_head(24, 'SOLVES', **LINK)}Why.\n", "doubled-link"),
    "what closes a circle": ("vault/understandings/u3.md", f"{CIRCLE}U.\n", "supersession-cycle"),
    "what was missing": ("vault/notes/found.md", f"{_head(99)}Found.\n", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", COMES)
def test_one_file_that_comes_puts_others_in_the_wrong(vault: Vault, root: Path, case: str) -> None:
    path, text, code = COMES[case]
    for number in range(1, 6):
        write(root, f"vault/notes/n{number}.md", f"{_head(number, 'problem', subjects='[Quay]')}Text {number}.\n")
    write(root, "vault/subjects/the-quay.md", f"{_head(8, 'subject', name='Quay')}A quay.\n")
    write(root, "vault/edges/e.md", f"{_head(9, 'SOLVES', **LINK)}Why.\n")
    ten, lost = uuid.UUID(int=10, version=4), uuid.UUID(int=99, version=4)
    head = _head(11, "single_subject", subjects="[Quay]", title="V", supersedes=f"[{ten}]")
    write(root, "vault/understandings/u.md", f"{head}V.\n")
    write(root, "vault/edges/lost.md", f"{_head(12, 'CAUSES', from_id=FIRST, to_id=str(lost))}Why.\n")
    vault.fresh()
    types = vault.settings.types
    before = note_check.checked(vault.index.catalog, types, frozenset())
    write(root, path, text)
    vault.fresh()
    after = note_check.checked(vault.index.catalog, types, frozenset())
    assert after == check(vault.index.catalog.snapshot(), types, frozenset())
    assert (
        code in {problem.code for problem in after} - {problem.code for problem in before} if code else len(after) < len(before)
    )


def test_few_are_looked_at_where_all_is_in_order(vault: Vault, root: Path) -> None:
    for number in range(300):
        identity = str(uuid.UUID(int=number + 1, version=4))
        write(root, f"vault/notes/n{number}.md", f"---\nid: {identity}\ntype: fact\n---\nText {number}.\n")
    vault.fresh()
    assert len(note_check._suspects(vault.index.catalog, vault.settings.types)) < 10
