"""Nothing goes on and nothing lies about when a run or probe has ended, however it ended (contract section 6)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopx_host.adapters.process import memory_group
from tests.support.cli import Answer, Loopx, Place, await_end, finish, start_time
from tests.support.providers import PUPPET, PYTHON
from tests.support.puppets import BOUNDED, install_puppets

KINDS = (
    "holds_pipes",
    "session",
    "daemon",
    "ignores_signals",
    "stopped",
    "own_group",
    "stubborn_daemon",
)
SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


@pytest.fixture(scope="module")
def puppets(tmp_path_factory: pytest.TempPathFactory) -> Loopx:
    return install_puppets(tmp_path_factory.mktemp("puppets"))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path / "place")
    yield made
    made.close()


def ended_receipt(answer: Answer, place: Place, kinds: list[str]) -> dict[str, object]:
    """Return the containment of an executed run after checking that every recorded process is gone."""
    containment = answer.document["containment"]
    assert sorted(place.recorded()) == sorted(kinds), answer
    assert place.alive() == []
    assert isinstance(containment, dict)
    return containment


@pytest.mark.req("X5")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", BOUNDED)
def test_every_end_of_a_run_ends_a_descendant(puppets: Loopx, place: Place, way: str, kind: str) -> None:
    """run_timeout, run_timeout_setsid, run_stdout_limit, run_stderr_limit (cases 81, 82, 83, 84)."""
    code, status, failure_kind = BOUNDED[way]
    extension = "brief" if way == "timeout" else "puppet"

    answer = puppets.run(extension, place.request(f"descend({kind!r})\n{code}"))

    assert ended_receipt(answer, place, [kind])["survivors"] == 0
    assert (answer.status, answer.document["failure_kind"]) == (status, failure_kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_to_the_host_ends_a_descendant(puppets: Loopx, place: Place, number: int, kind: str) -> None:
    """run_host_signalled (case 86)."""
    host = puppets.start_run("puppet", place.request(f"record('leader')\ndescend({kind!r})\nready()\nstay()"))
    place.wait_until_ready()

    host.send_signal(number)
    answer = finish(host)

    assert (answer.status, answer.code) == (SIGNALS[signal.Signals(number)], "interrupted")
    assert sorted(place.recorded()) == sorted(["leader", kind])
    assert place.alive() == []


def test_a_leader_that_ignores_term_is_killed_with_its_descendants(puppets: Loopx, place: Place) -> None:
    """run_timeout (case 83): the receipt has no exit code."""
    code = "become('ignores_signals')\nrecord('leader')\ndescend('ignores_signals')\nstay()"

    answer = puppets.run("brief", place.request(code))

    assert ended_receipt(answer, place, ["leader", "ignores_signals"])["survivors"] == 0
    assert answer.document["failure_kind"] == "timeout"
    assert answer.document["exit_code"] is None
    assert answer.document["signal"] == "SIGKILL"


def test_a_stopped_leader_is_ended_by_the_timeout(puppets: Loopx, place: Place) -> None:
    answer = puppets.run("brief", place.request("record('leader')\nos.kill(os.getpid(), signal.SIGSTOP)"))

    ended_receipt(answer, place, ["leader"])
    assert answer.document["failure_kind"] == "timeout"


def test_a_stopped_leader_is_ended_by_a_signal_to_the_host(puppets: Loopx, place: Place) -> None:
    host = puppets.start_run("puppet", place.request("record('leader')\nready()\nos.kill(os.getpid(), 19)"))
    place.wait_until_ready()

    host.terminate()
    answer = finish(host)

    assert (answer.status, place.alive()) == (143, [])


def test_orphans_gathered_by_a_provider_that_is_itself_a_subreaper_are_ended(puppets: Loopx, place: Place) -> None:
    code = """
import ctypes
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
descend("daemon"); descend("stubborn_daemon"); descend("daemon")
answer()
"""

    answer = puppets.run("puppet", place.request(code))

    kinds = ["daemon", "daemon", "stubborn_daemon"]
    assert ended_receipt(answer, place, kinds)["survivors"] == 0


def test_a_chain_of_daemons_is_ended_to_its_last_link(puppets: Loopx, place: Place) -> None:
    code = """
def link(depth):
    if depth:
        descend("stubborn_daemon", lambda: link(depth - 1))
    else:
        ready()
    stay()
descend("stubborn_daemon", lambda: link(24))
with open(os.path.join(place, "ready"), "rb") as signpost:
    signpost.read(1)
answer()
"""

    answer = puppets.run("puppet", place.request(code))

    assert ended_receipt(answer, place, ["stubborn_daemon"] * 25)["survivors"] == 0


def test_a_bounded_fork_storm_is_ended(puppets: Loopx, place: Place) -> None:
    """Forty processes that each replace themselves by a child as fast as they can, up to a bound."""
    code = """
def storm():
    for _ in range(5000):
        if os.fork():
            os._exit(0)
        os.setsid()
    stay()
for _ in range(40):
    if os.fork() == 0:
        storm()
answer()
"""
    answer = puppets.run("puppet", place.request(code), env={"LC_STORM": str(place.path)})

    assert answer.document["containment"]["survivors"] == 0
    assert answer.document["status"] == "succeeded"
    assert with_environment(b"LC_STORM=" + os.fsencode(place.path)) == []


def test_a_child_that_floods_standard_output_after_the_leader_left_is_ended(puppets: Loopx, place: Place) -> None:
    code = """
def flood():
    while True:
        os.write(1, b"x" * 65536)
descend("stubborn_daemon", flood)
"""

    answer = puppets.run("puppet", place.request(code))

    assert ended_receipt(answer, place, ["stubborn_daemon"])["survivors"] == 0
    assert answer.status == 1


def test_a_provider_that_closes_every_descriptor_is_still_awaited_and_ended(puppets: Loopx, place: Place) -> None:
    code = """
for descriptor in range(1024):
    try: os.close(descriptor)
    except OSError: pass
descend("daemon")
record("leader")
stay()
"""

    answer = puppets.run("brief", place.request(code))

    ended_receipt(answer, place, ["daemon", "leader"])
    assert answer.document["failure_kind"] == "timeout"


@pytest.mark.parametrize("kind", KINDS)
def test_a_doctor_leaves_no_descendant(loopx: Loopx, place: Place, kind: str) -> None:
    """doctor_no_descendants (case 62): the doctor forks and succeeds."""
    provider = doctor_that(place, f"descend({kind!r})")

    answer = loopx.install(loopx.write_extension("forks", provider))

    assert ended_receipt_of_doctor(answer.document["doctor"]) == 0
    assert (answer.status, place.recorded(), place.alive()) == (0, [kind], [])


def test_a_doctor_that_hangs_is_ended_with_its_descendants(loopx: Loopx, place: Place) -> None:
    """doctor_no_descendants (case 62): the doctor hangs, inside install."""
    provider = doctor_that(place, "descend('stubborn_daemon')\nbecome('ignores_signals')\nstay()")
    manifest = loopx.write_extension("hangs", provider, doctor_timeout_seconds=1)

    answer = loopx.install(manifest)

    assert answer.code == "doctor_failed"
    assert answer.document["doctor"]["failure_kind"] == "timeout"
    assert ended_receipt_of_doctor(answer.document["doctor"]) == 0
    assert (place.recorded(), place.alive()) == (["stubborn_daemon"], [])
    assert not loopx.state_file.exists()


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_during_a_doctor_ends_it_and_writes_nothing(loopx: Loopx, place: Place, number: int) -> None:
    provider = doctor_that(place, "descend('stubborn_daemon')\nready()\nstay()")
    manifest = loopx.write_extension("hangs", provider)
    host = loopx.start("extension", "install", "--manifest", str(manifest), "--execute")
    place.wait_until_ready()

    host.send_signal(number)
    answer = finish(host)

    assert (answer.status, answer.code) == (SIGNALS[signal.Signals(number)], "interrupted")
    assert place.alive() == []
    assert not loopx.state_file.exists()


@pytest.mark.parametrize(
    "job",
    [
        "sleep 300 & echo $! >{jobs}",
        "(setsid sleep 300 & echo $! >{jobs})",
        "(sh -c 'sleep 300 & echo $! >{jobs}; wait' &)",
    ],
    ids=["child", "orphan in its own session", "grandchild"],
)
@pytest.mark.parametrize("way", ["success", "timeout", "SIGTERM"])
def test_a_background_job_of_the_caller_is_left_alone(
    puppets: Loopx, place: Place, tmp_path: Path, job: str, way: str
) -> None:
    """It came along through `exec` (extension-formats, *Process sweep*)."""
    jobs, request = tmp_path / "jobs", tmp_path / "request.json"
    code = {"success": "answer()", "timeout": "stay()", "SIGTERM": "os.kill(host(), 15)\nstay()"}[way]
    request.write_text(json.dumps(place.request(f"descend('stubborn_daemon')\n{code}")), encoding="utf-8")
    command = puppets.command("extension", "run", "brief", "--input-json", str(request), "--execute")
    waiting = f"while ! test -s {jobs}; do :; done"
    script = f'{job.format(jobs=jobs)}\n{waiting}\nexec "$@"'

    done = subprocess.run(
        ["sh", "-c", script, "sh", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        env=puppets.env,
        check=False,
    )

    pid = int(jobs.read_text(encoding="ascii"))
    was_there = start_time(pid) is not None
    if was_there:
        os.kill(pid, signal.SIGKILL)
    assert was_there
    assert done.returncode == {"success": 0, "timeout": 1, "SIGTERM": 143}[way]
    assert (place.recorded(), place.alive()) == (["stubborn_daemon"], [])


@pytest.mark.req("B3")
@pytest.mark.parametrize("kind", ["session", "daemon", "stubborn_daemon", "stopped", "holds_pipes"])
def test_the_end_of_a_killed_host_is_the_end_of_its_provider(puppets: Loopx, place: Place, kind: str) -> None:
    """Even SIGKILL of the host (contract section 6)."""
    said = puppets.run("puppet", place.request("answer()")).document["containment"]
    host = puppets.start_run("puppet", place.request(f"record('leader')\ndescend('{kind}')\nready()\nstay()"))
    place.wait_until_ready()

    host.kill()
    finish(host)

    assert place.recorded() == ["leader", kind]
    assert await_end(place) == []
    assert said["host_death"] == "supervised"


def test_the_end_of_a_killed_supervisor_is_the_end_of_its_provider(puppets: Loopx, place: Place) -> None:
    """The kernel ends the provider, and the command line, a subreaper as well, what it left."""
    code = "record('leader')\ndescend('stubborn_daemon')\nos.kill(os.getppid(), signal.SIGKILL)\nstay()"

    answer = puppets.run("puppet", place.request(code))

    assert (answer.status, answer.document["failure_kind"]) == (1, "start_failed")
    assert answer.document["containment"]["survivors"] == 0
    assert place.recorded() == ["leader", "stubborn_daemon"]
    assert await_end(place) == []


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])


def names(pid: int) -> bytes:
    """Return all that a process is called, and that people end processes by."""
    return Path(f"/proc/{pid}/comm").read_bytes() + Path(f"/proc/{pid}/cmdline").read_bytes()


def pid_of(place: Place, name: str) -> int:
    lines = (place.path / "processes").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.split()[0] == name)


@pytest.mark.req("B3")
def test_who_ends_everything_by_the_hosts_name_ends_the_run_too(puppets: Loopx, place: Place) -> None:
    """The supervisor has a name of its own, so it lives on and does its work."""
    code = "record('leader')\ndescend('stubborn_daemon')\nready()\nstay()"
    host = puppets.start_run("puppet", place.request(code))
    place.wait_until_ready()
    supervisor = parent_of(pid_of(place, "leader"))

    called = names(supervisor)
    named_so = [pid for pid in (host.pid, supervisor) if b"loopx" in names(pid)]
    for pid in named_so:
        os.kill(pid, signal.SIGKILL)
    finish(host)

    assert named_so == [host.pid], called
    assert called.rstrip(b"\0").split(b"\n") == [b"run-supervisor", b"run-supervisor"]
    assert await_end(place) == []


@pytest.mark.req("B3")
@pytest.mark.parametrize("kind", ["daemon", "stubborn_daemon", "stopped"])
def test_what_outlived_host_and_supervisor_is_ended_by_the_next_run(puppets: Loopx, place: Place, kind: str) -> None:
    host = puppets.start_run("puppet", place.request(f"record('leader')\ndescend('{kind}')\nready()\nstay()"))
    place.wait_until_ready()
    other = subprocess.Popen(
        ["sleep", "300"], env={"TMPDIR": str(puppets.runtime / "loopx-0123456789abcdef/private")}
    )
    host.send_signal(signal.SIGSTOP)  # it would clean up after its supervisor
    os.kill(parent_of(pid_of(place, "leader")), signal.SIGKILL)
    host.kill()
    finish(host)
    outlived = place.alive()

    answer = puppets.run("puppet", {"code": "answer()", "place": str(place.path)})

    is_left_alone = other.poll() is None
    other.kill()
    other.wait()
    assert kind in outlived
    assert answer.status == 0
    assert await_end(place) == []
    assert is_left_alone


@pytest.mark.req("B3")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can surely make a group")
@pytest.mark.skipif(
    not any(os.access(place, os.W_OK) for place, _ in memory_group.parents()), reason="there is no group to be had"
)
def test_what_hid_from_the_next_run_is_found_by_its_group(loopx: Loopx, place: Place) -> None:
    """It put another environment in the place of its own, and cannot leave its group."""
    loopx.make_extension("bounded", memory_limit_mb=256)
    hide = "def hide():\n    os.execve('/bin/sleep', ['sleep', '300'], {})"
    code = f"{hide}\nrecord('leader')\ndescend('daemon', hide)\nready()\nstay()"
    host = loopx.start_run("bounded", place.request(code))
    place.wait_until_ready()
    host.send_signal(signal.SIGSTOP)
    os.kill(parent_of(pid_of(place, "leader")), signal.SIGKILL)
    host.kill()
    finish(host)
    (name,) = loopx.private_directories()
    groups = [Path(parent) / name for parent, _ in memory_group.parents()]
    was_there = [group.exists() for group in groups]
    outlived = place.alive()

    loopx.run("bounded", {"code": "answer()", "place": str(place.path)})

    assert (any(was_there), "daemon" in outlived) == (True, True)
    assert await_end(place) == []
    assert not any(group.exists() for group in groups)


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path / "loopx")


def doctor_that(place: Place, code: str) -> str:
    """Return a provider whose doctor does `code` with the puppet's words."""
    given = {"code": code, "place": str(place.path)}
    head, _, rest = PUPPET.removeprefix(PYTHON).partition("request = json.loads(sys.stdin.buffer.read())\n")
    imports = head.splitlines()[0]
    return f"{PYTHON}{imports}\nrequest = {given!r}\n{rest}"


def ended_receipt_of_doctor(block: dict[str, dict[str, object]]) -> object:
    return block["containment"]["survivors"]


def with_environment(setting: bytes) -> list[int]:
    """Return the processes whose environment holds `setting`."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if setting in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found
