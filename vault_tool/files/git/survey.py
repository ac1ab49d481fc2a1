"""Facts that a commit needs first: HEAD, the committer, the config, and the entries of index and HEAD for its paths."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from vault_tool.errors import GitError
from vault_tool.files.git.repo import GitHead, Repo, fields, lines
from vault_tool.files.git.run import Config, GitCall, call, output, together
from vault_tool.files.git.worktree import PATHS_A_CALL
from vault_tool.util.structs import Struct

# The hooks of a commit that look at an index, or are called with one.
INDEX_HOOKS = frozenset({"pre-commit", "prepare-commit-msg", "commit-msg", "post-index-change"})
_HOOKS = (*INDEX_HOOKS, "post-commit", "reference-transaction")
REGULAR = "100644"
EXECUTABLE = "100755"
# What git keeps of a name or address: it strips what stands around it, and takes one that is nothing else for none.
_NAMED = re.compile(r"[A-Za-z0-9]")
_AUTHOR = re.compile(r"[^\x00-\x1f<>]+ <[^\x00-\x20<>]+@[^\x00-\x20<>@]+>")


class TreeEntry(Struct):
    """Git's entry at a path: the file mode and the blob's id."""

    mode: str
    oid: str


class CommitSettings(Struct):
    """The config and the two identities, each as git writes it into a commit, or "" when git does not know one."""

    config: Mapping[str, str]
    author: str
    committer: str

    def author_of(self, author: str) -> str:
        """The author of a commit as git writes it: `Name <address>` at the present time, or whom git would name."""
        if not author:
            return self.author
        if not _AUTHOR.fullmatch(author):
            raise GitError("a commit's author must be a name and an address", "")
        return author + self.author.rpartition(">")[2]

    def on(self, key: str) -> bool:
        """Whether a boolean setting is on."""
        return self.config.get(key, "false").lower() in ("true", "yes", "on", "1", "input")

    @property
    def config_hooks(self) -> bool:
        """Whether the config itself names programs to run as hooks; which of them there are git alone knows."""
        return any(key.startswith("hook.") and key.endswith(".command") for key in self.config)

    @property
    def without_filters(self) -> Config:
        """Settings that keep the clean filters and conversion programs of the config from running."""
        kinds = {".clean": "", ".process": "", ".required": "false"}
        filters = [(key, kind) for key in self.config if key.startswith("filter.") for kind in kinds if key.endswith(kind)]
        return [(key, kinds[kind]) for key, kind in filters]

    @property
    def sha256(self) -> bool:
        """Whether the repository names objects by SHA-256."""
        return self.config.get("extensions.objectformat") == "sha256"

    def blob(self, content: bytes) -> str:
        """The id that git gives to this content."""
        import hashlib  # 4 ms with OpenSSL, and only a commit needs it

        text = b"blob %d\0" % len(content) + content
        return (hashlib.sha256 if self.sha256 else hashlib.sha1)(text, usedforsecurity=False).hexdigest()


class Survey(Struct):
    """The state that a commit starts from; paths are as git names them, relative to the work tree."""

    head: GitHead
    settings: CommitSettings
    committed: Mapping[str, TreeEntry | None]
    staged: Mapping[str, TreeEntry | None]
    unmerged: frozenset[str]
    ignored: frozenset[str]
    nested: frozenset[str]


def survey(repo: Repo, names: Iterable[str]) -> Survey:
    """Look at HEAD, the index and the files by one `git status`, and at the config at the same time."""
    paths = list(names)
    places = paths if len(paths) <= PATHS_A_CALL else repo.places(())
    state, config = together(
        repo.work_tree, [GitCall((*_STATUS, "--", *places), config=_ONE_THREAD), GitCall(("var", "-l"), inert=False)]
    )
    if state.code:
        raise state.failure("compare the notes")
    if config.code:
        raise config.failure("read its config")
    return _survey(repo, paths, fields(state.out), _read_settings(repo, config.out))


def settings_of(repo: Repo) -> CommitSettings:
    """The config and the two identities as they are now."""
    config = together(repo.work_tree, [GitCall(("var", "-l"), inert=False)])[0]
    if config.code:
        raise config.failure("read its config")
    return _read_settings(repo, config.out)


_STATUS = (
    *("status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--no-renames"),
    *("--untracked-files=all", "--ignored=matching", "--ignore-submodules=all"),
)
# For a few paths the threads cost more than they give.
_ONE_THREAD = (("core.preloadIndex", "false"),)


def hook_folder(repo: Repo, settings: CommitSettings) -> Path:
    """Where the repository's hooks are."""
    configured = settings.config.get("core.hookspath")
    return repo.work_tree / Path(configured).expanduser() if configured else repo.common_dir / "hooks"


def hooks(repo: Repo, settings: CommitSettings) -> set[str]:
    """The files among the repository's hooks that a commit runs here."""
    folder = hook_folder(repo, settings)
    return {name for name in _HOOKS if os.access(folder / name, os.X_OK) and (folder / name).is_file()}


def converted(repo: Repo, before: Survey, contents: Mapping[str, bytes]) -> set[str]:
    """The paths for which git would store other bytes than these: a clean filter, line endings or an encoding applies."""
    settings = before.settings
    filters = {key.split(".", 1)[1].rpartition(".")[0] for key in settings.config if key.startswith("filter.")}
    if not filters and not any(b"\r" in content or b"$Id" in content for content in contents.values()):
        return set()
    names = ("filter", "text", "eol", "ident", "working-tree-encoding")
    result = call(repo.work_tree, "check-attr", "-z", "--stdin", *names, feed=lines(contents))
    if result.code:
        raise result.failure("read the attributes")
    parts = fields(result.out)
    attributes_of: dict[str, dict[str, str]] = {}
    for path, name, value in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        attributes_of.setdefault(path, {})[name] = value
    programs = {path for path, content in contents.items() if _rewrites(attributes_of[path], content, filters)}
    endings = {path for path in contents.keys() - programs if _ends_lines(attributes_of[path], contents[path], settings)}
    return programs | {path for path in endings if not _keeps_endings(repo, before.committed.get(path), attributes_of[path])}


def _rewrites(attributes: Mapping[str, str], content: bytes, filters: set[str]) -> bool:
    if attributes["filter"] in filters or attributes["working-tree-encoding"] not in ("unspecified", "unset"):
        return True
    return b"$Id" in content and attributes["ident"] == "set"


def _ends_lines(attributes: Mapping[str, str], content: bytes, settings: CommitSettings) -> bool:
    lines_change = attributes["text"] in ("set", "auto") or attributes["eol"] in ("lf", "crlf") or settings.on("core.autocrlf")
    return b"\r" in content and attributes["text"] != "unset" and lines_change


def _keeps_endings(repo: Repo, old: TreeEntry | None, attributes: Mapping[str, str]) -> bool:
    """Whether git leaves line endings alone because the file came into history with CRLF and is not declared as text."""
    is_text = attributes["text"] == "set" or (attributes["text"] == "unspecified" and attributes["eol"] in ("lf", "crlf"))
    if old is None or is_text:
        return False
    return b"\r\n" in output(repo.work_tree, "read the old text", "cat-file", "blob", old.oid)


def _survey(repo: Repo, paths: list[str], listed: list[str], settings: CommitSettings) -> Survey:
    entries: dict[str, tuple[TreeEntry | None, TreeEntry | None]] = {}
    others: dict[str, list[str]] = {"u": [], "?": [], "!": []}
    about: dict[str, str] = {}
    for line in listed:
        kind, _, rest = line.partition(" ")
        if kind == "#":
            key, _, value = rest.partition(" ")
            about[key] = value
        elif kind == "1":
            _, _, mode, staged_mode, _, oid, staged_oid, name = rest.split(" ", 7)
            entries[name] = (_entry(mode, oid), _entry(staged_mode, staged_oid))
        else:
            others[kind].append(rest.split(" ", 9)[-1] if kind == "u" else rest)
    head = GitHead(*(None if about[key].startswith("(") else about[key] for key in ("branch.head", "branch.oid")))
    silent = set(paths).difference(entries, *others.values())
    # What status says nothing of is nowhere, or the same in HEAD and in the index, or in a repository further in. The file
    # on disk may have been edited since, so HEAD is asked and not the file.
    entries |= {name: (same, same) for name, same in _in_commit(repo, head.commit, silent).items()}
    return Survey(
        head=head,
        settings=settings,
        committed={name: entries[name][0] for name in paths if name in entries},
        staged={name: entries[name][1] for name in paths if name in entries},
        unmerged=frozenset(others["u"]).intersection(paths),
        ignored=_within(paths, others["!"]),
        nested=frozenset(name for name in silent if _in_nested(repo, name)),
    )


def _within(paths: list[str], places: list[str]) -> frozenset[str]:
    folders = tuple(place for place in places if place.endswith("/"))
    exact = set(places)
    return frozenset(name for name in paths if name in exact or (folders and name.startswith(folders)))


def _in_nested(repo: Repo, name: str) -> bool:
    folders = list((repo.work_tree / name).relative_to(repo.work_tree).parents)[:-1]
    return any((repo.work_tree / folder / ".git").exists() for folder in folders)


def _entry(mode: str, oid: str) -> TreeEntry | None:
    return None if mode == "000000" else TreeEntry(mode, oid)


def _in_commit(repo: Repo, commit: str | None, names: set[str]) -> dict[str, TreeEntry]:
    if commit is None or not names:
        return {}
    places = sorted(names) if len(names) <= PATHS_A_CALL else ()
    listed = fields(output(repo.work_tree, "read HEAD", "ls-tree", *(() if places else ("-r",)), "-z", commit, "--", *places))
    entries = ((name, about.split(" ")) for about, _, name in (line.partition("\t") for line in listed))
    return {name: TreeEntry(about[0], about[2]) for name, about in entries if name in names}


def _given_by_environment() -> bool:
    """Whether both identities are named whole by variables: then git makes nothing up."""
    names = (f"GIT_{role}_{part}" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL"))
    return all(_NAMED.search(os.environ.get(name, "")) for name in names)


def _read_settings(repo: Repo, listed: bytes) -> CommitSettings:
    pairs = (line.partition("=") for line in listed.decode(errors="surrogateescape").splitlines())
    config = {key: value if equals else "true" for key, equals, value in pairs}
    idents = [config.pop(f"GIT_{role}_IDENT", "") for role in ("AUTHOR", "COMMITTER")]
    configured = all(config.get(f"user.{part}") for part in ("name", "email"))
    if not configured and not _given_by_environment():
        # Git lists a made-up identity too; asked for one alone it is strict about what it makes up.
        strict = together(repo.work_tree, [GitCall(("var", f"GIT_{role}_IDENT")) for role in ("AUTHOR", "COMMITTER")])
        idents = ["" if each.code else each.out.decode(errors="surrogateescape").strip() for each in strict]
    return CommitSettings(config, idents[0], idents[1])
