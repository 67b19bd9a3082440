"""Goal bindings: which goal may use which operations of which capability, by whom exactly (contract section 7).

A pure document; the file behind it is a port, until the kernel's events take over.
"""

from __future__ import annotations

import json

from loopx_host.core.canonical import canonical_digest
from loopx_host.core.errors import refuse
from loopx_host.core.strict_json import JsonViolation, parse_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.core.errors import Refused

BINDINGS_SCHEMA = "loopx_goal_external_capability_bindings_v0"
BINDING_SCHEMA = "loopx_goal_external_capability_binding_v0"
_KEYS = {"schema_version", "goal_id", "capability_id", "operations", "provider"}
_PROVIDER_KEYS = {"extension_id", "revision", "profile_digest"}


class Bindings:
    """All bindings of one store, at most one per goal and capability."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._rows = rows

    @classmethod
    def parse(cls, data: bytes | None, location: str) -> Bindings:
        """Return the bindings of a file, none when there is no file. Raises Refused `bindings_damaged`."""
        if data is None:
            return cls([])
        try:
            document = parse_object(data)
        except JsonViolation as violation:
            raise _damaged(location, str(violation)) from None
        rows = document.get("bindings")
        if document.get("schema_version") != BINDINGS_SCHEMA or not isinstance(rows, list):
            raise _damaged(location, f"it is no {BINDINGS_SCHEMA}")
        if not all(_is_binding(row) for row in rows):
            raise _damaged(location, "it holds something that is no binding")
        if len({_key(row) for row in rows}) < len(rows):
            raise _damaged(location, "it binds one goal twice to the same capability")
        return cls(rows)

    def find(self, goal_id: str, capability_id: str) -> dict[str, Any] | None:
        """Return the binding of a goal to a capability, or None."""
        return next((row for row in self._rows if _key(row) == (goal_id, capability_id)), None)

    def with_binding(self, binding: dict[str, Any]) -> bytes:
        """Return the file with this binding in place of the one it replaces."""
        return self._file([row for row in self._rows if _key(row) != _key(binding)] + [binding])

    def without(self, goal_id: str, capability_id: str) -> bytes:
        """Return the file without one binding."""
        return self._file([row for row in self._rows if _key(row) != (goal_id, capability_id)])

    @staticmethod
    def _file(rows: list[dict[str, Any]]) -> bytes:
        document = {"schema_version": BINDINGS_SCHEMA, "bindings": sorted(rows, key=_key)}
        return json.dumps(document, indent=2).encode("ascii") + b"\n"


def binding_of(
    goal_id: str, capability_id: str, operations: list[str], *, extension_id: str, revision: str, profile_digest: str
) -> dict[str, Any]:
    """Return the binding document, v0 names and nesting."""
    return {
        "schema_version": BINDING_SCHEMA,
        "goal_id": goal_id,
        "capability_id": capability_id,
        "operations": sorted(set(operations)),
        "provider": {"extension_id": extension_id, "revision": revision, "profile_digest": profile_digest},
    }


def binding_digest(binding: dict[str, Any]) -> str:
    """Return the digest by which receipts and invocations name a binding."""
    return f"sha256:{canonical_digest(binding)}"


def _key(row: dict[str, Any]) -> tuple[str, str]:
    return row["goal_id"], row["capability_id"]


def _is_binding(row: object) -> bool:
    if not isinstance(row, dict) or set(row) != _KEYS or row["schema_version"] != BINDING_SCHEMA:
        return False
    provider, operations = row["provider"], row["operations"]
    return (
        isinstance(row["goal_id"], str)
        and isinstance(row["capability_id"], str)
        and isinstance(provider, dict)
        and set(provider) == _PROVIDER_KEYS
        and all(isinstance(text, str) for text in provider.values())
        and isinstance(operations, list)
        and all(isinstance(operation, str) for operation in operations)
    )


def _damaged(location: str, why: str) -> Refused:
    return refuse(
        "bindings_damaged",
        location,
        f"the bindings in {location} cannot be read: {why}",
        hint="nothing was changed; move the file aside, then bind again",
    )
