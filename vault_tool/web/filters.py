"""The filters of a list of memories as its address has them, as typed words (`tag:incident`) or as fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from vault_tool.model.fields import FILTERED
from vault_tool.util.structs import Struct
from vault_tool.vault.leniency import listed
from vault_tool.web.rendering import url

# The filters by the words of the address, with the parameter of the verbs that each is; those of several values first.
_SEVERAL = {"type": "kinds", "subject": "subject_names", "tag": "tags", "not_tag": "not_tags", "with": "vaults"}
_ONE = {
    "class": "record_class", "by": "by", "session": "session", "user": "user", "status": "status", "project": "project",
    **{field.name: field.name for field in FILTERED}, "folder": "folder", "since": "since", "until": "until",
}  # fmt: skip
NAMES = (*_SEVERAL, *_ONE)
# Other vaults are asked a question, and not listed.
_QUESTION_ALONE = frozenset({"vaults"})
# A question is narrowed in its verb, but by these: its results are narrowed to those of a list.
_LIST_ALONE = {"record_class": "", "by": "", "status": "all", "folder": ""}

_TYPED = re.compile(rf"""(?:^|(?<=\s))({"|".join(NAMES)}):(?:"([^"]*)"|(\S+))""")


class Chip(Struct):
    """A filter that is set: its words, and the address of the list without it."""

    name: str
    value: str
    without: str


class Selection(Struct):
    """The question and the filters of an address: `fields` has the values of each, in the order in which they were given."""

    question: str
    fields: Mapping[str, tuple[str, ...]]
    sort: str = ""
    path: str = "/memories"

    @classmethod
    def of(cls, query: Mapping[str, str], path: str = "/memories") -> Selection:
        """The filters of an address; words of its question that are filters count as such."""
        fields: dict[str, list[str]] = {}
        question = query.get("q", "")
        for name, quoted, plain in _TYPED.findall(question):
            fields.setdefault(name, []).append(quoted or plain)
        for name in NAMES:
            # A name of the older address, which has a comma between values.
            field_text = query.get(name, "") or (query.get("kind", "") if name == "type" else "")
            values = listed(_SEVERAL[name], field_text) if name in _SEVERAL else [field_text]
            for value in filter(None, map(str.strip, values)):
                if value not in fields.setdefault(name, []):
                    fields[name].append(value)
        by_name = {name: tuple(values if name in _SEVERAL else values[-1:]) for name, values in fields.items() if values}
        return cls(" ".join(_TYPED.sub("", question).split()), by_name, query.get("sort", ""), path)

    def parameters(self, *, ranked: bool) -> dict[str, Any]:
        """The arguments that the filters are to the verbs, of a question or of a list."""
        several: dict[str, Any] = {_SEVERAL[name]: list(values) for name, values in self.fields.items() if name in _SEVERAL}
        several = several if ranked else {name: values for name, values in several.items() if name not in _QUESTION_ALONE}
        single = {_ONE[name]: values[0] for name, values in self.fields.items() if name in _ONE}
        return several | {name: value for name, value in single.items() if not (ranked and name in _LIST_ALONE)}

    def of_lists(self) -> dict[str, str]:
        """The arguments that the filters are of which only lists know; empty where none of these is set."""
        chosen = {name: value for name, value in self.parameters(ranked=False).items() if name in _LIST_ALONE}
        return {**_LIST_ALONE, **chosen} if chosen else {}

    def address(self, **more: Any) -> str:
        """The address of the list, with `more` words beside its own."""
        return url(self.path, **self.words(), **more)

    def words(self) -> dict[str, str]:
        """The words of its address."""
        fields = {name: ",".join(self.fields[name]) for name in NAMES if name in self.fields}
        return {"q": self.question, **fields, "sort": self.sort}

    def with_value(self, name: str, value: str) -> str:
        """The address of the list with one more filter."""
        before = self.fields.get(name, ()) if name in _SEVERAL else ()
        return replace(self, fields={**self.fields, name: (*before, value)}).address()

    def chips(self) -> Iterator[Chip]:
        """The filters that are set, each with the address of the list without it."""
        for name, values in self.fields.items():
            for value in values:
                rest = tuple(other for other in values if other != value)
                yield Chip(name, value, replace(self, fields={**self.fields, name: rest}).address())
