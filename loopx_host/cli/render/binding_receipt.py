"""What became of a goal's binding to operations of a provider."""

from __future__ import annotations

from loopx_host.cli.render.parts import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.binding_receipt import BindingReceipt

_BECAME = {
    "ready": "nothing was written yet",
    "written": "bound",
    "no_change": "bound already",
    "removed": "no longer bound",
}


def to_text(document: BindingReceipt) -> str:
    """Return one sentence, and the command that does what a preview shows."""
    binding = document["binding"]
    operations, provider = ", ".join(binding["operations"]), binding["provider"]
    served = f"served by {provider['extension_id']} {provider['revision']}"
    about = f"goal {document['goal_id']}, capability {document['capability_id']} ({operations}), {served}"
    lines = [f"{about}: {_BECAME[document['status']]}"]
    if document["dry_run"] and document["next_command"]:
        lines.append(f"to do it: {document['next_command']}")
    return clean(lines)
