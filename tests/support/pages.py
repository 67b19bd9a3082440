"""Run what a documentation page tells its reader to do, in a throw-away place.

A fenced block whose info string holds ``file=NAME`` is written to that file; a ``console`` block is typed into one
shell, command by command. Lines below a command are output that has to come, in this order; ``…`` stands for
anything, alone on a line or within one. Every command has to succeed.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

_BLOCK = re.compile(r"^```(?P<info>[^\n`]+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = "\x1e"
PATIENCE_SECONDS = 240


class Command:
    """One command of a page with the lines of output the page shows below it."""

    def __init__(self, text: str, expected: list[str]) -> None:
        self.text = text
        self.expected = expected


class Step:
    """One block: a file to write, or commands to type."""

    def __init__(self, *, file: str | None = None, body: str = "", commands: list[Command] | None = None) -> None:
        self.file = file
        self.body = body
        self.commands = commands or []


def steps(page: str) -> Iterator[Step]:
    """Yield the blocks of a page that its reader acts on, in order."""
    for match in _BLOCK.finditer(page):
        language, *words = match["info"].split()
        file = next((word.partition("=")[2] for word in words if word.startswith("file=")), None)
        if file:
            yield Step(file=file, body=match["body"])
        elif language == "console" and "not-run" not in words:
            yield Step(commands=_commands(match["body"]))


def _commands(body: str) -> list[Command]:
    found: list[Command] = []
    continued = False
    for line in body.splitlines():
        if continued:
            found[-1].text += f"\n{line}"
        elif line.startswith("$ "):
            found.append(Command(line[2:], []))
        else:
            found[-1].expected.append(line)
        continued = (continued or line.startswith("$ ")) and line.endswith("\\")
    return found


def follow(page: Path, place: Path, env: Mapping[str, str]) -> list[str]:
    """Do what `page` says in the folder `place`; return what did not come out as it says."""
    found = list(steps(page.read_text("utf-8")))
    ended = subprocess.run(
        ["bash", "-c", _script(found)],
        cwd=place,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    outputs = ended.stdout.split(_MARK)[1:]
    commands = [command for step in found for command in step.commands]
    assert len(outputs) == len(commands), ended.stdout
    return [
        problem for command, output in zip(commands, outputs, strict=True) for problem in problems(command, output)
    ]


def _script(found: list[Step]) -> str:
    """Return one shell script; each command is announced by a mark and followed by its status."""
    lines: list[str] = []
    for number, step in enumerate(found):
        if step.file:
            lines += [f'mkdir -p "$(dirname {step.file})"', f"cat > {step.file} <<'END_OF_FILE_{number}'"]
            lines += [*step.body.splitlines(), f"END_OF_FILE_{number}"]
        for command in step.commands:
            lines += [f"printf '{_MARK}'", command.text, 'printf "status %d" $?']
    return "\n".join(lines)


def problems(command: Command, output: str) -> list[str]:
    """Return what is wrong with the output of one command: its status, and expected lines that did not come."""
    text, _, status = output.rpartition("status ")
    found = [] if status == "0" else [f"`{command.text}` ended with {status}: {text}"]
    rest = text.splitlines()
    for line in command.expected:
        pattern = ".*".join(re.escape(part) for part in line.split("…"))
        place = next((index for index, got in enumerate(rest) if re.fullmatch(pattern, got)), None)
        if line.strip() == "…":
            continue
        if place is None:
            found.append(f"`{command.text}` did not print `{line}`, but: {text}")
        else:
            rest = rest[place + 1 :]
    return found
