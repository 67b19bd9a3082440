"""The page and the JSON of a report: the same bytes, nothing active, every plot with words and numbers beside it."""

from __future__ import annotations

import hashlib
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

import pytest
from loopx_periodic_report.render import render

from loopx_host import OperationFailed

Json = dict[str, object]

TAGS = {
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "main",
    "header",
    "h1",
    "h2",
    "h3",
    "p",
    "time",
    "section",
    "div",
    "figure",
    "figcaption",
    "b",
    "span",
    "svg",
    "desc",
    "path",
    "text",
    "circle",
    "details",
    "summary",
    "table",
    "caption",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "ul",
    "li",
    "strong",
}
ATTRIBUTES = {
    "lang",
    "charset",
    "http-equiv",
    "content",
    "name",
    "dir",
    "datetime",
    "aria-labelledby",
    "aria-label",
    "id",
    "class",
    "role",
    "tabindex",
    "viewbox",
    "d",
    "x",
    "y",
    "cx",
    "cy",
    "r",
    "scope",
}
HOSTILE = [
    "<script>alert(1)</script>",
    '"><svg onload=alert(1)>',
    "</title></style></svg><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "]]><!--",
    "&lt;script&gt;&#x3c;script&#x3e;",
    "javascript:alert(1) https://example.org/ url(//example.org)",
    "{{7*7}} ${7*7} <%= 7 %>",
]
INVISIBLE = (
    "\u202e\u202d\u2066\u2069\u200b\u200e\u200f\u061c\ufeff\u0000\u0007\u001b\u007f\u0085\u2028\u2029\U000e0041"
)


class Page(HTMLParser):
    """What a browser would see: tags, attributes, text, ids."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.shown: list[str] = []
        self.open: list[str] = []
        self.feed(document)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.open.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.shown.append(data)

    def handle_endtag(self, tag: str) -> None:
        self.open.append(f"/{tag}")

    def of(self, name: str) -> list[str]:
        return [value for attribute, value in self.attributes if attribute == name]

    @property
    def text(self) -> str:
        return "".join(self.shown)


def points(values: list[float], step: timedelta = timedelta(hours=1)) -> list[Json]:
    first = datetime(2026, 11, 2, tzinfo=UTC)
    return [
        {"at": (first + index * step).strftime("%Y-%m-%dT%H:%M:%SZ"), "value": value}
        for index, value in enumerate(values)
    ]


def metric(series: Sequence[Mapping[str, object]], name: str = "m", **more: object) -> Json:
    return {"id": name, "label": "Latency", "unit": "ms", "points": series, **more}


def report(*metrics: Json, **more: object) -> Json:
    return {
        "schema_version": "loopx_periodic_report_v0",
        "title": "Week 45",
        "period": {"from": "2026-11-02", "to": "2026-11-08", "kind": "week"},
        "generated_at": "2026-11-09T06:00:00Z",
        "sections": [{"id": "s", "title": "Service", "metrics": list(metrics)}],
        "missing": [{"feature": "related_notes", "reason": "not asked for"}],
        **more,
    }


def page(document: Json) -> str:
    made: str = render({"report": document, "format": "html"}, {})["document"]
    return made


def drawings(document: str) -> list[ET.Element]:
    return [ET.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", document, re.DOTALL)]


def coordinates(drawing: ET.Element, kind: str) -> list[tuple[float, float]]:
    line = next(path.get("d", "") for path in drawing.iter("path") if path.get("class") == kind)
    pairs = [pair.split() for pair in line.removeprefix("M").split("L")]
    return [(float(across), float(down)) for across, down in pairs]


def ticks(drawing: ET.Element) -> list[str]:
    return [text.text or "" for text in drawing.iter("text") if text.get("class") == "y"]


@pytest.mark.parametrize("form", ["html", "json"])
def test_the_same_report_gives_the_same_bytes_whatever_the_order_of_its_keys(form: str) -> None:
    document = report(metric(points([1, 2, 3])))
    turned = json.loads(json.dumps(document), object_pairs_hook=lambda pairs: dict(reversed(pairs)))

    first, second = (render({"report": given, "format": form}, {}) for given in (document, turned))

    assert first == second


@pytest.mark.parametrize("form", ["html", "json"])
def test_digest_and_size_are_those_of_the_bytes_of_the_document(form: str) -> None:
    made = render({"report": report(title="Über"), "format": form}, {})

    data = made["document"].encode()
    assert set(made) == {"format", "sha256", "bytes", "document"}
    assert (made["sha256"], made["bytes"]) == (hashlib.sha256(data).hexdigest(), len(data))


def test_json_is_the_canonical_form_with_every_point() -> None:
    document = report(metric(points([1.5] * 400)), title="Über")

    made = render({"report": document, "format": "json"}, {})["document"]

    assert made == json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def test_rendering_rendered_json_again_changes_nothing() -> None:
    once = render({"report": report(missing=[]), "format": "json"}, {})

    again = render({"report": json.loads(once["document"]), "format": "json"}, {})

    assert again == once


def test_the_page_forbids_everything_but_its_own_style_before_anything_else_is_read() -> None:
    document = page(report())

    policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    assert document.index(policy) < document.index("<title>") < document.index("<style>")
    assert document.startswith("<!DOCTYPE html>\n")


def test_the_page_names_no_address_and_has_only_plain_tags_and_attributes() -> None:
    document = page(report(metric(points([1, 2])), metric([], "n")))

    seen = Page(document)
    assert set(seen.tags) <= TAGS
    assert {name for name, _ in seen.attributes} <= ATTRIBUTES
    assert not re.search(r"https?:|url\(|@import|//", document)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_and_never_becomes_markup(text: str) -> None:
    hostile = report(
        title=text,
        sections=[
            {
                "id": "s",
                "title": text,
                "text": text,
                "metrics": [{"id": "m", "label": text, "unit": text[:24], "points": points([1, 2])}],
                "rows": {"columns": [text], "rows": [[text]]},
            }
        ],
        missing=[{"feature": "x", "reason": text}],
    )

    document = page(hostile)

    seen = Page(document)
    assert set(seen.tags) <= TAGS
    assert {name for name, _ in seen.attributes} <= ATTRIBUTES
    assert seen.text.count(text) >= 8
    assert len(drawings(document)) == 1


@pytest.mark.parametrize("char", INVISIBLE)
def test_a_character_that_hides_or_reorders_text_is_written_out(char: str) -> None:
    document = page(
        report(
            metric(points([1]), label=f"a{char}b", unit=char),
            title=f"a{char}b",
            sections=[
                {
                    "id": "s",
                    "title": char,
                    "text": f"a{char}b",
                    "metrics": [metric(points([1]), label=char)],
                    "rows": {"columns": [char], "rows": [[char]]},
                }
            ],
        )
    )

    assert char not in document
    assert f"‹U+{ord(char):04X}›" in document


def test_text_of_either_direction_is_kept_to_its_own_element() -> None:
    document = page(report(metric(points([1]), label="שלום"), title="مرحبا"))

    assert '<h1 dir="auto">مرحبا</h1>' in document
    assert re.search(r'<h3 id="[a-z0-9]+" dir="auto">שלום</h3>', document)


def test_an_empty_line_parts_paragraphs() -> None:
    document = page(report(sections=[{"id": "s", "title": "t", "text": "one\ntwo\n\nthree", "metrics": []}]))

    assert '<p dir="auto">one\ntwo</p><p dir="auto">three</p>' in document


def test_every_plot_has_a_title_a_text_and_a_table_and_every_label_is_there_once() -> None:
    document = page(report(*(metric(points([1, 2, index]), f"m{index}") for index in range(5))))

    seen = Page(document)
    names = seen.of("id")
    assert len(names) == len(set(names))
    assert {name for value in seen.of("aria-labelledby") for name in value.split()} <= set(names)
    for drawing in drawings(document):
        assert drawing.get("role") == "img"
        assert [child.tag for child in drawing][:2] == ["title", "desc"]
        assert all((child.text or "").strip() for child in list(drawing)[:2])
    assert seen.tags.count("svg") == seen.tags.count("caption") == 5


def test_the_table_of_a_plot_holds_its_points() -> None:
    document = page(report(metric(points([1, -2.5]))))

    assert "<tr><td>2026-11-02T00:00:00Z<td" in document
    assert re.findall(r'<td class="n">([^<\n]+)', document) == ["1", "-2.5"]


def test_a_higher_value_lies_higher_and_a_later_one_further_to_the_right() -> None:
    (drawing,) = drawings(page(report(metric(points([0, 10, 5])))))

    (x0, y0), (x1, y1), (x2, y2) = coordinates(drawing, "l")
    assert x0 < x1 < x2
    assert y1 < y2 < y0
    assert y2 == pytest.approx((y0 + y1) / 2, abs=0.2)


def test_points_are_spaced_by_time_and_not_by_number() -> None:
    series = [{"at": at, "value": 1} for at in ("2026-11-02", "2026-11-03", "2026-11-06")]
    (drawing,) = drawings(page(report(metric(series))))

    (x0, _), (x1, _), (x2, _) = coordinates(drawing, "l")
    assert (x2 - x1) / (x1 - x0) == pytest.approx(3, abs=0.02)


@pytest.mark.parametrize(
    "values",
    [
        [1],
        [0],
        [0, 0, 0],
        [7, 7, 7],
        [-7, -7],
        [1e15, -1e15],
        [1e15, 1e15 - 1],
        [5e-324, 0],
        [1e-320, 2e-320],
        [1e-9, 2e-9],
        [-3, -2.5, -1],
        [0.1, 0.2, 0.30000000000000004],
        [99_999, 100_001],
    ],
)
def test_any_series_is_drawn_inside_its_plot_with_ticks_that_differ(values: list[float]) -> None:
    (drawing,) = drawings(page(report(metric(points(values)))))

    dots = [(float(dot.get("cx", "nan")), float(dot.get("cy", "nan"))) for dot in drawing.iter("circle")]
    line = coordinates(drawing, "l") if len(values) > 1 else []
    width, height = (float(size) for size in drawing.get("viewBox", "").split()[2:])
    assert all(0 <= across <= width and 0 <= down <= height for across, down in dots + line)
    assert len(dots) == 1
    labels = ticks(drawing)
    assert len(labels) == len(set(labels)) >= 2


def test_negative_values_get_a_line_at_zero_and_a_constant_series_none() -> None:
    crossing, constant = (drawings(page(report(metric(points(values)))))[0] for values in ([-5.0, 5.0], [7.0, 7.0]))

    assert [path.get("class") for path in crossing.iter("path")].count("z") == 1
    assert [path.get("class") for path in constant.iter("path")].count("z") == 0


def test_an_empty_series_is_said_and_not_drawn() -> None:
    document = page(report(metric([])))

    assert "<svg" not in document
    assert document.count("<figure") == 1


def test_one_point_is_a_dot_without_a_line() -> None:
    (drawing,) = drawings(page(report(metric(points([3])))))

    assert not [path for path in drawing.iter("path") if path.get("class") in {"l", "a"}]
    assert len(list(drawing.iter("circle"))) == 1


def test_ten_thousand_points_are_thinned_to_ends_and_extremes_and_the_page_says_so() -> None:
    values: list[float] = [float(index % 97) for index in range(10_000)]
    values[4_321], values[7_777] = 5_000, -5_000
    document = page(report(metric(points(values, timedelta(minutes=1)))))

    seen = Page(document)
    shown = [float(value) for value in re.findall(r'<td class="n">([^<\n]+)', document)]
    assert len(shown) <= 200
    assert {5_000, -5_000} <= set(shown)
    assert (shown[0], shown[-1]) == (values[0], values[-1])
    assert len(coordinates(drawings(document)[0], "l")) == len(shown)
    assert f"10,000 points, of which {len(shown)} are shown" in seen.text


def test_two_hundred_points_are_all_shown_and_nothing_is_said_of_thinning() -> None:
    document = page(report(metric(points([float(index) for index in range(200)]))))

    assert len(re.findall(r'<td class="n">', document)) == 200
    assert "are shown" not in Page(document).text


def test_what_short_series_leave_is_drawn_of_the_long_one() -> None:
    short = [metric(points([1, 2]), f"m{index}") for index in range(11)]

    document = page(report(metric(points([float(index) for index in range(200)]), "long"), *short))

    assert "are shown" not in Page(document).text


def test_forty_eight_metrics_of_many_points_fit_into_one_answer() -> None:
    many = points([float(index % 13) for index in range(500)])
    sections = [
        {"id": f"s{number}", "title": "t", "metrics": [metric(many, f"m{place}") for place in range(12)]}
        for number in range(4)
    ]

    made = render({"report": report(sections=sections), "format": "html"}, {})

    assert len(json.dumps([made])) < 200_000
    assert made["document"].count("<svg") == 48


def test_a_document_over_the_limit_is_refused_and_not_cut() -> None:
    sections = [{"id": f"s{number}", "title": "t", "text": "x" * 20_000, "metrics": []} for number in range(10)]

    for form in ("html", "json"):
        with pytest.raises(OperationFailed) as refusal:
            render({"report": report(sections=sections), "format": form}, {})
        assert refusal.value.code == "document_too_large"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({}, "input_invalid"),
        ({"report": report()}, "input_invalid"),
        ({"report": report(), "format": "html", "more": 1}, "input_invalid"),
        ({"report": report(), "format": "pdf"}, "format_unknown"),
        ({"report": report(), "format": ["html"]}, "format_unknown"),
        ({"report": {}, "format": "html"}, "report_invalid"),
        ({"report": report(metric(points([float("nan")]))), "format": "json"}, "report_invalid"),
        ({"report": report(), "format": "html", "related_notes": {}}, "related_notes_invalid"),
        ({"report": report(), "format": "html", "related_notes": None}, "related_notes_invalid"),
        ({"report": report(), "format": "html", "related_notes": {"notes": [{}]}}, "related_notes_invalid"),
    ],
)
def test_an_input_outside_the_contract_has_its_code(given: Json, code: str) -> None:
    with pytest.raises(OperationFailed) as refusal:
        render(given, {})

    assert refusal.value.code == code


def test_what_is_missing_is_on_the_page_with_its_reason() -> None:
    seen = Page(page(report(missing=[{"feature": "ci_runs", "reason": "the service was silent"}])))

    assert "ci_runs: the service was silent" in seen.text


def test_light_and_dark_are_the_choice_of_the_reader() -> None:
    document = page(report())

    assert "color-scheme:light dark" in document
    assert "@media(prefers-color-scheme:dark)" in document
