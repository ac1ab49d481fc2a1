"""`export_as` to a folder: Claude Code's memory, and a bundle of the Open Knowledge Format."""

from __future__ import annotations

import json
import posixpath
import re
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import yaml

from tests.cli.typed import vt
from tests.founding import own_copy
from tests.verbs.looking import fails
from vault_tool import Vault
from vault_tool.errors import Exit, Refused, UsageError
from vault_tool.files.written_folder import LISTING
from vault_tool.model.types import RecordClass
from vault_tool.util.clock import FixedClock
from vault_tool.util.note_links import links_in

pytestmark = pytest.mark.without_git

FORMS = ["claude-code", "okf"]


def _owner(vault: Vault) -> Vault:
    return Vault.open(vault.root, person=True, clock=vault.clock)


def _told(vault: Vault) -> dict[str, str]:
    with _owner(vault) as keeper:
        rule = keeper.remember("Use pnpm, never npm.", ["Shop"], kind="preference", title="Use pnpm", tags=["tools"]).id
        text = "See [[Use pnpm|the rule]], `[[code]]` and [[Nowhere]].\n\n```\n[[Use pnpm]]\n```\n"
        linked = keeper.remember(text, ["Shop"], kind="decision", title="Build: by [pnpm]", evidence=["url:https://a.org/x"]).id
        keeper.remember("Build twice.", kind="fact", title="Build by pnpm")
        keeper.pin(rule)
    vault.remember("Agents saw it rain.", ["Shop"], kind="fact", title="MEMORY")
    vault.create_understanding(["Shop"], "The shop is built by pnpm.", "Built by pnpm.", source_observation_ids=[rule])
    vault.link(linked, "RELATED_TO", rule, "Both are of the build.")
    vault.fresh()
    return {"rule": rule, "linked": linked}


def _text(folder: Path) -> str:
    return "\n".join(f"{path}\n{path.read_text()}" for path in sorted(folder.rglob("*")) if path.is_file())


def _head(text: str) -> tuple[dict[str, Any], str]:
    _, head, body = text.split("---\n", 2)
    return yaml.safe_load(head), body


@pytest.mark.parametrize(
    ("dates", "stale"),
    [
        ({"until": "2099-02-01"}, "2099-02-01"),
        ({"expires": "2099-02-01", "until": "2098-05-01"}, "2098-05-01"),
        ({"expires": "2099-02-01"}, "2099-02-01"),
        ({"review_by": "2099-02-01"}, None),
    ],
)
def test_a_bundle_says_when_a_memory_is_over_by_whichever_date(
    dates: dict[str, Any], stale: str | None, vault: Vault, tmp_path: Path
) -> None:
    told = vault.remember("The kiosk opens at nine.", kind="fact", **dates)
    vault.export_as("okf", tmp_path / "b")
    head, _ = _head((tmp_path / "b" / told.path.removeprefix("vault/")).read_text())
    assert head.get("stale_after") == stale


class TestEachForm:
    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize("by_correction", [True, False])
    def test_what_is_contested_says_by_what(self, by_correction: bool, form: str, vault: Vault, tmp_path: Path) -> None:
        with _owner(vault) as keeper:
            kept = keeper.remember("The gate code is changed monthly.", ["Gate"], kind="fact", title="Gate code").id
            other = keeper.remember("The bell is rung at noon.", ["Bell"], kind="fact", title="Bell").id
        if by_correction:
            vault.correct(kept, "I saw otherwise", content="The gate code is changed yearly.")
        else:
            vault.remember("The gate code is changed yearly.", ["Gate"], kind="change", change_targets=[kept])
        vault.export_as(form, tmp_path / "out")
        texts = [path.read_text() for path in (tmp_path / "out").rglob("*.md")]
        [text] = [text for text in texts if kept in text]
        rival = next(row.id for row in vault.list().results if "yearly" in row.title)
        assert f"- contested by: {rival[:6]}" in text
        assert not any("contested by" in text for text in texts if other in text)

    @pytest.mark.parametrize("form", FORMS)
    def test_what_is_hidden_forgotten_of_a_user_or_a_secret_never_leaves(self, vault: Vault, tmp_path: Path, form: str) -> None:
        _told(vault)
        with _owner(vault) as keeper:
            hers = keeper.as_(user="ann").remember("Ann zanzibar tea.", ["Shop"], kind="preference", title="zanzibar tea").id
            keeper.create_understanding(["Tea"], "Made of zanzibar.", "Of zanzibar.", source_observation_ids=[hers])
            hidden = keeper.remember("Hidden zanzibar.", ["Shop"], title="zanzibar hidden").id
            keeper.consent(hidden, "withdrawn", as_user="", reason="asked", turn="t")
            keeper.forget(keeper.remember("Forgotten zanzibar.", ["Shop"]).id)
            keeper.create_understanding([], "A soul of zanzibar.", "Soul.", kind="soul")
            page = keeper.root / "vault/of-ann.md"
            page.write_text("---\ntitle: x\nuser: ann\n---\nzanzibar\n")
            (keeper.root / "vault/chat.md").write_text("---\nchat: true\n---\nzanzibar\n")
            (keeper.root / "vault/broken.md").write_text("---\nuser: [ann\n---\nzanzibar\n")
        with _owner(vault) as keeper:
            keeper.allow_secrets = True
            keeper.remember("zanzibar token ghp_0123456789abcdefghijABCDEFGHIJ012345", ["Shop"])
        done = vault.export_as(form, tmp_path / "out")
        assert "zanzibar" not in _text(tmp_path / "out").lower()
        assert done.left_out["about a user"] >= 1 and done.left_out["hidden"] >= 1
        assert done.left_out["look like a secret"] == 1
        with fails(UsageError, "means nothing to"):
            vault.export_as(form, tmp_path / "out", with_hidden=True)

    @pytest.mark.parametrize("form", FORMS)
    def test_a_second_export_writes_what_changed_and_takes_away_what_is_gone(
        self, vault: Vault, tmp_path: Path, form: str
    ) -> None:
        ids, out = _told(vault), tmp_path / "deep" / "out"
        vault.export_as(form, out)
        before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
        assert not vault.export_as(form, out).changed
        assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == before
        with _owner(vault) as keeper:
            keeper.forget(ids["rule"])
        done = vault.export_as(form, out)
        assert done.written["removed"] == 1
        assert not list(out.rglob("use-pnpm*")) and "never npm" not in _text(out)

    @pytest.mark.parametrize("form", FORMS)
    def test_what_no_export_wrote_stays_unless_it_is_forced(self, vault: Vault, tmp_path: Path, form: str) -> None:
        _told(vault)
        out, index = tmp_path / "out", "MEMORY.md" if form == "claude-code" else "index.md"
        out.mkdir()
        (out / index).write_text("mine")
        (out / "other.md").write_text("other")
        with fails(Refused, "no export wrote", index):
            vault.export_as(form, out)
        assert sorted(path.name for path in out.iterdir()) == sorted([index, "other.md"])
        assert (out / index).read_text() == "mine"
        vault.export_as(form, out, force=True)
        assert (out / "other.md").read_text() == "other" and (out / index).read_text() != "mine"
        edited = next(out.rglob("use-pnpm*"))
        edited.write_text(edited.read_text() + "more\n")
        with fails(Refused, "changed since", edited.name):
            vault.export_as(form, out)
        assert edited.read_text().endswith("more\n")

    @pytest.mark.parametrize("form", FORMS)
    def test_a_file_that_another_hand_edited_is_not_taken_away(self, vault: Vault, tmp_path: Path, form: str) -> None:
        ids, out = _told(vault), tmp_path / "out"
        vault.export_as(form, out)
        edited = next(out.rglob("use-pnpm*"))
        edited.write_text("theirs")
        with _owner(vault) as keeper:
            keeper.forget(ids["rule"])
        done = vault.export_as(form, out)
        assert edited.read_text() == "theirs" and done.left_out["of an earlier export, edited since"] == 1

    @pytest.mark.parametrize("form", FORMS)
    def test_no_link_is_written_through(self, vault: Vault, tmp_path: Path, form: str) -> None:
        _told(vault)
        outside, out = tmp_path / "outside", tmp_path / "out"
        outside.mkdir()
        (outside / "file").write_text("safe")
        (tmp_path / "link").symlink_to(outside)
        with fails(Refused, "is a link"):
            vault.export_as(form, tmp_path / "link")
        vault.export_as(form, out)
        name = "MEMORY.md" if form == "claude-code" else "index.md"
        (out / name).unlink()
        (out / name).symlink_to(outside / "file")
        with fails(Refused, "is a link or a folder"):
            vault.export_as(form, out, force=True)
        (out / name).unlink()
        if form == "okf":
            (out / "subjects").rename(tmp_path / "elsewhere")
            (out / "subjects").symlink_to(outside)
            with pytest.raises(Refused, match="is a link or a file"):
                vault.export_as(form, out, force=True)
        assert [path.name for path in outside.iterdir()] == ["file"] and (outside / "file").read_text() == "safe"

    @pytest.mark.parametrize("form", FORMS)
    def test_a_place_that_is_none_is_refused(self, vault: Vault, tmp_path: Path, form: str) -> None:
        (tmp_path / "file").write_text("x")
        with fails(UsageError, "is no folder"):
            vault.export_as(form, tmp_path / "file")
        for place in ("vault/out", "_local/out", "vault"):
            with fails(UsageError, "among the vault's own files"):
                vault.export_as(form, vault.root / place)

    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize(
        "files", [{"../outside/file": []}, {"/etc/passwd": []}, {"a//b": []}, ["x"], {LISTING: []}, {"a\x00b": []}, "x"]
    )
    def test_a_list_of_files_that_leads_out_is_none(self, vault: Vault, tmp_path: Path, form: str, files: Any) -> None:
        _told(vault)
        out = tmp_path / "out"
        vault.export_as(form, out)
        (tmp_path / "outside").mkdir()
        (tmp_path / "outside/file").write_text("safe")
        listing = json.loads((out / LISTING).read_text())
        (out / LISTING).write_text(json.dumps({**listing, "files": files}))
        with fails(Refused, "out"):
            vault.export_as(form, out)
        vault.export_as(form, out, force=True)
        assert (tmp_path / "outside/file").read_text() == "safe"
        assert not vault.export_as(form, out).changed

    def test_the_folder_of_another_form_is_not_taken_over(self, vault: Vault, tmp_path: Path) -> None:
        _told(vault)
        vault.export_as("okf", tmp_path / "out")
        with fails(Refused, "holds another export"):
            vault.export_as("claude-code", tmp_path / "out")


class TestClaudeCode:
    def test_each_memory_is_a_file_with_its_head_and_the_index_lists_them(self, vault: Vault, tmp_path: Path) -> None:
        ids = _told(vault)
        done = vault.export_as("claude-code", tmp_path / "memory")
        names = sorted(path.name for path in (tmp_path / "memory").glob("*.md"))
        assert "MEMORY.md" in names and len({name.casefold() for name in names}) == len(names) == 6
        head, body = _head((tmp_path / "memory/use-pnpm.md").read_text())
        assert (head["name"], head["description"], head["metadata"]["type"]) == ("use-pnpm", "Use pnpm, never npm.", "feedback")
        assert head["metadata"]["id"] == ids["rule"] and body == "Use pnpm, never npm.\n"
        linked = next(text for path in (tmp_path / "memory").glob("build*") if "[[code]]" in (text := path.read_text()))
        assert "See [[use-pnpm]], `[[code]]` and [[Nowhere]]" in linked and "```\n[[Use pnpm]]\n```" in linked
        index = (tmp_path / "memory/MEMORY.md").read_text().splitlines()
        assert index[2].startswith("- [Use pnpm](use-pnpm.md) — Use pnpm, never npm.")
        assert {match[1] for line in index if (match := re.search(r"\]\(([^)]+)\)", line))} == {*names} - {"MEMORY.md"}
        assert done.left_out["links"] == 1 and done.written["told as project"] >= 1
        assert not any("project" in reason for reason in done.left_out)

    def test_it_comes_back_without_doubling_anything(self, vault: Vault, tmp_path: Path) -> None:
        _told(vault)
        out = tmp_path / "-home-ann-shop" / "memory"
        vault.export_as("claude-code", out)
        count = len(vault.index.catalog.of_class(RecordClass.OBSERVATION))
        for _ in range(2):
            done = vault.import_from(tmp_path / "-home-ann-shop", kind="claude-code")
            assert (done.imported, done.updated, done.unchanged) == (0, 0, 5)
        assert vault.import_markdown(out, name="again").imported == 0
        edited = out / "use-pnpm.md"
        edited.write_text(edited.read_text() + "And never yarn.\n")
        assert vault.import_from(tmp_path / "-home-ann-shop").changed_on_both_sides == ("-home-ann-shop/memory/use-pnpm.md",)
        assert len(vault.index.catalog.of_class(RecordClass.OBSERVATION)) == count

    def test_another_vault_takes_it_once_and_follows_what_changes(
        self, vault: Vault, founded_without_git: Path, tmp_path: Path
    ) -> None:
        ids = _told(vault)
        project = tmp_path / "-home-ann-shop"
        vault.export_as("claude-code", project / "memory")
        with Vault.open(own_copy(founded_without_git, tmp_path / "other"), clock=vault.clock) as other:
            assert other.import_from(project).imported == 5
            assert other.import_from(project).imported == 0
            assert (other.show(ids["rule"]).title, other.show(ids["rule"]).type) == ("Use pnpm", "preference")
            assert other.show(ids["rule"]).origin == "import"
            with _owner(vault) as keeper:
                keeper.forget(ids["linked"])
                keeper.remember("New one.", kind="fact")
            vault.export_as("claude-code", project / "memory")
            assert other.import_from(project).imported == 1
            again = tmp_path / "-home-ann-farm"
            other.fresh()
            other.export_as("claude-code", again / "memory")
            assert other.import_from(again).imported == 0

    def test_a_folder_of_any_name_that_has_the_index_is_one_of_memories(
        self, vault: Vault, founded_without_git: Path, tmp_path: Path
    ) -> None:
        _told(vault)
        vault.export_as("claude-code", tmp_path / "notes of march")
        assert vault.import_from(tmp_path / "notes of march", kind="claude-code").imported == 0
        with Vault.open(own_copy(founded_without_git, tmp_path / "other"), clock=vault.clock) as other:
            assert other.import_from(tmp_path / "notes of march", kind="claude-code").imported == 5
            assert other.import_from(tmp_path / "notes of march", kind="claude-code").imported == 0

    def test_what_is_over_stays(self, vault: Vault, tmp_path: Path, clock: FixedClock) -> None:
        ids = _told(vault)
        with _owner(vault) as keeper:
            keeper.remember("Use yarn now.", ["Shop"], kind="change", change_targets=[ids["rule"]])
            keeper.remember("For a day.", expires="2026-11-21")
        clock.advance(timedelta(days=3))
        done = vault.export_as("claude-code", tmp_path / "memory")
        assert not (tmp_path / "memory/use-pnpm.md").exists() and "For a day" not in _text(tmp_path / "memory")
        assert done.left_out["over or superseded"] == 2


class TestOkf:
    def test_a_bundle_conforms(self, vault: Vault, tmp_path: Path) -> None:
        ids = _told(vault)
        (vault.root / "vault/notes").mkdir()
        for name in ("index.md", "log.md", "LOG.md", "index-note.md", "Odd name (ü).md"):
            (vault.root / "vault/notes" / name).write_text(f"# Of {name}\n\n[[Use pnpm]], [i](index.md), ![[a.png]]\n")
        (vault.root / "vault/notes/typed.md").write_text("---\ntype: Recipe\nsource: a book\n---\nSee [[index-note]].\n")
        (vault.root / "vault/notes/odd.md").write_text("--- no head\n\ntext\n")
        done = vault.export_as("okf", tmp_path / "b")
        root = tmp_path / "b"
        files = {path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*.md")}
        assert len(done.renamed) == 3 and any("index-note-2.md" in text for text in done.renamed)
        for path, text in files.items():
            name = path.rpartition("/")[2].casefold()
            if name == "index.md":
                assert text.startswith('---\nokf_version: "0.2"\n---\n') if path == "index.md" else text.startswith("# ")
            elif name == "log.md":
                days = re.findall(r"^## (.*)$", text, re.M)
                assert path == "log.md" and days == sorted(days, reverse=True) and "2026-11-20" in days
            else:
                head, _ = _head(text)
                assert isinstance(head["type"], str) and head["type"]
            folder = posixpath.dirname(path)
            for link in links_in(re.sub(r"\A---\n.*?---\n", "", text, flags=re.S)):
                assert not link.startswith("[["), (path, link)
                if link not in ("Use pnpm", "code"):
                    assert posixpath.normpath(posixpath.join(folder, unquote(link))) in files, (path, link)
        assert files["notes/index-note-2.md"].count("index-note-2.md") == 1 and "a book" in files["notes/typed.md"]
        folders = {posixpath.dirname(path) for path in files}
        assert all(f"{folder}/index.md".lstrip("/") in files for folder in folders)
        linked = next(text for text in files.values() if ids["linked"] in text)
        assert "[the rule](use-pnpm-" in linked and "```\n[[Use pnpm]]\n```" in linked and " Nowhere." in linked
        head, _ = _head(linked)
        assert head["sources"] == [{"resource": "https://a.org/x"}] and head["generated"]["by"] == "human:owner"
        rule = _head(next(text for text in files.values() if f'id: "{ids["rule"]}"' in text))[0]
        assert "status" not in rule
        rain = _head(
            next(text for path, text in files.items() if "Agents saw" in text and "index" not in path and "log" not in path)
        )[0]
        assert rain["status"] == "draft" and rain["generated"]["by"].startswith("agent/")
        assert done.left_out["links"] == 1 and done.left_out["links that lead nowhere"] >= 1

    def test_it_comes_back_without_doubling_anything_and_its_lists_are_no_memories(
        self, vault: Vault, founded_without_git: Path, tmp_path: Path
    ) -> None:
        ids = _told(vault)
        bundle = tmp_path / "b"
        vault.export_as("okf", bundle)
        count = len(vault.index.catalog.snapshot().entries)
        for _ in range(2):
            done = vault.import_markdown(bundle)
            assert (done.imported, done.updated, done.pages) == (0, 0, 0) and done.skipped["list-of-files"] >= 4
        assert len(vault.index.catalog.snapshot().entries) == count
        with Vault.open(own_copy(founded_without_git, tmp_path / "other"), clock=vault.clock) as other:
            assert other.import_markdown(bundle).imported == 5
            again = other.import_markdown(bundle)
            assert (again.imported, again.updated) == (0, 0)
            titles = {entry.title for entry in other.index.catalog.of_class(RecordClass.OBSERVATION)}
            assert not titles & {"Folders", "Concepts", "index", "Directory Update Log", "Shop"} and "Use pnpm" in titles
            assert other.index.catalog.subject_named("shop") and other.show(ids["rule"]).origin == "import"
            edited = next(bundle.rglob("use-pnpm*"))
            edited.write_text(edited.read_text() + "And never yarn.\n")
            assert other.import_markdown(bundle).updated == 1
        assert len(vault.import_markdown(bundle).changed_on_both_sides) == 1

    def test_lists_of_another_hands_bundle_are_no_memories_and_an_index_elsewhere_is_one(
        self, vault: Vault, tmp_path: Path
    ) -> None:
        folder = tmp_path / "others"
        (folder / "bundle/below").mkdir(parents=True)
        (folder / "plain").mkdir()
        (folder / "bundle/index.md").write_text('---\nokf_version: "0.1"\n---\n# All\n* [A](a.md)\n')
        (folder / "bundle/below/Index.md").write_text("# Below\n")
        (folder / "bundle/log.md").write_text("# Log\n")
        (folder / "bundle/a.md").write_text("---\ntype: Recipe\n---\nBread needs time.\n")
        (folder / "plain/index.md").write_text("What the plain folder is for.\n")
        done = vault.import_markdown(folder)
        assert (done.imported, done.skipped) == (2, {"list-of-files": 3})

    def test_what_is_over_is_deprecated(self, vault: Vault, tmp_path: Path) -> None:
        ids = _told(vault)
        with _owner(vault) as keeper:
            keeper.remember("Use yarn now.", ["Shop"], kind="change", change_targets=[ids["rule"]])
        vault.export_as("okf", tmp_path / "b")
        rule = next(text for path in (tmp_path / "b").rglob("use-pnpm*") if (text := path.read_text()))
        assert _head(rule)[0]["status"] == "deprecated"

    def test_subjects_narrow_it(self, vault: Vault, tmp_path: Path) -> None:
        _told(vault)
        vault.export_as("okf", tmp_path / "b", subject_names=["shop"])
        assert not list((tmp_path / "b").rglob("build-by-pnpm*twice*")) and "Build twice" not in _text(tmp_path / "b")


def test_the_command_takes_a_folder(vault: Vault, tmp_path: Path) -> None:
    _told(vault)
    said = vt("export", "okf", str(tmp_path / "b"), cwd=vault.root)
    assert said.returncode == Exit.DONE and "left out" in said.stdout
    for typed, named in (
        (("claude-code",), "claude-code is written to a folder, which is not named; `vt export claude-code ~/memory`"),
        (("jsonl",), "jsonl is written to a file, which is not named; `vt export jsonl ~/memory.jsonl`"),
        ((), "name a folder and a person, or a form (jsonl, "),
    ):
        refused = vt("export", *typed, cwd=vault.root)
        assert refused.returncode == Exit.USAGE and named in refused.stderr
