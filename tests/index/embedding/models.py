"""The real model where it is at hand, named by an environment variable."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vault_tool.index.embedding.onnx import folder_in, present

MODELS = Path(os.environ.get("VAULT_TEST_MODELS") or "unset")
AT_HAND = bool(os.environ.get("VAULT_TEST_MODELS")) and present(folder_in(MODELS))

needs_model = pytest.mark.skipif(not AT_HAND, reason="VAULT_TEST_MODELS names no folder with all-MiniLM-L6-v2/onnx")
