"""The process of a provider: its doctor, or one request."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence

from loopx_host import Effect, serve_operations

Operation = Callable[[dict[str, object], dict[str, str]], Sequence[Mapping[str, object]] | Effect]


def main(operations: Mapping[str, Operation], manifest_id: str, doctor: Callable[[], str | None]) -> int:
    """Serve one call and return the exit status; `doctor` returns what is wrong, or None."""
    if sys.argv[1:] == ["--doctor"]:
        wrong = doctor()
        if wrong:
            sys.stderr.write(f"{wrong}\n")
        return 1 if wrong else 0
    if sys.argv[1:]:
        sys.stderr.write("usage: [--doctor] < request.json\n")
        return 2
    return serve_operations(operations, manifest_id=manifest_id)
