"""What is put on a page stays in its line or block; a CommonMark parser is the judge."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.generate.hostile import PAYLOADS
from vault_tool.generate.escape import as_written, block, inline, link_path, quote, readable, unframed, words

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
STRUCTURE = frozenset({"heading_open", "html_block", "html_inline", "image", "fence", "code_block", "hr", "table_open"})
_texts = st.text(max_size=200) | st.lists(st.sampled_from([*"#[]()`<>!*_|\\-=&~\n\t x1.", "```", "http://a"])).map("".join)


def _types(markdown: str) -> list[str]:
    tokens = PARSER.parse(markdown)
    return [inner.type for token in tokens for inner in (token, *(token.children or []))]


def _assert_one_link_line(text: str) -> None:
    types = _types(f"- [{inline(text, 120) or 'x'}](a.md) ({words(text, 30)}) — agent\n")
    assert types.count("link_open") == 1
    assert types.count("list_item_open") == types.count("paragraph_open") == 1
    assert not STRUCTURE & set(types)
    assert not {"em_open", "strong_open", "s_open", "code_inline", "softbreak", "hardbreak"} & set(types)


def test_there_are_two_hundred_payloads() -> None:
    assert len(set(PAYLOADS)) >= 200


@pytest.mark.parametrize("payload", [*PAYLOADS, "__0__", "a__b__c", "_x_ ~~y~~"])
def test_a_payload_in_a_line_stays_in_it(payload: str) -> None:
    _assert_one_link_line(payload)


@given(_texts)
def test_any_text_in_a_line_stays_in_it(text: str) -> None:
    _assert_one_link_line(text)


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S"]) | st.sampled_from(" `*_<&#"), max_size=80))
def test_a_line_shows_what_was_written(text: str) -> None:
    tokens = PARSER.parse(f"x {inline(text, 500)} x")
    shown = "".join(inner.content for token in tokens for inner in token.children or [])
    assert " ".join(shown.split()) == " ".join(f"x {readable(text)} x".split())


def _assert_one_quote(text: str) -> None:
    page = f"## Soul\n\nby\n\n{quote(block(text))}\n\n[rest](a.md)\n\n## Worth Knowing\n\n- last\n"
    tokens = PARSER.parse(page)
    top = [token for token in tokens if token.level == 0 and token.nesting >= 0]
    quoted = [] if not block(text).strip() else ["blockquote_open"]
    shape = ["heading_open", "paragraph_open", *quoted, "paragraph_open", "heading_open", "bullet_list_open"]
    assert [token.type for token in top if token.type != "blockquote_open" or quoted] == shape
    assert [token.type for token in tokens].count("heading_open") == 2
    assert not {"html_block", "html_inline", "image"} & set(_types(page))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_payload_in_a_block_stays_in_it(payload: str) -> None:
    _assert_one_quote(payload)


@given(_texts)
def test_any_text_in_a_block_stays_in_it(text: str) -> None:
    _assert_one_quote(text)


@given(_texts)
def test_every_line_of_a_quote_is_marked_for_readers_of_lines(text: str) -> None:
    assert all(line.startswith(">") for line in quote(block(text)).splitlines())


def test_invisible_characters_go_and_visible_ones_stay() -> None:
    assert readable("a\u200bb\u202ec\U000e0041\x07\u3164") == "abc"
    family, persian = "👨\u200d👩\u200d👧", "می\u200cخواهم"
    assert readable(family) == family
    assert readable(persian) == persian
    assert readable("a\u200db") == "ab"
    assert readable("a\u00a0b\nc\td") == "a b\nc\td"


def test_ordinary_titles_are_left_as_people_wrote_them() -> None:
    for title in ("Fixed Redis connection timeouts", "snake_case in C# & C++, 5 > 3", "Größe: 12:30 – 50 %", "a -> b"):
        assert inline(title, 120) == title


def test_ordinary_texts_keep_their_shape() -> None:
    text = "# Soul\n\nI care, *really*.\n\n- one\n- two\n\n```\ncode\n```\n\n[link](a.md)"
    assert block(text) == "**Soul**\n\nI care, *really*.\n\n- one\n- two\n\n```\ncode\n```\n\n[link](a.md)"


def test_every_kind_of_line_end_begins_a_line() -> None:
    assert block("a\r# b\r\nc\u2028# d\x0be\x85f") == "a\n**b**\nc\n**d**\ne\nf"


@given(st.text(min_size=1, max_size=60))
def test_a_path_is_one_link_target(path: str) -> None:
    tokens = PARSER.parse(f"[x]({link_path('vault/' + path)})")
    assert [inner.type for inner in tokens[1].children or []] == ["link_open", "text", "link_close"]
    assert not set(link_path(path)) & set(" ()<>[]\\\"'`:?#%\n\t") - {"%"}


def test_paths_stay_readable() -> None:
    assert link_path("vault/a b (1) [x].md") == "vault/a%20b%20%281%29%20%5Bx%5D.md"
    assert link_path("vault/тест-é.md") == "vault/тест-é.md"


def test_a_long_line_is_cut_at_a_word() -> None:
    cut = inline("word " * 100, 52)
    assert len(cut) <= 52
    assert cut.endswith("word…")
    assert words("a (b), c — d", 30) == "a b c d"


@pytest.mark.parametrize(
    "frame",
    [
        "</system-reminder>", "<system-reminder>", "<|im_start|>system", "<|im_end|>", "<\uff5cend\u2581of\u2581sentence\uff5c>",
        "[INST]", "[/INST]", "[ INST ]", "[inst]", "<<SYS>>", "<</SYS>>", "[SYSTEM_PROMPT]", "[TOOL_CALLS]", "<\u200b/b>",
        "<\ufe0f/b>", "<!--", "<start_of_turn>user", "<\U0001d42c>",
    ],
)  # fmt: skip
def test_the_frame_of_a_client_is_made_harmless_in_line_block_and_text(frame: str) -> None:
    for shown in (unframed(frame), block(f"x {frame} y"), inline(f"x {frame} y", 99), unframed(unframed(frame))):
        assert not re.search(r"<\S", shown) and not re.search(r"\[\s*/?\w+\s*\]", shown), shown


def test_arithmetic_arrows_and_links_are_no_frame() -> None:
    for text in ("a < b <= c <- d <3 <\nx <", "[link](a.md) [x] [[Note]] [1]", "vec[i] < 5"):
        assert unframed(text) == text


@given(st.text(st.sampled_from("ab \\`*[]|~_#&!<>;lgt"), max_size=60) | st.text(max_size=60) | st.sampled_from(PAYLOADS))
def test_a_line_is_had_back_as_it_was_written(text: str) -> None:
    # Readable, on one line and not cut: what is left of a text before its marks are made harmless.
    plain = " ".join(readable(re.sub(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", " ", text[:4000])).split())
    assert as_written(inline(text, 500)) == plain or len(plain) > 500
