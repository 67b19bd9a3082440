"""The catalogue of the release train, read from the file that comes with the registry."""

from __future__ import annotations

import json
import os

from loopx_host import registry
from loopx_host.adapters.files import bounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.registry.catalog import TrainMember

_BYTES = 4 * 1024 * 1024


def members() -> list[TrainMember]:
    """Return a row per extension that a distribution of the train carries, by distribution and id."""
    # Written beside this code by `tests.support.train_catalogue`; whoever could change it could change the code.
    rows: list[TrainMember] = json.loads(bounded.read_regular(location(), _BYTES))
    return rows


def location() -> str:
    """Return the path of the catalogue in this installation."""
    return os.path.join(os.path.dirname(str(registry.__file__)), "train.json")
