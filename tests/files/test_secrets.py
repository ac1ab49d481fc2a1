"""What looks like a secret is found with its line and kind, and ordinary notes are left in peace."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.files.formats import made_up_keys
from vault_tool.files.secrets import MARKER, Secret, marked_lines, masked, scan

KEYS = made_up_keys()
ROOT = Path(__file__).parent.parent.parent
ORDINARY = """\
---
id: a1b2c3d4-e5f6-4890-abcd-ef1234567890
key: memory-system
evidence: ["file:src/redis.py@9f3c1e2d9f3c1e2d9f3c1e2d9f3c1e2d9f3c1e2d", "commit:9f3c1e2"]
tags: [task-risk-disk-2026, sk-learn, key-value]
---
The secret of a good password: length. A token is a word; the key: patience, or so they say.
sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 and md5 d41d8cd98f00b204e9800998ecf8427e.
See https://user.example.org:8080/a/b?key=value&token=abc#L10 and git@github.com:owner/repository.git.
`api_key = os.environ["OPENAI_API_KEY"]`, `token: ${GITHUB_TOKEN}`, `password: <your password here>`.
`secret_key=settings.SECRET_KEY_FOR_2026_USE`, `auth_token = read_token_from_file_v2_or_fail()`.
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl host, 0x5f0c2d9e2b3c4e7a9d5e0a1b2c3d4e5f
Trace 4bf92f3577b34da6a3ce929d0e0e4736, build 20261120T100000Z-a1b2c3, version 1.2.3-rc.1+build.5, 12:30:45, 192.168.1.17.
"""


@pytest.mark.parametrize("name", KEYS)
def test_a_key_is_found_in_a_sentence_with_its_line(name: str) -> None:
    hits = scan(f"First line.\n\nIt is {KEYS[name]} for now.\n")
    assert [hit.line for hit in hits] == [3]
    assert hits[0].kind
    assert hits[0].value in KEYS[name]


@pytest.mark.parametrize("name", KEYS)
def test_no_more_than_four_characters_of_a_value_are_shown(name: str) -> None:
    hit = scan(KEYS[name])[0]
    assert len(hit.shown.rstrip("…")) <= 4
    assert hit.value not in repr(hit)


def test_enough_formats_are_tried() -> None:
    assert len(KEYS) >= 50


def test_ordinary_notes_are_left_in_peace() -> None:
    assert scan(ORDINARY) == []


@pytest.mark.parametrize(
    "text",
    [
        "git clone https://user:pass@example.com/a.git",
        "postgres://app:s3cret@db.example.org:5432/app, or u:pw at https://u:pw@lab.test.",
        "https://<user>:<password>@host/ or https://user:password@registry.company.io",
        "https://user:xxxx@host and sshpass -p '<password>' ssh box",
        'api_key = "your-api-key-here"; {"password": "changeme"}; secret: "xxxxxxxxxxxxxxxx"',
        "OPENAI_API_KEY=sk-proj-" + "x" * 40 + " GITHUB=ghp_" + "x" * 36,
    ],
)
def test_the_placeholders_of_documents_are_left_in_peace(text: str) -> None:
    assert scan(text) == []
    assert masked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "https://admin:hF83kd9sLq@example.com",
        "https://admin:correcthorsebatterystaple@example.com",
        "https://admin:qwer@example.com.evil.io",
        "https://admin:qwer@myexample.com",
        "https://admin:qwer@example.com and again https://admin:qwer@company.io",
        "https://admin:xxxK9d8Fh2@company.io",
        'password = "hunter2-2026"',
        'api_key = "K9d8Fh2LkQ7zTr4m-xxxx"',
    ],
)
def test_what_could_be_real_is_found_beside_an_example(text: str) -> None:
    assert len(scan(text)) == 1


def test_this_project_holds_no_secret() -> None:
    files = [*ROOT.glob("docs/*.md"), *(path for path in ROOT.glob("vault_tool/**/*.py") if path.name != "secrets.py")]
    assert len(files) > 50
    assert {path.name: hits for path in files if (hits := scan(path.read_text()))} == {}


@pytest.mark.parametrize(
    "marker",
    [
        MARKER,
        "<!--vt: allow-secret-->",
        "pragma: allowlist secret",
        "# pragma: allowlist secret",
        "<!-- pragma: allowlist secret -->",
    ],
)
def test_a_marked_line_is_allowed_and_no_other(marker: str) -> None:
    key, other = KEYS["github classic"], KEYS["stripe"]
    assert [hit.line for hit in scan(f"{key} {marker}\n{other}\n")] == [2]
    assert [hit.line for hit in scan(f"{key} {marker}\r\n{other}\r\n")] == [2]


def test_a_marker_counts_at_the_end_of_a_line_alone() -> None:
    assert len(scan(f"{MARKER} {KEYS['stripe']}")) == 1
    assert len(scan(f"{MARKER}\n{KEYS['stripe']}")) == 1


def test_a_marked_value_is_allowed_where_it_is_repeated_also_cut_short() -> None:
    key = KEYS["openai plain"]
    text = f"title: {key[:40]}\n\n{key} {MARKER}\n"
    assert scan(text) == []
    assert scan(f"title: {key}", marked_lines(text)) == []


def test_a_text_that_is_allowed_elsewhere_is_no_hit() -> None:
    key = KEYS["anthropic"]
    assert scan(f"Now with {key}", [f"It was {key} before"]) == []


def test_masking_keeps_all_but_the_values() -> None:
    key = KEYS["npm"]
    assert masked(f"One\nuse {key}, twice {key}.\nThree") == f"One\nuse {key[:4]}…, twice {key[:4]}….\nThree"
    assert masked(ORDINARY) == ORDINARY


def test_a_very_long_line_is_looked_at_whole() -> None:
    line = f"{'x ' * 60_000}{KEYS['gitlab']}{' y' * 60_000}"
    assert [hit.kind for hit in scan(line)] == ["GitLab token"]


def test_the_same_line_is_named_once() -> None:
    assert len(scan(f"{KEYS['npmrc']} {KEYS['stripe']}")) == 1


def test_a_hit_says_what_it_is() -> None:
    assert scan(KEYS["aws id"]) == [Secret(1, "AWS key", "AKIA…", "")]


def test_the_library_is_loaded_for_suspicious_texts_alone() -> None:
    code = (
        "import sys; from vault_tool.files.secrets import scan; "
        "assert not scan(sys.argv[1]); assert 'detect_secrets' not in sys.modules; "
        "assert scan(sys.argv[2]); assert 'detect_secrets' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, ORDINARY, KEYS["twilio"]], check=True)


@pytest.mark.parametrize(
    "text",
    [
        "DB_PASSWORD=Sup3rS3cret9xQ",
        "password: hunter2xyzA9",
        "the db password = hunter2xyzA9",
        "The password is hunter2xyzA9.",
        "**Password:** aB3dE5fG7h",
        "Password: Tr0ub4dor&3",
        "pwd=Xk29dLq0",
        "PGPASSWORD='aB3dE5fG7h' psql",
    ],
)
def test_a_short_password_is_found_where_it_is_given_to_its_name(text: str) -> None:
    assert len(scan(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Server=db;Uid=sa;Pwd=P@ssw0rd1; or pwd=Pass@word1;",
        "password = MyPassw0rd12, Password: Password123, secret=super_s3cr3t",
        "password=Uint8Array, secret: /home/User2/x9, pwd = $MyPass22word",
        "postgres://postgres:postgres@localhost and https://user_123:123456789012345@host.io",
        "secret_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY, sk_test_BQokikJOvBiI2HlWgH4olfQ2",
        'password = "postgres"; "secret": "V1SecretReference"; "api_key": "OPENAI_API_KEY"',
        'key="-----BEGIN PRIVATE KEY-----\\nXXXX\\nXXXX\\n-----END PRIVATE KEY-----"',
    ],
)
def test_the_samples_that_vendors_print_are_left_in_peace(text: str) -> None:
    assert scan(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "SECRET_KEY_BASE=abc123efg456",
        "API_TOKEN=defg4567uvwxyz",
        "password: ABCdef123456",
        "Set-Cookie: discount=BAhpMg==--2c1c6906c90a3bc4fd54a51ffb41dffa4bf6b5f7; path=/",
        "Cookie: theme=ZGFyaw==--9b1d5e7c3a2f4860718293a4b5c6d7e8f9012345",
        "Set-Cookie: locale=en--9b1d5e7c3a2f4860718293a4b5c6d7e8f9012345",
    ],
)
def test_what_is_counted_up_and_a_setting_that_is_signed_are_left_in_peace(text: str) -> None:
    assert scan(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "SECRET_KEY_BASE=abc193efg456",
        "API_TOKEN=defg4567uvwxya7b",
        "Set-Cookie: user_id=BAhpMg==--2c1c6906c90a3bc4fd54a51ffb41dffa4bf6b5f7; path=/",
        "Set-Cookie: _app_session=BAhpMg==--2c1c6906c90a3bc4fd54a51ffb41dffa4bf6b5f7",
        "Set-Cookie: discount=BAh7CEkiD3Nlc3Npb25faWQGOgZFVEkiJTk5--2c1c6906c90a3bc4fd54a51ffb41dffa4bf6b5f7",
        "Cookie: discount=q8Z2mX7LtK4vBs9Wd1RpN6",
    ],
)
def test_what_is_nearly_counted_up_and_who_is_signed_are_found(text: str) -> None:
    assert len(scan(text)) == 1


LISTS = Path(__file__).parent.parent / "corpus" / "secrets"


def listed(name: str) -> list[str]:
    """The forms of a list, with what keeps scanners of repositories off taken out."""
    lines = (LISTS / f"{name}.txt").read_text("utf-8").splitlines()
    return [line.replace("¦", "").replace("\\n", "\n") for line in lines if not line.startswith("#")]


@pytest.mark.parametrize("text", [*listed("found"), *listed("found_2"), *listed("found_3")])
def test_a_secret_is_found_in_each_form_in_which_people_write_it(text: str) -> None:
    assert scan(text) != []
    assert masked(text) != text


@pytest.mark.parametrize("text", [*listed("harmless"), *listed("harmless_2"), *listed("harmless_3")])
def test_a_sentence_that_speaks_of_secrets_and_holds_none_is_left_in_peace(text: str) -> None:
    assert scan(text) == []


def test_enough_forms_and_sentences_are_tried() -> None:
    assert len(listed("found")) >= 100
    assert len(listed("harmless")) >= 200
