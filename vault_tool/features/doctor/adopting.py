"""`adopt-local`: a person accepts the files of the vault's local folders that are not trusted yet."""

from __future__ import annotations

from vault_tool.features.doctor.local_doubts import local_problems
from vault_tool.features.erasing import purging
from vault_tool.files import local_trust
from vault_tool.model.problems import Problem
from vault_tool.vault import person
from vault_tool.vault.context import Context
from vault_tool.vault.operation import Saved, writing
from vault_tool.vault.pending import held
from vault_tool.vault.request import of_the_whole, verb


class AdoptedLocal(Saved, kw_only=True):
    """The local files that were accepted, or would be (`dry_run`), each with the reason why it was not used."""

    problems: tuple[Problem, ...]
    dry_run: bool = False


@verb
@of_the_whole
def adopt_local(vault: Context, *, dry_run: bool = False) -> AdoptedLocal:
    """Believe what lies in `_local/`, `_cache/` and `_config.json` from now on, and finish what was begun there.

    With `dry_run` the files are listed and stay as they are. The verb is refused if git tracks one of these files (untrack it
    first), and if the caller is not a person.
    """
    problems = tuple(local_problems(vault))
    if not dry_run:
        vault = person.acting(vault, "take over what came from elsewhere")
    if dry_run or not problems:
        return AdoptedLocal(problems=problems, dry_run=dry_run)
    with held(vault, "adopt"):
        local_trust.adopt(vault.root)
        vault.local.seal_all()
    with vault.reopened() as again:
        with writing(again, "doctor") as op:
            saved = op.carry_out("what was taken over")
        purging.finish(again)
    return AdoptedLocal(**saved.fields(), problems=problems)
