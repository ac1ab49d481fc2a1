"""Credentials as people write them down: a value that is given to a word for a password, key or token, in many languages.

Formats with a prefix of their own are rules of `secrets`; here a name, a connector and the look of the value decide together.
A name alone is never enough ("the password is stored in the keychain"), nor is a value that looks random alone (a hash).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial

from vault_tool.util.structs import Struct

# Words for a password in English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian, Chinese, Japanese;
# then in Czech, Danish, Norwegian, Swedish, Finnish, Hungarian, Romanian, Greek, Turkish, Indonesian, Vietnamese, Bulgarian,
# Croatian, Slovene, Catalan, Korean, Arabic, Persian, Hebrew, Hindi and Thai.
_SAID_PASSWORD = (
    r"passwor[dt]e?|passwd|pass[ -]?phrase|pass[ -]?code|passwort|pwd|pswd|pw|kennwort|zugangscode|losungswort"
    r"|mot de passe|mdp|contrase[ñn]a|clave|parola d['’]ordine|senha|palavra[- ]passe|palavra[- ]chave|wachtwoord|has[łl]o"
    r"|парол[ьяею]|пароль|密码|密碼|口令|パスワード|暗証番号|暗証コード|暗証"
    r"|heslo|adgangskode|passord|lösenord|salasana|jelszó|parol[aă]|κωδικ(?:ός|ού)|συνθηματικό|şifre(?:si)?|kata sandi|mật khẩu"
    r"|парола|lozinka|лозинка|geslo|contrasenya|비밀번호|암호|كلمة (?:المرور|السر)|رمز عبور|گذرواژه|סיסמ[הת]|पासवर्ड|รหัสผ่าน"
    # What lets into a network is a password by another name.
    r"|(?:wi-?fi|wlan|wep|wpa[23]?)[ -](?:key|schlüssel|code|psk)|network key"
)
# A pass may be many things: only before a sign it is a password.
_PASSWORD = rf"{_SAID_PASSWORD}|pass"
_KEY = (
    r"(?:(?:api|app|application|access|auth|authentication|secret|private|client|account|encryption|signing|licen[cs]e|session"
    r"|bearer|refresh|deploy|runner|webhook|bot|service|storage|master|shared)[ _-]?)+(?:key|token|secret)|api[ _-]?schlüssel"
    r"|(?:chiave|clave|chave|clé|klucz|ключ) api|api[ _-]?(?:sleutel|klucz|ключ|密钥|密鑰|キー)"
    r"|token|secret"
)
# Each word for a password has one of these in it, in lower case.
_PASSWORD_HINTS = (
    "pass", "pwd", "pw", "pswd", "kennwort", "losungswort", "zugangscode", "mdp", "contrase", "clave", "parola d", "senha",
    "palavra", "wachtwoord", "hasło", "haslo", "парол", "密码", "密碼", "口令", "パスワード", "暗証", "heslo", "adgangskode",
    "lösenord", "salasana", "jelszó", "parola", "parolă", "κωδικ", "συνθηματικ", "şifre", "kata sandi", "mật khẩu", "lozinka",
    "лозинка", "geslo", "비밀번호", "암호", "كلمة", "رمز عبور", "گذرواژه", "סיסמ", "पासवर्ड", "รหัสผ่าน", "wifi", "wi-fi", "wlan",
    "wep", "wpa", "network",
)  # fmt: skip

# Between a name and its value, beside signs: to be, to read, to become, in the same languages.
_VERB = (
    r"(?:was |is |has been )?(?:re)?set to|(?:was |were |has been |is )?changed to|is (?:now|still)|is|was|reads"
    r"|ist (?:jetzt|noch)|ist|lautet|war|est|es ahora|es|è|é|jest|to|brzmi|теперь|は|為|为|是"
    r"|je|er|är|este|είναι|adalah|là|هي|هو|है|คือ"
)
_SIGN = r":=|=>|->|[:=：＝]|—|–"
# What a name is of: "for the router", "del servidor", "de la box", "от почты"; never over the end of a sentence.
_OF = r"(?:[ _-][\w'’ñłèé]{1,20}){0,6}?(?: \([^()\n]{1,40}\))?"
_OPEN = r"[\"'`“„«「*]{0,3}"
# Chinese and Japanese letters end a value: sentences go on behind it without a space.
_VALUE = r"(?P<value>[^\s\"'`“”«»「」、。，,;|<>\u3040-\u30ff\u4e00-\u9fff]{6,200})"

_REFERENCE = r"[$%{(\[<~/@\\&-]|\.{1,2}/|[A-Za-z]:\\|\w+\(|\w+(?:\.\w+)*[(\[]|https?:|file:|env[:.]|vault:|op://|\w+://"
# What has digits and is a word all the same: algorithms, standards, products, counts with a unit.
_TERM = (
    r"(?i:(?<![^\W_])(?:base-?\d+|sha-?\d+|sha\d?|md5|utf-?\d+|bcrypt|s?crypt|argon2\w*|pbkdf2|aes-?\d*|rsa-?\d*|hs\d+|rs\d+|es\d+|ed25519|x509|x25519"
    r"|chacha20|poly1305|oauth-?\d?|[12]password|2fa|totp|http/?\d?|ipv\d|i18n|k8s|s3|ec2|oidc|saml2?|u2f|fido2|webauthn|v\d+"
    r"|\d+[- ]?(?:bits?|bytes?|chars?|characters?|digits?|words?|days?|hours?|minutes?|zeichen|stellen|mal|times?))(?![^\W_]))"
)
_DATE = r"\d{4}-\d\d(?:-\d\d)?(?:[T ][\d:.Z+-]*)?|\d{1,2}:\d\d(?::\d\d)?|\d{1,2}\.\d{1,2}\.(?:\d{2,4})?|[\d.,:/x-]+%?"
_UUID = r"(?i:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
_NAME = (
    r"[A-Za-z_]+(?:\.[A-Za-z_]+)+|(?:V\d)?[A-Z]?[a-z]+\d{0,2}(?:[A-Z][a-z]{2,})+|[A-Z][A-Z_]+"
    r"|[a-z_]+\.[A-Z][A-Z_\d]+"
)
_FILE_NAME = r"[\w./-]+\.(?:md|txt|json|ya?ml|toml|env|py|js|ts|go|rs|sh|html|pem|key|crt|cfg|ini)"
_INNER_SIGNS = r"\w[!@#$%^&*+=~?]+\w"
_SIGNS = r"[!@#$%^&*+=~?_.-]"
_CLOSING = ".,;:!?)]}»”\"'*。、\\"

# Words with which a sentence goes on, where a phrase that is a password does not begin.
_NO_PHRASE = (
    r"(?i:see|ask|your|the|enter|must|too|not|wrong|required|incorrect|in|is|at|on|use|siehe|im|voir|ver|stored|four|five|six"
    r"|seven (?:words|or)|none|same|words?|any|at least|n/a|tbd|todo)\b"
)
_PROSE_WORDS = (
    r"(?i:\b(?:must|should|words?|characters?|letters|digits|and is|are|drawn|chosen|stored|never|always|please"
    r"|because|which|that)\b)"
)

_MNEMONIC_STOP = frozenset((
    "the", "and", "for", "are", "was", "were", "that", "this", "with", "from", "have", "has", "had", "not", "but", "you",
    "your", "his", "her", "our", "their", "they", "them", "its", "who", "which", "will", "would", "should", "could", "been",
    "into", "onto", "than", "then", "when", "where", "what", "how", "why", "all", "our", "one's", "just",
))  # fmt: skip
_FEWEST_MNEMONIC = 12


class _Form(Struct):
    """A way to write a credential down: a pattern with a group `value`, and what the value must look like."""

    kind: str
    hints: tuple[str, ...]
    pattern: str
    accepts: Callable[[str], bool]
    gate: str = ""
    """A cheap pattern that must match the text in lower case first."""

    @property
    def closing(self) -> str:
        """The signs that end a sentence or a quotation, and not the value."""
        return ",;\"'`\\" if self.kind == _ASSIGNED else _CLOSING

    def may_be_in(self, low: str) -> bool:
        """Whether a text in lower case may hold a credential of this form."""
        for hint in self.hints:  # a loop: asked of each line, where a generator costs more than what it looks at
            if hint in low:
                return not self.gate or bool(_compiled(self.gate).search(low))
        return False


def finder(low: str) -> Callable[[str], Iterator[tuple[str, str]]] | None:
    """A function that finds the credentials of a line, for a text that is given in lower case; None where it can hold none."""
    forms = [form for form in _FORMS if form.may_be_in(low)]
    return partial(_find, forms, _any_of(tuple(hint for form in forms for hint in form.hints))) if forms else None


def patterns() -> tuple[str, ...]:
    """A digest of the forms: it changes when they do."""
    return (*(form.pattern for form in _FORMS), _TERM, _REFERENCE, _NO_PHRASE)


def _find(forms: Sequence[_Form], hints: re.Pattern[str], line: str) -> Iterator[tuple[str, str]]:
    """The credentials of a line: what kind each is, and its value."""
    low = line.lower()
    if not hints.search(low):
        return
    for form in forms:
        if form.may_be_in(low):
            for match in _compiled(form.pattern).finditer(line):
                value = match["value"].rstrip(form.closing)
                if value and form.accepts(value):
                    yield form.kind, value


def basic_password(value: str) -> str | None:
    """The password in what a header of basic authorization carries (RFC 7617); None where it carries something else."""
    with suppress(ValueError):
        user, colon, password = base64.b64decode(value, validate=True).decode("utf-8").partition(":")
        return password.strip() if user and colon else None
    return None


@cache
def _any_of(hints: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, dict.fromkeys(hints))))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _is_reference(value: str) -> bool:
    """Whether a value names where the credential is, or is made of something else: a variable, path, call, date or count."""
    return bool(
        _compiled(_REFERENCE).match(value)
        or _compiled(_DATE).fullmatch(value)
        or _compiled(_UUID).fullmatch(value)
        or _compiled(_NAME).fullmatch(value)
        or _compiled(_FILE_NAME).fullmatch(value)
        or re.search(r"[(){}\[\]<>]", value)
    )


def _classes(value: str) -> tuple[bool, bool]:
    """Whether a value has a letter, and a digit, of any script."""
    return any(char.isalpha() for char in value), any(char.isdecimal() for char in value)


def _stands_out(value: str) -> bool:
    """Whether a value is no word of a sentence: letters with digits, or with a sign inside a word."""
    if len(value) < 6 or _is_reference(value):
        return False
    rest = _compiled(_TERM).sub("", value)
    letters, digits = _classes(rest)
    return letters and len(rest) >= 5 and (digits or bool(_compiled(_INNER_SIGNS).search(rest)))


def _is_given(value: str) -> bool:
    """Whether a value that stands behind a sign may be a password: it stands out, or is made of words and signs with a digit."""
    return _stands_out(value) or (len(value) >= 8 and not _is_reference(value) and _long_word(value))


def _is_chosen(value: str) -> bool:
    """Whether a value that only stands beside the word password is one: of both cases, with figures and a sign inside."""
    cases = any(map(str.isupper, value)) and any(map(str.islower, value))
    return cases and _stands_out(value) and bool(re.search(r"\w[!@#$%^&*+=~?_]\w", value)) and any(map(str.isdigit, value))


def _is_card(value: str) -> bool:
    """Whether figures are the number of a payment card, by its last figure (ISO/IEC 7812)."""
    figures = [int(char) for char in value if char.isdigit()][::-1]
    doubled = (figure if place % 2 == 0 else figure * 2 - 9 * (figure > 4) for place, figure in enumerate(figures))
    return len(figures) >= 13 and sum(doubled) % 10 == 0 and len(set(figures)) > 3


def _long_word(value: str) -> bool:
    """Whether a value is one long word in small letters, as no language has it: several words written as one."""
    return len(value) >= 20 and value.isalpha() and value.islower() and value.isascii()


def _is_assigned(value: str) -> bool:
    """Whether the value of a variable that is named after a password is one: anything but a reference or a plain setting."""
    if len(value) < 6 or _is_reference(value) or value.lower() in _SETTINGS:
        return False
    letters, digits = _classes(value)
    return letters and (digits or bool(_compiled(_SIGNS).search(value)) or len(value) >= 8)


_SETTINGS = frozenset((
    "true", "false", "none", "null", "required", "optional", "enabled", "disabled", "string", "boolean", "undefined",
    "prompt", "stdin", "keyring", "keychain", "vault", "hidden", "masked", "redacted", "postgres", "mysql", "mongodb",
    "default", "unset", "nopasswd", "publickey", "plaintext",
))  # fmt: skip


def _is_token(value: str) -> bool:
    """Whether a value is a key or token: long, and letters and digits mixed; never a date, an id of a record or a name."""
    if len(value) < 12 or _is_reference(value) or not re.fullmatch(r"[\w.~+/=:-]+", value):
        return False
    letters, digits = _classes(value)
    count = sum(char.isdecimal() for char in value)
    rest = _compiled(_TERM).sub("", value)
    return letters and digits and (count >= 3 or value.isalnum()) and len(rest) >= 10


def _is_key(value: str) -> bool:
    """Whether the value of a variable that is named after a key is one, of whatever signs."""
    return _is_token(value) or (len(value) >= 16 and _stands_out(value))


def _is_long_token(value: str) -> bool:
    """Whether a value that only stands beside a word is a key or token: longer, without a separator between words."""
    parts = re.split(r"[-._/:]", value)
    return len(value) >= 20 and _is_token(value) and max(map(len, parts)) >= 16


def _is_signed_word(value: str) -> bool:
    """Whether a value is a word or number that anybody reads, with a signature that says who set it: `BAhpMg==--2c1c69...`."""
    payload, _, signature = value.replace("%3D", "=").partition("--")
    if not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", signature):
        return False
    with suppress(ValueError):
        return len(base64.b64decode(payload, validate=True)) <= _LONGEST_SETTING
    return len(payload) <= _LONGEST_SETTING


def _is_argument(value: str) -> bool:
    """Whether the argument of an option that takes a password is one."""
    return len(value) >= 6 and not _is_reference(value) and (_stands_out(value) or bool(_compiled(_SIGNS).search(value)))


def _is_in_address(value: str) -> bool:
    """Whether `://user:password@` holds a password that is not left to a variable."""
    password = value[3:-1].partition(":")[2]
    return not re.search(r"[${}<>\[\]()*]", password)


def _is_phrase(value: str) -> bool:
    """Whether words in quotes, or behind a sign, are a password: four or more of them, or some with a digit; no sentence."""
    words = value.split()
    if (
        len(words) < 3
        or _compiled(_NO_PHRASE).match(value)
        or _compiled(_PROSE_WORDS).search(value)
        or re.search(r"[.!?:;,()<>{}=]", value)
    ):
        return False
    return len(words) >= 4 or any(char.isdecimal() for char in value)


def _is_long_phrase(value: str) -> bool:
    return len(value.split()) >= 5 and _is_phrase(value)


def _is_of_plain_words(value: str) -> bool:
    """Whether words are a password: joined by hyphens, or four or more that no sentence joins."""
    words = re.split(r"[ -]", value)
    plain = not any(word in _MNEMONIC_STOP for word in words) and not _compiled(_NO_PHRASE).match(value)
    return plain and not _compiled(_PROSE_WORDS).search(value) and (" " not in value or len(words) >= 4)


def _is_mnemonic(value: str) -> bool:
    """Whether a text begins with twelve plain words, as wallets make them: short, and without a word that joins others."""
    words = [word for word in re.split(r"(?:[ ,]|\d{1,2}[.):])+", value.strip(" \"'`.,")) if word][:_FEWEST_MNEMONIC]
    plain = (re.fullmatch(r"[a-z]{3,8}", word) and word not in _MNEMONIC_STOP for word in words)
    return len(words) == _FEWEST_MNEMONIC and all(plain)


# The names of cookies by which somebody is let in, and so many bytes of what another one keeps are no credential.
_WHO = r"sess|sid|auth|token|jwt|login|user|account|remember|member|admin|csrf|xsrf|secret|key|pass|id(?![a-z])"
_LONGEST_SETTING = 12

_ASSIGNED = "assigned password"
HEADER = "authorization header"

_BEFORE = r"(?<![^\W_])"
_AFTER = r"(?![^\W_])"
_LOGIN = "login|user|username|account|benutzer|credentials|creds|zugangsdaten|accès|acceso|accesso"
_LOGINS = ("login", "user", "account", "benutzer", "credentials", "creds", "zugangsdaten", "accès", "acceso", "accesso")
_CJK = r"(?:密码|密碼|口令|パスワード|暗証番号|暗証コード|暗証|비밀번호|암호)"
# Doors, safes and telephones are opened by figures.
_CODE = (
    r"(?:sim[ -])?pin(?:[ -]?code)?|puk|pass ?code"
    r"|(?:door|gate|alarm|entry|garage|key ?pad|lock ?box|safe|unlock|security)[ -](?:code|combination)"
    r"|(?:code|combination) (?:for|of|to) the (?:door|gate|alarm|garage|safe|key ?box|lock ?box)|tür-?code|alarm-?code|zahlencode"
)
_CODES = ("pin", "puk", "code", "combination")

_FORMS = (
    # DB_PASSWORD=..., password=...: the name of a variable and its value, without a space between.
    _Form(_ASSIGNED, ("pass", "pw", "psk"),
          rf"(?<![^\W_])(?i:[A-Za-z0-9_.-]{{0,40}}(?:passwor[dt]|passwd|passphrase|pass|pwd|pw|psk))=[\"'`]?{_VALUE}",
          _is_assigned),
    _Form(_ASSIGNED, ("secret",), rf"(?<![^\W_])(?:[A-Z0-9_]{{0,40}}SECRET)=[\"'`]?{_VALUE}", _is_assigned),
    _Form("assigned phrase", ("pass",),
          r"(?<![^\W_])(?i:[A-Za-z0-9_.-]{0,40}pass_?phrase)=[\"'`]?(?P<value>[^\"'`\n]{12,120})", _is_phrase),
    # password: ..., Kennwort: ..., the wifi password is ..., 密码：...
    _Form("password", _PASSWORD_HINTS,
          rf"(?i:{_BEFORE}(?:[\w-]{{0,40}}[_-])?(?:{_PASSWORD}|[a-z]{{2,20}}(?:password|passwort|kennwort)){_AFTER}"
          rf"[\"'`*]{{0,3}}{_OF}[\"'`*]{{0,3}} {{0,3}}(?:{_SIGN}) {{0,3}}){_OPEN}{_VALUE}", _is_given),
    _Form("password", _PASSWORD_HINTS,
          rf"(?i:{_BEFORE}(?:[\w-]{{0,40}}[_-])?(?:{_SAID_PASSWORD}|[a-z]{{2,20}}(?:password|passwort|kennwort)){_AFTER}"
          rf"[\"'`*]{{0,3}}{_OF} +(?:{_VERB}) +){_OPEN}{_VALUE}", _is_given),
    _Form("password", _PASSWORD_HINTS,
          rf"(?:{_CJK}[\"'`*]{{0,3}} {{0,3}}(?:{_SIGN}|は|為|为|是|는|은) {{0,3}}){_OPEN}{_VALUE}", _is_given),
    _Form("password", _PASSWORD_HINTS,
          rf"(?i:{_BEFORE}(?:{_PASSWORD}){_AFTER}{_OF}(?: {{0,3}}(?:{_SIGN}) {{0,3}}| +(?:{_VERB}) +))"
          r"[\"“„«「](?P<value>[^\"”“«»「」\n]{8,120})[\"”“»」]", _is_phrase),
    _Form("password", ("phrase",), r"(?i:pass[ -]?phrase) {0,3}: {0,3}(?P<value>[^\"'`\n]{16,120})$", _is_long_phrase),
    _Form("password", ("phrase",),
          r"(?i:pass[ -]?phrase)(?: {0,3}: {0,3}| +is +)(?P<value>[a-z]{3,12}(?:[ -][a-z]{3,12}){2,7})\.?$", _is_of_plain_words),
    _Form("password", ("pass", "pw", "kennwort"),
          r"(?i:\b(?:login|user|username|account|machine|benutzer|and|with|und|mit)\b[^\n]{0,60}?[ ,]"
          rf"(?:password|passwort|pass|pw|kennwort) +){_OPEN}{_VALUE}", _stands_out),
    _Form("password", _LOGINS,
          rf"(?i:(?<![/\w])(?:{_LOGIN})\b{_OF} {{0,3}}(?:[:=]|is|are|sind)? {{0,3}}[\w.@+-]{{1,60}}(?: {{1,3}}/ {{1,3}}|:))"
          rf"{_VALUE}", _stands_out),
    _Form("password", ("pass", "kennwort"),
          rf"(?i:\b(?:type|enter|use|is) +){_OPEN}{_VALUE}"
          r"(?i: +(?:as|is) (?:the|my|our|your) (?:[\w-]{1,20} ){0,3}pass)", _stands_out),
    _Form("password", _PASSWORD_HINTS,
          rf"(?i:{_BEFORE}(?:{_SAID_PASSWORD}){_AFTER}{_OF} +(?:{_VERB}) +)"
          r"[\"“„«「](?P<value>[a-z]{3,20}[A-Z][a-z]{2,20})[\"”“»」]",
          lambda value: True),
    _Form("PIN", _CODES, rf"(?i:\b(?:{_CODE})\b{_OF}(?: {{0,3}}[:=] {{0,3}}| +(?:{_VERB}) +))"
          r"(?P<value>\d{4,8}|\d\d(?:-\d\d){2})[#*]?(?![\w.,:/-])",
          lambda value: True),
    _Form("PIN", ("pin ", "puk ", "passcode ", "alarm code "), r"(?i:(?<![\w-])(?:sim pin|puk|passcode|alarm code) )"
          r"(?P<value>\d{4,8})(?![\w.:/-])",
          lambda value: True),
    _Form("password", ("passw", "pw "), rf"(?i:{_BEFORE}(?:password|passwort|pw) ){_OPEN}{_VALUE}", _is_chosen),
    _Form("password", ("<pass", "<secret", "<token", "<api"), r"(?i:<(?:password|passwd|secret|token|api_?key)>)"
          r"(?P<value>[^<>\s]{6,200})(?=</)", _is_given),
    _Form("card number", ("card", "visa", "mastercard", "amex", "cvv", "cvc", "karte"),
          r"(?<![\d-])(?P<value>[3-6]\d{3}(?:[ -]?\d{4}){2}[ -]?\d{1,7})(?![\d-])", _is_card),
    _Form("seed of a second factor", ("otp", "2fa", "mfa"),
          rf"(?i:\b(?:totp|otp|2fa|mfa)[ -]?(?:seed|key|secret)\b(?: {{0,3}}(?:{_SIGN}) {{0,3}}| +(?:(?:{_VERB}) +)?))"
          r"(?P<value>[A-Z2-7]{16,64})(?!\w)", lambda value: any(map(str.isdigit, value))),
    _Form("recovery code", ("backup code", "recovery code", "rescue code", "wiederherstellungscode"),
          r"(?i:\b(?:backup|recovery|rescue)[ -]codes?|wiederherstellungscodes?)(?: is| are|:| =)? +"
          r"(?P<value>[A-Za-z\d]{4,8}-[A-Za-z\d]{4,8}(?:-[A-Za-z\d]{4,8}){0,6})(?![\w-])",
          lambda value: sum(map(str.isdigit, value)) >= 4),
    # The API key for B2 is ..., client_secret: ..., use the token ...
    _Form("key or token", ("key", "token", "secret", "schlüssel", " api"),
          rf"(?i:{_BEFORE}(?:[\w-]{{0,40}}[_-])?(?:{_KEY}){_AFTER}[\"'`*]{{0,3}}{_OF}[\"'`*]{{0,3}}"
          rf"(?: {{0,3}}(?:{_SIGN}) {{0,3}}| +(?:{_VERB}) +)){_OPEN}{_VALUE}", _is_token),
    _Form("key or token", ("key", "token", "secret"), rf"(?i:{_BEFORE}(?:{_KEY}) +){_OPEN}{_VALUE}", _is_long_token),
    _Form("key or token", ("key",), rf"(?<![^\W_])(?:[A-Z0-9_]{{0,40}}_?KEY)=[\"'`]?{_VALUE}", _is_key),
    # Headers, cookies and the parameters of addresses.
    _Form(HEADER, ("authorization",),
          r"(?i:authorization[\"']? {0,3}[:=] {0,3}[\"']?(?:basic|bearer|token|digest|apikey) +)"
          r"(?P<value>[\w.~+/=-]{16,})", _is_token),
    _Form(HEADER, ("auth",), r"(?i:\"auth\" {0,3}: {0,3}\")(?P<value>[\w+/]{12,}={0,2})(?=\")",
          lambda value: basic_password(value) is not None),
    _Form("key in a header", ("key", "token", "auth", "secret"),
          r"(?i:(?<![\w-])(?:x-)?[a-z-]{0,30}(?:api-?key|token|auth|secret|access-?key) {0,3}: {0,3})"
          r"(?P<value>[\w.~+/=-]{12,})", _is_token),
    _Form("cookie", ("cookie",),
          rf"(?i:cookie[\"']? {{0,3}}: {{0,3}}(?=[\w.-]{{0,40}}?(?:{_WHO}))[\w.-]{{1,40}}=)(?P<value>[\w.~+/%=-]{{16,}})",
          _is_token),
    _Form("cookie", ("cookie",),
          rf"(?i:cookie[\"']? {{0,3}}: {{0,3}}(?![\w.-]{{0,40}}?(?:{_WHO}))[\w.-]{{1,40}}=)(?P<value>[\w.~+/%=-]{{16,}})",
          lambda value: _is_token(value) and not _is_signed_word(value)),
    _Form("key in an address", ("=",),
          r"(?i:[?&](?:api_?key|apikey|access_token|auth_token|token|key|secret|sig|signature|password|pwd|auth)=)"
          r"(?P<value>[\w.~+/%=-]{12,})", _is_token),
    _Form("private key", ("private",), r"(?i:private ?key[\"']? {0,3}[:=] {0,3}[\"']?)"
          r"(?P<value>(?:0x)?[0-9a-fA-F]{64}|[\w+/]{43}=)(?!\w)",
          lambda value: True),
    _Form("password in a URL", ("://",), r"(?P<value>://[^\s:/@]{0,80}:[^\s@/]{4,100}@)(?=[\w\[])", _is_in_address),
    # What commands take as a password.
    _Form("password in a command", ("mysql", "mariadb"),
          rf"\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;]{{0,120}}? -p[\"']?{_VALUE}", _is_argument),
    _Form("password in a command", ("curl", "wget", "http"),
          r"\b(?:curl|wget|https?)\b[^\n|;]{0,200}? (?:-u|--user|-a)[ =]?[\"']?[^\s:\"'$]{1,60}:" + _VALUE, _is_argument),
    _Form("password in a command", ("login", "redis", "mosquitto", "ldap", "smbclient", "sqlcmd", "mongo", "7z", "unzip"),
          r"\b(?:docker login|podman login|helm registry login|az login|redis-cli|mosquitto_\w+|ldap\w+|smbclient|sqlcmd|mongo\w*"
          r"|7z|unzip)\b"
          rf"[^\n|;]{{0,200}}? -(?:p|P|a|w)[ =]?[\"']?{_VALUE}", _is_argument),
    _Form("password in a command", ("pass",),
          rf"(?:--?pass(?:word|phrase|wd)?[ =]|\bpass(?:in|out)? pass:|(?<= )pass:)[\"']?{_VALUE}", _is_argument),
    _Form("password in a command", ("/user:",), rf"(?i:/user:\S{{1,60}} +)[\"']?{_VALUE}", _is_argument),
    _Form("password in a command", (":",),
          rf"(?<!\S)[\w.-]{{3,80}}:\d{{2,5}}:[\w*-]{{1,60}}:[\w*-]{{1,60}}:{_VALUE}$", _is_argument,
          r":\d{2,5}:[\w*-]+:[\w*-]+:"),
    _Form("seed phrase",
          ("seed", "recovery", "mnemonic", "wallet", "backup", "secret", "wiederherstellung", "semilla", "récupération"),
          r"(?i:(?:seed|recovery|backup|wallet|secret)[ -]?(?:phrase|words)|mnemonic(?:[ -]phrase)?"
          r"|wiederherstellungs(?:phrase|wörter)|frase semilla|phrase de récupération)"
          r"[^:=\n]{0,40}?(?:[:=]| is| lautet| est)[ \"'`]{0,3}(?P<value>[^\n]{30,400})", _is_mnemonic),
)  # fmt: skip
