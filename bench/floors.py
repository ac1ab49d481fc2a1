"""What the targets are ratios of: the least that could be done with stock tools, measured in the same run."""

from __future__ import annotations

import gc
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import orjson
import tantivy
import yaml

from bench.machine import git
from vault_tool.files.layout import INDEX_FILE, VAULT


def truth(root: Path) -> Iterator[str]:
    """Every file of the notes' folder."""
    for folder, _, names in os.walk(root / VAULT):
        yield from (os.path.join(folder, name) for name in names)  # noqa: PTH118  a Path for each would be slower


def read_and_parse(root: Path) -> int:
    """Read every file and parse every head with the stock C loader; returns how many heads there were."""
    heads = 0
    for path in truth(root):
        with open(path, "rb") as file:
            data = file.read()
        if data.startswith(b"---\n"):
            yaml.load(data.split(b"---\n", 2)[1], Loader=yaml.CSafeLoader)
            heads += 1
    return heads


class StockSearch:
    """The least that a question by words and meaning could cost: stock full text, one product, ten files read.

    `texts` are the notes' by their files; the vectors, one of `width` numbers a note, are random, which costs no less.
    """

    def __init__(self, texts: Mapping[Path, str], width: int) -> None:
        schema = tantivy.SchemaBuilder().add_text_field("body").add_integer_field("number", stored=True).build()
        self._index = tantivy.Index(schema)
        writer = self._index.writer()
        for number, text in enumerate(texts.values()):
            writer.add_document(tantivy.Document(body=text, number=number))
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()
        self._files = [*texts]
        chance = np.random.default_rng(1)
        self._vectors = chance.random((len(texts), width), np.float32)
        self._asked = chance.random(width, np.float32)

    def ask(self, question: str) -> int:
        """One query of these words, one product with every vector, and the ten answers read; how many bytes they have."""
        searcher = self._index.searcher()
        query, _ = self._index.parse_query_lenient(question, ["body"])
        hits = searcher.search(query, 10).hits
        by_words = [searcher.doc(at)["number"][0] for _, at in hits]
        scores = self._vectors @ self._asked
        by_meaning = np.argpartition(scores, -10)[-10:] if len(scores) > 10 else range(len(scores))
        best = [*dict.fromkeys([*by_words, *map(int, by_meaning)])][:10]
        return sum(len(self._files[number].read_bytes()) for number in best)


def git_status(root: Path) -> str:
    """Ask git whether anything changed."""
    return git(root, "status", "--porcelain")


def git_add_and_commit(root: Path, path: str) -> None:
    """Bare `git add` and `git commit` of one file that is there."""
    git(root, "add", "--", path)
    git(root, "commit", "-q", "-m", f"remember: {path}")


def git_add_and_commit_only(root: Path, path: str) -> None:
    """The same where nothing else that is staged goes along: what the tool promises, and dearer than the bare form."""
    git(root, "add", "--", path)
    git(root, "commit", "-q", "-m", f"remember: {path}", "--", path)


def write_durably(folder: Path, data: bytes) -> None:
    """Put one file on the disk for good: beside, fsync, rename, fsync of the folder, and nothing more."""
    name = folder / f"{secrets.token_hex(4)}.md"
    beside = name.with_suffix(".tmp")
    with open(beside, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(name)
    held = os.open(folder, os.O_RDONLY)
    os.fsync(held)
    os.close(held)


def look_up_in_json(root: Path, identity: str, fast: bool) -> str:
    """Find one memory's path the way a tool would that keeps its catalogue in one JSON file, at its best."""
    gc.disable()  # a fifth to two thirds of the load would go to looking for cycles that are not there
    data = (root / INDEX_FILE).read_bytes()
    found = orjson.loads(data) if fast else json.loads(data)
    return str(found["entries"][identity]["path"])
