"""The memory tool of the Messages API (`memory_20250818`): its six commands over one folder of the notes.

A model reads the replies and is trained on their wording: it is the API's, to the letter. Files are memories: recall finds
them, their history stays, and what other memories rest on is not changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from vault_tool.errors import NotFound, VaultError
from vault_tool.files.layout import VAULT
from vault_tool.util.hints import worded
from vault_tool.util.structs import Struct
from vault_tool.vault.context import Context
from vault_tool.vault.plain_words import PlainWords
from vault_tool.verbs import agent_files

ROOT = "/memories"
_ENDINGS = (".txt", ".json", ".xml", ".yaml", ".yml", ".csv", ".toml", ".html", ".py")
_WIDTH = 6

T = TypeVar("T")


class MemoryToolError(Exception):
    """A command that was not done; its text is the reply, with `is_error`."""


class Reply(Struct):
    """The reply to the model as the result of its call."""

    text: str
    is_error: bool = False


class MemoryTool:
    """The tool over `vault/<folder>/`, which the model sees as `/memories`; methods raise MemoryToolError."""

    def __init__(self, vault: Context, folder: str = "memories") -> None:
        self._vault = vault
        self._folder = f"{VAULT}/{folder}"

    def run(self, call: Mapping[str, Any]) -> Reply:
        """Do what a `tool_use` of the model asks (its `input`), and say so, or why not."""
        commands: dict[str, Callable[..., str]] = {
            "view": self.view, "create": self.create, "str_replace": self.str_replace,
            "insert": self.insert, "delete": self.delete, "rename": self.rename,
        }  # fmt: skip
        parameters = dict(call)
        command = commands.get(str(parameters.pop("command", "")))
        if command is None:
            return Reply(f"Unknown command: {call.get('command')}", is_error=True)
        try:
            return Reply(command(**parameters))
        except MemoryToolError as fault:
            return Reply(str(fault), is_error=True)
        except (TypeError, AttributeError) as fault:
            return Reply(f"Invalid input: {fault}", is_error=True)

    def view(self, path: str, view_range: Sequence[int] | None = None) -> str:
        """A folder's files two levels deep, or a file's lines with their numbers."""
        where = self._placed(path)
        if where != self._folder or (self._vault.root / where).is_dir():
            folder = self._vault.root / self._file_or_folder(where)
            if folder.is_dir():
                return self._listing(path, where)
        elif where == self._folder:
            return self._listing(path, where)
        lines = self._text(path).split("\n")
        start, end = 1, len(lines)
        if view_range and len(view_range) == 2:
            start = max(1, view_range[0])
            end = len(lines) if view_range[1] == -1 else view_range[1]
        return f"Here's the content of {path} with line numbers:\n{_numbered(lines, start, end)}"

    def create(self, path: str, file_text: str) -> str:
        """Keep a new file."""
        file = self._file(path)
        if (self._vault.root / file).exists():
            raise MemoryToolError(f"File {path} already exists")
        self._done(lambda: agent_files.create_file(self._vault, file, file_text), path)
        return f"File created successfully at: {path}"

    def str_replace(self, path: str, old_str: str, new_str: str) -> str:
        """Replace a text that stands once in a file."""
        edited: list[str] = []

        def change(text: str) -> str:
            places = _places(text, old_str)
            if not places:
                raise MemoryToolError(f"No replacement was performed, old_str `{old_str}` did not appear verbatim in {path}.")
            if len(places) > 1:
                lines = ", ".join(str(text.count("\n", 0, place) + 1) for place in places)
                raise MemoryToolError(
                    f"No replacement was performed. Multiple occurrences of old_str `{old_str}` in lines: {lines}. "
                    "Please ensure it is unique"
                )
            changed = text[: places[0]] + new_str + text[places[0] + len(old_str) :]
            line = text.count("\n", 0, places[0]) + 1
            edited.append(_numbered(changed.split("\n"), max(1, line - 2), line + 2))
            return changed

        self._changed(path, change)
        return f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{edited[0]}"

    def insert(self, path: str, insert_line: int, insert_text: str) -> str:
        """Put lines behind the line of a number, 0 for the beginning."""

        def change(text: str) -> str:
            lines = text.split("\n")
            lines = lines[:-1] if lines[-1] == "" else lines
            if not 0 <= insert_line <= len(lines):
                raise MemoryToolError(
                    f"Invalid `insert_line` parameter: {insert_line}. It should be within the range [0, {len(lines)}]."
                )
            lines.insert(insert_line, insert_text.rstrip("\n"))
            changed = "\n".join(lines)
            return changed if changed.endswith("\n") else f"{changed}\n"

        self._changed(path, change)
        return f"The file {path} has been edited."

    def delete(self, path: str) -> str:
        """Take a file or folder away; its history stays."""
        where = self._placed(path)
        if where == self._folder:
            raise MemoryToolError("Cannot delete the /memories directory itself")
        gone = self._file_or_folder(where)
        self._done(lambda: agent_files.remove_files(self._vault, gone), path, f"The path {path} does not exist")
        return f"Successfully deleted {path}"

    def rename(self, old_path: str, new_path: str) -> str:
        """Give a file or folder another path."""
        old, new = self._placed(old_path), self._placed(new_path)
        if old == self._folder:
            raise MemoryToolError("Cannot rename the /memories directory itself")
        source = self._file_or_folder(old)
        is_folder = (self._vault.root / source).is_dir()
        target = new if is_folder else self._file(new_path)
        if (self._vault.root / target).exists():
            raise MemoryToolError(f"The destination {new_path} already exists")
        missing = f"The path {old_path} does not exist"
        self._done(lambda: agent_files.move_files(self._vault, source, target), old_path, missing)
        return f"Successfully renamed {old_path} to {new_path}"

    def _listing(self, path: str, where: str) -> str:
        exists = (self._vault.root / where).is_dir()
        files = self._done(lambda: agent_files.list_files(self._vault, where), path) if exists else {}
        sizes: dict[str, int] = {}
        for name, size in files.items():
            parts = name.split("/")
            for depth in range(1, min(len(parts), 3)):
                folder = "/".join(parts[:depth]) + "/"
                sizes[folder] = sizes.get(folder, 0) + size
            if len(parts) <= 2:
                sizes[_shown(name)] = size
        lines = [f"{_size(sum(files.values()))}\t{path}"]
        lines += [f"{_size(size)}\t{path.rstrip('/')}/{name}" for name, size in sorted(sizes.items())]
        header = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
        return "\n".join([header, *lines])

    def _text(self, path: str) -> str:
        return self._done(lambda: agent_files.read_file(self._vault, self._file(path)), path)

    def _changed(self, path: str, change: Callable[[str], str]) -> None:
        where = self._file_or_folder(self._placed(path))
        if (self._vault.root / where).is_dir():
            raise MemoryToolError(f"The path {path} is not a file.")
        self._done(lambda: agent_files.change_file(self._vault, where, change), path)

    def _done(self, do: Callable[[], T], path: str, missing: str = "") -> T:
        """The result of a verb; a refusal becomes a sentence to the model."""
        try:
            return do()
        except NotFound as fault:
            raise MemoryToolError(missing or f"The path {path} does not exist. Please provide a valid path.") from fault
        except VaultError as fault:
            raise MemoryToolError(worded(fault.marked, PlainWords())) from fault

    def _placed(self, path: str) -> str:
        """A path of the model's in the vault; MemoryToolError for one that is not below the tool's folder."""
        if path != ROOT and not path.startswith(f"{ROOT}/"):
            raise MemoryToolError(f"Path must start with /memories, got: {path}")
        parts = [part for part in path[len(ROOT) :].split("/") if part not in ("", ".")]
        if ".." in parts:
            raise MemoryToolError(f"Path {path} would escape /memories directory")
        return "/".join([self._folder, *parts])

    def _file(self, path: str) -> str:
        """A file of the model's as it is kept: notes end with `.md`."""
        where = self._placed(path)
        return where if where.lower().endswith(".md") else f"{where}.md"

    def _file_or_folder(self, where: str) -> str:
        """A path as it is: a folder where there is one, else a file."""
        if (self._vault.root / where).is_dir() or where.lower().endswith(".md"):
            return where
        return f"{where}.md"


def _shown(name: str) -> str:
    """A file's name as the model gave it."""
    stem = name.removesuffix(".md")
    return stem if stem.lower().endswith(_ENDINGS) else name


def _numbered(lines: Sequence[str], start: int, end: int) -> str:
    return "\n".join(f"{start + n:>{_WIDTH}}\t{line}" for n, line in enumerate(lines[start - 1 : end]))


def _places(text: str, part: str) -> list[int]:
    places, place = [], text.find(part) if part else -1
    while place >= 0:
        places.append(place)
        place = text.find(part, place + 1)
    return places


def _size(count: int) -> str:
    """Bytes as the API shows them: 0B, 512B, 1.5K."""
    unit = min((count.bit_length() - 1) // 10, 3) if count else 0
    scaled = count / 1024**unit
    return f"{int(scaled) if scaled == int(scaled) else format(scaled, '.1f')}{'BKMG'[unit]}"
