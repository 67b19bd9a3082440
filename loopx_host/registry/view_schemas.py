"""The view schemas that core itself knows, and how a view is written for them.

Which schema judges a view is said by the manifest of a surface, never by the view: a provider cannot choose its own
judge (contract section 5). Schemas of packages come through the hook `loopx_view_schemas`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Row = dict[str, Any]

SECTIONS_VIEW = "loopx_sections_view_v0"
OK, ATTENTION, UNKNOWN = STATUSES = ("ok", "attention", "unknown")
SECTIONS, ITEMS, TEXT_LENGTH = 32, 200, 300

# No control or bidi character, and no `<` that begins a tag; written so that judging is linear.
_CONTROLS = r"\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
_PLAIN = rf"^(?:[^<{_CONTROLS}]|<+[^<A-Za-z/!?{_CONTROLS}])*<*$"
_MOMENT = (
    r"^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    r"(?:\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])$"
)
_TEXT: Row = {"type": "string", "minLength": 1, "maxLength": TEXT_LENGTH, "pattern": _PLAIN}
_TIME: Row = {"type": "string", "maxLength": 40, "pattern": _MOMENT}


def _closed(required: Row, optional: Row | None = None) -> Row:
    properties = {**required, **(optional or {})}
    return {"type": "object", "additionalProperties": False, "required": list(required), "properties": properties}


def _list_of(item: Row, most: int) -> Row:
    return {"type": "array", "maxItems": most, "items": item, "uniqueItems": True}


VIEW_SCHEMAS: dict[str, Row] = {
    SECTIONS_VIEW: {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Sections of labels and values, in plain text",
        **_closed(
            {
                "title": _TEXT,
                "generated_at": _TIME,
                "sections": _list_of(
                    _closed(
                        {
                            "id": {**_TEXT, "maxLength": 128},
                            "title": _TEXT,
                            "status": {"enum": list(STATUSES)},
                            "items": {
                                **_list_of(_closed({"label": _TEXT, "value": _TEXT}), ITEMS),
                                "uniqueItems": False,
                            },
                        }
                    ),
                    SECTIONS,
                ),
            },
            {"schema_version": {"const": SECTIONS_VIEW}, "review_after": _TIME},
        ),
    }
}


def core_view_schema(name: str) -> Row | None:
    """Return the schema of this id that core knows, or None."""
    return VIEW_SCHEMAS.get(name)


def section(section_id: str, title: str, status: str, items: list[tuple[str, str]]) -> Row:
    """Return one section of a view; `items` are pairs of label and value."""
    return {
        "id": section_id,
        "title": title,
        "status": status,
        "items": [{"label": label, "value": value} for label, value in items],
    }


def sections_view(title: str, generated_at: str, sections: list[Row], *, review_after: str | None = None) -> Row:
    """Return a view for `loopx_sections_view_v0`; times are RFC 3339.

    After `review_after` the view is shown as one that is due to be looked at again.
    """
    view: Row = {
        "schema_version": SECTIONS_VIEW,
        "title": title,
        "generated_at": generated_at,
        "sections": sections,
    }
    return view if review_after is None else {**view, "review_after": review_after}
