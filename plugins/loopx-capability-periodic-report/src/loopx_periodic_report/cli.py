"""The provider process of the capability `periodic-report`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopx_host import OperationFailed
from loopx_periodic_report import process
from loopx_periodic_report.render import render
from loopx_periodic_report.report import REPORT_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loopx_periodic_report.document import Rendered

MANIFEST_ID = "loopx-capability-periodic-report"
DOCTOR_POINTS = [{"at": "2026-01-05", "value": 1}, {"at": "2026-01-06", "value": -2.5}]
DOCTOR_REPORT = {
    "schema_version": REPORT_SCHEMA,
    "title": "Doctor",
    "period": {"from": "2026-01-05", "to": "2026-01-11", "kind": "week"},
    "generated_at": "2026-01-12T00:00:00Z",
    "sections": [
        {
            "id": "check",
            "title": "Check",
            "metrics": [{"id": "line", "label": "<b>", "unit": "", "points": DOCTOR_POINTS}],
        }
    ],
    "missing": [],
}


def main() -> int:
    """Serve one call of the process and return its exit status."""
    return process.main({"render": rendered}, MANIFEST_ID, doctor)


def rendered(given: Mapping[str, object], references: dict[str, str]) -> list[Rendered]:
    """Return the observations of `render`: there is one."""
    return [render(given, references)]


def doctor() -> str | None:
    """Render a known report twice; return what is wrong, or None. Reads and writes nothing."""
    try:
        first, second = (render({"report": DOCTOR_REPORT, "format": "html"}, {}) for _ in range(2))
    except OperationFailed as failed:
        return str(failed)
    if first != second:
        return "the same report gave two different pages"
    if "<b></h3>" in first["document"] or "&lt;b&gt;</h3>" not in first["document"]:
        return "the text of a report reached the page unescaped"
    return None


if __name__ == "__main__":
    raise SystemExit(main())
