"""What a program reads of an error: plain text, in which no character is that nobody sees, whatever its hint names."""

from __future__ import annotations

import pickle
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.founding import found_at
from vault_tool import Vault, VaultError, errors
from vault_tool.cli.wording import CommandLine
from vault_tool.util.hints import if_there, option, shell, step, worded
from vault_tool.vault.request_faults import InvalidRequest, RequestFault

KINDS = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, VaultError)]

BAD: dict[str, Callable[[Vault], object]] = {
    "an id": lambda vault: vault.show("aaaaaaaa"),
    "nothing": lambda vault: vault.get(""),
    "a subject": lambda vault: vault.set_structural_understanding("Nowhere", "It is not."),
    "a type": lambda vault: vault.remember("It is.", kind="solutionn"),
    "a problem": lambda vault: vault.remember("It is.", kind="solution", problem="aaaaaaaa"),
    "a summary": lambda vault: vault.create_understanding(["A"], "It is.", ""),
    "no subject": lambda vault: vault.create_understanding([], "It is.", "It is"),
    "one source": lambda vault: vault.understand(["A"], "It is.", "It is"),
    "a person's": lambda vault: vault.undo(),
    "a commit": lambda vault: vault.as_person().undo("0123456"),
    "a secret": lambda vault: vault.remember("The key is AKIA" + "QYLPMN5HHHFPZZTZ."),
    "a request": lambda vault: vault.read("x", limit=1000),
    "a vault": lambda vault: Vault.open(vault.root / "nowhere"),
    "a name": lambda vault: vault.config("nothing_of_that"),
    "a standing": lambda vault: vault.decay(standings=["old"]),
    "a link": lambda vault: vault.link("aaaaaaaa", "SOLVES", "bbbbbbbb", "x"),
}


def unseen(text: str) -> set[str]:
    return {letter for letter in text if unicodedata.category(letter) in ("Cf", "Mn")}


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault.open(found_at(tmp_path / "v", git=True))


@pytest.mark.parametrize("name", BAD)
def test_what_a_caller_did_wrong_is_said_plainly(vault: Vault, name: str) -> None:
    with vault, pytest.raises(VaultError) as caught:
        BAD[name](vault)
    error = caught.value
    assert str(error) and not unseen(str(error) + repr(error) + "".join(map(str, error.args)))
    typed = worded(error.marked, CommandLine())
    assert not unseen(typed), typed
    if "Vault." in str(error):
        assert "Vault." not in typed, "a door still finds the step"


_text = st.text(max_size=30).filter(lambda text: "`" not in text)
_hints = st.recursive(
    st.one_of(_text, st.just(step("search", query=...)), _text.map(lambda one: step("show", memory_id=one)),
              st.just(option("kind", "fact")), _text.map(shell)),
    lambda inner: inner.map(if_there) | st.lists(inner, max_size=3).map(" ".join),
)  # fmt: skip


@given(st.sampled_from(KINDS), _hints, _hints)
def test_no_error_says_more_than_it_was_given(kind: type[VaultError], message: str, hint: str) -> None:
    error = kind(message, hint)
    given_ = unseen("".join(letter for letter in message + hint if not "\ufe00" <= letter <= "\ufe02"))
    assert unseen(str(error)) - given_ <= {"\ufe00", "\ufe01", "\ufe02"} & set(_of_the_text(message + hint))
    assert str(pickle.loads(pickle.dumps(error))) in (str(error), str(kind(errors.bare(message), hint)))


def _of_the_text(text: str) -> str:
    """What stands in a text beside the marks of its steps."""
    return errors.bare(text)


def test_all_faults_of_a_request_are_plain_too() -> None:
    error = InvalidRequest([RequestFault("/a", f"it is missing: {step('search', query='x')}", option("kind"))])
    assert not unseen(str(error)), str(error)
