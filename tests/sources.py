"""The package's source as the tests of its rules read it: each file is read and parsed once for all of them."""

from functools import cache
from pathlib import Path

import vault_tool
from bench import source

PACKAGE = Path(vault_tool.__file__).parent


@cache
def modules() -> list[source.Module]:
    """The modules that hold more than a docstring, each with its syntax tree."""
    return source.modules(PACKAGE)
