"""Settings: what is changed in the page, what is only shown with its command, and the whole vault as a download."""

from __future__ import annotations

import json
import re
from html import unescape

from tests.git_repos import write
from tests.web.conftest import Served, Told

SECRET = "sk-proj-4711never"


def test_what_a_person_changes_is_one_commit_each_and_one_undo(served: Served) -> None:
    text = served.get("/settings")
    assert 'name="core_budget" value="12000"' in text and 'name="skipped_turns_days" value="14"' in text
    fields = {"core_budget": "8000", "skipped_turns_days": "30", "turn_log": "true", "turn_log_turns": "1000"}
    done = served.post("/settings", {**fields, "turn_log_bytes": "4000000"})
    assert "Budget of CORE.md: 8000, before 12000" in done and 'name="core_budget" value="8000"' in done
    with served.vault() as vault:
        assert (vault.settings.core_budget, vault.settings.skipped_turns_days) == (8000, 30)
    # The button of what was just done.
    flash = re.search(r'id="flash".*?action="/settings">(.*?)<button', done, re.DOTALL)
    assert flash and 'action="/undo"' not in done
    back = served.post("/settings", dict(re.findall(r'name="(\w+)" value="(\w+)"', flash.group(1))))
    assert 'name="core_budget" value="12000"' in back and 'name="skipped_turns_days" value="14"' in back
    assert "Nothing was changed" in served.post("/settings", {"core_budget": "12000"})
    assert "That did not work" in served.post("/settings", {"skipped_turns_days": "15", "turn_log_turns": "many"}, 400)
    with served.vault() as vault:
        assert vault.settings.skipped_turns_days == 14, "a form is taken as a whole"
    # What is no field of this form is set by no form.
    served.post("/settings", {"write_policy": "review", "owners": "eve@example.org", "openai_url": "http://evil.example"})
    with served.vault() as vault:
        assert vault.settings.write_policy == "auto" and vault.machine.owners == ()


def test_what_is_set_at_a_terminal_is_shown_with_its_command_and_no_key(served: Served) -> None:
    options = {"openai_key": SECRET, "openai_url": "https://llm.example/v1", "trusted": "ann@example.org"}
    write(served.root, "_config.json", json.dumps(options))
    text = unescape(served.get("/settings"))
    assert SECRET not in text and SECRET[-9:] not in text
    assert "https://llm.example/v1" in text and "is set" in text
    assert "ann@example.org" in text
    for command in ("config --owners", "config --trusted", "config --provider", "config --openai-key -", "config --openai-url",
                    "config global", "capture --set", "sync --set-up"):  # fmt: skip
        assert f"vt {command}" in text, command
    # For this vault, wherever they are typed.
    assert text.count(f"--vault {served.root}") >= 10


def test_an_editor_of_ones_own_is_a_program_and_no_script(served: Served) -> None:
    write(served.root, "vault/broken.md", "---\nid: [\n---\n")
    own = "idea://open?file={path}&line={line}"
    assert own in unescape(served.post("/editor", {"editor": "own", "address": own, "back": "/settings"}))
    assert f'href="idea://open?file={served.root}/vault/broken.md&line=' in unescape(served.get("/health"))
    for wrong in ("javascript:alert(1)//{path}", "https://evil.example/{path}", "data:text/html,{path}", "idea://open", "{path}"):
        assert "opens no file" in unescape(served.post("/editor", {"editor": "own", "address": wrong}, 400)), wrong
    served.client.cookies.set("vault-editor", "javascript%3Aalert%281%29%2F%2F%7Bpath%7D")
    assert "javascript" not in served.get("/health")


def test_the_download_is_the_export_without_what_no_reader_is_shown(told: Told) -> None:
    served, ids = told
    with served.vault() as vault:
        vault.export_as("jsonl", served.root.parent / "all.jsonl")
    answer = served.client.get("/export.jsonl")
    assert answer.content == (served.root.parent / "all.jsonl").read_bytes()
    assert 'attachment; filename="memories-' in answer.headers["content-disposition"]
    assert ids["ann"] in answer.text and answer.headers["x-left-out"] == "0"
    with served.vault() as vault:
        vault.consent(ids["ann"], "withdrawn", as_user="ann")
        told_of = vault.export_as("jsonl", served.root.parent / "all.jsonl").left_out["hidden"]
    answer = served.client.get("/export.jsonl")
    assert ids["ann"] not in answer.text and "ferry" not in answer.text
    assert answer.headers["x-left-out"] == str(told_of) and f"<b>{told_of} memories and lines</b>" in served.get("/settings")
    assert len([json.loads(line) for line in answer.text.splitlines()]) > 5
