"""Which names a new extension can have: one that installs, imports and is nobody else's."""

from __future__ import annotations

import keyword

from loopx_host.core.errors import refusal
from loopx_host.core.text import one_line
from loopx_host.registry import grammar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection


# Commands of every Python environment; a package of this name would write over one.
COMMANDS = frozenset({"python", "python3", "pip", "pip3"})
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
        "rich",
        "tomli",
    }
)


def module_name(extension_id: str, standard_modules: Collection[str]) -> str:
    """Return the import name of a new extension's package.

    Raises Refused `name_unusable` with the reason: the grammar of ids, a Python keyword, a module of the
    standard library, the host's own names, and those of commands and packages it would replace.
    """
    shown = one_line(extension_id, 60)
    wrong = grammar.extension_id(extension_id)
    name = extension_id.replace("-", "_")
    if wrong is None and (keyword.iskeyword(name) or keyword.issoftkeyword(name)):
        wrong = f"would be imported as `{name}`, which is a Python keyword"
    if wrong is None and name in standard_modules:
        wrong = f"would be imported as `{name}`, which is a module of the standard library"
    if wrong is None and name in ("loopx_host", "test", "tests"):
        wrong = f"would be imported as `{name}`, which is taken"
    if wrong is None and extension_id in COMMANDS:
        wrong = f"would be installed as the command `{extension_id}`, over the one of the environment"
    if wrong is None and extension_id in NEEDED:
        wrong = f"would be installed as the package `{extension_id}`, which loopx or its testing kit needs"
    if wrong is not None:
        raise refusal(
            "name_unusable",
            shown,
            f"`{shown}` cannot be the name of an extension: it {wrong}",
            hint="choose another name, such as `acme-word-count`",
        )
    return name
