"""A stat that two contents can share is remembered by nobody (decision 0007).

The last tests mount a real file system that keeps whole seconds; they need root.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from loopx_host.adapters.files.bounded import is_settled
from loopx_host.adapters.packages.fingerprints import Watch, touched
from tests.support.cli import Loopx
from tests.support.levels import CHANGES_ITSELF
from tests.support.packages import write

MS, SECOND = 10**6, 10**9
NOON = 1_700_000_000 * SECOND  # an even second


@pytest.mark.req("X4")
@pytest.mark.parametrize(
    ("modified", "changed", "at", "settled"),
    [
        (NOON + 7, NOON + 7, NOON + 99 * MS, False),
        (NOON + 7, NOON + 7, NOON + 101 * MS, True),
        (NOON, NOON, NOON + 1_900 * MS, False),
        (NOON, NOON, NOON + 2_001 * MS, True),
        (NOON + SECOND, NOON + SECOND, NOON + 2_900 * MS, False),  # an odd second
        (NOON - 99 * SECOND, NOON, NOON + 1_900 * MS, False),  # unpacked with an old time
        (NOON - 99 * SECOND, NOON + 7, NOON + 101 * MS, True),  # the same where fractions are kept
        (NOON + 7, NOON, NOON + 101 * MS, True),
        (NOON + 60 * SECOND, NOON + 60 * SECOND, NOON + SECOND, False),  # another clock
        (NOON + 60 * SECOND + 7, NOON + 7, NOON + SECOND, False),  # its own clock, a time that somebody set
    ],
)
def test_what_is_settled(modified: int, changed: int, at: int, settled: bool) -> None:
    assert is_settled(modified, changed, at) is settled


@pytest.mark.req("X4")
def test_a_file_that_was_not_settled_when_it_was_hashed_is_compared_by_its_bytes(tmp_path: Path) -> None:
    path = str(write(tmp_path / "file", "one\n"))
    watch = Watch()
    watch.digest(path)
    status = os.stat(path)
    another = "0" * 64  # as if other bytes had had this stat
    rows = {path: [*watch.rows[path][:-1], another]}

    assert touched(watch.rows, status.st_ctime_ns) == []
    assert touched(rows, status.st_ctime_ns) == [path]
    assert touched(rows, status.st_ctime_ns + 3 * SECOND) == []


@pytest.mark.req("X4")
def test_a_directory_whose_time_was_put_back_is_seen(tmp_path: Path) -> None:
    watch = Watch()
    watch.glance(str(tmp_path))
    before = os.stat(tmp_path)

    write(tmp_path / "new", "")
    os.utime(tmp_path, ns=(before.st_atime_ns, before.st_mtime_ns))

    from loopx_host.adapters.packages.fingerprints import is_unchanged

    assert not is_unchanged(watch.rows)


# Runs `body` with a Host, a folder `old` that keeps whole seconds, and what it needs to hit one second.
DRIVER = """\
import os, sys, time
from loopx_host import Host, Refused

old, state = sys.argv[1:]

def new_second():
    time.sleep(1.02 - time.time() % 1)

def rewrite(path, data):
    with open(path, "r+b") as file:
        file.write(data)

path = os.path.join(old, "provider")
proved = open(path, "rb").read()
with Host.open(state_file=state) as host:
{body}
"""


@pytest.fixture
def mounted(tmp_path: Path) -> Loopx:
    if os.geteuid() != 0 or not (shutil.which("mkfs.ext4") and shutil.which("unshare")):
        pytest.skip("needs root, mkfs.ext4 and unshare")
    return Loopx(tmp_path)


def on_whole_seconds(loopx: Loopx, provider: str, body: str) -> str:
    """Install `provider` from a file system that keeps whole seconds, run `body` with a Host; return what it said."""
    disk, old = loopx.root / "disk", loopx.root / "old"
    subprocess.run(["dd", "if=/dev/zero", f"of={disk}", "bs=1M", "count=8", "status=none"], check=True)
    subprocess.run(["mkfs.ext4", "-q", "-I", "128", str(disk)], check=True, stderr=subprocess.DEVNULL)
    old.mkdir()
    manifest = loopx.write_extension("second", provider, entrypoint=str(old / "provider"))
    driver = write(loopx.root / "driver.py", DRIVER.format(body=textwrap.indent(textwrap.dedent(body), "    ")))
    install = [os.fsdecode(word) for word in loopx.command("extension", "install", "--manifest", str(manifest))]
    script = """
        mount -o loop "$1" "$2" || exit 9
        cp -p "$3" "$2/provider"; shift 3
        "$@" --execute >/dev/null || exit 8
    """
    words = [str(disk), str(old), str(manifest.with_name("provider")), *install]
    after = f'"{sys.executable}" "{driver}" "{old}" "{loopx.state_file}"; rc=$?; umount "{old}"; exit $rc'
    ended = subprocess.run(
        ["unshare", "-m", "sh", "-c", script + after, "sh", *words],
        env=loopx.env,
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode == 9:
        pytest.skip(f"no loop mount here: {ended.stderr}")
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


@CHANGES_ITSELF
@pytest.mark.req("X4")
def test_a_launcher_rewritten_by_its_run_within_the_second_gives_no_answer(mounted: Loopx) -> None:
    provider = f"""#!{sys.executable} -S
import os, sys
if os.path.exists(sys.argv[0] + ".go"):
    data = open(sys.argv[0], "rb").read()
    with open(sys.argv[0], "r+b") as file:
        file.write(data.replace(b"AAAA", b"ZZZZ"))
print('{{"ok": true}}')
"""
    body = """
    host.run("second", {})  # starts what later runs need
    open(path + ".go", "w").close()
    new_second()
    rewrite(path, proved)
    before = os.stat(path)
    try:
        said = host.run("second", {})["status"]
    except Refused as refused:
        said = refused.document["code"]
    print(said if os.stat(path)[8:] == before[8:] else "too slow")
    """

    assert on_whole_seconds(mounted, provider, body) in ("changed_during_run", "too slow")


@pytest.mark.req("X4")
def test_a_module_that_came_beside_a_launcher_within_the_second_is_seen(mounted: Loopx) -> None:
    provider = f"#!{sys.executable} -S\nprint('{{\"ok\": true}}')\n"
    body = """
    new_second()
    open(os.path.join(old, "first.py"), "w").close()
    os.unlink(os.path.join(old, "first.py"))
    time.sleep(0.2)
    host.list()
    open(os.path.join(old, "json.py"), "w").close()
    print(host.list()["extensions"][0]["reason"])
    """

    assert on_whole_seconds(mounted, provider, body) == "readiness_stale"
