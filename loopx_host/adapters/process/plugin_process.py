"""Packages inside the host, which is: in a forked child that a guard ends, with everything it started.

Three processes. The command line asks and waits. The guard, its child, is nothing but a parent: the subreaper of
all that the package starts, it watches for the end of the work, of the host, or for the host's word to stop, and
then ends what is left. The worker, the guard's child, loads and calls the package and writes one answer.
"""

from __future__ import annotations

import os
import time

from loopx_host.adapters.process import descendants
from loopx_host.adapters.process.child import Child
from loopx_host.adapters.process.descriptors import CHUNK_BYTES, ready
from loopx_host.adapters.process.plugin_answers import LOADED, WorkerReply
from loopx_host.adapters.process.plugin_worker import Work, guard
from loopx_host.core.limits import PLUGIN_ANSWER_BYTES, PLUGIN_HOOK_SECONDS, PLUGIN_LOAD_SECONDS, PLUGIN_OUTPUT_BYTES
from loopx_host.core.text import stderr_tail
from loopx_host.hookspecs.culprit import Culprit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from pluggy import PluginManager

    from loopx_host.adapters.process.interrupts import Interrupts
    from loopx_host.lifecycle.extensions.activation import Activation

    Loading = Callable[[Activation, str | None], PluginManager]

PLUGINS, COMMANDS = "loopx.plugins", "loopx.commands"
RUN_COMMAND = "loopx_run_command"
_END_SECONDS = 12.0  # for the guard to end everything and to say so
_PARTING_SECONDS = 1.0  # between an answer, or a closed pipe, and the end of the worker


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

    def call(self, activation: Activation, hook: str, arguments: dict[str, object]) -> list[Any]:
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

    def command(self, activation: Activation, name: str, arguments: list[str], host: object) -> dict[str, object]:
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
                use = _GuardedUse(work)
            except OSError as error:
                reason = f"could not be loaded: no process for it ({error.strerror or error})"
                raise culprit.refusal("plugin_load_failed", reason) from error
            try:
                use.hear(self._interrupts.descriptor, self._load_seconds, seconds)
            finally:
                use.finish()
        return use.reply().answer(culprit, work.hook, stderr_tail(bytes(use.output)))


class _GuardedUse:
    """The host's side of one guard and its worker."""

    def __init__(self, work: Work) -> None:
        """Fork the guard. Raises OSError."""
        self._before = descendants.snapshot() if descendants.become_subreaper() else descendants.NOBODY
        host = os.getpid()
        self._guard = Child.forked(lambda *theirs: guard(work, host, *theirs), reads=1, writes=3)
        self._stopping, self._answering, self._printing, self._reporting = self._guard.pipes.ours
        self.output = bytearray()
        self._kept = {self._answering: bytearray(), self._printing: self.output, self._reporting: bytearray()}
        self._stopped_for: str | None = None
        self._use_seconds: float | None = None
        self._deadline: float | None = None
        self._otherwise = ""
        self._is_loading, self._is_answered = True, False

    def hear(self, interrupts: int, load_seconds: float, use_seconds: float | None) -> None:
        """Take in all that guard and worker say until the guard has reported or is overdue."""
        self._use_seconds = use_seconds
        self._expect("slow", load_seconds)
        listening = {*self._kept, interrupts}
        while not self._is_overdue():
            for descriptor in ready(listening, self._patience()):
                if descriptor == interrupts:
                    listening.discard(interrupts)
                    self._stop("interrupted")
                elif not self._take(descriptor):
                    listening.discard(descriptor)
                    if descriptor == self._reporting:
                        return
                    if descriptor == self._answering:
                        self._expect("closed", _PARTING_SECONDS)
            self._advance()

    def finish(self) -> None:
        """Stop what is not over, take the guard's status, and clean up after a guard that was killed."""
        self._stop("given up")
        is_reported = bool(self._kept[self._reporting])
        if not is_reported:
            self._guard.kill()
        self._guard.reap()
        if not is_reported:
            descendants.sweep(self._before)
        for descriptor in self._kept:
            os.set_blocking(descriptor, False)
            while self._take(descriptor):
                pass
        self._guard.close()

    def reply(self) -> WorkerReply:
        """Return what was heard, as far as it goes."""
        return WorkerReply(bytes(self._kept[self._answering]), bytes(self._kept[self._reporting]), self._stopped_for)

    def _take(self, descriptor: int) -> bool:
        """Read what is there; False at the end. Of what is printed the end is kept, of an answer the beginning."""
        try:
            chunk = os.read(descriptor, CHUNK_BYTES)
        except BlockingIOError:
            return False
        kept = self._kept[descriptor]
        if descriptor == self._printing or len(kept) <= PLUGIN_ANSWER_BYTES + CHUNK_BYTES:
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
        if self._stopped_for is None:
            self._otherwise = otherwise
            self._deadline = None if seconds is None else time.monotonic() + seconds

    def _patience(self) -> float | None:
        return None if self._deadline is None else self._deadline - time.monotonic()

    def _is_overdue(self) -> bool:
        """Stop what takes too long; whether even its end takes too long."""
        if self._deadline is None or time.monotonic() < self._deadline:
            return False
        if self._stopped_for is not None:
            return True
        self._stop(self._otherwise)
        return False

    def _stop(self, reason: str) -> None:
        """Let the guard end everything, within a time."""
        if self._stopped_for is None:
            self._expect(reason, _END_SECONDS)
            self._guard.pipes.close_ours(self._stopping)
            self._stopped_for = reason
