"""What installed packages offer: a table, and how to go on with each."""

from __future__ import annotations

from loopx_host.cli.render.parts import next_commands, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.discovery import Discovered, Discovery


def to_text(document: Discovery) -> str:
    """Return a row for each offer, broken ones too."""
    rows = document["extensions"]
    if not rows:
        return "no installed package offers an extension\n"
    cells = [
        [row["id"] or "-", row["state"], row["version"] or "-", _package(row), row["reason"] or row["code"] or ""]
        for row in rows
    ]
    return table(["ID", "STATE", "VERSION", "PACKAGE", "REASON"], cells) + next_commands(rows, "id")


def _package(row: Discovered) -> str:
    owner = row["distribution"]
    return f"{owner['name']} {owner['version']}" if owner else str(row["location"])
