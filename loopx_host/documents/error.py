"""The refusal of a request.

`core.errors.Refused` builds it and has its id: every layer raises one, and core imports nothing from here.
"""

from __future__ import annotations

from loopx_host.core.errors import ERROR_SCHEMA as ID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, NotRequired, TypedDict

    from loopx_host.core.diagnostics import ProblemRow
    from loopx_host.documents.binding import Binding
    from loopx_host.documents.doctor import Doctor
    from loopx_host.documents.parts import Command, Containment, Distribution, OtherCode, PrivateFinding, Violation

    class MissingPrerequisite(TypedDict):
        """A program a provider needs, and what was found in its place; `version` is null when it does not say."""

        name: str
        requires: str
        path: str | None
        version: str | None

    class PackageEntryPoint(TypedDict):
        """The entry point of a package that went wrong inside the host."""

        group: str
        name: str
        value: str

    class PutBack(TypedDict):
        """What would make the active revision usable again: its package, and a command for a person, never run."""

        distribution: Distribution | None
        command: str | None

    class Error(TypedDict):
        """The v0 fields, then the diagnostic, then the evidence; which of it there is depends on the code."""

        ok: Literal[False]
        schema_version: str
        status: str
        error: str
        code: str
        subject: str
        hint: str | None
        next_command: Command | None
        # of the request, or of what was asked for
        violation: NotRequired[str]
        violations: NotRequired[list[Violation]]
        names: NotRequired[list[str]]
        surfaces: NotRequired[list[str]]
        findings: NotRequired[list[PrivateFinding]]
        # of a manifest
        problems: NotRequired[list[ProblemRow]]
        problems_left_out: NotRequired[int]
        # of an extension and its state
        reason: NotRequired[str]
        plan: NotRequired[str]
        binding: NotRequired[Binding]
        permissions_added: NotRequired[list[str]]
        changed: NotRequired[list[str]]
        changed_details: NotRequired[list[str]]
        searched: NotRequired[list[str]]
        prerequisite: NotRequired[MissingPrerequisite]
        install_package: NotRequired[str]
        module: NotRequired[str]
        # of a process that ran
        doctor: NotRequired[Doctor]
        containment: NotRequired[Containment]
        # of a switch that failed: the active revision, and how usable it is
        active_after: NotRequired[str]
        active_revision: NotRequired[str]
        active_doctor: NotRequired[Doctor]
        restore: NotRequired[PutBack]
        other_code: NotRequired[OtherCode]
        # of a package inside the host
        distribution: NotRequired[Distribution | None]
        entry_point: NotRequired[PackageEntryPoint]
        hook: NotRequired[str | None]
        output: NotRequired[str | None]
        # of loopx itself: where the details of our own mistake are
        report: NotRequired[str | None]


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
