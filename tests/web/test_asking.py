"""What pages ask of the whole vault is asked again when anything changed, and once a minute."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

from starlette.requests import Request

from vault_tool import Vault
from vault_tool.vault.operation import Saved
from vault_tool.web.asking import AnswerCache, Flashes, done_with


def _settled(vault: Vault) -> None:
    """Wait until a note written just now is not read again: within one tick of the clock its time does not tell a later save."""
    seen, equal = "", 0
    while equal < 3:
        vault.fresh()
        now = vault.whole_index.catalog.seq()
        seen, equal = now, equal + 1 if now == seen else 0
        time.sleep(0.05)


def test_an_answer_is_kept_until_the_vault_changes_or_a_minute_is_over(tmp_path: Path) -> None:
    Vault.init(tmp_path / "lab", name="Lab", no_git=True)
    now = [0.0]
    answers, asked = AnswerCache(lambda: now[0]), []

    def count(vault: Vault) -> int:
        asked.append(vault)
        return len(asked)

    with Vault.open(tmp_path / "lab", person=True) as vault:
        _settled(vault)
        assert [answers.of(vault, "a", count), answers.of(vault, "a", count), answers.of(vault, "b", count)] == [1, 1, 2]
        vault.remember("The pump hums.")
        _settled(vault)
        assert answers.of(vault, "a", count) == 3
        note = next((tmp_path / "lab" / "vault").rglob("*pump*.md"))
        note.write_text(note.read_text("utf-8").replace("hums", "sings"), "utf-8")
        _settled(vault)
        assert answers.of(vault, "a", count) == 4, "also by another's hand"
        now[0] = 59
        assert answers.of(vault, "a", count) == 4
        now[0] = 61
        assert answers.of(vault, "a", count) == 5
        answers.ask_anew()
        assert answers.of(vault, "a", count) == 6


def test_a_page_tells_what_the_command_line_tells_beside_an_answer() -> None:
    app = SimpleNamespace(state=SimpleNamespace(flashes=Flashes()))
    saved = Saved(committed=False, reason="a merge is under way", conflicts=("pump (2).md",), warnings=("it waits",))
    answer = done_with(Request({"type": "http", "app": app}), "kept", back="/today", result=saved)
    query = urlsplit(answer.headers["location"]).query
    asked = Request({"type": "http", "app": app, "query_string": query.encode(), "headers": []})
    flash = app.state.flashes.of(asked)
    assert parse_qs(query) and flash is not None
    assert flash.warnings[:2] == ("it waits", "saved, but not committed: a merge is under way")
    assert "pump (2).md" in flash.warnings[2]
