"""The examples for agent libraries run as they stand, against the installed libraries and a stand-in for the model.

The libraries pin other versions of what the tests need: VAULT_LIBRARIES names a Python that has them and this package (how it
is made is in docs/library.md).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from vault_tool import Vault

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
LIBRARIES = os.environ.get("VAULT_LIBRARIES", "")
KNOWN = "Redis drops idle connections after 300 s."

installed = pytest.mark.skipif(not LIBRARIES, reason="VAULT_LIBRARIES names no Python that has the agent libraries")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault without git that knows one thing."""
    Vault.init(tmp_path / "lab", name="Lab", no_git=True)
    with Vault.open(tmp_path / "lab") as vault:
        vault.remember(KNOWN, ["Redis"], kind="problem")
    return tmp_path / "lab"


class Model(ThreadingHTTPServer):
    """A stand-in for a model by the Responses API: calls the tools that it is told to, one a request, then repeats the result."""

    daemon_threads = True

    def __init__(self, calls: list[tuple[str, dict[str, Any]]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.calls = calls
        self.asked: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The response to a request."""
        self.asked.append(asked)
        number = len(self.asked)
        item: dict[str, Any]
        if number <= len(self.calls):
            name, arguments = self.calls[number - 1]
            item = {"type": "function_call", "id": f"f{number}", "call_id": f"c{number}", "name": name, "status": "completed",
                    "arguments": json.dumps(arguments)}  # fmt: skip
        else:
            text = json.dumps(asked["input"][-1]["output"], ensure_ascii=False)
            item = {"type": "message", "id": "m1", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": text, "annotations": []}]}  # fmt: skip
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
                 "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                 "output_tokens_details": {"reasoning_tokens": 0}}  # fmt: skip
        return {"id": f"r{number}", "object": "response", "created_at": 0, "model": "stub", "status": "completed",
                "output": [item], "parallel_tool_calls": False, "tool_choice": "auto", "tools": [], "usage": usage}  # fmt: skip


class _Handler(BaseHTTPRequestHandler):
    server: Model

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        data = json.dumps(self.server.answer(asked) if self.path.endswith("/responses") else {}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None: ...


@contextmanager
def model(*calls: tuple[str, dict[str, Any]]) -> Iterator[Model]:
    """A model that answers until the end."""
    with Model(list(calls)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def run(example: str, *arguments: str, url: str = "") -> str:
    """What an example prints."""
    environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "VAULT_OWNER": "off",
               "OPENAI_API_KEY": "nobodys", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_AGENTS_DISABLE_TRACING": "1"}  # fmt: skip
    done = subprocess.run(
        [LIBRARIES, *([str(EXAMPLES / example)] if example else []), *arguments],
        cwd=EXAMPLES, env=environ, capture_output=True, text=True, timeout=250, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def remembered(root: Path) -> list[str]:
    with Vault.open(root) as vault:
        return [one.matched_content for one in vault.search("keepalive").results]


def test_each_is_short_and_documented() -> None:
    documents = (EXAMPLES.parent / "docs" / "library.md").read_text(encoding="utf-8")
    examples = sorted(EXAMPLES.glob("*.py"))
    assert len(examples) == 3
    for example in examples:
        assert len([line for line in example.read_text(encoding="utf-8").splitlines() if line.strip()]) <= 40
        assert f"examples/{example.name}" in documents


@installed
def test_the_agents_sdk_gives_its_model_page_and_tools(root: Path) -> None:
    said = "Keepalive ended the drops."
    calls = ("remember", {"content": said, "subject_names": ["Redis"]}), ("recall", {"query": "why does redis drop connections?"})
    with model(*calls) as server:
        printed = run("openai_agents_sdk.py", str(root), "Why does redis drop connections?", url=server.url)
    assert KNOWN in server.asked[0]["instructions"]
    assert {one["name"] for one in server.asked[0]["tools"]} >= {"recall", "remember", "bring_to_mind"}
    assert KNOWN in printed and said in remembered(root)


@installed
def test_pydantic_ai_gives_its_model_page_and_tools(root: Path) -> None:
    said, key = "Keepalive ended the drops.", "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    calls: list[tuple[str, dict[str, Any]]] = [
        ("remember", {"text": f"The token is {key}.", "subjects": ["Redis"]}),
        ("remember", {"text": said, "subjects": ["Redis"]}),
        ("recall", {"question": "why does redis drop connections?"}),
    ]
    with model(*calls) as server:
        printed = run("pydantic_ai_agent.py", str(root), "Why does redis drop connections?", url=server.url)
    assert KNOWN in json.dumps(server.asked[0])
    assert {one["name"] for one in server.asked[0]["tools"]} == {"recall", "remember"}
    refused = server.asked[1]["input"][-1]["output"]
    assert "secret" in refused and key not in refused
    assert KNOWN in printed and said in remembered(root)


STORE = """
import asyncio, sys
from langgraph.graph import START, StateGraph
from langgraph_store import VaultStore
from typing import TypedDict

class State(TypedDict):
    said: str
    found: list

def remember(state: State, *, store):
    store.put(("users", "ann", "v1 0"), "likes/1.0", {"text": state["said"], "kind": "like"})
    return {"found": [one.value["text"] for one in store.search(("users",), query="tea", filter={"kind": "like"})]}

store = VaultStore(sys.argv[1])
graph = StateGraph(State).add_node("remember", remember).add_edge(START, "remember").compile(store=store)
assert graph.invoke({"said": "Ann drinks green tea."})["found"] == ["Ann drinks green tea."]
assert graph.invoke({"said": "Ann drinks black tea."})["found"] == ["Ann drinks black tea."]

async def others():
    await store.aput(("users", "bob"), "1", {"text": "Bob drinks coffee.", "kind": "like"})
    await store.aput(("users", "bob"), "2", {"text": "Bob hates tea.", "kind": "hate"})
    return await store.aget(("users", "bob"), "1")

item = asyncio.run(others())
assert item.value["text"] == "Bob drinks coffee." and item.namespace == ("users", "bob") and item.key == "1"
assert [one.key for one in store.search(("users", "bob"), query="tea")] == ["2"]
assert store.search(("users",), query="tea", filter={"kind": "like"})[0].namespace == ("users", "ann", "v1 0")
assert len(store.search(("users",))) == 3 and len(store.search(("users",), limit=1, offset=2)) == 1
assert store.list_namespaces() == [("users", "ann", "v1 0"), ("users", "bob")]
assert store.list_namespaces(suffix=("bob",)) == [("users", "bob")] and store.list_namespaces(max_depth=1) == [("users",)]
store.delete(("users", "bob"), "2")
store.delete(("users", "bob"), "2")
assert store.get(("users", "bob"), "2") is None and store.get(("nobody",), "2") is None
"""


@installed
def test_a_store_of_langgraph_is_notes_that_recall_finds(root: Path) -> None:
    run("", "-c", STORE, str(root))
    with Vault.open(root) as vault:
        found = vault.search("black tea").results[0]
        assert found.path == "vault/store/users/ann/v1%200/likes%2F1%2E0.md" and found.origin == "agent"
        assert not vault.doctor().problems
