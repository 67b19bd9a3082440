"""The report as one page of HTML that needs nothing else: no script, no address, no font, no image."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopx_periodic_report.canonical import encoded
from loopx_periodic_report.plot import HALF, HEIGHT, WHOLE, Point, draw, thinned
from loopx_periodic_report.text import day, instant, number, paragraphs, shown

if TYPE_CHECKING:
    from loopx_periodic_report.document import Absence, Cell, Metric, Period, Report, Section, Table

POINTS_DRAWN, POINTS_OF_ONE = 1_200, 200

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
KINDS = {"day": "Day", "week": "Week", "month": "Month"}
STYLE = """
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--ink:#16191d;--soft:#565d66;
--rule:#dfe3e8;--line:#1f5fbf;--warn:#8a5a00}
@media(prefers-color-scheme:dark){:root{--page:#111418;--card:#1a1e24;--ink:#eceff3;--soft:#a2abb6;
--rule:#313840;--line:#7db0ff;--warn:#e2b04a}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:66rem;margin:0 auto;padding:2.5rem 1.25rem 4rem}
header{margin-bottom:2rem}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .35rem;letter-spacing:-.01em;overflow-wrap:anywhere}
h2{font-size:1.25rem;margin:0 0 .75rem;overflow-wrap:anywhere}
h3{font-size:.95rem;font-weight:600;margin:0;overflow-wrap:anywhere}
p{margin:0 0 .75rem;max-width:46rem;overflow-wrap:anywhere;white-space:pre-line}
.soft,.note,figcaption span,summary{color:var(--soft)}
.note{font-size:.85rem;margin:.25rem 0 0}
section{margin:0 0 2.5rem}
.grid{display:grid;gap:1rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,25rem),1fr))}
.grid.one{grid-template-columns:100%}
.grid+.wide{margin-top:1rem}
figure{margin:0;min-width:0;padding:1rem 1.1rem;
background:var(--card);border:1px solid var(--rule);border-radius:10px}
.now{margin:.1rem 0 .4rem;font-size:.85rem}
.now b{margin-inline-end:.15rem;font-size:1.5rem;font-weight:650;letter-spacing:-.01em;color:var(--ink)}
.plot,.wide{overflow-x:auto}
.plot:focus-visible,.wide:focus-visible,summary:focus-visible{outline:2px solid var(--line);outline-offset:2px}
svg{display:block;width:100%;height:auto;min-width:24rem}
.one svg{min-width:54rem}
svg text{font-size:12px;fill:var(--soft);font-variant-numeric:tabular-nums}
.y,.e{text-anchor:end}.m{text-anchor:middle}
.g,.z,.t{stroke:var(--rule);fill:none}.z{stroke:var(--soft)}
.l{stroke:var(--line);stroke-width:2;fill:none;stroke-linejoin:round;stroke-linecap:round}
.a{fill:var(--line);opacity:.12}.d{fill:var(--line);stroke:var(--card);stroke-width:2}
details{margin-top:.6rem;font-size:.9rem}
summary{cursor:pointer;font-size:.85rem}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums;margin-top:.5rem}
caption{text-align:start;color:var(--soft);padding-bottom:.35rem}
th,td{text-align:start;padding:.35rem 1.5rem .35rem 0;
border-bottom:1px solid var(--rule);vertical-align:top;overflow-wrap:anywhere}
th{font-weight:600}td.n,th.n{text-align:end}
.absent{border-inline-start:4px solid var(--warn);
background:var(--card);padding:1rem 1.1rem;border-radius:0 10px 10px 0}
.absent ul{margin:0;padding-inline-start:1.2rem}
@media print{:root{--page:#fff}main{padding:0}figure{break-inside:avoid}}
"""


def html(report: Report) -> str:
    """Return the page of a report document that holds no problems; the same document gives the same bytes."""
    sizes = [len(metric["points"]) for section in report["sections"] for metric in section["metrics"]]
    each = _share(sizes)
    body = "".join(_section(section, index, each) for index, section in enumerate(report["sections"], 1))
    title = shown(report["title"])
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<header><h1 dir="auto">{title}</h1><p class="soft">{_period(report["period"])} · made '
        f"{_time(report['generated_at'])}</p></header>\n"
        f"{body}{_missing(report['missing'])}</main>\n</body>\n</html>\n"
    )


def _share(sizes: list[int]) -> int:
    """Return how many points of one metric are drawn; what short series leave is shared by the long ones."""
    fits = (most for most in range(POINTS_OF_ONE, 4, -1) if sum(min(size, most) for size in sizes) <= POINTS_DRAWN)
    return next(fits, 4)


def _period(period: Period) -> str:
    first, last = period["from"], period["to"]
    name = KINDS[period["kind"]]
    if first == last:
        return f"{name} · {_time(first)}"
    return f"{name} · {_time(first)} to {_time(last)}"


def _time(at: str) -> str:
    return f'<time datetime="{at}">{instant(at)}</time>'


def _section(section: Section, index: int, each: int) -> str:
    parts = [f'<section aria-labelledby="s{index}">\n<h2 id="s{index}" dir="auto">{shown(section["title"])}</h2>\n']
    parts.append(paragraphs(section.get("text", "")))
    metrics = section["metrics"]
    if metrics:
        alone = len(metrics) == 1
        parts.append(f'<div class="grid{" one" if alone else ""}">\n')
        for place, metric in enumerate(metrics, 1):
            parts.append(_figure(metric, f"s{index}m{place}", WHOLE if alone else HALF, each))
        parts.append("</div>\n")
    if "rows" in section:
        parts.append(_table(section["rows"], f"s{index}"))
    parts.append("</section>\n")
    return "".join(parts)


def _figure(metric: Metric, name: str, width: int, each: int) -> str:
    label, unit = shown(metric["label"]), shown(metric["unit"])
    points: list[Point] = [(point["at"], point["value"]) for point in metric["points"]]
    head = f'<figure aria-labelledby="{name}">\n<figcaption><h3 id="{name}" dir="auto">{label}</h3>'
    if not points:
        return f'{head}</figcaption><p class="note">No points in this period.</p></figure>\n'
    drawn = thinned(points, each)
    fewer = (
        f"{number(len(points))} points, of which {number(len(drawn))} are shown: the first and the last, and the "
        "lowest and the highest of each stretch between."
        if len(drawn) < len(points)
        else ""
    )
    note = f'<p class="note">{fewer}</p>\n' if fewer else ""
    return (
        f'{head}<p class="now"><b>{number(points[-1][1])}</b> <span dir="auto">{unit}</span> '
        f"<span>{_change(points)}</span></p></figcaption>\n"
        f'<div class="plot" role="region" tabindex="0" aria-labelledby="{name}">'
        f'<svg viewBox="0 0 {width} {HEIGHT}" role="img" aria-labelledby="{name}t {name}d">'
        f'<title id="{name}t">{label}</title><desc id="{name}d">{_alternative(points, unit)}</desc>'
        f"{draw(drawn, width)}</svg></div>\n{note}{_data(drawn, label, unit, fewer)}</figure>\n"
    )


def _change(points: list[Point]) -> str:
    (first_at, first), (last_at, last) = points[0], points[-1]
    if len(points) == 1:
        return f"on {instant(last_at)}"
    since = instant(first_at) if first_at[:10] == last_at[:10] else day(first_at)
    if last == first:
        return f"as on {since}"
    return f"{'▲' if last > first else '▼'} {number(abs(last - first))} since {since}"


def _alternative(points: list[Point], unit: str) -> str:
    (first_at, first), (last_at, last) = points[0], points[-1]
    low, high = min(points, key=lambda point: point[1]), max(points, key=lambda point: point[1])
    after = f" {unit}" if unit else ""
    if len(points) == 1:
        return f"One point: {number(last)}{after} on {instant(last_at)}."
    return (
        f"Line of {number(len(points))} points from {instant(first_at)} to {instant(last_at)}. "
        f"It begins at {number(first)}{after} and ends at {number(last)}{after}. "
        f"Lowest {number(low[1])} on {instant(low[0])}, highest {number(high[1])} on {instant(high[0])}."
    )


def _data(drawn: list[Point], label: str, unit: str, fewer: str) -> str:
    value = f"Value ({unit})" if unit else "Value"
    rows = "".join(f'<tr><td>{at}<td class="n">{_exact(size)}\n' for at, size in drawn)
    return (
        f'<details><summary>Data table</summary>{_wide(label)}<table><caption dir="auto">{label}. {fewer}</caption>'
        f'<thead><tr><th scope="col">Time (UTC)</th><th scope="col" class="n" dir="auto">{value}</th></tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div></details>"
    )


def _table(table: Table, name: str) -> str:
    width = len(table["columns"])
    numeric = [bool(table["rows"]) and all(_is_size(row[at]) for row in table["rows"]) for at in range(width)]
    kinds = [' class="n"' if flag else "" for flag in numeric]
    head = "".join(
        f'<th scope="col" dir="auto"{kind}>{shown(column)}</th>'
        for column, kind in zip(table["columns"], kinds, strict=True)
    )
    rows = "".join(
        "<tr>"
        + "".join(f'<td dir="auto"{kind}>{_cell(cell)}</td>' for cell, kind in zip(row, kinds, strict=True))
        + "</tr>\n"
        for row in table["rows"]
    )
    none = "" if table["rows"] else '<p class="note">No rows.</p>'
    return (
        f'<div class="wide" role="region" tabindex="0" aria-labelledby="{name}"><table aria-labelledby="{name}">'
        f"<thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>{none}\n"
    )


def _is_size(cell: object) -> bool:
    return cell is None or (isinstance(cell, (int, float)) and not isinstance(cell, bool))


def _cell(cell: Cell) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return shown(cell) if isinstance(cell, str) else _exact(cell)


def _exact(value: float) -> str:
    return encoded(value).decode()


def _wide(label: str) -> str:
    return f'<div class="wide" role="region" tabindex="0" aria-label="{label}, data">'


def _missing(missing: list[Absence]) -> str:
    if not missing:
        return ""
    rows = "".join(
        f'<li><strong>{shown(entry["feature"])}</strong>: <span dir="auto">{shown(entry["reason"])}</span></li>\n'
        for entry in missing
    )
    return (
        '<section class="absent" aria-labelledby="missing"><h2 id="missing">What is missing</h2>\n'
        f"<ul>{rows}</ul></section>\n"
    )
