"""`embed`, and how the vault stands to its embedder: with a server on loopback, with files, with nobody."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.typed import vt
from tests.fakes.loopback import Mode
from tests.fakes.ollama_server import FakeOllama
from tests.fakes.openai_server import FakeOpenAI
from tests.index.embedding.models import MODELS, needs_model
from tests.wording import typed
from vault_tool import Vault
from vault_tool.errors import ConfigError, EmbeddingUnavailable, NotFound, UsageError
from vault_tool.index.embedding import choose
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""

SECRET = "sk-proj-0123456789abcdef0123456789abcdef"


@pytest.fixture
def ollama() -> Iterator[FakeOllama]:
    choose.choose_anew()
    with FakeOllama() as server:
        yield server
    choose.choose_anew()


def _opened(root: Path, clock: FixedClock, **environ: str) -> Vault:
    return Vault.open(root, clock=clock, environ={"VAULT_MODELS": str(root.parent / "models"), **environ})


def _with(root: Path, clock: FixedClock, ollama: FakeOllama, **environ: str) -> Vault:
    return _opened(root, clock, OLLAMA_HOST=ollama.url, **environ)


def test_all_notes_are_embedded_once(root: Path, clock: FixedClock, ollama: FakeOllama) -> None:
    with _with(root, clock, ollama) as vault:
        vault.remember("The database moved to Postgres.", ["Homelab"])
        done = vault.embed()
        assert (done.provider, done.model, done.remote, done.complete, done.attention) == (
            "ollama", "nomic-embed-text", False, True, False,
        )  # fmt: skip
        assert done.embedded > 0
        asked = len(ollama.asked("/api/embed"))
        assert vault.embed().embedded == 0
        assert len(ollama.asked("/api/embed")) == asked
        assert vault.status().embeddings.vectors is not None


def test_a_part_says_that_it_is_one_and_the_next_run_goes_on(root: Path, clock: FixedClock, ollama: FakeOllama) -> None:
    with _with(root, clock, ollama) as vault:
        told: list[tuple[int, int]] = []
        first = vault.embed(limit=1, progress=lambda done, total: told.append((done, total)))
        assert (first.embedded, first.complete, first.attention) == (1, False, True)
        assert first.behind > 0
        assert "go" in first.warnings[0]
        assert told
        rest = vault.embed()
        assert (rest.complete, rest.behind, rest.attention) == (True, 0, False)
        assert rest.embedded > 0


@pytest.mark.parametrize("mode", [Mode.ERROR, Mode.HTML, Mode.DROP])
def test_what_goes_wrong_on_the_way_is_told_and_nothing_is_lost(
    root: Path, clock: FixedClock, ollama: FakeOllama, mode: Mode
) -> None:
    with _with(root, clock, ollama) as vault:
        vault.remember("The database moved to Postgres.", ["Homelab"])
        ollama.mode = mode
        done = vault.embed()
        assert (done.embedded, done.complete, done.attention) == (0, False, True)
        assert "ended early" in done.warnings[0]
        assert vault.search("Postgres").results
        ollama.mode = Mode.WELL
        assert vault.embed().complete


def test_a_text_that_the_model_cannot_do_is_named_and_the_others_are_embedded(
    root: Path, clock: FixedClock, ollama: FakeOllama
) -> None:
    with _with(root, clock, ollama) as vault:
        vault.remember("A poison for the model.", ["Homelab"])
        vault.remember("A plain sentence.", ["Homelab"])
        ollama.mode, ollama.poison = Mode.NAN, "poison"
        done = vault.embed()
        assert (done.refused, done.attention) == (len(vault.settings.perspectives), True)
        assert done.embedded > 1
        assert "NaN" in next(iter(done.reasons))
        assert any("not embedded" in warning and "NaN" in warning for warning in done.warnings)


def test_ollama_pulls_only_when_it_is_asked_for_by_name(root: Path, clock: FixedClock) -> None:
    choose.choose_anew()
    with FakeOllama(models={}) as server, _with(root, clock, server) as vault:
        with pytest.raises(EmbeddingUnavailable, match="nothing is at hand"):
            vault.embed()
        assert not server.asked("/api/pull")
        done = vault.embed(provider="ollama", model="all-minilm")
        assert (done.fetched, done.model, done.complete) == ("all-minilm", "all-minilm", True)
        assert server.asked("/api/pull")
        assert any("vt config --provider ollama" in typed(warning) for warning in done.warnings)


def test_nobody_at_hand_and_nobody_wanted(root: Path, clock: FixedClock) -> None:
    choose.choose_anew()
    with _opened(root, clock, OLLAMA_HOST="127.0.0.1:9") as vault:
        now = vault.status().embeddings
        assert (now.provider, now.model, len(now.tried)) == ("none", "", 2)
        assert any("vt embed --download" in typed(advice) for advice in vault.status().next)
        with pytest.raises(EmbeddingUnavailable, match=r"Vault\.embed\(download=True\)"):
            vault.embed()
        with pytest.raises(UsageError, match="no provider `bert`"):
            vault.embed(provider="bert")
    with _opened(root, clock, VAULT_PROVIDER="none") as vault, pytest.raises(UsageError, match="`none`"):
        vault.embed()


@needs_model
@pytest.mark.parametrize("store", ["exact", "chroma"])
def test_with_the_local_model_nothing_is_called(root: Path, tmp_path: Path, store: str) -> None:
    """Whole commands in processes that end at the first connection: neither model nor Chroma calls anybody."""
    program = """
import os, sys
sys.addaudithook(lambda event, given: os._exit(9) if event in ("socket.connect", "socket.getaddrinfo") else None)
from vault_tool.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
    settings = {"models": str(MODELS), "provider": "local", "vectors": store}
    (root / "_config.json").write_text(json.dumps(settings))
    for arguments in (["embed"], ["status"], ["recall", "soul"]):
        done = subprocess.run(
            [sys.executable, "-c", program, "--vault", str(root), *arguments],
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr


class TestConfig:
    def test_a_key_goes_in_and_never_comes_out(self, vault: Vault) -> None:
        vault = vault.as_person()
        found = vault.config(machine={"provider": "openai", "openai_key": SECRET})
        assert SECRET not in repr(found)
        assert {one.name: one.value for one in found.machine}["openai_key"] == "***"
        assert "will be sent to https://api.openai.com/v1" in found.warnings[0]
        assert json.loads((vault.root / "_config.json").read_text())["openai_key"] == SECRET
        assert SECRET not in (vault.root / "vault.toml").read_text()
        assert vault.embedding.choice.provider == "openai"

    def test_a_provider_takes_its_own_usual_model(self, vault: Vault) -> None:
        vault.config(machine={"provider": "ollama", "model": "bge-m3"})
        assert vault.machine.model == "bge-m3"
        vault = vault.as_person()
        vault.config(machine={"provider": "openai"})
        assert vault.machine.model == ""

    def test_a_setting_of_this_machine_is_no_setting_of_the_vault(self, vault: Vault) -> None:
        with pytest.raises(UsageError, match=r"Vault\.config\(ollama_host=\.\.\.\)"):
            vault.config("ollama_host", "http://localhost")
        assert vault.config("provider").machine[0].value == "auto"
        with pytest.raises(UsageError, match="no setting"):
            vault.config("colour")

    def test_a_variable_over_it_is_told(self, root: Path, clock: FixedClock) -> None:
        with _opened(root, clock, VAULT_PROVIDER="none") as vault:
            assert "VAULT_PROVIDER overrides it" in vault.config(machine={"provider": "local"}).warnings[0]

    @pytest.mark.in_git
    def test_a_file_that_came_with_the_vault_chooses_nobody(self, root: Path, clock: FixedClock) -> None:
        with FakeOpenAI() as server:
            said = {"provider": "openai", "openai_key": "sk-theirs", "openai_url": server.base_url}
            (root / "_config.json").write_text(json.dumps(said))
            subprocess.run(["git", "add", "-f", "_config.json"], cwd=root, check=True)
            with _opened(root, clock) as vault:
                assert vault.embedding.choice.embedder is None
                assert any(line.startswith("_config.json not used: git tracks it") for line in vault.status().next)
                vault.remember("Mine alone.", ["Homelab"])
                assert vault.search("alone").results
                vault.config(machine={"provider": "none"})
                assert vault.machine.provider == "none" and json.loads((root / "_config.json").read_text()) == said
            assert not server.requests

    def test_faults_degrade_what_reads_and_stop_what_embeds(self, root: Path, clock: FixedClock) -> None:
        (root / "_config.json").write_text('{"provider": "bert", "colour": 1}')
        with _opened(root, clock) as vault:
            now = vault.status().embeddings
            assert now.provider == "none"
            assert "`colour`" in now.why and "`provider`" in now.why
            with pytest.raises(ConfigError, match="colour"):
                vault.embed()


def test_the_key_is_nowhere_in_the_vault_nor_in_what_is_printed(root: Path, clock: FixedClock) -> None:
    choose.choose_anew()
    with FakeOpenAI(mode=Mode.UNAUTHORIZED) as server:
        environ = {"OPENAI_API_KEY": SECRET, "OPENAI_BASE_URL": server.base_url, "VAULT_PROVIDER": "openai"}
        with _opened(root, clock, **environ) as vault:
            done = vault.embed()
            assert "refuses the key (401)" in done.stopped
            machine_fields = [getattr(vault.machine, name) for name in vault.machine.__struct_fields__]
            shown = (done, vault.status(), vault.config(), vault.machine, machine_fields, vault.embedding.choice)
            assert SECRET not in "".join(map(repr, shown))
        assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"
    for path in root.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path


def test_there_is_no_vault_to_embed(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        Vault.open(tmp_path / "nowhere")


def test_a_new_perspective_is_behind_until_it_is_embedded(root: Path, clock: FixedClock, ollama: FakeOllama) -> None:
    with _with(root, clock, ollama) as vault:
        vault.remember("The database moved to Postgres.", ["Homelab"])
        vault.embed()
        notes = vault.get_stats().embedding_coverage.embedded
        assert set(vault.get_stats().embedding_coverage.perspectives.values()) == {notes}
    settings = root / "vault.toml"
    settings.write_text(settings.read_text() + 'moods = "Represent moods:"\n')
    with _with(root, clock, ollama, VAULT_PROVIDER="ollama") as vault:
        assert "moods" in vault.embedding.vectors.perspectives
        stats, status = vault.get_stats().embedding_coverage, vault.status()
        assert (stats.embedded, stats.share, stats.perspectives["moods"], stats.perspectives["general"]) == (0, 0, 0, notes)
        assert status.embeddings.vectors is not None
        assert (status.embeddings.vectors.behind, status.embeddings.vectors.coverage["moods"]) == (notes, 0)
        assert any("vt embed" in typed(advice) for advice in status.next)
        shown = vt("--vault", str(root), "status", env={"OLLAMA_HOST": ollama.url, "VAULT_PROVIDER": "ollama"}).stdout
        told = " ".join(shown.split())
        assert f"perspectives general ({notes}), " in told and "moods (0)" in told
        ollama.mode, ollama.poison = Mode.ERROR, "search_document: Represent moods:"
        assert vault.recall("Postgres database").degraded == (f"not embedded yet by the perspective moods: {notes} notes",)
        ollama.mode = Mode.WELL
        assert vault.embed().complete
        whole = vault.get_stats().embedding_coverage
        assert (whole.embedded, whole.perspectives["moods"]) == (notes, notes)
        assert not vault.recall("Postgres database").degraded


def test_a_question_is_embedded_for_all_perspectives_in_one_request(root: Path, clock: FixedClock, ollama: FakeOllama) -> None:
    with _with(root, clock, ollama) as vault:
        vault.remember("The database moved to Postgres.", ["Homelab"])
        vault.embed()
        before = len(ollama.asked("/api/embed"))
        vault.search("where is the database?")
        assert len(ollama.asked("/api/embed")) == before + 1
        assert len(vault.embedding.vectors.perspectives) == 5


def _elsewhere(server: FakeOpenAI) -> str:
    """The server by an address that is not known for this machine's own."""
    return f"http://[::ffff:127.0.0.1]:{server.port}/v1"


def test_another_provider_is_what_an_answer_asks_for_when_the_old_one_is_gone(root: Path, clock: FixedClock) -> None:
    choose.choose_anew()
    with FakeOllama() as ollama, _with(root, clock, ollama) as vault:
        vault.remember("The database moved to Postgres.", ["Homelab"])
        assert vault.embed().complete
    with FakeOpenAI() as server:
        there = {"VAULT_PROVIDER": "openai", "OPENAI_API_KEY": SECRET, "OPENAI_BASE_URL": _elsewhere(server)}
        with _with(root, clock, ollama, **there) as vault:
            [reason] = vault.recall("where is the database?").degraded
            assert "text-embedding-3-small" in reason and "`vt embed`" in typed(reason) and "ollama serve" not in reason
            assert vault.embed().complete
            assert not vault.recall("where is the database?").degraded
            assert vault.get_stats().embedding_coverage.model == "openai:text-embedding-3-small"


def test_a_model_that_was_chosen_anew_is_embedded_for_while_the_old_one_answers(root: Path, clock: FixedClock) -> None:
    choose.choose_anew()
    with FakeOllama(models={"nomic-embed-text:latest": 64, "all-minilm:latest": 32}) as ollama:
        with _with(root, clock, ollama, VAULT_PROVIDER="ollama") as vault:
            vault.remember("The database moved to Postgres.", ["Homelab"])
            assert vault.embed().complete
        with _with(root, clock, ollama, VAULT_PROVIDER="ollama", VAULT_EMBEDDING_MODEL="all-minilm") as vault:
            assert vault.embedding.vectors.model == "ollama:nomic-embed-text"
            assert not vault.recall("where is the database?").degraded
            assert not vault.recall("where is the database?").degraded
            assert (vault.embedding.vectors.model, vault.embedding.vectors.model_being_filled) == ("ollama:all-minilm", "")
            assert vault.get_stats().embedding_coverage.share == 1


def test_texts_go_to_another_machine_by_embed_alone(root: Path, clock: FixedClock) -> None:
    choose.choose_anew()
    with FakeOllama() as ollama, FakeOpenAI() as server:
        with _with(root, clock, ollama) as vault:
            vault.remember("The database moved to Postgres.", ["Homelab"])
            assert vault.embed().complete
        there = {"VAULT_PROVIDER": "openai", "OPENAI_API_KEY": SECRET, "OPENAI_BASE_URL": _elsewhere(server)}
        with _with(root, clock, ollama, **there) as vault:
            vault.remember("And the queue too.", ["Homelab"])
            assert vault.search("where is the database?").results
            assert vault.embedding.vectors.model_being_filled and not server.asked("/v1/embeddings")
