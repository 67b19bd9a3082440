"""The view that core knows: sections of labels and values, in plain text."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NotRequired, TypedDict

    class Item(TypedDict):
        """One labelled value."""

        label: str
        value: str

    class Section(TypedDict):
        """`status` is one of `STATUSES`; the id is unique within its view only by its author's care."""

        id: str
        title: str
        status: str
        items: list[Item]

    class SectionsView(TypedDict):
        """Times are RFC 3339; after `review_after` the view is shown as one to be looked at again."""

        schema_version: NotRequired[str]
        title: str
        generated_at: str
        sections: list[Section]
        review_after: NotRequired[str]


ID = "loopx_sections_view_v0"
OK, ATTENTION, UNKNOWN = STATUSES = ("ok", "attention", "unknown")
SECTIONS, ITEMS, TEXT_LENGTH = 32, 200, 300

# No control or bidi character, and no `<` that begins a tag; written so that judging is linear.
_CONTROLS = r"\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
_PLAIN = rf"^(?:[^<{_CONTROLS}]|<+[^<A-Za-z/!?{_CONTROLS}])*<*$"
_MOMENT = (
    r"^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    r"(?:\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])$"
)


def section(section_id: str, title: str, status: str, items: list[tuple[str, str]]) -> Section:
    """Return one section of a view; `items` are pairs of label and value."""
    return {
        "id": section_id,
        "title": title,
        "status": status,
        "items": [{"label": label, "value": value} for label, value in items],
    }


def sections_view(
    title: str, generated_at: str, sections: list[Section], *, review_after: str | None = None
) -> SectionsView:
    """Return a view; times are RFC 3339.

    After `review_after` the view is shown as one that is due to be looked at again.
    """
    view: SectionsView = {
        "schema_version": ID,
        "title": title,
        "generated_at": generated_at,
        "sections": sections,
    }
    return view if review_after is None else {**view, "review_after": review_after}


def schema() -> dict[str, object]:
    """Return the JSON Schema of a view, which also judges those of third parties: its patterns are linear-time."""
    text: dict[str, object] = {"type": "string", "minLength": 1, "maxLength": TEXT_LENGTH, "pattern": _PLAIN}
    time: dict[str, object] = {"type": "string", "maxLength": 40, "pattern": _MOMENT}
    items = {**_list_of(_closed({"label": text, "value": text}), ITEMS), "uniqueItems": False}
    section = _closed(
        {
            "id": {**text, "maxLength": 128},
            "title": text,
            "status": {"enum": list(STATUSES)},
            "items": items,
        }
    )
    return _closed(
        {"title": text, "generated_at": time, "sections": _list_of(section, SECTIONS)},
        {"schema_version": {"const": ID}, "review_after": time},
    )


def _closed(required: dict[str, object], optional: dict[str, object] | None = None) -> dict[str, object]:
    properties = {**required, **(optional or {})}
    return {"type": "object", "additionalProperties": False, "required": list(required), "properties": properties}


def _list_of(item: dict[str, object], most: int) -> dict[str, object]:
    return {"type": "array", "maxItems": most, "items": item, "uniqueItems": True}
