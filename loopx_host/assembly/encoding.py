"""A program's request as the bytes a provider reads."""

from __future__ import annotations

import json

from loopx_host.core.errors import refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def encode_request(request: Mapping[str, object]) -> bytes:
    """Return a request as the bytes a provider reads. Raises Refused `request_invalid`."""
    try:
        return json.dumps(dict(request), ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise refusal(
            "request_invalid",
            "request",
            f"the request has no JSON form: {error}",
            hint="send one JSON object",
        ) from None
