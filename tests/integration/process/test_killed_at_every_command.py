"""SIGKILL of the host while the program behind a manifest runs, at the commands beside `run` that start one (row B3).

Nothing of the run goes on, the state is the one before, and the same command again does what it does.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
from pathlib import Path

import pytest

from tests.support.capabilities import CAPABILITY, Station, operation
from tests.support.cli import PATIENCE_SECONDS
from tests.support.document_life import SURFACE, VIEW
from tests.support.levels import LEAVES_MARKS
from tests.support.packages import write

pytestmark = [LEAVES_MARKS, pytest.mark.req("B3")]
# While the file `hold` is there it says its number through a FIFO and stays, in a second process that left its group.
PROVIDER = """\
#!/bin/sh
if [ -e {root}/hold ]; then
    setsid sh -c 'echo $$ > {root}/standing; exec sleep 600' &
    exec sleep 600
fi
[ "$1" = --doctor ] && exit 0
echo '{answer}'
"""
ID = "herald"
PUBLISH = ["extension", "publish-projection", ID, "board"]
COMMANDS = {
    "install": ["extension", "install", ID],
    "doctor": ["extension", "doctor", ID],
    "enable": ["extension", "enable", ID],
    "upgrade": ["extension", "upgrade", ID],
    "publish": PUBLISH,
    "invoke": ["capability", "invoke", CAPABILITY, "--goal-id", "g1", "--operation", "inspect"],
}
ASKING = ("publish", "invoke")


def arranged(root: Path, what: str) -> Station:
    """Return a world in which the command can be carried out."""
    station = Station(root)
    if what == "invoke":  # its provider does what a request says
        return station.served(ID, operation(permission="note.read")).bound()
    files = {"provider": PROVIDER.format(root=root, answer=json.dumps({"ok": True, "view": VIEW}))}
    station.put(ID, top=SURFACE, files=files)
    if what != "install":
        station.install_id(ID)
    if what == "upgrade":
        station.put(ID, top=SURFACE, files=files, version="2.0")
    return station


def command(station: Station, what: str) -> list[str]:
    code = f"""
import os, time
if os.path.exists("{station.root}/hold"):
    if os.fork() == 0:
        os.setsid()
        with open("{station.root}/standing", "w") as fifo:
            fifo.write(str(os.getpid()))
    time.sleep(600)
"""
    asked = json.dumps({"code": code} if what == "invoke" else {})
    given = ["--input-json", str(write(station.root / "request.json", asked))] if what in ASKING else []
    return [*COMMANDS[what], *given, "--execute"]


def standing(fifo: Path) -> int:
    """Wait until the provider stands; return the number of what it left."""
    reading = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        waiter = select.poll()
        waiter.register(reading, select.POLLIN)
        assert waiter.poll(PATIENCE_SECONDS * 1000), "it never stood"
        return int(os.read(reading, 64))
    finally:
        os.close(reading)


def ends(pid: int) -> bool:
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    waiter = select.poll()
    waiter.register(process, select.POLLIN)
    try:
        return bool(waiter.poll(PATIENCE_SECONDS * 1000))
    finally:
        os.close(process)


@pytest.mark.parametrize("what", COMMANDS)
def test_a_host_that_is_killed_leaves_nothing_running_and_nothing_half_done(tmp_path: Path, what: str) -> None:
    station = arranged(tmp_path / "world", what)
    words = command(station, what)
    before = station.state_file.read_bytes() if station.state_file.exists() else None
    os.mkfifo(station.root / "standing")
    write(station.root / "hold", "")

    host = subprocess.Popen(
        station.command(*words), env=station.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    left = standing(station.root / "standing")
    host.kill()
    host.wait()

    assert ends(left)
    assert (station.state_file.read_bytes() if station.state_file.exists() else None) == before
    (station.root / "hold").unlink()
    again = station(*words)
    assert (again.status, "code" in again.document) == (0, False), again
    assert station.private_directories() == []
