"""The operation as the host calls it: the search, its refusals in the words of the seam, nothing private in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopx_host import OperationFailed
from loopx_host.assembly.presentation import private_findings
from loopx_recall.index import RecallFailed
from loopx_recall.search import search_with_texts

if TYPE_CHECKING:
    from typing import Any

WITHHELD = "(withheld)"
_TEXTS = ("note", "title", "snippet")


def search_notes(request: dict[str, Any], references: dict[str, str]) -> list[dict[str, Any]]:
    """Return one observation per note that holds all words of the query. Raises OperationFailed."""
    try:
        rows = search_with_texts(request, references)
    except RecallFailed as failed:
        raise OperationFailed(failed.code, str(failed)) from failed
    return [_without_private_material(row, text) for row, text in rows]


def _without_private_material(row: dict[str, Any], text: str) -> dict[str, Any]:
    """Return the row with each text that the host would refuse withheld, and how many those are.

    One note with a password in it would otherwise cost the caller the whole answer. A title and a snippet may be cut
    in the middle of a secret, where nothing looks like one any more, so both are withheld when the note holds one.
    """
    private = {key: WITHHELD for key in _TEXTS if private_findings(row[key])}
    if private_findings(text, allow_paths=True):
        private |= {"title": WITHHELD, "snippet": WITHHELD}
    return {**row, **private, "withheld": len(private)}
