"""Goal bindings: which goal may use which operations of which capability, by whom exactly (contract section 7).

A pure document; the file behind it is a port, until the kernel's events take over.
"""

from __future__ import annotations

import json

from loopx_host.core.canonical import canonical_digest
from loopx_host.core.errors import refusal
from loopx_host.core.strict_json import JsonViolation, parse_object
from loopx_host.documents import binding
from loopx_host.documents import bindings as document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeGuard

    from loopx_host.core.errors import Refused
    from loopx_host.documents.binding import Binding


class Bindings:
    """All bindings of one store, at most one per goal and capability."""

    def __init__(self, rows: list[Binding]) -> None:
        self._rows = rows

    @classmethod
    def parse(cls, data: bytes | None, location: str) -> Bindings:
        """Return the bindings of a file, none when there is no file. Raises Refused `bindings_damaged`."""
        if data is None:
            return cls([])
        try:
            parsed = parse_object(data)
        except JsonViolation as violation:
            raise _damaged(location, str(violation)) from None
        rows = parsed.get("bindings")
        if parsed.get("schema_version") != document.ID or not isinstance(rows, list):
            raise _damaged(location, f"it is no {document.ID}")
        known = [row for row in rows if is_binding(row)]
        if len(known) < len(rows):
            raise _damaged(location, "it holds something that is no binding")
        if len({_key(row) for row in known}) < len(known):
            raise _damaged(location, "it binds one goal twice to the same capability")
        return cls(known)

    @property
    def rows(self) -> list[Binding]:
        """All of them, in the order of the file."""
        return list(self._rows)

    def find(self, goal_id: str, capability_id: str) -> Binding | None:
        """Return the binding of a goal to a capability, or None."""
        return next((row for row in self._rows if _key(row) == (goal_id, capability_id)), None)

    def with_binding(self, new: Binding) -> bytes:
        """Return the file with this binding in place of the one it replaces."""
        return self._file([row for row in self._rows if _key(row) != _key(new)] + [new])

    def without(self, goal_id: str, capability_id: str) -> bytes:
        """Return the file without one binding."""
        return self._file([row for row in self._rows if _key(row) != (goal_id, capability_id)])

    @staticmethod
    def _file(rows: list[Binding]) -> bytes:
        return json.dumps(document.bindings(sorted(rows, key=_key)), indent=2).encode("ascii") + b"\n"


def binding_digest(bound: Binding) -> str:
    """Return the digest by which receipts and invocations name a binding."""
    return f"sha256:{canonical_digest(bound)}"


def _key(row: Binding) -> tuple[str, str]:
    return row["goal_id"], row["capability_id"]


def is_binding(row: object) -> TypeGuard[Binding]:
    """Whether a row of a file is a binding as it is written."""
    if not isinstance(row, dict) or set(row) != binding.KEYS or row["schema_version"] != binding.ID:
        return False
    provider, operations = row["provider"], row["operations"]
    return (
        isinstance(row["goal_id"], str)
        and isinstance(row["capability_id"], str)
        and isinstance(provider, dict)
        and set(provider) == binding.PROVIDER_KEYS
        and all(isinstance(text, str) for text in provider.values())
        and isinstance(operations, list)
        and all(isinstance(operation, str) for operation in operations)
    )


def _damaged(location: str, why: str) -> Refused:
    return refusal(
        "bindings_damaged",
        location,
        f"the bindings in {location} cannot be read: {why}",
        hint="nothing was changed; move the file aside, then bind again",
    )
