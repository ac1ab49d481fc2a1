"""SIGKILL before each write of each verb that writes many files: the next write finishes it, or it was never begun."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults import nth_write_child
from tests.faults.killer import runs_wanted
from tests.faults.nth_write_child import NOW, VERBS
from tests.git_repos import commit_all, git, write
from tests.oracles import assert_as_built_anew, assert_git_is_sound, errors_of, leftovers
from vault_tool import Vault
from vault_tool.files import local_trust
from vault_tool.files.inbox import Inbox
from vault_tool.files.local import LocalFolder, PendingOperation, PlannedWrite
from vault_tool.files.tombstones import files
from vault_tool.util.clock import FixedClock
from vault_tool.util.text import content_hash

SECRETIVE = "Ottoline keeps the spare key beneath the third geranium.\n\nShe told nobody else of the geranium at all."
WORDS = (b"ttoline", b"geranium")


def owner(root: Path) -> Vault:
    return Vault.open(root, person=True, clock=FixedClock(NOW))


def agent(root: Path) -> Vault:
    return Vault.open(root, session="s1", clock=FixedClock(NOW))


def journals(root: Path, below: str) -> str:
    return "".join(path.read_text() for path in sorted((root / "vault" / below).glob("*")))


def notes(root: Path) -> str:
    """All notes of the vault, journals aside."""
    paths = (path for path in sorted((root / "vault").rglob("*.md")) if path.parent.name != "episodes")
    return "\n".join(path.read_text() for path in paths)


def reviewed(root: Path) -> dict[str, int]:
    """How often each memory was signed as reviewed."""
    lines = [json.loads(line) for line in journals(root, "signals").splitlines() if '"reviewed"' in line]
    return {line["target"]: sum(one["target"] == line["target"] for one in lines) for line in lines}


def make_merge(root: Path, _: Path) -> None:
    with owner(root) as vault:
        vault.create_subjects([{"name": "Masonry"}, {"name": "Stonework", "summary": "Of stones."}])
        one = vault.remember("The first stone.", ["Stonework"])
        other = vault.remember("The second stone.", ["stonework", "Masonry"])
        vault.create_understanding(["Stonework"], "Stones last.", "They last.", source_observation_ids=[one.id, other.id])


def merged(root: Path) -> list[bool]:
    said = notes(root)
    return [
        not (root / "vault/subjects/stonework.md").exists(), "aliases: [Stonework]" in said,
        said.count("subjects: [Masonry]") == 4 and "[Stonework]" not in said.replace("aliases: [Stonework]", ""),
        "Merged from Stonework" in said, journals(root, "episodes").count("vault-merge") == 1,
    ]  # fmt: skip


def make_review(root: Path, beside: Path) -> None:
    (root / "vault.toml").write_text('write_policy = "review"\n')
    commit_all(root, "settings")
    with agent(root) as vault:
        made = {title: vault.remember(f"{title} is for mortar.", ["Mortar"], title=title) for title in ("Lime", "Sand", "Straw")}
    (beside / "ids.json").write_text(json.dumps({title: one.id for title, one in made.items()}))


def decided(root: Path) -> list[bool]:
    with owner(root) as vault:
        vault.fresh()
        known = {entry.title: entry.id for entry in vault.index.catalog.snapshot().entries}
        verdicts = list(Inbox(root).decided().values())
        waits = [one.title for one in vault.review().results]
        binned = [one.title for one in vault.review(bin=True).results]
    signed = reviewed(root)
    accepted = [title in known and signed.get(known[title]) == 1 for title in ("Lime", "Sand")]
    assert sum(signed.values()) == len(signed), "each was reviewed once"
    assert "Straw" not in known
    assert {"Lime", "Sand", "Straw"} <= {*known, *waits, *binned} and not {*binned} & {*known, *waits}
    return [*accepted, "Lime" not in waits, "Sand" not in waits, verdicts.count("accepted") >= 2]


def make_settle(root: Path, _: Path) -> None:
    with agent(root) as vault:
        note = root / vault.remember("Lime is slaked in May.\n\nIt hisses.", title="Slaking").path
    said = note.read_text()
    note.with_name(f"{note.stem}.sync-conflict-20261125-101010-ABCDEFG.md").write_text(said.replace("hisses", "hisses loudly"))
    note.write_text(said.replace("in May", "in June"))


def settled(root: Path) -> list[bool]:
    copies = list(root.rglob("*.sync-conflict-*"))
    both = [path for path in (root / "vault").rglob("*.md") if b"in June" in path.read_bytes()]
    assert both, "what the note said is there"
    assert copies or b"hisses loudly" in both[0].read_bytes(), "what the copy said is there"
    return [not copies, b"hisses loudly" in both[0].read_bytes() and "sync-conflict" not in both[0].name]


def kept_this(root: Path) -> list[bool]:
    return _kept_one(root, b"in June")


def kept_that(root: Path) -> list[bool]:
    return _kept_one(root, b"hisses loudly")


def kept_another(root: Path) -> list[bool]:
    return _kept_one(root, b"And written anew.")


def _kept_one(root: Path, word: bytes) -> list[bool]:
    """That the note says what was kept, and all that it does not say is in history."""
    copies = list(root.rglob("*.sync-conflict-*"))
    [note] = [path for path in (root / "vault/observations").rglob("*slaking*.md") if path not in copies]
    there = b"".join(path.read_bytes() for path in (note, *copies)) + git(root, "log", "-p", "--format=").encode()
    assert all(said in there for said in (b"in June", b"hisses loudly")), "both texts are somewhere"
    assert note.read_bytes().count(b"id: ") == 1
    assert copies or word in note.read_bytes(), "what was to be kept"
    return [not copies]


def make_edit(root: Path, beside: Path) -> None:
    make_review(root, beside)


def edited(root: Path) -> list[bool]:
    with owner(root) as vault:
        waits = sorted(one.content.strip() for one in vault.review().results)
    assert waits[:2] == ["Lime is for mortar.", "Sand is for mortar."] and len(waits) == 3
    assert waits[2] in ("Straw is for mortar.", "Straw is for thatch.")
    return ["thatch" in waits[2]]


def make_bury(root: Path, beside: Path) -> None:
    make_forget(root, beside)
    bury_by_another(root, beside, "Ottoline")


def buried(root: Path) -> list[bool]:
    [said] = [(root / "vault/forgotten" / name).read_text() for name in files(root)]
    return [not traces(root), said.startswith("confirmed")]


def make_spare(root: Path, beside: Path) -> None:
    with owner(root) as vault:
        vault.remember("The garden has a red gate.", ["Garden"])
        vault.remember("The shed has a blue door.", ["Garden"])
    bury_by_another(root, beside, "blue door")


def spared(root: Path) -> list[bool]:
    said = notes(root)
    assert said.count("The garden has a red gate.") == 1 and said.count("The shed has a blue door.") <= 1
    return [not files(root), said.count("The shed has a blue door.") == 1]


def bury_by_another(root: Path, beside: Path, word: str) -> None:
    """Pull from somebody who took a note away and put a tombstone for it."""
    theirs = beside / "theirs"
    git(beside, "clone", "--quiet", str(root), str(theirs))
    [note] = [path for path in (theirs / "vault/observations").rglob("*.md") if word in path.read_text()]
    identity = note.read_text().partition("id: ")[2].split()[0]
    note.unlink()
    write(theirs, f"vault/forgotten/{identity}", "")
    git(theirs, "add", "--all")
    git(theirs, "-c", "user.email=bob@example.org", "commit", "--quiet", "--author=Bob <bob@example.org>", "-m", "notes")
    git(root, "pull", "--quiet", "--no-rebase", "--no-edit", str(theirs))
    (beside / "ids.json").write_text(json.dumps({"buried": identity}))


def make_adopt(root: Path, beside: Path) -> None:
    """A folder that came as it is: with a draft, uses, and what another machine's user announced."""
    with owner(root) as vault:
        made = vault.remember("Lime is for mortar.", title="Lime")
        vault.as_(origin="agent").remember("Straw is for mortar.", title="Straw", ask=True)
        vault.get(made.id)
    (beside / "ids.json").write_text(json.dumps({"Lime": made.id}))
    after = b"---\nid: 11111111-2222-4333-8444-555555555555\ntype: fact\n---\n\nAnnounced elsewhere.\n"
    path = "vault/observations/announced-111111.md"
    begun = PendingOperation(
        "000001-a", "remember", "notes", at="2026-11-20T10:00:00", writes=(PlannedWrite(path, None, after),),
        files=((path, content_hash(after)),),
    )  # fmt: skip
    (beside / "another's").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(beside / "another's/data"))
        LocalFolder(beside / "another's").begin(begun)
    shutil.copytree(beside / "another's/_local/pending", root / "_local/pending", dirs_exist_ok=True)


def adopted(root: Path) -> list[bool]:
    drafts = [path for place in {root, local_trust.place(root)} for path in (place / "_local/inbox").glob("*.md")]
    said = [sum(f"{word} is for mortar." in path.read_text() for path in drafts) for word in ("Straw", "Sand")]
    assert said == [1, 1], "each draft lies in one place"
    with owner(root) as vault:
        waits = [one.title for one in vault.review().results]
        uses = len(vault.local.uses())
    assert notes(root).count("Announced elsewhere.") <= 1 and uses <= 2, "nothing is doubled"
    return [waits.count("Straw") == 1, notes(root).count("Announced elsewhere.") == 1, uses == 2]


def make_restore(root: Path, beside: Path) -> None:
    with owner(root) as vault:
        made = vault.as_(origin="agent").remember("Straw is for mortar.", title="Straw", ask=True)
        vault.review(refuse=[made.id])
    (beside / "ids.json").write_text(json.dumps({"Straw": made.id}))


def restored(root: Path) -> list[bool]:
    with owner(root) as vault:
        waits, binned = ([one.title for one in vault.review(bin=binned).results] for binned in (False, True))
    assert sorted((*waits, *binned)) == ["Straw"], "it waits or lies in the bin, and is there once"
    return [waits == ["Straw"]]


def make_unmark(root: Path, beside: Path) -> None:
    with owner(root) as vault:
        made = vault.remember("Straw is for mortar.")
        marked = vault.mark_questionable(made.id, "by accident")
    (beside / "ids.json").write_text(json.dumps({"Straw": made.id, "mark": marked.commit}))


def unmarked(root: Path) -> list[bool]:
    with owner(root) as vault:
        belief = vault.show(str(vault.search("Straw").results[0].id), belief=True).belief
    assert belief is not None
    told = journals(root, "signals")
    assert told.count('"withdrawn"') <= 1, "taken back once"
    return [not belief.questionable, '"withdrawn"' in told, journals(root, "episodes").count("vault-undo") == 1]


def make_delete(root: Path, _: Path) -> None:
    with agent(root) as vault:
        for number in range(3):
            vault.remember(f"A hasty note of number {number}.")


def deleted(root: Path) -> list[bool]:
    gone = [f"number {number}" not in notes(root) for number in range(3)]
    return [*gone, journals(root, "episodes").count("vault-delete") == 3]


def make_undo(root: Path, _: Path) -> None:
    with agent(root) as vault:
        vault.add_observations([{"content": f"To be undone {number}.", "subject_names": ["Haste"]} for number in range(3)])


def undone(root: Path) -> list[bool]:
    gone = [f"undone {number}" not in notes(root) for number in range(3)]
    return [*gone, not (root / "vault/subjects/haste.md").exists(), journals(root, "episodes").count("vault-undo") == 1]


def make_end(root: Path, _: Path) -> None:
    with owner(root) as vault:
        vault.remember("The first stone.", ["Masonry"])
        vault.begin_consolidation()


def ended(root: Path) -> list[bool]:
    return ["## After" in notes(root) or "Ended" in notes(root), journals(root, "episodes").count("Pass 1 ended") == 1]


def make_answer(root: Path, beside: Path) -> None:
    with owner(root) as vault:
        for number in range(4):
            vault.remember(f"Course {number} was laid.", ["Masonry"])
        packet = vault.consolidate_next().packet
        assert packet is not None and packet.subject == "Masonry"
    (beside / "ids.json").write_text(json.dumps({"packet": packet.id}))


def answered(root: Path) -> list[bool]:
    count = notes(root).count("Masons lay stones in courses.")
    assert count <= 1, "written once"
    return [count == 1]


def make_import(_: Path, beside: Path) -> None:
    for number in range(3):
        write(beside / "theirs", f"note {number}.md", f"---\ntags: [old]\n---\n# Note {number}\n\nThe quarry of {number}.\n")
    write(beside / "theirs", "picture.png", "no picture")


def imported(root: Path) -> list[bool]:
    said = notes(root)
    counts = [said.count(f"The quarry of {number}.") for number in range(3)]
    assert max(counts) <= 1
    picture = (root / "vault/imported/theirs/picture.png").is_file()
    return [*(count == 1 for count in counts), picture]


def make_import_from(_: Path, beside: Path) -> None:
    memories = "\n\n".join(f"The quarry of {number}." for number in range(3))
    write(beside / "theirs", "memories.json", json.dumps([{"conversations_memory": memories, "account_uuid": "a"}]))
    said = {"uuid": "m", "sender": "human", "text": "Of the kiln.", "created_at": "2026-03-01T08:00:00Z"}
    chat = {"uuid": "c-1", "name": "Kiln", "created_at": "2026-03-01T08:00:00Z", "chat_messages": [said]}
    write(beside / "theirs", "conversations.json", json.dumps([chat]))


def imported_from(root: Path) -> list[bool]:
    counts = [notes(root).count(f"\nThe quarry of {number}.") for number in range(3)]
    chats = len(list((root / "vault/imported/claude").rglob("*.md")))
    assert max(*counts, chats) <= 1
    return [*(count == 1 for count in counts), chats == 1]


def make_fix(root: Path, _: Path) -> None:
    heads = [f"id: 0000000{number}-0000-4000-8000-000000000000\ntype: fact\n" for number in (1, 2)]
    relation = "relations:\n- {target: 00000002-0000-4000-8000-000000000000, type: FOLLOWS}\n"
    for name, text in {
        "one.md": f"---\n{heads[0]}{relation}---\nOne.\n",
        "two.md": f"---\n{heads[1]}---\nTwo.\n",
        "page.md": "# A page\n\nBy hand.\n",
        "other.md": "# Another page\n\nBy hand.\n",
    }.items():
        write(root, f"vault/{name}", text)
    commit_all(root, "by hand")


def fixed(root: Path) -> list[bool]:
    edges = sum("type: FOLLOWS\n" in path.read_text() for path in (root / "vault").rglob("*.md"))
    assert edges <= 1
    heads = [(root / "vault" / name).read_text().startswith("---") for name in ("page.md", "other.md")]
    return [*heads, edges == 1, "relations:" not in (root / "vault/one.md").read_text()]


def make_drain(root: Path, _: Path) -> None:
    with agent(root) as vault:
        said = [{"content": f"We laid course {number}.", "anchors": ["The wall"]} for number in range(3)]
        vault.turn("s1", "u1", "w1", "We worked.", extractMemory=True, candidates=said, write="later")


def drained(root: Path) -> list[bool]:
    said = [notes(root).count(f"\nWe laid course {number}.") for number in range(3)]
    assert max(said) <= 1
    return [*(count == 1 for count in said), not list((root / "_local/turns/queue").glob("*.json"))]


def make_forget(root: Path, _: Path) -> None:
    with owner(root) as vault:
        keep = vault.remember("The garden has a red gate.", ["Garden"], kind="fact")
        made = vault.remember(SECRETIVE, ["Garden"], kind="fact", importance=1.0)
        vault.link(made.id, "RELATED_TO", keep.id, "Both are of the garden where the geranium stands.")
        vault.mark_useful(made.id, "Ottoline confirmed that the geranium is the third.")
        vault.episode("Ottoline keeps the spare key beneath the third geranium", "Told again.")
        vault.as_(session="s9").bring_to_mind("the garden")
        vault.get(made.id)
        vault.as_(origin="agent").turn("s1", "u1", "w", f"I promise: {SECRETIVE}", write="later")
        vault.core()


def forgot(root: Path) -> list[bool]:
    return [not traces(root), len(files(root)) == 1]


def make_purge(root: Path, beside: Path) -> None:
    make_forget(root, beside)
    git(root, "branch", "side", "HEAD~2")
    git(root, "tag", "--annotate", "told", "--message", "Ottoline keeps the spare key beneath the third geranium.")
    for name in ("one", "two"):
        write(root, "README.md", name)
        git(root, "add", "README.md")
        git(root, "stash", "push", "--message", name)
    git(root, "notes", "add", "-m", "a note", "HEAD~2")


def purged(root: Path) -> list[bool]:
    assert sorted(git(root, "stash", "list", "--format=%s").splitlines()) == ["On master: one", "On master: two"]
    assert git(root, "show", "stash@{1}:README.md") == "one" and git(root, "rev-parse", "side", "told^{commit}")
    said = subprocess.run(("git", "cat-file", "--batch-all-objects", "--batch"), cwd=root, capture_output=True, check=True).stdout
    ours = git(root, "for-each-ref", "refs/vault-purge")
    return [*forgot(root), not any(word in said for word in WORDS), bool(files(root)) and not ours]


def traces(root: Path) -> list[str]:
    """Every file but git's own that holds a word of the forgotten memory."""
    files = (path for path in root.rglob("*") if ".git" not in path.parts and path.is_file())
    return [str(path) for path in files if any(word in path.read_bytes() or word in str(path).encode() for word in WORDS)]


CASES: dict[str, tuple[Callable[[Path, Path], None], Callable[[Path], list[bool]]]] = {
    "merge": (make_merge, merged),
    "review": (make_review, decided),
    "settle": (make_settle, settled),
    "keep this": (make_settle, kept_this),
    "keep that": (make_settle, kept_that),
    "keep another": (make_settle, kept_another),
    "edit": (make_edit, edited),
    "bury": (make_bury, buried),
    "spare": (make_spare, spared),
    "adopt": (make_adopt, adopted),
    "restore": (make_restore, restored),
    "unmark": (make_unmark, unmarked),
    "delete": (make_delete, deleted),
    "undo": (make_undo, undone),
    "end": (make_end, ended),
    "answer": (make_answer, answered),
    "import": (make_import, imported),
    "import from": (make_import_from, imported_from),
    "fix": (make_fix, fixed),
    "drain": (make_drain, drained),
    "forget": (make_forget, forgot),
    "purge": (make_purge, purged),
}


STEPS = {
    "keep this": 4,
    "purge": 61,
    "forget": 17,
    "merge": 11,
    "review": 11,
    "delete": 11,
    "import": 11,
    "import from": 9,
    "drain": 5,
    "restore": 2,
    "unmark": 3,
    "end": 4,
    "answer": 3,
    "edit": 1,
    "spare": 3,
    "adopt": 1,
    "bury": 11,
}
"""Every so-many-th write is tried where nothing else is asked for; of the short ones every seventh."""

IN_PARTS = ("review", "drain", "import", "import from", "adopt")
"""What is several operations, of which each is whole; the verb called again takes up the rest."""

NEVER_FINISHED = (*IN_PARTS, "edit")
"""What nobody finishes but who calls it again: what is several operations, and a single write beside the vault."""


@pytest.fixture(scope="module")
def killer() -> Iterator[subprocess.Popen[str]]:
    """The process whose forks are killed, one for all verbs."""
    command = (sys.executable, nth_write_child.__file__)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.mark.campaign
@pytest.mark.parametrize("verb", CASES)
def test_a_kill_before_any_write_leaves_all_of_it_or_nothing(
    verb: str, root: Path, tmp_path: Path, killer: subprocess.Popen[str]
) -> None:
    make, parts = CASES[verb]
    beside = tmp_path / "killed"
    beside.mkdir()
    make(root, beside)
    step = STEPS.get(verb, 7) if runs_wanted(1) == 1 else 1
    asked = {"template": str(root), "beside": str(beside), "verb": verb, "step": step, "environ": dict(os.environ)}
    assert killer.stdin is not None and killer.stdout is not None
    killer.stdin.write(f"{json.dumps(asked)}\n")
    killer.stdin.flush()
    assert json.loads(killer.stdout.readline()) == ["", 0]
    killed = sorted((path for path in beside.iterdir() if path.name.isdecimal()), key=lambda path: int(path.name))
    assert len(killed) > 3
    assert all(parts(killed[-1])), "the last ran through"
    finished = 0
    for left in killed[:-1]:
        finished += settled_after_a_kill(verb, beside, left, looked_into=int(left.name) % 10 == 1)
        shutil.rmtree(left)
    assert finished or verb in NEVER_FINISHED, "some were finished from what was announced"


def settled_after_a_kill(verb: str, beside: Path, left: Path, *, looked_into: bool) -> bool:
    """The next write after a kill, then the verb again where it was not begun: all is well. Whether the write finished it."""
    parts = CASES[verb][1]
    with owner(left) as vault:
        after = vault.remember("A stone laid after.")
        assert after.committed and vault.local.pending() == () and vault.local.forgetting() == {}
    said = parts(left)
    assert all(said) or verb in IN_PARTS or not any(said), said
    with owner(left) as vault:
        if not all(said):
            VERBS[verb](vault, beside)
        assert list(errors_of(vault)) == []
        assert vault.local.pending() == ()
    assert all(parts(left))
    assert leftovers(left) == [] and not list(left.rglob("*.conflict-*"))
    assert git(left, "status", "--porcelain", "--untracked-files=all") == ""
    if looked_into:
        assert_git_is_sound(left)
        assert_as_built_anew(left, ["stone"], FixedClock(NOW))
    return all(said)
