"""The counting itself, without any input or output."""

from __future__ import annotations

REQUEST_SCHEMA = "loopx_text_stats_request_v0"
RESPONSE_SCHEMA = "loopx_text_stats_response_v0"
EXTENSION_ID = "loopx-text-stats"


class RequestError(ValueError):
    """The request does not follow the protocol; the message is for the person who wrote it."""


def answer(request: object) -> dict[str, object]:
    """Return the response to one request, ``ok`` false when it cannot be served."""
    try:
        result = count(read_text(request))
    except RequestError as error:
        return failure(str(error))
    return {
        "ok": True,
        "schema_version": RESPONSE_SCHEMA,
        "extension_id": EXTENSION_ID,
        "request_schema_version": REQUEST_SCHEMA,
        "result": result,
    }


def failure(sentence: str) -> dict[str, object]:
    """Return the response that says why a request was not served."""
    return {"ok": False, "schema_version": RESPONSE_SCHEMA, "extension_id": EXTENSION_ID, "error": sentence}


def read_text(request: object) -> str:
    """Return the text of a request. Raises RequestError."""
    if not isinstance(request, dict):
        raise RequestError("the request is not a JSON object")
    unknown = sorted(set(request) - {"schema_version", "text"})
    if unknown:
        raise RequestError(f"the request has unsupported fields {unknown}")
    if request.get("schema_version") != REQUEST_SCHEMA:
        raise RequestError(f"schema_version must be {REQUEST_SCHEMA}")
    text = request.get("text")
    if not isinstance(text, str) or not text.strip():
        raise RequestError("text must be a string with at least one character that is not white space")
    return text


def count(text: str) -> dict[str, int]:
    """Count code points, words (split at white space) and lines."""
    return {
        "characters": len(text),
        "non_whitespace_characters": sum(not character.isspace() for character in text),
        "words": len(text.split()),
        "lines": len(text.splitlines()) or 1,
    }
