"""What is installed here, made again elsewhere, or a list of what is missing (row B12)."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Loopx
from tests.support.levels import LEAVES_MARKS
from tests.support.lifecycle import Subject, installed, tree, words
from tests.support.project_files import ROOT

EXIT_FAILED, EXIT_REFUSED, EXIT_IO = 1, 2, 74
V0_STATE = ROOT / "tests/data/v0/state.json"


@pytest.fixture
def here(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path / "here")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Loopx:
    """Another home with another state file, on a machine where the same manifests lie."""
    return Loopx(tmp_path / "elsewhere")


def exported(loopx: Loopx) -> Path:
    path = loopx.root / "export.json"
    answer = loopx("extension", "export", "--output", str(path), "--execute")
    assert answer.status == 0, answer
    return path


def restore(loopx: Loopx, path: Path, *flags: str) -> Any:
    return loopx("extension", "restore", str(path), *flags)


def statuses(document: dict[str, Any]) -> dict[str, str]:
    return {row["id"]: row["status"] for row in document["extensions"]}


def fixed(loopx: Loopx) -> list[dict[str, Any]]:
    """Return what makes two sets of extensions the same set."""
    return [
        {key: row[key] for key in ("id", "revision", "digest", "enabled")}
        for row in loopx("extension", "export").document["extensions"]
    ]


@pytest.mark.req("B12")
def test_an_export_makes_the_same_set_elsewhere(here: Loopx, elsewhere: Loopx) -> None:
    installed(here, "1.0", "2.0", extension_id="one")
    installed(here, extension_id="two").do("disable", "--execute")

    answer = restore(elsewhere, exported(here), "--execute")

    assert answer.status == 0, answer
    assert (answer.document["complete"], statuses(answer.document)) == (
        True,
        {"one": "installed", "two": "installed"},
    )
    assert fixed(elsewhere) == fixed(here)
    assert {row["id"]: row["ready"] for row in elsewhere.rows()} == {"one": True, "two": False}


@LEAVES_MARKS
@pytest.mark.req("B12")
def test_each_restored_extension_was_proved_by_its_doctor(here: Loopx, elsewhere: Loopx) -> None:
    subject = installed(here)

    restore(elsewhere, exported(here), "--execute")

    assert subject.starts == ["--doctor 1.0"]


@pytest.mark.req("B12")
def test_a_restore_that_is_incomplete_fails_and_says_exactly_what_is_missing(here: Loopx, elsewhere: Loopx) -> None:
    subjects = {
        name: installed(here, extension_id=name)
        for name in ("fine", "no-manifest", "other-manifest", "no-program", "failing")
    }
    path = exported(here)
    (subjects["no-manifest"].folder / "1.0/extension.toml").unlink()
    subjects["other-manifest"].manifest("1.0", args=["another"])
    subjects["no-program"].program.unlink()
    subjects["failing"].doctor_exits(1)

    preview = restore(elsewhere, path)
    answer = restore(elsewhere, path, "--execute")

    codes = {row["id"]: row["code"] for row in answer.document["extensions"]}
    assert codes == {
        "fine": None,
        "no-manifest": "manifest_unreadable",
        "other-manifest": "manifest_changed",
        "no-program": "entrypoint_missing",
        "failing": "doctor_failed",
    }
    assert (answer.status, answer.document["ok"], answer.document["complete"]) == (EXIT_FAILED, False, False)
    assert [row["id"] for row in elsewhere.rows()] == ["fine"]
    assert preview.status == 0
    # A preview runs no doctor, so it cannot know of the one that will fail.
    assert statuses(preview.document) == {
        **statuses(answer.document),
        "fine": "would_install",
        "failing": "would_install",
    }


@pytest.mark.req("B12")
def test_what_is_missing_is_named_with_the_command_that_brings_its_package(here: Loopx, elsewhere: Loopx) -> None:
    subject = installed(here)
    document = json.loads(exported(here).read_bytes())
    document["extensions"][0]["distribution"] = {"name": "subject-package", "version": "1.2"}
    path = here.root / "with-distribution.json"
    path.write_text(json.dumps(document), encoding="ascii")
    (subject.folder / "1.0/extension.toml").unlink()

    (row,) = restore(elsewhere, path, "--execute").document["extensions"]

    assert row["install_package"].endswith("-m pip install subject-package==1.2")


def test_an_export_that_somebody_wrote_brings_no_option_of_pip_into_a_command(here: Loopx, elsewhere: Loopx) -> None:
    installed(here)
    path = exported(here)
    document = json.loads(path.read_text())
    document["extensions"][0]["manifest_path"] = "/nowhere/extension.toml"
    document["extensions"][0]["distribution"] = {"name": "--index-url=http://127.0.0.1:9", "version": "1.0"}
    path.write_text(json.dumps(document))

    answer = restore(elsewhere, path)

    (row,) = answer.document["extensions"]
    assert (row["status"], row["install_package"]) == ("refused", None)


def test_restoring_again_changes_nothing(here: Loopx, elsewhere: Loopx) -> None:
    subject = installed(here)
    path = exported(here)
    restore(elsewhere, path, "--execute")
    subject.forget_starts()
    before = tree(elsewhere.root, without=("home",))

    answer = restore(elsewhere, path, "--execute")

    assert (answer.status, statuses(answer.document)) == (0, {"subject": "already_installed"})
    assert answer.document["changed"] is False
    assert subject.starts == []
    assert tree(elsewhere.root, without=("home",)) == before


def test_another_revision_that_is_installed_is_left_alone(here: Loopx, elsewhere: Loopx) -> None:
    subject = installed(here)
    path = exported(here)
    assert elsewhere.install(subject.manifest("2.0")).status == 0

    answer = restore(elsewhere, path, "--execute")

    assert (answer.status, statuses(answer.document)) == (EXIT_FAILED, {"subject": "another_revision_installed"})
    assert elsewhere.rows()[0]["version"] == "2.0"


def test_an_export_can_come_through_a_pipe(here: Loopx, elsewhere: Loopx) -> None:
    installed(here)

    answer = elsewhere("extension", "restore", "-", "--execute", stdin=here("extension", "export").stdout)

    assert (answer.status, statuses(answer.document)) == (0, {"subject": "installed"})


def test_the_preview_of_a_restore_suggests_the_command_that_does_it(here: Loopx, elsewhere: Loopx) -> None:
    installed(here)
    preview = restore(elsewhere, exported(here)).document

    answer = elsewhere(*words(preview["next_command"]), options=False)

    assert statuses(answer.document) == {"subject": "installed"}


def test_an_export_is_private_and_holds_no_proof_and_no_history(here: Loopx) -> None:
    subject = installed(here)

    path = exported(here)

    (row,) = json.loads(path.read_bytes())["extensions"]
    assert set(row) == {"id", "revision", "digest", "enabled", "distribution", "source", "manifest_path"}
    assert row["manifest_path"] == str(subject.folder / "1.0/extension.toml")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_export_that_cannot_be_written_says_so(here: Loopx) -> None:
    installed(here)

    answer = here("extension", "export", "--output", str(here.root / "no-folder/export.json"), "--execute")

    assert (answer.status, answer.code) == (EXIT_IO, "output_unwritable")


def test_a_bad_entry_is_named_by_an_export_and_spoils_nothing_else(here: Loopx) -> None:
    installed(here, extension_id="fine")
    document = json.loads(here.state_file.read_bytes())
    document["extensions"]["bad"] = None
    here.state_file.write_text(json.dumps(document), encoding="ascii")

    export = here("extension", "export").document

    assert [row["id"] for row in export["extensions"]] == ["fine"]
    assert export["skipped"] == [{"id": "bad", "code": "state_entry_invalid"}]


@pytest.mark.req("B12")
def test_an_export_of_what_a_v0_tool_installed_is_read_and_what_it_lacks_is_named(
    here: Loopx, elsewhere: Loopx
) -> None:
    Subject(here, "fine").install("1.0", "--execute")
    document = json.loads(here.state_file.read_bytes())
    document["extensions"].update(json.loads(V0_STATE.read_bytes())["extensions"])
    here.state_file.write_text(json.dumps(document), encoding="ascii")

    answer = restore(elsewhere, exported(here), "--execute")

    assert statuses(answer.document) == {"fine": "installed", "loopx-text-stats": "refused"}
    # The second where the environment of this test offers an extension of the same id, which is another.
    assert answer.document["extensions"][1]["code"] in ("manifest_unreadable", "manifest_changed")


ROW = {
    "id": "a",
    "revision": "0" * 16,
    "digest": "0" * 64,
    "enabled": True,
    "distribution": None,
    "source": "manifest",
}
WRONG_ROWS: dict[str, dict[str, object]] = {
    "a_relative_path": {"manifest_path": "extension.toml"},
    "a_number_as_path": {"manifest_path": 7},
    "enabled_as_text": {"manifest_path": "/x", "enabled": "true"},
    "a_distribution_as_text": {"manifest_path": "/x", "distribution": "a 1.0"},
    "a_distribution_without_version": {"manifest_path": "/x", "distribution": {"name": "a"}},
    "an_id_as_list": {"manifest_path": "/x", "id": []},
}
NO_EXPORTS = {
    "nothing": b"",
    "no_json": b"extensions",
    "a_list": b"[]",
    "no_schema": b'{"extensions": []}',
    "another_schema": b'{"schema": "loopx_extension_export_v1", "extensions": []}',
    "no_list": b'{"schema": "loopx_extension_export_v0", "extensions": {}}',
    "duplicate_key": b'{"schema": "loopx_extension_export_v0", "extensions": [], "extensions": []}',
    **{
        name: json.dumps({"schema": "loopx_extension_export_v0", "extensions": [{**ROW, **fields}]}).encode()
        for name, fields in WRONG_ROWS.items()
    },
    "a_row_as_text": b'{"schema": "loopx_extension_export_v0", "extensions": ["a"]}',
}


@pytest.mark.parametrize("kind", NO_EXPORTS)
def test_what_no_export_wrote_is_refused_whole(here: Loopx, kind: str) -> None:
    path = here.root / "export.json"
    path.write_bytes(NO_EXPORTS[kind])

    answer = restore(here, path, "--execute")

    assert (answer.status, answer.code) == (EXIT_REFUSED, "export_invalid")
    assert not here.state_file.exists()
