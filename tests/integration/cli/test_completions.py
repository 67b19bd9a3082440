"""The completion scripts in real shells: they reach every command and flag, and completing runs nothing."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from loopx_host.cli.index import COMMON, OF_PACKAGES
from loopx_host.cli.route import Route, routes
from tests.support.cli import Loopx

ROUTES = routes()
BASH = shutil.which("bash")
# Completes the last of its arguments as bash would after TAB and prints one candidate per line.
COMPLETE = """\
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_loopx
printf '%s\\n' "${COMPREPLY[@]}"
"""
FISH_COMPLETE = 'source $argv[1]; complete -C "$argv[2]"'
needs_bash = pytest.mark.skipif(BASH is None, reason="there is no bash here")
needs_zsh = pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh here")
needs_fish = pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish here")


def written(loopx: Loopx, shell: str) -> Path:
    """Return the file a user would source."""
    answer = loopx("completions", shell, options=False)
    assert answer.status == 0, answer
    path = loopx.root / f"loopx.{shell}"
    path.write_bytes(answer.stdout)
    return path


@pytest.fixture(scope="module")
def loopx(tmp_path_factory: pytest.TempPathFactory) -> Loopx:
    return Loopx(tmp_path_factory.mktemp("completions"))


@pytest.fixture(scope="module")
def script(loopx: Loopx) -> Path:
    return written(loopx, "bash")


def offered(script: Path, *words: str, path: str = "/nonexistent") -> list[str]:
    """Return what bash offers for the last word; there is no `loopx` on its PATH."""
    assert BASH is not None
    ended = subprocess.run(
        [BASH, "--norc", "-c", COMPLETE, "complete", str(script), "loopx", *words],
        cwd=script.parent,
        env={"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout.split()


def flags(route: Route) -> set[str]:
    own = {name for argument in route.arguments for name in argument.names if name.startswith("-")}
    return {*own, *COMMON, "--help"}


@needs_bash
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: " ".join(route.words))
def test_every_command_is_reached_word_by_word(route: Route, script: Path) -> None:
    for number in range(len(route.words)):
        assert route.words[number] in offered(script, *route.words[:number], "")


@needs_bash
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: " ".join(route.words))
def test_every_flag_of_a_command_is_offered_before_and_after_its_argument(route: Route, script: Path) -> None:
    assert set(offered(script, *route.words, "--")) == flags(route)
    assert set(offered(script, *route.words, "argument", "--")) == flags(route)


@needs_bash
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: " ".join(route.words))
def test_the_options_of_every_command_may_stand_first(route: Route, script: Path) -> None:
    leading = ("--format", "json", "--state-file", "some.json", "--debug")

    assert set(offered(script, *leading, *route.words, "--")) == flags(route)


@needs_bash
def test_the_first_word_may_be_an_option(script: Path) -> None:
    assert {*COMMON, "--help", "--version"} == set(offered(script, "--"))


@needs_bash
@pytest.mark.parametrize("words", [("repo-health",), ("repo-health", "project")])
def test_a_command_of_a_package_is_offered_the_options_that_the_host_reads(
    script: Path, words: tuple[str, ...]
) -> None:
    assert set(offered(script, *words, "--")) == {*COMMON, *OF_PACKAGES, "--help"}


@needs_bash
def test_a_word_that_is_begun_is_completed(script: Path) -> None:
    assert offered(script, "extension", "inst") == ["install"]
    assert offered(script, "extension", "run", "--inp") == ["--input-json"]
    assert offered(script, "nothing-like-it") == []


@needs_bash
def test_a_flag_with_few_values_offers_them(script: Path) -> None:
    assert offered(script, "extension", "list", "--format", "") == ["text", "json"]
    assert {"bash", "zsh", "fish"} <= set(offered(script, "completions", ""))


@needs_bash
@pytest.mark.parametrize("flag", ["--manifest", "--state-file", "--input-json", "--output", "--destination"])
def test_a_flag_with_a_path_offers_files(flag: str, script: Path) -> None:
    assert offered(script, "extension", "install", flag, "loopx.ba") == ["loopx.bash"]


@needs_bash
def test_a_flag_with_a_free_value_offers_nothing(script: Path) -> None:
    assert offered(script, "extension", "rollback", "one", "--to", "") == []


@needs_bash
def test_completing_starts_nothing(script: Path, loopx: Loopx) -> None:
    programs = loopx.root / "programs"
    programs.mkdir()
    for name in ("loopx", "python3", "python"):
        (programs / name).write_text(f"#!/bin/sh\n: > '{loopx.root}/started'\n")
        (programs / name).chmod(0o755)

    offered(script, "extension", "", path=str(programs))
    offered(script, "extension", "install", "$(loopx)`loopx`", path=str(programs))

    assert not (loopx.root / "started").exists()


@needs_bash
def test_bash_reads_the_script_without_complaint(script: Path) -> None:
    ended = subprocess.run([str(BASH), "-n", str(script)], capture_output=True, check=False)

    assert (ended.returncode, ended.stderr) == (0, b"")


@needs_zsh
def test_zsh_reads_the_script_without_complaint(loopx: Loopx) -> None:
    ended = subprocess.run(["zsh", "-n", str(written(loopx, "zsh"))], capture_output=True, check=False)

    assert (ended.returncode, ended.stderr) == (0, b"")


@needs_zsh
def test_zsh_takes_the_script_after_compinit(loopx: Loopx) -> None:
    path = written(loopx, "zsh")
    code = (
        'autoload -U compinit; compinit -u -D; source "$1"; (( $+functions[_loopx] )) && print -r -- $_comps[loopx]'
    )

    ended = subprocess.run(
        ["zsh", "-f", "-c", code, "zsh", str(path)], env=loopx.env, capture_output=True, check=False
    )

    assert (ended.returncode, ended.stderr) == (0, b"")
    assert b"_loopx" in ended.stdout


@needs_fish
def test_fish_reads_the_script_without_complaint(loopx: Loopx) -> None:
    ended = subprocess.run(["fish", "-n", str(written(loopx, "fish"))], capture_output=True, check=False)

    assert (ended.returncode, ended.stderr) == (0, b"")


def in_fish(loopx: Loopx, line: str) -> set[str]:
    words = ["fish", "--no-config", "-c", FISH_COMPLETE, str(written(loopx, "fish")), line]
    ended = subprocess.run(words, env=loopx.env, cwd=loopx.root, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return {candidate.partition("\t")[0] for candidate in ended.stdout.splitlines()}


@needs_fish
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: " ".join(route.words))
def test_fish_offers_every_command_and_exactly_its_flags(route: Route, loopx: Loopx) -> None:
    before = " ".join(route.words[:-1])

    assert route.words[-1] in in_fish(loopx, f"loopx {before} ".replace("  ", " "))
    assert in_fish(loopx, f"loopx {' '.join(route.words)} --") == flags(route)
