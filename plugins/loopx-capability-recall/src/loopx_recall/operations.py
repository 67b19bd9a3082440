"""The operation as the host calls it: the search, its refusals in the words of the seam, nothing private in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopx_host import OperationFailed
from loopx_host.assembly.presentation import private_findings
from loopx_recall.index import RecallFailed
from loopx_recall.search import search_with_texts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loopx_recall.search import Hit

    class Observation(Hit):
        """What of a hit may be shown; `withheld` counts the texts that may not."""

        withheld: int


WITHHELD = "(withheld)"


def search_notes(request: Mapping[str, object], references: dict[str, str]) -> list[Observation]:
    """Return one observation per note that holds all words of the query. Raises OperationFailed."""
    try:
        rows = search_with_texts(request, references)
    except RecallFailed as failed:
        raise OperationFailed(failed.code, str(failed)) from failed
    return [_without_private_material(row, text) for row, text in rows]


def _without_private_material(row: Hit, text: str) -> Observation:
    """Return the row with each text that the host would refuse withheld, and how many those are.

    One note with a password in it would otherwise cost the caller the whole answer. A title and a snippet may be cut
    in the middle of a secret, where nothing looks like one any more, so both are withheld when the note holds one.
    """
    texts = {"note": row["note"], "title": row["title"], "snippet": row["snippet"]}
    private = {key for key, shown in texts.items() if private_findings(shown)}
    if private_findings(text, allow_paths=True):
        private |= {"title", "snippet"}
    return {
        "note": WITHHELD if "note" in private else row["note"],
        "title": WITHHELD if "title" in private else row["title"],
        "snippet": WITHHELD if "snippet" in private else row["snippet"],
        "score": row["score"],
        "modified": row["modified"],
        "withheld": len(private),
    }
