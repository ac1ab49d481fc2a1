"""Heads are found and read as text: nothing is resolved, nothing is overlooked, and every fault has its line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bounds import examples, work
from tests.corpus.heads import EMPTY, PAGES, READ_ONLY, Bad, Good, bad_heads, good_heads
from vault_tool.files.frontmatter import Head, HeadFault, Plain, Raw, read, read_head, split
from vault_tool.files.frontmatter.events import EventSource, Reading
from vault_tool.files.frontmatter.simple import read_simple

PROJECT = Path(__file__).parents[2]
BAD = list(bad_heads())
OTHER_LINE_ENDS = ("\x85", "\u2028", "\u2029")


def kinds(value: Raw) -> object:
    """A value with the class of each of its texts, for comparisons that `==` would let pass."""
    if isinstance(value, list):
        return [kinds(item) for item in value]
    if isinstance(value, dict):
        return [(key, kinds(item)) for key, item in value.items()]
    return type(value), value


def as_texts(value: Raw) -> object:
    """A value as PyYAML's loader without any resolving gives it."""
    if isinstance(value, list):
        return [as_texts(item) for item in value]
    if isinstance(value, dict):
        return {key: as_texts(item) for key, item in value.items()}
    return value or ""


def by_events(text: str, first_line: int = 2) -> Head:
    reading = Reading(text, first_line)
    values, lines = reading.run()
    return Head(values, lines, tuple(reading.faults), reading.editable)


def head_of(data: bytes) -> Head:
    head, _, faults = read(data)
    assert head is not None
    assert head.faults == faults
    return head


def first_fatal(faults: tuple[HeadFault, ...]) -> HeadFault:
    return next(fault for fault in faults if fault.fatal)


def test_corpus_is_large_enough() -> None:
    assert len({good.data for good in good_heads()}) >= 700
    assert len({bad.data for bad in BAD}) >= 120


def test_every_good_head_reads_as_an_independent_reader_takes_it() -> None:
    for good in good_heads():
        head = head_of(good.data)
        assert head.usable and head.editable, good.name
        text = good.data[split(good.data).start : split(good.data).end].decode()
        if not any(end in text for end in OTHER_LINE_ENDS):
            assert as_texts(dict(head.values)) == yaml.load(text, Loader=yaml.CBaseLoader), good.name
        assert good.key in head.values, good.name
        assert head.lines[good.key] == good.before.count(b"\n") + 1, good.name


def test_body_is_every_byte_after_the_fence() -> None:
    for good in good_heads():
        _, body, _ = read(good.data)
        assert good.data.endswith(body.encode()), good.name
        assert good.body.partition(b"\n")[2] == body.encode(), good.name


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.name)
def test_bad_head_is_named_with_its_line(bad: Bad) -> None:
    head, _, faults = read(bad.data)
    assert head is not None and not head.usable and not head.editable
    fault = first_fatal(faults)
    assert (fault.code, fault.line) == (bad.code, bad.line)
    assert fault.message and "\n" not in fault.message + fault.hint
    assert len(fault.message) + len(fault.hint) < 160


@pytest.mark.parametrize("only", READ_ONLY, ids=lambda only: only.name)
def test_read_only_heads_are_read_and_named(only: Bad) -> None:
    head = head_of(only.data)
    assert head.usable and not head.editable
    assert head.values["id"] == "x"
    assert [(fault.code, fault.line) for fault in head.faults] == [(only.code, only.line)]


@pytest.mark.parametrize("name", PAGES)
def test_pages_have_no_head_and_no_fault(name: str) -> None:
    data = PAGES[name]
    head, body, faults = read(data)
    assert (head, faults) == (None, ())
    assert body.encode() == data.removeprefix(b"\xef\xbb\xbf")


@pytest.mark.parametrize("name", EMPTY)
def test_empty_heads_are_heads(name: str) -> None:
    assert head_of(EMPTY[name]) == Head({}, {})


def test_nothing_is_resolved() -> None:
    sources = ["no", "on", "0123", "1.10", "12:30", "2024-02-30", "~", "=", "1e3", "null", "True", ".inf", "0x1F", "-5", "<< x"]
    head = read_head("".join(f"k{n}: {source}\n" for n, source in enumerate(sources)))
    assert [kinds(value) for value in head.values.values()] == [(Plain, source) for source in sources]


def test_quoted_and_block_texts_are_not_plain() -> None:
    head = read_head("a: 'no'\nb: \"12:30\"\nc: |\n  1.10\nd: >-\n  on\ne:\nf: ''\n")
    assert kinds(head.values) == [("a", (str, "no")), ("b", (str, "12:30")), ("c", (str, "1.10\n")), ("d", (str, "on")),
                                  ("e", (type(None), None)), ("f", (str, ""))]  # fmt: skip


def test_unquoted_wikilink_is_the_nested_list_that_yaml_says() -> None:
    assert read_head("a: [[Redis]]\n").values == {"a": [["Redis"]]}


def test_keys_are_source_text() -> None:
    assert list(read_head("on: 1\n2024: 2\nyes: 3\nnull: 4\n'5': 6\n").values) == ["on", "2024", "yes", "null", "5"]


def test_line_separators_of_other_standards_are_characters() -> None:
    head = read_head('a: x\u2028b: c\nd: "e\x85f"\ng: [h\u2029i]\n# \ue000 \nj: \ue000\n')
    assert head.values == {"a": "x\u2028b: c", "d": "e\x85f", "g": ["h\u2029i"], "j": "\ue000"} or first_fatal(head.faults)
    quoted = read_head('a: "x\u2028y"\nb: \ue000 \ue001\x85\nlast: z\n')
    assert quoted.values == {"a": "x\u2028y", "b": "\ue000 \ue001\x85", "last": "z"}
    assert quoted.lines["last"] == 4


def test_fence_at_column_0_closes_the_head_even_in_a_block_scalar() -> None:
    head, body, _ = read(b"---\ntext: |\n  a\n---\nb\n---\n")
    assert head is not None and head.values == {"text": "a\n"}
    assert body == "b\n---\n"


def test_keys_with_other_line_ends_keep_their_lines() -> None:
    assert read_head("a: b\n\u2028:\nc\x85d: e\n").lines == {"a": 2, "\u2028": 3, "c\x85d": 4}


def test_many_faults_are_listed_but_not_without_end() -> None:
    faults = head_of(b"---\n" + b"".join(b"k%d: *x\n" % n for n in range(500)) + b"---\n").faults
    assert [fault.line for fault in faults[:3]] == [2, 3, 4]
    assert len(faults) == 21 and faults[-1].code == "too-many-faults"


_MEGABYTES = (
    "'[' * 10**6", "'a: ' + '{' * 10**6", "'a:\\n' + '- ' * 500_000", "'a: [' + '[],' * 300_000", "'a: \"' + 'x\\n' * 400_000",
    "'a: ' + '!' * 10**6", "'a: |\\n' + ' x\\n\\n' * 200_000", "'#' * 10**6", "''.join(f'k{n}: v\\n' for n in range(60_000))",
    "'x' * 10**6", "'a: ' + '{a: ' * 250_000", "'\\n' * 10**6", "'# c\\n' * 250_000", "'a: &a [' + '*a,' * 300_000",
    "'? ' * 500_000",
)  # fmt: skip


@pytest.mark.parametrize("expression", _MEGABYTES)
def test_a_megabyte_of_anything_is_read_or_refused_at_once(expression: str) -> None:
    program = (
        "import resource, yaml; from vault_tool.files.frontmatter import read, read_head; read_head('a: |\\n b\\n')\n"
        "from tests.bounds import examples, work\n"
        f"data = ('---\\n' + {expression} + '\\n---\\n').encode()\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak(); print(work(lambda: read(data)), (peak() - before) / 1024)"
    )
    output = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, check=True, capture_output=True, text=True).stdout
    steps, megabytes = map(float, output.split())
    assert steps < 200 and megabytes < 100


def test_fence_search_in_a_large_note_is_linear() -> None:
    few, many = (b"---\nid: x\n" + b"-- \n" * count for count in (250_000, 2_500_000))
    assert read(many)[2][0].code == "unclosed-head"
    assert work(lambda: read(many)) < 40 * work(lambda: read(few))


def test_parser_in_python_reads_what_the_c_parser_reads() -> None:
    def in_python(text: str) -> EventSource:
        return yaml.SafeLoader(text)

    for good in good_heads():
        parts = split(good.data)
        if parts.newline != "\n" or parts.bom:
            continue
        text = good.data[parts.start : parts.end].decode()
        reading = Reading(text, parts.first_line, in_python)
        values, lines = reading.run()
        head = head_of(good.data)
        if "\t" in text and reading.faults:
            continue  # That parser is stricter about tabs.
        assert (kinds(values), lines) == (kinds(head.values), head.lines), good.name


def test_parser_in_python_finds_the_same_heads_bad() -> None:
    for bad in BAD:
        parts = split(bad.data)
        if bad.code == "not-text" or parts.fault is not None or len(bad.data) > 200_000:
            continue
        reading = Reading(bad.data[parts.start : parts.end].decode(), parts.first_line, lambda text: yaml.SafeLoader(text))
        reading.run()
        assert any(fault.fatal for fault in reading.faults), bad.name


def test_common_heads_need_no_yaml_library() -> None:
    program = (
        "import sys; from vault_tool.files.frontmatter import read, edit, Set, Plain\n"
        "data = b'---\\nid: x\\ntitle: \"a: b\"\\ntags: [a, b c]\\nlist:\\n  - d\\n---\\nbody'\n"
        "assert read(data)[0].values['list'] == ['d'] and edit(data, [Set('id', 'x')]) is data\n"
        "sys.exit('yaml' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


_FRAGMENTS = st.sampled_from(
    [
        "a", "b", "id", "x y", "é", "日", "😀", " ", "  ", ":", ": ", "-", "- ", "#", " #", '"', "'", "[", "]", "{", "}",
        ",", ", ", "?", "!", "&", "*", "|", ">", "%", "@", "`", "=", "~", "<<", "\\", "\\n", "\t", "\n", "\n  ", "\r\n",
        "\n- ", "\n  - ", "\na: ", "\u2028", "\x85", "\xa0", "\ufeff", "\ufffe", "\x00", "\x07", "---", "...", "no",
        "0123", "12:30", "null", "[a, b]", '["a", b]',
    ]
)  # fmt: skip
_VALUES = st.lists(_FRAGMENTS, max_size=5).map("".join)
_LINES = st.one_of(
    st.builds("{}: {}\n".format, st.sampled_from(["a", "b", "id", "c-d", "_e", "on", "2", "<<", "x y", "é"]), _VALUES),
    st.builds("{}:{}\n".format, st.sampled_from(["a", "b", "c"]), st.sampled_from(["", " ", " # x"])),
    st.builds("{}- {}\n".format, st.sampled_from(["", "  ", "    "]), _VALUES),
    st.builds("{}: [{}]\n".format, st.sampled_from(["a", "b"]), st.lists(_VALUES, max_size=3).map(", ".join)),
    st.builds('{}: "{}"\n'.format, st.sampled_from(["a", "b"]), _VALUES),
    st.builds("{}\n".format, _VALUES),
)


# Lines that the regular expression takes or only just does not: a key of its own for each, one odd fragment at most.
_NEARLY = st.one_of(
    st.builds(
        "{}{}{}".format, st.sampled_from(["x", "a b", "0.8", "é", ""]), _FRAGMENTS, st.sampled_from(["y", " c", "", ": z"])
    ),
    st.builds('"{}{}{}"'.format, st.sampled_from(["x", " ", ""]), _FRAGMENTS, st.sampled_from(["y", ""])),
    st.builds(
        "[{}, x{}y{}]".format, st.sampled_from(["a b", '"c, d"', "é"]), _FRAGMENTS, st.sampled_from(["", ", z", ',"q"', ","])
    ),
    st.builds("\n- x{}y\n- z".format, _FRAGMENTS),
    st.builds("\n  - {}\n{}- z".format, st.sampled_from(["x", '"y"', "x: y"]), st.sampled_from(["", "  ", "    "])),
)


@st.composite
def nearly_simple_heads(draw: st.DrawFn) -> str:
    keys = draw(st.lists(st.sampled_from(["a", "b-c", "_d", "on", "E9"]), min_size=1, max_size=3, unique=True))
    lines = ["z: [x, y]\n", "title: a b\n"] if draw(st.booleans()) else []
    for key in keys[: draw(st.integers(1, 3))]:
        value = draw(_NEARLY)
        lines.append(f"{key}:{value if value.startswith(chr(10)) else ' ' + value}\n")
    return "".join(draw(st.permutations(lines)))


@settings(max_examples=examples(1500), deadline=None)
@given(nearly_simple_heads() | st.lists(_LINES, max_size=6).map("".join), st.integers(2, 9))
def test_both_ways_of_reading_agree(text: str, first_line: int) -> None:
    simple = read_simple(text, first_line)
    if simple is not None:
        full = by_events(text, first_line)
        assert full.faults == ()
        assert (kinds(simple.values), simple.lines) == (kinds(full.values), full.lines)


def test_common_layouts_are_read_without_the_parser() -> None:
    taken = [good for good in good_heads() if read_simple(good.data[split(good.data).start : split(good.data).end].decode(), 2)]
    assert len(taken) >= 150
    for good in taken:
        text = good.data[split(good.data).start : split(good.data).end].decode()
        simple, full = read_simple(text, 2), by_events(text)
        assert simple is not None and full.faults == ()
        assert (kinds(simple.values), simple.lines) == (kinds(full.values), full.lines), good.name


@settings(max_examples=examples(400), deadline=None)
@given(st.lists(_LINES, max_size=6).map("".join))
def test_any_text_is_read_or_named(text: str) -> None:
    head = read_head(text)
    assert head.usable or all(1 <= fault.line <= text.count("\n") + 2 for fault in head.faults)
    assert set(head.lines) == set(head.values)


@settings(max_examples=examples(400), deadline=None)
@given(st.binary(max_size=200) | st.binary(max_size=200).map(lambda some: b"---\n" + some + b"\n---\n"))
def test_any_bytes_are_read_or_named(data: bytes) -> None:
    head, body, faults = read(data)
    assert head is not None or not faults
    if head is None:
        assert data.endswith(body.encode())


def test_good_names_are_unique() -> None:
    names: list[Good] = list(good_heads())
    assert len({good.name for good in names}) == len(names)
