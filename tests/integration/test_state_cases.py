"""The activation state file: who may write it, what damage does, what an older tool left (cases 44, 98 to 106)."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import resource
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Answer, Loopx, finish
from tests.support.lifecycle import Subject, beside, copies, drafts, installed, tree, words
from tests.support.manifests import revision_of as number

EXIT_REFUSED, EXIT_IO, EXIT_TRY_AGAIN = 2, 74, 75
V0_STATE = Path(__file__).parents[1] / "data/v0/state.json"


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path)


def change(loopx: Loopx, edit: Callable[[dict[str, Any]], object], extension_id: str = "subject") -> bytes:
    """Edit one entry of the state file by hand; return the bytes it then has."""
    document = json.loads(loopx.state_file.read_bytes())
    edit(document["extensions"][extension_id])
    loopx.state_file.write_text(json.dumps(document, indent=1), encoding="ascii")
    return loopx.state_file.read_bytes()


def every_command(subject: Subject) -> dict[str, Answer]:
    """Run every command that needs the state; return what each answered."""
    manifest, loopx = str(subject.manifest("9.0")), subject.loopx
    export = loopx.root / "some-export.json"
    export.write_text('{"schema": "loopx_extension_export_v0", "extensions": []}', encoding="ascii")
    return {
        "list": loopx("extension", "list"),
        "export": loopx("extension", "export"),
        "run": subject.run(),
        **{verb: subject.do(verb) for verb in ("show", "history")},
        **{verb: subject.do(verb, "--execute") for verb in ("doctor", "enable", "disable", "uninstall", "rollback")},
        **{verb: loopx("extension", verb, "--manifest", manifest, "--execute") for verb in ("install", "upgrade")},
    }


# --- one writer at a time ---------------------------------------------------------------------------------------


def test_parallel_installs_are_all_kept(loopx: Loopx) -> None:
    """state_concurrent_writers (case 98)."""
    ids = [f"subject-{number}" for number in range(12)]
    manifests = [Subject(loopx, one).manifest() for one in ids]

    started = [loopx.start("extension", "install", "--manifest", str(path), "--execute") for path in manifests]
    answers = [finish(one) for one in started]

    assert [answer.status for answer in answers] == [0] * 12
    assert {row["id"] for row in loopx.rows() if row["ready"]} == set(ids)
    assert drafts(loopx.root) == []


def test_a_lock_that_another_program_holds_is_waited_for_and_then_reported(loopx: Loopx) -> None:
    """state_lock_busy (case 99)."""
    subject = installed(loopx)
    before = loopx.state_file.read_bytes()
    with Path(f"{loopx.state_file}.lock").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)

        listed = loopx("extension", "list")
        answer = subject.do("disable", "--execute")

    assert (answer.status, answer.code) == (EXIT_TRY_AGAIN, "lock_busy")
    assert words(answer.document["next_command"])[:4] == ["extension", "disable", "subject", "--execute"]
    assert listed.status == 0
    assert loopx.state_file.read_bytes() == before
    assert subject.do("disable", "--execute").status == 0


def test_files_and_directories_are_private_whatever_the_umask(loopx: Loopx) -> None:
    """install_state_mode (case 44)."""
    subject = Subject(loopx)
    root = loopx.root / "new/runtime"
    manifest = subject.manifest("1.0", request_schema="request.json")
    (manifest.parent / "request.json").write_text("{}", encoding="ascii")
    words_of_install = ("extension", "install", "--manifest", str(manifest), "--execute")

    loopx(*words_of_install, "--runtime-root", str(root), "--format", "json", options=False, umask=0)

    made = {path: stat.S_IMODE(path.lstat().st_mode) for path in (root.parent, *root.parent.rglob("*"))}
    assert root / "extensions/state.json" in made
    assert root / "extensions/state.json.lock" in made
    assert {mode for path, mode in made.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in made.items() if not path.is_dir()} == {0o600}


def test_no_state_file_is_an_empty_list(loopx: Loopx) -> None:
    """state_missing (case 106)."""
    answer = loopx("extension", "list")

    assert (answer.status, answer.document["extensions"]) == (0, [])
    assert beside(loopx.state_file) == []


# --- places -----------------------------------------------------------------------------------------------------


def test_a_linked_state_file_is_followed(loopx: Loopx) -> None:
    subject = installed(loopx)
    elsewhere = loopx.root / "elsewhere"
    elsewhere.mkdir()
    target = loopx.state_file.rename(elsewhere / "truth.json")
    loopx.state_file.symlink_to(target)

    answer = subject.do("disable", "--execute")

    assert answer.status == 0
    assert loopx.state_file.is_symlink()
    assert json.loads(target.read_bytes())["extensions"]["subject"]["enabled"] is False


def dangling(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere"))


def looping(path: Path) -> None:
    path.symlink_to(path)


def link_to_directory(path: Path) -> None:
    path.with_name("folder").mkdir()
    path.symlink_to(path.with_name("folder"))


def link_to_device(path: Path) -> None:
    path.symlink_to("/dev/null")


UNSAFE = [dangling, looping, link_to_directory, link_to_device, os.mkfifo, Path.mkdir]


@pytest.mark.parametrize("make", UNSAFE, ids=lambda make: make.__name__)
def test_a_state_file_that_is_no_file_is_refused_at_once(loopx: Loopx, make: Callable[[Path], None]) -> None:
    subject = Subject(loopx)
    make(loopx.state_file)
    before = tree(loopx.root, without=("home",))

    listed = loopx("extension", "list")
    repaired = loopx("extension", "repair", "--execute")
    answer = subject.install("1.0", "--execute")

    assert (answer.status, answer.code) == (EXIT_REFUSED, "state_unsafe")
    assert (listed.code, repaired.code) == ("state_unsafe", "state_unsafe")
    assert not loopx.state_file.with_name("nowhere").exists()
    assert tree(loopx.root, without=("home",)).keys() - before.keys() <= {
        *(f"extensions/subject/{name}" for name in ("1.0", "1.0/extension.toml", "starts"))
    }


def test_a_planted_lock_link_is_not_followed(loopx: Loopx) -> None:
    subject = installed(loopx)
    before = loopx.state_file.read_bytes()
    victim = loopx.root / "victim"
    victim.write_bytes(b"keep me")
    lock = Path(f"{loopx.state_file}.lock")
    lock.unlink()
    lock.symlink_to(victim)

    answer = subject.do("disable", "--execute")

    assert (answer.status, answer.code) == (EXIT_IO, "state_unwritable")
    assert (victim.read_bytes(), stat.S_IMODE(victim.stat().st_mode)) == (b"keep me", 0o644)
    assert loopx.state_file.read_bytes() == before


def test_planted_temporary_names_are_not_written_through(loopx: Loopx) -> None:
    subject = installed(loopx)
    victim = loopx.root / "victim"
    victim.write_bytes(b"keep me")
    for name in (".state.json.tmp", ".state.json.0123456789abcdef.tmp", "state.json.tmp", "state.json~"):
        (loopx.root / name).symlink_to(victim)

    answer = subject.do("disable", "--execute")

    assert answer.status == 0
    assert victim.read_bytes() == b"keep me"
    assert not loopx.state_file.is_symlink()


def test_what_a_killed_writer_left_is_gone_after_the_next_change(loopx: Loopx) -> None:
    subject = installed(loopx)
    (loopx.root / ".state.json.00112233445566ff.tmp").write_bytes(b'{"half')

    answer = subject.do("disable", "--execute")

    assert answer.status == 0
    assert drafts(loopx.root) == []


# --- no room, no permission -------------------------------------------------------------------------------------


def test_a_file_size_limit_leaves_the_old_state(loopx: Loopx) -> None:
    subject = installed(loopx)
    before = loopx.state_file.read_bytes()

    answer = loopx(
        "extension",
        "disable",
        "subject",
        "--execute",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
    )

    assert (answer.status, answer.code) == (EXIT_IO, "state_unwritable")
    assert loopx.state_file.read_bytes() == before
    assert drafts(loopx.root) == []
    assert subject.do("disable", "--execute").status == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "small-disk"
    place.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if subprocess.run(mounting, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a small file system is not permitted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def fill(descriptor: int) -> None:
    while True:
        os.write(descriptor, b"x" * 512)


def test_a_full_disk_leaves_the_old_state(loopx: Loopx, small_disk: Path) -> None:
    loopx.state_file = small_disk / "state.json"
    subject = installed(loopx)
    before = loopx.state_file.read_bytes()
    filler = small_disk / "filler"
    filler.write_bytes(b"")
    with filler.open("ab", buffering=0) as sink, pytest.raises(OSError, match="space") as full:
        fill(sink.fileno())

    answer = subject.do("disable", "--execute")
    after = loopx.state_file.read_bytes()
    filler.unlink()

    assert full.value.errno == errno.ENOSPC
    assert (answer.status, answer.code) == (EXIT_IO, "state_unwritable")
    assert after == before
    assert drafts(small_disk) == []
    assert subject.do("disable", "--execute").status == 0


def like_an_ordinary_user() -> dict[str, Any]:
    """Return settings for a command that file permissions hold for, also when the tests run as root."""
    if os.geteuid() != 0:
        return {}
    drop, power_over_files = 24, (1, 2)  # PR_CAPBSET_DROP; CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    return {"preexec_fn": lambda: [prctl(drop, power, 0, 0, 0) for power in power_over_files]}


def test_a_directory_that_may_not_be_written_refuses_a_change_and_serves_a_reader(loopx: Loopx) -> None:
    installed(loopx)
    before = loopx.state_file.read_bytes()
    loopx.root.chmod(0o555)

    listed = loopx("extension", "list", **like_an_ordinary_user())
    answer = loopx("extension", "disable", "subject", "--execute", **like_an_ordinary_user())
    loopx.root.chmod(0o755)

    assert listed.status == 0
    assert (answer.status, answer.code) == (EXIT_IO, "state_unwritable")
    assert loopx.state_file.read_bytes() == before


def test_a_state_file_that_may_not_be_read_is_not_taken_for_none(loopx: Loopx) -> None:
    subject = installed(loopx)
    loopx.state_file.chmod(0o000)

    listed = loopx("extension", "list", **like_an_ordinary_user())
    answer = loopx("extension", "disable", "subject", "--execute", **like_an_ordinary_user())

    assert [(one.status, one.code) for one in (listed, answer)] == [(EXIT_IO, "state_unreadable")] * 2
    assert subject.row()["enabled"] is True


# --- a file that is no state ------------------------------------------------------------------------------------


def damaged(kind: str, whole: bytes) -> bytes:
    document = json.loads(whole)
    return {
        "empty": b"",
        "truncated": whole[: len(whole) // 2],
        "zeros": bytes(len(whole)),
        "spaces": b" \n",
        "null": b"null",
        "list": b"[]",
        "two_documents": whole + whole,
        "byte_order_mark": b"\xef\xbb\xbf" + whole,
        "utf_16": whole.decode().encode("utf-16"),
        "invalid_utf_8": whole.replace(b"subject", b"subj\xff\xfe", 1),
        "duplicate_key": b'{"schema_version": "loopx_extension_state_v0",' + whole[1:],
        "not_a_number": whole.replace(b'"rollback_revision": null', b'"rollback_revision": NaN'),
        "lone_surrogate": whole.replace(b'"subject"', b'"\\ud800"', 1),
        "deep": b'{"x": ' + b"[" * 5000 + b"]" * 5000 + b"}",
        "foreign_schema": json.dumps({**document, "schema_version": "loopx_extension_state_v1"}).encode(),
        "no_schema": json.dumps({"extensions": document["extensions"]}).encode(),
        "no_table": json.dumps({"schema_version": document["schema_version"]}).encode(),
        "table_is_a_list": json.dumps({**document, "extensions": list(document["extensions"].values())}).encode(),
        "empty_object": b"{}",
    }[kind]


DAMAGE = (
    *("empty", "truncated", "zeros", "spaces", "null", "list", "two_documents", "byte_order_mark", "utf_16"),
    *("invalid_utf_8", "duplicate_key", "not_a_number", "lone_surrogate", "deep", "foreign_schema", "no_schema"),
    *("no_table", "table_is_a_list", "empty_object"),
)


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_is_refused_and_never_rewritten(loopx: Loopx, kind: str) -> None:
    """state_corrupt (case 100)."""
    subject = installed(loopx)
    data = damaged(kind, loopx.state_file.read_bytes())
    loopx.state_file.write_bytes(data)

    listed = loopx("extension", "list")
    answer = subject.install("2.0", "--execute")

    assert [(one.status, one.code) for one in (listed, answer)] == [(EXIT_REFUSED, "state_damaged")] * 2
    assert words(answer.document["next_command"])[:3] == ["extension", "repair", "--execute"]
    assert loopx.state_file.read_bytes() == data
    assert copies(loopx.state_file) == []


def test_a_damaged_file_refuses_every_command_that_needs_it(loopx: Loopx) -> None:
    subject = installed(loopx)
    loopx.state_file.write_bytes(b'{"half')

    answers = every_command(subject)

    assert {verb: answer.code for verb, answer in answers.items()} == dict.fromkeys(answers, "state_damaged")
    assert subject.starts == []
    assert loopx.state_file.read_bytes() == b'{"half'


@pytest.mark.parametrize(
    "command", [("--help",), ("extension", "--help"), ("extension", "install", "--help"), ("--version",)]
)
def test_help_is_served_whatever_the_state_file_holds(loopx: Loopx, command: tuple[str, ...]) -> None:
    loopx.state_file.write_bytes(b'{"half')

    answer = loopx(*command)

    assert answer.status == 0


# --- one bad entry ----------------------------------------------------------------------------------------------


def revision_of(entry: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = entry["revisions"][0]
    return made


def manifest_of(entry: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = revision_of(entry)["manifest"]
    return made


MISSHAPEN: dict[str, Callable[[dict[str, Any]], object]] = {
    "emptied": lambda entry: entry.clear(),
    "another_id": lambda entry: entry.update(id="other-id"),
    "enabled_is_text": lambda entry: entry.update(enabled="true"),
    "enabled_is_a_number": lambda entry: entry.update(enabled=1),
    "no_revisions": lambda entry: entry.update(revisions=[]),
    "revisions_is_a_table": lambda entry: entry.update(revisions={}),
    "revision_is_null": lambda entry: entry.update(revisions=[None]),
    "unknown_active_revision": lambda entry: entry.update(active_revision="0" * 16),
    "unknown_rollback_revision": lambda entry: entry.update(rollback_revision="0" * 16),
    "revision_is_a_number": lambda entry: revision_of(entry).update(revision=7),
    "manifest_is_a_list": lambda entry: revision_of(entry).update(manifest=[]),
    "manifest_of_another": lambda entry: manifest_of(entry)["provider"].update(id="other"),
    "no_provider": lambda entry: manifest_of(entry).pop("provider"),
    "no_capabilities": lambda entry: manifest_of(entry).pop("capabilities"),
    "args_is_text": lambda entry: manifest_of(entry)["runtime"].update(args="serve"),
    "args_hold_a_nul": lambda entry: manifest_of(entry)["runtime"].update(args=["a\0b"]),
    "time_out_is_true": lambda entry: manifest_of(entry)["runtime"].update(timeout_seconds=True),
    "launcher_is_relative": lambda entry: revision_of(entry)["launcher"].update(path="bin/provider"),
    "launcher_holds_a_nul": lambda entry: revision_of(entry)["launcher"].update(path="/bin/pro\0vider"),
    "launcher_of_no_kind": lambda entry: revision_of(entry)["launcher"].update(kind="shell"),
    "distribution_is_text": lambda entry: revision_of(entry).update(distribution="somebody 1.0"),
    "distribution_without_version": lambda entry: revision_of(entry).update(distribution={"name": "somebody"}),
}
TAMPERED: dict[str, Callable[[dict[str, Any]], object]] = {
    "args": lambda entry: manifest_of(entry)["runtime"]["args"].append("--more"),
    "permissions": lambda entry: manifest_of(entry)["provider"]["permissions"].append("net.connect"),
    "entrypoint": lambda entry: manifest_of(entry)["runtime"].update(entrypoint="/bin/sh"),
    "time_out": lambda entry: manifest_of(entry)["runtime"].update(timeout_seconds=120),
    "version": lambda entry: manifest_of(entry)["provider"].update(version="9.9"),
    "added_key": lambda entry: manifest_of(entry)["runtime"].update(env=["SECRET"]),
    "revision": lambda entry: (
        entry.update(active_revision="0" * 16),
        revision_of(entry).update(revision="0" * 16),
    ),
}
BAD = {
    **{f"misshapen_{name}": ("state_entry_invalid", edit) for name, edit in MISSHAPEN.items()},
    **{f"tampered_{name}": ("state_integrity", edit) for name, edit in TAMPERED.items()},
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_entry_is_shown_and_not_dispatched_and_spoils_nothing_else(loopx: Loopx, kind: str) -> None:
    """state_bad_entry_isolated, state_snapshot_tampered (cases 101, 102)."""
    code, edit = BAD[kind]
    subject, other = installed(loopx), installed(loopx, extension_id="other")
    data = change(loopx, edit)

    answer = subject.run()

    rows = {row["id"]: row for row in loopx.rows()}
    assert (answer.status, answer.code) == (EXIT_REFUSED, code)
    assert (rows["subject"]["ready"], rows["subject"]["reason"]) == (False, code)
    assert rows["other"]["ready"] is True
    assert other.run().status == 0
    assert subject.starts == []
    assert loopx.state_file.read_bytes() == data


@pytest.mark.parametrize("value", ["null", "7", '"text"', "[]", "[[]]", "true", '{"id": "subject"}'])
def test_an_entry_of_any_other_kind_is_a_bad_entry(loopx: Loopx, value: str) -> None:
    subject, other = installed(loopx), installed(loopx, extension_id="other")
    document = json.loads(loopx.state_file.read_bytes())
    document["extensions"]["subject"] = json.loads(value)
    loopx.state_file.write_text(json.dumps(document), encoding="ascii")

    assert subject.row()["reason"] == "state_entry_invalid"
    assert other.run().status == 0


@pytest.mark.parametrize("kind", ["misshapen_enabled_is_text", "tampered_args"])
def test_a_bad_entry_refuses_every_command_about_it_until_it_is_repaired(loopx: Loopx, kind: str) -> None:
    code, edit = BAD[kind]
    subject = installed(loopx, "1.0", "2.0")
    data = change(loopx, edit)

    answers = every_command(subject)

    whole = {"list", "export"}
    refused = {verb: answer.code for verb, answer in answers.items() if verb not in whole}
    assert refused == dict.fromkeys(refused, code)
    assert [answers[verb].status for verb in whole] == [0, 0]
    assert loopx.state_file.read_bytes() == data


@pytest.mark.parametrize("kind", ["misshapen_manifest_is_a_list", "tampered_permissions"])
def test_a_bad_entry_outlives_the_change_of_another_and_the_file_is_copied_first(loopx: Loopx, kind: str) -> None:
    _, edit = BAD[kind]
    subject, other = installed(loopx), installed(loopx, extension_id="other")
    data = change(loopx, edit)
    bad = subject.entry()

    assert other.do("disable", "--execute").status == 0

    assert subject.entry() == bad
    (copy,) = copies(loopx.state_file)
    assert copy.read_bytes() == data
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert len(copy.name.rpartition("-")[2]) == len("8 digits")


def test_a_bad_entry_is_copied_once_however_many_changes_it_outlives(loopx: Loopx) -> None:
    subject, other = installed(loopx), installed(loopx, extension_id="other")
    change(loopx, lambda entry: entry.update(enabled="true"))
    bad = subject.entry()

    assert other.do("disable", "--execute").status == 0
    assert Subject(loopx, "third").install("1.0", "--execute").status == 0
    assert other.do("uninstall", "--execute").status == 0

    assert subject.entry() == bad
    assert len(copies(loopx.state_file)) == 1


def test_a_bad_entry_keeps_numbers_and_unknown_fields_as_they_are(loopx: Loopx) -> None:
    subject, other = installed(loopx), installed(loopx, extension_id="other")
    value = {"big": 10**40, "small": 1e-300, "zero": -0.0, "texts": ["\u2028", "\x7f", "ü"], "nested": [[{}]]}

    def put_in_place(entry: dict[str, Any]) -> None:
        entry.clear()
        entry.update(value)

    change(loopx, put_in_place)

    assert other.do("disable", "--execute").status == 0

    assert subject.entry() == value


# --- what other tools wrote -------------------------------------------------------------------------------------


@pytest.fixture
def v0(loopx: Loopx) -> Subject:
    """The recorded v0 state, with a launcher of that name on PATH wherever the tests run."""
    subject = Subject(loopx, "loopx-text-stats")
    (subject.folder / "loopx-text-stats").symlink_to(subject.program)
    loopx.env["PATH"] = f"{loopx.env['PATH']}:{subject.folder}"
    loopx.state_file.write_bytes(V0_STATE.read_bytes())
    return subject


def test_a_v0_state_file_is_listed_and_shown_and_needs_a_doctor(v0: Subject) -> None:
    row, shown = v0.row(), v0.do("show").document

    assert row["active_revision"] == "8b788dccc64e579c"
    assert (row["rollback_available"], row["revision_count"], row["version"]) == (True, 2, "0.2.0")
    assert (row["ready"], row["reason"]) == (False, "doctor_required")
    assert [one["revision"] for one in shown["revisions"]] == ["eb8b34757b9e2a0e", "8b788dccc64e579c"]
    assert v0.loopx.state_file.read_bytes() == V0_STATE.read_bytes()


def test_the_doctor_pins_an_entry_that_a_v0_tool_wrote(v0: Subject) -> None:
    refused = v0.run()

    proved = v0.do("doctor", "--execute")

    entry = v0.entry()
    active = entry["revisions"][1]
    assert refused.code == "doctor_required"
    assert proved.status == 0, proved
    assert active["launcher"]["path"].endswith("/loopx-text-stats")
    assert entry["doctor_verified_revision"] == active["revision"] == entry["proof"]["revision"]
    assert v0.row()["ready"] is True


def test_a_failed_doctor_pins_nothing(v0: Subject) -> None:
    v0.loopx.state_file.write_bytes(V0_STATE.read_bytes().replace(b"--doctor", b"--refuse"))
    # The edit above makes both revisions others; give them the numbers that belong to them.
    document = json.loads(v0.loopx.state_file.read_bytes())
    entry = document["extensions"]["loopx-text-stats"]
    numbers = [number(one["manifest"]) for one in entry["revisions"]]
    for one, right in zip(entry["revisions"], numbers, strict=True):
        one["revision"] = right
    entry.update(rollback_revision=numbers[0], active_revision=numbers[1], doctor_verified_revision=numbers[1])
    v0.program.write_text("#!/bin/sh\nexit 3\n", encoding="ascii")
    v0.loopx.state_file.write_text(json.dumps(document), encoding="ascii")

    answer = v0.do("doctor", "--execute")

    assert answer.status == 1, answer
    assert [one.get("launcher") for one in v0.entry()["revisions"]] == [None, None]


def test_a_v0_entry_is_disabled_and_uninstalled_without_a_pin(v0: Subject) -> None:
    disabled = v0.do("disable", "--execute")
    uninstalled = v0.do("uninstall", "--execute")

    assert (disabled.status, uninstalled.status) == (0, 0)
    assert v0.loopx.rows() == []


def test_a_proof_counts_only_while_it_agrees_with_the_v0_fields(loopx: Loopx) -> None:
    subject = installed(loopx)
    change(loopx, lambda entry: entry.update(doctor_verified_entrypoint_identity="a v0 tool proved something else"))

    answer = subject.run()

    assert (answer.status, answer.code) == (EXIT_REFUSED, "doctor_required")
    assert subject.row()["doctor_verified"] is False


@pytest.mark.parametrize("field", ["doctor_verified_revision", "doctor_verified_entrypoint_identity"])
@pytest.mark.parametrize("value", [None, "0" * 64, 7])
def test_either_v0_field_ends_a_proof(loopx: Loopx, field: str, value: object) -> None:
    subject = installed(loopx)
    change(loopx, lambda entry: entry.update({field: value}))

    assert subject.row()["reason"] == "doctor_required"


def test_fields_that_loopx_does_not_know_outlive_every_change(loopx: Loopx) -> None:
    subject = installed(loopx)
    document = json.loads(loopx.state_file.read_bytes())
    document["x_top"] = {"kept": [1, 2.5, None]}
    entry = document["extensions"]["subject"]
    entry["x_entry"] = "kept"
    entry["revisions"][0]["x_revision"] = "kept"
    loopx.state_file.write_text(json.dumps(document), encoding="ascii")

    for verb in ("disable", "enable", "doctor"):
        assert subject.do(verb, "--execute").status == 0
    assert subject.upgrade("2.0", "--execute").status == 0
    assert subject.do("rollback", "--execute").status == 0

    after = json.loads(loopx.state_file.read_bytes())
    kept = after["extensions"]["subject"]
    first = next(one for one in kept["revisions"] if one["version"] == "1.0")
    assert (after["x_top"], kept["x_entry"], first["x_revision"]) == ({"kept": [1, 2.5, None]}, "kept", "kept")
