"""A title, alias or file name that only one memory has stands wherever an id does."""

from __future__ import annotations

from pathlib import Path

import pytest

from vault_tool import Vault
from vault_tool.errors import Ambiguous, NotFound

pytestmark = pytest.mark.without_git


@pytest.fixture
def notes(vault: Vault, tmp_path: Path) -> Vault:
    folder = tmp_path / "garden"
    for name, text in {
        "Compost.md": "---\naliases: [black gold]\n---\nTurn it.\n",
        "a/Plan.md": "# Spring plan\n\nSow.\n",
        "b/Plan.md": "# Autumn plan\n\nReap.\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    vault.import_markdown(folder)
    return vault


@pytest.mark.parametrize("handle", ["Compost", "compost", "black_gold", "Black Gold"])
def test_an_unambiguous_name_is_a_handle(notes: Vault, handle: str) -> None:
    one = notes.get(handle)
    assert one.title == "Compost"
    assert notes.get(one.id).path == one.path
    assert notes.get("spring plan").title == "Spring plan"


def test_an_ambiguous_name_tells_the_candidates(notes: Vault) -> None:
    with pytest.raises(Ambiguous) as refused:
        notes.get("Plan")
    assert "Spring plan" in str(refused.value) and "Autumn plan" in str(refused.value)


def test_a_title_means_the_newest_of_its_revisions(notes: Vault) -> None:
    first = notes.create_understanding(["Redis"], "Redis is run by hand.", "By hand.", title="How Redis is run")
    second = notes.update_understanding("How Redis is run", "A timer runs it.", "By a timer.", reason="there is one")
    assert notes.get("How Redis is run").id == second.new_understanding_id
    third = notes.update_understanding("How Redis is run", "Systemd runs it.", "By systemd.", reason="the timer went")
    assert notes.get("How Redis is run").id == third.new_understanding_id
    assert notes.get(first.id).id == first.id


def test_the_text_of_a_memory_is_a_handle_as_its_writer_wrote_it(vault: Vault) -> None:
    drop = "Redis drops idle connections after 300 s."
    problem = vault.remember(drop, ["Redis"], kind="problem")
    long = f"The drops are seen {'again ' * 40}and again. They end at night."
    seen = vault.remember(long, ["Redis"], kind="fact")
    assert [vault.get(named).id for named in (drop, f"  {drop.upper()} ", long)] == [problem.id, problem.id, seen.id]
    fixed = vault.remember("A keepalive ended the drops.", ["Redis"], kind="solution", problem=drop)
    assert vault.show(fixed.id).head["problem"] == problem.id

    vault.remember("Redis drops idle connections after 300 s. That was before the keepalive.", kind="fact")
    assert vault.get(drop).id == problem.id
    with pytest.raises(NotFound):
        vault.get("Redis drops idle connections after 300 s. It does so at night.")
