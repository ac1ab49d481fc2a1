"""Every Undo that the page offers beside what was just done: pressed, all is as it was; pressed again, it is done again."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.git_repos import commit_all, write
from tests.web.conftest import Served, Told
from vault_tool.errors import NotFound
from vault_tool.features.editing.hiding import hide_from_page
from vault_tool.files.inbox import Inbox
from vault_tool.files.two_versions import END, OPEN, OR
from vault_tool.model.ids import new_id
from vault_tool.util.text import content_hash
from vault_tool.verbs.vault import Vault

PRESSES: dict[str, tuple[str, dict[str, Any]]] = {
    "accept": ("/review/decide", {"verdict": "accept {waiting}"}),
    "accept several": ("/review/decide", {"verdict": "accept", "id": ["{waiting}", "{draft}"]}),
    "refuse": ("/review/decide", {"verdict": "refuse {waiting}"}),
    "refuse several": ("/review/decide", {"verdict": "refuse", "id": ["{waiting}", "{draft}"], "sure": "1"}),
    "delete": ("/memory/{hum}/delete", {}),
    "delete a problem with its links": ("/memory/{problem}/delete", {}),
    "delete several": ("/memories/many", {"do": "delete", "id": ["{hum}", "{old}", "{new}"], "sure": "1"}),
    "keep": ("/memories/many", {"do": "keep", "id": ["{hum}"]}),
    "keep several": ("/memories/many", {"do": "keep", "id": ["{hum}", "{old}"]}),
    "tag several": ("/memories/many", {"do": "tag", "id": ["{hum}", "{old}"], "tags": "winter"}),
    "pin several": ("/memories/many", {"do": "pin", "id": ["{hum}", "{old}"]}),
    "hide several": ("/memories/many", {"do": "hide", "id": ["{hum}", "{old}"]}),
    "flag several": ("/memories/many", {"do": "flag", "id": ["{hum}", "{old}"], "reason": "seen no more"}),
    "merge from the list": ("/memories/many", {"do": "merge", "id": ["{ben}"], "subject": "Lab"}),
    "useful": ("/memory/{hum}/useful", {"reason": "I hear it"}),
    "questionable": ("/memory/{old}/questionable", {"reason": "I do not"}),
    "pin": ("/memory/{hum}/pin", {}),
    "hide": ("/memory/{hum}/hide", {}),
    "hide what is pinned": ("/memory/{pinned}/hide", {}),
    "unpin": ("/memory/{pinned}/unpin", {}),
    "give": ("/memory/{hidden}/give", {}),
    "tag": ("/memory/{hum}/tag", {"add": "winter", "remove": "noise"}),
    "link": ("/memory/{hum}/link", {"type": "RELATED_TO", "to": "{old}", "why": "both in the lab"}),
    "unlink": ("/memory/{hum}/unlink", {"edge": "{edge}"}),
    "newer fact": ("/memory/{hum}/supersede", {"content": "The heat pump is silent now.", "reason": "a new one"}),
    "newer understanding": ("/memory/{understood}/supersede", {"content": "It is new.", "summary": "New"}),
    "edit": ("/memory/{hum}/edit", {}),
    "add": ("/add", {"content": "The quay is wet.", "subjects": "Quay, Lab", "tags": "water", "type": "fact"}),
    "add what is there": ("/add", {"content": "The lab opens at eight.", "subjects": "Lab, Doors", "tags": "hours"}),
    "add a subject": ("/add/subject", {"name": "Quay", "summary": "Where boats lie", "aliases": "Wharf"}),
    "add a link": ("/add/link", {"from": "{hum}", "to": "{old}", "type": "RELATED_TO", "why": "both in the lab"}),
    "alias": ("/subject/Heat%20pump/alias", {"aliases": "Warmth, Pump"}),
    "line": ("/subject/Heat%20pump/summary", {"summary": "What warms the lab"}),
    "understand": ("/subject/Lab/understand", {"content": "The lab opens at nine.", "summary": "Nine"}),
    "understand anew": ("/subject/Heat%20pump/understand", {"content": "It is new.", "summary": "New"}),
    "merge": ("/merge", {"keep": "Heat pump", "gone": "Lab", "reason": "one thing"}),
    "settle two answers": ("/consolidate/settle", {"id": "{understood}"}),
    "settle a copy": ("/review/settle", {"keep": "both {copy}"}),
    "settle a place": ("/review/settle", {"keep": "that {place}"}),
    "settle a place by another text": ("/review/settle", {"keep": "text {place}", "text": "It hums, or so."}),
    "settle a field": ("/review/settle", {"keep": "both {field}"}),
    "begin a pass": ("/consolidate/begin", {}),
    "write a packet": ("/consolidate/write", {}),
    "fix": ("/do/fix", {}),
    "mend": ("/mend", {}),
    "adopt": ("/mend/adopt", {"path": "vault/jotted.md"}),
    "a setting": ("/settings", {"core_budget": "8000"}),
}


LED = "---\nid: {id}\ntype: fact\nrelations:\n  - target: {to}\n    type: RELATED_TO\n---\nThe pump is beside the door.\n"


def flash_of(page: str) -> tuple[str, dict[str, list[str]]] | None:
    """The form of the Undo that stands beside what was just done."""
    flash = re.search(r'id="flash".*?</div>', page, re.DOTALL)
    form = re.search(r'<form method="post" action="([^"]+)">(.*?)</form>', flash.group() if flash else "", re.DOTALL)
    if form is None:
        return None
    fields: dict[str, list[str]] = {}
    for name, value in re.findall(r'name="([^"]+)" value="([^"]*)"', form.group(2)):
        fields.setdefault(name, []).append(unescape(value))
    return form.group(1), fields


def notes(root: Path) -> dict[str, bytes]:
    """The notes and what else lies beside them, but for logs, by path."""
    files = [path for path in (root / "vault").rglob("*") if path.is_file() and not {"episodes", "signals"} & set(path.parts)]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files if path.name != "_index.json"}


def told_by(vault: Vault) -> dict[str, object]:
    """All that verbs tell of each note that has an id, and of what waits."""
    told: dict[str, object] = {}
    found = (re.search(rb"^id: (\S+)", data, re.MULTILINE) for data in notes(vault.root).values())
    for identity in sorted({match[1].decode() for match in found if match}):
        try:
            shown = vault.show(identity, belief=True)
        except NotFound:
            continue
        told[identity] = (
            shown.title, shown.status, shown.status_by, shown.marks, shown.content, shown.head, shown.subjects, shown.belief,
            shown.reviewed, shown.not_at_start, shown.put_by_others, shown.relations, shown.solved_by,
        )  # fmt: skip
    told["subjects"] = [(subject.name, subject.aliases, subject.summary) for subject in vault.get_subjects().results]
    waits = vault.review()
    about = {draft.id: Inbox(vault.root).about(draft.id) for draft in waits.results}
    told["waits"] = [(draft, (vault.root / draft.path).read_bytes(), about[draft.id]) for draft in waits.results]
    told["texts"] = [(place.key, place.path, place.what, place.this, place.that) for place in waits.unsettled]
    told["settings"] = [(setting.name, setting.value) for setting in vault.config().results]
    told["passes"] = vault.list_passes().results
    pending = vault.get_pending_consolidation()
    waiting = (*pending.subjects, *pending.intersections)
    told["open pass"] = (pending.pass_id, pending.pending_consolidation_count, [packet.label for packet in waiting])
    told["in the bin"] = sorted(draft.id for draft in vault.review(bin=True).results)
    return told


def state(served: Served) -> dict[str, object]:
    """The whole state that a press may change and its Undo gives back."""
    with served.vault() as vault:
        return {**told_by(vault), **notes(served.root)}


def differing(one: dict[str, object], other: dict[str, object]) -> list[tuple[str, object, object]]:
    """The parts of two states that differ."""
    return [(name, one.get(name), other.get(name)) for name in {**one, **other} if one.get(name) != other.get(name)]


@pytest.fixture
def made(told: Told) -> Told:
    """The story's vault with all that the presses need, committed but for what a hand edit is to be."""
    served, ids = told
    with served.vault() as vault:
        ids["draft"] = vault.as_(origin="agent").remember("Perhaps the ferry is late.", ["Ferry"], ask=True).id
        ids["ben"] = vault.remember("Ben paints the crane at dusk.", ["Crane"]).id
        ids["pinned"] = vault.remember("The lab is locked at night.", ["Lab"]).id
        vault.pin(ids["pinned"])
        ids["hidden"] = vault.remember("The lab smells of tar.", ["Lab"]).id
        hide_from_page(vault, [ids["hidden"]])
        ids["edge"] = vault.link(ids["hum"], "RELATED_TO", ids["pinned"]).id
        note = vault.root / vault.remember("The kettle is descaled in May.").path
        twice = vault.root / vault.remember("The roof hums in winter.", ["Roof"]).path
    places = f"{OPEN}\nIt hums.\n{OR}\nIt roars.\n{END}"
    twice.write_text(twice.read_text().replace("\n---\n", "\ncolour: red\nunsettled: ['colour: blue']\n---\n", 1) + places + "\n")
    copy = note.with_name(f"{note.stem}.sync-conflict-20261125-101010-ABCDEFG.md")
    copy.write_text(note.read_text().replace("in May.", "in June."))
    write(served.root, "vault/jotted.md", "# Jotted\n\nThe quay is closed.\n")
    commit_all(served.root, "by hand")
    with served.vault() as vault:
        ids |= {kept.what: kept.key for kept in vault.review().unsettled}
    return served, ids


def pressed(served: Served, ids: dict[str, str], name: str) -> str:
    """The page that follows a press."""
    path, fields = PRESSES[name]
    path, fields = path.format(**ids), dict(fields)
    for field, value in fields.items():
        fields[field] = value.format(**ids) if isinstance(value, str) else [each.format(**ids) for each in value]
    if name == "edit":
        file = served.root / str(served_path(served, ids["hum"]))
        text = file.read_text()
        fields = {"text": text.replace("hums", "sings"), "was": content_hash(text.encode()), "base": ""}
    elif name == "write a packet":
        fields = packet_form(served)
    elif name == "mend":
        text = "---\nid: [\n---\nThe quay is closed.\n"
        fields = {"path": "vault/broken.md", "was": content_hash(text.encode()), "base": ""}
        fields["text"] = text.replace("id: [", f"id: {new_id()}\ntype: fact")
    return served.post(path, fields)


def packet_form(served: Served) -> dict[str, Any]:
    """The form of the packet at hand, with all that is new in it for a source."""
    form = served.get("/consolidate/packet").partition('id="write"')[2].partition("</form>")[0]
    fields: dict[str, Any] = {"content": "It is understood anew.", "summary": "Anew", "reason": "all of it is read"}
    for hidden, value in re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form):
        fields[hidden] = [*fields.get(hidden, []), unescape(value)] if hidden == "subject" else unescape(value)
    return {**fields, "source": re.findall(r'name="source" value="([^"]+)"', form)}


def served_path(served: Served, identity: str) -> str:
    """The path of a memory's file."""
    with served.vault() as vault:
        return vault.show(identity).path


GROUPS = [list(PRESSES)[start::4] for start in range(4)]


@pytest.mark.parametrize("names", GROUPS, ids=lambda names: names[0])
def test_undo_gives_the_state_before_back_and_undone_again_the_one_after(made: Told, names: list[str]) -> None:
    served, ids = made
    for name in names:
        if name == "mend":
            write(served.root, "vault/broken.md", "---\nid: [\n---\nThe quay is closed.\n")
            commit_all(served.root, "broken")
        if name == "settle two answers":
            with served.vault() as vault:
                vault.create_understanding(["Heat pump"], "It is of another opinion.", "Another")
        if name == "fix":
            write(served.root, "vault/led.md", LED.format(id=new_id(), to=ids["hum"]))
            commit_all(served.root, "with relations in its head")
        if name == "write a packet":
            served.post("/consolidate/begin")
        before = state(served)
        done = pressed(served, ids, name)
        after = state(served)
        assert after != before, name
        undo = flash_of(done)
        assert undo is not None, (name, re.search(r'id="flash".*?</div>', done, re.DOTALL))
        back = served.post(*undo)
        assert differing(before, state(served)) == [], name
        # What was refused, or set, is taken back by a form of its own, whose answer has no Undo.
        again = flash_of(back)
        if again is not None:
            anew = served.post(*again)
            assert differing(after, state(served)) == [], name
            last = flash_of(anew)
            assert last is not None, name
            served.post(*last)
            assert differing(before, state(served)) == [], name


def test_undo_of_a_commit_of_hand_edits_can_be_undone(made: Told) -> None:
    served, _ = made
    write(served.root, "vault/more.md", "# More\n\nBy hand.\n")
    before = state(served)
    undo = flash_of(served.post("/do/commit"))
    assert undo is not None
    again = flash_of(served.post(*undo))
    assert again is not None
    served.post(*again)
    assert differing(before, state(served)) == []
