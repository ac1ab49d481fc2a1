"""References that nothing can follow are noted, once each."""

from __future__ import annotations

from vault_tool.check import check
from vault_tool.model.problems import Severity
from vault_tool.model.snapshot import Entry, Snapshot
from vault_tool.model.types import RecordClass, Registry


def test_malformed_evidence_is_a_note_that_says_how_to_write_it() -> None:
    references = ["session:turn_42", "seen it myself", "file:../secret"]
    head = {"id": "a" * 8, "type": "fact", "evidence": references}
    entry = Entry("vault/a.md", "a" * 8, RecordClass.OBSERVATION, "fact", "A", head)
    found = [one for one in check(Snapshot((entry,)), Registry()) if one.code == "malformed-evidence"]
    assert [one.severity for one in found] == [Severity.NOTE, Severity.NOTE]
    assert {one.path for one in found} == {"vault/a.md"}
    assert any("seen it myself" in one.message for one in found)
    assert any("file:../secret" in one.message for one in found)
    assert all("file:<path>" in one.hint for one in found)
