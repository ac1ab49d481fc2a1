"""A store of LangGraph whose items are notes, `vault/store/NAMESPACE/KEY.md`: `graph.compile(store=VaultStore("notes"))`."""

import asyncio
import json
from datetime import UTC, datetime
from urllib.parse import quote, unquote

from langgraph.store.base import BaseStore, ListNamespacesOp, PutOp, SearchItem, SearchOp

from vault_tool import Vault
from vault_tool.verbs.agent_files import change_file, create_file, list_files, read_file, remove_files


class VaultStore(BaseStore):
    def __init__(self, root):
        self.root = root

    async def abatch(self, ops):
        return await asyncio.to_thread(self.batch, list(ops))

    def batch(self, ops):  # opens the vault each time, so that any thread may call
        with Vault.open(self.root, origin="agent") as vault:
            return [answer(vault, op, dict(items(vault))) for op in ops]


def items(vault):
    for path in (f"vault/store/{name}" for name in list_files(vault, "vault/store")):
        *space, key = (unquote(part) for part in path.removesuffix(".md").split("/")[2:])
        at = datetime.fromtimestamp((vault.root / path).stat().st_mtime, UTC)
        yield path, SearchItem(tuple(space), key, json.loads(read_file(vault, path)), at, at)


def fits(space, want):
    return want.path == (space[: len(want.path)] if want.match_type == "prefix" else space[-len(want.path) :])


def answer(vault, op, there):
    if isinstance(op, ListNamespacesOp):
        spaces = {one.namespace for one in there.values()}
        spaces = {one[: op.max_depth] for one in spaces if all(fits(one, want) for want in op.match_conditions or ())}
        return sorted(spaces)[op.offset : op.offset + op.limit]
    if isinstance(op, SearchOp):
        best = [one.path for one in vault.search(op.query, limit=999).results] if op.query else there
        found = [there[path] for path in best if path in there and (op.filter or {}).items() <= there[path].value.items()]
        start = op.namespace_prefix
        return [one for one in found if one.namespace[: len(start)] == start][op.offset : op.offset + op.limit]
    path = "/".join(["vault", "store", *(quote(part, safe="").replace(".", "%2E") for part in (*op.namespace, op.key))]) + ".md"
    if isinstance(op, PutOp) and op.value is not None:
        text = json.dumps(op.value, ensure_ascii=False, indent=1)
        change_file(vault, path, lambda _: text) if path in there else create_file(vault, path, text)
    elif isinstance(op, PutOp) and path in there:
        remove_files(vault, path)
    return None if isinstance(op, PutOp) else there.get(path)
