"""Links between memories: revised by single lines, taken away, found by their prose, and as strong as they say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.git_repos import write
from tests.verbs.looking import assert_committed, fails, identity, in_commit, subjects, text, untouched
from tests.wording import typed
from vault_tool import Vault
from vault_tool.errors import Refused, UsageError
from vault_tool.features.recall.recall import Bundle
from vault_tool.features.remember.links import Linked
from vault_tool.vault.retrieval.query import Recalled

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""


def _joined(vault: Vault) -> Linked:
    vault.remember("The pager rings at night.", title="Night pages", kind="problem")
    vault.remember("Alerts wait for ten minutes.", title="Ten minutes")
    return vault.link("Ten minutes", "SOLVES", "Night pages", "Short blips end by themselves.", strength=0.4)


@pytest.fixture
def joined(vault: Vault, once: Callable[[Callable[[Vault], Any]], Any]) -> Linked:
    found: Linked = once(_joined)
    return found


def recalled(vault: Vault, query: str) -> tuple[Recalled, ...]:
    found = vault.recall(query)
    assert isinstance(found, Bundle)
    return found.results


class TestUpdateLink:
    @pytest.mark.in_git
    def test_a_number_is_one_line(self, vault: Vault, root: Path, joined: Linked) -> None:
        before = text(root, joined.path)
        done = vault.update_link(joined.id[:8], strength=0.9)
        assert_committed(done, root)
        assert (done.changed, in_commit(root), subjects(root)[0]) == (
            ("strength",), {joined.path: "M"}, "update-link: Ten minutes SOLVES Night pages",
        )  # fmt: skip
        was, now = before.splitlines(), text(root, joined.path).splitlines()
        assert [line for line in now if line not in was] == ["strength: 0.9", f"updated: {vault.now()}"]
        assert [line for line in was if line not in now] == ["strength: 0.4"]
        assert next(r.strength for r in vault.related("Night pages").results) == 0.9

    @pytest.mark.in_git
    def test_prose_is_the_body_alone(self, vault: Vault, root: Path, joined: Linked) -> None:
        head = text(root, joined.path).partition("\n---\n")[0]
        done = vault.update_link(joined.id, "Most alarms are over before anybody is awake.\n\nMeasured in May.", confidence=0.7)
        assert done.changed == ("confidence", "why")
        after, _, body = text(root, joined.path).partition("\n---\n")
        assert body == "Most alarms are over before anybody is awake.\n\nMeasured in May.\n"
        assert after.startswith(head) and "confidence: 0.7" in after
        undone = vault.as_person().undo(done.commit or "")
        assert undone.restored == (joined.path,)
        assert next(r.why for r in vault.related("Night pages").results) == "Short blips end by themselves."

    @pytest.mark.in_git
    def test_what_is_so_already_writes_nothing(self, vault: Vault, root: Path, joined: Linked) -> None:
        with untouched(root):
            assert vault.update_link(joined.id, "Short blips end by themselves.", strength=0.4).changed == ()

    def test_what_is_no_link_and_what_says_nothing_are_refused(self, vault: Vault, joined: Linked) -> None:
        with fails(UsageError, "is no link", "vt related"):
            vault.update_link("Night pages", strength=0.5)
        with fails(UsageError, "nothing of the link"):
            vault.update_link(joined.id)
        with fails(UsageError, "strength"):
            vault.update_link(joined.id, strength=1.5)

    def test_another_reason_for_a_link_that_is_there_says_what_to_type(self, vault: Vault, joined: Linked) -> None:
        again = vault.link("Ten minutes", "SOLVES", "Night pages", "Something else.")
        assert again.duplicate_of == joined.id and f"vt update-link {joined.id[:6]}" in typed(again.warnings[0])


class TestUnlink:
    @pytest.mark.in_git
    def test_it_goes_by_a_commit_and_comes_back_by_an_undo(self, vault: Vault, root: Path, joined: Linked) -> None:
        was = text(root, joined.path)
        gone = vault.unlink(joined.id)
        assert_committed(gone, root)
        assert in_commit(root)[joined.path] == "D"
        assert not vault.related("Night pages").results
        assert vault.show("Ten minutes").title and vault.show("Night pages").title
        vault.as_person().undo(gone.commit or "")
        assert text(root, joined.path) == was
        assert [r.edge_id for r in vault.related("Night pages").results] == [joined.id]

    def test_it_can_be_made_again(self, vault: Vault, joined: Linked) -> None:
        vault.unlink(joined.id)
        again = vault.link("Ten minutes", "SOLVES", "Night pages", "Short blips end by themselves.")
        assert again.duplicate_of is None and again.id != joined.id

    def test_a_memory_is_no_link(self, vault: Vault, joined: Linked) -> None:
        with fails(UsageError, "is no link", "vt related"):
            vault.unlink("Ten minutes")

    def test_what_would_be_read_again_is_kept_and_may_lend_nothing(self, vault: Vault) -> None:
        for number, said in enumerate(("I fear the old lighthouse.", "I went back to the lighthouse.")):
            candidates = [
                {"kind": "relationship_beat", "content": said, "anchors": [{"name": "The lighthouse", "role": "location"}]}
            ]
            vault.turn("s1", "ana", "reef", said, extractMemory=True, candidates=candidates, turn=f"t{number}")
        vault.drain()
        vault.link_beats()
        edges = [
            r
            for m in vault.search("lighthouse").results
            if m.record_class == "observation"
            for r in vault.related(str(m.id)).results
        ]
        found = next(r for r in edges if r.relation == "TEMPORAL_FOLLOWS")
        with pytest.raises(Refused, match="read again") as refused:
            vault.unlink(str(found.edge_id))
        assert "--strength 0" in typed(refused.value.hint)
        vault.update_link(found.edge_id or "", strength=0)
        assert vault.link_beats().linked == 0


class TestRecall:
    def test_a_link_is_found_by_its_prose(self, vault: Vault, joined: Linked) -> None:
        for number in range(12):
            vault.remember(f"Note {number} about shelves and paint in room {number}.")
        results = recalled(vault, "why do blips not matter?")
        assert {one.title for one in results} >= {"Night pages", "Ten minutes"}
        assert "SOLVES: Short blips end by themselves." in results[0].why

    def test_what_it_is_called_says_nothing_of_the_other_end(self, vault: Vault) -> None:
        vault.remember("Granite is heavy.", title="The granite top")
        vault.remember("Oak creaks.", title="Oak legs")
        vault.link("Oak legs", "REQUIRES", "The granite top", "They carry it.")
        one = next((one for one in recalled(vault, "granite") if one.title == "Oak legs"), None)
        assert one is None or not any("They carry" in why for why in one.why if why.startswith("REQUIRES:"))

    def test_a_strong_link_lends_more(self, vault: Vault) -> None:
        vault.remember("The boiler fails in frost.", title="Boiler", kind="problem")
        for title, strength in (("Lagging", 0.1), ("Antifreeze", 1.0), ("A prayer", None)):
            vault.remember(f"{title} was used.", title=title)
            vault.link(title, "RELATED_TO", "Boiler", strength=strength)
        found = [one.title for one in recalled(vault, "boiler frost") if one.of]
        assert found == ["Antifreeze", "A prayer", "Lagging"]


def test_doctor_says_which_relation_it_could_not_make_a_link_of(vault: Vault, root: Path) -> None:
    relations = f"- {{target: {identity(9)}, type: SOLVES}}\n- {{target: {identity(1)}, type: FROBS}}\n"
    write(root, "vault/one.md", f"---\nid: {identity(1)}\ntype: fact\nrelations:\n{relations}---\nOne.\n")
    seen = vault.doctor(fix=True)
    assert seen.fixed == ()
    assert [line.partition(": ")[2].partition(": ")[2] for line in seen.warnings if line.startswith("vault/one.md")] == [
        f"no record has the id of its target `{identity(9)}`",
        "`FROBS` is no type of edge",
    ]
