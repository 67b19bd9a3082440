"""The two ways a request cannot go on: a refusal with its diagnostic, and an interruption."""

from __future__ import annotations

from loopx_host.core.codes import CODES
from loopx_host.core.diagnostics import Diagnostic, with_commands

ERROR_SCHEMA = "loopx_extension_error_v0"


class Refused(Exception):  # noqa: N818 (the word of the contract; callers read it as a sentence)
    """This request cannot go on; carries exactly one diagnostic and, sometimes, the evidence.

    `blocks` are further fields of the error document (`problems`, `doctor`). `document` is what the CLI
    prints under ``--format json`` and what an embedding program may keep.
    """

    def __init__(self, diagnostic: Diagnostic, blocks: dict[str, object] | None = None) -> None:
        super().__init__(f"{diagnostic.code}: {diagnostic.summary}")
        self.diagnostic = diagnostic
        self.blocks = blocks or {}
        self.options: tuple[str, ...] = ()

    @property
    def code(self) -> str:
        """The stable code; what callers compare."""
        return self.diagnostic.code

    @property
    def exit_status(self) -> int:
        """The exit status of the command line for this code (contract section 4)."""
        return CODES[self.diagnostic.code][0]

    @property
    def document(self) -> dict[str, object]:
        """The error document: the v0 fields, then code, subject, hint, next_command and the blocks."""
        said = self.diagnostic
        document = {
            "ok": False,
            "schema_version": ERROR_SCHEMA,
            "status": CODES[said.code][1],
            "error": said.summary,
            "code": said.code,
            "subject": said.subject,
            "hint": said.hint,
            "next_command": said.next_command,
            **self.blocks,
        }
        return with_commands(document, self.options)


def refusal(
    code: str,
    subject: str,
    summary: str,
    *,
    hint: str | None = None,
    next_command: tuple[str, ...] | None = None,
    **blocks: object,
) -> Refused:
    """Return a Refused to be raised; keyword arguments beyond the diagnostic's become blocks."""
    return Refused(Diagnostic(code, subject, summary, hint=hint, next_command=next_command), blocks)


class Interrupted(BaseException):
    """INT, TERM or HUP arrived; like KeyboardInterrupt it passes handlers meant for errors."""

    def __init__(self, signal_number: int, signal_name: str) -> None:
        super().__init__(signal_name)
        self.signal_number = signal_number
        self.signal_name = signal_name
