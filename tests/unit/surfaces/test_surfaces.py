"""What a surface shows: its state from the file that lies there, and who may see it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from loopx_host.documents.sections_view import ID as SECTIONS_VIEW
from loopx_host.documents.sections_view import OK, section, sections_view
from loopx_host.registry import surfaces
from loopx_host.registry.catalog import Provider
from loopx_host.registry.manifest import Manifest
from loopx_host.registry.schemas import Bundle, check, validator, violations
from loopx_host.registry.surfaces import surface_rows
from loopx_host.registry.view_schemas import core_view_schema
from tests.support.manifests import canonical, capability, load_document, minimal, sha256

NOW = "2025-06-01T12:00:00Z"
VIEW: Any = sections_view("Board", "2025-05-01T00:00:00Z", [section("a", "A", OK, [("label", "value")])])
Row = dict[str, Any]


def surface(surface_id: str = "board", visibility: str = "public-safe", **keys: str) -> Row:
    return {
        "id": surface_id,
        "kind": "note_board",
        "title": "Notes",
        "view_schema": SECTIONS_VIEW,
        "view_validator": "sample.views:check",
        "visibility": visibility,
        "empty_state_title": "No notes yet",
        "empty_state_detail": "Publish some.",
        **keys,
    }


def internal(**keys: str) -> Row:
    return {**capability(visibility="internal"), **keys}


def manifest(*rows: Row, capabilities: tuple[Row, ...] = (), extension_id: str = "sample") -> Manifest:
    document = {**minimal(), "id": extension_id, "presentation_surfaces": list(rows)}
    return load_document({**document, "provides": list(capabilities)} if capabilities else document)


def provider(made: Manifest, *, installed: bool = True, enabled: bool = True, ready: bool = True) -> Provider:
    return Provider(made, installed=installed, enabled=enabled, ready=ready, reason=None, next_command=None)


def seal_of(document: Row) -> str:
    """Return the digest over what a projection says of its view (presentation, *Where it is kept*)."""
    said = {key: value for key, value in document.items() if key not in ("payload", "document_sha256")}
    return sha256(canonical(said))


def resealed(data: bytes, **changes: object) -> bytes:
    """Return a projection that was changed by somebody who knows the format."""
    document = {**json.loads(data), **changes}
    return json.dumps({**document, "document_sha256": seal_of(document)}).encode()


def published(made: Manifest, payload: Row = VIEW, **changes: object) -> bytes:
    """Return the file that publishing writes, with `changes` made to it afterwards."""
    canonical = json.dumps(payload, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    row = made.form["presentation_surfaces"][0]
    document = {
        "schema_version": "extension_projection_v0",
        "extension_id": made.id,
        "revision": made.revision,
        "surface_id": row["id"],
        "visibility": row["visibility"],
        "view_schema": row["view_schema"],
        "published_at": "2025-05-01T00:00:01Z",
        "payload_sha256": hashlib.sha256(canonical).hexdigest(),
        "payload": payload,
    }
    sealed = {**document, "document_sha256": seal_of(document)}
    return json.dumps({**sealed, **changes}).encode()


def row_of(made: Manifest, data: bytes | None, now: str = NOW) -> Any:
    rows = surface_rows([provider(made)], lambda _extension, _surface: data, now)
    assert len(rows) == 1
    return rows[0]


# --- states ----------------------------------------------------------------------------------------------

MADE = manifest(surface())


def test_a_surface_on_which_nothing_was_published_is_empty_and_says_what_it_would_show() -> None:
    row = row_of(MADE, None)

    assert (row["state"], row["payload"], row["published_at"]) == ("empty", None, None)
    assert row["empty_state"] == {"title": "No notes yet", "detail": "Publish some."}


def test_what_the_active_revision_published_is_ready() -> None:
    row = row_of(MADE, published(MADE))

    assert (row["state"], row["reason"]) == ("ready", None)
    assert row["payload"] == VIEW
    assert row["published_at"] == "2025-05-01T00:00:01Z"


@pytest.mark.req("X12")
def test_what_another_revision_published_is_neither_empty_nor_shown_and_names_it() -> None:
    other = manifest(surface(title="Other notes"))

    row = row_of(MADE, published(other))

    assert (row["state"], row["written_by"], row["payload"]) == ("other_revision", other.revision, None)


def test_what_another_revision_published_is_not_the_active_ones_once_its_revision_is_edited() -> None:
    other = manifest(surface(title="Other notes"))

    row = row_of(MADE, published(other, revision=MADE.revision))

    assert (row["state"], row["reason"], row["written_by"], row["payload"]) == (
        "invalid",
        "digest_mismatch",
        None,
        None,
    )


@pytest.mark.parametrize(
    ("review_after", "state"),
    [
        ("2025-06-01T12:00:01Z", "ready"),
        ("2025-06-01T12:00:00Z", "review_due"),
        ("2025-06-01T11:59:59Z", "review_due"),
        ("2025-06-01T13:30:00+02:00", "review_due"),
        ("2025-06-01T11:30:00-02:00", "ready"),
        ("2025-06-01T12:00:00.5Z", "ready"),
        ("soon", "review_due"),
        ("2025-07-01T00:00:00", "review_due"),
        (1, "review_due"),
    ],
)
def test_a_view_is_due_once_its_time_has_come_or_cannot_be_read(review_after: object, state: str) -> None:
    row = row_of(MADE, published(MADE, {**VIEW, "review_after": review_after}))

    assert row["state"] == state
    assert row["payload"]["review_after"] == review_after


BROKEN: dict[str, tuple[bytes, str]] = {
    "no bytes": (b"", "damaged"),
    "half": (published(MADE)[:-10], "damaged"),
    "no object": (b"[]", "damaged"),
    "duplicate key": (published(MADE).replace(b"{", b'{"revision": "x", ', 1), "damaged"),
    "other schema": (published(MADE, schema_version="extension_projection_v1"), "damaged"),
    "no seal": (published(MADE).replace(b"document_sha256", b"x"), "damaged"),
    "revision edited": (published(MADE, revision="0" * 16), "digest_mismatch"),
    "revision no text": (resealed(published(MADE), revision=1), "damaged"),
    "extra key": (published(MADE, more=1), "damaged"),
    "payload no object": (json.dumps({**json.loads(published(MADE)), "payload": []}).encode(), "damaged"),
    "time no text": (published(MADE, published_at=1), "damaged"),
    "payload changed": (published(MADE).replace(b'"Board"', b'"Changed"'), "digest_mismatch"),
    "digest changed": (published(MADE, payload_sha256="0" * 64), "digest_mismatch"),
    "view schema": (resealed(published(MADE), view_schema="other_v0"), "schema_mismatch"),
    "visibility": (resealed(published(MADE), visibility="owner-only"), "schema_mismatch"),
    "extension": (resealed(published(MADE), extension_id="other"), "other_surface"),
    "surface": (resealed(published(MADE), surface_id="other"), "other_surface"),
    "private": (published(MADE, {**VIEW, "title": "/home/alice"}), "private_material"),
}


@pytest.mark.parametrize(("data", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_file_that_is_not_what_was_published_is_invalid_and_not_shown(data: bytes, reason: str) -> None:
    row = row_of(MADE, data)

    assert (row["state"], row["reason"], row["payload"]) == ("invalid", reason, None)


def test_one_damaged_file_spoils_no_other_row() -> None:
    made = manifest(surface("a"), surface("b"))
    files = {"a": b"{", "b": None}

    rows = surface_rows([provider(made)], lambda _, name: files[name], NOW)

    assert [(row["surface_id"], row["state"]) for row in rows] == [("a", "invalid"), ("b", "empty")]


def test_an_owner_only_view_may_name_paths() -> None:
    made = manifest(surface(visibility="owner-only"))

    assert row_of(made, published(made, {**VIEW, "title": "/home/alice"}))["state"] == "ready"
    assert row_of(made, published(made, {**VIEW, "title": "password=letmein"}))["state"] == "invalid"


# --- who may see it --------------------------------------------------------------------------------------

OFF = {"installed": True, "enabled": False, "ready": False}
STALE = {"installed": True, "enabled": True, "ready": False}
DECLARED = {"installed": False, "enabled": False, "ready": False}
ON = {"installed": True, "enabled": True, "ready": True}
PUBLIC_ONE, INTERNAL_ONE = capability(), internal(id="inner", kind="inner_kind")
MATRIX = [
    # visibility, activation, capabilities → public sees it
    ("public-safe", ON, (), True),
    ("public-safe", ON, (PUBLIC_ONE,), True),
    ("public-safe", ON, (PUBLIC_ONE, INTERNAL_ONE), True),
    ("public-safe", ON, (INTERNAL_ONE,), False),
    ("public-safe", ON, (PUBLIC_ONE, internal(id="inner", kind="note_board")), False),
    ("public-safe", STALE, (), False),
    ("public-safe", OFF, (), False),
    ("public-safe", DECLARED, (), False),
    ("owner-only", ON, (), False),
    ("owner-only", ON, (PUBLIC_ONE,), False),
    ("owner-only", ON, (INTERNAL_ONE,), False),
    ("owner-only", STALE, (), False),
    ("owner-only", OFF, (), False),
    ("owner-only", DECLARED, (), False),
]


@pytest.mark.parametrize(("visibility", "activation", "capabilities", "seen"), MATRIX)
def test_who_sees_a_surface(
    visibility: str, activation: dict[str, bool], capabilities: tuple[Row, ...], seen: bool
) -> None:
    one = provider(manifest(surface(visibility=visibility), capabilities=capabilities), **activation)

    public = surface_rows([one], lambda *_: None, NOW, "public")
    owner = surface_rows([one], lambda *_: None, NOW, "owner")

    assert bool(public) is seen
    assert [row["surface_id"] for row in owner] == ["board"]


def test_nobody_else_sees_anything() -> None:
    assert surface_rows([provider(MADE)], lambda *_: None, NOW, "somebody") == []


def test_off_is_not_hidden_from_the_owner() -> None:
    row = surface_rows([provider(MADE, enabled=False, ready=False)], lambda *_: published(MADE), NOW)[0]

    assert (row["enabled"], row["ready"], row["state"]) == (False, False, "ready")


def test_what_is_only_declared_shows_nothing_that_was_left_behind() -> None:
    row = surface_rows([provider(MADE, **DECLARED)], lambda *_: published(MADE), NOW)[0]

    assert (row["state"], row["payload"]) == ("empty", None)


def test_rows_are_in_the_order_of_their_names() -> None:
    second, first = (manifest(surface("z"), surface("a"), extension_id=name) for name in ("second", "first"))

    rows = surface_rows([provider(second), provider(first)], lambda *_: None, NOW)

    assert [(row["extension_id"], row["surface_id"]) for row in rows] == [
        *(("first", "a"), ("first", "z"), ("second", "a"), ("second", "z")),
    ]


def test_a_surface_of_a_state_file_that_lacks_its_keys_is_left_out() -> None:
    form: Any = {**MADE.form, "presentation_surfaces": [{"id": "odd"}]}

    assert surface_rows([provider(Manifest(form))], lambda *_: None, NOW) == []


# --- the schema that core knows --------------------------------------------------------------------------


def wrong(view: object) -> set[str]:
    schema = core_view_schema(SECTIONS_VIEW)
    assert schema is not None
    judge = validator(Bundle(SECTIONS_VIEW, schema, {}))
    return {row["pointer"] for row in violations(judge, view)}


def test_the_view_schema_of_core_could_be_one_of_a_package() -> None:
    schema = core_view_schema(SECTIONS_VIEW)

    assert schema is not None
    check(Bundle(SECTIONS_VIEW, schema, {}))


def test_core_knows_no_other_schema() -> None:
    assert core_view_schema("note_board_v0") is None


def test_what_the_view_helpers_make_follows_the_schema() -> None:
    assert wrong(VIEW) == set()
    assert wrong(sections_view("T", NOW, [], review_after="2025-06-01T12:00:00.5+02:00")) == set()


@pytest.mark.parametrize("text", ["a < b", "1<2 <3", "<", "读取", "https://example.org", "x" * 300])
def test_a_view_holds_plain_text(text: str) -> None:
    assert wrong({**VIEW, "title": text}) == set()


@pytest.mark.parametrize(
    "text", ["", "<b>", "<<b>", "</b", "<!--", "a\n", "a\nb", "\x1b[0m", "\u202ea", "x" * 301, 1]
)
def test_a_view_holds_nothing_but_plain_text(text: object) -> None:
    bad = {"id": "a", "title": "A", "status": "ok", "items": [{"label": "l", "value": text}]}

    assert wrong({**VIEW, "title": text}) == {"/title"}
    assert wrong({**VIEW, "sections": [bad]}) == {"/sections/0/items/0/value"}


@pytest.mark.parametrize("time", ["2025-13-01T00:00:00Z", "2025-01-01", "2025-01-01T00:00:00", "now", "", 1])
@pytest.mark.parametrize("key", ["generated_at", "review_after"])
def test_a_time_of_a_view_is_rfc_3339(key: str, time: object) -> None:
    assert wrong({**VIEW, key: time}) == {f"/{key}"}


@pytest.mark.parametrize(
    "change",
    [
        {"more": 1},
        {"sections": [{**section("a", "A", OK, []), "more": 1}]},
        {"sections": [section("a", "A", "fine", [])]},
        {"sections": [section(str(number), "A", OK, []) for number in range(33)]},
        {"sections": [section("a", "A", OK, [("l", "v")] * 201)]},
        {"schema_version": "other_view_v0"},
    ],
    ids=["extra", "extra in a section", "status", "sections", "items", "another schema"],
)
def test_a_view_beyond_its_bounds_breaks_the_schema(change: Row) -> None:
    assert wrong({**VIEW, **change}) != set()


def test_what_is_written_is_what_is_shown() -> None:
    document = surfaces.projection(MADE, MADE.form["presentation_surfaces"][0], VIEW, NOW)

    row = row_of(MADE, surfaces.projection_bytes(document))

    assert (row["state"], row["payload"], row["payload_sha256"]) == ("ready", VIEW, document["payload_sha256"])
