"""Ordinary programs work behind the fence: what they are refused, they take for a kernel that does not have it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator

import pytest

from tests.support import zoo
from tests.support.zoo import C, Grounds

pytestmark = [
    pytest.mark.req("B6"),
    pytest.mark.skipif(sys.platform != "linux", reason="the fence is Linux'"),
]
IDENTITY = "-c user.name=zoo -c user.email=zoo@example.invalid"
GIT = f"""
export HOME="$PWD" GIT_CONFIG_NOSYSTEM=1
git init -q one && cd one && echo text > file && git add file && git {IDENTITY} commit -q -m first
echo more >> file && git status --porcelain && git {IDENTITY} commit -q -a -m second
cd .. && git clone -q one two && cmp one/file two/file && git -C two log --oneline | wc -l
"""
SQLITE = """
import os, sqlite3
for mode in ("delete", "truncate", "wal"):
    base = sqlite3.connect(mode)
    assert base.execute(f"pragma journal_mode={mode}").fetchone() == (mode,)
    base.execute("create table t (n)")
    for n in range(3):
        with base:
            base.execute("insert into t values (?)", (n,))
    other = sqlite3.connect(mode)
    assert other.execute("select count(*) from t").fetchone() == (3,)
    base.close(); other.close()
"""
PYTHON_PROGRAM = """
import os, shutil, subprocess, tempfile, asyncio, threading
os.makedirs("from/below"); open("from/below/file", "w").write("text"); os.symlink("file", "from/below/link")
shutil.copyfile("from/below/file", "copy")
with tempfile.NamedTemporaryFile() as made, open("copy", "rb") as source:
    shutil.copyfileobj(source, made)
assert subprocess.run(["/bin/cat", "copy"], capture_output=True).stdout == b"text"
async def child():
    one = await asyncio.create_subprocess_exec("/bin/cat", "copy", stdout=asyncio.subprocess.PIPE)
    return (await one.communicate())[0]
assert asyncio.run(child()) == b"text"
"""
COPYTREE = """
import os, shutil, stat
os.makedirs("from/below"); open("from/below/file", "w").write("text"); os.symlink("file", "from/below/link")
os.chmod("from/below/file", 0o640)
shutil.copytree("from", "to", symlinks=True)
assert open("to/below/file").read() == "text" and os.readlink("to/below/link") == "file"
assert stat.S_IMODE(os.stat("to/below/file").st_mode) == 0o640
"""
COPY = """
mkdir -p from/below && echo text > from/below/file && ln -s file from/below/link
cp -r from plain && cp -R -P from links && cmp from/below/file plain/below/file && test -L links/below/link
"""
COPY_ALL = """
mkdir -p from/below && echo text > from/below/file && ln -s file from/below/link && chmod 640 from/below/file
cp -a from to && cmp from/below/file to/below/file && test "$(stat -c %a to/below/file)" = 640
mv to moved && tar -cf all.tar from && mkdir out && tar -C out -xf all.tar && cmp out/from/below/file from/below/file
"""
NODE = """
const fs = require("fs"), child = require("child_process");
fs.mkdirSync("from/below", {recursive: true}); fs.writeFileSync("from/below/file", "text");
fs.writeFileSync("copy", fs.readFileSync("from/below/file"));
if (child.execFileSync("/bin/cat", ["copy"]).toString() !== "text") process.exit(4);
const {Worker} = require("worker_threads");
const said = "require('worker_threads').parentPort.postMessage(1)";
new Worker(said, {eval: true}).on("message", n => process.exit(n - 1));
"""
NODE_COPIES = """
const fs = require("fs");
fs.mkdirSync("from/below", {recursive: true}); fs.writeFileSync("from/below/file", "text");
fs.copyFileSync("from/below/file", "copy"); fs.cpSync("from", "to", {recursive: true});
if (fs.readFileSync("to/below/file", "utf8") !== "text") process.exit(3);
"""
PROGRAMS = {
    "sqlite": (sys.executable, "-IS", "-c", SQLITE),
    "python": (sys.executable, "-IS", "-c", PYTHON_PROGRAM),
    "cp": ("sh", "-ec", COPY),
    "node": ("node", "-e", NODE),
    "copytree": (sys.executable, "-IS", "-c", COPYTREE),
    "cp -a": ("sh", "-ec", COPY_ALL),
    "git": ("sh", "-ec", GIT),
    "node copies": ("node", "-e", NODE_COPIES),
}


@pytest.fixture(scope="module")
def grounds() -> Iterator[Grounds]:
    with zoo.grounds() as made:
        yield made


@pytest.fixture
def mark() -> Iterator[str]:
    made = zoo.new_mark()
    yield made
    zoo.exterminate(made)


def did(grounds: Grounds, mark: str, program: str, level: str, who: str) -> tuple[int | None, str]:
    name, *words = PROGRAMS[program]
    path = grounds.person(who).python if name == sys.executable else shutil.which(name)
    if path is None or (name == "sh" and shutil.which(program.split(maxsplit=1)[0]) is None):
        pytest.skip(f"there is no {name}")
    keeper = grounds.keeper("port", C, level, who)
    needs = [path, sys.base_prefix, sys.prefix]
    result = keeper.run(argv=[path, *words], reads=needs, mark=mark, request={})
    return result["exit_code"], result["stderr"]


@pytest.mark.parametrize("who", zoo.people())
@pytest.mark.parametrize("level", zoo.FENCED)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_works_behind_the_fence(grounds: Grounds, mark: str, program: str, level: str, who: str) -> None:
    assert did(grounds, mark, program, level, who) == (0, "")
