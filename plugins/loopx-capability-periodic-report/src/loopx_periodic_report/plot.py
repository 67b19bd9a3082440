"""One metric as a line plot in SVG: scales, ticks, the line. No text of the report is used here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from loopx_periodic_report.report import moment
from loopx_periodic_report.text import axis_labels, day, month

HEIGHT, RIGHT, TOP, BOTTOM = 200, 16, 12, 28
HALF, WHOLE = 480, 992
_DIGIT, _BESIDE = 7.2, 16  # the width of a digit, and what is beside the labels
_Y_TICKS, _X_TICKS = 4, 6
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_FLAT, _SMALLEST = 1e-9, 1e-300
_NEAR_ZERO = 0.6  # an axis begins at zero when the lowest value is below this share of the highest
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_SECONDS = (1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10800, 21600, 43200, _DAY, 2 * _DAY, 7 * _DAY, 14 * _DAY)
_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 300, 600, 1200, 2400, 6000, 12000)
_LONG = 75 * _DAY
_EDGE, _LABEL_WIDTH = 30, 52

Point = tuple[str, float]


@dataclass(frozen=True, slots=True)
class Axis:
    """A range of values, and the ticks on it with their labels."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    def share(self, value: float) -> float:
        """Return where `value` lies between `low` (0) and `high` (1)."""
        return (value - self.low) / (self.high - self.low)


def draw(points: list[Point], width: int) -> str:
    """Return the inside of the plot's ``svg`` for at least one point, in ascending time."""
    times = [moment(at).timestamp() for at, _ in points]
    finest = 1 if any("T" in at for at, _ in points) else _DAY
    x_axis = time_axis(times[0], times[-1], width, finest)
    y_axis = value_axis([value for _, value in points])
    left = round(_BESIDE + _DIGIT * max(4, *(len(label) for _, label in y_axis.ticks)))
    inner, tall = width - left - RIGHT, HEIGHT - TOP - BOTTOM

    def x(time: float) -> float:
        return round(left + x_axis.share(time) * inner, 1)

    def y(value: float) -> float:
        return round(TOP + (1 - y_axis.share(value)) * tall, 1)

    parts = []
    for value, label in y_axis.ticks:
        kind = "z" if value == 0 else "g"
        parts.append(f'<path class="{kind}" d="M{left} {y(value)}H{width - RIGHT}"/>')
        parts.append(f'<text class="y" x="{left - 8}" y="{round(y(value) + 4, 1)}">{label}</text>')
    labelled = -float(width)
    for time, label in x_axis.ticks:
        at = x(time)
        anchor = "s" if at < left + _EDGE else "e" if at > width - RIGHT - _EDGE else "m"
        parts.append(f'<path class="t" d="M{at} {HEIGHT - BOTTOM}v4"/>')
        if at - labelled < _LABEL_WIDTH:
            continue
        labelled = at
        parts.append(f'<text class="{anchor}" x="{at}" y="{HEIGHT - BOTTOM + 18}">{label}</text>')
    places = [(x(time), y(value)) for time, (_, value) in zip(times, points, strict=True)]
    if len(places) > 1:
        line = "L".join(f"{across} {down}" for across, down in places)
        if y_axis.low <= 0 <= y_axis.high:
            parts.append(f'<path class="a" d="M{places[0][0]} {y(0)}L{line}V{y(0)}Z"/>')
        parts.append(f'<path class="l" d="M{line}"/>')
    parts.append(f'<circle class="d" cx="{places[-1][0]}" cy="{places[-1][1]}" r="4"/>')
    return "".join(parts)


def thinned(points: list[Point], most: int) -> list[Point]:
    """Return at most `most` (four or more) points: first, last, and the lowest and highest of each stretch."""
    if len(points) <= most:
        return points
    stretches = (most - 2) // 2
    inner = range(1, len(points) - 1)
    kept = {0, len(points) - 1}
    for number in range(stretches):
        stretch = inner[number * len(inner) // stretches : (number + 1) * len(inner) // stretches]
        kept.add(min(stretch, key=lambda index: points[index][1]))
        kept.add(max(stretch, key=lambda index: points[index][1]))
    return [points[index] for index in sorted(kept)]


def value_axis(values: list[float]) -> Axis:
    """Return a range with round ends around `values`, with zero in it unless that would flatten the line."""
    low, high = min(values), max(values)
    if high - low <= max(_FLAT * max(abs(low), abs(high)), _SMALLEST):
        pad = abs(high) / 2 if abs(high) > _SMALLEST else 1.0
        low, high = low - pad, high + pad
    elif 0 <= low < _NEAR_ZERO * high:
        low = 0
    elif 0 >= high > _NEAR_ZERO * low:
        high = 0
    step = _round_up((high - low) / _Y_TICKS)
    first, last = math.floor(low / step), math.ceil(high / step)
    places = [index * step for index in range(first, last + 1)]
    return Axis(places[0], places[-1], tuple(zip(places, axis_labels(places, step), strict=True)))


def _round_up(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    return next(factor * power for factor in _STEPS if factor * power >= step * (1 - _FLAT))


def time_axis(first: float, last: float, width: int, finest: int) -> Axis:
    """Return the time range, with ticks at round times; one instant lies in the middle of its own day."""
    if first == last:
        at = _stamp(first)
        return Axis(first - _DAY / 2, last + _DAY / 2, ((first, day(at)),))
    most = _X_TICKS if width == HALF else 2 * _X_TICKS
    if last - first > _LONG:
        return Axis(first, last, _months(first, last, most))
    step = next(size for size in _SECONDS if size >= finest and (last - first) / size <= most)
    ticks = [index * step for index in range(math.ceil(first / step), math.floor(last / step) + 1)]
    return Axis(first, last, tuple((time, _short(_stamp(time), step)) for time in ticks))


def _months(first: float, last: float, most: int) -> tuple[tuple[float, str], ...]:
    begin, end = _utc(first), _utc(last)
    number, until = begin.year * 12 + begin.month - 1, end.year * 12 + end.month - 1
    step = next(size for size in _MONTHS if (until - number) / size <= most)
    found = []
    for index in range(-(-number // step) * step, until + 1, step):
        at = datetime(index // 12, index % 12 + 1, 1, tzinfo=UTC)
        if first <= at.timestamp() <= last:
            found.append((at.timestamp(), month(at.isoformat())))
    return tuple(found)


def _short(at: str, step: int) -> str:
    if step >= _DAY or at[11:19] == "00:00:00":
        return day(at, year=False)
    return at[11:16] if step >= _MINUTE else at[11:19]


def _utc(time: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=time)


def _stamp(time: float) -> str:
    return _utc(time).isoformat()
