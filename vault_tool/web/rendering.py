"""Pages out of values: the templates, and how notes' text is shown so that it can neither run nor pass for the page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import HTMLResponse

from vault_tool.features.doctor.vault_status import waiting_for_review
from vault_tool.features.history.undo import undoable
from vault_tool.generate.escape import readable
from vault_tool.model.authority import contributor_of
from vault_tool.model.ids import SHOWN_PREFIX
from vault_tool.util.clock import parse_time
from vault_tool.util.hints import worded
from vault_tool.util.note_links import links_in, path_of
from vault_tool.util.structs import Struct
from vault_tool.util.text import beginning, counted, link_label, plain_line
from vault_tool.util.vault_names import vaults_in_words
from vault_tool.vault import resolve
from vault_tool.web.asking import Flash, ask, compared
from vault_tool.web.icons import colour_of, icon_of, type_words
from vault_tool.web.places import around, theme_of
from vault_tool.web.problem_count import counted_lately
from vault_tool.web.wording import ForPage

if TYPE_CHECKING:
    from vault_tool.vault.context import Freshness
    from vault_tool.verbs.vault import Vault

FOLDER = Path(__file__).parent
_DAY = len("2026-11-20")
# Characters of a text beside its title in a list.
_BEYOND = 200
# What begins a box of Obsidian, and the mark before an image.
_NO_WORDS = re.compile(r"\[![\w-]{1,40}\][+-]?|!(?=\[)")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

_LINK = re.compile(r"!?\[\[([^\[\]\n]{1,300})\]\]")
_SCHEMES = ("http:", "https:", "mailto:")


class Banner(Struct):
    """Something about the vault as a whole that every page says: a sentence, and the page that tells more."""

    message: str
    more: str = "/health"


class _State(Struct):
    """The state of the indexes in words, and whether they lag behind the files."""

    text: str
    behind: bool


async def render(request: Request, template: str, code: int = 200, /, **values: Any) -> HTMLResponse:
    """The page that a template makes of `values`, with what all pages show: the vault's name, its banners, what was just done."""
    flash: Flash | None = request.app.state.flashes.of(request)
    standing = await ask(request, lambda vault: _standing(request, vault) | {"flash": _as_it_stands(vault, flash)})
    return HTMLResponse(page(request, template, **standing, **values), code)


def page(request: Request, template: str, /, **values: Any) -> str:
    """A template's text, with no question to the vault: where the vault itself cannot be asked."""
    where = {**around(request.url.path), "path": request.url.path, "here": _here(request), "theme": theme_of(request)}
    shared = {"vault_name": "", "seq": "", "banners": (), "flash": None, "counts": {}, "state": _State("", False), **where}
    return _environment().get_template(template).render({**shared, **values})


def _standing(request: Request, vault: Vault) -> dict[str, Any]:
    """The part of every page that is of the vault: its name, how many wait, how much is wrong, and the state of its indexes."""
    freshness = compared(request, vault)
    banners = []
    if freshness.settings:
        banners.append(Banner(f"{freshness.settings}."))
    if freshness.held_back:
        banners.append(Banner(f"Removals were not applied: {freshness.held_back}"))
    return {
        "vault_name": resolve.vault_name(vault), "seq": vault.whole_index.catalog.seq(), "banners": tuple(banners),
        "counts": {"/review": waiting_for_review(vault), "/health": counted_lately(request, vault)}, "state": _state(freshness),
    }  # fmt: skip


def _state(freshness: Freshness) -> _State:
    """The state of the indexes in a few words."""
    if freshness.held_back:
        return _State("Removals not applied", True)
    if freshness.behind:
        return _State(f"Index behind by {counted(freshness.behind, 'file')}", True)
    if freshness.stale:
        return _State(f"{counted(len(freshness.stale), 'file')} not up to date", True)
    return _State("Index up to date", False)


def _as_it_stands(vault: Vault, flash: Flash | None) -> Flash | None:
    """The result that was just told, with an Undo if that would be taken now."""
    # Of several the last is taken back first.
    last = flash.undo.split()[-1:] if flash is not None else []
    if flash is None or not last or not undoable(vault, last)[last[0]]:
        return flash
    return replace(flash, undo="")


def _here(request: Request) -> str:
    """The page that is shown, for forms that come back to it."""
    query = "&".join(part for part in request.url.query.split("&") if part and not part.startswith("done="))
    return f"{request.url.path}?{query}" if query else request.url.path


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=shown,
    )
    environment.filters.update(
        markdown=markdown, ago=ago, day=day, short=short, percent=percent, url=url, memory=memory_path, subject=subject_path,
        one=one_of, exactly=exactly, icon=icon_of, colour=colour_of, words=type_words, beyond=beyond, author=author,
        vaults=vaults_in_words,
    )  # fmt: skip
    return environment


_WORDS = ForPage()


def shown(value: Any) -> Any:
    """A value as a template prints it: nothing for None, and no character that cannot be seen or that turns the line."""
    if value is None:
        return ""
    return readable(worded(value, _WORDS)) if type(value) is str else value


def exactly(text: str) -> Markup:
    """A text as it is, for a field that sends it back: what cannot be seen must not be lost by an edit."""
    return escape(text)


def markdown(text: str, path: str = "", below: int = 2) -> Markup:
    """A note's text as HTML: what is HTML in it is shown as text, links lead to web addresses or to this page's own, and nothing
    is loaded from anywhere. `path` is the note's own, from which its links lead; `below` is the level of the heading above it.
    """
    return Markup(_markdown().render(readable(text), {"path": path, "below": below, "level": below}))


@cache
def _markdown() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.validateLink = _leads_somewhere  # type: ignore[method-assign]
    parser.inline.ruler.before("link", "wikilink", _wikilink)
    parser.add_render_rule("image", _image)
    parser.add_render_rule("link_open", _link_open)
    for rule in ("th_open", "td_open"):
        parser.add_render_rule(rule, _cell)
    for rule in ("heading_open", "heading_close"):
        parser.add_render_rule(rule, _lower_heading)
    return parser


def _is_web_link(url: str) -> bool:
    return url.strip().lower().startswith(_SCHEMES)


def _leads_somewhere(url: str) -> bool:
    """Whether a link may be one: to a web address, or to another note."""
    return _is_web_link(url) or bool(path_of(url))


def _to_note(link: str, path: str) -> str:
    """The address at which the page looks up what a link of the note at `path` means."""
    return url("/find", name=link, of=path)


def _wikilink(state: Any, silent: bool) -> bool:
    match = _LINK.match(state.src, state.pos)
    link = next(links_in(match.group()), "") if match is not None else ""
    if match is None or not link:
        return False
    if not silent:
        inner = match.group(1)
        opened = state.push("link_open", "a", 1)
        opened.attrs = {"href": _to_note(link, state.env.get("path", "")), "class": "note"}
        state.push("text", "", 0).content = link_label(inner)
        state.push("link_close", "a", -1)
    state.pos = match.end()
    return True


def _image(self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    """An image is said, and not loaded: a remote one would tell who reads, and when."""
    token = tokens[index]
    source = str(token.attrs.get("src", ""))
    label = token.content or "image"
    link = f' <a href="{escapeHtml(source)}" rel="noreferrer noopener">{escapeHtml(source)}</a>' if _is_web_link(source) else ""
    return f'<span class="image">[image: {escapeHtml(label)}]{link}</span>'


def _link_open(self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    if token.attrs.get("class") != "note" and (link := path_of(str(token.attrs.get("href", "")))):
        token.attrs = {"href": _to_note(link, env.get("path", "")), "class": "note"}
    elif token.attrs.get("class") != "note":
        token.attrSet("rel", "noreferrer noopener")
        token.attrSet("class", "outside")
    return self.renderToken(tokens, index, options, env)


def _cell(self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    """A table's cell: where its column is aligned by a class, for the content policy allows no style of its own."""
    style = str(tokens[index].attrs.pop("style", ""))
    if style.startswith("text-align:"):
        tokens[index].attrSet("class", style.removeprefix("text-align:"))
    return self.renderToken(tokens, index, options, env)


def _lower_heading(self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    """A note's headings stand below the page's own, and none skips a level: who hears the page goes by them."""
    token = tokens[index]
    if token.nesting > 0:
        env["level"] = min(6, int(token.tag[1]) + env["below"], env["level"] + 1)
    token.tag = f"h{env['level']}"
    return self.renderToken(tokens, index, options, env)


def ago(stamp: str, now: str = "") -> str:
    """How long ago a time was, in one unit: `3 days ago`; the time itself where it cannot be read."""
    at, present = parse_time(stamp or ""), parse_time(now or "")
    if at is None:
        return stamp or ""
    seconds = ((present or datetime.now(at.tzinfo)) - at).total_seconds()
    for size, unit in ((31557600, "year"), (2629800, "month"), (86400, "day"), (3600, "hour"), (60, "minute")):
        if abs(seconds) >= size:
            count = int(abs(seconds) // size)
            many = f"{count} {unit}{'s' if count > 1 else ''}"
            return f"{many} ago" if seconds > 0 else f"in {many}"
    return "just now"


def day(stamp: str) -> Markup | str:
    """A time as a person reads it, in the time of this machine: the exact one is told where one points at it."""
    at = parse_time(stamp or "")
    if at is None:
        return (stamp or "")[:16].replace("T", " ")
    local = at.astimezone()
    present = datetime.now(local.tzinfo)
    whole_day = len(stamp) <= _DAY
    words = day_in_words(local, present) + ("" if whole_day or local.year != present.year else f", {local:%H:%M}")
    exact = stamp if whole_day else f"{local:%Y-%m-%d %H:%M:%S %Z}"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(stamp, exact, words)


def day_in_words(local: datetime, present: datetime) -> str:
    """The day of a time: `3 May`, with its year unless that is the present one."""
    return f"{local.day} {_MONTHS[local.month - 1]}" + ("" if local.year == present.year else f" {local.year}")


def short(identity: str) -> str:
    """The first characters of an id or a commit, for the eye."""
    return identity[:SHOWN_PREFIX] if identity else ""


def percent(value: float | None) -> str:
    """A share as whole percent."""
    return "" if value is None else f"{100 * value:.0f} %"


def url(path: str, /, **query: Any) -> str:
    """A path with its query; what is empty is left out."""
    pairs = [f"{quote(name)}={quote(str(value), safe='')}" for name, value in query.items() if value not in ("", None, False, ())]
    return f"{path}?{'&'.join(pairs)}" if pairs else path


def beyond(text: str, title: str) -> str:
    """The part of a memory's text that its title does not say, in one line; nothing where the title is all of it."""
    # Marks of markdown are no words: a heading's, a link's, an image's and those of a box.
    text = (text or "")[: 4 * _BEYOND + 2 * len(title)]
    # The lines of a box are one line here, with what began each of them.
    text = _NO_WORDS.sub("", text.replace(" > ", " ") if "> [!" in text else text)
    line = " ".join(filter(None, map(plain_line, text.split("\n"))))
    start = title.rstrip("…. ")
    rest = line[len(start) :].lstrip(".:!? ") if line.startswith(start) else line
    return "" if rest in ("", title) else beginning(rest, _BEYOND)


def memory_path(identity: str) -> str:
    """The page of a memory, a subject or an imported page, by its id."""
    return f"/memory/{quote(identity, safe='')}"


def subject_path(name: str) -> str:
    """The page of a subject, by its name or id."""
    return f"/subject/{quote(name, safe='')}"


def author(origin: str) -> str:
    """The short name of a memory's origin: of what another person's commit brought, that person's name without the address."""
    return contributor_of(origin).partition(" <")[0] or origin


def one_of(count: int, what: str, many: str = "") -> Markup:
    """A count with its noun: `1 note`, `3 notes`."""
    return escape(counted(count, what, many).replace(",", "\u202f"))
