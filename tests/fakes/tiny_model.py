"""A real model for onnxruntime in place of the local one, a few kilobytes large: a table of vectors, a row for each letter."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vault_tool.index.embedding.onnx import DIMENSIONS, MODEL, folder_in

_LETTERS = 256
_FLOAT, _INT64 = 1, 7


def put(models: Path, seed: int, model: str = MODEL) -> Path:
    """Put a model's files below a folder of models, the weights by `seed`, all of one size; the folder of the files."""
    folder = folder_in(models, model)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(weights_of(seed))
    (folder / "tokenizer.json").write_text(_tokenizer(), encoding="utf-8")
    return folder


def weights_of(seed: int) -> bytes:
    """The model's file: the vector of each token is a row of a table."""
    table = np.random.default_rng(seed).standard_normal((_LETTERS, DIMENSIONS)).astype(np.float32)
    tensor = _number(1, _LETTERS) + _number(1, DIMENSIONS) + _number(2, _FLOAT) + _text(8, "table") + _bytes(9, table.tobytes())
    node = _text(1, "table") + _text(1, "input_ids") + _text(2, "last_hidden_state") + _text(4, "Gather")
    inputs = [_value(name, _INT64, "batch", "length") for name in ("input_ids", "attention_mask", "token_type_ids")]
    output = _value("last_hidden_state", _FLOAT, "batch", "length", DIMENSIONS)
    graph = (
        _bytes(1, node) + _text(2, "tiny") + _bytes(5, tensor) + b"".join(_bytes(11, one) for one in inputs) + _bytes(12, output)
    )
    return _number(1, 8) + _bytes(8, _text(1, "") + _number(2, 13)) + _bytes(7, graph)


def _tokenizer() -> str:
    from tokenizers import Tokenizer, models, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: at for at, letter in enumerate(letters)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return str(tokenizer.to_str())


def _value(name: str, kind: int, *dimensions: str | int) -> bytes:
    shape = b"".join(_bytes(1, _number(1, one) if isinstance(one, int) else _text(2, one)) for one in dimensions)
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])
