from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.verbs.looking import fails, untouched
from vault_tool import Vault
from vault_tool.errors import UsageError, VaultError

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""

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


@pytest.mark.in_git
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


def _in_a_fork(act: Callable[[], object]) -> str:
    """What a call says in a child of this very process: its answer, or its failure in words."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = f"answered {act()}"
        except VaultError as fault:
            said = str(fault)
        except BaseException as fault:  # noqa: BLE001  (whatever it is, the test is to name it)
            said = f"{type(fault).__name__}: {fault}"
        os.write(write, said.encode()[:4096])
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


def test_a_vault_that_came_along_by_a_fork_says_what_to_do(vault: Vault) -> None:
    made = vault.remember("The cache is Redis.", ["Redis"])
    calls: dict[str, Callable[[], object]] = {
        "remember": lambda: vault.remember("Text.", ["Redis"]),
        "search": lambda: vault.search("redis"),
        "recall": lambda: vault.as_(session="s").recall("what is the cache?"),
        "get": lambda: vault.get(made.id),
    }
    said = {name: _in_a_fork(call) for name, call in calls.items()}
    refusal = "this vault was opened before a fork, and its files belong to the process that opened it"
    assert set(said.values()) == {f"{refusal}; open it again here: Vault.open(path)"}
    again = _in_a_fork(lambda: len(Vault.open(vault.root).search("redis").results))
    assert again == f"answered {len(vault.search('redis').results)}"
    assert _in_a_fork(vault.close) == "answered None"
    assert vault.get(made.id).content == "The cache is Redis."


def test_a_vault_that_threads_and_event_loops_share_answers_right(vault: Vault) -> None:
    vault.remember("The cache is Redis.", ["Redis"])

    def write_and_find(number: int) -> bool:
        made = vault.remember(f"The word zq{number}x was written.", ["Redis"])
        return [one.id for one in vault.search(f"zq{number}x").results] == [made.id]

    async def ask() -> list[int]:
        answers = (asyncio.to_thread(lambda: len(vault.search("cache").results)) for _ in range(4))
        return list(await asyncio.gather(*answers))

    with ThreadPoolExecutor(16) as threads:
        assert list(threads.map(write_and_find, range(16))) == [True] * 16
        assert [loop.result() for loop in [threads.submit(asyncio.run, ask()) for _ in range(2)]] == [[1] * 4] * 2
    assert vault.status().counts["observation"] == 17


def test_nothing_for_what_may_be_left_out_is_its_default(vault: Vault) -> None:
    untyped: Any = vault
    made = untyped.remember(
        "Text.", None, kind=None, title=None, tags=None, confidence=None, related_to=None, problem=None, pinned=None
    )
    assert (made.type, made.subject_names, vault.show(made.id).confidence) == ("general", (), 0.8)
    assert [one.id for one in untyped.search("text", None, kinds=None, mode=None).results] == [made.id]
    batch: list[Any] = [{"content": "Other.", "kind": None, "subject_names": None, "ask": None, "related_to": None}]
    assert vault.add_observations(batch).results[0].type == "general"
