"""The operation `search`: words in, the notes that hold all of them out, best first."""

from __future__ import annotations

import re
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypedDict

from .index import RecallFailed, open_index, plain, read_notes, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping


REFERENCE = "notes"
LIMIT = 10
LIMIT_MAX = 50
QUERY_LENGTH = 1_000
SNIPPET_BYTES = 320
SNIPPET_WORDS = 24
SCORE_DIGITS = 9
WEIGHTS = (4.0, 1.0)  # of title and text
_RFC3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})"
)
# bm25 takes a weight per column: path, title, text, modified. Its value is smaller for a better match.
_SELECT = f"""
SELECT path, title, snippet(note, 2, '', '', '…', {SNIPPET_WORDS}), round(-bm25(note, 0, ?, ?, 0), {SCORE_DIGITS}),
       modified, text
FROM note WHERE note MATCH ?
ORDER BY bm25(note, 0, ?, ?, 0), path, rowid LIMIT ?
"""  # noqa: S608 (constants only)


class Hit(TypedDict):
    """One note that was found; the score is larger for a better match."""

    note: str
    title: str
    snippet: str
    score: float
    modified: str | None


def search(request: Mapping[str, object], references: dict[str, str]) -> list[Hit]:
    """Return one row per note that holds all words of the query. Raises RecallFailed."""
    return [row for row, _ in search_with_texts(request, references)]


def search_with_texts(request: Mapping[str, object], references: dict[str, str]) -> list[tuple[Hit, str]]:
    """Return the same rows, each with the whole text that was searched: a snippet is cut out of it anywhere."""
    query, limit = read_request(request)
    if REFERENCE not in references:
        raise RecallFailed("reference_missing", f"name the folder of notes as the context reference `{REFERENCE}`")
    expression = match_expression(query)
    if expression is None:
        return []
    with closing(open_index(read_notes(references[REFERENCE]))) as database:
        rows = database.execute(_SELECT, (*WEIGHTS, expression, *WEIGHTS, limit)).fetchall()
    return [(_row(*row), text) for *row, text in rows]


def _row(path: str, title: str, snippet: str, score: float, modified: int) -> Hit:
    return {
        "note": path,
        "title": title,
        "snippet": shortened(plain(snippet), SNIPPET_BYTES),
        "score": score,
        "modified": _shown(modified),
    }


def read_request(request: Mapping[str, object]) -> tuple[str, int]:
    """Return query and limit, checked. Raises RecallFailed `invalid_input`."""
    if not set(request) <= {"query", "limit", "now"}:
        raise RecallFailed("invalid_input", "the input has a field other than query, limit and now")
    query, limit, now = request.get("query"), request.get("limit", LIMIT), request.get("now")
    if not isinstance(query, str) or not 1 <= len(query) <= QUERY_LENGTH:
        raise RecallFailed("invalid_input", f"query must be a text of 1 to {QUERY_LENGTH} characters")
    if type(limit) is not int or not 1 <= limit <= LIMIT_MAX:
        raise RecallFailed("invalid_input", f"limit must be a whole number, 1 to {LIMIT_MAX}")
    if "now" in request and not (isinstance(now, str) and _RFC3339.fullmatch(now)):
        raise RecallFailed("invalid_input", "now must be an RFC 3339 time such as 2026-01-31T12:00:00Z")
    return query, limit


def match_expression(query: str) -> str | None:
    """Return the query as quoted words, which FTS5 reads as strings and never as operators; None without a word.

    A quotation mark separates words like a space, so that none is left to close the quotes; what holds no letter or
    digit is not looked for.
    """
    text = query.encode("utf-8", "replace").decode("utf-8").replace('"', " ").replace("\0", " ")
    words = [word for word in text.split() if any(map(str.isalnum, word))]
    return " ".join(f'"{word}"' for word in words) or None


def _shown(seconds: int) -> str | None:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")
    except (ValueError, OverflowError, OSError):
        return None
