"""A world for every command that changes or starts something, what its execution reads, and ways to move that."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from loopx_host.cli.arguments import EXECUTE
from loopx_host.cli.route import Route, routes
from tests.support.capabilities import CAPABILITY, Station, operation
from tests.support.cli import PATIENCE_SECONDS, Answer
from tests.support.document_life import SURFACE, VIEW
from tests.support.lifecycle import Subject
from tests.support.packages import manifest, offering, write

SUBJECT = "subject"
# Notes its start beside its package, then answers with a view that is an answer to any request as well.
PROGRAM = f"""\
#!/bin/sh
here="${{0%/*}}"
[ "$1" = --doctor ] && exit 0
echo started >> "$here/../../starts"
echo '{json.dumps({"ok": True, "view": VIEW})}'
"""
# Runs the command line and writes down every file that it, or a child it forked, opens for reading.
TRACED = """\
import os, sys

log = os.open(sys.argv.pop(1), os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def note(event, arguments):
    if event == "open" and not arguments[2] & os.O_ACCMODE and isinstance(arguments[0], (str, bytes)):
        try:
            os.write(log, os.fsencode(os.path.abspath(arguments[0])) + b"\\n")
        except OSError:
            pass


sys.addaudithook(note)
from loopx_host.entrypoint import main

main()
"""
# What the host may forget, and what it makes while it works.
PASSING = ("home/cache", "runtime", "tmp")

HOOKS = "from loopx_host.hookspecs.markers import hookimpl\n"
Words = list[str]
SETUPS: dict[str, Callable[[Station], Words]] = {}


def mutating() -> list[Route]:
    """Return the routes that change or start something: those that only preview without ``--execute``."""
    return [route for route in routes() if EXECUTE in route.arguments]


def setup(words: str) -> Callable[[Callable[[Station], Words]], Callable[[Station], Words]]:
    """Register what arranges a world for one command, and returns the words of its preview."""

    def register(arrange: Callable[[Station], Words]) -> Callable[[Station], Words]:
        SETUPS[words] = arrange
        return arrange

    return register


def put_subject(world: Station, version: str = "1.0") -> None:
    """Put a package of the extension `subject` on the search path, in place of an earlier version of it."""
    for old in world.site.glob("subject_package-*.dist-info"):
        shutil.rmtree(old)
    text = manifest(SUBJECT, version, args=["serve", version]) + SURFACE
    files = {"provider": PROGRAM, "library.sh": f"# {version}\n", "profile.json": "{}"}
    offering(world.site, SUBJECT, version=version, text=text, files=files)


def installed(world: Station, *versions: str) -> None:
    """Install the extension `subject`, and upgrade it through the other versions."""
    for verb, version in zip(("install", *(["upgrade"] * len(versions))), versions or ("1.0",), strict=False):
        put_subject(world, version)
        done(world, "extension", verb, SUBJECT, "--execute")


def done(world: Station, *words: str) -> Answer:
    answer = world(*words)
    assert answer.status == 0, answer
    return answer


def request(world: Station) -> str:
    """Return the path of a request."""
    return str(write(world.root / "request.json", '{"code": ""}'))


@setup("extension init")
def _init(world: Station) -> Words:
    return ["extension", "init", "acme-words", "--destination", str(world.root / "new")]


@setup("extension conformance")
def _conformance(world: Station) -> Words:
    put_subject(world)
    write(world.site / "subject/examples/request.json", "{}")
    return ["extension", "conformance", str(world.site / "subject/extension.toml")]


@setup("extension install")
def _install(world: Station) -> Words:
    put_subject(world)
    return ["extension", "install", SUBJECT]


@setup("extension upgrade")
def _upgrade(world: Station) -> Words:
    installed(world)
    put_subject(world, "2.0")
    return ["extension", "upgrade", SUBJECT]


@setup("extension rollback")
def _rollback(world: Station) -> Words:
    installed(world, "1.0", "2.0")
    return ["extension", "rollback", SUBJECT]


@setup("extension uninstall")
def _uninstall(world: Station) -> Words:
    _published(world)
    return ["extension", "uninstall", SUBJECT]


@setup("extension doctor")
def _doctor(world: Station) -> Words:
    installed(world)
    return ["extension", "doctor", SUBJECT]


@setup("extension enable")
def _enable(world: Station) -> Words:
    installed(world)
    done(world, "extension", "disable", SUBJECT, "--execute")
    return ["extension", "enable", SUBJECT]


@setup("extension disable")
def _disable(world: Station) -> Words:
    installed(world)
    return ["extension", "disable", SUBJECT]


@setup("extension run")
def _run(world: Station) -> Words:
    installed(world)
    return ["extension", "run", SUBJECT, "--input-json", request(world)]


def _published(world: Station) -> Words:
    installed(world)
    words = ["extension", "publish-projection", SUBJECT, "board", "--input-json", request(world)]
    done(world, *words, "--execute")
    return words


@setup("extension publish-projection")
def _publish(world: Station) -> Words:
    return _published(world)


@setup("extension export")
def _export(world: Station) -> Words:
    world.served().bound().bound(goal="g2")
    words = ["extension", "export", "--output", str(world.root / "export.json")]
    done(world, *words, "--execute")
    return words


@setup("extension restore")
def _restore(world: Station) -> Words:
    words = _export(world)
    assert Subject(world, "bystander").install("1.0", "--execute").status == 0
    done(world, "capability", "unbind", CAPABILITY, "--goal-id", "g1", "--execute")
    done(world, "extension", "uninstall", "station", "--execute")
    return ["extension", "restore", words[-1]]


@setup("extension repair")
def _repair(world: Station) -> Words:
    installed(world)
    state = json.loads(world.state_file.read_bytes())
    state["extensions"]["bad"] = {"id": "bad", "enabled": 1}
    world.state_file.write_text(json.dumps(state), "utf-8")
    return ["extension", "repair"]


@setup("capability bind")
def _bind(world: Station) -> Words:
    world.served("station", operation(), operation("other"), hooks=HOOKS).bound()
    return ["capability", "bind", CAPABILITY, "--goal-id", "g1", "--operation", "inspect", "--operation", "other"]


@setup("capability unbind")
def _unbind(world: Station) -> Words:
    world.served().bound()
    return ["capability", "unbind", CAPABILITY, "--goal-id", "g1"]


@setup("capability invoke")
def _invoke(world: Station) -> Words:
    world.served(hooks=HOOKS).bound()
    ref = f"repo={world.folder / 'beside.txt'}"
    words = ["capability", "invoke", CAPABILITY, "--goal-id", "g1", "--operation", "inspect", "--ref", ref]
    return [*words, "--input-json", request(world)]


# --- what an execution reads ------------------------------------------------------------------------------------


def reads(world: Station, words: Words) -> list[str]:
    """Execute a command and return the files of its world that it opened, by their paths below the root."""
    log = world.root / "tmp/opened"
    argv = [sys.executable, "-c", TRACED, str(log), *words, "--execute", "--format", "json"]
    ended = subprocess.run(
        [*argv, "--state-file", str(world.state_file)],
        env={**world.env, "XDG_CACHE_HOME": str(world.root / "tmp/cold")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert ended.returncode in (0, 1), Answer(ended.returncode, ended.stdout, ended.stderr)
    opened = {os.path.relpath(line, world.root) for line in log.read_text("utf-8").splitlines()}
    return sorted(path for path in opened if not path.startswith(("..", "<", *PASSING)))


# --- moving it --------------------------------------------------------------------------------------------------

Move = Callable[[Path], None]


def gone(path: Path) -> None:
    path.unlink()


def swapped(path: Path) -> None:
    """Put something else of the same kind where a file is: what it says is another, its form is not."""
    text = path.read_text("utf-8")
    if path.suffix == ".json":
        path.write_text(json.dumps(_turned(json.loads(text))), "utf-8")
    elif path.suffix == ".toml":
        path.write_text(text.replace('"--doctor"', '"--doctor", "anew"'), "utf-8")
    elif path.name == "RECORD":
        path.write_text(f"{text}ghost.py,,\n", "utf-8")
    else:
        path.write_text(f"{text}\n# swapped\n", "utf-8")


# What of our documents can say something else and still be read.
_OTHERWISE: dict[str, Callable[[Any], Any]] = {
    "enabled": lambda value: not value if isinstance(value, bool) else value + 1,
    "code": lambda _: "pass",
    "required_permission": lambda _: "note.read",
    "published_at": lambda _: "2001-01-01T00:00:00Z",
}


def _turned(value: Any) -> Any:
    """Return a document that says something else."""
    if isinstance(value, dict):
        return {key: _OTHERWISE.get(key, _turned)(one) for key, one in value.items()} or {"code": "pass"}
    if isinstance(value, list):
        return [*map(_turned, value), "moved"] if value and isinstance(value[0], str) else [*map(_turned, value)]
    return value


@contextmanager
def moved(path: Path, move: Move) -> Iterator[None]:
    """Move what a file holds for a while, then put it back with its times."""
    data, status = path.read_bytes(), path.stat()
    move(path)
    try:
        yield
    finally:
        path.write_bytes(data)
        path.chmod(status.st_mode)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
