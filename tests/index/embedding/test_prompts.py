"""The words before a text: by role, by model, with an instruction only where it is heeded."""

from __future__ import annotations

import pytest

from vault_tool.config import Config
from vault_tool.index.embedding.embedder import Role
from vault_tool.index.embedding.prompts import UNKNOWN, prompts_of


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("nomic-embed-text", "search_query: x", "search_document: x"),
        ("nomic-embed-text:v1.5", "search_query: x", "search_document: x"),
        ("someone/nomic-embed-text-v2-moe", "search_query: x", "search_document: x"),
        ("mxbai-embed-large", "Represent this sentence for searching relevant passages: x", "x"),
        ("snowflake-arctic-embed2", "query: x", "x"),
        ("snowflake-arctic-embed:33m", "Represent this sentence for searching relevant passages: x", "x"),
        ("bge-m3", "x", "x"),
        ("BAAI/bge-small-en-v1.5", "Represent this sentence for searching relevant passages: x", "x"),
        ("text-embedding-3-small", "x", "x"),
        ("nobody-knows-it", "x", "x"),
    ],
)
def test_each_model_gets_its_own_prefixes(model: str, query: str, document: str) -> None:
    prompts = prompts_of(model)
    assert prompts.before("x", Role.QUERY) == query
    assert prompts.before("x", Role.DOCUMENT) == document


def test_an_instruction_stands_before_the_text_where_it_is_heeded() -> None:
    assert prompts_of("nomic-embed-text").before("x", Role.QUERY, "About y:") == "search_query: About y: x"
    assert prompts_of("all-minilm:l6-v2").before("x", Role.QUERY, "About y:") == "x"
    assert prompts_of("nobody-knows-it") is UNKNOWN


@pytest.mark.parametrize(
    ("heeds", "models"),
    [
        (True, ["nomic-embed-text", "nomic-embed-text:v1.5", "qwen3-embedding:8b", "intfloat/multilingual-e5-large-instruct"]),
        (False, ["multilingual-e5-small", "bge-m3", "bge-small-en", "text-embedding-3-small", "all-minilm", "mxbai-embed-large"]),
        (None, ["nobody-knows-it", "e6-base"]),
    ],
)
def test_which_models_heed_instructions(heeds: bool | None, models: list[str]) -> None:
    assert {model: prompts_of(model).follows_instructions for model in models} == dict.fromkeys(models, heeds)


def test_the_five_perspectives_have_their_instructions() -> None:
    assert Config().perspectives == {
        "general": "",
        "technical": "Represent for retrieval about technical design and implementation:",
        "relational": "Represent for retrieval about relationships, collaboration, and personal context:",
        "temporal": "Represent for retrieval about decisions made, things that changed, and open questions:",
        "project": "Represent for retrieval about project state and progress:",
    }
