"""The merge of one line by its words: each side's words are in it, and what one sentence may not hold is left to a person."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bounds import CAMPAIGN, examples
from tests.files.test_note_merge import assert_laws
from vault_tool.files.frontmatter import read
from vault_tool.files.merging.note_merge import merge
from vault_tool.files.merging.word_merge import in_words, merge_words

PLAIN = "The boiler in the cellar is serviced in May."
TWO = "The boiler stands in the cellar. It is serviced in May."


def merged(base: str, ours: str, theirs: str) -> str | None:
    """The merge, found to be the same from both sides."""
    line = merge_words(base, ours, theirs)
    assert merge_words(base, theirs, ours) == line
    return line


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected"),
    [
        pytest.param(PLAIN, PLAIN.replace("boiler", "old boiler"), PLAIN.replace("in May", "each year in May"),
                     "The old boiler in the cellar is serviced each year in May.", id="words put in"),
        pytest.param(TWO, TWO.replace("cellar", "attic"), TWO.replace("May", "June"),
                     "The boiler stands in the attic. It is serviced in June.", id="a sentence each"),
        pytest.param(TWO, TWO.replace("It is serviced in May.", "It is never serviced."), TWO.replace("The boiler", "A boiler"),
                     "A boiler stands in the cellar. It is never serviced.", id="a denial in a sentence of its own"),
        pytest.param(f"{TWO} Ann knows why.", "It is serviced in May. Ann knows why.", f"{TWO} Ben knows why.",
                     "It is serviced in May. Ben knows why.", id="a sentence taken out"),
        pytest.param(f"- [ ] {PLAIN}", f"- [x] {PLAIN}", f"- [ ] {PLAIN.replace('May', 'June')}",
                     f"- [x] {PLAIN.replace('May', 'June')}", id="a box ticked"),
        pytest.param(f"2. {PLAIN}", f"3. {PLAIN}", f"2. {PLAIN.replace('May', 'June')}",
                     f"3. {PLAIN.replace('May', 'June')}", id="an item numbered anew"),
        pytest.param("See [the plan](a b.md) of the cellar. Run `make all` there.",
                     "See [the plan](c d.md) of the cellar. Run `make all` there.",
                     "See [the plan](a b.md) of the cellar. Run `make none` there.",
                     "See [the plan](c d.md) of the cellar. Run `make none` there.", id="a link and code of other sentences"),
        pytest.param(PLAIN, PLAIN.replace("boiler", "old boiler"), PLAIN.replace("boiler", "old boiler").replace("May", "June"),
                     "The old boiler in the cellar is serviced in June.", id="what both put in, and a word that one changed"),
        pytest.param(PLAIN, PLAIN.replace("boiler", "old boiler"),
                     PLAIN.replace("boiler", "old boiler").replace("in May", "early in May"),
                     "The old boiler in the cellar is serviced early in May.", id="what both put in is there once"),
    ],
)  # fmt: skip
def test_words_that_stand_apart_are_both_taken(base: str, ours: str, theirs: str, expected: str) -> None:
    assert merged(base, ours, theirs) == expected


@pytest.mark.parametrize(
    ("base", "ours", "theirs"),
    [
        pytest.param(PLAIN, PLAIN.replace("May", "June"), PLAIN.replace("May", "July"), id="one word"),
        pytest.param(PLAIN, PLAIN.replace("cellar", "attic"), PLAIN.replace("May", "June"), id="two words of one sentence"),
        pytest.param(PLAIN, PLAIN.replace("is serviced", "is not serviced"), PLAIN.replace("The", "The old"), id="a denial"),
        pytest.param(PLAIN, PLAIN.replace("is serviced", "isn't serviced"), PLAIN.replace("The", "The old"), id="isn't"),
        pytest.param(PLAIN, PLAIN.replace("in May", "only in May"), PLAIN.replace("The", "The old"), id="a limit"),
        pytest.param(PLAIN, PLAIN.replace("in May", "3 times in May"), PLAIN.replace("The", "The old"), id="a number"),
        pytest.param(PLAIN, PLAIN.replace("boiler", "old boiler"), PLAIN.replace("boiler", "boiler there"), id="neighbours"),
        pytest.param(PLAIN, PLAIN.replace("the cellar", "the cold cellar"), PLAIN.replace("cellar is", "cellar really is"),
                     id="words with less than two between"),
        pytest.param(TWO, TWO.replace("cellar. It", "cellar, and it"), TWO.replace("May", "June"), id="two sentences made one"),
        pytest.param("Dr. Ann comes on Monday.", "Mr. Ann comes on Monday.", "Dr. Ann comes on Friday.", id="a shortened word"),
        pytest.param("See [a plan](a b.md) of it.", "See [a plan](c b.md) of it.", "See [a plan](a d.md) of it.", id="one link"),
        pytest.param("Run `all -j 2` in it.", "Run `x all -j 2` in it.", "Run `all -j 2 -k` in it.", id="one code"),
        pytest.param("An odd ` mark is in it.", "An odd ` red mark is in it.", "An odd ` mark is in it now.", id="half a code"),
        pytest.param("| a | b c d e |", "| a x | b c d e |", "| a | b c d e y |", id="a table's row"),
        pytest.param("    a = b c d e f", "    a = x b c d e f", "    a = b c d e y f", id="code set in"),
        pytest.param("a  b c d e f", "a  x b c d e f", "a  b c d e y f", id="spaced in its own way"),
        pytest.param("- a b c d", "* a b c d", "+ a b c d", id="three marks"),
        pytest.param("a b c d e f", "x a b c d e f g h", "", id="taken out"),
    ],
)  # fmt: skip
def test_what_one_sentence_may_not_hold_of_both_is_left_to_a_person(base: str, ours: str, theirs: str) -> None:
    assert merged(base, ours, theirs) is None


def test_code_between_fences_is_left_to_a_person() -> None:
    base, ours, theirs = "see a b c d e f", "see x a b c d e f", "see a b c d e y f"
    assert in_words([base], [ours], [theirs])(base, ours, theirs) == "see x a b c d e y f"
    assert in_words(["```", base, "```"], [ours], [theirs])(base, ours, theirs) is None
    assert in_words([base], ["~~~ sh", "```", ours, "~~~"], [theirs])(base, ours, theirs) is None
    assert in_words(["```", "x", "```", base], [ours], [theirs])(base, ours, theirs) == "see x a b c d e y f"


def test_a_note_tells_which_line_holds_the_words_of_both() -> None:
    def note(*lines: str) -> bytes:
        return ("---\nid: 11111111-1111-4111-8111-111111111111\ntype: fact\n---\n" + "\n".join(lines) + "\n").encode()

    base, ours, theirs = (
        note(TWO, "", "End."),
        note(TWO.replace("cellar", "attic"), "", "End."),
        note(TWO.replace("May", "June"), "End!"),
    )
    result = merge(base, ours, theirs)
    assert result is not None and not result.left
    line = "The boiler stands in the attic. It is serviced in June."
    assert read(result.data)[1] == f"{line}\nEnd!\n"
    assert result.told == (f"changed by both sides at different words, both are in it: {line}",)


def test_a_word_that_was_taken_out_of_a_line_stays_out_beside_a_line_that_is_like_it() -> None:
    def note(*lines: str) -> bytes:
        return ("---\nid: 11111111-1111-4111-8111-111111111111\ntype: fact\n---\n" + "\n".join(lines) + "\n").encode()

    first, second = "Line0 says: The the the. The the the boiler the the the the. The the the.", "Line1 says: The the the."
    third = "Line2 says: The the the the the the the the the. The the the. The the the."
    base, ours = (
        note(first, second, third, "Line3 says: The the the."),
        note(first.replace("boiler ", ""), second, third, "Line3 says: the the."),
    )
    theirs = note(f"{first.removesuffix('the the.')}word1 the the.", third.replace("The", "word2 The", 1), "Line3 says: the the.")
    result = assert_laws(base, ours, theirs)
    assert b"Line0 says: The the the. The the the the the the the. The word1 the the.\n" in result.data


class Writer:
    """A line of sentences and edits of it by words; what is put in comes nowhere else."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.number = 0

    def fresh(self) -> str:
        self.number += 1
        return f"word{self.number}"

    def line(self) -> list[str]:
        words = []
        for _ in range(self.random.randint(1, 3)):
            # Words that come again and again, as they do.
            row = self.random.choices(("the", "boiler", "is", "of", "a", "cellar", "[[May_4]]"), k=self.random.randint(3, 9))
            words += [row[0].capitalize(), *row[1:-1], f"{row[-1]}."]
        return words

    def edited(self, words: Sequence[str]) -> tuple[str, set[str], list[str]]:
        """The line, the words that were put in, and those of the base that it still has."""
        left: list[str | None] = list(words)
        added: dict[int, list[str]] = {}
        for _ in range(self.random.choice((1, 1, 1, 2, 3))):
            at = self.random.randrange(len(words))
            way = self.random.random()
            if way < 0.7:
                added.setdefault(at, []).append(self.fresh())
            if way > 0.5:
                left[at] = None
        line = [word for at, kept in enumerate(left) for word in (*added.get(at, ()), *([kept] if kept else ()))]
        return " ".join(line), {word for row in added.values() for word in row}, [word for word in left if word]


@settings(max_examples=examples(20_000) if CAMPAIGN else 1000)
@given(st.randoms(use_true_random=False))
def test_no_word_of_either_side_is_lost_and_every_order_gives_the_same(random: Random) -> None:
    writer = Writer(random)
    base = writer.line()
    (ours, added, _), (theirs, others_added, _) = writer.edited(base), writer.edited(base)
    if not ours or not theirs:
        return
    line = merged(" ".join(base), ours, theirs)
    if line is None:
        return
    words = line.split(" ")
    for side, own, foreign in ((ours, added, others_added), (theirs, others_added, added)):
        # In the order in which its writer put them, with nothing in between that neither had.
        assert [word for word in words if word in own] == [word for word in side.split(" ") if word in own]
        assert set(words) <= {*side.split(" ")} | foreign | {*base}
        again = merge_words(" ".join(base), line, side)
        assert again == line, "merging the result with a side changed it"
    # A word of the base is there no more often than on either side, and is missing no more often than both took it out.
    for word in {*base}:
        counts = [side.split(" ").count(word) for side in (ours, theirs)]
        assert sum(counts) - base.count(word) <= words.count(word) <= min(counts), word


def test_the_random_lines_are_merged_often_enough_to_say_something() -> None:
    counts = {True: 0, False: 0}
    for seed in range(400):
        writer = Writer(Random(seed))
        base = writer.line()
        ours, theirs = writer.edited(base)[0], writer.edited(base)[0]
        counts[merge_words(" ".join(base), ours, theirs) is None] += 1
    assert counts[False] > 60 and counts[True] > 60, counts


@settings(max_examples=examples(10_000) if CAMPAIGN else 300)
@given(st.randoms(use_true_random=False))
def test_notes_of_which_both_sides_reworded_the_same_lines_keep_every_law(random: Random) -> None:
    writer = Writer(random)
    lines = [[f"Line{number}", "says:", *writer.line()] for number in range(random.randint(1, 4))]

    def note(texts: Sequence[str]) -> bytes:
        return (
            "---\nid: 11111111-1111-4111-8111-111111111111\ntype: fact\n---\n" + "".join(f"{text}\n" for text in texts)
        ).encode()

    def edited() -> bytes:
        texts = [
            f"{' '.join(line[:2])} {writer.edited(line[2:])[0]}" if random.random() < 0.8 else " ".join(line) for line in lines
        ]
        if random.random() < 0.3:
            texts.insert(random.randint(1, len(texts)), random.choice(("", f"{writer.fresh()} is new.")))
        if random.random() < 0.2 and len(texts) > 2:
            del texts[random.randrange(1, len(texts))]
        return note(texts)

    base = note([" ".join(line) for line in lines])
    ours, theirs = edited(), edited()
    if ours != theirs and base not in (ours, theirs):
        assert_laws(base, ours, theirs)
