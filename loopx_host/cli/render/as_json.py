"""A document for a program: ASCII, strict JSON, one line feed at its end."""

from __future__ import annotations

import json

from loopx_host.core.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def to_json(document: Mapping[str, object], *, indent: bool) -> str:
    """Return one document, ASCII-escaped and free of lone surrogates."""
    text = json.dumps(document, indent=2 if indent else None)
    if "\\ud" in text.lower():
        text = json.dumps(_without_surrogates(document), indent=2 if indent else None)
    return text + "\n"


def _without_surrogates(value: object) -> object:
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            return visible(value)
        return value
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(inner) for key, inner in value.items()}
    return [_without_surrogates(inner) for inner in value] if isinstance(value, (list, tuple)) else value
