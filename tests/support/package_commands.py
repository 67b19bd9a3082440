"""Packages that bring a command, made beside a served extension."""

from __future__ import annotations

import textwrap
from pathlib import Path

from tests.support.capabilities import Station

COMMAND = """\
{head}
from loopx_host import hookimpl

@hookimpl(specname="loopx_run_command")
def run(arguments, host):
{body}
"""
ECHO = "return {'ok': True, 'schema_version': 'x_v0', 'arguments': arguments}"


def module(body: str = ECHO, head: str = "") -> str:
    return COMMAND.format(head=head, body=textwrap.indent(textwrap.dedent(body), "    "))


def with_command(station: Station, name: str = "roar", body: str = ECHO, head: str = "", **files: str) -> Path:
    """Put a package on the search path that brings a command of its own name."""
    made = {"commands.py": module(body, head), "helper.py": "", **files}
    return station.put(name, top="", files=made, commands={name: f"{name}.commands:run"})
