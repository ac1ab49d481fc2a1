"""What has to be known before a commit: HEAD, who commits, the config, and what index and HEAD hold for its paths."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from vault_tool.files.git.repo import Head, Repo, fields, lines
from vault_tool.files.git.run import Call, call, together
from vault_tool.files.git.status import PATHS_A_CALL

COMMIT_HOOKS = (
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "reference-transaction",
    "post-index-change",
)
REGULAR = "100644"


@dataclass(frozen=True, slots=True)
class Entry:
    """What git holds at a path: the file mode and the blob's id."""

    mode: str
    oid: str


@dataclass(frozen=True, slots=True)
class Settings:
    """The config and the two identities, each as git writes it into a commit, or "" when git does not know one."""

    config: Mapping[str, str]
    author: str
    committer: str

    def on(self, key: str) -> bool:
        """Whether a boolean setting is on."""
        return self.config.get(key, "false").lower() in ("true", "yes", "on", "1", "input")

    @property
    def sha256(self) -> bool:
        """Whether the repository names objects by SHA-256."""
        return self.config.get("extensions.objectformat") == "sha256"

    def blob(self, content: bytes) -> str:
        """The id that git gives to this content."""
        import hashlib  # 4 ms with OpenSSL, and only a commit needs it

        text = b"blob %d\0" % len(content) + content
        return (hashlib.sha256 if self.sha256 else hashlib.sha1)(text, usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class Survey:
    """The state that a commit starts from; paths are as git names them, relative to the work tree."""

    head: Head
    settings: Settings
    committed: Mapping[str, Entry | None]
    staged: Mapping[str, Entry | None]
    unmerged: frozenset[str]
    ignored: frozenset[str]
    nested: frozenset[str]


def survey(repo: Repo, names: Iterable[str]) -> Survey:
    """Look at HEAD, the index and the files by one `git status`, and at the config at the same time."""
    wanted = list(names)
    places = wanted if len(wanted) <= PATHS_A_CALL else repo.places(())
    state, config = together(
        repo.work_tree, [Call((*_STATUS, "--", *places), config=_ONE_THREAD), Call(("var", "-l"), inert=False)]
    )
    if state.code:
        raise state.failure("compare the notes")
    if config.code:
        raise config.failure("read its config")
    return _survey(repo, wanted, fields(state.out), _settings(repo, config.out))


_STATUS = (
    *("status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--no-renames"),
    *("--untracked-files=all", "--ignored=matching", "--ignore-submodules=all"),
)
# For a few paths the threads cost more than they give.
_ONE_THREAD = (("core.preloadIndex", "false"),)


def hooks(repo: Repo, settings: Settings) -> list[str]:
    """The hooks that a commit by git itself would run here."""
    configured = settings.config.get("core.hookspath")
    folder = repo.work_tree / Path(configured).expanduser() if configured else repo.common_dir / "hooks"
    named = [key for key in settings.config if key.startswith("hook.") and key.endswith(".command")]
    return [name for name in COMMIT_HOOKS if os.access(folder / name, os.X_OK) and (folder / name).is_file()] + named


def converted(repo: Repo, settings: Settings, contents: Mapping[str, bytes]) -> bool:
    """Whether git would store other bytes than these: a clean filter, line endings or an encoding applies to a path."""
    filters = {key.split(".", 1)[1].rpartition(".")[0] for key in settings.config if key.startswith("filter.")}
    if not filters and not any(b"\r" in content or b"$Id" in content for content in contents.values()):
        return False
    names = ("filter", "text", "eol", "ident", "working-tree-encoding")
    result = call(repo.work_tree, "check-attr", "-z", "--stdin", *names, feed=lines(contents))
    if result.code:
        raise result.failure("read the attributes")
    parts = fields(result.out)
    found: dict[str, dict[str, str]] = {}
    for path, name, value in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        found.setdefault(path, {})[name] = value
    return any(_converts(found[path], content, filters, settings) for path, content in contents.items())


def _converts(attributes: Mapping[str, str], content: bytes, filters: set[str], settings: Settings) -> bool:
    if attributes["filter"] in filters or attributes["working-tree-encoding"] not in ("unspecified", "unset"):
        return True
    if b"$Id" in content and attributes["ident"] == "set":
        return True
    lines_change = attributes["text"] in ("set", "auto") or attributes["eol"] in ("lf", "crlf") or settings.on("core.autocrlf")
    return b"\r" in content and attributes["text"] != "unset" and lines_change


def _survey(repo: Repo, wanted: list[str], listed: list[str], settings: Settings) -> Survey:
    told: dict[str, tuple[Entry | None, Entry | None]] = {}
    others: dict[str, list[str]] = {"u": [], "?": [], "!": []}
    about: dict[str, str] = {}
    for line in listed:
        kind, _, rest = line.partition(" ")
        if kind == "#":
            key, _, value = rest.partition(" ")
            about[key] = value
        elif kind == "1":
            _, _, mode, staged_mode, _, oid, staged_oid, name = rest.split(" ", 7)
            told[name] = (_entry(mode, oid), _entry(staged_mode, staged_oid))
        else:
            others[kind].append(rest.split(" ", 9)[-1] if kind == "u" else rest)
    silent = set(wanted).difference(told, *others.values())
    # What status says nothing of is nowhere, or the same in HEAD, in the index and on disk, or in a repository further in.
    told |= {name: (same, same) for name in silent if (same := _on_disk(repo.work_tree / name, settings))}
    return Survey(
        head=Head(*(None if about[key].startswith("(") else about[key] for key in ("branch.head", "branch.oid"))),
        settings=settings,
        committed={name: told[name][0] for name in wanted if name in told},
        staged={name: told[name][1] for name in wanted if name in told},
        unmerged=frozenset(others["u"]).intersection(wanted),
        ignored=_within(wanted, others["!"]),
        nested=frozenset(name for name in silent if _in_nested(repo, name)),
    )


def _within(wanted: list[str], places: list[str]) -> frozenset[str]:
    folders = tuple(place for place in places if place.endswith("/"))
    exact = set(places)
    return frozenset(name for name in wanted if name in exact or (folders and name.startswith(folders)))


def _in_nested(repo: Repo, name: str) -> bool:
    folders = list((repo.work_tree / name).relative_to(repo.work_tree).parents)[:-1]
    return any((repo.work_tree / folder / ".git").exists() for folder in folders)


def _entry(mode: str, oid: str) -> Entry | None:
    return None if mode == "000000" else Entry(mode, oid)


def _on_disk(path: Path, settings: Settings) -> Entry | None:
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            return Entry("120000", "")
        return Entry("100755" if mode & stat.S_IXUSR else REGULAR, settings.blob(path.read_bytes()))
    except OSError:
        return None


def _settings(repo: Repo, listed: bytes) -> Settings:
    pairs = (line.partition("=") for line in listed.decode(errors="surrogateescape").splitlines())
    config = {key: value if equals else "true" for key, equals, value in pairs}
    idents = [config.pop(f"GIT_{role}_IDENT", "") for role in ("AUTHOR", "COMMITTER")]
    known = all(config.get(f"user.{part}") for part in ("name", "email"))
    if not known:
        # Git lists a made-up identity too; asked for one alone it is strict about what it makes up.
        strict = together(repo.work_tree, [Call(("var", f"GIT_{role}_IDENT")) for role in ("AUTHOR", "COMMITTER")])
        idents = ["" if each.code else each.out.decode(errors="surrogateescape").strip() for each in strict]
    return Settings(config, idents[0], idents[1])
