"""The links of a note written otherwise, code left as it is."""

from __future__ import annotations

import re
from collections.abc import Callable

from vault_tool.util.text import prose_lines

_LINK = re.compile(
    r"(?P<code>(?<!`)(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))"
    r"|!?\[\[(?P<wiki>[^\[\]\n]+)\]\]"
    r"|(?P<before>\]\()(?P<url><[^<>\n]*>|[^\s()<>]+)(?P<after>[^()\n]*\))"
)


def with_links(body: str, wikilink: Callable[[str, str], str], path: Callable[[str], str] = str) -> str:
    """A text in which each `[[target|label]]` is what `wikilink` gives for what stands in its brackets and for its label, and
    each link's address what `path` gives for it.
    """

    def written(match: re.Match[str]) -> str:
        if match["code"]:
            return match[0]
        if match["wiki"]:
            link = match["wiki"].replace("\\|", "|")
            target, _, label = link.partition("|")
            return wikilink(link, (label or target).strip())
        url = match["url"]
        changed = f"<{path(url[1:-1])}>" if url.startswith("<") else path(url)
        return f"{match['before']}{changed}{match['after']}"

    if "[[" not in body and "](" not in body:
        return body
    lines = body.split("\n")
    for number, line in prose_lines(body):
        lines[number - 1] = _LINK.sub(written, line)
    return "\n".join(lines)
