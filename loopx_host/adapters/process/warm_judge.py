"""Judge by a third party's schema for a program that embeds the host: a fork of its helper process does it.

Nothing of the program is forked: its threads, green ones among them, may hold a lock that nobody gives back in the
child, and whoever takes the status of its children takes none of ours.
"""

from __future__ import annotations

import json
import signal

from loopx_host.adapters.process import local_sockets
from loopx_host.adapters.process.descriptors import read_all, write_all
from loopx_host.adapters.process.helper_process import JUDGE
from loopx_host.adapters.process.judge import ANSWER_BYTES, DEADLINE_SECONDS, ForkedJudge, bound_memory, parsed
from loopx_host.adapters.process.run_spec import is_whole, packed, unpacked
from loopx_host.core.errors import refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.adapters.process.warm import WarmSupervisors
    from loopx_host.lifecycle.dispatch.ports import Verdict
    from loopx_host.registry.schemas import Bundle

_TELL_SECONDS = 5.0  # for the question to get there, and the library to be loaded


class WarmJudge(ForkedJudge):
    """The judging port of an embedding program. Only `check`, which trusts nothing yet, forks the program itself."""

    def __init__(self, helper: WarmSupervisors, deadline_seconds: float = DEADLINE_SECONDS) -> None:
        super().__init__(deadline_seconds=deadline_seconds)
        self._helper = helper

    def violations(self, bundle: Bundle, instance: object) -> Verdict:
        """Return the rows of what `instance` breaks; None when that could not be found out within the bounds.

        Raises Refused: `no_processes`, `interpreter_not_found`.
        """
        schema = [bundle.path, bundle.root, bundle.siblings]
        question = {"schema": schema, "instance": instance, "seconds": self._deadline_seconds}
        try:
            rows = parsed(self._answer(packed(question, b"")))
        except (ValueError, RecursionError):  # it has no JSON form
            return None
        return rows if isinstance(rows, list) else None

    def _answer(self, question: bytes) -> bytes:
        """Return what the judge wrote before it closed its end, or nothing at the deadline."""
        asking, asked = local_sockets.pair(local_sockets.STREAM)
        try:
            self._helper.ask(JUDGE, [asked.fileno()])
        except OSError as error:
            summary = f"no process could be started to judge by a schema: {error.strerror or error}"
            raise refusal("no_processes", "schema", summary) from None
        finally:
            asked.close()
        try:
            asking.send(question)
            seconds = self._deadline_seconds + _TELL_SECONDS
            return read_all(asking.fileno(), seconds=seconds, at_most=ANSWER_BYTES) or b""
        except OSError:  # it was killed before it had read all of it
            return b""
        finally:
            asking.close()


def load() -> None:
    """Import what judging takes, where it can be found."""
    try:
        import jsonschema_rs  # noqa: F401

        from loopx_host.registry import schemas  # noqa: F401
    except ImportError:  # then no judge answers
        pass


def serve(asked: int) -> None:
    """Answer one question in this process; ends the process, or the kernel does at the deadline."""
    _end_in(_TELL_SECONDS)
    data = read_all(asked, until=is_whole)
    if data is None or not is_whole(data):
        return
    from loopx_host.registry import schemas

    question, _ = unpacked(data)
    load()
    bound_memory()
    _end_in(question["seconds"])
    rows = schemas.violations(schemas.validator(schemas.Bundle(*question["schema"])), question["instance"])
    write_all(asked, json.dumps(rows).encode("ascii"))


def _end_in(seconds: float) -> None:
    """Let the kernel end this process then, whatever it is doing: no signal handler runs while the library works."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
