"""Settings: each option is read by its kind, and all faults are named at once."""

from __future__ import annotations

import tomllib

import pytest

from vault_tool.config import PERSPECTIVES, STRONG_MODELS, Config, load, sentences
from vault_tool.errors import ConfigError
from vault_tool.features.setup.setup import default_settings
from vault_tool.model.types import CoreSection, RecordClass


def test_nothing_said_is_the_defaults() -> None:
    assert load("") == Config()


def test_the_text_of_a_new_vault_says_the_defaults() -> None:
    assert load(default_settings()) == Config()
    assert tomllib.loads(default_settings())["perspectives"] == dict(PERSPECTIVES)


def test_every_option_has_its_sentence() -> None:
    assert all(sentence.endswith(".") for sentence in sentences().values())


def test_types_are_extended() -> None:
    said = load('[types.recipe]\nclass = "observation"\nweight = 1.5\nsection = "Preferences"\n[types.fact]\nimportance = 0.9')
    recipe = said.types.spec("recipe")
    assert (recipe.record_class, recipe.weight, recipe.section) == (RecordClass.OBSERVATION, 1.5, CoreSection.PREFERENCES)
    assert recipe.known
    assert said.types.spec("fact").importance == 0.9


def test_a_vault_names_the_models_that_it_takes_for_strong() -> None:
    assert load("[recall]").recall.strong_models == STRONG_MODELS
    assert load('[recall]\nstrong_models = ["Sonnet ", "qwen"]').recall.strong_models == ("Sonnet", "qwen")
    assert load("[recall]\nstrong_models = []").recall.strong_models == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("link = 1", ["unknown option `link`"]),
        ('links = "both"', ["plain, wikilink", "'both'"]),
        ("share_use = 1", ["true or false"]),
        ("core_budget = 0", ["whole number above 0"]),
        ("core_budget = true", ["whole number above 0"]),
        ("lock_wait = -1", ["0 or more"]),
        ('[types."two words"]', ["two words"]),
        ('[types.fact]\nclass = "edge"', ["cannot leave its class"]),
        ("[types.x]\nimportance = 2", ["from 0 to 1"]),
        ("[types.x]\ncolour = 2", ["`colour`"]),
        ("perspectives = 3", ["perspectives"]),
        ('recall = "opus"', ["[recall]"]),
        ('[recall]\nstrong_models = "opus"', ["[recall] strong_models", "list of texts"]),
        ('[recall]\nstrong_models = ["opus", " "]', ["empty text"]),
        ('[recall]\nstrong = ["opus"]', ["strong_models", "`strong`"]),
        ("nonsense", ["vault.toml"]),
        ("a = 1\nb = 2\nlinks = 3", ["`a`", "`b`", "`links`"]),
    ],
)
def test_faults_are_named_together(text: str, words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        load(text)
    assert all(word in str(caught.value) for word in words)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("line", ['write_policy = "review"', 'review = ["preference"]', "core_budget = 9000"])
def test_a_setting_that_falls_into_the_last_table_is_told_and_not_taken_for_an_instruction(line: str) -> None:
    text = default_settings() + f"\n{line}\n"
    with pytest.raises(ConfigError, match=f"`{line.partition(' ')[0]}` is a setting .* above the first line in brackets"):
        load(text)
    assert (
        load(default_settings() + '\nnotes = "Represent my notes for retrieval:"\n').perspectives["notes"].startswith("Represent")
    )
