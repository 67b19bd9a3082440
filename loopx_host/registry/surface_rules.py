"""The rules of `[[presentation_surfaces]]`: exactly these keys, plain text for people, ids that can name a file."""

from __future__ import annotations

import re

from loopx_host.core.text import visible
from loopx_host.registry import grammar, report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from loopx_host.documents.normal_form import Surface
    from loopx_host.registry.report import Report, Table

KEY = "presentation_surfaces"
PUBLIC_SAFE, OWNER_ONLY = "public-safe", "owner-only"
TITLE, EMPTY_TITLE, EMPTY_DETAIL = 80, 120, 240
_NAME_LENGTH = 128

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*", re.ASCII)
_VALIDATOR = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?::[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)?", re.ASCII)
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://|\bwww\.|\b(?:mailto|file|data|javascript):\S", re.IGNORECASE)
_MARKUP = re.compile(r"[<>`]|\*\*|\]\(|&#?\w{1,32};")
# A word that begins like a path, that climbs, that has several slashes, or that ends like a file below a folder.
_PATH = re.compile(
    r"\\|(?<!\S)[\"'(]?(?:/\w|~/|\.{1,2}/)|/\.\./?|[^\s/]/[^\s/]+/[^\s/]|[^\s/]/[^\s/]+\.[A-Za-z]\w{0,7}\b"
)


def surfaces(found: Report, document: Table) -> list[Surface]:
    """Return the surfaces of a manifest in file order, with every problem of theirs reported."""
    made: list[Surface] = []
    for pointer, table in report.tables(found, document, KEY):
        at = f"{pointer}."
        report.known_keys(found, table, at, CHECKS, closed=True)
        texts = {key: report.text(found, table, key, at, check) for key, check in CHECKS.items()}
        made.append(
            {
                "id": texts["id"],
                "kind": texts["kind"],
                "title": texts["title"],
                "view_schema": texts["view_schema"],
                "view_validator": texts["view_validator"],
                "visibility": texts["visibility"],
                "empty_state_title": texts["empty_state_title"],
                "empty_state_detail": texts["empty_state_detail"],
            }
        )
    if made and "runtime" not in document:
        found.error("manifest_conflict", KEY, f"{KEY} needs a runtime: nothing could publish to what it declares")
    return made


def surface_id(value: str) -> str | None:
    """Letters, digits, dots, underscores and hyphens, at most 128; it names a file."""
    return grammar.at_most(grammar.SURFACE_ID_LENGTH)(value) or _name(value)


def plain_text(limit: int) -> Callable[[str], str | None]:
    """Return the check of one line for people: at most `limit` characters, no address, markup or path."""

    def check(value: str) -> str | None:
        if len(value) > limit:
            return f"is longer than {limit} characters"
        if visible(value) != value:
            return "holds a character that cannot be shown"
        if _ADDRESS.search(value):
            return "holds an address; it is shown as plain text"
        if _MARKUP.search(value):
            return "holds markup; it is shown as plain text"
        return "holds a path; it is read by people elsewhere" if _PATH.search(value) else None

    return check


def _name(value: str) -> str | None:
    if len(value) > _NAME_LENGTH:
        return f"is longer than {_NAME_LENGTH} characters"
    return None if _NAME.fullmatch(value) else "must be letters and digits, with `.`, `_` and `-` between them"


def _validator(value: str) -> str | None:
    fits = len(value) <= EMPTY_DETAIL and _VALIDATOR.fullmatch(value)
    return None if fits else "must look like `package.module:function`"


CHECKS: dict[str, Callable[[str], str | None]] = {
    "id": surface_id,
    "kind": _name,
    "title": plain_text(TITLE),
    "view_schema": _name,
    "view_validator": _validator,
    "visibility": grammar.one_of(PUBLIC_SAFE, OWNER_ONLY),
    "empty_state_title": plain_text(EMPTY_TITLE),
    "empty_state_detail": plain_text(EMPTY_DETAIL),
}
