"""The rules a provider was held to."""

from __future__ import annotations

from loopx_host.cli.render.parts import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.conformance import Conformance


def to_text(document: Conformance) -> str:
    """Return a row for each rule: its promise, or why it is not kept."""
    cells = [[row["rule"], row["group"], row["status"], row["reason"] or row["promise"]] for row in document["rules"]]
    return table(["RULE", "GROUP", "STATUS", "PROMISE"], cells)
