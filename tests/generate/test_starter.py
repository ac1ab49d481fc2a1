"""Starter texts and templates are whole, valid, and leave nothing of themselves in a note."""

from __future__ import annotations

import re

import frontmatter
import pytest

from vault_tool.generate.starter import content_policy, starters
from vault_tool.generate.templates import answered, template
from vault_tool.model.fields import SCHEMA
from vault_tool.model.types import BUILT_IN, KEPT_TYPES, TypeSpec


def test_starters_are_the_kept_types_in_order_and_fit_half_of_the_page() -> None:
    found = starters()
    assert tuple(one.type for one in found) == KEPT_TYPES
    assert all(one.title and one.summary and one.body.endswith("\n") for one in found)
    assert sum(len(one.body) for one in found) < 6000


def test_the_soul_is_a_shape_and_the_protocol_says_what_it_must() -> None:
    soul, protocol, _ = (one.body for one in starters())
    assert not re.search(r"^\s*([-*#]|\d+\.)", soul, re.MULTILINE)
    assert not re.search(r"\b(must|always|never)\b", soul, re.IGNORECASE)
    for subject in ("Naming", "Tagging", "related_to", "intersection", "Warning signs", "templates/content-policy.md"):
        assert subject in protocol
    assert {"## Keep", "## Never", "## Ask first"} <= set(content_policy().split("\n"))


@pytest.mark.parametrize("spec", BUILT_IN, ids=lambda spec: spec.name)
def test_a_template_is_a_note_of_its_type(spec: TypeSpec) -> None:
    text = template(spec)
    note = frontmatter.loads(text)
    assert note.metadata["type"] == spec.name
    assert set(note.metadata) <= set(SCHEMA[spec.record_class])
    required = {field.name for field in SCHEMA[spec.record_class].values() if field.required}
    assert required <= set(note.metadata)
    assert len(note.metadata) == text.split("---\n")[1].count("\n")
    assert answered(note.content, text) == ""


def test_a_failed_tactic_asks_for_tactic_reason_and_what_would_have_to_change() -> None:
    spec = next(spec for spec in BUILT_IN if spec.name == "failed_tactic")
    headings = re.findall(r"^## (.*)$", template(spec), re.MULTILINE)
    assert headings == ["Problem", "Tactic", "Why it failed", "Reconsider only if"]


def test_a_type_of_the_vaults_own_has_a_template() -> None:
    assert "type: recipe\n" in template(TypeSpec("recipe", BUILT_IN[-20].record_class))


def test_answers_stay_and_prompts_go() -> None:
    offered = "## Problem\n\n<!-- What? -->\n\n## Tactic\n\n<!-- How? -->\n\n## Why\n"
    written = "## Tactic\n\nRestarted. <!-- mine -->\n\n```html\n<!-- kept -->\n```\n\n## Mine\n"
    assert answered(f"## Problem\n\n<!-- What? -->\n\n{written}\n## Why\n", offered) == written
