"""What a governed call for a goal came to."""

from __future__ import annotations

from loopx_host.cli.render.parts import clean, outcome_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.invocation import CodeOfRefusal, Invocation


def to_text(document: Invocation) -> str:
    """Return how it ended and what the provider observed."""
    name = f"{document['capability_id']} {document['operation']} by {document['provider']['extension_id']}"
    if not document["executed"]:
        preview = f"{name}: {document['status']} (nothing was started; add --execute)"
        return clean([preview, *_refusal_lines(document.get("would_refuse"))])
    result = document["provider_result"]
    ended = f"{name}: {document['status']} in {document['duration_ms']} ms ({document['invocation_id']})"
    return clean([ended, *outcome_lines(document, result and result["observations"])])


def _refusal_lines(refused: CodeOfRefusal | None) -> list[str]:
    """Return the lines of the refusal that a preview foresees, which comes without its sentence."""
    if refused is None:
        return []
    lines = [f"it would be refused [{refused['code']}]"]
    return [*lines, f"  next: {refused['next_command']}"] if refused["next_command"] else lines
