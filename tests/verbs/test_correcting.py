"""`correct` by each door: what was wrong is kept and marked, and what is so instead takes its place where it may."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cli.typed import vt
from tests.statuses import said
from tests.verbs.looking import START, head, whole
from vault_tool import Vault
from vault_tool.errors import NotFound, UsageError
from vault_tool.files.parse import record
from vault_tool.mcp.answering import answer as answer_tool
from vault_tool.mcp.tools import Caller
from vault_tool.model.types import BUILT_IN, RecordClass
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git

WRONG = "The quartz queue listens on port 6379."
RIGHT = "The quartz queue listens on port 6380."
WHY = "Its unit file says so since May."


def as_owner(root: Path) -> Vault:
    return Vault.open(root, person=True, clock=FixedClock(START))


def as_agent(root: Path) -> Vault:
    return Vault.open(root, origin="agent", clock=FixedClock(START), session="s1")


def by_library(root: Path, arguments: Mapping[str, str]) -> dict[str, Any]:
    with as_agent(root) as vault:
        made = vault.correct(**arguments)
        return {"new_id": made.new_id, "status": made.status, "known": made.known}


def by_command(root: Path, arguments: Mapping[str, str]) -> dict[str, Any]:
    more = ["--content", arguments["content"]] if "content" in arguments else []
    line = ["correct", arguments["id"], arguments["why"], *more, "--vault", str(root), "--session", "s1", "--json"]
    done = vt(*line)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def by_tool(root: Path, arguments: Mapping[str, str]) -> dict[str, Any]:
    with as_agent(root) as vault:
        given = answer_tool(vault, "correct", arguments, Caller(session="s1"))
        identity = given.get("new_id", "")
        whole_id = vault.show(identity).id if identity else ""
        return {"new_id": whole_id, "status": given["status"], "known": given.get("known", False)}


def by_request(root: Path, arguments: Mapping[str, str]) -> dict[str, Any]:
    with as_agent(root) as vault:
        made = vault.op({"op": "correct", "repo_id": "Lab", **arguments, "session_id": "s1"})
    assert made["ok"], made
    return dict(json.loads(json.dumps(made)))


DOORS: Mapping[str, Callable[[Path, Mapping[str, str]], dict[str, Any]]] = {
    "library": by_library, "command": by_command, "tool": by_tool, "request": by_request,
}  # fmt: skip


@pytest.fixture(params=DOORS)
def correct(request: pytest.FixtureRequest) -> Callable[[Path, Mapping[str, str]], dict[str, Any]]:
    return DOORS[request.param]


def head_of(root: Path, identity: str) -> Mapping[str, Any]:
    with as_owner(root) as vault:
        path = vault.show(identity).path
        made = record(path, (root / path).read_bytes(), vault.settings.types)
    assert made is not None
    return made.head()


@pytest.mark.in_git
def test_what_is_so_instead_takes_the_place_of_what_was_wrong(
    root: Path, correct: Callable[[Path, Mapping[str, str]], dict[str, Any]]
) -> None:
    with as_agent(root) as vault:
        wrong = vault.as_(project="lab").remember(WRONG, ["Quartz", "Ports"], kind="preference").id
    made = correct(root, {"id": wrong, "why": WHY, "content": RIGHT})
    assert (made["status"], made["known"]) == ("overtaken", False)
    kept = head_of(root, made["new_id"])
    assert kept["type"] == "preference"
    assert list(kept["subjects"]) == ["Quartz", "Ports"]
    assert (kept["project"], kept["rationale"], list(kept["change_targets"])) == ("lab", WHY, [wrong])
    with as_agent(root) as vault:
        assert said(vault.show(wrong), "overtaken") == (made["new_id"],)
        assert vault.show(wrong).content == WRONG, "evidence is never rewritten"
    # Sent twice it is one.
    before = whole(root), head(root)
    again = correct(root, {"id": wrong, "why": WHY, "content": RIGHT})
    assert (again["new_id"], again["known"]) == (made["new_id"], True)
    assert (whole(root), head(root)) == before


@pytest.mark.in_git
def test_without_what_is_so_it_is_questioned_once(
    root: Path, correct: Callable[[Path, Mapping[str, str]], dict[str, Any]]
) -> None:
    with as_agent(root) as vault:
        wrong = vault.remember(WRONG, ["Quartz"], kind="fact").id
    made = correct(root, {"id": wrong, "why": WHY})
    assert (made["status"], made["new_id"], made["known"]) == ("questioned", "", False)
    before = whole(root), head(root)
    assert correct(root, {"id": wrong, "why": WHY})["known"] is True
    assert (whole(root), head(root)) == before
    with as_agent(root) as vault:
        assert vault.show(wrong).status_why == WHY
    # For another reason it is asked again, and after it was settled too.
    assert correct(root, {"id": wrong, "why": "The firewall says otherwise."})["known"] is False
    with Vault.open(root, person=True) as vault:  # by the clock that commands have
        vault.mark_useful(wrong, "It does listen there.")
    assert correct(root, {"id": wrong, "why": WHY})["known"] is False


@pytest.mark.parametrize("kind", [spec.name for spec in BUILT_IN if spec.record_class is RecordClass.OBSERVATION])
def test_what_is_corrected_keeps_its_type(root: Path, kind: str) -> None:
    with as_owner(root) as vault:
        problem = vault.remember("The queue does not answer.", ["Quartz"], kind="problem").id
        more = {"problem": problem} if kind in ("solution", "failed_tactic") else {}
        wrong = vault.remember(WRONG, ["Quartz"], kind=kind, **more).id  # type: ignore[arg-type]
        made = vault.correct(wrong, WHY, RIGHT)
        assert (made.type, made.status, made.status_by) == (kind, "overtaken", (made.new_id,))
        assert not made.warnings
    kept = head_of(root, made.new_id)
    assert kept["type"] == kind
    assert kept.get("problem", "") == more.get("problem", "")


def test_a_type_of_the_vaults_own_is_kept_too(root: Path) -> None:
    with as_owner(root) as vault:
        wrong = vault.remember(WRONG, ["Quartz"], kind="factt", new_type=True).id
        assert head_of(root, vault.correct(wrong, WHY, RIGHT).new_id)["type"] == "factt"


def test_what_the_owner_wrote_stays_beside_an_agents_correction_until_the_owner_says_the_same(root: Path) -> None:
    with as_owner(root) as vault:
        wrong = vault.remember(WRONG, ["Quartz"], kind="preference").id
    with as_agent(root) as vault:
        made = vault.correct(wrong, WHY, RIGHT)
        assert (made.status, made.contested) == ("contested", (wrong,))
        assert any("its owner's" in one for one in made.warnings)
    with as_owner(root) as vault:
        settled = vault.correct(wrong, WHY, RIGHT)
        assert settled.status == "overtaken"
        assert settled.status_by[0] == settled.new_id != made.new_id, "the agent's own word would not do"
        assert vault.correct(wrong, WHY, RIGHT).known


def test_an_agents_correction_of_an_agents_is_not_written_into_what_the_owner_said(root: Path) -> None:
    with as_owner(root) as vault:
        right = vault.remember(RIGHT, ["Quartz"], kind="fact").id
    with as_agent(root) as vault:
        wrong = vault.remember(WRONG, ["Quartz"], kind="fact").id
        made = vault.correct(wrong, WHY, RIGHT)
        assert made.status == "overtaken"
        assert not head_of(root, right).get("change_targets")


@pytest.mark.in_git
def test_what_waits_for_a_person_overtakes_nothing_yet(root: Path) -> None:
    (root / "vault.toml").write_text('write_policy = "review"\n')
    with as_owner(root) as vault:
        wrong = vault.remember(WRONG, ["Quartz"], kind="fact").id
        other = vault.remember("The quartz queue listens on port 6378.", ["Quartz"], kind="fact").id
        vault.commit()
    with as_agent(root) as vault:
        made = vault.correct(wrong, WHY, RIGHT)
        assert (made.pending_review, made.status) == (True, "current")
        assert vault.correct(wrong, WHY, RIGHT).known, "sent twice it waits once"
        beside = vault.correct(other, WHY, RIGHT)
        assert not beside.known, "the same words about another memory are another correction"
    with as_owner(root) as vault:
        vault.review(accept=[made.new_id, beside.new_id])
        assert vault.show(wrong).status == vault.show(other).status == "overtaken"


def test_what_one_user_said_stays_theirs(root: Path) -> None:
    with as_agent(root).as_(user="ann") as vault:
        wrong = vault.remember(WRONG, ["Quartz"], kind="fact").id
    with as_owner(root) as vault:
        made = vault.correct(wrong, WHY, RIGHT)
        assert head_of(root, made.new_id)["user"] == "ann"
        assert not [one for one in vault.as_(user="bob").search("quartz").results if one.id == made.new_id]


def test_what_a_user_corrects_of_everybodys_is_theirs_alone(root: Path) -> None:
    with as_agent(root) as vault:
        wrong = vault.remember(WRONG, ["Quartz"], kind="fact").id
    with as_agent(root).as_(user="ann") as anns:
        made = anns.correct(wrong, WHY, RIGHT)
        assert (made.status, anns.correct(wrong, WHY, RIGHT).known) == ("overtaken", True)
    assert head_of(root, made.new_id)["user"] == "ann"
    with as_agent(root).as_(user="bob") as bobs:
        assert [one.id for one in bobs.search("quartz", kinds=["fact"]).results] == [wrong]
        assert bobs.show(wrong).status == "current"


def test_of_the_global_vault_it_is_corrected_there(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = tmp_path / "shared"
    Vault.init(shared, name="shared")
    monkeypatch.setenv("VAULT_GLOBAL", str(shared))
    with as_owner(shared) as vault:
        wrong = vault.remember(WRONG, ["Quartz"], kind="fact").id
    with as_owner(root) as vault:
        made = vault.correct(wrong, WHY, RIGHT)
    with as_owner(shared) as vault:
        assert vault.show(wrong).status_by == (made.new_id,)


def test_a_later_correction_of_what_is_overtaken_says_so(root: Path) -> None:
    with as_owner(root) as vault:
        wrong = vault.remember(WRONG, ["Quartz"], kind="fact").id
        first = vault.correct(wrong, WHY, RIGHT).new_id
        made = vault.correct(wrong, WHY, "The quartz queue listens on port 6381.")
        assert f"was overtaken already by {first[:6]}" in " ".join(made.warnings)
        assert not made.contested


def test_a_revised_memory_may_become_right_again(root: Path) -> None:
    with as_owner(root) as vault:
        wrong = vault.remember(WRONG, ["Quartz"], kind="fact").id
        right = vault.correct(wrong, WHY, RIGHT).new_id
        back = vault.correct(right, "It was moved back.", WRONG)
        assert back.new_id not in (wrong, right)
        assert (vault.show(right).status_by, vault.show(back.new_id).status) == ((back.new_id,), "current")


REFUSED: Mapping[str, tuple[dict[str, Any], str]] = {
    "no reason": ({"why": " \n"}, "a correction needs its reason"),
    "empty content": ({"content": " \n"}, "what is so instead is empty"),
    "the same again": ({"content": f"{WRONG}\n"}, "says that already"),
    "a subject": ({"id": "Quartz"}, "is a subject, which claims nothing"),
    "an understanding": ({"id": "Quartz is a queue", "content": RIGHT}, "is an understanding, which is written anew"),
    "a wrong type": ({"content": 7}, "content must be"),
}


@pytest.mark.in_git
@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_meant_is_one_line_and_writes_nothing(root: Path, name: str) -> None:
    changes, line = REFUSED[name]
    with as_owner(root) as vault:
        wrong = vault.remember(WRONG, ["Quartz"], kind="fact").id
        vault.create_understanding(["Quartz"], "It is one.", "Quartz is a queue")
        before = whole(root), head(root)
        arguments: dict[str, Any] = {"id": wrong, "why": WHY, **changes}
        with pytest.raises(UsageError, match=line) as told:
            vault.correct(**arguments)
        assert "\n" not in str(told.value)
    assert (whole(root), head(root)) == before


def test_an_understanding_may_be_questioned(root: Path) -> None:
    with as_owner(root) as vault:
        made = vault.create_understanding(["Quartz"], "It is one.", "Quartz is a queue")
        assert vault.correct(made.id, WHY).status == "questioned"


def test_a_name_that_means_nothing_is_not_found(root: Path) -> None:
    with as_owner(root) as vault, pytest.raises(NotFound):
        vault.correct("no such memory", WHY, RIGHT)


def test_an_empty_text_of_a_script_is_no_text_that_was_left_out(root: Path) -> None:
    with as_agent(root) as vault:
        wrong = vault.remember(WRONG, ["Quartz"], kind="fact").id
    for line in (["--content", ""], ["--content", "-"]):
        done = vt("correct", wrong, WHY, *line, "--vault", str(root))
        assert (done.returncode, "what is so instead is empty" in done.stderr) == (2, True)
    done = vt("correct", wrong, WHY, "--why", "again", "--vault", str(root))
    assert "given twice" in done.stderr


def test_a_reason_and_a_text_are_screened_for_secrets(root: Path) -> None:
    with as_agent(root) as vault:
        wrong = vault.remember(WRONG, ["Quartz"], kind="fact").id
        before = whole(root)
        for arguments in ((WHY, "The password is ghp_abcdefghijklmnopqrstuvwxyz0123456789."),):
            with pytest.raises(Exception, match="secret"):
                vault.correct(wrong, *arguments)
        assert whole(root) == before
