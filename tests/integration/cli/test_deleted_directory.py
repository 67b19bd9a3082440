"""A working directory that was deleted under the shell stops nothing that needs no relative path (trial N01)."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from loopx_host.cli.route import routes
from tests.support.capabilities import Station
from tests.support.cli import Answer, Loopx
from tests.support.plans import SETUPS

EXAMPLES = {" ".join(route.words): shlex.split(route.example)[1:] for route in routes()}
RELATIVE = {
    "manifest": ("extension", "install", "--manifest", "some/extension.toml", "--execute"),
    "package": ("extension", "validate", "some"),
    "request": ("extension", "run", "subject", "--input-json", "request.json", "--execute"),
    "destination": ("extension", "init", "fresh-thing", "--execute"),
    "export": ("extension", "export", "--output", "out.json", "--execute"),
    "restore": ("extension", "restore", "out.json"),
    "state": ("extension", "list", "--state-file", "state.json"),
    "root": ("extension", "list", "--runtime-root", "root"),
}


def gone(loopx: Loopx, *words: str, options: bool = True) -> Answer:
    """Run one command from a directory that is there when the shell enters it and no more when loopx starts."""
    here = loopx.root / "here"
    here.mkdir()
    command = [str(word) for word in loopx.command(*words, options=options)]
    shell = ["sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh", *command]
    return Loopx.__call__(_Through(loopx, shell), cwd=here)


class _Through(Loopx):
    """The same command line behind a shell."""

    def __init__(self, loopx: Loopx, argv: list[str]) -> None:
        self.__dict__.update(loopx.__dict__)
        self._argv = argv

    def command(self, *words: str | bytes, options: bool = True) -> list[str | bytes]:  # noqa: ARG002 (said already)
        return [*self._argv]


@pytest.mark.parametrize("words", sorted(EXAMPLES))
def test_no_command_is_stopped_by_the_directory_alone(tmp_path: Path, words: str) -> None:
    """What the example needs may be missing; the answer then is one coded refusal."""
    answer = gone(Loopx(tmp_path / "loopx"), *EXAMPLES[words])

    assert b"Traceback" not in answer.stderr
    assert answer.status in (0, 2, 69), answer
    assert answer.document.get("code") != "internal_error"


@pytest.mark.parametrize("words", sorted(SETUPS))
def test_what_is_named_by_absolute_paths_works_as_anywhere(tmp_path: Path, words: str) -> None:
    world = Station(tmp_path / "world")
    command = SETUPS[words](world)

    preview, done = gone(world, *command), gone(world, *command, "--execute")

    assert (preview.status, "code" in preview.document, "code" in done.document) == (0, False, False), (preview, done)


@pytest.mark.parametrize("what", RELATIVE)
def test_a_relative_path_is_refused_in_one_sentence(tmp_path: Path, what: str) -> None:
    loopx = Loopx(tmp_path / "loopx")
    options = () if what in ("state", "root") else ("--state-file", str(loopx.state_file))

    answer = gone(loopx, *RELATIVE[what], *options, "--format", "json", options=False)

    assert (answer.status, answer.code) == (2, "directory_gone"), answer
    assert answer.stderr == b""


@pytest.mark.parametrize("words", [("--version",), ("--help",), ("extension", "--help"), ("doctor",)], ids=" ".join)
def test_what_needs_no_path_answers(tmp_path: Path, words: tuple[str, ...]) -> None:
    answer = gone(Loopx(tmp_path / "loopx"), *words, options=False)

    assert (answer.status, answer.stderr) == (0, b""), answer
    assert answer.stdout
