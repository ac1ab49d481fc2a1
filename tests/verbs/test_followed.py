"""What a process keeps of a vault and follows says what a look at everything says, whatever was written meanwhile."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from itertools import count
from pathlib import Path
from random import Random

import pytest

from tests.git_repos import commit_all, git
from vault_tool import Vault
from vault_tool.errors import VaultError
from vault_tool.features.consolidation.report import needing_a_person
from vault_tool.features.doctor.uncommitted_files import uncommitted_files
from vault_tool.features.editing.deleting import delete_memories
from vault_tool.features.history.undo import undoable
from vault_tool.index import relations
from vault_tool.model.types import MEMORIES
from vault_tool.util.clock import FixedClock
from vault_tool.vault.coming import coming
from vault_tool.vault.questioned import Questioned
from vault_tool.watch.voucher import Voucher


def _compared(vault: Vault) -> None:
    """Compare what is kept with what is made anew."""
    vault.fresh()
    catalog = vault.index.catalog
    with Vault.open(vault.root, person=True, clock=vault.clock) as anew:
        anew.fresh()
        assert sorted(Questioned.of(vault).ids) == sorted(Questioned(anew).ids)
        assert relations.supersession(catalog) == relations._supersession(catalog)
        assert sorted(relations.forked(catalog)) == sorted(relations._forked(catalog))
        assert [(row.field, row.entry.id) for row in coming(vault)] == [(row.field, row.entry.id) for row in coming(anew)]
        report = anew.get_consolidation_report(limit=None)
        needing = needing_a_person(vault)
        assert (needing.questioned, needing.contested) == (
            len(report.questionable_items),
            len(report.contested_understandings),
        )
        assert needing.packets == report.due_packets
        regions, other = relations.regions_of(catalog), relations.Regions(catalog)
        for entry in catalog.snapshot().entries:
            for region in regions.of(entry):
                assert [view.id for view in regions.touching(region)] == [view.id for view in other.touching(region)]
                assert regions.evidence(region) == other.evidence(region)
        assert vault.log(30).results == anew.log(30).results
        commits = [entry.commit for entry in anew.log(30).results]
        assert undoable(vault, commits) == undoable(anew, commits)


class _Changes:
    """Changes of every kind, by another process or by hand."""

    def __init__(self, root: Path, vault: Vault, clock: FixedClock, draw: Random) -> None:
        self._root, self._vault, self._clock, self._draw = root, vault, clock, draw
        self._number = draw.randrange(10**6)
        entries = vault.index.catalog.snapshot().entries
        memories = [entry for entry in entries if entry.record_class in MEMORIES]
        self._ids, self._paths = [entry.id for entry in memories], [entry.path for entry in memories]
        self._understood = [entry.id for entry in entries if entry.type == "single_subject"]

    def write(self) -> None:
        self._vault.remember(f"The pump says {self._number}.", [self._draw.choice(["Lab", "Pump"])])

    def new(self) -> None:
        self._vault.remember(f"The crane says {self._number}.", [f"Crane {self._number}"])

    def question(self) -> None:
        self._vault.mark_questionable(self._one(), "is it so?")

    def useful(self) -> None:
        self._vault.mark_useful(self._one())

    def undo(self) -> None:
        refusals = undoable(self._vault, [row.commit for row in self._vault.log(5).results])
        for commit in [commit for commit, refusal in refusals.items() if not refusal][:1]:
            self._vault.undo(commit)

    def delete(self) -> None:
        delete_memories(self._vault, [self._one()])

    def edit(self) -> None:
        path = self._path()
        path.write_text(path.read_text() + "\nBy hand.\n")
        if self._draw.random() < 0.5:
            commit_all(self._root, "by hand")

    def understand(self) -> None:
        self._vault.create_understanding([self._draw.choice(["Lab", "Pump"])], f"It is loud {self._number}.", "Loud")

    def replace(self) -> None:
        self._vault.update_understanding(self._draw.choice(self._understood), f"It is quiet {self._number}.", "Quiet")

    def ends(self) -> None:
        day = (self._clock.now() + timedelta(days=3)).date().isoformat()
        self._vault.remember(f"The fair is on {self._number}.", ["Lab"], expires=day)

    def copy(self) -> None:
        path = self._path()
        path.with_name(f"copy-{self._number}.md").write_text(path.read_text())

    def move(self) -> None:
        path = self._path()
        path.rename(path.with_name(f"moved-{self._number}.md"))

    def any(self) -> None:
        """One of them, or another memory where there is nothing to change."""
        kinds = [self.new, self.question, self.useful, self.undo, self.delete, self.edit, self.understand, self.ends, self.copy]
        often = [self.write, self.question, self.question, self.useful]
        chosen = self._draw.choice([*kinds, *often, *often, self.move, self.replace])
        (chosen if self._ids and (self._understood or chosen != self.replace) else self.write)()

    def _one(self) -> str:
        return self._draw.choice(self._ids)

    def _path(self) -> Path:
        return self._root / self._draw.choice(self._paths)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_kept_is_what_is_there(root: Path, clock: FixedClock, seed: int) -> None:
    draw = Random(seed)
    with Vault.open(root, person=True, clock=clock) as page, Vault.open(root, person=True, clock=clock) as other:
        for _ in range(30):
            other.fresh()
            with suppress(VaultError):  # what a verb refuses is no change
                _Changes(root, other, clock, draw).any()
            _compared(page)


@pytest.mark.parametrize("seed", range(3))
def test_the_files_that_are_not_committed_are_those_that_git_names(root: Path, clock: FixedClock, seed: int) -> None:
    draw, number = Random(seed), count()
    notes = root / "vault" / "observations"
    notes.mkdir(exist_ok=True)
    with Vault.open(root, person=True, clock=clock) as vault:
        voucher = Voucher()
        asked = []
        try:
            for at in range(25):
                what = draw.choice(["write", "hand", "core", "add", "uncache", "commit", "soft", "delete", "rules", "nothing"])
                if what == "write":
                    vault.remember(f"The pump says {next(number)}.", ["Pump"])
                elif what == "hand":
                    (notes / f"hand-{draw.randrange(2)}.md").write_text(f"By hand {next(number)}.\n")
                elif what == "core":
                    (root / "CORE.md").write_text(f"By hand {next(number)}.\n")
                elif what == "add":
                    git(root, "add", "-A", "vault")
                elif what == "uncache":
                    git(root, "rm", "-r", "-q", "--cached", "--ignore-unmatch", f"vault/observations/hand-{draw.randrange(2)}.md")
                elif what == "commit":
                    git(root, "add", "-A", "vault")
                    git(root, "commit", "-q", "--allow-empty", "-m", "by hand")
                elif what == "soft":
                    git(root, "reset", "-q", "--soft", "HEAD~1", ok=False)
                elif what == "delete":
                    (notes / f"hand-{draw.randrange(4)}.md").unlink(missing_ok=True)
                elif what == "rules":
                    (root / ".gitignore").write_text(f"_cache/\n_local/\nhand-{draw.randrange(4)}.md\n")
                voucher.fresh(vault)
                vault.hearing = voucher
                kept = uncommitted_files(vault)
                vault.hearing = None
                assert kept == uncommitted_files(vault), (at, what)
                asked.append(bool(voucher.heard_since(voucher.comparisons - 1)))
        finally:
            voucher.close()
        assert any(asked), "nothing was heard of, so nothing was followed"


def test_what_only_the_index_of_git_says_is_asked_for(root: Path, clock: FixedClock) -> None:
    path = root / "vault" / "observations" / "hand.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text("By hand.\n")
    commit_all(root, "by hand")
    with Vault.open(root, person=True, clock=clock) as vault:
        voucher = Voucher()
        try:

            def names() -> list[str]:
                voucher.fresh(vault)
                vault.hearing = voucher
                files = uncommitted_files(vault)
                vault.hearing = None
                return [file.path for file in files]

            assert names() == names() == []
            git(root, "rm", "-q", "--cached", "vault/observations/hand.md")
            assert names() == ["vault/observations/hand.md"]
            git(root, "commit", "-q", "-m", "it is git's no more")
            assert names() == ["vault/observations/hand.md"]
        finally:
            voucher.close()
