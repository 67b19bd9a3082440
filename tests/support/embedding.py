"""Programs that embed the host, run as processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from typing import Any

from tests.support.cli import PATIENCE_SECONDS, Loopx, Place

PREAMBLE = """\
import ctypes, json, os, select, signal, subprocess, sys, threading
from loopx_host import Host, Refused
host = Host.open(state_file={state!r})
place = {place!r}

def request(code):
    return dict(code=code, place=place)

def is_subreaper():
    value = ctypes.c_int(-1)
    assert ctypes.CDLL(None).prctl(37, ctypes.byref(value), 0, 0, 0) == 0
    return value.value

def tell(**fields):
    print(json.dumps(fields))
"""


def embed(
    puppets: Loopx, place: Place, program: str, *, before: str = "", returncode: int | None = 0, **settings: Any
) -> dict[str, Any]:
    """Run a program that embeds the host; return what it tells. Without `returncode` it may end as it likes.

    `before` is what it does before it opens the host.
    """
    source = before + PREAMBLE.format(state=str(puppets.state_file), place=str(place.path)) + textwrap.dedent(program)
    done = subprocess.run(
        [sys.executable, "-c", source],
        env=puppets.env,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=False,
        **settings,
    )
    assert returncode in (None, done.returncode), done.stderr.decode()
    told = json.loads(done.stdout)
    assert isinstance(told, dict)
    return told
