"""Who may ask for a page at all."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.web.conftest import Served, serving_pages
from vault_tool import Vault
from vault_tool.features.setup import served_people
from vault_tool.web.door import CODE_SECONDS, HEADERS, Entrance
from vault_tool.web.rendering import FOLDER


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    root = tmp_path_factory.mktemp("door") / "lab"
    Vault.init(root, name="Lab", no_git=True)
    with serving_pages(root) as found:
        yield found


FOREIGN = [
    ({"host": "evil.example"}, 403),
    ({"host": "127.0.0.1.evil.example:PORT"}, 403),
    ({"host": "127.evil.com"}, 403),
    ({"host": "127.0.0.1"}, 403),
    ({"host": "127.0.0.1:1"}, 403),
    ({"host": "user@127.0.0.1:PORT"}, 403),
    ({"origin": "https://evil.example"}, 403),
    ({"origin": "null"}, 403),
    ({"origin": "http://127.0.0.1:1"}, 403),
    ({"sec-fetch-site": "cross-site"}, 403),
    ({"sec-fetch-site": "same-site"}, 403),
    ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"}, 403),
    ({"cookie": "vault-PORT=wrong"}, 401),
    ({"cookie": 'vault-PORT="'}, 401),
    ({"cookie": ""}, 401),
]


@pytest.mark.parametrize("path", ["/", "/health", "/live", "/commit/HEAD"])
@pytest.mark.parametrize(("headers", "status"), FOREIGN, ids=str)
def test_who_may_not_ask_reads_nothing(served: Served, path: str, headers: dict[str, str], status: int) -> None:
    given = {"accept": "*/*", **{name: value.replace("PORT", str(served.port)) for name, value in headers.items()}}
    cookies = {} if "cookie" in headers else dict(served.client.cookies)
    with httpx.Client(base_url=served.url, cookies=cookies, trust_env=False) as client:
        found = client.get(path, headers=given)
    assert found.status_code == status
    assert "Lab" not in found.text


POSTED = [
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": ""},
    {"origin": "http://127.0.0.1:1"},
    {"origin": "http://localhost:PORT"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"host": "evil.example", "origin": "http://evil.example"},
]


@pytest.mark.parametrize("headers", POSTED, ids=str)
def test_only_our_own_pages_change_something(served: Served, headers: dict[str, str]) -> None:
    given = {name: value.replace("PORT", str(served.port)) for name, value in headers.items()}
    found = served.client.post("/undo", data={"target": "HEAD"}, headers=given)
    assert found.status_code == 403
    assert found.text.endswith("\n") and "<" not in found.text


def test_who_says_no_origin_changes_nothing(served: Served) -> None:
    with httpx.Client(base_url=served.url, cookies=dict(served.client.cookies), trust_env=False) as client:
        assert client.post("/undo", data={"target": "HEAD"}).status_code == 403


def test_a_link_opens_the_door_once(served: Served) -> None:
    code = served.entrance.new_code()
    with httpx.Client(base_url=served.url, headers={"origin": served.url, "accept": "text/html"}, trust_env=False) as first:
        came = first.post("/start", data={"code": code, "to": "/health"})
        assert (came.status_code, came.headers["location"]) == (303, "/health")
        cookie = came.headers["set-cookie"]
        assert f"vault-{served.port}=" in cookie and "HttpOnly" in cookie and "SameSite=strict" in cookie
    with httpx.Client(base_url=served.url, headers={"origin": served.url, "accept": "text/html"}, trust_env=False) as second:
        again = second.post("/start", data={"code": code})
        assert again.status_code == 403 and "used already" in again.text and "set-cookie" not in again.headers
        assert second.get("/").headers["location"] == "/start"
        assert second.get("/commit/HEAD?a=b").headers["location"] == "/start?to=%2Fcommit%2FHEAD%3Fa%3Db"


def test_a_link_lies_about_for_an_hour() -> None:
    now = [0.0]
    entrance = Entrance(lambda: now[0])
    early, late = entrance.new_code(), entrance.new_code()
    now[0] = CODE_SECONDS - 1
    assert entrance.begin(early)
    now[0] = CODE_SECONDS + 1
    assert entrance.begin(late) is None


@pytest.mark.parametrize("to", ["//evil.example", "https://evil.example/", "/\\evil.example", "javascript:alert(1)", "/\r\nx: y"])
def test_no_form_leads_elsewhere(served: Served, to: str) -> None:
    client = httpx.Client(base_url=served.url, headers={"origin": served.url}, trust_env=False)
    with client:
        came = client.post("/start", data={"code": served.entrance.new_code(), "to": to})
    assert came.headers["location"] == "/"


def test_a_new_link_is_for_who_knows_the_secret(served: Served) -> None:
    with httpx.Client(base_url=served.url, trust_env=False) as client:
        assert client.post("/start/new").status_code == 401
        assert client.post("/start/new", headers={"authorization": "Bearer wrong"}).status_code == 401
        given = client.post("/start/new", headers={"authorization": f"Bearer {served.secret}"}).json()
    assert served.entrance.begin(given["code"])


def test_every_answer_says_what_a_browser_may_do(served: Served) -> None:
    for path in ("/", "/start", "/static/style.css", "/no-such-page", "/commit/nonsense"):
        found = served.client.get(path)
        for name, value in HEADERS:
            assert found.headers[name] == value, (path, name)
        assert "cache-control" in found.headers


def test_from_another_sites_link_there_is_a_way_on_and_nothing_else(served: Served) -> None:
    came = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    client = httpx.Client(base_url=served.url, cookies=dict(served.client.cookies), trust_env=False)
    with client:
        found = client.get("/commit/<b>x", headers={**came, "accept": "text/html"})
    assert found.status_code == 403 and '<a href="/commit/%3Cb%3Ex">' in found.text and "Lab" not in found.text


def test_vendored_files_are_what_the_table_says() -> None:
    vendor: Path = FOLDER / "static" / "vendor"
    table = tomllib.loads((vendor / "VENDORED.toml").read_text("utf-8"))
    licences = {one["license_file"] for one in table.values()}
    assert {one.name for one in vendor.iterdir()} == {*table, *licences, "VENDORED.toml"}
    for name, said in table.items():
        assert hashlib.sha256((vendor / name).read_bytes()).hexdigest() == said["sha256"], name
        assert set(said) == {"name", "version", "license", "license_file", "source", "sha256"}


@pytest.fixture(scope="module")
def with_history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    root = tmp_path_factory.mktemp("tokens") / "lab"
    Vault.init(root, name="Lab")
    with serving_pages(root) as found:
        yield found


@pytest.mark.parametrize("kind", ["read", "write", "removed", "over", "of a user"])
@pytest.mark.parametrize("path", ["/", "/live", "/health"])
def test_a_persons_token_opens_no_page_and_no_stream(with_history: Served, kind: str, path: str) -> None:
    served = with_history
    with served.vault() as vault:
        asked = vault.as_(user="u1") if kind == "of a user" else vault
        token = served_people.new_token(asked, "ann", "read" if kind == "read" else "write").token
        if kind == "removed":
            served_people.remove(vault, "ann")
    if kind == "over":
        config = served.root / "_config.json"
        values = json.loads(config.read_text())
        values["people"]["ann"]["until"] = "2001-01-01"
        config.write_text(json.dumps(values))
    for headers in ({"authorization": f"Bearer {token}"}, {"cookie": f"vault-{served.port}={token}"}):
        with httpx.Client(base_url=served.url, trust_env=False) as client:
            answer = client.get(path, headers={"accept": "*/*", **headers})
            new_link = client.post("/start/new", headers={"origin": served.url, **headers})
        assert (answer.status_code, new_link.status_code) == (401, 401)
        assert "Lab" not in answer.text and "seq" not in answer.text


def test_an_open_stream_ends_once_its_browser_is_not_known_any_more(served: Served) -> None:
    with closing(served.come_in()) as client, client.stream("GET", "/live") as stream:
        lines = stream.iter_lines()
        while next(lines) != "event: seq":
            pass
        number = next(lines)
        session = client.cookies[f"vault-{served.port}"]
        assert served.entrance.knows(session)
        served.entrance.end(session)
        with served.vault() as vault:
            vault.remember("A line that it hears nothing of.")
        # It ends by itself, and of the change nothing is told; what was under way may come.
        assert not any(line.startswith("data:") and line != number for line in lines)
        assert client.get("/live", headers={"accept": "*/*"}).status_code == 401
