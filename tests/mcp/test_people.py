"""People and agents with tokens of their own at a served vault: whose their words are, and what these do."""

from __future__ import annotations

import asyncio
import json
import socket
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from mcp_types import CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY

from tests.bounds import PATIENCE, eventually
from tests.cli.typed import vt
from tests.founding import found_at
from tests.git_repos import add_hook, git
from tests.mcp.served import Serving, serving
from tests.nobody import nobodys_machine
from tests.terminal import at_terminal, let_commands_answer
from vault_tool import Vault
from vault_tool.errors import Busy, ConfigError, Exit, NotFound, Refused, UsageError
from vault_tool.features.setup import served_people
from vault_tool.machine import read as read_settings
from vault_tool.mcp.listening import Message, UntilGone
from vault_tool.model.served_person import ServedPerson, address_of, shown_by
from vault_tool.util.clock import FixedClock, stamp

JSON = {"content_type": "application/json", "accept": "application/json, text/event-stream"}
CONFIG = "_config.json"
TODAY = "2026-07-28"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return found_at(tmp_path / "lab", git=True)


def _opened(root: Path) -> Vault:
    return Vault.open(root, person=True)


def _token(root: Path, name: str = "ann", scope: str = "write", user: str = "") -> str:
    with Vault.open(root, person=True, user=user) as vault:
        return served_people.new_token(vault, name, scope).token


def _as(vault: Vault, name: str = "ann") -> Vault:
    """The vault as a served person's agent asks it."""
    return vault.as_(origin="agent", author=f"{name} <{address_of(name)}>")


def _author(root: Path, commit: str = "HEAD") -> str:
    return git(root, "log", "-1", "--format=%an <%ae>", commit)


# --- tokens


def test_a_token_is_shown_once_and_kept_as_a_hash(root: Path) -> None:
    token = _token(root)
    config = root / CONFIG
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    assert len(token) >= 43 and token not in config.read_text()
    row = json.loads(config.read_text())["people"]["ann"]
    assert row.keys() == {"hash", "scope"} and row["scope"] == "write"
    with _opened(root) as vault:
        (listed,) = served_people.people(vault).people
    assert listed.author == f"ann <{address_of('ann')}>" and "hash" not in repr(listed) and row["hash"] not in listed.author


def test_a_new_token_takes_the_place_of_the_old_one_and_keeps_the_name(root: Path) -> None:
    first = _token(root, "Ann")
    with _opened(root) as vault:
        made = served_people.new_token(vault, "ann", "read")
        assert made.replaced and made.person.name == "Ann" and made.token != first
        assert len(served_people.people(vault).people) == 1


@pytest.mark.parametrize(
    "name",
    [
        "ann@example.org", "tester@example.org", "ann <tester@example.org>", "ann\n", "ann\x1b[31m", "an\u202en", "", " ann",
        "ann ", "a  b", "owner", "Agent", "x" * 61, "\u200bann", "ann\x00", "-ann",
    ],
)  # fmt: skip
def test_a_name_that_could_pass_for_another_is_refused_and_nothing_is_written(root: Path, name: str) -> None:
    with _opened(root) as vault, pytest.raises(UsageError) as refused:
        served_people.new_token(vault, name)
    assert refused.value.message.isprintable()
    assert not (root / CONFIG).exists() or "people" not in (root / CONFIG).read_text()


@pytest.mark.parametrize("name", ["ann", "Ann Smith", "ci-runner", "Zoë", "प्रिया", "o'neil"])
def test_names_of_people_may_stand(root: Path, name: str) -> None:
    assert _token(root, name)


def test_an_address_of_a_token_is_no_owners_address(root: Path) -> None:
    address = address_of("ann")
    with pytest.raises(ConfigError, match="token"):
        _write_config(root, {"owners": address})
        read_settings(root / CONFIG, {})


def _write_config(root: Path, values: Mapping[str, Any]) -> None:
    (root / CONFIG).write_text(json.dumps(values))
    (root / CONFIG).chmod(0o600)


@pytest.mark.parametrize(
    "people", [{"ann": {"hash": "x", "scope": "write"}}, {"a@b": {"hash": "0" * 64, "scope": "read"}}, ["ann"], {"ann": "t"}]
)
def test_rows_that_are_none_are_a_fault_and_let_in_nobody(root: Path, people: object) -> None:
    _write_config(root, {"people": people})
    with pytest.raises(ConfigError, match="people"):
        read_settings(root / CONFIG, {})
    assert served_people.KnownPeople(root)() == ()


def test_a_token_is_good_until_its_end_and_told_as_over_then(root: Path) -> None:
    with _opened(root) as vault:
        made = served_people.new_token(vault, "tim", until="2126-06-30")
        for text, said in (("2001-06-30", "would be refused at once"), ("soon", "is not a time")):
            with pytest.raises(UsageError, match=said):
                served_people.new_token(vault, "ann", until=text)
    assert (made.person.until, made.person.over) == ("2126-06-30", False)
    clock = FixedClock(datetime(2126, 6, 30, 23, 59, 58, tzinfo=UTC))
    known = served_people.KnownPeople(root, clock)
    assert [person.name for person in known()] == ["tim"] and shown_by(made.token, known()) is not None
    clock.advance(timedelta(seconds=2))
    assert known() == () and shown_by(made.token, known()) is None
    with Vault.open(root, person=True, clock=clock) as vault:
        (tim,) = served_people.people(vault).people
        assert (tim.name, tim.over) == ("tim", True)
    assert "2126-06-30" in vt("serve", "--people", cwd=root).stdout
    renewed = _token(root, "tim")
    assert shown_by(renewed, known()) is not None  # a new one has no end unless one is given


def test_an_end_that_cannot_be_read_serves_nobody(root: Path) -> None:
    token = _token(root)
    config = root / CONFIG
    rows = json.loads(config.read_text())
    rows["people"]["ann"]["until"] = "one day"
    config.write_text(json.dumps(rows))
    assert shown_by(token, served_people.KnownPeople(root)()) is None


def test_tokens_are_a_persons_to_make_and_to_take_away(root: Path) -> None:
    _token(root)
    with Vault.open(root, origin="owner") as vault:
        with pytest.raises(Refused):
            served_people.new_token(vault, "bob")
        with pytest.raises(Refused):
            served_people.remove(vault, "ann")
        assert [person.name for person in served_people.people(vault).people] == ["ann"]


def test_without_a_history_no_token_is_made(tmp_path: Path) -> None:
    bare = found_at(tmp_path / "bare", git=False)
    with _opened(bare) as vault, pytest.raises(Refused, match="history"):
        served_people.new_token(vault, "ann")


def test_by_commands_at_a_terminal(root: Path) -> None:
    refused = vt("serve", "--person", "ann", "--new-token", cwd=root)
    assert refused.returncode == Exit.REFUSED and not (root / CONFIG).exists()
    made = at_terminal("serve", "--person", "ann", "--scope", "read", "--new-token", cwd=root)
    assert made.returncode == 0 and "once" in made.stdout and address_of("ann") in made.stdout
    listed = vt("serve", "--people", "--json", cwd=root)
    assert [(row["name"], row["scope"]) for row in json.loads(listed.stdout)["people"]] == [("ann", "read")]
    assert vt("serve", "--person", "ann", cwd=root).returncode == Exit.USAGE
    assert vt("serve", "--scope", "read", cwd=root).returncode == Exit.USAGE
    let_commands_answer(root)
    wrong = vt("serve", "--remove", "bob", cwd=root)
    assert wrong.returncode == NotFound.exit_code and "ann" in wrong.stderr
    assert vt("serve", "--person", "ann", "--remove", cwd=root).returncode == Exit.DONE
    assert "nobody" in vt("serve", "--people", cwd=root).stdout


# --- whose a text is


def test_what_is_written_by_a_token_is_of_its_name_at_once(root: Path) -> None:
    with Vault.open(root) as vault:
        made = _as(vault).remember("The pump hums at night.", ["Pump"])
        assert made.committed
        assert _author(root) == f"ann <{address_of('ann')}>"
        assert git(root, "log", "-1", "--format=%cn") != "ann"
        told = vault.get(made.id)
        assert "ann" in told.origin and told.origin.startswith("pulled")
    with Vault.open(root) as again:
        assert again.get(made.id).origin == told.origin


def test_a_rebuilt_index_says_the_same(root: Path) -> None:
    with Vault.open(root) as vault:
        made = _as(vault).remember("The pump hums at night.", ["Pump"])
        vault.reindex()
        assert vault.get(made.id).origin.startswith("pulled (ann")


def test_the_owners_own_writes_stay_the_owners_agents(root: Path) -> None:
    with Vault.open(root) as vault:
        _as(vault).remember("The pump hums at night.", ["Pump"])
        mine = vault.remember("The pump is of gneiss.", ["Pump"])
        assert vault.get(mine.id).origin == "agent" and "ann" not in _author(root)


def test_votes_carry_the_name_and_lie_in_a_journal_of_their_own(root: Path) -> None:
    with Vault.open(root) as vault:
        mine = vault.remember("The pump is of gneiss.", ["Pump"])
        vault.mark_useful(mine.id)
        _as(vault).mark_questionable(mine.id, reason="it is slate")
        signals = vault.index.catalog.signals(mine.id)
        assert sorted(signal.origin.partition(" <")[0] for signal in signals) == ["agent", "pulled (ann"]
    assert len(list((root / "vault" / "signals").rglob("*.jsonl"))) == 2


def test_a_write_that_no_commit_can_have_is_refused_before_a_byte(root: Path) -> None:
    with Vault.open(root) as vault:
        vault.remember("The pump is of gneiss.", ["Pump"])
        git(root, "checkout", "--quiet", "--detach")
        (root / ".git" / "MERGE_HEAD").write_text(git(root, "rev-parse", "HEAD") + "\n")
        before = sorted(path for path in (root / "vault").rglob("*.md"))
        with pytest.raises(Busy):
            _as(vault).remember("The pump hums at night.", ["Pump"])
        assert sorted(path for path in (root / "vault").rglob("*.md")) == before


def test_hooks_and_signing_keep_the_author(root: Path) -> None:
    add_hook(root, "commit-msg", 'echo "Reviewed-in: lab" >> "$1"')
    with Vault.open(root) as vault:
        made = _as(vault).remember("The pump hums at night.", ["Pump"])
        assert made.committed and _author(root) == f"ann <{address_of('ann')}>"
        assert vault.get(made.id).origin.startswith("pulled (ann")


def test_what_a_kill_left_of_a_persons_write_is_committed_as_theirs(root: Path) -> None:
    with Vault.open(root) as vault:
        hook = add_hook(root, "pre-commit", "exit 1")
        made = _as(vault).remember("The pump hums at night.", ["Pump"])
        assert not made.committed
        hook.unlink()
        vault.remember("The pump is of gneiss.", ["Pump"])
        assert vault.get(made.id).origin.startswith("pulled (ann")
    path = made.path
    assert _author(root, git(root, "log", "-1", "--format=%H", "--", path)) == f"ann <{address_of('ann')}>"


# --- at the door


@dataclass(frozen=True)
class Team:
    """A served vault, the tokens of its people, and a memory of the owner's in it."""

    server: Serving
    tokens: Mapping[str, str]
    mine: str

    def call(self, person: str, tool: str, **arguments: object) -> tuple[int, dict[str, str], Any]:
        """A call of a tool with the token of a person (or a text that is none): status, headers, and the answer."""
        return self.raw(
            person, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        )

    def raw(self, person: str, message: object) -> tuple[int, dict[str, str], Any]:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        token = self.tokens.get(person, person)
        status, headers, said = self.server.ask("POST", body=body, authorization=f"Bearer {token}", **JSON)
        lines = [line for line in said.decode().splitlines() if line.startswith("data: {")]
        return status, headers, json.loads(lines[-1][6:]) if lines else said.decode()


def _answer(said: Any) -> Any:
    assert not said["result"].get("isError"), said
    return said["result"]["structuredContent"]


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    folder = tmp_path_factory.mktemp("team")
    with nobodys_machine(folder):
        root = found_at(folder / "lab", git=True)
        with Vault.open(root, origin="owner") as vault:
            mine = vault.remember("The pump is of gneiss.", ["Pump"]).id
            vault.as_(user="u1").remember("The lamp of the first is red.", ["Lamp"])
            vault.as_(user="u2").remember("The lamp of the second is blue.", ["Lamp"])
        tokens = {name: _token(root, name, scope) for name, scope in (("ann", "write"), ("ray", "read"), ("leo", "write"))}
        tokens["una"] = _token(root, "una", "write", user="u1")
        with serving("--preset", "full", cwd=root) as server:
            yield Team(server, {**tokens, "": server.token}, mine)


def test_each_writes_under_their_own_name(team: Team) -> None:
    for person in ("ann", "leo", ""):
        status, _, said = team.call(person, "remember", content=f"Line of {person or 'the owner'} about rope.")
        made = _answer(said)
        assert status == 200
        author = git(team.server.root, "log", "-1", "--format=%an", "--", _path(team, made["id"]))
        assert author == person or (not person and author not in team.tokens)
        with Vault.open(team.server.root) as vault:
            assert vault.get(made["id"]).origin.startswith(f"pulled ({person} ") is bool(person)


def _path(team: Team, identity: str) -> str:
    with Vault.open(team.server.root) as vault:
        return vault.get(identity).path


def test_a_token_for_reading_writes_nothing_and_hears_which_scope_is_missing(team: Team) -> None:
    head = git(team.server.root, "rev-parse", "HEAD")
    assert _answer(team.call("ray", "get", memory_id=team.mine)[2])["content"] == "The pump is of gneiss."
    for tool in ("remember", "mark_useful", "tag", "update", "end_session"):
        status, headers, said = team.call("ray", tool, content="x", memory_id=team.mine)
        assert status == 403 and "`write`" in said
        assert 'scope="write"' in headers["www-authenticate"] and "insufficient_scope" in headers["www-authenticate"]
    assert git(team.server.root, "rev-parse", "HEAD") == head


@pytest.mark.parametrize(
    "body",
    [
        b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"name":"remember","arguments":{"content":"x"}},"method":"tools/call"}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get","name":"remember","arguments":{"content":"x"}}}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"remember","arguments":{"content":"x"},"name":"get"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools\\u002fcall","params":{"name":"\\u0072emember","arguments":{"content":"x"}}}',
        b'[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"remember","arguments":{"content":"x"}}}]',
        b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"remember","arguments":{"content":"x"}}}',
    ],
)
def test_no_spelling_of_a_call_gets_by_a_scope(team: Team, body: bytes) -> None:
    head = git(team.server.root, "rev-parse", "HEAD")
    for more in ({}, {"mcp_method": "tools/list", "mcp_name": "get"}):
        status, _, said = team.server.ask("POST", body=body, authorization=f"Bearer {team.tokens['ray']}", **JSON, **more)
        assert status >= 400 or b'isError":true' in said or b'"error"' in said, said
    assert git(team.server.root, "rev-parse", "HEAD") == head


def test_unknown_and_removed_tokens_are_told_the_same(team: Team) -> None:
    root = team.server.root
    gone = _token(root, "gone")
    assert team.raw(gone, {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})[0] == 200
    with _opened(root) as vault:
        served_people.remove(vault, "gone")
    removed, unknown = team.call(gone, "get", memory_id=team.mine), team.call("x" * 43, "get", memory_id=team.mine)
    assert removed == unknown and removed[0] == 401


def test_a_token_that_is_over_is_told_as_one_that_never_was(team: Team) -> None:
    over = _token(team.server.root, "oda")
    assert team.call(over, "get", memory_id=team.mine)[0] == 200
    values = json.loads((team.server.root / CONFIG).read_text())
    values["people"]["oda"]["until"] = "2001-01-01"
    _write_config(team.server.root, values)
    for tool in ("get", "remember"):
        ended, unknown = (team.call(token, tool, memory_id=team.mine, content="x") for token in (over, "x" * 43))
        assert ended == unknown and ended[0] == 401


@pytest.mark.parametrize("path", ["/live", "/", "/mcp/", "/health/x"])
def test_a_token_opens_the_one_door_that_it_is_for(team: Team, path: str) -> None:
    for person, status in (("ann", 401), ("ray", 401), ("", 404)):
        for method in ("GET", "POST"):
            found, _, said = team.server.ask(method, path, authorization=f"Bearer {team.tokens[person]}")
            assert found == status and b"pump" not in said, (person, path, said)


def test_a_row_with_the_owners_address_for_a_name_lets_in_nobody(root: Path) -> None:
    token = _token(root)
    values = json.loads((root / CONFIG).read_text())
    owner = git(root, "log", "-1", "--format=%ae")
    values["people"] = {owner: values["people"]["ann"]}
    _write_config(root, values)
    assert shown_by(token, served_people.KnownPeople(root)()) is None
    with _opened(root) as vault, pytest.raises(UsageError):
        served_people.new_token(vault, owner)


def test_a_renewed_token_ends_the_old_one(team: Team) -> None:
    old = _token(team.server.root, "max")
    new = _token(team.server.root, "max")
    assert [team.call(token, "get", memory_id=team.mine)[0] for token in (old, new)] == [401, 200]


@pytest.mark.parametrize("how", ["removed", "renewed", "over"])
def test_a_stream_that_stays_open_ends_with_its_token(team: Team, how: str) -> None:
    """By a socket of its own: after the end of the token nothing comes but the end of the answer."""
    name = f"leaves-{how}"
    ends = stamp(datetime.now(UTC) + timedelta(seconds=4)) if how == "over" else ""
    with _opened(team.server.root) as vault:
        token = served_people.new_token(vault, name, until=ends).token
    meta = {PROTOCOL_VERSION_META_KEY: TODAY, CLIENT_CAPABILITIES_META_KEY: {}}
    params = {"notifications": {"resourceSubscriptions": ["vault://core"]}, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "subscriptions/listen", "params": params}).encode()
    address = urlsplit(team.server.url)
    lines = [
        "POST /mcp HTTP/1.1", f"host: {address.netloc}", f"authorization: Bearer {token}", "content-type: application/json",
        "accept: application/json, text/event-stream", f"mcp-protocol-version: {TODAY}", "mcp-method: subscriptions/listen",
        f"content-length: {len(body)}", "", "",
    ]  # fmt: skip
    with socket.create_connection((str(address.hostname), address.port or 80), timeout=PATIENCE) as line:
        line.sendall("\r\n".join(lines).encode() + body)
        said = b""
        while b"subscriptions/acknowledged" not in said:
            part = line.recv(65_536)
            assert part, said
            said += part
        assert said.startswith(b"HTTP/1.1 200")
        with _opened(team.server.root) as vault:
            if how == "removed":
                served_people.remove(vault, name)
            elif how == "renewed":
                served_people.new_token(vault, name)
        rest = b""
        while not rest.endswith(b"0\r\n\r\n"):
            part = line.recv(65_536)
            if not part:
                break
            rest += part
    assert rest == b"0\r\n\r\n"


def test_a_quiet_answer_ends_though_nothing_is_sent() -> None:
    person = ServedPerson("ann", "0" * 64)
    known = [person]
    sent: list[Message] = []

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    async def run() -> Message:
        ends = UntilGone(receive, send, lambda: person not in known)
        await ends.send({"type": "http.response.body", "body": b"first", "more_body": True})
        waits = asyncio.ensure_future(ends.receive())
        await asyncio.sleep(0)
        known.clear()
        message = await waits
        await ends.send({"type": "http.response.body", "body": b"too late", "more_body": True})
        return message

    assert asyncio.run(run()) == {"type": "http.disconnect"}
    assert [message["body"] for message in sent] == [b"first", b""] and not sent[-1]["more_body"]


def test_one_connection_ends_with_its_token(team: Team) -> None:
    from http.client import HTTPConnection

    token = _token(team.server.root, "tim")
    address = urlsplit(team.server.url)
    body = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get", "arguments": {"memory_id": team.mine}}}
    )
    headers = {"authorization": f"Bearer {token}", **{name.replace("_", "-"): value for name, value in JSON.items()}}
    line = HTTPConnection(str(address.hostname), address.port or 80)
    line.request("POST", "/mcp", body, headers)
    first = line.getresponse()
    assert (first.status, bool(first.read())) == (200, True)
    with _opened(team.server.root) as vault:
        served_people.remove(vault, "tim")
    line.request("POST", "/mcp", body, headers)
    assert line.getresponse().status == 401
    line.close()


SMUGGLED: list[dict[str, str]] = [
    {"authorization": ""},
    {"authorization": "Bearer"},
    {"authorization": "Bearer "},
    {"authorization": "Basic {ann}"},
    {"authorization": "Bearer {ann}, Bearer {ray}"},
    {"authorization": "Bearer {ann} {ray}"},
    {"authorization": "Bearer {hash}"},
    {"authorization": "", "x_forwarded_user": "ann", "x_authorization": "Bearer {ann}", "proxy_authorization": "Bearer {ann}"},
]


@pytest.mark.parametrize("given", SMUGGLED)
def test_nothing_but_one_whole_header_is_a_token(team: Team, given: Mapping[str, str]) -> None:
    stored = json.loads((team.server.root / CONFIG).read_text())["people"]["ann"]["hash"]
    values = {"ann": team.tokens["ann"], "ray": team.tokens["ray"], "hash": stored}
    headers = {name: value.format(**values) for name, value in given.items()}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).encode()
    status, _, _ = team.server.ask("POST", body=body, **JSON, **headers)
    assert status == 401


def test_a_user_is_seen_and_written_to_alone(team: Team) -> None:
    found = json.dumps(_answer(team.call("una", "search", query="lamp")[2]))
    assert "first" in found and "second" not in found
    status, _, said = team.call("una", "remember", content="The lamp of mine is green.", user="u2")
    assert status == 200 and said["result"]["isError"]
    made = _answer(team.call("una", "remember", content="The lamp of mine is green.")[2])
    with Vault.open(team.server.root) as vault:
        kept = vault.get(made["id"])
        assert "user: u1" in (team.server.root / kept.path).read_text() and kept.origin.startswith("pulled (una")


@pytest.mark.parametrize("tool", ["update_subject_summary", "add_alias", "merge_subjects"])
def test_what_another_wrote_stays_as_it_is(team: Team, tool: str) -> None:
    arguments: dict[str, dict[str, object]] = {
        "update_subject_summary": {"subject_name": "Pump", "summary": "Ann's own."},
        "add_alias": {"subject_name": "Pump", "alias": "Ann's pump"},
        "merge_subjects": {"source_name": "Pump", "target_name": "Lamp"},
    }
    before = git(team.server.root, "rev-parse", "HEAD:vault/subjects")
    status, _, said = team.call("ann", tool, **arguments[tool])
    assert status == 200 and said["result"]["isError"], said
    assert git(team.server.root, "rev-parse", "HEAD:vault/subjects") == before


def test_the_global_vault_is_served_to_no_person(tmp_path: Path) -> None:
    with nobodys_machine(tmp_path):
        root, other = found_at(tmp_path / "lab", git=True), found_at(tmp_path / "own", git=True)
        with Vault.open(other) as vault:
            vault.remember("The safe opens with a brass key.", ["Safe"])
        with Vault.open(root, environ={"VAULT_GLOBAL": str(other)}) as vault:
            assert vault.search("brass key").results
            assert not _as(vault).search("brass key").results
            assert vault.search("brass key").results
            vault.as_person().config("vault", "own", folder=str(other))
            assert vault.search("brass key", vaults=["own"]).results
            for named in (["own"], ["all"], ["global"]):
                with pytest.raises(UsageError):
                    _as(vault).search("brass key", vaults=named)
            known = vault.search("brass key", vaults=["own"]).results[0].id
            for name in (f"own:{known}", f"global:{known}"):
                with pytest.raises(NotFound):
                    _as(vault).get(name)


def test_a_served_vault_syncs_where_it_was_told_to(tmp_path: Path) -> None:
    with nobodys_machine(tmp_path):
        root = found_at(tmp_path / "lab", git=True)
        hub = tmp_path / "hub.git"
        git(tmp_path, "clone", "--quiet", "--bare", str(root), str(hub))
        git(root, "remote", "add", "origin", str(hub))
        git(root, "fetch", "--quiet", "origin")
        git(root, "branch", "--set-upstream-to", f"origin/{git(root, 'branch', '--show-current')}")
        with Vault.open(root) as vault:
            _as(vault).remember("The pump hums at night.", ["Pump"])
        with serving("--every", "600", cwd=root):
            eventually(lambda: git(hub, "log", "-1", "--format=%an") == "ann")


# --- every state of a token, at every door


def _with(**changes: object) -> Callable[[Path], str]:
    """A token of writing whose row was changed by hand."""

    def make(root: Path) -> str:
        token, values = _token(root, "tess"), json.loads((root / CONFIG).read_text())
        values["people"]["tess"] |= changes
        _write_config(root, values)
        return token

    return make


def _removed(root: Path) -> str:
    token = _token(root, "tess")
    with _opened(root) as vault:
        served_people.remove(vault, "tess")
    return token


def _renewed(root: Path) -> str:
    token = _token(root, "tess")
    _token(root, "tess")
    return token


def _of_a_row_taken_out_by_hand(root: Path) -> str:
    token, values = _token(root, "tess"), json.loads((root / CONFIG).read_text())
    del values["people"]["tess"]
    _write_config(root, values)
    return token


def _its_hash(root: Path) -> str:
    _token(root, "tess")
    return str(json.loads((root / CONFIG).read_text())["people"]["tess"]["hash"])


def _of_the_owners_address(root: Path) -> str:
    token, values = _token(root, "tess"), json.loads((root / CONFIG).read_text())
    values["people"][git(root, "log", "-1", "--format=%ae")] = values["people"].pop("tess")
    _write_config(root, values)
    return token


# What is shown, and the statuses of a question and of a write with it.
SHOWN: Mapping[str, tuple[Callable[[Path], str], int, int]] = {
    "of writing": (lambda root: _token(root, "tess"), 200, 200),
    "of the last day that there is": (_with(until="9999-12-31"), 200, 200),
    "of reading": (lambda root: _token(root, "tess", "read"), 200, 403),
    "narrowed to reading since": (_with(scope="read"), 200, 403),
    "over": (_with(until="2026-01-01"), 401, 401),
    "removed": (_removed, 401, 401),
    "renewed": (_renewed, 401, 401),
    "its row taken out by hand": (_of_a_row_taken_out_by_hand, 401, 401),
    "its hash": (_its_hash, 401, 401),
    "half of it": (lambda root: _token(root, "tess")[:20], 401, 401),
    "with more behind it": (lambda root: _token(root, "tess") + "x", 401, 401),
    "in other letters": (lambda root: _token(root, "tess").swapcase(), 401, 401),
    "of the owner's address": (_of_the_owners_address, 401, 401),
    "of an unknown scope": (_with(scope="all"), 401, 401),
    "none": (lambda root: "", 401, 401),
}


@pytest.mark.parametrize("shown", SHOWN)
def test_each_state_of_a_token_opens_what_it_is_for_and_nothing_else(team: Team, shown: str) -> None:
    root = team.server.root
    make, reading, writing = SHOWN[shown]
    before = (root / CONFIG).read_bytes()
    try:
        token = make(root)
        head = git(root, "rev-parse", "HEAD")
        answers = [
            team.raw(token or "-", _call("get", memory_id=team.mine)),
            team.raw(token or "-", _call("remember", content=f"By a token: {shown}.")),
        ]
        assert [status for status, _, _ in answers] == [reading, writing], answers
        for status, headers, said in answers:
            assert status == 200 or ("pump" not in str(said) and "www-authenticate" in headers), said
            assert status != 403 or 'scope="write"' in headers["www-authenticate"]
        assert (git(root, "rev-parse", "HEAD") == head) is (writing != 200)
        assert writing != 200 or _author(root) == f"tess <{address_of('tess')}>"
        for path in ("/", "/live", "/health/x", "/mcp/"):
            status, _, raw = team.server.ask("GET", path, authorization=f"Bearer {token}")
            assert status == 401 and b"pump" not in raw, path
        # Where the rows are no rows no person is let in, and the vault's own token is.
        others = 401 if shown in ("of the owner's address", "of an unknown scope") else 200
        assert [team.call(person, "get", memory_id=team.mine)[0] for person in ("ann", "")] == [others, 200]
    finally:
        (root / CONFIG).write_bytes(before)


def _call(tool: str, **arguments: object) -> Mapping[str, object]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
