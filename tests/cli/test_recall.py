from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.typed import vt
from tests.founding import found_at
from vault_tool import Vault


@pytest.fixture
def vault_folder(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    found_at(root, git=False)
    with Vault.open(root) as vault:
        problem = vault.remember("Redis connections drop behind the proxy.", ["Redis"], kind="problem")
        vault.remember("Raised the limit.", kind="failed_tactic", problem=problem.id, failure_mode="nobody restarts it")
        vault.remember("Set keepalive for Redis connections.", ["Redis"], kind="solution", problem=problem.id)
    return root


def test_json_holds_the_bundle(vault_folder: Path) -> None:
    done = vt("recall", "why do Redis connections drop?", "--json", "--explain", cwd=vault_folder)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["mode"] == "question"
    assert said["best_answer"]["content"] == "Redis connections drop behind the proxy."
    assert set(said["best_answer"]) >= {"subject_names", "content", "confidence", "kind", "source"}
    assert set(said["provenance"]) == {"session_id", "model_tier", "created_at"}
    first = said["results"][0]
    assert {"id", "class", "type", "title", "subjects", "content", "score", "match", "weak", "why", "truth", "path"} <= set(first)
    assert first["factors"]["score"] == first["score"]
    assert said["degraded"] == ["no embeddings"]
    assert "checked" in said["freshness"]


def test_a_person_reads_the_answer_its_cautions_and_its_factors(vault_folder: Path) -> None:
    done = vt("recall", "why do Redis connections drop?", "--explain", cwd=vault_folder)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "Redis connections drop behind the proxy"
    assert any("did not work (nobody restarts it); reconsider only if that changed" in line for line in lines)
    assert any(line.startswith("truth gate") for line in lines)
    assert any(line == "degraded: no embeddings" for line in lines)


def test_the_best_answer_is_printed_once(vault_folder: Path) -> None:
    text = "The larder of the lighthouse is painted green each May."
    with Vault.open(vault_folder) as vault:
        made = vault.remember(text, ["Lighthouse"])
        other = vault.remember("The lighthouse keeps a larder for winter storms. It is cold.", ["Lighthouse"])
    printed = vt("recall", "is the larder of the lighthouse painted green each May?", cwd=vault_folder).stdout
    assert (printed.count("painted green"), printed.count(made.id[:6])) == (1, 1), printed
    assert printed.splitlines()[0] == text.rstrip(".") and "match:" in printed and "why:" in printed
    assert printed.count(other.id[:6]) == 1
    # The same of a memory of which nothing else is found.
    alone = vt("recall", "why do Redis connections drop?", "--limit", "1", cwd=vault_folder).stdout
    assert "match:" in alone and "  match  why" not in alone and "nothing comes" not in alone


def test_a_long_memory_does_not_flood_the_terminal(vault_folder: Path) -> None:
    with Vault.open(vault_folder) as vault:
        made = vault.remember("The quagga log says: " + "it ran on and on; " * 5000, ["Quagga"], title="Quagga log")
    done = vt("recall", "what says the quagga log?", cwd=vault_folder)
    assert f"more characters: `vt get {made.id[:6]}`" in done.stdout
    assert len(done.stdout) < 4000
    assert len(vt("recall", "quagga", cwd=vault_folder).stdout) < 1500
    said = json.loads(vt("recall", "what says the quagga log?", "--json", cwd=vault_folder).stdout)
    assert len(said["best_answer"]["content"]) > 80_000


def test_a_subject_is_shown_as_a_subject(vault_folder: Path) -> None:
    done = vt("recall", "redis", cwd=vault_folder)
    assert done.stdout.splitlines()[0] == "Redis"
    assert "Set keepalive for Redis connections." in done.stdout


def test_nothing_that_fits_is_said_so(vault_folder: Path) -> None:
    done = vt("recall", "zeolite", cwd=vault_folder)
    assert done.returncode == 0
    assert "nothing comes to mind" in done.stdout
    assert "weak" not in done.stdout


def test_a_time_that_is_none_is_one_line(vault_folder: Path) -> None:
    done = vt("recall", "redis drops", "--since", "soon", cwd=vault_folder)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "2026-11-20" in done.stderr


def test_why_a_memory_is_not_there_is_told_in_words_and_in_json(vault_folder: Path) -> None:
    with Vault.open(vault_folder) as vault:
        made = vault.remember("The ferry leaves at noon.", ["Harbour"])
    typed = ("recall", "why do Redis connections drop?", "--why-not", made.id[:8], "--no-count")
    done = vt(*typed, cwd=vault_folder)
    assert "Why not: The ferry leaves at noon" in done.stdout
    assert any(line.split() == ["stage:", "not", "found"] for line in done.stdout.splitlines()), done.stdout
    said = json.loads(vt(*typed, "--json", cwd=vault_folder).stdout)
    assert said["why_not"]["stage"] == "not found"
    assert said["why_not"]["id"] == made.id


def test_a_title_that_names_nothing_of_the_question_stands_with_the_passage_that_was_found(vault_folder: Path) -> None:
    walk = "We walked along the harbour and talked of the house. " * 20
    day = f"{walk}\n\nThe boiler's expansion valve was replaced by Ines.\n\n{walk}"
    with Vault.open(vault_folder) as vault:
        vault.remember("The valve of the boiler is closed in May.", ["Boiler"])
        vault.remember(day, ["House"], title="2026-11-20")
    (vault_folder / "vault/2026-11-21.md").write_text(f"# 2026-11-21\n\n{day.replace('Ines', 'Olga')}\n", encoding="utf-8")
    for command, passages in (
        ("search", ("2026-11-20: …The", "Ines", "2026-11-21: …The", "Olga")),
        ("recall", ("2026-11-20: …The", "Ines")),
    ):
        printed = vt(command, "expansion valve boiler of the attic", cwd=vault_folder).stdout
        assert all(passage in printed for passage in passages), printed
        # A title with a word of the question says itself why it is there.
        assert "May: " not in printed
