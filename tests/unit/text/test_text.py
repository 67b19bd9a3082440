"""Hostile text made safe to show: nothing a terminal obeys, no credential, bounded in bytes and in work."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopx_host.core.text import excerpt, one_line, redact, stderr_tail, visible

TAIL = 4096

ESCAPES = {
    "\x1b[2J": "\\x1b[2J",
    "\x1b]0;title\x07": "\\x1b]0;title\\x07",
    "\x1b]8;;http://a\x1b\\x": "\\x1b]8;;http://a\\x1b\\x",
    "\x9b31m": "\\x9b31m",
    "\x9d0;x\x9c": "\\x9d0;x\\x9c",
    "a\rb\x08\x7f\0": "a\\x0db\\x08\\x7f\\x00",
    "\u202eabc\u202c": "\\u202eabc\\u202c",
    "\u2066a\u2069\u200f\u061c": "\\u2066a\\u2069\\u200f\\u061c",
    "a\u2028b\u2029c\x85d": "a\\u2028b\\u2029c\\x85d",
    "\u200b\ufeff\u00ad": "\\u200b\\ufeff\\xad",
    "\ud800": "\\ud800",
    "\udcff\udc80": "\\xff\\x80",
    "\U000e0001": "\\U000e0001",
    "\ue000\uffff": "\\ue000\\uffff",
}


# --- visible and one_line --------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "shown"), ESCAPES.items(), ids=[ascii(text) for text in ESCAPES])
def test_what_a_terminal_obeys_or_hides_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize("text", ["", "plain", "naïve 读取 😀", "a\u00a0b\u3000c", "e\u0301", "a\\x1b", "שלום"])
def test_text_for_people_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


def test_kept_characters_stay_and_only_they() -> None:
    assert visible("a\nb\tc\r\x1b", keep="\n\t") == "a\nb\tc\\x0d\\x1b"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a b", "a b"),
        ("\u00a0", "\\xa0"),
        ("\u3000", "\\u3000"),
        ("\\", "\\\\"),
        ("\x1b", "\\x1b"),
        ("\udcff", "\\xff"),
        ("é", "é"),
    ],
)
def test_exactly_visible_text_writes_out_every_space_and_doubles_a_backslash(text: str, shown: str) -> None:
    assert visible(text, exact=True) == shown


@given(st.text().filter(str.isprintable), st.text(st.characters() | st.sampled_from("\\x1b\udcff")))
def test_no_text_can_be_written_that_is_exactly_visible_like_the_escapes_of_another(plain: str, other: str) -> None:
    assert (visible(plain, exact=True) == visible(other, exact=True)) == (plain == other)


def test_what_is_kept_stays_when_exact() -> None:
    assert visible("a\nb\\", keep="\n", exact=True) == "a\nb\\\\"


def test_no_control_format_or_surrogate_character_survives() -> None:
    everything = "".join(map(chr, range(0x110000)))

    categories = {unicodedata.category(char) for char in visible(everything)}

    assert categories.isdisjoint({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def test_one_line_is_one_line_within_its_limit() -> None:
    assert one_line("a\nb\r\n\u2028c") == "a\\x0ab\\x0d\\x0a\\u2028c"
    assert one_line("x" * 200) == "x" * 200
    assert one_line("x" * 201) == "x" * 199 + "…"
    assert len(one_line("\x1b" * 1_000_000, 80)) == 80


# --- redact ----------------------------------------------------------------------------------------------

SECRET = "hunter2hunter2hunter2hunter2"
BODY = "MIIEpAIBAAKCAQEA\nSecretBody+/=\n"

SHAPES = {
    "password=VALUE": "secret",
    "PASSWORD: VALUE": "secret",
    "passwd = 'VALUE'": "secret",
    "db_password=VALUE": "secret",
    'api_key="VALUE"': "secret",
    "API-KEY: VALUE": "secret",
    "apikey=VALUE": "secret",
    "access_key = VALUE": "secret",
    "client_secret: VALUE": "secret",
    "AWS_SECRET_ACCESS_KEY=VALUE": "secret",
    "X-Auth-Token: VALUE": "secret",
    "token=VALUE": "secret",
    '{"token": "VALUE"}': "secret",
    '{\\"token\\": \\"VALUE\\"}': "secret",
    'password="correct VALUE staple"': "secret",
    "password='correct VALUE staple'": "secret",
    "A_VERY_LONG_PREFIX_OF_MORE_THAN_FORTY_CHARACTERS_PASSWORD=VALUE": "secret",
    "Authorization: Bearer VALUE": "authorization",
    "authorization: basic U0VDUkVUOlNFQ1JFVAVALUE==": "authorization",
    "https://user:VALUE@example.org/x": "url-password",
    "postgres://:VALUE@host/db": "url-password",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.VALUE": "jwt",
    "ghp_VALUE": "github-token",
    "github_pat_VALUE": "github-token",
    "xoxb-VALUE": "slack-token",
    "sk-VALUE": "api-key",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_credential_shape_is_replaced_by_its_kind(shape: str) -> None:
    text = f"before {shape.replace('VALUE', SECRET)} after"

    shown = redact(text)

    assert SECRET not in shown
    assert f"‹redacted:{SHAPES[shape]}›" in shown
    assert shown.startswith("before ")


@pytest.mark.parametrize("prefix", ["AKIA", "ASIA"])
def test_a_cloud_key_id_is_replaced(prefix: str) -> None:
    assert redact(f"id {prefix}ABCDEFGHIJKLMNOP end") == "id ‹redacted:aws-key› end"


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
@pytest.mark.parametrize("headers", ["", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00FF\n\n"])
def test_a_private_key_is_replaced_with_its_whole_body(kind: str, headers: str) -> None:
    key = f"-----BEGIN {kind}PRIVATE KEY-----\n{headers}{BODY}-----END {kind}PRIVATE KEY-----"

    assert redact(f"before {key} after") == "before ‹redacted:private-key› after"


def test_a_pgp_private_key_is_replaced() -> None:
    key = f"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: x\n\n{BODY}-----END PGP PRIVATE KEY BLOCK-----"

    assert redact(key) == "‹redacted:private-key›"


def test_a_private_key_without_an_end_is_replaced_too() -> None:
    assert "SecretBody" not in redact(f"-----BEGIN PRIVATE KEY-----\n{BODY}")


def test_every_credential_of_a_text_is_replaced() -> None:
    shown = redact("".join(f"{shape.replace('VALUE', SECRET)}\n" for shape in SHAPES))

    assert SECRET not in shown


def test_what_surrounds_a_secret_stays() -> None:
    assert redact("https://user:hunter2@host/db?x=1") == "https://user:‹redacted:url-password›@host/db?x=1"
    assert redact("password=hunter2; retry") == "password=‹redacted:secret›; retry"
    assert redact('{"token": "hunter2", "n": 1}') == '{"token": "‹redacted:secret›", "n": 1}'


@pytest.mark.parametrize(
    "text",
    [
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nKeyError: 'name'",
        "the password was wrong",
        "token expired",
        "http://host:8080/path@2",
        "-----BEGIN CERTIFICATE-----",
        "sk-short ghp_short eyJ.a",
        "a secret: ",
        'password=""',
    ],
)
def test_text_without_a_credential_stays(text: str) -> None:
    assert redact(text) == text


HOSTILE = {
    "words": "password" * 41_666,
    "dotted": "a." * 166_666,
    "quotes": 'password="' * 33_333,
    "blanks": "token    " * 36_666,
    "labels": ("secret" + "a" * 20 + " " * 4) * 11_000,
    "colons": "a://:" * 66_666,
    "users": ("a://" + "b" * 120 + ":") * 2_666,
    "hosts": "a" * 333_333,
    "begins": "-----BEGIN " * 30_000,
    "keys": "-----BEGIN PRIVATE KEY-----" * 12_333,
    "dashes": "-----BEGIN PRIVATE KEY-----" + "-" * 323_333,
    "half keys": ("-----BEGIN " + "A" * 39) * 6_666,
    "jwt": "eyJ" * 111_000,
    "jwt dots": "eyJaaaaaaaa." * 27_666,
    "bearer": "bearer " * 46_666,
    "github": "ghp_" * 83_333,
    "escapes": "\x1b" * 333_333,
    "lines": "\n" * 333_333,
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_repetition_costs_linear_work(text: str) -> None:
    """Up to 333,000 characters: quadratic work on them would meet the time-out of this test."""
    tail = stderr_tail(text.encode())

    assert tail is not None
    assert len(tail.encode()) <= TAIL


# --- stderr_tail -----------------------------------------------------------------------------------------


def test_no_standard_error_has_no_tail() -> None:
    assert stderr_tail(b"") is None


def test_a_short_standard_error_is_shown_whole() -> None:
    """run_crash_no_json (case 79)"""
    assert stderr_tail(b"Traceback:\n\tboom \x1b[31mred\xff\n") == "Traceback:\n\tboom \\x1b[31mred\ufffd\n"


@pytest.mark.parametrize("character", ["x", "é", "读", "😀", "\x1b", "\u202e"])
def test_the_tail_is_the_end_and_at_most_4_kib_of_utf_8(character: str) -> None:
    tail = stderr_tail(("begin" + character * 9_000 + "end").encode())

    assert tail is not None
    assert TAIL - 16 < len(tail.encode()) <= TAIL
    assert tail.endswith("end")
    assert "\ufffd" not in tail


def test_exactly_4_kib_are_shown_whole() -> None:
    assert stderr_tail(b"x" * TAIL) == "x" * TAIL
    assert stderr_tail(b"y" + b"x" * TAIL) == "x" * TAIL


@pytest.mark.parametrize("length", [TAIL - 8, TAIL, TAIL + 8, 3 * TAIL, 4 * TAIL, 5 * TAIL, 900_000])
def test_a_credential_that_the_cut_goes_through_is_not_shown(length: int) -> None:
    secret = "s3cr3t" * (length // 6)

    tail = stderr_tail(f"starting\npassword={secret}\nfailed\n".encode())

    assert tail is not None
    assert "s3cr3t" not in tail
    assert tail.endswith("‹redacted:secret›\nfailed\n")


def test_a_private_key_that_the_cut_goes_through_is_not_shown() -> None:
    body = "\n".join(["QUJD" * 16] * 400)

    tail = stderr_tail(f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\nfailed".encode())

    assert tail == "‹redacted:private-key›\nfailed"


def test_secrets_that_shrink_do_not_pull_a_cut_one_into_the_tail() -> None:
    first, rest = "s3cr3t" * 200, "x" * 1000

    tail = stderr_tail((f"password={first}\n" + f"password={rest}\n" * 16).encode())

    assert tail is not None
    assert "s3cr3t" not in tail


# --- excerpt ---------------------------------------------------------------------------------------------


def test_an_excerpt_is_one_clean_line_of_the_beginning() -> None:
    assert excerpt(b"log \x1b[1mline\n\xff{}") == "log \\x1b[1mline\\x0a\ufffd{}"
    assert excerpt(b"x" * 1_000_000) == "x" * 159 + "…"
    assert excerpt(b"abcdef", limit=4) == "abc…"


@pytest.mark.parametrize("repeats", [1, 25, *range(98, 108), 2_000])
def test_an_excerpt_shows_no_part_of_a_credential(repeats: int) -> None:
    """Also where a long secret that shrinks pulls the next one to the front."""
    data = f"password={'s3cr3t' * repeats} https://user:s3cr3t@host"

    assert "s3cr" not in excerpt(data.encode())
