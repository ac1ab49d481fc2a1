"""A client of a Chroma server's HTTP interface (version 2): the few calls that a mirror of vectors needs, and no library."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import urllib.parse
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from vault_tool.index.vectors.hits import Matrix, NoSuchCollection, StoreUnavailable, Vector
from vault_tool.machine import Key, is_loopback
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line

TOKEN_HEADER = "X-Chroma-Token"
DEFAULT_TENANT, DEFAULT_DATABASE = "default_tenant", "default_database"

# Most bytes of an answer, and ids asked for at once.
_LONGEST = 64 * 2**20
_PAGE = 10_000
# Seconds between two bytes; a call as a whole is bounded by who makes it.
_SILENCE = 120.0
_MISSING = 404
_NO_CHROMA = "what answers there is no Chroma server"
_REFUSED = (401, 403)


def place_in(url: str) -> tuple[str, str]:
    """The tenant and database in the path of a server's address: `https://host/TENANT/DATABASE`, or the usual ones.

    Raises ValueError for a path that is neither.
    """
    parts = [urllib.parse.unquote(part) for part in urllib.parse.urlsplit(url).path.split("/") if part]
    if not parts:
        return DEFAULT_TENANT, DEFAULT_DATABASE
    if len(parts) != 2 or not all(part.isprintable() and "/" not in part and part not in (".", "..") for part in parts):
        raise ValueError("must end with its port, or with /TENANT/DATABASE")
    return parts[0], parts[1]


class ChromaServer:
    """A Chroma server at an address; each method raises StoreUnavailable for whatever it answers that is not an answer."""

    def __init__(self, url: str, token: Key) -> None:
        self._parts = urllib.parse.urlsplit(url)
        self._token = token
        tenant, database = (urllib.parse.quote(part, safe="") for part in place_in(url))
        self._base = f"/api/v2/tenants/{tenant}/databases/{database}/collections"
        self._line: http.client.HTTPConnection | None = None
        self._socket: socket.socket | None = None
        if token and self._parts.scheme != "https" and not is_loopback(url):
            raise StoreUnavailable("its token would be sent in the clear", "give it an address that begins with https://")

    def close(self) -> None:
        """Let go of the connection, also while a thread that was given up waits for the rest of an answer."""
        line, self._line = self._line, None
        stream, self._socket = self._socket, None
        if stream is not None:
            # A reader keeps the answer locked, and closing it would wait for that reader; this ends what it reads.
            with suppress(OSError):
                stream.shutdown(socket.SHUT_RDWR)
        if line is not None:
            line.close()

    def list_collections(self) -> list[Named]:
        """All collections, by their names."""
        names: set[str] = set()
        while True:
            page = self.ask("GET", f"?limit={_PAGE}&offset={len(names)}")
            listed = {_text(row.get("name")) for row in _rows(page)}
            more = listed - names
            names |= listed
            if not more or len(listed) < _PAGE:
                return [Named(name) for name in sorted(names)]

    def get_collection(self, name: str, *, embedding_function: None = None) -> Collection:
        """The collection of a name; NoSuchCollection where there is none."""
        return self._collection(self.ask("GET", f"/{name}"))

    def create_collection(
        self, name: str, *, metadata: Mapping[str, str], configuration: Mapping[str, Any], embedding_function: None = None
    ) -> Collection:
        """A new collection."""
        return self._collection(self.ask("POST", "", {"name": name, "metadata": metadata, "configuration": configuration}))

    def delete_collection(self, name: str) -> None:
        """Take a collection away with all that it holds."""
        self.ask("DELETE", f"/{name}")

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The answer to one request, as JSON has it."""
        try:
            status, data = self._exchanged(method, self._base + path, body)
        except (OSError, http.client.HTTPException, ssl.SSLError) as fault:
            self.close()
            raise StoreUnavailable(f"it does not answer: {one_line(str(fault) or type(fault).__name__, 120)}") from fault
        if status in _REFUSED:
            raise StoreUnavailable(f"it refuses the token ({status})", "see VAULT_VECTORS_TOKEN")
        if status == _MISSING:
            raise NoSuchCollection("it has no such collection")
        if not 200 <= status < 300:
            raise StoreUnavailable(f"it answers {status}: {one_line(data[:200].decode('utf-8', 'replace'), 120)}")
        try:
            return json.loads(data) if data.strip() else None
        except ValueError as fault:
            raise StoreUnavailable(_NO_CHROMA) from fault

    def _exchanged(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, bytes]:
        headers = {"Accept": "application/json"}
        if self._token:
            headers[TOKEN_HEADER] = self._token.reveal()
        data = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        line = self._line
        if line is None:
            line = self._line = self._connected()
            line.connect()
            self._socket = line.sock
        line.request(method, path, data, headers)
        answer = line.getresponse()
        text = answer.read(_LONGEST + 1)
        if len(text) > _LONGEST:
            raise OSError("its answer is too long")
        # Redirects are not followed: the token is for this address.
        return answer.status, text

    def _connected(self) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "localhost", self._parts.port
        if self._parts.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=_SILENCE, context=ssl.create_default_context())
        return http.client.HTTPConnection(host, port, timeout=_SILENCE)

    def _collection(self, answer: Any) -> Collection:
        row = answer if isinstance(answer, dict) else {}
        metadata = row.get("metadata")
        identity = _text(row.get("id"))
        if not identity or not identity.replace("-", "").isalnum():
            raise StoreUnavailable(_NO_CHROMA)
        return Collection(self, identity, dict(metadata) if isinstance(metadata, dict) else {})


class Named(Struct):
    """A collection of which no more than its name is known."""

    name: str


class Collection(Struct):
    """A collection of vectors by ids."""

    server: ChromaServer
    id: str
    metadata: Mapping[str, Any]

    def query(self, *, query_embeddings: Sequence[Vector], n_results: int, include: Sequence[str]) -> dict[str, Any]:
        """The ids of the vectors nearest to each of these."""
        vectors = [[float(number) for number in query] for query in query_embeddings]
        answer = self._ask("POST", "query", {"query_embeddings": vectors, "n_results": n_results, "include": list(include)})
        rows = answer.get("ids") if isinstance(answer, dict) else None
        if not isinstance(rows, list) or len(rows) != len(vectors):
            raise StoreUnavailable(_NO_CHROMA)
        return {"ids": [_texts(row) for row in rows]}

    def count(self) -> int:
        """How many vectors it has."""
        answer = self._ask("GET", "count")
        if not isinstance(answer, int) or isinstance(answer, bool):
            raise StoreUnavailable(_NO_CHROMA)
        return answer

    def get(self, *, include: Sequence[str] = ()) -> dict[str, Any]:
        """All ids."""
        ids: list[str] = []
        while True:
            answer = self._ask("POST", "get", {"include": list(include), "limit": _PAGE, "offset": len(ids)})
            page = _texts(answer.get("ids") if isinstance(answer, dict) else None)
            ids += page
            if len(page) < _PAGE:
                return {"ids": ids}

    def upsert(self, ids: Sequence[str], vectors: Matrix, facts: Sequence[None] = ()) -> None:
        """Write vectors, over those that have their ids; nothing else of their texts is sent."""
        self._ask("POST", "upsert", {"ids": list(ids), "embeddings": vectors.tolist()})

    def delete(self, *, ids: Sequence[str]) -> None:
        """Take vectors away; those that are not there are passed over."""
        self._ask("POST", "delete", {"ids": list(ids)})

    def _ask(self, method: str, what: str, body: Mapping[str, Any] | None = None) -> Any:
        return self.server.ask(method, f"/{self.id}/{what}", body)


def _rows(answer: Any) -> list[Mapping[str, Any]]:
    if not isinstance(answer, list) or not all(isinstance(row, dict) for row in answer):
        raise StoreUnavailable(_NO_CHROMA)
    return answer


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise StoreUnavailable(_NO_CHROMA)
    return value
