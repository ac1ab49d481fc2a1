"""What a session wrote is found by an index, and is what a look at every record finds."""

from __future__ import annotations

import pytest

from vault_tool import Vault
from vault_tool.features.setup.setup import init
from vault_tool.index.schema import ENTRY, SESSION
from vault_tool.index.timeline import signals_in, written_in

SESSIONS = ("s1", "s10", 's"1', "s\\1", "größe", "\U0001f600")


@pytest.fixture
def vault(tmp_path_factory: pytest.TempPathFactory) -> Vault:
    root = tmp_path_factory.mktemp("v") / "notes"
    init(root, no_git=True)
    return Vault.open(root)


def test_records_and_signals_of_each_session_are_its_own(vault: Vault) -> None:
    made = {}
    for session in SESSIONS:
        agent = vault.as_(session=session)
        one = agent.remember(f"Seen in {session} by somebody.")
        agent.mark_useful(one.id, f'It says "session":"{SESSIONS[0]}" in its words.')
        made[session] = one.id
    vault.remember("Of no session.")
    vault.fresh()
    catalog = vault.index.catalog
    for session, identity in made.items():
        assert [entry.id for entry in written_in(catalog, session)] == [identity]
        assert [signal.target for signal in signals_in(catalog, session)] == [identity]
    assert written_in(catalog, "") == written_in(catalog, "s") == written_in(catalog, "\udcff") == ()
    assert signals_in(catalog, "s") == signals_in(catalog, "\udcff") == []


def test_the_index_is_used(vault: Vault) -> None:
    vault.fresh()
    query = f"EXPLAIN QUERY PLAN SELECT {ENTRY} FROM entries WHERE {SESSION} = ? AND {SESSION} <> ''"
    assert "entries_by_session" in str(vault.index.catalog.rows(query, ("s1",)))
