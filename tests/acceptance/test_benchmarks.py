"""The benchmark reports what it measured, in which environment, and from how many samples."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.req("M092")
@pytest.mark.timeout(180)
def test_the_start_up_rows_come_with_samples_percentiles_and_their_environment(tmp_path: Path) -> None:
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
        assert row["ours_p95"] > 0
        assert row["value"] > 0
        assert row["target"] >= 1
