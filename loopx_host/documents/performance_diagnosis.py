"""How long an installation takes to start, against a bare interpreter on the same machine; times in milliseconds."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypedDict

    class Machine(TypedDict):
        """Where it was measured, as far as it explains a figure."""

        python: str
        interpreter: str
        in_virtual_environment: bool
        bytecode_written: bool
        system: str
        machine: str
        processors: int | None
        load_average: list[float]

    class RouteFigures(TypedDict):
        """One route, paired with bare runs; `modules` are those it imports beyond a bare interpreter."""

        route: str
        bare_median_ms: float
        median_ms: float
        p95_ms: float
        added_median_ms: float
        ratio_median: float
        modules: int

    class Target(TypedDict):
        """A candidate bound, reported and never enforced, with the routes that meet it."""

        target: int
        met_by: list[str]

    class PerformanceDiagnosis(TypedDict):
        """`own_start_ms` is the start of the very process that answered, null where the system does not say.

        `phases_ms` is what the interpreter takes, and what each route adds to it.
        """

        ok: Literal[True]
        schema_version: str
        environment: Machine
        pairs: int
        own_start_ms: float | None
        phases_ms: dict[str, float]
        routes: list[RouteFigures]
        targets_ms: list[Target]


ID = "loopx_performance_diagnosis_v0"
ROUTES = ("import", "version", "help")
TARGETS_MS = (50, 100, 200)  # candidates of the development plan (row M094), reported and never enforced


def performance_diagnosis(
    routes: list[RouteFigures], *, environment: Machine, pairs: int, own_start_ms: float | None
) -> PerformanceDiagnosis:
    """Return the document of these figures, one row for each of `ROUTES`."""
    by_route = {row["route"]: row for row in routes}
    added = {name: by_route[name]["added_median_ms"] for name in ROUTES}
    return {
        "ok": True,
        "schema_version": ID,
        "environment": environment,
        "pairs": pairs,
        "own_start_ms": own_start_ms,
        "phases_ms": {"interpreter": by_route["import"]["bare_median_ms"], **added},
        "routes": routes,
        "targets_ms": [
            {"target": target, "met_by": [row["route"] for row in routes if row["median_ms"] <= target]}
            for target in TARGETS_MS
        ],
    }


def schema() -> dict[str, object]:
    """Return the JSON Schema of a diagnosis."""
    from loopx_host.documents import words

    number: dict[str, object] = {"type": "number"}
    figures = ("bare_median_ms", "median_ms", "p95_ms", "added_median_ms", "ratio_median")
    routes: dict[str, object] = {"enum": list(ROUTES)}
    row = words.object_of({"route": routes, **dict.fromkeys(figures, number), "modules": words.COUNT})
    target = words.object_of({"target": {"enum": list(TARGETS_MS)}, "met_by": words.rows_of(routes)})
    where: dict[str, object] = dict.fromkeys(("python", "interpreter", "system", "machine"), words.TEXT)
    return words.receipt_of(
        ID,
        {
            "environment": words.object_of(where),
            "pairs": {"type": "integer", "minimum": 1},
            "own_start_ms": {"type": ["number", "null"]},
            "phases_ms": words.object_of({"interpreter": number, **dict.fromkeys(ROUTES, number)}),
            "routes": words.rows_of(row),
            "targets_ms": words.rows_of(target),
        },
    )
