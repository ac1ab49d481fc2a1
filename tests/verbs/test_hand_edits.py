"""What a person did by hand stays theirs: the tool's commit holds the tool's change, and undo gives no file of theirs away."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from vault_tool import Vault
from vault_tool.errors import EditRefused, Refused


def git(vault: Vault, *args: str) -> str:
    return subprocess.run(["git", *args], cwd=vault.root, capture_output=True, text=True, check=True).stdout


def test_a_pin_leaves_a_hand_edit_to_its_person(vault: Vault) -> None:
    made = vault.remember("Evidence.", ["A"])
    file = vault.root / made.path
    file.write_text(file.read_text() + "My own words.\n")
    pinned = vault.pin(made.id)
    assert pinned.committed
    assert "My own words." not in git(vault, "show", f"HEAD:{made.path}")
    assert "pinned: true" in git(vault, "show", f"HEAD:{made.path}")
    assert git(vault, "diff", "--stat").count("|") == 1
    assert "+My own words." in git(vault, "diff")
    assert "pinned" not in git(vault, "diff", "-U0")
    assert vault.commit().committed
    assert git(vault, "status", "--porcelain") == ""


def test_a_note_with_conflict_markers_is_not_pinned(vault: Vault) -> None:
    made = vault.remember("Evidence.", ["A"])
    file = vault.root / made.path
    file.write_text(file.read_text() + "<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> b\n")
    before, head = file.read_bytes(), git(vault, "rev-parse", "HEAD")
    with pytest.raises(EditRefused, match="conflict"):
        vault.pin(made.id)
    assert file.read_bytes() == before
    assert git(vault, "rev-parse", "HEAD") == head


@pytest.mark.parametrize("how", ["pin", "adopt"])
def test_undo_keeps_a_file_that_was_there_before(vault: Vault, how: str) -> None:
    identity = "22222222-2222-4222-8222-222222222222"
    file = vault.root / "vault" / "mine.md"
    head = f"---\nid: {identity}\ntype: fact\n---\n" if how == "pin" else ""
    file.write_text(f"{head}Handwritten.\n")
    if how == "pin":
        vault.as_(origin="owner").pin(identity)
    else:
        vault.adopt(["vault/mine.md"])
    with pytest.raises(Refused, match="nothing that can be taken back"):
        vault.as_person().undo()
    assert "Handwritten." in file.read_text()


def test_undo_does_not_reach_past_a_setting(vault: Vault) -> None:
    made = vault.remember("Keep me.", ["A"])
    vault.config("core_budget", "9000")
    with pytest.raises(Refused, match="changed no note"):
        vault.reopened().as_person().undo()
    assert (vault.root / made.path).exists()


def test_an_edit_that_changes_the_id_is_not_committed(vault: Vault) -> None:
    made = vault.remember("Evidence.", ["A"])
    other = "11111111-1111-4111-8111-111111111111"

    def editor(path: Path) -> None:
        path.write_text(path.read_text().replace(made.id, other))

    left = vault.edit(made.id, editor)
    assert (left.committed, left.attention) == (False, True)
    assert made.id in left.problems[0].hint
    assert f"id: {made.id}" in git(vault, "show", f"HEAD:{made.path}")


def test_one_name_is_one_subject(vault: Vault) -> None:
    made = vault.remember("Evidence.", "Redis", tags="slow")
    assert made.subject_names == ("Redis",)
    linked = vault.remember("More.", ["[[redis|Redis]]"])
    assert (linked.subject_names, linked.subjects_created) == (("Redis",), ())
    assert vault.get(made.id).head["tags"] == ["slow"]
