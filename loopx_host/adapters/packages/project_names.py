"""The names that installing a project takes, from its pyproject.toml and its source tree; nothing of it runs."""

from __future__ import annotations

import os

from loopx_host.adapters.files import bounded
from loopx_host.adapters.files.author_package import project_of
from loopx_host.authoring.package_names import PackageNames

_BYTES = 1024 * 1024
_MODULES = (".py", ".so")


def names_of(extension_id: str, manifest: str, folder: str) -> PackageNames | None:
    """Return the names of the project that a manifest in `folder` belongs to; None where there is none."""
    path = project_of(os.path.realpath(manifest))
    project = _project(path) if path else None
    if path is None or project is None:
        return None
    scripts = {**_table(project, "scripts"), **_table(project, "gui-scripts")}
    entry_points = _table(project, "entry-points")
    values = [*scripts.values(), *(value for group in entry_points for value in _table(entry_points, group).values())]
    modules = [str(value).partition(":")[0].strip().split(".")[0] for value in values]
    modules += [*_package_of(folder), *_sources(os.path.join(os.path.dirname(path), "src"))]
    name, version = project.get("name"), project.get("version")
    return PackageNames(
        extension_id,
        sorted({module for module in modules if module.isidentifier()}),
        name if isinstance(name, str) else None,
        sorted(scripts),
        folder,
        version if isinstance(version, str) else None,
    )


def _project(path: str) -> dict[str, object] | None:
    """Return the table of the project, None where the file cannot be read or has none."""
    import tomli

    try:
        project = tomli.loads(bounded.read_regular(path, _BYTES).decode("utf-8")).get("project")
    except (OSError, ValueError, RecursionError):
        return None
    return project if isinstance(project, dict) else None


def _table(table: dict[str, object], key: str) -> dict[str, object]:
    value = table.get(key)
    return value if isinstance(value, dict) else {}


def _package_of(folder: str) -> list[str]:
    """Return the top-level package that a folder lies in, if it is a package."""
    top = None
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, top = os.path.split(folder)
    return [top] if top else []


def _sources(folder: str) -> list[str]:
    """Return the modules and packages of a source tree."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [
        name.split(".")[0]
        for name in names
        if name.endswith(_MODULES) or os.path.isfile(os.path.join(folder, name, "__init__.py"))
    ]
