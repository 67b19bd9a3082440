"""Standard streams that are full, closed or gone, and paths that are not UTF-8."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.cli import Answer, Loopx
from tests.support.packages import Vane
from tests.support.providers import ECHO
from tests.support.puppets import SURROUNDINGS, install_puppets


@pytest.fixture(scope="module")
def puppets(tmp_path_factory: pytest.TempPathFactory) -> Loopx:
    return install_puppets(tmp_path_factory.mktemp("puppets"))


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path / "loopx")


def told(code: str) -> dict[str, object]:
    return {"code": code}


def test_a_full_disk_under_standard_output_is_74(puppets: Loopx) -> None:
    with Path("/dev/full").open("wb") as full:
        answer = puppets.run("echo", {}, stdout=full)

    assert answer.status == 74
    assert b"Traceback" not in answer.stderr
    assert answer.stderr


@pytest.mark.parametrize("words", [("extension", "list"), ("--help",), ("--version",), ("extension", "nothing")])
def test_a_reader_that_went_away_is_141_and_silent(puppets: Loopx, words: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        answer = puppets(*words, stdout=writer)
    finally:
        os.close(writer)

    assert (answer.status, answer.stderr) == (141, b"")


def closed(redirection: str, command: list[str | bytes]) -> list[str | bytes]:
    return ["sh", "-c", f'exec "$@" {redirection}', "sh", *command]


def test_with_standard_output_closed_nothing_is_done(loopx: Loopx) -> None:
    manifest = loopx.write_extension("echo", ECHO)
    command = loopx.command("extension", "install", "--manifest", str(manifest), "--execute")

    done = subprocess.run(closed(">&-", command), env=loopx.env, stderr=subprocess.PIPE, check=False)

    assert done.returncode == 74
    assert not loopx.state_file.exists()


def test_with_standard_input_closed_a_request_from_it_is_empty(puppets: Loopx) -> None:
    command = puppets.command("extension", "run", "echo", "--input-json", "-", "--execute")

    done = subprocess.run(closed("<&-", command), env=puppets.env, capture_output=True, check=False)

    answer = Answer(done.returncode, done.stdout, done.stderr)
    assert (answer.status, answer.code, answer.document["violation"]) == (2, "request_invalid", "empty")


@pytest.mark.parametrize("redirection", ["2>&-", "<&- 2>&-"])
def test_with_standard_error_closed_a_run_still_works(puppets: Loopx, tmp_path: Path, redirection: str) -> None:
    request = tmp_path / "request.json"
    request.write_bytes(json.dumps(told(SURROUNDINGS)).encode())
    command = puppets.command("extension", "run", "puppet", "--input-json", str(request), "--execute")

    done = subprocess.run(closed(redirection, command), env=puppets.env, stdout=subprocess.PIPE, check=False)

    answer = Answer(done.returncode, done.stdout, b"")
    assert (answer.status, answer.document["provider_result"]["descriptors"]) == (0, [0, 1, 2])


STRANGE = b"str\xffnge"


def test_a_manifest_below_a_path_that_is_not_utf_8_can_be_installed(loopx: Loopx, tmp_path: Path) -> None:
    manifest = loopx.write_extension("echo", ECHO)
    folder = os.path.join(os.fsencode(tmp_path), STRANGE)
    os.mkdir(folder)
    path = shutil.copy(os.fsencode(manifest), os.path.join(folder, b"extension.toml"))

    answer = loopx("extension", "install", "--manifest", path, "--execute")

    assert answer.status == 0, answer
    assert "str\\xffnge" in answer.document["manifest_path"]
    assert loopx.run("echo", {}).status == 0


def test_a_state_file_whose_path_is_not_utf_8_works(loopx: Loopx, tmp_path: Path) -> None:
    manifest = loopx.write_extension("echo", ECHO)
    state_file = os.path.join(os.fsencode(tmp_path), STRANGE, b"state.json")
    common: tuple[str | bytes, ...] = ("--format", "json", "--state-file", state_file, "extension")

    installed = loopx(*common, "install", "--manifest", str(manifest), "--execute", options=False)
    run = loopx(*common, "run", "echo", "--input-json", "-", "--execute", stdin=b"{}", options=False)
    refused = loopx(*common, "run", "nobody", "--input-json", "-", "--execute", stdin=b"{}", options=False)

    assert (installed.status, run.status, refused.status) == (0, 0, 2)
    assert os.path.isfile(state_file)
    assert "str\\xffnge" in refused.document["next_command"]


@pytest.mark.parametrize("exists", [True, False])
def test_a_request_file_whose_path_is_not_utf_8_works(puppets: Loopx, tmp_path: Path, exists: bool) -> None:
    path = os.path.join(os.fsencode(tmp_path), STRANGE)
    if exists:
        Path(os.fsdecode(path)).write_bytes(b"{}")

    answer = puppets("extension", "run", "echo", "--input-json", path, "--execute")

    if exists:
        assert answer.status == 0
    else:
        assert (answer.status, answer.code) == (2, "input_unreadable")
        assert "str\\xffnge" in answer.document["subject"]
    assert b"Traceback" not in answer.stderr


@pytest.mark.parametrize("path", ["/nonexistent/request.json", "/", "/proc/self/mem"])
def test_a_request_that_cannot_be_read_is_refused(puppets: Loopx, path: str) -> None:
    answer = puppets("extension", "run", "echo", "--input-json", path, "--execute")

    assert (answer.status, answer.code) == (2, "input_unreadable")


@pytest.mark.parametrize("unusable", ["", "relative", "/proc/missing", "/dev/null", "/proc", "/proc/self/fdinfo"])
@pytest.mark.parametrize("names", [("XDG_RUNTIME_DIR", "TMPDIR"), ("XDG_RUNTIME_DIR",)], ids=" and ".join)
def test_unusable_temporary_places_are_passed_over(puppets: Loopx, names: tuple[str, ...], unusable: str) -> None:
    env = dict.fromkeys(names, unusable)

    answer = puppets.run("puppet", told(SURROUNDINGS), env=env)

    expected = Path("/tmp") if len(names) == 2 else Path(puppets.env["TMPDIR"])
    assert answer.document["status"] == "succeeded"
    assert Path(answer.document["provider_result"]["cwd"]).parents[1] == expected


def test_a_home_that_cannot_be_written_does_not_stop_a_run(puppets: Loopx) -> None:
    env = {"HOME": "/proc", "XDG_CACHE_HOME": "/proc/cache", "XDG_STATE_HOME": "/proc/state"}

    answer = puppets.run("puppet", told(SURROUNDINGS), env=env)

    assert answer.document["status"] == "succeeded"


ODD = os.fsdecode(b"caf\xe9")


def test_a_search_path_that_is_not_utf_8_hinders_neither_lists_nor_runs(loopx: Loopx) -> None:
    loopx.env["PATH"] += f":{loopx.root}/{ODD}"
    loopx.make_extension("echo", ECHO)

    ran = loopx.run("echo", {"n": 1})

    assert [row["ready"] for row in loopx.rows()] == [True]
    assert (ran.status, ran.document["provider_result"]["asked"]) == (0, {"n": 1})


def test_a_path_file_whose_name_is_not_utf_8_hinders_neither_lists_nor_runs(tmp_path: Path) -> None:
    vane = Vane(tmp_path)
    (vane.packages / f"{ODD}.pth").write_text("# nothing\n", "ascii")
    vane.proved()

    ran = vane.run("vane", {})

    assert vane.row("vane")["ready"] is True
    assert ran.status == 0, ran
