"""How a run counts: a pure table from how the process ended to status and failure kind (contract section 6)."""

from __future__ import annotations

from loopx_host.core.strict_json import JsonViolation, parse_object
from loopx_host.core.text import excerpt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from loopx_host.documents.parts import Violation
    from loopx_host.lifecycle.extensions.process import Ended

SUCCEEDED, PROVIDER_FAILED, INVALID_OUTPUT = "succeeded", "provider_failed", "invalid_provider_output"


class Outcome:
    """`status`, `failure_kind` (None on success), the provider's object if it gave one, and one sentence.

    `violations` are rows of pointer and message where the response breaks its schema; `ended` is how the process
    ended.
    """

    __slots__ = ("ended", "error", "failure_kind", "result", "status", "violations")

    def __init__(
        self,
        ended: Ended,
        status: str,
        failure_kind: str | None,
        result: dict[str, object] | None,
        error: str | None,
        violations: list[Violation] | None = None,
    ) -> None:
        self.ended = ended
        self.status = status
        self.failure_kind = failure_kind
        self.result = result
        self.error = error
        self.violations = violations or []


def outcome(ended: Ended, check: Callable[[dict[str, object]], list[Violation]] | None = None) -> Outcome:
    """Judge one run. The order is the contract's: limits, then the end of the process, then its output.

    `check` returns how an object breaks the response schema.
    """
    result, violation = _parse(ended.stdout)
    failure = ended.failure
    if failure:
        return Outcome(ended, PROVIDER_FAILED, failure[0], result, failure[1])
    if result is None:
        shown = f"; it began: {excerpt(ended.stdout)}" if ended.stdout else ""
        sentence = f"standard output must hold one JSON object, and logs belong on standard error: {violation}{shown}"
        return Outcome(ended, INVALID_OUTPUT, "response_not_json_object", None, sentence)
    violations = check(result) if check else []
    if violations:
        first = violations[0]
        sentence = f"the response breaks its schema at {first['pointer'] or '/'}: {first['message']}"
        return Outcome(ended, INVALID_OUTPUT, "response_schema", result, sentence, violations)
    if result.get("ok", True) is not True:
        return Outcome(ended, PROVIDER_FAILED, "provider_reported_failure", result, "the provider reported a failure")
    return Outcome(ended, SUCCEEDED, None, result, None)


def _parse(data: bytes) -> tuple[dict[str, object] | None, str]:
    try:
        return parse_object(data), ""
    except JsonViolation as violation:
        return None, str(violation)
