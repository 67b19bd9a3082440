"""Packages inside the host, which is: in a forked child that a guard ends, with everything it started.

Three processes. The command line asks and waits. The guard, its child, is nothing but a parent: the subreaper of
all that the package starts, it watches for the end of the work, of the host, or for the host's word to stop, and
then ends what is left. The worker, the guard's child, loads and calls the package and writes one answer.
"""

from __future__ import annotations

import os
import select
import signal
import time

from loopx_host.adapters.process import descendants
from loopx_host.adapters.process.plugin_answers import LOADED, Said
from loopx_host.adapters.process.plugin_worker import Work, fork, guard
from loopx_host.core.limits import PLUGIN_ANSWER_BYTES, PLUGIN_HOOK_SECONDS, PLUGIN_LOAD_SECONDS, PLUGIN_OUTPUT_BYTES
from loopx_host.core.text import stderr_tail
from loopx_host.hookspecs.culprit import Culprit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from pluggy import PluginManager

    from loopx_host.adapters.process.descendants import Snapshot
    from loopx_host.adapters.process.interrupts import Interrupts
    from loopx_host.lifecycle.extensions.activation import Activation

    Loading = Callable[[Activation, str | None], PluginManager]

PLUGINS, COMMANDS = "loopx.plugins", "loopx.commands"
RUN_COMMAND = "loopx_run_command"
_END_SECONDS = 12.0  # for the guard to end everything and to say so
_PARTING_SECONDS = 1.0  # between an answer, or a closed pipe, and the end of the worker
_CHUNK = 1 << 16


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


class ForkedPlugins:
    """The port `Plugins` (see `extensions.ports`) of a process that serves one command only.

    `load` returns the manager of an activation, or of one command of it; it is called in the child.
    """

    def __init__(
        self,
        interrupts: Interrupts,
        load: Loading,
        *,
        load_seconds: float = PLUGIN_LOAD_SECONDS,
        hook_seconds: float = PLUGIN_HOOK_SECONDS,
    ) -> None:
        self._interrupts = interrupts
        self._load = load
        self._load_seconds = load_seconds
        self._hook_seconds = hook_seconds

    def call(self, activation: Activation, hook: str, arguments: dict[str, Any]) -> list[Any]:
        """Call a hook of one package (see the port)."""
        if not activation.plugins:
            return []
        row = activation.plugins[0]
        culprit = Culprit(activation.extension_id, activation.distribution, PLUGINS, row["name"], row["value"])
        work = Work(
            lambda: self._load(activation, None), lambda manager: getattr(manager.hook, hook)(**arguments), hook=hook
        )
        answer = self._in_child(work, culprit, self._hook_seconds)
        if not isinstance(answer, list):
            raise culprit.refusal("plugin_hook_failed", f"answered `{hook}` with no list of answers", hook=hook)
        return answer

    def command(self, activation: Activation, name: str, arguments: list[str], host: object) -> dict[str, Any]:
        """Run a command of one package (see the port)."""
        value = next((row["value"] for row in activation.commands if row["name"] == name), "")
        culprit = Culprit(activation.extension_id, activation.distribution, COMMANDS, name, value)
        work = Work(
            lambda: self._load(activation, name),
            lambda manager: manager.hook.loopx_run_command(arguments=arguments, host=host),
            hook=RUN_COMMAND,
            lets_refuse=True,
        )
        answer = self._in_child(work, culprit, None)
        if not isinstance(answer, dict):
            reason = "answered its command with something other than one JSON object"
            raise culprit.refusal("plugin_hook_failed", reason, hook=RUN_COMMAND)
        return answer

    def _in_child(self, work: Work, culprit: Culprit, seconds: float | None) -> object:
        """Return what `work` answered in a child; raises Refused, or Interrupted when a signal came meanwhile."""
        with self._interrupts:
            try:
                child = _Child.forked(work)
            except OSError as error:
                reason = f"could not be loaded: no process for it ({error.strerror or error})"
                raise culprit.refusal("plugin_load_failed", reason) from error
            try:
                child.hear(self._interrupts.descriptor, self._load_seconds, seconds)
            finally:
                child.finish()
        said = child.said()
        return said.answer(culprit, work.hook, stderr_tail(bytes(child.output)))


class _Child:
    """The host's side of one guard and its worker."""

    def __init__(
        self, pid: int, before: Snapshot, stopping: int, answering: int, printing: int, reporting: int
    ) -> None:
        self.output = bytearray()
        self._pid = pid
        self._stopping: int | None = stopping
        self._kept = {answering: bytearray(), printing: self.output, reporting: bytearray()}
        self._answering, self._printing, self._reporting = answering, printing, reporting
        self._stopped_for: str | None = None
        self._before = before
        self._use_seconds: float | None = None
        self._deadline: float | None = None
        self._otherwise = ""
        self._is_loading, self._is_answered = True, False

    @classmethod
    def forked(cls, work: Work) -> _Child:
        """Fork the guard. Raises OSError."""
        before = descendants.snapshot() if descendants.become_subreaper() else descendants.NOBODY
        pipes: list[tuple[int, int]] = []
        host = os.getpid()
        try:
            while len(pipes) < 4:  # noqa: PLR2004 (stop, answer, output, report)
                pipes.append(os.pipe())
            pid = fork()
        except OSError:
            for pair in pipes:
                _close(*pair)
            raise
        (stop, stopping), (answering, answer), (printing, output), (reporting, report) = pipes
        if pid == 0:
            try:
                _close(stopping, answering, printing, reporting)
                guard(work, host, stop, answer, output, report)
            finally:
                os._exit(1)
        _close(stop, answer, output, report)
        return cls(pid, before, stopping, answering, printing, reporting)

    def hear(self, interrupts: int, load_seconds: float, use_seconds: float | None) -> None:
        """Take in all that guard and worker say until the guard has reported or is overdue."""
        self._use_seconds = use_seconds
        self._expect("slow", load_seconds)
        waiter = select.poll()
        for descriptor in (*self._kept, *((interrupts,) if interrupts >= 0 else ())):
            waiter.register(descriptor, select.POLLIN)
        while not self._is_overdue():
            for descriptor, _ in waiter.poll(self._patience()):
                if descriptor == interrupts:
                    waiter.unregister(interrupts)
                    self._stop("interrupted")
                elif not self._take(descriptor):
                    waiter.unregister(descriptor)
                    if descriptor == self._reporting:
                        return
                    if descriptor == self._answering:
                        self._expect("closed", _PARTING_SECONDS)
            self._advance()

    def finish(self) -> None:
        """Stop what is not over, take the guard's status, and clean up after a guard that was killed."""
        self._stop(self._stopped_for or "given up")
        if not self._kept[self._reporting]:
            os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        if not self._kept[self._reporting]:
            descendants.sweep(self._before)
        for descriptor in self._kept:
            os.set_blocking(descriptor, False)
            while self._take(descriptor):
                pass
            os.close(descriptor)

    def said(self) -> Said:
        """Return what was heard, as far as it goes."""
        return Said(bytes(self._kept[self._answering]), bytes(self._kept[self._reporting]), self._stopped_for)

    def _take(self, descriptor: int) -> bool:
        """Read what is there; False at the end. Of what is printed the end is kept, of an answer the beginning."""
        try:
            chunk = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return False
        kept = self._kept[descriptor]
        if descriptor == self._printing or len(kept) <= PLUGIN_ANSWER_BYTES + _CHUNK:
            kept += chunk
        if descriptor == self._printing:
            del kept[:-PLUGIN_OUTPUT_BYTES]
        return bool(chunk)

    def _advance(self) -> None:
        """Go from loading to use, and from use to the end, by what has been written so far."""
        written = self._kept[self._answering]
        if len(written) > PLUGIN_ANSWER_BYTES + len(LOADED):
            self._stop("flood")
        elif self._is_loading and written.startswith(LOADED):
            self._is_loading = False
            self._expect("slow", self._use_seconds)
        if not self._is_answered and written.endswith(b"\n") and written != LOADED:
            self._is_answered = True
            self._expect("answered", _PARTING_SECONDS)

    def _expect(self, otherwise: str, seconds: float | None) -> None:
        """Set until when something has to happen, and what the child is stopped for otherwise."""
        if self._stopping is not None:
            self._otherwise = otherwise
            self._deadline = None if seconds is None else time.monotonic() + seconds

    def _patience(self) -> int | None:
        return None if self._deadline is None else max(0, int((self._deadline - time.monotonic()) * 1000) + 1)

    def _is_overdue(self) -> bool:
        """Stop what takes too long; whether even its end takes too long."""
        if self._deadline is None or time.monotonic() < self._deadline:
            return False
        if self._stopping is None:
            return True
        self._stop(self._otherwise)
        return False

    def _stop(self, reason: str) -> None:
        """Let the guard end everything, within a time."""
        if self._stopping is not None:
            self._expect(reason, _END_SECONDS)
            os.close(self._stopping)
            self._stopping, self._stopped_for = None, reason
