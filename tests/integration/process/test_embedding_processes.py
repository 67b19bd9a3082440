"""A program that embeds the host keeps what is its own: children, handlers, threads, descriptors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli import Loopx, Place, await_end
from tests.support.embedding import embed
from tests.support.providers import CANARY
from tests.support.puppets import install_puppets


@pytest.fixture(scope="module")
def puppets(tmp_path_factory: pytest.TempPathFactory) -> Loopx:
    return install_puppets(tmp_path_factory.mktemp("puppets"))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path / "place")
    yield made
    made.close()


def test_an_embedding_program_never_becomes_a_subreaper(puppets: Loopx, place: Place) -> None:
    """Its helper process is one: what a run leaves is ended, and proved to be (extension-formats, *Embedding*)."""
    told = embed(
        puppets,
        place,
        """
        receipt = host.run("puppet", request("answer()"))
        tell(subreaper=is_subreaper(), containment=receipt["containment"])
        """,
    )

    assert told["subreaper"] == 0
    assert told["containment"]["subreaper"] is True
    assert (told["containment"]["survivors"], told["containment"]["proof"]) == (0, "no_child_left")


def test_the_command_line_says_that_it_is_a_subreaper(puppets: Loopx, place: Place) -> None:
    assert puppets.run("puppet", place.request("answer()")).document["containment"]["subreaper"] is True


def test_children_of_the_program_are_left_to_it(puppets: Loopx, place: Place) -> None:
    """One that has ended and one that is alive: both can still be waited for by their maker."""
    told = embed(
        puppets,
        place,
        """
        ended = os.posix_spawn("/bin/sh", ["sh", "-c", "exit 5"], os.environ)
        os.waitid(os.P_PID, ended, os.WEXITED | os.WNOWAIT)
        told, tell_it = os.pipe()
        living = os.posix_spawn("/bin/sh", ["sh", "-c", "read line; exit 6"], os.environ,
                                file_actions=[(os.POSIX_SPAWN_DUP2, told, 0)])
        runs = [host.run("puppet", request(code))["failure_kind"] for code in ("answer()", "sys.exit(1)")]
        os.write(tell_it, b"go\\n")
        tell(runs=runs, codes=[os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in (ended, living)])
        """,
    )

    assert told == {"runs": [None, "exit_nonzero"], "codes": [5, 6]}


def test_the_signal_handlers_of_the_program_stay_its_own(puppets: Loopx, place: Place) -> None:
    told = embed(
        puppets,
        place,
        """
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)
        before = [signal.getsignal(number) for number in numbers]
        host.run("puppet", request("answer()"))
        tell(same=before == [signal.getsignal(number) for number in numbers], fd=signal.set_wakeup_fd(-1))
        """,
    )

    assert told == {"same": True, "fd": -1}


def test_a_run_in_another_thread_works(puppets: Loopx, place: Place) -> None:
    told = embed(
        puppets,
        place,
        """
        got = []
        thread = threading.Thread(target=lambda: got.append(host.run("puppet", request("answer(n=1)"))))
        thread.start(); thread.join()
        tell(**got[0])
        """,
    )

    assert told["provider_result"] == {"ok": True, "n": 1}


def test_two_threads_run_at_once_on_one_host(puppets: Loopx, place: Place) -> None:
    """Each provider waits for the other, so neither could end if they ran one after another."""
    told = embed(
        puppets,
        place,
        """
        meet = chr(10).join((
            "mine, other = request['names']",
            "open(os.path.join(place, mine), 'w').close()",
            "while not os.path.exists(os.path.join(place, other)): os.sched_yield()",
            "answer(me=mine)",
        ))
        got = {}
        def go(*names):
            got[names[0]] = host.run("puppet", {**request(meet), "names": names})["provider_result"]["me"]
        threads = [threading.Thread(target=go, args=names) for names in (("a", "b"), ("b", "a"))]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        tell(**got)
        """,
    )

    assert told == {"a": "a", "b": "b"}


def test_the_group_of_a_provider_is_ended_for_an_embedding_program_too(puppets: Loopx, place: Place) -> None:
    told = embed(puppets, place, "tell(**host.run('puppet', request(\"descend('ignores_signals')\\nanswer()\")))")

    assert told["status"] == "succeeded"
    assert place.recorded() == ["ignores_signals"]
    assert await_end(place) == []


@pytest.mark.req("B3")
def test_a_daemon_is_ended_for_an_embedding_program_too(puppets: Loopx, place: Place) -> None:
    told = embed(puppets, place, "tell(**host.run('puppet', request(\"descend('stubborn_daemon')\\nanswer()\")))")

    assert (told["status"], told["containment"]["survivors"]) == ("succeeded", 0)
    assert (place.recorded(), await_end(place)) == (["stubborn_daemon"], [])


@pytest.mark.req("B3")
@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), signal.SIGKILL)"], ids=["exit", "SIGKILL"])
def test_the_end_of_an_embedding_program_is_the_end_of_its_run(puppets: Loopx, place: Place, end: str) -> None:
    """In the middle of a run in another thread; nothing of the program is asked to clean up."""
    code = "record('leader')\ndescend('stubborn_daemon')\nready()\nstay()"
    program = f"""
    threading.Thread(target=lambda: host.run("puppet", request({code!r}))).start()
    open(os.path.join(place, "ready"), "rb", 0).read(1)
    tell(done=True)
    sys.stdout.flush()
    {end}
    """

    embed(puppets, place, program, returncode=None)

    assert place.recorded() == ["leader", "stubborn_daemon"]
    assert await_end(place) == []


def test_a_program_that_forks_gets_a_helper_of_its_own_in_the_child(puppets: Loopx, place: Place) -> None:
    told = embed(
        puppets,
        place,
        """
        host.run("puppet", request("answer()"))
        reading, writing = os.pipe()
        if os.fork() == 0:
            os.write(writing, host.run("puppet", request("answer()"))["status"].encode())
            os._exit(0)
        tell(child=os.read(reading, 100).decode(), parent=host.run("puppet", request("answer()"))["status"])
        """,
    )

    assert told == {"child": "succeeded", "parent": "succeeded"}


def test_a_killed_helper_is_replaced_at_the_next_run(puppets: Loopx, place: Place) -> None:
    told = embed(
        puppets,
        place,
        """
        first = host.run("puppet", request("answer(helper=host())"))
        helper = os.pidfd_open(first["provider_result"]["helper"])
        signal.pidfd_send_signal(helper, signal.SIGKILL)
        assert select.select([helper], [], [], 30)[0]
        tell(status=host.run("puppet", request("answer()"))["status"])
        """,
    )

    assert told == {"status": "succeeded"}


def test_the_helper_is_gone_when_the_host_is_closed(puppets: Loopx, place: Place) -> None:
    told = embed(
        puppets,
        place,
        """
        helper = os.pidfd_open(host.run("puppet", request("answer(helper=host())"))["provider_result"]["helper"])
        host.close()
        ended = select.select([helper], [], [], 0)[0]
        tell(gone=ended == [helper], again=host.run("puppet", request("answer()"))["status"])
        """,
    )

    assert told == {"gone": True, "again": "succeeded"}


def test_a_program_that_lets_the_kernel_take_exit_statuses_gets_those_of_its_runs(
    puppets: Loopx, place: Place
) -> None:
    """It ignores SIGCHLD; the helper does not."""
    told = embed(
        puppets,
        place,
        """
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        tell(**host.run("brief", request("sys.exit(7)")))
        """,
    )

    assert (told["ok"], told["failure_kind"], told["exit_code"]) == (False, "exit_nonzero", 7)


def test_runs_do_not_leak_descriptors(puppets: Loopx, place: Place) -> None:
    told = embed(
        puppets,
        place,
        """
        def used(): return sorted(os.listdir("/proc/self/fd"))
        host.run("puppet", request("answer()"))
        before = used()
        for code in ("answer()", "sys.exit(1)", "os.close(0)", "os.write(1, b'x' * 1000001)"):
            host.run("puppet", request(code))
        host.run("puppet", request("stay()"), timeout=0.05)
        tell(same=used() == before)
        """,
    )

    assert told == {"same": True}


@pytest.mark.parametrize("call", ["killpg", "killpg = os.pidfd_open"], ids=["pidfd", "polling"])
def test_a_provider_that_cannot_be_killed_is_given_up_and_told(puppets: Loopx, place: Place, call: str) -> None:
    """It became another user, as a set-user-id program may; nobody may signal it then."""
    program = puppets.root / "extensions" / "puppet" / "provider"
    told = embed(
        puppets,
        place,
        f"""
        import loopx_host.adapters.process.supervised_run as supervised_run
        from loopx_host.adapters.process.confinement import Level
        from loopx_host.adapters.process.run_spec import RunSpec
        from loopx_host.lifecycle.extensions.process import Grants, Limits
        def forbidden(*_):
            raise PermissionError
        os.{call} = forbidden
        supervised_run._KILL_SECONDS = 0.1
        given = json.dumps(request("record('leader')\\nready()\\nwait_for_go()")).encode()
        level = Level("limits")
        spec = RunSpec([{str(program)!r}], {{}}, Limits(0.5), Grants(), level, stdin=given)
        ended = supervised_run.attend(spec, (), subreaper=False)
        tell(reason=ended.stopped_by, code=ended.exit_code, signal=ended.signal, containment=ended.containment)
        """,
    )

    place.go()
    assert (told["reason"], told["code"], told["signal"]) == ("timeout", None, None)
    assert (told["containment"]["survivors"], told["containment"]["proof"]) == (1, "not_proved")
    assert await_end(place) == []


@pytest.mark.req("X6")
def test_a_program_meets_the_refusals_of_the_command_line(tmp_path: Path, place: Place) -> None:
    loopx, canary = Loopx(tmp_path / "loopx"), tmp_path / "canary"
    loopx.make_extension("canary", CANARY.format(canary=canary), manifest='permissions = ["notes.read"]')

    told = embed(
        loopx,
        place,
        """
        try:
            host.run("canary", {})
        except Refused as refused:
            tell(code=refused.code)
        """,
    )

    assert told == {"code": "permissions_declared"}
    assert not canary.exists()
