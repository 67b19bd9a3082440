"""What a supervisor is told: one launch, its environment, its level; as an object and as bytes."""

from __future__ import annotations

from loopx_host.adapters.process.confinement import Level
from loopx_host.lifecycle.extensions.process import Ended, Grants, Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypedDict

    from loopx_host.documents.parts import Limit
    from loopx_host.lifecycle.extensions.process import Launch

    class NotReached(TypedDict):
        """Why a demanded level could not be reached: what is missing, how far it went, the row of each limit."""

        missing: str
        rung: str | None
        limits: list[Limit]


_LENGTH_BYTES = 8


class RunSpec:
    """One run as the process that attends it needs it: everything is decided, nothing is looked up any more."""

    __slots__ = ("argv", "bytecode_to", "environment", "grants", "level", "limits", "stdin")

    def __init__(
        self,
        argv: list[str],
        environment: dict[str, str],
        limits: Limits,
        grants: Grants,
        level: Level,
        *,
        stdin: bytes = b"",
        bytecode_to: str | None = None,
    ) -> None:
        self.argv = argv
        self.environment = environment
        self.limits = limits
        self.grants = grants
        self.level = level
        self.stdin = stdin
        self.bytecode_to = bytecode_to

    @classmethod
    def of(cls, launch: Launch, environment: dict[str, str], level: Level) -> RunSpec:
        """Return the specification of a launch."""
        return cls(
            launch.argv,
            environment,
            launch.limits,
            launch.grants,
            level,
            stdin=launch.stdin,
            bytecode_to=launch.bytecode_to,
        )

    def packed(self) -> bytes:
        """Return it as bytes: a length, a JSON head, the request."""
        head = {name: getattr(self, name) for name in ("argv", "environment", "bytecode_to")}
        for name in ("limits", "grants", "level"):
            value = getattr(self, name)
            head[name] = {slot: getattr(value, slot) for slot in value.__slots__}
        return packed(head, self.stdin)

    @classmethod
    def unpacked(cls, data: bytes) -> RunSpec:
        """Return what `packed` made these bytes of."""
        head, stdin = unpacked(data)
        limits, grants, level = head["limits"], head["grants"], head["level"]
        return cls(
            head["argv"],
            head["environment"],
            Limits(limits.pop("timeout_seconds"), **limits),
            Grants(**grants),
            Level(**level),
            stdin=stdin,
            bytecode_to=head["bytecode_to"],
        )


def packed_report(ended: Ended) -> bytes:
    """Return how a run ended as bytes."""
    head = {slot: getattr(ended, slot) for slot in Ended.__slots__ if slot not in ("stdout", "stderr")}
    return packed({"ended": head, "stdout_bytes": len(ended.stdout)}, ended.stdout + ended.stderr)


def packed_refusal(reason: str, rung: str | None, rows: list[Limit]) -> bytes:
    """Return, as bytes, that the level could not be reached."""
    reached: NotReached = {"missing": reason, "rung": rung, "limits": rows}
    return packed({"refused": reached}, b"")


def unpacked_report(data: bytes) -> Ended | NotReached | None:
    """Return how a run ended, or the refusal; None for bytes that are not a whole report."""
    if not is_whole(data):
        return None
    head, rest = unpacked(data)
    if "refused" in head:
        reached: NotReached = head["refused"]
        return reached
    size = head["stdout_bytes"]
    return Ended(**head["ended"], stdout=rest[:size], stderr=rest[size:])


def lost(survivors: int | None, proof: str) -> Ended:
    """Return how a run ended whose supervisor was killed."""
    return Ended(
        start_error="the process that supervises it was killed",
        containment={"group": True, "survivors": survivors, "proof": proof},
    )


def packed(head: Mapping[str, object], rest: bytes) -> bytes:
    """Return a JSON head and raw bytes as one block: both lengths, then both."""
    import json

    encoded = json.dumps(head).encode("ascii")
    lengths = (len(encoded).to_bytes(_LENGTH_BYTES, "little"), len(rest).to_bytes(_LENGTH_BYTES, "little"))
    return b"".join((*lengths, encoded, rest))


def is_whole(data: bytes | bytearray) -> bool:
    """Whether these bytes are all of a block."""
    return len(data) >= 2 * _LENGTH_BYTES and len(data) == 2 * _LENGTH_BYTES + sum(_lengths(data))


def unpacked(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the head and the bytes that `packed` was given."""
    import json

    size = 2 * _LENGTH_BYTES + _lengths(data)[0]
    return json.loads(data[2 * _LENGTH_BYTES : size]), data[size:]


def _lengths(data: bytes | bytearray) -> tuple[int, int]:
    parts = (data[:_LENGTH_BYTES], data[_LENGTH_BYTES : 2 * _LENGTH_BYTES])
    return int.from_bytes(parts[0], "little"), int.from_bytes(parts[1], "little")
