"""What is installed: a table, and how to go on with what is not ready."""

from __future__ import annotations

from loopx_host.cli.render.parts import next_commands, table, word
from loopx_host.core.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.extension_list import ExtensionList, Row

_HEADS = ["ID", "VERSION", "ENABLED", "READY", "REVISION", "REASON"]
_NONE = "no extension is installed; `loopx extension discover` shows what packages offer\n"


def to_text(document: ExtensionList) -> str:
    """Return the table as plain text."""
    rows = document["extensions"]
    return table(_HEADS, [_cells(row) for row in rows]) + next_commands(rows, "id") if rows else _NONE


def to_terminal(document: ExtensionList) -> str:
    """Return the table with readiness in colour."""
    if not document["extensions"]:
        return _NONE
    from rich.table import Table
    from rich.text import Text

    from loopx_host.cli.render.in_colour import drawn

    drawn_table = Table(*_HEADS, box=None, pad_edge=False, header_style="bold")
    for row in document["extensions"]:
        ready = "green" if row["ready"] else "yellow" if row["enabled"] else "dim"
        styles = ("bold", "", "", ready, "dim", "yellow")
        drawn_table.add_row(
            *(Text(visible(cell), style=style) for cell, style in zip(_cells(row), styles, strict=True))
        )
    hints = next_commands(document["extensions"], "id").splitlines()
    return drawn(drawn_table, *(Text(hint, style="dim") for hint in hints))


def _cells(row: Row) -> list[str]:
    return [
        row["id"],
        row["version"] or "-",
        word(row["enabled"]),
        word(row["ready"]),
        row["active_revision"] or "-",
        _reason(row),
    ]


def _reason(row: Row) -> str:
    failure = row["last_failure"]
    if row["reason"] != "doctor_required" or failure is None:
        return row["reason"] or ""
    return f"{row['reason']} ({failure['kind']})"
