"""What the host's own doctor checked: a table, and how to go on with what is wrong."""

from __future__ import annotations

from loopx_host.cli.render.parts import next_commands, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.host_doctor import HostDoctor


def to_text(document: HostDoctor) -> str:
    """Return a row for each check."""
    cells = [[row["status"], row["code"] or row["check"], row["summary"]] for row in document["checks"]]
    return table(["STATUS", "CHECK", "SUMMARY"], cells) + next_commands(document["checks"], "subject")
