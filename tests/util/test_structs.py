"""Values: frozen, equal by their class and fields, with their defaults; what an answer declares itself."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from importlib import import_module

import pytest
from msgspec import field

from vault_tool import features
from vault_tool.util.json_text import told_fields
from vault_tool.util.structs import Struct, defaults
from vault_tool.vault.request import Envelope


class _Stone(Struct):
    name: str
    weight: float = 1.0
    marks: Mapping[str, str] = field(default_factory=dict)


class _Gem(_Stone, kw_only=True):
    colour: str
    cut: str = ""


def test_a_value_is_frozen_and_equal_by_its_class_and_fields() -> None:
    stone, gem = _Stone("agate"), _Gem("agate", colour="red")
    assert stone == _Stone("agate", 1.0) != gem
    assert gem == _Gem("agate", colour="red") != _Gem("agate", colour="blue")
    for value in (stone, gem):
        with pytest.raises(AttributeError):
            value.name = "opal"  # type: ignore[misc]


def test_what_must_be_given_has_no_default() -> None:
    plain = defaults(_Gem)
    assert plain.keys() == {"weight", "marks", "cut"} and (plain["weight"], plain["cut"]) == (1.0, "")


def test_each_answer_declares_its_freshness_and_tells_it_last_or_where_it_says() -> None:
    for module in pkgutil.walk_packages(features.__path__, f"{features.__name__}."):
        import_module(module.name)
    answers = [answer for answer in _below(Envelope) if issubclass(answer, Struct)]
    assert len(answers) > 40
    for answer in answers:
        told = told_fields(answer)
        assert "freshness" in told, answer
        assert told[told.index("freshness") + 1 :][:1] in ([], [getattr(answer, "stands_before", "")]), answer


def _below(kind: type) -> Iterator[type]:
    below: list[type] = kind.__subclasses__()
    for subclass in below:
        yield subclass
        yield from _below(subclass)
