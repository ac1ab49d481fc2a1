"""Heads as found in notes: fields in every layout that may be edited, heads that may not, and pages that have none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Good:
    """A file whose field `key` may be edited: the bytes before the field's lines, these lines, and those after them."""

    name: str
    key: str
    before: bytes
    field: bytes
    after: bytes
    body: bytes

    @property
    def data(self) -> bytes:
        return self.before + self.field + self.after + self.body


@dataclass(frozen=True, slots=True)
class Bad:
    """A file whose head cannot be used, with the code and the line of its first fatal fault."""

    name: str
    data: bytes
    code: str
    line: int


# Each row is one field: its key and its lines. The name of a row is its place in the list and its key.
FIELDS: tuple[tuple[str, str], ...] = (
    ("title", "title: Redis\n"),
    ("title", "title: Redis timeouts # a comment\n"),
    ("title", "title:   Redis   \n"),
    ("title", "title:\tRedis\n"),
    ("title", "title: Redis\t# after a tab\n"),
    ("title", "title : space before the colon\n"),
    ("title", "title: a:b:c\n"),
    ("title", "title: http://example.org/x?y=z#frag\n"),
    ("title", "title: it's fine\n"),
    ("title", 'title: say "hi" now\n'),
    ("title", "title: C# and F#\n"),
    ("title", "title: 50% of it\n"),
    ("title", "title: a, b & c * d\n"),
    ("title", "title: <% tp.file.title %>\n"),
    ("title", "title: -dash\n"),
    ("title", "title: ?question\n"),
    ("title", "title: :colon\n"),
    ("title", "title: ~tilde\n"),
    ("title", "title: \\backslash\\n\n"),
    ("title", "title: 日本語のタイトル\n"),
    ("title", "title: Ελληνικά και عربي\n"),
    ("title", "title: 😀 emoji 👩‍👩‍👧\n"),
    ("title", "title: no\u00a0break\u00a0\n"),
    ("title", "title: next\x85line\n"),
    ("title", "title: line\u2028separator\n"),
    ("title", "title: paragraph\u2029separator # x\n"),
    ("title", "title: zero\u200bwidth\ufeffmark\n"),
    ("title", "title: 'single'\n"),
    ("title", "title: 'it''s single'   # comment\n"),
    ("title", "title: 'a # b: c'\n"),
    ("title", 'title: "double"\n'),
    ("title", 'title: "double"   # comment\n'),
    ("title", 'title: "a: b # c"\n'),
    ("title", 'title: "es\\"caped\\n\\u00e9\\x41"\n'),
    ("title", 'title: "{{date}} {{title}}"\n'),
    ("title", 'title: "sep\u2028arated"\n'),
    ("title", 'title: ""\n'),
    ("title", "title: ''\n"),
    ("title", "title:\n"),
    ("title", "title:   \n"),
    ("title", "title:   # only a comment\n"),
    ("title", "title: ~\n"),
    ("title", "title: null\n"),
    ("title", "title: =\n"),
    ("title", "title: " + "x" * 5000 + "\n"),
    ("title", 'title: "' + "long " * 1000 + '"\n'),
    ("title", "title: plain over\n  two lines\n"),
    ("title", "title: plain over\n  two\n\n  paragraphs # comment\n"),
    ("title", "title:\n  on the next line\n"),
    ("title", "title: # comment\n  on the next line # another\n"),
    ("title", 'title: "double over\n  two lines" # comment\n'),
    ("title", 'title: "double\n# not a comment\nat column 0"\n'),
    ("title", "title: 'single\n\n  with a blank'\n"),
    ("title", 'title: "ends below\n#x"\n'),
    ("text", "text: |\n  literal\n  block\n"),
    ("text", "text: |-\n    literal\n      deeper\n    stripped\n"),
    ("text", "text: |+\n  kept\n"),
    ("text", "text: | # comment\n  literal\n\n  with a blank\n"),
    ("text", "text: |2\n    indented by two more\n"),
    ("text", "text: >\n  folded\n  block\n"),
    ("text", "text: >-\n  folded # no comment\n  key: no key\n"),
    ("text", "text: >+2\n  folded\n   deeper\n"),
    ("text", "text: |\n  --- is text here\n  # so is this\n"),
    ("text", "text:\n  |\n  literal below\n"),
    ("text", "text: |\n"),
    ("text", "text: |\n  a\n\n\n  b\n  # indented, hence text\n"),
    ("country", "country: no\n"),
    ("state", "state: on\n"),
    ("number", "number: 0123\n"),
    ("version", "version: 1.10\n"),
    ("time", "time: 12:30\n"),
    ("number", "number: 1e3\n"),
    ("number", "number: -5\n"),
    ("number", "number: 0x1F\n"),
    ("number", "number: 1_000\n"),
    ("number", "number: .5\n"),
    ("number", "number: .inf\n"),
    ("date", "date: 2024-02-30\n"),
    ("date", "date: 03/14/2024\n"),
    ("date", "date: 2026-11-20T10:00:00+00:00\n"),
    ("date", "date: 2026-11-20 10:00:00.5 +1\n"),
    ("pinned_by", "pinned_by: True\n"),
    ("on", "on: push\n"),
    ("2024", "2024: a year\n"),
    ("yes", "yes: a word\n"),
    ("null", "null: a word\n"),
    ("1.5", "1.5: a number\n"),
    ("a key with spaces", "a key with spaces: x\n"),
    ("quoted: key", '"quoted: key": x\n'),
    ("it's", "'it''s': x\n"),
    ("schlüssel", "schlüssel: x\n"),
    ("キー", "キー: x # c\n"),
    ("😀", "😀: x\n"),
    ("a.b/c-d", "a.b/c-d: x\n"),
    ("-x", "-x: y\n"),
    ("<<", '"<<": not a merge\n'),
    ("x:y", "x:y: z\n"),
    ("#k", '"#k": x\n'),
    ("tags", "tags: []\n"),
    ("tags", "tags: [ ]  # none yet\n"),
    ("tags", "tags: [a]\n"),
    ("tags", "tags: [a, b, c]\n"),
    ("tags", "tags: [a,b,c]\n"),
    ("tags", "tags: [ a , b ]  # comment\n"),
    ("tags", "tags: [a, b,]\n"),
    ("tags", "tags: ['a', 'it''s']\n"),
    ("tags", 'tags: ["a, b", "c]", plain]\n'),
    ("tags", 'tags: ["#one", "#two"]\n'),
    ("tags", "tags: [a,\n  b,\n  c]\n"),
    ("tags", "tags: [\n  a,\n  b\n]\n"),
    ("tags", "tags: [\n  a,\n  b,\n] # comment\n"),
    ("tags", "tags:\n  [a, b]\n"),
    ("tags", "tags: [no, 0123, 12:30]\n"),
    ("tags", "tags: [multi\n  line, b]\n"),
    ("tags", "tags:\n- a\n- b\n"),
    ("tags", "tags:\n  - a\n  - b\n"),
    ("tags", "tags:\n    - a\n    - b\n"),
    ("tags", "tags: # comment\n  - a # one\n  - b # two\n"),
    ("tags", "tags:\n  # above\n  - a\n\n  # between\n  - b\n"),
    ("tags", "tags:\n  -   wide\n  -   gaps\n"),
    ("tags", "tags:\n  - 'a'\n  - \"b\"\n  - c\n"),
    ("tags", "tags:\n  -\n    below the dash\n  - b\n"),
    ("tags", "tags:\n  - over\n    two lines\n  - b\n"),
    ("tags", "tags:\n  - |\n    literal\n  - b\n"),
    ("tags", "tags:\n  - a\n  - >-\n    folded\n    last\n"),
    ("tags", "tags:\n  - a\n  -\n"),
    ("tags", "tags:\n  - a   \n  - b\t\n"),
    ("tags", "tags:\n  - key: value\n    other: value\n  - b\n"),
    ("tags", "tags:\n  - - nested\n    - list\n  - b\n"),
    ("tags", "tags:\n  - [x, y]\n  - {z: 1}\n"),
    ("tags", "tags:\n  - no\n  - 0123\n  - 2024-02-30\n"),
    ("tags", "tags:\n  - a\n  # indented, the field's\n"),
    ("tags", "tags: one\n"),
    ("tags", "tags: one, two\n"),
    ("aliases", "aliases: null\n"),
    ("aliases", "aliases:\n"),
    ("related", 'related: "[[Redis]]"\n'),
    ("related", "related: [[Redis]]\n"),
    ("related", 'related: ["[[Redis|the cache]]", "[[Homelab]]"]\n'),
    ("related", 'related:\n  - "[[Redis]]"\n  - "[[Homelab#Rack]]"\n'),
    ("map", "map: {a: 1, b: [c, d]}\n"),
    ("map", "map: {}\n"),
    ("map", "map: {\n  a: 1,\n  b: 2\n}\n"),
    ("map", "map:\n  a: 1\n  b:\n    - c\n    - d: e\n"),
    ("map", "map: # comment\n  no: yes\n  0123: 12:30\n"),
    ("map", "map:\n  a: |\n    literal\n  b: 'x'\n"),
    ("deep", "deep: " + "[" * 20 + "x" + "]" * 20 + "\n"),
    ("steps", "steps:\n" + "".join(f"  - step {n}\n" for n in range(200))),
)

# What may stand around a field; both ends must stay as they are.
AROUND: tuple[tuple[str, str], ...] = (
    ("", ""),
    ("id: a1b2\n", "last: x\n"),
    ("# a comment first\nid: 'a'  # c\n", '\n# a comment after\nlast: "x"\n'),
    ("list:\n- a\n- b\n", "other:\n- c\n"),
    ("text0: |\n  literal\n\n", "# no field after this\n"),
    ("country0: no\non0: 0123   \n", "\n\n"),
    ("b: 1\na: 2\n", "z: [x,\n  y]\nc: {q: r}\n"),
    ("\n\nid: x\n", "last: over\n  two lines\n"),
    ("id: line\u2028end\x85here\n", "last: 'par\u2029agraph'\n"),
    ("# 日本語 😀\nключ: значение\n", "# ---\nlast: -\u00a0\n"),
)

_BODY = "\n# Body\n\ntitle: not a field\ntags: [x]\n---\n\x0cform feed\ttab   \nprose\u2028[[link]] {{x}}"

# Newline, byte order mark, and the two fences.
ENVELOPES: dict[str, tuple[str, bool, str, str]] = {
    "lf": ("\n", False, "---\n", "---\n"),
    "crlf": ("\r\n", False, "---\n", "---\n"),
    "bom": ("\n", True, "---\n", "---\n"),
    "bom and crlf": ("\r\n", True, "---\n", "---\n"),
    "spaces after the fences": ("\n", False, "---  \n", "--- \t\n"),
    "dots": ("\n", False, "---\n", "...\n"),
    "no body, no final newline": ("\n", False, "---\n", "---"),
    "after blank lines": ("\n", False, "\n \n---\n", "---\n"),
}


def _good(name: str, key: str, around: tuple[str, str], field: str, envelope: str) -> Good:
    newline, bom, opening, closing = ENVELOPES[envelope]
    body = closing + _BODY if closing.endswith("\n") else closing

    def encoded(text: str) -> bytes:
        return text.replace("\n", newline).encode()

    before = (b"\xef\xbb\xbf" if bom else b"") + encoded(opening + around[0])
    return Good(name, key, before, encoded(field), encoded(around[1]), encoded(body))


def good_heads() -> Iterator[Good]:
    """Every field in plain surroundings, then each kind of field in every surrounding and every envelope."""
    plain = AROUND[1]
    for number, (key, field) in enumerate(FIELDS):
        yield _good(f"{number}-{key}", key, plain, field, "lf")
        for envelope in ("crlf", "bom and crlf"):
            yield _good(f"{number}-{key}-{envelope}", key, plain, field, envelope)
    kinds = ("title: Redis\n", "tags: [a, b]\n", "tags:\n  - a\n  - b # c\n", "title:\n", "text: |\n  literal\n")
    for field in kinds:
        key = field.partition(":")[0]
        for number, around in enumerate(AROUND):
            for envelope in ENVELOPES:
                if envelope == "after blank lines" and not around[0].startswith(("id", "list", "b:", "country")):
                    continue
                yield _good(f"{field!r}-around {number}-{envelope}", key, around, field, envelope)


def _head(text: str) -> bytes:
    return f"---\n{text}---\nbody\n".encode("utf-8", "surrogatepass")


def _bad_text(code: str, rows: dict[str, tuple[int, str]]) -> Iterator[Bad]:
    for name, (line, text) in rows.items():
        yield Bad(name, _head(text), code, line)


_BAD_YAML: dict[str, tuple[int, str]] = {
    "at sign": (2, "user: @name\n"),
    "at sign item": (3, "users:\n  - @name\n"),
    "backtick": (2, "code: `x`\n"),
    "percent": (3, "a: b\nshare: %x\n"),
    "two colons": (2, "title: Redis: timeouts\n"),
    "two colons, later": (4, "id: x\n# c\ntitle: Redis: timeouts\nlast: y\n"),
    "colon at the end": (2, "title: Redis:\n"),
    "bold": (2, "title: **bold**\n"),
    "glob": (2, "files: *.md\n"),
    "ampersand": (2, "title: & more\n"),
    "open double quote": (3, 'a: b\ntitle: "never closed\nlast: x\n'),
    "open single quote": (2, "title: 'never closed\n"),
    "text after a quote": (2, 'title: "a" b\n'),
    "open bracket": (2, "tags: [a, b\nlast: x\n"),
    "open brace": (2, "map: {a: 1\nlast: x\n"),
    "one bracket too many": (2, "tags: [a, b]]\n"),
    "closing bracket alone": (2, "tags: ]\n"),
    "text after a list": (2, "tags: [a] b\n"),
    "wikilink then text": (2, "related: [[Redis]] and more\n"),
    "comma first": (2, "tags: , a\n"),
    "line without a colon": (3, "a: b\njust words\nc: d\n"),
    "hashtag line": (3, "a: b\ntags\nc: d\n"),
    "tab indentation": (3, "tags:\n\t- a\n"),
    "tab before a key": (2, "\ttitle: x\n"),
    "tab in a map": (4, "map:\n  a: b\n\tc: d\n"),
    "tab in a block scalar": (3, "text: |\n\tx\n"),
    "list on the key's line": (2, "tags: - a\n"),
    "dedented item": (4, "tags:\n  - a\n - b\n"),
    "indented key": (3, "a: b\n  c: d\n"),
    "item after a value": (3, "a: b\n- c\n"),
    "key after a root list": (3, "tags: x\n- a\nlast: y\n"),
    "unknown escape": (2, 'path: "C:\\quotes"\n'),
    "short hex escape": (2, 'x: "\\u12"\n'),
    "text after a block mark": (2, "text: |x\n  y\n"),
    "no key": (2, ": x\n"),
    "directive": (3, "%YAML 1.1\nid: x\n"),
    "second document": (3, "id: x\n--- # not a fence\nb: y\n"),
    "comment cuts a scalar": (4, "title: one\n# comment\n  two\n"),
    "key in a flow list": (2, "tags: [a: b: c]\n"),
    "question": (2, "a: ? b\n"),
    "over-indented after map": (4, "map:\n    a: b\n  c: d\n"),
    "dataview inline": (3, "id: x\nrating:: 5 (of: 7)\nfoo\n"),
}

_OTHER_BAD: dict[str, dict[str, tuple[int, str]]] = {
    "conflict-markers": {
        "conflict": (3, "id: x\n<<<<<<< HEAD\ntitle: a\n=======\ntitle: b\n>>>>>>> theirs\n"),
        "conflict in a list": (4, "tags:\n  - a\n<<<<<<< HEAD\n  - b\n=======\n  - c\n>>>>>>> theirs\n"),
        "conflict first": (2, "<<<<<<< HEAD\ntitle: a\n=======\n"),
        "rest of a conflict": (4, "id: x\ntitle: a\n>>>>>>> theirs\n"),
    },
    "duplicate-key": {
        "twice": (4, "id: x\ntitle: a\ntitle: b\n"),
        "twice, quoted once": (3, 'title: a\n"title": b\n'),
        "twice in a map": (4, "map:\n  a: 1\n  a: 2\n"),
        "twice in a flow map": (2, "map: {a: 1, a: 2}\n"),
        "three times": (3, "a: 1\na: 2\na: 3\n"),
    },
    "anchor": {
        "anchor": (2, "a: &x b\n"),
        "anchor and alias": (2, "a: &x b\nc: *x\n"),
        "anchored map": (2, "a: &x\n  b: c\n"),
        "anchored key": (2, "&x a: b\n"),
        "anchored root": (2, "&x\na: b\n"),
        "self alias": (2, "a: &a [*a]\n"),
        "bomb": (2, "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
            f"{chr(98 + n)}: &{chr(98 + n)} [{','.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(9))),
    },
    "alias": {
        "alias": (2, "a: *x\n"),
        "alias item": (3, "tags:\n  - *x\n"),
        "emphasis": (2, "a: *emphasis\n"),
    },
    "tag": {
        "tag": (2, "a: !x b\n"),
        "python tag": (2, "a: !!python/object/apply:os.system [echo]\n"),
        "string tag": (3, "id: x\na: !!str 5\n"),
        "bare tag": (2, "a: ! b\n"),
        "exclamation": (2, "a: !important\n"),
        "tagged root": (2, "!!map\na: b\n"),
        "verbatim tag": (2, "a: !<tag:example.org,2000:x> b\n"),
    },
    "merge-key": {"merge": (2, "<<: {a: b}\n"), "nested merge": (3, "map:\n  <<: {a: b}\n")},
    "complex-key": {
        "templater": (2, "date: {{date}}\n"),
        "list key": (2, "? [a, b]\n: c\n"),
        "map key": (2, "? {a: b}\n: c\n"),
        "explicit keys": (3, "a:\n  " + "? " * 5000 + "\n"),
        "wikilink key": (2, "[[Redis]]: x\n"),
    },
    "head-not-a-mapping": {
        "list": (2, "- a\n- b\n"),
        "list of maps": (3, "# c\n- id: x\n"),
        "at sign list": (2, "- name\n"),
        "flow list": (2, "[a, b]\n"),
        "prose": (2, "just some words\n"),
        "quoted text": (2, '"text"\n'),
        "block text": (2, "|\n  text\n"),
        "number": (2, "42\n"),
    },
    "control-character": {
        "bell": (2, "a: \x07\n"),
        "escape": (3, "a: b\nc: \x1b[31m\n"),
        "form feed": (2, "a: b\x0cc\n"),
        "vertical tab": (2, "a: b\x0bc\n"),
        "delete": (2, "a: \x7f\n"),
        "c1": (2, "a: \x9b\n"),
        "carriage return": (2, "a: b\rc: d\n"),
        "double carriage return": (2, "a: b\r\r\nc: d\r\r\n"),
        "noncharacter": (2, "a: \uffff\n"),
        "in a comment": (2, "# \x01\na: b\n"),
        "in quotes": (2, 'a: "\x02"\n'),
    },
    "too-deep": {
        "flow": (2, "a: " + "[" * 5000 + "\n"),
        "closed flow": (2, "a: " + "[" * 5000 + "]" * 5000 + "\n"),
        "maps": (2, "a: " + "{a: " * 5000 + "\n"),
        "lists": (3, "a:\n  " + "- " * 5000 + "\n"),
        "a megabyte of brackets": (2, "a: " + "[" * 1_000_000 + "\n"),
        "maps, a line each": (35, "".join(" " * n + "a:\n" for n in range(60))),
    },
    "head-too-large": {
        "values": (2, "a: [" + "x," * 60_000 + "]\n"),
        "lines": (50_001, "a:\n" + "- x\n" * 60_000),
        "bytes": (1, "a: " + "x" * (1 << 20) + "\n"),
    },
}  # fmt: skip

_BAD_BYTES: tuple[Bad, ...] = (
    Bad("nul in the head", b"---\nid: x\na: \0\n---\n", "not-text", 3),
    Bad("nul in the body", b"---\na: b\n---\nbody\n\0", "not-text", 5),
    Bad("nul in a page", b"page\0", "not-text", 1),
    Bad("utf-16-le", "\ufeff---\na: b\n---\n".encode("utf-16-le"), "not-text", 1),
    Bad("utf-16-be", "\ufeff---\na: b\n---\n".encode("utf-16-be"), "not-text", 1),
    Bad("utf-32-le", "\ufeff---\na: b\n---\n".encode("utf-32-le"), "not-text", 1),
    Bad("utf-32-be", "\ufeff---\na: b\n---\n".encode("utf-32-be"), "not-text", 1),
    Bad("utf-16 without a mark", "---\na: b\n---\n".encode("utf-16-le"), "not-text", 1),
    Bad("latin-1 in the head", "---\nid: x\ntitle: é\n---\n".encode("latin-1"), "not-text", 3),
    Bad("latin-1 in the body", "---\nid: x\n---\n\né\n".encode("latin-1"), "not-text", 5),
    Bad("latin-1 in a page", "one\ntwo é\n".encode("latin-1"), "not-text", 2),
    Bad("half a surrogate pair", b"---\na: \xed\xa0\x80\n---\n", "not-text", 2),
    Bad("overlong", b"---\na: \xc0\xaf\n---\n", "not-text", 2),
    Bad("cut off", "---\na: b\n---\né".encode()[:-1], "not-text", 4),
    Bad("beyond unicode", b"---\na: \xf4\x90\x80\x80\n---\n", "not-text", 2),
    Bad("unclosed", b"---\nid: x\ntype: fact\nbody\n", "unclosed-head", 1),
    Bad("unclosed, at once", b"---\nid: x", "unclosed-head", 1),
    Bad("unclosed, bom and crlf", b"\xef\xbb\xbf---\r\nid: x\r\n\r\nbody\r\n", "unclosed-head", 1),
    Bad("closed by four dashes", b"---\nid: x\n----\nbody\n", "unclosed-head", 1),
    Bad("closed by an indented fence", b"---\nid: x\n ---\nbody\n", "unclosed-head", 1),
    Bad("closed with a comment", b"---\nid: x\n--- # end\nbody\n", "unclosed-head", 1),
    Bad("comment, then unclosed", b"---\n# c\nid: x\n", "unclosed-head", 1),
    Bad("quoted key, unclosed", b'---\n"id": x\n', "unclosed-head", 1),
    Bad("text falls out of a block scalar", b"---\ntext: |\n  a\nb\n---\nrest\n---\n", "bad-yaml", 4),
    Bad("bad after blank lines", b"\n\n---\nid: x\na: @b\n---\n", "bad-yaml", 5),
    Bad("bad in crlf", b"---\r\nid: x\r\na: b: c\r\n---\r\n", "bad-yaml", 3),
    Bad("duplicate in crlf", b"\xef\xbb\xbf---\r\na: x\r\na: y\r\n---\r\n", "duplicate-key", 3),
    Bad("line separator shifts no line", "---\na: x\u2028\x85y\nb: @c\n---\n".encode(), "bad-yaml", 3),
)


def bad_heads() -> Iterator[Bad]:
    """Every head that is named and left alone."""
    yield from _bad_text("bad-yaml", _BAD_YAML)
    for code, rows in _OTHER_BAD.items():
        yield from _bad_text(code, rows)
    yield from _BAD_BYTES


# Heads that are read, but only a person may edit: the code and the line of the note that says so.
READ_ONLY: tuple[Bad, ...] = (
    Bad("flow root", _head("{id: x, tags: [a]}\n"), "flow-head", 2),
    Bad("flow root on lines", _head("# c\n{\n  id: x\n}\n"), "flow-head", 3),
    Bad("explicit key", _head("? id\n: x\n"), "explicit-key", 2),
    Bad("explicit key later", _head("id: x\n? b\n: c\nd: e\n"), "explicit-key", 3),
)

# Files without a head: their text is all body, but for a byte order mark.
PAGES: dict[str, bytes] = {
    "empty": b"",
    "only a mark": b"\xef\xbb\xbf",
    "prose": b"# Title\n\nwords\n",
    "fence alone": b"---",
    "fence and nothing": b"---\n",
    "thematic break": b"---\nprose without a field\n",
    "thematic break, blank line": b"---\n\nNote: prose\n",
    "two thematic breaks": b"---\n\nprose\n\n---\n\nmore\n",
    "list between breaks": b"---\n\n- a\n- b\n\n---\n",
    "four dashes": b"----\nid: x\n----\n",
    "two dashes": b"--\nid: x\n--\n",
    "indented fence": b" ---\nid: x\n---\n",
    "fence with a comment": b"--- # c\nid: x\n---\n",
    "fence with text": b"---yaml\nid: x\n---\n",
    "hugo toml": b"+++\ntitle = 'x'\n+++\nbody\n",
    "json": b'{\n  "title": "x"\n}\n',
    "prose first": b"words\n---\nid: x\n---\n",
    "blank, then a break": b"\n\n---\nprose\n---\n",
    "old mac line ends": b"---\rid: x\r---\r",
    "dots first": b"...\nid: x\n...\n",
    "setext heading": b"Title\n---\n\ntext: x\n",
    "dataview": b"rating:: 5\n\n---\n",
    "a table": b"---|---\na|b\n",
    "two marks": b"\xef\xbb\xbf\xef\xbb\xbf---\nid: x\n---\n",
    "crlf page": b"\r\nwords\r\n",
}

EMPTY: dict[str, bytes] = {
    "empty": b"---\n---\nbody\n",
    "blank": b"---\n\n---\n",
    "comments": b"---\n# one\n  # two\n---\n",
    "crlf": b"---\r\n---\r\nbody\r\n",
    "dots": b"---\n...\n",
    "no final newline": b"---\n---",
}
