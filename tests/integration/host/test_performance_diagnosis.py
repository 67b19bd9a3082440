"""`loopx performance-diagnosis`: its fields, and that it needs nothing but itself (rows M094 and M096)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.cli import Loopx
from tests.support.project_files import ROOT

ROUTES = ["import", "version", "help"]


@pytest.fixture(scope="module")
def loopx(tmp_path_factory: pytest.TempPathFactory) -> Loopx:
    return Loopx(tmp_path_factory.mktemp("diagnosis"))


@pytest.fixture(scope="module")
def report(loopx: Loopx) -> dict[str, Any]:
    """Return the report of a few pairs."""
    answer = loopx("performance-diagnosis", "--pairs", "3")
    assert answer.status == 0, answer
    return answer.document


@pytest.mark.req("M096")
def test_each_route_is_measured_against_a_bare_interpreter(report: dict[str, Any]) -> None:
    rows = report["routes"]

    assert [row["route"] for row in rows] == ROUTES
    assert report["pairs"] == 3
    for row in rows:
        assert 0 < row["median_ms"] <= row["p95_ms"]
        assert row["bare_median_ms"] > 0
        assert row["ratio_median"] > 0


@pytest.mark.req("M096")
def test_it_reports_its_own_phases_and_module_counts(report: dict[str, Any]) -> None:
    modules = {row["route"]: row["modules"] for row in report["routes"]}

    assert sorted(report["phases_ms"]) == sorted(["interpreter", *ROUTES])
    assert report["own_start_ms"] > 0
    # The package root alone; --version adds the entry point, --help that and the text.
    assert 1 <= modules["import"] < modules["version"] < modules["help"]


def test_the_module_counts_are_those_the_architecture_pins(report: dict[str, Any]) -> None:
    pins = json.loads((ROOT / "tests/architecture" / "route_imports.json").read_bytes())["routes"]

    counted = {row["route"]: row["modules"] for row in report["routes"]}

    assert counted["import"] <= pins["import"]["all"]
    assert counted["version"] <= pins["--version"]["all"]
    assert counted["help"] <= pins["--help"]["all"]


@pytest.mark.req("M094")
def test_the_candidate_targets_are_reported_with_interpreter_cache_sample_and_machine(report: dict[str, Any]) -> None:
    medians = {row["route"]: row["median_ms"] for row in report["routes"]}

    assert [row["target"] for row in report["targets_ms"]] == [50, 100, 200]
    for row in report["targets_ms"]:
        assert row["met_by"] == [route for route in ROUTES if medians[route] <= row["target"]]
    assert {"python", "interpreter", "bytecode_written", "system", "machine", "processors", "load_average"} <= set(
        report["environment"]
    )


@pytest.mark.req("M094")
def test_a_target_that_is_missed_is_no_failure(report: dict[str, Any]) -> None:
    assert report["ok"] is True  # the targets are candidates: reported, never enforced


@pytest.mark.req("M096")
def test_it_needs_no_state_no_home_and_no_registry(loopx: Loopx) -> None:
    nowhere = {
        "HOME": "/nonexistent",
        "XDG_STATE_HOME": "/nonexistent",
        "XDG_CACHE_HOME": "/nonexistent",
        "XDG_RUNTIME_DIR": "/nonexistent",
        "TMPDIR": "/nonexistent",
        "LOOPX_RUNTIME_ROOT": "/nonexistent",
    }

    answer = loopx("performance-diagnosis", "--pairs", "1", "--format", "json", env=nowhere, options=False)

    assert answer.status == 0, answer
    assert answer.document["ok"] is True


def test_a_damaged_state_file_is_not_looked_at(loopx: Loopx) -> None:
    loopx.state_file.write_bytes(b'{"half')

    answer = loopx("performance-diagnosis", "--pairs", "1")

    assert answer.status == 0
    assert loopx.state_file.read_bytes() == b'{"half'


def test_it_writes_nothing(loopx: Loopx) -> None:
    before = sorted(str(path) for path in loopx.root.rglob("*"))

    loopx("performance-diagnosis", "--pairs", "1")

    assert sorted(str(path) for path in loopx.root.rglob("*")) == before


@pytest.mark.parametrize("pairs", ["0", "-1", "1001", "many", "1.5", "", "99999999999999999999"])
def test_a_number_of_pairs_out_of_bounds_is_refused(pairs: str, loopx: Loopx) -> None:
    answer = loopx("performance-diagnosis", f"--pairs={pairs}")

    assert (answer.status, answer.code) == (2, "usage_error")


def test_one_pair_is_enough(loopx: Loopx) -> None:
    document = loopx("performance-diagnosis", "--pairs", "1").document

    assert all(row["median_ms"] == row["p95_ms"] for row in document["routes"])
