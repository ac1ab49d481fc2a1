"""`init`: make a folder a vault; and `config`: read and change its settings."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from vault_tool import config as settings
from vault_tool import machine as machine_names
from vault_tool.errors import ConfigError, GitError, Refused, UsageError
from vault_tool.features.setup import global_choice, machine_settings, other_vaults
from vault_tool.features.setup.machine_settings import MachineOption
from vault_tool.files import git, layout, local_trust, writer
from vault_tool.generate.starter import Starter, content_policy, starters
from vault_tool.model.ids import new_id
from vault_tool.model.records import Record, Understanding, Workspace
from vault_tool.model.types import RecordClass, Registry
from vault_tool.util.clock import Clock
from vault_tool.util.deferred import tomlkit
from vault_tool.util.hints import option, step
from vault_tool.util.json_text import read_own
from vault_tool.util.note_links import is_note
from vault_tool.util.structs import Struct
from vault_tool.util.text import counted, one_line
from vault_tool.vault import asked_reviews, beside, person
from vault_tool.vault.context import Context, Who
from vault_tool.vault.finding import home_in
from vault_tool.vault.generated_pages import first_pages
from vault_tool.vault.operation import Operation, Saved, writing
from vault_tool.vault.request import of_the_whole, verb

# The files of a write under way; a killed one leaves its own behind until the next command sweeps it.
TEMPORARIES = ".*.vt-*.tmp"

IGNORED = (*(f"/{name}{'/' if name.startswith('_') and '.' not in name else ''}" for name in layout.UNTRACKED), TEMPORARIES)
ATTRIBUTES = "vault/** -text"

NOTES = ("here", "own")
_MANY = 20
_POLICIES = ("write_policy", "understanding_policy", "review")
# Files after which no more are counted: somebody's whole home is no folder of notes.
_ENOUGH = 20_000


class Initialised(Saved, kw_only=True):
    """A vault that was made, or one that was there already and lacked nothing (`created` is empty then)."""

    root: str
    name: str
    created: tuple[str, ...]
    repository: str | None
    around: str = ""
    """The folder of notes that is served where it is."""


class Option(Struct, kw_only=True):
    """One setting with its value, its default and what it is for."""

    name: str
    value: Any
    default: Any
    sentence: str


class ShownSettings(Saved, kw_only=True):
    """The settings of a vault and of this machine; `changed` names the one of the vault that was set."""

    path: str
    changed: str | None = None
    results: tuple[Option, ...]
    machine_path: str
    machine: tuple[MachineOption, ...]


def init(
    path: str | Path,
    *,
    name: str = "",
    description: str = "",
    separate: bool = False,
    no_git: bool = False,
    notes: str = "",
    commit: bool = False,
    who: str = "owner",
    clock: Clock | None = None,
) -> Initialised:
    """Make the folder at `path` (made if need be) a vault, with git around it, and commit what was written.

    What is there already is left as it is: a second `init` adds only what is missing. `git init` is run unless the
    folder is in a work tree already. Where somebody has committed to that repository, nothing is committed there unasked:
    `separate` makes a repository of its own inside it, `commit` keeps the vault in it. No vault is made inside another one.

    A folder that has notes already asks for `notes`, and is left alone without it: `here` serves them where they are and
    makes the vault in a folder of its own beside them, in a repository of its own unless `commit` has it kept in the one
    that the notes are in; `own` makes a vault that knows only what lies below `vault/`.
    """
    root, around, separate = _made_root(Path(path).expanduser(), notes, separate=separate, commit=commit)
    repo, absence = (git.find(root), "") if no_git else _repository(root, separate)
    served = ""
    is_new = not (root / layout.SETTINGS_FILE).exists()
    with Context(root, Who(origin=who), clock) as vault:
        if is_new and (root / layout.CACHE).is_dir():
            # Left over from a vault that was deleted: what its indexes know of is not missing from this one.
            vault.index.refresh(confirm=True)
        if around:
            vault.local.serve_around(str(vault.root.parent))
            repo = vault.repo
        called = vault.root.parent.name if around else vault.root.name
        with writing(vault, "init") as op:
            created = list(_missing_files(op, around)) + list(_missing_records(op, name or called, description))
            saved = op.carry_out(name or called)
        if around:
            # With the settings that stand there now: the pages tell of the notes around, too.
            with vault.reopened() as again:
                first_pages(again)
                served = str(again.notes_folder or "")
        else:
            first_pages(vault)
        title = _workspace_name(vault) or name or called
        local_trust.vouch(vault.root)
    remarks = (
        *filter(None, [absence]),
        *_pushed_with(repo),
        *(() if around else _note_hints(root, created)),
    )
    repository = str(repo.work_tree) if repo else None
    if no_git and repo is None:
        # That nothing is committed was asked for, and how to have git is no news.
        saved = replace(saved, reason="")
    return Initialised(
        **saved.fields(*remarks), root=str(vault.root), name=title, created=tuple(created),
        repository=repository, around=served,
    )  # fmt: skip


def _made_root(folder: Path, notes: str, *, separate: bool, commit: bool) -> tuple[Path, bool, bool]:
    """The root of the vault for a folder, made if need be; whether it serves the notes around it, and whether it is to have a
    repository of its own. Raises UsageError and Refused as `init` does.
    """
    _require_choice(folder, notes)
    home = home_in(folder)
    if notes == "own" and home is not None:
        raise Refused(f"the vault in {home.name}/ serves this folder", f"take `notes` out of {home.name}/{layout.SETTINGS_FILE}")
    if notes == "here" or home is not None:
        folder.mkdir(parents=True, exist_ok=True)
        return _made_home(folder, home, commit=commit), True, home is None and (separate or not commit)
    _require_place(folder, separate=separate, commit=commit)
    folder.mkdir(parents=True, exist_ok=True)
    return folder, False, separate


def _require_choice(root: Path, notes: str) -> None:
    """Raise UsageError for what is no folder, and where it is not clear what becomes of the notes in it."""
    if root.exists() and not root.is_dir():
        raise UsageError(f"{root} is a file", "name a folder")
    if notes not in ("", *NOTES):
        raise UsageError(
            f"notes `{one_line(notes, 40)}` is none of {', '.join(NOTES)}",
            f"say {option('notes', 'here')} or {option('notes', 'own')}",
        )
    if not notes and (described := notes_in(root)):
        apart = f"{option('notes', 'own')} leaves them out"
        hint = f"{option('notes', 'here')} serves them where they are, ours in {free_home(root).name}/; {apart}"
        raise UsageError(f"{described}: say whether they are to be served", hint)


def _require_place(root: Path, *, separate: bool, commit: bool) -> None:
    """Raise Refused inside of another vault, and UsageError where it is not clear which repository keeps a new vault."""
    outer = next((above for above in root.resolve().parents if (above / layout.SETTINGS_FILE).is_file()), None)
    if outer is not None and not (root / layout.SETTINGS_FILE).exists():
        raise Refused(f"{root} lies in the vault {outer}", "name a folder outside of it, or keep what you know in that one")
    repo = None if commit else repository_around(root)
    if repo is None:
        return
    if separate and repo.prefix:
        return
    if not repo.prefix:
        hint = f"{option('commit', True)} keeps the vault in it; or name a folder in it with {option('separate', True)}"
        raise UsageError(f"{root} is a repository that somebody has committed to", hint)
    hint = f"{option('separate', True)} gives the vault a repository of its own, {option('commit', True)} keeps it in that one"
    raise UsageError(f"{root} is in the repository {repo.work_tree}, which somebody has committed to", hint)


def repository_around(root: Path) -> git.Repo | None:
    """The repository with a person's commits that a new vault at `root` would belong to; None where there is none."""
    if (root / layout.SETTINGS_FILE).exists() or home_in(root) is not None:
        return None
    existing = next(folder for folder in (root.absolute(), *root.absolute().parents) if folder.is_dir())
    repo = git.find(existing)
    if repo is None or git.head(repo).commit is None:
        return None
    # What is still to be made lies below what is there.
    return repo if existing == root.absolute() else replace(repo, prefix=repo.prefix or "new/")


def notes_in(root: Path) -> str:
    """A description of the notes in a folder that is no vault yet; empty for a folder without notes.

    It is one where Obsidian keeps its settings beside notes, or where at least 20 markdown files are most of all files.
    """
    if (root / layout.SETTINGS_FILE).exists() or home_in(root) is not None or not root.is_dir():
        return ""
    notes = files = 0
    for folder, below, names in os.walk(root):
        # Another vault's notes are served by that one.
        if layout.SETTINGS_FILE in names:
            below.clear()
            continue
        below[:] = [name for name in below if not layout.ignored_folder(name) and (folder, name) != (str(root), layout.VAULT)]
        names = [name for name in names if not layout.ignored_name(name)]
        files += len(names)
        notes += sum(map(is_note, names))
        if files > _ENOUGH:
            break
    if notes and (root / ".obsidian").is_dir():
        return f"{root} is an Obsidian vault with {counted(notes, 'note')}"
    return f"{root} holds {counted(notes, 'note')}" if notes >= _MANY and 2 * notes > files else ""


def free_home(root: Path) -> Path:
    """A folder for a vault beside existing notes: the first name that is free."""
    taken = {layout.name_key(name) for name in os.listdir(root)} if root.is_dir() else set()
    free = next((name for name in layout.HOMES if name not in taken), None)
    if free is None:
        raise Refused(f"{root} has {' and '.join(layout.HOMES)} already", "rename one of them")
    return root / free


def _made_home(root: Path, home: Path | None, *, commit: bool) -> Path:
    """The folder of the vault beside existing notes, made if need be; excluded from their git unless it is to be committed."""
    if (root / layout.SETTINGS_FILE).exists():
        raise Refused(f"{root} is a vault with notes of its own", "name the folder of notes")
    if home is not None:
        return home
    new_home = free_home(root)
    new_home.mkdir()
    repo = git.find(root)
    if repo is not None and not commit:
        # In this clone's own list: their `.gitignore` is theirs, and tracked.
        rules = repo.common_dir / "info" / "exclude"
        rules.parent.mkdir(exist_ok=True)
        before = rules.read_bytes() if rules.exists() else b""
        gap = b"\n" if before and not before.endswith(b"\n") else b""
        rules.write_bytes(before + gap + f"/{repo.prefix}{new_home.name}/\n".encode())
    return new_home


@verb
@of_the_whole
def config(
    vault: Context,
    name: str = "",
    value: str | None = None,
    *,
    machine: Mapping[str, str] | None = None,
    folder: str | None = None,
    remove: bool = False,
) -> ShownSettings:
    """All settings of the vault and of this machine, or one; with `value`, set it in `vault.toml`, every other byte kept.

    `machine` gives settings of this machine, which go to `_config.json`; an empty text takes one out of it. The name `global`
    is this user's choice of the vault that is found where no folder above is one: its folder, or '' for none. Raises Refused for
    what only a person may set, where no person asks: who is believed, where texts go, and that agents' memories wait no more.

    The name `vault` is another vault of this user, whose own name is the `value`: with `folder` it is there, with `remove` it is
    not any more, and reading verbs may ask it too.
    """
    saved = Saved()
    remarks: tuple[str, ...] = ()
    if name == global_choice.NAME and value is not None:
        remarks = global_choice.make_global(vault, value)
    elif name == other_vaults.NAME:
        remarks = _named_vault(vault, value or "", folder, remove=remove)
        name = machine_names.VAULTS
    elif folder is not None or remove:
        raise UsageError("a folder is given to no vault's name", beside.which(()))
    elif value is not None:
        if name in _POLICIES and _asks_for_less(vault, name, value):
            person.require_person(vault, f"set {name} to {one_line(value, 20)}")
        if machine_settings.known(name):
            raise machine_settings.not_here(name)
        if vault.settings_fault:
            raise UsageError(f"nothing was set: {vault.settings_fault}", f"mend {layout.SETTINGS_FILE} in an editor first")
        with writing(vault, "config") as op:
            before = writer.read(vault.root, layout.SETTINGS_FILE)
            after = _with_setting(before.decode("utf-8"), name, value).encode("utf-8")
            _require_loadable(after.decode("utf-8"), name)
            op.rewrite(layout.SETTINGS_FILE, before, after)
            saved = op.carry_out(f"{name} = {one_line(value, 40)}")
        vault = vault.reopened()
    remarks += machine_settings.change(vault, machine) if machine else ()
    results = () if machine and not name else tuple(option for option in _options(vault) if name in ("", option.name))
    others = global_choice.option(vault.environ), other_vaults.option(vault)
    of_machine = (*machine_settings.options(vault.machine), *others)
    ours = tuple(option for option in of_machine if name in ("", option.name))
    if not results and not ours:
        raise UsageError(f"there is no setting `{one_line(name, 40)}`", f"{step('config')} lists them")
    fault = (vault.machine.fault,) if vault.machine.fault else ()
    return ShownSettings(
        **saved.fields(*remarks, *fault),
        path=str(vault.root / layout.SETTINGS_FILE),
        changed=name if value is not None and results else None,
        results=results,
        machine_path=str(vault.local.place / layout.CONFIG_FILE),
        machine=ours,
    )


def _named_vault(vault: Context, name: str, folder: str | None, *, remove: bool) -> tuple[str, ...]:
    """Name another vault, take its name away, or look whether there is one of that name."""
    if remove and folder is not None:
        raise UsageError("a vault is named and taken away at once", "leave one of both away")
    if remove:
        other_vaults.take_away(vault, name)
    elif folder is not None:
        return other_vaults.name_vault(vault, name, folder)
    elif name and name not in vault.machine.vaults:
        raise other_vaults.unknown(vault, name)
    return ()


def _asks_for_less(vault: Context, name: str, value: str) -> bool:
    """Whether less would wait for a person with a value of one of these settings."""
    if name != "review":
        return value != "review"
    return not asked_reviews.of_settings(vault.settings) <= asked_reviews.of_settings(
        replace(vault.settings, review=tuple(_items(value)))
    )


def _require_loadable(text: str, name: str) -> None:
    """UsageError where a value does not fit its option: it is the value that is to be mended, not the file."""
    hint = f"{step('config', name=name)} shows what it is for"
    try:
        _, unknown = settings.load_known(text)
    except ConfigError as fault:
        raise UsageError(fault.message.removeprefix(f"{layout.SETTINGS_FILE}: "), hint) from fault
    if wrong := next((fault for fault in unknown if fault.place == name), None):
        raise UsageError(wrong.message, hint)


def default_settings() -> str:
    """The text of a new `vault.toml`: every option with its sentence, commented out, and the perspectives."""
    default = settings.Config()
    lines = ["# Settings of this vault. It is tracked: never put a secret, an address or a provider here.", ""]
    for name, sentence in settings.sentences().items():
        if name not in settings.TABLES:
            lines += [f"# {sentence}", f"# {name} = {_toml(getattr(default, name))}", ""]
    lines += [
        "# More types, or other weights for the built-in ones:",
        "# [types.recipe]",
        '# class = "observation"',
        "# weight = 1.2",
        "",
        f"# {settings.sentences()['recall']}",
        "# [recall]",
        f"# strong_models = {_toml(default.recall.strong_models)}",
        "",
    ]
    lines += [f"# {settings.sentences()['perspectives']}", "[perspectives]"]
    lines += [f"{name} = {_toml(text)}" for name, text in settings.PERSPECTIVES.items()]
    return "\n".join(lines) + "\n"


def _repository(root: Path, separate: bool) -> tuple[git.Repo | None, str]:
    """The repository that the vault is in, made if there is none, and one line if that cannot be."""
    repo = git.find(root)
    if repo is not None and not (separate and repo.prefix):
        return repo, ""
    try:
        return git.init(root), ""
    except GitError as fault:
        return None, f"{fault.message}: the notes are kept without history"


def _missing_files(op: Operation, around: bool) -> Iterator[str]:
    root = op.vault.root
    usual = default_settings()
    texts = {
        layout.SETTINGS_FILE: usual.replace('# notes = ""', 'notes = ".."', 1) if around else usual,
        f"{layout.TEMPLATES}/content-policy.md": content_policy(),
    }
    for path, text in texts.items():
        if not (root / path).exists():
            op.page(path, text)
            yield path
    for path, patterns in zip(layout.GIT_FILES, (IGNORED, (ATTRIBUTES,)), strict=True):
        before = writer.read(root, path) if (root / path).exists() else b""
        lines = {line.strip() for line in before.decode("utf-8", "replace").split("\n")}
        missing = [line for line in patterns if line not in lines]
        if missing:
            gap = b"\n" if before and not before.endswith(b"\n") else b""
            op.page(path, (before + gap).decode("utf-8", "surrogateescape") + "\n".join(missing) + "\n")
            yield path


def _missing_records(op: Operation, name: str, description: str) -> Iterator[str]:
    vault = op.vault
    catalog = vault.index.catalog
    if not list(catalog.of_class(RecordClass.WORKSPACE)):
        yield op.create(Workspace(id=new_id(), type="workspace", name=name, description=description, created=vault.now()))
    for starter in starters():
        if not catalog.of_class(RecordClass.UNDERSTANDING, starter.type):
            yield op.create(_first(vault, starter))


def _first(vault: Context, starter: Starter) -> Record:
    who = replace(vault.who, origin="owner")
    return Understanding(
        id=new_id(), type=starter.type, title=starter.title, summary=starter.summary, body=starter.body, generation=0,
        created=vault.now(), **who.provenance(),
    )  # fmt: skip


def _workspace_name(vault: Context) -> str:
    return next((entry.text("name") for entry in vault.index.catalog.of_class(RecordClass.WORKSPACE)), "")


def _pushed_with(repo: git.Repo | None) -> list[str]:
    """The warning that a vault inside a repository with a remote deserves."""
    if repo is None or not repo.prefix or not git.remotes(repo):
        return []
    where = f"this vault is a folder of {repo.work_tree}, which has a remote: memory will be pushed with that repository"
    return [f"{where}; {step('init', separate=True)} gives it a repository of its own"]


def _note_hints(root: Path, created: Sequence[str]) -> Iterator[str]:
    """Hints for the notes of a folder that Obsidian knew before: they stand beside `vault/`, outside the memory."""
    if layout.SETTINGS_FILE in created and (root / ".obsidian").is_dir():
        copies = f"{step('import_markdown', source=...)} copies those of a folder beside it"
        takes = f"{step('import_markdown', source=..., in_place=True)} takes those that you move below it"
        yield f"only notes below {layout.VAULT}/ are the memory: {copies}, and {takes}"


def _options(vault: Context) -> Iterator[Option]:
    default = settings.Config()
    for name, sentence in settings.sentences().items():
        value, usual = getattr(vault.settings, name), getattr(default, name)
        if isinstance(value, Registry):
            value, usual = sorted(value.specs.keys() - usual.specs.keys()), []
        elif isinstance(value, settings.RecallSettings):
            value, usual = to_builtins(value), to_builtins(usual)
        yield Option(name=name, value=value, default=usual, sentence=sentence)


def _with_setting(text: str, name: str, value: str) -> str:
    known = {option for option in settings.sentences() if option not in settings.TABLES}
    if name not in known:
        raise UsageError(f"`{one_line(name, 40)}` cannot be set here", f"the options are {', '.join(sorted(known))}")
    document = tomlkit.parse(text)
    parsed = _typed(value, getattr(settings.Config(), name))
    if name in document or not document.body:
        document[name] = parsed
        return tomlkit.dumps(document)
    # A new key must stand before the first table, or it would become the table's.
    line = f"{name} = {tomlkit.item(parsed).as_string()}\n"
    text += "\n" if text and not text.endswith("\n") else ""
    first_table = next((n for n, row in enumerate(text.split("\n")) if row.lstrip().startswith("[")), None)
    rows = text.split("\n")
    return text + line if first_table is None else "\n".join(rows[:first_table]) + f"\n{line}\n" + "\n".join(rows[first_table:])


def _typed(value: str, default: Any) -> Any:
    """The value that a command line's text means for an option of the default's type; wrong ones are named on loading."""
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(value.lower(), value)
    if isinstance(default, (int, float)):
        try:
            return type(default)(value)
        except ValueError:
            return value
    return _items(value) if isinstance(default, tuple) else value


def _items(value: str) -> list[str]:
    """The items of a list as people write it, `a, b`, and as programs and vault.toml do, `["a", "b"]`."""
    if value.lstrip().startswith("["):
        with suppress(ValueError):
            return [str(text) for text in read_own(value.encode())]
    return [part.strip() for part in value.split(",") if part.strip()]


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return f"{value:g}" if isinstance(value, float) else str(value) if isinstance(value, int) else f'"{value}"'
