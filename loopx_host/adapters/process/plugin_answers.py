"""What a worker says over its pipe, and what the host makes of it: an answer, or one coded refusal."""

from __future__ import annotations

import json
import os

from loopx_host.core.codes import CODES
from loopx_host.core.errors import refusal
from loopx_host.core.limits import PLUGIN_ANSWER_BYTES
from loopx_host.core.strict_json import JsonViolation, parse_object
from loopx_host.core.text import visible
from loopx_host.hookspecs.culprit import described

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.core.errors import Refused
    from loopx_host.hookspecs.culprit import Culprit

LOADED = b"loaded\n"
_LOAD, _HOOK = "plugin_load_failed", "plugin_hook_failed"
_OWN_CODES = (_LOAD, _HOOK, "plugin_signature")


def packed(answer: object) -> bytes:
    """Return the line that carries an answer: JSON that reads back as what it was, or the line of a failure."""
    try:
        line = json.dumps({"answer": answer}, allow_nan=False).encode("ascii") + b"\n"
        is_plain = bool(json.loads(line)["answer"] == answer)
    except Exception as error:  # noqa: BLE001 (objects of a package are in it)
        return failure(_HOOK, f"answered what is not JSON: {described(error)}")
    if not is_plain:
        return failure(_HOOK, "answered what is not JSON: it reads back as something else")
    if len(line) > PLUGIN_ANSWER_BYTES:
        return failure(_HOOK, f"answered more than {PLUGIN_ANSWER_BYTES} bytes")
    return line


def failure(code: str, reason: str) -> bytes:
    """Return the line of a package's own failure."""
    return json.dumps({"failed": {"code": code, "reason": reason}}).encode("ascii") + b"\n"


def packed_refusal(refused: Refused) -> bytes:
    """Return the line that carries a refusal across."""
    diagnostic = refused.diagnostic
    fields = {
        "code": diagnostic.code,
        "subject": diagnostic.subject,
        "summary": diagnostic.summary,
        "hint": diagnostic.hint,
        "next_command": diagnostic.next_command,
    }
    for blocks in (refused.blocks, {}):
        try:
            line = json.dumps({"refused": {**fields, "blocks": blocks}}, allow_nan=False).encode("ascii") + b"\n"
        except (TypeError, ValueError, RecursionError):
            continue
        if len(line) <= PLUGIN_ANSWER_BYTES:
            return line
    return failure(_HOOK, "was refused something, and what cannot be told")


def packed_report(status: int | None, left_running: int) -> bytes:
    """Return what a guard reports: how the worker ended, and how many processes it left running."""
    code = None if status is None else os.waitstatus_to_exitcode(status)
    return json.dumps({"status": code, "left_running": left_running}).encode("ascii")


class WorkerReply:
    """What a worker wrote, what its guard reported, and what the host stopped it for, if it did."""

    def __init__(self, written: bytes, report: bytes, stopped_for: str | None) -> None:
        self._is_loaded = written.startswith(LOADED)
        self._line = written[len(LOADED) :] if self._is_loaded else written
        self._report = _document(report)
        self._stopped_for = stopped_for

    def answer(self, culprit: Culprit, hook: str, output: str | None) -> object:
        """Return the answer. Raises Refused with the end of what was printed."""
        named = hook if self._is_loaded else None
        reply: dict[str, object] = {}
        reason = self._silence()
        if reason is None:
            try:
                reply = parse_object(self._line)
            except JsonViolation as error:
                reason = f"gave an answer that is not strict JSON: {error}"
        refused, failed = reply.get("refused"), reply.get("failed")
        if isinstance(refused, dict):
            raise unpacked(refused, culprit, hook, output)
        code = _HOOK if self._is_loaded else _LOAD
        if isinstance(failed, dict):
            reason = str(failed.get("reason"))
        elif reason is None and self._report.get("left_running"):
            reason = f"left {self._report['left_running']} processes running"
        elif reason is None and "answer" not in reply:
            reason = "gave no answer"
        if reason is not None:
            raise culprit.refusal(code, reason, hook=named, output=output)
        return reply["answer"]

    def _silence(self) -> str | None:
        """Return why there is no answer, or None when there is one."""
        if self._stopped_for == "flood":
            return f"wrote more than {PLUGIN_ANSWER_BYTES} bytes of answer"
        if self._line.endswith(b"\n"):
            return None
        if self._stopped_for == "slow":
            return f"did not end in time while it was {'called' if self._is_loaded else 'loaded'}"
        if self._stopped_for == "closed":
            return "closed the pipe for its answer"
        status = self._report.get("status")
        if not isinstance(status, int):
            return "ended together with the process that guards it"
        return f"ended without an answer ({_ending(status)})"


def unpacked(fields: dict[str, object], culprit: Culprit, hook: str, output: str | None) -> Refused:
    """Return the refusal a worker was given, rebuilt; what it could have made up itself is cleaned."""
    code = fields.get("code")
    if not isinstance(code, str) or code not in CODES:
        return culprit.refusal(
            _HOOK, "was refused something with a code that does not exist", hook=hook, output=output
        )
    blocks = fields.get("blocks")
    kept = _clean_rows(blocks) if isinstance(blocks, dict) else {}
    if code in _OWN_CODES:
        kept["output"] = output
    command = fields.get("next_command")
    return refusal(
        code,
        visible(str(fields.get("subject"))),
        visible(str(fields.get("summary"))),
        hint=visible(str(fields["hint"])) if fields.get("hint") is not None else None,
        next_command=tuple(visible(str(part)) for part in command) if isinstance(command, list) else None,
        **{key: value for key, value in kept.items() if key.isidentifier() and key not in _DIAGNOSTIC},
    )


_DIAGNOSTIC = frozenset({"code", "subject", "summary", "hint", "next_command"})


def _clean(value: object, key: str = "") -> object:
    """Return JSON with every text made visible, and the parts of each next command as the tuple they were."""
    if key == "provider_result":  # a provider's own words stay its own
        return value
    if isinstance(value, dict):
        return _clean_rows(value)
    if isinstance(value, list):
        rows = [_clean(one) for one in value]
        return tuple(rows) if key == "next_command" and all(isinstance(one, str) for one in rows) else rows
    return visible(value, keep="\n\t") if isinstance(value, str) else value


def _clean_rows(rows: dict[str, object]) -> dict[str, object]:
    return {visible(name): _clean(one, name) for name, one in rows.items()}


def _document(data: bytes) -> dict[str, object]:
    try:
        return parse_object(data)
    except JsonViolation:
        return {}


def _ending(status: int) -> str:
    if status >= 0:
        return f"exit status {status}"
    from signal import Signals

    try:
        return Signals(-status).name
    except ValueError:
        return f"signal {-status}"
