"""A goal's binding: which operations of which capability it may use, served by whom exactly."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    class BoundProvider(TypedDict):
        """One extension at one revision, under one profile; `profile_digest` begins with ``sha256:``."""

        extension_id: str
        revision: str
        profile_digest: str

    class Binding(TypedDict):
        """Exactly these keys; the operations are sorted and each stands once."""

        schema_version: str
        goal_id: str
        capability_id: str
        operations: list[str]
        provider: BoundProvider


ID = "loopx_goal_external_capability_binding_v0"
KEYS = frozenset({"schema_version", "goal_id", "capability_id", "operations", "provider"})
PROVIDER_KEYS = frozenset({"extension_id", "revision", "profile_digest"})


def binding(
    goal_id: str, capability_id: str, operations: list[str], *, extension_id: str, revision: str, profile_digest: str
) -> Binding:
    """Return the binding of a goal to these operations."""
    return {
        "schema_version": ID,
        "goal_id": goal_id,
        "capability_id": capability_id,
        "operations": sorted(set(operations)),
        "provider": provider(extension_id, revision, profile_digest),
    }


def provider(extension_id: str, revision: str, profile_digest: str) -> BoundProvider:
    """Return who serves a binding."""
    return {"extension_id": extension_id, "revision": revision, "profile_digest": profile_digest}


def schema() -> dict[str, object]:
    """Return the JSON Schema of a binding."""
    from loopx_host.documents import words

    return words.object_of(
        {
            "schema_version": {"const": ID},
            "goal_id": words.TEXT,
            "capability_id": words.TEXT,
            "operations": words.TEXTS,
            "provider": provider_schema(),
        },
        closed=True,
    )


def provider_schema() -> dict[str, object]:
    """Return the JSON Schema of who serves a binding."""
    from loopx_host.documents import words

    return words.object_of(
        {"extension_id": words.ID, "revision": words.REVISION, "profile_digest": words.DIGEST}, closed=True
    )
