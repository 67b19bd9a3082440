"""Upgrade and rollback: probed first, then switched; a failure changes no byte (contract section 5)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import Loopx
from tests.support.levels import LEAVES_MARKS
from tests.support.lifecycle import Subject, installed, words

EXIT_REFUSED = 2


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    made = Loopx(tmp_path)
    (tmp_path / "home/cache").mkdir()  # a preview may fill it
    return made


def facts(document: dict[str, object], *names: str) -> list[object]:
    return [document[name] for name in names]


def test_upgrading_what_is_not_installed_is_refused(loopx: Loopx) -> None:
    """upgrade_not_installed (case 45)."""
    subject = Subject(loopx)

    answer = subject.upgrade("1.0", "--execute")

    assert (answer.status, answer.code) == (EXIT_REFUSED, "extension_not_installed")
    assert subject.starts == []


def test_upgrading_to_the_active_revision_is_refused(loopx: Loopx) -> None:
    """upgrade_same_revision (case 46)."""
    subject = installed(loopx)

    answer = subject.upgrade("1.0", "--execute")

    assert (answer.status, answer.code) == (EXIT_REFUSED, "same_revision")
    assert subject.starts == []


@LEAVES_MARKS
@pytest.mark.req("X8")
def test_an_upgrade_probes_and_then_switches(loopx: Loopx) -> None:
    """upgrade_ok (case 47)."""
    subject = installed(loopx)
    old = subject.row()["active_revision"]

    receipt = subject.upgrade("2.0", "--execute").document

    assert subject.starts == ["--doctor 2.0"]
    assert facts(receipt, "previous_revision", "rollback_available", "changed", "enabled") == [old, True, True, True]
    row = subject.row()
    assert facts(row, "active_revision", "version", "ready") == [receipt["revision"], "2.0", True]
    assert facts(row, "rollback_available", "revision_count") == [True, 2]
    assert subject.run().document["provider_result"]["version"] == "2.0"


@pytest.mark.req("X8", "X12")
def test_a_failed_upgrade_changes_no_byte_and_the_old_revision_still_runs(loopx: Loopx) -> None:
    """upgrade_failed_probe_keeps_active (case 48)."""
    subject = installed(loopx)
    before = loopx.state_file.read_bytes()
    subject.doctor_exits(7, "2.0")

    answer = subject.upgrade("2.0", "--execute")

    assert (answer.status, answer.code) == (EXIT_REFUSED, "doctor_failed")
    assert answer.document["doctor"]["exit_code"] == 7
    assert answer.document["active_after"] == "ready"
    assert loopx.state_file.read_bytes() == before
    assert subject.row()["revision_count"] == 1
    assert subject.run().document["provider_result"]["version"] == "1.0"


@pytest.mark.parametrize("verb", ["upgrade", "rollback"])
def test_a_failed_switch_of_a_disabled_extension_leaves_it_disabled(loopx: Loopx, verb: str) -> None:
    subject = installed(loopx, "1.0", "2.0")
    subject.do("disable", "--execute")
    before = loopx.state_file.read_bytes()
    subject.doctor_exits(1, "3.0" if verb == "upgrade" else "1.0")

    answer = subject.upgrade("3.0", "--execute") if verb == "upgrade" else subject.do("rollback", "--execute")

    assert (answer.code, answer.document["active_after"]) == ("doctor_failed", "disabled")
    assert loopx.state_file.read_bytes() == before


def test_a_growth_of_permissions_is_refused_until_it_is_accepted(loopx: Loopx) -> None:
    """upgrade_permission_growth_visible (case 50)."""
    subject = installed(loopx)
    grown = ("fs.read:notes", "net.connect")

    refused = subject.upgrade("2.0", "--execute", permissions=grown)
    preview = subject.upgrade("2.0", "--accept-permissions", permissions=grown).document
    receipt = subject.upgrade("2.0", "--accept-permissions", "--execute", permissions=grown).document

    assert (refused.status, refused.code) == (EXIT_REFUSED, "permissions_grow")
    assert refused.document["permissions_added"] == list(grown)
    assert "--accept-permissions" in words(refused.document["next_command"])
    assert preview["changes"]["permissions"] == {"added": list(grown), "removed": []}
    assert receipt["changes"]["version"] == {"from": "1.0", "to": "2.0"}
    assert loopx("extension", "show", "subject").document["permissions"] == list(grown)


def test_giving_permissions_up_needs_no_acceptance(loopx: Loopx) -> None:
    subject = Subject(loopx)
    assert subject.install("1.0", "--execute", permissions=("net.connect",)).status == 0

    receipt = subject.upgrade("2.0", "--execute").document

    assert receipt["changes"]["permissions"] == {"added": [], "removed": ["net.connect"]}


@LEAVES_MARKS
@pytest.mark.req("X8")
def test_a_rollback_probes_the_old_revision_and_swaps(loopx: Loopx) -> None:
    """rollback_swaps (case 51)."""
    subject = installed(loopx, "1.0", "2.0")
    revisions = subject.revisions()

    receipt = subject.do("rollback", "--execute").document

    assert subject.starts == ["--doctor 1.0"]
    assert facts(receipt, "revision", "previous_revision") == [revisions["1.0"], revisions["2.0"]]
    assert facts(subject.entry(), "active_revision", "rollback_revision") == [revisions["1.0"], revisions["2.0"]]
    assert subject.run().document["provider_result"]["version"] == "1.0"


@pytest.mark.req("X8", "X12")
def test_a_failed_rollback_changes_no_byte_and_the_active_revision_still_runs(loopx: Loopx) -> None:
    subject = installed(loopx, "1.0", "2.0")
    before = loopx.state_file.read_bytes()
    subject.doctor_exits(1, "1.0")

    answer = subject.do("rollback", "--execute")

    assert (answer.status, answer.code, answer.document["active_after"]) == (EXIT_REFUSED, "doctor_failed", "ready")
    assert loopx.state_file.read_bytes() == before
    assert subject.run().document["provider_result"]["version"] == "2.0"


def test_a_rollback_without_an_earlier_revision_is_refused(loopx: Loopx) -> None:
    """rollback_without_history (case 52)."""
    subject = installed(loopx)

    answer = subject.do("rollback", "--execute")

    assert (answer.status, answer.code) == (EXIT_REFUSED, "rollback_unavailable")
    assert subject.starts == []


def test_a_rollback_reaches_any_kept_revision(loopx: Loopx) -> None:
    subject = installed(loopx, "1.0", "2.0", "3.0")
    revisions = subject.revisions()

    receipt = subject.do("rollback", "--to", revisions["1.0"], "--execute").document

    assert facts(receipt, "revision", "previous_revision") == [revisions["1.0"], revisions["3.0"]]
    assert subject.entry()["rollback_revision"] == revisions["3.0"]


@pytest.mark.parametrize("to", ["0000000000000000", "../x", "\x1b[31m"])
def test_a_rollback_to_a_revision_that_is_not_kept_is_refused(loopx: Loopx, to: str) -> None:
    subject = installed(loopx)

    answer = subject.do("rollback", f"--to={to}", "--execute")

    assert answer.status == EXIT_REFUSED
    assert answer.code in {"revision_unknown", "rollback_unavailable"}


def test_a_rollback_to_the_active_revision_is_refused(loopx: Loopx) -> None:
    subject = installed(loopx, "1.0", "2.0")

    answer = subject.do("rollback", "--to", subject.revisions()["2.0"], "--execute")

    assert (answer.status, answer.code) == (EXIT_REFUSED, "same_revision")


def test_a_rollback_onto_the_code_that_was_proved_says_so(loopx: Loopx) -> None:
    subject = installed(loopx, "1.0", "2.0")

    receipt = subject.do("rollback", "--execute").document

    assert receipt["code_changed"] is False


def test_a_rollback_onto_other_code_than_was_proved_says_so(loopx: Loopx) -> None:
    subject = installed(loopx, "1.0", "2.0")
    subject.replace_program()

    receipt = subject.do("rollback", "--execute").document

    assert receipt["code_changed"] is True
    assert subject.row()["ready"] is True


@pytest.mark.parametrize("verb", ["upgrade", "rollback"])
def test_a_disabled_extension_stays_disabled_when_it_is_switched(loopx: Loopx, verb: str) -> None:
    subject = installed(loopx, "1.0", "2.0")
    subject.do("disable", "--execute")

    receipt = subject.upgrade("3.0", "--execute") if verb == "upgrade" else subject.do("rollback", "--execute")

    assert receipt.document["enabled"] is False
    assert facts(subject.row(), "enabled", "ready", "doctor_verified") == [False, False, False]
    assert subject.run().code == "extension_disabled"


def test_five_revisions_are_kept_and_the_oldest_goes_first(loopx: Loopx) -> None:
    subject = installed(loopx, *(f"{number}.0" for number in range(1, 8)))

    assert set(subject.revisions()) == {"3.0", "4.0", "5.0", "6.0", "7.0"}


def test_the_rollback_target_is_kept_however_old_it_is(loopx: Loopx) -> None:
    subject = installed(loopx, "1.0", "2.0", "3.0", "4.0", "5.0")
    oldest = subject.revisions()["1.0"]
    assert subject.do("rollback", "--to", oldest, "--execute").status == 0

    assert subject.upgrade("6.0", "--execute").status == 0

    assert subject.entry()["rollback_revision"] == oldest
    assert len(subject.revisions()) == 5
    assert {"1.0", "6.0"} <= set(subject.revisions())


def test_the_same_revision_with_another_launcher_is_only_pinned_anew(loopx: Loopx) -> None:
    subject = Subject(loopx)
    first, second = (loopx.root / name for name in ("env-one", "env-two"))
    for folder in (first, second):
        folder.mkdir()
        (folder / "subject-provider").symlink_to(subject.program)
    path = f"{loopx.env['PATH']}"
    manifest = str(subject.manifest("1.0", entrypoint="subject-provider"))
    loopx.env["PATH"] = f"{first}:{path}"
    assert loopx("extension", "install", "--manifest", manifest, "--execute").status == 0
    loopx.env["PATH"] = f"{second}:{path}"

    receipt = loopx("extension", "upgrade", "--manifest", manifest, "--execute").document

    assert receipt["launcher"]["path"] == str(second / "subject-provider")
    entry = subject.entry()
    assert [one["launcher"]["path"] for one in entry["revisions"]] == [str(second / "subject-provider")]
    assert entry["rollback_revision"] is None


@pytest.mark.parametrize("verb", ["doctor", "enable"])
def test_a_pin_is_used_and_not_moved_by_a_probe(loopx: Loopx, verb: str) -> None:
    subject = Subject(loopx)
    first, second = (loopx.root / name for name in ("env-one", "env-two"))
    for folder in (first, second):
        folder.mkdir()
        (folder / "subject-provider").symlink_to(subject.program)
    path = loopx.env["PATH"]
    loopx.env["PATH"] = f"{first}:{path}"
    subject.install("1.0", "--execute", entrypoint="subject-provider")
    loopx.env["PATH"] = f"{second}:{path}"

    answer = subject.do(verb, "--execute")

    assert answer.status == 0
    assert subject.entry()["revisions"][0]["launcher"]["path"] == str(first / "subject-provider")
