"""How documents are shown to a person, where no recorded command shows it."""

from __future__ import annotations

from loopx_host.cli import render
from loopx_host.cli.render import invocation, parts
from loopx_host.core.errors import refusal
from loopx_host.documents import invocation as document
from loopx_host.documents.binding import provider


def previewed(*, next_command: tuple[str, ...] | None) -> document.Invocation:
    receipt = document.ready(
        capability_id="notes",
        operation="search",
        effect_class="read_only",
        provider=provider("acme", "0" * 16, f"sha256:{'0' * 64}"),
        goal_id="g1",
        binding_digest=f"sha256:{'0' * 64}",
        invocation_id="i1",
        request_sha256="0" * 64,
        context_ref_count=0,
        owner=None,
    )
    return document.previewed(receipt, refusal("doctor_required", "acme", "stale", next_command=next_command))


def test_a_call_that_would_be_refused_says_the_code_and_the_way_on() -> None:
    ready, refused, way = invocation.to_text(previewed(next_command=("extension", "doctor", "acme"))).splitlines()

    assert ready == "notes search by acme: not_ready (nothing was started; add --execute)"
    assert refused == "it would be refused [doctor_required]"
    assert way.startswith("  next: ")


def test_a_refusal_without_a_way_on_promises_none() -> None:
    lines = invocation.to_text(previewed(next_command=None)).splitlines()

    assert lines[1:] == ["it would be refused [doctor_required]"]


def test_a_terminal_gets_colour_only_where_the_document_has_it() -> None:
    listed = {"ok": True, "schema_version": "x", "extensions": []}

    assert render.to_text("extension_list", listed, in_colour=True) == render.to_text(
        "extension_list", listed, in_colour=False
    )
    assert render.to_text("fields", {"ok": True, "name": "a\x1bb"}, in_colour=True) == "name: a\\x1bb\n"


def test_a_table_is_as_wide_as_its_widest_visible_cell() -> None:
    assert parts.table(["A", "B"], [["\x1b", None], ["longer", 1]]) == "A       B\n\\x1b    None\nlonger  1\n"


def test_fields_that_hold_nothing_are_left_out() -> None:
    document = {"ok": True, "empty": [], "none": None, "rows": [{"a_b": 1, "c": True}, "text"], "inner": {"x": False}}

    assert parts.field_lines(document, 0) == [
        "rows:",
        "  - a b: 1",
        "    c: yes",
        "  - text",
        "inner:",
        "  x: no",
    ]
