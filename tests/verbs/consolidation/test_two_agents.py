"""Two agents walk one pass at once: each packet is written once, and none is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.bounds import PATIENCE
from vault_tool import Vault

AGENT = """
import json, sys
from vault_tool import Vault
from vault_tool.errors import NotFound, Refused, UsageError
written = []
with Vault.open(sys.argv[1], session=sys.argv[2]) as vault:
    print("ready", flush=True)
    sys.stdin.readline()
    answer = {}
    for _ in range(60):
        try:
            step = vault.consolidate_next(**answer)
        except (NotFound, Refused, UsageError):
            answer = {}  # the other agent answered it
            continue
        if step.written:
            written.append(step.written.id)
        if step.packet is None:
            break
        subject = step.packet.subject or "Where it stands"
        text = f"{subject} is understood by {sys.argv[2]}."
        answer = {"packet": step.packet.id, "content": text, "summary": f"{subject} is so."}
print(json.dumps(written))
"""


@pytest.mark.parametrize("subjects", [("Kelp", "Net", "Mole", "Crab"), ("Roof", "Well", "Gate", "Barn", "Mill", "Dyke")])
def test_each_packet_is_written_once(root: Path, subjects: tuple[str, ...]) -> None:
    with Vault.open(root) as vault:
        for subject in subjects:
            for day in ("Monday", "Tuesday", "Friday"):
                vault.remember(f"The {subject} was seen on {day}.", [subject])
    agents = [
        subprocess.Popen([sys.executable, "-c", AGENT, str(root), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for name in ("a", "b")
    ]
    for agent in agents:
        assert agent.stdout is not None and agent.stdout.readline() == "ready\n"
    for agent in agents:
        assert agent.stdin is not None
        agent.stdin.write("go\n")
        agent.stdin.flush()
    written = [identity for agent in agents for identity in json.loads(agent.communicate(timeout=PATIENCE)[0])]
    with Vault.open(root) as vault:
        current = Counter(
            name for one in vault.list(kinds=["single_subject"]).results for name in one.subjects if name in subjects
        )
        assert current == dict.fromkeys(subjects, 1)
        assert {one.id for one in vault.list(kinds=["single_subject"]).results} <= set(written)
        assert len(written) == len(set(written))
        assert not vault.status().contested
        assert vault.status().due_packets == 0
        assert vault.consolidate_next().packet is None
