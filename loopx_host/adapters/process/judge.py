"""Judge by a third party's schema in a forked child with a deadline and a bound on memory.

A schema can be written so that compiling it or judging by it takes longer than the universe will last, or all the
memory there is, and no signal reaches the library while it is at work. A child can be killed; a fork without exec
costs well under a millisecond.
"""

from __future__ import annotations

import json
import os
import resource
import signal

from loopx_host.core.errors import refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from loopx_host.adapters.process.interrupts import Interrupts
    from loopx_host.lifecycle.dispatch.ports import Verdict
    from loopx_host.registry.schemas import Bundle

DEADLINE_SECONDS = 5.0
MEMORY_BYTES = 512 * 1024 * 1024  # beyond what the process has when it forks
ANSWER_BYTES = 1 << 20


class ForkedJudge:
    """The judging port (see `extensions.ports`), and the check of a schema before it is trusted."""

    def __init__(self, interrupts: Interrupts | None = None, deadline_seconds: float = DEADLINE_SECONDS) -> None:
        self._interrupts = interrupts
        self._deadline_seconds = deadline_seconds

    def violations(self, bundle: Bundle, instance: object) -> Verdict:
        """Return the rows of what `instance` breaks; None when that could not be found out within the bounds."""
        from loopx_host.registry import schemas

        rows = self._in_child(lambda: schemas.violations(schemas.validator(bundle), instance))
        return rows if isinstance(rows, list) else None

    def check(self, bundle: Bundle) -> None:
        """Refuse a schema that could not be applied (see `schemas.check`). Raises SchemaError."""
        import jsonschema.validators  # noqa: F401 (once here, not again in every child)

        from loopx_host.registry import schemas

        def checked() -> object:
            try:
                schemas.check(bundle)
            except schemas.SchemaError as error:
                return {"code": error.code, "message": str(error)}
            return []

        fault = self._in_child(checked)
        if fault == []:
            return
        if isinstance(fault, dict):
            raise schemas.SchemaError(str(fault["code"]), str(fault["message"]))
        raise schemas.SchemaError("schema_invalid", f"{bundle.path} costs more time or memory than a schema may")

    def _in_child(self, work: Callable[[], object]) -> object:
        """Return what `work` returned in a child, as JSON carries it; None when it did not within the bounds."""
        # Loaded where there is something to judge, and before the fork: the child must wait for no import lock.
        import jsonschema_rs  # noqa: F401

        from loopx_host.adapters.process.child import Child

        try:
            child = Child.forked(lambda answer: _answer(answer, work), writes=1)
        except OSError as error:
            summary = f"no process could be started to judge by a schema: {error.strerror}"
            raise refusal("no_processes", "schema", summary) from None
        try:
            return parsed(self._heard(child.pipes.ours[0]))
        finally:
            child.end()

    def _heard(self, answer: int) -> bytes:
        """Return what the child wrote before it closed its end, or nothing at the deadline."""
        from loopx_host.adapters.process.descriptors import read_all

        if self._interrupts is None:
            return read_all(answer, seconds=self._deadline_seconds, at_most=ANSWER_BYTES) or b""
        with self._interrupts.waiting():
            return read_all(answer, seconds=self._deadline_seconds, at_most=ANSWER_BYTES) or b""


def _answer(answer: int, work: Callable[[], object]) -> None:
    """Do the work and say what came of it, in the child."""
    from loopx_host.adapters.process.descriptors import write_all

    for number in (signal.SIGINT, signal.SIGQUIT):  # a terminal sends these to both; the parent decides
        signal.signal(number, signal.SIG_IGN)
    bound_memory()
    write_all(answer, json.dumps(work()).encode("ascii"))


def bound_memory() -> None:
    """Allow this child a bounded amount of address space more than it was forked with; no core file."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        with open("/proc/self/statm", "rb") as file:
            present = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    bound = present + MEMORY_BYTES
    if hard == resource.RLIM_INFINITY or bound < hard:
        resource.setrlimit(resource.RLIMIT_AS, (bound, hard))


def parsed(data: bytes) -> object:
    """Return an answer that was written as JSON; None for what is no answer."""
    try:
        return json.loads(data)
    except ValueError:
        return None
