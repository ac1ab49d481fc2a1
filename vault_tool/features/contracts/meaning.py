"""The second layer: what requests mean in this vault. Every rule that is broken is collected before anything is refused."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from vault_tool.errors import UsageError, VaultError
from vault_tool.model.evidence import FORMS, EvidenceKind, fault_in, read_reference
from vault_tool.model.fields import OF_WORDS
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import MEMORIES, RecordClass
from vault_tool.util.hints import step
from vault_tool.util.text import normal_name, one_line, with_article
from vault_tool.vault import resolve
from vault_tool.vault.context import Context
from vault_tool.vault.finding import global_root
from vault_tool.vault.parameters import require_moment, require_word
from vault_tool.vault.request_faults import InvalidRequest, RequestFault, pointer

NEEDS_PROBLEM = ("solution", "failed_tactic")

_OBSERVATIONS = (RecordClass.OBSERVATION,)


class RequestChecker:
    """The faults that a request's meaning has, collected; `require` refuses it when there are any."""

    def __init__(self, vault: Context) -> None:
        self.vault = vault
        self.faults: list[RequestFault] = []
        self._has_looked = False

    def look(self) -> None:
        """Compare the files with the indexes, once: what a request names is looked for in them."""
        if not self._has_looked:
            self.vault.fresh()
            self._has_looked = True

    def require(self) -> None:
        """Raise InvalidRequest with all faults that were found so far."""
        if self.faults:
            raise InvalidRequest(self.faults)

    def add(self, place: str, message: str, hint: str = "") -> None:
        """One more fault."""
        self.faults.append(RequestFault(place, message, hint))

    def repo(self, repo_id: str | None) -> None:
        """`repo_id` must mean this vault: its workspace's id or name, or one of its `repo_ids`. None means it unsaid."""
        if repo_id is None or repo_id in self._names():
            return
        self.look()
        names = self._names()
        if normal_name(repo_id) not in {normal_name(name) for name in names}:
            known = ", ".join(one_line(name, 40) for name in names[1:]) or (names[0] if names else "")
            hint = (
                f"this vault is {known}; `repo_ids` in vault.toml adds names" if known else "add it to `repo_ids` in vault.toml"
            )
            self.add("/repo_id", f"`{one_line(repo_id, 60)}` is not this vault", hint)

    def moment(self, place: str, text: str) -> None:
        """A text that bounds when something was observed must name a time; an empty one bounds nothing."""
        try:
            if text:
                require_moment(text, self.vault.clock.now())
        except UsageError as fault:
            self.add(place, fault.message, fault.hint)

    def home(self, scope: str) -> Context:
        """The vault that a scope means, as who is asking; this one where that is a fault."""
        here = scope_of(self.vault)
        if scope == "global" != here:
            shared = self.vault.global_vault
            if shared is not None:
                return resolve.seen_by(shared, self.vault)
            self.add("/memory/scope", "there is no global vault", f"make one with {step('init')} in the folder of VAULT_GLOBAL")
        if scope == "repo" != here:
            self.add("/memory/scope", "this is the global vault: what is written here is global", 'write "scope": "global"')
        return self.vault

    def memory(self, home: Context, place: str, named: str, classes: Collection[RecordClass] = MEMORIES) -> Entry | None:
        """The memory of `home` that is named at `place`; None, with a fault, where there is none."""
        try:
            return resolve.find(home, named, classes)
        except VaultError as fault:
            elsewhere = home is not self.vault and resolve.candidates(self.vault, named)
            hint = "it is a memory of the repo, which a global one cannot name" if elsewhere else fault.hint
            self.add(place, fault.message, hint)
            return None

    def problem(self, home: Context, place: str, named: str) -> Entry | None:
        """The problem named at `place`; None, with a fault, where it names no problem."""
        entry = self.memory(home, place, named, _OBSERVATIONS)
        if entry is None or entry.type == "problem":
            return entry
        self.add(place, f"{resolve.short(home, entry.id)} is of type {entry.type}, not a problem", "name the problem's own id")
        return None

    def evidence(self, home: Context, place: tuple[str | int, ...], references: Sequence[str]) -> None:
        """Each reference must be well formed, and a memory that it names must be there."""
        for number, text in enumerate(references):
            here = pointer(*place, number)
            wrong = fault_in(text)
            if wrong:
                self.add(here, f"`{one_line(text, 60)}` is no evidence reference: {wrong}", FORMS)
            elif (reference := read_reference(text)).kind is EvidenceKind.MEMORY:
                self.memory(home, here, reference.target)

    def observation(self, home: Context, memory: Mapping[str, Any]) -> None:
        """Check a new observation beyond its shape."""
        links: Mapping[str, Any] = memory.get("links") or {}
        kind = memory["kind"]
        if not memory["text"].strip():
            self.add("/memory/text", "it is only white space")
        for field in OF_WORDS:
            try:
                require_word(field, memory.get(field.contract, ""))
            except UsageError as fault:
                self.add(f"/memory/{field.contract}", fault.message, fault.hint)
        named = links.get("problem_id", "")
        if named.strip():
            self.problem(home, "/memory/links/problem_id", named)
        elif kind in NEEDS_PROBLEM:
            self.add(
                "/memory/links/problem_id", f"{with_article(kind)} needs the problem that it is for", "write the problem first"
            )
        for name in ("change_targets", "related_memory_ids"):
            for number, target in enumerate(links.get(name, ())):
                self.memory(home, pointer("memory", "links", name, number), target)
        if kind == "change" and not links.get("change_targets"):
            self.add("/memory/links/change_targets", "a change needs the memories whose truth or use it changes")
        self.evidence(home, ("memory", "evidence_refs"), memory.get("evidence_refs", ()))

    def _names(self) -> list[str]:
        """The names of this vault: its workspace's id and name, and the settings' names."""
        workspaces = self.vault.index.catalog.of_class(RecordClass.WORKSPACE)
        own = [name for workspace in workspaces for name in (workspace.id, workspace.text("name")) if name]
        return [*own, *self.vault.settings.repo_ids]


def scope_of(vault: Context) -> str:
    """The scope name of a vault's memories: `global` for this person's global vault, else `repo`."""
    return "global" if global_root(vault.environ).resolve() == vault.root else "repo"
