"""What is wrong here, row by row, with the command that helps."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NotRequired, TypedDict

    from loopx_host.documents.parts import Command

    class Check(TypedDict):
        """One thing that was looked at; `install_package` is a command for a person, never run."""

        check: str
        status: str
        code: str | None
        subject: str
        summary: str
        next_command: Command | None
        install_package: NotRequired[str]

    class Reach(TypedDict):
        """The levels of containment reached here: without asking, and at most; `reasons` say why not more."""

        default: str
        highest: str
        reasons: list[str]

    class HostDoctor(TypedDict):
        """``ok`` is false when a row has status `error`."""

        ok: bool
        schema_version: str
        platform: str
        state_file: str
        containment: Reach
        checks: list[Check]


ID = "loopx_doctor_v0"
OK, WARNING, ERROR = STATUSES = ("ok", "warning", "error")


def host_doctor(*, platform: str, state_file: str, containment: Reach, checks: list[Check]) -> HostDoctor:
    """Return the document of these checks."""
    return {
        "ok": all(row["status"] != ERROR for row in checks),
        "schema_version": ID,
        "platform": platform,
        "state_file": state_file,
        "containment": containment,
        "checks": checks,
    }


def check(
    name: str,
    status: str,
    subject: str,
    summary: str,
    *,
    code: str | None = None,
    next_command: Command | None = None,
) -> Check:
    """Return one row."""
    return {
        "check": name,
        "status": status,
        "code": code,
        "subject": subject,
        "summary": summary,
        "next_command": next_command,
    }


def schema() -> dict[str, object]:
    """Return the JSON Schema of the doctor of the host."""
    from loopx_host.documents import words

    row = words.object_of(
        {
            "check": words.TEXT,
            "status": {"enum": list(STATUSES)},
            "code": words.NULLABLE_TEXT,
            "subject": words.TEXT,
            "summary": words.TEXT,
            "next_command": words.NULLABLE_TEXT,
        }
    )
    return words.receipt_of(ID, {"platform": words.TEXT, "state_file": words.TEXT, "checks": words.rows_of(row)})
