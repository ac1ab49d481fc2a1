"""What each test costs in processor time, its children's too: `pytest -p tests.processor_time` prints it at the end."""

from __future__ import annotations

import resource
from collections import defaultdict
from collections.abc import Generator
from typing import Any

import pytest

DEAREST = 40

_costs: dict[str, float] = {}


def _now() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Measure one test with its fixtures; what is made once for many is counted to the first of them."""
    begun = _now()
    try:
        return (yield)
    finally:
        _costs[item.nodeid] = _now() - begun


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker hands over what it measured."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["costs"] = _costs


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker measured."""
    _costs.update(getattr(node, "workeroutput", {}).get("costs", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the dearest tests, and the sums by folder."""
    folders: dict[str, list[float]] = defaultdict(list)
    for test, cost in _costs.items():
        folders[test.partition("::")[0].rpartition("/")[0]].append(cost)
    say = terminalreporter.write_line
    for test, cost in sorted(_costs.items(), key=lambda found: -found[1])[:DEAREST]:
        say(f"{cost:8.2f} s  {test}")
    for folder, costs in sorted(folders.items(), key=lambda found: -sum(found[1])):
        say(f"{sum(costs):8.1f} s  {len(costs):5} tests, {1000 * sum(costs) / len(costs):5.0f} ms each  {folder}")
    say(f"{sum(_costs.values()):8.1f} s  {len(_costs):5} tests")
