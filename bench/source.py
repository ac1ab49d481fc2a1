"""Counts read off the source of a checkout: which files know of a thing, calls, classes, names, lengths."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

CAPABILITIES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "turns": frozenset({"turn", "turns", "beat", "beats"}),
        "consent": frozenset({"consent", "consents"}),
        "erasing": frozenset({"erase", "erasing", "forget", "forgetting", "forgotten", "purge", "purging"}),
        "vectors": frozenset({"vector", "vectors"}),
        "visibility per user": frozenset({"withheld", "keeper", "visible", "visibility", "viewer"}),
    }
)
"""The words by which a file's identifiers show that it knows of a capability."""

RIDDLE = re.compile(r"^(Who|What|Whose|Of|That|Whom)\b(?!.*\?)|\b(that is none|that are none|nobody|somebody)\b", re.I)
"""A first line that begins with a relative clause without asking, or denies without saying of what."""

VAGUE = frozenset(
    {"one", "found", "said", "told", "some", "there", "made", "mine", "kept", "wanted", "given", "lacks", "item", "res"}
)
"""Names of locals and arguments that say nothing of their values."""

_IDENTITIES = frozenset({"id", "memory_id"})
_FACTS = frozenset(
    {
        "body",
        "class_",
        "confidence",
        "created",
        "decay",
        "headline",
        "importance",
        "kind",
        "memory",
        "observed",
        "path",
        "preview",
        "session",
        "snippet",
        "source",
        "status",
        "strength",
        "subject_names",
        "subjects",
        "summary",
        "text",
        "title",
        "truth",
        "type",
        "written",
    }
)
_FEWEST_FACTS = 4
_DOORS = frozenset({"cli", "mcp", "hooks", "web", "owner", "watch", "install"})
_STATE = re.compile(r"(^|_)seq$")
_LONGEST_FILE = 600
_LONGEST_FUNCTION = 60
_SENTENCE_START = re.compile(r"(?:^|(?<=[.:;!?])\s+|\|\s*|^[-*]\s+)((?:Who|What|Whose|Of|That|Whom)\b[^.!?|]*(?:[.!|]|$))")
_NO_PROSE = re.compile(r"`[^`]*`|(?<=\])\([^)]*\)")
_DENIAL = re.compile(r"(?<![\w-])(that is none|that are none|nobody|somebody)(?![\w-])", re.I)

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One file of the package: its path below it, and its text."""

    path: Path
    text: str

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Everything in its syntax tree."""
        return list(ast.walk(ast.parse(self.text)))

    @cached_property
    def code(self) -> str:
        """Its lines but for those that are comments."""
        return "\n".join(line for line in self.text.splitlines() if not line.lstrip().startswith("#"))

    @cached_property
    def words(self) -> set[str]:
        """The words of its identifiers and of the modules that it imports, split at underscores and capitals."""
        attributes = ("id", "attr", "arg", "name", "module", "asname")
        values = (getattr(node, attribute, None) for node in self.nodes for attribute in attributes)
        names = {value for value in values if isinstance(value, str)}
        return {word for name in names for word in re.findall(r"[a-z]+", re.sub(r"([A-Z])", r"_\1", name).lower())}

    @cached_property
    def functions(self) -> list[Function]:
        """Its functions and methods."""
        return [node for node in self.nodes if isinstance(node, Function)]

    @cached_property
    def classes(self) -> list[ast.ClassDef]:
        """Its classes."""
        return [node for node in self.nodes if isinstance(node, ast.ClassDef)]

    @property
    def is_door(self) -> bool:
        """Whether it is part of a command line, server, page or hook."""
        return bool(_DOORS & {*self.path.parts[:1]})

    def calls(self, method: str) -> int:
        """How many calls of a method of this name it has."""
        called = (node.func for node in self.nodes if isinstance(node, ast.Call))
        return sum(isinstance(func, ast.Attribute) and func.attr == method for func in called)


def modules(package: Path) -> list[Module]:
    """The modules of a package that hold more than a docstring."""
    paths = (path for path in sorted(package.rglob("*.py")) if path.stat().st_size > 60)
    return [Module(path.relative_to(package), path.read_text(encoding="utf-8")) for path in paths]


def describing(package: Iterable[Module]) -> list[str]:
    """The classes that describe a memory: they declare or inherit an id and at least four facts of one."""
    classes = {node.name: (module, node) for module in package for node in module.classes}

    def fields(name: str, seen: frozenset[str] = frozenset()) -> set[str]:
        if name not in classes or name in seen:
            return set()
        node = classes[name][1]
        own = {part.target.id for part in node.body if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)}
        bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
        return own.union(*(fields(base, seen | {name}) for base in bases))

    described = {name: fields(name) for name in classes}
    return sorted(
        f"{classes[name][0].path}:{name}"
        for name, names in described.items()
        if names & _IDENTITIES and len(names & _FACTS) >= _FEWEST_FACTS
    )


def fields_called(package: Iterable[Module], name: str) -> int:
    """How many classes declare a field of this name."""
    bodies = (part for module in package for node in module.classes for part in node.body)
    return sum(isinstance(part, ast.AnnAssign) and ast.unparse(part.target) == name for part in bodies)


def caches(package: Iterable[Module]) -> list[str]:
    """The functions that decide by a catalogue's number of state, kept before, whether something kept still holds."""
    return [
        f"{module.path}:{function.name}"
        for module in package
        for function in module.functions
        if any(isinstance(node, ast.Compare) and _compares_states(node) for node in ast.walk(function))
    ]


def _compares_states(node: ast.Compare) -> bool:
    """Whether a comparison is one of two states, and not of a state and a constant."""
    sides = [node.left, *node.comparators]
    names = [ast.unparse(side).removesuffix("()") for side in sides if not isinstance(side, ast.Constant)]
    return len(names) > 1 and any(_STATE.search(re.sub(r"[\[(].*", "", name.rpartition(".")[2])) for name in names)


def members_of(package: Iterable[Module], name: str) -> int:
    """The public members of a class: methods, properties and attributes that are set when it is made."""
    node = next((node for module in package for node in module.classes if node.name == name), None)
    if node is None:
        return 0
    methods = [part for part in node.body if isinstance(part, Function)]
    made = (target for part in methods if part.name == "__init__" for target in ast.walk(part))
    attributes = {
        target.attr
        for target in made
        if isinstance(target, ast.Attribute) and isinstance(target.ctx, ast.Store) and ast.unparse(target.value) == "self"
    }
    declared = {part.target.id for part in node.body if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)}
    return len([each for each in {*attributes, *declared, *(part.name for part in methods)} if not each.startswith("_")])


def importers_of(package: Iterable[Module], name: str) -> int:
    """How many modules import something by this name."""
    return sum(
        any(isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names) for node in module.nodes)
        for module in package
    )


def reaches(package: Iterable[Module]) -> int:
    """How often `__dict__` is reached into."""
    return sum(isinstance(node, ast.Attribute) and node.attr == "__dict__" for module in package for node in module.nodes)


def late_blocks(package: Iterable[Module]) -> int:
    """How many modules' names stand for a module that is loaded by its first use, each with a line of its own."""
    return sum(len(re.findall(r"^\s+\w+ = deferred\(", module.text, re.M)) for module in package)


def riddles(package: Iterable[Module]) -> list[str]:
    """The docstrings whose first line is a riddle."""
    documented = (ast.Module, ast.ClassDef, *Function.__args__)
    return [
        f"{module.path}:{getattr(node, 'lineno', 1)}"
        for module in package
        for node in module.nodes
        if isinstance(node, documented) and RIDDLE.search((ast.get_docstring(node) or "").split("\n")[0])
    ]


def riddles_in_prose(pages: Iterable[Path]) -> list[str]:
    """The sentences of pages that are riddles, by page and line; names in code, links and what is typed are no sentences."""
    return [
        f"{page.name}:{number}: {match[0].strip()}"
        for page in pages
        for number, line in _lines_of_prose(page.read_text(encoding="utf-8"))
        for match in (*_SENTENCE_START.finditer(line), *_DENIAL.finditer(line))
    ]


def _lines_of_prose(page: str) -> Iterator[tuple[int, str]]:
    """The numbered lines of a page outside of headings and blocks of code, without code and targets of links."""
    in_code = False
    for number, line in enumerate(page.splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code and not line.startswith("#"):
            yield number, _NO_PROSE.sub("", line)


def vague_names(package: Iterable[Module]) -> int:
    """How many locals are set, and arguments taken, by a name that says nothing."""
    nodes = [node for module in package for node in module.nodes]
    stored = sum(isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in VAGUE for node in nodes)
    return stored + sum(isinstance(node, ast.arg) and node.arg in VAGUE for node in nodes)


def imports_by_strings(package: Iterable[Module]) -> int:
    """The calls of `import_module` with the name of a module of ours, which no contract of imports can read."""
    calls = (node for module in package for node in module.nodes if isinstance(node, ast.Call))
    named = (call for call in calls if ast.unparse(call.func).endswith("import_module") and call.args)
    return sum(isinstance(call.args[0], ast.Constant) for call in named)


def too_long(package: Iterable[Module]) -> Iterator[str]:
    """The files of more than 600 lines and the functions of more than 60."""
    for module in package:
        if module.text.count("\n") > _LONGEST_FILE:
            yield str(module.path)
        for node in module.functions:
            if (node.end_lineno or 0) - node.lineno + 1 > _LONGEST_FUNCTION:
                yield f"{module.path}:{node.name}"
