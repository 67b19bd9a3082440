"""What one bounded run came to."""

from __future__ import annotations

from loopx_host.cli.render.parts import clean, outcome_lines, refusal_lines
from loopx_host.core.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rich.console import RenderableType

    from loopx_host.documents.run_receipt import RunReceipt


def to_text(document: RunReceipt) -> str:
    """Return how it ended, what the provider answered, the end of its standard error."""
    name = f"{document['extension_id']} {document['provider_version']}"
    if not document["executed"]:
        preview = f"{name}: {document['status']} (nothing was run; add --execute to run it)"
        return clean([preview, *refusal_lines(document.get("would_refuse"))])
    ended = f"{name}: {document['status']} in {document['duration_ms']} ms"
    return clean([ended, *outcome_lines(document, document["provider_result"])])


def to_terminal(document: RunReceipt) -> str:
    """Return the same with the verdict in colour; a preview stays plain."""
    if not document["executed"]:
        return to_text(document)
    from loopx_host.cli.render.in_colour import drawn

    return drawn(*_parts(document))


def _parts(document: RunReceipt) -> list[RenderableType]:
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
        quoted = "\n".join(f"    {line}" for line in document["stderr_tail"].rstrip("\n").split("\n"))
        parts += [Text("the provider's standard error ended with:", style="dim"), Text(quoted, style="dim")]
    return parts
