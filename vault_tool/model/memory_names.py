"""The plain names of what `remember` takes, by which agents give memories too."""

from __future__ import annotations

from collections.abc import Mapping

PLAIN_NAMES: Mapping[str, str] = {"type": "kind", "subjects": "subject_names", "replaces": "change_targets"}
