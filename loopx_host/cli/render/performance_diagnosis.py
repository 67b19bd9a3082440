"""How long the start of each route takes here."""

from __future__ import annotations

from loopx_host.cli.render.parts import clean, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.performance_diagnosis import PerformanceDiagnosis, RouteFigures

_HEADS = ["ROUTE", "MEDIAN MS", "P95 MS", "BARE PYTHON MS", "RATIO"]


def to_text(document: PerformanceDiagnosis) -> str:
    """Return a row for each route, then where it was measured."""
    where = document["environment"]
    measured = f"Python {where['python']} on {where['system']}, {document['pairs']} pairs, first dropped"
    return table(_HEADS, [_cells(row) for row in document["routes"]]) + clean([measured])


def _cells(row: RouteFigures) -> list[object]:
    return [row["route"], row["median_ms"], row["p95_ms"], row["bare_median_ms"], row["ratio_median"]]
