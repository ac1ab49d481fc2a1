"""The one caller of git-filter-repo, which keeps its state in globals and ends its process: `python -m` this, a plan at stdin."""

from __future__ import annotations

import json
import sys
from typing import Any

import git_filter_repo as filter_repo


def main() -> None:
    """Write the history of the plan's `refs` anew, named `new` in place of `old`; nothing else changes.

    It also says what becomes of blobs by their ids (an empty one: the file is left out), which messages commits get, and in
    which folder `commit-map` says afterwards what each commit has become.
    """
    plan = json.load(sys.stdin)
    old, new = plan["old"].encode(), plan["new"].encode()
    blobs = {before.encode(): after.encode() for before, after in plan["blobs"].items()}
    messages = {commit.encode(): text.encode("utf-8", "surrogateescape") for commit, text in plan["messages"].items()}

    class Filter(filter_repo.RepoFilter):  # type: ignore[misc]  # the library has no types
        """Keeps its maps where we say, and leaves work tree, reflogs and old objects to us."""

        def results_tmp_dir(self, create_if_missing: bool = True) -> bytes:
            return str(plan["folder"]).encode("utf-8", "surrogateescape")

        def cleanup(self, *_: Any, **__: Any) -> None:
            pass

    def change(commit: Any, _: Any) -> None:
        commit.message = messages.get(commit.original_id, commit.message)
        for file in commit.file_changes:
            if file.type == b"M" and file.blob_id in blobs:
                file.blob_id = blobs[file.blob_id] or None
                file.type = b"M" if file.blob_id else b"D"

    # A commit that is left empty stays: what was done when is history too, and every old commit has one new one.
    keep = ("--prune-empty", "never", "--prune-degenerate", "never", "--preserve-commit-encoding")
    arguments = ("--force", "--quiet", "--partial", "--replace-refs", "update-no-add", *keep, "--refs", *plan["refs"])
    options = filter_repo.FilteringOptions.parse_args(arguments)
    Filter(options, commit_callback=change, refname_callback=lambda ref: ref.replace(old, new)).run()


if __name__ == "__main__":
    main()
