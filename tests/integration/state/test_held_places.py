"""What loopx writes, removes or changes the mode of lies where nobody else can put another thing in its place."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from loopx_host.adapters.files import places
from loopx_host.adapters.files.places import UntrustedError
from loopx_host.adapters.files.temporary_home import TemporaryHomes
from loopx_host.adapters.process.private_directory import PrivateDirectory
from loopx_host.core.errors import Refused
from tests.support.capabilities import Station
from tests.support.cli import Loopx
from tests.support.plans import SETUPS
from tests.support.providers import ECHO

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
NOBODY = 65534
Arrange = Callable[[Path], Path]


def theirs(path: Path, mode: int = 0o755) -> Path:
    path.mkdir()
    path.chmod(mode)
    os.chown(path, NOBODY, NOBODY)
    return path


def ours(path: Path, mode: int = 0o755, group: int = -1) -> Path:
    path.mkdir()
    os.chown(path, -1, group)
    path.chmod(mode)
    return path


def link(path: Path, target: Path | str, owner: int = -1) -> Path:
    path.symlink_to(target)
    os.chown(path, owner, owner, follow_symlinks=False)
    return path


# name → (a path, where it leads when it is taken)
TAKEN: dict[str, Callable[[Path], tuple[Path, Path]]] = {
    "our own": lambda top: (ours(top / "a"),) * 2,
    "everybody's, where only owners rename": lambda top: (ours(top / "a", 0o1777),) * 2,
    "our group's": lambda top: (ours(top / "a", 0o775, os.getegid()),) * 2,
    "a link of ours": lambda top: (link(top / "link", ours(top / "a")), top / "a"),
    "a relative link": lambda top: (link(top / "link", "./a/../a", os.geteuid()), ours(top / "a")),
    "through a link": lambda top: (link(top / "link", ours(top / "a")) / ours(top / "a/b").name, top / "a/b"),
    "a link to a link": lambda top: (link(top / "two", link(top / "one", ours(top / "a"))), top / "a"),
    "a link beside others' in everybody's": lambda top: (
        link(ours(top / "a", 0o1777) / "link", ours(top / "b")),
        top / "b",
    ),
}
REFUSED: dict[str, Arrange] = {
    "another's": lambda top: theirs(top / "a"),
    "below another's": lambda top: ours(theirs(top / "a") / "b"),
    "another's, where only owners rename": lambda top: ours(theirs(top / "a", 0o1777) / "b"),
    "everybody's": lambda top: ours(ours(top / "a", 0o777) / "b"),
    "another group's": lambda top: ours(ours(top / "a", 0o775, NOBODY) / "b"),
    "a link of another's": lambda top: link(ours(top / "s", 0o1777) / "link", ours(top / "a"), NOBODY),
    "a link that leads through another's": lambda top: link(top / "link", ours(theirs(top / "a") / "b")),
}


@as_root
@pytest.mark.parametrize("what", TAKEN)
def test_a_directory_that_stays_what_it_is_is_taken_with_its_links_resolved(tmp_path: Path, what: str) -> None:
    path, real = TAKEN[what](tmp_path)

    assert places.directory(str(path)) == str(real)


@as_root
@pytest.mark.parametrize("what", REFUSED)
def test_a_directory_that_somebody_else_could_swap_is_refused(tmp_path: Path, what: str) -> None:
    path = REFUSED[what](tmp_path)

    with pytest.raises(UntrustedError):
        places.directory(str(path))
    with pytest.raises(UntrustedError):
        places.directory(str(path / "new"), make=True)
    assert not (path / "new").exists()
    assert places.holds(str(path / "new")) is False


@pytest.mark.parametrize("path", ["", ".", "a", "../a", "~/a"])
def test_a_path_that_is_not_absolute_is_no_place(path: str) -> None:
    with pytest.raises(OSError, match="argument"):
        places.directory(path, make=True)


def test_where_no_temporary_place_stays_what_it_is_a_run_and_a_home_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "temporary", list)

    with pytest.raises(OSError, match="rename"):
        PrivateDirectory.create()
    with pytest.raises(Refused) as refused, TemporaryHomes().make():
        pass
    assert refused.value.code == "output_unwritable"


def test_a_link_to_itself_ends(tmp_path: Path) -> None:
    link(tmp_path / "loop", "loop")

    with pytest.raises(OSError, match="symbolic"):
        places.directory(str(tmp_path / "loop"))


def test_what_is_missing_is_made_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o777)
    try:
        made = places.directory(str(tmp_path / "a/b/c"), make=True)
    finally:
        os.umask(before)

    assert made == str(tmp_path / "a/b/c")
    assert {path.stat().st_mode & 0o7777 for path in (tmp_path / "a", tmp_path / "a/b", tmp_path / "a/b/c")} == {
        0o700
    }
    with pytest.raises(FileNotFoundError):
        places.directory(str(tmp_path / "missing"))


# --- a state in such places -----------------------------------------------------------------------------------


def victim(root: Path) -> Path:
    """Make a directory with files that somebody wants to keep, one of them named like a schema of ours."""
    made = ours(root / "victim")
    for name in ("precious", f"{'a' * 64}.json", "board.json"):
        (made / name).write_text("kept", "ascii")
    return made


def names(folder: Path) -> list[tuple[str, str]]:
    return sorted((path.name, path.read_text("ascii")) for path in folder.iterdir())


@pytest.mark.parametrize("sibling", ["", "/schemas", "/projections", "/projections/subject"])
@pytest.mark.parametrize("words", sorted(SETUPS))
def test_a_link_in_the_place_of_what_is_kept_with_the_state_is_never_followed(
    tmp_path: Path, words: str, sibling: str
) -> None:
    world = Station(tmp_path / "world")
    command = SETUPS[words](world)
    kept = Path(f"{world.state_file}.d{sibling}")
    aside = kept.with_name("aside")
    if kept.exists():
        kept.rename(aside)
    kept.parent.mkdir(parents=True, exist_ok=True)
    there = victim(tmp_path)
    before = names(there)
    link(kept, there)

    world(*command, "--execute")

    assert names(there) == before


def test_schemas_are_not_kept_behind_a_link(tmp_path: Path) -> None:
    loopx = Loopx(tmp_path / "loopx")
    manifest = loopx.write_extension("schemed", ECHO, request_schema="request.schema.json")
    manifest.with_name("request.schema.json").write_text('{"type": "object"}', "ascii")
    kept = Path(f"{loopx.state_file}.d")
    kept.mkdir()
    there = victim(tmp_path)
    link(kept / "schemas", there)

    answer = loopx.install(manifest)

    assert (answer.status, answer.code) == (2, "state_unsafe"), answer
    assert len(names(there)) == 3


@as_root
@pytest.mark.parametrize("what", ["another's", "everybody's", "another group's"])
def test_a_state_is_not_written_where_somebody_else_could_swap_it(tmp_path: Path, what: str) -> None:
    loopx = Loopx(tmp_path / "loopx")
    manifest = loopx.write_extension("echo", ECHO)
    folder = REFUSED[what](tmp_path)
    loopx.state_file = folder / "state.json"

    answer = loopx.install(manifest)

    assert (answer.status, answer.code) == (2, "state_unsafe"), answer
    assert list(folder.iterdir()) == []


@as_root
@pytest.mark.parametrize("variable", ["XDG_RUNTIME_DIR", "TMPDIR"])
@pytest.mark.parametrize("what", REFUSED)
def test_a_temporary_place_that_somebody_else_could_swap_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, variable: str
) -> None:
    for name in ("XDG_RUNTIME_DIR", "TMPDIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, str(REFUSED[what](tmp_path)))

    assert places.temporary() == ["/tmp"]


@as_root
def test_a_cache_that_somebody_else_could_swap_is_not_used(tmp_path: Path) -> None:
    loopx = Loopx(tmp_path / "loopx")
    cache = ours(theirs(tmp_path / "theirs") / "cache")
    manifest = loopx.write_extension("echo", ECHO)
    loopx.env["XDG_CACHE_HOME"] = str(cache)

    answers = [loopx.install(manifest), loopx.run("echo", {}), loopx("extension", "discover")]

    assert [answer.status for answer in answers] == [0, 0, 0]
    assert list(cache.iterdir()) == []


@as_root
@pytest.mark.parametrize("words", [("extension", "init", "fresh"), ("extension", "export")])
def test_nothing_is_written_for_a_caller_where_somebody_else_could_swap_it(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    loopx = Loopx(tmp_path / "loopx")
    folder = theirs(tmp_path / "theirs")
    option = "--destination" if "init" in words else "--output"

    answer = loopx(*words, option, str(folder / "new"), "--execute")

    assert (answer.status, answer.code) == (74, "output_unwritable"), answer
    assert list(folder.iterdir()) == []
