"""Hostile titles, subjects, tags, ids, paths and revisions: every file stays in its folder, every refusal is one line."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from tests.faults.hostile_names import NAMES, UNSAYABLE
from tests.faults.killer import runs_wanted
from tests.oracles import assert_git_is_sound, fingerprints
from vault_tool import Vault, VaultError
from vault_tool.files.layout import path_fault
from vault_tool.model.types import is_type_name

EVERY = (*NAMES, *UNSAYABLE)
ALL = EVERY if runs_wanted(0) else (*random.Random(6).sample(NAMES, len(NAMES) // 5), *UNSAYABLE)
"""By whole verbs one in five, and all of them in a campaign; `files/test_layout.py` has the places of all."""

FOLDERS = ("subjects", "observations", "understandings", "edges", "episodes", "signals")


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """A vault without git, in a folder where everything else must stay as it is."""
    (tmp_path / "vault-evil").mkdir()
    (tmp_path / "vault-evil" / "x.md").write_text("---\nid: 0\n---\nprecious\n")
    (tmp_path / "bystander.md").write_text("precious")
    Vault.init(tmp_path / "vault-notes", no_git=True)
    return tmp_path / "vault-notes"


def outside(root: Path) -> dict[str, str]:
    """Everything beside the vault, and in it all that no memory may be written to."""
    found = fingerprints(root.parent, ".")
    inner = f"{root.name}/"
    return {
        path: said
        for path, said in found.items()
        if not path.startswith((f"{inner}vault/", f"{inner}_cache/", f"{inner}_local/", f"{inner}_index", f"{inner}_state"))
    }


def assert_boxed(root: Path) -> None:
    """Every file under the notes stands in a folder of the tool's, under a name that any disk and shell can bear."""
    for path in fingerprints(root):
        assert path == "vault/workspace.md" or path.split("/")[1] in FOLDERS, path
        assert path_fault(path) == "", path
        name = PurePosixPath(path).name
        assert len(name.encode()) <= 200 and not name.startswith("-"), path
        assert (root / path).resolve().is_relative_to(root.resolve() / "vault")


def attempt(act: Callable[..., Any], *arguments: Any, **named: Any) -> bool:
    """Whether it was done; a refusal must be one line that a person can read, and nothing but one of ours."""
    try:
        act(*arguments, **named)
    except VaultError as fault:
        said = str(fault)
        assert said and "\n" not in said and "\r" not in said and "\x00" not in said and "\x1b" not in said, repr(said)
        assert len(said.encode("utf-8", "replace")) <= 1200, said
        return False
    return True


def test_there_are_five_hundred() -> None:
    assert len(EVERY) >= 500


@pytest.mark.parametrize("part", range(2))
def test_no_title_subject_or_tag_leaves_the_vault(plain: Path, part: int) -> None:
    before = outside(plain)
    with Vault.open(plain) as vault:
        done = 0
        for number, name in enumerate(ALL[part::2]):
            done += attempt(vault.remember, f"Text {number}.", [name], title=name, tags=[name], kind="fact")
        assert done > 36
        assert attempt(vault.remember, "It still works.", ["Plain"])
        assert {one.code for one in vault.doctor().problems if one.severity == "error"} == set()
    assert outside(plain) == before
    assert_boxed(plain)


def test_no_body_leaves_its_note(plain: Path) -> None:
    with Vault.open(plain) as vault:
        for number, name in enumerate(ALL[::3]):
            text = f"Text {number}:\n{name}\n---\nid: x\n---"
            try:
                made = vault.remember(text)
            except VaultError:
                continue
            assert vault.show(made.id).content == text.replace("\r\n", "\n") or "\r" in text
            assert vault.show(made.id).head["id"] == made.id
    assert_boxed(plain)


def test_no_understanding_or_edge_leaves_the_vault(plain: Path) -> None:
    before = outside(plain)
    with Vault.open(plain) as vault:
        done = 0
        for number, name in enumerate(ALL[::2]):
            done += attempt(vault.create_understanding, [name], f"Text {number}.", name, title=name, reason=name)
        assert done > 12
        active = [found.id for found in vault.search("text", 30, kinds=["understanding"]).results]
        for number, name in enumerate(ALL[: len(active) - 1]):
            attempt(vault.link, active[number], "RELATED_TO", active[number + 1], name, evidence=[name])
            attempt(vault.episode, name, name, type=name, tags=[name])
    assert outside(plain) == before
    assert_boxed(plain)


def test_what_is_asked_for_by_a_hostile_name_is_not_found_in_one_line(plain: Path) -> None:
    with Vault.open(plain) as vault:
        known = vault.remember("Known.", ["Known"]).id
        before = fingerprints(plain.parent, ".")
        for name in ALL[::2]:
            assert not attempt(vault.show, name) or not name.strip()
            assert not attempt(vault.pin, name)
            assert not attempt(vault.adopt, [name])
            assert not attempt(vault.link, known, name, known)
            assert not attempt(vault.remember, "Text.", kind=name) or is_type_name(name)
            attempt(vault.search, name)
            attempt(vault.search, "known", subject_names=[name], kinds=[name])
            attempt(vault.get_subjects, [name])
            attempt(vault.related, known, types=[name])
        unchanged = {path: said for path, said in fingerprints(plain.parent, ".").items() if path in before}
        ours = tuple(f"{plain.name}/{name}" for name in ("_index.json", "_state.json", "_cache/", "_local/", "vault/episodes/"))
        assert {path for path in before if before[path] != unchanged.get(path) and not path.startswith(ours)} == set()


def test_no_revision_or_path_is_an_option_of_gits(root: Path) -> None:
    with Vault.open(root) as vault:
        vault.remember("Known.", ["Known"])
        before = fingerprints(root.parent, ".")
        for name in ALL[::2]:
            attempt(vault.diff, since=name)
            attempt(vault.log, memory_id=name)
            attempt(vault.history, name)
            attempt(vault.diff, name)
            attempt(vault.commit, [name])
        for option in (
            "--output=stolen",
            "-Ostolen",
            "--ext-diff",
            "--upload-pack=touch stolen",
            "ext::touch stolen",
            "-c",
            "--",
        ):
            assert not attempt(vault.diff, since=option)
            assert not attempt(vault.history, option)
        after = fingerprints(root.parent, ".")
    derived = tuple(f"{root.name}/{name}/" for name in ("_cache", "_local"))
    assert {path for path in after if path not in before and not path.startswith(derived)} == set()
    assert not list(root.parent.rglob("stolen*"))
    assert_git_is_sound(root)


def test_no_template_or_setting_is_reached_by_a_hostile_type(root: Path) -> None:
    with Vault.open(root) as vault:
        before = fingerprints(root, ".")
        for name in ALL[::3]:
            assert not attempt(vault.new, f"../{name}", lambda path: None)
            assert not attempt(vault.config, name, "x") or name == "language"
        assert {path for path in fingerprints(root, ".") if path not in before and not path.startswith("_")} == set()
