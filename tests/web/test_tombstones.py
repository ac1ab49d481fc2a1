"""The page of what waits, where somebody else had the owner's memory forgotten: it is shown, and one press decides."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from tests.git_repos import git, write
from tests.web.conftest import Served, serving_pages
from vault_tool import Vault
from vault_tool.files.tombstones import tombstone


@pytest.fixture
def waiting(root: Path, tmp_path: Path) -> Iterator[tuple[Served, str]]:
    """A served vault in which another's tombstone of the owner's memory waits, and the memory's id."""
    with Vault.open(root, origin="owner", person=True) as vault:
        made = vault.remember("The kettle is descaled in May.")
    other = tmp_path / "other"
    git(tmp_path, "clone", "--quiet", str(root), str(other))
    write(other, tombstone(made.id), "")
    git(other, "add", "--all")
    who = ("-c", "user.name=Bob", "-c", "user.email=bob@example.org")
    git(other, *who, "commit", "--quiet", "--author=Bob <bob@example.org>", "-m", "forgotten")
    git(root, "pull", "--quiet", "--no-rebase", "--no-edit", str(other), "HEAD")
    with serving_pages(root) as served:
        yield served, made.id


def test_it_says_who_and_is_in_no_tick_of_all(waiting: tuple[Served, str]) -> None:
    served, identity = waiting
    page = unescape(served.get("/review"))
    assert "Bob <bob@example.org>" in page and "which is yours" in page
    assert "Keep the memory" in page and "Forget it here too" in page
    assert f'type="checkbox" name="id" value="{identity}"' not in page


def test_one_press_keeps_the_memory(waiting: tuple[Served, str]) -> None:
    served, identity = waiting
    assert "1 memory kept" in served.post("/review/decide", {"verdict": f"refuse {identity}"})
    assert not (served.root / tombstone(identity)).exists()
    assert "descaled in May" in served.get(f"/memory/{identity}")


def test_one_press_forgets_it(waiting: tuple[Served, str]) -> None:
    served, identity = waiting
    served.post("/review/decide", {"verdict": f"accept {identity}"})
    assert (served.root / tombstone(identity)).read_text() == "confirmed\n"
    served.get(f"/memory/{identity}", 404)
