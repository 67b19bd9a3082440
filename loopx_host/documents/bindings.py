"""The file of all bindings of goals, kept beside the activation state."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    from loopx_host.documents.binding import Binding

    class Bindings(TypedDict):
        """At most one binding per goal and capability, sorted by both."""

        schema_version: str
        bindings: list[Binding]


ID = "loopx_goal_external_capability_bindings_v0"


def bindings(rows: list[Binding]) -> Bindings:
    """Return the file of these bindings."""
    ordered = sorted(rows, key=lambda row: (row["goal_id"], row["capability_id"]))
    return {"schema_version": ID, "bindings": ordered}


def schema() -> dict[str, object]:
    """Return the JSON Schema of the file."""
    from loopx_host.documents import binding, words

    return words.object_of({"schema_version": {"const": ID}, "bindings": words.rows_of(binding.schema())})
