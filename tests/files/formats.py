"""Made-up keys in the formats of real ones, put together at run time so that no scanner of repositories takes them for real."""

from __future__ import annotations

import base64
import json
import random
import string

_LETTERS = string.ascii_letters + string.digits
_UPPER = string.ascii_uppercase + string.digits
_HEX = "0123456789abcdef"
_URL = f"{_LETTERS}_-"
_BASE64 = f"{_LETTERS}+/"


def made_up_keys(seed: int = 7) -> dict[str, str]:
    """A made-up key, or a line that holds one, by the name of its format."""
    chance = random.Random(seed)

    def some(count: int, letters: str = _LETTERS) -> str:
        # A digit, a small and a capital letter are in all but the hexadecimal ones, as they are in what a provider gives out.
        made = "".join(chance.choice(letters) for _ in range(count))
        return made if letters != _LETTERS or count < 8 else f"a7K{made[3:]}"

    def coded(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    digits = string.digits
    return {
        "aws id": "AK" + "IA" + some(16, string.ascii_uppercase),
        "aws session id": "AS" + "IA" + some(16, string.ascii_uppercase),
        "aws secret": "aws_secret_access_key = " + some(40, _LETTERS),
        "aws secret quoted": f'AWS_SECRET_ACCESS_KEY="{some(40, _BASE64)}"',
        "github classic": "gh" + "p_" + some(36),
        "github server": "gh" + "s_" + some(36),
        "github fine": "github" + "_pat_" + some(22) + "_" + some(59),
        "gitlab": "glp" + "at-" + some(20, _URL),
        "gitlab job": "glcb" + "t-1f_" + some(20, _URL),
        "slack bot": "xox" + f"b-{some(12, digits)}-{some(12, digits)}-{some(24)}",
        "slack app": "xap" + f"p-1-A{some(10, _UPPER)}-{some(12, digits)}-{some(64, _HEX)}",
        "slack hook": "https://hooks.sl" + f"ack.com/services/T{some(8, _UPPER)}/B{some(8, _UPPER)}/{some(24)}",
        "stripe": "sk_" + "live_" + some(24),
        "stripe long": "sk_" + "live_51" + some(97),
        "stripe test": "sk_" + "test_" + some(24),
        "stripe hook": "wh" + "sec_" + some(32),
        "openai": "s" + "k-" + some(20) + "T3Blb" + "kFJ" + some(20),
        "openai project": "s" + "k-proj-" + some(74, _URL) + "T3Blb" + "kFJ" + some(74, _URL),
        "openai plain": "s" + "k-" + some(48),
        "anthropic": "s" + "k-ant-api03-" + some(93, _URL) + "AA",
        "openrouter": "s" + "k-or-v1-" + some(64, _HEX),
        "google": "AI" + "za" + some(35, _URL),
        "google oauth": "GOC" + "SPX-" + some(28, _URL),
        "google access": "ya" + "29." + some(60, _URL),
        "azure storage": "AccountName=x;Account" + f"Key={some(86, _BASE64)}==",
        "azure client": "a7K8" + "Q~" + some(34),
        "jwt": f"{coded({'alg': 'HS256', 'typ': 'JWT'})}.{coded({'sub': '1'})}.{some(43)}",
        "pem": "-----BEGIN PRI" + "VATE KEY-----",
        "pem rsa": "-----BEGIN RSA PRI" + "VATE KEY-----",
        "pem encrypted": "-----BEGIN ENCRYPTED PRI" + "VATE KEY-----",
        "pem openssh": "-----BEGIN OPENSSH PRI" + "VATE KEY-----",
        "pgp": "-----BEGIN PGP PRI" + "VATE KEY BLOCK-----",
        "putty": "PuTTY-User-Key-" + "File-3: ssh-ed25519",
        "age": "AGE-SEC" + "RET-KEY-1" + some(58, _UPPER),
        "npm": "np" + "m_" + some(36),
        "npmrc": "//registry.npmjs.org/:_auth" + "Token=np" + "m_" + some(36),
        "pypi": "py" + "pi-AgEIcHlwaS5vcmc" + some(80, _URL),
        "rubygems": "rub" + "ygems_" + some(48, _HEX),
        "sendgrid": "S" + f"G.{some(22, _URL)}.{some(43, _URL)}",
        "twilio": "S" + "K" + some(32, _HEX),
        "mailchimp": some(32, _HEX) + "-us" + "12",
        "mailgun": "key" + "-" + some(32, _HEX),
        "basic auth": f"https://admin:{some(14)}@db.example.org/x",
        "postgres": f"postgres://app:{some(14)}@db.internal:5432/app",
        "discord": f"M{some(23)}.{some(6, _URL)}.{some(27, _URL)}",
        "discord hook": "https://discord.com/api/web" + f"hooks/{some(18, digits)}/{some(68, _URL)}",
        "telegram": f"{some(10, '123456789')}:AA{some(33, _URL)}",
        "heroku": "HRKU" + "-AA" + some(58, _URL),
        "heroku uuid": "HEROKU_API_KEY=" + "-".join(some(count, _HEX) for count in (8, 4, 4, 4, 12)),
        "digitalocean": "do" + "p_v1_" + some(64, _HEX),
        "hugging face": "h" + "f_" + some(34),
        "databricks": "da" + "pi" + some(32, _HEX),
        "shopify": "shp" + "at_" + some(32, _HEX),
        "square": "sq0" + "csp-" + some(43, _URL),
        "new relic": "NR" + "AK-" + some(27, _UPPER),
        "grafana": "gl" + f"sa_{some(32)}_{some(8, _HEX)}",
        "vault": "hv" + "s." + some(95, _URL),
        "linear": "lin" + "_api_" + some(40),
        "notion": "nt" + "n_" + some(46),
        "figma": "fi" + "gd_" + some(40, _URL),
        "atlassian": "ATA" + f"TT3{some(180, _URL)}={some(8, _UPPER)}",
        "airtable": f"pat{some(14)}.{some(64, _HEX)}",
        "groq": "gs" + "k_" + some(52),
        "replicate": "r" + "8_" + some(37),
        "docker": "dck" + "r_pat_" + some(27, _URL),
        "terraform": f"{some(14)}.atlas" + f"v1.{some(64, _URL)}",
        "cloudflare": f"CF_API_TOKEN={some(40)}",
        "sentry": "sn" + "trys_" + some(80),
        "supabase": "sb" + "p_" + some(40, _HEX),
        "password": f"password = {some(16)}",
        "password quoted": f'db_password: "{some(16)}"',
        "bearer": f"Authorization: Bearer {some(40)}",
        "command": f"sshpass -p '{some(12)}' ssh root@host",
    }
