"""The private directory of a run is gone afterwards, and a sweep removes only what a dead host left there."""

from __future__ import annotations

import ctypes
import os
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopx_host.adapters.process import private_directory
from loopx_host.adapters.process.private_directory import PrivateDirectory, remove_tree, sweep
from tests.support import zoo
from tests.support.cli import Loopx, Place, finish, start_time
from tests.support.puppets import BOUNDED, install_puppets


@pytest.fixture(scope="module")
def puppets(tmp_path_factory: pytest.TempPathFactory) -> Loopx:
    return install_puppets(tmp_path_factory.mktemp("puppets"))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path / "place")
    yield made
    made.close()


def test_the_private_directory_is_gone_after_every_end_of_a_run(puppets: Loopx, place: Place) -> None:
    ways = [("brief" if way == "timeout" else "puppet", code) for way, (code, _, _) in BOUNDED.items()]

    left = [
        (puppets.run(extension, place.request("open('made', 'w').close()\n" + code)), puppets.private_directories())
        for extension, code in ways
    ]

    assert [names for _, names in left] == [[]] * len(ways)
    assert {answer.document["containment"]["private_directory"] for answer, _ in left} == {"removed"}


def test_the_private_directory_of_a_dead_host_is_swept_by_the_next_run(puppets: Loopx, place: Place) -> None:
    host = puppets.start_run("puppet", place.request("record('leader')\nopen('made', 'w').close()\nready()\nstay()"))
    place.wait_until_ready()
    killed_with_its_supervisor(host, place)
    left = puppets.private_directories()

    answer = puppets.run("puppet", place.request("answer()"))

    killed(place)
    assert left
    assert answer.status == 0
    assert puppets.private_directories() == []


def test_the_private_directory_of_a_living_host_is_not_swept(puppets: Loopx, place: Place) -> None:
    code = "open('kept', 'w').close()\nready()\nwait_for_go()\nanswer(kept=os.path.exists('kept'))"
    host = puppets.start_run("puppet", place.request(code))
    place.wait_until_ready()

    other = puppets.run("puppet", place.request("answer()"))
    place.go()
    answer = finish(host)

    assert other.status == 0
    assert answer.document["provider_result"] == {"ok": True, "kept": True}


@pytest.mark.parametrize("name", ["loopx-screenshots-2025", "loopx-0123456789abcdeg", "loopx-", "other"])
def test_the_sweep_leaves_a_directory_alone_that_only_looks_like_a_private_one(
    loopx: Loopx, place: Place, name: str
) -> None:
    loopx.make_extension("puppet")
    precious = loopx.runtime / name / "precious"
    precious.parent.mkdir()
    precious.write_text("mine", encoding="ascii")

    loopx.run("puppet", place.request("answer()"))

    assert precious.read_text(encoding="ascii") == "mine"


def test_the_sweep_does_not_follow_a_link_named_like_a_private_directory(
    loopx: Loopx, place: Place, tmp_path: Path
) -> None:
    loopx.make_extension("puppet")
    precious = tmp_path / "elsewhere" / "precious"
    precious.parent.mkdir()
    precious.write_text("mine", encoding="ascii")
    (loopx.runtime / "loopx-0123456789abcdef").symlink_to(precious.parent)

    loopx.run("puppet", place.request("answer()"))

    assert precious.read_text(encoding="ascii") == "mine"


LITTER = {
    "unreadable directories": """
os.makedirs("a/b/c"); open("a/b/c/file", "w").close()
for path in ("a/b/c", "a/b", "a"): os.chmod(path, 0)
""",
    "a private directory that is itself unreadable": "os.mkdir('a'); os.chmod('.', 0)",
    "a private directory that cannot be written": "os.mkdir('a'); os.chmod('.', 0o500)",
    # More than Python recurses (1000), than descriptors are had (1024) and than a path can be long (4096).
    "directories 1100 deep": """
for _ in range(1100):
    os.mkdir("deep"); os.chdir("deep")
open("file", "w").close()
""",
    "names that are not UTF-8": "os.mkdir(b'\\xff'); open(b'\\xff/\\xfe\\n', 'w').close()",
    "links that lead out": "os.symlink(place, 'out'); os.mkdir('in'); os.symlink(place, 'in/out')",
    "fifos and sockets": "os.mkfifo('fifo'); import socket; socket.socket(socket.AF_UNIX).bind('socket')",
    "many names": "os.mkdir('many')\nfor n in range(2000): open(f'many/{n}', 'w').close()",
}


@pytest.mark.parametrize("litter", LITTER)
def test_whatever_a_provider_left_in_its_private_directory_is_removed(
    puppets: Loopx, place: Place, litter: str
) -> None:
    """As an ordinary user, whom permission bits hold back."""
    (place.path / "precious").write_text("mine", encoding="ascii")

    answer = puppets.run("puppet", place.request(f"answer()\n{LITTER[litter]}"), preexec_fn=obey_permission_bits)

    left = puppets.private_directories()
    for name in left:
        subprocess.run(["rm", "-rf", puppets.runtime / name], check=True)
    assert answer.status == 0, answer
    assert answer.document["status"] == "succeeded"
    assert answer.document["containment"]["private_directory"] == "removed"
    assert left == []
    assert (place.path / "precious").read_text(encoding="ascii") == "mine"


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path / "loopx")


def killed_with_its_supervisor(host: subprocess.Popen[bytes], place: Place) -> None:
    leader = int((place.path / "processes").read_text(encoding="ascii").split()[1])
    stat = Path(f"/proc/{leader}/stat").read_bytes()
    host.send_signal(signal.SIGSTOP)  # it would clean up after its supervisor
    os.kill(int(stat.rpartition(b")")[2].split()[1]), signal.SIGKILL)
    host.kill()
    finish(host)


def killed(place: Place) -> list[str]:
    """Kill what is left of the recorded processes; return their names."""
    left = place.alive()
    for line in (place.path / "processes").read_text(encoding="ascii").splitlines():
        name, pid, started = line.split()
        if name in left and start_time(int(pid)) == int(started):
            os.kill(int(pid), signal.SIGKILL)
    return left


def obey_permission_bits() -> None:
    """Give up the privilege of root to pass permission bits; an ordinary user has none to give up."""

    libc = ctypes.CDLL(None)
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
NOBODY = 65534


def base_with_left_over(root: Path, monkeypatch: pytest.MonkeyPatch, mode: int, owner: int) -> Path:
    """Make a place of private directories and one in it that no host holds; return that one."""
    left = root / "base/loopx-0123456789abcdef"
    left.mkdir(parents=True)
    (left / "kept").touch()
    left.parent.chmod(mode)
    os.chown(left.parent, owner, -1)
    for variable in ("XDG_RUNTIME_DIR", "TMPDIR"):
        monkeypatch.setenv(variable, str(left.parent))
    return left


@as_root
@pytest.mark.parametrize("mode", [0o755, 0o777], ids=oct)
def test_the_sweep_leaves_a_place_alone_whose_owner_could_have_put_our_names_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    left = base_with_left_over(tmp_path, monkeypatch, mode, NOBODY)

    sweep()

    assert (left / "kept").exists()


@as_root
@pytest.mark.parametrize(("mode", "owner"), [(0o1777, 0), (0o700, 0)], ids=["sticky", "our own"])
def test_the_sweep_removes_what_dead_hosts_left_where_only_we_could_have_put_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, owner: int
) -> None:
    left = base_with_left_over(tmp_path, monkeypatch, mode, owner)

    sweep()

    assert not left.exists()


WIDE = {
    "many files": [f"{n}" for n in range(300)],
    "many directories that are not empty": [f"{n}/below/" for n in range(150)],
    "one deep directory": ["deep/" * 150],
    "many files below": [f"a/b/{n}" for n in range(300)],
    "directories that nobody can read": [f"{n}/closed/below" for n in range(100)],
}


def fill(top: Path, names: list[str]) -> None:
    """Make directories, of names that end with a slash, and files."""
    for name in names:
        folder, _, file = name.rpartition("/")
        (top / folder).mkdir(parents=True, exist_ok=True)
        if file:
            (top / name).touch()
    for closed in top.glob("*/closed"):
        closed.chmod(0)


@pytest.mark.parametrize("wide", WIDE)
def test_a_removal_without_any_time_removes_something_and_in_the_end_all(tmp_path: Path, wide: str) -> None:
    """However long it takes to list a directory: nothing is listed before anything is removed."""
    top = tmp_path / "top"
    top.mkdir()
    fill(top, WIDE[wide])

    sweeps = 0
    while not remove_tree(str(top), 0.0):
        sweeps += 1
        assert sweeps < 2000

    assert not top.exists()
    assert sweeps > 50


def test_many_files_that_a_dead_host_left_are_gone_after_some_sweeps(
    loopx: Loopx, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = loopx.runtime / "loopx-0123456789abcdef"
    left.mkdir(mode=0o700)
    for number in range(200):
        (left / f"{number}").touch()
    monkeypatch.setattr(private_directory, "_SWEEP_SECONDS", 0.0)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(loopx.runtime))

    seen = []
    while left.exists():
        seen.append(len(os.listdir(left)))
        sweep()

    assert seen == sorted(set(seen), reverse=True)
    assert len(seen) > 50


def test_a_private_directory_lies_below_one_that_only_the_host_has(puppets: Loopx, place: Place) -> None:
    host = puppets.start_run(
        "puppet", place.request("record('leader')\nready()\nwait_for_go()\nanswer(cwd=os.getcwd())")
    )
    place.wait_until_ready()
    (name,) = puppets.private_directories()
    outer = puppets.runtime / name

    status = outer.stat()
    within = os.listdir(outer)
    place.go()
    answer = finish(host)

    assert (stat.S_IMODE(status.st_mode), status.st_uid) == (0o700, os.geteuid())
    assert answer.document["provider_result"]["cwd"] == str(outer / within[0])


@pytest.mark.req("B6")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_nobody_else_enters_a_private_directory_that_a_provider_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a namespace a provider can change modes, that of its own directory too."""
    with zoo.ground(zoo.person("root")) as ground:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(ground))
        private = PrivateDirectory.create()
        made = Path(private.path) / "made"
        made.touch()
        made.parent.chmod(0o777)

        looked = [
            subprocess.call(
                ["/bin/ls", str(path)], user=65534, group=65534, extra_groups=[], stderr=subprocess.DEVNULL
            )
            for path in (ground, made)
        ]

        assert [status == 0 for status in looked] == [True, False]
        assert private.remove()
