"""A damaged state file is refused and kept; a bad entry is shown and spoils nothing else."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Answer, Loopx
from tests.support.lifecycle import Subject, copies, installed, words

EXIT_REFUSED, EXIT_IO, EXIT_TRY_AGAIN = 2, 74, 75


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
