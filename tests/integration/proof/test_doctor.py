"""A doctor proves or clears; a proof holds while the program is what it was."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.cli import Loopx
from tests.support.levels import LEAVES_MARKS
from tests.support.providers import CANARY, ECHO, FLAGGED, SHELL

pytestmark = LEAVES_MARKS


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path / "loopx")


def disable(loopx: Loopx) -> None:
    assert loopx("extension", "disable", "canary", "--execute").status == 0


def change(loopx: Loopx) -> None:
    with (loopx.root / "extensions/canary/provider").open("a", encoding="ascii") as provider:
        provider.write("# changed\n")


def test_a_failed_doctor_exits_1_and_clears_the_proof(loopx: Loopx, tmp_path: Path) -> None:
    """doctor_failure_clears_proof, doctor_failure_exit_code (cases 59, 60)."""
    flag = tmp_path / "flag"
    loopx.make_extension("sick", FLAGGED.format(flag=flag))
    revision = loopx.rows()[0]["active_revision"]
    flag.write_text("7", encoding="ascii")

    doctor = loopx("extension", "doctor", "sick", "--execute")
    run = loopx.run("sick", {})

    row = loopx.rows()[0]
    assert (doctor.status, doctor.document["ok"], doctor.document["status"]) == (1, False, "unhealthy")
    assert (doctor.document["failure_kind"], doctor.document["exit_code"]) == ("exit_nonzero", 7)
    assert doctor.document["stderr_tail"] == "the doctor was here\n"
    assert (run.status, run.code) == (2, "doctor_required")
    assert (row["doctor_verified"], row["ready"], row["active_revision"]) == (False, False, revision)
    assert b"the doctor was here" not in loopx.state_file.read_bytes()


def test_the_doctor_of_a_disabled_extension_is_not_started(loopx: Loopx, tmp_path: Path) -> None:
    """doctor_disabled (case 61)."""
    canary = tmp_path / "canary"
    loopx.make_extension("canary", CANARY.format(canary=canary))
    disable(loopx)
    (tmp_path / "canary.doctor").unlink()

    answer = loopx("extension", "doctor", "canary", "--execute")

    assert (answer.status, answer.code) == (2, "extension_disabled")
    assert answer.document["doctor"]["status"] == "disabled"
    assert not (tmp_path / "canary.doctor").exists()


def test_a_preview_of_a_doctor_starts_nothing_and_writes_nothing(loopx: Loopx, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    loopx.make_extension("canary", CANARY.format(canary=canary))
    (tmp_path / "canary.doctor").unlink()
    before = loopx.state_file.read_bytes()

    answer = loopx("extension", "doctor", "canary")

    assert (answer.status, answer.document["status"]) == (0, "probe_required")
    assert not (tmp_path / "canary.doctor").exists()
    assert loopx.state_file.read_bytes() == before


def test_a_replaced_program_is_stale_everywhere_until_a_doctor_proves_it(loopx: Loopx, tmp_path: Path) -> None:
    """entrypoint_replaced_or_removed (case 65)."""
    canary = tmp_path / "canary"
    loopx.make_extension("canary", CANARY.format(canary=canary))
    change(loopx)

    row = loopx.rows()[0]
    preview = loopx("extension", "run", "canary", "--input-json", "-", stdin=b"{}")
    doctor = loopx("extension", "doctor", "canary", "--execute")
    run = loopx.run("canary", {})

    assert (row["ready"], row["reason"], row["changed"]) == (False, "readiness_stale", ["launcher"])
    assert (preview.status, preview.document["would_refuse"]["code"]) == (0, "readiness_stale")
    assert (doctor.status, doctor.document["verified"]) == (0, True)
    assert run.status == 0


def touch(program: Path) -> None:
    os.utime(program, (1, 1))


def rewrite(program: Path) -> None:
    data = program.read_bytes()
    program.unlink()
    program.write_bytes(data)
    program.chmod(0o755)


@pytest.mark.parametrize("act", [touch, rewrite])
def test_the_same_bytes_stay_ready(loopx: Loopx, act: object) -> None:
    """touch_only (case 69)."""
    program = loopx.make_extension("echo", ECHO)
    assert callable(act)

    act(program)

    assert loopx.rows()[0]["ready"] is True
    assert loopx.run("echo", {}).status == 0


@pytest.mark.req("X4")
def test_a_change_that_keeps_size_and_times_is_seen(loopx: Loopx) -> None:
    program = loopx.make_extension("echo", ECHO)
    assert loopx.rows()[0]["ready"] is True
    before = program.stat()

    program.write_bytes(program.read_bytes().replace(b'"asked"', b'"asKed"'))
    os.utime(program, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert loopx.run("echo", {}).code == "readiness_stale"


def test_a_doctor_that_rewrites_its_own_program_proves_nothing(loopx: Loopx) -> None:
    """changed_during_probe (case 71)."""
    provider = SHELL + 'if [ "$1" = --doctor ]; then echo "# again" >>"$0"; fi\necho "{}"\n'

    answer = loopx.install(loopx.write_extension("rewrites", provider))

    assert (answer.status, answer.code) == (2, "doctor_failed")
    assert answer.document["doctor"]["failure_kind"] == "changed_during_probe"
    assert not loopx.state_file.exists()


@pytest.mark.req("X14")
def test_a_doctor_says_that_nothing_holds_it_to_reading_only(loopx: Loopx) -> None:
    """The reporting half of the row: enforcing it is the work of containment."""
    loopx.make_extension("subject", ECHO)

    probed = loopx("extension", "doctor", "subject", "--execute").document
    installed = loopx("extension", "show", "subject").document

    assert probed["read_only"] == {"enforced": False, "by": None}
    assert probed["external_writes_performed"] is False
    assert installed["ready"] is True
