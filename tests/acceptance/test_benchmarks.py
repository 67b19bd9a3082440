"""The benchmark reports what it measured, in which environment, and from how many samples."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


# What is counted beside time; without a C compiler for the small parent only the modules are.
SEEN_BY_THE_PARENT = {"peak_kib", "bytes_read", "bytes_written", "reads", "writes"}
COSTS = {"modules", *SEEN_BY_THE_PARENT}


@pytest.mark.req("M092")
@pytest.mark.skipif(shutil.which("cc") is None, reason="memory and files need a C compiler for a small parent")
@pytest.mark.timeout(300)
def test_the_start_up_rows_come_with_samples_percentiles_costs_and_their_environment(tmp_path: Path) -> None:
    """The start-up half of the row; what a turn costs is measured once there are turns."""
    report = tmp_path / "report.json"
    command = [
        sys.executable,
        str(ROOT / "benchmarks/run.py"),
        "--pairs",
        "2",
        "--only",
        "startup",
        "--json",
        str(report),
    ]
    constraints = (ROOT / "constraints.txt").as_uri()

    subprocess.run(command, check=True, env={**os.environ, "PIP_CONSTRAINT": constraints}, capture_output=True)

    document = json.loads(report.read_text("utf-8"))
    assert {"python", "system", "processors", "load_average", "launcher", "measured"} <= document[
        "environment"
    ].keys()
    rows = {row["row"]: row for row in document["rows"]}
    assert {"import loopx_host", "--version", "--help", "leaf --help", "extension list, 10 installed"} == rows.keys()
    for row in rows.values():
        assert row["samples"] == 2
        assert row["ours_median"] > 0
        assert row["ours_p95"] >= row["ours_median"]
        assert row["base_p95"] >= row["base_median"] > 0
        assert row["value"] > 0
        assert row["target"] >= 1
        assert row["ours_cost"].keys() == row["base_cost"].keys() == COSTS
        assert row["ours_cost"]["modules"] >= row["base_cost"]["modules"] > 0
        assert row["ours_cost"]["bytes_read"] > row["base_cost"]["bytes_read"] > 0
    assert rows["extension list, 10 installed"]["ours_cost"]["bytes_written"] > 0
