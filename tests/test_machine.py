"""This machine's settings: what overrides what, all faults at once, and a key that nothing shows."""

from __future__ import annotations

import json
import pickle
import stat
from pathlib import Path

import pytest
from msgspec.structs import asdict

from vault_tool import machine
from vault_tool.cli.output import to_json
from vault_tool.errors import ConfigError, Refused
from vault_tool.machine import Key, Machine

SECRET = "sk-proj-0123456789abcdef"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "_config.json"


def test_nothing_said_is_the_defaults(path: Path) -> None:
    assert machine.read(path, {}) == Machine()
    assert not path.exists()


def test_the_environment_overrides_the_file_and_each_says_where_it_was_set(path: Path) -> None:
    path.write_text(json.dumps({"provider": "openai", "model": "m", "openai_key": "from-file"}))
    found = machine.read(path, {"OPENAI_API_KEY": SECRET, "OLLAMA_HOST": " box:1234 ", "VAULT_MODELS": ""})
    assert (found.provider, found.model, found.openai_key.reveal()) == ("openai", "m", SECRET)
    assert found.ollama_host == "http://box:1234"
    assert dict(found.sources) == {
        "provider": "_config.json",
        "model": "_config.json",
        "openai_key": "OPENAI_API_KEY",
        "ollama_host": "OLLAMA_HOST",
    }


def test_a_file_that_may_be_someone_elses_is_left_unread(path: Path) -> None:
    path.write_text('{"provider": "openai"}')
    assert machine.read(path, {}, own_file=False).provider == "auto"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("localhost", "http://localhost:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("http://[::]:80", "http://[::1]:80"),
        ("https://box.example/ollama/", "https://box.example:443/ollama"),
    ],
)
def test_an_address_of_ollama_in_the_forms_its_own_programs_take(path: Path, said: str, meant: str) -> None:
    assert machine.read(path, {"OLLAMA_HOST": said}).ollama_host == meant


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://localhost:1", True),
        ("http://127.0.0.1", True),
        ("http://127.9.9.9", True),
        ("http://[::1]:1", True),
        ("http://127.0.0.1.example.org", False),
        ("http://localhost.example.org", False),
        ("http://192.168.1.2", False),
        ("https://api.openai.com/v1", False),
        ("http://127.0.0.1@example.org", False),
        ("", False),
    ],
)
def test_what_is_this_machine(url: str, loopback: bool) -> None:
    assert machine.is_loopback(url) is loopback


def test_all_faults_at_once_and_no_value_that_may_be_a_key(path: Path) -> None:
    path.write_text(
        json.dumps({"provider": "bert", "colour": SECRET, "openai_key": f"{SECRET} twice", "owner": 3, "openai_url": "ftp://x"})
    )
    with pytest.raises(ConfigError) as caught:
        machine.read(path, {"VAULT_VECTORS": "fast"})
    said = str(caught.value)
    for words in ("`provider` must be one of", "`colour`", "`openai_key`", "`owner`", "`openai_url`", "VAULT_VECTORS"):
        assert words in said
    assert SECRET not in said
    assert "\n" not in said


@pytest.mark.parametrize("text", [f'{{"openai_key": "{SECRET}"', "[1]", "\ufeffnonsense"])
def test_a_file_that_is_no_object_is_named_without_its_text(path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        machine.read(path, {})
    assert "_config.json" in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("url", ["http://user:secret@host", "https://secret@host/v1"])
def test_an_address_carries_no_password(path: Path, url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        machine.read(path, {"OPENAI_BASE_URL": url})
    assert "secret" not in str(caught.value)


def test_a_link_is_not_followed(path: Path, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"provider": "openai"}')
    path.symlink_to(tmp_path / "other.json")
    with pytest.raises(Refused):
        machine.read(path, {})


def test_writing_keeps_the_rest_for_the_owner_alone(path: Path) -> None:
    path.write_text('{"model": "m", "owner": "off"}')
    path.chmod(0o644)
    machine.write(path, {"provider": "openai", "openai_key": SECRET, "model": ""})
    assert json.loads(path.read_text()) == {"owner": "off", "provider": "openai", "openai_key": SECRET}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert machine.read(path, {}).openai_key == Key(SECRET)


def test_nothing_is_written_with_a_fault(path: Path) -> None:
    with pytest.raises(ConfigError, match="`provider`") as caught:
        machine.write(path, {"provider": "bert", "openai_key": f"a {SECRET}"})
    assert "`openai_key`" in str(caught.value)
    assert SECRET not in str(caught.value)
    assert not path.exists()


def test_no_way_of_showing_shows_the_key() -> None:
    settings = Machine(openai_key=Key(SECRET))
    shown = [repr(settings), str(settings.openai_key), f"{settings.openai_key}", to_json(settings), repr(asdict(settings))]
    assert not [text for text in shown if SECRET in text]
    with pytest.raises(TypeError):
        pickle.dumps(settings.openai_key)
    assert not Key() and Key(SECRET)


def test_faults_choose_nobody() -> None:
    assert machine.unusable("why").provider == "none"
    assert machine.unusable("why").fault == "why"


def test_every_option_has_its_sentence() -> None:
    assert all(sentence.endswith(".") for sentence in machine.sentences().values())


SEED = {"embedding_provider": "ollama", "openai_api_key": None, "ollama_model": "nomic-embed-text", "openai_model": "small"}


def test_a_cognitive_memorys_file_is_understood_as_it_is(path: Path) -> None:
    path.write_text(json.dumps(SEED))
    found = machine.read(path, {})
    assert (found.provider, found.model, bool(found.openai_key)) == ("ollama", "nomic-embed-text", False)
    assert found.sources["provider"] == found.sources["model"] == "_config.json"
    other = machine.read(path, {"VAULT_PROVIDER": "openai"})
    assert (other.provider, other.model) == ("openai", "small"), "a model belongs to its provider"
    path.write_text(json.dumps({**SEED, "openai_api_key": SECRET, "provider": "local"}))
    found = machine.read(path, {})
    assert (found.provider, found.model, found.openai_key.reveal()) == ("local", "", SECRET), "our own name wins"


def test_what_is_set_takes_the_place_of_what_it_was_called_there(path: Path) -> None:
    path.write_text(json.dumps({**SEED, "openai_api_key": SECRET}))
    machine.write(path, {"provider": "openai"})
    assert json.loads(path.read_text()).keys() == {"provider", "openai_api_key", "ollama_model", "openai_model"}
    found = machine.read(path, {})
    assert (found.provider, found.model, found.openai_key.reveal()) == ("openai", "small", SECRET)
    machine.write(path, {"openai_key": "", "model": "large", "provider": ""})
    assert json.loads(path.read_text()) == {"model": "large"}
    assert machine.read(path, {}).provider == "auto"
    path.write_text(json.dumps({"embedding_provider": 7, "colour": "red"}))
    with pytest.raises(ConfigError, match=r"unknown option `colour`.*`provider` must be a text"):
        machine.read(path, {})
