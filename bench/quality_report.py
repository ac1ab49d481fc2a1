"""`python -m bench quality`: the figures of recall's quality and silence as tables."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from bench import precision, quality
from bench.machine import RESULTS
from bench.precision import Silence
from bench.questions import FORM, QuestionSet, sets_in
from bench.ranking import CUTS, Quality
from vault_tool import Vault

_OWN = "our own small vault"


def add_parser(parsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the measurements' command line."""
    what = parsers.add_parser(
        "quality",
        help="how well recall finds and keeps silent",
        description=FORM,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what.add_argument("--data", type=Path, help="a folder in the form below; without it only our own questions are asked")
    what.add_argument("--quick", action="store_true", help="recall and the plain rankers, without an ablation of each stage")
    what.add_argument("--perspectives", action="store_true", help="also with all perspectives: every row is embedded five times")
    what.add_argument("--only", metavar="SET", help="one of the sets in the folder")
    what.add_argument("--folder", type=Path, default=RESULTS / "conversations", help="where the vaults are made and kept")
    what.add_argument("--json", type=Path, default=RESULTS / "quality.json", help="where the JSON goes")
    what.set_defaults(run=main)


def main(asked: argparse.Namespace) -> int:
    """Measure, print the tables, write the JSON."""
    asked.folder.mkdir(parents=True, exist_ok=True)
    document: dict[str, object] = {"sets": {}, "silence": {}}
    print("| questions | n | ambient gives nothing | all of targeted is weak |\n|---|---:|---:|---:|")
    with ExitStack() as vaults:
        silences = dict(_own(asked.folder, vaults))
        sets = [one for one in sets_in(asked.data) if asked.only in (None, one.name)] if asked.data else []
        for one in sets:
            silences.update(_others(one, asked.folder, vaults))
    for name, found in silences.items():
        print(f"| {name} | {found.questions} | {found.silent:.1%} | {found.weak:.1%} |")
    document["silence"] = {name: asdict(found) for name, found in silences.items()}
    document["sets"] = {one.name: _measured(one, asked) for one in sets}
    asked.json.parent.mkdir(parents=True, exist_ok=True)
    asked.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


def _measured(one: QuestionSet, asked: argparse.Namespace) -> dict[str, object]:
    """One set's table, line by line as it is known."""
    print(f"\n{one.name}: {sum(map(len, one.conversations.values())):,} rows, {len(one.queries):,} questions\n")
    print(
        f"| system | {' | '.join(f'R@{cut}' for cut in CUTS)} | nDCG@10 | MRR | 95 % of R@10 |\n|---|{'---:|' * (len(CUTS) + 3)}"
    )
    found: dict[str, object] = {}
    for name, measured in quality.run(one, asked.folder, _say, quality.STAGES[:1] if asked.quick else quality.STAGES):
        print(_line(name, measured), flush=True)
        found[name] = asdict(measured)
    if asked.perspectives:
        told = quality.run_told(one, asked.folder, _say)
        print(_line("with all perspectives", told), flush=True)
        found["with all perspectives"] = asdict(told)
    return found


def _line(name: str, found: Quality) -> str:
    recalls = " | ".join(f"{found.recall[cut]:.3f}" for cut in CUTS)
    return f"| {name} | {recalls} | {found.ndcg:.3f} | {found.mrr:.3f} | {found.low:.3f} to {found.high:.3f} |"


def _own(folder: Path, vaults: ExitStack) -> Iterator[tuple[str, Silence]]:
    root = folder / "own"
    if not root.exists():
        precision.make_own_vault(root)
    vault = vaults.enter_context(Vault.open(root))
    vault.fresh()
    vault.embedding.vectors.catch_up()
    answered, unanswered = precision.own_questions()
    yield f"{_OWN}: the answer is not there", precision.silence([(vault, question) for question in unanswered])
    yield f"{_OWN}: the answer is there", precision.silence([(vault, question) for question in answered])


def _others(one: QuestionSet, folder: Path, vaults: ExitStack) -> Iterator[tuple[str, Silence]]:
    conversations = quality.opened(one, folder, vaults, _say)
    yield f"{one.name}: asked of the wrong conversation", precision.silence(precision.elsewhere(one, conversations))
    absent = [query for query in one.queries if not query.evidence]
    yield f"{one.name}: marked as not answered", precision.silence([(conversations[q.conv].vault, q.question) for q in absent])
    yield f"{one.name}: the answer is there", precision.silence(precision.answerable(one, conversations))


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
