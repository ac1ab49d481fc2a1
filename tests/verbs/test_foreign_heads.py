"""Heads as other tools' users write them: their words are searched, whether there is a text, and whether YAML can read them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.git_repos import write
from vault_tool import Vault
from vault_tool.features.recall.recall import Bundle
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git

# Path, note, and what is asked for it.
HEADS = (
    ("Lighthouse keeper.md", "---\nauthor: Mira Solano\nrating: 4\n---\nA novel of the coast.\n", "mira solano"),
    ("Bauer.md", "---\nphone: 0171 2345678\n---\nRepairs stoves.\n", "0171 2345678"),
    ("Kepler.md", "---\nnetwork: Syfy\nseasons: 3\n---\nA space opera.\n", "network syfy"),
    ("Oven.md", "---\nmodel: Miele H2265\nproject: Kitchen\n---\nThe manual lies in the drawer.\n", "miele h2265"),
    ("Boat.md", "---\nowner:\n  name: Tjorben Haase\n  harbour: Wismar\n---\nTwelve metres long.\n", "tjorben wismar"),
    ("Seeds.md", "---\nbought: [marigold, lovage]\n---\nSow them in April.\n", "lovage"),
    ("Garnet.md", "---\nupc: 869869919842\ncolour: crimson\n---\n", "869869919842"),
    ("Pelican guide.md", "---\ntitle: Pelican guide\naliases: [PG]\n---\n", "pelican"),
    ("pg2.md", "---\naliases: Second Guide, SG\nkind: handbook\n---\n", "second guide"),
    ("Ferry.md", "---\ntags: [timetable]\nfrom: Rostock\nto: Gedser\n---\n", "rostock gedser"),
    ("Yeast.md", "---\nstrain: saccharomyces\n---\n", "saccharomyces"),
    ("primer.md", "---\ntitle: Ontology primer: how it is made\n---\nClasses come first.\n", "ontology primer"),
    ("Tariff.md", "---\nprovider: Nordwind\nprice: @12 cents: at night\n---\nSince March.\n", "nordwind"),
    ("broken-list.md", "---\naliases: [Copper Kettle, Tea\n  notes: [\n---\n", "copper kettle"),
    ("tabs.md", "---\n\teditor: Zofia Wrona\n---\nShe reads drafts.\n", "zofia wrona"),
    ("open.md", "---\npainter: Ilse Karge\nyear: 1931\n\nA still life with pears.\n", "ilse karge"),
    ("flow.md", '---\n{"title": "Quarry map", "surveyor": "Odile Brandt"}\n---\nNorth is left.\n', "odile brandt"),
    ("flow2.md", '---\n{"aliases": ["Slate Pit"], "depth": "40 m"}\n---\n', "slate pit"),
    ("hugo.md", '+++\ntitle = "Kiln log"\npotter = "Saoirse"\n+++\nIt cooled slowly.\n', "saoirse"),
    ("json.md", '{\n  "title": "Loom notes",\n  "weaver": "Henrike"\n}\n\nThe warp is linen.\n', "henrike"),
)  # fmt: skip
WORDS = (
    ("directory.md", "# Get-ADUser\n\nLists accounts.\n", "aduser"),
    ("headers.md", "# Cookies\n\nThe function parseHttpHeader drops them.\n", "http header"),
    ("retry.md", "# Retries\n\nSet MAX_RETRY_COUNT to three.\n", "maxRetryCount"),
    ("extensions.md", "# Extensions\n\nEach plug-in is signed.\n", "plugin"),
    ("addons.md", "# Addons\n\nThe toolchain is old.\n", "tool-chain"),
    ("charset.md", "# Charset\n\nIt is utf-8 everywhere.\n", "utf8"),
    ("interp.md", "# Interpreter\n\nWe run python3 here.\n", "python"),
    (
        "Harbour pilots.md",
        "# Harbour pilots\n\nSee [the tide tables](tables/Spring%20tides.md) and [Gösta](<Gösta Palm.md>).\n",
        "tides",
    ),
    ("Glaze recipes.md", "# Glaze recipes\n\nMixed by [Wanda's rule][rule].\n\n[rule]: ../pottery/Celadon.md\n", "celadon"),
    ("party.md", "# Party\n\nIt was fun 🎉 with friends.\n", "🎉"),
)
NOISE = tuple(
    (
        f"other/n{number}.md",
        f"---\nstatus: done\nauthor: Person{number}\n---\n# Note {number}\nAn entry on the garden and boats.\n",
    )
    for number in range(24)
)


@pytest.fixture(params=["served", "imported"])
def vault(request: pytest.FixtureRequest, tmp_path: Path, clock: FixedClock) -> Iterator[Vault]:
    """A folder of such notes beside others, served where it lies or imported."""
    folder = tmp_path / "Notes"
    for path, text, *_ in (*HEADS, *WORDS, *NOISE):
        write(folder, path, text)
    if request.param == "served":
        made = Vault.init(folder, notes="here", no_git=True, clock=clock)
    else:
        made = Vault.init(tmp_path / "v", no_git=True, clock=clock)
    with Vault.open(made.root, clock=clock, origin="owner") as vault:
        if request.param == "imported":
            vault.import_markdown(folder)
        yield vault


def test_each_is_found_first_or_second(vault: Vault) -> None:
    missed = []
    for path, _, asked in (*HEADS, *WORDS):
        found = [one.path.rpartition("/")[2] for one in vault.search(asked).results[:2]]
        if path not in found:
            missed.append((asked, path, found))
    assert missed == []


def test_each_is_recalled(vault: Vault) -> None:
    missed = []
    copied = "/imported/" in vault.search("fun").results[0].path
    for path, _, asked in (*HEADS, *WORDS):
        if copied and path in KEPT_AS_PAGES:
            continue
        answer = vault.recall(asked)
        assert isinstance(answer, Bundle)
        found = [one.path.rpartition("/")[2] for one in answer.results[:2]]
        if path not in found:
            missed.append((asked, path, found))
    assert missed == []


# Copies whose head cannot be changed stay as they are: pages, which search finds.
KEPT_AS_PAGES = {"primer.md", "Tariff.md", "broken-list.md", "tabs.md", "open.md", "flow.md", "flow2.md"}


def test_a_quoted_phrase_is_found_in_a_head_and_around_a_dotted_word(tmp_path: Path, clock: FixedClock) -> None:
    made = Vault.init(tmp_path / "v", no_git=True, clock=clock)
    with Vault.open(made.root, clock=clock, origin="owner") as vault:
        vault.remember("We use node.js today for the well-known build.")
        assert vault.search('"use node.js today"').results
        assert vault.search('"the well-known build"').results


def test_an_alias_of_a_note_without_text_is_a_link(tmp_path: Path, clock: FixedClock) -> None:
    folder = tmp_path / "Notes"
    write(folder, "Guide.md", "---\ntitle: Pelican guide\naliases: [PG]\n---\n")
    write(folder, "Trip.md", "# Trip\nSee [[PG]].\n")
    made = Vault.init(folder, notes="here", no_git=True, clock=clock)
    with Vault.open(made.root, clock=clock, origin="owner") as vault:
        assert [one.title for one in vault.related("Trip").results] == ["Pelican guide"]
        assert vault.show("PG").title == "Pelican guide"
