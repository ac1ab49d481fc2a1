"""An agent of the OpenAI Agents SDK with a memory: `python openai_agents_sdk.py VAULT QUESTION`.

It needs `pip install openai-agents`, `vt` on the PATH and OPENAI_API_KEY. The memory's page is in the instructions; the
server's eight tools recall, remember and mark.
"""

import asyncio
import sys

from agents import Agent, Runner
from agents.mcp import MCPServerStdio

from vault_tool import Vault


async def main(root: str, question: str) -> None:
    """Answer one question."""
    with Vault.open(root) as vault:
        page = vault.core(preview=True).text
    async with MCPServerStdio({"command": "vt", "args": ["--vault", root, "mcp"]}, cache_tools_list=True) as memory:
        instructions = f"You have a memory. This is its page; ask it, and write to it, by its tools.\n\n{page}"
        agent = Agent(name="Assistant", instructions=instructions, mcp_servers=[memory])
        print((await Runner.run(agent, question)).final_output)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
