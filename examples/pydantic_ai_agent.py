"""An agent of Pydantic AI with a memory, by the library: `python pydantic_ai_agent.py VAULT QUESTION`.

It needs `pip install "pydantic-ai-slim[openai]"` and OPENAI_API_KEY. Tools are coroutines, for a `Vault` is for one thread.
"""

import sys

from pydantic_ai import Agent, ModelRetry, RunContext

from vault_tool import Vault, VaultError

agent = Agent(deps_type=Vault)


@agent.instructions
async def page(run: RunContext[Vault]) -> str:
    """The memory's page, made anew for each run."""
    return f"You have a memory. This is its page.\n\n{run.deps.core(preview=True).text}"


@agent.tool
async def recall(run: RunContext[Vault], question: str) -> list[str]:
    """What the memory knows of a question, best first; what is `weak` fits badly."""
    found = run.deps.recall(question, limit=5).results
    return [f"{one.id[:8]} {one.type}{' weak' * one.weak}, {one.observed[:10]}: {one.content}" for one in found]


@agent.tool
async def remember(run: RunContext[Vault], text: str, subjects: list[str]) -> str:
    """Write down one thing that was seen, done, decided or learnt, and its subjects."""
    try:
        return run.deps.remember(text, subjects).id
    except VaultError as fault:  # a secret, an empty text: the model is told what to mend
        raise ModelRetry(f"{fault.message} ({fault.hint})") from fault


if __name__ == "__main__":
    with Vault.open(sys.argv[1], origin="agent") as vault:
        print(agent.run_sync(sys.argv[2], deps=vault, model="openai:gpt-5").output)
