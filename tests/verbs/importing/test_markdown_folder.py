"""`import markdown`: folders from the wild, without loss, once, and whole at any interruption."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bounds import CAMPAIGN
from tests.git_repos import git
from tests.wording import bare
from vault_tool import Vault
from vault_tool.cli.main import main
from vault_tool.errors import NotFound, Refused, UsageError
from vault_tool.features.imports import import_run
from vault_tool.features.imports.copy_paths import CopyPaths
from vault_tool.features.imports.imported import Imported
from vault_tool.files import frontmatter
from vault_tool.util.note_links import is_note

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""

WILD = Path(__file__).parents[2] / "vaults"
FOLDERS = ("wild_obsidian", "wild_docs")


def _write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder


def _body(data: bytes) -> bytes:
    return data[frontmatter.split(data).body_start :]


def _head_lines(data: bytes) -> list[bytes]:
    parts = frontmatter.split(data)
    return data[parts.start : parts.end].splitlines() if parts.has_head else []


def _copy(vault: Vault, name: str, path: str) -> bytes:
    return (vault.root / CopyPaths(name).of(path)).read_bytes()


def _head(vault: Vault, name: str, path: str) -> dict[str, object]:
    entry = vault.index.catalog.by_path(CopyPaths(name).of(path))
    assert entry is not None
    return dict(entry.head)


@pytest.mark.in_git
@pytest.mark.parametrize("name", FOLDERS)
def test_every_byte_of_a_wild_folder_is_there_afterwards(vault: Vault, name: str) -> None:
    done = vault.import_markdown(WILD / name)
    left_out = {problem.path for problem in done.problems if problem.code in ("empty", "not-text")}
    places, changed = CopyPaths(name), (b"tags:", b"type:", b"id:", b"created:", b"origin:", b"project:")
    checked = 0
    for source in (path for path in sorted((WILD / name).rglob("*")) if is_note(path.name)):
        relative = source.relative_to(WILD / name).as_posix()
        if relative in left_out:
            continue
        before, after = source.read_bytes(), (vault.root / places.of(relative)).read_bytes()
        if frontmatter.split(before).has_head:
            assert _body(after) == _body(before)
        else:
            assert after.endswith(before.removeprefix(b"\xef\xbb\xbf"))
        lost = [line for line in _head_lines(before) if line not in _head_lines(after) and not line.startswith(changed)]
        assert lost == []
        checked += 1
    assert checked == done.imported and done.committed
    assert git(vault.root, "status", "--porcelain") == ""


@pytest.mark.in_git
@pytest.mark.parametrize("name", FOLDERS)
def test_a_second_run_changes_nothing(vault: Vault, name: str) -> None:
    first = vault.import_markdown(WILD / name)
    head = git(vault.root, "rev-parse", "HEAD")
    second = vault.import_markdown(WILD / name)
    assert (second.imported, second.updated, second.unchanged) == (0, 0, first.imported)
    assert git(vault.root, "rev-parse", "HEAD") == head


class TestWhatIsUnderstood:
    def test_odd_heads_are_read_and_what_is_not_ours_is_kept_beside(self, vault: Vault) -> None:
        vault.import_markdown(WILD / "wild_obsidian")
        book = _head(vault, "wild_obsidian", "Reading list/2023/The long walk.md")
        assert (book["type"], book["source_type"], book["source_id"], book["source_origin"]) == (
            "general", "book", 9781234567897, "library",
        )  # fmt: skip
        assert (book["created"], book["title"], book["origin"]) == ("2023-10-05T00:00:00+00:00", "The long walk", "import")
        assert book["Author Name"] == "R. B." and book["finished"] == "30/02/2023"
        meeting = _head(vault, "wild_obsidian", "Templates/Meeting.md")
        assert meeting["source_created"] == '<% tp.date.now("YYYY-MM-DD") %>'
        assert meeting["title"] == "Meeting"

    def test_tags_come_from_head_prose_and_folders(self, vault: Vault) -> None:
        vault.import_markdown(WILD / "wild_obsidian")
        rack = _head(vault, "wild_obsidian", "Areas/Home lab/Rack cooling.md")
        assert rack["tags"] == ["area/homelab", "cooling", "homelab/fans", "todo", "Areas", "Home-lab"]
        assert rack["created"] == "2023-10-05T00:00:00+00:00"
        vault.import_markdown(WILD / "wild_obsidian", name="bare", folder_tags=False)
        assert "Areas" not in str(_head(vault, "bare", "Areas/Home lab/Rack cooling.md")["tags"])

    def test_docs_of_other_tools(self, vault: Vault) -> None:
        vault.import_markdown(WILD / "wild_docs")
        hugo = _head(vault, "wild_docs", "content/posts/hugo.md")
        assert (hugo["title"], hugo["created"]) == ("Shipping on Fridays", "2021-03-05T08:30:00+00:00")
        assert hugo["tags"] == ["release", "habits", "content", "posts"]
        assert _head(vault, "wild_docs", "_posts/2020-02-29-leap-day.markdown")["created"] == "2020-02-29T07:00:00+00:00"
        assert _head(vault, "wild_docs", "docs/api/index.md")["title"] == "Reference"
        install = _head(vault, "wild_docs", "docs/guides/install.mdx")
        assert (install["title"], install["sidebar_position"]) == ("Install the thing", 2)

    def test_links_are_followed_and_text_is_found(self, vault: Vault) -> None:
        vault.import_markdown(WILD / "wild_obsidian")
        entry = vault.index.catalog.by_path("vault/imported/wild-obsidian/Areas/Home lab/Rack cooling.md")
        assert entry is not None and "Daily/2023-10-05#Evening|that evening" in entry.links
        assert "Rack cooling" in [hit.title for hit in vault.search("small lion fans").results]

    def test_what_was_odd_is_reported(self, vault: Vault) -> None:
        done = vault.import_markdown(WILD / "wild_obsidian")
        assert {(p.path, p.code) for p in done.problems} == {
            ("Flow head.md", "read-only-head"), ("Merge leftovers.md", "conflict-markers"),
            ("People/Mira.md", "bad-yaml"), ("Untitled.md", "empty"), ("latin.md", "not-text"),
        }  # fmt: skip
        assert done.pages == 3 and done.skipped == {"empty": 1, "not-text": 1, "hidden": 1}
        assert done.attachments == ("Board.canvas", "attachments/rack.png")
        assert not (vault.root / "vault/imported/wild-obsidian/attachments").exists()

    def test_templates_that_obsidian_knows_of_are_left_out(self, vault: Vault, tmp_path: Path) -> None:
        form = "---\ndate: {{date}}\n---\nWho, what, when."
        files = {"a.md": "One.", "Templates/m.md": form, "Templates/x/n.md": form, "Forms/f.md": form, "Formsplus.md": "Two."}
        source = _write(tmp_path / "n", files)
        assert vault.import_markdown(source, dry_run=True).skipped == {}
        _write(source, {
            ".obsidian/templates.json": '{"folder": "Templates/"}',
            ".obsidian/plugins/templater-obsidian/data.json": '{"templates_folder": "/Forms", "other": 1}',
        })  # fmt: skip
        done = vault.import_markdown(source)
        assert (done.imported, done.skipped) == (2, {"hidden": 1, "template": 3})
        assert {(p.path, p.code) for p in done.problems} == {("Templates", "template"), ("Forms", "template")}
        assert not (vault.root / CopyPaths("n").of("Templates/m.md")).exists()

    @pytest.mark.parametrize("settings", ["", "[]", '{"folder": ["x"]}', '{"folder": " / "}', '{"folder": "gone"}', "\x00{"])
    def test_settings_that_name_no_templates_leave_out_nothing(self, vault: Vault, tmp_path: Path, settings: str) -> None:
        source = _write(tmp_path / "n", {"Templates/a.md": "One.", ".obsidian/templates.json": settings})
        done = vault.import_markdown(source)
        assert (done.imported, done.skipped, done.problems) == (1, {"hidden": 1}, ())


class TestWhatIsAsked:
    def test_a_subject_a_type_and_a_project_for_all(self, vault: Vault, tmp_path: Path) -> None:
        source = _write(tmp_path / "n", {"a.md": "One.", "b.md": "---\ntype: decision\nproject: own\n---\nTwo."})
        done = vault.import_markdown(source, subject_names=["Garden"], type="fact", project="home")
        assert done.subjects_created == ("Garden",)
        a, b = _head(vault, "n", "a.md"), _head(vault, "n", "b.md")
        assert (a["type"], a["project"], a["subjects"]) == ("fact", "home", ["Garden"])
        assert (b["type"], b["project"], b["subjects"]) == ("decision", "own", ["Garden"])
        again = vault.import_markdown(_write(source, {"c.md": "Three."}), subject_names=["garden"])
        assert again.subjects_created == () and _head(vault, "n", "c.md")["subjects"] == ["Garden"]

    def test_attachments_are_copied_beside_once(self, vault: Vault) -> None:
        first = vault.import_markdown(WILD / "wild_obsidian", attachments=True)
        assert first.attachments_copied == 2
        copy = vault.root / "vault/imported/wild-obsidian/attachments/rack.png"
        assert copy.read_bytes() == (WILD / "wild_obsidian/attachments/rack.png").read_bytes()
        again = vault.import_markdown(WILD / "wild_obsidian", attachments=True)
        assert again.attachments_copied == 0 and again.commits == ()
        assert not any("rack.png" in problem.path for problem in vault.doctor().problems)

    def test_a_dry_run_says_the_same_and_writes_nothing(self, vault: Vault) -> None:
        before = sorted(vault.root.rglob("*.md"))
        dry = vault.import_markdown(WILD / "wild_obsidian", dry_run=True)
        assert sorted(vault.root.rglob("*.md")) == before
        real = vault.import_markdown(WILD / "wild_obsidian")
        assert (dry.imported, dry.pages, dry.problems, dry.skipped) == (real.imported, real.pages, real.problems, real.skipped)

    @pytest.mark.in_git
    def test_in_place_adds_lines_and_moves_nothing(self, vault: Vault) -> None:
        folder = _write(vault.root / "vault" / "inbox", {"x.md": "# Idea\n\nText #now\n", "y.md": "---\nbad: [\n---\nText"})
        done = vault.import_markdown(folder, in_place=True)
        assert (done.imported, done.skipped, done.committed) == (1, {"bad-yaml": 1}, True)
        assert (folder / "x.md").read_bytes().endswith(b"---\n# Idea\n\nText #now\n")
        entry = vault.index.catalog.by_path("vault/inbox/x.md")
        assert entry is not None and entry.title == "Idea" and entry.texts("tags") == ("now",)
        assert vault.import_markdown(folder, in_place=True).imported == 0

    @pytest.mark.in_git
    def test_notes_that_stood_beside_the_vault_are_copied_into_it(self, vault: Vault) -> None:
        done = vault.import_markdown(_write(vault.root / "Projects", {"shed.md": "The shed."}))
        assert (done.imported, done.target, done.committed) == (1, "vault/imported/projects", True)
        with pytest.raises(UsageError, match="holds the vault itself") as refused:
            vault.import_markdown(vault.root)
        assert "name the folders" in refused.value.hint

    @pytest.mark.parametrize("where", ["nowhere", "notes/vault/subjects", "notes/_local", "notes/templates", "notes/.git"])
    def test_folders_that_cannot_be_meant(self, vault: Vault, tmp_path: Path, where: str) -> None:
        with pytest.raises((NotFound, UsageError)):
            vault.import_markdown(tmp_path / where)
        with pytest.raises((NotFound, UsageError)):
            vault.import_markdown(tmp_path, in_place=True)
        with pytest.raises(UsageError, match="observation"):
            vault.import_markdown(WILD / "wild_docs", type="subject")


class TestNamesAndFiles:
    def test_names_that_differ_in_case_only_are_both_kept(self, vault: Vault, tmp_path: Path) -> None:
        source = _write(tmp_path / "n", {"Readme.md": "One.", "README.md": "Two.", "Sub/a.md": "Three.", "sub/a.md": "Four."})
        if len(list(source.iterdir())) < 4:
            pytest.skip("this disk ignores case")
        done = vault.import_markdown(source)
        assert done.imported == 4 and [p.code for p in done.problems] == ["renamed"]
        texts = {path.read_bytes().rpartition(b"---\n")[2] for path in (vault.root / "vault/imported").rglob("*.md")}
        assert texts == {b"One.", b"Two.", b"Three.", b"Four."}
        assert vault.import_markdown(source).unchanged == 4
        assert not [problem for problem in vault.doctor().problems if problem.code == "twin-names"]

    def test_emoji_links_pipes_and_giants(self, vault: Vault, tmp_path: Path) -> None:
        source = _write(tmp_path / "n", {"🌱 plants/🍅.md": "Tomato.", "big.md": "x" * (11 * 2**20)})
        (source / "link.md").symlink_to(source / "🌱 plants" / "🍅.md")
        (source / "loop").symlink_to(source)
        os.mkfifo(source / "pipe.md")
        done = vault.import_markdown(source)
        assert done.imported == 1 and done.skipped == {"link": 2, "not-a-file": 1, "too-large": 1}
        assert _head(vault, "n", "🌱 plants/🍅.md")["title"] == "🍅"

    def test_a_note_of_the_vaults_own_is_never_overwritten(self, vault: Vault, tmp_path: Path) -> None:
        source = _write(tmp_path / "n", {"a.md": "Theirs."})
        _write(vault.root / "vault/imported/n", {"a.md": "Mine."})
        vault.import_markdown(source)
        assert (vault.root / "vault/imported/n/a.md").read_bytes() == b"Mine."
        assert (vault.root / "vault/imported/n/a-2.md").read_bytes().endswith(b"---\nTheirs.")

    def test_ids_of_their_own_are_kept_and_shared_ones_are_not(self, vault: Vault, tmp_path: Path) -> None:
        one = "5f0c2d9e-2b3c-4e7a-9d5e-0a1b2c3d4e5f"
        note = f"---\nid: {one}\n---\nText."
        done = vault.import_markdown(_write(tmp_path / "n", {"a.md": note, "b.md": note}))
        assert [problem.code for problem in done.problems] == ["id-taken"]
        assert _head(vault, "n", "a.md")["id"] == one and _head(vault, "n", "b.md")["source_id"] == one
        assert vault.import_markdown(tmp_path / "n").unchanged == 2

    @pytest.mark.in_git
    def test_what_git_ignores_is_named_and_stops_nothing(self, vault: Vault, tmp_path: Path) -> None:
        (vault.root / ".gitignore").open("a").write("build/\n")
        done = vault.import_markdown(_write(tmp_path / "n", {"build/a.md": "One.", "b.md": "Two."}))
        assert (done.imported, done.skipped, done.committed) == (1, {"git-ignored": 1}, True)

    def test_a_secret_keeps_its_own_note_out_and_no_other(self, vault: Vault, tmp_path: Path) -> None:
        key = "ghp_" + "a7KhFdnXsiVpzz63FfkCzJr4i0B3JrTAwR4y"
        source = _write(tmp_path / "n", {"a.md": f"One.\n\ntoken {key}", "b.md": "Two."})
        done = vault.import_markdown(source)
        assert (done.imported, done.skipped) == (1, {"secret": 1}) and key not in str(done)
        assert [(problem.path, problem.line) for problem in done.problems] == [("a.md", 3)]
        vault.allow_secrets = True
        assert vault.import_markdown(source).imported == 1


class TestLaterRuns:
    def test_a_changed_source_updates_a_copy_that_nobody_touched(self, vault: Vault, tmp_path: Path) -> None:
        source = _write(tmp_path / "n", {"a.md": "# Title\n\nOld.", "b.md": "Same."})
        vault.import_markdown(source)
        moved = vault.root / "vault" / "elsewhere.md"
        (vault.root / "vault/imported/n/a.md").rename(moved)
        before = vault.index.catalog.by_path("vault/imported/n/a.md")
        done = vault.import_markdown(_write(source, {"a.md": "# Title\n\nNew #tag."}))
        assert (done.updated, done.unchanged, done.imported) == (1, 1, 0)
        after = vault.index.catalog.by_path("vault/elsewhere.md")
        assert (
            before is not None and after is not None and (after.id, after.text("created")) == (before.id, before.text("created"))
        )
        assert moved.read_bytes().endswith(b"New #tag.") and after.texts("tags") == ("tag",)

    def test_a_copy_that_was_edited_is_left_and_reported(self, vault: Vault, tmp_path: Path) -> None:
        source = _write(tmp_path / "n", {"a.md": "Old."})
        vault.import_markdown(source)
        copy = vault.root / "vault/imported/n/a.md"
        copy.write_bytes(copy.read_bytes() + b"\nMy own line.\n")
        assert vault.import_markdown(source).unchanged == 1
        done = vault.import_markdown(_write(source, {"a.md": "New."}))
        assert done.changed_on_both_sides == ("a.md",) and done.updated == 0
        assert copy.read_bytes().endswith(b"My own line.\n")

    def test_a_page_becomes_a_record_once_its_source_is_mended(self, vault: Vault, tmp_path: Path) -> None:
        source = _write(tmp_path / "n", {"a.md": "---\nby:\n  - @me\n---\nText."})
        assert vault.import_markdown(source).pages == 1
        done = vault.import_markdown(_write(source, {"a.md": '---\nby:\n  - "@me"\n---\nText.'}))
        assert (done.updated, done.imported) == (1, 0)
        assert _head(vault, "n", "a.md")["by"] == ["@me"]
        assert len(list((vault.root / "vault/imported/n").iterdir())) == 1

    def test_a_page_that_was_mended_here_stays_as_it_is(self, vault: Vault, tmp_path: Path) -> None:
        source = _write(tmp_path / "n", {"a.md": "---\nby:\n  - @me\n---\nText."})
        vault.import_markdown(source)
        copy = vault.root / "vault/imported/n/a.md"
        copy.write_text("---\nby: me\n---\nText, mended.")
        assert vault.import_markdown(source).unchanged == 1
        done = vault.import_markdown(_write(source, {"a.md": "---\nby:\n  - @me\n---\nChanged."}))
        assert done.changed_on_both_sides == ("a.md",) and copy.read_text().endswith("mended.")


@pytest.mark.in_git
def test_a_commit_for_each_batch(vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not CAMPAIGN:
        monkeypatch.setattr(import_run, "BATCH", 60)
    batch = import_run.BATCH
    source = _write(tmp_path / "n", {f"{number % 7}/n{number}.md": f"Note {number}." for number in range(batch + 5)})
    seen: list[tuple[int, int]] = []
    done = vault.import_markdown(source, progress=lambda some, all_: seen.append((some, all_)))
    assert done.imported == batch + 5 and len(done.commits) == 2
    assert git(vault.root, "log", "--format=%s", "-2").split("\n") == ["import: 5 notes from n", f"import: {batch} notes from n"]
    assert seen[-1] == (batch + 5, batch + 5)
    assert git(vault.root, "status", "--porcelain") == ""


INTERRUPTED = """
import os, signal, sys, threading, time
from pathlib import Path
from vault_tool.cli.main import main
root, source, wanted = sys.argv[1:]
copies = Path(root, "vault/imported/n")
def watch():
    while sum(1 for _ in copies.rglob("*.md")) < float(wanted):
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=watch, daemon=True).start()
sys.exit(main(["--vault", root, "import", "markdown", source]))
"""
"""Interrupts itself when some of the copies are there: beside other work, another process would see them too late."""


@pytest.mark.in_git
@pytest.mark.parametrize("after", [0.05, 0.5, 0.85] if CAMPAIGN else [0.05, 0.5])
def test_an_interrupt_leaves_whole_notes_and_the_next_run_does_the_rest(root: Path, tmp_path: Path, after: float) -> None:
    count = 1300
    text = "Lorem ipsum.\n" * 40
    source = _write(tmp_path / "n", {f"{number % 9}/n{number}.md": f"# N{number}\n\n{text}seal" for number in range(count)})
    command = [sys.executable, "-c", INTERRUPTED, str(root), str(source), str(after * count)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, "interrupted" in ended.stderr) == (130, True), ended.stderr
    left = list((root / "vault/imported/n").rglob("*.md"))
    assert len(left) < count, "it did not stop when it was told to"
    assert all(path.read_bytes().endswith(b"seal") for path in left)
    with Vault.open(root) as vault:
        done = vault.import_markdown(source)
        assert (done.imported + done.unchanged, done.unchanged) == (count, len(left))
        titles = [entry.title for entry in vault.index.catalog.snapshot().entries if entry.title.startswith("N")]
        assert sorted(titles) == sorted(f"N{number}" for number in range(count))
    assert git(root, "status", "--porcelain") == ""
    assert not list(root.rglob(".*.tmp"))


@pytest.mark.in_git
def test_ids_are_the_same_in_a_clone_and_others_in_another_vault(vault: Vault, root: Path, tmp_path: Path) -> None:
    source = _write(tmp_path / "n", {"a.md": "One."})
    vault.import_markdown(source)
    git(tmp_path, "clone", "-q", str(root), "clone")
    with Vault.open(tmp_path / "clone") as clone:
        assert clone.import_markdown(source).unchanged == 1
    Vault.init(tmp_path / "other")
    with Vault.open(tmp_path / "other") as other:
        other.import_markdown(source)
        assert _head(other, "n", "a.md")["id"] != _head(vault, "n", "a.md")["id"]


def test_another_folder_of_the_same_name_is_not_taken_for_a_change(vault: Vault, tmp_path: Path) -> None:
    one, other = (_write(tmp_path / where / "docs", {"README.md": f"Of {where}."}) for where in ("one", "other"))
    vault.import_markdown(one)
    with pytest.raises(UsageError, match="name="):
        vault.import_markdown(other)
    assert vault.import_markdown(other, name="other-docs").imported == 1
    moved = one.rename(tmp_path / "docs")
    assert vault.import_markdown(moved, name="docs").unchanged == 1


def test_nothing_to_import_is_no_commit(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "n").mkdir()
    done = vault.import_markdown(tmp_path / "n")
    assert isinstance(done, Imported) and done.commits == () and done.imported == 0


@pytest.mark.in_git
def test_a_renamed_note_takes_its_copy_along_with_its_id(vault: Vault, tmp_path: Path) -> None:
    folder = _write(
        tmp_path / "source" / "notes",
        {"a/Old name.md": "Words of one.\n", "b.md": "Words of two.\n", "c.md": "Words of three.\n"},
    )
    vault.import_markdown(folder)
    before = {path: _head(vault, "notes", path)["id"] for path in ("a/Old name.md", "b.md", "c.md")}
    edited = vault.root / CopyPaths("notes").of("b.md")
    edited.write_bytes(edited.read_bytes() + b"A line by hand.\n")
    moved_here = vault.root / "vault" / "mine.md"
    (vault.root / CopyPaths("notes").of("c.md")).rename(moved_here)
    for old, new in (("a/Old name.md", "z/New name.md"), ("b.md", "z/b2.md"), ("c.md", "z/c2.md")):
        (folder / new).parent.mkdir(exist_ok=True)
        (folder / old).rename(folder / new)
    done = vault.import_markdown(folder)
    assert (done.moved, done.imported, done.gone, done.committed) == (3, 0, (), True)
    _write(folder, {"a/Old name.md": "Another note in the old place.\n"})
    assert vault.import_markdown(folder).imported == 1
    assert _head(vault, "notes", "z/New name.md")["id"] == before["a/Old name.md"] != _head(vault, "notes", "a/Old name.md")["id"]
    assert _head(vault, "notes", "z/New name.md")["title"] == "New name"
    assert _head(vault, "notes", "z/b2.md")["id"] == before["b.md"]
    assert b"A line by hand." in _copy(vault, "notes", "z/b2.md")
    assert not edited.exists()
    assert b"imported_from: notes/z/c2.md" in moved_here.read_bytes()
    assert vault.import_markdown(folder).unchanged == 4
    vault.commit()
    assert git(vault.root, "status", "--porcelain") == ""


@pytest.mark.in_git
def test_what_is_gone_is_told_and_pruned_only_when_asked(vault: Vault, tmp_path: Path) -> None:
    files = {"a.md": "Words of one.\n", "b.md": "Words of two.\n", "page.md": "---\nx: [\n---\nBroken.\n", "stays.md": "Here.\n"}
    folder = _write(tmp_path / "source" / "notes", files)
    vault.import_markdown(folder)
    edited = vault.root / CopyPaths("notes").of("b.md")
    edited.write_bytes(edited.read_bytes() + b"A line by hand.\n")
    for name in ("a.md", "b.md", "page.md"):
        (folder / name).unlink()
    told = vault.import_markdown(folder)
    assert (told.gone, told.pruned) == (("a.md", "b.md", "page.md"), 0)
    assert (vault.root / CopyPaths("notes").of("a.md")).exists()
    done = vault.import_markdown(folder, prune=True)
    assert (done.pruned, done.changed_on_both_sides, done.committed) == (2, ("b.md",), True)
    assert not (vault.root / CopyPaths("notes").of("a.md")).exists()
    assert edited.exists()
    assert "Words of one." in git(vault.root, "show", f"HEAD~1:{CopyPaths('notes').of('a.md')}")
    assert vault.import_markdown(folder).gone == ("b.md",)


def test_an_empty_folder_prunes_nothing(vault: Vault, tmp_path: Path) -> None:
    folder = _write(tmp_path / "source" / "notes", {"a.md": "Words of one.\n"})
    vault.import_markdown(folder)
    (folder / "a.md").unlink()
    with pytest.raises(Refused, match="has no note at all"):
        vault.import_markdown(folder, prune=True)
    assert (vault.root / CopyPaths("notes").of("a.md")).exists()


def test_a_problem_is_told_once_and_counted_from_then_on(vault: Vault, tmp_path: Path) -> None:
    broken = {f"broken{n}.md": "---\na: [\n---\nText.\n" for n in range(4)}
    folder = _write(tmp_path / "old", {"good.md": "Good.\n", "empty.md": "", **broken})
    first = vault.import_markdown(folder)
    assert (len(first.problems), first.known_problems) == (5, ())
    again = vault.import_markdown(folder)
    assert (again.problems, again.known_problems) == ((), first.problems)
    _write(folder, {"broken0.md": "---\na: 1\na: 2\n---\nText.\n"})
    (folder / "empty.md").unlink()
    dry = vault.import_markdown(folder, dry_run=True)
    third = vault.import_markdown(folder)
    assert dry.problems == third.problems
    assert [one.path for one in third.problems] == ["broken0.md"]
    assert [one.path for one in third.known_problems] == ["broken1.md", "broken2.md", "broken3.md"]


def test_problems_of_a_kind_are_one_row_that_fits_a_terminal(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deep = "a folder with a long name/and another one below it/and one more"
    broken = {f"{deep}/note {n}.md": "---\na: [\n---\nText.\n" for n in range(30)}
    folder = _write(tmp_path / "old", {"empty.md": "", **broken})
    assert main(["--vault", str(root), "import", "markdown", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert " ".join(shown.split()).count("mended") == 1
    assert "27 more" in " ".join(shown.split())
    assert "31 problems of 2 kinds" in shown
    lines = shown.replace(str(folder), "DIR").splitlines()
    assert max(len(line) for line in lines if deep not in line) <= 100
    assert [line.count(f"{deep}/note ") for line in lines if deep in line] == [3], "paths stand whole, on a line of their own"
    assert main(["--vault", str(root), "import", "markdown", str(folder)]) == 0
    assert "31 problems that an earlier import told" in capsys.readouterr().out


def test_a_type_that_is_nearly_a_known_one_is_asked_about(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs/one.md").write_text("A note.\n")
    with pytest.raises(UsageError, match="`decison` is no type here yet, and nearly `decision`") as asked:
        vault.import_markdown(tmp_path / "theirs", type="decison")
    assert bare(asked.value.hint).startswith("say `type='decision'`")
    assert vault.import_markdown(tmp_path / "theirs", type="decison", new_type=True).imported == 1
