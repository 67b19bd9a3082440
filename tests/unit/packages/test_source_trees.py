"""Where modules lie is read from files; a finder is parsed and never executed."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from loopx_host.adapters.packages import editable_forms
from loopx_host.adapters.packages.distributions import Installed
from loopx_host.adapters.packages.source_trees import (
    code_lines,
    covered_sources,
    folder_of,
    is_editable_unresolved,
    pointers,
)
from tests.support.packages import distribution, write

START = {
    "__editable__.some_vane.pth": "import __editable___some_vane_finder; __editable___some_vane_finder.install()"
}


def edited(site: Path, source: Path, files: dict[str, str], name: str = "some-vane") -> Installed:
    return Installed(str(distribution(site, name, files=files, editable=source)))


@pytest.mark.parametrize("package", ["", ".", "..", "a..b", "../x", "a/b", "a-b", "1a", "/etc"])
def test_what_is_no_dotted_name_leads_nowhere(tmp_path: Path, package: str) -> None:
    found = Installed(str(distribution(tmp_path, "vane")))

    assert folder_of(package, found, [str(tmp_path)]) is None


def test_its_own_site_counts_before_other_places(tmp_path: Path) -> None:
    found = Installed(str(distribution(tmp_path / "own", "vane", files={"vane/x": ""})))
    write(tmp_path / "other/vane/x", "")

    assert folder_of("vane", found, [str(tmp_path / "other")]) == str(tmp_path / "own/vane")


@pytest.mark.parametrize(
    "name",
    [
        "some_vane.pth",
        "_some_vane.pth",
        "__editable__.some_vane-1.0.pth",
        "__editable__.some-vane.pth",
        "Some_Vane.pth",
    ],
)
def test_a_path_file_called_after_the_distribution_is_followed_without_a_record(tmp_path: Path, name: str) -> None:
    write(tmp_path / "src/vane/x", "")
    write(tmp_path / "site" / name, f"# note\nimport os\n{tmp_path / 'src'}\n{tmp_path / 'gone'}\n")
    found = edited(tmp_path / "site", tmp_path, {})

    assert folder_of("vane", found, []) == str(tmp_path / "src/vane")
    assert not is_editable_unresolved(found)


@pytest.mark.parametrize("name", ["vane.pth", "other_some_vane.pth", "some_vane_more.pth", "easy-install.pth"])
def test_a_path_file_of_somebody_else_is_not_followed(tmp_path: Path, name: str) -> None:
    write(tmp_path / "src/vane/x", "")
    write(tmp_path / "site" / name, f"{tmp_path / 'src'}\n")

    assert folder_of("vane", edited(tmp_path / "site", tmp_path, {}), []) is None


@pytest.mark.parametrize(
    "source",
    [
        "MAPPING = {'vane': '%s'}",
        "MAPPING: dict[str, str] = {'vane': '%s'}",
        "import sys\nNAMESPACES = {}\nMAPPING = {'vane': '%s', 'number': 5, 6: 'x'}\nraise SystemExit\n",
    ],
)
def test_a_literal_mapping_is_followed(tmp_path: Path, source: str) -> None:
    place = write(tmp_path / "src/vane/x", "").parent
    files = {"__editable___some_vane_finder.py": source % place, **START}

    found = edited(tmp_path / "site", tmp_path, files)

    assert folder_of("vane", found, []) == str(place)
    assert sorted(pointers(found)) == [str(tmp_path / "site" / name) for name in sorted(files)]


@pytest.mark.parametrize(
    "source",
    [
        "install(dict(vane='x'))",
        "map_module(1, 2)",
        "MAPPING = {",
        "MAPPING = " + "(" * 100_000,
        "MAPPING",
        "",
        "\x00",
    ],
    ids=["call", "no text", "syntax", "deep", "name", "empty", "nul"],
)
def test_any_other_finder_leads_nowhere(tmp_path: Path, source: str) -> None:
    found = edited(tmp_path / "site", tmp_path, {"__editable___some_vane_finder.py": source, **START})

    assert is_editable_unresolved(found)


def test_everything_that_can_be_imported_from_a_source_is_covered(tmp_path: Path) -> None:
    root = tmp_path / "src"
    for name in ("vane/__init__.py", "sibling.py", "fast.so", "notes.txt", "docs/index.md", ".hidden/__init__.py"):
        write(root / name, "")
    found = edited(tmp_path / "site", tmp_path, {"_some_vane.pth": f"{root}\n"})

    covered = covered_sources(found, ["docs"], [])

    assert sorted(Path(path).name for path in covered) == ["docs", "fast.so", "sibling.py", "vane"]


def test_only_lines_that_python_executes_are_code(tmp_path: Path) -> None:
    path = write(tmp_path / "x.pth", "# import a\n/somewhere\nimport os\n import b\nimport\tsys\nimported\n")

    assert code_lines(str(path)) == [3, 5]


@pytest.mark.parametrize(
    ("module", "source", "package", "place"),
    [
        (
            "__editable___x_finder",
            "MAPPING = {'ns.vane': '%s/ns/vane'}\nNAMESPACES = {'ns': []}\n",
            "ns.vane",
            "ns/vane",
        ),
        ("_editable_impl_x", "F.map_module('vane', '%s/vane/__init__.py')\n", "vane", "vane"),
        ("_editable_skbc_x", "install({'vane': '%s/vane/__init__.py'}, {})\n", "vane", "vane"),
        ("_x_editable", "install({'vane.deep': '%s/deep/__init__.py'}, {})\n", "vane.deep.er", "deep/er"),
    ],
    ids=["setuptools", "editables", "scikit-build-core", "inner package"],
)
def test_whatever_a_backend_calls_its_finder_it_is_followed(
    tmp_path: Path, module: str, source: str, package: str, place: str
) -> None:
    (tmp_path / "src" / place).mkdir(parents=True)
    files = {f"{module}.py": source % (tmp_path / "src"), "x.pth": f"import {module}"}

    found = edited(tmp_path / "site", tmp_path, files)

    assert folder_of(package, found, []) == str(tmp_path / "src" / place)


def test_a_finder_that_asks_a_build_directory_is_said_to_need_the_path(tmp_path: Path) -> None:
    files = {"_x_loader.py": "install('x', {'vane'}, '/build', ['ninja'])\n", "x.pth": "import _x_loader"}

    assert is_editable_unresolved(edited(tmp_path / "site", tmp_path, files))


LINES = 'MAPPING = {mapping}\nNAMESPACES = {namespaces}\nPATH_PLACEHOLDER = {name} + ".__path_hook__"\n'


@pytest.mark.req("B22")
@pytest.mark.parametrize(
    ("mapping", "namespaces", "name", "is_known"),
    [
        ("{'a': '/b'}", "{'n': ['/p']}", "'x'", True),
        ("{}", "{'n': ('/p',)}", "'x'", False),
        ("{}", "{'n': '/p'}", "'x'", False),
        ("{}", "{'n': ['/p', 1]}", "'x'", False),
        ("{1: '/b'}", "{}", "'x'", False),
        ("dict(a='/b')", "{}", "'x'", False),
        ("{}", "{}", "print()", False),
    ],
)
def test_a_finder_is_known_only_with_values_as_its_backend_writes_them(
    monkeypatch: pytest.MonkeyPatch, mapping: str, namespaces: str, name: str, is_known: bool
) -> None:
    empty = LINES.format(mapping="{}", namespaces="{}", name="''")
    monkeypatch.setattr(editable_forms, "_FINDERS", {sha256(empty.encode()).hexdigest()})

    found = editable_forms.generated(LINES.format(mapping=mapping, namespaces=namespaces, name=name))

    assert (found is not None) is is_known
