"""A field of an observation is said once: by its row, every door takes it, and what is told of a memory tells it."""

from __future__ import annotations

import inspect
from typing import Any, get_type_hints

import click
import pytest

from vault_tool.cli.contracts import write as write_command
from vault_tool.cli.remembering import remember as remember_command
from vault_tool.errors import UsageError
from vault_tool.features.contracts.schemas import schema
from vault_tool.features.remember.observations import KINDS
from vault_tool.mcp.tools import listed
from vault_tool.model.details import LABELS
from vault_tool.model.fields import (
    GIVEN,
    NARROWING,
    OBSERVATION,
    SHARED,
    Narrowing,
    ObservationParameters,
    SharedParameters,
    annotation,
    unsaid,
)  # fmt: skip
from vault_tool.model.records import Observation
from vault_tool.verbs.vault import Vault


def told_of(hints: dict[str, Any]) -> dict[str, str]:
    """Types as annotations write them."""
    return {name: inspect.formatannotation(one, "typing").replace("collections.abc.", "") for name, one in hints.items()}


def options(command: click.Command) -> dict[str, click.Option]:
    """The options of a command by the parameters that they give."""
    return {str(one.name): one for one in command.params if isinstance(one, click.Option)}


def arguments(tool: str) -> dict[str, Any]:
    """What a tool takes, as clients are told."""
    found: dict[str, Any] = next(one for one in listed("full") if one["name"] == tool)["inputSchema"]["properties"]
    return found


def test_what_a_type_checker_reads_is_what_the_rows_say() -> None:
    assert told_of(get_type_hints(ObservationParameters)) == {field.parameter: annotation(field) for field in GIVEN}
    assert get_type_hints(SharedParameters).keys() == {field.parameter for field in SHARED}
    assert told_of(get_type_hints(Narrowing)) == {field.parameter: annotation(field) for field in NARROWING}


def test_every_row_has_its_attribute_with_the_default_of_its_kind() -> None:
    made = Observation(id="a", type="fact")
    for field in OBSERVATION:
        if field.name not in ("id", "type"):
            assert getattr(made, field.name) == (() if field.name == "subjects" else unsaid(field)), field.name


@pytest.mark.parametrize("field", GIVEN, ids=lambda field: field.name)
def test_every_door_takes_a_field_by_its_row(field: Any) -> None:
    name = field.parameter
    assert inspect.signature(Vault.remember).parameters[name].annotation == annotation(field)
    assert KINDS[name] == tuple(annotation(field).split(" | "))
    option = options(remember_command)[name]
    assert option.multiple == annotation(field).startswith("Sequence")
    if name == "kind":
        return
    assert option.help == field.given.help
    if name != "turn":
        assert arguments("remember")[name]["description"] == field.given.help


@pytest.mark.parametrize("field", SHARED, ids=lambda field: field.name)
def test_the_contract_takes_what_it_calls_alike(field: Any) -> None:
    assert field.parameter in inspect.signature(Vault.write).parameters
    assert options(write_command)[field.contract].help == field.given.help
    memory = schema("write")["properties"]["memory"]["properties"]
    assert field.contract in {**memory, **memory["links"]["properties"]}


def test_details_are_told_in_the_order_of_their_places() -> None:
    assert list(LABELS) == [
        "problem", "failure_mode", "commit", "preconditions", "steps", "postconditions", "change_targets", "rationale", "mood",
        "as_of", "expires", "until", "review_by",
    ]  # fmt: skip


def test_types_of_what_is_given_reach_whoever_calls(vault: Vault) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'moods'"):
        vault.remember("A reading.", moods="curious")  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="mood must be a text"):
        vault.remember("A reading.", mood=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unexpected keyword argument 'steps'"):
        vault.write("A reading.", "fact", 0.9, steps=["One."])  # type: ignore[call-arg]
