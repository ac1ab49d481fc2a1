"""No text costs more than its length: functions and whole verbs that are given what somebody wrote, over evil texts."""

from __future__ import annotations

import gc
import itertools
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import pytest

from tests.founding import own_copy
from tests.verbs.looking import START
from vault_tool import Vault
from vault_tool.cli import blocks
from vault_tool.consolidation import ledger as passes
from vault_tool.consolidation import packets, similar_names
from vault_tool.errors import VaultError
from vault_tool.features.consolidation import hygiene
from vault_tool.features.imports import cognitive, copy_paths
from vault_tool.features.sessions import attempts
from vault_tool.features.turns import backstop
from vault_tool.files import episode_text, page_titles, secrets, signal_lines
from vault_tool.files.frontmatter import AddItems, Set, edit, head_writer, simple, split
from vault_tool.files.frontmatter.complaints import conflict
from vault_tool.generate import budget, escape, templates
from vault_tool.importing import dates, notes, tags, toml_head
from vault_tool.index import timeline
from vault_tool.index.embedding.chunking import passages
from vault_tool.index.fulltext import documents
from vault_tool.index.refresh.reading import understand
from vault_tool.model import evidence, ids
from vault_tool.model.types import Registry
from vault_tool.recall import question, time_words, times
from vault_tool.util import clock, note_links, text
from vault_tool.vault import similar as alike
from vault_tool.vault.retrieval import retrievers

TODAY = date(2026, 11, 20)

CAMPAIGN = bool(os.environ.get("VAULT_CAMPAIGN"))
"""Every token in every shape; without it, those that patterns stumbled over and their like."""

FIRST, SECOND = 1_250, 10_000
"""What every text is tried at; what grows no faster than that is not tried longer outside of a campaign."""
STEEP = 8.8
"""Times as long as for an eighth of the text, what an empty one takes aside: more is looked at closely. A linear function
takes eight times; one with a quadratic part that would exceed `MOST` at forty thousand characters takes 9.5 times."""
SHORT, LONG = 20_000, 40_000
MOST = 2.6
"""Times as long as for half of the text: a linear function takes twice, a quadratic one four times."""
TURNS = 25 if CAMPAIGN else 8
"""How often a text and one of twice its length are tried where the doubt stays."""
LONGEST, MOST_OF_ALL = 160_000, 24.8
"""A length, and times as long as for an eighth of it, that have the last word: what other work of the machine adds to a
time is little beside what growth adds over so much more text. What takes `MOST` for twice takes 24.8 times for eight."""
NOISE = 0.03
"""CPU seconds below which nothing is told of a pattern: what is quadratic takes longer over forty thousand characters."""
NOISE_OF_VERBS = 0.1
"""The same for verbs, whose files and indexes cost now more and now less."""

REGISTRY = Registry()
ID = "0190a8f2-3c4d-7e5f-8a6b-9c0d1e2f3a4b"

TOKENS = (
    "[", "]", "![", "[a](", "](", "[[", "]]", "[[a", "(", ")", "`", "``", "`a", "```", "~~~", ">", "> ", "- ", "-",
    "--", "#", "# ", "#a ", "*", "* ", "**", "_", "<", "<!--", "-->", "<a", "|", "||", ":", ": ", "::", "a:", "a: b",
    "a:\n", " ", "\t", " \t", "\n", "\r", "\r\n", "\n\n", "\n \n", '"', "'", '"a', "'a ", "\\", "\\\\", "0", "1.",
    "1. ", "1) ", "a", "a.", "a. ", "a ", ". ", "! ", "?", "。", ",", ", ", ";", "{", "}", "{a", "@", "@a", "=", "==",
    "= ", "&", "&#", "&amp;", "%", "/", "//", "a/", "../", "+", "+++", "---", "---\n", "...\n", "=======\n",
    "<<<<<<< \n", "$", "${", "key=", "sk-", "token: ", "-----BEGIN ", "e", "A", "A ", "Aa", "me and ", "session 0-",
    "I ", "it did not ", "failed to ", "tried ", "always ", "2026-11-22", "20", "0-", "12:", "\u0301", "e\u0301",
    "\u4e2d", "\u3042\u30fc", "\u0e01", "\uac00", "\u200b", "\u200d", "\ufeff", "\u2028", "\u202e", "\U0001f600",
    "\ud800", "\x00", "\x0b", "\x85", "\xa0", "\u00df", "\u0130", "[a]", "[a](b)", "[a](b c", "![a]", "[[a]]",
    "[[a|b]]", "`a`", "- [ ] ", "> - ", "*a*", "_a_", "a_", "a-", "a\n", "- a\n", "# a\n", "> a\n", "| a | b |\n",
    "## 10:00 - a\n", "- **Type:** a\n", "{#a", "a\t\n", "eyJ", "://a:", "http://a/", "a@b.", "x.example.", "#\u00e9",
    "a b\n\n",
)  # fmt: skip


HINTS = " ".join(hint for rule in (*secrets._RULES, *secrets._DETECTORS) for hint in rule.hints)


def _part(said: str) -> str:
    """An eighth of a text, for what does much with each character or line."""
    return said[: len(said) // 8]


def _head(body: str) -> bytes:
    return f"---\nid: {ID}\ntype: fact\n---\n{body}\n".encode("utf-8", "surrogatepass")


def _bytes(said: str) -> bytes:
    return said.encode("utf-8", "surrogatepass")


def _in_head(said: str) -> bytes:
    return _bytes(f"---\nid: {ID}\ntype: fact\n{said}\n---\nBody.\n")


def _as_title(said: str) -> bytes:
    return _bytes(f"---\nid: {ID}\ntype: fact\ntitle: {said}\n---\nBody.\n")


def _parsed(data: bytes) -> None:
    found = understand("vault/a.md", data, (0, 0, 0, 0), REGISTRY)
    if found.entry is not None:
        documents.document(found.entry, data.decode("utf-8", "replace"))


def _event(said: str) -> attempts.Event:
    return attempts.Event(at="2026-11-22T10:00:00Z", text=said)


WORST = (
    "[", "[a](", "[[", "`", "``` ", "> ", "- ", "#", "*", "<!--", "|", "a: b", " ", "\n", '"', "\\", "1.", "a", "a.", "# ", "{#a",
    "eyJ", "://a:", "\u0301",
)  # fmt: skip
ENDED = ("[", "`", "# ", "a")
"""Of these also what begins or ends otherwise than it went on."""

FUNCTIONS: dict[str, Callable[[str], Any]] = {
    "normal_name": text.normal_name,
    "first_tokens": lambda said: text.first_tokens(said, 100),
    "body_hash": text.body_hash,
    "one_line": lambda said: text.one_line(said, 80),
    "first_sentence": text.first_sentence,
    "plain_line": text.plain_line,
    "slug": text.slug,
    "unwrap_link": text.unwrap_link,
    "links": lambda said: list(note_links.links_in(said)),
    "decoded links": note_links.with_paths_decoded,
    "links in properties": lambda said: list(note_links.links_in_properties({"up": said})),
    "prose_lines": lambda said: list(text.prose_lines(said)),
    "parse_time": clock.parse_time,
    "evidence": evidence.fault_in,
    "ids": lambda said: (ids.canonical(said), ids.as_prefix(said)),
    "parse body": lambda said: _parsed(_head(said)),
    "parse no head": lambda said: _parsed(_bytes(said)),
    "parse in head": lambda said: _parsed(_in_head(said)),
    "parse title": lambda said: _parsed(_as_title(said)),
    "parse list": lambda said: _parsed(_as_title(f"x\nsubjects: [{said}]")),
    "split": lambda said: split(_bytes(said)),
    "conflict": lambda said: conflict(said, 1),
    "read_simple": lambda said: simple.read_simple(f"{said}\n", 1),
    "edit body": lambda said: edit(_head(said), [Set("title", "x")]),
    "edit head": lambda said: edit(_in_head(said), [AddItems("subjects", ["x"])]),
    "edit title": lambda said: edit(_as_title(said), [Set("summary", "y")]),
    "set title": lambda said: edit(_head("Body."), [Set("title", said)]),
    "scalar": head_writer.scalar,
    "field": lambda said: head_writer.field("title", said),
    "episode": lambda said: episode_text.read_episode("vault/episodes/2026-11-22.a.md", _bytes(said)),
    "episode entry": lambda said: episode_text.read_episode("vault/episodes/2026-11-22.a.md", _bytes(f"## 10:00 - a\n\n{said}")),
    "episode problems": lambda said: episode_text.episode_problems("vault/episodes/2026-11-22.a.md", _bytes(said)),
    "signals": lambda said: signal_lines.read_signals("vault/signals/2026-11.a.jsonl", _bytes(_part(said))),
    "secrets": secrets.scan,
    "secrets beside hints": lambda said: secrets.scan(f"{HINTS} {_part(said)}"),
    "secret in a field": lambda said: secrets.scan(f"password: {said}"),
    "masked": secrets.masked,
    "searchable": documents.searchable,
    "query": lambda said: documents.read_query(said, str.split),
    "passages": lambda said: passages("A title", said),
    "passages of a title": lambda said: passages(said, "A body.", said, [said]),
    "question": question.parse_question,
    "question said": lambda text: question.parse_question(text, conversational=True),
    "times": lambda said: times.read(said, TODAY),
    "times of a memory": lambda said: times.about(said, said, said, TODAY),
    "names a time": time_words.names_some,
    "question without": lambda said: question.without(said, ["harbor"]),
    "word_count": question.word_count,
    "speaker": retrievers._SPEAKER.match,
    "features": alike.features,
    "signs": lambda said: list(backstop.signs(said)),
    "inline": lambda said: escape.inline(said, 80),
    "inline long": lambda said: escape.inline(said, LONG),
    "words": lambda said: escape.words(said, 80),
    "block": escape.block,
    "quote": lambda said: escape.quote(escape.block(said)),
    "link_path": escape.link_path,
    "visible": escape.readable,
    "budget cut": lambda said: budget.cut(said, 2000),
    "budget cut long": lambda said: budget.cut(said, LONG // 4),
    "answered": lambda said: templates.answered(said, "# A\n\n<!-- b -->\n"),
    "shortened": lambda said: packets.shortened(said, 500),
    "soul": hygiene.soul_findings,
    "protocol": hygiene.protocol_findings,
    "procedural": hygiene.procedural,
    "tactical": hygiene.tactical,
    "outcome": lambda said: attempts.outcome_of(_event(said)),
    "ledger": passes.read,
    "ledger packets": passes.packets,
    "ledger lines": passes.lines,
    "similar names": lambda said: similar_names.similar_names(f"{said} a", ["harbor", f"{said} b"]),
    "printed": lambda said: (blocks.printable(said), blocks.width(said)),
    "natural order": timeline._natural,
    "read_date": dates.read_date,
    "toml head": toml_head.toml_head,
    "toml head begun": lambda said: toml_head.toml_head(f"+++\n{said}"),
    "tags": lambda said: list(tags.in_prose(said)),
    "tags of a head": lambda said: list(tags.in_head({"tags": said})),
    "title": lambda said: page_titles.title_of("a.md", {}, said),
    "import": lambda said: notes.record_from_note("a.md", _bytes(said), notes.ImportOptions(), REGISTRY, identity=ID),
    "import with a head": lambda said: notes.record_from_note(
        "a.md", _in_head(said), notes.ImportOptions(), REGISTRY, identity=ID
    ),
    "import a title": lambda said: notes.record_from_note("a.md", _as_title(said), notes.ImportOptions(), REGISTRY, identity=ID),
    "own id": lambda said: notes.own_id(_bytes(said)),
    "untouched": lambda said: notes.untouched(_bytes(said)),
    "safe part": copy_paths.safe_part,
    "old episode": lambda said: cognitive.episode(_bytes(said), "a", "b", lambda path: path),
}


def _shapes(token: str, size: int) -> Iterator[tuple[str, str]]:
    """Texts of `size` characters that are made of a token."""
    one = (token * (size // len(token) + 1))[:size]
    yield "a line", one
    if CAMPAIGN or token in ENDED:
        yield "after a word", f"word {one[:-10]}"
        yield "before a word", f"{one[:-10]} word."
    if CAMPAIGN:
        yield "alternating", (f"{token}a " * (size // (len(token) + 2) + 1))[:size]
    yield "lines", (f"{token}\n" * (size // (len(token) + 1) + 1))[:size]


def _shape(token: str, shape: str, size: int) -> str:
    return dict(_shapes(token, size))[shape]


def _cost(function: Callable[[str], Any], said: str, runs: int) -> float:
    """The least CPU seconds of this thread that it takes: what else the machine does is not counted."""
    least = inf
    for _ in range(runs):
        begun = time.thread_time()
        with suppress(VaultError, ValueError):
            function(said)
        least = min(least, time.thread_time() - begun)
    return least


Cost = Callable[[str, int], float]
"""The least CPU seconds that a text takes in so many runs."""


def _is_slow(cost: Cost, text_of: Callable[[int], str], size: int = SHORT, noise: float = NOISE) -> str:
    """What is wrong with how the time grows from texts of a size on; empty where it grows as the text."""
    short, long = text_of(size), text_of(2 * size)
    if cost(short, 1) * 8 < noise:
        return ""
    once = twice = inf
    for _ in range(TURNS):
        # By turns, for the machine's pace changes: the least of each was taken when it was quickest.
        once, twice = min(once, cost(short, 1)), min(twice, cost(long, 1))
        if twice < noise or twice <= MOST * once:
            return ""
        if once > 1:
            return f"{once:.3f} s, and {twice:.3f} s for twice the length"  # whole seconds are no noise
    longest = text_of(size * LONGEST // SHORT)
    eightfold = cost(longest, 1)
    if MOST_OF_ALL * once < eightfold < 2 * MOST_OF_ALL * once:
        eightfold = min(eightfold, cost(longest, 2))
    if eightfold <= MOST_OF_ALL * once:
        return ""
    return f"{once:.3f} s, {twice:.3f} s for twice the length, and {eightfold:.3f} s for eight times the length"


def _is_steep(cost: Cost, first: str, second: str) -> bool:
    """Whether a text and an eighth of it leave a doubt that the time grows as the text."""
    empty = cost("", 1)
    twice = cost(second, 1)
    if twice * (LONG / SECOND) ** 2 < NOISE:
        return False
    return twice - empty > STEEP * (cost(first, 2) - empty) and cost(second, 3) - empty > STEEP * (cost(first, 5) - empty)


@pytest.fixture(autouse=True)
def _no_collection() -> Iterator[None]:
    """What is collected meanwhile would be counted."""
    gc.disable()
    yield
    gc.enable()


def _slow_shapes(function: Callable[[str], Any], token: str) -> Iterator[str]:
    """What is wrong with the time over the texts that are made of a token."""
    cost = partial(_cost, function)
    for (shape, first), (_, second) in zip(_shapes(token, FIRST), _shapes(token, SECOND), strict=True):
        text_of = partial(_shape, token, shape)
        if (CAMPAIGN or _is_steep(cost, first, second)) and (fault := _is_slow(cost, text_of)):
            yield f"{token!r} as {shape}: {fault}"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_twice_the_text_takes_twice_the_time(name: str) -> None:
    slow: list[str] = []
    for token in TOKENS if CAMPAIGN else WORST:
        slow += itertools.islice(_slow_shapes(FUNCTIONS[name], token), 1)
        if len(slow) > 3:
            break
    assert not slow, "\n".join(slow)


def test_what_takes_longer_than_its_text_is_seen_beside_what_does_not() -> None:
    def as_the_text(said: str) -> int:
        return sum(1 for _ in said) + sum(1 for _ in said)

    def partly_not(said: str) -> int:
        return as_the_text(said) + sum(said.count("b") for _ in range(len(said) // 8))

    assert any(_slow_shapes(partly_not, "a"))
    assert not any(_slow_shapes(as_the_text, "a"))


_COUNT = itertools.count()


def _new(said: str) -> str:
    """A text that no vault has yet."""
    return f"word{next(_COUNT)} {said}"


def _saved(vault: Vault, path: str, said: str) -> Vault:
    """A vault in which a person saved a file."""
    file = vault.root / path
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(_bytes(said))
    return vault


def _noted(vault: Vault, said: str, head: str = "title: A title") -> Vault:
    return _saved(vault, "vault/evil.md", f"---\nid: {ID}\ntype: fact\nimportance: 1\npinned: true\n{head}\n---\n{_new(said)}\n")


def _source(vault: Vault, said: str) -> Path:
    """A folder of one note to be imported."""
    folder = vault.root.parent / "source"
    folder.mkdir(exist_ok=True)
    (folder / "a.md").write_bytes(_bytes(said))
    return folder


VERBS: dict[str, Callable[[Vault, str], Any]] = {
    "remember": lambda vault, said: vault.remember(_new(said), ["Harbor"]),
    "remember a title": lambda vault, said: vault.remember(_new(""), title=_new(said)),
    "remember subjects": lambda vault, said: vault.remember(_new(""), [_new(f"{said} {end}") for end in "ab"], tags=[said]),
    "add_observations": lambda vault, said: vault.add_observations([{"content": _new(said), "subject_names": ["Harbor"]}]),
    "update_subject_summary": lambda vault, said: vault.update_subject_summary("Harbor", _new(said)),
    "search": lambda vault, said: vault.search(_new(said)),
    "search_observations": lambda vault, said: vault.search_observations(["Harbor"], _new(said)),
    "recall": lambda vault, said: vault.recall(_new(said)),
    "recall over": lambda vault, said: _noted(vault, said).recall("a word with a title of the harbor"),
    "bring_to_mind": lambda vault, said: vault.bring_to_mind(_new(said)),
    "turn": lambda vault, said: vault.turn("s", "a person", "here", _new(said)),
    "import": lambda vault, said: vault.import_markdown(_source(vault, _new(said))),
    "import a head": lambda vault, said: vault.import_markdown(_source(vault, f"---\na: {_new(said)}\n---\nBody.\n")),
    "doctor": lambda vault, said: _noted(vault, said).doctor(),
    "doctor of a head": lambda vault, said: _noted(vault, "", said).doctor(),
    "doctor of a log": lambda vault, said: _saved(vault, "vault/episodes/2026-11-20.a.md", _new(said)).doctor(),
    "doctor of signals": lambda vault, said: _saved(vault, "vault/signals/2026-11.a.jsonl", _new(said)).doctor(),
    "reindex": lambda vault, said: _noted(vault, said).reindex(),
    "reflect": lambda vault, said: _noted(vault, said, f"title: {said}").reflect(),
    "core": lambda vault, said: _noted(vault, said).core(preview=True),
    "show": lambda vault, said: _noted(vault, said).show(ID),
    "snapshot": lambda vault, said: _noted(vault, said).snapshot(),
}

EVIL = ("[", "*", "`", "\n", "<", " ", "a.", "[[", "#", "- ", "|", "0", "\u0301", "I ", "\u4e2d", "[[a]] ", "# a\n", "a: b\n")
FEW = ("[", "`", "\n", "a.", "- ")
"""Tokens and what is tried of them outside of a campaign."""


@pytest.fixture(scope="module")
def a_vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault without git, with a subject; to be copied."""
    root = tmp_path_factory.mktemp("linear") / "notes"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(root.parent))
        Vault.init(root, no_git=True, clock=clock.FixedClock(START))
        with Vault.open(root, clock=clock.FixedClock(START)) as vault:
            vault.remember("A word of the harbor.", ["Harbor"])
    return root


def _measured(act: Callable[[str], Any]) -> Cost:
    """What a text costs, in all threads of this process."""

    def cost(said: str, runs: int) -> float:
        least = inf
        for _ in range(runs):
            begun = time.process_time()
            with suppress(VaultError):
                act(said)
            least = min(least, time.process_time() - begun)
        return least

    cost("a", 1)  # what is loaded, and made once
    return cost


def _more_than(bare: float, cost: Cost) -> Cost:
    return lambda said, runs: cost(said, runs) - bare


def _repeated(token: str, size: int) -> str:
    return (token * size)[:size]


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_over_twice_the_text_takes_twice_the_time(verb: str, a_vault: Path, tmp_path: Path) -> None:
    slow = []
    bare = inf
    """What next to no text costs; of each vault in a campaign, else of the first."""
    for number, token in enumerate(EVIL if CAMPAIGN else FEW):
        root = own_copy(a_vault, tmp_path / str(number) / "notes")
        with Vault.open(root, origin="owner", session="s", clock=clock.FixedClock(START)) as vault:
            measured = _measured(partial(VERBS[verb], vault))
            bare = measured("a", 3) if CAMPAIGN or bare == inf else bare
            cost = _more_than(bare, measured)
            for size in (SHORT, 10 * SHORT) if CAMPAIGN else (SHORT,):
                if fault := _is_slow(cost, partial(_repeated, token), size, NOISE_OF_VERBS):
                    slow.append(f"{token!r} {size} times: {fault}")
                    break
    assert not slow, "\n".join(slow)
