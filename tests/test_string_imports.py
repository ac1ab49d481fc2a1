"""Modules that are named in strings are imports too: the layers and the rule against circles hold for them."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import vault_tool
import vault_tool.features
from vault_tool.vault import registered

PACKAGE = Path(vault_tool.__file__).parent
_CONTRACTS = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
_LAYERS = next(one["layers"] for one in _CONTRACTS if one["id"] == "floors")
LAYER = {name: n for n, names in enumerate(reversed(_LAYERS)) for name in names.split(" | ")}
_NAME = re.compile(r"vault_tool(\.\w+)+")

MODULES = {
    ".".join(("vault_tool", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}

TABLES = {"vault_tool": "the package's public names, each loaded when it is first asked for"}
"""The modules whose tables of strings may name any layer, and why."""


def named_in(source: str, known: Mapping[str, object] = MODULES) -> set[str]:
    """The modules that a source names in strings: whole, as the beginning of a formatted text, or as the name of one in it.

    A command that a process of its own is started by is no import: that process begins at the top again.
    """
    tree = ast.parse(source)
    started = {
        id(inner) for node in ast.walk(tree) if isinstance(node, ast.List) and _starts_python(node) for inner in ast.walk(node)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in started:
            text = node.value.rstrip(".")
            if _NAME.fullmatch(text):
                found.add(_module(text, known))
    return found - {""}


def _starts_python(node: ast.List) -> bool:
    return any(isinstance(item, ast.Constant) and item.value == "-m" for item in node.elts)


def _module(name: str, known: Mapping[str, object]) -> str:
    while name and name not in known:
        name = name.rpartition(".")[0]
    return "" if name == "vault_tool" else name


def layer(module: str) -> int:
    """The layer of a module, counted from below."""
    return LAYER[module.split(".")[1]]


def upward(edges: Mapping[str, set[str]]) -> list[tuple[str, str]]:
    """The edges that lead from a layer to one above it, or to another of the same height."""
    return [
        (source, target)
        for source, targets in edges.items()
        for target in targets
        if source not in TABLES and source.split(".")[1] != target.split(".")[1] and layer(source) <= layer(target)
    ]


def circles(edges: Mapping[str, set[str]], imports: Mapping[str, set[str]]) -> list[tuple[str, str]]:
    """The edges of strings from whose end imports lead back to their beginning."""
    return [(source, target) for source, targets in edges.items() for target in targets if source in _reached(target, imports)]


def _reached(start: str, imports: Mapping[str, set[str]]) -> set[str]:
    reached, waiting = set[str](), [start]
    while waiting:
        for name in imports.get(waiting.pop(), ()):
            if name not in reached:
                reached.add(name)
                waiting.append(name)
    return reached


def _imported(source: str) -> Iterator[str]:
    tree = ast.parse(source)
    blocks = [node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    types = {id(inner) for block in blocks for statement in block.body for inner in ast.walk(statement)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and id(node) not in types:
            yield from (_module(f"{node.module}.{name.name}", MODULES) for name in node.names if _NAME.match(node.module))


def test_no_string_names_a_module_of_a_layer_above() -> None:
    edges = {name: named_in(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}
    assert sum(map(len, edges.values())) > 50
    assert upward(edges) == []


def test_no_string_closes_a_circle_of_modules() -> None:
    sources = {name: path.read_text(encoding="utf-8") for name, path in MODULES.items() if name not in TABLES}
    edges = {name: named_in(source) for name, source in sources.items()}
    imports = {name: {*_imported(source), *edges[name]} - {"", name} for name, source in sources.items()}
    assert circles(edges, imports) == []


@pytest.mark.parametrize(
    "source",
    [
        'import_module("vault_tool.features.erasing.purging").finish(self)',
        'purging = deferred("vault_tool.features.erasing.purging")',
        'TABLE = {"forgetting": "vault_tool.features.erasing.purging"}',
        'getattr(import_module("vault_tool.features.erasing.purging.finish"), "x")',
        'name = f"vault_tool.features.{name}"',
    ],
)
def test_a_string_that_evades_the_layers_is_noticed(source: str) -> None:
    edges = {"vault_tool.vault.context": named_in(source)}
    assert [target.split(".")[1] for _, target in upward(edges)] == ["features"]


def test_what_names_a_process_or_a_page_is_no_import() -> None:
    assert named_in('command = [sys.executable, "-m", "vault_tool.watch.worker"]') == set()
    assert named_in('hint = "see vault_tool.verbs for more"') == set()


def test_a_circle_by_a_string_is_noticed() -> None:
    edges = {"a": {"b"}}
    assert circles(edges, {"a": {"b"}, "b": {"c"}, "c": {"a"}}) == [("a", "b")] and not circles(edges, {"a": {"b"}, "b": {"c"}})


DOORS = ("verbs.vault", "watch.worker", "watch.watcher", "cli.answering", "hooks.answers", "mcp.answering", "web.app")


@pytest.mark.parametrize("door", DOORS)
def test_every_door_knows_how_to_finish_what_was_begun(door: str) -> None:
    code = f"import vault_tool.{door}; from vault_tool.vault import registered; print(len(registered.finishers()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(len(list(registered.finishers()))) != "0"
