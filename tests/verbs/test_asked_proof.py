"""`prove --ask-with`: a model is asked for the words that were left out, with the memory and without it, if a person says so."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.capture.test_headless import answering, program, seen
from tests.cli.typed import vt
from tests.fakes.loopback import Mode, Request
from tests.fakes.ollama_server import FakeOllama
from tests.terminal import at_terminal
from tests.verbs.test_proving import FORMS, PLACES, _words
from vault_tool import Vault
from vault_tool.errors import Exit, Refused, UsageError
from vault_tool.features.capture import asking_lock
from vault_tool.features.proof.asked_models import ASKED, RULES


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault with 26 memories of thirteen places, one of them of one user."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("VAULT_OWNER", "off")
    root = tmp_path / "lab"
    Vault.init(root, name="Lab", no_git=True)
    with Vault.open(root, person=True) as vault:
        for number in range(26):
            vault.remember(FORMS[number % 2].format(PLACES[number % 13], *_words(number)))
        vault.as_(user="ann").remember("The gardener of Anna trims seven privet hedges silently before breakfast.")
    return root


@pytest.fixture
def server() -> Iterator[FakeOllama]:
    with FakeOllama(models={"m:latest": 8}, chat=reads) as found:
        yield found


def reads(request: Request) -> object:
    """Says all words of what stands below a line, and nothing where nothing does."""
    rules, question = (message["content"] for message in request.body["messages"])
    assert rules == RULES
    answers = []
    for line in re.split(r"^(?=\d+\. )", question, flags=re.MULTILINE)[1:]:
        number = int(line.partition(".")[0])
        answers.append({"line": number, "words": " ".join(re.findall(r'\| "(.*)"', line))})
    return {"answers": answers}


def test_a_model_that_reads_what_the_memory_finds_is_right_with_it_alone(root: Path, server: FakeOllama) -> None:
    with Vault.open(root, person=True) as vault:
        proof = vault.prove(questions=20, ask_with=f"ollama:m@{server.url}")
    assert proof.asked is not None
    assert (proof.asked.by, proof.asked.where, proof.asked.questions) == ("ollama:m", server.url, ASKED)
    assert (proof.asked.with_memory, proof.asked.without_memory) == (ASKED, 0)
    first, second = (request.body["messages"][1]["content"] for request in server.asked("/api/chat"))
    assert '| "' not in first and second.count('| "') >= ASKED
    assert "privet" not in first + second, "what is known of one user is not sent"
    assert proof.asked.tokens > 0


def test_without_a_word_no_model_is_asked(root: Path, server: FakeOllama) -> None:
    with Vault.open(root, person=True) as vault:
        assert vault.prove().asked is None
    assert not server.requests


def test_only_a_person_has_one_asked(root: Path, server: FakeOllama) -> None:
    by = f"ollama:m@{server.url}"
    with Vault.open(root) as vault, pytest.raises(Refused, match="only a person may have a model asked"):
        vault.prove(ask_with=by)
    said = vt("prove", "--ask-with", by, cwd=root)
    assert said.returncode == Exit.REFUSED and "only a person may" in said.stderr
    assert not server.requests


def test_at_a_terminal_the_price_is_told_before_anything_is_sent(root: Path, server: FakeOllama) -> None:
    by = f"ollama:m@{server.url}"
    refused = at_terminal("prove", "--ask-with", by, cwd=root, keys="n\n")
    assert re.search(r"10 questions.* go to ollama:m at http://127\S+: 2 calls, about [\d,]+ tokens", refused.stdout)
    assert "no model was asked" in refused.stdout and not server.requests
    asked = at_terminal("prove", "--ask-with", by, cwd=root, keys="y\n")
    assert re.search(r"with it: +10 of 10", asked.stdout) and re.search(r"without it: +0 of 10", asked.stdout)
    assert len(server.asked("/api/chat")) == 2


@pytest.mark.parametrize(
    ("answer", "counts"),
    [
        ({"answers": []}, (0, 0)),
        ({"answers": [{"line": True, "words": "x"}, {"line": 1, "words": 7}, "y", {"line": 99, "words": "z"}]}, (0, 0)),
        ({"answers": "all"}, (0, 0)),
        ([1, 2], (0, 0)),
    ],
)
def test_an_answer_of_another_form_counts_as_none(root: Path, server: FakeOllama, answer: Any, counts: tuple[int, int]) -> None:
    server.chat = lambda request: answer
    with Vault.open(root, person=True) as vault:
        asked = vault.prove(ask_with=f"ollama:m@{server.url}").asked
    assert asked is not None and (asked.with_memory, asked.without_memory) == counts


@pytest.mark.parametrize("mode", [Mode.ERROR, Mode.HTML, Mode.DROP, Mode.UNAUTHORIZED])
def test_a_model_that_fails_is_one_clear_line(root: Path, server: FakeOllama, mode: Mode) -> None:
    server.chatting = mode
    with Vault.open(root, person=True) as vault, pytest.raises(UsageError, match="the model gave no answer"):
        vault.prove(ask_with=f"ollama:m@{server.url}")
    server.chatting, server.chat = Mode.WELL, lambda request: "I cannot do that."
    with Vault.open(root, person=True) as vault, pytest.raises(UsageError, match="not answer in the form"):
        vault.prove(ask_with=f"ollama:m@{server.url}")


def test_a_client_is_started_twice_one_after_the_other(root: Path) -> None:
    path = program(root.parent / "bin", answering({"answers": [{"line": 1, "words": "nothing of it"}]}))
    with Vault.open(root, person=True) as vault:
        asked = vault.prove(ask_with="claude", program=str(path)).asked
        with pytest.raises(UsageError, match="it was not said which"):
            vault.prove(ask_with="claude")
    assert asked is not None and (asked.with_memory, asked.without_memory, asked.where) == (0, 0, str(path))
    assert asked.tokens == 2 * 945
    starts = seen(root)
    assert len(starts) == 2 and all(start["environ"]["VAULT_CAPTURING"] == "1" for start in starts)  # type: ignore[index]


def test_none_is_asked_while_another_process_asks(root: Path, server: FakeOllama) -> None:
    with asking_lock.alone() as lock, Vault.open(root, person=True) as vault:
        assert lock is not None
        with pytest.raises(UsageError, match="another process of yours asks"):
            vault.prove(ask_with=f"ollama:m@{server.url}")
    assert not server.requests


@pytest.mark.parametrize("by", ["gpt", "ollama", "ollama:", "claude:x", "ollama:m@elsewhere:1"])
def test_a_model_that_is_none_is_refused(root: Path, by: str) -> None:
    with Vault.open(root, person=True) as vault, pytest.raises(UsageError):
        vault.prove(ask_with=by)


def test_json_tells_both_counts(root: Path, server: FakeOllama) -> None:
    (root / "_config.json").write_text(json.dumps({"unattended": True}))
    (root / "_config.json").chmod(0o600)
    told = vt("prove", "--ask-with", f"ollama:m@{server.url}", "--json", cwd=root)
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout)["asked"]["with_memory"] == ASKED and sys.executable not in told.stdout
