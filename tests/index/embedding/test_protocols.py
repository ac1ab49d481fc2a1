"""The servers that stand in for Ollama and OpenAI are understood by the official clients, and our client asks them alike."""

from __future__ import annotations

import numpy as np
import ollama
import openai
from numpy.typing import NDArray

from tests.fakes.ollama_server import FakeOllama
from tests.fakes.openai_server import FakeOpenAI
from vault_tool.index.embedding.embedder import Role
from vault_tool.index.embedding.ollama import Ollama
from vault_tool.index.embedding.openai import OpenAI
from vault_tool.machine import Key

TEXTS = ["the migration of databases", "a recipe for soup"]


def _unit(rows: object) -> NDArray[np.float32]:
    found = np.asarray(rows, dtype=np.float32)
    lengths: NDArray[np.float32] = np.linalg.norm(found, axis=1, keepdims=True)
    return np.divide(found, lengths)


def test_the_official_ollama_client_gets_what_ours_gets() -> None:
    with FakeOllama() as server:
        theirs = ollama.Client(host=server.url)
        ours = Ollama(server.url)
        mine = ours.embed(TEXTS, Role.DOCUMENT)
        sent = [request.body["input"] for request in server.requests if request.path == "/api/embed"][-1]
        assert [one.model for one in theirs.list().models] == list(server.models)
        assert np.allclose(_unit(theirs.embed(model="nomic-embed-text", input=sent).embeddings), mine.vectors, atol=1e-3)


def test_the_official_openai_client_gets_what_ours_gets() -> None:
    with FakeOpenAI() as server:
        mine = OpenAI(Key("sk-key"), server.base_url).embed(TEXTS, Role.DOCUMENT)
        model = [request.body["model"] for request in server.requests][-1]
        theirs = openai.OpenAI(base_url=server.base_url, api_key="sk-key", max_retries=0)
        rows = [one.embedding for one in theirs.embeddings.create(model=model, input=TEXTS).data]
        assert np.allclose(_unit(rows), mine.vectors, atol=1e-3)
