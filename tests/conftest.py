"""Shared by all tests: hypothesis profiles, rows that CI never skips, and the report of rows that no test proves."""

from __future__ import annotations

import os
from collections.abc import Generator

import hypothesis
import pytest

from tests.support import cli, requirements
from tests.support.levels import level_of

PROPERTY = "req"
# What these rows need can be installed or had everywhere CI runs; a skip there would be a proof nobody has.
NEVER_SKIPPED_IN_CI = {"X14", "B11"}

hypothesis.settings.register_profile("ci", max_examples=50, deadline=None, derandomize=True, database=None)
hypothesis.settings.register_profile("nightly", max_examples=1000, deadline=None, derandomize=True, database=None)
# Many processes run a few tests each, and one example that fails is enough.
hypothesis.settings.register_profile("mutation", max_examples=15, deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--requirements",
        action="store_true",
        help="at the end, print the rows of docs/reference/requirements.md that no passing test proves",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # User properties travel from the workers of pytest-xdist to the process that reports; markers do not.
    for item in items:
        for marker in item.iter_markers("req"):
            item.user_properties += [(PROPERTY, row) for row in marker.args]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    cli.run_at(level_of(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    rows = NEVER_SKIPPED_IN_CI & rows_of([item])
    if rows and report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI") == "true":
        report.outcome = "failed"
        report.longrepr = f"{', '.join(sorted(rows))} must be proved in CI, and this was skipped: {report.longrepr}"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not config.getoption("--requirements"):
        return
    proved = rows_of(terminalreporter.stats.get("passed", []))
    failing = rows_of(
        report for outcome in ("failed", "error", "xfailed") for report in terminalreporter.stats.get(outcome, [])
    )
    terminalreporter.section("requirements")
    for line in requirements.report(requirements.rows(requirements.PAGE.read_text("utf-8")), proved, failing):
        terminalreporter.write_line(line)


def rows_of(reports: object) -> set[str]:
    assert hasattr(reports, "__iter__")
    return {row for report in reports for name, row in report.user_properties if name == PROPERTY}
