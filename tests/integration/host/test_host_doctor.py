"""`loopx doctor`: one row per trouble, with the command that helps; changes nothing.

Contract section 4; extension-formats, *Exit status, special cases*.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.lifecycle import tree, words
from tests.support.packages import Vane, offering, write


@pytest.fixture
def vane(tmp_path: Path) -> Vane:
    return Vane(tmp_path).proved()


def checks(vane: Vane, status: int) -> list[dict[str, Any]]:
    """Return the rows of the doctor, which ends with `status` and says the same in its document."""
    answer = vane("doctor")
    assert answer.status == status, answer
    assert answer.document["ok"] is (status == 0)
    rows = answer.document["checks"]
    assert isinstance(rows, list)
    return rows


def of(rows: list[dict[str, Any]], check: str, vane: Vane) -> list[tuple[str, str | None]]:
    """Return (status, code) of the rows of one check, without those of other directories than the test's."""
    mine = [row for row in rows if row["check"] == check]
    return [(row["status"], row["code"]) for row in mine if str(vane.root) in str(row) or row["subject"] == "vane"]


def test_a_ready_extension_is_healthy(vane: Vane) -> None:
    rows = checks(vane, 0)

    assert of(rows, "activation_state", vane) == [("ok", None)]
    assert of(rows, "extension", vane) == [("ok", None)]


def test_an_enabled_extension_that_is_not_ready_is_unhealthy_and_its_command_mends_it(vane: Vane) -> None:
    write(vane.packages / "vane/cli.py", "# changed\n")
    rows = checks(vane, 1)

    (row,) = [row for row in rows if row["check"] == "extension"]
    mended = vane(*words(row["next_command"]), options=False)

    assert (row["status"], row["code"]) == ("error", "readiness_stale")
    assert mended.status == 0, mended
    checks(vane, 0)


def test_a_disabled_extension_is_not_unhealthy(vane: Vane) -> None:
    vane("extension", "disable", "vane", "--execute")
    write(vane.packages / "vane/cli.py", "# changed\n")

    assert of(checks(vane, 0), "extension", vane) == [("ok", "extension_disabled")]


def test_a_launcher_that_went_names_the_package_that_would_bring_it_back(vane: Vane) -> None:
    vane.launcher.unlink()

    (row,) = [row for row in checks(vane, 1) if row["check"] == "extension"]

    assert row["code"] == "entrypoint_missing"
    assert "vane==1.0" in row["install_package"]


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"{", "state_damaged"), (b"", "state_damaged"), (b"[" * 100_000, "state_damaged"), (b"{}", "state_damaged")],
    ids=["truncated", "empty", "deep", "foreign"],
)
def test_a_damaged_state_file_is_one_error_and_the_environment_is_still_checked(
    vane: Vane, data: bytes, code: str
) -> None:
    vane.state_file.write_bytes(data)

    rows = checks(vane, 1)

    assert of(rows, "activation_state", vane) == [("error", code)]
    assert "index" in [row["check"] for row in rows]


def test_without_a_state_file_nothing_is_wrong(tmp_path: Path) -> None:
    vane = Vane(tmp_path)

    assert of(checks(vane, 0), "activation_state", vane) == [("ok", None)]
    assert not vane.state_file.exists()


def damaged_metadata(vane: Vane) -> str:
    (vane.site / "hollow-1.0.dist-info").mkdir()
    return "metadata_damaged"


def metadata_that_is_a_file(vane: Vane) -> str:
    write(vane.site / "flat-1.0.dist-info", "")
    return "metadata_damaged"


def damaged_entry_points(vane: Vane) -> str:
    info = offering(vane.site, "canary")
    write(info / "entry_points.txt", "no section\n")
    return "metadata_damaged"


def metadata_that_blocks(vane: Vane) -> str:
    (vane.site / "blocking-1.0.dist-info").mkdir()
    os.mkfifo(vane.site / "blocking-1.0.dist-info/METADATA")
    return "metadata_damaged"


def left_over(vane: Vane) -> str:
    (vane.site / "~anary-1.0.dist-info").mkdir()
    return "leftover_install"


def installed_twice(vane: Vane) -> str:
    offering(vane.site, "canary")
    offering(vane.root / "other", "canary")
    vane.look_in(vane.site, vane.root / "other")
    return "duplicate_distribution"


def code_at_every_start(vane: Vane) -> str:
    write(vane.site / "eager.pth", "# first\nimport os\n")
    return "pth_code"


def broken_offer(vane: Vane) -> str:
    offering(vane.site, "canary", text="[")
    return "manifest_syntax"


@pytest.mark.req("M049")
@pytest.mark.parametrize(
    "trouble",
    [
        damaged_metadata,
        metadata_that_is_a_file,
        damaged_entry_points,
        metadata_that_blocks,
        left_over,
        installed_twice,
        code_at_every_start,
        broken_offer,
    ],
    ids=lambda trouble: trouble.__name__,
)
def test_what_is_wrong_with_other_packages_is_a_warning(vane: Vane, trouble: object) -> None:
    assert callable(trouble)
    code = trouble(vane)

    rows = checks(vane, 0)

    mine = [row for row in rows if row["code"] == code and str(vane.root) in f"{row['subject']} {row['summary']}"]
    assert {row["status"] for row in mine} == {"warning"}


def test_the_doctor_changes_nothing_but_caches(vane: Vane) -> None:
    write(vane.packages / "vane/cli.py", "# changed\n")
    before = tree(vane.root, without=("home/cache",))

    checks(vane, 1)

    after = tree(vane.root, without=("home/cache",))
    assert {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)} <= {"home"}
