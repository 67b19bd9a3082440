"""What a person at a terminal sees: tables and results with rich; imported nowhere else.

Whatever a third party wrote is cleaned first and goes in as plain text: rich's markup is never read from it.
"""

from __future__ import annotations

import os

from loopx_host.cli.render import Foreign
from loopx_host.core.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rich.console import Console, RenderableType

_LIST_SCHEMA = "loopx_extension_state_v0"
_RUN_SCHEMA = "loopx_extension_run_receipt_v0"


def is_capable() -> bool:
    """Whether the terminal takes colours and box lines; ``TERM=dumb`` and ``NO_COLOR`` get plain text."""
    return os.environ.get("TERM", "dumb") != "dumb" and "NO_COLOR" not in os.environ


def to_text(document: dict[str, Any]) -> str | None:
    """Return the document drawn for a terminal, or None when plain text says it as well."""
    schema = None if isinstance(document, Foreign) else document.get("schema_version")
    if schema == _LIST_SCHEMA and document["extensions"]:
        return _drawn(*_list(document["extensions"]))
    if schema == _RUN_SCHEMA and document["executed"]:
        return _drawn(*_run(document))
    return None


def _drawn(*parts: RenderableType) -> str:
    from io import StringIO

    from rich.console import Console

    buffer = StringIO()
    console: Console = Console(file=buffer, force_terminal=True, highlight=False)
    for part in parts:
        console.print(part)
    return buffer.getvalue()


def _list(rows: list[dict[str, Any]]) -> list[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    table = Table(
        "ID", "VERSION", "ENABLED", "READY", "REVISION", "REASON", box=None, pad_edge=False, header_style="bold"
    )
    for row in rows:
        style = "green" if row["ready"] else "yellow" if row["enabled"] else "dim"
        table.add_row(
            Text(visible(row["id"]), style="bold"),
            Text(visible(row["version"] or "-")),
            Text("yes" if row["enabled"] else "no"),
            Text("yes" if row["ready"] else "no", style=style),
            Text(row["active_revision"] or "-", style="dim"),
            Text(row["reason"] or "", style="yellow"),
        )
    hints = [Text(f"{row['id']}: {row['next_command']}", style="dim") for row in rows if row["next_command"]]
    return [table, *hints]


def _run(document: dict[str, Any]) -> list[RenderableType]:
    import json

    from rich.text import Text

    style = "green" if document["ok"] else "red"
    head = Text.assemble(
        (visible(f"{document['extension_id']} {document['provider_version']}"), "bold"),
        ": ",
        (document["status"], style),
        (f" in {document['duration_ms']} ms", "dim"),
    )
    parts: list[RenderableType] = [head]
    if document["error"]:
        parts.append(Text(visible(f"{document['failure_kind']}: {document['error']}"), style=style))
    if document["provider_result"] is not None:
        parts.append(Text(visible(json.dumps(document["provider_result"], indent=2, ensure_ascii=False), keep="\n")))
    if document["stderr_tail"]:
        parts += [Text("the provider's standard error ended with:", style="dim"), _quoted(document["stderr_tail"])]
    return parts


def _quoted(text: str) -> RenderableType:
    from rich.text import Text

    return Text("\n".join(f"    {line}" for line in text.rstrip("\n").split("\n")), style="dim")
