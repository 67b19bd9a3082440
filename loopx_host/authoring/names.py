"""Which names a new extension can have: one that installs, imports and is nobody else's."""

from __future__ import annotations

import keyword

from loopx_host.authoring.package_names import PackageNames
from loopx_host.core.errors import refusal
from loopx_host.core.names import normalised
from loopx_host.core.text import one_line
from loopx_host.registry import grammar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.authoring.ports import TakenNames


# Commands of every Python environment; a package of this name would write over one, or be hidden by it.
COMMANDS = frozenset({"python", "python3", "pip", "pip3", "activate", "deactivate"})
_OURS = frozenset({"loopx_host", "test", "tests"})
# Distributions that the host, its testing kit or the starter's own tests stand on; installing another package of
# this name would replace one.
NEEDED = frozenset(
    {
        "hatchling",
        "importlib-metadata",
        "jsonschema",
        "jsonschema-rs",
        "loopx-pytest",
        "packaging",
        "pluggy",
        "stevedore",
        "platformdirs",
        "pytest",
        "pip",
        "rich",
        "setuptools",
        "tomli",
        "wheel",
    }
)


def module_name(extension_id: str, taken: TakenNames) -> str:
    """Return the import name of a new extension's package.

    Raises Refused `name_unusable` with the reason: the grammar of ids, a Python keyword, the host's own names, and
    whatever holds the name here as a module, a distribution or a command.
    """
    shown = one_line(extension_id, 60)
    wrong = grammar.extension_id(extension_id)
    name = extension_id.replace("-", "_")
    if wrong is None and (keyword.iskeyword(name) or keyword.issoftkeyword(name)):
        wrong = f"would be imported as `{name}`, which is a Python keyword"
    if wrong is None:
        wrong = next(iter(clashes(PackageNames(extension_id, [name], extension_id, [extension_id]), taken)), None)
    if wrong is not None:
        raise refusal(
            "name_unusable",
            shown,
            f"`{shown}` cannot be the name of an extension: it {wrong}",
            hint="choose another name, such as `acme-word-count`",
        )
    return name


def clashes(package: PackageNames, taken: TakenNames) -> list[str]:
    """Return what would go wrong with the names of a package, each as a clause that says who holds the name.

    What the package of this very extension holds already is its own.
    """
    found: list[str] = []
    for name in package.modules:
        holder = "loopx" if name.casefold() in _OURS else taken.module(name, package)
        if holder is not None:
            found.append(f"would be imported as `{one_line(name, 60)}`, which {holder} holds")
    for name in package.commands:
        holder = "the environment" if name.casefold() in COMMANDS else taken.command(name, package)
        if holder is not None:
            found.append(f"would be typed as `{one_line(name, 60)}`, which {holder} holds")
    if package.distribution is not None:
        name = package.distribution
        holder = taken.distribution(name, package)
        if holder is None and normalised(name) in NEEDED:
            holder = "loopx or its testing kit"
        if holder is not None:
            found.append(f"would be installed as the package `{one_line(name, 60)}`, which {holder} holds")
    return found
