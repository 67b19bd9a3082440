"""Nothing that could be imported under a name that the proved closure owns lies outside its identity."""

from __future__ import annotations

import importlib.util
import marshal
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from tests.support.aviary import WAYS, Aviary
from tests.support.levels import LEAVES_MARKS
from tests.support.packages import write

pytestmark = [pytest.mark.timeout(240), pytest.mark.req("B22")]
EXIT_REFUSED = 2
Plant = Callable[[Aviary], Path]
STALE = {"command": "command_not_activated"}


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Aviary:
    return Aviary(tmp_path_factory.mktemp("aviary")).proved()


@pytest.fixture
def aviary(grown: Aviary) -> Iterator[Aviary]:
    """The environment with nothing planted in it, before and after."""
    kept = {path: (path.read_bytes(), path.stat()) for path in (*grown.site.glob("seed/*.py"),)}
    before = everything(grown)
    yield grown
    for path in sorted(everything(grown) - before, reverse=True):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    for path, (data, _) in kept.items():
        path.write_bytes(data)
    grown.canary.unlink(missing_ok=True)


def everything(aviary: Aviary) -> set[Path]:
    places = (aviary.site, aviary.scripts, aviary.added)
    found = {path for place in places for path in place.rglob("*")}
    return found | {path for path in (aviary.archive, aviary.root / "named") if path.exists()}


def put(aviary: Aviary, relative: str, below: Path | None = None) -> Path:
    return write((below or aviary.site) / relative, aviary.planted_code)


# --- plantings ------------------------------------------------------------------------------------------------------


def package_beside_a_module(aviary: Aviary) -> Path:
    return put(aviary, "feather/__init__.py")


def package_whose_folder_looks_as_old_as_before(aviary: Aviary) -> Path:
    before = aviary.site.stat()
    made = put(aviary, "feather/__init__.py")
    os.utime(aviary.site, ns=(before.st_atime_ns, before.st_mtime_ns))
    return made


def package_in_place_of_a_namespace(aviary: Aviary) -> Path:
    return put(aviary, "nest/__init__.py")


def package_deeper_in_a_namespace(aviary: Aviary) -> Path:
    return put(aviary, "nest/inner/part/__init__.py")


def package_beside_a_module_of_the_package(aviary: Aviary) -> Path:
    return put(aviary, "bird/library/__init__.py")


def byte_code_without_a_source(aviary: Aviary) -> Path:
    path = aviary.site / "bird/optional.pyc"
    path.write_bytes(byte_code(aviary.planted_code))
    return path


def code_in_a_hidden_folder(aviary: Aviary) -> Path:
    return put(aviary, "bird/.x/code.py")


def code_in_the_folder_of_byte_code(aviary: Aviary) -> Path:
    return put(aviary, "bird/__pycache__/code.py")


def extension_module_beside_a_module(aviary: Aviary) -> Path:
    return put(aviary, "feather.so")


def extension_module_of_the_stable_interface(aviary: Aviary) -> Path:
    return put(aviary, "feather.abi3.so")


def extension_module_of_this_python(aviary: Aviary) -> Path:
    return put(aviary, f"bird/library{EXTENSION_SUFFIXES[0]}")


def missing_module_of_a_required_package(aviary: Aviary) -> Path:
    return put(aviary, "seed/optional.py")


def edited_module_of_a_required_package(aviary: Aviary) -> Path:
    path = aviary.site / "seed/husk.py"
    before = path.stat()
    path.write_text(aviary.planted_code, "utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    return path


def extension_module_beside_a_required_package(aviary: Aviary) -> Path:
    return put(aviary, "seed/husk.abi3.so")


def package_on_a_path_that_a_path_file_adds(aviary: Aviary) -> Path:
    return put(aviary, "nest/__init__.py", aviary.added)


def portion_on_a_path_that_a_path_file_adds(aviary: Aviary) -> Path:
    return put(aviary, "nest/inner/__init__.py", aviary.added)


def package_in_an_archive_on_the_path(aviary: Aviary) -> Path:
    with zipfile.ZipFile(aviary.archive, "w") as archive:
        archive.writestr("nest/__init__.py", aviary.planted_code)
    return aviary.archive


def package_in_an_archive_that_only_python_reads(aviary: Aviary) -> Path:
    path = package_in_an_archive_on_the_path(aviary)
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 6] = 99  # the version needed to extract: `zipimport` does not look at it
    path.write_bytes(data)
    return path


def required_package_beside_the_script(aviary: Aviary) -> Path:
    return put(aviary, "seed.py", aviary.scripts)


def namespace_package_beside_the_script(aviary: Aviary) -> Path:
    return put(aviary, "nest/inner/part.py", aviary.scripts)


def module_of_the_standard_library_beside_the_script(aviary: Aviary) -> Path:
    return put(aviary, "json/__init__.py", aviary.scripts)


OF_THE_PACKAGE, OF_WHAT_IT_REQUIRES = {"distribution"}, {"closure"}
OF_A_PATH_LINE = {"distribution", "pth"}  # it offers an owned name now
PLANTS: list[tuple[Plant, set[str]]] = [
    (package_beside_a_module, OF_THE_PACKAGE),
    (package_whose_folder_looks_as_old_as_before, OF_THE_PACKAGE),
    (package_in_place_of_a_namespace, OF_THE_PACKAGE),
    (package_deeper_in_a_namespace, OF_THE_PACKAGE),
    (package_beside_a_module_of_the_package, OF_THE_PACKAGE),
    (byte_code_without_a_source, OF_THE_PACKAGE),
    (code_in_a_hidden_folder, OF_THE_PACKAGE),
    (code_in_the_folder_of_byte_code, OF_THE_PACKAGE),
    (extension_module_beside_a_module, OF_THE_PACKAGE),
    (extension_module_of_the_stable_interface, OF_THE_PACKAGE),
    (extension_module_of_this_python, OF_THE_PACKAGE),
    (missing_module_of_a_required_package, OF_WHAT_IT_REQUIRES),
    (edited_module_of_a_required_package, OF_WHAT_IT_REQUIRES),
    (extension_module_beside_a_required_package, OF_WHAT_IT_REQUIRES),
    (package_on_a_path_that_a_path_file_adds, OF_A_PATH_LINE),
    (portion_on_a_path_that_a_path_file_adds, OF_A_PATH_LINE),
    (package_in_an_archive_on_the_path, OF_A_PATH_LINE),
    (package_in_an_archive_that_only_python_reads, {*OF_A_PATH_LINE, "closure"}),
]
AT_START = [
    (name, place) for name in ("sitecustomize.py", "usercustomize/__init__.py") for place in ("site", "added")
]
BESIDE: list[Plant] = [
    required_package_beside_the_script,
    namespace_package_beside_the_script,
    module_of_the_standard_library_beside_the_script,
]


@pytest.mark.req("X4")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("plant", "groups"), PLANTS, ids=[row[0].__name__ for row in PLANTS])
def test_planted_code_never_runs_and_the_refusal_names_its_group(
    aviary: Aviary, plant: Plant, groups: set[str], way: str
) -> None:
    path = plant(aviary)

    refused = aviary.reach(way)

    assert not aviary.canary.exists()
    assert (refused.status, refused.code) == (EXIT_REFUSED, STALE.get(way, "readiness_stale"))
    assert set(refused.document["changed"]) == groups
    assert any(path.name in detail for detail in refused.document["changed_details"])


@pytest.mark.req("X4")
@pytest.mark.parametrize("way", ["console script", "module"])
@pytest.mark.parametrize(("name", "place"), AT_START)
def test_what_python_imports_at_its_start_is_covered(aviary: Aviary, name: str, place: str, way: str) -> None:
    path = getattr(aviary, place) / name
    write(path, "")  # loopx's own interpreter imports it, too

    refused = aviary.reach(way)

    assert (refused.code, refused.document["changed"]) == ("readiness_stale", ["pth"])


@pytest.mark.req("X4")
@pytest.mark.parametrize("way", ["console script", "hook"])
@pytest.mark.parametrize("plant", BESIDE, ids=lambda one: one.__name__)
def test_what_is_planted_beside_the_script_never_runs(aviary: Aviary, plant: Plant, way: str) -> None:
    plant(aviary)

    refused = aviary.reach(way)

    assert not aviary.canary.exists()
    assert (refused.status, refused.code) == (EXIT_REFUSED, "readiness_stale")


@pytest.mark.parametrize("plant", BESIDE, ids=lambda one: one.__name__)
def test_what_is_planted_beside_a_script_is_nothing_to_a_module(aviary: Aviary, plant: Plant) -> None:
    plant(aviary)

    answer = aviary.reach("module")

    assert not aviary.canary.exists()
    assert answer.status == 0, answer


@pytest.mark.parametrize("name", ["seed.py", "seed/__init__.py", "nest/__init__.py", "feather.abi3.so", "json.py"])
def test_what_comes_in_by_a_variable_that_the_manifest_passes_on_never_runs(aviary: Aviary, name: str) -> None:
    named = aviary.root / "named"
    put(aviary, name, named)

    refused = aviary.run("bird-module", {}, env={"PYTHONPATH": str(named)})

    assert refused.status != 0
    assert not aviary.canary.exists()


def byte_code(source: str, like: Path | None = None) -> bytes:
    """Return byte code of `source`; with `like` it says that it was compiled from that file."""
    status = like.stat() if like else None
    stamp = (int(status.st_mtime), status.st_size) if status else (0, 0)
    head = b"".join(number.to_bytes(4, "little") for number in (0, *stamp))
    return importlib.util.MAGIC_NUMBER + head + marshal.dumps(compile(source, "planted", "exec"))


@pytest.mark.req("X4")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["feather.py", "bird/library.py", "seed/husk.py"])
def test_byte_code_that_says_it_is_of_a_proved_source_is_not_executed(aviary: Aviary, way: str, name: str) -> None:
    source = aviary.site / name
    cached = Path(importlib.util.cache_from_source(str(source)))
    cached.parent.mkdir(exist_ok=True)
    cached.unlink(missing_ok=True)
    cached.write_bytes(byte_code(aviary.planted_code, source))

    answer = aviary.reach(way)

    assert answer.status == 0, answer
    assert not aviary.canary.exists()


# --- and no more than that ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "names",
    [
        ("sparrow.py", "sparrow-1.0.dist-info/METADATA", "sparrow-1.0.dist-info/RECORD"),
        ("sparrow/__init__.py", "sparrow/bird.py", "sparrow/seed/__init__.py"),
        ("nest/other/part.py",),
        ("README.md", "bird.txt", "seed.json"),
        ("feather/README.md",),
    ],
    ids=["distribution", "package", "portion of a namespace", "texts", "folder without a module"],
)
def test_what_no_owned_name_could_mean_changes_nothing(aviary: Aviary, way: str, names: tuple[str, ...]) -> None:
    for name in names:
        put(aviary, name)

    answer = aviary.reach(way)

    assert answer.status == 0, answer
    assert not aviary.canary.exists()


# --- during a run ---------------------------------------------------------------------------------------------------


@LEAVES_MARKS
@pytest.mark.req("X4")
@pytest.mark.parametrize(
    "name", ["bird/optional.py", "feather/__init__.py", "nest/__init__.py", "seed/optional.py", "seed.abi3.so"]
)
@pytest.mark.parametrize("way", ["console script", "module"])
def test_a_module_that_is_added_during_a_run_gives_no_answer(aviary: Aviary, name: str, way: str) -> None:
    answer = aviary.reach(way, plant=[str(aviary.site / name)])

    assert (answer.status, answer.code) == (EXIT_REFUSED, "changed_during_run")
    assert "provider_result" not in answer.document


@LEAVES_MARKS
@pytest.mark.req("X4")
def test_a_module_that_came_and_went_during_a_run_gives_no_answer(aviary: Aviary) -> None:
    path = str(aviary.site / "bird/optional.py")

    answer = aviary.reach("console script", plant=[path], remove=[path])

    assert answer.code == "changed_during_run"


BYTE_CODE = "bird/__pycache__/elsewhere.cpython-311.pyc"  # of somebody who imports the package meanwhile


@LEAVES_MARKS
@pytest.mark.parametrize("name", ["sparrow.py", "README.md", BYTE_CODE])
def test_what_nobody_could_import_may_come_during_a_run(aviary: Aviary, name: str) -> None:
    answer = aviary.reach("console script", plant=[str(aviary.site / name)])

    assert answer.status == 0, answer
