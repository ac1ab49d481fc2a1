"""Two users of one vault: what is about the one is nowhere for the other, in no verb and on no page."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.ollama_server import FakeOllama
from tests.founding import found_at
from vault_tool import Vault
from vault_tool.cli.output import to_json
from vault_tool.cli.verb_table import of_the_whole, verbs
from vault_tool.errors import NotFound, UsageError, VaultError
from vault_tool.features.recall.recall import Bundle

pytestmark = pytest.mark.without_git

OF_THE_WHOLE = of_the_whole()

SECRET = "zanzibar"
"""A word of everything that is Ann's."""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Vault:
    """A vault with something of everybody's, of Ann and of Ben; what is Ann's by its ids beside her word."""
    root = tmp_path_factory.mktemp("users")
    Vault.init(root / "v", name="Lab", no_git=True)
    vault = Vault.open(root / "v", person=True)
    ann, ben = vault.as_(user="ann", session="s"), vault.as_(user="ben", session="s")
    common = vault.remember("The harbour opens at eight.", ["Harbour"], title="Harbour hours", tags=["port"])
    hers = ann.remember(
        f"Ann sails to {SECRET} from the harbour.", ["Harbour", f"{SECRET} trip"], tags=[SECRET], title=f"{SECRET} sailing"
    )
    other = ann.remember(
        f"Ann keeps the {SECRET} ticket in the harbour safe.", ["Harbour"], kind="problem", title=f"{SECRET} ticket"
    )
    ann.remember(f"She showed the {SECRET} ticket.", kind="solution", problem=other.id)
    ann.link(hers.id, "RELATED_TO", common.id, why=f"{SECRET} begins at the harbour")
    ann.mark_questionable(common.id, f"not when she left for {SECRET}")
    ann.create_understanding(
        ["Harbour"], f"Ann leaves for {SECRET} there.", f"The way to {SECRET}", source_observation_ids=[hers.id]
    )
    # Made by whoever keeps the vault, of what is Ann's and what is Ben's.
    his = ben.remember("Ben paints the harbour crane red.", ["Harbour", "Crane"], tags=["paint"], title="Painting the crane")
    vault.create_understanding(
        ["Harbour", "Crane"],
        f"Both use it: {SECRET} and paint.",
        f"{SECRET} and crane",
        source_observation_ids=[hers.id, his.id],
    )
    vault.create_understanding([f"{SECRET} trip"], f"All of {SECRET}.", f"About {SECRET}", source_observation_ids=[hers.id])
    vault.episode(f"Ann told of {SECRET}")
    for whose in (ann, ben):
        text = f"I sail to {SECRET} from the harbour tomorrow." if whose is ann else "When does the harbour open?"
        whose.turn("s", whose.who.user, "", text, write="later")
    ann.bring_to_mind(f"sailing to {SECRET} from the harbour")
    return vault


READS: dict[str, Callable[[Vault], object]] = {
    "orient": lambda v: v.orient(),
    "bring_to_mind": lambda v: v.bring_to_mind(f"the harbour and {SECRET[:-1]} sailing tickets", include_seen=True),
    "reset_seen": lambda v: v.reset_seen(),
    "get_session_context": lambda v: v.get_session_context(),
    "end_session": lambda v: v.end_session(),
    "get_subjects": lambda v: v.get_subjects(),
    "open_map": lambda v: v.open_map("Harbour", memories=100),
    "list_observations": lambda v: v.list_observations("Harbour"),
    "search_observations": lambda v: v.search_observations(["Harbour"], "ticket sailing harbour"),
    "get_stats": lambda v: v.get_stats(),
    "tags": lambda v: v.tags(),
    "get_understandings": lambda v: v.get_understandings(["Harbour"]),
    "get_understanding_history": lambda v: v.get_understanding_history(_understanding(v)),
    "open_around": lambda v: v.open_around("Harbour"),
    "open_intersection": lambda v: v.open_intersection("Harbour", "Crane"),
    "find_similar_subjects": lambda v: v.find_similar_subjects(),
    "related": lambda v: v.related("Harbour hours"),
    "get": lambda v: v.get("Harbour hours"),
    "show": lambda v: v.show("Harbour hours", belief=True),
    "history": lambda v: v.history("Harbour hours"),
    "read": lambda v: v.read("harbour ticket sailing"),
    "op": lambda v: v.op({"op": "read", "repo_id": "Lab", "query": "harbour ticket sailing", "mode": "targeted"}),
    "snapshot": lambda v: v.snapshot(),
    "list": lambda v: v.list(status="all", limit=500),
    "upcoming": lambda v: v.upcoming("9y"),
    "search": lambda v: v.search("harbour ticket sailing", everything=True),
    "recall": lambda v: v.recall("harbour ticket sailing", explain=True, doubtful=True),
    "backstop": lambda v: v.backstop(),
    "list_consents": lambda v: v.list_consents(as_user=v.who.user),
    "list_turns": lambda v: v.list_turns(),
    "get_turn": lambda v: v.get_turn(v.list_turns().results[0].id, replay=True) if v.list_turns().results else None,
}  # fmt: skip
"""Every verb that answers with what the vault holds, asked about something that is near to what is Ann's."""

WRITES: dict[str, Callable[[Vault], object]] = {
    "remember": lambda v: v.remember("Ann sails to zanziba from the harbour!", ["Harbour", "zanziba trip"]),
    "add_observations": lambda v: v.add_observations([{"content": "Ann keeps the ticket.", "subject_names": ["zanziba trip"]}]),
    "create_subjects": lambda v: v.create_subjects([{"name": "zanziba trips"}]),
    "create_understanding": lambda v: v.create_understanding(["Harbour"], "Ben paints there.", "Where Ben paints"),
    "update_understanding": lambda v: v.update_understanding(_understanding(v), "Ben paints more.", "Ben paints"),
    "set_structural_understanding": lambda v: v.set_structural_understanding("Crane", "It is red."),
    "link": lambda v: v.link("Harbour hours", "RELATED_TO", "Painting the crane", why="Both there."),
    "update_link": lambda v: v.update_link(_link(v), "Both at noon.", strength=0.7),
    "unlink": lambda v: v.unlink(_link(v)),
    "mark_useful": lambda v: v.mark_useful("Harbour hours", "It opened."),
    "mark_questionable": lambda v: v.mark_questionable("Harbour hours", "Closed today."),
    "update": lambda v: v.update(v.get("Harbour hours").id, utility={"target": 1, "confidence": 1, "rationale": "r"}),
    "write": lambda v: v.write("The crane is red.", "fact", 0.9),
    "consent": lambda v: v.consent("Harbour hours", "asked"),
    "pin": lambda v: v.pin("Painting the crane"),
    "tag": lambda v: v.tag("Painting the crane", add=["red"]),
    "episode": lambda v: v.episode("Ben painted"),
    "turn": lambda v: v.turn("s", "ben", "", "I told you of the harbour ticket", write="later"),
    "correct": lambda v: v.correct("Harbour hours", "It was closed."),
    "understand": lambda v: v.understand(
        ["Crane"], "It is painted.", "Painted", [v.get(one).id for one in ("Harbour hours", "Painting the crane")]
    ),
    "delete_observations": lambda v: v.delete_observations([v.remember("By accident.", ["Crane"]).id]),
}  # fmt: skip
"""Every verb that writes for one user; what it answers tells of nobody else."""

NOT_OF_MEMORIES = frozenset({"init"})
"""These tell of no memory."""


def _understanding(vault: Vault) -> str:
    found = vault.get_understandings(["Harbour"]).results
    return found[0].id if found else vault.create_understanding(["Harbour"], "Ben is there.", "Where Ben is").id


def _link(vault: Vault) -> str:
    return vault.link("Harbour hours", "RELATED_TO", "Painting the crane", why="Both there.").id


def _hers(vault: Vault) -> set[str]:
    catalog = vault.whole_index.catalog
    return {entry.id for entry in catalog.snapshot().entries if SECRET in f"{entry.title} {entry.preview} {entry.head}"}


def test_every_verb_is_placed() -> None:
    placed = {*READS, *WRITES, *OF_THE_WHOLE, *NOT_OF_MEMORIES}
    assert verbs().keys() - placed == set(), "say for a new verb what one user may see of another"
    assert not READS.keys() & WRITES.keys() and not {*READS, *WRITES} & OF_THE_WHOLE


@pytest.mark.parametrize("name", READS | WRITES)
@pytest.mark.parametrize("user", ["ben", "eve"])
def test_nothing_of_one_user_reaches_another(shared: Vault, name: str, user: str) -> None:
    hers = _hers(shared)
    try:
        told = to_json((READS | WRITES)[name](shared.as_(user=user, session="s", origin="agent")))
    except VaultError as fault:
        assert user == "eve", f"{name}: {fault}"
        told = str(fault)
    assert SECRET not in told.casefold()
    assert [one for one in hers if one in told] == []


@pytest.mark.parametrize("name", sorted(OF_THE_WHOLE - {"schedule", "config"}))
def test_what_is_about_the_whole_vault_is_not_asked_for_one_user(shared: Vault, name: str) -> None:
    needed: dict[str, Any] = {
        "add_alias": ("Harbour", "Port"), "forget": ("Harbour hours",),
            "forget_user": ("ann",), "export_user": ("ann", "x"),
        "purge": (["Harbour hours"],), "adopt": (["a.md"],), "merge_subjects": ("Harbour", "Crane"), "edit": ("x", "true"),
        "new": ("fact", "true"), "update_subject_summary": ("Harbour", "x"), "import_markdown": (Path("x"),),
        "import_cognitive_memory": (Path("x"),), "import_from": (Path("x"),), "restore": ("x",), "export_as": ("jsonl", "x"),
        "moved": ("old.md", "new.md"), "settle_texts": ("abc", "this"),
    }  # fmt: skip
    with pytest.raises(UsageError, match="whole vault"):
        getattr(shared.as_(user="ben"), name)(*needed.get(name, ()))


@pytest.mark.parametrize("name", ["get", "show", "related", "history", "mark_useful", "pin", "link"])
def test_a_memory_of_another_user_is_not_there_by_id_title_or_path(shared: Vault, name: str) -> None:
    entry = shared.show(f"{SECRET} sailing")
    extra = ("RELATED_TO", "Painting the crane") if name == "link" else ()
    for named in (entry.id, entry.id[:8], entry.title, entry.path):
        with pytest.raises(VaultError) as fault:
            getattr(shared.as_(user="ben"), name)(named, *extra)
        assert SECRET not in str(fault.value).replace(named, "")


def test_the_user_and_the_owner_see_what_is_theirs(shared: Vault) -> None:
    ann = shared.as_(user="ann")
    assert SECRET in to_json(ann.recall("ticket sailing"))
    assert SECRET in to_json(ann.tags())
    assert SECRET in to_json(shared.recall("ticket sailing"))
    assert "paint" not in to_json(ann.tags())
    # Of both users' memories, and so for neither of them.
    assert f"{SECRET} and crane" not in to_json(ann.snapshot())
    assert f"{SECRET} and crane" in to_json(shared.get_understandings(["Harbour", "Crane"]))
    # Of hers alone, written by whoever keeps the vault: hers.
    assert f"About {SECRET}" in to_json(ann.get_understandings([f"{SECRET} trip"]))


def test_no_page_and_no_prompt_without_a_user_tells_of_one(shared: Vault) -> None:
    shared.reflect()
    pages = [(shared.root / name).read_text() for name in ("CORE.md", "REFLECTION.md")]
    told = [*pages, shared.core(preview=True).text, to_json(shared.bring_to_mind("sailing to the harbour with a ticket"))]
    assert [text for text in told if SECRET in text or "Painting" in text or "paint" in text] == []
    assert "Harbour hours" in pages[0]


def test_one_user_does_not_overtake_what_is_everybodys(tmp_path: Path) -> None:
    found_at(tmp_path / "v", git=False)
    with Vault.open(tmp_path / "v", person=True) as vault:
        old = vault.create_understanding(["Harbour"], "It opens at eight.", "Opens at eight")
        for user in ("ann", "ben"):
            own = vault.as_(user=user).update_understanding(old.id, f"{user} comes at nine.", f"{user} at nine")
            assert own.superseded == ()
        assert {one.summary for one in vault.as_(user="ben").get_understandings(["Harbour"]).results} == {
            "Opens at eight", "ben at nine"
        }  # fmt: skip
        assert not [one for one in vault.doctor().problems if one.code == "contested"]


def test_a_key_is_one_users_word(tmp_path: Path) -> None:
    found_at(tmp_path / "v", git=False)
    with Vault.open(tmp_path / "v") as vault:
        for user, name in (("ann", "Ann Smith"), ("ben", "Ben Jones")):
            said = [{"content": f"{name} is here.", "anchors": [{"name": name, "key": "player", "role": "player"}]}]
            vault.turn("s", user, "w", f"I am {name}", extractMemory=True, candidates=said, write="later")
        vault.drain()
        assert [one.name for one in vault.as_(user="ben").get_subjects().results if one.name.endswith(("Smith", "Jones"))] == [
            "Ben Jones"
        ]


def test_what_one_user_deletes_leaves_the_subject_of_another(tmp_path: Path) -> None:
    found_at(tmp_path / "v", git=False)
    with Vault.open(tmp_path / "v") as vault:
        vault.as_(user="ann").remember("Ann rows.", ["Boat"])
        ben = vault.as_(user="ben", session="s")
        deleted = ben.delete_observations([ben.remember("Ben rows.", ["Boat"]).id])
        assert deleted.subjects_removed == ()
        assert [one.name for one in vault.get_subjects(["Boat"]).results] == ["Boat"]


def test_forty_turns_of_two_users_looked_at_from_both_sides(tmp_path: Path) -> None:
    found_at(tmp_path / "v", git=False)
    words = {"ann": ("violet", "sister Mara"), "ben": ("copper", "brother Otto")}
    with Vault.open(tmp_path / "v") as vault:
        for number in range(40):
            for user, (colour, kin) in words.items():
                # One session for both, and the same anchors: nothing but the user keeps them apart.
                text = f"On day {number} my {kin} painted the boat {colour} in the harbour."
                said = {"content": text, "anchors": ["Harbour", {"name": kin, "key": "kin", "role": "character"}]}
                turned = vault.turn("s", user, "w", text, extractMemory=True, candidates=[said], turn=str(number), write="later")
                other = words["ben" if user == "ann" else "ann"]
                assert not any(word in to_json(turned.recalled) + turned.prompt for word in other), (user, number)
                assert len(turned.recalled) == min(8, number // 10 * 10)
            if number % 10 == 9:
                vault.drain()
        for user, (colour, kin) in words.items():
            one, other = vault.as_(user=user, session="s"), words["ben" if user == "ann" else "ann"]
            told = {name: to_json(READS[name](one)) for name in sorted(READS) if name in _OF_ANY_VAULT}
            told["recall"] = to_json(one.recall("who painted the boat in the harbour?", limit=50))
            assert [name for name, text in told.items() if any(word in text for word in other)] == []
            assert all(colour in told[name] and kin in told[name] for name in ("recall", "snapshot", "get_session_context"))
            assert one.get_stats().observation_count == 40
        assert vault.get_stats().observation_count == 80


def test_meaning_tells_one_user_of_another_no_more_than_words_do(tmp_path: Path) -> None:
    found_at(tmp_path / "v", git=False)
    with FakeOllama() as ollama, Vault.open(tmp_path / "v", environ={**os.environ, "OLLAMA_HOST": ollama.url}) as vault:
        ann, ben = vault.as_(user="ann"), vault.as_(user="ben")
        hers = [ann.remember(f"The {SECRET} ferry leaves at {hour}.", ["Ferry"]).id for hour in range(20)]
        his = ben.remember("The ferry is late.", ["Ferry"]).id
        vault.embed()
        found = ben.recall(f"the {SECRET} ferry leaves at", since="2000")
        assert isinstance(found, Bundle)
        assert [one.id for one in found.results] == [his]
        again = ben.remember(f"The {SECRET} ferry leaves at 7!", ["Ferry"])
        assert again.duplicate_of is None and not set(hers) & {one.id for one in again.similar}
        assert set(hers) & {one.id for one in ann.remember(f"The {SECRET} ferry leaves at 7!").similar}


_OF_ANY_VAULT = (
    "orient", "bring_to_mind", "get_session_context", "end_session", "get_subjects", "search_observations", "get_stats", "tags",
    "get_understandings", "open_around", "find_similar_subjects", "read", "snapshot", "search", "list",
)  # fmt: skip


@pytest.mark.parametrize("verb", ["show", "get", "related", "history"])
@pytest.mark.parametrize("by", ["id", "path"])
def test_the_ledger_of_a_pass_is_told_to_no_user(root: Path, verb: str, by: str) -> None:
    with Vault.open(root, origin="agent", session="s") as vault:
        ben = vault.as_(user="ben")
        ben.remember("Ben paints the harbour crane red.", ["Harbour", "Crane"])
        began = vault.begin_consolidation()
        named = began.id if by == "id" else began.path
        assert getattr(vault, verb)(named).id == began.id
        ann = vault.as_(user="ann")
        with pytest.raises(NotFound, match="names memories of anybody"):
            getattr(ann, verb)(named)
        context = ann.get_session_context()
        assert began.id not in {one.id for one in context.written} and context.written_count == len(context.written)
        assert began.id in {one.id for one in vault.get_session_context().written}
