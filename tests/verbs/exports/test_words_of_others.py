"""What leaves for another program of the words of a person who has a token: it could not say there whose they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.verbs.test_authority import as_owner
from tests.verbs.test_served_word import served
from vault_tool.model.served_person import address_of

pytestmark = pytest.mark.in_git


@pytest.mark.parametrize("how", ["remembered", "corrected", "trusted"])
def test_a_graph_holds_what_others_said_where_they_are_trusted(how: str, root: Path, tmp_path: Path) -> None:
    if how == "trusted":
        (root / "_config.json").write_text(json.dumps({"trusted": [address_of("ann")]}))
        (root / "_config.json").chmod(0o600)
    with as_owner(root) as owner:
        rule = owner.remember("The door key is with Otto.", ["Door"], kind="fact").id
    with served(root) as ann:
        if how == "corrected":
            ann.correct(rule, "I saw it", content="The door key is with Ann.")
        else:
            ann.remember("The door key is with Ann.", ["Door"], kind="fact")
    with as_owner(root) as owner:
        done = owner.export_as("server-memory", tmp_path / "graph.jsonl")
    told = (tmp_path / "graph.jsonl").read_text()
    assert "with Otto" in told
    assert ("with Ann" in told) == (how == "trusted")
    assert done.left_out.get("of others, not reviewed", 0) == (how != "trusted")
