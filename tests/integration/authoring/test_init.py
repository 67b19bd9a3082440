"""`loopx extension init` on a real file system (cases 35 and 36): nothing before --execute, then all or nothing."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.support.cli import Loopx
from tests.support.lifecycle import tree

# The command in a process where the `at`-th file of the package is the last thing that happens.
DYING = """\
import os, signal, sys
from loopx_host.adapters.files import new_tree
real, left = new_tree._write, [int(sys.argv[1])]

def write(path, content):
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    real(path, content)

new_tree._write = write
from loopx_host.entrypoint import run
sys.exit(run(sys.argv[2:]))
"""


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder to type commands in."""
    place = tmp_path / "work"
    place.mkdir()
    return place


def test_a_preview_writes_nothing(loopx: Loopx, work: Path) -> None:
    """init_preview_writes_nothing (case 35)."""
    before = tree(work)

    answer = loopx("extension", "init", "acme-word-count", cwd=work)

    assert answer.status == 0
    assert {row["status"] for row in answer.document["files"]} == {"would_create"}
    assert answer.document["dry_run"] is True
    assert answer.document["changed"] is False
    assert tree(work) == before


def test_the_preview_names_the_files_that_are_then_created(loopx: Loopx, work: Path) -> None:
    previewed = loopx("extension", "init", "acme-word-count", cwd=work).document["files"]

    answer = loopx("extension", "init", "acme-word-count", "--execute", cwd=work)

    created = [row["path"] for row in answer.document["files"]]
    assert created == [row["path"] for row in previewed]
    assert sorted(created) == sorted(
        str(path.relative_to(work / "acme-word-count"))
        for path in (work / "acme-word-count").rglob("*")
        if not path.is_dir()
    )


def test_the_plan_of_the_preview_binds_the_execution(loopx: Loopx, work: Path) -> None:
    plan = loopx("extension", "init", "acme-word-count", cwd=work).document["plan"]

    other = loopx("extension", "init", "acme-word-count", "--version", "2", "--execute", "--plan", plan, cwd=work)
    same = loopx("extension", "init", "acme-word-count", "--execute", "--plan", plan, cwd=work)

    assert (other.status, other.code) == (2, "plan_changed")
    assert same.status == 0


def test_the_next_command_of_the_preview_does_it(loopx: Loopx, work: Path) -> None:
    preview = loopx(
        "extension", "init", "acme-word-count", "--destination", "my place/count", cwd=work, options=False
    )
    suggested = loopx(
        "extension",
        "init",
        "acme-word-count",
        "--destination",
        "my place/count",
        "--format",
        "json",
        cwd=work,
        options=False,
    ).document["next_command"]

    done = subprocess.run(
        ["sh", "-c", suggested],
        cwd=work,
        env={**loopx.env, "PATH": f"{Path(sys.executable).parent}:{loopx.env['PATH']}"},
        capture_output=True,
        check=False,
    )

    assert preview.status == 0
    assert done.returncode == 0, done.stderr
    assert (work / "my place" / "count" / "extension.toml").is_file()


@pytest.mark.parametrize("execute", [(), ("--execute",)], ids=["preview", "execute"])
@pytest.mark.parametrize("kind", ["file", "empty_directory", "dangling_link", "link_to_a_directory", "fifo"])
def test_what_is_already_there_is_refused_and_left_alone(
    kind: str, execute: tuple[str, ...], loopx: Loopx, work: Path
) -> None:
    """init_refuses_existing (case 36)."""
    place = work / "acme"
    match kind:
        case "file":
            place.write_text("mine")
        case "empty_directory":
            place.mkdir()
        case "dangling_link":
            place.symlink_to("nowhere")
        case "link_to_a_directory":
            (work / "elsewhere").mkdir()
            place.symlink_to("elsewhere")
        case _:
            os.mkfifo(place)
    before = tree(work)

    answer = loopx("extension", "init", "acme", *execute, cwd=work)

    assert (answer.status, answer.code) == (2, "destination_exists")
    assert b"Traceback" not in answer.stderr
    assert tree(work) == before


def test_a_trailing_slash_does_not_get_around_the_check(loopx: Loopx, work: Path) -> None:
    (work / "acme").symlink_to("nowhere")

    answer = loopx("extension", "init", "acme", "--destination", "acme/", "--execute", cwd=work)

    assert (answer.status, answer.code) == (2, "destination_exists")


@pytest.mark.parametrize(
    "destination", ["a b/c d", "größe/字", "one/two/three/four", "new-name", "./dotted/../plain"], ids=ascii
)
def test_the_destination_may_be_any_new_place(destination: str, loopx: Loopx, work: Path) -> None:
    answer = loopx("extension", "init", "acme", "--destination", destination, "--execute", cwd=work)

    assert answer.status == 0, answer
    assert answer.document["destination"] == destination
    assert (work / destination.replace("dotted/../", "") / "extension.toml").read_text("utf-8")


def test_a_destination_that_is_no_unicode_is_served_and_shown(loopx: Loopx, work: Path) -> None:
    answer = loopx("extension", "init", "acme", "--destination", b"caf\xe9", "--execute", cwd=work)

    assert answer.status == 0, answer
    assert os.path.isdir(os.fsencode(work) + b"/caf\xe9")
    assert answer.document["destination"] == r"caf\xe9"


def test_a_tilde_is_the_home_directory(loopx: Loopx, work: Path) -> None:
    answer = loopx("extension", "init", "acme", "--destination", "~/made here", "--execute", cwd=work)

    assert answer.status == 0
    assert (loopx.root / "home" / "made here" / "extension.toml").is_file()
    assert list(work.iterdir()) == []


def test_the_link_to_the_manifest_survives_a_move_of_the_package(loopx: Loopx, work: Path) -> None:
    assert loopx("extension", "init", "acme", "--execute", cwd=work).status == 0

    (work / "acme").rename(work / "moved")

    assert os.readlink(work / "moved" / "extension.toml") == "src/acme/extension.toml"
    assert (work / "moved" / "extension.toml").is_file()


@pytest.mark.parametrize("at", [1, 5, 11])
def test_a_killed_init_leaves_no_half_package(at: int, loopx: Loopx, work: Path) -> None:
    words = [sys.executable, "-c", DYING, str(at), "extension", "init", "acme", "--execute"]

    done = subprocess.run(words, cwd=work, env=loopx.env, capture_output=True, check=False)

    assert done.returncode == -signal.SIGKILL
    assert not os.path.lexists(work / "acme")
    assert loopx("extension", "init", "acme", "--execute", cwd=work).status == 0


def _small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))


def test_no_room_in_the_middle_leaves_nothing_at_all(loopx: Loopx, work: Path) -> None:
    destination = ("--destination", "some/nested/place")

    answer = loopx("extension", "init", "acme", *destination, "--execute", cwd=work, preexec_fn=_small_files)

    assert (answer.status, answer.code) == (74, "output_unwritable")
    assert list(work.iterdir()) == []


def test_a_parent_that_was_there_stays_when_nothing_could_be_written(loopx: Loopx, work: Path) -> None:
    (work / "mine").mkdir()

    answer = loopx(
        "extension", "init", "acme", "--destination", "mine/acme", "--execute", cwd=work, preexec_fn=_small_files
    )

    assert answer.status == 74
    assert [path.name for path in work.iterdir()] == ["mine"]
    assert list((work / "mine").iterdir()) == []


@pytest.mark.parametrize("blocked", ["file/acme", "link/acme"])
def test_a_parent_that_is_no_directory_is_refused_in_words(blocked: str, loopx: Loopx, work: Path) -> None:
    (work / "file").write_text("")
    (work / "link").symlink_to("nowhere")

    answer = loopx("extension", "init", "acme", "--destination", blocked, "--execute", cwd=work)

    assert (answer.status, answer.code) == (74, "output_unwritable")
    assert sorted(path.name for path in work.iterdir()) == ["file", "link"]


@pytest.mark.parametrize("name", ["class", "json", "loopx", "pytest", "Upper", "a" * 49])
def test_a_name_that_cannot_work_is_refused_before_anything_is_written(name: str, loopx: Loopx, work: Path) -> None:
    answer = loopx("extension", "init", name, "--execute", cwd=work)

    assert (answer.status, answer.code) == (2, "name_unusable")
    assert list(work.iterdir()) == []


def test_it_needs_no_state_and_no_home(loopx: Loopx, work: Path) -> None:
    environment = {"HOME": "/nonexistent", "XDG_STATE_HOME": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent"}

    answer = loopx("extension", "init", "acme", "--execute", cwd=work, env=environment)

    assert answer.status == 0
    assert not loopx.state_file.exists()


def test_an_unedited_scaffold_is_valid_under_strict(loopx: Loopx, work: Path) -> None:
    assert loopx("extension", "init", "acme", "--execute", cwd=work).status == 0

    answer = loopx("extension", "validate", "acme", "--strict", cwd=work)

    assert answer.status == 0, answer
    assert answer.document["advice"] == []
    assert {Path(name).name for name in answer.document["checked"]} == {
        "manifest",
        "request.schema.json",
        "response.schema.json",
        "request.json",
    }


def test_the_schema_for_editors_accepts_the_scaffold(loopx: Loopx, work: Path) -> None:
    assert loopx("extension", "init", "acme", "--execute", cwd=work).status == 0

    schema = json.loads(loopx("extension", "schema", "manifest", cwd=work).stdout)

    Draft202012Validator(schema).validate(tomllib.loads((work / "acme/extension.toml").read_text("utf-8")))
