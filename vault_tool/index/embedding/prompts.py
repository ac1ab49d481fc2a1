"""The words that each known model wants before query and document, whether it heeds instructions, and its passages' length."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec.structs import replace

from vault_tool.index.embedding.embedder import Role
from vault_tool.util.structs import Struct

_SEARCH = "Represent this sentence for searching relevant passages: "
_SMALL, _MIDDLE, _LARGE = 900, 1600, 4000


class Prompts(Struct):
    """The words before texts; `window` in characters of English, well inside the model's own limit in tokens.

    A model that heeds no instruction makes nearly the same vector with each: it is None only where nobody knows.
    """

    query: str = ""
    document: str = ""
    follows_instructions: bool | None = False
    window: int = _MIDDLE

    def before(self, text: str, role: Role, instruction: str = "") -> str:
        """The text as the model is to see it: its prefix for the role, the instruction where it heeds one, the text."""
        prefix = self.query if role is Role.QUERY else self.document
        opening = f"{instruction} " if instruction and self.follows_instructions is not False else ""
        return f"{prefix}{opening}{text}"


UNKNOWN = Prompts(follows_instructions=None)

_KNOWN: Mapping[str, Prompts] = MappingProxyType(
    {
        "nomic-embed-text": Prompts("search_query: ", "search_document: ", follows_instructions=True, window=_LARGE),
        "mxbai-embed-large": Prompts(_SEARCH),
        "snowflake-arctic-embed": Prompts(_SEARCH),
        "snowflake-arctic-embed2": Prompts("query: ", window=_LARGE),
        "bge-m3": Prompts(window=_LARGE),
        "bge": Prompts(_SEARCH),
        "multilingual-e5": Prompts("query: ", "passage: "),
        "embeddinggemma": Prompts("task: search result | query: ", "title: none | text: ", window=_LARGE),
        "granite-embedding": Prompts(),
        "qwen3-embedding": Prompts(
            "Instruct: Given a question, retrieve the memories that answer it\nQuery: ", follows_instructions=True, window=_LARGE
        ),
        "all-minilm": Prompts(window=_SMALL),
        "paraphrase-multilingual": Prompts(window=_SMALL),
        "text-embedding-3-small": Prompts(window=_LARGE),
        "text-embedding-3-large": Prompts(window=_LARGE),
        "text-embedding-ada-002": Prompts(window=_LARGE),
    }
)


def prompts_of(model: str) -> Prompts:
    """The prompts of a model, whatever its tag (`:latest`), its owner's name before it, or what follows its family's name."""
    name = model.rpartition("/")[2].partition(":")[0].lower()
    family = max((known for known in _KNOWN if name == known or name.startswith(f"{known}-")), key=len, default="")
    prompts = _KNOWN.get(family, UNKNOWN)
    return replace(prompts, follows_instructions=True) if "instruct" in name else prompts
