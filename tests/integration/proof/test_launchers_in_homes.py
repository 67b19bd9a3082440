"""A launcher in a home opens the launcher and no more of that home, whoever's it is and whatever HOME says."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopx_host.adapters.packages import needed_files
from tests.support import zoo
from tests.support.zoo import Guest

pytestmark = [pytest.mark.req("B6"), pytest.mark.skipif(sys.platform != "linux", reason="the fence is Linux'")]
UNKNOWN = 54321
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def ground() -> Iterator[Path]:
    with zoo.ground(zoo.person("root" if os.geteuid() == 0 else "self")) as made:
        yield made


def launcher(folder: Path, name: str = "tool") -> str:
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / name
    made.write_text("#!/bin/sh\n", encoding="ascii")
    made.chmod(0o755)
    return str(made)


@as_root
def test_the_home_of_another_user_is_not_opened(ground: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a directory service would know it: no file names this home, only its owner's entry."""
    home = ground / "people/bob"
    monkeypatch.setattr(pwd, "getpwuid", entries({UNKNOWN: str(home)}))
    programs = [launcher(home), launcher(home / "bin"), launcher(home / "shims"), launcher(home / "tools/one")]
    for path in (home, *home.rglob("*")):
        os.chown(path, UNKNOWN, UNKNOWN)

    opened = {
        path: {*needed_files.of_unowned(path), *(one for one in needed_files.of_programs([path]) if one != path)}
        for path in programs
    }

    assert [path for path, folders in opened.items() if folders & {str(home), str(home.parent)}] == []
    assert opened[programs[0]] == set()
    assert opened[programs[3]] == {str(home / "tools/one")}


@as_root
@pytest.mark.parametrize("below", ["", "shims"])
@pytest.mark.parametrize("within", [".", "people/bob"], ids=["what holds the home", "the home"])
def test_a_home_is_not_opened_by_the_name_of_a_link_to_it(
    ground: Path, monkeypatch: pytest.MonkeyPatch, within: str, below: str
) -> None:
    """Neither by one to what holds it: the fence follows links, and what it opens is where they lead."""
    home = ground / "people/bob"
    home.mkdir(parents=True)
    os.chown(home, UNKNOWN, UNKNOWN)
    monkeypatch.setattr(pwd, "getpwuid", entries({UNKNOWN: str(home), os.geteuid(): str(home)}))
    link = ground / "opt"
    link.symlink_to(ground / within)
    path = launcher(link / below)

    opened = {*needed_files.of_unowned(path), *needed_files.of_programs([path])} - {path, os.path.realpath(path)}

    assert [one for one in opened if os.path.realpath(one) in (str(home), str(ground), str(ground / "people"))] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
def test_a_home_is_not_opened_where_it_is_mounted_a_second_time(ground: Path) -> None:
    home, second = ground / "home", ground / "second"
    for folder in (home, second):
        folder.mkdir()
    code = (
        "import pwd, sys; from loopx_host.adapters.packages import needed_files\n"
        "pwd.getpwuid = lambda one: pwd.struct_passwd(('bob', 'x', one, one, '', sys.argv[2], '/bin/sh'))\n"
        "print(needed_files.of_unowned(sys.argv[1]))"
    )
    mounted = 'mount --make-rprivate / && mount --bind "$1" "$2" && exec "$3" -c "$4" "$2/tool" "$1"'
    bare = ["unshare", "-m", "sh", "-c", mounted, "sh", str(home), str(second), sys.executable, code]
    answer = subprocess.run(bare, capture_output=True, text=True, check=False)
    if "unshare" in answer.stderr or "mount" in answer.stderr:
        pytest.skip("no mounts to be had here")

    assert (answer.stdout, answer.returncode) == ("[]\n", 0), answer


@as_root
def test_a_user_nobody_knows_opens_nothing_beyond_the_launchers_own_folder(ground: Path) -> None:
    home = ground / "unnamed"
    programs = [launcher(home / "shims"), launcher(home / "tools")]
    for path in (home, *home.rglob("*")):
        os.chown(path, UNKNOWN, UNKNOWN)

    opened = [{*needed_files.of_unowned(path), *needed_files.of_programs([path])} - {path} for path in programs]

    assert opened == [{str(home / "shims")}, {str(home / "tools")}]


@pytest.mark.parametrize("kept", [".ssh/id_ed25519", ".bashrc", ".gnupg/key", ".netrc"])
@pytest.mark.parametrize("below", ["", "shims"])
def test_what_looks_like_a_home_is_not_opened(ground: Path, kept: str, below: str) -> None:
    home = ground / "somebody"
    (home / kept).parent.mkdir(parents=True, exist_ok=True)
    (home / kept).touch()
    path = launcher(home / below)

    opened = {*needed_files.of_unowned(path), *needed_files.of_programs([path])}

    assert str(home) not in opened


@pytest.mark.parametrize("home", ["", "/nowhere", "/usr"])
def test_the_variable_has_no_say(ground: Path, monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    path = launcher(ground / "tool")
    own = pwd.getpwuid(os.geteuid()).pw_dir
    plain = (needed_files.of_unowned(path), needed_files.of_unowned(os.path.join(own, "tool")))

    monkeypatch.setenv("HOME", home or str(ground / "tool"))

    assert (needed_files.of_unowned(path), needed_files.of_unowned(os.path.join(own, "tool"))) == plain
    assert plain == ([str(ground / "tool")], [])


@pytest.mark.parametrize("shared", ["/tmp", "/var/tmp", "/dev/shm", "/", "/home"])
def test_what_everybody_writes_to_is_not_opened(shared: str) -> None:
    assert needed_files.of_unowned(os.path.join(shared, "tool")) == []


@as_root
@pytest.mark.parametrize("owner", [UNKNOWN, 0])
def test_a_provider_in_a_home_reads_no_key_of_it(ground: Path, owner: int) -> None:
    guest = Guest(ground / "guest", zoo.person("root"))
    home = ground / "unnamed"
    key = home / ".ssh/id_zoo"
    key.parent.mkdir(parents=True)
    key.write_text("a key\n", encoding="ascii")
    manifest = guest.write_extension("zoo", zoo.python_animals(sys.executable))
    provider = home / "provider"
    manifest.with_name("provider").rename(provider)
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(text.replace(str(manifest.with_name("provider")), str(provider)), encoding="utf-8")
    for path in (home, *home.rglob("*")):
        os.chown(path, owner, owner)
    assert str(provider) in manifest.read_text(encoding="utf-8")
    assert guest.install(manifest).status == 0

    answer = guest.run("zoo", {"animal": "reader", "secret": str(key)})

    assert answer.status == 0, answer
    assert zoo.managed(answer.document["provider_result"]) == set()


def entries(homes: dict[int, str]) -> object:
    """Return what looks up users, with some more of them."""
    known = pwd.getpwuid

    def look_up(number: int) -> pwd.struct_passwd:
        if number in homes:
            return pwd.struct_passwd(("bob", "x", number, number, "", homes[number], "/bin/sh"))
        return known(number)

    return look_up


@pytest.mark.parametrize("folder", ["node_modules", "vendor"])
def test_a_launcher_reads_the_packages_that_lie_beside_its_own(tmp_path: Path, folder: str) -> None:
    """Trial N15: what a package requires lies beside it, or in a folder of packages further out."""
    packages = tmp_path / "app" / folder
    inner = packages / "one" / folder / "two"
    for place in (packages / ".bin", inner):
        place.mkdir(parents=True)
    (inner / "cli").touch()
    link = packages / ".bin/cli"
    link.symlink_to(inner / "cli")

    assert set(needed_files.of_unowned(str(link))) == {str(packages), str(packages / ".bin"), str(inner)}
    assert str(packages.parent) not in needed_files.of_unowned(str(inner / "cli"))
