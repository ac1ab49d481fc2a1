"""Settings of this machine (`_config.json`, overridden by the environment): who embeds, where, by which key."""

from __future__ import annotations

import json
import re
import urllib.parse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import field
from msgspec.structs import asdict, replace

from vault_tool.errors import ConfigError
from vault_tool.model import served_person
from vault_tool.util import atomic
from vault_tool.util.folder import opened
from vault_tool.util.hints import step
from vault_tool.util.json_text import read_own
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line

if TYPE_CHECKING:
    from vault_tool.model.served_person import ServedPerson

PROVIDERS = ("auto", "ollama", "openai", "local", "none")
EXACT = "exact"
OLLAMA_HOST = "http://localhost:11434"
OPENAI_URL = "https://api.openai.com/v1"

# What a cognitive memory calls these options, whose file may be put here as it is.
_FORMER = {
    "provider": ("embedding_provider",), "openai_key": ("openai_api_key",), "model": ("ollama_model", "openai_model"),
}  # fmt: skip

# How the projects of folders are called, by the folder: no setting of the lists, for it names several.
PROJECTS = "projects"

# The people whom a served vault knows by tokens of their own, by name: no setting of the lists either.
PEOPLE = "people"

# Ends the addresses under which the commits of such people are made.
SERVED_DOMAIN = "@people.invalid"

# The person's other vaults: their folders by name.
VAULTS = "vaults"
_VAULT_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}", re.ASCII)
# What answers call this vault and the global one, and what asks all of them.
TAKEN = ("repo", "global", "all")

# What more waits for a person here: `vault.toml` has an option of the same name.
REVIEW = "review"

_FILE_MODE = 0o600
_LONGEST = 2000

# Most bytes of the file.
LONGEST = 2**16


class Key:
    """A secret that no print, log, traceback or JSON shows; only `reveal` gives it."""

    __slots__ = ("_text",)

    def __init__(self, text: str = "") -> None:
        self._text = text

    def reveal(self) -> str:
        """The key itself, for the one call that needs it."""
        return self._text

    def __bool__(self) -> bool:
        return bool(self._text)

    def __repr__(self) -> str:
        return "Key('***')" if self._text else "Key('')"

    def __str__(self) -> str:
        return "***" if self._text else ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> Any:
        raise TypeError("a key is not written anywhere")


class Option(Struct):
    """An option for its reader: its sentence, the environment variable that overrides it, and the values that it may have."""

    sentence: str
    variable: str = ""
    choices: tuple[str, ...] = ()


class Machine(Struct):
    """Settings of `_config.json` and the environment: all that belongs to this machine, not to the vault, secrets too."""

    provider: str = "auto"
    model: str = ""
    ollama_host: str = OLLAMA_HOST
    openai_key: Key = Key()
    openai_url: str = OPENAI_URL
    models: str = ""
    vectors: str = EXACT
    vectors_token: Key = Key()
    owners: tuple[str, ...] = ()
    owners_sign: str = "off"
    trusted: tuple[str, ...] = ()
    sync_every: int = 0
    unattended: str = "off"
    owner: str = "on"
    projects: Mapping[str, str] = field(default_factory=dict)
    """How the projects of folders are called, by the folder's path."""
    people: Mapping[str, ServedPerson] = field(default_factory=dict)
    """The people and agents who may ask a served vault by tokens of their own, by name."""
    vaults: Mapping[str, str] = field(default_factory=dict)
    """The person's other vaults that may be asked beside this one: their folders by name; no setting of the lists."""
    review: tuple[str, ...] = ()
    """More types or classes of which agents' memories wait for a person here than `vault.toml` says; no setting of the lists."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Where each option that was set was set: `_config.json` or a variable's name."""
    fault: str = ""
    """Why nothing of it is used, where it cannot be read; the provider is then `none`."""

    def __eq__(self, other: object) -> bool:
        """Whether the settings are the same, wherever they were set."""
        return isinstance(other, Machine) and asdict(self) | {"sources": other.sources} == asdict(other)

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, option) for option in _OPTIONS))


_OPTIONS: Mapping[str, Option] = {
    "provider": Option("Who turns texts into vectors; auto takes what is at hand.", "VAULT_PROVIDER", PROVIDERS),
    "model": Option("The model of the provider; empty for its usual one.", "VAULT_EMBEDDING_MODEL"),
    "ollama_host": Option("Where Ollama answers.", "OLLAMA_HOST"),
    "openai_key": Option("The key for OpenAI.", "OPENAI_API_KEY"),
    "openai_url": Option("Where OpenAI, or what speaks like it, answers.", "OPENAI_BASE_URL"),
    "models": Option("The folder that holds all-MiniLM-L6-v2; empty for Chroma's own.", "VAULT_MODELS"),
    "vectors": Option("Who answers by vectors: exact, chroma, or a Chroma server's URL.", "VAULT_VECTORS"),
    "vectors_token": Option("The token for a Chroma server.", "VAULT_VECTORS_TOKEN"),
    "owners": Option("The owner's addresses in commits; none: git's own user.email.", "VAULT_OWNERS"),
    "owners_sign": Option("Whether only the owner's signed commits count.", "VAULT_OWNERS_SIGN", ("on", "off")),
    "trusted": Option("People whose word is told as theirs: addresses, or *@example.org."),
    "sync_every": Option("After how many seconds a process in the background syncs; 0 for never."),
    "unattended": Option("Whether commands answer for a person where none stands at them.", "", ("on", "off")),
    "owner": Option("Whether a process may be started in the background.", "VAULT_OWNER", ("on", "off")),
}


def sentences() -> dict[str, str]:
    """Each option with its sentence."""
    return {name: option.sentence for name, option in _OPTIONS.items()}


def variable_of(name: str) -> str:
    """The environment variable that overrides an option."""
    return _OPTIONS[name].variable


def read(path: Path, environ: Mapping[str, str], *, own_file: bool = True) -> Machine:
    """The settings of the file at `path` (which need not be there) under those of the environment.

    Without `own_file` the file is left unread. Raises ConfigError naming all faults at once, and never a value that
    may be a secret.
    """
    faults: list[str] = []
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    table = _table(path, faults) if own_file else {}
    projects = _projects(table.pop(PROJECTS, {}), path.name, faults)
    review = _words(table.pop(REVIEW, []), path.name, faults)
    people = _served(table.pop(PEOPLE), path.name, faults) if PEOPLE in table else {}
    vaults = _vaults(table.pop(VAULTS, {}), path.name, faults)
    for name, value in _translated(table, environ.get(variable_of("provider"), "").strip()).items():
        if name in _OPTIONS:
            values[name], sources[name] = value, path.name
        else:
            faults.append(f"{path.name}: unknown option `{one_line(str(name), 40)}`")
    for name in _OPTIONS:
        variable = variable_of(name)
        if variable and (from_environment := environ.get(variable, "").strip()):
            values[name], sources[name] = from_environment, variable
    checked = {name: _checked(name, value, sources[name], faults) for name, value in values.items()}
    if faults:
        raise ConfigError("; ".join(faults[:20]), f"mend it, or set it with {step('config', provider=...)}")
    return Machine(**checked, projects=projects, vaults=vaults, people=people, review=review, sources=sources)


def write(path: Path, changes: Mapping[str, str]) -> None:
    """Set options in the file at `path` (readable by its owner alone); an empty value takes an option out.

    Raises ConfigError when the file or a value cannot be used; nothing is written then.
    """
    faults: list[str] = []
    table = _table(path, faults)
    for name, value in changes.items():
        for old in _FORMER.get(name, ()):
            table.pop(old, None)
        if value and _checked(name, value, f"--{name.replace('_', '-')}", faults) is not None:
            table[name] = value
        elif not value:
            table.pop(name, None)
    if faults:
        raise ConfigError("; ".join(faults[:20]), "nothing was written")
    _put(path, table)


def name_project(path: Path, folder: str, name: str) -> None:
    """Say in the file at `path` how the project of a folder is called; an empty name takes the folder out. Raises ConfigError."""
    faults: list[str] = []
    table = _table(path, faults)
    projects = _projects(table.get(PROJECTS, {}), path.name, faults)
    if faults:
        raise ConfigError("; ".join(faults), "nothing was written")
    projects.pop(folder, None)
    projects |= {folder: name} if name else {}
    _put(path, {**table, PROJECTS: projects} if projects else {key: value for key, value in table.items() if key != PROJECTS})


def set_person(path: Path, name: str, person: ServedPerson | None) -> None:
    """Say in the file at `path` what a person is known by; None takes them out. Raises ConfigError."""
    faults: list[str] = []
    table = _table(path, faults)
    people = {known.name: known.row() for known in _served(table.get(PEOPLE, {}), path.name, faults).values()}
    if faults:
        raise ConfigError("; ".join(faults), "nothing was written")
    people.pop(name, None)
    people |= {} if person is None else {person.name: person.row()}
    _put(path, {**{key: value for key, value in table.items() if key != PEOPLE}, **({PEOPLE: people} if people else {})})


def name_vault(path: Path, name: str, folder: str) -> None:
    """Say in the file at `path` where the vault called `name` is; an empty folder takes the name out. Raises ConfigError."""
    faults: list[str] = []
    table = _table(path, faults)
    vaults = _vaults(table.get(VAULTS, {}), path.name, faults)
    vaults = {**vaults, name: folder} if folder else {other: place for other, place in vaults.items() if other != name}
    _vaults(vaults, path.name, faults)
    if faults:
        raise ConfigError("; ".join(faults), "nothing was written")
    _put(path, {**table, VAULTS: vaults} if vaults else {key: value for key, value in table.items() if key != VAULTS})


def vault_name_fault(name: str) -> str:
    """Why a vault cannot be called so; empty where it can."""
    if name in TAKEN:
        return f"`{name}` means something else already"
    if _VAULT_NAME.fullmatch(name):
        return ""
    return f"`{one_line(name, 40)}` is no name of a vault: at most 40 small letters, digits, - and _, as in team"


def _put(path: Path, table: Mapping[str, Any]) -> None:
    data = json.dumps(table, indent=2, ensure_ascii=False).encode() + b"\n"
    atomic.write(path, data, mode=_FILE_MODE)


def _projects(value: Any, source: str, faults: list[str]) -> dict[str, str]:
    if isinstance(value, dict) and all(isinstance(name, str) and name.strip() for name in value.values()):
        return dict(value)
    faults.append(f"{source}: `{PROJECTS}` must be names by folders")
    return {}


def _served(value: Any, source: str, faults: list[str]) -> dict[str, ServedPerson]:
    try:
        return served_person.read_people(value)
    except ValueError as fault:
        faults.append(f"{source}: `{PEOPLE}` {fault}")
        return {}


def _vaults(value: Any, source: str, faults: list[str]) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(folder, str) for folder in value.values()):
        faults.append(f"{source}: `{VAULTS}` must be folders by names")
        return {}
    folders = {name: str(Path(folder).expanduser()) for name, folder in value.items()}
    faults += [f"{source}: `{VAULTS}`: {fault}" for name in folders if (fault := vault_name_fault(name))]
    faults += [
        f"{source}: `{VAULTS}`: {name} must be a whole path"
        for name, folder in folders.items()
        if not Path(folder).is_absolute() or "\0" in folder
    ]
    return folders


def _words(value: Any, source: str, faults: list[str]) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split(",")
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return tuple(filter(None, (word.strip() for word in value)))
    faults.append(f"{source}: `{REVIEW}` must be a list of types or classes")
    return ()


def unusable(fault: str) -> Machine:
    """The settings where there are faults: nothing is sent anywhere until they are mended."""
    return replace(Machine(provider="none"), fault=fault)


def is_loopback(url: str) -> bool:
    """Whether an address is this machine itself."""
    host = (urllib.parse.urlsplit(url).hostname or "").lower()
    return host in ("localhost", "::1") or _loopback_number(host)


def _loopback_number(host: str) -> bool:
    parts = host.split(".")
    return len(parts) == 4 and parts[0] == "127" and all(part.isdigit() for part in parts)


def _table(path: Path, faults: list[str]) -> dict[str, Any]:
    with atomic.storage(path.name, doing="read"), opened(path.parent) as folder:
        data = folder.read(path.name)
    if data is not None and len(data) > LONGEST:
        faults.append(f"{path.name} has more than {LONGEST // 2**10} KiB")
        return {}
    try:
        table = read_own(data) if data and data.strip() else {}
    except ValueError:
        # The text is not quoted: a key may stand at the very place of the fault.
        faults.append(f"{path.name} is not JSON")
        return {}
    if isinstance(table, dict):
        return table
    faults.append(f"{path.name} must be an object: {{...}}")
    return {}


def _translated(table: Mapping[str, Any], provider: str) -> dict[str, Any]:
    """A file's options under our names, also where it is a cognitive memory's; our own win. The model is the provider's."""
    former = {old for names in _FORMER.values() for old in names}
    settings = {name: value for name, value in table.items() if name not in former}
    for name, old in (("provider", "embedding_provider"), ("openai_key", "openai_api_key")):
        if table.get(old) is not None:
            settings.setdefault(name, table[old])
    model = table.get(f"{provider or settings.get('provider')}_model")
    if model is not None:
        settings.setdefault("model", model)
    return settings


def _checked(name: str, value: Any, source: str, faults: list[str]) -> Any:
    """The value as the program uses it, or None with the fault named; `source` says where it was set."""
    where = f"{source}: `{name}`" if source != name else f"`{name}`"
    if isinstance(value, bool) and name in ("owners_sign", "unattended"):
        value = "on" if value else "off"
    if isinstance(value, list) and name in ("owners", "trusted") and all(isinstance(text, str) for text in value):
        value = ",".join(value)
    if not isinstance(value, str) or len(value) > _LONGEST or not value.isprintable():
        faults.append(f"{where} must be a text of one line")
        return None
    choices = _OPTIONS[name].choices
    if choices and value not in choices:
        faults.append(f"{where} must be one of {', '.join(choices)}, not {one_line(value, 40)!r}")
        return None
    reader = _READERS.get(name)
    try:
        return reader(value.strip()) if reader else value.strip()
    except ValueError as fault:
        faults.append(f"{where} {fault}")
        return None


def _key(text: str) -> Key:
    if not text.isascii() or " " in text:
        raise ValueError("must be the key alone, without spaces")
    return Key(text)


def readable_host(text: str) -> str:
    """An address of Ollama's in the forms that its own programs take: `host`, `host:port` or a URL."""
    url = _url(text if "://" in text else f"http://{text}")
    parts = urllib.parse.urlsplit(url)
    port = parts.port or (11434 if "://" not in text else {"http": 80, "https": 443}[parts.scheme])
    # Servers are told to listen everywhere by this address; a client means this machine by it.
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(str(parts.hostname), str(parts.hostname))
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}{parts.path.rstrip('/')}"


def _url(text: str) -> str:
    parts = urllib.parse.urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be an address that begins with http:// or https://")
    if parts.username or parts.password:
        raise ValueError("must not carry a name or a password")
    _ = parts.port  # raises ValueError for one that is none
    return text.rstrip("/")


def _vectors(text: str) -> str:
    if text in (EXACT, "chroma"):
        return text
    url = _url(text)
    parts = urllib.parse.urlsplit(url)
    if parts.query or parts.fragment or len([part for part in parts.path.split("/") if part]) not in (0, 2):
        raise ValueError("must be exact, chroma, or an address that ends with its port or with /TENANT/DATABASE")
    return url


def _addresses(text: str) -> tuple[str, ...]:
    addresses = [part.strip().lower() for part in text.split(",")]
    if not all(part and not set(part) & set(" <>") for part in addresses):
        raise ValueError("must be addresses as they stand in commits, with commas between them")
    if any(address.endswith(SERVED_DOMAIN) for address in addresses):
        raise ValueError("must be no address that a token of a served vault writes under")
    return tuple(dict.fromkeys(addresses))


def _seconds(text: str) -> int:
    if not text.isdecimal() or not (int(text) == 0 or _SOONEST <= int(text) <= _LATEST):
        raise ValueError(f"must be a number of seconds from {_SOONEST} to {_LATEST}, or 0")
    return int(text)


# Seconds between two syncs.
_SOONEST, _LATEST = 10, 86_400

_PERSON = re.compile(r"(?:\*|[^@\s*<>,]+)@[^@\s*<>,]+\.[^@\s*<>,.]+")


def _people(text: str) -> tuple[str, ...]:
    people = [part.strip().lower() for part in text.split(",")]
    if not all(map(_PERSON.fullmatch, people)):
        raise ValueError("must be addresses as they stand in commits, or *@example.org, with commas between them")
    return tuple(dict.fromkeys(people))


def _folder(text: str) -> str:
    return str(Path(text).expanduser())


_READERS: Mapping[str, Callable[[str], Any]] = {
    "openai_key": _key,
    "vectors_token": _key,
    "ollama_host": readable_host,
    "openai_url": _url,
    "vectors": _vectors,
    "models": _folder,
    "owners": _addresses,
    "trusted": _people,
    "sync_every": _seconds,
}
