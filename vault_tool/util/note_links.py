"""The links of a note, as the index, the page, `related` and `doctor` read them: `[[...]]`, and CommonMark's to another note.

A link is kept as a text: a wikilink as what stands in its brackets, `Title #7|label`; any other as the path that it leads to,
decoded and without its part, beginning with `./`, `../` or `/`. `readings` says what either may mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from posixpath import normpath
from typing import Any
from urllib.parse import unquote

from vault_tool.util.text import prose_lines, without_code

# What a note's file may end in.
NOTE_ENDS = (".md", ".markdown", ".mdown", ".mdx", ".mkd")

_WIKILINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")
# Where a link's text has ended: what it leads to, in angle brackets or without spaces, and a title that says nothing here.
_INLINE = re.compile(
    r"(?<!\\)\]\([ \t]*(?:<([^<>\n]*)>|([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*))"
    r"(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*\)"
)
_DEFINED = re.compile(r" {0,3}\[(?!\^)([^\[\]\n]+)\]:[ \t]*(?:<([^<>\n]*)>|(\S+))")
# A link's address with signs that are written by their numbers.
_ENCODED = re.compile(r"(\](?:\(|:[ \t]*))(?=[^\s()<>%]*%[0-9A-Fa-f]{2})([^\s()<>]+)")
_BRACKETS = re.compile(r"\[([^\[\]\n]+)\]")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#|\?")
_OTHER_END = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}$")
# What is shown in a note and is none itself, as editors know it.
_SHOWN = re.compile(
    r"(?i)\.(?:avif|bmp|gif|jpe?g|png|svg|webp|flac|m4a|mp3|ogg|wav|webm|3gp|mkv|mov|mp4|ogv|pdf|canvas|base|zip|csv|tsv|xlsx?"
    r"|docx?|pptx?)$"
)
_PATH = ("./", "../", "/")


def links_in(body: str) -> Iterator[str]:
    """The links of a text to notes, code aside, in their order."""
    wiki, inline = "[[" in body, "](" in body
    defined = "]:" in body
    if not (wiki or inline or defined):
        return
    ends: dict[str, str] = {}
    named: set[str] = set()
    for line in _prose(body):
        if "[" not in line and "](" not in line:
            continue
        line = without_code(line)
        if defined and (definition := _DEFINED.match(line)):
            ends.setdefault(_label(definition[1]), path_of(definition[2] if definition[2] is not None else definition[3]))
            continue
        if wiki and "[[" in line:
            yield from _wikilinks(line)
        if inline:
            written = (match[1] if match[1] is not None else match[2] for match in _INLINE.finditer(line))
            yield from filter(None, map(path_of, written))
        if defined:
            named.update(map(_label, _BRACKETS.findall(line)))
    yield from (path for label, path in ends.items() if path and label in named)


def links_in_properties(head: Mapping[str, Any], besides: Iterable[str] = ()) -> Iterator[str]:
    """The wikilinks in the values of a head, those of the fields `besides` left out."""
    left_out = set(besides)
    for key, value in head.items():
        if key.lower() not in left_out:
            yield from _in_value(value)


def path_of(url: str) -> str:
    """The path that a link's address leads to, where that may be a note; else nothing."""
    written = url.strip()
    if not written or _SCHEME.match(written):
        return ""
    path = unquote(written.partition("#")[0].partition("?")[0])
    last = path.rpartition("/")[2]
    if not last or last in (".", "..") or "\n" in path:
        return ""
    if _OTHER_END.search(last) and not is_note(last):
        return ""
    return path if path.startswith(_PATH) else f"./{path}"


def with_paths_decoded(body: str) -> str:
    """A text in which the paths of its links to notes stand in plain words, `Spring tides.md` for `Spring%20tides.md`."""
    return _ENCODED.sub(_decoded, body) if "%" in body and "]" in body else body


def _decoded(match: re.Match[str]) -> str:
    return match[1] + unquote(match[2]) if path_of(match[2]) else match[0]


def is_note(path: str) -> bool:
    """Whether a file is taken for a note, by its name."""
    return path.lower().endswith(NOTE_ENDS)


def without_ending(path: str) -> str:
    """A path or name without the ending of a note's file."""
    if path.endswith(".md"):
        return path[:-3]
    return path[: path.rindex(".")] if is_note(path) else path


def is_path(link: str) -> bool:
    """Whether a link leads along a path, from its note's folder or from the top."""
    return link.startswith(_PATH)


def readings(link: str) -> tuple[str, ...]:
    """The possible meanings of a link, the likeliest first: its target whole, then without heading and block, then its labels."""
    return tuple(dict.fromkeys((*targets(link), *labels(link))))


def targets(link: str) -> tuple[str, ...]:
    """The targets of a link: as it is written, and without heading and block."""
    return (link,) if is_path(link) else _without_parts(link.partition("|")[0])


def labels(link: str) -> tuple[str, ...]:
    """The labels of a link, which some write where the target belongs; as `targets` has it."""
    return () if is_path(link) else _without_parts(link.partition("|")[2])


def led_to(link: str, path: str, top: str) -> str:
    """The path that a link along one leads to from the note at `path`; `top` is the folder whose notes belong together.

    It is one from the vault's root. What climbs past the top stays as far as it can be followed.
    """
    if link.startswith("/"):
        return normpath(f"{top}{link}")
    return normpath(f"{path.rpartition('/')[0]}/{link}".lstrip("/"))


def _without_parts(text: str) -> tuple[str, ...]:
    whole = text.strip()
    before = whole.partition("#")[0].partition("^")[0].strip()
    return tuple(dict.fromkeys(target for target in (whole, before) if target)) if before else ()


def _wikilinks(line: str) -> Iterator[str]:
    for match in _WIKILINK.finditer(line):
        # In a table the line between target and label is escaped.
        link = match[1].replace("\\|", "|").strip()
        target = targets(link)
        if target and not _SHOWN.search(target[-1]):
            yield link


def _in_value(value: object) -> Iterator[str]:
    if isinstance(value, str):
        if "[[" in value:
            yield from _wikilinks(value.replace("\n", " "))
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _in_value(inner)
    elif isinstance(value, (list, tuple)):
        # Without quotes a link is a list in a list to YAML.
        if len(value) == 1 and isinstance(value[0], (list, tuple)) and all(isinstance(part, str) for part in value[0]):
            yield from _wikilinks(f"[[{', '.join(value[0])}]]")
            return
        for inner in value:
            yield from _in_value(inner)


def _label(text: str) -> str:
    return " ".join(text.split()).casefold()


def _prose(body: str) -> Iterator[str]:
    """The lines of a text that are no code, be it fenced or indented."""
    lines = (line for _, line in prose_lines(body))
    if "\n    " not in body and "\n\t" not in body and not body.startswith(("    ", "\t")):
        yield from lines
        return
    blank, listed, code = True, False, False
    for line in lines:
        if not line.strip():
            blank = True
            continue
        if line.startswith(("    ", "\t")) and not listed and (blank or code):
            code = True
            continue
        if _ITEM.match(line):
            listed = True
        elif blank and not line[0].isspace():
            listed = False
        blank = code = False
        yield line
