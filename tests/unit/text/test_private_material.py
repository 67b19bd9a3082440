"""The private-material classifier: what it finds at any depth, what it leaves alone, and that it repeats nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopx_host.assembly import presentation
from loopx_host.core.private_material import PATH_KINDS, findings, kind_of_name, kinds_of_text
from loopx_host.core.text import credential_shapes, redact

# Written in parts, so that this file is no hit of a scanner.
TOKEN = "ghp_" + "a1B2" * 6
JWT = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxIn0" + ".c2lnbmF0dXJl"
PEM = "-----BEGIN " + "RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END " + "RSA PRIVATE KEY-----"

NAMES = {
    "credential-name": [
        *("password", "PASSWORD", "passWord", "db_password", "user-password", "passwd", "passphrase", "passwordHash"),
        *("secret", "clientSecret", "client_secret", "token", "accessToken", "refresh_token", "authToken"),
        *("apiKey", "api_key", "API-KEY", "X-Api-Key", "APIKey", "apikey", "access_key", "secretKey"),
        *("authorization", "Authorization", "proxy-authorization", "authorizationHeader", "cookie", "Set-Cookie"),
        *("private_key", "privateKeyPem", "ssh-private-key", "credential", "credentials", "credentialId", "secrets"),
    ],
    "raw-body-name": ["responseBody", "response_body", "response-body", "responsebody", "raw_body", "rawBody"],
}
HARMLESS_NAMES = [
    *("tokens", "token_count", "max_tokens", "input_tokens", "password_policy", "cookie_banner", "secret_name"),
    *("author", "body", "response", "key", "keyboard", "monkey", "path", "secretary", "drawbody", "api", ""),
]
TEXTS = {
    "private-key": [PEM],
    "url-password": ["https://me:hunter2@example.org/x", "postgres://u:p4ss@db/x"],
    "authorization": [
        "Authorization: Bearer abcdefghijkl",
        "curl -H 'bearer 9a8b7c6d5e4f3a2b'",
        "Basic dXNlcjpwYXNz",
    ],
    "jwt": [JWT, f"see {JWT}."],
    "aws-key": ["AKIA" + "ABCDEFGHIJKLMNOP"],
    "github-token": [TOKEN],
    "slack-token": ["xoxb-" + "0123456789-abc"],
    "api-key": ["sk-" + "abcdefghijklmnop"],
    "secret": [
        *(
            "password=letmein",
            "password = letmein",
            "PASSWORD: hunter2",
            'api_key: "abcdef"',
            "token: token: hunter2x",
        ),
        *("the secret: is it password=letmein", "access_key=AB12"),
    ],
    "home-path": [
        *("/home/alice", "see /home/alice/notes.md", "(/Users/alice)", "path=/root/x", "C:\\Users\\alice", "~/notes"),
        *("c:/users/alice", "C:\\\\Users\\\\alice", "/mnt/c/Users/alice", "D:\\Documents and Settings\\alice"),
    ],
    "file-url": ["file:///srv/x", "see FILE://host/share"],
}
PROSE = [
    *("basic knowledge of the subject", "the bearer certificates", "Basic authentication", "Tokens: 1200 used"),
    *(
        "max_tokens=1200",
        "tokens: 1,200",
        "The secret: patience",
        "password: required",
        "token: optional",
        "token: OAuth2",
    ),
    *("api key: see the manual", "The token: it is kept.", "password=***", "token=<your token>", "token=$TOKEN"),
    *("secret=‹redacted:secret›", "https://u:‹redacted:url-password›@example.org/", "half/half, about ~5/10"),
    *(
        "src/app.py",
        "repo:src/app.py",
        "https://example.org/home/alice",
        "the /home page",
        "/root",
        "/usr/bin/python",
    ),
    *("profile:///x", "me@example.org", "2025-01-02T03:04:05Z", "a" * 64, "密码: 无", "-----BEGIN CERTIFICATE-----"),
    *("~", "a~/b", "x/~/y", "tokens per second: 1200k"),
]


def kinds(value: object, **options: bool) -> set[str]:
    return {row["kind"] for row in findings(value, **options)}


# --- names -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in NAMES.items() for name in names])
def test_a_value_under_a_private_name_is_found(kind: str, name: str) -> None:
    """invoke_private_material (case 117)"""
    assert kinds({"a": [{name: "plain words"}]}) == {kind}


@pytest.mark.parametrize("name", HARMLESS_NAMES)
def test_a_harmless_name_is_left_alone(name: str) -> None:
    assert findings({name: "plain words"}) == []


@pytest.mark.parametrize("value", [None, True, False, "", [], {}])
def test_a_private_name_over_nothing_is_left_alone(value: object) -> None:
    assert findings({"password": value}) == []


@pytest.mark.parametrize("value", [0, 1234, {"scheme": "x"}, ["x"]])
def test_a_private_name_over_anything_else_is_found(value: object) -> None:
    assert kinds({"password": value}) == {"credential-name"}


def test_a_plural_over_a_number_is_a_count() -> None:
    assert findings({"secrets": 3}) == []
    assert kinds({"secrets": ["x"]}) == {"credential-name"}


# --- values ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in TEXTS.items() for text in texts])
def test_a_private_value_is_found(kind: str, text: str) -> None:
    """invoke_private_material (case 117)"""
    assert kind in kinds({"items": [{"value": text}]})


@pytest.mark.parametrize("text", PROSE)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert findings({"items": [{"value": text}]}) == []


def test_a_private_text_as_a_name_is_found_and_not_repeated() -> None:
    rows = findings({"/home/alice": {TOKEN: 1}})

    assert {row["kind"] for row in rows} == {"home-path", "github-token"}
    assert "alice" not in json.dumps(rows)
    assert TOKEN not in json.dumps(rows)


def test_paths_can_be_allowed_and_nothing_else_with_them() -> None:
    value = {"at": "/home/alice/x", "link": "file:///x", "say": TOKEN}

    assert kinds(value, allow_paths=True) == {"github-token"}
    assert kinds(value) - kinds(value, allow_paths=True) == PATH_KINDS


def test_findings_are_in_the_order_of_their_places_whatever_the_order_of_members() -> None:
    members = {"b": TOKEN, "a": ["password=letmein", {"token": f"{TOKEN} /home/alice"}], "c": {"cookie": "x"}}
    places = [
        *(("/a/0", "secret"), ("/a/1/token", "credential-name"), ("/a/1/token", "github-token")),
        *(("/a/1/token", "home-path"), ("/b", "github-token"), ("/c/cookie", "credential-name")),
    ]

    for order in (members, dict(reversed(members.items())), dict(sorted(members.items()))):
        assert [(row["pointer"], row["kind"]) for row in findings(order)] == places


def test_there_is_one_table_of_credential_shapes() -> None:
    assert {kind for kind, _ in credential_shapes()} == set(TEXTS) - PATH_KINDS


# --- bounds ----------------------------------------------------------------------------------------------


def nested(levels: int, inner: object) -> object:
    for _ in range(levels):
        inner = {"a": inner}
    return inner


def test_what_is_nested_too_deep_is_not_passed_over() -> None:
    assert findings(nested(64, "fine")) == []
    assert kinds(nested(65, "fine")) == {"too-deep"}
    assert kinds(nested(100_000, "fine")) == {"too-deep"}


@pytest.mark.parametrize("value", [["x"] * 300_000, {"a": "x" * 5_000_000}], ids=["values", "characters"])
def test_what_is_too_large_is_not_passed_over(value: object) -> None:
    assert findings(value) == [{"pointer": "", "kind": "too-large"}]


@pytest.mark.parametrize("value", [b"bytes", {1: "x"}, ("a",), object()])
def test_what_is_no_json_is_not_passed_over(value: object) -> None:
    assert kinds({"a": value}) == {"not-json"}


def test_of_many_findings_a_hundred_are_returned() -> None:
    assert len(findings([TOKEN] * 1000)) == 100


def test_what_only_looks_like_a_secret_hides_none_behind_it() -> None:
    assert kinds_of_text("token: any " * 100) == set()
    assert kinds_of_text("token: any " * 100 + "password=letmein") == {"secret"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("token:" * 100_000, {"secret"}),
        ("bearer knowledge " * 50_000, {"authorization"}),
        ("secret: x " * 50_000, set()),
    ],
    ids=["named", "header", "short"],
)
def test_a_text_with_more_decoys_than_are_looked_at_is_not_passed_over(text: str, found: set[str]) -> None:
    assert kinds_of_text(text) == found


# --- laws ------------------------------------------------------------------------------------------------

words = st.text(alphabet=st.characters(codec="ascii", categories=["Ll"]), min_size=1, max_size=6)
clean = st.recursive(
    st.none() | st.booleans() | st.integers(0, 9) | words.filter(lambda word: not kinds_of_text(word)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(words.filter(lambda word: kind_of_name(word) is None), inner, max_size=3)
    ),
    max_leaves=8,
)
secrets = st.sampled_from([text for texts in TEXTS.values() for text in texts])


@st.composite
def planted(draw: st.DrawFn) -> tuple[Any, str]:
    """Draw a clean value that holds one secret somewhere, and the secret."""
    secret = draw(secrets)
    value: Any = secret
    for _ in range(draw(st.integers(1, 30))):
        beside = draw(clean)
        value = draw(st.sampled_from([{"a": value, "z": beside}, [beside, value], {"z": beside, "a": [value]}]))
    return value, secret


@given(clean)
def test_a_clean_value_has_no_findings(value: object) -> None:
    assert findings(value) == []


@given(planted())
def test_a_planted_secret_is_found_at_any_depth_and_never_repeated(drawn: tuple[Any, str]) -> None:
    value, secret = drawn

    rows = findings(value)

    assert {row["kind"] for row in rows} == kinds_of_text(secret) != set()
    assert all(secret not in row["pointer"] for row in rows)


@given(planted())
def test_the_same_value_has_the_same_findings(drawn: tuple[Any, str]) -> None:
    value, _ = drawn
    before = json.dumps(value)

    assert findings(value) == findings(value)
    assert json.dumps(value) == before


def reversed_members(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reversed_members(child) for key, child in reversed(value.items())}
    return [reversed_members(child) for child in value] if isinstance(value, list) else value


@given(planted())
def test_the_order_of_members_does_not_matter(drawn: tuple[Any, str]) -> None:
    value, _ = drawn

    assert findings(reversed_members(value)) == findings(value)


@given(st.sampled_from([text for kind, texts in TEXTS.items() if kind not in PATH_KINDS for text in texts]))
def test_what_was_redacted_is_no_finding(secret: str) -> None:
    assert findings({"tail": redact(secret)}) == []


def test_the_public_seam_offers_this_classifier_and_no_other() -> None:
    assert presentation.private_findings is findings
