"""Wheels in a real environment: a report is rendered through the host, and no delivery happens without a turn.

The sinks are run as processes by the suite of their contract, against a directory and a real SMTP server.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Answer, Loopx
from tests.support.lifecycle import ROOT, build_wheel, make_venv, pip

pytestmark = pytest.mark.timeout(300)

PLUGINS = ROOT / "plugins"
REPORT_PACKAGE, DIRECTORY, SMTP = "loopx-capability-periodic-report", "loopx-sink-directory", "loopx-sink-smtp"
RECALL = "loopx-capability-recall"
PACKAGES = (REPORT_PACKAGE, DIRECTORY, SMTP)
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome-headless-shell")
REPORT: dict[str, Any] = {
    "schema_version": "loopx_periodic_report_v0",
    "title": "Week 45 <iframe>",
    "period": {"from": "2026-11-02", "to": "2026-11-08", "kind": "week"},
    "generated_at": "2026-11-09T06:00:00Z",
    "sections": [
        {
            "id": "service",
            "title": "Service",
            "text": "Calm.",
            "metrics": [
                {
                    "id": "latency",
                    "label": "Latency",
                    "unit": "ms",
                    "points": [{"at": "2026-11-02", "value": 12}, {"at": "2026-11-03", "value": 40.5}],
                }
            ],
        }
    ],
    "missing": [],
}
BODY = "<!DOCTYPE html>\n<title>x</title>\n"
DELIVERY = {
    "report_id": "week-45",
    "content_type": "text/html",
    "text": BODY,
    "body_sha256": hashlib.sha256(BODY.encode()).hexdigest(),
    "target_key": "report:folder/reports",
    "idempotency_key": "op-0123456789abcdef",
}


class Installed(Loopx):
    """The host and the three packages from their wheels, in an environment of its own; extensions are activated."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.scripts = make_venv(root / "venv")
        dist = root / "dist"
        for source in (ROOT, *(PLUGINS / name for name in PACKAGES)):
            build_wheel(source, dist)
        wanted = [f"{name}[test]" if name == SMTP else name for name in PACKAGES]
        pip("--python", str(self.scripts / "python"), "install", "--find-links", str(dist), *wanted)

    def command(self, *words: str | bytes, options: bool = True) -> list[str | bytes]:
        return [str(self.scripts / "loopx"), *super().command(*words, options=options)[1:]]

    def do(self, *words: str, given: object = None) -> Answer:
        """Run one command with ``--execute``; `given` is its input."""
        return self(*words, "--execute", stdin=b"" if given is None else json.dumps(given).encode())

    def bind(self, capability: str, *operations: str, goal: str, more: tuple[str, ...] = ()) -> Answer:
        flags = [word for operation in operations for word in ("--operation", operation)]
        return self.do("capability", "bind", capability, "--goal-id", goal, *flags, *more)

    def invoke(self, capability: str, operation: str, given: object, *, goal: str) -> Answer:
        words = ("--goal-id", goal, "--operation", operation, "--input-json", "-")
        return self.do("capability", "invoke", capability, *words, given=given)


class Outline(HTMLParser):
    """The start tags of a page, and its visible text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 (the parser's)
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    made = Installed(tmp_path_factory.mktemp("host"))
    for name in PACKAGES:
        answer = made.do("extension", "install", name)
        assert answer.status == 0, answer
    assert made.bind("periodic-report", "render", goal="g1").status == 0
    return made


@pytest.fixture(scope="module")
def page(host: Installed) -> str:
    """The page of the report, rendered through the host."""
    answer = host.invoke("periodic-report", "render", {"report": REPORT, "format": "html"}, goal="g1")
    assert answer.status == 0, answer
    (made,) = answer.document["provider_result"]["observations"]
    document = made["document"]
    assert isinstance(document, str)
    assert made["sha256"] == hashlib.sha256(document.encode()).hexdigest()
    return document


def test_a_report_is_rendered_through_the_host_as_one_page_with_its_plot(page: str) -> None:
    seen = Outline(page)

    assert {"svg", "table"} <= set(seen.tags)
    assert not {"script", "img", "link", "iframe"} & set(seen.tags)
    assert "Week 45 <iframe>" in seen.text


def test_the_same_report_gives_the_same_page_again(host: Installed, page: str) -> None:
    answer = host.invoke("periodic-report", "render", {"report": REPORT, "format": "html"}, goal="g1")

    assert answer.document["provider_result"]["observations"][0]["document"] == page


@pytest.mark.skipif(not any(map(shutil.which, BROWSERS)), reason="no headless browser is installed")
def test_a_browser_draws_the_page(page: str, tmp_path: Path) -> None:
    source, picture = tmp_path / "page.html", tmp_path / "page.png"
    source.write_text(page, encoding="utf-8")
    browser = next(found for found in map(shutil.which, BROWSERS) if found)
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]

    subprocess.run(
        [browser, *flags, f"--screenshot={picture}", "--window-size=900,1200", source.as_uri()],
        check=True,
        capture_output=True,
        timeout=60,
    )

    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 5000  # an empty page of this size takes less


@pytest.mark.req("M113")
def test_without_recall_the_command_renders_and_says_why_there_are_no_notes(host: Installed, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text(json.dumps(REPORT), encoding="utf-8")
    words = (
        "periodic-report",
        str(report),
        "--goal-id",
        "g1",
        "--as",
        "json",
        "--notes",
        str(tmp_path),
        "--query",
        "x",
        "--execute",
    )

    answer = host(*words)

    made = json.loads(answer.document["text"])
    assert answer.status == 0
    assert answer.document["related_notes"] is None
    assert [row["feature"] for row in made["missing"]] == ["related_notes"]
    assert {**made, "missing": []} == REPORT


@pytest.mark.req("M113")
def test_with_recall_the_notes_it_finds_become_a_section(host: Installed, tmp_path: Path) -> None:
    wheel = build_wheel(PLUGINS / RECALL, host.root / "recall")
    pip("--python", str(host.scripts / "python"), "install", "--no-deps", str(wheel))
    assert host.do("extension", "install", RECALL).status == 0
    assert host.bind("recall", "search", goal="g2").status == 0
    assert host.bind("periodic-report", "render", goal="g2").status == 0
    report, notes = tmp_path / "report.json", tmp_path / "notes"
    report.write_text(json.dumps(REPORT), encoding="utf-8")
    notes.mkdir()
    (notes / "latency.md").write_text("# Why it was slow\n\nThe latency rose with the queue.\n", encoding="utf-8")
    (notes / "other.md").write_text("# Lunch\n\nSoup.\n", encoding="utf-8")
    words = ("--as", "json", "--notes", str(notes), "--query", "latency queue")

    answer = host("periodic-report", str(report), "--goal-id", "g2", *words, "--execute")

    section = json.loads(answer.document["text"])["sections"][-1]
    assert (answer.status, answer.document["related_notes"]) == (0, 1)
    assert section["id"] == "related-notes"
    assert section["rows"]["rows"][0][:2] == ["Why it was slow", "latency.md"]


@pytest.mark.req("M112")
@pytest.mark.parametrize(
    ("sink", "target"), [(DIRECTORY, "report:folder/reports"), (SMTP, "report:mailto/a@b.example")]
)
def test_a_sink_is_bound_by_the_contract_and_delivers_nothing_without_a_turn(
    host: Installed, sink: str, target: str
) -> None:
    bound = host.bind("report-sink", "deliver", goal=sink, more=("--provider", sink))

    refused = host.invoke("report-sink", "deliver", {**DELIVERY, "target_key": target}, goal=sink)

    assert bound.document["binding"]["provider"]["extension_id"] == sink
    assert (refused.status, refused.code) == (2, "operations_unavailable")


def test_which_of_two_sinks_is_meant_is_never_guessed(host: Installed) -> None:
    assert host.bind("report-sink", "deliver", goal="undecided").code == "capability_ambiguous"


@pytest.mark.parametrize("name", PACKAGES)
def test_the_package_passes_the_conformance_suite_at_the_default_level(host: Installed, name: str) -> None:
    manifest = PLUGINS / name / "extension.toml"

    validated = host("extension", "validate", str(manifest))
    checked = host.do("extension", "conformance", str(manifest))

    failed = [row for row in checked.document["rules"] if row["status"] == "failed"]
    assert (validated.status, checked.status, failed) == (0, 0, [])


@pytest.mark.req("M112")
@pytest.mark.parametrize(
    ("sink", "suite"),
    [(DIRECTORY, "test_directory_sink.py::TestDirectorySink"), (SMTP, "test_smtp_sink.py::TestSmtpSink")],
)
def test_an_installed_sink_passes_the_suite_of_its_contract(
    host: Installed, sink: str, suite: str, tmp_path: Path
) -> None:
    shutil.copy(PLUGINS / sink / "tests" / suite.partition("::")[0], tmp_path)

    ended = subprocess.run(
        [host.scripts / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", suite],
        cwd=tmp_path,
        env=host.env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert ended.returncode == 0, ended.stdout[-3000:]
