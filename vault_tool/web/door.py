"""Access to the pages: only for the browser that came in by a link of this process, from this process's own pages."""

from __future__ import annotations

import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from html import escape
from http.cookies import CookieError, SimpleCookie
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response

from vault_tool.mcp.listening import App, Door, Message, Receive, Scope, Send, UntilGone, admit, foreign, headers_of
from vault_tool.web.asking import form_of, local_path

START, NEW_CODE, STATIC, ALIVE = "/start", "/start/new", "/static/", "/alive"

# How long a start link may lie about before it is used.
CODE_SECONDS = 3600.0

_MOST_CODES = 20
_MOST_SESSIONS = 50

_SAFE = ("GET", "HEAD")

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
# Said with every answer: nothing runs, loads or frames a page but this server's own files.
HEADERS = (
    ("content-security-policy", _POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    # Not no-referrer: with that a browser says `Origin: null` of our own forms, which could then not be told from a stranger's.
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), microphone=(), geolocation=()"),
)


class Entrance:
    """The start links and the browsers that came in by one. It lives as long as the process: nothing of it is on disk."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._codes: OrderedDict[str, float] = OrderedDict()
        self._sessions: OrderedDict[str, None] = OrderedDict()

    def new_code(self) -> str:
        """A code that opens the door once, within `CODE_SECONDS`."""
        code = secrets.token_urlsafe(32)
        self._codes[code] = self._clock() + CODE_SECONDS
        while len(self._codes) > _MOST_CODES:
            self._codes.popitem(last=False)
        return code

    def begin(self, code: str) -> str | None:
        """The cookie's value for a valid code, which is used up by that; None for a wrong, used or old code."""
        for valid_code in self._codes:
            if hmac.compare_digest(valid_code.encode(), code.encode("utf-8", "surrogatepass")):
                until = self._codes.pop(valid_code)
                if self._clock() > until:
                    return None
                session = secrets.token_urlsafe(32)
                self._sessions[session] = None
                while len(self._sessions) > _MOST_SESSIONS:
                    self._sessions.popitem(last=False)
                return session
        return None

    def knows(self, session: str) -> bool:
        """Whether a cookie's value is one of a browser that came in."""
        return any(hmac.compare_digest(known.encode(), session.encode("utf-8", "surrogatepass")) for known in self._sessions)

    def end(self, session: str) -> None:
        """Let a browser go."""
        self._sessions.pop(session, None)


def guarded(inner: App, door: Door, entrance: Entrance, secret: str) -> App:
    """`inner` behind its door: the same names, the same site and a browser that is known; the start page and its files are open.

    `secret` is what another `vt web` of the same person shows for a new link.
    """
    cookie = f"vault-{door.port}"

    async def outer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await inner(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name.lower() for name, _ in message["headers"]}
                more = [(name.encode(), value.encode()) for name, value in HEADERS if name.encode() not in names]
                if b"cache-control" not in names:
                    more.append((b"cache-control", b"no-store"))
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        answer = await _answer(scope, receive, door, entrance, secret, cookie)
        if answer is not None:
            await answer(scope, receive, send_with_headers)
            return
        session = _cookie(scope, cookie)
        known = entrance.knows(session)  # the page's own files are for everybody
        ends = UntilGone(receive, send_with_headers, lambda: known and not entrance.knows(session))
        await inner(scope, ends.receive, ends.send)

    return outer


async def _answer(scope: Scope, receive: Receive, door: Door, entrance: Entrance, secret: str, cookie: str) -> Response | None:
    """The answer of the door itself; None for a request that may go through."""
    path, method = scope["path"], scope["method"]
    arriving = method in _SAFE and path in ("/", START)
    reason = foreign(scope, door)
    if reason is not None and not (arriving and _is_navigation(scope) and not headers_of(scope, b"origin")):
        return _came_from_elsewhere(scope) if _is_navigation(scope) and method in _SAFE else PlainTextResponse(f"{reason}\n", 403)
    if len(hosts := headers_of(scope, b"host")) != 1 or hosts[0].lower() not in door.hosts:
        return PlainTextResponse("this server does not go by that name\n", 403)
    request = Request(scope, receive)
    if method == "POST" and path == NEW_CODE:
        authorizations = headers_of(scope, b"authorization")
        if len(authorizations) != 1 or not hmac.compare_digest(authorizations[0].encode("latin-1"), f"Bearer {secret}".encode()):
            return PlainTextResponse("that is for the program that opens the page alone\n", 401)
        return JSONResponse({"code": entrance.new_code()})
    if method not in _SAFE:
        # A browser says where a form was sent from; who does not say it is no page of ours.
        if headers_of(scope, b"origin") != [f"{scope.get('scheme', 'http')}://{hosts[0].lower()}"]:
            return PlainTextResponse("only this server's own pages may change something\n", 403)
        if any(site not in ("same-origin", "none") for site in headers_of(scope, b"sec-fetch-site")):
            return PlainTextResponse("only this server's own pages may change something\n", 403)
    if path == ALIVE and method in _SAFE:
        return PlainTextResponse("alive\n")
    if path.startswith(STATIC) and method in _SAFE:
        return None
    known = entrance.knows(_cookie(scope, cookie))
    if path == START:
        if method in _SAFE:
            return HTMLResponse(start_page(request.query_params.get("to", ""), known=known))
        form = await form_of(request)
        session = entrance.begin(form.get("code", "").strip())
        if session is None:
            return HTMLResponse(start_page(form.get("to", ""), refused=True), 403)
        redirect = RedirectResponse(local_path(form.get("to", "")), 303)
        redirect.set_cookie(cookie, session, httponly=True, samesite="strict", path="/")
        return redirect
    if known:
        admit(scope)
        return None
    if method in _SAFE and "text/html" in "".join(headers_of(scope, b"accept")):
        # A browser takes the link's fragment along, which holds the code.
        query = f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else ""
        return RedirectResponse(START if path == "/" else f"{START}?to={quote(path + query, safe='')}", 303)
    return PlainTextResponse("come in by the link that the page's terminal shows\n", 401)


def _is_navigation(scope: Scope) -> bool:
    """Whether a browser asks for a page of its own, and not for a frame, an image or a script's."""
    return headers_of(scope, b"sec-fetch-mode") == ["navigate"] and headers_of(scope, b"sec-fetch-dest") == ["document"]


def _cookie(scope: Scope, name: str) -> str:
    jar: SimpleCookie = SimpleCookie()
    for header in headers_of(scope, b"cookie"):
        try:
            jar.load(header)
        except CookieError:
            return ""
    return jar[name].value if name in jar else ""


def _came_from_elsewhere(scope: Scope) -> Response:
    """For who followed a link of another site: nothing of the vault, and a link that goes on from here."""
    to = escape(local_path(scope["path"]))
    body = f'<p>Another page led here. Nothing of the memory is shown to it.</p><p><a href="{to}">Go on to {to}</a></p>'
    return HTMLResponse(_page("Another page led here", body), 403)


def start_page(to: str, *, refused: bool = False, known: bool = False) -> str:
    """Where a browser shows the code of its link: a script takes it from the address, or a person types it."""
    wrong = '<p role="alert">That link was used already, or is too old. Open the page again from a terminal for a new one.</p>'
    inside = '<p><a href="/">This browser is in already.</a></p>'
    body = f"""{wrong if refused else ""}{inside if known else ""}
<form method="post" action="{START}" id="start">
<input type="hidden" name="to" value="{escape(to)}">
<label for="code">The code of the link that the page's terminal shows</label>
<input id="code" name="code" autocomplete="off" spellcheck="false" required>
<button>Come in</button>
</form>
<p>The part of the link behind <code>#t=</code> is the code. It opens this page once.</p>"""
    return _page("The vault", body)


def _page(title: str, body: str) -> str:
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/static/style.css">
<script src="/static/start.js" defer></script></head>
<body class="start"><main><h1>{title}</h1>{body}</main></body></html>"""
