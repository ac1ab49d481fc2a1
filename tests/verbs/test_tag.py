from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.typed import vt
from tests.git_repos import write
from tests.verbs.looking import START, fails, identity, note
from vault_tool import Vault
from vault_tool.errors import NotFound, Refused, UsageError
from vault_tool.util.clock import FixedClock


@pytest.fixture
def vault(founded_without_git: Path, tmp_path: Path) -> Iterator[Vault]:
    """A vault without git, with a note that a person tagged by hand."""
    shutil.copytree(founded_without_git, tmp_path / "lab")
    write(tmp_path / "lab", "vault/one.md", note(1, title="One", tags="[Home-Lab, '#draft', draft]", own="kept"))
    with Vault.open(tmp_path / "lab", clock=FixedClock(START)) as opened:
        yield opened


def test_tags_are_added_and_taken_away_by_one_line_of_the_head(vault: Vault) -> None:
    before = (vault.root / "vault/one.md").read_text()
    made = vault.tag(identity(1), ["work/night", "#Late", "home_lab"], ["DRAFT"])
    assert (made.added, made.removed) == (("work/night", "Late"), ("#draft", "draft"))
    assert made.tags == ("Home-Lab", "work/night", "Late")
    after = (vault.root / "vault/one.md").read_text()
    assert after == before.replace("tags: [Home-Lab, '#draft', draft]", "tags: [Home-Lab, work/night, Late]")
    assert [one.id for one in vault.search("One", tags=["late"]).results] == [identity(1)]
    bare = vault.tag(identity(1), remove=["home lab", "work/night", "late", "gone"])
    assert (bare.tags, bare.warnings) == ((), ("it has no tag `gone`",))
    assert (vault.root / "vault/one.md").read_text() == before.replace("tags: [Home-Lab, '#draft', draft]\n", "")
    same = vault.tag(identity(1), remove=["gone"])
    assert (same.added, same.removed) == ((), ())


def test_a_subject_has_tags_too_and_an_edge_has_none(vault: Vault) -> None:
    vault.create_subjects([{"name": "Redis"}])
    assert vault.tag("Redis", ["infra"]).tags == ("infra",) == vault.get_subjects(["Redis"]).results[0].tags
    two = vault.remember("Two.").id
    edge = vault.link(identity(1), "BUILDS_ON", two).id
    with fails(UsageError, "is an edge, which has no tags"):
        vault.tag(edge, ["x"])


@pytest.mark.parametrize(
    ("add", "remove", "says"),
    [
        ([], [], "no tag is named"),
        (["#"], [], "`` is no tag"),
        ([" "], [], "is no tag"),
        (["One"], ["one"], "`One` is to be added and taken away"),
    ],
)
def test_what_is_no_change_of_tags_is_said(vault: Vault, add: list[str], remove: list[str], says: str) -> None:
    with fails(UsageError, says):
        vault.tag(identity(1), add, remove)
    with fails(NotFound, "nothing in this vault answers to `Nine`"):
        vault.tag("Nine", ["x"])


def test_a_tag_to_be_taken_away_is_no_option(vault: Vault) -> None:
    lab = ("--vault", str(vault.root))
    ran = vt(*lab, "tag", "One", "-draft", "-home-lab", "+-odd", "+vault")
    assert ran.stdout.startswith("000000  One: +-odd +vault -Home-Lab -#draft")
    assert json.loads(vt("tag", *lab, "--json", "One", "-vault").stdout)["tags"] == ["-odd"]
    refused = vt(*lab, "tag", "One", "work")
    assert refused.stderr == "vt: `work` says neither + nor -; `+work` adds the tag, `-work` takes it away\n"
    assert "Give a memory tags" in vt("tag", "--help").stdout


def test_undo_brings_the_tags_back(root: Path) -> None:
    with Vault.open(root, clock=FixedClock(START), person=True) as vault:
        made = vault.remember("Two.", tags=["a", "b"])
        vault.tag(made.id, ["c"], ["a"])
        vault.undo()
        assert vault.show(made.id).head["tags"] == ["a", "b"]
        # What the tool's own edit committed for the first time was its person's before.
        write(root, "vault/hand.md", note(3, "By hand."))
        vault.tag(identity(3), ["x"])
        with fails(Refused, "a person made it"):
            vault.undo()
        assert (root / "vault/hand.md").exists()
