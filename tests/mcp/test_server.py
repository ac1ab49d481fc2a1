"""The server as clients of both eras see it."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from tests.mcp.served import ERAS, client_of_process
from vault_tool import Vault


@pytest.mark.parametrize("era", ERAS)
def test_a_client_of_either_era_is_served_by_the_command(tmp_path: Path, era: str) -> None:
    Vault.init(tmp_path / "lab", name="Lab", no_git=True)

    async def talk() -> None:
        async with client_of_process(era=era, cwd=tmp_path / "lab") as client:
            assert client.instructions and "bring_to_mind" in client.instructions
            assert len((await client.list_tools()).tools) == 8
            made = await client.call_tool("remember", {"content": "The build needs git 2.31.", "subject_names": ["Build"]})
            assert made.structured_content == json.loads(made.content[0].text)  # type: ignore[union-attr]
            found = await client.call_tool("recall", {"query": "which git does the build need?"})
            assert found.structured_content["results"][0]["content"] == "The build needs git 2.31."

    anyio.run(talk)
    with Vault.open(tmp_path / "lab") as vault:
        assert vault.search("build").results[0].origin == "agent"
