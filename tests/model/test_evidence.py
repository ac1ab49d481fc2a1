"""Evidence references are taken apart as they are written, and what is none says why."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_tool.model.evidence import EvidenceKind, Reference, fault_in, read_reference

K = EvidenceKind


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("session:turn_42", Reference(K.SESSION, "turn_42")),
        ("file:src/redis.py", Reference(K.FILE, "src/redis.py")),
        ("file:src/redis.py@9f3c1e2", Reference(K.FILE, "src/redis.py", commit="9f3c1e2")),
        ("file:src/redis.py#L3", Reference(K.FILE, "src/redis.py", (3, 3))),
        ("file:src/redis.py#L3-L9@9F3C1E2", Reference(K.FILE, "src/redis.py", (3, 9), "9f3c1e2")),
        ("file:src/redis.py#L3-9", Reference(K.FILE, "src/redis.py", (3, 9))),
        ("file:a b/ä#1@2x.md", Reference(K.FILE, "a b/ä#1@2x.md")),
        ("file:./src//x.py", Reference(K.FILE, "src/x.py")),
        ("file:src/../x.py", Reference(K.FILE, "x.py")),
        ("commit:9F3c", Reference(K.COMMIT, "9f3c")),
        ("test:tests/test_x.py::test_y[a b]", Reference(K.TEST, "tests/test_x.py::test_y[a b]")),
        ("url:https://example.org/a#b", Reference(K.URL, "https://example.org/a#b")),
        ("memory:A1B2", Reference(K.MEMORY, "a1b2")),
        ("episode:2026-11-20#10:05", Reference(K.EPISODE, "2026-11-20", time="10:05")),
        ("episode:2026-11-20#12", Reference(K.EPISODE, "2026-11-20", number=12)),
        ("episode:2026-11-20", Reference(K.EPISODE, "2026-11-20")),
    ],
)
def test_references_are_taken_apart(text: str, expected: Reference) -> None:
    assert read_reference(text) == expected
    assert fault_in(text) == ""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "begin with"), ("seen it", "begin with"), ("File:x", "begin with"), ("doi:10.1/2", "begin with"),
        ("session:", "nothing printable"), ("file:  ", "nothing printable"), ("session:a\x1b[2J", "nothing printable"),
        ("file:/etc/passwd", "inside"), ("file:../x", "inside"), ("file:a/../../x", "inside"), ("file:~/x", "inside"),
        ("file:C:\\x", "inside"), ("file:..", "inside"), ("file:.", "inside"),
        ("file:x#L0", "lines"), ("file:x#L9-L3", "lines"),
        ("commit:HEAD", "hexadecimal"), ("commit:abc", "hexadecimal"), ("commit:--all", "hexadecimal"),
        ("memory:xyz", "id"), ("memory:abc", "id"),
        ("url:https://a b", "spaces"),
        ("episode:2026-02-30", "no date"), ("episode:today", "date"), ("episode:2026-11-20#0", "number"),
        ("episode:2026-11-20#25:00", "date"),
    ],
)  # fmt: skip
def test_what_is_no_reference_says_why(text: str, says: str) -> None:
    assert says in fault_in(text)
    with pytest.raises(ValueError, match=re.escape(fault_in(text))):
        read_reference(text)


@given(st.text(max_size=60) | st.text("file:commit/.#L0123456789@abc-~\\ ", max_size=40).map("file:{}".format))
def test_no_text_breaks_the_reader_or_leads_out_of_the_work_tree(text: str) -> None:
    if not fault_in(text):
        found = read_reference(text)
        if found.kind is K.FILE:
            assert not found.target.startswith(("/", "~", "../"))
            assert ".." not in found.target.split("/")
