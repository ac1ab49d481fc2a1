"""All that is about one person: given out, or erased, and nothing of anybody else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.founding import own_copy
from tests.git_repos import git
from tests.nobody import nobodys_machine
from vault_tool import Vault
from vault_tool.cli.output import to_json
from vault_tool.errors import Refused, UsageError
from vault_tool.features.turns.turns import Turns
from vault_tool.files import tombstones
from vault_tool.index.vault_index import Refresh
from vault_tool.vault.operation import Operation

pytestmark = pytest.mark.without_git


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault with git of which Ann, Ben and everybody know something; to be copied, not used."""
    root = tmp_path_factory.mktemp("known") / "v"
    with nobodys_machine(root.parent):
        Vault.init(root, name="Lab")
        _tell(root)
    return root


def _tell(root: Path) -> None:
    with Vault.open(root, person=True, session="s") as opened:
        ann, ben = opened.as_(user="ann"), opened.as_(user="ben")
        common = opened.remember("The harbour opens at eight.", ["Harbour"], title="Harbour hours")
        hers = ann.remember("Ann fears the zanzibar ferry.", ["Harbour", "Ann's fears"], title="The zanzibar ferry")
        his = ben.remember("Ben paints the crane vermilion.", ["Harbour"], title="Painting vermilion")
        ann.link(hers.id, "RELATED_TO", common.id, why="both at the zanzibar quay")
        opened.link(his.id, "RELATED_TO", common.id, why="vermilion by eight")
        ann.mark_useful(hers.id, "zanzibar came up")
        opened.consent(hers.id, "given", as_user="ann")
        opened.as_(origin="agent", user="ann").remember("Perhaps Ann hates zanzibar.", ["Harbour"], ask=True)
        for user, text in (("ann", "zanzibar again"), ("ben", "more vermilion")):
            opened.turn("s", user, "", text)
            later = [{"content": f"{text}, later"}]
            opened.turn("s", user, "", f"{text}, said {user}", extractMemory=True, candidates=later, write="later")


@pytest.fixture
def vault(known: Path, tmp_path: Path) -> Iterator[Vault]:
    """The test's own copy of that vault, open."""
    root = own_copy(known, tmp_path / "v")
    with Vault.open(root, person=True, session="s") as opened:
        yield opened


def _everywhere(root: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(root.rglob("*")):
        if path.is_file() and ".git" not in path.relative_to(root).parts:
            yield str(path.relative_to(root)), path.read_bytes().decode("utf-8", "replace")


@pytest.mark.in_git
def test_an_export_holds_all_of_one_and_nothing_of_another(vault: Vault, tmp_path: Path) -> None:
    vault.drain()
    before = git(vault.root, "rev-parse", "HEAD")
    done = vault.export_user("ann", tmp_path / "out")
    text = "\n".join(f"{name}\n{content}" for name, content in _everywhere(tmp_path / "out"))
    assert "vermilion" not in text and "ben" not in text.casefold().replace("beneath", "")
    records = json.loads((tmp_path / "out" / "records.json").read_text("utf-8"))
    for one in records["memories"]:
        note = (tmp_path / "out" / one["file"]).read_bytes()
        assert note == (vault.root / one["file"].removeprefix("notes/")).read_bytes(), "as it is, to the byte"
    # Her memory, its link, what her turn gave; not what waits.
    assert done.notes == len(records["memories"]) == 3
    assert [one["kind"] for one in records["signals"]] == ["useful", "consent"]
    assert [one["consent"] for one in records["memories"] if one["consent"]] == ["given"]
    assert done.waiting == 1 and "hates zanzibar" in records["waiting"][0]["text"]
    assert [one["text"] for one in records["turns"]] == ["zanzibar again"]
    assert sorted(one["text"] for one in records["turn_log"]) == ["zanzibar again", "zanzibar again, said ann"]
    assert git(vault.root, "rev-parse", "HEAD") == before and not git(vault.root, "status", "--porcelain")


def test_an_export_goes_into_no_folder_that_holds_anything(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(Refused, match="is there already"):
        vault.export_user("ann", tmp_path / "out")
    with pytest.raises(Refused, match="among the vault's own notes"):
        vault.export_user("ann", vault.root / "vault" / "ann")
    for asker in (vault.as_(origin="agent"), vault.as_(origin="import")):
        with pytest.raises(Refused, match="only a person"):
            asker.export_user("ann", tmp_path / "other")
        with pytest.raises(Refused, match="only a person"):
            asker.forget_user("ann")
    with pytest.raises(UsageError, match="no user"):
        vault.forget_user(" ")
    assert vault.export_user("nobody", tmp_path / "none").notes == 0


@pytest.mark.in_git
def test_one_user_is_erased_everywhere_and_the_other_stays(vault: Vault) -> None:
    looked = vault.forget_user("ann", dry_run=True)
    assert (len(looked.ids), looked.waiting, looked.turns) == (2, 1, 2) and "zanzibar" in _all(vault)
    head = git(vault.root, "rev-parse", "HEAD")

    done = vault.forget_user("ann")

    assert done.ids == looked.ids and done.commit and git(vault.root, "rev-list", "--count", f"{head}..HEAD") == "1"
    assert "zanzibar" not in _all(vault), "notes, journals, indexes, inbox, turns, pages"
    assert "zanzibar" not in to_json(done) and "ann" not in (vault.root / done.receipt).read_text().casefold()
    assert all(tombstones.has(vault.root, identity) for identity in done.ids)
    assert not list((vault.root / "vault" / "subjects").glob("ann*")), "nothing else named it"
    vault.drain()
    assert vault.as_(user="ben").search("vermilion crane").results
    assert [one.text for one in Turns(vault.root).of_user("ben")] == ["more vermilion"]
    assert not [one for one in vault.doctor().problems if one.severity != "note"]
    assert vault.forget_user("ann").ids == ()


def test_what_another_said_in_the_same_words_stays_theirs(vault: Vault) -> None:
    for user in ("ann", "ben"):
        made = vault.as_(user=user).remember("The quiet quay is best at dawn.", ["Harbour"], title="The quiet quay at dawn")
        vault.as_(user=user).mark_useful(made.id, "The quiet quay at dawn helped.")
    vault.forget_user("ann")
    log = "".join(path.read_text("utf-8") for path in (vault.root / "vault" / "episodes").glob("*.md"))
    assert log.count("The quiet quay at dawn") == 1
    said = [json.loads(line) for path in (vault.root / "vault" / "signals").iterdir() for line in path.read_text().splitlines()]
    assert [one["rationale"] for one in said if "rationale" in one] == ["The quiet quay at dawn helped."]


def _all(vault: Vault) -> str:
    return "\n".join(content.casefold() for _, content in _everywhere(vault.root))


def test_a_kill_in_the_middle_is_finished_for_all_of_them(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [entry.id for entry in vault.whole_index.catalog.of_user("ann")]
    with monkeypatch.context() as patch:
        patch.setattr(Operation, "carry_out", _killed)
        with pytest.raises(KeyboardInterrupt):
            vault.forget_user("ann")
    assert {*vault.local.forgetting()} == {*ids} and "zanzibar" in _all(vault)
    with Vault.open(vault.root, origin="agent") as other:
        assert not other.search("zanzibar").results
    assert not vault.local.forgetting() and "zanzibar" not in _all(vault)


def _killed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.in_git
def test_with_purge_no_commit_holds_it(vault: Vault) -> None:
    vault.drain()
    git(vault.root, "branch", "side")
    git(vault.root, "tag", "old")
    done = vault.forget_user("ann", purge=True)
    assert done.purged is not None and done.purged.commits and len(done.ids) == 3
    everything = git(vault.root, "log", "--all", "-p", "--format=%B")
    assert "zanzibar" not in everything and "vermilion" in everything
    assert "zanzibar" not in _all(vault)


def test_with_purge_what_only_waits_goes_too(tmp_path: Path) -> None:
    Vault.init(tmp_path / "v", name="Lab")
    with Vault.open(tmp_path / "v", person=True, session="s") as vault:
        vault.turn("s", "ann", "", "I promise to sail to zanzibar on Friday.")
        vault.as_(origin="agent", user="ann").remember("Perhaps Ann hates zanzibar.", ["Harbour"], ask=True)
        done = vault.forget_user("ann", purge=True)
        assert (done.ids, done.waiting, done.turns, done.local) == ((), 1, 1, 3)
        assert "zanzibar" not in _all(vault)


@pytest.mark.in_git
def test_a_purge_that_is_refused_leaves_what_waits(vault: Vault) -> None:
    vault.drain()
    git(vault.root, "remote", "add", "origin", "elsewhere")
    with pytest.raises(Refused, match="nothing was purged"):
        vault.forget_user("ann", purge=True)
    assert vault.forget_user("ann", dry_run=True).waiting == 1 and Turns(vault.root).of_user("ann")


def test_a_purge_that_is_killed_leaves_nothing_waiting(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.drain()
    with monkeypatch.context() as patch:
        patch.setattr(Operation, "carry_out", _killed)
        with pytest.raises(KeyboardInterrupt):
            vault.forget_user("ann", purge=True)
    with Vault.open(vault.root, origin="agent") as other:
        assert not other.search("zanzibar").results
    assert not vault.local.forgetting() and "zanzibar" not in _all(vault), "the next command goes on with the rest"


def test_a_hundred_are_looked_for_at_once(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    ann = vault.as_(user="ann")
    ann.add_observations([{"content": f"Ann counts ferry number {n} to zanzibar."} for n in range(100)])
    builds: list[bool] = []
    refresh = vault.whole_index.refresh

    def counted(**how: Any) -> Refresh:
        builds.append(how.get("full", False))
        return refresh(**how)

    monkeypatch.setattr(vault.whole_index, "refresh", counted)
    assert len(vault.forget_user("ann").ids) == 103, "with what her turn gave"
    assert sum(builds) == 1, "one build of the indexes for all of them"
