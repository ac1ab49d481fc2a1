"""The stand-in: vectors that are near each other where words are shared, the same by the real client as within the process."""

from __future__ import annotations

import numpy as np
import pytest

from bench.embedder import DIMENSIONS, MODEL, ollama, vectors_of
from vault_tool.index.embedding.embedder import Role
from vault_tool.index.embedding.ollama import Ollama, models_at

TEXTS = ["The moon rises over the harbour.", "Over the harbour the moon rises late.", "Tax forms, due in April.", ""]


def test_texts_with_words_in_common_are_near_each_other() -> None:
    found = vectors_of(TEXTS)
    assert found.shape == (len(TEXTS), DIMENSIONS)
    assert np.linalg.norm(found, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert found[0] @ found[1] > 0.8 > 0.3 > found[0] @ found[2]
    assert np.array_equal(found, vectors_of(TEXTS))


def test_it_answers_the_client_of_ollama() -> None:
    with ollama() as url:
        assert models_at(url) == (MODEL,)
        done = Ollama(url, MODEL).embed(TEXTS, Role.DOCUMENT)
    assert not done.refused
    assert done.vectors == pytest.approx(vectors_of(TEXTS), abs=1e-6)
