"""Faults a hostile tester found, each as the kind it was: once broken, kept here."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import PATIENCE_SECONDS, Loopx, Place, finish
from tests.support.packages import Environment, Vane, manifest, offering, write, write_record
from tests.support.providers import ECHO, PUPPET

IS_ROOT = os.geteuid() == 0
STRANGER = 12345


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path)


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return Environment(tmp_path)


@pytest.fixture
def vane(tmp_path: Path) -> Vane:
    return Vane(tmp_path).proved()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path / "place")
    yield made
    made.close()


# --- a package spoils its own row only --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [{}], "$ref": f"#/allOf/{'9' * 5000}"},
        {"allOf": [{"pattern": f"^[^a]{{1,3000}}x{index}$"} for index in range(1500)]},
        {"allOf": [{"$ref": "#z"}] * 8000, "$defs": {f"d{index}": {} for index in range(8000)}},
    ],
    ids=["an index of 5000 digits", "patterns that fill the memory", "anchors looked up again and again"],
)
def test_a_hostile_schema_spoils_its_own_row_only(environment: Environment, schema: object) -> None:
    offering(environment.site, "honest")
    hostile = manifest("hostile", request_schema="request.json")
    offering(environment.site, "hostile", text=hostile, files={"request.json": json.dumps(schema)})

    states = {row["id"]: row["state"] for row in environment.offers()}

    assert states == {"honest": "available", "hostile": "broken"}


def test_a_dollar_id_inside_data_is_data(loopx: Loopx) -> None:
    path = loopx.write_extension("subject", ECHO, request_schema="request.json")
    write(path.with_name("request.json"), json.dumps({"enum": [{"$id": "x"}, {"a": 1}]}))

    assert loopx.install(path).status == 0


# --- identity covers what could take a file's place -------------------------------------------------------------


def shadow_package(vane: Vane) -> None:
    write(vane.packages / "vane/cli/__init__.py", "# a package comes before the module of that name\n")


def beside_the_launcher(vane: Vane) -> None:
    write(vane.launcher.with_name("re.py"), "# the folder of a script stands first on its path\n")


def package_beside_the_launcher(vane: Vane) -> None:
    write(vane.launcher.with_name("json") / "__init__.py", "")


def bare_byte_code(vane: Vane) -> None:
    write(vane.packages / "vane/extra.pyc", "executed when there is no source")


@pytest.mark.req("X4")
@pytest.mark.parametrize("change", [shadow_package, beside_the_launcher, package_beside_the_launcher, bare_byte_code])
def test_what_could_be_imported_in_place_of_a_proved_file_is_stale(vane: Vane, change: Any) -> None:
    change(vane)

    assert vane.row("vane")["reason"] == "readiness_stale"


def test_recorded_byte_code_outside_the_cache_is_covered(tmp_path: Path) -> None:
    vane = Vane(tmp_path)
    files = {**vane.files(), "vane/core.pyc": "first"}
    write_record(vane.put("vane", *vane.requires, files=files), list(files))
    vane.proved()

    write(vane.packages / "vane/core.pyc", "other")

    assert vane.row("vane")["reason"] == "readiness_stale"


def test_loopx_itself_imports_nothing_from_the_folder_of_its_script_or_the_caller(loopx: Loopx) -> None:
    trap = loopx.root / "trap"
    mark = loopx.root / "imported"
    for name in ("json", "re", "argparse", "signal", "tomli"):
        write(trap / f"{name}.py", f"open({str(mark)!r}, 'w')\n")
    launcher = trap / "loopx"
    launcher.write_text(f"#!{sys.executable}\nfrom loopx_host.entrypoint import main\nmain()\n", encoding="utf-8")
    launcher.chmod(0o755)

    for command in ([str(launcher)], [sys.executable, "-m", "loopx_host"]):
        done = subprocess.run(
            [*command, "extension", "list"], cwd=trap, env=loopx.env, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr

    assert not mark.exists()


# --- whose word is taken ----------------------------------------------------------------------------------------


def test_without_a_home_nothing_is_read_from_the_current_directory(loopx: Loopx) -> None:
    env = {**loopx.env, "HOME": "home"}
    del env["XDG_STATE_HOME"], env["XDG_CACHE_HOME"]
    planted = loopx.root / "home/.local/state/loopx/extensions/state.json"
    write(planted, '{"schema_version": "loopx_extension_state_v0", "extensions": {}}')

    command = loopx.command("extension", "list", "--format", "json", options=False)
    done = subprocess.run(command, cwd=loopx.root, env=env, capture_output=True, check=False)

    assert done.returncode == 2
    assert json.loads(done.stdout)["code"] == "state_unsafe"


@pytest.mark.skipif(not IS_ROOT, reason="only root can give a file away")
def test_a_state_file_of_another_user_is_not_believed(loopx: Loopx) -> None:
    loopx.make_extension("subject", ECHO)
    os.chown(loopx.state_file, STRANGER, STRANGER)

    answer = loopx.run("subject", b"{}")

    assert (answer.status, answer.code) == (2, "state_unsafe")


@pytest.mark.skipif(not IS_ROOT, reason="only root can give a directory away")
def test_a_cache_that_another_user_could_write_to_is_not_used(loopx: Loopx) -> None:
    cache = Path(loopx.env["XDG_CACHE_HOME"])
    cache.mkdir(parents=True)
    os.chown(cache, STRANGER, STRANGER)

    loopx.make_extension("subject", ECHO)

    assert loopx.run("subject", b"{}").document["ok"] is True
    assert list(cache.iterdir()) == []


# --- signals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["SIGQUIT", "SIGALRM", "SIGUSR1", "SIGPROF"])
def test_every_signal_that_ends_the_host_ends_the_provider_first(loopx: Loopx, place: Place, name: str) -> None:
    number = getattr(signal, name)
    loopx.make_extension("subject", PUPPET)
    process = loopx.start_run("subject", place.request("record('leader'); ready(); stay()"))
    place.wait_until_ready()

    process.send_signal(number)
    answer = finish(process)

    assert (answer.status, answer.code) == (128 + number, "interrupted")
    assert place.alive() == []


def test_a_signal_does_not_cut_the_document_in_half(loopx: Loopx) -> None:
    """The reader pauses in the middle of a large document and a signal arrives then."""
    loopx.make_extension("subject", PUPPET)
    process = loopx.start_run("subject", {"code": "answer(text='x' * 900000)"})
    assert process.stdout is not None
    first = os.read(process.stdout.fileno(), 1000)

    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=PATIENCE_SECONDS)

    assert json.loads(first + rest)["provider_result"]["text"] == "x" * 900000


# --- what is written, and over what -----------------------------------------------------------------------------


def export(loopx: Loopx, path: Path) -> Any:
    return loopx("extension", "export", "--output", str(path), "--execute")


def test_an_export_goes_over_an_earlier_one_and_over_nothing_else(loopx: Loopx) -> None:
    loopx.make_extension("subject", ECHO)
    before = loopx.state_file.read_bytes()
    link = loopx.root / "link"
    link.symlink_to(loopx.root / "elsewhere")
    fifo = loopx.root / "fifo"
    os.mkfifo(fifo)

    refused = [export(loopx, path).code for path in (loopx.state_file, link, fifo)]
    written = [export(loopx, loopx.root / "export.json").status for _ in range(2)]

    assert refused == ["destination_exists"] * 3
    assert written == [0, 0]
    assert loopx.state_file.read_bytes() == before


def restored(loopx: Loopx, **changes: object) -> Any:
    document = loopx("extension", "export").document
    document["extensions"][0].update(changes)
    path = write(loopx.root / "export.json", json.dumps(document))
    loopx("extension", "uninstall", "subject", "--execute")
    return loopx("extension", "restore", str(path), "--execute")


def test_a_restore_does_not_believe_the_id_of_a_row(loopx: Loopx) -> None:
    loopx.make_extension("subject", ECHO)

    answer = restored(loopx, id="other", enabled=False)

    assert answer.status == 1
    assert answer.document["extensions"][0]["code"] == "manifest_changed"
    assert loopx.rows() == []


def test_an_export_with_a_path_that_no_file_can_have_is_refused(loopx: Loopx) -> None:
    loopx.make_extension("subject", ECHO)

    answer = restored(loopx, manifest_path="/tmp/x\0y")

    assert (answer.status, answer.code) == (2, "export_invalid")


# --- what is asked ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("extension", "rollback", "subject", "--to", ""),
        ("capability", "list", "--extension-manifest", ""),
        ("extension", "init", "subject", "--destination", ""),
        ("extension", "show", ""),
    ],
)
def test_an_empty_value_is_not_a_value_left_out(loopx: Loopx, words: tuple[str, ...]) -> None:
    answer = loopx(*words)

    assert (answer.status, answer.code) == (2, "usage_error")


@pytest.mark.parametrize("key", ["perms", "required_permissions", "permission_list"])
def test_a_misspelt_permission_never_means_zero_permission(loopx: Loopx, key: str) -> None:
    path = loopx.write_extension("subject", ECHO, manifest=f'{key} = ["net.connect"]')

    answer = loopx.install(path)

    assert answer.code == "manifest_invalid"
    assert [row["nearest"] for row in answer.document["problems"]] == ["permissions"]
