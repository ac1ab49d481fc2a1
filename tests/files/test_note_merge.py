"""The merge of one note: nothing added is missing, what was removed is gone, and it is the same from every side."""

from __future__ import annotations

import itertools
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bounds import CAMPAIGN, examples
from vault_tool.files import frontmatter
from vault_tool.files.frontmatter import AddItems, Raw, Remove, RemoveItems, Set, Value
from vault_tool.files.merging.head_merge import SETS, UNSETTLED
from vault_tool.files.merging.note_merge import Merged, merge
from vault_tool.files.parse import parse
from vault_tool.files.two_versions import END, MARKS, OPEN, OR, places
from vault_tool.model.types import Registry

ID = "11111111-1111-4111-8111-111111111111"
OTHER_ID = "22222222-2222-4222-8222-222222222222"
MINTED = "7d9f0a52-4f4e-5a3b-8c1d-2e3f4a5b6c7d"
BOM = b"\xef\xbb\xbf"
REGISTRY = Registry()


def note(head: str = "", body: str = "It is so.\n", kind: str = "fact", identity: str = ID) -> bytes:
    return f"---\nid: {identity}\ntype: {kind}\n{head}---\n{body}".encode()


def merged(base: bytes | None, ours: bytes, theirs: bytes) -> Merged:
    """The merge, found to be the same from both sides and to read without a problem."""
    result = merge(base, ours, theirs)
    assert result is not None
    assert merge(base, theirs, ours) == result
    parsed = parse("a.md", result.data, REGISTRY)
    assert parsed.readable and not [one for one in parsed.problems if one.code != "unsettled"], (result.data, parsed.problems)
    return result


def head_of(data: bytes) -> dict[str, Raw]:
    head, _, _ = frontmatter.read(data)
    return {} if head is None else dict(head.values)


def lines_of(data: bytes) -> list[str]:
    return [line.removesuffix("\r") for line in frontmatter.read(data)[1].split("\n") if line.strip()]


def listed(raw: Raw) -> list[str]:
    return [str(item) for item in raw] if isinstance(raw, list) else [] if raw is None else [str(raw)]


# Random pairs

WORDS = ("red", "blue", "green", "tall", "small", "big", "old", "new", "fast", "slow")
TEXT_FIELDS = ("summary", "title", "colour", "session")


class Maker:
    """A random note and random edits of it; no line of text and no item comes twice by chance."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self._numbers = itertools.count()

    def fresh(self, what: str) -> str:
        return f"{what}{next(self._numbers)}"

    def line(self) -> str:
        if self.random.random() < 0.25:
            return ""
        sentences = [self.random.choices(WORDS, k=self.random.randint(1, 6)) for _ in range(self.random.choice((1, 1, 2, 3)))]
        rest = "".join(f". {' '.join(words).capitalize()}" for words in sentences[1:])
        return " ".join([self.fresh("line"), *sentences[0]]) + rest

    def field(self, key: str) -> str:
        word = self.fresh(key)
        text = self.random.choice((word, f"'{word}: it''s'", f'"{word} # \\" x"', f"|\n  {word}\n  more", f"{word} # said"))
        return f"{key}: {text}\n"

    def items(self, key: str) -> str:
        names = [self.fresh(key) for _ in range(self.random.randint(0, 3))]
        if self.random.random() < 0.5 or not names:
            return f"{key}: [{', '.join(names)}]\n"
        return f"{key}:\n" + "".join(f"  - {name}\n" for name in names)

    def note(self) -> bytes:
        fields = [self.field(key) for key in TEXT_FIELDS] + [self.items(key) for key in ("tags", "aliases", "subjects", "mine")]
        fields += [
            "importance: 0.5\n",
            "updated: 2026-01-01T00:00:00+00:00\n",
            "created: 2026-01-01\n",
            "# a comment\nplain: 7\n",
        ]
        chosen = [field for field in fields if self.random.random() < 0.5]
        self.random.shuffle(chosen)
        body = "".join(f"{self.line()}\n" for _ in range(self.random.randint(0, 8)))
        data = note("".join(chosen), f"{self.fresh('body')}\n{body}")
        if self.random.random() < 0.1:
            data = data.replace(b"\n", b"\r\n")
        return BOM + data if self.random.random() < 0.05 else data

    def edited(self, data: bytes) -> bytes:
        for _ in range(self.random.randint(1, 4)):
            data = self.edit(data)
        return data

    def edit(self, data: bytes) -> bytes:
        ways = (self.list_edit, self.field_edit, self.body_edit, self.body_edit, self.lines_edit, self.shape_edit)
        return self.random.choice(ways)(data)

    def list_edit(self, data: bytes) -> bytes:
        key = self.random.choice(("tags", "aliases", "subjects", "related_to"))
        present = listed(head_of(data).get(key))
        if present and self.random.random() < 0.4:
            return frontmatter.edit(data, [RemoveItems(key, [self.random.choice(present)])])
        item = f"33333333-3333-4333-8333-{next(self._numbers):012}" if key == "related_to" else self.fresh(key)
        return frontmatter.edit(data, [AddItems(key, [item])])

    def field_edit(self, data: bytes) -> bytes:
        key = self.random.choice((*TEXT_FIELDS, "pinned", "importance", "updated", "origin", "unknown", "steps"))
        if key in TEXT_FIELDS and self.random.random() < 0.2:
            return frontmatter.edit(data, [Remove(key)])
        values: dict[str, Value] = {
            "pinned": True,
            "importance": self.random.randint(1, 9) / 10,
            "updated": f"2026-02-{self.random.randint(10, 28)}T00:00:00+00:00",
            "origin": self.random.choice(("owner", "agent", "import")),
            "steps": [self.fresh("step") for _ in range(2)],
        }
        text = self.fresh(key) + self.random.choice(("", ": and", " # no comment", "\nsecond line", " 'quoted'"))
        return frontmatter.edit(data, [Set(key, values.get(key, text))])

    def body_edit(self, data: bytes) -> bytes:
        parts = frontmatter.split(data)
        end = b"\r\n" if parts.newline == "\r\n" else b"\n"
        lines = data[parts.body_start :].split(end)
        at = self.random.randrange(len(lines))
        way = self.random.random()
        if way < 0.4 and lines[at].strip():
            words = lines[at].split(b" ")
            place = self.random.randrange(len(words))
            words[place : place + self.random.randrange(2)] = [self.fresh("word").encode()]
            lines[at] = b" ".join(words)
        elif way < 0.65:
            lines.insert(at, self.line().encode())
        elif way < 0.75:
            # Often at one place, as at the end of a text.
            at = self.random.choice((at, len(lines) - 1))
            lines[at:at] = self.random.choice(([b"", self.line().encode(), b""], [b"- " + self.fresh("item").encode()]))
        elif any(line.strip() for line in lines[:at]):
            # Never the first: two that take out all but another line each would leave nothing.
            del lines[at]
        return data[: parts.body_start] + end.join(lines)

    def lines_edit(self, data: bytes) -> bytes:
        """By hand, in the head: a comment, or a field moved."""
        parts = frontmatter.split(data)
        end = b"\r\n" if parts.newline == "\r\n" else b"\n"
        lines = data[parts.start : parts.end].split(end)[:-1]
        keys = [
            number for number, line in enumerate(lines) if line and line[:1] not in b" -#" and not line.endswith((b"|", b":"))
        ]
        at = self.random.choice(keys)
        if self.random.random() < 0.5:
            lines.insert(at, f"# {self.fresh('comment')}".encode())
        else:
            alone = [n for n in keys if n + 1 == len(lines) or n + 1 in keys]
            moved = lines.pop(self.random.choice(alone)) if alone else None
            starts = [n for n, line in enumerate(lines) if line and line[:1] not in b" -#"]
            if moved is not None:
                lines.insert(self.random.choice(starts) if starts else 0, moved)
        return data[: parts.start] + b"".join(line + end for line in lines) + data[parts.end :]

    def shape_edit(self, data: bytes) -> bytes:
        way = self.random.randrange(4)
        if way == 0:
            return data.replace(b"\r\n", b"\n") if b"\r\n" in data else data.replace(b"\n", b"\r\n")
        if way == 1:
            return data.removeprefix(BOM) if data.startswith(BOM) else BOM + data
        if way == 2:
            return data.rstrip(b"\r\n") if data.endswith(b"\n") else data + b"\n"
        return data + (b"" if data.endswith(b"\n") else b"\n") + self.fresh("last ").encode()


def assert_laws(base: bytes | None, ours: bytes, theirs: bytes) -> Merged:
    result = merged(base, ours, theirs)
    if base is not None:
        assert merge(base, base, ours) == (ours, (), ()) == merge(base, ours, ours)
    for side in (ours, theirs):
        again = merge(base, result.data, side)
        assert again is not None and again.data == result.data, "merging the result with a side changed it"
        trivial = merge(side, side, result.data)
        assert trivial is not None and trivial.data == result.data
    assert_body(base, ours, theirs, result)
    assert_fields(base, ours, theirs, result)
    return result


def _told_in_words(result: Merged) -> set[str]:
    """The lines that a merge tells as made of both sides' words."""
    made = "changed by both sides at different words, both are in it: "
    return {remark.removeprefix(made) for remark in result.told if remark.startswith(made)}


def _holds_words(line: str, whole: str, known: set[str]) -> bool:
    """Whether a line of the result has the words of a side's line that no line of the base has, in their order."""
    rest, words = iter(whole.split()), line.split()
    own = [word for word in words if not any(word in old.split() for old in known)]
    common = Counter(words) & Counter(whole.split())
    return common.total() * 2 >= len(words) and all(word in rest for word in own)


def assert_body(base: bytes | None, ours: bytes, theirs: bytes, result: Merged) -> None:
    known, has = set(lines_of(base) if base else ()), Counter(lines_of(result.data))
    twice = {line for left in result.left if not left.field for line in (left.this + "\n" + left.that).split("\n")}
    for one, other in ((ours, theirs), (theirs, ours)):
        missing = set(lines_of(one)) - known - set(has)
        # Only a line that is told as made of both sides' words, or one of the other side that has them all, stands for it.
        instead = (_told_in_words(result) | set(lines_of(other))) & set(has)
        assert all(any(_holds_words(line, whole, known) for whole in instead) for line in missing), "an added line is missing"
        gone = {line for line in known - set(lines_of(one)) if line in lines_of(other)} - twice
        assert not gone & set(has), "a removed line came back"
    assert not MARKS.isdisjoint(has) or not twice


def assert_fields(base: bytes | None, ours: bytes, theirs: bytes, result: Merged) -> None:
    known, sides, heads = head_of(base) if base else {}, (head_of(ours), head_of(theirs)), head_of(result.data)
    unsettled = listed(heads.get(UNSETTLED))
    for one, other in (sides, sides[::-1]):
        for key, value in one.items():
            if key in SETS:
                added = set(listed(value)) - set(listed(known.get(key)))
                assert added <= set(listed(heads.get(key))), key
                removed = set(listed(known.get(key))) - set(listed(value)) if key in known else set()
                assert not removed & set(listed(heads.get(key))), key
            elif value != known.get(key) and isinstance(value, str) and key not in ("updated", "created", "origin", "importance"):
                assert heads.get(key) == value or f"{key}: {value}" in unsettled, key
            elif key not in known or key in other:
                assert key in heads, key
    comments = {data: {line for line in data.decode().splitlines() if line.startswith("# comment")} for data in (ours, theirs)}
    for lines in comments.values():
        assert lines <= {*result.data.decode().splitlines()}, "a comment is missing"


@settings(max_examples=examples(10_000) if CAMPAIGN else 300)
@given(st.randoms(use_true_random=False))
def test_random_pairs_keep_every_law(random: Random) -> None:
    maker = Maker(random)
    base = maker.note()
    ours, theirs = maker.edited(base), maker.edited(base)
    assert_laws(None if random.random() < 0.125 else base, ours, theirs)


# The rule of each field


def fields(base: str | None, ours: str, theirs: str) -> tuple[dict[str, Raw], Merged]:
    result = merged(None if base is None else note(base), note(ours), note(theirs))
    return head_of(result.data), result


@pytest.mark.parametrize("key", sorted(SETS))
def test_of_a_set_what_either_added_is_in_and_what_either_removed_is_out(key: str) -> None:
    ids = {name: f"33333333-3333-4333-8333-{number:012}" for number, name in enumerate("abcxy")}
    said = [f"{key}: [{', '.join(ids[name] for name in names)}]\n" for names in ("abc", "abx", "ycb")]
    head, result = fields(said[0], said[1], said[2])
    assert head[key] == [ids["b"], ids["x"], ids["y"]] and not result.left
    head, _ = fields(None, said[1], said[2])
    assert head[key] == sorted(ids.values())


def test_a_set_is_one_however_it_is_written() -> None:
    head, _ = fields("tags: a, b\n", "tags:\n  - a\n  - b\n  - 'c'\n", 'tags: ["b", d] # why\n')
    assert head["tags"] == ["b", "c", "d"]
    head, result = fields("subjects: Redis\n", 'subjects: ["[[Redis]]", Valkey]\n', "subjects:\n- Redis\n- '[[Homelab]]'\n")
    assert head["subjects"] == ["[[Redis]]", "Valkey", "[[Homelab]]"] or head["subjects"] == [
        "[[Redis]]",
        "[[Homelab]]",
        "Valkey",
    ]
    assert not result.left
    head, _ = fields("", "tags: [a]\n", "tags: [a]\npinned: true\n")
    assert head["tags"] == ["a"]
    head, _ = fields("tags: [a]\n", "", "tags: [a, b]\n")
    assert head["tags"] == ["b"], "taken out whole is each item removed"


def test_times_numbers_pins_and_origins_have_rules() -> None:
    base = "updated: 2026-01-01T00:00:00+00:00\ncreated: 2026-01-05\norigin: owner\nimportance: 0.5\nconfidence: 0.5\n"
    ours = (
        "updated: 2026-03-01T00:00:00+02:00\ncreated: 2026-01-03\norigin: agent\nimportance: 0.2\nconfidence: 0.9\npinned: true\n"
    )
    theirs = "updated: 2026-02-28T23:00:00+00:00\ncreated: 2026-01-04\norigin: import\nimportance: 0.8\nconfidence: 0.1\n"
    theirs += "pinned: false\n"
    head, result = fields(base, ours, theirs)
    assert head["updated"] == "2026-02-28T23:00:00+00:00", "the later, by what it means"
    assert head["created"] == "2026-01-03" and head["origin"] == "import" and head["pinned"] == "true"
    assert (head["importance"], head["confidence"]) == ("0.8", "0.1"), "those of the later update"
    assert not result.left and len(result.told) == 2
    head, _ = fields("importance: 0.5\n", "importance: 0.30\n", "importance: 0.4\n")
    assert head["importance"] == "0.4", "without times the larger"


def test_of_two_texts_one_stays_and_the_other_is_kept() -> None:
    head, result = fields("summary: old\n", "summary: 'one: a'\n", "summary: |\n  two\n  lines\n")
    assert head["summary"] == "two\nlines\n" and head[UNSETTLED] == ["summary: one: a"]
    assert result.left == (("summary", "one: a", "two\nlines\n"),)
    head, _ = fields("colour: 7\n", "colour: [a, {b: c}]\n", "colour: 8\n")
    assert head[UNSETTLED] in (["colour: 8"], ["colour: [a, {b: c}]"])
    head, result = fields("summary: old\n", "", "summary: new\n")
    assert head["summary"] == "new" and len(result.told) == 1 and UNSETTLED not in head, "the change stays"
    head, _ = fields(f"{UNSETTLED}: ['summary: x']\n", "", f"{UNSETTLED}: ['summary: x', 'title: y']\ncolour: 1\n")
    assert head[UNSETTLED] == ["title: y"], "what a person settled is settled"


def test_lists_whose_order_counts_are_merged_by_item_or_kept_both() -> None:
    head, result = fields("steps: [a, b, c]\n", "steps: [a, a2, b, c]\n", "steps: [a, b, c, d]\n")
    assert head["steps"] == ["a", "a2", "b", "c", "d"] and not result.left
    head, result = fields("steps: [a, b, c]\n", "steps: [a, v, c]\n", "steps: [a, w, c]\n")
    assert head["steps"] == ["a", "w", "c"] and head[UNSETTLED] == ["steps: [a, v, c]"]


def test_two_names_of_a_subject_are_a_name_and_an_alias() -> None:
    sides = [note(f"name: {name}\n", "", "subject") for name in ("Redis", "Valkey", "KeyDB")]
    assert head_of(merged(*sides).data) == {"id": ID, "type": "subject", "name": "Valkey", "aliases": ["KeyDB"]}
    later = sides[2].replace(b"name:", b"updated: 2026-02-02T00:00:00+00:00\nname:")
    assert head_of(merged(sides[0], sides[1], later).data)["name"] == "KeyDB"


def test_two_subjects_of_one_name_are_one() -> None:
    minted, random = note("name: Redis cache\n", "", "subject", MINTED), note("name: redis_cache\n", "Said.\n", "subject", ID)
    result = merged(None, minted, random)
    assert head_of(result.data)["id"] == MINTED and head_of(result.data)["also"] == [ID] and b"Said." in result.data
    assert merged(None, result.data, random).data == result.data
    assert merge(None, minted, random.replace(b"redis", b"other")) is None


def test_a_key_added_at_two_places_is_one() -> None:
    head, _ = fields(
        "title: x\ncolour: red\n", "pinned: true\ntitle: x\ncolour: red\n", "title: x\ncolour: red\npinned: true\ntags: [a]\n"
    )
    assert list(head) in (
        ["id", "type", "pinned", "title", "colour", "tags"],
        ["id", "type", "title", "colour", "pinned", "tags"],
    )


def test_order_and_comments_are_the_side_s_that_changed_them() -> None:
    base = "title: x\n# of colour\ncolour: red\nplain: 1\n"
    moved = "plain: 1\n# of colour\ncolour: red\ntitle: x\n"
    result = merged(note(base), note(moved), note(base.replace("title: x\n", "title: x\nnew: 1\n").replace("red", "blue")))
    assert b"type: fact\nplain: 1\n# of colour\ncolour: blue\ntitle: x\nnew: 1\n---" in result.data
    result = merged(
        note(base), note(base.replace("colour: red\n", "")), note(base.replace("# of", "# also\n# of").replace("x", "y"))
    )
    assert b"# also" in result.data and b"colour" not in result.data.replace(b"# of colour", b"")
    result = merged(note("tags: [a]\n"), note("tags: [a, b] # ours\n"), note("tags: [a, c] # theirs\n"))
    assert b"# ours" in result.data and b"# theirs" in result.data


# The body


def body(base: str | None, ours: str, theirs: str) -> tuple[str, Merged]:
    result = merged(None if base is None else note("", base), note("", ours), note("", theirs))
    return frontmatter.read(result.data)[1], result


def test_changes_at_other_places_and_side_by_side_are_both_taken() -> None:
    assert body("a one\nb two\n", "A one\nb two\n", "a one\nB two\n")[0] == "A one\nB two\n"
    assert body("a one\nb two\nc three\n", "b two\nc three\n", "a one\nb two!\nc three\n")[0] == "b two!\nc three\n"
    assert body("a\n\nb\n", "a\n\nx\n\nb\n", "a\n\nb\n\ny\n")[0] == "a\n\nx\n\nb\n\ny\n"


def test_a_place_that_both_changed_keeps_both_in_the_order_of_their_texts() -> None:
    text, result = body("The boiler is serviced in May.\n\nIt hums.\n", "The boiler is serviced in June.\n\nIt hums.\n",
                        "The boiler is serviced in July.\n\nIt hums.\n")  # fmt: skip
    july, june = (f"The boiler is serviced in {month}." for month in ("July", "June"))
    assert text == f"{OPEN}\n{july}\n{OR}\n{june}\n{END}\n\nIt hums.\n"
    assert result.left == (("", july, june),)
    assert [(place.this, place.that) for place in places(text.split("\n"))] == [((july,), (june,))]


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected"),
    [
        ("Top.\n", "Top.\n\nLater at B.\n", "Top.\n\nLater at A.\n", "Top.\n\nLater at A.\n\nLater at B.\n"),
        ("Top.\n\nEnd.\n", "Top.\n\nB1.\n\nB2.\n\nEnd.\n", "Top.\n\nA.\n\nEnd.\n", "Top.\n\nA.\n\nB1.\n\nB2.\n\nEnd.\n"),
        ("- a\n- z\n", "- a\n- c\n- z\n", "- a\n- b\n- z\n", "- a\n- b\n- c\n- z\n"),
        ("Bought:\n\n1. a\n", "Bought:\n\n1. a\n2. c\n", "Bought:\n\n1. a\n2. b\n", "Bought:\n\n1. a\n2. b\n2. c\n"),
    ],
)
def test_paragraphs_and_items_that_both_added_at_one_place_stand_below_one_another(
    base: str, ours: str, theirs: str, expected: str
) -> None:
    text, result = body(base, ours, theirs)
    assert text == expected and not result.left
    assert_laws(note("", base), note("", ours), note("", theirs))


def test_lines_that_both_added_within_a_paragraph_are_two_versions() -> None:
    text, result = body("It is\nso.\n", "It is\nperhaps\nso.\n", "It is\nalways\nso.\n")
    assert OPEN in text and result.left == (("", "always", "perhaps"),)


def test_equal_insertions_are_taken_once_and_a_deletion_gives_way_to_an_edit() -> None:
    assert body("a\n", "a\nnew line\n", "a\nnew line\n\nand more\n")[0] == "a\nnew line\n\nand more\n"
    text, result = body("a one\nb two three four\nc\n", "a one\nc\n", "a one\nb two three five\nc\n")
    assert text == "a one\nb two three five\nc\n" and len(result.told) == 1 and not result.left
    assert body("a\nb\nc\nd\n", "a\nd\n", "a\nb\nc\nd\ne\n")[0] == "a\nd\ne\n"


def test_a_place_kept_twice_travels_and_can_be_settled_on_one_side() -> None:
    twice = f"top\n\n{OPEN}\nred\n{OR}\nblue\n{END}\n\nend\n"
    assert body(twice, "top\n\nred\n\nend\n", f"{twice}\nmore\n")[0] == "top\n\nred\n\nend\n\nmore\n"
    text, _ = body(twice, twice.replace("red", "red one"), twice.replace("red", "red two"))
    assert len(places(text.split("\n"))) == 1 and all(word in text for word in ("red one", "red two", "blue"))
    text, _ = body(twice, twice.replace("end\n", "end!\n"), twice.replace("end\n", "end?\n"))
    assert [place.this for place in places(text.split("\n"))] == [("red",), ("end!",)]


def test_without_a_base_what_both_have_is_it() -> None:
    assert body(None, "a\n\nb\n\nc\n", "a\n\nb\n\nd\n")[0] == f"a\n\nb\n\n{OPEN}\nc\n{OR}\nd\n{END}\n"
    assert body(None, "a\nb\n", "a\nb\nc\n")[0] == "a\nb\nc\n"


# Bytes


def test_line_ends_marks_and_last_lines_are_apart_from_text() -> None:
    base = note("tags: [a]\n", "one\n\ntwo\n")
    windows = base.replace(b"two", b"two!").replace(b"\n", b"\r\n")
    result = merged(base, windows, base.replace(b"[a]", b"[a, b]").replace(b"one", b"one!")).data
    assert result == base.replace(b"[a]", b"[a, b]").replace(b"one", b"one!").replace(b"two", b"two!").replace(b"\n", b"\r\n")
    result = merged(base, BOM + base.replace(b"one", b"one!"), base.removesuffix(b"\n").replace(b"[a]", b"[b]")).data
    assert result == BOM + base.replace(b"one", b"one!").replace(b"[a]", b"[b]").removesuffix(b"\n")
    mixed = base.replace(b"one\n", b"one\r\n")
    assert merged(mixed, mixed.replace(b"[a]", b"[b]"), mixed.replace(b"two", b"too")).data == (
        mixed.replace(b"[a]", b"[b]").replace(b"two", b"too")
    )


def test_a_page_without_a_head_is_merged_and_one_that_gets_a_head_too() -> None:
    page = b"# Monday\n\nbread\n"
    assert merged(page, page + b"milk\n", b"# Monday 3\n\nbread\n").data == b"# Monday 3\n\nbread\nmilk\n"
    adopted = note().replace(b"It is so.\n", page)
    assert merged(page, adopted, page + b"milk\n").data == adopted + b"milk\n"
    assert merged(b"", b"", b"x").data == b"x"


@pytest.mark.parametrize(
    "ours",
    [
        pytest.param(note().replace(ID.encode(), OTHER_ID.encode()), id="another id"),
        pytest.param(note(kind="decision"), id="another type"),
        pytest.param(note("tags: [a]\ntags: [b]\n"), id="a key twice"),
        pytest.param(note("title: [a\n"), id="no YAML"),
        pytest.param(note().replace(b"It", b"\xff"), id="not UTF-8"),
        pytest.param(note(body="<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n"), id="git's markers"),
        pytest.param(b"It is so.\n", id="its head is gone"),
    ],
)
def test_what_cannot_be_read_or_is_another_note_is_not_merged(ours: bytes) -> None:
    base, theirs = note(), note("pinned: true\n")
    assert merge(base, ours, theirs) is None and merge(base, theirs, ours) is None and merge(None, ours, theirs) is None
    assert merge(base, ours, base) == (ours, (), ()), "one side alone is taken as it is"


def test_two_long_texts_take_no_longer_than_their_length() -> None:
    lines = [f"line {number}\n" for number in range(20_000)] + ["- again\n", "\n"] * 10_000
    base = "".join(lines)
    ours, theirs = base.replace("line 7\n", "line seven\n"), base.replace("line 9000\n", "")
    assert frontmatter.read(merged(note("", base), note("", ours), note("", theirs)).data)[1] == ours.replace("line 9000\n", "")
    turned = "".join(reversed(lines))
    assert body(base, turned + "x\n", base + "y\n")[0] == turned + "x\ny\n"


def test_a_head_that_could_not_be_put_together_is_left_to_a_person() -> None:
    base = note("title: x\ncolour: red\n")
    indented = (
        base.replace(b"id:", b"  id:")
        .replace(b"type:", b"  type:")
        .replace(b"title: x", b"  title: y")
        .replace(b"colour", b"  colour")
    )
    assert merge(base, indented, base.replace(b"red", b"blue")) is None


def test_what_was_merged_has_both_sides_in_it_under_another_division() -> None:
    base, ours, theirs = (note("", text) for text in ("a one\nb two\n", "a ONE\nb two\n", "new\nb TWO\n"))
    result = merged(base, ours, theirs).data
    assert merged(base, result, ours).data == result == merged(base, result, theirs).data
