"""`[[presentation_surfaces]]`: exactly these keys, plain text, ids that can name a file, a runtime behind them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.manifests import Document, capability, found, load_document, minimal, without

AT = "presentation_surfaces[0]"
BAD = "manifest_bad_value"


def surface(**keys: object) -> Document:
    return {
        "id": "board",
        "kind": "note_board",
        "title": "Notes",
        "view_schema": "loopx_sections_view_v0",
        "view_validator": "sample.views:check",
        "visibility": "public-safe",
        "empty_state_title": "No notes yet",
        "empty_state_detail": "Publish some.",
        **keys,
    }


def loaded(**keys: object) -> Any:
    """Return the one surface of a manifest as it was loaded."""
    return load_document(with_surfaces(surface(**keys))).form["presentation_surfaces"][0]


def with_surfaces(*surfaces: Document) -> Document:
    return {**minimal(), "presentation_surfaces": list(surfaces)}


PLAIN = [
    *("Notes", "Notes & more", "CI/CD and/or builds", "What is new in 3.11?", "读取 notes — naïve", "a_b * c # 1"),
    *("1/2 done", "Publish it, then look.", "100% (all)", "e.g. this"),
]
NOT_PLAIN = {
    "address": ["https://example.org", "see www.example.org", "mailto:me@example.org", "ftp://x", "javascript:alert"],
    "markup": ["<b>Notes</b>", "a > b", "`code`", "**bold**", "[a](b)", "a &amp; b", "&#60;"],
    "path": [
        "/etc/passwd",
        "see /etc/passwd",
        "~/notes",
        "../up",
        "./here",
        "src/app.py",
        "a/b/c",
        "C:\\Notes",
        "(/srv)",
    ],
    "line": ["two\nlines", "tab\there", "a\u2028b", "\u202eabc", "\x1b[31m"],
    "blank": ["", "  "],
}


@pytest.mark.parametrize("text", PLAIN)
@pytest.mark.parametrize("key", ["title", "empty_state_title", "empty_state_detail"])
def test_plain_text_is_taken(key: str, text: str) -> None:
    assert loaded(**{key: text})[key] == text


@pytest.mark.parametrize("text", [text for texts in NOT_PLAIN.values() for text in texts])
@pytest.mark.parametrize("key", ["title", "empty_state_title", "empty_state_detail"])
def test_text_that_is_not_plain_is_refused(key: str, text: str) -> None:
    """surface_strict_keys (case 27)"""
    assert found(with_surfaces(surface(**{key: text}))) == {(BAD, f"{AT}.{key}")}


@pytest.mark.parametrize(("key", "limit"), [("title", 80), ("empty_state_title", 120), ("empty_state_detail", 240)])
def test_a_text_may_have_its_length_and_no_more(key: str, limit: int) -> None:
    """surface_strict_keys (case 27)"""
    assert loaded(**{key: "x" * limit})[key] == "x" * limit
    assert found(with_surfaces(surface(**{key: "x" * (limit + 1)}))) == {(BAD, f"{AT}.{key}")}


@pytest.mark.parametrize("visibility", ["public", "internal", "PUBLIC-SAFE", "owner"])
def test_another_visibility_is_refused(visibility: str) -> None:
    """surface_strict_keys (case 27)"""
    assert found(with_surfaces(surface(visibility=visibility))) == {(BAD, f"{AT}.visibility")}


def test_an_extra_key_is_refused_and_a_free_one_is_not() -> None:
    """surface_strict_keys (case 27)"""
    assert found(with_surfaces(surface(colour="red"))) == {("manifest_unknown_key", f"{AT}.colour")}
    assert loaded(**{"x-colour": "red"}) == surface()


@pytest.mark.parametrize("key", surface())
def test_a_missing_key_is_refused(key: str) -> None:
    """surface_strict_keys (case 27)"""
    assert found(with_surfaces(without(surface(), key))) == {("manifest_missing_key", f"{AT}.{key}")}


@pytest.mark.parametrize("validator", ["", "check it", "sample/views.py", "sample.views:check()", ":check", "a..b:c"])
def test_a_validator_that_names_no_function_is_refused(validator: str) -> None:
    """surface_strict_keys (case 27)"""
    assert found(with_surfaces(surface(view_validator=validator))) == {(BAD, f"{AT}.view_validator")}


def test_a_duplicate_id_is_refused() -> None:
    """surface_strict_keys (case 27)"""
    document = with_surfaces(surface(), surface(id="other"), surface(title="Again"))

    assert found(document) == {("manifest_duplicate", "presentation_surfaces")}


@pytest.mark.parametrize("name", ["a", "investment-research", "Board.2_x", "9", "x" * 128])
def test_an_id_names_a_file(name: str) -> None:
    assert loaded(id=name)["id"] == name


@pytest.mark.parametrize("name", ["x" * 129, "a/b", "../a", ".a", "a b", "a\\b", "ä", "-a", "a:b"])
def test_an_id_that_could_name_no_file_is_refused(name: str) -> None:
    """surface_strict_keys (case 27)"""
    assert found(with_surfaces(surface(id=name))) == {(BAD, f"{AT}.id")}


def test_a_surface_without_a_runtime_is_refused() -> None:
    """surface_without_runtime (case 28)"""
    document = without({**with_surfaces(surface()), "provides": [capability()]}, "runtime")

    assert found(document) == {("manifest_conflict", "presentation_surfaces")}


def test_all_problems_of_all_surfaces_are_in_one_report() -> None:
    document = with_surfaces(surface(title="<b>"), surface(id="other", kind="a b", visibility="x"))

    assert found(document) == {
        (BAD, "presentation_surfaces[0].title"),
        (BAD, "presentation_surfaces[1].kind"),
        (BAD, "presentation_surfaces[1].visibility"),
    }


def test_a_manifest_without_surfaces_has_none() -> None:
    assert load_document(minimal()).form["presentation_surfaces"] == []
