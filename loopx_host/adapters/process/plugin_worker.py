"""The guard and the worker of one use of a package (see `plugin_process`); both are forked and never return."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time

from loopx_host.adapters.process import descendants, kernel
from loopx_host.adapters.process.child import Child, detach, end_of
from loopx_host.adapters.process.descriptors import write_all
from loopx_host.adapters.process.interrupts import ASKING_TO_STOP
from loopx_host.adapters.process.plugin_answers import LOADED, failure, packed, packed_refusal, packed_report
from loopx_host.core.errors import Refused
from loopx_host.hookspecs.culprit import described

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from pluggy import PluginManager

_SETTLING_SECONDS = 2.0  # for what ends by itself: a nested run's supervisor, a pool's helper


class Work:
    """What a worker does: load, then use what was loaded. `lets_refuse`: its own Refused is an answer."""

    def __init__(
        self,
        load: Callable[[], PluginManager],
        use: Callable[[PluginManager], object],
        *,
        hook: str,
        lets_refuse: bool = False,
    ) -> None:
        self.load = load
        self.use = use
        self.hook = hook
        self.lets_refuse = lets_refuse


def guard(work: Work, host: int, stop: int, answer: int, output: int, report: int) -> None:
    """Start the worker, wait for its end or the word to stop, end everything, and say how it went."""
    detach()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    descendants.become_subreaper()
    own = os.getpid()

    def become_worker() -> None:
        _close(stop, report)
        _serve(work, own, answer, output)

    worker = Child.forked(become_worker)
    _close(answer, output)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    if not worker.await_end(None, *end_of(host, stop)):
        _kill_group(worker)
    worker.await_end(None)  # only now are its children ours
    _settle(worker.pid)
    left_running = descendants.orphans(worker.pid)
    _kill_group(worker)
    status = worker.reap()
    descendants.sweep(descendants.NOBODY)
    write_all(report, packed_report(status, left_running))
    os._exit(0)


def _settle(worker: int) -> None:
    """Give what the worker left behind a moment to end by itself; a nested run's supervisor cleans up meanwhile."""
    deadline = time.monotonic() + _SETTLING_SECONDS
    while descendants.orphans(worker) and (remaining := deadline - time.monotonic()) > 0:
        signal.sigtimedwait([signal.SIGCHLD], remaining)


def _kill_group(worker: Child) -> None:
    worker.signal_group(signal.SIGKILL)
    worker.kill()  # it may not have come to lead a group yet


def _serve(work: Work, parent: int, answer: int, output: int) -> None:
    """Be the worker: load, call, answer; leaves without running anything that anybody registered."""
    _isolate(parent, output)
    own = os.getpid()

    def say(line: bytes) -> None:
        if os.getpid() != own:  # the package forked, and its copy came back to us
            os._exit(1)
        write_all(answer, line)

    line = b""
    code = "plugin_load_failed"
    try:
        manager = work.load()
        say(LOADED)
        code = "plugin_hook_failed"
        made = work.use(manager)
        threads = _threads_left()
        line = failure(code, f"left {threads} threads running") if threads else packed(made)
    except Refused as refused:
        if code == "plugin_load_failed" or work.lets_refuse:
            line = packed_refusal(refused)
        else:
            line = failure(code, f"raised {described(refused)} in `{work.hook}`")
    except BaseException as error:  # noqa: BLE001 (whatever a package raises)
        line = failure(code, f"raised {described(error)} in `{work.hook}`")
    _flush()
    say(line)
    os._exit(0)


def _isolate(parent: int, output: int) -> None:
    """Leave the host's terminal, streams and signals."""
    os.setsid()
    try:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    except (ImportError, OSError, AttributeError):
        pass
    if os.getppid() != parent:
        os._exit(1)
    for number in (*ASKING_TO_STOP, signal.SIGTSTP):
        signal.signal(number, signal.SIG_DFL)
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    null = os.open(os.devnull, os.O_RDONLY)
    for descriptor, stream in ((null, 0), (output, 1), (output, 2)):
        os.dup2(descriptor, stream)
    _close(null, output)
    # What the host had not flushed yet stays with the host.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115


def _threads_left() -> int:
    """Count the threads that would keep a program from ending."""
    import threading

    return sum(1 for one in threading.enumerate() if one is not threading.main_thread() and not one.daemon)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # noqa: BLE001, S110 (a package may have put anything there)
            pass


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
