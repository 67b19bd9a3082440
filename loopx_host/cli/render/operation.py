"""What was done, or would be done, to one extension."""

from __future__ import annotations

from loopx_host.cli.render.parts import QUIET, clean, field_lines, refusal_lines
from loopx_host.documents.parts import code_sentence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.operation import Operation

_DONE = {
    "install": "installed",
    "upgrade": "upgraded",
    "rollback": "rolled back",
    "enable": "enabled",
    "disable": "disabled",
    "uninstall": "uninstalled",
}
# Fields that another line already says, or that only programs read.
_NOT_LISTED = QUIET | {
    "operation",
    "dry_run",
    "changed",
    "would_change",
    "would_refuse",
    "extension_id",
    "version",
    "doctor",
    "next_command",
    "other_code",
}


def to_text(document: Operation) -> str:
    """Say first what was done or would be done, then the details, then how to go on."""
    name = " ".join(filter(None, (document["extension_id"], document.get("version"))))
    lines = [f"{name}: {_headline(document)}{_other_code(document)}"]
    lines += field_lines({key: value for key, value in document.items() if key not in _NOT_LISTED}, 1)
    lines += refusal_lines(document.get("would_refuse"))
    if document["dry_run"] and document.get("next_command") and not document.get("would_refuse"):
        lines.append(f"to do it: {document['next_command']}")
    return clean(lines)


def _other_code(document: Operation) -> str:
    """Say that the manifest is one revision's and the code another's, for nothing below is read first."""
    code = document.get("other_code")
    return f"; {code_sentence(str(document['revision']), code)}" if code else ""


def _headline(document: Operation) -> str:
    done, doctor = _DONE[document["operation"]], document.get("doctor")
    if document["dry_run"]:
        nothing = document.get("would_change") is False
        return f"already {done}" if nothing else f"would be {done}; nothing was changed"
    proved = f"; its doctor passed in {doctor['duration_ms']} ms" if doctor else ""
    return f"{done if document['changed'] else f'already {done}'}{proved}"
