"""Load one manifest: bounded read, TOML, rules, one report; the only door from a file to a Manifest."""

from __future__ import annotations

from loopx_host.core.errors import refusal
from loopx_host.core.limits import MANIFEST_BYTES
from loopx_host.core.text import visible
from loopx_host.registry.attachments import Attachments
from loopx_host.registry.folder_error import FolderError
from loopx_host.registry.manifest import Manifest
from loopx_host.registry.manifest_rules import normal_form
from loopx_host.registry.report import Report
from loopx_host.registry.toml_source import Lines, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from loopx_host.core.errors import Refused
    from loopx_host.registry.ports import ManifestFolder
    from loopx_host.registry.schemas import Bundle


def load(folder: ManifestFolder, name: str, check_schema: Callable[[Bundle], None] | None = None) -> Manifest:
    """Return the checked manifest `name` of `folder` (contract section 2).

    `check_schema` judges the schemas it names, as `schemas.check` does, which it is when left out.

    Raises Refused: `manifest_unreadable`, `manifest_too_large`, `manifest_encoding`, `manifest_syntax`,
    `manifest_too_deep`, `api_incompatible`, or `manifest_invalid` with every problem under `problems`.
    """
    shown = visible(f"{folder.location}/{name}")
    try:
        data = folder.read(name, MANIFEST_BYTES)
    except FolderError as error:
        code = "manifest_too_large" if error.kind == "too_large" else "manifest_unreadable"
        raise refusal(code, shown, f"{shown} cannot be used as a manifest: {error}") from None
    document, text = parse(data, shown)
    report, attachments = Report(), Attachments(folder, check_schema)
    form = normal_form(report, document, attachments)
    problems = [*report.errors, *report.warnings]
    if problems:
        lines = Lines(text)
        for problem in problems:
            problem.line = lines.of(problem.pointer)
    if report.errors:
        raise _invalid(shown, report)
    return Manifest(form, snapshot=attachments.snapshot, warnings=tuple(report.warnings))


def _invalid(shown: str, report: Report) -> Refused:
    """One refusal for all problems; an API this host does not speak keeps its own code when it stands alone."""
    problems = report.errors
    alone = all(problem.code == "api_incompatible" for problem in problems)
    first = problems[0]
    others = len(problems) - 1 + report.more
    more = f" (and {others} more)" if others else ""
    return refusal(
        "api_incompatible" if alone else "manifest_invalid",
        shown,
        f"{first.summary}{more}",
        hint=f"correct {shown}",
        problems=[problem.row() for problem in problems],
        problems_left_out=report.more,
    )
