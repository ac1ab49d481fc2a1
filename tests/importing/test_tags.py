from __future__ import annotations

from collections.abc import Mapping

import pytest

from vault_tool.files.frontmatter import AddItems, Plain, Raw, Set
from vault_tool.importing import tags

BODY = """\
#first and #second/part, (#third) but not a#b, https://x.org/#anchor, [top](#top) or [[#Heading]].
# Heading
Colours #fff000 and #1a2, issues #12 and #2023-10; `#code` is none, #日本 and #é are.
```
#fenced
```
&#39; #trail/ #a-b_c. #end
"""


def test_tags_in_prose() -> None:
    assert list(tags.in_prose(BODY)) == ["first", "second/part", "third", "日本", "é", "trail", "a-b_c", "end"]


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ({"tags": [Plain("a"), "#b", None]}, ["a", "b"]),
        ({"tags": Plain("a, b c")}, ["a", "b c"]),
        ({"tags": Plain("a b c")}, ["a", "b", "c"]),
        ({"Tag": Plain("a")}, ["a"]),
        ({"tags": Plain("null")}, []),
        ({"tags": None}, []),
        ({"categories": ["Two words"], "keywords": Plain("k")}, ["Two words", "k"]),
        ({"tags": {"a": "b"}}, []),
        (
            {"categories": ["[[Board games]]", "[[x/Recipes|Recipes]]"], "category": "[[One]]"},
            ["Board games", "Recipes", "One"],
        ),
    ],
)
def test_tags_in_heads(head: Mapping[str, Raw], found: list[str]) -> None:
    assert list(tags.in_head(head)) == found


def test_folders_are_tags_but_for_numbers() -> None:
    assert list(tags.of_folders("Areas/Home lab/2023/10/x.md")) == ["Areas", "Home-lab"]
    assert list(tags.of_folders("x.md")) == []
    assert list(tags.of_folders("01 - Projects/03_Areas/1. Inbox/R & D/C++/3D prints/2023/x.md")) == [
        *("Projects", "Areas", "Inbox", "R-D", "C++", "3D-prints"),
    ]


def test_comments_and_indented_code_hold_no_tags() -> None:
    body = "#a %% #b %% #c\n%%\n#d\n\n#e\n%%\n<!-- #f\n#g --> #h\n\n    #include <x>\n    #define y\n\n%% #i is no comment\n"
    assert list(tags.in_prose(body)) == ["a", "c", "h", "i"]


def test_only_what_a_head_lacks_is_added() -> None:
    assert tags.change({"tags": [Plain("a")]}, ["A", "b", "B"]) == AddItems("tags", ["b"])
    assert tags.change({"tags": Plain("a, b")}, ["c"]) == Set("tags", ["a", "b", "c"])
    assert tags.change({"tags": None}, ["c"]) == Set("tags", ["c"])
    assert tags.change({}, ["c"]) == Set("tags", ["c"])
    assert tags.change({"tags": [Plain("a")]}, ["a"]) is None
    assert tags.change({"tags": {"a": "b"}}, ["c"]) is None
