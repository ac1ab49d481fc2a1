from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.git_repos import git
from tests.index.embedding.models import MODELS, needs_model
from tests.oracles import assert_as_built_anew
from tests.verbs.looking import head, in_commit, subjects, text
from vault_tool import Vault
from vault_tool.errors import Exit, NotFound, Refused, UsageError
from vault_tool.files.inbox import INBOX
from vault_tool.files.tombstones import tombstone
from vault_tool.index.relations import successors
from vault_tool.model.records import Observation
from vault_tool.model.signals import Signal, SignalKind
from vault_tool.vault import review_policy
from vault_tool.vault.operation import writing

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""

SECRETIVE = "Ottoline keeps the spare key beneath the third geranium.\n\nShe told nobody else of the geranium at all."
WORDS = (b"Ottoline", b"geranium", b"ottoline")


@pytest.fixture
def owned(root: Path) -> Vault:
    """The owner's open vault."""
    return Vault.open(root, person=True)


def traces(root: Path) -> list[str]:
    """Every file but git's own that holds a word of the memory, in its text or in its name."""
    found = []
    for path in root.rglob("*"):
        if ".git" in path.parts or not path.is_file():
            continue
        name = path.relative_to(root).as_posix()
        if any(word in path.read_bytes() or word in name.encode() for word in WORDS):
            found.append(name)
    return found


@pytest.mark.in_git
def test_no_byte_of_it_is_left_in_the_work_tree_or_in_anything_derived(owned: Vault, root: Path) -> None:
    keep = owned.remember("The garden has a red gate.", ["Garden"], kind="fact")
    made = owned.remember(SECRETIVE, ["Garden"], kind="fact", tags=["keys"], importance=1.0)
    owned.link(made.id, "RELATED_TO", keep.id, "Both are of the garden where the geranium stands.")
    owned.mark_useful(made.id, "Ottoline confirmed that the geranium is the third.")
    owned.episode("Ottoline keeps the spare key beneath the third geranium", "Told again.")
    owned.get(made.id)
    owned.as_(origin="agent").turn("s1", "u1", "w", f"I promise: {SECRETIVE}", write="later")
    owned.core()
    owned.reflection()
    owned.search("geranium")
    assert len(traces(root)) > 5

    done = owned.forget(made.id)

    assert traces(root) == []
    assert done.removed == (made.path,) and len(done.links_removed) == 1 and done.in_history
    assert any("/episodes/" in path for path in done.redacted) and any("/signals/" in path for path in done.redacted)
    assert (root / tombstone(made.id)).read_bytes() == b""
    assert owned.search("geranium").results == ()
    with pytest.raises(NotFound):
        owned.show(made.id)
    assert owned.show(keep.id).relations == ()
    assert git(root, "status", "--porcelain", "--untracked-files=all") == ""
    assert owned.doctor().problems == ()
    log = git(root, "log", "--format=%B", "-3")
    assert "Ottoline" not in log and f"forget: {made.id}" in log


@pytest.mark.in_git
def test_what_others_said_and_what_was_judged_stays(owned: Vault, root: Path) -> None:
    other = owned.remember("The garden has a red gate.", kind="fact")
    made = owned.remember(SECRETIVE)
    owned.mark_useful(other.id, "The gate was where it said.")
    journal = next((root / "vault" / "episodes").glob("*.md"))
    journal.write_text(journal.read_text() + "\nA line that a person wrote below it all.\n")
    owned.forget(made.id)
    after = journal.read_text()
    assert "The garden has a red gate" in after and "A line that a person wrote" in after
    assert after.count(" - forgotten\n") == 1
    assert "The gate was where it said." in next((root / "vault" / "signals").glob("*.jsonl")).read_text()
    assert owned.remember("Written after.").committed


@pytest.mark.in_git
def test_the_ledger_of_a_pass_keeps_its_id_alone(owned: Vault, root: Path) -> None:
    other = owned.remember("The garden has a red gate.", ["Garden"], kind="fact")
    made = owned.remember(SECRETIVE, ["Garden"])
    begun = owned.begin_consolidation()
    done = owned.forget(made.id)
    ledger = text(root, begun.path)
    assert f"- `{made.id[:13]}` forgotten\n" in ledger and f"- `{other.id[:13]}` The garden has a red gate\n" in ledger
    assert begun.path in done.redacted and done.citing == ()
    assert traces(root) == []
    assert owned.end_consolidation().committed


def test_syntheses_that_cite_it_are_listed_and_left_to_a_person(owned: Vault) -> None:
    made = owned.remember(SECRETIVE, ["Garden"])
    synthesis = owned.create_understanding(["Garden"], "There is a hiding place.", "A place.", source_observation_ids=[made.id])
    quoting = owned.remember(f"I read: {SECRETIVE[:60]} Really?", kind="reflection")
    done = owned.forget(made.id)
    assert {(one.id, one.field) for one in done.citing} == {(synthesis.id, "sources"), (quoting.id, "text")}
    assert owned.show(quoting.id).id == quoting.id


def test_it_does_not_come_back_by_a_copy_a_pull_or_an_import(owned: Vault, root: Path, tmp_path: Path) -> None:
    made = owned.remember(SECRETIVE)
    elsewhere = tmp_path / "copy.md"
    shutil.copy(root / made.path, elsewhere)
    owned.forget(made.id)

    again = root / "vault" / "observations" / "again.md"
    shutil.copy(elsewhere, again)
    assert owned.search("geranium").results == ()
    assert [(one.code, one.path) for one in owned.doctor().problems] == [("forgotten", "vault/observations/again.md")]
    owned.reindex(full=True)
    assert owned.search("geranium").results == ()
    assert [one.code for one in owned.doctor().problems] == ["forgotten"]

    erased = owned.forget(made.id)
    assert erased.removed == ("vault/observations/again.md",) and not again.exists()
    assert owned.doctor().problems == ()

    notes = tmp_path / "theirs"
    notes.mkdir()
    shutil.copy(elsewhere, notes / "mine.md")
    taken = owned.import_markdown(notes)
    assert taken.imported == 0 and taken.skipped == {"forgotten": 1}
    assert traces(root) == []


def test_a_tombstone_that_a_pull_brings_is_heeded_and_one_that_is_taken_away_too(owned: Vault, root: Path) -> None:
    made = owned.remember(SECRETIVE)
    grave = root / tombstone(made.id)
    grave.parent.mkdir()
    grave.write_bytes(b"")
    assert owned.search("geranium").results == ()
    assert [one.code for one in owned.doctor().problems] == ["forgotten"]
    assert_as_built_anew(root, ["geranium"])
    grave.unlink()
    assert [hit.id for hit in owned.search("geranium").results] == [made.id]
    assert owned.doctor().problems == ()
    assert_as_built_anew(root, ["geranium"])


def test_what_a_forgotten_understanding_had_replaced_is_active_again(owned: Vault) -> None:
    old = owned.create_understanding(["Garden"], "It is walled.", "A walled garden.")
    new = owned.update_understanding(old.id, SECRETIVE, "Where the spare key is kept by Ottoline.")
    done = owned.forget(new.new_understanding_id)
    assert len(done.warnings) == 1 and "A walled garden" in done.warnings[0]
    assert successors(owned.index.catalog, old.id) == ()


@pytest.mark.in_git
def test_what_a_log_tells_again_of_a_forgotten_summary_goes_too(owned: Vault, root: Path) -> None:
    summary = "Ottoline waters the geranium each evening at half past six."
    made = owned.create_understanding(["Garden"], "It is walled.", summary, title="The bed")
    owned.forget(made.id)
    owned.episode("The garden", f"A clone that had not heard of it tells: {summary}")
    assert any("/episodes/" in path for path in traces(root))

    owned.forget(made.id)

    assert traces(root) == []


def test_a_reason_in_other_letters_that_repeats_it_goes_too(owned: Vault, root: Path) -> None:
    said = "Запасной ключ лежит под третьей геранью у северной стены сада."
    made = owned.remember(said)
    other = owned.remember("The garden has a red gate.")
    owned.mark_useful(other.id, f"Помогло вместе с этим: {said}")
    written = [path for path in root.glob("vault/signals/*.jsonl") if "геранью" in json.dumps(_lines(path), ensure_ascii=False)]
    assert written

    owned.forget(made.id)

    assert all("геранью" not in json.dumps(_lines(path), ensure_ascii=False) for path in written)


def _lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_waiting_memory_can_be_forgotten_and_is_not_held_again(root: Path) -> None:
    (root / "vault.toml").write_text('write_policy = "review"\n')
    with Vault.open(root) as vault:
        made = vault.remember(SECRETIVE)
    with Vault.open(root, person=True) as vault:
        vault.forget(made.id)
        assert vault.review().results == ()
    assert not list((root / INBOX).glob("*.md"))
    assert traces(root) == []


def test_a_review_brings_nothing_forgotten_back(owned: Vault, root: Path) -> None:
    made = owned.remember(SECRETIVE)
    note = (root / made.path).read_bytes()
    owned.forget(made.id)
    (root / INBOX).mkdir(parents=True, exist_ok=True)
    (root / INBOX / "again.md").write_bytes(note)
    with pytest.raises(NotFound, match="nothing that waits"):
        owned.review(accept=[made.id])
    assert owned.review(everything=True).accepted == ()
    assert not (root / made.path).exists()


def test_a_turn_that_is_given_again_brings_nothing_forgotten_back(owned: Vault, root: Path) -> None:
    turn: dict[str, Any] = {"extractMemory": True, "candidates": [{"content": SECRETIVE}], "turn": "1", "write": "later"}
    owned.turn("s1", "u1", "w", "A promise.", **turn)
    [identity] = owned.drain().written
    owned.forget(identity)
    owned.turn("s1", "u1", "w", "A promise.", **turn)
    done = owned.drain()
    assert (done.written, done.known, done.waiting) == ((), 1, 0)
    assert traces(root) == []


def test_what_was_forgotten_is_not_held_for_review(owned: Vault, root: Path) -> None:
    made = owned.remember(SECRETIVE)
    note = Observation(id=made.id, type="fact", body=SECRETIVE)
    owned.forget(made.id)
    held = review_policy.hold(owned, note, "somebody asks for it")
    assert (held.path, held.duplicate_of) == ("", made.id)
    assert traces(root) == []


def test_what_waits_in_the_queue_is_forgotten_too(owned: Vault, root: Path) -> None:
    made = owned.remember(SECRETIVE)
    owned.turn("s1", "u1", "w", "Again.", extractMemory=True, candidates=[{"content": SECRETIVE}], write="later")
    assert owned.forget(made.id).local >= 1
    assert traces(root) == []
    assert owned.drain().turns == 0


@pytest.mark.in_git
def test_nobody_but_the_owner_may_and_a_dry_run_changes_nothing(owned: Vault, root: Path) -> None:
    made = owned.remember(SECRETIVE)
    tip = head(root)
    with pytest.raises(Refused) as refused:
        owned.as_(origin="agent").forget(made.id)
    assert refused.value.exit_code is Exit.REFUSED
    shown = owned.forget(made.id, dry_run=True)
    assert shown.dry_run and shown.removed == (made.path,)
    assert head(root) == tip and owned.show(made.id).id == made.id


def test_subjects_are_not_memories(owned: Vault) -> None:
    owned.remember("The garden has a red gate.", ["Garden"])
    with pytest.raises(UsageError, match="subject"):
        owned.forget("Garden")


@pytest.mark.in_git
def test_forgetting_is_not_undone(owned: Vault, root: Path) -> None:
    made = owned.remember(SECRETIVE)
    owned.forget(made.id)
    # The page of the day told it, so that it was made anew once more.
    assert subjects(root, 2) == ["core: CORE.md", f"forget: {made.id}"]
    assert in_commit(root, "HEAD~1")[made.path] == "D"
    with pytest.raises(Refused, match="not undone"):
        owned.undo()
    assert not (root / made.path).exists()


def test_the_journal_goes_on_under_the_same_name(owned: Vault, root: Path) -> None:
    made = owned.remember(SECRETIVE)
    owned.forget(made.id)
    owned.remember("Written after.")
    journals = list((root / "vault" / "episodes").glob("*.md"))
    assert len(journals) == 1
    assert "Written after" in text(root, journals[0].relative_to(root).as_posix())


@needs_model
def test_its_vectors_are_forgotten_in_every_set(root: Path) -> None:
    environ = {**os.environ, "VAULT_PROVIDER": "local", "VAULT_MODELS": str(MODELS)}
    with Vault.open(root, person=True, environ=environ) as vault:
        keep = vault.remember("The garden has a red gate.")
        made = vault.remember(SECRETIVE)
        vault.fresh()
        vault.embed()
        rows = vault.embedding.vectors.count
        vault.forget(made.id)
        assert traces(root) == []
        assert vault.embed().behind == 0
        assert vault.embedding.vectors.count < rows
        assert vault.search("a red gate").results[0].id == keep.id
    for ledger in (root / "_cache").rglob("*.sqlite3"):
        assert not any(word in ledger.read_bytes() for word in WORDS)


def test_a_page_forgets_what_it_shows_in_other_words(owned: Vault, root: Path) -> None:
    short = owned.remember("Pin 4711", ["Boat"], importance=1.0)
    escaped = owned.remember("It is *under* the [doormat]_now_.", ["Boat"], title="It is *under* the [doormat]_now_")
    owned.core()
    assert "4711" in text(root, "CORE.md") and "doormat" in text(root, "CORE.md")
    owned.forget(short.id)
    owned.forget(escaped.id)
    assert "4711" not in text(root, "CORE.md") and "doormat" not in text(root, "CORE.md")


@pytest.mark.in_git
def test_a_merge_that_keeps_the_pages_from_being_made_does_not_stop_it(owned: Vault, root: Path) -> None:
    made = owned.remember(SECRETIVE, ["Garden"], importance=1.0)
    owned.core()
    (root / ".git/MERGE_HEAD").write_text(f"{head(root)}\n", encoding="utf-8")
    done = owned.forget(made.id)
    assert [name for name in traces(root) if not name.startswith("_local/pending/")] == ["CORE.md"]
    assert any("CORE.md may still show it" in warning for warning in done.warnings)
    (root / ".git/MERGE_HEAD").unlink()
    owned.core()
    assert traces(root) == []


class TestWhatCites:
    """What refers to a forgotten memory by its id: nothing new does, and what did is told so."""

    @pytest.fixture
    def gone(self, owned: Vault) -> str:
        """The id of a forgotten memory."""
        made = owned.remember(SECRETIVE)
        owned.forget(made.id)
        return made.id

    def test_doctor_says_that_it_was_forgotten_and_not_that_it_is_missing(self, owned: Vault) -> None:
        made = owned.remember(SECRETIVE, ["Garden"])
        owned.create_understanding(["Garden"], "There is a place.", "A place.", source_observation_ids=[made.id])
        owned.forget(made.id)
        assert [one.code for one in owned.doctor().problems] == ["forgotten-reference"]
        assert not owned.doctor().findings

    @pytest.mark.in_git
    @pytest.mark.parametrize("field", ["evidence", "related_to", "problem", "change_targets"])
    def test_no_new_memory_cites_it(self, owned: Vault, root: Path, gone: str, field: str) -> None:
        tip = head(root)
        value: Any = {"evidence": [f"memory:{gone}"], "problem": gone}.get(field, [gone])
        with pytest.raises((Refused, NotFound), match="was forgotten"):
            owned.remember("Something else.", **{field: value})
        assert head(root) == tip

    def test_no_link_and_no_judgement_does(self, owned: Vault, gone: str) -> None:
        other = owned.remember("The garden has a red gate.")
        with pytest.raises(NotFound, match="was forgotten"):
            owned.link(other.id, "RELATED_TO", gone)
        judgement = Signal(
            id=other.id, at=owned.now(), target=str(other.id), kind=SignalKind.TRUTH, value=0.1, evidence=(f"memory:{gone}",)
        )
        with writing(owned, "update") as op, pytest.raises(Refused, match="was forgotten"):
            op.signal(judgement)

    def test_nothing_is_held_or_accepted_that_does(self, root: Path) -> None:
        with Vault.open(root, person=True) as vault:
            made = vault.remember(SECRETIVE)
        (root / "vault.toml").write_text('write_policy = "review"\n')
        with Vault.open(root) as vault:
            waits = vault.remember("It is as I said.", evidence=[f"memory:{made.id}"])
        with Vault.open(root, person=True) as vault:
            vault.forget(made.id)
            with pytest.raises(Refused, match=r"cites .* was forgotten"):
                vault.review(accept=[str(waits.id)])
            assert [one.id for one in vault.review().results] == [waits.id]
        with Vault.open(root) as vault, pytest.raises(Refused, match="was forgotten"):
            vault.remember("And again.", evidence=[f"memory:{made.id}"])
        assert len(list((root / INBOX).glob("*.md"))) == 1

    def test_a_turn_that_was_accepted_before_is_written_without_it(self, owned: Vault, root: Path) -> None:
        made = owned.remember(SECRETIVE)
        said = [{"content": "We went to the gate.", "evidence": [f"memory:{made.id}", "session:u1"]}]
        owned.turn("s1", "u1", "w", "We went.", extractMemory=True, candidates=said, write="later")
        (root / tombstone(made.id)).parent.mkdir()
        (root / tombstone(made.id)).write_bytes(b"")
        assert owned.drain().turns == 1
        written = text(root, owned.search("went to the gate").results[0].path)
        assert "session:u1" in written and made.id not in written

    def test_a_link_that_a_pull_brings_is_not_read_and_erased_by_the_next_forget(self, owned: Vault, root: Path) -> None:
        made, other = owned.remember(SECRETIVE), owned.remember("The garden has a red gate.")
        link = owned.link(made.id, "RELATED_TO", other.id, "Of one garden.")
        kept = (root / link.path).read_bytes()
        owned.forget(made.id)
        (root / link.path).write_bytes(kept)
        assert owned.search("Ottoline").results == () and owned.show(other.id).relations == ()
        assert [one.code for one in owned.doctor().problems] == ["forgotten-words"]
        assert b"Ottoline" not in (root / "_index.json").read_bytes()
        assert_as_built_anew(root, ["Ottoline", "garden"])
        assert owned.forget(made.id).removed == (link.path,)
        assert traces(root) == []

    @pytest.mark.in_git
    def test_undoing_an_older_operation_does_not_bring_it_back(self, root: Path) -> None:
        with Vault.open(root, person=True, session="s1") as vault:
            made = vault.remember(SECRETIVE)
            gone = vault.delete_observations([str(made.id)])
            vault.forget(made.id)
            with pytest.raises(Refused, match="was forgotten"):
                vault.undo(str(gone.commit))
        assert traces(root) == []

    def test_neighbours_chains_and_the_snapshot_say_nothing_of_it(self, owned: Vault, root: Path) -> None:
        session = owned.as_(session="s1")
        old = session.create_understanding(["Garden"], "It is walled.", "A walled garden.")
        made = session.update_understanding(old.id, SECRETIVE, "Where Ottoline keeps the key.")
        newest = session.update_understanding(made.new_understanding_id, "It has a red gate.", "A red gate.")
        session.remember("The gate is red.", ["Garden"])
        session.forget(made.new_understanding_id)
        said = [
            session.recall("garden gate"), session.snapshot(), session.history(newest.new_understanding_id),
            session.show(newest.new_understanding_id), session.get_session_context(), session.bring_to_mind("the garden"),
        ]  # fmt: skip
        assert not any(word.decode() in repr(said) for word in WORDS)
        assert not any(word in (root / "_index.json").read_bytes() for word in WORDS)


@pytest.mark.in_git
class TestAgain:
    """What is left of a memory is found by its id alone."""

    def test_a_note_that_was_deleted_by_hand_leaves_traces_that_are_found(self, owned: Vault, root: Path) -> None:
        made = owned.remember(SECRETIVE)
        owned.mark_useful(made.id, "Ottoline confirmed that the geranium is the third.")
        owned.commit()
        (root / made.path).unlink()
        owned.forget(made.id)
        assert traces(root) == []
        assert (root / tombstone(made.id)).exists()

    def test_what_came_back_in_words_is_found_where_git_knows_them(self, owned: Vault, root: Path) -> None:
        made = owned.remember(SECRETIVE)
        owned.forget(made.id)
        owned.episode("Ottoline keeps the spare key beneath the third geranium", "Told again.")
        assert traces(root) != []
        owned.forget(made.id)
        assert traces(root) == []
