from __future__ import annotations

import copy
import dataclasses
import operator
import pickle
import threading
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from vault_tool.util.quick_dataclass import dataclass as quick

BOTH = (dataclasses.dataclass, quick)


def _family(make: Callable[..., Any]) -> tuple[type, ...]:
    """Classes of each form that the package has, made by one of both."""

    @make(frozen=True, slots=True, kw_only=True)
    class Plain:
        """Its text."""

        kind: ClassVar[str] = "plain"
        name: str
        tags: tuple[str, ...] = ()
        extra: dict[str, Any] = dataclasses.field(default_factory=dict, compare=False)
        secret: str = dataclasses.field(default="s", repr=False, compare=False)

    @make(frozen=True, slots=True, kw_only=True)
    class Derived(Plain):
        strength: float | None = None

        @property
        def label(self) -> str:
            return f"{self.name} {self.strength}"

    @make(frozen=True, slots=True, order=True)
    class Ordered:
        path: str
        line: int = 0

    @make(slots=True)
    class Mutable:
        words: list[str] = dataclasses.field(default_factory=list)
        count: int = dataclasses.field(default=3, init=False)
        seen: set[str] = dataclasses.field(default_factory=set, init=False)

        def __post_init__(self) -> None:
            self.count += len(self.words)

    @make(frozen=True)
    class WithOwn:
        name: str

        def __repr__(self) -> str:
            return "its own"

        def __hash__(self) -> int:
            return 7

    @make(frozen=True, slots=True)
    class Empty:
        pass

    return Plain, Derived, Ordered, Mutable, WithOwn, Empty


CASES: tuple[tuple[int, tuple[Any, ...], dict[str, Any]], ...] = (
    (0, (), {"name": "a"}),
    (0, (), {"name": "b", "tags": ("x",), "extra": {"k": 1}, "secret": "t"}),
    (0, (), {}),
    (0, ("a",), {}),
    (0, (), {"name": "a", "nonsense": 1}),
    (1, (), {"name": "a", "strength": 0.5}),
    (2, ("p",), {}),
    (2, ("p", 3), {}),
    (2, ("p",), {"line": 3}),
    (2, (), {}),
    (3, (), {}),
    (3, (["a", "b"],), {}),
    (3, (["a"], 4), {}),
    (4, ("a",), {}),
    (5, (), {}),
)


def _outcome(kind: type, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[object, ...]:
    """All that is seen of an instance, or of its refusal."""
    try:
        made = kind(*arguments, **named)
        again = kind(*arguments, **named)
    except TypeError as fault:
        return "refused", str(fault).split("__init__()")[-1]
    try:
        hashed = hash(made) == hash(again)
    except TypeError:
        hashed = False
    known = [field.name for field in dataclasses.fields(made)]
    seen = (repr(made).rpartition(".")[2], made == again, made == object(), hashed, dataclasses.asdict(made))
    refused = []
    acts: tuple[Callable[..., None], ...] = (setattr, delattr) if known else ()
    for act in acts:
        try:
            act(made, *[*known[:1], 1][: 2 if act is setattr else 1])
        except AttributeError as fault:
            refused.append((type(fault).__name__, str(fault)))
    return (*seen, refused, vars(kind)["__match_args__"], hasattr(again, "__dict__"), dataclasses.is_dataclass(kind))


@pytest.mark.parametrize(("which", "arguments", "named"), CASES, ids=range(len(CASES)))
def test_classes_are_as_the_standard_librarys(which: int, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
    theirs, ours = (_outcome(_family(make)[which], arguments, named) for make in BOTH)
    assert ours == theirs


@pytest.mark.parametrize("make", BOTH)
def test_values_are_compared_ordered_replaced_and_matched(make: Callable[..., Any]) -> None:
    plain, derived, ordered, mutable, own, _ = _family(make)
    one = plain(name="a", tags=("t",), extra={"k": 1})
    assert one == plain(name="a", tags=("t",), extra={"k": 2}, secret="u") != plain(name="a")
    assert one != derived(name="a", tags=("t",)) and derived(name="a").label == "a None"
    assert dataclasses.replace(one, name="b") == plain(name="b", tags=("t",))
    assert sorted([ordered("b"), ordered("a", 2), ordered("a", 1)]) == [ordered("a", 1), ordered("a", 2), ordered("b")]
    assert ordered("a") < ordered("b") <= ordered("b") and ordered("b") > ordered("a") >= ordered("a")
    with pytest.raises(TypeError):
        operator.lt(ordered("a"), 3)
    first, second = mutable(), mutable()
    first.words.append("w")
    assert second.words == [] and first != second and vars(mutable)["__hash__"] is None
    assert (repr(own("x")), hash(own("x"))) == ("its own", 7)
    assert vars(ordered)["__match_args__"] == ("path", "line")


@pytest.mark.parametrize("below", BOTH)
@pytest.mark.parametrize("above", BOTH)
def test_one_derives_from_the_other(below: Callable[..., Any], above: Callable[..., Any]) -> None:
    base = below(frozen=True, slots=True)(type("Base", (), {"__annotations__": {"name": "str"}, "name": ""}))
    derived = above(frozen=True, slots=True)(type("Derived", (base,), {"__annotations__": {"line": "int"}, "line": 0}))
    made = derived("a", 2)
    assert (made.name, made.line, made == derived("a", 2), made == derived("a")) == ("a", 2, True, False)
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.name = "b"


@quick(frozen=True, slots=True)
class Kept:
    """One that a process may hand to another."""

    name: str
    tags: tuple[str, ...] = ()


def test_a_value_is_copied_and_handed_on() -> None:
    one = Kept("a", ("t",))
    assert pickle.loads(pickle.dumps(one)) == copy.copy(one) == copy.deepcopy(one) == one
    assert {one, Kept("a", ("t",))} == {one}


def test_the_first_instances_may_be_made_by_many_threads() -> None:
    plain = _family(quick)[0]
    made: list[object] = []
    barrier = threading.Barrier(8)

    def make() -> None:
        barrier.wait()
        made.append(plain(name="a"))

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [plain(name="a")] * 8
