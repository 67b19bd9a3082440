"""Canonical JSON: sorted keys, compact, UTF-8 unescaped; what every digest is taken over."""

from __future__ import annotations

import json

from loopx_host.core.digest import sha256_hex


def canonical_bytes(value: object) -> bytes:
    """Return the canonical JSON of `value` (contract section 2, *Revision*).

    Raises ValueError for NaN, infinities and lone surrogates: they have no canonical form.
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8")


def canonical_digest(value: object) -> str:
    """Return SHA-256 over the canonical JSON of `value`, 64 hex digits."""
    return sha256_hex(canonical_bytes(value))
