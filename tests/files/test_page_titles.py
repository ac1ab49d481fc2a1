from __future__ import annotations

import pytest

from vault_tool.files.page_titles import title_of
from vault_tool.files.parse import parse
from vault_tool.importing.notes import ImportOptions, record_from_note
from vault_tool.importing.toml_head import toml_head
from vault_tool.model.types import Registry

ID = "a1b2c3d4-e5f6-4890-abcd-ef1234567890"


@pytest.mark.parametrize(
    ("path", "prose", "title"),
    [
        ("a/My note.md", "# The *first* [heading](x) {#id}\n# Second", "The first heading"),
        ("a/My note.md", "## Only a section\ntext", "My note"),
        ("a/My note.md", "```\n# code\n```\n", "My note"),
        ("a/My note.md", "# <% tp.file.title %>\n", "My note"),
        ("guide/index.md", "## Section\n", "Section"),
        ("guide/README.md", "text", "guide"),
        ("index.md", "Reference\n=========\n", "Reference"),
        ("a/x.md", "# \n", "x"),
        ("a/My note.md", "What it says.\n\n# See also\n- [[Other]]\n", "My note"),
        ("a/My note.md", "What it says.\n\nFooter\n======\n", "My note"),
        ("a/My note.md", "> quoted\n\n![](x.png)\n#tag\nStatus: new\n---\n# Its title\n", "Its title"),
        ("a/My note.md", "[[Up]]\n\nIts title\n=====\n", "Its title"),
        ("guide/README.md", "Words.\n# Real name\n", "Real name"),
    ],
)
def test_the_title_is_the_first_heading_or_the_files_name(path: str, prose: str, title: str) -> None:
    assert title_of(path, {}, prose) == title


def test_a_toml_head_is_read_and_bad_toml_is_not() -> None:
    values, prose = toml_head('+++\ntitle = "A"\ntags = ["x"]\nweight = 3\n+++\nText\n')
    assert (values, prose.strip()) == ({"title": "A", "tags": ["x"]}, "Text")
    assert toml_head("+++\ntitle = \n+++\nText\n")[0] == {}
    assert toml_head("no head +++ here") == ({}, "no head +++ here")


PAGES = {
    "My note.md": (b"The boiler is due in May.\n", "My note"),
    "2026-11-25.md": (b"Rain all day. Nothing else.\n", "2026-11-25"),
    "x.md": (b"# Trip to Rome\n\nText.\n", "Trip to Rome"),
    "y.md": (b"> quoted\n\nRome again\n=====\n\nText.\n", "Rome again"),
    "null.md": (b"---\ntitle: ~\n---\nIts text.\n", "null"),
    "headed.md": (b"---\ntitle: Its own\n---\n# Another\n", "Its own"),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_one_title_by_every_door(name: str) -> None:
    data, title = PAGES[name]
    registry = Registry()
    assert parse(f"vault/{name}", data, registry).title == title
    made = record_from_note(name, data, ImportOptions(), registry, identity=ID, fallback="2026-01-01T00:00:00Z")
    assert made.data is not None and parse(f"vault/{name}", made.data, registry).title == title
