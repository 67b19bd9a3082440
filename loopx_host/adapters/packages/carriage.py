"""Whether a distribution carries the modules it names: nobody has another package's code run as his own."""

from __future__ import annotations

import os

from loopx_host.adapters.packages import distributions, search_path, source_trees
from loopx_host.adapters.packages.importable import SUFFIXES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.adapters.packages.distributions import Installed
    from loopx_host.documents.parts import Distribution

_EXTENSIONS = "loopx.extensions"


def carries(distribution: Installed, module: str) -> bool:
    """Whether a dotted module or package is among the files of a distribution, or in the source it points to."""
    recorded = distribution.record()
    stem = module.replace(".", "/")
    if any(name.startswith(f"{stem}.") and name.endswith(SUFFIXES) for name in recorded):
        return True
    if any(name.startswith(f"{stem}/") and name.endswith(SUFFIXES) for name in recorded):
        return True
    if recorded and distribution.editable_source() is None:
        return False
    places = source_trees.candidates(module, distribution, [])
    return any(os.path.isdir(place) or _is_module(place) for place in places)


def offering(extension_id: str) -> set[str]:
    """Return the names of the distributions that offer an extension where loopx runs."""
    found: set[str] = set()
    for place in search_path.directories():
        for one in distributions.installed_mentioning(place, (_EXTENSIONS.encode(),)):
            if any(entry.group == _EXTENSIONS and entry.name == extension_id for entry in one.entry_points()):
                found.add(distributions.normalised(one.name))
    return found


def is_foreign_module(extension_id: str, owner: Distribution | None) -> bool:
    """Whether the module of a provider belongs to none of the distributions that offer its extension."""
    carriers = offering(extension_id)
    return bool(carriers) and (owner is None or distributions.normalised(owner["name"]) not in carriers)


def _is_module(path: str) -> bool:
    folder, stem = os.path.split(path)
    try:
        names = os.listdir(folder)
    except OSError:
        return False
    return any(name.partition(".")[0] == stem and name.endswith(SUFFIXES) for name in names)
