"""The lifecycle through the command line (contract section 5; conformance cases 39 and 45 to 64)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from loopx_host.cli.routes import EXECUTE, PLAN, ROUTES
from tests.support.cli import Loopx
from tests.support.lifecycle import SPOKEN, Subject, copies, installed, tree, words

EXIT_REFUSED = 2


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    made = Loopx(tmp_path)
    (tmp_path / "home/cache").mkdir()  # a preview may fill it
    return made


def facts(document: dict[str, object], *names: str) -> list[object]:
    return [document[name] for name in names]


# --- previews ---------------------------------------------------------------------------------------------------

Preview = tuple[Loopx, list[str]]


def of_installed(*flags: str) -> Callable[[Loopx], list[str]]:
    def prepare(loopx: Loopx) -> list[str]:
        installed(loopx, "1.0", "2.0")
        return [flags[0], "subject", *flags[1:]]

    return prepare


def of_install(loopx: Loopx) -> list[str]:
    return ["install", "--manifest", str(Subject(loopx).manifest())]


def of_upgrade(loopx: Loopx) -> list[str]:
    return ["upgrade", "--manifest", str(installed(loopx).manifest("2.0"))]


def of_enable(loopx: Loopx) -> list[str]:
    installed(loopx).do("disable", "--execute")
    return ["enable", "subject"]


def of_export(loopx: Loopx) -> list[str]:
    installed(loopx)
    return ["export", "--output", str(loopx.root / "export.json")]


def of_restore(loopx: Loopx) -> list[str]:
    installed(loopx)
    path = loopx.root / "export.json"
    assert loopx("extension", "export", "--output", str(path), "--execute").status == 0
    assert loopx("extension", "uninstall", "subject", "--execute").status == 0
    return ["restore", str(path)]


def of_repair(loopx: Loopx) -> list[str]:
    loopx.state_file.write_bytes(b"{")
    return ["repair"]


def of_run(loopx: Loopx) -> list[str]:
    installed(loopx)
    (loopx.root / "request.json").write_text("{}", encoding="ascii")
    return ["run", "subject", "--input-json", str(loopx.root / "request.json")]


def of_init(loopx: Loopx) -> list[str]:
    return ["init", "subject", "--destination", str(loopx.root / "scaffold")]


def of_conformance(loopx: Loopx) -> list[str]:
    return ["conformance", str(Subject(loopx).manifest())]


PREVIEWS = {
    "init": of_init,
    "conformance": of_conformance,
    "install": of_install,
    "upgrade": of_upgrade,
    "rollback": of_installed("rollback"),
    "uninstall": of_installed("uninstall"),
    "enable": of_enable,
    "disable": of_installed("disable"),
    "doctor": of_installed("doctor"),
    "run": of_run,
    "export": of_export,
    "restore": of_restore,
    "repair": of_repair,
}


@pytest.mark.req("X2")
@pytest.mark.parametrize("verb", PREVIEWS)
def test_a_preview_touches_nothing_and_starts_no_provider(loopx: Loopx, verb: str) -> None:
    """install_preview_no_side_effect (case 39), for every verb that changes something."""
    words_of_preview = PREVIEWS[verb](loopx)
    before = tree(loopx.root, without=("home/cache",))

    answer = loopx("extension", *words_of_preview)

    assert answer.status == 0, answer
    assert answer.document.get("changed", answer.document.get("executed", False)) is False
    assert tree(loopx.root, without=("home/cache",)) == before


@pytest.mark.req("X2")
def test_every_command_that_takes_execute_has_its_preview_test() -> None:
    mutating = {route.words[1] for route in ROUTES if route.words[0] == "extension" and EXECUTE in route.arguments}

    # The previews of publishing are tests/unit/test_publish_projection.py's.
    assert mutating <= {*PREVIEWS, "publish-projection"}


@pytest.mark.req("X2")
@pytest.mark.parametrize("verb", [verb for verb in PREVIEWS if verb not in {"run", "export", "conformance"}])
def test_a_preview_is_followed_by_the_very_command_that_it_suggests(loopx: Loopx, verb: str) -> None:
    preview = loopx("extension", *PREVIEWS[verb](loopx)).document

    answer = loopx(*words(preview["next_command"]), options=False)

    assert answer.status == 0, answer
    assert answer.document.get("dry_run", False) is False


@pytest.mark.req("X2")
def test_a_preview_of_install_makes_no_directory_below_the_default_root(loopx: Loopx) -> None:
    """install_preview_no_side_effect (case 39), with no option that names a place."""
    manifest = Subject(loopx).manifest()
    before = tree(loopx.root, without=("home/cache",))

    answer = loopx("extension", "install", "--manifest", str(manifest), "--format", "json", options=False)

    assert facts(answer.document, "dry_run", "changed") == [True, False]
    assert answer.document["doctor"]["status"] == "probe_required"
    assert tree(loopx.root, without=("home/cache",)) == before


def of_refused_install(loopx: Loopx) -> list[str]:
    return ["install", "--manifest", str(installed(loopx).manifest("2.0"))]


def of_refused_upgrade(loopx: Loopx) -> list[str]:
    return ["upgrade", "--manifest", str(installed(loopx).manifest("2.0", permissions=("notes.read",)))]


def of_unknown(verb: str) -> Callable[[Loopx], list[str]]:
    return lambda _loopx: [verb, "nobody"]


def of_first_rollback(loopx: Loopx) -> list[str]:
    installed(loopx)
    return ["rollback", "subject"]


REFUSED_ALIKE = {
    "install_again": (of_refused_install, "already_installed"),
    "upgrade_of_nothing": (lambda loopx: ["upgrade", *of_install(loopx)[1:]], "extension_not_installed"),
    "upgrade_with_more_permissions": (of_refused_upgrade, "permissions_grow"),
    "rollback_without_history": (of_first_rollback, "rollback_unavailable"),
    "disable_of_nothing": (of_unknown("disable"), "extension_not_installed"),
    "enable_of_nothing": (of_unknown("enable"), "extension_not_installed"),
    "uninstall_of_nothing": (of_unknown("uninstall"), "extension_not_installed"),
    "doctor_of_nothing": (of_unknown("doctor"), "extension_not_installed"),
}


@pytest.mark.parametrize("case", REFUSED_ALIKE)
def test_what_manifest_and_state_decide_is_refused_in_preview_as_when_executed(loopx: Loopx, case: str) -> None:
    prepare, code = REFUSED_ALIKE[case]
    command = prepare(loopx)

    answers = [loopx("extension", *command), loopx("extension", *command, "--execute")]

    assert [(answer.status, answer.code) for answer in answers] == [(EXIT_REFUSED, code)] * 2


@pytest.mark.parametrize("verb", ["install", "upgrade", "enable", "rollback"])
def test_a_launcher_that_is_gone_is_shown_by_a_preview_and_refused_when_executed(loopx: Loopx, verb: str) -> None:
    """install_missing_entrypoint (case 40), for every verb that would start the launcher."""
    command = PREVIEWS[verb](loopx)
    (loopx.root / "extensions/subject/provider").unlink()

    preview = loopx("extension", *command)
    executed = loopx("extension", *command, "--execute")

    assert preview.status == 0
    assert preview.document["would_refuse"]["code"] == "entrypoint_missing"
    assert preview.document["would_refuse"]["next_command"] is not None
    assert (executed.status, executed.code) == (EXIT_REFUSED, "entrypoint_missing")


# --- install ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("disabled", [False, True])
def test_installing_what_is_installed_starts_no_doctor(loopx: Loopx, *, disabled: bool) -> None:
    subject = installed(loopx)
    if disabled:
        subject.do("disable", "--execute")

    answer = subject.install("2.0", "--execute")

    assert (answer.status, answer.code) == (EXIT_REFUSED, "already_installed")
    assert subject.starts == []


@pytest.mark.req("X17")
def test_an_entry_point_that_no_distribution_carries_is_shown_as_unowned(loopx: Loopx) -> None:
    subject = Subject(loopx)
    keys = {"entrypoint": "/bin/sh", "args": ["-c", "echo '{}'"], "doctor_args": ["-c", "exit 0"]}

    preview = subject.install("1.0", **keys)
    receipt = subject.install("1.0", "--execute", **keys)

    assert (preview.document["owner"], receipt.document["owner"]) == ("unowned", "unowned")
    assert receipt.document["launcher"] == {"kind": "entrypoint", "path": "/bin/sh"}


# --- upgrade and rollback ---------------------------------------------------------------------------------------


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


@pytest.mark.req("X7")
def test_enabling_probes_again_and_then_sets_the_bit(loopx: Loopx) -> None:
    subject = installed(loopx)
    subject.do("disable", "--execute")

    receipt = subject.do("enable", "--execute").document

    assert subject.starts == ["--doctor 1.0"]
    assert facts(receipt, "enabled", "changed") == [True, True]
    assert receipt["doctor"]["verified"] is True
    assert subject.row()["ready"] is True


def test_enabling_an_enabled_extension_probes_it_again(loopx: Loopx) -> None:
    """enable_already_enabled (case 58)."""
    subject = installed(loopx)

    receipt = subject.do("enable", "--execute").document

    assert subject.starts == ["--doctor 1.0"]
    assert facts(receipt, "enabled", "changed") == [True, False]
    assert receipt["doctor"]["verified"] is True


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


# --- the record -------------------------------------------------------------------------------------------------


def test_the_history_is_newest_first_and_names_every_change(loopx: Loopx) -> None:
    subject = installed(loopx, "1.0", "2.0")
    subject.do("rollback", "--execute")
    subject.do("disable", "--execute")
    subject.do("enable", "--execute")

    history = subject.do("history").document["history"]

    assert [event["operation"] for event in history] == ["enable", "disable", "rollback", "upgrade", "install"]


def test_the_history_is_bounded(loopx: Loopx) -> None:
    subject = installed(loopx)
    document = json.loads(loopx.state_file.read_bytes())
    rows = [{"operation": "doctor", "at": f"row {number}"} for number in range(50)]
    document["extensions"]["subject"]["history"] = rows
    loopx.state_file.write_text(json.dumps(document), encoding="ascii")

    assert subject.do("disable", "--execute").status == 0

    history = subject.do("history").document["history"]
    assert [history[0]["operation"], *history[1:]] == ["disable", *rows[:49]]


def test_nothing_a_provider_says_is_kept_in_the_state_file(loopx: Loopx) -> None:
    subject = installed(loopx, "1.0", "2.0")
    subject.run()
    subject.do("disable", "--execute")
    subject.doctor_exits(1, "2.0")
    subject.do("enable", "--execute")
    subject.doctor_exits(0, "2.0")
    subject.do("enable", "--execute")
    subject.doctor_exits(1, "2.0")
    subject.do("doctor", "--execute")
    subject.do("rollback", "--execute")

    said = subject.do("rollback", "--execute")

    assert SPOKEN in said.document["doctor"]["stderr_tail"]
    assert SPOKEN.encode() not in loopx.state_file.read_bytes()


# --- the plan ---------------------------------------------------------------------------------------------------

PLANNED = ["install", "upgrade", "rollback", "uninstall", "enable", "disable"]


@pytest.mark.req("B5")
@pytest.mark.parametrize("verb", PLANNED)
def test_executing_the_plan_of_a_preview_does_it(loopx: Loopx, verb: str) -> None:
    command = PREVIEWS[verb](loopx)
    plan = loopx("extension", *command).document["plan"]

    answer = loopx("extension", *command, "--execute", "--plan", plan)

    assert answer.status == 0, answer
    assert (answer.document["plan"], answer.document["dry_run"]) == (plan, False)


@pytest.mark.req("B5")
@pytest.mark.parametrize("flags", [(), ("--execute",)])
@pytest.mark.parametrize("verb", PLANNED)
def test_another_plan_is_refused_and_the_present_one_shown(loopx: Loopx, verb: str, flags: tuple[str, ...]) -> None:
    command = PREVIEWS[verb](loopx)
    plan = loopx("extension", *command).document["plan"]
    before = tree(loopx.root, without=("home/cache",))

    answer = loopx("extension", *command, "--plan", f"sha256:{'0' * 64}", *flags)

    assert (answer.status, answer.code, answer.document["plan"]) == (EXIT_REFUSED, "plan_changed", plan)
    assert tree(loopx.root, without=("home/cache",)) == before


def change_manifest(subject: Subject) -> None:
    subject.manifest("2.0", args=["serve", "2.0", "--verbose"])


def change_launcher(subject: Subject) -> None:
    subject.replace_program()


def change_state(subject: Subject) -> None:
    assert subject.do("disable", "--execute").status == 0


def change_permissions(subject: Subject) -> None:
    subject.manifest("2.0", permissions=("net.connect",))


def change_limits(subject: Subject) -> None:
    subject.manifest("2.0", timeout_seconds=7)


def change_environment(subject: Subject) -> None:
    subject.manifest("2.0", env=["SECRET_OF_THE_CALLER"])


@pytest.mark.req("B5")
@pytest.mark.parametrize(
    "change",
    [change_manifest, change_launcher, change_state, change_permissions, change_limits, change_environment],
)
def test_what_changed_since_the_preview_refuses_the_plan(loopx: Loopx, change: Callable[[Subject], None]) -> None:
    subject = installed(loopx)
    manifest = str(subject.manifest("2.0"))
    command = ["extension", "upgrade", "--manifest", manifest, "--accept-permissions"]
    plan = loopx(*command).document["plan"]
    change(subject)
    before = loopx.state_file.read_bytes()
    subject.forget_starts()

    answer = loopx(*command, "--execute", "--plan", plan)

    assert (answer.status, answer.code) == (EXIT_REFUSED, "plan_changed")
    assert answer.document["plan"] == loopx(*command).document["plan"] != plan
    assert loopx.state_file.read_bytes() == before
    assert subject.starts == []


@pytest.mark.req("B5")
def test_an_edited_comment_keeps_the_plan(loopx: Loopx) -> None:
    subject = installed(loopx)
    manifest = subject.manifest("2.0")
    command = ["extension", "upgrade", "--manifest", str(manifest)]
    plan = loopx(*command).document["plan"]
    manifest.write_text(f"# a comment\n{manifest.read_text('utf-8')}", encoding="utf-8")

    answer = loopx(*command, "--execute", "--plan", plan)

    assert answer.status == 0


@pytest.mark.req("B5")
def test_a_plan_holds_neither_a_time_nor_the_path_of_the_state_file(loopx: Loopx) -> None:
    subject = installed(loopx)
    elsewhere = Path(f"{loopx.state_file}.elsewhere")
    elsewhere.write_bytes(loopx.state_file.read_bytes())
    here = subject.upgrade("2.0").document["plan"]
    loopx.state_file = elsewhere
    subject.do("doctor", "--execute")  # another moment of proof, the same proof

    there = subject.upgrade("2.0").document["plan"]

    assert here == there
    assert here.startswith("sha256:")


@pytest.mark.req("B5")
def test_every_verb_has_another_plan(loopx: Loopx) -> None:
    subject = installed(loopx, "1.0", "2.0")

    plans = [subject.do(verb).document["plan"] for verb in ("disable", "enable", "uninstall", "rollback")]

    assert len(set(plans)) == len(plans)


def test_every_command_that_changes_something_takes_a_plan() -> None:
    """These start a provider or write a copy: there is no state they could bind."""
    mutating = [route for route in ROUTES if EXECUTE in route.arguments]

    without = [" ".join(route.words) for route in mutating if PLAN not in route.arguments]
    assert sorted(without) == [
        "capability invoke",
        "extension conformance",
        "extension export",
        "extension publish-projection",
        "extension run",
    ]


def test_a_write_finds_the_entry_that_was_probed_or_refuses(loopx: Loopx) -> None:
    subject = installed(loopx)
    # This doctor disables its own extension while it runs: the entry moves between reading and writing.
    here = subject.folder / "3.0"
    here.mkdir()
    command = " ".join(map(str, loopx.command("extension", "disable", "subject", "--execute")))
    program = here / "mover"
    program.write_text(f"#!/bin/sh\nHOME={loopx.env['HOME']} {command} > {here}/said\n", encoding="utf-8")
    program.chmod(0o755)

    answer = subject.upgrade("3.0", "--execute", entrypoint=str(program), doctor_args=["--doctor"])

    assert json.loads((here / "said").read_bytes())["changed"] is True
    assert (answer.status, answer.code) == (75, "state_moved")
    assert facts(subject.row(), "enabled", "version") == [False, "1.0"]
    assert copies(loopx.state_file) == []
