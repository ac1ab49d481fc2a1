"""`recall` with `chats`: imported conversations beside an answer, and nowhere else."""

from __future__ import annotations

import json

import pytest

from tests.cli.typed import vt
from vault_tool import Vault
from vault_tool.errors import Exit, UsageError
from vault_tool.features.recall.recall import BundleWithChats

pytestmark = pytest.mark.without_git


def _chats(vault: Vault, count: int = 1) -> None:
    folder = vault.root / "vault/imported/claude/chats"
    folder.mkdir(parents=True)
    for number in range(count):
        head = f"---\ntitle: Kiln {number}\nchat: true\ncreated: 2026-0{1 + number % 9}-01T08:00:00Z\n---\n"
        (folder / f"kiln-{number}.md").write_text(f"{head}**user**: How hot is the zanzibar kiln of {number}?\n")
    (vault.root / "vault/page.md").write_text("# A page\n\nThe zanzibar kiln is in the yard.\n")
    vault.remember("The kiln is fired on Mondays.", ["Kiln"], kind="fact")


def test_conversations_are_told_beside_the_memories_where_they_are_asked_for(vault: Vault) -> None:
    _chats(vault)
    answer = vault.recall("How hot is the zanzibar kiln?", chats=True)
    assert isinstance(answer, BundleWithChats)
    assert [(chat.path, chat.title, chat.created[:10]) for chat in answer.chats] == [
        ("vault/imported/claude/chats/kiln-0.md", "Kiln 0", "2026-01-01")
    ]
    assert "zanzibar kiln of 0" in answer.chats[0].passage
    assert all("zanzibar" not in result.content for result in answer.results)
    plain = vault.recall("How hot is the zanzibar kiln?")
    assert not isinstance(plain, BundleWithChats)
    assert "zanzibar" not in repr(plain.results) and "zanzibar" not in repr(vault.bring_to_mind("the zanzibar kiln").results)  # type: ignore[union-attr]


def test_the_name_of_a_subject_finds_them_too(vault: Vault) -> None:
    _chats(vault)
    answer = vault.recall("Kiln", chats=True)
    assert isinstance(answer, BundleWithChats) and len(answer.chats) == 1


def test_a_user_is_shown_none(vault: Vault) -> None:
    _chats(vault)
    answer = vault.recall("the zanzibar kiln", chats=True, user="ann")
    assert isinstance(answer, BundleWithChats) and answer.chats == ()


def test_they_are_bounded_and_narrowed_by_their_day(vault: Vault) -> None:
    _chats(vault, 9)
    every = vault.recall("the zanzibar kiln", chats=True)
    late = vault.recall("the zanzibar kiln", chats=True, since="2026-08-01")
    assert isinstance(every, BundleWithChats) and len(every.chats) == 5
    assert isinstance(late, BundleWithChats) and {chat.title for chat in late.chats} == {"Kiln 7", "Kiln 8"}
    typed = vault.recall("the zanzibar kiln", chats=True, kinds=["fact"])
    assert isinstance(typed, BundleWithChats) and typed.chats == ()


def test_the_command_lists_them(vault: Vault) -> None:
    _chats(vault)
    said = vt("recall", "zanzibar kiln", "--chats", cwd=vault.root)
    assert said.returncode == Exit.DONE and "kiln-0.md" in said.stdout
    assert json.loads(vt("recall", "zanzibar kiln", "--chats", "--json", cwd=vault.root).stdout)["chats"][0]["title"] == "Kiln 0"


def test_conversations_are_of_now_alone(vault: Vault) -> None:
    with pytest.raises(UsageError, match="as of now alone"):
        vault.recall("the kiln", chats=True, as_of="2026-11-01")
