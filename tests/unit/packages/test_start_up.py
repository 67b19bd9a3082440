"""Which lines of `.pth` files count: by what they offer, by what a generated finder maps, or whole."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from loopx_host.adapters.packages import editable_forms, start_up
from loopx_host.adapters.packages.coverage import Coverage
from loopx_host.adapters.packages.editable_forms import Finder
from loopx_host.adapters.packages.fingerprints import Watch
from tests.support.packages import write

EDITABLES = "from editables.redirector import RedirectingFinder as F\nF.install()\nF.map_module({name!r}, {path!r})"
START = "import _editable_impl_x\n"


REDIRECTOR = "class RedirectingFinder: pass\n"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site directory that holds the package `owned`, a module `single`, and one part of the namespace `ns`."""
    for name in ("owned/__init__.py", "single.py", "ns/part/__init__.py"):
        write(tmp_path / "site" / name, "")
    for name in ("__init__.py", "redirector.py"):
        write(tmp_path / "site/editables" / name, REDIRECTOR)
    monkeypatch.setattr(editable_forms, "_LIBRARIES", ({sha256(REDIRECTOR.encode()).hexdigest()},))
    return tmp_path / "site"


def rows(site: Path) -> list[list[str]]:
    watch = Watch()
    coverage = Coverage(watch, [str(site)])
    coverage.modules(["owned", "single", "ns.part"], [])
    return start_up.rows([str(site)], coverage, watch)


@pytest.mark.req("X4", "B22")
@pytest.mark.parametrize(
    ("offered", "counts"),
    [
        ("owned/__init__.py", True),
        ("owned.py", True),
        ("single.cpython-311-x86_64-linux-gnu.so", True),
        ("single/__init__.py", True),
        ("ns/part.py", True),
        ("ns/__init__.py", True),
        ("ns/other/__init__.py", False),
        ("stranger/__init__.py", False),
        ("README.md", False),
        ("single.txt", False),
    ],
)
def test_a_path_line_counts_by_the_names_it_offers(site: Path, tmp_path: Path, offered: str, counts: bool) -> None:
    write(tmp_path / "elsewhere" / offered, "")
    write(site / "x.pth", f"# note\n\n{tmp_path / 'elsewhere'}\n")

    found = rows(site)

    assert bool(found) is counts
    assert all(says.startswith("x.pth line 3 ") for _, says in found)


@pytest.mark.req("X4")
@pytest.mark.parametrize(("name", "counts"), [("owned", True), ("owned.more", True), ("other", False)])
def test_a_generated_finder_counts_by_what_it_maps(site: Path, tmp_path: Path, name: str, counts: bool) -> None:
    source = write(tmp_path / "src/__init__.py", "")
    write(site / "x.pth", START)
    write(site / "_editable_impl_x.py", EDITABLES.format(name=name, path=str(source)))

    before = rows(site)
    write(source, "changed = 1\n")

    assert bool(before) is counts
    assert (rows(site) != before) is counts


@pytest.mark.req("X4", "B22")
@pytest.mark.parametrize(
    ("line", "source"),
    [
        ("import os\n", ""),
        ("import _editable_impl_x, os\n", EDITABLES),
        ("import _editable_impl_x; exec('1')\n", EDITABLES),
        (START, EDITABLES + "\nprint(1)"),
        (START, "print(1)\n" + EDITABLES),
        (START, "MAPPING = {{}}\nNAMESPACES = {{}}\n"),
        ("import\t_editable_impl_x\n", EDITABLES),
        (START, EDITABLES + "\nF.map_module('a', 'b', c=print())"),
        (START, EDITABLES + "\n__import__('evil').map_module('a', 'b')"),
        (START, EDITABLES + "\ninstall({{'a': 'b'}})"),
        (START, EDITABLES + "\nF.map_module(*['a', 'b'])"),
    ],
)
def test_any_other_line_of_code_counts_whole_with_what_it_imports(site: Path, line: str, source: str) -> None:
    write(site / "x.pth", line)
    module = write(site / "_editable_impl_x.py", source.format(name="other", path="/nowhere"))

    ((before, says),) = rows(site)
    write(module, "changed = 1\n")
    ((after, _),) = rows(site)

    assert says.startswith("x.pth line 1 ")
    assert (after != before) is ("_editable_impl_x" in line)


@pytest.mark.req("B22")
@pytest.mark.parametrize(
    "name",
    ["_editable_impl_x/__init__.py", "_editable_impl_x.abi3.so", "editables/redirector.abi3.so", "editables/re.py"],
)
def test_a_finder_that_something_else_stands_in_for_counts_whole(site: Path, name: str) -> None:
    write(site / "x.pth", START)
    write(site / "_editable_impl_x.py", EDITABLES.format(name="other", path="/nowhere"))
    before = rows(site)

    planted = write(site / name, "one")
    with_it = rows(site)
    planted.write_text("two", "utf-8")

    assert before == []
    assert with_it
    assert rows(site) != with_it


@pytest.mark.req("B22")
@pytest.mark.parametrize("namespace", ["owned", "single", "ns.part"])
def test_a_further_place_of_what_is_owned_whole_counts_with_all_in_it(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, namespace: str
) -> None:
    place = tmp_path / "elsewhere"
    place.mkdir()
    write(site / "x.pth", START)
    write(site / "_editable_impl_x.py", "")
    monkeypatch.setattr(editable_forms, "generated", lambda _: Finder({}, {namespace: [str(place)]}))

    before = rows(site)
    write(place / "new.py", "")

    assert rows(site) != before


@pytest.mark.req("B22")
def test_a_place_that_code_of_the_start_names_counts_by_what_comes_to_lie_there(site: Path, tmp_path: Path) -> None:
    place = tmp_path / "elsewhere"
    place.mkdir()
    write(site / "x.pth", f"import sys; sys.path.insert(0, {str(place)!r})\n")
    before = rows(site)
    write(place / "stranger.py", "")
    same = rows(site)
    write(place / "owned.py", "")

    assert same == before
    assert rows(site) != before


@pytest.mark.req("B22")
@pytest.mark.parametrize(
    "text",
    ["import _editable_impl_x\f; print()\n", "# note\u2028import os\n", "\ufeffimport os\n", "x\x1cimport os\n"],
    ids=["form feed", "line separator", "byte order mark", "file separator"],
)
def test_a_file_whose_lines_pythons_read_differently_counts_whole(site: Path, text: str) -> None:
    write(site / "_editable_impl_x.py", EDITABLES.format(name="other", path="/nowhere"))
    path = write(site / "x.pth", text)
    ((before, _),) = rows(site)

    path.write_text(text + "# more\n", "utf-8")

    assert rows(site)[0][0] != before


def test_a_line_that_moves_within_its_file_stays_the_same(site: Path, tmp_path: Path) -> None:
    write(tmp_path / "elsewhere/owned.py", "")
    write(site / "x.pth", f"{tmp_path / 'elsewhere'}\n")
    (before,) = rows(site)
    write(site / "x.pth", f"# note\n{tmp_path / 'elsewhere'}\n")

    (after,) = rows(site)

    assert after[0] == before[0]
    assert after[1] != before[1]


@pytest.mark.req("B22")
@pytest.mark.parametrize("name", ["sitecustomize.py", "usercustomize/__init__.py"])
def test_what_runs_at_every_start_counts(site: Path, name: str) -> None:
    write(site / name, "")
    before = rows(site)
    write(site / name, "changed = 1\n")

    assert before
    assert rows(site) != before


@pytest.mark.req("B22")
def test_a_file_that_is_too_large_to_look_through_counts_whole(site: Path) -> None:
    path = write(site / "x.pth", "# filler\n" * 150_000)
    ((before, _),) = rows(site)

    path.write_text("import os\n" + "# filler\n" * 150_000, "utf-8")

    assert rows(site)[0][0] != before
