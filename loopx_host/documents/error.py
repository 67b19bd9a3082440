"""The refusal of a request.

`core.errors.Refused` builds it and has its id: every layer raises one, and core imports nothing from here.
"""

from __future__ import annotations

from loopx_host.core.errors import ERROR_SCHEMA as ID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, NotRequired, TypedDict

    from loopx_host.core.diagnostics import ProblemRow
    from loopx_host.documents.doctor import Doctor
    from loopx_host.documents.parts import Command, Violation

    class Error(TypedDict):
        """The v0 fields, then the diagnostic, then the evidence that some refusals bring."""

        ok: Literal[False]
        schema_version: str
        status: str
        error: str
        code: str
        subject: str
        hint: str | None
        next_command: Command | None
        problems: NotRequired[list[ProblemRow]]
        violations: NotRequired[list[Violation]]
        doctor: NotRequired[Doctor]


def schema() -> dict[str, object]:
    """Return the JSON Schema of a refusal; blocks beyond those named here depend on the code."""
    from loopx_host.core.codes import CODES
    from loopx_host.documents import doctor, words

    return words.object_of(
        {
            "ok": {"const": False},
            "schema_version": {"const": ID},
            "status": {"enum": sorted({row[1] for row in CODES.values()})},
            "error": words.TEXT,
        },
        {
            "code": words.ANY_CODE,
            "subject": words.TEXT,
            "hint": words.NULLABLE_TEXT,
            "next_command": words.NULLABLE_TEXT,
            "problems": words.rows_of(words.PROBLEM),
            "violations": words.rows_of(words.VIOLATION),
            "doctor": doctor.schema(),
        },
    )
