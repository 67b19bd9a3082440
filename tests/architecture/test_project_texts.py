"""No file of the project names the machine it was written on or a package registry, and links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.project_files import ROOT, files

# Written in parts, so that this file is no hit of its own.
REGISTRIES = tuple(
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("yarnpkg", "com"),
        ("deb", "debian", "org"),
        ("security", "debian", "org"),
        ("crates", "io"),
        ("rubygems", "org"),
        ("proxy", "golang", "org"),
        ("conda", "anaconda", "org"),
        ("ghcr", "io"),
        ("docker", "io"),
    )
)
NEIGHBOUR = "../" + "shared"
COMMON_PLACES = {"/", "/builds", "/home", "/mnt", "/opt", "/root", "/srv", "/tmp", "/usr", "/var"}
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")


def machine_places(root: Path) -> list[str]:
    """Return the checkout and the folder it lives in, unless that folder is a place every machine has."""
    places = [str(root), str(root.parent)]
    return [place for place in places if place not in COMMON_PLACES]


def hits(text: str, root: Path) -> list[str]:
    """Return what `text` should not name."""
    places = [place for place in machine_places(root) if place in text]
    places = [place for place in places if re.search(rf"(?<![\w/.}}\"]){re.escape(place)}(?!\w)", text)]
    lowered = text.lower()
    names = [name for name in (*REGISTRIES, NEIGHBOUR) if name in lowered]
    return [
        *places,
        *(name for name in names if re.search(rf"(?<![\w.-]){re.escape(name)}(?!\w)", text, re.IGNORECASE)),
    ]


def test_no_file_names_the_machine_or_a_registry() -> None:
    found = {
        str(path.relative_to(ROOT)): named
        for path in files()
        if (named := hits(path.read_bytes().decode("utf-8", "replace"), ROOT))
    }

    assert found == {}


@pytest.mark.parametrize("name", [*REGISTRIES, NEIGHBOUR])
def test_a_name_is_seen(name: str) -> None:
    assert hits(f"see '{name}'", Path("/tmp/checkout")) == [name]


def test_a_registry_in_an_address_is_seen() -> None:
    assert hits(f"https://{REGISTRIES[0]}/simple", Path("/tmp/checkout")) == [REGISTRIES[0]]


@pytest.mark.parametrize("text", ["in /machine/main", "PATH=/machine/main/bin", "open('/machine/notes')"])
def test_the_folder_of_the_checkout_is_seen(text: str) -> None:
    assert hits(text, Path("/machine/main")) != []


def test_a_common_place_is_no_hit() -> None:
    assert hits("in /tmp/lxcase.1 and $W/machine/x", Path("/tmp/checkout")) == []


def test_the_walk_finds_sources_and_leaves_out_what_git_ignores(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("# caches\n*.pyc\n.venv/\n", "utf-8")
    for name in ("a.py", "a.pyc", ".venv/b.py", "docs/c.md", ".git/config"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()

    found = {str(path.relative_to(tmp_path)) for path in files(tmp_path)}

    assert found == {".gitignore", "a.py", "docs/c.md"}


PAGES = [path for path in files() if path.suffix == ".md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_to_a_file(page: Path) -> None:
    targets = [match["target"] for match in LINK.finditer(page.read_text("utf-8"))]
    local = [target.partition("#")[0] for target in targets if not re.match(r"[a-z]+:", target)]

    assert [target for target in local if target and not (page.parent / target).exists()] == []


def test_the_index_of_the_documentation_names_every_page() -> None:
    docs = ROOT / "docs"
    index = (docs / "README.md").read_text("utf-8")
    linked = {(docs / match["target"].partition("#")[0]).resolve() for match in LINK.finditer(index)}

    assert {page for page in PAGES if page.is_relative_to(docs)} - linked == {docs / "README.md"}
