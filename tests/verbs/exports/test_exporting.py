"""`export_as` and `restore`: all of a memory as lines, from which it is made again; and as another tool's graph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.typed import vt
from tests.founding import own_copy
from tests.terminal import called_at_terminal
from vault_tool import Vault
from vault_tool.errors import Exit, Refused, UsageError
from vault_tool.model.types import RecordClass

pytestmark = pytest.mark.without_git


def _told(vault: Vault) -> dict[str, str]:
    fact = vault.remember("Ada plays chess.", ["Ada"], kind="fact", tags=["game"]).id
    gone = vault.remember("Ada's door code is blue.", ["Ada"], kind="fact").id
    loose = vault.remember("It rains in Kiel.", kind="fact").id
    vault.link(loose, "RELATED_TO", fact, "Both are of a Sunday.")
    vault.mark_useful(fact, "It answered the question.")
    (vault.root / "vault/page.md").write_text("# A page\n\nWords — ü.\r\nMore.\n", newline="")
    with Vault.open(vault.root, person=True) as keeper:
        keeper.forget(gone)
    vault.fresh()
    return {"fact": fact, "gone": gone, "loose": loose}


def _files(root: Path) -> dict[str, bytes]:
    every = (path for path in (root / "vault").rglob("*") if path.is_file() and "episodes" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in every}


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_restored_vault_is_the_same_in_bytes_and_beliefs(vault: Vault, founded_without_git: Path, tmp_path: Path) -> None:
    ids = _told(vault)
    out = tmp_path / "vault.jsonl"
    vault.export_as("jsonl", out)
    with Vault.open(own_copy(founded_without_git, tmp_path / "other"), person=True, clock=vault.clock) as other:
        assert other.restore(out, dry_run=True).origins["agent"] >= 2
        other.restore(out)
        other.fresh()
        assert _files(other.root) == _files(vault.root)
        for name in ("fact", "loose"):
            mine, theirs = vault.show(ids[name]), other.show(ids[name])
            assert (mine.content, mine.truth, mine.utility, mine.origin) == (
                theirs.content,
                theirs.truth,
                theirs.utility,
                theirs.origin,
            )
        again = tmp_path / "again.jsonl"
        other.export_as("jsonl", again)
        assert _without_logs(again) == _without_logs(out)
        with pytest.raises(Refused, match="holds memories already"):
            other.restore(out)


def _without_logs(path: Path) -> list[dict[str, Any]]:
    return [line for line in _lines(path) if "/episodes/" not in str(line.get("page", ""))]


def test_only_a_person_restores_and_no_file_leads_out(vault: Vault, tmp_path: Path) -> None:
    out = tmp_path / "vault.jsonl"
    vault.export_as("jsonl", out)
    with pytest.raises(Refused, match="only a person"):
        vault.restore(out)
    with Vault.open(vault.root, person=True) as keeper:
        for path in ("../x.md", "vault/../../x.md", "vault.toml", ".git/config", "/etc/x", "vault/.git/config", "_local/key"):
            bad = out.read_text() + json.dumps({"page": path, "text": "x"}) + "\n"
            (tmp_path / "bad.jsonl").write_text(bad)
            with pytest.raises(Refused, match="does not belong"):
                keeper.restore(tmp_path / "bad.jsonl")


def test_it_is_imported_by_the_common_rules(vault: Vault, founded_without_git: Path, tmp_path: Path) -> None:
    ids = _told(vault)
    out = tmp_path / "vault.jsonl"
    vault.export_as("jsonl", out)
    with Vault.open(own_copy(founded_without_git, tmp_path / "other"), clock=vault.clock) as other:
        done = other.import_from(out)
        assert (done.form, done.imported) == ("lines of this tool's own", 2)
        every = [
            entry for entry in other.index.catalog.of_class(RecordClass.OBSERVATION) if entry.text("source_id") == ids["fact"]
        ]
        assert [(entry.origin, entry.subjects, entry.texts("tags")) for entry in every] == [("import", ("Ada",), ("game",))]
        assert every[0].id != ids["fact"]
        assert other.import_from(out).imported == 0


def test_what_took_the_place_of_what_comes_along_where_both_do(vault: Vault, founded_without_git: Path, tmp_path: Path) -> None:
    def told(text: str, origin: str = "owner", user: str = "", **more: Any) -> str:
        return vault.as_(origin=origin, user=user).remember(text, ["Port"], kind="fact", **more).id

    first = told("The port is 8080.")
    told("The port is 9090 now.", change_targets=[first])
    linked, newer = told("The gate is of oak."), told("The gate is of steel.")
    vault.as_(origin="owner").link(newer, "CHANGES", linked, "it was burnt down")
    firm = told("The wall is red.")
    told("The wall is green.", "agent", change_targets=[firm])
    private = told("The key of Ann is brass.", user="ann")
    ann = vault.as_(origin="owner", user="ann")
    ann.link(told("The key of Ann is iron.", user="ann"), "CHANGES", private, "Ann lost it")
    vault.as_(origin="owner").link(newer, "RELATED_TO", first, "both are of the house")
    before = {entry.title: vault.show(entry.id).status for entry in vault.index.catalog.of_class(RecordClass.OBSERVATION)}
    assert [title for title, status in before.items() if status == "overtaken"] != []
    out = tmp_path / "vault.jsonl"
    vault.export_as("jsonl", out)
    with Vault.open(own_copy(founded_without_git, tmp_path / "other"), clock=vault.clock) as other:
        done = other.import_from(out)
        after = {entry.title: other.show(entry.id).status for entry in other.index.catalog.of_class(RecordClass.OBSERVATION)}
        overtaken = {title for title, status in before.items() if status == "overtaken"}
        assert {title for title, status in after.items() if status == "overtaken"} == overtaken
        assert (done.skipped["edge"], done.skipped["contested-change"]) == (1, 1)
        assert not [warning for warning in done.warnings if "told here as current" in warning]
        edges = other.index.catalog.of_class(RecordClass.EDGE)
        assert len(edges) == 3 and {entry.origin for entry in edges} == {"import"}
        assert [entry.text("user") for entry in edges if "Ann" in other.show(entry.id).content] == ["ann"]
        again = other.import_from(out)
        assert again.imported == again.updated == 0 and len(other.index.catalog.of_class(RecordClass.EDGE)) == 3
    with Vault.open(own_copy(founded_without_git, tmp_path / "part"), clock=vault.clock) as part:
        done = part.import_from(out, only="8080|oak")
        assert "2 older memories came without what took its place there: told here as current" in done.warnings


def test_a_graph_counts_what_it_cannot_hold(vault: Vault, tmp_path: Path) -> None:
    _told(vault)
    out = tmp_path / "memory.jsonl"
    done = vault.export_as("server-memory", out)
    assert [line for line in _lines(out) if line["name"] == "Ada"] == [
        {"type": "entity", "name": "Ada", "entityType": "subject", "observations": ["Ada plays chess."]}
    ]
    assert done.left_out["links"] == 1 and done.left_out["judgements"] >= 1 and done.left_out["without a subject"] == 1
    assert "blue" not in out.read_text()


@pytest.mark.parametrize(
    ("name", "written", "means"),
    [
        ("until", "2020-02-01", "2020-02-01T23:59:59+00:00"),
        ("until", "2099-02-01T10:00:00+00:00", "2099-02-01T10:00:00+00:00"),
        ("review_by", "2099-03-01", "2099-03-01T23:59:59+00:00"),
        # By hand, in a head: a day is through its last second.
        ("expires", "2020-02-01", "2020-02-01T23:59:59+00:00"),
    ],
)
def test_the_dates_of_a_memory_come_along(
    name: str, written: str, means: str, vault: Vault, founded_without_git: Path, tmp_path: Path
) -> None:
    told = vault.remember("The kiosk opens at nine.", ["Kiosk"], kind="fact", observed_at="2020-01-01")
    path = vault.root / told.path
    path.write_text(path.read_text().replace("\nid:", f"\n{name}: {written}\nid:", 1))
    vault.export_as("jsonl", tmp_path / "vault.jsonl")
    with Vault.open(own_copy(founded_without_git, tmp_path / "other"), clock=vault.clock) as other:
        other.import_from(tmp_path / "vault.jsonl")
        [row] = [entry for entry in other.index.catalog.of_class(RecordClass.OBSERVATION) if entry.text("source_id") == told.id]
        assert row.text(name) == means
        assert (row.path in {found.path for found in other.search("kiosk opens").results}) == ("2020" not in means)
        assert other.import_from(tmp_path / "vault.jsonl").imported == 0


@pytest.mark.parametrize("how", ["corrected", "over", "expired"])
def test_a_graph_tells_nothing_as_true_that_is_so_no_more(how: str, vault: Vault, tmp_path: Path) -> None:
    until, expires = ("2020-02-01" if how == name else None for name in ("over", "expired"))
    old = vault.remember(
        "The kiosk opens at nine.", ["Kiosk"], kind="fact", observed_at="2020-01-01", until=until, expires=expires
    ).id
    if how == "corrected":
        vault.correct(old, "it moved", content="The kiosk opens at ten.")
    done = vault.export_as("server-memory", tmp_path / "graph.jsonl")
    assert "at nine" not in (tmp_path / "graph.jsonl").read_text() and done.left_out["over or superseded"] == 1


@pytest.mark.parametrize("with_hidden", [False, True])
def test_a_graph_names_no_subject_that_only_what_stays_leads_to_and_holds_no_secret(
    with_hidden: bool, vault: Vault, tmp_path: Path
) -> None:
    with Vault.open(vault.root, person=True, clock=vault.clock) as keeper:
        keeper.as_(user="ann").remember("She is ill.", ["Oncology"])
        hidden = keeper.remember("We drew lots.", ["Lottery"]).id
        keeper.consent(hidden, "withdrawn", as_user="", reason="asked", turn="t")
        keeper.remember("The quay is closed.", ["Quay"])
        keeper.create_subjects([{"name": "Jetty"}])
        keeper.allow_secrets = True
        keeper.remember("The token is ghp_0123456789abcdefghijABCDEFGHIJ012345", ["Quay"])
        keeper.correct(keeper.remember("The pier is open.", ["Pier"]).id, "it burnt", content="The pier is gone.")
    done = vault.export_as("server-memory", tmp_path / "graph.jsonl", with_hidden=with_hidden)
    entities = {line["name"]: line["observations"] for line in _lines(tmp_path / "graph.jsonl")}
    shown = {"Quay": ["The quay is closed."], "Jetty": [], "Pier": ["The pier is gone."]}
    assert entities == (shown | {"Lottery": ["We drew lots."]} if with_hidden else shown)
    assert done.left_out["look like a secret"] == done.left_out["about a user"] == 1
    assert done.left_out.get("hidden", 0) == (not with_hidden)


def test_a_file_that_is_not_ours_stays(vault: Vault, tmp_path: Path) -> None:
    _told(vault)
    other = tmp_path / "notes.txt"
    other.write_text("mine")
    with pytest.raises(Refused, match="none of ours"):
        vault.export_as("jsonl", other)
    assert other.read_text() == "mine"
    vault.export_as("jsonl", other, force=True)
    vault.export_as("jsonl", other)
    link = tmp_path / "link"
    link.symlink_to(other)
    with pytest.raises(Refused, match="none of ours"):
        vault.export_as("jsonl", link)
    with pytest.raises(UsageError, match="is no form"):
        vault.export_as("pdf", tmp_path / "x")


def test_subjects_and_since_narrow_it(vault: Vault, tmp_path: Path) -> None:
    ids = _told(vault)
    out = tmp_path / "ada.jsonl"
    vault.export_as("jsonl", out, subject_names=["ada"])
    _, *records = _lines(out)
    assert {record["id"] for record in records if record["class"] == "observation"} == {ids["fact"]}
    vault.export_as("jsonl", out, since="2030-01-01")
    assert len(_lines(out)) == 1


def test_a_header_alone_is_known_for_what_it_is(vault: Vault, tmp_path: Path) -> None:
    for name, end in (("a.jsonl", ""), ("b.jsonl", "\n")):
        (tmp_path / name).write_text(json.dumps({"format": "vault_tool-jsonl", "version": 1}) + end)
        done = vault.import_from(tmp_path / name)
        assert (done.form, done.imported, done.skipped) == ("lines of this tool's own", 0, {})


def test_what_is_hidden_is_in_no_log_either_and_with_hidden_all_of_it_is_there(vault: Vault, tmp_path: Path) -> None:
    hidden = vault.as_(user="ann").remember("Ann fears the ferry.", ["Ann"]).id
    vault.remember("The quay is closed.", ["Quay"])
    with Vault.open(vault.root, person=True) as keeper:
        keeper.consent(hidden, "withdrawn", as_user="ann")
    vault.fresh()
    export = vault.export_as("jsonl", tmp_path / "shown.jsonl")
    shown = (tmp_path / "shown.jsonl").read_text("utf-8")
    # The memory, its subject, its entry in the day's log, and its line in the journal.
    assert export.left_out == {"hidden": 4} and hidden not in shown and "ferry" not in shown and "The quay is closed" in shown
    vault.export_as("jsonl", tmp_path / "all.jsonl", with_hidden=True)
    assert any(line.get("id") == hidden for line in _lines(tmp_path / "all.jsonl"))


def test_every_form_counts_what_stays_by_the_same_reasons(vault: Vault, tmp_path: Path) -> None:
    _told(vault)
    fact = vault.remember("Ada plays go.", ["Ada"], kind="fact").id
    vault.create_understanding(["Ada"], "Ada plays board games.", "Plays.", source_observation_ids=[fact])
    vault.fresh()
    kept = "soul, protocol and orientation"
    graph = vault.export_as("server-memory", tmp_path / "graph.jsonl").left_out
    folder = vault.export_as("claude-code", tmp_path / "memory").left_out
    assert graph["understandings"] == 1 and graph[kept] == folder[kept] == 3


def test_what_was_made_of_what_is_hidden_and_what_is_about_a_user_stays_where_it_has_no_place(
    vault: Vault, tmp_path: Path
) -> None:
    with Vault.open(vault.root, person=True, clock=vault.clock) as keeper:
        hidden = keeper.remember("Zanzibar in May.", ["Trip"]).id
        keeper.create_understanding(["Trip"], "Of zanzibar alone.", "Zanzibar.", source_observation_ids=[hidden])
        keeper.consent(hidden, "withdrawn", as_user="", reason="asked", turn="t")
        keeper.as_(user="ann").remember("Ann dreams of Okapis.", ["Trip"])
    done = vault.export_as("jsonl", tmp_path / "all.jsonl")
    assert "anzibar" not in (tmp_path / "all.jsonl").read_text() and done.left_out["hidden"] >= 2
    assert "Okapis" in (tmp_path / "all.jsonl").read_text(), "a backup holds everybody's"
    done = vault.export_as("server-memory", tmp_path / "graph.jsonl")
    assert "Okapis" not in (tmp_path / "graph.jsonl").read_text() and done.left_out["about a user"] == 1


@pytest.mark.parametrize(("keys", "flags", "files"), [("n\r", (), False), ("y\r", (), True), ("", ("--yes",), True)])
def test_a_terminal_is_shown_the_origins_and_asked(
    vault: Vault, founded_without_git: Path, tmp_path: Path, keys: str, flags: tuple[str, ...], files: bool
) -> None:
    ids = _told(vault)
    out = tmp_path / "vault.jsonl"
    vault.export_as("jsonl", out)
    root = own_copy(founded_without_git, tmp_path / "other")
    done = called_at_terminal("import", "jsonl", str(out), "--restore", *flags, cwd=root, keys=keys)
    assert done.returncode == Exit.DONE
    assert ("would restore" in done.stdout and "agent 3" in done.stdout) == (not flags)
    assert bool(list((root / "vault").rglob(f"*{ids['fact'][:6]}*"))) == files
    if not files:
        assert "nothing was restored" in done.stdout
        asked = called_at_terminal("import", "jsonl", str(out), "--restore", "--json", cwd=root)
        assert asked.returncode == Exit.REFUSED and "--json asks nothing" in asked.stdout
    assert vt("import", "jsonl", str(out), "--yes", cwd=root).returncode == Exit.USAGE
