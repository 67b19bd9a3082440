"""What an import statement could take for a name that is owned, and nothing else."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from loopx_host.adapters.packages.fingerprints import Watch, is_unchanged
from loopx_host.adapters.packages.importable import Importable, names_of
from tests.support.packages import write

OWNED = ["m.py", "pkg/__init__.py", "pkg/data.json", "ns/inner/mod.py", "../../../bin/x", "m-1.0.dist-info/METADATA"]


def found(entry: Path, *, reads_caches: bool = False) -> list[str]:
    look = Importable(Watch(), reads_caches=reads_caches)
    return sorted(str(Path(path).relative_to(entry)) for path in look.files([str(entry)], names_of(OWNED)))


@pytest.mark.req("B22")
@pytest.mark.parametrize(
    "name",
    [
        "m.py",
        "m.pyc",
        "m.so",
        "m.abi3.so",
        "m.cpython-311-x86_64-linux-gnu.so",
        "m/__init__.py",
        "m/__init__.pyc",
        "m/__init__.abi3.so",
        "pkg/anything",
        "pkg/.hidden/code.py",
        "pkg/__pycache__/bare.pyc",
        "pkg/__pycache__/source.py",
        "ns/__init__.py",
        "ns/__init__.so",
        "ns/inner.py",
        "ns/inner/new.py",
        "ns/inner/deeper/data",
    ],
)
def test_what_a_name_could_mean_counts(tmp_path: Path, name: str) -> None:
    write(tmp_path / "pkg/__init__.py", "")

    write(tmp_path / name, "")

    assert name in found(tmp_path)


@pytest.mark.req("B22")
@pytest.mark.parametrize("package", ["m", "ns"])
def test_of_what_became_a_package_all_that_it_would_import_counts(tmp_path: Path, package: str) -> None:
    parts = [f"{package}/__init__.py", f"{package}/deeper/part.py", f"{package}/part.py"]

    for part in parts:
        write(tmp_path / part, "")

    assert found(tmp_path) == parts


@pytest.mark.req("B22")
@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "m.txt",
        "m/part.py",
        "m-2.0.dist-info/RECORD",
        "other.py",
        "other/__init__.py",
        ".m.py",
        "ns/other/__init__.py",
        "ns/other.py",
        "pkg/__pycache__/__init__.cpython-311.pyc",
        "__pycache__/m.cpython-311.pyc",
    ],
)
def test_what_no_owned_name_could_mean_does_not(tmp_path: Path, name: str) -> None:
    write(tmp_path / "pkg/__init__.py", "")

    write(tmp_path / name, "")

    assert found(tmp_path) == ["pkg/__init__.py"]


@pytest.mark.parametrize("name", ["pkg/__pycache__/__init__.cpython-311.pyc", "__pycache__/m.cpython-311.pyc"])
def test_cached_byte_code_counts_for_an_interpreter_that_takes_it(tmp_path: Path, name: str) -> None:
    write(tmp_path / "pkg/__init__.py", "")

    write(tmp_path / name, "")

    assert name in found(tmp_path, reads_caches=True)


def test_a_link_to_a_folder_above_ends(tmp_path: Path) -> None:
    write(tmp_path / "pkg/__init__.py", "")
    (tmp_path / "pkg/loop").symlink_to(tmp_path / "pkg")

    assert found(tmp_path) == ["pkg/__init__.py"]


def test_an_archive_counts_whole_where_it_holds_an_owned_name(tmp_path: Path) -> None:
    for name, member in (("with.zip", "pkg/__init__.py"), ("without.zip", "other.py")):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(member, "")
    write(tmp_path / "broken.zip", "no archive")
    entries = [str(path) for path in sorted(tmp_path.glob("*.zip"))]

    counting = Importable(Watch()).files(entries, names_of(OWNED))

    # Python reads archives that `zipfile` refuses: what cannot be looked into may hold any name.
    assert [Path(path).name for path in counting] == ["broken.zip", "with.zip"]


@pytest.mark.req("B22")
@pytest.mark.parametrize("name", ["m.py", "m/__init__.py", "pkg/new", "pkg/__pycache__/new.pyc", "ns/__init__.py"])
def test_whatever_could_come_shows_in_the_stat_of_what_was_looked_at(tmp_path: Path, name: str) -> None:
    for folder in ("pkg/__pycache__", "ns/inner", "m"):
        (tmp_path / folder).mkdir(parents=True)
    write(tmp_path / "pkg/__init__.py", "")
    watch = Watch()
    Importable(watch).files([str(tmp_path)], names_of(OWNED))
    before = is_unchanged(watch.rows)

    write(tmp_path / name, "")

    assert (before, is_unchanged(watch.rows)) == (True, False)
