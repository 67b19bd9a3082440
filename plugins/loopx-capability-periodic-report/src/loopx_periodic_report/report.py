"""The report document: what it may hold, and every way in which one breaks the rules."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from datetime import UTC, datetime

REPORT_SCHEMA = "loopx_periodic_report_v0"
KINDS = ("day", "week", "month")

TITLE, LABEL, UNIT, CELL, REASON, TEXT = 200, 120, 24, 500, 500, 20_000
SECTIONS, METRICS_PER_SECTION, METRICS, POINTS = 24, 12, 48, 10_000
COLUMNS, ROWS, MISSING, NOTES = 12, 200, 40, 20
MAGNITUDE = 1e15
PROBLEMS_SHOWN = 20

_ID = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", re.ASCII)
_FEATURE = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_AT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)?", re.ASCII)
_NAME_LENGTH = 48

Problems = Iterator[str]


def moment(at: str) -> datetime:
    """Return the instant that `at` names: a UTC second, or the first one of a date. Raises ValueError."""
    if not _AT.fullmatch(at):
        raise ValueError("neither YYYY-MM-DD nor YYYY-MM-DDTHH:MM:SSZ")
    return datetime.fromisoformat(at).replace(tzinfo=UTC)


def problems(report: object) -> list[str]:
    """Return what is wrong with `report`, each with the place first; empty when it is a report document."""
    found: list[str] = []
    for problem in _report(report):
        found.append(problem)
        if len(found) == PROBLEMS_SHOWN:
            break
    return found


def note_problems(notes: object) -> list[str]:
    """Return what is wrong with the related notes of a request."""
    return list(_notes(notes))[:PROBLEMS_SHOWN]


def _report(value: object) -> Problems:
    wanted = {"schema_version", "title", "period", "generated_at", "sections", "missing"}
    report = yield from _keys(value, "report", wanted)
    if report is not None:
        if report["schema_version"] != REPORT_SCHEMA:
            yield f"schema_version: is not {REPORT_SCHEMA}"
        yield from _text(report["title"], "title", TITLE)
        yield from _period(report["period"])
        yield from _at(report["generated_at"], "generated_at")
        yield from _list(report["sections"], "sections", SECTIONS)
        yield from _list(report["missing"], "missing", MISSING)
        yield from _sections(report["sections"])
        for at, entry in _members(report["missing"], "missing"):
            yield from _absence(entry, at)


def _period(value: object) -> Problems:
    period = yield from _keys(value, "period", {"from", "to", "kind"})
    if period is None:
        return
    wrong = [*_at(period["from"], "period.from"), *_at(period["to"], "period.to")]
    yield from wrong
    if not wrong and moment(str(period["from"])) > moment(str(period["to"])):
        yield "period: ends before it begins"
    if period["kind"] not in KINDS:
        yield f"period.kind: is none of {', '.join(KINDS)}"


def _sections(sections: object) -> Problems:
    metrics = 0
    names: list[object] = []
    for at, value in _members(sections, "sections"):
        section = yield from _keys(value, at, {"id", "title", "metrics"}, {"text", "rows"})
        if section is None:
            continue
        names.append(section["id"])
        yield from _id(section["id"], f"{at}.id")
        yield from _text(section["title"], f"{at}.title", TITLE)
        if "text" in section:
            yield from _text(section["text"], f"{at}.text", TEXT, empty=True)
        if "rows" in section:
            yield from _rows(section["rows"], f"{at}.rows")
        yield from _list(section["metrics"], f"{at}.metrics", METRICS_PER_SECTION)
        yield from _metrics(section["metrics"], f"{at}.metrics")
        metrics += len(section["metrics"]) if isinstance(section["metrics"], list) else 0
    yield from _unique(names, "sections")
    if metrics > METRICS:
        yield f"sections: hold more than {METRICS} metrics"


def _metrics(metrics: object, where: str) -> Problems:
    names: list[object] = []
    for at, value in _members(metrics, where):
        metric = yield from _keys(value, at, {"id", "label", "unit", "points"})
        if metric is None:
            continue
        names.append(metric["id"])
        yield from _id(metric["id"], f"{at}.id")
        yield from _text(metric["label"], f"{at}.label", LABEL)
        yield from _text(metric["unit"], f"{at}.unit", UNIT, empty=True)
        yield from _list(metric["points"], f"{at}.points", POINTS)
        yield from _points(metric["points"], f"{at}.points")
    yield from _unique(names, where)


def _points(points: object, where: str) -> Problems:
    before = None
    for at, value in _members(points, where):
        point = yield from _keys(value, at, {"at", "value"})
        if point is None:
            continue
        if not _is_number(point["value"]):
            yield f"{at}.value: is not a finite number between -1e15 and 1e15"
        wrong = list(_at(point["at"], f"{at}.at"))
        yield from wrong
        if not wrong:
            now = moment(str(point["at"]))
            if before is not None and now <= before:
                yield f"{at}.at: is not after the point before it"
            before = now


def _rows(value: object, at: str) -> Problems:
    table = yield from _keys(value, at, {"columns", "rows"})
    if table is None:
        return
    columns, rows = table["columns"], table["rows"]
    yield from _list(columns, f"{at}.columns", COLUMNS)
    yield from _list(rows, f"{at}.rows", ROWS)
    if columns == []:
        yield f"{at}.columns: is empty"
    if isinstance(columns, list):
        for number, name in enumerate(columns):
            yield from _text(name, f"{at}.columns[{number}]", LABEL)
    if isinstance(rows, list):
        for number, row in enumerate(rows):
            yield from _row(row, f"{at}.rows[{number}]", len(columns) if isinstance(columns, list) else 0)


def _row(row: object, at: str, width: int) -> Problems:
    if not isinstance(row, list) or len(row) != width:
        yield f"{at}: is not a list of {width} cells"
        return
    for number, cell in enumerate(row):
        if isinstance(cell, str):
            yield from _text(cell, f"{at}[{number}]", CELL, empty=True)
        elif cell is not None and not isinstance(cell, bool) and not _is_number(cell):
            yield f"{at}[{number}]: is not text, a finite number, a boolean or null"


def _absence(value: object, at: str) -> Problems:
    entry = yield from _keys(value, at, {"feature", "reason"})
    if entry is not None:
        feature = entry["feature"]
        if not isinstance(feature, str) or len(feature) > _NAME_LENGTH or not _FEATURE.fullmatch(feature):
            yield f"{at}.feature: is not a lower-case name"
        yield from _text(entry["reason"], f"{at}.reason", REASON)


def _notes(value: object) -> Problems:
    notes = yield from _keys(value, "related_notes", {"notes"})
    if notes is None:
        return
    yield from _list(notes["notes"], "related_notes.notes", NOTES)
    for at, member in _members(notes["notes"], "related_notes.notes"):
        note = yield from _keys(member, at, {"note", "title", "excerpt"})
        if note is not None:
            for key in ("note", "title", "excerpt"):
                yield from _text(note[key], f"{at}.{key}", CELL, empty=key == "excerpt")


def _keys(
    value: object, at: str, wanted: set[str], more: set[str] | None = None
) -> Generator[str, None, dict[str, object] | None]:
    """Yield what is wrong with the keys; the value of the generator is the object, or None where they are wrong."""
    if not isinstance(value, dict):
        yield f"{at}: is not an object"
        return None
    absent = sorted(wanted - set(value))
    unknown = sorted(set(value) - wanted - (more or set()))
    if absent:
        yield f"{at}: lacks {', '.join(absent)}"
    if unknown:
        yield f"{at}: holds {len(unknown)} unknown keys"
    return value if not absent and not unknown else None


def _members(value: object, at: str) -> Iterator[tuple[str, object]]:
    if isinstance(value, list):
        for number, member in enumerate(value):
            yield f"{at}[{number}]", member


def _list(value: object, at: str, most: int) -> Problems:
    if not isinstance(value, list):
        yield f"{at}: is not a list"
    elif len(value) > most:
        yield f"{at}: holds more than {most}"


def _text(value: object, at: str, most: int, *, empty: bool = False) -> Problems:
    if not isinstance(value, str):
        yield f"{at}: is not text"
    elif len(value) > most:
        yield f"{at}: is longer than {most} characters"
    elif not empty and not value:
        yield f"{at}: is empty"
    elif any("\ud800" <= char <= "\udfff" for char in value):
        yield f"{at}: holds a lone surrogate"


def _id(value: object, at: str) -> Problems:
    if not isinstance(value, str) or len(value) > _NAME_LENGTH or not _ID.fullmatch(value):
        yield f"{at}: is not lower-case words joined by hyphens"


def _at(value: object, at: str) -> Problems:
    try:
        moment(value if isinstance(value, str) else "")
    except ValueError:
        yield f"{at}: is neither YYYY-MM-DD nor YYYY-MM-DDTHH:MM:SSZ"


def _unique(names: list[object], at: str) -> Problems:
    texts = [name for name in names if isinstance(name, str)]
    if len(set(texts)) != len(texts):
        yield f"{at}: an id is there twice"


def _is_number(value: object) -> bool:
    # what is not a number compares false with everything
    return isinstance(value, (int, float)) and not isinstance(value, bool) and -MAGNITUDE <= value <= MAGNITUDE
