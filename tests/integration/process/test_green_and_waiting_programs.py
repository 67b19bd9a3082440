"""Programs with green threads or an event loop, and those that fork workers, embed the host and go on as ever."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli import Loopx, Place
from tests.support.embedding import embed
from tests.support.levels import NOBODY_ASKS
from tests.support.puppets import install_puppets

pytestmark = NOBODY_ASKS

RUNS = 6
# Whatever the program is made of: the answers, its own children and descriptors, and what is left of the runs.
COUNTED = """
def counted():
    return dict(
        descriptors=len(os.listdir("/proc/self/fd")),
        children=open(f"/proc/self/task/{os.getpid()}/children").read().split(),
        ignored=[number for number in (signal.SIGINT, signal.SIGCHLD) if signal.getsignal(number) == signal.SIG_IGN],
    )

def answered(receipts):
    told = [(one["status"], one["provider_result"]["asked"]["n"]) for one in receipts]
    return [(*fields, one["containment"]["survivors"]) for fields, one in zip(told, receipts)]
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path / "place")
    yield made
    made.close()


@pytest.fixture(scope="module")
def puppets(tmp_path_factory: pytest.TempPathFactory) -> Loopx:
    return install_puppets(tmp_path_factory.mktemp("puppets"))


GREEN = """
from gevent import monkey
monkey.patch_all()
import gevent
"""


def counting(program: str) -> str:
    return COUNTED + textwrap.dedent(program)


@pytest.mark.req("X14")
def test_green_threads_run_side_by_side(puppets: Loopx, place: Place) -> None:
    told = embed(
        puppets,
        place,
        counting(f"""
        import gevent
        gevent.spawn(host.run, "echo", {{"n": 0}}).get()
        before = counted()
        jobs = [gevent.spawn(host.run, "echo", {{"n": number}}) for number in range({RUNS})]
        gevent.joinall(jobs, raise_error=True)
        tell(answers=answered([job.value for job in jobs]), same=counted() == before)
        host.close()
        """),
        before=GREEN,
    )

    assert told == {"answers": [["succeeded", number, 0] for number in range(RUNS)], "same": True}


@pytest.mark.req("X14")
def test_an_event_loop_goes_on_while_its_threads_wait_for_runs(puppets: Loopx, place: Place) -> None:
    told = embed(
        puppets,
        place,
        counting(f"""
        import asyncio

        async def main():
            await asyncio.to_thread(host.run, "echo", {{"n": 0}})
            before = counted()
            jobs = [asyncio.to_thread(host.run, "echo", {{"n": number}}) for number in range({RUNS})]
            child = await asyncio.create_subprocess_exec("/bin/sh", "-c", "exit 7")
            receipts, status = await asyncio.gather(asyncio.gather(*jobs), child.wait())
            return answered(receipts), status, counted()["children"] == before["children"]

        answers, status, same = asyncio.run(main())
        tell(answers=answers, status=status, same=same)
        host.close()
        """),
    )

    assert told == {
        "answers": [["succeeded", number, 0] for number in range(RUNS)],
        "status": 7,
        "same": True,
    }


@pytest.mark.req("X14")
@pytest.mark.parametrize("ran_before", [False, True], ids=["opened", "with a helper"])
def test_workers_that_a_program_forks_run_with_the_host_they_inherit(
    puppets: Loopx, place: Place, ran_before: bool
) -> None:
    told = embed(
        puppets,
        place,
        counting(f"""
        if {ran_before}:
            host.run("echo", {{"n": 0}})
        pipes = []
        for number in range({RUNS}):
            reading, writing = os.pipe()
            if os.fork() == 0:
                receipt = host.run("echo", {{"n": number}})
                os.write(writing, json.dumps(answered([receipt])).encode())
                host.close()
                os._exit(0)
            os.close(writing)
            pipes.append(reading)
        answers = [json.loads(os.read(one, 65536))[0] for one in pipes]
        statuses = sorted(os.wait()[1] for _ in pipes)
        own = answered([host.run("echo", {{"n": 9}})])
        tell(answers=answers, statuses=statuses, own=own, left=counted()["children"])
        host.close()
        """),
    )

    assert told == {
        "answers": [["succeeded", number, 0] for number in range(RUNS)],
        "statuses": [0] * RUNS,
        "own": [["succeeded", 9, 0]],
        "left": [],
    }
