"""A line that is no message of the protocol is answered, under the id that it was sent with, and the stream goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bounds import eventually
from tests.mcp.served import Lines
from tests.mcp.test_streams import INITIALIZE
from vault_tool import Vault
from vault_tool.files import watcher_presence
from vault_tool.owner.spawning import make_way


def _call(identity: bytes, arguments: bytes) -> bytes:
    return (
        b'{"jsonrpc":"2.0","id":'
        + identity
        + b',"method":"tools/call","params":{"name":"remember","arguments":'
        + arguments
        + b"}}"
    )


DEEP = b"[" * 10_000 + b"]" * 10_000

SENT: tuple[tuple[bytes, object, str], ...] = (
    (_call(b"2", b'{"content":"half \\ud83d char"}'), 2, "params.arguments.content"),
    (_call(b'"text"', b'{"content":"the other \\udc00 half"}'), "text", "half a character"),
    (_call(b"3", b'{"content":' + DEEP + b"}"), 3, "nesting"),
    (b'{"params":{"id":7,"x":' + DEEP + b'},"id":4,"jsonrpc":"2.0","method":"tools/call"}', 4, "nesting"),
    (_call(b"5", b'{"content":"caf\xe9"}'), 5, "params.arguments.content"),
    (_call(b"6", b'{"content":"x","importance":' + b"9" * 5_000 + b"}"), 6, ""),
    (b'{"id":8,"jsonrpc":"2.0","method":', 8, "JSON"),
    (b'{"jsonrpc":"2.0","id":9}', 9, "JSON-RPC"),
    (b'{"jsonrpc":"2.0","id":10,"method":5}', 10, "JSON-RPC"),
    (b"[1,2]", None, "object"),
    (b"null", None, "object"),
    (b"nonsense", None, "JSON"),
    (b'{"jsonrpc":"2.0","id":1e400,"method":"tools/list"}', None, "id"),
    (b'{"jsonrpc":"2.0","id":[1],"method":"tools/list"}', None, "id"),
    (b'{"jsonrpc":"2.0","id":"half \\ud83d","method":"tools/list"}', None, "id"),
    (b'{"jsonrpc":"2.0","id":"caf\xe9","method":"tools/list"}', None, "id"),
)
# What is a message of the protocol, and whose arguments the tool refuses.
TOLD = (
    (_call(b"20", b'{"content":"x","importance":1e999}'), 20),
    (_call(b"21", b'{"content":"x","importance":NaN}'), 21),
    (_call(b"22", b'{"content":"x","importance":99999999999999999999999}'), 22),
)


@pytest.mark.parametrize("owner", ["off", "on"])
def test_each_is_answered_and_the_stream_goes_on(tmp_path: Path, owner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "v"
    Vault.init(root, no_git=True)
    monkeypatch.setenv("VAULT_OWNER", owner)
    lines = Lines("mcp", "--preset", "full", cwd=root, env={"VAULT_OWNER": owner})
    lines.send(INITIALIZE, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert lines.receive()["id"] == 1
    for line, identity, words in SENT:
        lines.send(line)
        found = lines.receive()
        assert found["id"] == identity, line[:80]
        assert words in found["error"]["message"], found
    for line, identity in TOLD:
        lines.send(line)
        found = lines.receive()
        assert found["id"] == identity
        assert found["result"]["isError"], found
    lines.send({"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": {"name": "recall", "arguments": {"query": "x"}}})
    found = lines.receive()
    assert (found["id"], found["result"]["isError"]) == (99, False)
    rest, said = lines.end()
    assert (rest, b"Traceback" in said) == (b"", False)
    with Vault.open(root) as vault:
        assert vault.search("char half caf").results == ()
    while make_way(root):
        pass
    eventually(lambda: watcher_presence.owner(root) is None)
