"""Finds likely secrets in a text that is about to be written: line, kind and a masked value, never the value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import pairwise

from vault_tool.files import credentials
from vault_tool.util.structs import Struct
from vault_tool.util.text import content_hash

# At the end of a line it says that what looks like a secret there is none, or is meant to be kept.
MARKER = "<!-- vt: allow-secret -->"

_ALLOWED = re.compile(r"(?:vt: ?allow-secret|pragma: ?allowlist[ -]secret)[ \t]*(?:-->|\*/)?[ \t\r\"']*$")
# What documents write where a password belongs: no value that ever opened anything of worth.
_PLACEHOLDER = re.compile(
    r"(?i:pass(?:word|wd)?|pwd?|secret|token|changeme|change[-_]me|replace[-_]me|placeholder|redacted|your[-_][a-z_-]{2,40}"
    r"|<[\w .-]+>|\[[\w .-]+\]|(?:[a-z]{2,7}[-_]){0,3}(?:x{3,}|\*{3,}|\.{3}|…))"
)

# The words of which sample passwords are made, once figures and signs that stand for letters are read as those letters.
_SAMPLE = re.compile(
    r"(?:my|your|the|a|an|new|old|test|demo|dummy|fake|super|very|some|user|admin|root|db|database|qwerty|abc|asdf|foo|bar|welcome"
    r"|letmein|sample|example|in|valid|invalid|wrong|incorrect|strong|complex|default|temp|initial|passw?o?r?d|passaword|secrets?|key|token"
    r"|api|pass|word|pw|[-_.])+"
)

_LEET = str.maketrans("013457@$!2", "oieastasia")
_PADDING = re.compile(r"[\d!@#$%^&*?.]{0,6}$")

# Parts, in lower case, of credentials that the documents of Stripe and of JSON web tokens print for everybody.
_DOCUMENTED = ("bqokikjovbii2hlwgh4olfq2", "4ec39hqlyjwdarjtt1zdp7dc", "eyjzdwiioiixmjm0nty3odkw", "eyjzb21lijoicgf5bg9hzcj")

# Hosts that are kept for examples (RFC 2606): no password opens anything there.
_RESERVED = re.compile(r"(?i:(?:[\w-]+\.)*(?:example\.(?:com|net|org)|[\w-]+\.(?:example|test|invalid)))(?![\w-]|\.\w)")

# A longer password of such a host may be a real one of which only the host was changed.
_LONGEST_EXAMPLE = 16

# A quoted text that is a phrase, a short word or the name of something: `"secret": "API_KEY"`.
_NAME = r".* .*|[A-Z]+|[A-Za-z]+(?:[._-][A-Za-z]+)+|(?:V\d)?[A-Z]?[a-z]{0,11}(?:[A-Z][a-z]+)*"

# From this length on a value of small and capital letters, digits and signs is no sample, whatever its words.
_LONGEST_SAMPLE = 13

# As long a password in a URL is one of a document: `u:pw@`, `abc:123@`.
_SHORTEST = 3

# What is counted up in a made-up value, and how much of it at least.
_RUNS = re.compile(r"[a-z]+|[A-Z]+|[0-9]+")
_SHORTEST_RUN = 3

_SHOWN = 4
# Longer lines are looked at in pieces of this many characters, which overlap by more than a key is long.
_LONGEST_LINE = 4_000
_OVERLAP = 1_000


class Secret(Struct):
    """One hit: its line (from 1), what kind it looks like, and at most four of its first characters.

    `value` is for comparing alone: it is in no text form of this object, and must not be shown or stored.
    """

    line: int
    kind: str
    shown: str
    value: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._shown() == other._shown()

    def __hash__(self) -> int:
        return hash(self._shown())

    def __repr__(self) -> str:
        return f"Secret{self._shown()!r}"

    def __rich_repr__(self) -> list[tuple[str, object]]:
        return [("line", self.line), ("kind", self.kind), ("shown", self.shown)]

    def _shown(self) -> tuple[int, str, str]:
        return self.line, self.kind, self.shown


class _Rule(Struct):
    """A format of our own; `hints` are lower-case texts of which one is in each hit, so that most rules need not run.

    `gate`, where there is one, is a cheaper pattern that must match the lower-case text first.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: str
    gate: str = ""
    least: int = 0  # digits that a value in letters of both cases must have; 0: `_is_random` decides


class _Detector(Struct):
    """A detector of the library, with what must be in a text before it is loaded and asked: as of a rule of our own."""

    module: str
    name: str
    kind: str
    hints: tuple[str, ...] = ()
    pattern: str = ""
    gate: str = ""


# Formats that detect-secrets 1.5 does not know. Each has a prefix, so that no hash, UUID or word is taken for one.
_RULES = (
    _Rule("GitHub token", ("github_pat_",), r"github_pat_\w{22,255}"),
    _Rule("Anthropic key", ("sk-ant-",), r"sk-ant-[\w-]{24,}"),
    _Rule("OpenAI key", ("t3blbkfj", "sk-proj-", "sk-svcacct-", "sk-admin-"), r"sk-(?:proj|svcacct|admin|None)-[\w-]{30,}"),
    _Rule("API key", ("sk-or-v1-",), r"sk-or-v1-[0-9a-f]{40,}"),
    _Rule("API key", ("sk-",), r"(?<![\w-])sk-(?=[A-Za-z0-9]*\d)[A-Za-z0-9]{32,}(?![\w-])"),
    _Rule("Google API key", ("aiza",), r"AIza[\w-]{35}(?![\w-])"),
    _Rule("Google OAuth secret", ("gocspx-",), r"GOCSPX-[\w-]{24,}"),
    _Rule("Google access token", ("ya29.",), r"ya29\.[\w-]{20,}"),
    _Rule("Azure client secret", ("q~",), r"(?<![\w.~-])[\w.~-]{3}\dQ~[\w.~-]{31,34}(?![\w.~-])"),
    _Rule("Slack token", ("xapp-", "xoxe"), r"xapp-\d-[A-Z0-9]+-\d+-[0-9a-f]{32,}|xoxe(?:\.xox[bp])?-\d-[\w-]{30,}"),
    _Rule("Stripe key", ("_test_", "_live_", "whsec_"), r"(?<![a-z])[rs]k_(?:test|live)_\w{20,}|whsec_[A-Za-z0-9+/=]{24,}"),
    _Rule("npm token", ("npm_",), r"(?<!\w)npm_[A-Za-z0-9]{36}(?!\w)"),
    _Rule("RubyGems token", ("rubygems_",), r"rubygems_[0-9a-f]{48}"),
    _Rule("crates.io token", ("cio",), r"(?<!\w)cio[A-Za-z0-9]{32}(?!\w)"),
    _Rule("Mailgun key", ("key-",), r"(?<![\w-])key-[0-9a-f]{32}(?!\w)"),
    _Rule("Discord webhook", ("/api/webhooks/",), r"discord(?:app)?\.com/api/webhooks/\d{15,}/[\w-]{50,}"),
    _Rule("Heroku key", ("hrku-",), r"HRKU-[\w-]{30,}"),
    _Rule("DigitalOcean token", ("_v1_",), r"do[opr]_v1_[0-9a-f]{64}"),
    _Rule("Hugging Face token", ("hf_",), r"(?<!\w)(?:hf|api_org)_[A-Za-z]{30,}(?!\w)|(?<!\w)hf_[A-Za-z0-9]{34,}(?!\w)"),
    _Rule("Databricks token", ("dapi",), r"(?<!\w)dapi[0-9a-f]{32}(?:-\d)?(?!\w)"),
    _Rule("Shopify token", ("shpat_", "shpca_", "shppa_", "shpss_"), r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    _Rule("Square token", ("eaaa",), r"(?<!\w)EAAA[\w-]{60}(?!\w)"),
    _Rule("Facebook token", ("eaac",), r"(?<!\w)EAAC[A-Za-z0-9]{80,}"),
    _Rule("New Relic key", ("nrak-",), r"NRAK-[A-Z0-9]{27}"),
    _Rule("Grafana token", ("glsa_", "glc_"), r"glsa_\w{32}_[0-9a-fA-F]{8}|(?<!\w)glc_[A-Za-z0-9+/=]{32,}"),
    _Rule("Vault token", ("hvs.", "hvb."), r"(?<!\w)hv[sb]\.[\w-]{24,}"),
    _Rule("Linear key", ("lin_api_", "lin_oauth_"), r"lin_(?:api|oauth)_[A-Za-z0-9]{40,}"),
    _Rule("Notion token", ("ntn_", "secret_"), r"(?<!\w)(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}(?!\w))"),
    _Rule("Figma token", ("figd_",), r"(?<!\w)figd_[\w-]{40,}"),
    _Rule("Atlassian token", ("atatt3", "atctt3"), r"AT[AC]TT3[\w=-]{60,}"),
    _Rule("Dropbox token", ("sl.",), r"(?<!\w)sl\.[\w-]{120,}"),
    _Rule("Airtable token", ("pat",), r"(?<!\w)pat\w{14}\.[0-9a-f]{64}"),
    _Rule("Asana token", ("2/",), r"(?<!\w)2/\d{16}/\d{16}:[0-9a-f]{32}"),
    _Rule("Groq key", ("gsk_",), r"(?<!\w)gsk_[A-Za-z0-9]{48,}"),
    _Rule("Replicate token", ("r8_",), r"(?<!\w)r8_[A-Za-z0-9]{37}(?!\w)"),
    _Rule("Perplexity key", ("pplx-",), r"pplx-[A-Za-z0-9]{40,}"),
    _Rule("xAI key", ("xai-",), r"(?<!\w)xai-[A-Za-z0-9]{70,}"),
    _Rule("Docker token", ("dckr_",), r"dckr_[po]at_[\w-]{27,}"),
    _Rule("Terraform token", (".atlasv1.",), r"\w{14}\.atlasv1\.[\w-]{60,}"),
    _Rule("Sentry token", ("sntrys_", "sntryu_"), r"sntry[su]_[\w+/=-]{60,}"),
    _Rule("Supabase key", ("sbp_", "sb_secret_"), r"(?<!\w)sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,}"),
    _Rule("PlanetScale token", ("pscale_",), r"pscale_(?:tkn|pw|oauth)_[\w.=-]{32,}"),
    _Rule("Fly token", ("fo1_",), r"(?<!\w)fo1_[\w-]{43}"),
    _Rule("Artifactory key", ("akc",), r"(?<!\w)AKC[A-Za-z0-9]{60,}"),
    _Rule("Tailscale key", ("tskey-",), r"tskey-(?:auth|api|client|scim|webhook)-\w{8,}-[\w-]{20,}"),
    _Rule("NuGet key", ("oy2",), r"(?<!\w)oy2[a-z0-9]{43}(?!\w)"),
    _Rule("recovery key of a disk", ("-",), r"(?<![\d-])\d{6}(?:-\d{6}){7}(?![\d-])"),
    _Rule("private key", ("private key", "putty-user-key", "age-secret-key-"),
          r"BEGIN (?:[A-Z0-9]+ ){0,2}PRIVATE KEY|PuTTY-User-Key-File-\d|AGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    _Rule("bearer token", ("bearer",), r"(?i:bearer) +(?=[\w.~+/-]*\d)(?=[\w.~+/-]*[A-Z])[\w.~+/-]{32,}=*"),
    _Rule("password in a command", ("sshpass",), r"sshpass +-p *(?:'[^'\n]+'|\"[^\"\n]+\"|[^\s$'\"]+)"),
    _Rule("assigned credential", ("secret", "token", "key", "passw", "pwd", "passphrase"),
          r"(?i:(?<![a-z])(?:[\w-]{0,40}[_-])?(?:passw(?:or)?d|passphrase|pwd|(?:api|auth|access|secret|private|client|account)[_-]?"
          r"(?:key|token|secret)|(?:access|auth|api|session|bot|bearer)[_-]?token|token)\b[\"'`]*\s{0,3}(?::=|=>|[:=])\s{0,3}[\"'`]?)"
          r"(?P<value>(?=[^\s\"'`]*[A-Za-z])[A-Za-z0-9+/_=!@#%^&*~-]{16,})(?![\w(\[.{])",
          r"(?:key|token|secret|passwo?r?d|passphrase|pwd)[\"'`]*\s{0,3}[:=][=>]?\s{0,3}[\"'`]?\S{16}"),
    _Rule("assigned password", ("pass", "pwd", "secret"),
          r"(?i:(?<![a-z])(?:[\w-]{0,40}[_-])?(?:pass(?:w(?:or)?d|phrase|code)?|pwd|secret)\b[\"'`*]*(?:\s{0,3}(?::=|=>|[:=])|\s{1,3}is)"
          r"\*{0,2}\s{0,3}[\"'`]?)(?P<value>(?![/.~]|\$[A-Za-z])[A-Za-z0-9+/_=!@#%^&*~.?$-]{8,15})(?![\w+/=!@#%^&*~?$({\[<>-]|\.\w)",
          r"(?:pass(?:wo?r?d|phrase|code)?|pwd|secret)[\"'`*]*\s{0,3}(?::=|=>|[:=]|is)\*{0,2}\s{0,3}[\"'`]?\S{8}", least=2),
)  # fmt: skip

_DETECTORS = (
    _Detector("aws", "AWSKeyDetector", "AWS key", ("akia", "asia", "abia", "acca", "a3t", "aws"),
              r"(?:A3T|ABIA|ACCA|AKIA|ASIA)[0-9A-Z]{13}|(?i:aws[^\n]{0,50}[\"'][\w/+]{40})"),
    _Detector("azure_storage_key", "AzureStorageKeyDetector", "Azure storage key", ("accountkey=",)),
    _Detector("basic_auth", "BasicAuthDetector", "password in a URL", ("://",), r"://[^\s:/@]+:[^\s@]+@"),
    _Detector("discord", "DiscordBotTokenDetector", "Discord token", (), r"[MNO][\w-]{23,25}\.[\w-]{6}\."),
    _Detector("github_token", "GitHubTokenDetector", "GitHub token", ("gho_", "ghp_", "ghr_", "ghs_", "ghu_"),
              r"gh[pousr]_\w{36}"),
    _Detector("gitlab_token", "GitLabTokenDetector", "GitLab token", ("gl", "gr1348941"),
              r"gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent|oas)-[\w-]{20}|GR1348941[\w-]{20}"),
    _Detector("jwt", "JwtTokenDetector", "JSON web token", ("eyj",), r"eyJ[\w=-]+\."),
    _Detector("mailchimp", "MailchimpDetector", "Mailchimp key", ("-us",), r"[0-9a-z]{32}-us\d"),
    _Detector("npm", "NpmDetector", "npm token", ("_authtoken=",)),
    _Detector("openai", "OpenAIDetector", "OpenAI key", ("t3blbkfj",)),
    _Detector("private_key", "PrivateKeyDetector", "private key", ("private key", "putty-user-key")),
    _Detector("pypi_token", "PypiTokenDetector", "PyPI token", ("pypi-ag",)),
    _Detector("sendgrid", "SendGridDetector", "SendGrid key", ("sg.",), r"SG\.[\w-]{22}\."),
    _Detector("slack", "SlackDetector", "Slack token", ("hooks.slack.com/services/", "xox")),
    _Detector("square_oauth", "SquareOAuthDetector", "Square secret", ("sq0csp-",)),
    _Detector("stripe", "StripeDetector", "Stripe key", ("k_live_",)),
    _Detector("telegram_token", "TelegramBotTokenDetector", "Telegram token", (), r"\d:[\w-]{35}"),
    _Detector("twilio", "TwilioKeyDetector", "Twilio key", (), r"(?:AC|SK)[a-z0-9]{32}"),
    _Detector("keyword", "KeywordDetector", "assigned credential", ("key", "pass", "pwd", "secret"), "",
              r"(?:key|pass|pwd|secret)\w*[\"'\]]*\s*(?:=>?|:=?|[=!]=+|,|\()\s*\(?@?[\"']"),
)  # fmt: skip


def scan(text: str, allowed: Sequence[str] = ()) -> list[Secret]:
    """The likely secrets in `text`, at most one a line, in order.

    A hit does not count on a line that ends in a marker, nor where its value stands in such a line (`marked_lines` of this
    text) or in one of the `allowed` texts.
    """
    rules = _applicable(text)
    if not rules:
        return []
    known = [*allowed, *marked_lines(text)]
    hits = (hit for number, line in enumerate(text.split("\n"), 1) if (hit := _hit(rules, number, line, known)))
    return list(hits)


def rules() -> str:
    """A digest of the rules: a text is clean under the rules that it was searched by."""
    own = (expression.pattern for expression in (_ALLOWED, _PLACEHOLDER, _RESERVED))
    return content_hash(repr((_RULES, _DETECTORS, credentials.patterns(), *own)).encode())


def marked_lines(text: str) -> list[str]:
    """The lines of a text whose end says that what looks like a secret there may stay."""
    if "secret" not in text:
        return []
    return [line for line in text.split("\n") if "secret" in line and _ALLOWED.search(line)]


def masked(text: str) -> str:
    """`text` with each value that looks like a secret cut down to at most its first four characters."""
    rules = _applicable(text)
    if not rules:
        return text
    lines = text.split("\n")
    for number, line in enumerate(lines):
        for hit in _hits(rules, number, line):
            lines[number] = lines[number].replace(hit.value, hit.shown)
    return "\n".join(lines)


# What a rule finds in a line: the kind and the value of each hit.
_Find = Callable[[str], Iterable[tuple[str, str]]]


def _applicable(text: str) -> list[_Find]:
    """Each rule or detector that may find something in a text: for most texts none, at the cost of a few substring searches."""
    low = text.lower()
    own = [_finder(rule) for rule in _RULES if _may_apply(rule, text, low)]
    written = credentials.finder(low)
    return [
        *own,
        *(_asked(detector) for detector in _DETECTORS if _may_apply(detector, text, low)),
        *((written,) if written is not None else ()),
    ]


def _may_apply(rule: _Rule | _Detector, text: str, low: str) -> bool:
    if rule.hints and not any(hint in low for hint in rule.hints):
        return False
    if rule.gate and not any(map(_compiled(rule.gate).search, _pieces(low))):
        return False
    return not rule.pattern or any(map(_compiled(rule.pattern).search, _pieces(text)))


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces that overlap: some patterns take the square of what they are given."""
    starts = range(0, max(1, len(text) - _OVERLAP), _LONGEST_LINE - _OVERLAP)
    return (text[start : start + _LONGEST_LINE] for start in starts)


def _hit(rules: Sequence[_Find], number: int, line: str, known: Sequence[str]) -> Secret | None:
    if not line or _ALLOWED.search(line[-80:]):
        return None
    return next((hit for hit in _hits(rules, number, line) if not any(hit.value in text for text in known)), None)


def _hits(rules: Sequence[_Find], number: int, line: str) -> Iterator[Secret]:
    for piece in _pieces(line):
        for find in rules:
            for kind, value in find(piece):
                if _is_example(kind, value, piece):
                    continue
                yield Secret(number, kind, f"{value[: min(_SHOWN, len(value) // 4)]}…", value)


def _is_example(kind: str, value: str, line: str) -> bool:
    """Whether a hit is plainly a placeholder or a documented sample, or a plain word as the password of a host for examples."""
    low = value.lower()
    if (kind.startswith("assigned") and "example" in low) or any(part in low for part in _DOCUMENTED):
        return True
    if re.search(r"/[xX]{4,}$", value):
        return True
    if "PRIVATE KEY" in value:
        if not line.partition(value)[0].endswith("-") and not value.startswith("-"):
            return True  # the words alone, as prose has them
        return bool(re.match(r"-*(?:\\n|\s)*(?:[xX]{3}|\.\.\.|…)", line.partition(value)[2]))
    if kind == credentials.HEADER and (pair := credentials.basic_password(value)) is not None:
        return _is_sample(pair)
    if not value.startswith("://"):
        bare = re.sub(r"^(?i:bearer|sshpass +-p) *", "", value).strip("'\"")
        return _is_sample(bare)
    user, _, password = value[3:-1].partition(":")
    if _is_sample(password) or password == user or len(password) <= _SHORTEST or "1234567890".startswith(password[:10]):
        return True
    plain = len(password) <= _LONGEST_EXAMPLE and not _is_random(password)
    return plain and all(_RESERVED.match(line, occurrence.end()) for occurrence in re.finditer(re.escape(value), line))


def _is_sample(value: str) -> bool:
    """Whether a value is a placeholder, or is made of the words of sample passwords, such as `P@ssw0rd1` and `super_s3cr3t`."""
    if len(value) >= _LONGEST_SAMPLE and _has_all_classes(value):
        return False  # four kinds of characters at this length: a person chose it, from whatever words
    if _is_counted(value):
        return True
    word = _PADDING.sub("", value) or value
    return bool(_PLACEHOLDER.fullmatch(value)) or any(
        _SAMPLE.fullmatch(spelling.lower().translate(_LEET)) for spelling in (value, word)
    )


def _is_counted(value: str) -> bool:
    """Whether a value is made of letters and figures in their order alone, as documents make one up: `abc123efg456`."""
    runs = _RUNS.findall(value)
    return "".join(runs) == value and all(
        len(run) >= _SHORTEST_RUN and all(ord(b) - ord(a) == 1 for a, b in pairwise(run)) for run in runs
    )


def _has_all_classes(value: str) -> bool:
    return all(map(re.search, (r"[a-z]", r"[A-Z]", r"\d", r"[^\w\s]"), [value] * 4))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@cache
def _finder(rule: _Rule) -> _Find:
    compiled = _compiled(rule.pattern)
    is_random = (lambda value: _is_mixed(value, rule.least)) if rule.least else _is_random

    def find(line: str) -> Iterator[tuple[str, str]]:
        for match in compiled.finditer(line):
            value = match.groupdict().get("value", match[0])
            if "value" not in compiled.groupindex or is_random(value):
                yield rule.kind, value

    return find


def _is_random(value: str) -> bool:
    """Whether a value that is given to a name like `api_key` is no word, path or variable: letters and digits well mixed."""
    if not any(char in value for char in "-_/"):
        return _is_mixed(value, 1) or sum(char.isdigit() for char in value) >= 3
    return _is_mixed(value, 2) or bool(re.fullmatch(r"[0-9a-fA-F-]{32,}", value))


def _is_mixed(value: str, least: int) -> bool:
    """Whether a value has letters of both cases and at least so many digits."""
    digits = sum(char.isdigit() for char in value)
    return digits >= least and any(char.isupper() for char in value) and any(char.islower() for char in value)


@cache
def _asked(detector: _Detector) -> _Find:
    """A detector of the library. Only what it finds is used: it never verifies, which would send the value away."""
    # The library brings `requests`: 100 to 170 ms, which only a text that looks suspicious pays.
    plugin = getattr(import_module(f"detect_secrets.plugins.{detector.module}"), detector.name)()
    patterns: Sequence[re.Pattern[str]] = getattr(plugin, "denylist", ())
    check: Callable[[str], bool] = getattr(plugin, "is_formally_valid", lambda value: True)

    def find(line: str) -> Iterator[tuple[str, str]]:
        if detector.name == "KeywordDetector":
            yield from ((detector.kind, value) for value in plugin.analyze_string(line) if _is_a_value(value))
        for pattern in patterns:
            yield from ((detector.kind, match[0]) for match in pattern.finditer(line) if check(match[0]))

    return find


def _is_a_value(value: str) -> bool:
    """Whether a quoted text can be a credential: no phrase, word, name, template, variable or mere signs."""
    from detect_secrets.filters import heuristic  # loaded with the library alone, for its cost

    ruled_out = (heuristic.is_templated_secret, heuristic.is_prefixed_with_dollar_sign, heuristic.is_sequential_string)
    return len(value) >= 6 and not re.fullmatch(_NAME, value) and not any(rule(value) for rule in ruled_out)
