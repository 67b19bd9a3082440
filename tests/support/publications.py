"""Worlds in memory that hold one ready extension with the surface `board`."""

from __future__ import annotations

import json
from typing import Any

from loopx_host.documents.sections_view import ID as SECTIONS_VIEW
from tests.support.fakes import Script, World

VIEW = {"title": "Board", "generated_at": "2025-01-01T00:00:00Z", "sections": []}
Row = dict[str, Any]
SURFACE = """
[[presentation_surfaces]]
id = "board"
kind = "note_board"
title = "Notes"
view_schema = "{schema}"
view_validator = "made_up.views:check"
visibility = "{visibility}"
empty_state_title = "No notes yet"
empty_state_detail = "Publish some."
"""


def answer(view: object = VIEW) -> Script:
    return Script(stdout=json.dumps({"ok": True, "view": view}).encode())


def world(
    script: Script | None = None,
    *,
    visibility: str = "public-safe",
    schema: str = SECTIONS_VIEW,
    plugins: list[dict[str, str]] | None = None,
    more: str = "",
    top: str = "",
    **entry: Any,
) -> World:
    """Return a world that holds one ready extension with the surface `board`."""
    made = World(script or answer())
    made.holding(top=top, runtime=SURFACE.format(schema=schema, visibility=visibility) + more, **entry)
    if plugins is not None:
        document = made.store.document
        document["extensions"]["probe-me"]["revisions"][0]["plugins"] = plugins
        made.store.data = json.dumps(document).encode()
    return made


def file_of(made: World) -> Any:
    return json.loads(made.projections.published["probe-me", "board"])
