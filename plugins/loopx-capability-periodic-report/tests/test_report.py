"""What is a report document, and what is not: the rules, and their agreement with the JSON Schema."""

from __future__ import annotations

import copy
import json
from importlib import resources
from typing import Any

import jsonschema
import pytest
from loopx_periodic_report.report import problems

Json = dict[str, object]

DATA = resources.files("loopx_periodic_report")
SCHEMA = json.loads((DATA / "schemas" / "report.schema.json").read_text(encoding="utf-8"))
JUDGE = jsonschema.Draft202012Validator(SCHEMA)

GOOD: Json = {
    "schema_version": "loopx_periodic_report_v0",
    "title": "Week 45",
    "period": {"from": "2026-11-02", "to": "2026-11-08", "kind": "week"},
    "generated_at": "2026-11-09T06:00:00Z",
    "sections": [
        {
            "id": "repo",
            "title": "Repository",
            "text": "",
            "metrics": [
                {
                    "id": "commits",
                    "label": "Commits",
                    "unit": "",
                    "points": [{"at": "2026-11-02", "value": -1}, {"at": "2026-11-02T00:00:01Z", "value": 2.5}],
                }
            ],
            "rows": {"columns": ["a", "b"], "rows": [["x", 1], [None, True]]},
        }
    ],
    "missing": [{"feature": "ci", "reason": "no answer"}],
}


def changed(path: str, value: object) -> Json:
    report = copy.deepcopy(GOOD)
    *way, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    node: Any = report
    for step in way:
        node = node[step]
    node[last] = value
    return report


POINTS = "sections/0/metrics/0/points"
POINT = {"at": "2026-11-02", "value": 1}
METRIC = {"id": "m", "label": "m", "unit": "", "points": []}
SECTION = {"id": "s", "title": "s", "metrics": []}
BY_SCHEMA_TOO = [
    ("schema_version", "loopx_periodic_report_v1"),
    ("title", ""),
    ("title", "x" * 201),
    ("title", 1),
    ("more", 1),
    ("period", {"from": "2026-11-02", "to": "2026-11-08"}),
    ("period/kind", "year"),
    ("period/from", "2 Nov 2026"),
    ("generated_at", "2026-11-09T06:00:00+01:00"),
    ("sections", {}),
    ("sections", [{**SECTION, "id": f"s{number}"} for number in range(25)]),
    ("sections/0/id", "Repo"),
    ("sections/0/id", "a--b"),
    ("sections/0/text", "x" * 20_001),
    ("sections/0/text", None),
    ("sections/0/metrics", [{**METRIC, "id": f"m{number}"} for number in range(13)]),
    ("sections/0/metrics/0/unit", "x" * 25),
    (f"{POINTS}/0/value", None),
    (f"{POINTS}/0/value", True),
    (f"{POINTS}/0/value", "1"),
    (f"{POINTS}/0/value", 1.1e15),
    (f"{POINTS}/0/value", 10**400),
    (f"{POINTS}/0/note", "x"),
    (POINTS, [POINT] * 10_001),
    ("sections/0/rows/columns", []),
    ("sections/0/rows/columns", ["x"] * 13),
    ("sections/0/rows/rows", [["x", 1]] * 201),
    ("sections/0/rows/rows/0/0", "x" * 501),
    ("sections/0/rows/rows/0/0", {}),
    ("missing/0/feature", "Not a name"),
    ("missing/0/reason", ""),
]
BY_THE_RULES_ONLY = [
    ("period", {"from": "2026-11-09", "to": "2026-11-08", "kind": "week"}),
    ("period/from", "2026-02-30"),
    ("generated_at", "2026-11-09T24:00:01Z"),
    ("sections", [SECTION, SECTION]),
    (
        "sections",
        [{"id": f"s{n}", "title": "s", "metrics": [{**METRIC, "id": f"m{m}"} for m in range(10)]} for n in range(5)],
    ),
    ("sections/0/metrics", [METRIC, METRIC]),
    (POINTS, [POINT, POINT]),
    (POINTS, [{"at": "2026-11-03", "value": 1}, POINT]),
    (f"{POINTS}/0/value", float("nan")),
    ("sections/0/rows/rows/0", ["x"]),
    ("sections/0/rows/rows/0", ["x", 1, 2]),
    ("title", "\ud800"),
]


def test_a_report_has_no_problems() -> None:
    assert problems(GOOD) == []
    JUDGE.validate(GOOD)


@pytest.mark.parametrize(("path", "value"), BY_SCHEMA_TOO)
def test_rules_and_schema_refuse_the_same(path: str, value: object) -> None:
    report = changed(path, value)

    assert problems(report)
    assert not JUDGE.is_valid(report)


@pytest.mark.parametrize(("path", "value"), BY_THE_RULES_ONLY)
def test_the_rules_refuse_what_a_schema_cannot_say(path: str, value: object) -> None:
    assert problems(changed(path, value))


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_a_number_that_is_not_finite_is_refused_in_points_and_cells(value: float) -> None:
    assert problems(changed(f"{POINTS}/0/value", value))
    assert problems(changed("sections/0/rows/rows/0/1", value))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (POINTS, []),
        (f"{POINTS}/0/value", 1e15),
        (f"{POINTS}/0/value", -1e15),
        ("title", "x" * 200),
        ("sections", []),
        ("missing", []),
        ("sections/0/rows/rows", []),
        ("period/to", "2026-11-02"),
    ],
)
def test_the_limits_themselves_are_allowed(path: str, value: object) -> None:
    report = changed(path, value)

    assert problems(report) == []
    JUDGE.validate(report)


def test_every_problem_names_its_place() -> None:
    report = changed(f"{POINTS}/1/value", "x")
    report["title"] = ""

    assert [problem.partition(":")[0] for problem in problems(report)] == [
        "title",
        "sections[0].metrics[0].points[1].value",
    ]


@pytest.mark.parametrize("report", [None, [], "x", 1, {}, {"sections": None}])
def test_what_is_no_document_at_all_has_a_problem(report: object) -> None:
    assert problems(report)


def test_hostile_shapes_raise_nothing() -> None:
    shapes: list[object] = [None, 1, "x", [], [None], {}, [[]]]

    for path in ("period", "sections", "missing", "sections/0", POINTS, f"{POINTS}/0", "sections/0/rows"):
        for value in shapes:
            found = problems(changed(path, value))
            assert found or (value == [] and path in {"sections", "missing", POINTS})
