"""Commands that look after a vault: its state, its problems, its indexes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from vault_tool.cli import capturing as sessions_read
from vault_tool.cli import output
from vault_tool.cli.blocks import Block, Heading, fields, table
from vault_tool.cli.options import Call, Short, command
from vault_tool.cli.saved import problem_table
from vault_tool.errors import Exit, Refused
from vault_tool.features.capture import capture_settings, capturing
from vault_tool.features.consolidation.passes import waiting_in_words
from vault_tool.features.doctor import adopting, moved_notes, vault_status
from vault_tool.features.doctor import doctor as verb
from vault_tool.install import clients, delivery
from vault_tool.owner import address
from vault_tool.util.text import counted
from vault_tool.vault.context import Context
from vault_tool.vault.core_age import CoreAge
from vault_tool.vault.person import at_terminal

if TYPE_CHECKING:
    from vault_tool.features.doctor.adopting import AdoptedLocal
    from vault_tool.index.vectors.status import VectorStatus  # for its fields alone
    from vault_tool.install.delivery import Delivery


@command("status", "vt status", "vt status --json")
def status(call: Call) -> Exit:
    """Show what the vault holds and needs."""
    with call.open_vault() as vault:
        answer = _with_the_owners_place(vault_status.status(vault), vault)
        return call.emit(answer, lambda status, short: _status(status, short, _capture(vault)), vault)


@command("doctor", "vt doctor", "vt doctor --all", "vt doctor --fix", "vt doctor --adopt-local", "vt doctor --client claude-code")
@click.option("--fix", is_flag=True, help="Adopt pages, and make edges of `relations:` lists.")
@click.option("--all", "every", is_flag=True, help="Every finding, also where many are alike.")
@click.option("--adopt-local", is_flag=True, help="Show what lies in _local/ and is not believed, and take it over.")
@click.option("--client", metavar="CLIENT", default="", help="Try an agent's client instead: does the memory reach its model?")
@click.option("--moved", nargs=2, metavar="OLD NEW", help="A served note that is gone (path or id) is the one at NEW now.")
def doctor(call: Call, fix: bool, every: bool, adopt_local: bool, client: str, moved: tuple[str, str] | None) -> Exit:
    """Show every problem by file and line.

    Findings that are alike are told once, with how many they are and the first of their files. The exit code is 1 where one is
    a warning or an error. A file that git, a copy or an archive brought into _local/, _cache/ or _config.json is not used until
    --adopt-local has shown it to you and taken it over.

    With --client its settings, the server that they start, its hooks and, where it can be given another model, what a
    model is sent are tried one after the other.
    """
    if client:
        proven = delivery.prove(client, clients.UserMachine(os.environ, sys.platform), Path.cwd())
        outcome = call.emit(proven, _delivery)
        return Exit.FINDINGS if not proven.delivered and outcome is Exit.DONE else outcome
    with call.open_vault() as vault:
        if adopt_local:
            return _adopt(call, vault)
        if moved:
            return call.emit(moved_notes.moved(vault, *moved), _moved, vault)
        diagnosis = verb.doctor(vault, fix=fix, every=every)
        outcome = call.emit(diagnosis, _diagnosis, vault)
        return Exit.FINDINGS if diagnosis.findings and outcome is Exit.DONE else outcome


def _moved(moved: moved_notes.MovedNote, short: Short) -> Iterator[Block]:
    yield f"{short(moved.id)}  {moved.title}: {moved.was or 'what was gone'} is {moved.path} now"


@command("reindex", "vt reindex", "vt reindex --full")
@click.option("--full", is_flag=True, help="Build the indexes anew.")
@click.option("--confirm", is_flag=True, help="It is meant that many notes are gone.")
def reindex(call: Call, full: bool, confirm: bool) -> Exit:
    """Take in what changed in the files.

    Every command does so by itself; this one says what was found, and can build the indexes anew.
    """
    with call.open_vault() as vault, call.progress("indexing") as progress:
        done = verb.reindex(vault, full=full, confirm=confirm, progress=progress)
        return call.emit(done, _reindexed, vault)


def _adopt(call: Call, vault: Context) -> Exit:
    """Show what would be taken over, ask, and take it over."""
    shown = adopting.adopt_local(vault, dry_run=True)
    if shown.problems and call.json and at_terminal():
        raise Refused("nothing was taken over, for --json asks nothing", "leave --json away")
    # Without a terminal the verb itself refuses, unless this machine's settings answer for a person.
    if shown.problems and at_terminal():
        call.emit(shown, _adopted, vault)
        if not click.confirm("Take it over?", err=True):
            output.say("nothing was taken over")
            return Exit.DONE
    return call.emit(adopting.adopt_local(vault), _adopted, vault)


def _adopted(adopted: AdoptedLocal, short: Short) -> Iterator[Block]:
    if adopted.dry_run or not adopted.problems:
        yield problem_table(adopted.problems, "nothing to take over")
    for problem in () if adopted.dry_run else adopted.problems:
        yield f"taken over: {problem.path}"


def _delivery(delivery: Delivery, short: Short) -> Iterator[Block]:
    marks = {True: "yes", False: "NO", None: "not tried"}
    yield table(("tried", "works", ""), [(check.what, marks[check.ok], check.said) for check in delivery.checks])


def _status(status: vault_status.Status, short: Short, capture: str) -> Iterator[Block]:
    yield Heading(status.name)
    git = status.git
    yield fields(
        ("root", status.root),
        *((f"{kind}s" if not kind.endswith("s") else kind, count) for kind, count in status.counts.items()),
        ("pages", status.pages),
        ("generation", status.generation),
        ("git", git.absence or f"{git.branch or 'no branch'} {git.commit[:10] if git.commit else 'without commits'}"),
        ("uncommitted", git.uncommitted),
        ("waiting", f"{git.waiting} to be committed by the next write" if git.waiting else ""),
        ("for review", status.for_review or ""),
        ("conflict copies", status.conflict_copies or ""),
        ("unsettled", counted(status.unsettled, "note") if status.unsettled else ""),
        ("contested", counted(status.contested, "memory", "memories") if status.contested else ""),
        ("turns", f"{status.turns} to be written" if status.turns else ""),
        ("turn log", f"{counted(status.logged_turns, 'turn')}, {status.logged_bytes:,} bytes" if status.logged_turns else ""),
        ("to consolidate", waiting_in_words(status.due_observations, status.due_packets)),
        ("CORE.md", f"{CoreAge(status.core_memories, status.core_days)}: `vt core`" if status.core_memories else ""),
        ("in conflict", git.conflicted),
        ("remotes", git.remotes),
        ("upstream", _upstream(git)),
        ("problems", ", ".join(counted(count, severity) for severity, count in status.problems.items()) or "none"),
        *_embeddings(status),
        ("watcher", _watcher(status)),
        ("owner", _owner(status.owner)),
        ("other vaults", ", ".join(f"{name} = {folder}" for name, folder in (status.vaults or {}).items())),
        ("capture", capture),
    )
    for advice in status.next:
        yield f"next: {advice}"


def _capture(vault: Context) -> str:
    """The line on sessions that are read on this machine; empty where none are."""
    if capture_settings.settings_of(vault.root).mode == capture_settings.OFF:
        return sessions_read.OFF_UNASKED if capture_settings.is_unasked(vault.root) else ""
    return sessions_read.in_one_line(capturing.capture(vault))


def _embeddings(status: vault_status.Status) -> Iterator[tuple[str, object]]:
    now, vectors = status.embeddings, status.embeddings.vectors
    if now.provider == "none":
        yield "embeddings", f"none ({now.why}): search is by full text"
    else:
        yield "embeddings", f"{now.provider} {now.model} ({now.why}){', sent to another machine' if now.remote else ''}"
    for passed_over in now.tried:
        yield "not taken", passed_over
    if vectors is not None:
        yield "vectors", _vectors(vectors)
        yield "fault", vectors.fault
        yield "refused", ", ".join(dict.fromkeys(refusal.reason for refusal in vectors.refused))


def _vectors(now: VectorStatus) -> str:
    """The vector store, the notes it holds, and its size on disk."""
    size = sum(vector_set.bytes for vector_set in now.sets) / 1e6
    store = f"{now.store}{', approximate' if now.approximate else ''}"
    behind = f", {now.behind} behind" if now.behind else ""
    filling = f", {now.filling} is being made" if now.filling else ""
    filling += f", those of other files called {now.outdated} answer nothing" if now.outdated else ""
    # How many each has is worth saying where they differ.
    differ = len(set(now.coverage.values())) > 1
    named = [f"{name} ({now.coverage.get(name, 0)})" if differ else name for name in now.perspectives]
    perspectives = ", ".join(named) or "none"
    return f"{store}: {counted(now.notes, 'note')}{behind}, perspectives {perspectives}, {size:.1f} MB{filling}"


def _watcher(status: vault_status.Status) -> str:
    watcher = status.watcher
    if watcher is None:
        return "none"
    compared = f", all files compared at {watcher.reconciled}" if watcher.reconciled else ""
    degraded = f" ({watcher.degraded})" if watcher.degraded else ""
    return f"{watcher.mode}{degraded}, process {watcher.pid} since {watcher.started}{compared}"


def _with_the_owners_place(status: vault_status.Status, vault: Context) -> vault_status.Status:
    """The same, with the reason where no owner could listen if one was started."""
    if status.owner.absence != vault_status.NO_OWNER or not (reason := address.why_nowhere(str(vault.root))):
        return status
    return replace(status, owner=replace(status.owner, absence=f"none can listen: {reason}"))


def _owner(now: vault_status.OwnerStatus) -> str:
    """The process that answers other commands."""
    if now.pid is None:
        return now.absence
    how = ("in the background" if now.background else "watching") if now.answers else "answers nobody"
    memory = f", {now.memory / 1e6:.0f} MB" if now.memory else ""
    warm = f"; warm: {', '.join(now.warm)}" if now.warm else ""
    return f"process {now.pid} since {now.started}, {how}{memory}{warm}"


def _diagnosis(diagnosis: verb.Diagnosis, short: Short) -> Iterator[Block]:
    for line in diagnosis.fixed:
        yield f"fixed: {line}"
    alike = [group.as_problem for group in diagnosis.alike]
    yield problem_table((*alike, *diagnosis.problems), "no problems")
    if diagnosis.alike or diagnosis.left_out:
        more = (
            f"{counted(diagnosis.left_out, 'more finding')}, and all that are alike"
            if diagnosis.left_out
            else "all that are alike"
        )
        yield f"`vt doctor --all` shows {more}, one by one"


def _reindexed(done: verb.Reindexed, short: Short) -> Iterator[Block]:
    yield f"{done.count} notes in {done.seconds:.2f} s"
    yield fields(
        ("added", done.added),
        ("modified", done.modified),
        ("removed", done.removed),
        ("unchanged", done.unchanged),
        ("problems", done.problems),
        ("as last committed", done.stale),
        ("not removed", done.held_back),
    )


def _upstream(git: vault_status.GitStatus) -> str:
    """The upstream with how far the branch is ahead of it and behind it, as it was last fetched."""
    if not git.upstream:
        return ""
    sides = [f"{count} {word}" for count, word in ((git.ahead, "ahead"), (git.behind, "behind")) if count]
    return f"{git.upstream}: {', '.join(sides) or 'in step'}{f', as fetched {git.fetched[:16]}' if git.fetched else ''}"
