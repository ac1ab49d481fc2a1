"""A module that is declared and not loaded before something in it is asked for."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import walk_packages

import pytest

import vault_tool
import vault_tool.util.deferred as deferred_module
from vault_tool.util.deferred import LIBRARIES, deferred, deferred_pattern

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


_LATE = """
import sys
from pathlib import Path
folder = Path(sys.argv[1]) / "hall"
folder.mkdir()
(folder / "__init__.py").write_text(
    "from vault_tool.util.deferred import late_modules\\n__getattr__ = late_modules(__name__, {'attic': '1 ms'})\\n"
)
(folder / "attic.py").write_text("height = 2\\ndef told():\\n    return height\\n")
(folder / "cellar.py").write_text("from hall import attic\\n")
sys.path.insert(0, sys.argv[1])
import hall
from hall import attic, cellar
assert "hall.attic" not in sys.modules and "hall.cellar" in sys.modules
assert vars(attic)["height"] == 2
attic.height = 3
assert attic.told() == cellar.attic.told() == 3 and "hall.attic" in sys.modules
from hall import attic as loaded
assert loaded is sys.modules["hall.attic"] and loaded.height == 3
del attic.height
assert not hasattr(loaded, "height")
from hall.attic import told
try:
    from hall import garret
except ImportError as fault:
    assert "garret" in str(fault)
"""


@pytest.mark.without_coverage
def test_a_package_names_the_modules_that_are_loaded_late_and_what_is_set_in_one_is_set_for_all(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _LATE, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_module_that_is_loaded_late_is_there() -> None:
    packages = [import_module(info.name) for info in walk_packages(vault_tool.__path__, "vault_tool.") if info.ispkg]
    named = {package.__name__: getattr(package, "__getattr__", None) for package in packages}
    tables = {name: load for name, load in named.items() if load is not None and "late_modules" in load.__qualname__}
    assert len(tables) > 10
    for package, load in tables.items():
        for name in inspect.getclosurevars(load).nonlocals["modules"]:
            assert find_spec(f"{package}.{name}") is not None, (package, name)


def test_a_library_that_is_loaded_late_is_the_library() -> None:
    assert {*LIBRARIES} >= {"numpy", "tempfile"}
    for name in LIBRARIES:
        assert getattr(deferred_module, name).__name__ == name
    with pytest.raises(AttributeError, match="no_such_library"):
        _ = deferred_module.no_such_library  # type: ignore[attr-defined]
