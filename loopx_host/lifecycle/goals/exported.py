"""What an export holds, read from a file that anybody may have written."""

from __future__ import annotations

from loopx_host.core.errors import refusal
from loopx_host.core.strict_json import JsonViolation, parse_object
from loopx_host.core.text import one_line
from loopx_host.documents.export import ID as EXPORT
from loopx_host.lifecycle.goals.bindings import is_binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeGuard

    from loopx_host.core.errors import Refused
    from loopx_host.documents.binding import Binding
    from loopx_host.documents.export import ExportedExtension


class Exported:
    """The extensions of an export, and what goals may use of them."""

    __slots__ = ("bindings", "items")

    def __init__(self, items: list[ExportedExtension], bindings: list[Binding]) -> None:
        self.items = items
        self.bindings = bindings


def read_export(data: bytes, path: str) -> Exported:
    """Return what an export holds; `path` is how it is named. One without bindings has none.

    Raises Refused `export_invalid`.
    """
    try:
        export = parse_object(data)
    except JsonViolation as violation:
        raise _invalid(path, str(violation)) from None
    rows, bindings = export.get("extensions"), export.get("bindings", [])
    if export.get("schema") != EXPORT or not isinstance(rows, list) or not isinstance(bindings, list):
        raise _invalid(path, f"its schema is not {EXPORT}")
    items = [row for row in rows if _is_item(row)]
    known = [row for row in bindings if is_binding(row)]
    if len(items) < len(rows) or len(known) < len(bindings):
        raise _invalid(path, "it has a row that no export writes")
    if len({item["id"] for item in items}) < len(items):
        raise _invalid(path, "it names an extension twice")
    if len({(row["goal_id"], row["capability_id"]) for row in known}) < len(known):
        raise _invalid(path, "it binds one goal twice to the same capability")
    return Exported(items, known)


def _is_item(row: object) -> TypeGuard[ExportedExtension]:
    if not isinstance(row, dict):
        return False
    owner = row.get("distribution")
    path = row.get("manifest_path", 0)
    texts = all(isinstance(row.get(key), str) for key in ("id", "revision", "digest"))
    placed = path is None or (isinstance(path, str) and path.startswith("/") and "\0" not in path)
    named = owner is None or (isinstance(owner, dict) and all(isinstance(owner.get(key), str) for key in _OWNER))
    return texts and placed and named and isinstance(row.get("enabled"), bool)


_OWNER = ("name", "version")


def _invalid(path: str, reason: str) -> Refused:
    shown = one_line(path, 200)
    summary = f"{shown} is not an export of loopx: {reason}"
    return refusal("export_invalid", shown, summary, hint="make one with `loopx extension export`")
