"""The other spellings of a name or a text do not depend on what was indexed before it in the same process."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

NAME = "vault_tool.index.fulltext.identifiers"

PIECES = (
    "get",
    "Get",
    "ADUser",
    "plug",
    "in",
    "utf",
    "8",
    "python",
    "python3",
    "Invoice",
    "10412",
    "APIs",
    "x",
    "Straße",
    "2026",
)
JOINTS = ("", "-", "_", "/", ".", "://", " ")
words = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(JOINTS)), min_size=1, max_size=6).map(
    lambda pairs: "".join(piece + joint for piece, joint in pairs)
)


def fresh() -> ModuleType:
    """The module as a process has it that has seen no text yet."""
    spec = importlib.util.find_spec(NAME)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@given(st.lists(words, min_size=1, max_size=4), words)
def test_earlier_texts_change_no_spelling(earlier: list[str], name: str) -> None:
    alone, after = fresh(), fresh()
    for text in (*earlier, *earlier[0].split(), f"({name})", name.lower()):
        after.extra_words(text)
        after.spellings(text)
    assert after.spellings(name) == alone.spellings(name)
    assert after.extra_words(name) == alone.extra_words(name)


@pytest.mark.parametrize("address", ["https://docs.example/Get-ADUser", "docs.example/plug-in", "https://plug-in.example/utf-8"])
def test_words_of_an_address_keep_their_spellings_in_a_name(address: str) -> None:
    module = fresh()
    before = module.spellings(address)
    assert before
    for text in (address, f"See {address}.", f"<{address}>", *address.split("/")):
        module.extra_words(text)
    assert module.spellings(address) == before
