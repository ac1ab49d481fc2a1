"""JSON with comments, changed in one place: what is put in is there, and taking it out gives the same bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_tool.install.jsonc import InvalidJsonc, append, drop, parse, put

VALUE = {"command": "vt", "args": ["mcp"]}
PATH = ("mcpServers", "vault")
TEXTS = [
    '{"theme": "dark"}',
    '{"mcpServers": {"other": {"command": "x"}}}',
    '{\n  "theme": "dark"\n}\n',
    '{\n    "mcpServers": {\n        "other": {}\n    },\n    "x": [1, 2]\n}',
    '{\r\n\t"theme": "dark", // mine\r\n\t"mcpServers": {\r\n\t\t"a": 1 /* one */ // two\r\n\t}\r\n}\r\n',
    '// before\n{\n  "a": 1, // one\n  "b": {"c": [1,],}, /* } */\n}\n// after',
    '{"a": "// no comment", "b": "/* nor */ }"}',
    '{\n  "mcpServers": {\n    "other": {"command": "x"}, // last\n    // nothing more\n  }\n}\n',
]


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_put_in_is_there_and_taking_it_out_leaves_the_bytes(text: str) -> None:
    before = parse(text).value
    put_in = put(text, PATH, VALUE)
    found = parse(put_in).value
    assert found.pop("mcpServers") == {**before.get("mcpServers", {}), "vault": VALUE}
    before_servers = before.pop("mcpServers", None)
    assert found == before
    assert drop(put_in, PATH if before_servers else PATH[:1]) == text
    assert put(put_in, PATH, VALUE) == put_in, "idempotent"
    assert all(line.strip() in put_in for line in text.splitlines() if line.strip().startswith(("//", "/*")))


_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60)
@given(st.dictionaries(st.text(max_size=3), _JSON, min_size=1, max_size=4), st.sampled_from([None, 2, "\t"]), st.booleans())
def test_any_object_takes_a_member_and_gives_it_back(found: dict[str, Any], indent: int | str | None, dos: bool) -> None:
    text = json.dumps(found, indent=indent)
    text = text.replace("\n", "\r\n") if dos else text
    put_in = put(text, ["the vault"], VALUE)
    assert json.loads(put_in) == {**found, "the vault": VALUE}
    assert drop(put_in, ["the vault"]) == text


@pytest.mark.parametrize(
    "text", ['{"hooks": {"Stop": [{"a": 1}]}}', '{\n  "hooks": {\n    "Stop": [\n      1,\n      2\n    ]\n  }\n}']
)
def test_an_item_joins_a_list_and_leaves_it(text: str) -> None:
    longer = append(text, ["hooks", "Stop"], VALUE)
    assert parse(longer).value["hooks"]["Stop"][-1] == VALUE
    assert drop(longer, ["hooks", "Stop", len(parse(text).value["hooks"]["Stop"])]) == text


def test_nothing_and_empty_objects_are_begun() -> None:
    for text in ("", " \n", "{}", "{ }", "{\n}\n", '{"mcpServers": {}}', "{ // nothing yet\n}"):
        assert parse(put(text, PATH, VALUE)).value == {"mcpServers": {"vault": VALUE}}
    assert parse(append("{}", ["a", "b"], 1)).value == {"a": {"b": [1]}}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"a": 1', 1),
        ("{\n'a': 1}", 2), ('{"a": 1}\n\n}', 3), ('{"a" 1}', 1), ("[1 2]", 1), ("{\n\"a\": tru}", 2), ("[" * 5000, 1),
    ],
)  # fmt: skip
def test_what_is_broken_says_where(text: str, line: int) -> None:
    with pytest.raises(InvalidJsonc, match="expected") as fault:
        put(text, PATH, VALUE)
    assert fault.value.line == line


def test_what_is_no_object_takes_no_member() -> None:
    for text in ("[]", '{"mcpServers": []}', '{"mcpServers": null}', "7"):
        with pytest.raises(InvalidJsonc, match="an object at"):
            put(text, PATH, VALUE)
    with pytest.raises(InvalidJsonc, match="a list at"):
        append('{"a": {}}', ["a"], 1)
