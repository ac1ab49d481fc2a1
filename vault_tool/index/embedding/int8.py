"""Making the local model's form of eight bits, when a person asks for it: a quarter of the size, more than twice as fast."""

from __future__ import annotations

import logging
import os
import shutil
from pathlib import Path

from vault_tool.errors import EmbeddingUnavailable
from vault_tool.index.embedding.onnx import FILES, GET_IT, INT8, folder_in, present, quantized
from vault_tool.util.atomic import storage


def make(models: Path) -> Path:
    """Make it of the local model below a folder of models, and return the folder of its files; one that is there is kept.

    Raises EmbeddingUnavailable where the local model, or the package that takes it apart, is missing; StorageError.
    """
    source, final = folder_in(models), folder_in(models, INT8)
    if present(final):
        return final
    if not present(source):
        raise EmbeddingUnavailable(f"the local model is not in {source}", f"{GET_IT}; the other form is made of it")
    fresh = final.with_name(f"onnx.{os.getpid()}.tmp")
    with storage(str(final)):
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
    before = logging.root.manager.disable
    # The library advises whoever makes a model for a product, on standard error.
    logging.disable(logging.WARNING)
    try:
        quantized(source / FILES[0], fresh / FILES[0], final)
        with storage(str(final)):
            shutil.copyfile(source / FILES[1], fresh / FILES[1])
            shutil.rmtree(final, ignore_errors=True)
            fresh.rename(final)
    finally:
        logging.disable(before)
        shutil.rmtree(fresh, ignore_errors=True)
    return final
