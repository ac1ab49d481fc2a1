from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.verbs.looking import START, fails, note
from tests.wording import bare
from vault_tool import Vault
from vault_tool.errors import UsageError
from vault_tool.features.recall.recall import Bundle
from vault_tool.util.clock import FixedClock
from vault_tool.vault.parameters import require_moment
from vault_tool.vault.request_faults import InvalidRequest

ASKS: Mapping[str, Callable[..., set[str]]] = {
    "recall": lambda vault, **given: {one.id for one in vault.recall("quartz", **given).results},
    "search": lambda vault, **given: {one.id for one in vault.search("quartz", **given).results if one.id},
    "search by words": lambda vault, **given: {one.id for one in vault.search("quartz", mode="text", **given).results if one.id},
    "bring_to_mind": lambda vault, **given: {one.id for one in vault.bring_to_mind("quartz", **given).results},
    "list": lambda vault, include_global, **given: {one.id for one in vault.list(record_class="observation", **given).results},
    "read": lambda vault, **given: {one.memory_id for one in vault.read("quartz", **given).results},
}


@pytest.fixture
def lab(founded_without_git: Path, tmp_path: Path) -> Iterator[Vault]:
    """A vault without git, a day after the last of what it holds."""
    shutil.copytree(founded_without_git, tmp_path / "lab")
    with Vault.open(tmp_path / "lab", clock=FixedClock(START)) as opened:
        yield opened


@pytest.mark.parametrize("ask", ASKS.values(), ids=ASKS)
def test_every_verb_that_asks_takes_the_same_filters(lab: Vault, ask: Callable[..., set[str]]) -> None:
    clock = lab.clock
    assert isinstance(clock, FixedClock)
    old = lab.as_(project="lab").remember("Quartz one was seen.", ["Stone"], kind="fact", tags=["rock", "Work/Night Shift"]).id
    clock.advance(timedelta(days=10))
    new = (
        lab.as_(project="shop")
        .remember("Quartz two was sold.", ["Shop"], kind="preference", tags=["rock", "sold"], mood="Curious")
        .id
    )
    bare = lab.remember("Quartz three is neither.", kind="fact").id
    everywhere = lab.as_(project="global").remember("Quartz four is everywhere.", kind="fact").id
    clock.advance(timedelta(days=1))
    for given, expected in (
        ({"kinds": ["preference"]}, {new}),
        ({"tags": ["rock"]}, {old, new}),
        ({"tags": ["#ROCK", "sold"]}, {new}),
        ({"tags": ["rock", "unsaid"]}, set()),
        ({"tags": ["work"]}, {old}),
        ({"tags": ["work/night-shift"]}, {old}),
        ({"tags": ["wor"]}, set()),
        ({"not_tags": ["rock"]}, {bare, everywhere}),
        ({"tags": ["rock"], "not_tags": ["work"]}, {new}),
        ({"project": "shop"}, {new}),
        ({"project": "Lab"}, {old}),
        ({"project": "elsewhere"}, set()),
        ({"mood": "curious"}, {new}),
        ({"mood": "precise"}, set()),
        ({"mood": "curious", "tags": ["work"]}, set()),
        ({"since": "2026-11-25"}, {new, bare, everywhere}),
        ({"since": "2d"}, {new, bare, everywhere}),
        ({"until": "2026-11-20"}, {old}),
        ({"until": "1w"}, {old}),
        ({"since": "2026-11", "until": "2026-11"}, {old, new, bare, everywhere}),
        ({"until": "2026-10"}, set()),
    ):
        assert ask(lab, include_global=False, **given) == expected, given


def test_pages_and_subjects_are_left_out_by_what_they_cannot_say(lab: Vault) -> None:
    (lab.root / "vault" / "Quartz notes.md").write_text("All about quartz.\n", encoding="utf-8")
    lab.create_subjects([{"name": "Quartz", "tags": ["rock"]}])

    def kinds(**given: Any) -> set[str]:
        return {one.record_class for one in lab.search("quartz", **given).results}

    assert kinds() == {"page", "subject"}
    assert kinds(kinds=["page"]) == {"page"}
    assert kinds(tags=["rock"]) == {"subject"}
    assert kinds(project="lab") == set()
    assert kinds(since="2026-01-01", kinds=["page"]) == set()


def test_what_a_filter_wants_is_found_below_hundreds_that_fit_better(lab: Vault) -> None:
    folder = lab.root / "vault" / "observations"
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1, 400):
        (folder / f"n{number}.md").write_text(note(number, f"Quartz vein number {number}."), encoding="utf-8")
    wanted = note(999, "In a long note on other things quartz is said once. " + "Sand and gravel lie there. " * 40, tags="[rare]")
    (folder / "wanted.md").write_text(wanted, encoding="utf-8")
    found = lab.recall("quartz", tags=["rare"])
    assert isinstance(found, Bundle)
    assert [one.path for one in found.results] == ["vault/observations/wanted.md"]


@pytest.mark.parametrize(
    ("text", "begins", "ends"),
    [
        ("2026-11-19", "2026-11-19T00:00:00", "2026-11-19T23:59:59.999999"),
        ("2024-02", "2024-02-01T00:00:00", "2024-02-29T23:59:59.999999"),
        ("2026-12", "2026-12-01T00:00:00", "2026-12-31T23:59:59.999999"),
        ("2023", "2023-01-01T00:00:00", "2023-12-31T23:59:59.999999"),
        ("yesterday", "2026-11-19T00:00:00", "2026-11-19T23:59:59.999999"),
        (" 7D ", "2026-11-13T10:00:00", "2026-11-13T10:00:00"),
        ("2m", "2026-09-21T10:00:00", "2026-09-21T10:00:00"),
        ("2026-11-19T08:00:00+02:00", "2026-11-19T06:00:00", "2026-11-19T06:00:00"),
    ],
)
def test_a_time_is_a_date_a_month_a_year_or_a_span(text: str, begins: str, ends: str) -> None:
    assert require_moment(text, START).isoformat() == f"{begins}+00:00"
    assert require_moment(text, START, ends=True).isoformat() == f"{ends}+00:00"


@pytest.mark.parametrize("text", ["yesterday-ish", "2026-13", "9999y", "7 days", "٧d", "0000", "-1d"])
def test_what_is_no_time_is_said_with_what_would_be(text: str) -> None:
    with fails(UsageError, "is not a time"):
        require_moment(text, START)


def test_the_last_year_that_there_is_has_an_end_or_is_refused() -> None:
    with fails(UsageError, "is not a time"):
        require_moment("9999", START, ends=True)


def test_a_request_names_the_place_of_a_time_that_is_none(lab: Vault) -> None:
    with pytest.raises(InvalidRequest) as caught:
        lab.read("quartz", since="soon", until="2026-13")
    assert [one.pointer for one in caught.value.faults] == ["/since", "/until"]


@pytest.mark.parametrize("name", ["tags", "not_tags"])
def test_a_tag_that_is_nothing_but_signs_is_said_to_be_none(lab: Vault, name: str) -> None:
    with pytest.raises(UsageError, match="`#` is no tag"):
        lab.recall("quartz", **{name: ["#"]})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("filter", "says"),
    [
        ({"tags": ["zzz"]}, "no memory has the tag `zzz`: `Vault.tags()` lists those that there are"),
        ({"project": "nowhere"}, "no memory is of the project `nowhere`: leave `project=...` out to ask all of them"),
    ],
)
def test_an_answer_that_is_empty_for_what_nothing_has_says_so(lab: Vault, filter: dict[str, Any], says: str) -> None:
    lab.remember("Redis keeps quartz.", ["Redis"], tags=["work"])
    answers: tuple[Any, ...] = (lab.recall("redis", **filter), lab.search("redis", **filter), lab.read("redis", **filter))
    for found in answers:
        assert says in map(bare, found.warnings)
    assert [bare(one) for one in lab.search("redis", mode="text", **filter).warnings] == [says]
    assert says in map(bare, lab.bring_to_mind("redis", **filter).warnings)


def test_a_subject_that_nothing_is_tagged_with_is_named(lab: Vault) -> None:
    lab.remember("Redis keeps quartz.", ["Redis"], tags=["work"])
    (says,) = lab.recall("redis", subject_names=["Nobody"]).warnings  # type: ignore[union-attr]
    assert says.startswith("no memory is tagged with `Nobody`")
    assert lab.recall("zzz qqq", tags=["work"]).warnings == ()  # type: ignore[union-attr]
