"""What a parameter means is said once, and by a command as by a tool."""

from __future__ import annotations

import inspect
from collections import defaultdict

import click
import pytest

from vault_tool.cli.lazy import each
from vault_tool.cli.main import group
from vault_tool.cli.names import takes
from vault_tool.cli.options import VaultGroup
from vault_tool.cli.verb_table import verbs
from vault_tool.features.recall.recall import recall
from vault_tool.features.remember.links import link
from vault_tool.features.understandings.understandings import understand
from vault_tool.mcp.tools import listed
from vault_tool.model.parameter_table import MEANINGS, MEANINGS_OF

# Options that mean another thing than the tool's argument of that name, each with the reason beside its command.
OTHER = {
    ("recall", "hops"), ("recall", "profile"), ("remember", "kind"), ("write", "kind"), ("correct", "content"),
    ("read", "semantic_hops"),
}  # fmt: skip


def options() -> dict[str, dict[str, click.Option]]:
    """The options of each command by the parameters that they give."""
    found: dict[str, dict[str, click.Option]] = {}
    for _, row in each(group.sections):
        command = row.load()
        for one in command.members() if isinstance(command, VaultGroup) else [command]:
            found[one.name or ""] = {str(param.name): param for param in one.params if isinstance(param, click.Option)}
    return found


def test_each_meaning_is_of_a_parameter_that_there_is() -> None:
    parameters = {name: set(inspect.signature(verb).parameters) for name, verb in verbs().items()}
    assert set(MEANINGS) - {"of_session"} <= set().union(*parameters.values())
    for verb, names in MEANINGS_OF.items():
        assert set(names) <= parameters[verb], verb


def test_a_command_and_its_tool_say_the_same_of_a_parameter() -> None:
    commands = options()
    for tool in listed("full"):
        for name, schema in tool["inputSchema"]["properties"].items():
            option = commands.get(tool["name"].replace("_", "-"), {}).get(name)
            if option is None or name not in MEANINGS or (tool["name"], name) in OTHER:
                continue
            if option.flag_value is not False:
                assert option.help == schema.get("description"), (tool["name"], name)


def test_what_is_found_is_bounded_in_the_same_words_nearly_everywhere() -> None:
    texts = defaultdict(set)
    for name, found in options().items():
        if "limit" in found:
            texts[found["limit"].help].add(name)
    assert len(texts) <= 4 and len(texts["Most results."]) >= 18


@click.command("told")
@takes(recall, "limit", "budget", "include_global", "doubtful", "tags", "since", limit={"help": "Most of them."})
@takes(link, "strength")
@takes(understand, "summary")
def told() -> None:
    """Options of each kind."""


@pytest.mark.parametrize(
    ("name", "opts", "default", "multiple", "required"),
    [
        ("limit", ["--limit", "-n"], 10, False, False),
        ("budget", ["--budget"], None, False, False),
        ("include_global", ["--no-global"], True, False, False),
        ("doubtful", ["--doubtful"], False, False, False),
        ("tags", ["--tag", "-t"], (), True, False),
        ("since", ["--since"], None, False, False),
        ("strength", ["--strength"], None, False, False),
        ("summary", ["--summary"], None, False, True),
    ],
)
def test_an_option_is_what_the_signature_says(
    name: str, opts: list[str], default: object, multiple: bool, required: bool
) -> None:
    option = next(one for one in told.params if one.name == name)
    assert isinstance(option, click.Option)
    assert (option.opts, option.multiple, option.required) == (opts, multiple, required)
    assert told.make_context("told", ["--summary", "x"]).params[name] == ("x" if required else default)


def test_what_differs_is_said_beside_the_command() -> None:
    assert {one.help for one in told.params if isinstance(one, click.Option) and one.name == "limit"} == {"Most of them."}
