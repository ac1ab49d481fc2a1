"""A write that holds what looks like a secret is refused whole, and nothing of the value gets anywhere."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.typed import vt
from tests.files.formats import made_up_keys
from tests.git_repos import commit_all, git, write
from tests.oracles import assert_git_is_sound, history
from tests.verbs.looking import codes, fails, found, identity, in_commit, note, text, untouched
from vault_tool import Vault
from vault_tool.cli.verb_table import of_the_whole
from vault_tool.errors import Refused
from vault_tool.files.secrets import MARKER
from vault_tool.util.clock import FixedClock

OF_THE_WHOLE = of_the_whole()

KEY = made_up_keys()["github classic"]
SAID = f"The deploy key.\n\nIt is {KEY} for now."


def holding(root: Path, value: str = KEY) -> list[str]:
    """The files of the whole folder (git's, derived and local ones too) that hold a value."""
    return [str(path) for path in root.rglob("*") if path.is_file() and value.encode() in path.read_bytes()]


def _adding(said: str) -> Callable[[Path], None]:
    """An editor that adds a text."""

    def edit(path: Path) -> None:
        path.write_text(path.read_text() + said)

    return edit


def traces(root: Path) -> list[str]:
    """Where a value left a trace: in a file, or in git's objects."""
    return [*holding(root), *(["git"] if KEY.encode() in history(root) else [])]


WRITES: dict[str, Callable[[Vault, str], object]] = {
    "remember": lambda vault, known: vault.remember(SAID, ["Redis"]),
    "a title": lambda vault, known: vault.remember("A text.", title=f"Use {KEY}"),
    "a tag": lambda vault, known: vault.remember("A text.", tags=[KEY]),
    "evidence": lambda vault, known: vault.remember("A text.", evidence=[f"url:https://x.example/?t={KEY}"]),
    "a rationale": lambda vault, known: vault.remember("A text.", rationale=f"as {KEY} shows"),
    "a subject": lambda vault, known: vault.create_subjects([{"name": KEY}]),
    "a new subject": lambda vault, known: vault.remember("A text.", [KEY]),
    "a link": lambda vault, known: vault.link(known, "RELATED_TO", vault.remember("Other.").id, f"by {KEY}"),
    "an understanding": lambda vault, known: vault.create_understanding(["Redis"], SAID, "What it is"),
    "a summary": lambda vault, known: vault.create_understanding(["Redis"], "A text.", f"It is {KEY}"),
    "an episode": lambda vault, known: vault.episode(f"Made {KEY}"),
    "an episode's summary": lambda vault, known: vault.episode("Made a key", f"It is {KEY}"),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_write_is_refused_and_leaves_no_trace(vault: Vault, name: str) -> None:
    known = vault.remember("Known.", ["Redis"]).id
    with fails(Refused, f"`{KEY[:4]}…`", "GitHub token", "--allow-secret"):
        WRITES[name](vault, known)
    assert traces(vault.root) == []
    assert vault.local.pending() == ()
    assert vault.doctor().problems == ()


WHO_WRITES: dict[str, Callable[[Vault, str], object]] = {
    "remember": lambda vault, known: vault.remember("A text."),
    "mark_useful": lambda vault, known: vault.mark_useful(known, "It helped."),
    "pin": lambda vault, known: vault.pin(known if not vault.who.user else vault.remember("Mine.").id),
    "link": lambda vault, known: vault.link(known, "RELATED_TO", vault.remember("Other.").id),
    "episode": lambda vault, known: vault.episode("Something happened"),
    "create_subjects": lambda vault, known: vault.create_subjects([{"name": "Post"}]),
    "add_observations": lambda vault, known: vault.add_observations([{"content": "A text.", "subject_names": ["Redis"]}]),
    "create_understanding": lambda vault, known: vault.create_understanding(["Redis"], "A text.", "What it is"),
    "begin_consolidation": lambda vault, known: vault.begin_consolidation(),
    "update": lambda vault, known: vault.update(known, utility={"target": 1, "confidence": 1, "rationale": "r"}),
    "commit": lambda vault, known: vault.commit(message="by hand"),
    "turn": lambda vault, known: vault.turn(vault.who.session, vault.who.user, vault.who.project, "said", extractMemory=True,
                                            candidates=[{"content": "A text."}], turn=vault.who.model, write="later"),
}  # fmt: skip
"""Every kind of way by which who is asking reaches notes, journals and the trailers of commits."""


@pytest.mark.parametrize(
    ("name", "field"),
    # What is about the whole vault is not asked for one user.
    [
        (name, field)
        for name in WHO_WRITES
        for field in ("session", "model", "user", "project")
        if field != "user" or name not in OF_THE_WHOLE
    ],
)
def test_who_is_asking_is_no_secret(vault: Vault, name: str, field: str) -> None:
    known = vault.remember("Known.", ["Redis"]).id
    write(vault.root, "vault/by-hand.md", note(1))
    with fails(Refused, f"`{KEY[:4]}…`", "GitHub token", "--allow-secret"):
        WHO_WRITES[name](vault.as_(session="s", **{field: KEY}) if field != "session" else vault.as_(session=KEY), known)
    assert traces(vault.root) == []
    assert vault.local.pending() == ()


SAID_IN: dict[str, Callable[[Vault, str], object]] = {
    "a reason": lambda vault, known: vault.mark_useful(known, f"as {KEY} shows"),
    "a question": lambda vault, known: vault.mark_questionable(known, f"as {KEY} shows"),
    "evidence of a judgement": lambda vault, known: vault.update(
        known, truth={"target": 1, "confidence": 1, "rationale": "r", "evidence_refs": [f"test:{KEY}"]}
    ),
    "a request's session": lambda vault, known: _require(
        vault.op({"op": "update", "repo_id": "Lab", "memory_id": known, "mode": "commit", "session_id": KEY,
                  "updates": {"utility": {"target": 1, "confidence": 1, "rationale": "r"}}})
    ),
    "a commit's message": lambda vault, known: vault.commit(message=f"with {KEY}"),
    "an alias": lambda vault, known: vault.create_subjects([{"name": "Post", "aliases": [KEY]}]),
    "a subject's summary": lambda vault, known: vault.update_subject_summary("Redis", KEY),
    "a vote": lambda vault, known: vault.end_session(votes=[{"id": known, "value": "useful", "reason": KEY}]),
    "tags of an episode": lambda vault, known: vault.episode("Something", tags=[KEY]),
    "a type of an episode": lambda vault, known: vault.episode("Something", type=KEY),
}  # fmt: skip


def _require(answer: Any) -> None:
    if not answer["ok"]:
        raise Refused(answer["errors"][0]["message"], answer["errors"][0]["hint"])


@pytest.mark.parametrize("name", SAID_IN)
def test_a_value_of_any_field_is_refused(vault: Vault, name: str) -> None:
    known = vault.remember("Known.", ["Redis"]).id
    write(vault.root, "vault/by-hand.md", note(1))
    with fails(Refused, f"`{KEY[:4]}…`", "GitHub token", "--allow-secret"):
        SAID_IN[name](vault.as_(session="s"), known)
    assert [found for found in traces(vault.root) if "/_local/sessions/" not in found] == []


def test_who_is_asking_may_be_allowed(vault: Vault) -> None:
    vault.allow_secrets = True
    assert vault.as_(session=KEY).remember("A text.").committed
    assert KEY.encode() in history(vault.root)


def test_a_reader_of_a_secret_session_shares_its_use_without_it(vault: Vault, clock: FixedClock) -> None:
    known = vault.remember("Keepalive was off.", ["Redis"]).id
    asking = vault.as_(session=KEY)
    asking.get(known)
    asking.recall("keepalive")
    clock.advance(timedelta(days=2))
    assert vault.remember("A text.").committed
    assert [one.value for one in vault.index.catalog.signals(known) if one.kind == "use"] != []
    assert KEY.encode() not in history(vault.root)
    assert [found for found in traces(vault.root) if "/_local/sessions/" not in found] == []


def test_a_new_file_whose_name_is_a_secret_is_left_and_named(vault: Vault) -> None:
    write(vault.root, f"vault/{KEY}.md", note(1))
    made = vault.commit()
    assert (made.committed, [one.code for one in made.left]) == (False, ["secret"])
    assert KEY.encode() not in history(vault.root)


def test_the_line_is_the_texts_own_and_nothing_changes(vault: Vault) -> None:
    with untouched(vault.root), fails(Refused, "line 3 of the text"):
        vault.remember(SAID, ["Redis"])


def test_a_marked_line_may_stay(vault: Vault) -> None:
    made = vault.remember(f"{KEY} {MARKER}", ["Redis"], tags=[KEY])
    assert made.committed
    assert codes(vault) == []
    assert vault.pin(made.id).committed


def test_one_write_may_be_allowed_without_a_marker(vault: Vault) -> None:
    vault.allow_secrets = True
    made = vault.remember(SAID, ["Redis"])
    assert made.committed
    vault.allow_secrets = False
    assert "secret" in codes(vault, made.path)
    # What is in history already stops no edit of something else.
    assert vault.pin(made.id).committed
    vault.config("core_budget", "9000")
    assert KEY not in vault.core().text


class TestByHand:
    def test_a_hand_edit_is_indexed_named_and_not_committed(self, vault: Vault) -> None:
        write(vault.root, "vault/a.md", note(1, f"Notable.\n\nIt is {KEY}."))
        write(vault.root, "vault/b.md", note(2, "Innocent."))
        assert found(vault, "notable") == ["Notable"]
        [problem] = [one for one in vault.doctor().problems if one.code == "secret"]
        assert (problem.path, problem.line, problem.severity) == ("vault/a.md", 7, "warning")
        assert KEY not in problem.message + problem.hint
        made = vault.commit()
        assert (made.committed, made.attention, made.paths) == (True, True, ("vault/b.md",))
        assert [(one.path, one.code) for one in made.left] == [("vault/a.md", "secret")]
        assert KEY.encode() not in history(vault.root)

    def test_it_is_committed_when_its_line_says_so(self, vault: Vault) -> None:
        write(vault.root, "vault/a.md", note(1, f"It is {KEY}. {MARKER}"))
        made = vault.commit()
        assert (made.paths, made.left, made.attention) == (("vault/a.md",), (), False)
        assert codes(vault) == []

    def test_it_is_committed_when_the_command_says_so(self, vault: Vault) -> None:
        write(vault.root, "vault/a.md", note(1, f"It is {KEY}."))
        vault.allow_secrets = True
        assert vault.commit().paths == ("vault/a.md",)

    def test_what_history_has_already_does_not_block_another_edit(self, vault: Vault) -> None:
        write(vault.root, "vault/a.md", note(1, f"It is {KEY}."))
        commit_all(vault.root, "by hand")
        write(vault.root, "vault/a.md", note(1, f"It is {KEY}.\n\nAnd more."))
        assert vault.commit().paths == ("vault/a.md",)

    def test_a_tools_edit_does_not_carry_it_into_history(self, vault: Vault) -> None:
        write(vault.root, "vault/a.md", note(1, f"It is {KEY}."))
        with fails(Refused, "line 5 of vault/a.md"):
            vault.as_(origin="owner").pin(identity(1))
        assert KEY.encode() not in history(vault.root)
        write(vault.root, "vault/page.md", f"A page with {KEY}.\n")
        with fails(Refused, "vault/page.md"):
            vault.adopt(["vault/page.md"])
        assert vault.doctor(fix=True).fixed == ()
        assert text(vault.root, "vault/page.md") == f"A page with {KEY}.\n"

    def test_pages_never_hold_it(self, vault: Vault) -> None:
        write(vault.root, "vault/a.md", note(1, "Text.", title=f"Key {KEY}", importance="1.0"))
        made = vault.core()
        assert made.committed
        assert "Key ghp_…" in text(vault.root, "CORE.md")
        assert "CORE.md" in in_commit(vault.root)
        assert KEY.encode() not in history(vault.root)

    def test_vt_edit_keeps_the_file_and_commits_nothing(self, vault: Vault) -> None:
        made = vault.remember("A text.")
        edited = vault.edit(made.id, _adding(f"\n{KEY}\n"))
        assert (edited.changed, edited.committed, edited.attention) == (True, False, True)
        assert [one.code for one in edited.problems] == ["secret"]
        assert KEY in text(vault.root, made.path)
        assert KEY.encode() not in history(vault.root)

    def test_vt_new_keeps_the_draft(self, vault: Vault) -> None:
        with fails(Refused, "of the text"):
            vault.new("fact", _adding(f"\nIt is {KEY}.\n"))
        assert len(list((vault.root / "_local" / "drafts").iterdir())) == 1
        assert KEY.encode() not in history(vault.root)
        assert_git_is_sound(vault.root)


class TestCommandLine:
    def test_a_refusal_shows_no_value(self, root: Path) -> None:
        for extra in ((), ("--json",), ("--debug",)):
            done = vt("remember", "-", *extra, cwd=root, input=SAID)
            assert done.returncode == 6
            assert KEY not in done.stdout + done.stderr
            assert "ghp_…" in done.stderr
        assert holding(root) == []

    def test_the_option_allows_it(self, root: Path) -> None:
        assert vt("remember", SAID, "--allow-secret", cwd=root).returncode == 0

    def test_hand_edits_need_a_person(self, root: Path) -> None:
        write(root, "vault/a.md", note(1, f"It is {KEY}."))
        done = vt("commit", cwd=root)
        assert done.returncode == 4
        assert "vault/a.md:5" in done.stdout
        assert KEY not in done.stdout + done.stderr
        assert git(root, "status", "--porcelain", "-u") == "?? vault/a.md"
