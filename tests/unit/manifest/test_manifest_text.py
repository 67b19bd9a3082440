"""Encodings, syntax and keys that nobody knows: a manifest is plain, bounded TOML without a second reading."""

from __future__ import annotations

import pytest

from tests.support.manifests import (
    Document,
    capability,
    documentation,
    load_document,
    load_text,
    minimal,
    problems,
    refusal,
    surface,
    to_toml,
)

MINIMAL = to_toml(minimal())


# --- encodings and syntax --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + MINIMAL.encode(),
        MINIMAL.encode("utf-16"),
        MINIMAL.encode("utf-16-be").join([b"\xfe\xff", b""]),
        MINIMAL.encode() + b"# \xff\n",
        MINIMAL.encode() + b"# \xed\xa0\x80\n",
    ],
    ids=["bom", "utf-16-le", "utf-16-be", "byte", "surrogate"],
)
def test_a_manifest_that_is_not_plain_utf_8_is_refused(data: bytes) -> None:
    """manifest_bom_dup_utf8 (case 19)"""
    assert refusal(data).code == "manifest_encoding"


@pytest.mark.parametrize(
    "text",
    [
        'id = "twice"\n' + MINIMAL,
        MINIMAL + "\n[runtime]\n",
        MINIMAL + 'protocol = "sample_v0"\n',
        MINIMAL + 'requires = {node = ">=1", node = ">=2"}\n',
        MINIMAL + "x-a = 1\nx-a.b = 2\n",
        MINIMAL + "[x-a.b]\n[x-a]\nb.c = 1\n",
    ],
)
def test_a_duplicate_key_is_refused_by_that_name(text: str) -> None:
    """manifest_bom_dup_utf8 (case 19); the words are promised"""
    refused = refusal(text)

    assert refused.code == "manifest_syntax"
    assert "duplicate key" in refused.diagnostic.summary


@pytest.mark.parametrize(
    "tail", ["[runtime", "x = ", "x = 1979-99-99", "x = " + "9" * 5000, 'x = "\\ud800"', "x = \0", "x = 'a\nb'", "="]
)
def test_text_that_is_not_toml_is_refused(tail: str) -> None:
    assert refusal(MINIMAL + tail).code == "manifest_syntax"


@pytest.mark.parametrize(
    "tail",
    [
        "x-a = " + "[" * 5000 + "]" * 5000,
        "x-a = " + "{a = " * 5000 + "1" + "}" * 5000,
        "x-a = " + "[" * 250_000,
        "x-a." + "a." * 5000 + "a = 1",
        "[x-a." + "a." * 5000 + "a]",
        "x-a = " + "[" * 64 + "]" * 64,
    ],
    ids=["arrays", "inline-tables", "open", "dotted", "header", "one-too-many"],
)
def test_deep_nesting_is_refused(tail: str) -> None:
    """manifest_deep_nesting (case 21)"""
    text = f"{tail}\n{MINIMAL}" if tail.startswith("x") else f"{MINIMAL}\n{tail}\n"

    assert refusal(text).code == "manifest_too_deep"


def test_64_levels_load() -> None:
    manifest = load_text("x-a = " + "[" * 63 + "]" * 63 + "\n" + MINIMAL)

    assert manifest.id == "sample"


# --- keys nobody knows -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "pointer", "nearest"),
    [
        ({**minimal(), "permission": ["notes.read"]}, "permission", "permissions"),
        ({**minimal(), "Permissions": ["notes.read"]}, "Permissions", "permissions"),
        ({**minimal(), "provide": []}, "provide", "provides"),
        (minimal(enviroment=["A"]), "runtime.enviroment", "env"),
        (minimal(timeout_second=5), "runtime.timeout_second", "timeout_seconds"),
        (minimal(required_permission=[]), "runtime.required_permission", "required_permissions"),
        (minimal(colour="red"), "runtime.colour", None),
        ({**minimal(), "provides": [capability(tittle="x")]}, "provides[0].tittle", "title"),
        ({**minimal(), "documentation": documentation(alias=[])}, "documentation.alias", "aliases"),
        ({**minimal(), "presentation_surfaces": [surface(colour="red")]}, "presentation_surfaces[0].colour", None),
    ],
)
def test_a_key_that_is_close_or_in_a_closed_table_is_refused(
    document: Document, pointer: str, nearest: str | None
) -> None:
    """manifest_unknown_key (case 18); where a valid key is close, the row names it"""
    (row,) = problems(document)

    assert (row["code"], row["pointer"]) == ("manifest_unknown_key", pointer)
    assert nearest is None or row["nearest"] == nearest


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({**minimal(), "homepage": "x"}, "homepage"),
        ({**minimal(), "provides": [capability(colour="red")]}, "provides[0].colour"),
        ({**minimal(), "documentation": documentation(colour="red")}, "documentation.colour"),
        ({**minimal(), "tool": {"other": {"permissions": []}}}, "tool"),
    ],
)
def test_any_other_unknown_key_is_a_warning(document: Document, pointer: str) -> None:
    """manifest_unknown_key (case 18)"""
    (warning,) = load_document(document).warnings

    assert (warning.code, warning.pointer) == ("manifest_unknown_key", pointer)


def test_keys_that_start_with_x_are_the_authors_own() -> None:
    document = {
        **minimal(**{"x-timeout_seconds": 5}),
        "x-permissions": [1],
        "provides": [capability(**{"x-title": "y"})],
    }

    assert load_document(document).warnings == ()
