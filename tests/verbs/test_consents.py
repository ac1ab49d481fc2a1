"""Consent: who answers for a memory, and that what is refused or withdrawn is told to nobody until it is given again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.founding import found_at
from tests.verbs.test_users import READS
from vault_tool import Vault
from vault_tool.cli.output import to_json
from vault_tool.errors import NotFound, Refused, UsageError, VaultError
from vault_tool.features.recall.recall import Bundle
from vault_tool.model.consent import consent_of
from vault_tool.model.signals import ConsentState, Signal, SignalKind
from vault_tool.verbs.agent_files import create_file, list_files, read_file

pytestmark = pytest.mark.without_git

WORD = "zanzibar"


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    """A vault of the harbour in which what Ann told of Zanzibar was withdrawn, and nothing else."""
    root = tmp_path_factory.mktemp("consents")
    Vault.init(root / "v", name="Lab", no_git=True)
    with Vault.open(root / "v", person=True, session="s") as vault:
        vault.remember("The harbour opens at eight.", ["Harbour"], title="Harbour hours", tags=["port"])
        other = vault.remember("The crane is painted red.", ["Harbour", "Crane"], title="Painting the crane")
        hers = vault.as_(user="ann").remember(
            f"Ann sails to {WORD} from the harbour.", ["Harbour", f"{WORD} trip", "Crane"], tags=[WORD], title=f"{WORD} sailing",
            kind="problem",
        )  # fmt: skip
        own = vault.remember(f"A ticket to {WORD} is in the harbour safe.", ["Harbour"], title=f"{WORD} ticket", pinned=True)
        vault.link(hers.id, "RELATED_TO", other.id, why=f"{WORD} begins at the crane")
        vault.mark_questionable(own.id, f"not for {WORD}")
        for identity, user in ((hers.id, "ann"), (own.id, "")):
            done = vault.consent(identity, "withdrawn", as_user=user, reason="she asked", turn="t9")
            assert done.withheld and done.state is ConsentState.WITHDRAWN
        yield vault


_PAGES: dict[str, Callable[[Vault], object]] = {
    "core": lambda v: (v.core(), (v.root / "CORE.md").read_text("utf-8")),
    "reflect": lambda v: (v.reflect(), (v.root / "REFLECTION.md").read_text("utf-8")),
    "decay": lambda v: v.decay(),
    "consolidate": lambda v: v.consolidate(),
    "begin_consolidation": lambda v: v.begin_consolidation(),
    "get_pending_consolidation": lambda v: v.get_pending_consolidation(),
    "get_consolidation_report": lambda v: v.get_consolidation_report(),
    "turn": lambda v: v.turn("s", "ann", "", f"the harbour and {WORD}"),
}


@pytest.mark.parametrize("origin", ["owner", "agent"])
@pytest.mark.parametrize("name", [*sorted(READS.keys() - {"list_consents"}), *_PAGES])
def test_what_is_withdrawn_is_in_no_answer_and_on_no_page(asked: Vault, name: str, origin: str) -> None:
    for user in ("", "ann"):
        if user and name in _PAGES and name != "turn":
            continue
        told = to_json((READS | _PAGES)[name](asked.as_(user=user, session="s", origin=origin)))
        words = told.casefold().replace(f"harbour and {WORD}", "").replace(f"the harbour and {WORD[:-1]} sailing tickets", "")
        assert WORD not in words, f"{name} for {user!r}: {words[max(0, words.index(WORD) - 200) : words.index(WORD) + 100]}"


def _recalled(vault: Vault, words: str) -> list[str]:
    found = vault.recall(words)
    assert isinstance(found, Bundle)
    return [one.id for one in found.results]


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    """An empty vault with git, kept by its owner."""
    found_at(tmp_path / "v", git=True)
    with Vault.open(tmp_path / "v", person=True) as opened:
        yield opened


def test_its_owner_sees_it_by_its_id_and_brings_it_back(vault: Vault) -> None:
    made = vault.remember("The ferry to Zanzibar leaves at noon.", ["Ferry"], title="Ferry")
    assert vault.show(made.id).consent is None
    before = (vault.root / made.path).read_bytes()
    vault.consent(made.id, "withdrawn", reason="they asked", turn="t1")
    shown = vault.show(made.id)
    assert (shown.consent, [r.by for r in shown.consents], shown.consents[0].turn) == ("withdrawn", ["owner"], "t1")
    assert (vault.root / made.path).read_bytes() == before, "the note stays as it is"
    assert _recalled(vault, "ferry to zanzibar") == []
    with pytest.raises(NotFound, match="told to nobody: consent to it was withdrawn"):
        vault.as_(origin="agent").get(made.id)
    assert not [problem for problem in vault.doctor().problems if problem.severity != "note"]
    assert vault.consent(made.id, "given").withheld is False
    assert _recalled(vault, "ferry to zanzibar") == [made.id]
    assert [one.state for one in vault.list_consents().results] == ["given"]


def test_pages_and_the_log_lose_it_at_once(vault: Vault) -> None:
    made = vault.remember("The ferry to Zanzibar leaves at noon.", ["Ferry"], title="The Zanzibar ferry", pinned=True)
    vault.core()
    vault.reflection()
    assert "Zanzibar" in (vault.root / "CORE.md").read_text("utf-8")
    vault.consent(made.id, "withdrawn")
    for page in ("CORE.md", "REFLECTION.md"):
        assert "Zanzibar" not in (vault.root / page).read_text("utf-8"), page
    assert "Zanzibar" in to_json(vault.log())
    told = vault.as_(origin="agent").log()
    assert "Zanzibar" not in to_json(told) and "zanzibar" not in to_json(told)
    assert [one.subject for one in told.results if one.op == "remember"] == ["remember: of what is told to nobody"]


def test_an_agents_files_are_those_that_it_may_see(vault: Vault) -> None:
    agent = vault.as_(origin="agent")
    create_file(agent, "vault/memories/ferry.md", "The ferry to Zanzibar leaves at noon.")
    theirs = agent.as_(user="ann").remember("Ann fears Zanzibar.", ["Ferry"])
    assert list_files(agent, "vault/memories") == {"ferry.md": 37}
    vault.consent("vault/memories/ferry.md", "withdrawn")
    assert list_files(agent, "vault/memories") == {}
    for asker, path in ((agent, "vault/memories/ferry.md"), (agent.as_(user="ben"), theirs.path)):
        with pytest.raises(NotFound, match="there is no file"):
            read_file(asker, path)
    assert read_file(agent, theirs.path)


def test_of_two_answers_in_one_second_the_second_counts(vault: Vault) -> None:
    made = vault.remember("The ferry leaves at noon.", ["Ferry"])
    vault.consent(made.id, "refused")
    assert not vault.search("ferry noon").results
    vault.consent(made.id, "given")
    assert made.id in [hit.id for hit in vault.search("ferry noon").results]


def test_who_may_answer(vault: Vault) -> None:
    hers = vault.as_(user="ann").remember("Ann sails at noon.", ["Ferry"], title="Noon")
    ours = vault.remember("The ferry is blue.", ["Ferry"], title="Blue")
    agent = vault.as_(origin="agent")
    for state in ("given", "refused", "withdrawn"):
        with pytest.raises(Refused, match="only a person"):
            agent.consent(hers.id, state)
        with pytest.raises(Refused, match="only a person"):
            agent.consent(hers.id, state, as_user="ann")
    assert agent.consent(hers.id, "asked", turn="t3").state is ConsentState.ASKED
    for wrong in (ours.id, "Blue", "Ferry", "no such thing"):
        with pytest.raises(NotFound, match="no memory about ann") as told:
            vault.consent(wrong, "refused", as_user="ann")
        assert "blue." not in str(told.value).casefold()
    with pytest.raises(NotFound, match="no memory about ben"):
        vault.consent(hers.id, "refused", as_user="ben")
    done = vault.consent("Noon", "refused", as_user="ann")
    assert done.withheld and done.records[-1].by == "ann"
    assert [one.title for one in vault.list_consents(as_user="ann").results] == ["Noon"]
    assert not vault.list_consents(as_user="ben").results
    assert not agent.list_consents(as_user="ann").results and not agent.list_consents().results
    assert vault.consent(hers.id, "given", as_user="ann").state is ConsentState.GIVEN
    with pytest.raises(UsageError, match="is no answer"):
        vault.consent(hers.id, "perhaps")


def test_what_a_turn_asks_about_is_answered_by_whom_it_is_about(vault: Vault) -> None:
    product = vault.as_(origin="agent")
    for user, text in (("ann", "I am afraid of ferries."), ("ben", "I like ferries.")):
        product.turn(
            "s", user, "", text, mode="memory_consent", extractMemory=True, candidates=[{"content": text}], turn=f"t-{user}"
        )
    product.drain()
    with pytest.raises(Refused, match="only a person"):
        product.review(as_user="ann")
    theirs = vault.review(as_user="ann").results
    assert [one.user for one in theirs] == ["ann"]
    with pytest.raises(NotFound):
        vault.review(as_user="ann", refuse=[next(one.id for one in vault.review().results if one.user == "ben")])
    done = vault.review(as_user="ann", accept=[theirs[0].id])
    shown = vault.show(done.accepted[0].id)
    assert [(record.state, record.by, record.turn) for record in shown.consents] == [
        ("asked", "", "t-ann"), ("given", "ann", "t-ann"),
    ]  # fmt: skip
    assert not shown.reviewed, "whom it is about vouches for no truth"
    ours = vault.review(accept=[vault.review().results[0].id])
    assert [record.by for record in vault.show(ours.accepted[0].id).consents] == ["", "owner"]


def test_said_again_it_stays_withheld(vault: Vault) -> None:
    made = vault.remember("The ferry leaves at noon.", ["Ferry"])
    vault.consent(made.id, "withdrawn")
    again = vault.as_(origin="agent").remember("The ferry leaves at noon.", ["Ferry"])
    assert again.duplicate_of == made.id and any("told to nobody" in said for said in again.warnings)
    assert len(list((vault.root / "vault" / "subjects").glob("*.md"))) == 1, "its subject is known, too"
    assert _recalled(vault, "ferry noon") == []


def test_what_was_made_from_it_is_named(vault: Vault) -> None:
    made = vault.remember("The ferry leaves at noon.", ["Ferry"])
    other = vault.remember("The ferry is blue.", ["Ferry"])
    alone = vault.create_understanding(["Ferry"], "It leaves at noon.", "Noon", source_observation_ids=[made.id])
    both = vault.create_understanding(["Ferry"], "Blue, at noon.", "Blue and noon", source_observation_ids=[made.id, other.id])
    done = vault.consent(made.id, "withdrawn")
    assert {*done.citing} == {alone.id, both.id} and sum("yours to mend" in said for said in done.warnings) == 2
    shown = vault.get_understandings(["Ferry"])
    assert [one.id for one in shown.results] == [both.id], "what says nothing else is told no more"


@pytest.mark.in_git
def test_it_is_forgotten_merged_and_edited_all_the_same(vault: Vault) -> None:
    made = vault.remember("The ferry leaves at noon.", ["Ferry"])
    vault.remember("Boats are blue.", ["Boat"])
    vault.consent(made.id, "withdrawn")
    vault.merge_subjects("Boat", "Ferry")
    assert vault.show(made.id).subjects == ("Boat",)

    def shorter(path: Path) -> None:
        path.write_text(path.read_text("utf-8").replace("The ferry leaves", "It leaves"), "utf-8")

    assert vault.edit(made.id, shorter).changed
    assert vault.history(made.id).results
    vault.forget(made.id)
    assert not vault.whole_index.catalog.withheld() and not (vault.root / made.path).exists()


def test_lines_that_say_it_badly_are_problems(vault: Vault) -> None:
    made = vault.remember("The ferry leaves at noon.", ["Ferry"])
    vault.consent(made.id, "given")
    journal = next((vault.root / "vault" / "signals").glob("*.jsonl"))
    journal.write_text(journal.read_text("utf-8").replace('"given"', '"maybe"'), "utf-8")
    assert [p.code for p in vault.doctor().problems if p.path.startswith("vault/signals")] == ["bad-signal"]
    assert vault.show(made.id).consent is None


def _said(state: str, at: int, origin: str = "owner", by: str = "") -> Signal:
    return Signal(
        id=f"00000000-0000-4000-8000-{at:012}", at=f"2026-11-{at:02}T00:00:00+00:00", target="x", kind=SignalKind.CONSENT,
        origin=origin, consent=state, answered_by=by,
    )  # fmt: skip


def test_the_last_answer_that_counts_decides(vault: Vault) -> None:
    made = vault.as_(user="ann").remember("Ann sails.", ["Ferry"])
    entry = vault.whole_index.catalog.get(made.id)[0]
    pulled = "pulled (mallory@example.org)"
    cases: list[tuple[list[Signal], str | None]] = [
        ([], None),
        ([_said("asked", 1)], "asked"),
        ([_said("given", 2), _said("withdrawn", 3), _said("asked", 4)], "withdrawn"),
        ([_said("withdrawn", 3, by="ann"), _said("given", 2)], "withdrawn"),
        ([_said("withdrawn", 1, by="ben")], None),
        ([_said("withdrawn", 1, origin="agent")], None),
        ([_said("withdrawn", 1, origin="agent", by="ann")], "withdrawn"),
        ([_said("withdrawn", 1), _said("given", 2, origin="agent")], "withdrawn"),
        ([_said("withdrawn", 1, origin=pulled)], None),
        ([_said("withdrawn", 1, origin=pulled, by="ann")], None),
    ]
    for signals, state in cases:
        found = consent_of(entry, signals)
        assert found.state == state and found.withheld == (state in ("refused", "withdrawn")), signals
        assert len(found.records) == len(signals), "what does not count is shown all the same"


def test_a_full_rebuild_knows_it_again(vault: Vault) -> None:
    made = vault.remember("The ferry leaves at noon.", ["Ferry"])
    vault.consent(made.id, "refused")
    vault.reindex(full=True)
    assert vault.whole_index.catalog.withheld() == {made.id}
    with Vault.open(vault.root) as other:
        assert _recalled(other, "ferry noon") == []
        with pytest.raises(VaultError):
            other.show(made.id)


def test_what_was_kept_in_memory_is_told_no_more_from_the_withdrawal_on(tmp_path: Path) -> None:
    Vault.init(tmp_path / "v", name="Lab", no_git=True)
    with Vault.open(tmp_path / "v", person=True, session="s") as vault:
        one, other = (vault.remember(f"A ticket to {WORD} is in safe {number}.", ["Harbour"]) for number in (1, 2))
        vault.consent(one.id, "withdrawn", as_user="", reason="", turn="t1")
        kept = vault.index.catalog.cached_by_paths([one.path, other.path])
        assert [entry.id for entry in kept.values()] == [other.id]
        with Vault.open(tmp_path / "v", person=True, session="s") as beside:
            beside.consent(other.id, "withdrawn", as_user="", reason="", turn="t2")
        vault.whole_index.refresh()
        catalog = vault.index.catalog
        assert catalog.cached_by_paths([one.path, other.path]) == {}
        assert catalog.cached_by_id(other.id) == ()
