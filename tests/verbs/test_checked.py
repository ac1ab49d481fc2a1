from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.verbs.looking import fails, untouched
from vault_tool import Vault
from vault_tool.errors import UsageError

SLIPS: dict[str, tuple[Callable[[Any], object], str]] = {
    "a number for a text": (lambda vault: vault.remember(5), "content must be a text, not a value of type int"),
    "numbers in a list": (lambda vault: vault.remember("Text.", [5]), "subject_names must be a list of texts"),
    "nothing for a text": (lambda vault: vault.search(None), "query must be a text, not None"),
    "a text for a number": (lambda vault: vault.search("x", limit="3"), "limit must be a whole number, not one text"),
    "a flag for a number": (lambda vault: vault.search("x", limit=True), "limit must be a whole number"),
    "a text for a measure": (lambda vault: vault.link("a", "RELATED_TO", "b", strength="x"), "strength must be a number"),
    "nothing for a path": (lambda vault: vault.import_markdown(None), "source must be a text or a path, not None"),
    "a text for a flag": (lambda vault: vault.pin("a", off="no"), "off must be true or false"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_parameter_of_another_kind_is_named_before_anything_is_done(vault: Vault, slip: str) -> None:
    call, said = SLIPS[slip]
    with untouched(vault.root), fails(UsageError, said):
        call(vault)


def test_what_python_itself_says_stays(vault: Vault) -> None:
    untyped: Any = vault
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        untyped.get("a", loudly=True)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        untyped.get()


def test_every_kind_that_is_meant_passes(vault: Vault) -> None:
    made = vault.remember("Text.", ("Redis",), kind="fact", confidence=1)
    vault.remember("Other text.", subject_names=["Redis"], confidence=None)
    assert vault.search("text", 1, kinds={"fact"}).results  # type: ignore[arg-type]
    assert vault.get(made.id).subjects == ("Redis",)


def test_a_verb_keeps_its_name_and_its_text() -> None:
    assert Vault.search.__name__ == "search"
    assert "exact phrase" in (Vault.search.__doc__ or "")


def test_one_text_is_the_list_of_it(vault: Vault) -> None:
    assert vault.remember("Text.", "Redis", tags="slow").subject_names == ("Redis",)
    assert [one.name for one in vault.get_subjects("Redis").results] == ["Redis"]
