"""The types and classes that agents' memories wait for a person by: the settings of the vault and of this machine, and what
others' commits took away from these and nobody has accepted yet.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import field, to_builtins
from msgspec.structs import replace

from vault_tool.config import Config, load_known, review_words
from vault_tool.errors import ConfigError, GitError, VaultError
from vault_tool.files import git
from vault_tool.files.layout import CONFIG_FILE, LOCAL, SETTINGS_FILE
from vault_tool.files.local_trust import place
from vault_tool.index.authorship import OWNERS, tips
from vault_tool.model.problems import Problem, note, warning
from vault_tool.util.atomic import PrivateFolder
from vault_tool.util.hints import step
from vault_tool.util.json_text import read_own
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line
from vault_tool.vault.context import Context

if TYPE_CHECKING:
    from vault_tool.files.git.authors import Brought

_FILE = "reviews.json"


class Held(Struct):
    """Words that others' commits took out of the settings, the last of these commits, its author and its time in seconds."""

    words: tuple[str, ...] = ()
    commit: str = ""
    author: str = ""
    at: int = 0

    @property
    def id(self) -> str:
        """The id by which a person decides on it."""
        return str(uuid.UUID(self.commit[:32]))


class _Kept(Struct):
    """The progress of this machine: as of which file what is held, and the changes that a person decided on, by commit."""

    stamp: str = ""
    held: Held = Held()
    decided: Mapping[str, bool] = field(default_factory=dict)


def of_settings(config: Config) -> frozenset[str]:
    """The types and classes that settings of a vault ask a review of."""
    classes = {"observation": config.write_policy, "understanding": config.understanding_policy}
    return frozenset(config.review) | {name for name, policy in classes.items() if policy == "review"}


def words(vault: Context) -> frozenset[str]:
    """The types and classes of which agents' memories wait for a person here."""
    known = review_words(vault.settings.types)
    asked = of_settings(vault.settings) | frozenset(vault.machine.review) | frozenset(held(vault).words)
    return asked & known


def held(vault: Context) -> Held:
    """The words that others' commits took away, and that count until a person accepts that."""
    return _present(vault).held


def waiting(vault: Context) -> Held | None:
    """The change of the settings on which a person has not decided; None where there is none."""
    now = _present(vault)
    return now.held if now.held.words and now.held.commit not in now.decided else None


def decide(vault: Context, change: Held, *, accepted: bool) -> None:
    """Let a change of others' be in force, or let what it took away count on."""
    _keep(vault, _Kept(decided={**_kept(vault).decided, change.commit: accepted}))


def problems(vault: Context) -> Iterator[Problem]:
    """The remarks on what waits for a person here, and why."""
    settings = vault.settings
    policies = [name for name in ("write_policy", "understanding_policy") if getattr(settings, name) == "review"]
    if settings.review and policies:
        message = f"both {' and '.join(policies)} and review say what waits for a person: all of it does"
        yield note(SETTINGS_FILE, 0, "review-twice", message, "say it with review alone")
    if unknown := sorted(set(vault.machine.review) - review_words(settings.types)):
        yield warning(CONFIG_FILE, 0, "unknown-option", *unknown_words(unknown, settings))
    if change := waiting(vault):
        message = f"{change.author} took {', '.join(change.words)} out of what waits for review: it counts on"
        yield warning(SETTINGS_FILE, 0, "review-loosened", message, f"{step('review')} decides")


def unknown_words(unknown: list[str], settings: Config) -> tuple[str, str]:
    """The remark on words of `review` that are no types or classes, and the words that are."""
    named = ", ".join(f"`{one_line(word, 40)}`" for word in unknown)
    return f"`review` knows no {named}, which ask for nothing", f"the words are {', '.join(sorted(review_words(settings.types)))}"


def _present(vault: Context) -> _Kept:
    """The progress of this machine as of the settings and the history that there are now."""
    if vault.repo is None:
        return _Kept()
    stored, stamp = _kept(vault), _stamp(vault)
    if stored.stamp == stamp:
        return stored
    try:
        now = replace(stored, stamp=stamp, held=_replayed(vault, vault.repo, stored.decided))
    except GitError:
        return stored
    with suppress(VaultError):  # on a disk that cannot be written it is read from the history each time
        _keep(vault, now)
    return now


def _replayed(vault: Context, repo: git.Repo, decided: Mapping[str, bool]) -> Held:
    """The words in force after all commits of the settings, less those that the last of them has."""
    owners, head = vault.owners(), git.head(repo).commit or ""
    force: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()
    held_now = Held()
    for commit in git.brought(repo, tips(repo, head), (), (SETTINGS_FILE,), owners.signed):
        now = _asked_in(repo, commit)
        if now is None:
            continue
        if owners.wrote(commit):
            force = (force - (before - now)) | now
        elif decided.get(commit.commit):
            force = now
        else:
            force |= now
            if before - now:
                held_now = Held((), commit.commit, one_line(f"{commit.name} <{commit.address}>", 80), commit.at)
        before = now
    left = tuple(sorted(force - before - of_settings(vault.settings)))
    return replace(held_now, words=left) if left and held_now.commit else Held()


def _asked_in(repo: git.Repo, commit: Brought) -> frozenset[str] | None:
    """The words of the settings as a commit has them; None where it leaves them alone, or they cannot be read."""
    if any(path == SETTINGS_FILE for path, _ in commit.removed):
        return frozenset()
    if not any(each.path == SETTINGS_FILE for each in commit.files):
        return None
    data = git.show(repo, commit.commit, SETTINGS_FILE)
    with suppress(ConfigError, UnicodeDecodeError):
        return None if data is None else of_settings(load_known(data.decode("utf-8"))[0])
    return None


def _stamp(vault: Context) -> str:
    """A value that changes with the file of settings and with whose commits are the owner's."""
    try:
        status = os.lstat(vault.root / SETTINGS_FILE)
    except OSError:
        return "none"
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ino} {vault.index.catalog.meta(OWNERS)}"


def _kept(vault: Context) -> _Kept:
    try:
        values: dict[str, Any] = read_own(_folder(vault).read(_FILE) or b"")
        change = values["held"]
        decided = {str(commit): accepted is True for commit, accepted in (values["decided"] or {}).items()}
        words_held = tuple(map(str, change["words"]))
        return _Kept(
            str(values["stamp"]), Held(words_held, str(change["commit"]), str(change["author"]), int(change["at"])), decided
        )
    except (VaultError, ValueError, KeyError, TypeError, AttributeError):
        return _Kept()


def _keep(vault: Context, stored: _Kept) -> None:
    _folder(vault).write(_FILE, json.dumps(to_builtins(stored)).encode() + b"\n")


def _folder(vault: Context) -> PrivateFolder:
    return PrivateFolder(partial(place, vault.root), LOCAL)
