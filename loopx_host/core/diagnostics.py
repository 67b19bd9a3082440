"""A diagnostic: one coded statement about one subject, with what to do next."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import TypedDict, TypeVar

    _Document = TypeVar("_Document", bound=Mapping[str, object])

    class ProblemRow(TypedDict):
        """A problem as it stands in documents; `line` counts from 1, `nearest` is the valid key nearby, if any."""

        code: str
        pointer: str
        line: int | None
        summary: str
        nearest: str | None


ERROR, WARNING = "error", "warning"


class Diagnostic:
    """What happened (`summary`), to what (`subject`), and what would help (`hint`, `next_command`).

    `next_command` is the arguments after ``loopx``; the caller who knows the global options renders it.
    """

    __slots__ = ("code", "hint", "next_command", "severity", "subject", "summary")

    def __init__(
        self,
        code: str,
        subject: str,
        summary: str,
        *,
        hint: str | None = None,
        next_command: tuple[str, ...] | None = None,
        severity: str = ERROR,
    ) -> None:
        self.code = code
        self.subject = subject
        self.summary = summary
        self.hint = hint
        self.next_command = next_command
        self.severity = severity

    def __repr__(self) -> str:
        return f"Diagnostic({self.code!r}, {self.subject!r}, {self.summary!r})"


class Problem:
    """One row of a manifest report: where (`pointer`, `line`), what, and the nearest valid key."""

    __slots__ = ("code", "line", "nearest", "pointer", "severity", "summary")

    def __init__(
        self,
        code: str,
        pointer: str,
        summary: str,
        *,
        nearest: str | None = None,
        line: int | None = None,
        severity: str = ERROR,
    ) -> None:
        self.code = code
        self.pointer = pointer
        self.summary = summary
        self.nearest = nearest
        self.line = line
        self.severity = severity

    def row(self) -> ProblemRow:
        """Return the problem as it stands in receipts and error documents."""
        return {
            "code": self.code,
            "pointer": self.pointer,
            "line": self.line,
            "summary": self.summary,
            "nearest": self.nearest,
        }

    def __repr__(self) -> str:
        return f"Problem({self.code!r}, {self.pointer!r}, {self.summary!r})"


def with_commands(document: _Document, options: tuple[str, ...]) -> _Document:
    """Return `document` with every `next_command` written as a command line that repeats `options`.

    The lifecycle says a command as its parts; whoever knows the caller's global options writes it out. A
    provider's own result is not looked into.
    """
    # Every shape of ours allows a command in either form, so the document keeps its type; no checker can know.
    return {key: _written(key, value, options) for key, value in document.items()}  # type: ignore[return-value]


def _written(key: str, value: object, options: tuple[str, ...]) -> object:
    if key == "next_command" and isinstance(value, tuple):
        return command_line((*value, *options))
    if key == "provider_result":
        return value
    if isinstance(value, dict):
        return with_commands(value, options)
    if isinstance(value, list) and any(isinstance(row, dict) for row in value):
        return [with_commands(row, options) if isinstance(row, dict) else row for row in value]
    return value


def command_line(parts: Iterable[str]) -> str:
    """Return `parts` as one line that a POSIX shell reads back as the same arguments."""
    from shlex import join

    return join(("loopx", *parts))
