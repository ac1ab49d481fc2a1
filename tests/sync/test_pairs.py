"""Each pair of operations on two machines, one on each, brought together by one sync: no conflict is left, and no text lost.

All pairs are of one base, each with notes and subjects of its own, so that two syncs settle them all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.git_repos import git, write
from tests.nobody import nobodys_machine
from tests.oracles import assert_git_is_sound
from tests.sync.machines import clone_of, founded_with_hub, in_step, sync
from vault_tool import Vault
from vault_tool.files.frontmatter import read as read_head


@dataclass
class Case:
    """One pair as it is worked: the vault of one machine, its root, and the ids of what the pair is about."""

    name: str
    root: Path = Path()
    vault: Vault = None  # type: ignore[assignment]
    ids: dict[str, str] = field(default_factory=dict)

    @property
    def subject(self) -> str:
        """A subject that no other pair names."""
        return f"{self.name.title()} things"

    def file(self, identity: str) -> Path:
        """The file of an id."""
        return next(
            path for path in (self.root / "vault").rglob("*.md") if f"\nid: {identity}".encode() in path.read_bytes()[:900]
        )

    def replace(self, old: str, new: str, key: str = "x") -> None:
        """A hand edit."""
        path = self.file(self.ids[key])
        data = path.read_bytes()
        assert old.encode() in data, (self.name, data)
        path.write_bytes(data.replace(old.encode(), new.encode()))


Work = Callable[[Case], object]


def tag(*tags: str, off: str = "") -> Work:
    return lambda case: case.vault.tag(case.ids["x"], list(tags), [off] if off else [])


def body(old: str, new: str) -> Work:
    return lambda case: case.replace(old, new)


def forget(case: Case) -> object:
    return case.vault.forget(case.ids["x"])


def move(folder: str) -> Work:
    def moved(case: Case) -> None:
        path = case.file(case.ids["x"])
        target = case.root / "vault" / folder / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)

    return moved


def gone(case: Case) -> None:
    case.file(case.ids["x"]).unlink()


def link(why: str) -> Work:
    return lambda case: case.vault.link(case.ids["x"], "SOLVES", case.ids["y"], why)


def relink(why: str) -> Work:
    return lambda case: case.vault.update_link(case.ids["edge"], why)


def with_edge(case: Case) -> None:
    case.ids["edge"] = case.vault.link(case.ids["x"], "SOLVES", case.ids["y"], "because of the base").id


def remember(text: str, name: str = "") -> Work:
    return lambda case: case.vault.remember(f"{text} of {case.name}.", [name or case.subject])


def understood(case: Case) -> None:
    text = f"Understood at the base of {case.name}."
    case.ids["u"] = case.vault.create_understanding([case.subject], text, text).id


def revise(word: str) -> Work:
    return lambda case: case.vault.update_understanding(
        case.ids["u"], f"Understood {word} of {case.name}.", f"Understood {word}."
    )


def two_subjects(case: Case) -> None:
    case.vault.create_subjects([{"name": f"{case.subject} two", "summary": "the duplicate"}])


def join_subjects(turned: bool = False) -> Work:
    def joined(case: Case) -> object:
        names = [case.subject, f"{case.subject} two"]
        return case.vault.merge_subjects(*(reversed(names) if turned else names))

    return joined


def summary(text: str, other: str = "") -> Work:
    return lambda case: case.vault.update_subject_summary(f"{case.subject}{other}", f"{text} of {case.name}")


def alias(name: str, other: str = "") -> Work:
    return lambda case: case.vault.add_alias(f"{case.subject}{other}", [f"{name} {case.name}"])


def copied_id(case: Case) -> None:
    path = case.file(case.ids["x"])
    path.with_name("copied-" + path.name).write_bytes(path.read_bytes())


def new_note(path: str, identity: str, text: str) -> Work:
    return lambda case: write(
        case.root, f"vault/pairs/{path}", f"---\nid: {identity}\ntype: fact\norigin: owner\n---\n{text} of {case.name}.\n"
    )


def page(text: str) -> Work:
    return lambda case: write(case.root, "vault/pairs/2026-11-26.md", f"# Today\n\n{text}\n")


def setting(line: str) -> Work:
    def written(case: Case) -> None:
        path = case.root / "vault.toml"
        text = path.read_text()
        name = line.split(" ")[0]
        kept = [old for old in text.splitlines() if not old.startswith(f"{name} ")]
        path.write_text("\n".join([line, *kept]) + "\n")

    return written


def undone(case: Case) -> object:
    made = case.vault.remember(f"To be undone of {case.name}.", [case.subject])
    return case.vault.undo(made.id)


def crlf(case: Case) -> None:
    path = case.file(case.ids["x"])
    path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))


def refused_deletion(case: Case) -> object:
    return case.vault.as_(session="another").delete_observations([case.ids["x"]])


def many(*works: Work) -> Work:
    def each(case: Case) -> None:
        for work in works:
            work(case)

    return each


def useful(reason: str) -> Work:
    return lambda case: case.vault.mark_useful(case.ids["x"], f"{reason} of {case.name}")


def nothing(case: Case) -> None:
    pass


A, B = "0a000000-0000-4000-8000-00000000000", "0b000000-0000-4000-8000-00000000000"

# Name: what both have besides two notes `x` and `y`, what each does, and the words that must be somewhere then.
PAIRS: dict[str, tuple[Work, Work, Work, tuple[str, ...]]] = {
    "same tag": (nothing, tag("xa"), tag("xa"), ("tags: [base, xa]",)),
    "tag and body": (nothing, tag("xa"), body("First line", "First line, longer"), ("tags: [base, xa]", "First line, longer")),
    "other paragraphs": (nothing, body("First line", "First line A"), body("Last line", "Last line B"), ("line A", "line B")),
    "votes": (nothing, useful("it helped A"), useful("it helped B"), ("helped A", "helped B")),
    "same link": (nothing, link("the reason of A"), link("the reason of B"), ("the reason of A", "the reason of B")),
    "episodes": (
        nothing,
        lambda case: case.vault.episode(f"Episode A {case.name}"),
        lambda case: case.vault.episode(f"Episode B {case.name}"),
        ("Episode A episodes", "Episode B episodes"),
    ),
    "remember": (nothing, remember("Remembered at A"), remember("Remembered at B"), ("at A of remember", "at B of remember")),
    "same text": (nothing, remember("The very same"), remember("The very same"), ("The very same of same text",)),
    "minted alike": (nothing, remember("Mint A", "Alike minted"), remember("Mint B", "Alike minted"), ("Mint A", "Mint B")),
    "subject and alias": (nothing, remember("Tagged with it"), alias("Aka"), ("Tagged with it of subject", "Aka subject")),
    "revise": (understood, revise("by A"), revise("by B"), ("Understood by A of revise", "Understood by B of revise")),
    "merge subjects": (two_subjects, join_subjects(), join_subjects(), ("Merge Subjects things two",)),
    "merge and new": (
        two_subjects, join_subjects(), lambda case: case.vault.remember("New of the duplicate.", [f"{case.subject} two"]),
        ("New of the duplicate",),
    ),
    "merge and revise": (many(two_subjects, understood), join_subjects(), revise("by B"), ("Understood by B of merge and",)),
    "forget and link": (nothing, forget, link("FORGOTTENWORD for the forget and link pair"), ()),
    "forget and vote": (nothing, forget, useful("FORGOTTENWORD for the forget and vote pair"), ()),
    "gone and link": (nothing, gone, link("a reason for what went"), ("a reason for what went",)),
    "move and tag": (nothing, move("moved"), tag("xb"), ("tags: [base, xb]",)),
    "copied id": (nothing, copied_id, nothing, ()),
    "one id at two paths": (nothing, new_note("a.md", A + "1", "Here"), new_note("b.md", A + "1", "There"), ("Here", "There")),
    "one key twice": (
        nothing, body("tags: [base]", "pinned: true\ntags: [base]"), body("origin: owner", "origin: owner\npinned: true"),
        ("pinned: true",),
    ),
    "undo and tag": (nothing, undone, tag("xb"), ("tags: [base, xb]",)),
    "refused deletion": (nothing, refused_deletion, tag("xb"), ("tags: [base, xb]",)),
    "tag and tag": (nothing, tag("xa"), tag("xb"), ("tags: [base, xa, xb]",)),
    "first tags": (lambda case: case.vault.tag(case.ids["x"], [], ["base"]), tag("xa"), tag("xb"), ("tags: [xa, xb]",)),
    "tag and untag": (nothing, tag("xa"), tag(off="base"), ("tags: [xa]",)),
    "tag and pin": (nothing, tag("xa"), lambda case: case.vault.pin(case.ids["x"]), ("tags: [base, xa]", "pinned: true")),
    "tag and subjects": (
        nothing, tag("xa"), body("subjects: [Tag And Subjects things]", "subjects: [Tag And Subjects things, Else]"),
        ("tags: [base, xa]", "things, Else]"),
    ),
    "tag and merge": (two_subjects, tag("xa"), join_subjects(turned=True), ("tags: [base, xa]",)),
    "same line": (nothing, body("First line", "Line of A"), body("First line", "Line of B"), ("Line of A", "Line of B")),
    "update link": (with_edge, relink("newly of A"), relink("newly of B"), ("newly of A", "newly of B")),
    "unlink and update": (with_edge, lambda case: case.vault.unlink(case.ids["edge"]), relink("newly of B"), ("newly of B",)),
    "two spellings": (nothing, remember("Spelt A", "Spelt Twice"), remember("Spelt B", "spelt twice"), ("Spelt A", "Spelt B")),
    "created twice": (
        nothing,
        lambda case: case.vault.create_subjects([{"name": "Created twice", "summary": "created at A"}]),
        lambda case: case.vault.create_subjects([{"name": "created Twice", "summary": "created at B"}]),
        ("created at A", "created at B"),
    ),
    "minted and created": (
        nothing, remember("Minted here", "Minted made"),
        lambda case: case.vault.create_subjects([{"name": "Minted made", "summary": "created there"}]),
        ("Minted here", "created there"),
    ),
    "summaries": (nothing, summary("summary A"), summary("summary B"), ("summary A of summaries", "summary B of summaries")),
    "aliases": (nothing, alias("Alias A"), alias("Alias B"), ("Alias A aliases", "Alias B aliases")),
    "alias and summary": (nothing, alias("Alias A"), summary("summary B"), ("Alias A alias and", "summary B of alias and")),
    "merge both ways": (two_subjects, join_subjects(), join_subjects(turned=True), ()),
    "merge and summary": (two_subjects, join_subjects(), summary("summary B", " two"), ("summary B of merge and",)),
    "consolidate": (nothing, lambda case: case.vault.core(), lambda case: case.vault.reflect(), ()),
    "forget and tag": (nothing, forget, tag("xb"), ()),
    "forget and body": (nothing, forget, body("First line", "FORGOTTENWORD line"), ()),
    "forget and move": (nothing, forget, move("elsewhere"), ()),
    "gone and tag": (nothing, gone, tag("xb"), ("tags: [base, xb]",)),
    "move and move": (nothing, move("moved-a"), move("moved-b"), ()),
    "two ids at one path": (nothing, new_note("c.md", A + "2", "First"), new_note("c.md", B + "2", "Other"), ("First", "Other")),
    "a page": (nothing, page("Written at A"), page("Written at B"), ("Written at A", "Written at B")),
    "core": (nothing, lambda case: case.vault.core(), lambda case: case.vault.core(), ()),
    "crlf and tag": (nothing, crlf, tag("xb"), ("xb",)),
    "settings": (nothing, setting("core_budget = 5000"), setting("lock_wait = 7"), ("core_budget = 5000", "lock_wait = 7")),
}  # fmt: skip


@dataclass
class Settled:
    """Both machines after the syncs, with the cases as the first has them, and all tracked text."""

    roots: tuple[Path, Path]
    cases: dict[str, Case]
    text: str


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settled]:
    """Every pair worked on two machines that cannot see each other, and both synced."""
    folder = tmp_path_factory.mktemp("pairs")
    (folder / "home").mkdir()
    with nobodys_machine(folder / "home"):
        a, hub = founded_with_hub(folder)
        cases = {name: Case(name) for name in PAIRS}
        with Vault.open(a, person=True) as vault:
            for name, (before, *_) in PAIRS.items():
                case = cases[name]
                case.vault, case.root = vault, a
                text = f"First line of {name}, as it stands.\n\nMiddle line of {name}.\n\nLast line of {name}."
                case.ids["x"] = vault.remember(text, [case.subject], kind="solution", tags=["base"]).id
                case.ids["y"] = vault.remember(f"The problem of {name}, as it stands.", [case.subject], kind="problem").id
                before(case)
            vault.sync()
        b = clone_of(hub, "b")
        for root, side in ((a, 1), (b, 2)):
            with Vault.open(root, person=True) as vault:
                for name, (_, ours, theirs, _) in PAIRS.items():
                    cases[name].vault, cases[name].root = vault, root
                    (ours if side == 1 else theirs)(cases[name])
        for case in cases.values():
            case.root = a
        first, second = sync(a), sync(b)
        assert not first.reason and not second.reason, (first.reason, second.reason)
        in_step(a, b)
        text = "".join(
            path.read_text(encoding="utf-8") for path in sorted(a.rglob("*")) if path.is_file() and "/." not in str(path)
            and "_" not in path.relative_to(a).parts[0]
        )  # fmt: skip
        yield Settled((a, b), cases, text)


def test_there_are_all_pairs() -> None:
    assert len(PAIRS) == 51


@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_leaves_no_conflict_and_loses_no_text(settled: Settled, name: str) -> None:
    words = PAIRS[name][3]
    missing = [word for word in words if word not in settled.text]
    assert missing == []
    case = settled.cases[name]
    files = [path for path in (case.root / "vault").rglob("*.md") if f"\nid: {case.ids['x']}".encode() in path.read_bytes()[:900]]
    if name.startswith("forget"):
        assert files == []
        assert (case.root / "vault" / "forgotten" / case.ids["x"]).exists()
    elif name not in ("copied id", "gone and link"):
        assert len(files) == 1, files


def test_both_are_alike_sound_and_have_no_faults(settled: Settled) -> None:
    for root in settled.roots:
        assert git(root, "status", "--porcelain") == ""
        assert_git_is_sound(root)
    with Vault.open(settled.roots[0], person=True) as vault:
        problems = vault.doctor(every=True).problems
    wrong = [problem for problem in problems if problem.severity != "note"]
    # The pairs make these on purpose: one id at two places, a link to what its person deleted, two merges in opposite ways.
    assert {problem.code for problem in wrong} <= {"duplicate-id", "dangling-reference", "duplicate-subject-name"}, wrong
    assert "FORGOTTENWORD" not in settled.text


def test_a_note_that_is_merged_has_a_readable_head(settled: Settled) -> None:
    for path in (settled.roots[0] / "vault").rglob("*.md"):
        head, _, problems = read_head(path.read_bytes())
        assert not problems or head is None, (path, problems)
    assert not re.search(r"^(<<<<<<<|>>>>>>>)", settled.text, re.MULTILINE)
