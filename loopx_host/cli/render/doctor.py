"""How one extension answered its doctor."""

from __future__ import annotations

from loopx_host.cli.render.parts import clean, refusal_lines, stderr_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.doctor import Doctor


def to_text(document: Doctor) -> str:
    """Return the verdict, its reason and how to go on; of a preview, the command that does it."""
    name = f"{document['extension_id']} {document['version']}"
    if document["status"] == "probe_required":
        failure = document.get("last_failure")
        before = [f"its doctor failed at {failure['at']}: {failure['kind']}"] if failure else []
        preview = [
            f"{name}: would be probed; nothing was started",
            *before,
            *refusal_lines(document.get("would_refuse")),
        ]
        return clean([*preview, f"to do it: {document['next_command']}"])
    verdict = "passed" if document["verified"] else "failed"
    lines = [f"{name}: {document['status']}; its doctor {verdict} in {document['duration_ms']} ms"]
    if document["reason"]:
        lines.append(f"{document['failure_kind']}: {document['reason']}")
    lines += stderr_lines(document["stderr_tail"])
    return clean([*lines, *([f"next: {document['next_command']}"] if document["next_command"] else [])])
