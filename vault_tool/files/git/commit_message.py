"""The message of the tool's commits: one subject line, and trailers that name the operation, the session and the records."""

from __future__ import annotations

from collections.abc import Sequence

from vault_tool.files.git.run import one_line, shows

SUBJECT_LIMIT = 72
IDS_A_LINE = 20


def message(subject: str, op: str, session: str | None, ids: Sequence[str], body: str = "") -> str:
    """The text of a commit: `subject` on one line of at most 72 characters, `body`, and the trailers.

    `Vault-Op` is the verb; `Vault-Session` is there when there is a session; `Vault-Ids` lists the records, 20 a line.
    """
    trailers = [f"Vault-Op: {one_line(op)}"]
    if session and one_line(session):
        trailers.append(f"Vault-Session: {one_line(session)}")
    for start in range(0, len(ids), IDS_A_LINE):
        listed = " ".join(one_line(each) for each in ids[start : start + IDS_A_LINE])
        trailers.append(f"Vault-Ids: {listed}")
    blocks = [one_line(subject, SUBJECT_LIMIT) or one_line(op), _text(body), "\n".join(trailers)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _text(body: str) -> str:
    return "".join(char for char in body if char == "\n" or shows(char)).strip()
