"""Health: a file with a fault is mended in the page in three presses; what no scan lists is neither shown nor written."""

from __future__ import annotations

import os
import re
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.git_repos import git, write
from tests.verbs.looking import identity, note
from tests.web.conftest import Served, browsing
from vault_tool import Vault
from vault_tool.errors import NotFound, Refused, StaleEdit, UsageError
from vault_tool.features.doctor.file_mending import faulty_file, mend_file
from vault_tool.web.rendering import url

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BROKEN = "vault/quay.md"
TEXT = note(1, "The quay is closed in winter.").replace("type: fact", "type: fact\ntags: [a")


def _mend(path: str, **query: int) -> str:
    return url("/mend", **{"path": path, **query})


def _fields(text: str) -> dict[str, str]:
    names = ("path", "was", "base")
    fields = {name: re.search(rf'type="hidden" name="{name}" value="([^"]*)"', text) for name in names}
    area = re.search(r'<textarea id="text"[^>]*>\n(.*?)</textarea>', text, re.DOTALL)
    assert area
    return {**{name: unescape(found.group(1)) for name, found in fields.items() if found}, "text": unescape(area.group(1))}


def test_a_broken_file_is_mended_in_the_page_in_three_presses(chromium: Browser, served: Served) -> None:
    write(served.root, BROKEN, TEXT)
    with browsing(chromium, served) as found:
        page = found.page
        page.get_by_role("link", name="Health").first.click()
        page.wait_for_url("**/health")
        page.get_by_role("link", name="Edit the file").click()
        page.wait_for_selector("#text")
        page.locator("#text").fill(TEXT.replace("[a", "[a]"))
        page.get_by_role("button", name="Save").click()
        page.wait_for_selector("#flash")
        found.require_quiet()
    with served.vault() as vault:
        shown = vault.show(identity(1))
        assert list(shown.head["tags"]) == ["a"] and shown.content == "The quay is closed in winter."
    assert git(served.root, "log", "-1", "--format=%s").startswith("edit:")


def test_a_worse_text_is_refused_and_stays_in_the_form(served: Served) -> None:
    write(served.root, BROKEN, TEXT)
    fields = _fields(served.get(_mend(BROKEN)))
    worse = unescape(served.post("/mend", {**fields, "text": fields["text"].replace("id: ", "id: [")}, 400))
    assert "nothing was written" in worse and "id: [" in _fields(worse)["text"]
    assert (served.root / BROKEN).read_text("utf-8") == TEXT
    assert "saved" in served.post("/mend", {**_fields(worse), "text": TEXT.replace("[a", "[a]")})


def test_a_save_of_somebody_else_meanwhile_is_not_overwritten(served: Served) -> None:
    write(served.root, BROKEN, TEXT)
    fields = _fields(served.get(_mend(BROKEN)))
    theirs = TEXT.replace("closed", "open, says vim")
    write(served.root, BROKEN, theirs)
    stale = unescape(served.post("/mend", {**fields, "text": TEXT.replace("[a", "[a]")}, 409))
    assert "open, says vim" in stale and (served.root / BROKEN).read_text("utf-8") == theirs
    served.post("/mend", {**_fields(stale), "text": theirs.replace("[a", "[a]")})
    assert "open, says vim" in (served.root / BROKEN).read_text("utf-8")


def test_line_ends_stay_and_the_broken_text_is_kept(served: Served) -> None:
    write(served.root, BROKEN, "")
    broken = TEXT.replace("\n", "\r\n").encode()
    (served.root / BROKEN).write_bytes(broken)
    fields = _fields(served.get(_mend(BROKEN)))
    served.post("/mend", {**fields, "text": fields["text"].replace("\r\n", "\n").replace("[a", "[a]")})
    assert (served.root / BROKEN).read_bytes() == broken.replace(b"[a", b"[a]")
    assert [path.read_bytes() for path in (served.root / "_local" / "deleted").iterdir()] == [broken]


def test_two_files_of_one_id_are_told_apart_in_the_page(served: Served) -> None:
    for name in ("one", "two"):
        write(served.root, f"vault/{name}.md", note(2, f"The ferry says {name}."))
    assert "Give it an id of its own" in unescape(served.get("/health"))
    fields = _fields(served.get(_mend("vault/two.md", own_id=1)))
    assert identity(2) not in fields["text"] and "The ferry says two." in fields["text"]
    served.post("/mend", fields)
    with served.vault() as vault:
        assert vault.show(identity(2)).content == "The ferry says one."
        assert not [problem for problem in vault.doctor().problems if problem.code == "duplicate-id"]


@pytest.mark.parametrize("path", ["", "vault.toml", "CORE.md", "../x.md", "vault/../vault.toml", "_local/key", ".git/config"])
def test_only_what_the_scan_lists_is_shown_or_written(served: Served, path: str) -> None:
    write(served.root, BROKEN, TEXT)
    with served.vault() as vault:
        shown = vault.show(vault.remember("The crane sways.", ["Crane"]).id)
    before = git(served.root, "rev-parse", "HEAD")
    for named in (path, shown.path):
        served.get(_mend(named), 404)
        assert served.client.post("/mend", data={"path": named, "text": "x", "was": "y"}).status_code == 404
    assert git(served.root, "rev-parse", "HEAD") == before


def test_a_link_or_a_pipe_that_is_listed_is_not_followed(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text(TEXT, "utf-8")
    write(root, BROKEN, TEXT)
    mended = TEXT.replace("[a", "[a]")
    with Vault.open(root, person=True) as vault:
        was = faulty_file(vault, BROKEN).hash
        (root / BROKEN).unlink()
        (root / BROKEN).symlink_to(outside)
        with pytest.raises((NotFound, Refused)):
            faulty_file(vault, BROKEN)
        with pytest.raises((NotFound, Refused)):
            mend_file(vault, BROKEN, mended, was=was)
        (root / BROKEN).unlink()
        os.mkfifo(root / BROKEN)
        with pytest.raises((NotFound, Refused)):
            mend_file(vault, BROKEN, mended, was=was)
    assert outside.read_text("utf-8") == TEXT


def test_only_a_person_mends(root: Path) -> None:
    write(root, BROKEN, TEXT)
    with Vault.open(root, person=True) as vault:
        was = faulty_file(vault, BROKEN).hash
        with pytest.raises(StaleEdit):
            mend_file(vault, BROKEN, TEXT, was="0" * 64)
        with pytest.raises(UsageError):
            mend_file(vault, BROKEN, TEXT + "more", was=was)
    with Vault.open(root, origin="agent") as vault:
        with pytest.raises(Refused):
            faulty_file(vault, BROKEN)
        with pytest.raises(Refused):
            mend_file(vault, BROKEN, TEXT.replace("[a", "[a]"), was=was)
    assert (root / BROKEN).read_text("utf-8") == TEXT


def test_the_editor_is_a_setting_of_the_browser(served: Served) -> None:
    write(served.root, BROKEN, TEXT)
    assert f"vscode://file{served.root}/{BROKEN}:" in served.get("/health")
    for name, address in (("zed", "zed://file"), ("obsidian", "obsidian://open?path="), ("cursor", "cursor://file")):
        assert address in unescape(served.post("/editor", {"editor": name, "back": "/health"}))
    assert "Open in editor" not in served.post("/editor", {"editor": "none", "back": "/health"})
    served.post("/editor", {"editor": "javascript:alert(1)", "back": "//evil.example"})
    assert "javascript" not in served.get("/health") and "Open in editor" not in served.get("/health")


def test_what_capture_tells_and_whether_the_memory_helps(served: Served) -> None:
    with served.vault() as vault:
        vault.remember("The quay is closed in winter, says the harbour master.", ["Quay"])
    text = unescape(served.get("/health"))
    assert "not read" in text and "vt capture --set point" in text
    figures = unescape(served.get("/health/proof"))
    assert "Found again" in figures and "Not measured" in figures and re.search(r"<b>\d+ of \d+</b>", figures)


def _counts(served: Served) -> dict[str, int]:
    """How many problems each page tells: in the bar of places, and in its own words."""
    by_place = {}
    for path in ("/subjects", "/", "/health", "/memories", "/review"):
        badge = re.search(r'<b class="count bad">(\d+)<span class="unseen"> (problems?)</span>', served.get(path))
        by_place[path] = int(badge[1]) if badge else 0
        assert not badge or (badge[2] == "problem") == (badge[1] == "1"), "as it is read aloud"
    numbers = re.search(r'href="/health"><b[^>]*>(\d+)</b> problem', served.get("/"))
    lead = re.search(r'<p class="lead">(No|\d+) problem', served.get("/health"))
    assert numbers and lead
    return {**by_place, "Home": int(numbers[1]), "Health": 0 if lead[1] == "No" else int(lead[1])}


def test_every_page_tells_one_count_of_problems(served: Served) -> None:
    def told() -> int:
        counts = _counts(served)
        assert len(set(counts.values())) == 1, counts
        return counts["Health"]

    with served.vault() as vault:
        vault.remember("The crane is new.", ["Crane"])
    before = told()
    write(served.root, BROKEN, TEXT)
    assert told() > before
    settings = served.root / "vault.toml"
    whole, count = settings.read_text("utf-8"), told()
    settings.write_text(f"{whole}\n[broken\n", "utf-8")
    assert told() > count, "settings that cannot be read are a problem"
    settings.write_text(whole, "utf-8")
    assert told() == count
    write(served.root, "vault/links.md", note(9, "See [[A page that is not here]]."))
    assert told() == count, "a link that leads nowhere is found by reading all texts"
    assert "and 1 that is found by reading every text" in served.get("/health")
    write(served.root, "vault/again.md", note(9, "Another text with that id."))
    served.get("/health")
    assert told() > count, "a problem between two notes, which the other pages tell as soon as it was counted"
    write(served.root, BROKEN, TEXT.replace("[a", "[a]"))
    (served.root / "vault/again.md").unlink()
    assert told() == before
