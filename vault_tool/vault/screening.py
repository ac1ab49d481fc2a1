"""Texts that a write may not hold (secrets, references to forgotten memories), and secrets in a person's own files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from vault_tool.errors import Refused
from vault_tool.files import frontmatter, git, reader, secrets
from vault_tool.index.screened import Screened
from vault_tool.model.problems import Problem, warning
from vault_tool.model.signals import EpisodeEntry, Signal
from vault_tool.util.hints import if_there, option
from vault_tool.util.structs import Struct

if TYPE_CHECKING:
    from vault_tool.files.secrets import Secret
    from vault_tool.vault.context import Context, Who

# How a person who means it keeps what looks like a secret.
OR_ALLOWED = if_there(f", or say {option('allow_secret', True)}")


class ScreenedText(Struct):
    """A text that is about to be written: what a person would call it, what it says, and its file if it has one already.

    `head` is how many of its lines are a head that the tool writes; `place` is then said of the lines below it. `derived`:
    it repeats what another text of the same write may say.
    """

    place: str
    text: str
    path: str = ""
    head: int = 0
    derived: bool = False


def new_note(data: bytes) -> ScreenedText:
    """The text of a note that has no file yet: its lines are counted from its body, which is what its writer knows."""
    head = data[: frontmatter.split(data).body_start].count(b"\n")
    return ScreenedText("the text", _decoded(data), head=head)


def new_text(path: str, data: bytes) -> ScreenedText:
    """The whole text of a file that is there already, as it shall be."""
    return ScreenedText(path, _decoded(data), path)


def edits(vault: Context, path: str, changes: Iterable[frontmatter.Change]) -> Iterator[ScreenedText]:
    """The values that an edit gives to a head's fields, and the file that it would commit with them."""
    yield ScreenedText(path, _decoded(_read(vault, path)), path)
    for change in changes:
        values = [str(value) for name in change.__struct_fields__ for value in _texts(getattr(change, name))]
        yield ScreenedText(f"{change.key} of {path}", "\n".join(values))


def log_entry(entry: EpisodeEntry) -> ScreenedText:
    """The words of an entry of the day's log."""
    texts = (entry.title, entry.summary, entry.type, entry.session, entry.path, *entry.tags)
    return ScreenedText("the log's entry", "\n".join(texts), derived=True)


def judgement(signal: Signal) -> ScreenedText:
    """The words of a signal."""
    return ScreenedText("the reason", "\n".join((signal.rationale, *signal.evidence, signal.session, signal.model)))


def asker(who: Who) -> Iterator[ScreenedText]:
    """The words of the caller's identity, which journals and the trailers of commits repeat."""
    return named_texts(session=who.session, model=who.model, user=who.user, project=who.project)


def file_names(paths: Iterable[str]) -> ScreenedText:
    """The names of new files."""
    return ScreenedText("the file names", "\n".join(paths), derived=True)


def named_texts(**fields: str) -> Iterator[ScreenedText]:
    """Single values by the names that their caller knows them by."""
    yield from (ScreenedText(f"the {name}", text) for name, text in fields.items() if text)


def shareable(session: str) -> str:
    """The session as other clones may know it: nothing where it looks like a secret, for uses are shared unasked."""
    if not session:
        return session

    return "" if secrets.scan(session, ()) else session


def refuse_secrets(vault: Context, texts: Iterable[ScreenedText]) -> None:
    """Raise Refused where a text holds what looks like a secret, with line and kind, and the value masked.

    A value that the last commit has in that file, or that stands in a line marked as allowed in any of the texts, is no hit.
    """
    looked_at = list(texts)
    allowed = [line for text in looked_at for line in secrets.marked_lines(text.text)]
    suspects = [text for text in looked_at if secrets.scan(text.text, allowed)]
    hits = [(text, hit) for text in suspects for hit in secrets.scan(text.text, [*allowed, _committed(vault, text.path)])]
    if not hits:
        return
    # A body's own line says more than the head and the log's entry that were made from it.
    hits.sort(key=lambda pair: (pair[0].derived, pair[1].line <= pair[0].head))
    # The same value in a body, the title made of it, the file's name and the log is one.
    different = len({(hit.kind, hit.shown) for _, hit in hits})
    more = f" (and {different - 1} more)" if different > 1 else ""
    hint = "take it out" + if_there(f", end that line with `{secrets.MARKER}`, or say {option('allow_secret', True)}")
    raise Refused(f"nothing was written: {_named(*hits[0])}{more} looks like a secret", hint)


def looks_secret(text: str) -> bool:
    """Whether a text holds what looks like a secret."""
    return bool(secrets.scan(text))


def unmarked(path: str, after: bytes, before: bytes = b"") -> list[Problem]:
    """Suspected secrets in a file that its old text did not hold, as problems of its lines."""
    return [_problem(path, hit, secrets.MARKER) for hit in secrets.scan(_decoded(after), [_decoded(before)])]


def new_in_file(vault: Context, path: str, data: bytes) -> list[Problem]:
    """Suspected secrets in a file that the last commit's text of it does not hold, or in the name of a new file."""
    secrets_found = unmarked(path, data)
    if (named := unmarked(masked(path), path.encode("utf-8", "replace"))) and not _committed(vault, path):
        return [replace(hit, line=0) for hit in named]
    return secrets_found and unmarked(path, data, _committed(vault, path).encode("utf-8"))


def in_notes(vault: Context, notes: Sequence[str], journals: Sequence[str]) -> Iterator[Problem]:
    """Suspected secrets in any of the vault's files; a journal may repeat a line that a note allows.

    A file whose content held nothing before is not searched again. Indexes must be fresh.
    """
    known = vault.index.catalog.files([*notes, *journals])
    screened = Screened(vault.root, secrets.rules())
    clean_before = screened.clean()
    clean: set[str] = set()
    allowed: list[str] = []
    for path in (*notes, *journals):
        content = known[path].hash if path in known else ""
        if content in clean_before:
            clean.add(content)
            continue
        text = _decoded(_read(vault, path))
        marked = secrets.marked_lines(text)
        hits = secrets.scan(text, allowed if path in journals else ())
        allowed += marked
        if content and not marked and not hits:
            clean.add(content)
        yield from (_problem(path, hit, secrets.MARKER) for hit in hits)
    if clean != clean_before:
        screened.keep(clean)


def masked(text: str) -> str:
    """A generated text with what looks like a secret cut down: it goes into prompts and history unasked."""
    return secrets.masked(text)


def _named(text: ScreenedText, hit: Secret) -> str:
    below = hit.line > text.head
    place = text.place if below else "the head"
    return f"line {hit.line - text.head if below else hit.line} of {place} ({hit.kind}, `{hit.shown}`)"


def _problem(path: str, hit: Secret, marker: str) -> Problem:
    hint = f"make a new one and take this one out; if it is none, end the line with `{marker}`"
    return warning(path, hit.line, "secret", f"this looks like a secret: {hit.kind} `{hit.shown}`", hint)


def _committed(vault: Context, path: str) -> str:
    """A file as the last commit has it; without any history, as it is on disk."""
    if not path or vault.repo is None:
        return _decoded(_read(vault, path)) if path else ""
    return _decoded(git.show(vault.repo, "HEAD", path) or b"") if git.head(vault.repo).commit else ""


def _texts(value: object) -> Iterable[object]:
    return value if isinstance(value, (list, tuple)) else [value]


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _read(vault: Context, path: str) -> bytes:
    try:
        return reader.read(vault.root, path)
    except (OSError, Refused):
        return b""
