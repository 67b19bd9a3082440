"""A program that runs animals: one order per line of standard input, one result per line of standard output.

As ``port`` it drives the process port the way the command line does, as ``host`` it is a program of its own that
embeds `loopx_host.Host`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

Order = dict[str, Any]


def port(rung: str) -> Callable[[Order], Order]:
    from loopx_host.adapters.process.confinement import Level
    from loopx_host.adapters.process.interrupts import Interrupts
    from loopx_host.adapters.process.runner import ProcessRunner
    from loopx_host.core.errors import Refused
    from loopx_host.lifecycle.extensions.process import Grants, Launch, Limits

    word, _, option = rung.partition("+")
    level = Level(word, is_demanded=True, sessions=not option) if word else None
    runner = ProcessRunner(Interrupts(), level=level)

    def run(order: Order) -> Order:
        launch = Launch(
            order["argv"],
            Limits(**{"timeout_seconds": 30, **order.get("limits", {})}),
            env_set={"ZOO_MARK": order["mark"]},
            stdin=json.dumps(order["request"]).encode(),
            grants=Grants(
                order.get("reads", []),
                permissions=order.get("permissions", []),
                references=order.get("references", {}),
            ),
        )
        try:
            ended = runner.run(launch)
        except Refused as error:
            return {"refused": error.document}
        return {
            "said": ended.stdout.decode(errors="replace"),
            "exit_code": ended.exit_code,
            "signal": ended.signal,
            "stopped_by": ended.stopped_by,
            "start_error": ended.start_error,
            "stderr": ended.stderr.decode(errors="replace"),
            "containment": ended.containment,
            "duration_ms": ended.duration_ms,
        }

    return run


def host(rung: str) -> Callable[[Order], Order]:
    from loopx_host import Host, Refused

    opened = Host.open(state_file=os.environ["ZOO_STATE"], **({"containment": rung} if rung else {}))

    def run(order: Order) -> Order:
        os.environ["ZOO_MARK"] = order["mark"]
        try:
            return dict(opened.run(order["extension"], order["request"]))
        except Refused as error:
            return {"refused": error.document}

    return run


def main() -> None:
    run = {"port": port, "host": host}[sys.argv[1]](sys.argv[2])
    if secret := os.environ.get("ZOO_INHERITED"):
        os.set_inheritable(os.open(secret, os.O_RDONLY), True)  # what a careless program does
    for line in sys.stdin:
        result = run(json.loads(line))
        sys.stdout.write(json.dumps(result) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
