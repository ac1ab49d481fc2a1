"""What is counted in a checkout: on a package small enough to count by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import source
from bench.__main__ import main
from bench.house import HERE, as_table, measures

PEOPLE = '''"""Who is asked."""
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import late
else:
    late = deferred("late")  # 2 ms

class Card(Base):
    """A memory on a page."""
    title: str
    type: str
    freshness: str

class Base:
    id: str
    path: str
    mood: str  # how it felt
    created: str

class Context:
    root: str
    def __init__(self) -> None:
        self.vectors, self._hidden = 1, 2
    def forget_all(self, one: int) -> None:
        """Of all, none is kept."""
        found = self.__dict__
        import_module("people.late")
    def fresh(self) -> None:
        self.fresh()

def current(cache, seq):
    # mood: not counted here
    return seq == cache.seq and cache.newest > 0
'''


@pytest.fixture
def package(tmp_path: Path) -> list[source.Module]:
    """A package of one module that has one of each."""
    (tmp_path / "people.py").write_text(PEOPLE, encoding="utf-8")
    (tmp_path / "empty.py").write_text('"""Nothing."""\n', encoding="utf-8")
    return source.modules(tmp_path)


def test_each_count_is_what_a_reader_counts(package: list[source.Module]) -> None:
    (module,) = package
    assert source.describing(package) == ["people.py:Card"]
    assert source.fields_called(package, "freshness") == 1
    assert source.caches(package) == ["people.py:current"]
    assert source.members_of(package, "Context") == len({"root", "vectors", "forget_all", "fresh"})
    assert (source.reaches(package), source.late_blocks(package), source.imports_by_strings(package)) == (1, 1, 1)
    assert source.riddles(package) == ["people.py:1", "people.py:24"]
    assert source.vague_names(package) == len({"one", "found"})
    assert module.calls("fresh") == 1
    assert {name for name, words in source.CAPABILITIES.items() if words & module.words} == {"vectors", "erasing"}
    assert not list(source.too_long(package))


def test_a_long_file_and_a_long_function_are_named(tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text("def walk():\n" + "    pass\n" * 61 + "#\n" * 600, encoding="utf-8")
    assert list(source.too_long(source.modules(tmp_path))) == ["long.py", "long.py:walk"]


def test_riddles_of_pages_are_named_where_they_ask_nothing(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "Who asks is told. What is a memory? A note. Nobody reads it.\n\n- Whose it is stands there.\n\n"
        "`nobody` is a name, and [a page](nobody.md) too.\n\n```sh\n# Of these\nWhat is typed stays.\n```\n\n| That is it. |\n",
        encoding="utf-8",
    )
    found = ["1: Who asks is told.", "1: Nobody", "3: - Whose it is stands there.", "12: | That is it."]
    assert source.riddles_in_prose([page]) == [f"page.md:{riddle}" for riddle in found]


def test_this_checkout_is_measured_beside_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["house", str(HERE), str(HERE), "--source", "--where", "describe"]) in (0, 1)
    printed = capsys.readouterr().out
    assert "files that know of erasing" in printed and "model/snapshot.py:Entry" in printed
    assert len(as_table([("this", measures(HERE))]).splitlines()) == len(measures(HERE)) + 2


def test_a_folder_without_the_package_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["house", str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err
