"""Sources of packages that a stranger could have written, and the host in an environment that pip made of wheels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.cli import Loopx
from tests.support.lifecycle import ROOT, build_wheel, make_venv, pip
from tests.support.packages import manifest, write

HATCHLING = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[tool.hatch.build.targets.wheel]
packages = ["{place}"]
"""
SETUPTOOLS = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[tool.setuptools.packages.find]
where = ["{where}"]
include = ["{package}*"]

[tool.setuptools.package-data]
"*" = ["*.toml"]
"""
SPACED = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[tool.setuptools]
packages = ["shared.stranger"]
package-dir = {{"shared.stranger" = "src/shared/stranger"}}
"""
PROJECT = """
[project]
name = "{name}"
version = "{version}"

[project.scripts]
{name} = "{package}.cli:main"

[project.entry-points."loopx.extensions"]
{offers}
"""
CLI = """\
import json, sys


def main():
    if sys.argv[1:] != ["--doctor"]:
        print(json.dumps({"ok": True, "version": "%s"}))
"""


def project(
    folder: Path, name: str, *, backend: str, layout: str = "src", version: str = "1.0", extras: tuple[str, ...] = ()
) -> Path:
    """Write the source of a package that offers an extension of its own name, and more of `extras`."""
    package = name.replace("-", "_")
    place = f"{layout}/{package}" if layout != "." else package
    offers = [f'{name} = "{package}"', *(f'{extra} = "{package}.{extra}"' for extra in extras)]
    build = backend.format(place=place, where=layout, package=package)
    head = PROJECT.format(name=name, package=package, version=version, offers="\n".join(offers))
    source = folder / f"{name}-{version}"
    write(source / "pyproject.toml", build + head)
    write(source / place / "__init__.py", "")
    write(source / place / "cli.py", CLI % version)
    write(source / place / "extension.toml", manifest(name, version, entrypoint=name))
    for extra in extras:
        write(source / place / extra / "__init__.py", "raise SystemExit('imported')\n")
        write(source / place / extra / "extension.toml", manifest(extra, version, entrypoint=name))
    return source


def library(
    folder: Path, name: str, *, backend: str = HATCHLING, layout: str = "src", package: str, version: str = "1.0"
) -> Path:
    """Write the source of a package that offers no extension."""
    top = package.split("/", maxsplit=1)[0]
    build = backend.format(place=f"{layout}/{top}" if layout != "." else top, where=layout, package=top)
    source = folder / name
    write(source / "pyproject.toml", f'{build}\n[project]\nname = "{name}"\nversion = "{version}"\n')
    write(source / layout / package / "__init__.py", "")
    return source


class Host(Loopx):
    """The host installed from its wheel in an environment of its own."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.scripts = make_venv(root / "venv")
        self.sources = root / "sources"
        self.pip("install", str(build_wheel(ROOT, root / "dist")))

    def command(self, *words: str | bytes, options: bool = True) -> list[str | bytes]:
        return [str(self.scripts / "loopx"), *super().command(*words, options=options)[1:]]

    def pip(self, *arguments: str) -> None:
        pip("--python", str(self.scripts / "python"), *arguments)

    def offer(self, extension_id: str) -> dict[str, Any]:
        rows = self("extension", "discover").document["extensions"]
        (found,) = [row for row in rows if row["id"] == extension_id]
        assert isinstance(found, dict)
        return found

    def row(self, extension_id: str) -> dict[str, Any]:
        return next(row for row in self.rows() if row["id"] == extension_id)

    def proved(self, extension_id: str) -> None:
        answer = self("extension", "install", extension_id, "--execute")
        assert answer.status == 0, answer
        assert self.row(extension_id)["ready"] is True
