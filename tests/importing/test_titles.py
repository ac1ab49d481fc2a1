from __future__ import annotations

import pytest

from vault_tool.importing.titles import title_of
from vault_tool.importing.toml_head import toml_head


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
