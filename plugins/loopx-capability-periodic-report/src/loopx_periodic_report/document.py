"""The shape of a report document that follows the rules (see `report`); for the type checker only."""

from __future__ import annotations

from typing import NotRequired, TypedDict

Period = TypedDict("Period", {"from": str, "to": str, "kind": str})
Cell = str | float | bool | None


class MetricPoint(TypedDict):
    """One value at one time."""

    at: str
    value: float


class Metric(TypedDict):
    """One line of a plot, in ascending time."""

    id: str
    label: str
    unit: str
    points: list[MetricPoint]


class Table(TypedDict):
    """Rows as wide as the columns."""

    columns: list[str]
    rows: list[list[Cell]]


class Section(TypedDict):
    """Text, a table and metrics under one title."""

    id: str
    title: str
    metrics: list[Metric]
    text: NotRequired[str]
    rows: NotRequired[Table]


class Absence(TypedDict):
    """What could not be reported, and why."""

    feature: str
    reason: str


class Report(TypedDict):
    """A whole report."""

    schema_version: str
    title: str
    period: Period
    generated_at: str
    sections: list[Section]
    missing: list[Absence]


class RelatedNote(TypedDict):
    """A note that was found for the report."""

    note: str
    title: str
    excerpt: str


class RelatedNotes(TypedDict):
    """The notes of one search."""

    notes: list[RelatedNote]


class Rendered(TypedDict):
    """The one observation of `render`; `sha256` and `bytes` are of the document in UTF-8."""

    format: str
    sha256: str
    bytes: int
    document: str
