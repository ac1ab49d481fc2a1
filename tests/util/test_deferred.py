"""A module that is declared and not loaded before something in it is asked for."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from vault_tool.util.deferred import deferred, deferred_pattern

_PROOF = """
import sys
from vault_tool.util.deferred import deferred
colors, letters = deferred("colorsys"), deferred("xml")
assert "colorsys" not in sys.modules and "xml.dom" not in sys.modules
assert colors.rgb_to_hls(0, 0, 0) == (0.0, 0.0, 0.0) and "colorsys" in sys.modules
assert letters.dom.Node.ELEMENT_NODE == 1
"""


@pytest.mark.without_coverage
def test_it_is_loaded_at_its_first_use_and_so_are_its_parts() -> None:
    done = subprocess.run([sys.executable, "-c", _PROOF], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_is_not_there_is_told_as_python_tells_it() -> None:
    with pytest.raises(AttributeError, match="colourful"):
        _ = deferred("colorsys").colourful
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        _ = deferred("no_such_module").name
    with pytest.raises((AttributeError, ModuleNotFoundError), match="colourful"):
        _ = deferred("json").colourful


def test_a_pattern_is_compiled_at_its_first_use_and_is_then_what_re_makes_of_it() -> None:
    words, data = deferred_pattern(r"(?P<first>[a-z]+) B", re.IGNORECASE), deferred_pattern(rb"\d+")
    assert "search" not in vars(words)
    found = words.search("an amber b")
    assert found is not None and found["first"] == "amber"
    assert "search" in vars(words)
    assert (words.pattern, words.sub("x", "a b"), data.findall(b"1 and 22")) == (r"(?P<first>[a-z]+) B", "x", [b"1", b"22"])
    with pytest.raises(re.error):
        deferred_pattern("(").match("")
    with pytest.raises(AttributeError):
        _ = words.nothing  # type: ignore[attr-defined]
