"""Writers that become commits together: what a kill between leaves, and what one of them does to the others."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.bounds import PATIENCE, eventually
from tests.faults.killer import Round, campaign, runs_wanted
from tests.git_repos import git
from tests.oracles import assert_as_built_anew, assert_git_is_sound
from vault_tool import Vault
from vault_tool.cli.answering import SharedVault
from vault_tool.errors import VaultError
from vault_tool.files import writer
from vault_tool.mcp.backends import Answer, Call
from vault_tool.mcp.tools import Caller

CHILD = Path(__file__).with_name("together_child.py")


def _words(root: Path) -> Counter[str]:
    """How many notes there are of each word that a writer made up."""
    texts = [path.read_text("utf-8") for path in root.rglob("observations/**/*.md")]
    return Counter(word for text in texts for word in set(text.split()) if word.startswith("zq"))


@pytest.mark.campaign
def test_a_kill_between_the_writes_and_the_commits_loses_and_doubles_nothing(root: Path) -> None:
    acknowledged: set[str] = set()

    def child(number: int) -> list[str]:
        return [sys.executable, str(CHILD), str(root), str(number), "6", "3"]

    def check(one: Round) -> None:
        assert one.errors == ""
        acknowledged.update(one.acknowledged)
        words = _words(root)
        assert not acknowledged - words.keys(), "what was acknowledged is there"
        assert max(words.values(), default=1) == 1, "and once"

    rounds = campaign(child, check, kills=runs_wanted(8), longest=0.4, most=8, seed=11)
    assert any(one.killed for one in rounds)
    with Vault.open(root) as vault:
        last = vault.remember("The last one is written after all of them.", ["Crowd"])
        assert last.committed
        words = _words(root)
        assert vault.local.pending() == ()
    logged = git(root, "log", "--format=%s").splitlines()
    for word in words:
        assert sum(word in line for line in logged) == 1, "each memory is the work of one commit"
    assert git(root, "status", "--porcelain", "vault") == ""
    entries = "".join(path.read_text("utf-8") for path in root.rglob("episodes/*.md"))
    assert all(entries.count(f"The {word} was seen by one of many.\n") <= 2 for word in words)
    assert_git_is_sound(root)
    assert_as_built_anew(root, ["crowd", *sorted(words)[:2]])


@contextmanager
def _answers(root: Path) -> Iterator[SharedVault]:
    answers = SharedVault(Vault.open(root), lambda: False, lambda reason: None)
    try:
        yield answers
    finally:
        answers.close()


def _call(tool: str, session: str = "s", **arguments: Any) -> Call:
    return Call(tool, arguments, Caller(session=session), lambda done, of: None)


def _at_once(root: Path, answers: SharedVault, calls: list[Call]) -> list[Answer | VaultError]:
    """What becomes of calls that all come while another process writes: they wait for the lock together."""
    found: dict[int, Answer | VaultError] = {}

    def ask(number: int) -> None:
        try:
            found[number] = answers.run(calls[number])
        except VaultError as fault:
            found[number] = fault

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(len(calls))]
    with writer.lock(root, holder="another"):
        for thread in threads:
            thread.start()
            # Each is in line before the next, so that what they do is told by their order.
            thread.join(0.05)
    for thread in threads:
        thread.join()
    return [found[number] for number in range(len(calls))]


def _remember(number: int, **more: Any) -> Call:
    return _call("remember", f"s-{number}", content=f"The {'abcdefgh'[number] * 5} was seen.", subject_names=["Crowd"], **more)


def test_each_of_those_that_wait_is_a_commit_that_is_taken_back_alone(root: Path) -> None:
    with _answers(root) as answers:
        answers.run(_remember(7))
        moved = len(git(root, "reflog").splitlines())
        said = _at_once(root, answers, [_remember(number) for number in range(5)])
        ids = [one.values["id"] for one in said if isinstance(one, Answer) and one.values]
        assert len(ids) == 5 and "reason" not in str(said)
        # The first may have begun before the others came; all that came meanwhile moved the branch once.
        assert 1 <= len(git(root, "reflog").splitlines()) - moved <= 2
    logged = git(root, "log", "-5", "--format=%s|%(trailers:key=Vault-Session,valueonly)|%(trailers:key=Vault-Ids,valueonly)")
    rows = [row.split("|") for row in logged.replace("\n", "").replace("remember:", "\nremember:").split("\n") if row]
    assert {row[1] for row in rows} == {f"s-{number}" for number in range(5)}
    assert all(any(row[2].startswith(one) for row in rows) for one in ids)
    with Vault.open(root, person=True, origin="owner") as vault:
        assert [len(one.paths) for one in vault.log(limit=5).results] == [2] * 5
        undone = vault.undo(ids[2])
        assert len(undone.removed) == 1 and undone.restored == ()
        left = {one.id for one in vault.index.catalog.snapshot().entries}
    assert {one for one in ids if any(other.startswith(one) for other in left)} == {*ids} - {ids[2]}
    assert_git_is_sound(root)
    assert_as_built_anew(root, ["crowd"])


class _Held(Call):
    """A call that is at work until it is let go on."""

    let_go = threading.Event()

    def asked(self, vault: Vault) -> tuple[Vault, Any]:
        assert self.let_go.wait(PATIENCE)
        return super().asked(vault)


def test_an_answer_that_is_ready_waits_for_nothing_that_comes_after(root: Path) -> None:
    done: list[int] = []
    with _answers(root) as answers:

        def write(number: int) -> None:
            answers.run(_remember(number))
            done.append(number)
            # The first may have been written alone; whoever is second was written with all the others.
            if len(done) == 2:
                held = _remember(7)
                answers.run(_Held(held.tool, held.arguments, held.caller, held.progress))

        threads = [threading.Thread(target=write, args=(number,), daemon=True) for number in range(7)]
        with writer.lock(root, holder="another"):
            threads[0].start()
            eventually(lambda: answers._gathering._is_led and not answers._gathering._waiting)
            for thread in threads[1:]:
                thread.start()
            eventually(lambda: len(answers._gathering._waiting) == len(threads) - 1)
        try:
            eventually(lambda: len(done) == len(threads))
        finally:
            _Held.let_go.set()
            for thread in threads:
                thread.join()
    assert git(root, "status", "--porcelain", "vault") == ""


def test_one_that_is_refused_takes_none_of_the_others_with_it(root: Path) -> None:
    calls = [
        _remember(0),
        _call("remember", content=""),
        _call("remember", content="The key is sk-ant-api03-" + "Zx9" * 31 + "-AA", subject_names=["Crowd"]),
        _remember(1, problem="00000000-0000-4000-8000-000000000000"),
        _call("mark_useful", id="nothing is called so", reason="x"),
        _remember(2),
    ]
    with _answers(root) as answers:
        answers.run(_remember(7))
        said = _at_once(root, answers, calls)
    assert [isinstance(one, Answer) for one in said] == [True, False, False, False, False, True]
    assert len({str(one) for one in said}) == len(said), "each is told what was wrong with it"
    assert git(root, "status", "--porcelain", "vault") == ""


def test_one_text_by_several_is_one_memory_with_what_each_of_them_added(root: Path) -> None:
    calls = [
        _call("remember", f"s-{number}", content="The pump hums.", subject_names=[name])
        for number, name in enumerate(("Pump", "Cellar", "Noise"))
    ]
    with _answers(root) as answers:
        answers.run(_remember(7))
        said = _at_once(root, answers, [*calls, _call("mark_useful", "s-9", id="The pump hums", reason="it told which pump")])
        ids = {one.values["id"] for one in said if isinstance(one, Answer) and one.values}
    assert len(ids) == 1, said
    assert git(root, "status", "--porcelain", "vault") == "", "each commit holds what it added to the one before"
    with Vault.open(root) as vault:
        assert set(vault.get(ids.pop()).subjects) == {"Pump", "Cellar", "Noise"}
    assert_git_is_sound(root)


def test_where_a_hook_has_a_say_each_is_committed_as_it_would_be_alone(root: Path) -> None:
    hook = root / ".git" / "hooks" / "commit-msg"
    hook.write_text('#!/bin/sh\nif grep -q bbbbb "$1"; then echo "no b here" >&2; exit 1; fi\necho "Seen-By: a hook" >> "$1"\n')
    hook.chmod(0o755)
    with _answers(root) as answers:
        answers.run(_remember(7))
        said = _at_once(root, answers, [_remember(number) for number in range(3)])
    reasons = [one.values.get("reason", "") for one in said if isinstance(one, Answer) and one.values]
    assert [bool(reason) for reason in reasons] == [False, True, False] and "no b here" in reasons[1]
    assert git(root, "log", "--format=%b").count("Seen-By: a hook") == 3
    hook.unlink()
    with Vault.open(root) as vault:
        vault.remember("One more commits what waited.", ["Crowd"])
        assert vault.local.pending() == ()
    assert "bbbbb" in git(root, "log", "--format=%s")
