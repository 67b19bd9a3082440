"""The activation state file: one writer at a time, safe places, no room, no permission (cases 44, 98 to 106)."""

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

from tests.support.cli import Loopx, finish
from tests.support.lifecycle import Subject, beside, drafts, installed, tree, words
from tests.support.providers import ECHO

EXIT_REFUSED, EXIT_IO, EXIT_TRY_AGAIN = 2, 74, 75


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path)


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


IS_ROOT = os.geteuid() == 0
STRANGER = 12345


@pytest.mark.skipif(not IS_ROOT, reason="only root can give a file away")
def test_a_state_file_of_another_user_is_not_believed(loopx: Loopx) -> None:
    loopx.make_extension("subject", ECHO)
    os.chown(loopx.state_file, STRANGER, STRANGER)

    answer = loopx.run("subject", b"{}")

    assert (answer.status, answer.code) == (2, "state_unsafe")
