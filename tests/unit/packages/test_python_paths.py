"""Where another Python looks for modules is worked out from files, and it is not started."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from loopx_host.adapters.packages.python_paths import Python, path_lines, with_path_lines
from tests.support.packages import write

VERSIONS = ("3.9", "3.10", "3.11", "3.12")


def environment(prefix: Path, settings: str | None = None, *, name: str = "python3", binary: bytes = b"") -> Python:
    """Make a prefix that holds libraries of several versions, as upgrades in place leave it."""
    for version in VERSIONS:
        (prefix / f"lib/python{version}/site-packages").mkdir(parents=True)
    if settings is not None:
        write(prefix / "pyvenv.cfg", settings)
    program = prefix / "bin" / name
    program.parent.mkdir()
    program.write_bytes(binary)
    return Python(str(program))


def versions(python: Python) -> list[str]:
    """Return the versions of the site directories below the prefix of an interpreter."""
    own = [site for site in python.sites() if site.startswith(f"{python.prefix}/lib/python3.")]
    return list(dict.fromkeys(Path(site).parent.name.removeprefix("python") for site in own))


@pytest.mark.req("X4")
def test_a_link_to_a_binary_has_the_version_in_its_name(tmp_path: Path) -> None:
    write(tmp_path / "base/bin/python3.10", "")
    python = environment(tmp_path / "venv", "version = 3.9.1\n")
    Path(python.program).unlink()
    Path(python.program).symlink_to(tmp_path / "base/bin/python3.10")

    assert versions(Python(python.program)) == ["3.10"]


def test_the_interpreter_that_runs_loopx_has_its_version() -> None:
    own = f"python{sys.version_info[0]}.{sys.version_info[1]}"

    assert {Path(site).parent.name for site in Python(sys.executable).sites() if "site-packages" in site} == {own}


@pytest.mark.req("X4")
def test_a_copied_binary_has_the_version_that_is_written_in_it(tmp_path: Path) -> None:
    python = environment(tmp_path, "version = 3.9.1\n", binary=b"\x7fELF....libpython3.12.so.1.0....lib/python3.12")

    assert versions(python) == ["3.12"]


@pytest.mark.parametrize("settings", ["version = 3.10.4\n", "version_info = 3.10.4.final.0\n"])
def test_else_the_settings_of_the_environment_say_which(tmp_path: Path, settings: str) -> None:
    assert versions(environment(tmp_path, settings)) == ["3.10"]


def test_where_nothing_says_which_all_are_looked_at_the_newest_first(tmp_path: Path) -> None:
    assert versions(environment(tmp_path, name="tool")) == ["3.12", "3.11", "3.10", "3.9"]


def test_an_environment_of_its_own_sees_neither_user_nor_base(tmp_path: Path) -> None:
    python = environment(tmp_path / "venv", "home = /usr/bin\nversion = 3.11.2\n")

    assert all(site.startswith(str(tmp_path)) for site in python.sites())


def test_one_that_sees_the_base_has_its_own_first_then_the_users_then_the_bases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    settings = f"home = {tmp_path}/base/bin\ninclude-system-site-packages = TRUE\nversion = 3.11.2\n"

    sites = environment(tmp_path / "venv", settings).sites()

    order = [f"{tmp_path}/{place}" for place in ("venv/lib", "home/.local/lib", "base/lib")]
    assert [sites.index(f"{place}/python3.11/site-packages") for place in order] == sorted(
        sites.index(f"{place}/python3.11/site-packages") for place in order
    )
    for place in (
        "lib64/python3.11/site-packages",
        "lib/python3/dist-packages",
        "local/lib/python3.11/dist-packages",
    ):
        assert f"{tmp_path}/base/{place}" in sites


def test_a_path_file_adds_its_lines_in_order_and_code_adds_none(tmp_path: Path) -> None:
    write(tmp_path / "b.pth", "/last\n")
    write(tmp_path / "a.pth", "# note\nimport os\n\n/first\nbelow/../inner \n")

    assert path_lines(str(tmp_path)) == ["/first", f"{tmp_path}/inner", "/last"]
    assert with_path_lines([str(tmp_path), "/gone"]) == [
        str(tmp_path),
        "/first",
        f"{tmp_path}/inner",
        "/last",
        "/gone",
    ]
