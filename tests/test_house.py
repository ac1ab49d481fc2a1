"""The house's own rules that imports cannot state: where SQL stands, and that a module's name leads to one file."""

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import vault_tool
from bench.source import Module
from tests import sources
from tests.sources import PACKAGE
from vault_tool.vault.facts import FACTS, FIRST_NAMES

DOORS = {"cli", "mcp", "hooks", "web"}
_SQL = re.compile(
    r"\s*(select\s.+\sfrom\s|insert\s+(or\s+\w+\s+)?into\s|delete\s+from\s|update\s+\w+\s+set\s|create\s+(table|index)\s)",
    re.I | re.S,
)


def _modules() -> list[Module]:
    return [module for module in sources.modules() if module.path.name not in ("__init__.py", "__main__.py")]


def _module(text: str) -> Module:
    return Module(Path("made_up.py"), text)


def statements(module: Module) -> list[str]:
    """The texts of a module that are SQL statements, also those that are put together of parts."""
    texts = (node.value for node in module.nodes if isinstance(node, ast.Constant))
    return [text for text in texts if isinstance(text, str) and _SQL.match(text)]


def test_only_the_index_speaks_sql() -> None:
    outside = [module for module in sources.modules() if module.path.parts[0] != "index"]
    found = {str(module.path): statements(module) for module in outside}
    assert {path: texts for path, texts in found.items() if texts} == {}


def test_no_class_is_a_dataclass() -> None:
    makers = [module.path for module in sources.modules() if re.search(r"^\s*(from|import) dataclasses\b", module.text, re.M)]
    assert not makers, "each costs a cold command most of a millisecond: derive from `Struct` of `util/structs.py`"


def test_a_statement_is_noticed_whatever_its_case() -> None:
    assert statements(_module("x = f'SELECT id FROM entries WHERE n IN ({m})'"))
    assert statements(_module('y = """\n  delete from entries"""'))
    assert not statements(_module("z = 'Select a memory'"))


def test_below_the_doors_a_name_leads_to_one_module() -> None:
    named = defaultdict(list)
    for module in _modules():
        if not DOORS & set(module.path.parts):
            named[module.path.stem].append(str(module.path))
    assert {name: paths for name, paths in named.items() if len(paths) > 1} == {}


MADE_OF_VERBS = {
    "features/sessions/keeping.py": {"remember"},
    "verbs/agent_files.py": {"commit"},  # what a person saved is committed as theirs before it is put right
    "features/consolidation/drafting.py": {"create_understanding", "update_understanding"},  # a draft is written as anybody's is
    "features/consolidation/round_trip.py": {"end_consolidation", "understand"},  # an answer is written as any understanding is
    "features/contracts/op.py": {"correct", "understand"},  # a request of these is the verb, with its parameters
    "features/subjects/projects.py": {"create_subjects"},  # a new project's subject is made as anybody's is
    "features/sessions/ending.py": {"link", "mark_questionable", "mark_useful", "remember"},  # one operation a vote or attempt
    "features/conflicts/settling.py": {"commit"},  # what goes is committed before it goes
    "features/sync/syncing.py": {"commit"},  # hand edits are committed as `commit` does it
    "features/turns/accept.py": {"link_beats"},  # beats are linked after they are written, as an operation of its own
}
"""The verbs that are operations one after the other. All else that two verbs do they share below them."""


def test_each_feature_is_named_in_the_contract_that_keeps_them_apart() -> None:
    settings = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    apart = next(contract["modules"] for contract in contracts if contract["id"] == "features")
    folders = [folder for folder in (PACKAGE / "features").iterdir() if (folder / "__init__.py").exists()]
    assert {name.split(".")[-1] for name in apart} == {folder.name for folder in folders}


def test_beside_the_features_stands_only_the_table_of_stores() -> None:
    assert {path.name for path in (PACKAGE / "features").glob("*.py")} == {"__init__.py", "stores.py"}


FLOORS_OF_FEATURES = 5


def test_features_stand_on_few_floors() -> None:
    """A verb of the top floor is understood by way of four modules of features: what they share stands below them."""
    names = {f"{PACKAGE.name}.{'.'.join(module.path.with_suffix('').parts)}": module for module in _modules()}
    verbs = {name: module for name, module in names.items() if name.startswith(f"{PACKAGE.name}.features.")}
    below = {name: {one for one in _imported(module) if one in verbs} for name, module in verbs.items()}
    floors = _floors(below)
    too_high = {name: floor for name, floor in floors.items() if floor > FLOORS_OF_FEATURES}
    assert too_high == {} and max(floors.values()) > 2


def _imported(module: Module) -> set[str]:
    """The modules that one imports, also in its functions; what is imported for types alone does not count."""
    alone = [node for node in module.nodes if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    types = {inner for node in alone for one in node.body for inner in ast.walk(one)}
    found = [node for node in module.nodes if isinstance(node, ast.ImportFrom) and node not in types]
    later = re.findall(r'\bdeferred(?:_verbs)?\("([\w.]+)"\)', module.text)
    return {name for node in found for one in node.names for name in (str(node.module), f"{node.module}.{one.name}")} | {*later}


def _floors(below: dict[str, set[str]]) -> dict[str, int]:
    """How long the longest way down from each module is, itself counted."""
    floors: dict[str, int] = {}
    while len(floors) < len(below):
        ready = {name for name, under in below.items() if name not in floors and under <= floors.keys()}
        assert ready, "modules import each other in a circle"
        floors |= {name: 1 + max((floors[one] for one in below[name]), default=0) for name in ready}
    return floors


def test_a_verb_is_made_of_verbs_only_where_it_is_several_operations() -> None:
    named = {name: getattr(vault_tool.Vault, name) for name in vars(vault_tool.Vault)}
    verbs = {name: value.__module__ for name, value in named.items() if callable(value)}
    found = defaultdict(set)
    for module in _modules():
        if module.path.parts[0] in ("features", "verbs") and module.path.name != "vault.py":
            for source, name in _used(module):
                if verbs.get(name) == source:
                    found[module.path.as_posix()].add(name)
    assert found == MADE_OF_VERBS


def _used(module: Module) -> Iterator[tuple[str, str]]:
    """What a module takes from others: names, and attributes of modules, each with the module that has it."""
    taken = [(node.module or "", name) for node in module.nodes if isinstance(node, ast.ImportFrom) for name in node.names]
    yield from ((source, name.name) for source, name in taken)
    modules = {name.asname or name.name: f"{source}.{name.name}" for source, name in taken}
    for node in module.nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield modules[node.value.id], node.attr


def facts_by_hand(module: Module) -> list[str]:
    """What a module makes of several facts that it reads off an entry itself, under the names that they have in answers."""
    names, readers = {*FACTS, *FIRST_NAMES}, {"text", "texts", "number"}
    found = []
    for call in (node for node in module.nodes if isinstance(node, ast.Call)):
        values = [
            one.value.values[0] if isinstance(one.value, ast.BoolOp) else one.value for one in call.keywords if one.arg in names
        ]
        read = [
            value
            for value in values
            if (isinstance(value, ast.Attribute) and value.attr in ("observed", "record_class", "generation"))
            or (isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in readers)
            or (isinstance(value, ast.Call) and getattr(value.func, "id", "") in ("details_of", "confidence_of", "body_of"))
        ]
        if len(read) > 1 and getattr(call.func, "id", "") != "replace":
            found.append(ast.unparse(call.func))
    return found


def test_what_is_told_of_a_memory_is_read_off_it_in_one_place() -> None:
    above = [each for each in _modules() if each.path.parts[0] in ("features", "verbs", "vault") and each.path.name != "facts.py"]
    found = {str(module.path): facts_by_hand(module) for module in above}
    assert {path: made for path, made in found.items() if made} == {}


def test_a_result_that_is_filled_by_hand_is_noticed() -> None:
    assert facts_by_hand(_module("Line(id=e.id, summary=e.text('summary') or None, tags=e.texts('tags'))")) == ["Line"]
    assert not facts_by_hand(_module("Line(id=e.id, tags=e.texts('tags'))"))


def test_one_module_says_where_local_files_are() -> None:
    """Whoever opens them asks `files/local_trust` for the place: by their folder alone they may be anybody's. What only says
    which process is there now may lie where it is; `setup` asks whether a deleted vault left anything.
    """
    told = {
        "files/local_trust.py",
        "features/doctor/local_doubts.py",
        "features/setup/setup.py",
        "files/lock.py",
        "files/watcher_presence.py",
        "owner/owner_lock.py",
    }
    by_folder = re.compile(r"\broot,? (?:/ )?\(?(?:layout\.)?(?:LOCAL|CACHE|CONFIG_FILE)\b(?! / LOCK_FILE)")
    found = {module.path.as_posix() for module in _modules() if by_folder.search(module.text)}
    assert found - told == {"files/sweeping.py"}, "ask `local_trust.place`"


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/glossary.md", "docs/code-map.md"])
def test_a_page_for_newcomers_names_files_that_are_there(page: str) -> None:
    named = re.findall(r"`((?!_)(?:\w+/)+(?:\w+\.py)?)`", (PACKAGE.parent / page).read_text(encoding="utf-8"))
    missing = [one for one in named if not any((root / one).exists() for root in (PACKAGE.parent, PACKAGE))]
    assert len(named) > 10 and missing == []
