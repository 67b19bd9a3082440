"""Enable, disable, doctor and uninstall: which needs a proof, and what each leaves behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import Loopx
from tests.support.levels import LEAVES_MARKS
from tests.support.lifecycle import Subject, installed, tree, words

EXIT_REFUSED = 2


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    made = Loopx(tmp_path)
    (tmp_path / "home/cache").mkdir()  # a preview may fill it
    return made


def facts(document: dict[str, object], *names: str) -> list[object]:
    return [document[name] for name in names]


# --- enable, disable, doctor ------------------------------------------------------------------------------------


@pytest.mark.req("X7")
@pytest.mark.parametrize("flags", [(), ("--execute",)])
def test_a_disabled_extension_does_not_run(loopx: Loopx, flags: tuple[str, ...]) -> None:
    """disabled_blocks_run (case 55), preview and execute."""
    subject = installed(loopx)
    subject.do("disable", "--execute")

    answer = loopx("extension", "run", "subject", "--input-json", "-", *flags, stdin=b"{}")

    assert (answer.status, answer.code) == (EXIT_REFUSED, "extension_disabled")
    assert words(answer.document["next_command"])[:4] == ["extension", "enable", "subject", "--execute"]
    assert subject.starts == []


@pytest.mark.req("X7")
def test_a_disabled_extension_stays_listed(loopx: Loopx) -> None:
    """disabled_still_listed (case 56)."""
    subject = installed(loopx)
    subject.do("disable", "--execute")

    row = subject.row()

    assert facts(row, "enabled", "ready", "doctor_verified") == [False, False, False]
    assert row["reason"] == "extension_disabled"
    assert loopx("extension", "show", "subject").document["enabled"] is False


def test_disabling_twice_changes_nothing_the_second_time(loopx: Loopx) -> None:
    subject = installed(loopx)
    first = subject.do("disable", "--execute").document
    before = tree(loopx.root, without=("home/cache",))

    second = subject.do("disable", "--execute")

    assert (first["changed"], second.status, second.document["changed"]) == (True, 0, False)
    assert tree(loopx.root, without=("home/cache",)) == before


def test_disabling_works_when_everything_else_is_gone(loopx: Loopx) -> None:
    subject = installed(loopx)
    subject.program.unlink()
    (subject.folder / "1.0/extension.toml").unlink()

    answer = subject.do("disable", "--execute")

    assert (answer.status, answer.document["enabled"]) == (0, False)


@pytest.mark.req("X7")
def test_a_failed_enable_clears_the_proof_and_stays_disabled(loopx: Loopx) -> None:
    """enable_reprobes (case 57)."""
    subject = installed(loopx)
    subject.do("disable", "--execute")
    subject.doctor_exits(3)

    answer = subject.do("enable", "--execute")

    assert (answer.status, answer.code) == (EXIT_REFUSED, "doctor_failed")
    entry = subject.entry()
    assert facts(entry, "enabled", "doctor_verified_revision", "doctor_verified_entrypoint_identity") == [
        False,
        None,
        None,
    ]
    assert facts(entry["proof"], "identity", "verified_at") == [None, None]
    assert facts(entry["proof"]["failure"], "kind", "exit_code") == ["exit_nonzero", 3]


@LEAVES_MARKS
@pytest.mark.req("X7")
def test_enabling_probes_again_and_then_sets_the_bit(loopx: Loopx) -> None:
    subject = installed(loopx)
    subject.do("disable", "--execute")

    receipt = subject.do("enable", "--execute").document

    assert subject.starts == ["--doctor 1.0"]
    assert facts(receipt, "enabled", "changed") == [True, True]
    assert receipt["doctor"]["verified"] is True
    assert subject.row()["ready"] is True


@LEAVES_MARKS
def test_enabling_an_enabled_extension_probes_it_again(loopx: Loopx) -> None:
    """enable_already_enabled (case 58)."""
    subject = installed(loopx)

    receipt = subject.do("enable", "--execute").document

    assert subject.starts == ["--doctor 1.0"]
    assert facts(receipt, "enabled", "changed") == [True, False]
    assert receipt["doctor"]["verified"] is True


@LEAVES_MARKS
def test_a_failed_doctor_clears_the_proof_and_switches_nothing(loopx: Loopx) -> None:
    """doctor_failure_clears_proof, doctor_failure_exit_code (cases 59, 60)."""
    subject = installed(loopx)
    revision = subject.row()["active_revision"]
    subject.doctor_exits(1)

    answer = subject.do("doctor", "--execute")

    assert (answer.status, answer.document["status"], answer.document["verified"]) == (1, "unhealthy", False)
    row = subject.row()
    assert facts(row, "doctor_verified", "enabled", "active_revision") == [False, True, revision]
    assert subject.run().status == EXIT_REFUSED
    assert subject.starts == ["--doctor 1.0"]


def test_a_replaced_program_is_stale_until_the_doctor_proved_it(loopx: Loopx) -> None:
    subject = installed(loopx)
    subject.replace_program()

    stale = subject.run()
    proved = loopx(*words(stale.document["next_command"]), options=False)

    assert (stale.status, stale.code, stale.document["changed"]) == (EXIT_REFUSED, "readiness_stale", ["launcher"])
    assert proved.status == 0
    assert subject.run().status == 0


@pytest.mark.parametrize(("flags", "status"), [((), EXIT_REFUSED), (("--execute",), EXIT_REFUSED)])
def test_the_doctor_of_a_disabled_extension_starts_nothing(loopx: Loopx, flags: tuple[str, ...], status: int) -> None:
    """doctor_disabled (case 61)."""
    subject = installed(loopx)
    subject.do("disable", "--execute")

    answer = subject.do("doctor", *flags)

    assert (answer.status, answer.code) == (status, "extension_disabled")
    assert answer.document["doctor"]["status"] == "disabled"
    assert subject.starts == []


# --- uninstall --------------------------------------------------------------------------------------------------


def test_uninstalling_takes_one_entry_out_and_leaves_the_others_alone(loopx: Loopx) -> None:
    """uninstall (case 64)."""
    subject, other = installed(loopx), installed(loopx, extension_id="other")
    kept = other.entry()

    preview = subject.do("uninstall").document
    receipt = subject.do("uninstall", "--execute").document

    assert facts(preview, "dry_run", "changed") == [True, False]
    assert facts(receipt, "dry_run", "changed") == [False, True]
    assert [row["id"] for row in loopx.rows()] == ["other"]
    assert other.entry() == kept
    assert subject.starts == []


def test_uninstalling_needs_neither_the_provider_nor_a_passing_doctor(loopx: Loopx) -> None:
    subject = installed(loopx)
    subject.program.unlink()

    answer = subject.do("uninstall", "--execute")

    assert answer.status == 0
    assert loopx.rows() == []


def test_uninstalling_drops_the_schemas_that_only_it_used(loopx: Loopx) -> None:
    subject, other = Subject(loopx), Subject(loopx, "other")
    for one, text in ((subject, "{}"), (other, '{"type": "object"}')):
        path = one.manifest("1.0", request_schema="request.json")
        (path.parent / "request.json").write_text(text, encoding="ascii")
        assert loopx.install(path).status == 0
    schemas = Path(f"{loopx.state_file}.d/schemas")
    both = {path.read_text("ascii") for path in schemas.iterdir()}

    assert subject.do("uninstall", "--execute").status == 0

    assert both == {"{}", '{"type": "object"}'}
    assert [path.read_text("ascii") for path in schemas.iterdir()] == ['{"type": "object"}']


def test_a_name_is_free_again_after_uninstalling(loopx: Loopx) -> None:
    subject = installed(loopx, "1.0", "2.0")
    subject.do("uninstall", "--execute")

    answer = subject.install("1.0", "--execute")

    assert answer.status == 0
    assert facts(subject.row(), "rollback_available", "revision_count") == [False, 1]
